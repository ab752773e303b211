from __future__ import annotations

from dataclasses import replace

from skilld.classify.backends.offline import Offline
from skilld.classify.offline.placement import target_section
from skilld.classify.verify import verify
from skilld.edit.operations import apply
from skilld.pipeline.edits import place_updates
from skilld.types import Kind, Message, Op, Operation, SkillDoc, Update
from skilld.words import content_stems, is_about
from support.rows import for_each

NOTES = """---
name: release-notes
description: Write release notes from the git log
---

# Release notes

Write the notes for one release from the commits since the last tag.

## Steps

1. Find the last tag with `git describe --tags`.
2. List the commits since then.

## Style

- Write in the past tense.
- Keep each line under 80 characters.
- Put the ticket number last.
- Use npm to run the spell checker.

## Examples

```md
- Never do this
```
"""
SKILL = SkillDoc(1, "release-notes", "/skills/release-notes/SKILL.md", NOTES)
OTHER = SkillDoc(2, "invoices", "/skills/invoices/SKILL.md", "# Invoices\n\n- Round amounts to cents.\n")


def detect(*texts: str, skills: tuple[SkillDoc, ...] = (SKILL,), instructions: str = "") -> list[Update]:
    messages = [Message(text, turn=number) for number, text in enumerate(texts, 1)]
    found = Offline().detect(messages, list(skills), instructions=instructions)
    stands = [update for update, _ in verify(found, messages, skills, instructions).already_said]
    return [update for update in found if update.quote not in [one.quote for one in stands]]


def edit(change: str, text: str = NOTES) -> list[Operation]:
    update = Update(1, "", change, "", Kind.PREFERENCE, 1, change)
    return Offline().edit(update, SkillDoc(1, "x", "/x", text))


def section(change: str, text: str) -> str:
    (update,) = detect(change, skills=(SkillDoc(1, "x", "/x", text),))
    return update.section


def test_an_explicit_wish_is_an_update_in_its_own_words() -> None:
    (update,) = detect("thanks", "Great. Never mention internal hostnames in the release notes again.")
    assert update == Update(
        skill=1,
        section="Style",
        change="Never mention internal hostnames in the release notes.",
        reason="You stated this as a lasting rule.",
        kind=Kind.PREFERENCE,
        turn=2,
        quote="Never mention internal hostnames in the release notes again.",
        confidence=0.8,
    )


def test_chatter_and_tasks_yield_nothing() -> None:
    assert detect("thanks", "ok go on", "looks good", "now fix the typo in line 3", "can you run the tests?") == []


def test_without_a_skill_a_wish_is_kept_unassigned() -> None:
    (update,) = detect("From now on, always put the ticket number first.", skills=())
    assert (update.skill, update.section, update.confidence) == (None, "", 0.85)


def test_a_retracted_wish_is_gone() -> None:
    assert (
        detect(
            "From now on, always put the ticket number first in each entry.",
            "ok go on",
            "actually forget what I said about the ticket number",
        )
        == []
    )


@for_each(
    ("turns", "left"),
    [
        (("Always date the notes. Always use headings per team. no wait, forget that last one.",), True),
        (("Always date the notes.", "Always use single quotes. no wait, forget that, double quotes are fine"), True),
        (("Always date the notes.", "Use tabs, always. hm forget that, spaces are fine"), True),
        (("Always date the notes.", "Forget what I said about kebab-case, camelCase is fine."), True),
        (("Always date the notes.", "forget what I said about the headings"), True),
        (("Always date the notes.", "forget what I said"), False),
        (("Always date the notes. hmm, that is ugly. forget that",), False),
        (("Always date the notes.", "look, nobody sees it. forget that"), False),
        (("Always date the notes.", "hm, forget it, no dates"), False),
    ],
)
def test_what_is_taken_back_is_the_nearest_sentence_before(turns: tuple[str, ...], *, left: bool) -> None:
    assert [update.change for update in detect(*turns, skills=())] == ["Always date the notes."] * left


def test_retracting_one_wish_leaves_the_others() -> None:
    updates = detect(
        "always put the ticket number first", "never list merge commits in the notes", "forget the ticket number"
    )
    assert [update.turn for update in updates] == [2]


def test_scratch_that_refers_to_the_last_statement() -> None:
    updates = detect("always sort the commits by date", "never list merge commits", "scratch that")
    assert [update.turn for update in updates] == [1]


def test_the_later_of_two_opposite_wishes_wins() -> None:
    updates = detect("always use tabs in the notes", "no, always use spaces in the notes")
    assert [update.change for update in updates] == ["Always use spaces in the notes."]


