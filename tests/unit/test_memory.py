"""What was said is found again, weighted, and matched with the work at hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skilld.classify.backends import Spec, make_backend
from skilld.library.clusters import Mention, Piece, confidence, find_mentions, group_asks
from skilld.library.recommend import (
    MAX_RECOMMENDATIONS,
    Coverage,
    CoverageAnswer,
    CoverageExam,
    build_profile,
    message_batches,
    recommend,
)
from skilld.skills import Skill, Source
from skilld.skills.spec import FrontMatter
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.types import Evidence, Kind, Message, Proposal, Update
from support.proposals import make_proposal
from support.rows import for_each

DAY = 86400.0
NOW = 20_000 * DAY
SAID = Mention("learning", "l1", "Use pnpm, not npm.", "always use pnpm", "", "", "/shop", Piece("s1", NOW, 0.8))
LEARNING = Learning(
    "l1", "claude-code:1", "put the ticket number first", "Put the ticket number first.", "preference", "claude-code",
    "s1", "/shop", None, "no skill was in use", 0.8, "2026-01-05T10:00:00Z",
)  # fmt: skip


@for_each(
    ("pieces", "yes", "no", "expected"),
    [
        ([], 0, 0, 0.0),
        ([("a", 0)], 0, 0, 0.6),
        ([("a", 0), ("a", 1)], 0, 0, 0.6),  # one session twice
        ([("a", 0), ("b", 0)], 0, 0, 0.8),
        ([("a", 0), ("b", 0), ("c", 0)], 0, 0, 0.8),  # a third on the same day
        ([("a", 0), ("b", 1), ("c", 2)], 0, 0, 0.9),
        ([("a", 180)], 0, 0, 0.3),  # a half-life later
        ([("a", 0)], 0, 1, 0.4),
        ([("a", 0)], 3, 0, 0.6),
        ([("a", -5)], 0, 0, 0.6),  # a clock that was set back
    ],
)
def test_confidence_follows_the_formula(pieces: list[tuple[str, int]], yes: int, no: int, expected: float) -> None:
    made = [Piece(session, NOW - days * DAY, 0.6) for session, days in pieces]
    assert confidence(made, yes, no, now=NOW) == pytest.approx(expected)


@for_each(
    ("other", "same"),
    [
        ("Always use pnpm instead of npm.", True),
        ("use PNPM not npm", True),
        ("Use yarn, not npm.", False),
        ("Put the ticket number first.", False),
    ],
)
def test_the_same_request_in_other_words_is_one_request(other: str, *, same: bool) -> None:
    later = replace(SAID, id="l2", text=other, piece=Piece("s2", NOW + DAY, 0.8))
    found = group_asks([SAID, later])
    assert len(found) == (1 if same else 2)
    assert found[0].text == other


def _ids(store: Store, text: str) -> list[str]:
    return [hit.id for hit in store.search.find(text)]


def test_kept_statements_are_found_in_any_word_form_until_forgotten(store: Store) -> None:
    store.learnings.add(LEARNING)
    store.learnings.add(replace(LEARNING, id="l2", change="提交前先运行测试", quote="提交前先运行测试"))
    assert _ids(store, "which tickets come first?") == ["l1"]
    assert _ids(store, "运行测试") == ["l2"]
    assert _ids(store, 'ticket" OR "x* (') == ["l1"]  # no query language for who searches
    assert _ids(store, "the of and") == []
    store.learnings.forget("l1")
    store.learnings.add(replace(LEARNING, id="l3", change="Tag the release.", quote="tag it"))
    assert _ids(store, "ticket") == []
    assert _ids(store, "tag a release") == ["l3"]


def test_a_proposal_is_found_by_its_words_of_today(store: Store) -> None:
    proposal = Proposal(
        id="p1",
        batch_id="b1",
        skill="notes",
        path="/p/notes/SKILL.md",
        operations=(),
        summary="Put the ticket number first.",
        reason="",
        kind=Kind.PREFERENCE,
        confidence=0.8,
        model="offline",
        created_at="2026-01-05T10:00:00Z",
    )
    store.proposals.add(proposal)
    assert _ids(store, "ticket") == ["p1"]
    store.proposals.add_evidence("p1", Evidence("codex:9", "the changelog lacks the Jira key again"))
    assert _ids(store, "jira") == ["p1"]
    store.proposals.save_edit(replace(proposal, summary="Put the issue in front."))
    assert [_ids(store, text) for text in ("issue", "jira", "ticket")] == [["p1"], ["p1"], []]


def test_the_search_index_of_a_rebuilt_database_is_refilled(store: Store, tmp_path: Path) -> None:
    store.learnings.add(LEARNING)
    store.save_copy()
    with_copy = Store.open(tmp_path / "skilld.db.copy")
    assert _ids(with_copy, "ticket") == ["l1"]
    with_copy.close()


def _skill(name: str, description: str) -> Skill:
    return Skill(
        name, Path(f"/p/{name}/SKILL.md"), Source.PROJECT, Path("/shop"), ("codex",), FrontMatter(name, description)
    )


NOTES = _skill("release-notes", "Writes the release notes of a version.")
OTHERS = [_skill(f"other-{n}", "Paints a picture of a bike shed.") for n in range(20)]


def test_a_skill_is_recommended_by_what_was_said_of_it_and_by_its_text() -> None:
    about_notes = replace(SAID, text="Put the ticket number first in release notes.", quote="ticket first",
                          skill="release-notes", path="/p/release-notes/SKILL.md")  # fmt: skip
    (alone,) = recommend("write the release notes", [], [NOTES, *OTHERS], now=NOW)
    (in_two,) = recommend("write the release notes in two", [], [NOTES, *OTHERS], now=NOW)
    assert in_two.confidence == alone.confidence, "a number is no subject"
    (both,) = recommend("write the release notes", [about_notes], [NOTES, *OTHERS], now=NOW)
    assert (alone.skill, both.skill) == ("release-notes", "release-notes")
    assert 0 < alone.confidence < both.confidence < 1
    (because,) = both.because
    assert (because.id, because.session, because.confidence) == ("l1", "s1", 0.8)


def test_statements_about_one_skill_do_not_affect_another_of_the_same_name() -> None:
    other = replace(NOTES, path=Path("/q/release-notes/SKILL.md"))
    unhelpful = {("release-notes", str(NOTES.path)): (0, 9)}
    of_both = {("release-notes", ""): (0, 9)}
    (first, second) = recommend("write the release notes", [], [NOTES, other], now=NOW, feedback=unhelpful)
    assert (first.path, second.path) == (str(other.path), str(NOTES.path))
    assert first.confidence > second.confidence
    (make_mention, two) = recommend("write the release notes", [], [NOTES, other], now=NOW, feedback=of_both)
    assert make_mention.confidence == two.confidence == second.confidence


def test_a_statement_without_a_skill_is_recommended_alone_and_by_project() -> None:
    (here,) = recommend("install with pnpm or npm", [SAID], [], now=NOW, project="/shop")
    (there,) = recommend("install with pnpm or npm", [SAID], [], now=NOW, project="/bank")
    assert (here.skill, here.because[0].text) == ("", "Use pnpm, not npm.")
    assert there.confidence < here.confidence


def test_at_most_ten_related_results_are_recommended() -> None:
    assert len(recommend("paint the bike shed", [], OTHERS, now=NOW)) == MAX_RECOMMENDATIONS
    assert recommend("compile the kernel", [SAID], [NOTES, *OTHERS], now=NOW) == []


def test_a_search_returns_statements(store: Store) -> None:
    store.learnings.add(LEARNING)
    (mention,) = find_mentions(store, "ticket numbers")
    assert (mention.kind, mention.id, mention.project, mention.accepted) == ("learning", "l1", "/shop", None)


def test_a_remedy_is_found_by_what_was_said(store: Store) -> None:
    said = Update(1, "", "Put the ticket number first.", "", Kind.CORRECTION, 1, "ticket first", 0.9)
    louder = make_proposal(
        batch_id="effect-sharpen-r1",
        summary=f"Say this more clearly: {said.change}",
        evidence=(Evidence("k1", said.quote),),
        updates=(said,),
    )
    store.proposals.add(louder)
    assert [one.text for one in find_mentions(store, "ticket number")] == ["Put the ticket number first."]


def test_a_profile_counts_requests_and_names_the_surest() -> None:
    def make_mention(number: int, text: str, confidence: float, *, accepted: bool | None = None) -> Mention:
        piece = Piece(f"s{number}", NOW, confidence)
        return replace(SAID, id=f"l{number}", text=text, piece=piece, accepted=accepted)

    texts = ["Run `pnpm test`.", "Use tabs instead of blanks.", "Modules live in src.", "Be kind.", "Say it.", "Rest."]
    said = [make_mention(number, text, 0.2) for number, text in enumerate(texts)]
    in_skill = replace(make_mention(1, texts[1], 0.2, accepted=True), skill="notes")
    said += [in_skill, replace(in_skill, skill=""), make_mention(2, texts[2], 0.2, accepted=False)]
    profile = build_profile([*said, make_mention(9, texts[0], 0.9, accepted=True)], now=NOW)
    assert profile.in_files == 1
    assert (profile.total, profile.in_skills, profile.sessions, profile.projects, profile.newest) == (6, 1, 7, 1, NOW)
    assert len(profile.top) == 5
    surest = profile.top[0]
    assert (surest.text, surest.confidence) == (texts[0], 0.95)
    assert build_profile([], now=NOW).total == 0


TEXT = "---\nname: notes\ndescription: Writes release notes.\n---\n\n# Release notes\n\n- Write at most 5 entries.\n"
ALWAYS = "From now on, always put the ticket number first in each entry of the release notes."


def _messages(*texts: str) -> list[Message]:
    return [Message(text, turn=number, turn_key=f"t{number}") for number, text in enumerate(texts, 1)]


def test_a_session_is_split_into_batches_without_chatter_ones() -> None:
    one, two = Message("Done."), Message("Done, too.")
    turns = _messages("thanks", "ok", ALWAYS, "thanks", "ok")
    session = [turns[0], one, turns[1], two, turns[2], turns[3], turns[4], Message("Bye.")]
    (batch,) = message_batches(session, 2)
    assert [(message.text, message.turn, message.turn_key) for message in batch] == [
        ("Done, too.", None, None),
        (ALWAYS, 1, "t3"),
        ("thanks", 2, "t4"),
    ]
    assert list(message_batches([Message("Bye.")], 2)) == []


def test_rules_cannot_judge_words_in_another_language() -> None:
    messages = _messages(
        "Ab jetzt immer die Ticketnummer an den Anfang von jedem Eintrag in den Release Notes schreiben."
    )
    text = TEXT + "- Always put the ticket number at the start of each entry.\n"
    examination = CoverageExam(make_backend(Spec("offline")), "notes", Path("/p/SKILL.md"), text, str)
    assert [answer.word for answer in examination.answers(messages)] == [Coverage.CANNOT_TELL]


def test_each_lasting_statement_is_answered_in_order() -> None:
    messages = _messages(
        ALWAYS,
        "From now on, write at most 9 entries in the release notes.",
        "Never put marketing words into the release notes.",
        "Always water the plants in the office kitchen on Fridays.",
    )
    text = TEXT + "- Never put marketing words into the release notes.\n"
    examination = CoverageExam(make_backend(Spec("offline")), "notes", Path("/p/SKILL.md"), text, str)
    found = examination.answers(messages)
    assert [(one.word, one.turn) for one in found] == [
        (Coverage.NOT_COVERED, "t1"),
        (Coverage.CONTRADICTS, "t2"),
        (Coverage.COVERED, "t3"),
    ]
    assert isinstance(found[1], CoverageAnswer)
    assert [one.line for one in found[1:]] == [
        "Write at most 5 entries.",
        "Never put marketing words into the release notes.",
    ]
    assert [one.change for one in examination.elsewhere] == [
        "Always water the plants in the office kitchen on Fridays."
    ]
