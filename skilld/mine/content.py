"""What a skill may say: nothing of one machine, nothing done once, nothing that every model knows. Pure."""

from __future__ import annotations

import re
from pathlib import Path

from skilld.classify.exact import exact_tokens
from skilld.mine.values import Part, Sort
from skilld.words import content_stems

# Folders in which one person's machine differs from another's; `/api/users` is no such thing.
_MACHINE = re.compile(
    r"(?<![\w.:/-])(?:~\w*/|\$HOME\b|\$\{HOME\}|/(?:Users|home|root|private|Volumes|tmp|var|opt|mnt|media|srv|usr|etc)/)"
    r"|\b[A-Za-z]:(?:\\|/(?!/))|\bfile:/|%(?:USERPROFILE|APPDATA|LOCALAPPDATA|HOMEPATH)%",
)
_PLACEHOLDER = "[REDACTED:"
_ONCE = re.compile(
    r"\W*(?:please\W+|can you\W+|could you\W+|let'?s\W+)*"
    r"(?:(?:re)?install|set(?:ting)? up|bootstrap|scaffold|clone|initiali[sz]e|migrate|upgrade"
    r"|create an? (?:new )?(?:account|project|repo(?:sitory)?)|sign (?:in|up)|log ?in)\b",
    re.IGNORECASE,
)
# Advice made of these words alone is known to whoever writes code.
_KNOWN_TO_ALL = content_stems(
    """
    code clean good best practice practices careful carefully quality proper properly correct correctly bug bugs error
    errors mistake mistakes simple readable maintainable robust well better think hard harder thorough thoroughly
    professional efficient efficiently nice great perfect thing things stuff work works working make sure double
    attention detail details expert senior engineer production ready concise clear clearly high
    """
)
_LEAST_STEMS = 2


def unfit(part: Part, project: str) -> str:
    """Return why no skill should say a part, with paths below the folder `project` taken as relative; else nothing."""
    text = relative(part.text, project)
    if _PLACEHOLDER in text:
        return "words without a secret in them"
    if _MACHINE.search(text):
        return "words that hold on another machine: it names a path of this one"
    if part.sort in {Sort.REQUEST, Sort.STEP} and _ONCE.match(text):
        return "work that comes again: this is set up once"
    stems = content_stems(text)
    if stems and stems <= _KNOWN_TO_ALL:
        return "anything that a model does not know anyway"
    if part.sort is not Sort.STEP and len(stems) < _LEAST_STEMS and not exact_tokens(text):
        return "words that say something on their own"
    return ""


def relative(text: str, project: str) -> str:
    """Return a text with the paths below a project's folder made relative to it."""
    if not Path(project).is_absolute() or project == "/":
        return text
    return re.sub(rf"{re.escape(project.rstrip('/'))}/(?=[\w.-])", "", text)