def test_a_wish_said_twice_is_one_update() -> None:
    assert len(detect("never list merge commits", "I said never list merge commits!")) == 1


@for_each(
    ("said", "changes"),
    [
        (
            "Always put the ticket number first, and in general I'd rather see a plan before you write code",
            ["Always put the ticket number first.", "Show me a plan before you write code."],
        ),
        (
            "Escribe siempre los tests primero, y en general prefiero funciones cortas",
            ["Escribe siempre los tests primero.", "En general prefiero funciones cortas."],
        ),
        ("add a search box, and in general keep functions short", ["In general keep functions short."]),
        (
            "Ab jetzt immer pnpm, und grundsätzlich will ich erst einen Plan sehen",
            ["Immer pnpm, und grundsätzlich will ich erst einen Plan sehen."],
        ),
        ("in tests and in general always use fixtures", ["In tests and in general always use fixtures."]),
    ],
)
def test_a_rule_and_a_general_statement_are_two_updates_if_independent(said: str, changes: list[str]) -> None:
    assert [one.change for one in detect(said, skills=())] == changes


def test_a_wish_the_skill_already_has_is_left_out() -> None:
    assert detect("always write in the past tense") == []
    assert detect("always keep each line under 80 characters") == []


def test_a_wish_the_instructions_already_have_is_left_out() -> None:
    said = "never list merge commits in the notes"
    assert detect(said, instructions="# Rules\n\nNever list merge commits in release notes.\n") == []
    assert len(detect(said, instructions="# Rules\n\nList merge commits in the notes.\n")) == 1


def test_a_rule_the_person_points_to_needs_no_update() -> None:
    assert detect("as per CLAUDE.md the notes never list merge commits") == []
    assert detect("isn't that in CLAUDE.md?", skills=()) != []


def test_a_wish_unrelated_to_the_skill_gets_low_confidence() -> None:
    (update,) = detect("always water the office plants on fridays")
    assert update.confidence < 0.5


def test_one_shared_word_is_no_subject() -> None:
    deploy = content_stems("deploy-shop Deploy the shop to production")
    assert not is_about("production secrets", deploy)
    assert is_about("deploy the shop at night", deploy)


def test_a_wish_goes_to_the_skill_it_is_about() -> None:
    (update,) = detect("always round the amounts of invoices to cents and show the currency", skills=(SKILL, OTHER))
    assert update.skill == 2


def test_naming_a_skills_subject_outweighs_the_last_used_skill() -> None:
    about = "---\nname: {}\ndescription: {}\n---\n\n- List all tables first.\n- Write a migration for each change.\n"
    notes = about.format("release-notes", "Write the release notes of a version.")
    database = about.format("db", "Change the database schema with migrations.")
    in_use = [SkillDoc(1, "release-notes", "/a", notes, (0,)), SkillDoc(2, "db", "/b", database, (1,))]
    for text, number in (
        ("Always list breaking changes first in release-notes.", 1),
        ("From now on, put breaking changes first in the notes of a version.", 1),
        ("Always list breaking changes first.", 2),
    ):
        (update,) = Offline().detect([Message(text, turn=2)], in_use)
        assert update.skill == number, text


def test_the_agents_work_under_the_skill_links_a_wish_to_it() -> None:
    messages = [
        Message("I wrote the notes since the last tag, and thanked the sponsors at the end of each commit."),
        Message("never thank sponsors", turn=1),
    ]
    (update,) = Offline().detect(messages, [SKILL])
    assert update.confidence >= 0.5


def test_a_wish_that_cannot_be_phrased_gets_low_confidence() -> None:
    (update,) = detect("yes, always")
    assert update.confidence < 0.5


def test_a_plain_correction_counts_if_the_skill_says_otherwise() -> None:
    (update,) = detect("No, keep each line under 60 characters.")
    assert (update.kind, update.change) == (Kind.CHANGE_STEP, "Keep each line under 60 characters.")
    assert detect("No, keep each line under 60 characters.", skills=()) == []
    assert detect("No, keep the intro under 60 words.") == []


def test_a_purely_additive_wish_is_not_placed_by_the_detector() -> None:
    assert edit("Never list merge commits in the entries.") == []
    assert edit("Never use pnpm.") == []  # the skill says npm: nobody asked for pnpm


