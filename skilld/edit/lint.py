"""The linter for edits: whether one may be proposed, and what the person must see.

It judges only what an edit adds or removes, by its bytes and the person's own words; existing text is never a finding.
No model is asked, and nothing is read but the arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from skilld.edit.change import Change, Finding, Severity, build_change, refuse
from skilld.edit.rules import commands, form, harm, hidden, override, references
from skilld.edit.rules.form import unfold_front
from skilld.edit.tokens import find_addresses, find_packages, find_paths, find_prose_commands, is_command
from skilld.errors import SkilldError
from skilld.markdown.skill_file import parse

__all__ = ["Finding", "Severity", "is_harm", "lint", "worst_severity"]

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

_MAX_LINE_LENGTH = 4000  # characters: the time of the rules is at most quadratic in a line's length
_MAX_PER_RULE = 3  # findings: more tell the person nothing new


def lint(before: bytes, after: bytes, evidence: str) -> list[Finding]:
    """Return the findings against changing the skill `before` into `after`, refusals first.

    `evidence` is everything the person typed that the edit may draw on: the quote and the whole turn. An edit whose
    result cannot be parsed is refused. For a new skill (`before` is empty), everything counts as added except front
    matter as skilld writes it. Never raises on any input.
    """
    of_front: list[Finding] = []
    try:
        if not before and parse(after).front:
            of_front, after = unfold_front(after)
        change = build_change(before, after, evidence)
    except SkilldError as error:
        return [refuse("unreadable", f"After the edit, the file could not be parsed: {error.cause}")]
    if any(len(line) > _MAX_LINE_LENGTH for line in change.added):
        return [
            refuse(
                "long-line", f"It adds a line of more than {_MAX_LINE_LENGTH:,} characters, which is too long to review"
            )
        ]
    findings = of_front + [finding for check in RULES.values() for finding in _limit_findings(check(change))]
    return sorted(findings, key=lambda finding: finding.severity is not Severity.REFUSE)


def worst_severity(findings: Iterable[Finding]) -> Severity:
    """Return the worst severity of the findings, or PASS if there is none."""
    found = {finding.severity for finding in findings}
    return Severity.REFUSE if Severity.REFUSE in found else Severity.FLAG if found else Severity.PASS


def _limit_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return distinct findings, at most a few of each rule, refusals before flags."""
    kept: list[Finding] = []
    for finding in sorted(dict.fromkeys(findings), key=lambda finding: finding.severity is not Severity.REFUSE):
        if sum(other.rule == finding.rule for other in kept) < _MAX_PER_RULE:
            kept.append(finding)
    return kept


# Sentences of flags that ask for a look at the wording or name a thing, but no harm. A new rule's flag is harm.
NO_HARM = frozenset(
    {
        "It adds a URL that contains a placeholder",
        "It adds a path that exists only on one person's machine",
        "It adds a placeholder that the agent fills in",
        "It adds an HTML or XML declaration",
        "It adds code outside a code block",
        "It adds something that is not an instruction",
        "It adds something that looks like a markup tag",
        "It asks for a one-off task, which is not a lasting instruction",
        "It changes facts or figures",
        "It contains a long quotation",
        "It contains a network address",
        "It gives a command without saying when to run it",
        "It is about a controversial topic",
        "It only asks a question and does not say what to do",
        "It refers to a procedure that is not in the file",
        "It removes an instruction",
        "It triggers an action every time, regardless of the task",
    }
)


def is_harm(flag: str) -> bool:
    """Whether a proposal's flag is the linter's and names possible harm, so that a batch must not accept it unread.

    Other flags say where the words come from, or begin with the name of a file.
    """
    sentence = flag.partition(": ")[0].removesuffix(".")
    return sentence.startswith(("It ", "Its ")) and sentence not in NO_HARM


# An edit may be applied without a person only if it just adds plain words. This is stricter than the linter: nothing
# may name a thing that an agent could run, open, fetch or install.

_EXCEPTION_PATTERN = re.compile(
    r"\b(?:no longer|not (?:needed|necessary|required)|(?:do not|don['’]?t) (?:need|have) to|skip|unless|except"
    r"|instead of|optional(?:ly)?|allowed to|may now|without|ignore)\b",
    re.IGNORECASE,
)


def is_low_risk(before: bytes, after: bytes) -> bool:
    """Whether the edit only adds prose: no removal, command, address, path or package, and no exception to a rule."""
    try:
        change = build_change(before, after, "")
    except SkilldError:
        return False
    if (change.before.bom, change.before.front) != (change.after.bom, change.after.front):
        return False
    code = "\n".join(change.spans)
    named = (find_addresses(change.text), find_paths(change.prose, code=False), find_paths(code, code=True))
    runs = (find_packages(change.text), find_prose_commands(change.prose), filter(is_command, change.spans))
    concrete = any(True for found in (*named, *runs) for _ in found)
    lines = change.removed or change.reinterpreted or change.code
    return not (lines or concrete or _EXCEPTION_PATTERN.search(change.text))
