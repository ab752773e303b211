from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from skilld.classify.contradiction import contradicts_clearly
from skilld.classify.said_already import find_same_words, is_same_change
from skilld.proposals.past_decisions import find_refused_sentence, known_reason, match_open_proposal, threshold
from skilld.protocol import PastDecision
from skilld.types import Kind, Op, Operation, State, Update
from support.proposals import make_proposal
from support.rows import for_each
from support.tables import table_rows

PATH = "/p/.claude/skills/notes/SKILL.md"
UPDATE = Update(
    1, "Style", "Put the ticket number first.", "", Kind.PREFERENCE, 1, "Always the ticket number first!", 0.9
)
STANDING = make_proposal(path=PATH, operations=(Operation(Op.INSERT_AFTER, "- a", "- Put the ticket number first."),))
DECIDED = PastDecision(
    PATH, State.REJECTED, ("- Put the ticket number first.",), ("always the ticket number first!",), "s1"
)


def test_a_rule_in_an_open_proposal_is_not_proposed_again() -> None:
    assert known_reason(UPDATE, PATH, "s2", [STANDING], []) == "the open proposal 0123abcd already says this"


def test_an_open_proposal_for_another_skill_does_not_matter() -> None:
    assert known_reason(UPDATE, PATH, "s2", [replace(STANDING, path="/other")], []) is None


@for_each(
    ("session", "quote", "why"),
    [
        ("s1", "put ticket numbers first from now on", "it was rejected earlier"),  # the same session
        ("s2", "always  the ticket\nnumber first!", "it was rejected earlier"),  # the same words
        ("s2", "And always the ticket number first.", "it was rejected earlier"),
        ("s2", "The ticket number first", "it was rejected earlier"),
        ("s2", "From now on, always the ticket number first!", None),
        ("s2", "put ticket numbers first from now on", None),  # said anew
    ],
)
def test_a_rejected_rule_returns_only_when_said_again(session: str, quote: str, why: str | None) -> None:
    assert known_reason(replace(UPDATE, quote=quote), PATH, session, [], [DECIDED]) == why


@for_each(
    ("said", "again"),
    [
        ("put the ticket number first", True),
        ("should we put the ticket number first?", False),
        ("never put the ticket number first", False),
        ("write the notes with the ticket number", False),
    ],
)
def test_a_rejected_rule_is_recognized_in_a_sentence(said: str, *, again: bool) -> None:
    assert (find_refused_sentence(said, [DECIDED]) is DECIDED) == again


def test_an_unrelated_rule_does_not_matter() -> None:
    other = replace(UPDATE, change="Write in the past tense.")
    assert known_reason(other, PATH, "s1", [STANDING], [DECIDED]) is None


OPEN = replace(
    STANDING,
    session_id="s1",
    operations=(Operation(Op.INSERT_AFTER, "- a", "- Run the tests of the parser before each commit."),),
    updates=(replace(UPDATE, change="Run the tests of the parser before each commit."),),
)


@for_each(
    ("change", "rest"),
    [
        ("Run the tests of the parser before each commit. Recognize this kind of test.", ""),
        ("Run the parser tests before each commit, please.", ""),
        ("Run the tests of the parser before each commit. Write changelogs in German.", "Write changelogs in German."),
        ("Run the tests of the parser before each commit. Those slower than a minute only in CI.", None),
        ("Run the linter before each commit. Write changelogs in German.", None),
        ("Run the tests of the parser after each release.", None),
        ("Never run the tests of the parser before each commit.", None),
    ],
)
def test_a_sentence_already_in_an_open_proposal_is_left_out(change: str, rest: str | None) -> None:
    found, left = match_open_proposal(replace(UPDATE, change=change), PATH, [OPEN])
    assert left == (change if rest is None else rest)
    assert (found is None) == (rest is None), "what is said again supports the open proposal"
    assert bool(known_reason(replace(UPDATE, change=change), PATH, "s1", [OPEN], [])) == (rest == "")


def test_a_rule_counts_as_said_whatever_its_edit_wrote() -> None:
    written = (Operation(Op.REPLACE, "- a", "- Commit only what the parser's tests pass."),)
    again = replace(UPDATE, change="Run the parser tests before each commit.")
    assert match_open_proposal(again, PATH, [replace(OPEN, operations=written)])[1] == ""
    assert match_open_proposal(again, PATH, [replace(OPEN, operations=written, updates=())]) == (None, again.change)


def test_a_reversed_rule_is_another_rule() -> None:
    for one, other in [*table_rows("known", "a rule turned round"), *table_rows("known", "another name")]:
        assert not is_same_change(one, other)
        assert find_same_words(one, f"# Rules\n\n- {other}\n") is None
        assert is_same_change(one, one.lower())
        assert find_same_words(one, f"# Rules\n\n- {one}\n") == one