@for_each(
    ("text", "heading"),
    [
        ("# A\n\n## Tabs\n\n- Short.\n\n## Dates\n\n- Short.\n", "Tabs"),
        ("# A\n\n## Dates\n\n- Short.\n\n## Examples\n\n- Tabs.\n", "Preferences"),
        ("# A\n\n## Notes\n\n- Short.\n\n## Use of dates\n\nNever use others.\n\n## Go style\n\n- Short.\n", "Notes"),
        ("# A\n\n## Tabs\n\n- `make tabs` - print them\n\n## Dates\n\n- Short.\n", "Preferences"),
        ("# A\n\n- Short.\n\n## Dates\n\n- Short.\n", "A"),
        ("# A\n\n## Flow\n\n1. Find tabs.\n\n## Form\n\n- Count tabs.\n\n## Talk\n\n1. Show tabs.\n", "Form"),
        ("# A\n\n## Architecture\n\n- **Tab** (`tab.py`): reads\n- **Date** (`date.py`): writes\n", "Preferences"),
        ("# A\n\n## Style rules\n\n- Short.\n\n## Dates\n\n- Short.\n", "Style rules"),
    ],
)
def test_a_wish_goes_to_the_matching_section(text: str, heading: str) -> None:
    assert section("Never use tabs.", text) == heading


@for_each(
    ("said", "heading"),
    [
        ("Never commit directly to main.", "Git"),  # a word of the heading's trade
        ("Every new function needs a docstring.", "Code style"),  # a word of its rules
        ("The database port is 5434.", "Preferences"),
        ("Ask me before you delete a file.", "Preferences"),
    ],
)
def test_a_rule_goes_below_a_heading_of_its_trade_or_its_own(said: str, heading: str) -> None:
    text = (
        "# Shop\n\n## Commands\n\n- `make` builds it\n- `make run` starts it\n\n"
        "## Code style\n\n- Two spaces.\n- Keep functions short.\n\n## Git\n\n- Small steps.\n"
    )
    assert target_section(said, text).heading == heading


def test_a_contradicted_line_is_replaced() -> None:
    assert edit("Always put the ticket number first in each entry.") == [
        Operation(Op.REPLACE, "- Put the ticket number last.", "- Always put the ticket number first in each entry.")
    ]


def test_only_the_choice_is_changed_in_a_longer_line() -> None:
    assert edit("Always use pnpm.") == [
        Operation(Op.REPLACE, "- Use npm to run the spell checker.", "- Use pnpm to run the spell checker.")
    ]


def test_a_choice_that_several_lines_make_is_added_as_a_rule() -> None:
    assert edit("Always use pnpm.", "# A\n\n- `npm test` runs the tests\n- Install with `npm install`.\n") == []


def test_the_style_of_the_replaced_line_is_kept() -> None:
    assert edit("Always use tabs.", "# Rules\n\n  * [x] No dates\n  * [x] Use spaces\n") == [
        Operation(Op.REPLACE, "  * [x] Use spaces", "  * [x] Always use tabs")
    ]
    assert edit("Put the date first in each entry.", "# Rules\n\n1) Short\n2) Put the date last\n") == [
        Operation(Op.REPLACE, "2) Put the date last", "2) Put the date first in each entry")
    ]


def test_a_multi_line_item_is_replaced_whole() -> None:
    text = "## Rules\n\n- Put the date last\n  in each entry.\n\nMore.\n"
    assert edit("Put the date first in each entry of the list.", text) == [
        Operation(
            Op.REPLACE, "- Put the date last\n  in each entry.", "- Put the date first in each entry of the list."
        )
    ]


def test_a_line_that_appears_twice_is_not_replaced() -> None:
    assert edit("Always use tabs.", "## One\n\n- Use spaces.\n\n## Two\n\n- Use spaces.\n") == []


def test_code_and_front_matter_are_not_replaced() -> None:
    assert edit("Always use tabs.", "---\nname: use spaces\n---\n# A\n\n```\nuse spaces\n```\n") == []


def test_carriage_returns_are_not_part_of_an_anchor() -> None:
    (operation,) = edit("Always use tabs.", "## Rules\r\n\r\n- Use spaces.\r\n")
    assert operation.anchor == "- Use spaces."


def test_the_same_words_yield_nothing_after_the_edit() -> None:
    for said in (
        "From now on, always put the ticket number first in each entry.",
        "no, always use pnpm",
        "use pnpm, not npm",
        "Never mention internal hostnames in the release notes again.",
        "stop adding emojis to the entries",
    ):
        (update,) = detect(said)
        steps = Offline().edit(update, SKILL) or place_updates([update], NOTES.encode())
        edited = SkillDoc(1, SKILL.name, SKILL.path, apply(NOTES.encode(), steps).decode())
        assert detect(said, skills=(edited,)) == []


