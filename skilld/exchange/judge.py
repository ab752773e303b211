"""May an imported skill be staged? Nothing of it was said by the person, so the linter gets no words to go by. Pure.

A draft enters, its SKILL.md and the flags that a person must see leave, or a refusal. That a command, path or address
was not typed would refuse nearly every honest skill (60 of 62 real ones; 7 by all other rules), so this alone is shown
as a flag; such a proposal is never applied by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from skilld.draft import Draft, faults, write
from skilld.edit.lint import Finding, Severity, lint
from skilld.errors import RefusedError
from skilld.redact import Finding as Secret

_TITLE = "The skill was not imported"
_UNTYPED = "foreign-"


@dataclass(frozen=True, slots=True)
class Passed:
    """A skill that may be staged, with what a person must see before accepting it."""

    text: str
    flags: tuple[str, ...]


def judge(draft: Draft, secrets: Callable[[str], Sequence[Secret]]) -> Passed:
    """Return the SKILL.md of a draft and its flags.

    Raises RefusedError for what the linter refuses, for a secret, and where the draft is not what its kind says;
    SkilldError where the specification accepts no such skill.
    """
    wrong = faults(draft)
    if wrong:
        raise RefusedError(_TITLE, "; ".join(wrong))
    text = write(draft)
    found = secrets(text)
    if found:
        raise RefusedError(_TITLE, f"it holds what looks like a secret ({found[0].kind})")
    findings = lint(b"", _all_said(draft).encode("utf-8", "replace"), "")
    refused = [one for one in findings if one.severity is Severity.REFUSE and not _only_untyped(one)]
    if refused:
        raise RefusedError(_TITLE, " ".join(one.sentence for one in refused))
    return Passed(text, tuple(_flags(findings)))


def _flags(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield one sentence for each rule: a whole skill can give dozens, and nobody reads those."""
    by_rule: dict[str, list[str]] = {}
    for one in findings:
        by_rule.setdefault(one.rule, []).append(one.sentence)
    for first, *more in by_rule.values():
        yield f"{first} (and more of the kind)" if set(more) - {first} else first


def _only_untyped(finding: Finding) -> bool:
    return finding.rule.startswith(_UNTYPED)


def _all_said(draft: Draft) -> str:
    """Return every text of a draft that an agent may come to read, as paragraphs of one body."""
    told = [text for one in draft.variables for text in (one.name, one.type, one.description) if text]
    said = [draft.description, draft.body, *told, draft.project, draft.team, draft.author, *draft.tags]
    return "\n\n".join([*(text for text in said if text), *_strings(draft.schema)])


def _strings(value: object) -> list[str]:
    """Return the keys and texts in a value of JSON."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for one in pair for text in _strings(one)]
    return [text for one in value for text in _strings(one)] if isinstance(value, list) else []
