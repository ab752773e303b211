"""What single sessions did, as a model sees it, and what it makes of that."""

from __future__ import annotations

from dataclasses import replace

from skilld.classify.draft_lines import DraftAnswer, DraftLine
from skilld.mining.actions import ActionLog, beginnings, commands, is_beginning
from skilld.mining.evidence import NOTHING_KNOWN
from skilld.mining.new_skill import build_skill
from skilld.mining.recurring_tasks import find_recurring_tasks
from skilld.mining.requests import outline
from skilld.mining.session_summary import Row, Task
from skilld.mining.skill_lines import (
    Verdict,
    draft_text,
    evidence_lines,
    second_draft_text,
    worded_skill,
)
from skilld.mining.values import Candidate, Grouping, Part, PartKind, Proof, ToldTask
from skilld.mining.written_parts import answer_shape, written_parts
from skilld.skills.draft import write_draft
from skilld.types import Span, ToolCall, ToolOutcome, ToolResult
from support.rows import for_each


def call(name: str, number: int = 1, **given: object) -> ToolCall:
    return ToolCall("s", f"c{number}", name, given, "", Span(number, number + 1))


@for_each(
    ("path", "given", "parts"),
    [
        ("CHANGELOG.md", {"new_string": "## [Unreleased]\n\n### Added\n- x"}, ("Unreleased", "Added")),
        ("package.json", {"new_string": '  "version": "1.4.0",'}, ("version",)),
        ("app.py", {"content": "import os\n\nclass Cart:\n    def total(self): ..."}, ("Cart", "total")),
        (
            "cart.test.ts",
            {"content": "describe('the cart', () => {\n  it('adds up', () => {})"},
            ("the cart", "adds up"),
        ),
        ("notes.md", {"edits": [{"new_string": "# One"}, {"new_string": "# Two"}]}, ("One", "Two")),
        ("LICENSE", {"content": "# none\nMIT"}, ()),
        ("a.md", {"old_string": "# Old", "new_string": "text"}, ()),
    ],
)
def test_a_change_is_told_by_the_headings_names_and_keys_in_it(
    path: str, given: dict[str, object], parts: tuple[str, ...]
) -> None:
    change = ToolCall("s", "c1", "Edit", {"file_path": path, **given}, "", Span(1, 2))
    assert written_parts(change, path) == parts


def test_a_patch_is_told_file_by_file() -> None:
    patch = "*** Begin Patch\n*** Update File: a.md\n+# One\n-# Old\n*** Add File: b.md\n+# Two\n*** End Patch"
    change = call("apply_patch", input=patch)
    assert (written_parts(change, "a.md"), written_parts(change, "b.md")) == (("One",), ("Two",))
    escaped = call("apply_patch", input=patch.replace("\n", "\\n"))
    assert written_parts(escaped, "b.md") == ("Two",)


def test_an_answer_is_told_by_its_headings_and_columns() -> None:
    text = "Well.\n\n## Stale\n\n**Keep open:**\n\n| Issue | Why |\n|---|---|\n| 1 | old |\n"
    assert answer_shape(text) == ("Stale", "Keep open:", "table of Issue , Why")
    assert answer_shape("Done | all.") == ()


@for_each(
    ("text", "found"),
    [
        ('bd create "' + "x" * 400 + '" -p 1', ["bd create \u2026"]),
        ('git add -A && gh pr create --title "' + "y" * 400 + '"', ["gh pr create \u2026"]),
        ("for f in a b; do gh issue close $f; done", []),
        ("cat > notes.md <<EOF\nrm all files\nEOF\n", []),
        ("python3 - <<'EOF'\nimport os\nEOF", []),
        ("ls -la && git status", []),
        ("make dist", []),
    ],
)
def test_of_a_command_too_long_to_repeat_the_beginning_is_known(text: str, found: list[str]) -> None:
    assert beginnings(text, commands(text)) == found
    assert all(is_beginning(one) for one in found)


def _row(session: str, *calls: ToolCall, request: str = "close the month") -> Row:
    log = ActionLog()
    for one in calls:
        log.add(one)
        log.add(ToolResult("s", one.call_id, ToolOutcome.OK, "", one.span))
    row = Row(
        "claude-code", session, "", "/shop", f"2026-11-0{len(session)}", (), (Task("t", request),), (), (), "/shop"
    )
    shape = (("Totals", "Open points"), "t")
    done = tuple((one, "t") for one in log.actions("/shop"))
    return replace(row, turns=("t",), asked=request, actions=done, answers=(shape,))


