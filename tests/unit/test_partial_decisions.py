"""A proposal accepted in part: each half keeps the words that justify it."""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skilld.cli import common
from skilld.cli import decide as cli_decide
from skilld.edit.move import move_to_section
from skilld.errors import RefusedError, SkilldError
from skilld.jobs.one_by_one import parts_for_batch
from skilld.proposals.amend import accept_edited, decide_parts, restore, select_parts, stage_and_store, stage_on_branch
from skilld.proposals.decide import Decision, accepting, decide, rejecting, reverting
from skilld.proposals.explain import diff, list_parts, read_versions, shown_versions
from skilld.proposals.narrow import part_flags, part_reasons
from skilld.proposals.poll import prepare_observation, record_observation, refresh
from skilld.proposals.remainder import describe_remainder
from skilld.proposals.remarks import describe_borrowed_lines
from skilld.proposals.staging import stage
from skilld.proposals.staging_result import StagingResult
from skilld.proposals.undo_accept import undo_accept
from skilld.store import Store
from skilld.text import join_sentences
from skilld.types import ContradictingLine, Evidence, Kind, Op, Operation, Proposal, SideEdit, State, Update
from support.proposals import get_proposal, make_proposal
from support.repos import AT, SKILL, TEXT, Person
from support.rows import for_each

SAID = (
    ("Always run the linter before you tag.", "Run the linter before tagging.", "The linter was forgotten."),
    ("Sign the tag with my key, please.", "Sign the tag with the release key.", "Tags must be signed."),
    ("And never push on a Friday.", "Never push on a Friday.", "Nobody is there on weekends."),
)
LINES = [f"- {change}" for _, change, _ in SAID]


@pytest.fixture
def made(person: Person, store: Store) -> Proposal:
    """A proposal of three lines, each an operation of its own, said in three turns."""
    updates = tuple(
        Update(1, "", change, why, (Kind.ADD_STEP, Kind.CORRECTION, Kind.FACT)[number], number + 1, quote)
        for number, (quote, change, why) in enumerate(SAID)
    )
    return stage_and_store(
        store,
        make_proposal(
            skill="release",
            path=str(person.skill),
            operations=(
                Operation(Op.INSERT_AFTER, "- Tag the commit.", LINES[0]),
                Operation(Op.INSERT_AFTER, LINES[0], LINES[1]),
                Operation(Op.INSERT_AFTER, "Keep the changelog short.", f"\n## Preferences\n\n{LINES[2]}"),
            ),
            summary=" ".join(change for _, change, _ in SAID),
            reason=" ".join(why for *_, why in SAID),
            kind=Kind.ADD_STEP,
            evidence=tuple(Evidence(f"claude-code:{number}", quote) for number, (quote, *_) in enumerate(SAID)),
            flags=("part of it is not in your own words: with the release key", "It has a warning of its own."),
            updates=updates,
            created_at=AT,
        ),
    )


def _proposal_text(proposal: Proposal) -> str:
    found = read_versions(proposal)
    assert found is not None
    return found[1].decode()


def _quotes(proposal: Proposal) -> list[str]:
    return [open_proposal.quote for open_proposal in proposal.evidence]


def test_deleting_a_line_drops_its_quote(person: Person, store: Store, made: Proposal) -> None:
    accept_edited(store, made, _proposal_text(made).replace(f"{LINES[0]}\n", ""))
    message = person.git("log", "-1", "--format=%B")
    assert '"Sign the tag with my key, please."' in message
    assert "linter" not in message
    proposal = get_proposal(store, made.id)
    assert _quotes(proposal) == [SAID[1][0], SAID[2][0]]
    assert [update.change for update in proposal.updates] == [SAID[1][1], SAID[2][1]]
    assert (proposal.reason, proposal.kind) == ("Tags must be signed. Nobody is there on weekends.", Kind.CORRECTION)
    assert (proposal.note, proposal.state) == ("edited by you", State.ACCEPTED)


def test_a_reworded_line_keeps_its_quote_and_its_update_says_it_in_these_words(store: Store, made: Proposal) -> None:
    text = (
        _proposal_text(made).replace(f"{LINES[0]}\n", "").replace(LINES[1], "- Sign each tag with the key of the team.")
    )
    accept_edited(store, made, text)
    proposal = get_proposal(store, made.id)
    assert [one.quote for one in proposal.updates] == _quotes(proposal) == [SAID[1][0], SAID[2][0]]
    assert [one.change for one in proposal.updates] == ["Sign each tag with the key of the team.", SAID[2][1]]