@for_each(
    ("one", "other"),
    [
        ("Ask me before you add a dependency.", "Ask before adding a dep."),
        ("Write commit messages in German.", "Commit msgs in German."),
        ("Never touch the config.", "Do not touch the configuration."),
        ("Put helpers into the utils folder.", "Helpers go in the utils directory."),
    ],
)
def test_a_rule_with_short_forms_is_the_same_rule(one: str, other: str) -> None:
    assert is_same_change(one, other)
    assert find_same_words(one, f"# Rules\n\n- {other}\n") == other
    assert find_same_words(other, f"# Rules\n\n- {one}\n") == one


def test_contradicting_rules_are_recognized() -> None:
    for change, line in table_rows("contradictions", "cannot both hold"):
        assert contradicts_clearly(change, line)


def test_exceptions_other_subjects_and_plain_commands_do_not_contradict() -> None:
    for change, line in table_rows("contradictions", "can both hold"):
        assert not contradicts_clearly(change, line)


@for_each(
    ("yes", "no", "expected"),
    [(0, 0, 0.5), (0, 1, 0.58), (0, 2, 0.633), (0, 6, 0.74), (0, 99, 0.8), (9, 0, 0.5), (2, 4, 0.58), (3, 3, 0.5)],
)
def test_each_rejection_raises_the_threshold_and_each_acceptance_lowers_it_within_bounds(
    yes: int, no: int, expected: float
) -> None:
    assert threshold(yes, no) == expected


def test_a_decision_holds_in_a_work_tree_and_not_in_another_submodule(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    for name in ("linked", "repo/one", "repo/two"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        git_dir = repo / ".git" / ("worktrees/linked" if name == "linked" else f"modules/{folder.name}")
        git_dir.mkdir(parents=True)
        (folder / ".git").write_text(f"gitdir: {git_dir}\n")
    (repo / ".git/worktrees/linked/commondir").write_text("../..\n")
    update = replace(UPDATE, change="Put the ticket number first.")
    for first, other, known in (
        ("repo", "linked", True),
        ("repo/one", "repo/two", False),
        ("repo", "repo/one", False),
    ):
        decided = [replace(DECIDED, path=str(tmp_path / first / "SKILL.md"))]
        assert bool(known_reason(update, str(tmp_path / other / "SKILL.md"), "s1", [], decided)) is known


@for_each(
    ("origin", "file", "known"),
    [
        ("git@example.org:team/shop.git", "web/SKILL.md", True),
        ("https://example.org/team/shop", "web/SKILL.md", True),
        ("https://example.org/team/shop", "api/SKILL.md", False),
        ("https://example.org/fork/shop", "web/SKILL.md", False),
        ("", "web/SKILL.md", False),
    ],
)
def test_what_waits_or_was_decided_holds_in_another_clone_of_the_same_origin(
    tmp_path: Path, origin: str, file: str, *, known: bool
) -> None:
    for name, address in (("one", "https://example.org/team/shop.git"), ("two", origin)):
        (tmp_path / name / ".git").mkdir(parents=True, exist_ok=True)
        (tmp_path / name / ".git/HEAD").write_text("ref: refs/heads/main\n")
        remote = f'[remote "origin"]\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\turl = {address}\n'
        mirror = '[remote "mirror"]\n\turl = https://example.org/team/shop\n'
        (tmp_path / name / ".git/config").write_text(f"[core]\n\tbare = false\n{mirror}{remote if address else ''}")
    theirs, mine = str(tmp_path / "one/web/SKILL.md"), str(tmp_path / "two" / file)
    update = replace(UPDATE, change="Put the ticket number first.")
    assert bool(known_reason(update, mine, "s1", [], [replace(DECIDED, path=theirs)])) is known
    standing = replace(STANDING, path=theirs)
    why = f"the open proposal 0123abcd, for {theirs}, already says this"
    assert known_reason(UPDATE, mine, "s2", [standing], []) == (why if known else None)


@for_each(
    ("origin", "known"), [("../shop.git", True), ("./../shop", True), ("../other.git", False), ("shop.git", False)]
)
def test_an_origin_on_this_machine_may_be_named_from_a_clone(tmp_path: Path, origin: str, *, known: bool) -> None:
    for name, address in (("one", str(tmp_path / "shop.git")), ("two", origin)):
        (tmp_path / name / ".git").mkdir(parents=True, exist_ok=True)
        (tmp_path / name / ".git/HEAD").write_text("ref: refs/heads/main\n")
        (tmp_path / name / ".git/config").write_text(f'[remote "origin"]\n\turl = {address}\n')
    update = replace(UPDATE, change="Put the ticket number first.")
    decided = [replace(DECIDED, path=str(tmp_path / "one/SKILL.md"))]
    assert bool(known_reason(update, str(tmp_path / "two/SKILL.md"), "s1", [], decided)) is known
