"""An edit must write what was asked for: the result is judged, not the model's claim."""

from __future__ import annotations

from skilld.classify.fidelity import FidelityCheck, check_fidelity
from skilld.types import Kind, Update
from support.rows import for_each

TYPED = "From now on, always put the ticket number first in each entry."
CHANGE = "Always put the ticket number first in each entry."
ASTRAY = "it removes something the person did not mention"
LINES = ["- One line per entry.", "- No marketing words.", "- Put the ticket number last."]
BEFORE = "\n".join(LINES)


def _unfaithful_reason(after: list[str], kind: Kind = Kind.PREFERENCE, change: str = CHANGE, typed: str = TYPED) -> str:
    return check_fidelity(BEFORE, "\n".join(after), [Update(1, "", change, "", kind, 2, typed)], typed).why_not


def test_an_edit_with_the_exact_change_is_faithful() -> None:
    assert _unfaithful_reason([*LINES, f"- {CHANGE}"]) == ""


def test_an_edit_replacing_the_contradicted_line_is_faithful() -> None:
    assert _unfaithful_reason([*LINES[:2], "- Put the ticket number first."], Kind.CHANGE_STEP) == ""


@for_each(
    "written",
    [
        "- Never put the ticket number first in each entry.",
        "- Do not always put the ticket number first in each entry.",
        "- Always put the ticket number first in each entry, or ask.",
        "- Always put the ticket number first in each entry unless it is long.",
        "- Always put the ticket number first in each entry if you can.",
    ],
)
def test_an_edit_that_reverses_or_softens_is_unfaithful(written: str) -> None:
    assert _unfaithful_reason([*LINES, written]) == "it reverses or softens what the person said"


def test_a_negation_the_person_said_is_allowed() -> None:
    typed = "Never mention hosts, unless I ask for them."
    change = "Never mention hosts, unless I ask for them."
    assert _unfaithful_reason([*LINES, f"- {change}"], change=change, typed=typed) == ""


def test_removing_lines_nobody_mentioned_is_unfaithful() -> None:
    assert _unfaithful_reason([LINES[0], LINES[2], f"- {CHANGE}"]) == ASTRAY
    assert _unfaithful_reason([f"- {CHANGE}"]) == ASTRAY


def test_an_edit_that_only_removes_says_nothing() -> None:
    assert _unfaithful_reason(LINES[:2]) == "it does not make the requested change"
    assert (
        _unfaithful_reason(
            LINES[:2], Kind.REMOVE_STEP, "Remove the line about the ticket number.", "drop the ticket number"
        )
        == ""
    )


def test_writing_something_else_is_unfaithful() -> None:
    assert _unfaithful_reason([*LINES, "- One entry."]) == "it does not make the requested change"


def test_a_value_replaced_in_its_place_makes_the_change() -> None:
    before = "# Models\n\n| layer | materialised |\n| --- | --- |\n| staging | table |\n| marts | table |\n"
    change = "Materialise every staging layer as views from now on, while the marts stay tables."
    update = Update(1, "", change, "", Kind.CHANGE_STEP, 1, change)

    def why(after: str) -> str:
        return check_fidelity(before, after, [update], change).why_not

    assert why(before.replace("staging | table", "staging | views")) == ""
    assert why(before.replace("staging | table", "staging | file")) == "it does not make the requested change"
    assert why(before + "\nviews\n") == "it does not make the requested change"


def test_a_reworded_line_counts_as_kept() -> None:
    before, change = "make build\nNever push by hand.", "Run make check first."
    update = Update(1, "", change, "", Kind.ADD_STEP, 1, change)
    changed = check_fidelity(
        before, "make check build\nNever push by hand.\nRun make check first.", [update], change
    ).why_not
    assert changed == ""
    turned = check_fidelity(before, "make build\nPush by hand.\nRun make check first.", [update], change).why_not
    assert turned == ASTRAY