def test_translated_lines_keep_the_words_behind_them(person: Person, store: Store, made: Proposal) -> None:
    shown = _proposal_text(made)
    lines = "- Vor dem Taggen prüfen.", "- Den Tag mit dem Schlüssel des Teams signieren."
    accept_edited(store, made, shown.replace("\n".join(LINES[:2]), "\n".join(lines)), shown)
    proposal = get_proposal(store, made.id)
    message = person.git("log", "-1", "--format=%B")
    assert all(f'"{quote}"' in message for quote, *_ in SAID)
    assert [(one.change, one.quote) for one in proposal.updates] == [
        ("Vor dem Taggen prüfen.", SAID[0][0]),
        ("Den Tag mit dem Schlüssel des Teams signieren.", SAID[1][0]),
        (SAID[2][1], SAID[2][0]),
    ]


def test_a_line_of_their_own_beside_a_reworded_one_leaves_all_quotes(
    person: Person, store: Store, made: Proposal
) -> None:
    """Nothing said what they wrote, so it must not be made again from what they said."""
    shown = _proposal_text(made)
    accept_edited(store, made, shown.replace(LINES[1], "- Den Tag signieren.\n- Etwas ganz anderes."), shown)
    assert get_proposal(store, made.id).updates == ()
    message = person.git("log", "-1", "--format=%B")
    assert all(f'"{quote}"' in message for quote, *_ in SAID)


def test_an_edit_of_a_text_without_the_lines_of_other_open_proposals(
    person: Person, store: Store, made: Proposal
) -> None:
    told = (Operation(Op.INSERT_AFTER, "- Tag the commit.", "- Tell the team."),)
    near = replace(made, id="0a1b2c3d", batch_id="c", commit="", operations=told, updates=(), flags=())
    near = stage_and_store(store, near)
    shown = shown_versions(near)
    assert shown is not None
    opened = shown[1].decode()
    assert not any(line in opened for line in LINES)
    accept_edited(store, near, opened.replace("- Tell the team.", "- Dem Team Bescheid sagen."), opened)
    assert (
        person.show() == TEXT.replace("- Tag the commit.\n", "- Tag the commit.\n- Dem Team Bescheid sagen.\n").strip()
    )
    still = get_proposal(store, made.id)
    assert (still.state, all(line in _proposal_text(still) for line in LINES)) == (State.OPEN, True)


def test_an_edit_that_leaves_nothing_to_accept_keeps_it_open(store: Store, made: Proposal) -> None:
    nothing = "\n".join(line for line in _proposal_text(made).splitlines() if line not in {*LINES, "## Preferences"})
    with pytest.raises(SkilldError) as error:
        accept_edited(store, made, nothing + "\n")
    assert str(error.value) == f"{made.id} was not accepted: your text contains nothing from it; it stays open"
    assert read_versions(get_proposal(store, made.id)) == read_versions(made)
    assert get_proposal(store, made.id).state is State.OPEN


SECRETS = (
    ("- The staging password is Tr0ub4dor&3.", "Tr0ub4dor&3"),
    ("- Use ghp_16C7e42F292c6912E7710c838347Ae178B4a.", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
    ("- export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKE", "wJalrXUtnFEMI"),
    ("- Connect to postgres://app:s3cr3t-Passw0rd@db.internal/app.", "s3cr3t-Passw0rd"),
    ("- curl -u deploy:hunter2-Prod99 https://ci.internal", "hunter2-Prod99"),
    ("- Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJlMTIzNDU2", "eyJzdWIiOiI0MiJ9"),
    ("- Das Passwort lautet Kirschbaum!77.", "Kirschbaum!77"),
    ("- The card is 4539 1488 0343 6467.", "4539 1488 0343 6467"),
    ("- The PIN of the signing token is 482913.", "482913"),
    ("- The api key: 9f86d081884c7d659a2feaa0c55ad015", "9f86d081884c7d659a2feaa0c55ad015"),
)


@pytest.mark.parametrize(("line", "secret"), SECRETS, ids=[str(number) for number in range(len(SECRETS))])
@pytest.mark.parametrize("is_whole_line", [True, False], ids=["added", "replaced"])
def test_a_text_with_a_secret_is_refused_and_stored_nowhere(
    person: Person, store: Store, made: Proposal, line: str, secret: str, *, is_whole_line: bool
) -> None:
    shown = _proposal_text(made)
    text = shown.replace(LINES[0], f"{LINES[0]}\n{line}" if is_whole_line else line)
    with pytest.raises(RefusedError) as error:
        accept_edited(store, made, text, shown)
    assert str(error.value).startswith(f"{made.id} was not accepted: it contains a secret, which skilld never stores: ")
    assert error.value.remedy == f"Take it out; if it must be there, type it into {person.skill} yourself."
    assert secret not in f"{error.value}{error.value.remedy}"
    assert get_proposal(store, made.id) == made
    objects = person.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)").split("\n")
    kept = [person.git("cat-file", "-p", one.split()[0]) for one in objects if one.endswith((" blob", " commit"))]
    files = [file.read_bytes() for file in person.root.parent.glob("skilld.db*")]
    assert not any(secret in text for text in kept)
    assert files
    assert not any(secret.encode() in data for data in files)
    accept_edited(store, made, shown.replace(LINES[0], "- My own words."), shown)
    assert get_proposal(store, made.id).state is State.ACCEPTED


