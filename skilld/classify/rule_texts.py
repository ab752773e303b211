"""The texts of a skill or an instruction file that can be rules: not what only imports, refers or describes. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.classify.offline.sections import body_lines, sections
from skilld.markdown.structure import turns_around
from skilld.words import has_negation

_IMPORTS = re.compile(r"\s*(?:[-*+]\s+)?(?:@[^\s@]+\s*)+")


def only_imports(text: str) -> bool:
    """Whether a text only imports files, as `@docs/style.md` does."""
    return _IMPORTS.fullmatch(text) is not None


# What a command does, or a folder contains, is not a rule about it: "`npm test` runs the tests", "| `make` | build |",
# "**Models** (`app/models`): tables".
_COMMAND_REFERENCE = re.compile(
    r"[^\w`]*`[^`\n ]+ [^`\n]+`\s*(?:[-–—:|#]|->|→)"
    r"|[^\w`]*`[^`\n]+` (?!(?:always|is|has|does|was|needs|goes|comes|stays|belongs)\b)[a-z]+s\b"
    r"|[^\w`*]*\*\*[^*`\n]+\*\*\s*\(`[^`\n]+`\)\s*[-–—:]"
    r"|[^\w`]*to \w[^:`\n]{0,60}:\s*`[^`\n]+`\W*$"
    r"|\s*(?:\$ )?[a-z][\w./-]*(?: [^\s#=()]+)*\s+# (?!(?:always|never|only|not?|do not|don't)\b)",
    re.IGNORECASE,
)
# What a part of the project is made of: "`packages/web` is TypeScript, `packages/api` is Python".
_DESCRIPTION = re.compile(
    r"[^\w`]*(?:\*\*)?(?:`?[\w.@-]+/[\w./@*-]*`?"
    r"|(?:the |our |this )?(?:[\w-]+ ){0,2}(?:app(?:lication)?|service|server|client|back-?end|front-?end|package"
    r"|module|folder|directory|project|repo(?:sitory)?|monorepo|workspace|site|website))"
    r"(?:\*\*)? (?:is|are|contains?|holds?|has|uses|(?:is|are) (?:written|built) (?:in|with|on)) ",
    re.IGNORECASE,
)
_ORDER_WORD = re.compile(
    r"\b(?:always|only|must|should|shall|needs?|required|mandatory|please|make sure|ensure|prefer"
    r"|expect(?:ed)?|every|each|all)\b",
    re.IGNORECASE,
)


def _only_tells(text: str) -> bool:
    """Whether a text only says what commands do, what folders hold or what the parts of a project are made of."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("```", "~~~"))]
    return all(_COMMAND_REFERENCE.match(line) or describes(line) for line in lines)


def describes(line: str) -> bool:
    """Whether a line only says what a part of the project is made of, and asks for nothing."""
    return bool(_DESCRIPTION.match(line)) and not (_ORDER_WORD.search(line) or has_negation(line))


def rule_texts(text: str) -> Iterator[tuple[str, str]]:
    """Yield the blocks of a text after its front matter, each with its heading, then its single lines.

    Nothing below a heading such as "Don't", which means the opposite.
    """
    turned: set[str] = set()
    for section in sections(text):
        if turns_around(section.heading, [item.text for item in section.items()]):
            turned.update(block.text for block in section.blocks)
            continue
        for block in section.blocks:
            if not (only_imports(block.text) or _only_tells(block.text)):
                yield section.heading, block.text
    for line in body_lines(text) or text.splitlines():
        is_turned = turned and any(one and line.strip().endswith(one) for one in turned)
        if not (is_turned or only_imports(line) or _only_tells(line)):
            yield "", line
