"""The marks that clients put among typed words where an image, a file or a paste was: "[Image #1]"."""

from __future__ import annotations

import re

# Claude Code and Qwen Code write "[Image #1]", Codex too and "<image name=[Image #1] ...>", opencode "[Image 1]" and
# "[Pasted ~9 lines]", Kimi Code "[image:a.png,64x64]", others "[image 64x64 PNG]" or "[File: a.pdf]". Not a link, an
# example in backticks, or the "[file]" of a usage line.
_CHIP = re.compile(
    r"""(?<![`!\w]) (?:
      \[ (?: (?:pasted[ ])?image (?=\](?:\s|\Z))
           | (?: image | img | pdf | svg | audio | video | file | attachment | screenshot
               | pasted (?:[ ](?:text|content|image|file|lines))? )
             (?: [ ]* [#~]? \d [^\[\]\n]{0,80} | [ ]* [#~]? \d | : [^\[\]\n]{1,160} ) ) \]
    | < (?:local_)?image \b [^<>\n]{0,300} \[ image \b [^<>\n]{0,300} > (?: \s* </ (?:local_)?image > )?
    ) (?![`(\[]) [ \t]* (?: [.,;:!] (?= \s | \Z ) [ \t]* )?""",
    re.IGNORECASE | re.VERBOSE,
)


CUT_OFF = " …"  # ends a sentence that needs what a mark stood for: "as in [Image #1]"
_LEANS = re.compile(
    r"\b(?:an?|the|this|that|and|or|as|at|by|for|from|in|like|of|on|see|than|to|with"
    r"|auf|bei|das|de[mnr]|die|im|mit|und|von|wie|comme|como|con|com|dans|de|em|en|et|sur|y)\s*\Z",
    re.IGNORECASE,
)


def without_chips(text: str) -> str:
    """Return typed words without the marks: what is before one and after it are not one sentence."""
    if "[" not in text:
        return text
    *before, last = _CHIP.split(text)
    if not before:
        return text
    parts = (part.rstrip() + CUT_OFF if _LEANS.search(part[-32:]) else part for part in before)
    return "\n\n".join((*parts, last)).strip()
