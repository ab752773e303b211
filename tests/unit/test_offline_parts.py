from __future__ import annotations

from skilld.classify.contradiction import contradicted_block, contradicts
from skilld.classify.offline.choices import changed_choice, refused_part, swap_choice
from skilld.classify.offline.sections import BlockKind, body_lines, sections
from skilld.classify.offline.sentences import clauses
from skilld.classify.said_already import find_line, find_same_meaning, find_same_words, says_already
from skilld.effect.rule_lines import rules_in
from skilld.types import Kind, Update
from skilld.words import has_negation, numbers_by_unit, stems
from support.rows import for_each


def test_stemming_joins_word_forms_and_drops_function_words() -> None:
    assert stems("always commit the entries") == stems("Committing an entry")
    assert stems("the a and never from now on") == frozenset()
    assert stems("提交信息") == {"提交", "交信", "信息"}


def test_numbers_are_named_by_their_neighbours() -> None:
    assert numbers_by_unit("under 60 characters") == {"under": "60", "characters": "60"}
    assert numbers_by_unit("version 1.2 of it") == {}


@for_each(
    ("change", "line", "said"),
    [
        ("Run make lint before every commit.", "Always run make lint before you commit anything in this repo.", True),
        ("Add a test for each bug fix.", "Add a test for bug fixes.", True),
        ("Run only the unit tests.", "Run the unit tests.", False),
    ],
)
def test_a_rule_means_each_time_whether_it_says_so_or_not(change: str, line: str, *, said: bool) -> None:
    assert says_already(change, f"- {line}\n") is said


@for_each(
    "text",
    [
        "do not",
        "never",
        "quit adding",
        "nunca",
        "не трогай",
        "不要",
        "しないで",
        "触りませんでした",
        "時間がないから",
        "no dates",
    ],
)
def test_a_refusal_is_a_negation(text: str) -> None:
    assert has_negation(text)


@for_each(
    "text",
    ["component tests", "always note it", "use pnpm", "notation", "すみません、見出しは太字で", "お願いできませんか"],
)
def test_an_instruction_is_not_a_negation(text: str) -> None:
    assert not has_negation(text)


@for_each(
    ("change", "text", "said"),
    [
        ("Always use pnpm.", "- Use pnpm for everything.", True),
        ("Use pnpm, not npm.", "- Use pnpm to install.", True),
        ("npm test の後は必ずログを確認する", "- npm run build の後は必ずログを確認する", False),
        ("Never push to main.", "- Push to main.", False),
        ("Keep lines under 60 characters.", "- Keep lines under 80 characters.", False),
        ("Always run the linter.", "```\nrun the linter first\n```", True),
        ("Write tests for parsers.", "## Tests\n\n- Write some for parsers too.", True),
        ("Write tests.", "Ship it.", False),
        # Y5: the whole of what was said, and not one stem it shares with a heading, a description or a longer rule.
        ("Always add a down migration too.", "# Migrations\n\n- Write one migration for each change.", False),
        ("Always add a down migration too.", "- Write a down migration for each up migration.", True),
        ("Add a changelog.", "- Read the changelog before you write the release notes.", False),
        ("Sort the tags.", "# Tags\n\n- As the team likes it.", False),
        ("Always write the version in the notes.", "---\nname: x\ndescription: Write notes, version\n---\nHi.", False),
        ("Never edit a migration that already ran.", "- Never edit a migration that has run.", True),
        # A yes and a no in one line.
        ("Always run the tests with uv run pytest.", "- Tests: `uv run pytest` (never plain pytest)", True),
        ("Never use plain pytest.", "- Tests: `uv run pytest` (never plain pytest)", True),
        ("Use pnpm, never npm.", "- Package manager: pnpm. Do not use npm.", True),
        ("Use npm, never pnpm.", "- Package manager: pnpm. Do not use npm.", False),
        ("Do not use pnpm.", "- Package manager: pnpm. Do not use npm.", False),
        ("Never run the linter first.", "- Run the linter first. Never push to main.", False),
        # What a command does is no rule to run it.
        ("Always run the tests.", "- `npm test` runs the tests", False),
        ("Always run the linter.", "| `make lint` | run the linter |", False),
        ("Always run the tests.", "```\nnpm test   # run the tests\n```", False),
        ("Always run the linter.", "- To run the linter: `make lint`", False),
        ("Always run npm run lint before you push.", "- `npm run lint` before you push", True),
        ("Put jobs in app/jobs.", "- **Jobs** (`app/jobs`): workers", False),
        ("Put new models in app/models, one file each.", "- **Models** (`app/models`): SQLAlchemy models", False),
        # What is only loaded from elsewhere.
        ("Follow docs/git-conventions.md.", "@docs/git-conventions.md", False),
    ],
)
def test_repeated_statements_are_recognized(change: str, text: str, *, said: bool) -> None:
    assert says_already(change, text) is said