def _sessions() -> list[Row]:
    long = "x" * 400
    return [
        _row(
            "a",
            call("Bash", 1, command=f'ledger post --month 3 --note "{long}"'),
            call("Edit", 2, file_path="books/march.md", new_string="# Totals"),
            call("Bash", 3, command="gh pr merge 12 --squash --delete-branch"),
        ),
        _row(
            "bb",
            call("Bash", 1, command=f'ledger post --month 4 --note "{long}"'),
            call("Edit", 2, file_path="books/april.md", new_string="# Totals"),
            call("Bash", 3, command="gh pr merge 15 --squash --delete-branch"),
            call("Bash", 4, command="rm -rf books/old"),
        ),
    ]


def _candidate() -> Candidate:
    rows = _sessions()
    told = Grouping([ToldTask(frozenset({("a", "t"), ("bb", "t")}))], frozenset({("a", "t"), ("bb", "t")}))
    (found,) = find_recurring_tasks(rows, NOTHING_KNOWN, grouping=told)
    assert found.candidate is not None
    return found.candidate


def test_a_session_is_told_in_order_and_a_command_that_may_not_run_by_its_beginning() -> None:
    (row, _) = _sessions()
    assert [(part.sort, part.text) for part in outline([row], [{"t"}])] == [
        (PartKind.COMMAND, "ledger post \u2026"),
        (PartKind.EDIT, "books/march.md: Totals"),
        (PartKind.COMMAND, "gh pr merge, with options that no skill may have"),
        (PartKind.ANSWER, "Totals; Open points"),
    ]
    assert outline([row], [set()]) == ()


def test_a_command_that_only_its_texts_keep_out_is_known_by_its_beginning() -> None:
    row = _row("a", call("Bash", 1, command='git commit -m "Use ~/notes/a.md" && git tag v1 -m "/home/ann/x"'))
    assert [part.text for part in outline([row], [{"t"}])][:2] == ["git commit \u2026", "git tag v1 \u2026"]


def test_a_changed_file_is_not_shown_as_read_and_a_bare_program_says_nothing() -> None:
    read, edit = call("Read", 1, file_path="a.md"), call("Edit", 2, file_path="a.md", new_string="# One")
    row = _row("a", read, call("Read", 3, file_path="b.md"), edit, call("Bash", 4, command="make -C /home/ann/x"))
    assert [(part.sort, part.text) for part in outline([row], [{"t"}])][:3] == [
        (PartKind.READ, "b.md"),
        (PartKind.EDIT, "a.md: One"),
        (PartKind.ANSWER, "Totals; Open points"),
    ]


def test_a_task_whose_sessions_share_no_step_is_a_draft_for_the_model_only() -> None:
    assert _candidate().recurrence
    found = find_recurring_tasks(_sessions(), NOTHING_KNOWN)
    assert [one.candidate for one in found] == [None]


def _numbers(one: Candidate, text: str) -> tuple[int, ...]:
    return tuple(n for n, part in enumerate(evidence_lines(one), 1) if text in part.text)


def _answer(one: Candidate) -> DraftAnswer:
    def line(kind: str, text: str, *about: str) -> DraftLine:
        return DraftLine(kind, text, tuple(n for each in about for n in _numbers(one, each)))

    return DraftAnswer(
        ("Invent a ledger", "Close the month"),
        "Use when asked to close the month",
        (
            line("step", "Post the month with `ledger post \u2026`", "ledger post"),
            line("step", "Write the totals to a file below `books/`", "Totals"),
            line("step", "Merge the PR with `gh pr merge \u2026`", "gh pr merge"),
            line("step", "Merge the PR", "gh pr merge"),
            line("step", "Delete `books/old`", "close the month"),
            line("step", "Answer with the headings Totals and Open points", "Open points"),
        ),
    )


def test_steps_are_worded_from_several_sessions_and_what_nobody_did_twice_stays_out() -> None:
    one = _candidate()
    made, refused = worded_skill(one, _answer(one))
    assert made is not None
    text = write_draft(build_skill(made, day="2026-11-29", with_sessions=True))
    assert "\n# Close the month\n" in text
    assert "description: Close the month. Use when asked to close the month.\n" in text
    assert text.partition("## Steps")[2].strip().splitlines() == [
        "Observed in 2 sessions:",
        "",
        "1. Post the month with `ledger post \u2026`.",
        "2. Write the totals to a file below `books/`.",
        "3. Merge the PR.",
        "4. Answer with the headings Totals and Open points.",
    ]
    assert [one.text for one in refused] == [
        "Merge the PR with `gh pr merge \u2026`",
        "Delete `books/old`",
        "Invent a ledger",
    ]
    assert [proof.session for proof in made.parts[1].proofs] == ["bb", "a"]
    assert made.parts[1].observed


