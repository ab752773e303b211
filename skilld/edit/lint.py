"""The linter of an edit: whether it may be proposed, and what the person must see.

Old bytes, new bytes and the person's own words go in, findings come out. It judges only what the edit adds or takes
away; what already stood in the skill is never a finding. Every rule module has `check(change)`, is listed below and
knows nothing of the others. No model is asked, and nothing is read but the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from skilld.edit import (
    lint_code,
    lint_commands,
    lint_content,
    lint_disguise,
    lint_dynamic,
    lint_encoded,
    lint_evidence,
    lint_form,
    lint_front,
    lint_guards,
    lint_harm,
    lint_links,
    lint_markup,
    lint_names,
    lint_override,
    lint_protection,
    lint_unicode,
)
from skilld.edit.change import Change, change_of
from skilld.edit.findings import Finding, Severity, refuse
from skilld.edit.lint_created import laid_open
from skilld.errors import SkilldError
from skilld.markdown.skill_file import parse

__all__ = ["Finding", "Severity", "gravest", "lint"]

RULES: dict[str, Callable[[Change], Iterator[Finding]]] = {
    "front": lint_front.check,
    "dynamic": lint_dynamic.check,
    "markup": lint_markup.check,
    "links": lint_links.check,
    "unicode": lint_unicode.check,
    "encoded": lint_encoded.check,
    "disguise": lint_disguise.check,
    "form": lint_form.check,
    "names": lint_names.check,
    "evidence": lint_evidence.check,
    "commands": lint_commands.check,
    "code": lint_code.check,
    "harm": lint_harm.check,
    "override": lint_override.check,
    "protection": lint_protection.check,
    "content": lint_content.check,
    "guards": lint_guards.check,
}

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
