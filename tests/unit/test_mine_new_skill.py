"""A candidate as a SKILL.md: always valid, in the words that were said, with nothing machine-specific."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from skilld.mining.new_skill import build_skill, join_name, part_problem, shorten, topic_words, with_edits
from skilld.mining.values import STEPS, Candidate, LeftOut, Part, PartKind, Proof, Recurrence
from skilld.skills import draft
from skilld.skills.draft import SkillKind
from skilld.skills.spec import NAME_PATTERN, find_faults, read_front
from skilld.skills.write import fill_holes
from support.rows import for_each

DAY = "2026-11-20"
ANYTHING = st.text(st.characters(), min_size=1, max_size=200)


def _candidate(kind: SkillKind, *parts: Part, name: str = "shop-testing", work: str = "") -> Candidate:
    return Candidate(name, "create", "/srv/shop", kind, ("repeatable",), parts, work)


def _part(sort: PartKind, text: str, *others: str) -> Part:
    quotes = (text, *others)
    return Part(sort, text, tuple(Proof(f"s{n}", f"k{n}", quote) for n, quote in enumerate(quotes)))


def test_rules_pitfalls_and_facts_are_listed_under_their_headings() -> None:
    parts = (
        _part(PartKind.RULE, "Always run the suite with --fast."),
        _part(PartKind.PITFALL, "Never mock the gateway."),
        _part(PartKind.FACT, "Fixtures live in /srv/shop/tests/data."),
    )
    made = build_skill(_candidate(SkillKind.KNOWLEDGE, *parts, work="testing"), day=DAY, with_sessions=True)
    assert made.description == (
        "Rules and facts for writing, changing or running tests in shop: Always run the suite with --fast; Never mock"
        " the gateway; Fixtures live in tests/data. Use when writing, changing or running tests in shop."
    )
    expected = """\
---
name: shop-testing
description: "{description}"
metadata:
  skilld-kind: "domain-knowledge"
  skilld-origin: "mined"
  skilld-date: "2026-11-20"
  skilld-tags: "testing"
  skilld-sessions: "s0"
---

# shop: testing

For writing, changing or running tests.

## Facts

- Fixtures live in tests/data.

## Rules

- Always run the suite with --fast.

## Pitfalls

- Never mock the gateway.
"""
    assert draft.write_draft(made) == expected.replace("{description}", made.description)


def _observed(sort: PartKind, text: str, *ran: str) -> Part:
    return Part(sort, text, tuple(Proof(f"s{n}", f"k{n}", one, observed=True) for n, one in enumerate(ran)))


_TASK = (
    _part(PartKind.REQUEST, "please add an endpoint for orders"),
    _observed(PartKind.COMMAND, "make gen NAME={{name}}", "make gen NAME=orders", "make gen NAME=users"),
    _observed(PartKind.EDIT, "src/{{name}}.py", "src/orders.py", "src/users.py"),
    _observed(PartKind.COMMAND, "make check", "make check", "make check"),
    _observed(PartKind.TRAP, "`make migrate` failed; `make migrate ENV=dev` worked.", "make migrate"),
    _part(PartKind.PITFALL, "Never edit the routes by hand."),
)


_LEFT_OUT = LeftOut("sudo make install", "it changes permissions", refused=True)


def _task(kind: SkillKind = SkillKind.WORKFLOW) -> Candidate:
    again = Recurrence("please add an endpoint for {{name}}", {"name": ("orders", "users")}, "make check", (_LEFT_OUT,))
    return replace(_candidate(kind, *_TASK, name="add-endpoint"), recurrence=again)


def test_a_task_says_what_to_do_and_marks_what_was_only_observed() -> None:
    made = build_skill(_task(), day=DAY, with_sessions=True)
    assert (
        made.body
        == """\
# Add an endpoint for NAME

- `{{name}}`: differs each time (for example `orders`, `users`).

## Rules

- Never edit the routes by hand.

## Steps

Observed in 2 sessions:

1. Run `make gen NAME={{name}}`.
2. Change `src/{{name}}.py`.

## Check

Observed as the last step of these sessions:

- Run `make check`. It must pass.

## Pitfalls

Observed:

- `make migrate` failed; `make migrate ENV=dev` worked."""
    )
    assert made.description == (
        "Add an endpoint for NAME: 2 steps that worked in 2 sessions, plus a final check, and what failed before."
        " Use when asked for something like \u201cAdd an endpoint for NAME\u201d."
    )
    assert draft.draft_faults(draft.read_draft(draft.write_draft(made))) == ()


def test_the_description_says_when_to_use_a_skill_in_the_words_of_the_requests() -> None:
    task = _task()
    assert task.recurrence is not None
    wordings = ("add an endpoint for {{name}}", "yes, again", "could you expose {{name}} with an endpoint?")
    worded = replace(task, recurrence=replace(task.recurrence, wordings=wordings))
    asked = "\u201cAdd an endpoint for NAME\u201d"
    said = f"Use when asked for something like {asked} or \u201cExpose NAME with an endpoint\u201d."
    assert build_skill(worded, day=DAY, with_sessions=True).description.endswith(said)
    other = build_skill(worded, day=DAY, with_sessions=False).description
    assert other.endswith(f"Use when asked for something like {asked}.")


def test_a_check_before_the_last_step_is_one_of_the_steps() -> None:
    task = _task()
    assert task.recurrence is not None
    middle = replace(task, recurrence=replace(task.recurrence, check="make gen NAME={{name}}"))
    made = build_skill(middle, day=DAY, with_sessions=True)
    assert ": 3 steps that worked in 2 sessions, and what" in made.description


def test_a_skill_whose_only_step_is_the_check_does_not_count_its_steps() -> None:
    task = _task()
    bare = replace(
        task, parts=tuple(part for part in task.parts if part.sort not in STEPS or part.text == "make check")
    )
    made = build_skill(bare, day=DAY, with_sessions=True)
    assert ": what was learned in 2 sessions, plus a final check, and what" in made.description


def test_the_shareable_version_of_a_task_has_no_session_examples() -> None:
    made = build_skill(_task(), day=DAY, with_sessions=False)
    text = draft.write_draft(made)
    assert "orders" not in text
    assert "skilld-sessions" not in text


def test_filling_in_a_variable_removes_the_line_describing_it() -> None:
    body = build_skill(_task(), day=DAY, with_sessions=True).body
    assert fill_holes(body, {"name": "carts"}).startswith("# Add an endpoint for NAME\n\n## Rules\n")
    assert "`make gen NAME=carts`" in fill_holes(body, {"name": "carts"})
    assert fill_holes(body, {"other": "x"}) == body


def test_a_task_can_become_a_tool_taking_its_variables() -> None:
    made = build_skill(_task(SkillKind.TOOL), day=DAY, with_sessions=False)
    read = draft.read_draft(draft.write_draft(made))
    assert (read.schema["required"], list(read.schema["properties"])) == (["name"], ["name"])
    assert draft.draft_faults(read) == ()


def test_overlong_text_is_cut_between_words() -> None:
    link = "https://example.org/" + "a" * 60
    assert shorten(f"see {link} and {link}", 100) == f"see {link} and\u2026"
    assert len(shorten("a" * 300, 50)) == 50


def test_the_person_edits_name_description_and_body_and_the_rest_stays() -> None:
    made = build_skill(
        _candidate(SkillKind.KNOWLEDGE, _part(PartKind.RULE, "Run --fast.")), day=DAY, with_sessions=False
    )
    text = draft.write_draft(made).replace("name: shop-testing", "name: other").replace("Run --fast.", "Run --slow.")
    edited = with_edits(made, text)
    assert ("Run --slow." in edited.body, edited.description) == (True, made.description.replace("--fast", "--slow"))
    assert edited == replace(made, name="other", description=edited.description, body=edited.body)
    assert with_edits(made, "only a body").body == "only a body"


@given(
    st.lists(st.tuples(st.sampled_from(PartKind), ANYTHING), min_size=1, max_size=6),
    st.sampled_from(SkillKind),
    ANYTHING,
)
@example([(PartKind.RULE, "use \0tabs"), (PartKind.COMMAND, "make\0 lint")], SkillKind.WORKFLOW, "shop")
def test_any_statements_give_a_valid_file(said: list[tuple[PartKind, str]], kind: SkillKind, project: str) -> None:
    parts = [_part(sort, text, text[::-1]) for sort, text in said]
    name = join_name(topic_words(said[0][1]))
    candidate = Candidate(name, "create", f"/{project}", kind, ("repeatable",), tuple(parts), "testing")
    again = Recurrence(said[0][1], {project: tuple(text for _, text in said)}, said[-1][1])
    for one in (candidate, replace(candidate, recurrence=again)):
        made = build_skill(one, day=DAY, with_sessions=True)
        text = draft.write_draft(made)
        assert find_faults(text, name) == ()
        assert draft.read_draft(text).kind is kind
    assert "Use when" in read_front(text).description


@given(st.lists(ANYTHING, max_size=4), st.sets(st.sampled_from(["a", "asked-for-again", "x-2"])))
def test_every_generated_name_is_valid(words: list[str], taken: set[str]) -> None:
    name = join_name(words, taken)
    assert NAME_PATTERN.fullmatch(name)
    assert len(name) <= 64
    assert name not in taken


def _forbidden_reason(text: str) -> str:
    return part_problem(Part(PartKind.RULE, text, ()), "/home/ada/shop") or ""


@for_each(
    "place",
    [
        "/home/ada/queue", "/Users/ada/queue", "`/tmp/queue/jobs`", "~/queue", "~ada/queue", "$HOME/queue",
        "${HOME}/queue", r"C:\queue\jobs", "D:/queue/jobs", "file:///home/ada/queue", r"%USERPROFILE%\queue",
        "/home/ada/shop-two/queue", "/d/queue/jobs",
    ],
)  # fmt: skip
def test_a_machine_specific_path_is_left_out(place: str) -> None:
    assert "path specific to this machine" in _forbidden_reason(f"Keep the job queue in {place} always.")


@for_each(
    "words",
    [
        "the suite takes ~30 seconds", "keep ~ten entries of the log", "queue jobs below src/home/queue",
        "post jobs to https://example.org/home/queue", "post jobs to /api/users/queue", "post jobs to /a/queue",
        "a ratio of 1:/2 in the queue",
        "keep the job queue in /home/ada/shop/queue",
    ],
)  # fmt: skip
def test_generally_valid_text_is_kept(words: str) -> None:
    assert _forbidden_reason(words) == ""


@for_each(
    ("words", "why"),
    [
        (
            "Can you update your github-pr-review skill to fix the review reply urls.",
            "it asks for a skill to be changed",
        ),
        ("Please fix the deploy skill, it names the old host.", "it asks for a skill to be changed"),
        ("Update the changelog with each new release.", ""),
        ("Name the skill in the reply when you update a comment.", ""),
    ],
)
def test_an_order_to_change_a_skill_is_not_a_rule_of_another(words: str, why: str) -> None:
    assert _forbidden_reason(words) == why
