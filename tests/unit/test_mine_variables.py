"""Variables of mined skills: several in one command, in texts of a commit, and what they are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skilld.mining.new_skill import build_skill, checked_text
from skilld.mining.selection import judge
from skilld.mining.values import Candidate, LeftOut, Part, PartKind, Proof, proof_lines
from support.rows import for_each
from support.session_rows import NOW, lines_of, session_row


def _mined(request: str, commands: Sequence[str], *values: Sequence[str]) -> Candidate:
    """Return the skill for a task that was done once with each of these values."""
    rows = [
        session_row(number, (request.format(*one), [command.format(*one) for command in commands]))
        for number, one in enumerate(values, 1)
    ]
    (found,) = judge(rows, [], {}, now=NOW).candidates
    return found


def _title(candidate: Candidate) -> str:
    return build_skill(candidate, day="2026-01-06", with_sessions=False).body.splitlines()[0]


@for_each(
    ("request", "command", "step", "title"),
    [
        (
            "Add a service {0} to the platform repo, owned by team {1}.",
            "scripts/add-owner.sh {0} {1}",
            "scripts/add-owner.sh {{name}} {{team}}",
            "# Add a service NAME to the platform repo, owned by team TEAM",
        ),
        (
            "Create the queue {0} for the {1} group",
            "bin/grant {0} {1}",
            "bin/grant {{name}} {{group}}",
            "# Create the queue NAME for the GROUP group",
        ),
        (
            "Set up the topic {0} in {1}",
            "bin/acl {0} {1}",
            "bin/acl {{name}} {{name2}}",
            "# Set up the topic NAME in NAME2",
        ),
    ],
)
def test_words_of_the_request_are_variables_of_a_command_that_has_only_them(
    request: str, command: str, step: str, title: str
) -> None:
    commands = "bin/new {0}", "!bin/render {0}", command, "bin/render {0}"
    values = ("payments-api", "checkout"), ("audit-log", "security"), ("worker", "billing")
    candidate = _mined(request, commands, *values)
    assert lines_of(candidate, PartKind.COMMAND) == ["bin/new {{name}}", step, "bin/render {{name}}"]
    assert lines_of(candidate, PartKind.TRAP) == [f"`bin/render {{{{name}}}}` failed until `{step}` had run."]
    assert _title(candidate) == title


def test_what_every_request_says_is_not_a_variable() -> None:
    """Which of the two verbs came first does not make them one."""
    request = "build and push the image {0}"
    first = session_row(1, (request.format("shop"), ["bin/ctl build shop", "bin/ctl push shop", "bin/smoke"]))
    other = session_row(2, (request.format("cart"), ["bin/ctl push cart", "bin/ctl build cart", "bin/smoke"]))
    third = session_row(3, (request.format("tax"), ["bin/ctl build tax", "bin/ctl push tax", "bin/smoke"]))
    (candidate,) = judge([first, other, third], [], {}, now=NOW).candidates
    assert {"bin/ctl build {{name}}", "bin/ctl push {{name}}"} <= {*lines_of(candidate, PartKind.COMMAND)}


@for_each(
    ("commit", "step"),
    [
        ("git commit -qam 'Release {0}'", "git commit -qam 'Release {{version}}'"),
        ("git commit -sqm 'Release {0}'", "git commit -sqm 'Release {{version}}'"),
        ("git commit -am'Release {0}'", "git commit -am'Release {{version}}'"),
        ('git commit -a --message="Release {0}"', 'git commit -a --message="Release {{version}}"'),
        ("git commit -qam v{0}", "git commit -qam v{{version}}"),
    ],
)
def test_a_commit_stays_however_its_message_is_given(commit: str, step: str) -> None:
    candidate = _mined("Cut release {0}", ["scripts/bump.sh {0}", commit, "git tag -a v{0} -m v{0}"], *_VERSIONS)
    assert lines_of(candidate, PartKind.COMMAND) == [
        "scripts/bump.sh {{version}}",
        step,
        "git tag -a v{{version}} -m v{{version}}",
    ]
    assert candidate.recurrence is not None
    assert candidate.recurrence.examples == {"version": ("1.6.0", "1.5.0", "1.4.1")}


_VERSIONS = ("1.4.1",), ("1.5.0",), ("1.6.0",)


def test_a_word_of_a_quoted_argument_is_a_variable_if_it_was_asked_for() -> None:
    commands = "psql shop -c 'vacuum analyze {0}'", "make report", "make upload", "make tell"
    candidate = _mined("Clean up the table {0}", commands, ("orders",), ("invoices",), ("customers",))
    assert lines_of(candidate, PartKind.COMMAND) == [
        "psql shop -c 'vacuum analyze {{name}}'",
        "make report",
        "make upload",
        "make tell",
    ]
    unasked = _mined("Clean up the table {1}", commands, ("orders", "a"), ("invoices", "b"), ("customers", "c"))
    assert not any("psql" in line for line in lines_of(unasked, PartKind.COMMAND))


def test_a_step_of_sessions_with_the_same_value_has_the_variable_too() -> None:
    rows = [
        session_row(n, (f"publish the board {name}", ["make all", f"bin/render -o out/{name}", "bin/end", *more]))
        for n, name, more in (
            (1, "gateway", ["bin/flush gateway"]),
            (2, "gateway", ["bin/flush gateway"]),
            (3, "ledger", ["bin/other"]),
        )
    ]
    (candidate,) = judge(rows, [], {}, now=NOW).candidates
    steps = lines_of(candidate, PartKind.COMMAND)
    assert "bin/render -o out/{{name}}" in steps
    assert "bin/flush {{name}}" in steps


def test_what_a_message_is_needs_no_note() -> None:
    commands = "bin/new {0}", "!bin/check {0}", 'git commit -m "Add {1}"', "bin/check {0}"
    candidate = _mined("Add the board {0}", commands, ("gateway", "a x"), ("ledger", "b y"), ("orders", "c z"))
    body = build_skill(candidate, day="2026-01-06", with_sessions=False).body
    assert "{{message}}" in body
    assert body.splitlines()[2:4] == ["- `{{name}}`: differs each time.", ""]


def test_a_name_has_the_words_that_steps_and_other_requests_have() -> None:
    asked = "alembic migration: drop the unused column", "add a migration for an index", "new migration of currencies"
    ran = "!alembic upgrade head", "make db-up", "alembic upgrade head", "make check"
    rows = [session_row(n, (text, ran)) for n, text in enumerate(asked, 1)]
    (candidate,) = judge(rows, [], {}, now=NOW).candidates
    assert candidate.name == "alembic-migration"


def test_messages_in_other_words_are_one_variable() -> None:
    texts = ("1.4.1", "Fix the tokens"), ("1.5.0", "New login"), ("1.6.0", "Faster start")
    candidate = _mined(
        "Cut release {0}", ["scripts/bump.sh {0}", "git commit -qam'{1}'", "bin/tell {0}", "bin/end"], *texts
    )
    assert 'git commit -qam"{{message}}"' in lines_of(candidate, PartKind.COMMAND)


@for_each(
    ("request", "command", "step", "title"),
    [
        (
            "rotate the certificate of {0}",
            "scripts/request.sh {0}",
            "scripts/request.sh {{name}}",
            "# Rotate the certificate of NAME",
        ),
        (
            "Move {0} to the new balancer",
            "bin/zone --of={0} add",
            "bin/zone --of={{name}} add",
            "# Move NAME to the new balancer",
        ),
        ("Drain the node {0}", "nodectl drain {0}", "nodectl drain {{name}}", "# Drain the node NAME"),
    ],
)
def test_a_host_that_was_asked_for_is_a_variable_of_a_local_command(
    request: str, command: str, step: str, title: str
) -> None:
    commands = "bin/new {0}", "!bin/check {0}", command, "bin/check {0}"
    candidate = _mined(request, commands, ("api.example.org",), ("mail.example.com",), ("203.0.113.7",))
    assert step in lines_of(candidate, PartKind.COMMAND)
    assert [one.partition(" failed until")[1] for one in lines_of(candidate, PartKind.TRAP)] == [" failed until"]
    assert (candidate.left_out, _title(candidate)) == ((), title)


_ADDRESS = "it contains a network address"
_DIFFERENT = "it was not the same command in enough sessions, even with variables"


@for_each(
    ("command", "left"),
    [
        (
            "curl {0}/status",
            LeftOut("curl a.example.org/status", "it contains a network address: a.example.org", refused=True),
        ),
        ("ssh {0}", LeftOut("ssh a.example.org", "it contains a network address: a.example.org", refused=True)),
        (
            "bin/tell b.example.net",
            LeftOut("bin/tell b.example.net", f"{_ADDRESS}: b.example.net", refused=True),
        ),
        ("!bin/tell {0}", LeftOut("bin/tell a.example.org", "it failed each time")),
        ("git commit -m one --amend --{1}", LeftOut("git commit -m one --amend --z", _DIFFERENT)),
    ],
)
def test_what_every_session_ran_and_no_step_has_is_named_with_the_reason(command: str, left: LeftOut) -> None:
    commands = "bin/new", "bin/check", "bin/end", command
    candidate = _mined("Renew {0}", commands, ("c.example.org", "x"), ("b.example.org", "y"), ("a.example.org", "z"))
    assert candidate.left_out == (left,)
    assert _title(candidate) == "# Renew HOST"


def test_a_task_of_too_few_steps_says_which_commands_it_left_out() -> None:
    commands = "bin/new {0}", "ssh {0}.example.org"
    rows = [session_row(n, (f"Renew {name}", [one.format(name) for one in commands])) for n, name in _NODES]
    (missed,) = judge(rows, [], {}, now=NOW).rejected
    assert missed.missed == (
        "these sessions share too few steps for a skill; "
        "left out: `ssh dione.example.org`: it contains a network address: dione.example.org"
    )


_NODES = (1, "rhea"), (2, "mimas"), (3, "dione")


def test_a_report_names_sessions_briefly_and_each_quote_once() -> None:
    ids = [f"{n}{n}ce914a-f9d5-43df-8264-97a51a8ce6d9" for n in range(1, 6)]
    ran = [Proof(one, "t", f"bin/new {n}", observed=True) for n, one in enumerate(ids)]
    said = [Proof(one, "t", "Never push.") for one in (ids[0], ids[0], "ses_1")] + [Proof("ses_2", "t", "Do not push")]
    assert [*proof_lines(Part(PartKind.COMMAND, "bin/new {{number}}", tuple(ran)))] == [
        "the agent, in 11ce914a, 22ce914a, 33ce914a and 2 more: \u201cbin/new 0\u201d"
    ]
    assert [*proof_lines(Part(PartKind.RULE, "Never push.", tuple(said)), lambda one: "!" * (one == "ses_2"))] == [
        "you, in 11ce914a and ses_1: \u201cNever push.\u201d",
        "you, in ses_2!: \u201cDo not push\u201d",
    ]
    often = [Proof("ses_1", "t", f"push {n}") for n in range(5)]
    assert [*proof_lines(Part(PartKind.RULE, "Push.", tuple(often)))][3:] == ["and 2 more"]


@for_each(
    ("request", "title", "name"),
    [
        (
            "Add a service {0} to the platform, owned by team {1}.",
            "# Add a service NAME to the platform, owned by team TEAM",
            "add-service-platform-owned",
        ),
        ("Create a topic {0} for the {1} group", "# Create a topic NAME for the GROUP group", "create-topic-group"),
        ("Add the report {0} for {1}", "# Add the report NAME for ops", "add-report"),  # it has no name
    ],
)
def test_a_title_has_no_value_of_one_session_even_if_no_command_has_it(request: str, title: str, name: str) -> None:
    commands = "bin/new {0}", "bin/mark {0}", "bin/smoke"
    candidate = _mined(request, commands, ("alpha", "billing"), ("beta", "finance"), ("gamma", "ops"))
    assert (_title(candidate), candidate.name) == (title, name)


def test_requests_quoted_in_a_description_are_not_a_long_quotation() -> None:
    request = "Add a service {0} to the platform repository, owned by the team of {1}"
    commands = "bin/new {0}", "bin/mark {0} {1}", "bin/smoke"
    candidate = _mined(request, commands, ("alpha", "billing"), ("beta", "finance"), ("gamma", "ops"))
    made = build_skill(candidate, day="2026-01-06", with_sessions=True)
    ran = "\n".join(lines_of(candidate, *PartKind))
    assert len(made.description.partition("\u201c")[2]) > 60
    assert not [flag for flag in checked_text(made, ran, str)[1] if "quotation" in flag]
    other = replace(
        made, description=f"Renew it. Use when the report says \u201c{'all of the tokens expire ' * 4}\u201d."
    )
    assert len([flag for flag in checked_text(other, ran, str)[1] if "quotation" in flag]) == 1


def test_a_description_names_no_request_that_only_adds_to_its_title() -> None:
    requests = "Cut release {0}, there is a fix", "Cut release {0}", "cut release {0}"
    rows = [
        session_row(number, (request.format(f"1.{number}.0"), [f"bin/bump 1.{number}.0", "bin/a", "bin/b"]))
        for number, request in enumerate(requests, 1)
    ]
    (candidate,) = judge(rows, [], {}, now=NOW).candidates
    made = build_skill(candidate, day="2026-01-06", with_sessions=True)
    assert made.description.endswith("Use when asked for something like \u201cCut release VERSION\u201d.")