@for_each(
    ("said", "kind", "why"),
    [
        ("die offenen Punkte bitte immer an den Anfang", Kind.CHANGE_STEP, ""),
        ("все открытые вопросы всегда в начало", Kind.CHANGE_STEP, ""),
        ("未解決の点は必ず最初に書いて", Kind.CHANGE_STEP, ""),
        (
            "die offenen Punkte bitte immer an den Anfang",
            Kind.PREFERENCE,
            "it removes something the person did not mention",
        ),
        ("please always begin with a summary", Kind.CHANGE_STEP, "it removes something the person did not mention"),
    ],
)
def test_a_line_in_another_language_may_be_replaced_by_its_change(said: str, kind: Kind, why: str) -> None:
    before = "- List what is still to be agreed at the end.\n- Never sign it."
    update = Update(1, "", said, "", kind, 1, said)
    assert check_fidelity(before, f"- {said}\n- Never sign it.", [update], said).why_not == why
    both = check_fidelity(before, f"- {said}", [update], said).why_not
    assert both == ASTRAY, "one line for one change"


STEPS = """\
# Deploying

## Checks

1. **Smoke test**
   - Open the start page and wait for the footer.
   - Compare the screenshot with the one of last week.

     Keep both pictures.
1. **Load test**
   - Send forty requests a second for a minute.

## Farewell letter
Thank everybody who took part.
- Name the weather of the day.
- Wish a quiet evening.

## Rollback
Restore the last snapshot.
"""


def _removal_reason(gone: str, said: str, kind: Kind = Kind.REMOVE_STEP) -> str:
    assert gone in STEPS
    return check_fidelity(STEPS, STEPS.replace(gone, ""), [Update(1, "", said, "", kind, 1, said)], said).why_not


STEP = STEPS[STEPS.index("1. **Smoke") : STEPS.index("1. **Load")]
SECTION = STEPS[STEPS.index("## Farewell") : STEPS.index("## Rollback")]


@for_each(
    ("gone", "said"),
    [
        (STEP, "Drop the smoke test."),
        (SECTION, "We need no farewell letter any more, remove it."),
        (SECTION, "der Farewell-Brief kann weg"),
    ],
)
def test_lines_below_a_removed_step_or_heading_may_go_with_it(gone: str, said: str) -> None:
    assert _removal_reason(gone, said) == ""
    assert _removal_reason(gone, said, Kind.CHANGE_STEP) != ""


def test_lines_that_mention_a_removed_line_may_go_with_it() -> None:
    said = "Nobody needs the farewell letter any more, take it out."
    before = f"{STEPS}\n## At the end\n- Print the farewell letter on thick paper, twice, with a border.\n- Lock up.\n"
    after = before.replace(SECTION, "").replace(
        "- Print the farewell letter on thick paper, twice, with a border.\n", ""
    )
    update = Update(1, "", said, "", Kind.REMOVE_STEP, 1, said)
    assert check_fidelity(before, after, [update], said).why_not == ""
    assert check_fidelity(before, after.replace("- Lock up.\n", ""), [update], said).why_not == ASTRAY


@for_each(
    ("gone", "said"),
    [
        (STEP, "Drop the load test."),  # another step
        (STEP + STEPS[STEPS.index("1. **Load") : STEPS.index("## Farewell")], "Drop the smoke check."),
        (SECTION + "## Rollback\nRestore the last snapshot.\n", "Remove the farewell letter."),
        (SECTION.partition("\n")[2], "Remove the farewell letter."),  # its head stays
    ],
)
def test_unrelated_lines_may_not_go_with_it(gone: str, said: str) -> None:
    assert _removal_reason(gone, said) == ASTRAY


def test_a_long_section_removed_by_its_heading_is_flagged() -> None:
    lines = ["# Songs", "", "## Farewell letter", *(f"Verse {number} of the long song." for number in range(12))]
    rest = ["", "## Rollback", "Restore the last snapshot."]
    said = "remove the farewell letter"
    update = Update(1, "", said, "", Kind.REMOVE_STEP, 1, said)
    before = "\n".join([*lines, *rest])
    assert check_fidelity(before, "\n".join(["# Songs", *rest]), [update], said) == FidelityCheck(
        by_heading=("Farewell letter",)
    )
    assert check_fidelity(before, "# Songs\n", [update], said).why_not == ASTRAY


