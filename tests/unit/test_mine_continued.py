"""Requests that only continue a task, such as "you forgot the header": what becomes of them."""

from __future__ import annotations

from skilld.mining.requests import requests_with_actions
from skilld.mining.selection import judge
from skilld.mining.session_summary import Row
from skilld.mining.values import Candidate, PartKind
from support.rows import for_each
from support.session_rows import NOW, lines_of, session_row


def _candidate(*rows: Row) -> Candidate:
    judged = judge(rows, [], {}, now=NOW)
    (candidate,) = judged.candidates
    assert judged.rejected == ()
    return candidate


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
        session_row(1, ("add an endpoint for labels", ["ls src"]), (one, ["~src/labels.ts", *END]), COMMIT),
        session_row(2, ("Add the endpoint for carriers", ["~src/carriers.ts", *END]), COMMIT),
        session_row(3, ("I need a new endpoint for zones", ["ls src"]), (other, ["~src/zones.ts", *END]), COMMIT),
        session_row(4, ("add endpoint for hooks", ["~src/hooks.ts", *END]), COMMIT),
    )
    assert candidate.name == "add-endpoint"
    assert lines_of(candidate, PartKind.SAID) == [rule]
    assert [text for text in lines_of(candidate, PartKind.COMMAND) if text in END] == list(END)
    assert "git add -A" in lines_of(candidate, PartKind.COMMAND)
    assert candidate.saved.why == "done in 4 sessions, with 2 corrections"


def test_what_is_also_asked_for_by_itself_is_a_task_of_its_own() -> None:
    rows = [
        session_row(1, ("fix the parser bug", ["make fuzz TARGET=parser"]), ("publish the package", END)),
        session_row(2, ("fix the lexer bug and publish the package", ["make fuzz TARGET=lexer", *END])),
        session_row(3, ("publish the package", END)),
    ]
    assert [one.task.text for one in requests_with_actions(rows)] == [
        "publish the package",
        "fix the lexer bug and publish the package",
        "fix the parser bug",
        "publish the package",
    ]


def test_other_work_of_the_same_session_stays_a_request() -> None:
    rows = [
        session_row(
            1, ("add an endpoint for labels", ["~src/labels.ts", *END]), ("rotate the keys", ["make keys DRY=1"])
        ),
        session_row(2, ("add an endpoint for zones", ["~src/zones.ts", *END])),
    ]
    assert [one.task.text for one in requests_with_actions(rows)] == [
        "add an endpoint for zones",
        "add an endpoint for labels",
        "rotate the keys",
    ]


def test_a_correction_that_has_the_same_file_changed_again_is_no_request() -> None:
    ran = "bin/render -o out/{0}", "bin/lint out/{0}", "bin/send {0}"

    def rows(corrected: str) -> list[Row]:
        return [
            session_row(
                1,
                ("I want to see the gateway latency: new rule and panel", ["~boards/gateway.py"]),
                (
                    "use seconds, not milliseconds; every latency panel is in seconds",
                    [corrected, *(one.format("gateway") for one in ran)],
                ),
            ),
            session_row(
                2, ("add a metric for failed payouts with a panel", ["~b.py", *(one.format("b") for one in ran)])
            ),
            session_row(
                3,
                ("new metric: queue depth of the worker, and its panel", ["~c.py", *(one.format("c") for one in ran)]),
            ),
        ]

    asked = [one.task.text for one in requests_with_actions(rows("~boards/gateway.py"))]
    assert "use seconds, not milliseconds; every latency panel is in seconds" not in asked
    assert len(asked) == 3
    other = [one.task.text for one in requests_with_actions(rows("~boards/other.py"))]
    assert "use seconds, not milliseconds; every latency panel is in seconds" in other


def test_a_file_that_was_only_changed_after_the_person_added_something_is_no_step() -> None:
    rows = [
        session_row(
            n,
            (f"make the weekly report {n}", ["dbt run", "npm run weekly"]),
            ("show no cents", ["~weekly.py", "npm run totals"]),
        )
        for n in (1, 2)
    ] + [session_row(3, ("make the weekly report 3", ["dbt run", "npm run weekly", "npm run totals"]))]
    candidate = _candidate(*rows)
    assert lines_of(candidate, PartKind.EDIT, PartKind.COMMAND) == ["dbt run", "npm run weekly", "npm run totals"]
    assert lines_of(candidate, PartKind.SAID) == ["Show no cents."]


def test_a_commit_that_followed_several_tasks_is_reported_as_none() -> None:
    rows = [
        *(
            session_row(
                n,
                (f"add an endpoint for {name}", [f"!make api N={name}", f"make key N={name}", f"make api N={name}"]),
                COMMIT,
            )
            for n, name in ((1, "labels"), (2, "zones"))
        ),
        *(
            session_row(
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
        session_row(
            n,
            (
                "write a schema migration",
                [f"prisma dev --name {name} --create-only", "!prisma up", "make db", "prisma up"],
            ),
        )
        for n, name in enumerate(names, 1)
    ]
    assert lines_of(_candidate(*rows), PartKind.COMMAND)[0] == "prisma dev --name {{name}} --create-only"


def test_no_other_command_is_said_to_work_instead_if_something_ran_in_between() -> None:
    end = ["uv run python report.py --week 3", "make totals"]
    rows = [
        session_row(1, ("write the weekly report", ["!python report.py --week 3", "uv sync --group reports", *end])),
        session_row(2, ("write the weekly report", ["dbt run", *end])),
        session_row(3, ("write the weekly report", ["dbt run", *end])),
    ]
    assert lines_of(_candidate(*rows), PartKind.TRAP) == []
    rows[0] = session_row(1, ("write the weekly report", ["!python report.py --week 3", *end]))
    assert lines_of(_candidate(*rows), PartKind.TRAP) == [
        "`python report.py --week 3` failed; `uv run python report.py --week 3` worked."
    ]