@for_each(
    ("turn", "sure"),
    [
        ("No, always put a lantern beside the gate.", True),
        ("Always put a lantern beside the gate.", False),  # has nothing to do with release notes
        ("No problem. Always put a lantern beside the gate.", False),  # objects to nothing
    ],
)
def test_an_objection_is_about_the_skill_that_guided_the_work(turn: str, sure: bool) -> None:  # noqa: FBT001 - a table
    messages = [Message("write the notes", turn=1), Message("Written."), Message(turn, turn=2)]
    (update,) = Offline().detect(messages, [SKILL])
    assert (update.confidence >= 0.5) is sure


def test_with_two_skills_in_use_an_objection_alone_is_ambiguous() -> None:
    messages = [Message("go", turn=1), Message("Done."), Message("No, always put a lantern beside the gate.", turn=2)]
    (update,) = Offline().detect(messages, [SKILL, OTHER])
    assert update.confidence < 0.5


@for_each(("turn", "expected"), [(1, "first"), (2, "first"), (3, "second"), (4, "first")])
def test_a_wish_is_about_the_skill_used_last_before_it(turn: int, expected: str) -> None:
    body = "# Notes\n\n## Style\n\n- Put the ticket number last.\n"
    second = SkillDoc(1, "second", "/skills/second/SKILL.md", body, used=(2,))
    first = SkillDoc(2, "first", "/skills/first/SKILL.md", body, used=(0, 3))
    messages = [Message("go on", turn=number, turn_key=str(number)) for number in range(1, 5)]
    messages[turn - 1] = Message("From now on put the ticket number in bold.", turn=turn, turn_key=str(turn))
    (update,) = Offline().detect(messages, [second, first])
    assert {1: "second", 2: "first"}[update.skill or 0] == expected


@for_each(
    "said",
    [
        "add a step at the end: sign the notes",
        "Add another step to the skill: sign the notes",
        "add this as the last step: sign the notes",
        "From now on add a step at the end: sign the notes",
    ],
)
def test_a_further_step_becomes_the_next_number_of_the_procedure(said: str) -> None:
    (update,) = detect(said)
    (operation,) = place_updates([update], NOTES.encode())
    assert operation == Operation(Op.INSERT_AFTER, "2. List the commits since then.", "3. Sign the notes.")


DEPLOY = SkillDoc(1, "deploy", "/s/SKILL.md", "---\ndescription: Deploy the service.\n---\n\n- Be kind.\n")


def test_a_learning_says_that_its_rule_is_not_about_the_skill() -> None:
    messages = [Message("Done."), Message("Always use early returns.", 1)]
    found = verify(Offline().detect(messages, [DEPLOY]), messages, [DEPLOY])
    (why,) = (why for _, why in found.learned)
    assert why == "skilld is not sure enough (confidence 0.45; 0.50 needed); it has no words in common with deploy"


@for_each(
    ("text", "change", "heading"),
    [
        ("# A\n\n## Steps\n\n1. Write.\n2. Send.\n\n## Notes\n\n- Short.\n", "Never send on Fridays.", "Notes"),
        (
            "# A\n\n## Before sending\n\n- Read.\n\n## After sending\n\n- Log.\n",
            "Ask before sending.",
            "Before sending",
        ),
        ("# A\n\n## Do\n\n- Short.\n- Kind.\n\n## Don't\n\n- Shout.\n", "Always shout.", "Do"),
        ("# A\n\n## Do\n\n- Short.\n\n## Don't\n\n- Shout.\n", "Never shout twice.", "Preferences"),
        (
            "# Brief\n\nSchreibe den Brief für den Kunden und sende ihn.\n\n1. Lesen\n2. Senden\n",
            "Immer grüßen.",
            "Regeln",
        ),
        ("# 周报\n\n根据提交记录写周报。\n\n1. 收集\n2. 写\n", "不要出现客户名字。", "规则"),
        ("ONE\n\n- Short.\n\nTABS\n\n- Wide.\n", "Never use tabs.", "TABS"),
        (
            "# P\n\nAn app.\n\n## Testing\n\n- Cover edge cases.\n- Mock the clock.\n",
            "Validate request bodies with zod.",
            "Preferences",
        ),
    ],
)
def test_a_rule_is_no_step_and_keeps_its_meaning_below_its_heading(text: str, change: str, heading: str) -> None:
    assert target_section(change, text).heading == heading


