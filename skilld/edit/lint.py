"""The linter for edits: whether one may be proposed, and what the person must see.

Old bytes, new bytes and the person's own words go in, findings come out. It judges only what the edit adds or takes
away; what already stood in the skill is never a finding. The rules are listed below. No model is asked, and
nothing is read but the arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from skilld.edit.change import Change, Finding, Severity, change_of, refuse
from skilld.edit.rules import commands, form, harm, hidden, override, references
from skilld.edit.rules.form import laid_open
from skilld.edit.tokens import addresses, is_command, packages, paths, prose_commands
from skilld.errors import SkilldError
from skilld.markdown.skill_file import parse

__all__ = ["Finding", "Severity", "gravest", "lint"]

RULES: dict[str, Callable[[Change], Iterator[Finding]]] = {
    "front": form.check_front,
    "dynamic": form.check_dynamic,
    "markup": hidden.check_markup,
    "links": references.check_links,
    "unicode": hidden.check_unicode,
    "encoded": hidden.check_encoded,
    "disguise": hidden.check_disguise,
    "form": form.check_form,
    "names": references.check_names,
    "evidence": references.check_evidence,
    "commands": commands.check_commands,
    "code": commands.check_code,
    "harm": harm.check_harm,
    "override": override.check_override,
    "protection": harm.check_protection,
    "content": override.check_content,
    "guards": form.check_guards,
}

_MAX_LINE = 4000  # characters of one added line: what the rules look at never takes longer than its square
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
        return [refuse("unreadable", f"After the edit, the file could not be parsed: {error.cause}")]
    if any(len(line) > _MAX_LINE for line in change.added):
        return [
            refuse("long-line", f"It adds a line of more than {_MAX_LINE:,} characters, which is too long to review")
        ]
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


# Whether an edit is of the kind that may be applied without a person: plain words, added, and nothing else. Stricter
# than the linter, which judges what is doubtful: here nothing may name a thing that an agent could run, open, fetch or
# install.

_LIFTS = re.compile(
    r"\b(?:no longer|not (?:needed|necessary|required)|(?:do not|don['’]?t) (?:need|have) to|skip|unless|except"
    r"|instead of|optional(?:ly)?|allowed to|may now|without|ignore)\b",
    re.IGNORECASE,
)


def is_low_risk(before: bytes, after: bytes) -> bool:
    """Whether the edit only adds prose: no removal, command, address, path or package, and no exception to a rule."""
    try:
        change = change_of(before, after, "")
    except SkilldError:
        return False
    if (change.before.bom, change.before.front) != (change.after.bom, change.after.front):
        return False
    code = "\n".join(change.spans)
    named = (addresses(change.text), paths(change.prose, code=False), paths(code, code=True))
    runs = (packages(change.text), prose_commands(change.prose), filter(is_command, change.spans))
    concrete = any(True for found in (*named, *runs) for _ in found)
    lines = change.removed or change.swallowed or change.code
    return not (lines or concrete or _LIFTS.search(change.text))
