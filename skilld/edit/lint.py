"""The linter of an edit: whether it may be proposed, and what the person must see.

Old bytes, new bytes and the person's own words go in, findings come out. It judges only what the edit adds or takes
away; what already stood in the skill is never a finding. The rules are listed below. No model is asked, and
nothing is read but the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from skilld.edit.change import Change, change_of
from skilld.edit.findings import Finding, Severity, refuse
from skilld.edit.rules import (
    code,
    commands,
    content,
    disguise,
    dynamic,
    encoded,
    evidence,
    form,
    front,
    guards,
    harm,
    links,
    markup,
    names,
    override,
    protection,
    unicode,
)
from skilld.edit.rules.created import laid_open
from skilld.errors import SkilldError
from skilld.markdown.skill_file import parse

__all__ = ["Finding", "Severity", "gravest", "lint"]

RULES: dict[str, Callable[[Change], Iterator[Finding]]] = {
    "front": front.check,
    "dynamic": dynamic.check,
    "markup": markup.check,
    "links": links.check,
    "unicode": unicode.check,
    "encoded": encoded.check,
    "disguise": disguise.check,
    "form": form.check,
    "names": names.check,
    "evidence": evidence.check,
    "commands": commands.check,
    "code": code.check,
    "harm": harm.check,
    "override": override.check,
    "protection": protection.check,
    "content": content.check,
    "guards": guards.check,
}

_LONGEST = 4000  # characters of one added line: what the rules look at never takes longer than its square
_PER_RULE = 3  # findings of one rule that are kept: more tell the person nothing new


def lint(before: bytes, after: bytes, evidence: str) -> list[Finding]:
    """Return what speaks against changing the skill `before` into `after`, refusals first.

    `evidence` is everything the person typed that the edit may draw on: the quote and the whole turn. An edit whose
    outcome cannot be parsed is refused. Of a skill that is made (`before` is empty), all is judged as added but front
    matter as skilld writes it. Never raises on any input.
    """
    of_front: list[Finding] = []
    try:
        if not before and parse(after).front:
            of_front, after = laid_open(after)
        change = change_of(before, after, evidence)
    except SkilldError as error:
        return [refuse("unreadable", f"The skill could not be read after the edit, for {error.cause}")]
    if any(len(line) > _LONGEST for line in change.added):
        return [refuse("long-line", f"It adds a line of more than {_LONGEST:,} characters, which nobody can check")]
    findings = of_front + [finding for check in RULES.values() for finding in _few(check(change))]
    return sorted(findings, key=lambda finding: finding.severity is not Severity.REFUSE)


def gravest(findings: Iterable[Finding]) -> Severity:
    """Return what the findings mean together: the gravest of them, or PASS where there is none."""
    found = {finding.severity for finding in findings}
    return Severity.REFUSE if Severity.REFUSE in found else Severity.FLAG if found else Severity.PASS


def _few(findings: Iterable[Finding]) -> list[Finding]:
    """Return each finding once, and at most a few of each rule, refusals before flags."""
    kept: list[Finding] = []
    for finding in sorted(dict.fromkeys(findings), key=lambda finding: finding.severity is not Severity.REFUSE):
        if sum(other.rule == finding.rule for other in kept) < _PER_RULE:
            kept.append(finding)
    return kept
