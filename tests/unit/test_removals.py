"""What a person lets go of is removed from the line that asks for it, and from no line that refuses it."""

from __future__ import annotations

from skilld.classify.offline.removals import removal
from skilld.types import Op, Operation, SkillDoc
from support.rows import for_each

LINES = (
    "- Use pnpm, not npm.",
    "- Name event handlers onSomething, not handleSomething.",
    "- Put factories in `tests/factories.py`.",
    "- Indent with tabs instead of spaces.",
    "- Never tag a build without a dry run.",
    "- Don't ever rename a column without asking me.",
)


@for_each(
    ("said", "line"),
    [
        ("You don't have to use pnpm any more.", LINES[0]),
        ("No need to use pnpm any more.", LINES[0]),
        ("You no longer have to name event handlers onSomething.", LINES[1]),
        ("You don't have to put factories in tests/factories.py any more.", LINES[2]),
        ("You don't have to indent with tabs any more.", LINES[3]),
        ("You don't need a dry run any more.", LINES[4]),
        ("no need to ask me before you rename a column any more", LINES[5]),
        ("You don't have to tag builds any more.", None),
        ("You don't have to use npm any more.", None),
        ("You don't have to name handlers handleSomething any more.", None),
        ("You don't have to indent with spaces any more.", None),
    ],
)
def test_a_line_is_removed_only_for_what_it_asks_for(said: str, line: str | None) -> None:
    text = "# Tool\n\n" + "\n".join(LINES) + "\n"
    wanted = Operation(Op.DELETE, line) if line else None
    assert removal(said, SkillDoc(1, "CLAUDE.md", "/CLAUDE.md", text)) == wanted


NOTES = (
    "- The version number is in `Project.asset`; the build script bumps it.",
    "- Frontmatter: `title`, `description`, `tags`; the schema is in `config.ts`.",
    "- `molecule test` with the default scenario.",
    "- Always add a molecule test with two hosts.",
    "- Axis titles with units.",
    "- Write axis titles in sentence case.",
    "- Edit mode tests are in `Assets/Tests/Editor`; run them with `./tools/test.sh`.",
    "- Run the tests before you tell me that it is done.",
    "- No em dashes in prose.",
)


@for_each(
    ("said", "line"),
    [
        ("you don't have to add a molecule test with two hosts any more", NOTES[3]),
        ("you don't have to run the tests before you tell me it's done any more", NOTES[7]),
        ("forget what I said about sentence case in axis titles", NOTES[5]),
        ("forget what I said about the em dashes in prose", NOTES[8]),
        ("I changed my mind about em dashes.", NOTES[8]),
        ("Never use magic numbers, I changed my mind about that.", None),
        ("I changed my mind about magic numbers.", None),
        ("I changed my mind about em dashes, never use them in titles.", None),
        ("forget what I said about the description of pull requests", None),
        ("you don't have to lint the titles any more", None),
        ("forget what I said about the molecule test with two hosts", NOTES[3]),  # and not the one with less of it
        ("forget what I said about em dashes, use commas from now on", NOTES[8]),
        ("scratch what I said about em dashes in prose, from now on always put them in quotes", NOTES[8]),
    ],
)
def test_the_line_that_is_about_it_is_removed_and_none_that_shares_a_word(said: str, line: str | None) -> None:
    text = "# Notes\n\n" + "\n".join(NOTES) + "\n"
    wanted = Operation(Op.DELETE, line) if line else None
    assert removal(said, SkillDoc(1, "CLAUDE.md", "/CLAUDE.md", text)) == wanted
    without = text.replace(f"{line}\n", "")
    assert removal(said, SkillDoc(1, "CLAUDE.md", "/CLAUDE.md", without)) is None, "no other line is meant"


@for_each(
    "said",
    [
        "Já não precisas de correr o sqlfluff.",
        "já não é preciso correr o sqlfluff",
        "ya no tienes que correr sqlfluff",
        "não precisas mais de correr o sqlfluff",
    ],
)
def test_what_is_needless_in_portuguese_or_spanish_is_removed(said: str) -> None:
    line = "- Corre o sqlfluff antes de cada commit."
    document = SkillDoc(1, "CLAUDE.md", "/CLAUDE.md", f"# Regras\n\n- Nomes curtos.\n{line}\n")
    assert removal(said, document) == Operation(Op.DELETE, line)