@for_each(
    ("text", "about", "observed"),
    [
        ("Post the month with `ledger post \u2026`", "ledger post", True),
        ("Write the totals to a file below `books/`", "Totals", True),
        ("Tell the board that the month is closed", "tell the board", False),
    ],
)
def test_a_request_is_no_reason_for_a_step_that_the_agent_was_seen_to_do(
    text: str, about: str, *, observed: bool
) -> None:
    one = _candidate()
    said = Part(PartKind.SAID, "tell the board when the month is closed", (Proof("a", "t", "tell the board then"),))
    one = replace(one, parts=(*one.parts, said))
    line = DraftLine("step", text, _numbers(one, "close the month")[:1] + _numbers(one, about))
    made, _ = worded_skill(one, replace(_answer(one), lines=(*_answer(one).lines[2:4], line)))
    assert made is not None
    (part,) = (part for part in made.parts if part.text == text)
    assert part.observed is observed
    assert all(proof.observed for proof in part.proofs) is observed


def test_a_model_sees_what_was_left_out_and_why_once_more() -> None:
    one = _candidate()
    _, verdicts = worded_skill(one, _answer(one))
    again = second_draft_text(one, _answer(one), [*verdicts, Verdict("Post it", "few did", doubt=True)])
    assert again.startswith(draft_text(one))
    out, doubted = again.partition("Left out of it:\n")[2].split("\n\nIn doubt, but still in it:\n")
    assert "- Delete `books/old`: 'books/old' did not run like this in two sessions" in out
    assert doubted == "- Post it: few did"
    assert '"titles": ["Invent a ledger", "Close the month"]' in again
    _, none = worded_skill(one, replace(_answer(one), titles=("Close the month",), lines=_answer(one).lines[:2]))
    assert second_draft_text(one, _answer(one), none) == ""


@for_each(
    ("line", "why"),
    [
        (("step", "Do it with it", "close the month"), "says nothing without the conversation"),
        (("step", "Close it", "close the month"), "little sense out of context"),
        (("step", "", "april.md"), "only one session shows it"),
        (("step", "Merge the PR", "gh pr merge"), "another line says the same"),
        (("pitfall", "The totals of the books are open", "Totals"), "nobody typed"),
    ],
)
def test_no_line_is_left_out_without_its_reason(line: tuple[str, str, str], why: str) -> None:
    one = _candidate()
    kind, text, about = line
    given = DraftLine(kind, text, _numbers(one, about)[: None if text else 1])
    made, verdicts = worded_skill(one, replace(_answer(one), titles=(), lines=(*_answer(one).lines[:4], given)))
    assert made is not None
    assert why in str(verdicts[-1])


def test_a_line_that_may_not_stand_leaves_no_command_behind_that_nobody_gave() -> None:
    one = _candidate()
    shared = [Part(PartKind.COMMAND, text, _proofs_of(one)) for text in ("make books", "make totals")]
    one = replace(one, parts=(*one.parts, *shared))
    both, alone = (
        _numbers(one, "make books") + _numbers(one, "make totals"),
        _numbers(one, "close the month")[:1] + _numbers(one, "make books"),
    )
    lines = {kind: DraftLine(kind, "Make the books for kubernetes", both) for kind in ("step", "rule")}
    for extra, left in (
        (lines["step"], []),
        (lines["rule"], []),
        (DraftLine("rule", "Make the books for kubernetes", alone), []),
        (DraftLine("step", "Make the books for kubernetes", alone), ["make books"]),
    ):
        made, verdicts = worded_skill(one, replace(_answer(one), lines=(*_answer(one).lines[:2], extra)))
        assert made is not None
        assert [part.text for part in made.parts if part.text.startswith("make ")] == left
        assert any(("this line replaces it" in told.why) is bool(left) for told in verdicts if told.text == extra.text)


def test_a_line_of_another_form_and_a_path_of_one_machine_are_told_too() -> None:
    one = _candidate()
    path = Part(PartKind.COMMAND, "cd /home/ann/shop && make books", _proofs_of(one))
    one = replace(one, parts=(*one.parts, path))
    taken = DraftLine("step", "", _numbers(one, "/home/ann"))
    answer = replace(_answer(one), lines=(*_answer(one).lines[:2], taken), unread=("Post it twice",))
    made, verdicts = worded_skill(one, answer)
    assert made is not None
    assert "/home/ann" not in str([part.text for part in made.parts])
    told = {verdict.text: verdict.why for verdict in verdicts}
    assert "not as asked" in told["Post it twice"]
    assert "specific to this machine" in told[path.text]