@for_each(
    ("text", "changes"),
    [
        ("use our design tokens, not hex colours. I keep telling you", ["Use our design tokens, not hex colours."]),
        ("Put it in src. I said this before.", ["Put it in src."]),
        ("I keep telling you. Use tabs in the Makefile.", ["Use tabs in the Makefile."]),
        ("I told you already! Put the ticket number first.", ["Put the ticket number first."]),
        ("stop using hex. how many times do I have to say that", ["Do not use hex."]),
        ("I've said this a hundred times.", []),
        ("How often do I have to say it?", []),
        ("I keep telling you", []),
        ("you forgot the ticket number again, I told you before", ["You forgot the ticket number again."]),
    ],
)
def test_a_mere_reminder_stands_for_what_it_reminds_of(text: str, changes: list[str]) -> None:
    found = detect(text, skills=())
    assert [update.change for update in found] == changes
    assert all(update.quote in text for update in found)


@for_each(
    ("said", "change", "sure"),
    [
        ("Remember to update CHANGELOG.md with every user-visible change.",
         "Update CHANGELOG.md with every user-visible change.", True),
        ("Don't forget to add a line to CHANGELOG.md for each change.",
         "Add a line to CHANGELOG.md for each change.", True),
        ("Remember to update docs/api.md with each endpoint.", "Update docs/api.md with each endpoint.", True),
        ("Remember to keep README.md short.", "Keep README.md short.", True),
        ("Remember this in CLAUDE.md.", "Remember this in CLAUDE.md.", False),
        ("Remember to add this to AGENTS.md.", "Remember to add this to AGENTS.md.", False),
    ],
)  # fmt: skip
def test_a_rule_about_a_document_is_no_request_to_write_one_down(said: str, change: str, *, sure: bool) -> None:
    found = detect(said, skills=())
    assert [(one.change, one.confidence > 0.7) for one in found] == [(change, sure)]


NUMBERED = """# Ledger

## Code style

- Type hints on every public function.

## Testing

1. Write the failing test first.
2. Make it pass.
3. Run the whole suite before a commit.

Fixtures live in `tests/conftest.py`.

## Git

- One topic per commit.
- Rebase before you push.

## Releasing

1. Bump `version` in `pyproject.toml`.
2. Tag it.
3. Push the tag.

## Deployment

1. Build the image.
2. Push it to the registry.
"""


@for_each(
    ("change", "heading"),
    [
        ("Always name test functions `test_<function>_<case>`.", "Testing"),
        ("Run the tests with -x.", "Testing"),
        ("Never mock the database in tests.", "Testing"),
        ("Use pytest fixtures instead of setUp.", "Testing"),
        ("Never bump the version by hand, use uv version.", "Releasing"),
        ("Version numbers follow semver.", "Releasing"),
        ("Always sign the release tag.", "Releasing"),
        ("Never deploy on Fridays.", "Deployment"),
        ("Never squash commits.", "Git"),
        ("Sign off commits with git commit -s.", "Git"),
        ("Put type hints on private functions, too.", "Code style"),
        ("Answer tersely.", "Preferences"),
    ],
)
def test_a_rule_goes_below_the_numbered_steps_on_its_subject(change: str, heading: str) -> None:
    assert target_section(change, NUMBERED).heading == heading


def test_numbered_steps_stay_as_they_are_above_a_rule() -> None:
    update = replace(detect("Always sign the release tag.")[0], section="Releasing", change="Never bump it by hand.")
    (rule,) = place_updates([update], NUMBERED.encode())
    text = apply(NUMBERED.encode(), [rule]).decode()
    assert "3. Push the tag.\n\n- Never bump it by hand.\n\n## Deployment\n" in text
    (second,) = place_updates([replace(update, change="Never tag by hand.")], text.encode())
    assert (
        "3. Push the tag.\n\n- Never bump it by hand.\n- Never tag by hand.\n"
        in apply(text.encode(), [second]).decode()
    )


@for_each(
    ("said", "change"),
    [
        ("Commits, ab jetzt, immer auf Englisch schreiben.", "Commits, immer auf Englisch schreiben."),
        ("Vor dem Commit, von jetzt an, immer make lint ausführen.", "Vor dem Commit, immer make lint ausführen."),
    ],
)
def test_what_is_left_out_leaves_one_comma(said: str, change: str) -> None:
    assert [one.change for one in Offline().detect([Message(said, turn=1)], [])] == [change]