@pytest.mark.parametrize(("line", "secret"), SECRETS[:3], ids=["password", "token", "key"])
def test_no_proposal_with_a_secret_is_staged(person: Person, store: Store, line: str, secret: str) -> None:
    """Whatever it was made from: a file that is imported, past sessions, a case, another skill."""
    proposal = make_proposal(
        path=str(person.skill), operations=(Operation(Op.INSERT_AFTER, "- Tag the commit.", line),), summary="Say it."
    )
    with pytest.raises(RefusedError) as error:
        stage_and_store(store, proposal)
    assert secret not in str(error.value)
    assert not store.proposals.all()


def test_an_edit_beside_a_secret_says_which_line_to_mend(person: Person, store: Store) -> None:
    line, secret = SECRETS[0]
    person.commit("Mine.", {SKILL: TEXT.replace("- Tag the commit.", f"- Tag the commit.\n{line}")})
    operations = (Operation(Op.INSERT_AFTER, line, "- Sign the tag."),)
    with pytest.raises(RefusedError) as error:
        stage_and_store(store, make_proposal(path=str(person.skill), operations=operations, summary="Sign the tag."))
    assert "placed next to contains a secret" in str(error.value)
    assert error.value.remedy.startswith(f"Take the secret out of {person.skill}: - The staging password is [REDACTED:")
    assert secret not in error.value.remedy


def test_a_text_replacing_two_unrelated_lines_keeps_both_quotes(store: Store, made: Proposal) -> None:
    accept_edited(store, made, _proposal_text(made).replace("\n".join(LINES[:2]), "- Ask Kim."))
    assert _quotes(get_proposal(store, made.id)) == [quote for quote, *_ in SAID]


@pytest.mark.parametrize("title", ["Release", "Notes"])
def test_moving_a_proposal_keeps_its_quotes(person: Person, store: Store, made: Proposal, title: str) -> None:
    text = _proposal_text(made)
    accept_edited(store, made, move_to_section(TEXT, text, title), text)
    message = person.git("log", "-1", "--format=%B")
    assert all(f'"{quote}"' in message for quote, *_ in SAID)
    proposal = get_proposal(store, made.id)
    assert _quotes(proposal) == [quote for quote, *_ in SAID]
    assert [update.change for update in proposal.updates] == [change for _, change, _ in SAID]


BETWEEN = "Keep the changelog short."


@pytest.mark.parametrize(
    ("moved", "left", "has_updates"),
    [
        (LINES[:2], {0, 1, 2}, True),
        (LINES[1::-1], {0, 1, 2}, True),
        ([LINES[1]], {1, 2}, True),
        (["* Run the linter before each tag.", LINES[1]], {0, 1, 2}, False),
        (["- Run the linter before tagging; sign the tag with the release key."], {0, 1, 2}, False),
        (["- Sign every tag with the release key."], {1, 2}, False),
    ],
)
def test_lines_moved_or_joined_elsewhere_keep_their_quotes(
    store: Store, made: Proposal, moved: list[str], left: set[int], *, has_updates: bool
) -> None:
    text = _proposal_text(made).replace("\n".join(LINES[:2]) + "\n", "").replace(BETWEEN, "\n".join([BETWEEN, *moved]))
    accept_edited(store, made, text)
    proposal = get_proposal(store, made.id)
    assert _quotes(proposal) == [SAID[number][0] for number in sorted(left)]
    assert bool(proposal.updates) == has_updates