def test_an_import_is_no_rule() -> None:
    assert list(rules_in("# A\n\n@docs/a.md\n@docs/b.md\n\n- @c.md\n- Read @d.md first.\n")) == [
        (7, "Read @d.md first.")
    ]


def test_what_the_parts_of_a_project_are_made_of_is_no_rule() -> None:
    text = """# Shop

- `packages/web` is TypeScript (React), `packages/api` is Python.
- The backend is FastAPI with Postgres.
- `src/gen/` is generated, never edit it.
- The API package must stay free of Django.
- Money is Decimal.
"""
    assert [line for line, _ in rules_in(text)] == [5, 6, 7]


def test_what_names_the_task_of_a_skill_is_no_rule() -> None:
    """Every request for the task would repeat it. Lines that declare a variable or introduce a list are none either."""
    skill = """---
name: release-notes
description: Write the release notes of a version from the commits.
---

# Release notes

Write the release notes of this version.

For {{product}}, write the notes of {{version}} in {{language}}.

- `{{version}}`: differs each time (for example `1.4.0`).
- `\u2026`: differs each time.

Keep an entry to one line.

See also the changelog skill.

- See to it that links work.

## Steps

Observed in 3 sessions:

1. Run `git log {{last}}..HEAD`.
2. Before the tag:
   - Run the linter.
3. Colours:
4. Write the release notes of a version.

Set the text in:

```
{{ t("title") }}
```
"""
    assert list(rules_in(skill)) == [
        (15, "Keep an entry to one line."),
        (19, "See to it that links work."),
        (25, "Run `git log {{last}}..HEAD`."),
        (27, "Run the linter."),
        (28, "Colours:"),
        (29, "Write the release notes of a version."),
        (31, "Set the text in:"),
    ]
    below_a_list = "---\nname: notes\ndescription: Write notes.\n---\n\n- Be brief.\n\nWrite notes.\n"
    assert [text for _, text in rules_in(below_a_list)] == ["Be brief.", "Write notes."]
    denied = "---\nname: notes\ndescription: Write notes, never in German.\n---\n\nNever write notes in German.\n"
    assert [text for _, text in rules_in(denied)] == ["Never write notes in German."]
    guide = "Write notes.\n\nUse {{ t }} for texts.\n"
    assert [text for _, text in rules_in(guide)] == ["Write notes.", "Use {{ t }} for texts."]


def test_the_matching_line_is_named() -> None:
    text = "# Migrations\n\nOne file each.\n\n- Write a down migration for each up migration.\n"
    assert find_same_words("Always add a down migration too.", text) == "Write a down migration for each up migration."
    assert find_same_words("Never squash migrations.", text) is None


@for_each(
    ("text", "refused"),
    [
        ("Use pnpm, not npm.", "npm."),
        ("semicolons instead of commas", "commas"),
        ("The minutes are not free.", ""),
        ("Belege nach Kostenstelle, nicht nach Monat", "nach Monat"),
    ],
)
def test_a_rejection_is_told_apart_from_a_denial(text: str, refused: str) -> None:
    assert refused_part(text) == refused


@for_each(
    ("one", "other", "against"),
    [
        ("Use tabs.", "Use spaces for indentation.", True),
        ("Keep titles under 40 characters.", "Keep titles under 60 characters.", True),
        ("Put the date first.", "Put the date last.", True),
        ("Do not ask before you create new files.", "Always ask before you create any new files.", True),
        ("Never use npm.", "Use pnpm.", False),
        ("Always sign the tag.", "Sort the entries.", False),
    ],
)
def test_contradicting_statements_are_recognized(one: str, other: str, *, against: bool) -> None:
    assert contradicts(one, other) is against


@for_each(
    ("change", "said"),
    [("Never use console.log.", True), ("Always use console.log.", False), ("Never use print.", False)],
)
def test_a_dispensable_verb_makes_no_other_rule(change: str, *, said: bool) -> None:
    assert says_already(change, "# Code\n\n- No console.log\n") is said


