"""Requests that only continue a task, such as "you forgot the header": what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence

from skilld.clock import parse_time
from skilld.mining.actions import Action, is_read_only
from skilld.mining.requests import requests_with_actions
from skilld.mining.selection import judge
from skilld.mining.session_summary import Row, Task
from skilld.mining.values import Candidate, PartKind
from skilld.types import ToolOutcome
from support.rows import for_each

NOW = parse_time("2026-01-06T10:00:00Z") or 0.0
Turn = tuple[str, Sequence[str]]


def _row(number: int, *turns: Turn) -> Row:
    """Return a session with these turns and what the agent did for each: "~" is before a file that was changed."""
    keys = [f"t{number}:{at}" for at in range(len(turns))]
    actions = [
        (
            Action(
                one.lstrip("!~"),
                ToolOutcome.FAILED if one[0] == "!" else ToolOutcome.OK,
                0,
                edits=one[0] == "~",
                read_only=one[0] != "~" and is_read_only(one.lstrip("!")),
            ),
            key,
        )
        for key, (_, done) in zip(keys, turns, strict=True)
        for one in done
    ]
    tasks = tuple(Task(key, text) for key, (text, _) in zip(keys, turns, strict=True))
    return Row(
        "claude-code",
        f"s{number}",
        "/t",
        "/shop",
        f"2026-01-0{number}T10:00:00Z",
        ("other",),
        tasks,
        (),
        (),
        "/shop",
        tuple(keys),
        "\n".join(text for text, _ in turns),
        tuple(actions),
    )


def _candidate(*rows: Row) -> Candidate:
    judged = judge(rows, [], {}, now=NOW)
    (candidate,) = judged.candidates
    assert judged.rejected == ()
    return candidate


def _lines(one: Candidate, *sorts: PartKind) -> list[str]:
    return [part.text for part in one.parts if part.sort in sorts]


END = ("npm run api:generate", "npm run api:check", "npm run docs")
COMMIT = ("looks good, commit it", ["git add -A", "git commit -m 'Add it'"])


@for_each(
    ("one", "other", "rule"),
    [
        (
            "wrap every handler in withTenant",
            "you forgot withTenant around the handler",
            "Wrap every handler in withTenant.",
        ),
        (
            "wait for the build to be green first",
            "again: first wait until the build is green",
            "First wait until the build is green.",
        ),
        ("use the shared date parser", "use the shared date parser", "Use the shared date parser."),
    ],
)
def test_words_on_the_way_continue_the_task_and_become_its_rule(one: str, other: str, rule: str) -> None:
    candidate = _candidate(
        _row(1, ("add an endpoint for labels", ["ls src"]), (one, ["~src/labels.ts", *END]), COMMIT),
        _row(2, ("Add the endpoint for carriers", ["~src/carriers.ts", *END]), COMMIT),
        _row(3, ("I need a new endpoint for zones", ["ls src"]), (other, ["~src/zones.ts", *END]), COMMIT),
        _row(4, ("add endpoint for hooks", ["~src/hooks.ts", *END]), COMMIT),
    )
    assert candidate.name == "add-endpoint"
    assert _lines(candidate, PartKind.SAID) == [rule]
    assert [text for text in _lines(candidate, PartKind.COMMAND) if text in END] == list(END)
    assert "git add -A" in _lines(candidate, PartKind.COMMAND)
    assert candidate.saved.why == "done in 4 sessions, with 2 corrections"


def test_what_is_also_asked_for_by_itself_is_a_task_of_its_own() -> None:
    rows = [
        _row(1, ("fix the parser bug", ["make fuzz TARGET=parser"]), ("publish the package", END)),
        _row(2, ("fix the lexer bug and publish the package", ["make fuzz TARGET=lexer", *END])),
        _row(3, ("publish the package", END)),
    ]
    assert [one.task.text for one in requests_with_actions(rows)] == [
        "publish the package",
        "fix the lexer bug and publish the package",
        "fix the parser bug",
        "publish the package",
    ]


def test_other_work_of_the_same_session_stays_a_request() -> None:
    rows = [
        _row(1, ("add an endpoint for labels", ["~src/labels.ts", *END]), ("rotate the keys", ["make keys DRY=1"])),
        _row(2, ("add an endpoint for zones", ["~src/zones.ts", *END])),
    ]
    assert [one.task.text for one in requests_with_actions(rows)] == [
        "add an endpoint for zones",
        "add an endpoint for labels",
        "rotate the keys",
    ]


def test_a_file_that_was_only_changed_after_the_person_added_something_is_no_step() -> None:
    rows = [
        _row(
            n,
            (f"make the weekly report {n}", ["dbt run", "npm run weekly"]),
            ("show no cents", ["~weekly.py", "npm run totals"]),
        )
        for n in (1, 2)
    ] + [_row(3, ("make the weekly report 3", ["dbt run", "npm run weekly", "npm run totals"]))]
    candidate = _candidate(*rows)
    assert _lines(candidate, PartKind.EDIT, PartKind.COMMAND) == ["dbt run", "npm run weekly", "npm run totals"]
    assert _lines(candidate, PartKind.SAID) == ["Show no cents."]


def test_a_commit_that_followed_several_tasks_is_reported_as_none() -> None:
    rows = [
        *(
            _row(
                n,
                (f"add an endpoint for {name}", [f"!make api N={name}", f"make key N={name}", f"make api N={name}"]),
                COMMIT,
            )
            for n, name in ((1, "labels"), (2, "zones"))
        ),
        *(
            _row(
                n,
                (f"write the migration for {name}", [f"!make up N={name}", f"make db N={name}", f"make up N={name}"]),
                COMMIT,
            )
            for n, name in ((3, "orders"), (4, "users"))
        ),
    ]
    judged = judge(rows, [], {}, now=NOW)
    assert (len(judged.candidates), judged.rejected) == (2, ())


def test_the_value_of_a_flag_is_a_variable_whatever_the_values_share() -> None:
    names = ("add_carrier", "add_label", "index_events")
    rows = [
        _row(
            n,
            (
                "write a schema migration",
                [f"prisma dev --name {name} --create-only", "!prisma up", "make db", "prisma up"],
            ),
        )
        for n, name in enumerate(names, 1)
    ]
    assert _lines(_candidate(*rows), PartKind.COMMAND)[0] == "prisma dev --name {{name}} --create-only"


def test_no_other_command_is_said_to_work_instead_if_something_ran_in_between() -> None:
    end = ["uv run python report.py --week 3", "make totals"]
    rows = [
        _row(1, ("write the weekly report", ["!python report.py --week 3", "uv sync --group reports", *end])),
        _row(2, ("write the weekly report", ["dbt run", *end])),
        _row(3, ("write the weekly report", ["dbt run", *end])),
    ]
    assert _lines(_candidate(*rows), PartKind.TRAP) == []
    rows[0] = _row(1, ("write the weekly report", ["!python report.py --week 3", *end]))
    assert _lines(_candidate(*rows), PartKind.TRAP) == [
        "`python report.py --week 3` failed; `uv run python report.py --week 3` worked."
    ]