@pytest.mark.parametrize(("chosen", "has_updates"), [({0}, True), ({1}, True), ({0, 2}, True), ({0, 2}, False)])
def test_each_half_gets_what_belongs_to_it(
    person: Person, store: Store, made: Proposal, chosen: set[int], *, has_updates: bool
) -> None:
    if not has_updates:
        made = replace(made, updates=())
        store.proposals.save_edit(made)
    report = decide_parts(store, made, chosen, accepting())
    (rest,) = store.proposals.in_states([State.OPEN])
    assert f"{rest.id} is open" in report.lines[-1]
    for half, numbers in ((get_proposal(store, made.id), chosen), (rest, {0, 1, 2} - chosen)):
        said = [SAID[number] for number in sorted(numbers)]
        assert _quotes(half) == [quote for quote, *_ in said]
        assert [update.change for update in half.updates] == [change for _, change, _ in said if has_updates]
        assert half.reason == (" ".join(why for *_, why in said) if has_updates else made.reason)
        assert half.flags == (made.flags if 1 in numbers else made.flags[1:])
        assert half.note == ""
        assert half.summary == " ".join(change for _, change, _ in said)
    first = SAID[min(chosen)][0]
    assert f'"{first}"' in person.git("log", "-1", "--format=%B")
    assert rest.evidence[0].quote in person.git("log", "-1", "--format=%B", "skilld/staging")


def test_the_rest_is_placed_where_it_was_shown(person: Person, store: Store, made: Proposal) -> None:
    decide_parts(store, made, {0}, accepting())
    (rest,) = store.proposals.in_states([State.OPEN])
    decide(store, rest, accepting())
    assert "\n".join(["- Tag the commit.", *LINES[:2]]) in person.skill.read_text()


@pytest.mark.parametrize(
    ("chosen", "decision"),
    [({1}, accepting()), ({0, 2}, accepting()), ({1}, rejecting("no"))],
    ids=["accept 1", "accept 0 and 2", "reject 1"],
)
def test_the_rest_stays_open_above_another_open_proposal(
    person: Person, store: Store, chosen: set[int], decision: Decision, request: pytest.FixtureRequest
) -> None:
    below = (Operation(Op.INSERT_AFTER, "- Tag the commit.", "- Tell the team."),)
    stage_and_store(
        store, make_proposal(id="0a1b2c3d", batch_id="c", path=str(person.skill), operations=below, created_at=AT)
    )
    report = decide_parts(store, request.getfixturevalue("made"), chosen, decision)
    assert report.warnings == ()
    assert len(store.proposals.in_states([State.OPEN])) == 2
    staged = person.show(ref="skilld/staging")
    assert all(LINES[number] in staged for number in {0, 1, 2} - chosen)


@pytest.mark.parametrize(
    ("decision", "chosen"),
    [(accepting(), 1), (accepting(), 2), (rejecting("no"), 0)],
    ids=["accept 1", "accept 2", "reject 0"],
)
def test_the_rest_can_be_split_further(store: Store, made: Proposal, decision: Decision, chosen: int) -> None:
    decide_parts(store, made, {chosen}, decision)
    (rest,) = store.proposals.in_states([State.OPEN])
    left = [number for number in range(3) if number != chosen]
    assert [part.added[-1] for part in list_parts(rest)] == [LINES[number] for number in left]
    assert part_reasons(rest, list_parts(rest)) == [SAID[number][2] for number in left]
    decide_parts(store, rest, {0}, rejecting("no"))
    (last,) = store.proposals.in_states([State.OPEN])
    assert _quotes(last) == [SAID[left[1]][0]]


def test_a_part_that_is_a_step_is_named_without_its_number(person: Person, store: Store) -> None:
    person.commit("mine", {SKILL: STEPS})
    texts = "4. **Never** push on a Friday.", "5. Call Kim."
    steps = Operation(Op.INSERT_AFTER, "3. Push the tag.", texts[0]), Operation(Op.INSERT_AFTER, *texts)
    whole = stage_and_store(store, make_proposal(path=str(person.skill), operations=steps, created_at=AT))
    decide_parts(store, whole, {0}, accepting())
    (rest,) = store.proposals.in_states([State.OPEN])
    assert (get_proposal(store, whole.id).summary, rest.summary) == ("**Never** push on a Friday.", "Call Kim.")


def test_a_step_with_another_number_is_not_part_of_the_title(person: Person, store: Store) -> None:
    person.commit("mine", {SKILL: STEPS})
    step = Operation(Op.INSERT_AFTER, "3. Push the tag.", "4. Call Kim.")
    whole = stage_and_store(store, make_proposal(path=str(person.skill), operations=(step,), created_at=AT))
    text = STEPS.replace("2. Tag", "2. Call Kim.\n3. Tag").replace("3. Push", "4. Push")
    accept_edited(store, whole, text)
    assert get_proposal(store, whole.id).summary == "Call Kim."