def test_the_nearest_contradicted_line_is_found_and_code_is_not() -> None:
    text = "# A\n\n- Use npm.\n\n```\nuse npm to install left pad\n```\n"
    prose_block = contradicted_block("Always use pnpm.", text)
    assert prose_block is not None
    assert prose_block.text == "Use npm."


def test_a_choice_is_swapped_word_for_word() -> None:
    assert changed_choice("use yarn", "run npm install")
    assert swap_choice("use yarn", "Run `npm install`, then npm test.") == "Run `yarn install`, then yarn test."
    assert swap_choice("use yarn", "npm or pnpm") is None
    assert swap_choice("Use spaces.", "Tabs are used; use tabs.") == "Spaces are used; use spaces."


def test_sections_know_lists_code_and_front_matter() -> None:
    text = "---\na: 1\n---\nIntro\nmore\n\n# One\n- x\n  - y\n- z\n~~~\n# not a heading\n~~~\n| t |\n"
    assert body_lines(text)[:3] == ["Intro", "more", ""]
    first, one = sections(text)
    assert [block.text for block in first.blocks] == ["Intro more"]
    assert (one.heading, one.level) == ("One", 1)
    assert [block.kind for block in one.blocks] == [
        BlockKind.ITEM,
        BlockKind.ITEM,
        BlockKind.ITEM,
        BlockKind.OTHER,
        BlockKind.OTHER,
    ]
    assert [item.text for item in one.items()] == ["x", "z"]


@for_each(
    ("text", "parts"),
    [
        ("Do it. Never stop!", ["Do it.", "Never stop!"]),
        ("see app.py, e.g. the loop, and never guess", ["see app.py, e.g. the loop", "never guess"]),
        ("- first\n2) second", ["first", "second"]),
        ("a long line that was wrapped\nby hand goes on", ["a long line that was wrapped by hand goes on"]),
        ("先跑测试。不要猜！", ["先跑测试。", "不要猜！"]),
        ("when you write docs, always date them", ["when you write docs, always date them"]),
        ("fix the two headings, never guess", ["fix the two headings", "never guess"]),
        ("I moved it (stop renaming files) already", ["I moved it", "stop renaming files"]),
        ("we sort by name, never by date here", ["we sort by name, never by date here"]),
        ("too long 😅 never paste the file", ["too long 😅", "never paste the file"]),
        ("at the end, always list open questions", ["at the end, always list open questions"]),
        ("src/app.ts. を変更したらテストを書く", ["src/app.ts. を変更したらテストを書く"]),
        ("npm test\nの後は必ずログを見る", ["npm test の後は必ずログを見る"]),
        ("\nの後は必ずログを見る。次", ["次"]),
        ("npm run build\n를 실행한 후에는", ["npm run build 를 실행한 후에는"]),
        ("Tag it first. House rule.", ["Tag it first. House rule."]),
        ("fix that one btw captions go below", ["fix that one", "captions go below"]),
    ],
)
def test_a_turn_is_split_into_these_clauses(text: str, parts: list[str]) -> None:
    assert [clause.text for clause in clauses(text)] == parts


def test_a_clause_knows_its_place_and_whether_it_asks() -> None:
    found = list(clauses("ok. is it done? yes"))
    assert [(clause.start, clause.question) for clause in found] == [(0, False), (4, True), (16, False)]


@for_each(
    ("change", "line", "said"),
    [
        ("Plot the raw numbers before you fit anything.", "Look at the raw numbers in a plot.", True),
        ("Pins live in the devicetree.", "Devicetree for pins, no pin numbers in code.", True),
        ("You don't send mails, a human does.", "Nothing is sent by the agent, a person sends.", True),
        ("Never touch live objects by hand, so the chart stays right.", "Do not edit live objects by hand.", True),
        ("Touch live objects by hand.", "Do not edit live objects by hand.", False),
        ("Never touch live objects by hand unless I ask.", "Do not edit live objects by hand.", False),
        ("Write the summary for the client in German.", "Write a summary for the client, no code.", False),
        ("Note the old balance numbers in the devlog too.", "Numbers for balancing go to the devlog.", False),
        # An order of two things.
        ("Always write the downgrade before the upgrade.", "Run alembic upgrade and downgrade once locally.", False),
        ("Always write the downgrade before the upgrade.", "Write the downgrade first, then the upgrade.", True),
        ("Update the changelog after the tag.", "Tag the release and update the changelog.", False),
        ("Update the changelog after the tag.", "Tag the release, then update the changelog.", True),
        ("Always run the linter before pushing.", "Lint before every push.", True),
        # What the parts of a project are made of.
        (
            "Always add type hints in packages/api.",
            "`packages/web` is TypeScript (React), `packages/api` is Python.",
            False,
        ),
        ("Always add type hints in packages/api.", "`packages/api` always has type hints.", True),
    ],
)
def test_paraphrases_of_a_line_are_recognized(change: str, line: str, *, said: bool) -> None:
    assert (find_same_meaning(change, f"---\nname: shop-mail\n---\n\n# Rules\n\n- {line}\n") is not None) is said