def test_a_section_whose_lines_name_it_again_may_be_cut_like_any_other() -> None:
    """Y3: the lines that an update names itself do not count against the limit either."""
    rest = "# Notes\n\n1. Collect the commits.\n"
    rows = "".join(f"| group {number} | entries of group {number} |\n" for number in range(4))
    section = (
        f"\n## Groups\n\nEach group has a title.\n\n| group | holds |\n| --- | --- |\n{rows}\n- Sort each group.\n"
    )
    said = "forget the groups, nobody needs a group of entries"
    update = Update(1, "", "Sort the entries into groups.", "", Kind.REMOVE_STEP, 1, said)
    assert check_fidelity(rest + section, rest, [update], said).why_not == ""
    assert check_fidelity(rest + section, "# Notes\n", [update], said).why_not == ASTRAY


SHOP = [
    "- Start everything: `make up` (Postgres, Redis, web, worker)",
    "- Redis holds the session store; start it before running the backend tests.",
    "- Keep pull requests under 400 changed lines.",
    "- Celery tasks are named app.verb_noun.",
    "- Fixtures go next to the tests, for all apps.",
]
WITHOUT_REDIS = ["- Start everything: `make up` (Postgres, web, worker)", *SHOP[2:]]


def _taking_away(after: list[str], change: str, quote: str) -> FidelityCheck:
    update = Update(1, "", change, "", Kind.REMOVE_STEP, 2, quote)
    return check_fidelity("\n".join(SHOP), "\n".join(after), [update], quote)


@for_each(
    ("change", "quote", "after"),
    [
        ("Everything about Redis; we dropped it.", "yes we dropped redis, forget everything about it", WITHOUT_REDIS),
        ("The two Redis lines; we have none.", "the two redis lines can go, we don't have it", WITHOUT_REDIS),
        ("Everything about celery.", "we dropped celery, everything about celery can go", [*SHOP[:3], SHOP[4]]),
        ("Celery; we dropped it.", "celery is gone, take it out of the instructions", [*SHOP[:3], SHOP[4]]),
        ("Tout sur celery.", "on a abandonné celery, tout sur celery peut partir", [*SHOP[:3], SHOP[4]]),
    ],
)
def test_what_is_given_up_as_a_whole_may_lose_all_its_lines(change: str, quote: str, after: list[str]) -> None:
    assert _taking_away(after, change, quote) == FidelityCheck()


@for_each(
    ("change", "quote", "after"),
    [
        # a line on something else, along with it
        ("Everything about celery.", "we dropped celery, everything about celery can go", SHOP[:3]),
        # "line" is a word about rules, and no subject of one
        ("The two Redis lines; we have none.", "the two redis lines can go, we don't have it", WITHOUT_REDIS[:1]),
        # a line that mentions it stays, so it is not given up as a whole
        ("The Redis one.", "the redis one can go, we don't have it", [SHOP[0], *SHOP[2:]]),
    ],
)
def test_what_is_given_up_takes_no_other_line_along(change: str, quote: str, after: list[str]) -> None:
    assert _taking_away(after, change, quote).why_not == ASTRAY


def test_what_is_given_up_may_have_many_lines() -> None:
    lines = [f"- {verb} the queue with celery and a list of options." for verb in ("Start", "Stop", "Drain", "Watch")]
    update = Update(1, "", "Everything about celery.", "", Kind.REMOVE_STEP, 2, "celery is gone, drop all about celery")
    before, after = "\n".join([*SHOP[:3], *lines]), "\n".join(SHOP[:3])
    assert check_fidelity(before, after, [update], update.quote) == FidelityCheck()