STEPS = TEXT.replace("- Run", "1. Run").replace("- Tag", "2. Tag").replace("- Push", "3. Push")


@pytest.mark.parametrize(
    ("text", "anchor", "head"),
    [
        (TEXT, "- Tag the commit.", ""),
        (TEXT, "- Push the tag.", ""),
        (STEPS, "3. Push the tag.", ""),
        (TEXT, "Keep the changelog short.", "\n## Preferences\n\n"),
    ],
    ids=["between", "bullets", "steps", "heading"],
)
def test_parts_stay_separate_whatever_becomes_of_neighbours(
    person: Person, store: Store, text: str, anchor: str, head: str
) -> None:
    person.commit("mine", {SKILL: text})
    said = {
        "0a1b2c3d": ["Run the linter.", "Sign the tag."],
        "1a1b2c3d": ["Tell the team."],
        "2a1b2c3d": ["Thank the testers.", "Call Kim.", "Close the milestone.", "Rest."],
        "3a1b2c3d": ["Write the news."],
    }
    for name, rules in said.items():
        lines = [f"{number}. {rule}" if text == STEPS else f"- {rule}" for number, rule in enumerate(rules, 4)]
        steps = zip([anchor, *lines], [head + lines[0], *lines[1:]], strict=False)
        operations = tuple(Operation(Op.INSERT_AFTER, *step) for step in steps)
        new = make_proposal(id=name, batch_id=name, path=str(person.skill), operations=operations, created_at=AT)
        stage_and_store(store, new)

    def parts_of(name: str) -> list[str]:
        return [part.added[-1].partition(" ")[2] for part in list_parts(get_proposal(store, name))]

    decisions = [accepting()] if head else [accepting(), reverting()]
    for decision, name in itertools.product(decisions, ("1a1b2c3d", "3a1b2c3d")):
        decide(store, get_proposal(store, name), decision)
        for other in ("0a1b2c3d", "2a1b2c3d"):
            assert (get_proposal(store, other).state, parts_of(other)) == (State.OPEN, said[other])
    decide_parts(store, get_proposal(store, "2a1b2c3d"), {1, 3}, accepting())
    texts = person.skill.read_text(), person.show(ref="skilld/staging")
    assert [[rule in text for rule in said["2a1b2c3d"]] for text in texts] == [[False, True, False, True], [True] * 4]


@pytest.mark.parametrize("verb", [cli_decide.accept, cli_decide.reject])
def test_one_of_several_parts_is_refused_if_they_cannot_be_told_apart(
    person: Person, store: Store, monkeypatch: pytest.MonkeyPatch, verb: Callable[[argparse.Namespace], int]
) -> None:
    updates = tuple(Update(1, "", change, "", Kind.FACT, 1, quote) for quote, change, _ in SAID[:2])
    operation = Operation(Op.INSERT_AFTER, "- Tag the commit.", "\n".join(LINES[:2]))
    stage_and_store(
        store, make_proposal(path=str(person.skill), operations=(operation,), updates=updates, created_at=AT)
    )
    monkeypatch.setattr(common, "store_or_empty", lambda: store)
    given = argparse.Namespace(
        ids=["0123abcd"], part=[1], command="accept", why="", to=None, worktree=False, all=False, all_repositories=False
    )
    with pytest.raises(SkilldError, match="accept part of 0123abcd: its parts cannot be told apart") as error:
        verb(given)
    assert error.value.remedy == "To accept all of it: skilld accept 0123abcd"
    assert get_proposal(store, "0123abcd").state is State.OPEN


def test_what_is_left_of_a_remainder_is_kept_beside_its_reopened_origin(store: Store, made: Proposal) -> None:
    """All of them come from the same batch and file."""
    decide_parts(store, made, {0}, accepting())
    (rest,) = store.proposals.in_states([State.OPEN])
    undo_accept(store, get_proposal(store, made.id))
    report = decide_parts(store, get_proposal(store, rest.id), {0}, accepting())
    described = describe_remainder(store, get_proposal(store, rest.id))
    assert report.lines[-1].startswith(f"{described.removeprefix('the rest of it is still open as ')} is open: ")
    undo_accept(store, get_proposal(store, rest.id))
    opened = store.proposals.in_states([State.OPEN])
    assert sorted(proposal.summary for proposal in opened) == sorted(change for _, change, _ in SAID)