@for_each(
    ("change", "line", "said"),
    [
        ("Always sort the rows by merchant id.", "One row per merchant.", False),
        ("Always run the release tests after the tag.", "Tag the release.", False),
        ("Always keep rule number golf.", "Always keep rule number alpha.", False),
        ("State in the client summary how long each item took.", "Write a summary for the client: bullets.", False),
        ("Always tag the release with the date.", "Tag the release.", False),
        ("Link every pull request number.", "Open a pull request.", False),
        ("Run make test before the tag.", "Run make test.", False),
        ("Never rebase shared branches.", "Never force-push to shared branches.", False),
        ("Ask me before you run anything against staging.", "Ask me before you run it against production.", False),
        ("Put every docstring of the helpers in English.", "Use the helpers in English.", False),
        ("Use pnpm, never npm.", "TypeScript, pnpm, Vite. Components live in `src/components`.", False),
        ("Use pnpm.", "React, pnpm and Vite", False),
        ("Use pnpm, never npm.", "Use pnpm.", True),
        ("Use pnpm.", "We use pnpm workspaces.", True),
        ("Use British spelling in the docs.", "Use British spelling in the documentation.", True),
        ("Name branches after the ticket.", "Branches are named after the ticket.", True),
        ("Commit messages stay under 72 characters.", "Keep commit messages under 72 characters.", True),
        ("Write docstrings in Google style, not numpy.", "Docstrings in Google style.", True),
        ("Always write the commit messages in German.", "Commit messages in German.", True),
        ("Never use pytest.", "Use pytest, not unittest.", False),
        ("Always use pytest.", "Use pytest, not unittest.", True),
        ("Never use unittest.", "Use pytest, not unittest.", True),
        ("Always push without asking me.", "Never push without asking me first.", False),
        ("You may merge without approval.", "Never merge without approval.", False),
        ("Never deploy without approval.", "Do not deploy without my approval.", True),
        ("Never push.", "Never push without asking me first.", False),
        ("You don't have to name handlers onX any more.", "Name handlers onX, not handleX.", False),
        ("No need to name branches feature/x any more.", "Name branches feature/x, not x-feature.", False),
        ("Always put factories next to the tests.", "Put factories in `tests/factories.py`.", False),
        ("Always put factories in conftest.py.", "Put factories in `tests/factories.py`.", False),
        ("Always use the fixtures from conftest in tests.", "Put factories in `tests/factories.py`.", False),
        ("Always use the fixtures from conftest in tests.", "In tests/, never use fixtures from conftest.", False),
        ("Factories go to tests/factories.py.", "Put factories in `tests/factories.py`.", True),
        ("Helpers live beside the components.", "Keep helpers next to the components.", True),
    ],
)
def test_a_line_says_a_change_only_if_it_has_all_of_its_content(change: str, line: str, *, said: bool) -> None:
    update = Update(1, "", change, "", Kind.PREFERENCE, 1, change, 0.9)
    assert (find_line(update, f"# Rules\n\n- Be brief.\n- {line}\n") is not None) is said


def test_what_runs_a_command_or_stands_below_dont_says_something_else() -> None:
    text = "# A\n\n## Testing\n\nTests run with `npm test`.\n\n## Don't\n\n- Mention file names.\n"
    for change, said in (
        ("Always run the tests before you commit.", False),
        ("Always mention file names.", False),
        ("Run tests with `npm test`.", True),
    ):
        update = Update(1, "", change, "", Kind.PREFERENCE, 1, change)
        assert (find_line(update, text) is not None) is said