def _proofs_of(one: Candidate) -> tuple[Proof, ...]:
    return tuple(replace(proof, observed=True) for proof in one.parts[0].proofs)


def test_a_draft_with_too_little_that_holds_becomes_no_skill() -> None:
    one = _candidate()
    answer = _answer(one)
    assert worded_skill(one, replace(answer, lines=()))[0] is None
    assert worded_skill(one, replace(answer, lines=answer.lines[4:]))[0] is None


@for_each(
    ("title", "typed", "session"),
    [("tag {{name}} now", "tag it now", "3"), ("tag {{name}} now", "tag now", "4"), ("tag {{a}}{{b}}", "tag it", "3")],
)
def test_a_request_is_of_the_sessions_in_which_it_was_typed(title: str, typed: str, session: str) -> None:
    one = _candidate()
    asked = replace(one.parts[0], proofs=(Proof("x", "t", "close it"), Proof("y", "t", typed), *one.parts[0].proofs))
    assert one.recurrence
    text = draft_text(replace(one, parts=(asked, *one.parts[1:]), recurrence=replace(one.recurrence, request=title)))
    assert f"1. (request, session {session}) " in text


def test_the_evidence_is_numbered_and_says_which_session_did_what() -> None:
    text = draft_text(_candidate())
    assert "1. (request, session 1, 2) close the month" in text
    assert "In session 1, one after the other:" in text
    assert "(changed) books/april.md: Totals" in text
    assert "rm -rf" not in text


def test_a_trigger_that_does_not_pass_is_reported_and_not_silently_replaced() -> None:
    one = _candidate()
    made, refused = worded_skill(one, replace(_answer(one), when="Use when asked for 100 points"))
    assert made is not None
    assert made.description == "Close the month. Use when asked for something like \u201cClose the month\u201d."
    assert "Use when asked for 100 points" in [one.text for one in refused]
    assert not [told for told in worded_skill(one, replace(_answer(one), when=""))[1] if "other words" in told.text]


def test_a_skill_whose_title_has_no_latin_words_is_named_after_another_of_its_titles() -> None:
    rows = [replace(row, tasks=(Task("t", "\u6708\u3092\u7de0\u3081\u3066"),)) for row in _sessions()]
    told = Grouping([ToldTask(frozenset({("a", "t"), ("bb", "t")}))], frozenset({("a", "t"), ("bb", "t")}))
    one = find_recurring_tasks(rows, NOTHING_KNOWN, grouping=told)[0].candidate
    assert one is not None
    answer = replace(_answer(one), titles=("\u6708\u3092\u7de0\u3081\u3066", "Post totals"), when="")
    made, _ = worded_skill(one, answer)
    assert made is not None
    assert (made.title, made.name) == ("\u6708\u3092\u7de0\u3081\u3066", "post-totals")


def test_a_check_is_the_persons_only_if_they_said_it() -> None:
    one = _candidate()
    numbers = _numbers(one, "ledger post")
    lines = (*_answer(one).lines[:2], DraftLine("check", "Check that the totals are posted", (1, *numbers)))
    made, _ = worded_skill(one, replace(_answer(one), lines=lines))
    assert made is not None
    text = write_draft(build_skill(made, day="2026-11-29", with_sessions=True))
    assert text.partition("## Check")[2].split("\n") == [
        "", "", "From these sessions:", "", "- Check that the totals are posted.", "",
    ]  # fmt: skip


def test_sessions_are_numbered_by_age() -> None:
    one = _candidate()
    sessions = [proof.session for proof in one.parts[0].proofs]
    assert sessions == ["bb", "a"]  # the newest first
    text = draft_text(one)
    assert text.index("In session 2, one after the other:") < text.index("In session 1, one after the other:")


def test_a_request_with_variables_is_of_the_sessions_that_typed_it() -> None:
    one = _candidate()
    first, second = (replace(proof, quote=f"close 2026-0{n}") for n, proof in enumerate(one.parts[0].proofs, 3))
    other = replace(first, session="cc", quote="what is missing in the month?")
    assert one.recurrence is not None
    task = replace(one.recurrence, request="close {{month}}", wordings=("close {{month}}", other.quote))
    asked = replace(one.parts[0], proofs=(other, first, second))
    found = evidence_lines(replace(one, parts=(asked, *one.parts[1:]), recurrence=task))
    assert [part.proofs for part in found[:2]] == [(first, second), (other,)]