def test_what_a_worker_knew_before_an_undo_does_not_take_the_proposal_off_the_branch(
    person: Person, store: Store, made: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker starts to read git, or to judge a batch, with the proposal decided; it is being reopened meanwhile."""
    decide_parts(store, made, {0, 2}, accepting())
    taken = get_proposal(store, made.id)
    for state in (State.OPEN, State.ACCEPTED):  # as if it had been accepted a while ago
        store.proposals.decide(get_proposal(store, made.id), state, AT, who="command", commit=taken.landed)
    known: list[Any] = []

    def stage_and_look(*given: Any, **more: Any) -> Any:
        done = stage_on_branch(*given, **more)
        known.extend((prepare_observation(store), store.proposals.closed_ids()))
        return done

    monkeypatch.setattr("skilld.proposals.undo_accept.stage_on_branch", stage_and_look)
    undo_accept(store, taken)
    read, closed = known
    record_observation(store, read(), time.time())
    other = Operation(Op.INSERT_AFTER, "- Push the tag.", "- Tell the team.")
    new = make_proposal(path=str(person.skill), operations=(other,), created_at=AT)
    assert stage(new, store.proposals.in_states([State.OPEN]), StagingResult(), closed)
    refresh(store)
    assert get_proposal(store, made.id).state is State.OPEN
    assert all(line in person.show(ref="skilld/staging") for line in LINES)
    assert store.proposals.missing_since(made.id) == ""


def test_parts_without_a_place_wait(
    person: Person, store: Store, made: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> Proposal:
        raise SkilldError("The edit was not proposed", "its anchor is not in the file")

    monkeypatch.setattr("skilld.proposals.amend.stage_and_store", refuse)
    report = decide_parts(store, made, {0}, accepting())
    (rest,) = store.proposals.in_states([State.OPEN])
    assert report.warnings == (f"the other parts are on hold as {rest.id}: its anchor is not in the file",)
    assert (rest.note, rest.commit) == ("on hold: its anchor is not in the file", "")
    assert LINES[0] in person.skill.read_text()


@pytest.mark.parametrize("anchor", ["- Tag the commit.", "Keep the changelog short."])
def test_a_diff_shows_no_lines_of_other_open_proposals(store: Store, made: Proposal, anchor: str) -> None:
    edit = (Operation(Op.INSERT_AFTER, anchor, "- Tell the team."),)
    near = replace(made, id="0a1b2c3d", batch_id="c", commit="", operations=edit)
    near = stage_and_store(store, near)
    lines = [*diff(near)]
    assert [line for line in lines[2:] if line.startswith(("+", "-"))] == ["+- Tell the team."]
    assert [one for one in LINES if any(one in line for line in lines)] == []
    assert LINES[1] in _proposal_text(near)


def test_a_line_of_another_open_proposal_is_told_apart_from_the_file(
    person: Person, store: Store, made: Proposal
) -> None:
    next_one = stage_and_store(
        store,
        replace(
            made,
            id="0a1b2c3d",
            batch_id="c",
            commit="",
            operations=(Operation(Op.INSERT_AFTER, "Keep the changelog short.", "Tell the team."),),
        ),
    )
    around = [LINES[1], "- Tag the commit.", ""]
    assert describe_borrowed_lines(store, next_one, around) == [
        f"“{LINES[1]}” belongs to the open proposal {made.id}; accepting this one does not add it"
    ]
    decide(store, made, accepting())
    assert describe_borrowed_lines(store, next_one, around) == []
    assert LINES[1] in person.skill.read_text()


def test_accepted_lines_are_shown_as_a_commit_and_not_as_open(store: Store, made: Proposal) -> None:
    told = replace(made.operations[0], text="- Tell the team.")
    next_one = stage_and_store(store, replace(made, id="0a1b2c3d", batch_id="c", commit="", operations=(told,)))
    decide(store, next_one, accepting())
    shown = list(diff(get_proposal(store, next_one.id)))
    assert "+- Tell the team." in shown
    assert not any(line[1:] in LINES for line in shown)


def test_a_quote_for_both_halves_stays_with_both(store: Store, made: Proposal) -> None:
    both = "Run the linter before tagging and sign the tag with the release key."
    made = replace(made, updates=(), evidence=(Evidence("t", both), Evidence("u", "What he said.")))
    store.proposals.set_evidence(made)
    decide_parts(store, made, {0}, accepting())
    (rest,) = store.proposals.in_states([State.OPEN])
    assert _quotes(get_proposal(store, made.id)) == _quotes(rest) == [both, "What he said."]


def test_a_refused_split_changes_nothing(person: Person, store: Store, made: Proposal) -> None:
    person.skill.write_text(person.skill.read_text().replace("- Tag the commit.", "- Tag it, and tell all."))
    before = get_proposal(store, made.id)
    with pytest.raises(Exception, match="uncommitted"):
        decide_parts(store, made, {0}, accepting())
    after = get_proposal(store, made.id)
    assert replace(after, commit="", base="") == replace(before, commit="", base="")


def test_a_part_can_be_rejected_and_restored_alone(person: Person, store: Store, made: Proposal) -> None:
    decide_parts(store, made, {1}, rejecting("we have no key"))
    (rest,) = store.proposals.in_states([State.OPEN])
    assert _quotes(rest) == [SAID[0][0], SAID[2][0]]
    assert (get_proposal(store, made.id).state, store.proposals.decision_reason(made.id)) == (
        State.REJECTED,
        "we have no key",
    )
    assert (LINES[0] in _proposal_text(rest), LINES[1] in _proposal_text(rest)) == (True, False)
    assert LINES[1] not in person.show(ref="skilld/staging")
    restore(store, get_proposal(store, made.id))
    assert all(line in person.show(ref="skilld/staging") for line in LINES)


def test_accepting_a_rejected_part_says_it_was_rejected(store: Store, made: Proposal) -> None:
    """The ID that the person knows is the rejected part's: to accept it may be a mistake."""
    decide_parts(store, made, {1}, rejecting("we have no key"))
    told = decide(store, get_proposal(store, made.id), accepting())
    assert (
        told.lines[0]
        == f"You had rejected {made.id} (we have no key); accepting it now; the rest of it is still open as 969880b6."
    )


def test_a_batch_leaves_a_part_that_belongs_to_another_proposal(store: Store, made: Proposal) -> None:
    harm = replace(made, flags=("It skips hooks, checks or signatures: never push",))
    assert parts_for_batch(store, harm) == {0, 1}
    moved = replace(made.updates[0], change=f"{SAID[0][1]} {SAID[1][1]}")  # one thing that takes two operations
    assert parts_for_batch(store, replace(harm, updates=(moved, made.updates[2]))) == set()
    assert parts_for_batch(store, replace(harm, updates=())) == set()
    line = ContradictingLine("/p/CLAUDE.md", 3, "Push on Fridays.")
    assert parts_for_batch(store, replace(harm, conflicts=(line,))) == set()
    assert parts_for_batch(store, replace(harm, flags=("It skips hooks, checks or signatures",))) == set()


RULES = "# Rules\n\n- Run the linter after tagging.\n- Always push on a Friday.\n"


@pytest.mark.parametrize(
    ("decision", "part", "never"),
    [
        (accepting(), 0, (False, True)),
        (accepting(), 2, (True, True)),
        (rejecting(), 0, (False, True)),
        (rejecting(), 2, (False, False)),
    ],
    ids=["accept another", "accept its own", "reject another", "reject its own"],
)
def test_the_answer_to_a_contradicting_line_goes_with_its_part(
    store: Store, made: Proposal, decision: Decision, part: int, never: tuple[bool, bool]
) -> None:
    person = Person(Path(made.repo))
    person.commit("rules", {"docs/rules.md": RULES})
    line, path = "- Always push on a Friday.", str(person.root / "docs/rules.md")
    also = SideEdit(path, (Operation(Op.REPLACE, line, "- Never push on a Friday."),), "docs/rules.md")
    conflict = ContradictingLine(path, 4, line)
    decide(store, made, rejecting())
    whole = replace(made, id="0a1b2c3d", batch_id="c", commit="", also=(also,), conflicts=(conflict,))
    whole = stage_and_store(store, whole)
    decide_parts(store, whole, {part}, decision)
    (rest,) = store.proposals.in_states([State.OPEN])
    its = get_proposal(store, whole.id).conflicts, rest.conflicts
    assert its == (((conflict,), ()) if part == 2 else ((), (conflict,)))
    found = [person.show("docs/rules.md")]
    decide(store, rest, accepting())
    found.append(person.show("docs/rules.md"))
    assert found == [RULES.replace("Always push", "Never push").strip() if one else RULES.strip() for one in never]


def test_each_part_has_its_own_reason(made: Proposal) -> None:
    assert part_reasons(made, list_parts(made)) == [why for *_, why in SAID]
    assert part_reasons(replace(made, updates=made.updates[:2]), list_parts(made)) == []


def test_a_flag_that_shows_words_of_one_part_is_that_parts(made: Proposal) -> None:
    flags = ("It deletes something: never push…", "It repeats a line: sign the tag with", "the wording is not yours")
    flagged = replace(made, flags=(*flags, "It may apply to more: tag"))
    assert part_flags(flagged, list_parts(made)) == [[], [flags[1]], [flags[0]]]


def test_a_reason_of_the_whole_stays_where_no_line_has_one_of_its_own(made: Proposal) -> None:
    """So it is with a skill from past sessions."""
    updates = tuple(replace(one, reason="") for one in made.updates)
    part = select_parts(replace(made, updates=updates, reason="It came up in 3 sessions."), {0})
    assert (part.updates, part.reason) == (updates[:1], "It came up in 3 sessions.")


def test_an_edited_section_has_the_words_that_were_typed(made: Proposal, store: Store, person: Person) -> None:
    accept_edited(store, made, _proposal_text(made).replace("## Preferences", "## Never"))
    assert "## Never\n" in person.show()


def test_a_removed_line_goes_with_the_words_behind_it(person: Person, store: Store) -> None:
    """What is accepted without an addition has a title of its own, and the rest has no warning about a removal."""
    check, tag = "- Show me the outdated dependencies.", "- Never push the tag."
    text = f"{TEXT}\n## Do not\n\n{check}\n- Never release on a Friday.\n{tag}\n"
    person.commit("rules", {SKILL: text})
    said = (
        Update(1, "", "Die Prüfung nicht mehr machen.", "", Kind.REMOVE_STEP, 1, "die Prüfung brauche ich nicht mehr"),
        Update(1, "", "Den Tag künftig selbst pushen.", "", Kind.CHANGE_STEP, 2, "den Tag pushst du künftig selbst"),
    )
    made = make_proposal(
        skill="release",
        path=str(person.skill),
        operations=(
            Operation(Op.DELETE, check),
            Operation(Op.INSERT_AFTER, "- Tag the commit.", "- Den Tag künftig selbst pushen."),
            Operation(Op.DELETE, tag),
        ),
        summary="Remove the rule: Show me the outdated dependencies. Den Tag künftig selbst pushen.",
        evidence=tuple(Evidence(f"claude-code:{one.turn}", one.quote) for one in said),
        flags=(f"It removes an instruction: {check}", f"It removes a safeguard: {tag}"),
        updates=said,
        created_at=AT,
    )
    made = stage_and_store(store, made)
    assert [one.removed for one in list_parts(made)] == [(check,), (tag,)]
    decide_parts(store, made, {0}, accepting())
    taken, (rest,) = get_proposal(store, made.id), store.proposals.in_states([State.OPEN])
    assert (taken.summary, taken.flags) == ("Remove the rule: Show me the outdated dependencies.", made.flags[:1])
    assert (_quotes(taken), _quotes(rest)) == ([said[0].quote], [said[1].quote])
    assert (rest.summary, rest.flags) == ("Den Tag künftig selbst pushen.", made.flags[1:])
    decide(store, rest, accepting())
    assert person.show() == text.replace(f"{check}\n", "").replace(f"{tag}\n", "").replace(
        "- Tag the commit.\n", "- Tag the commit.\n- Den Tag künftig selbst pushen.\n"
    ).rstrip("\n")


def test_what_removes_nothing_has_no_warning_about_a_removal(made: Proposal) -> None:
    gone = (
        "It removes an instruction: - A line that was taken out since.",
        "it removes something that you did not mention",
    )
    weak = "It weakens a rule: - Never push. -> - Never … Friday."
    moved = replace(made, flags=(*gone, weak, "It deletes something: never push"))
    assert select_parts(moved, {2}).flags == ("It deletes something: never push",)


@for_each(
    ("whys", "kept"),
    [
        (("", "Tags must be signed.", "Why not"), ""),  # no reason of its own, and none of another part
        (("Why not", "Why not", ""), "Why not"),
        (("", "Tags must be signed", "Why not"), "It came up twice."),
    ],
)
def test_a_part_never_has_the_reason_of_another_one(made: Proposal, whys: tuple[str, ...], kept: str) -> None:
    updates = tuple(replace(one, reason=why) for one, why in zip(made.updates, whys, strict=True))
    used = [kept] if kept.startswith("It") else []
    whole = replace(made, updates=updates, reason=join_sentences([*whys, *used]))
    assert select_parts(whole, {0}).reason == kept
