"""The order of a drafted skill's lines, and its check. Pure.

A model puts steps in another order than the sessions, changes files after the commit, or tests after the push.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import field, replace

from skilld.library.patterns import CHECK_PATTERN
from skilld.mining.actions import tokens
from skilld.mining.kinds import MIN_SESSIONS
from skilld.mining.similarity import ELLIPSIS
from skilld.mining.values import STEPS, Part, PartKind
from skilld.mining.wording import CODE_PATTERN, MAX_LENGTH
from skilld.values import value_class

_ADD_PATTERN = re.compile(r"\A(?:git|hg|jj) (?:-C \S+ )?(?:add|stage)\b")
_COMMIT_PATTERN = re.compile(r"\b(?:git|hg|jj) (?:-C \S+ )?commit\b")
# Without `-a`, which adds by itself.
_BARE_COMMIT_PATTERN = re.compile(
    r"\bgit (?:-C \S+ )?commit\b(?!(?: [^`\s]{1,200}){0,20}? (?:-[a-z]{0,9}a[a-z]{0,9}|--all)\b)"
)
_HANDOVER_PATTERN = re.compile(r"\b(?:(?:git|hg|jj) (?:-C \S+ )?(?:commit|push)|gh pr create|glab mr create)\b")
# Their checks are of what was handed over: a run in CI, a deployment.
_REMOTE_PROGRAMS = frozenset(
    {"gh", "glab", "curl", "wget", "kubectl", "ssh", "fly", "aws", "gcloud", "vercel", "heroku"}
)


@value_class
class Line:
    """A line of a skill with the evidence that it names."""

    part: Part
    sources: Sequence[Part] = field(default=(), compare=False)

    @property
    def commands(self) -> list[str]:
        """The commands in it."""
        if self.part.sort is PartKind.COMMAND:
            return [self.part.text]
        spans = CODE_PATTERN.findall(self.part.text) if self.part.sort is PartKind.WORDED else []
        return [span for span in spans if len(tokens(span)) > 1]

    @property
    def changes_file(self) -> bool:
        """Whether it is about a change of a file alone."""
        changes = any(one.sort is PartKind.EDIT for one in self.sources)
        return self.part.sort is PartKind.EDIT or (self.part.sort is PartKind.WORDED and changes and not self.commands)

    def hands_over(self, pattern: re.Pattern[str] = _HANDOVER_PATTERN) -> bool:
        """Whether it commits, pushes or proposes the work."""
        return any(map(pattern.search, self.commands))


def with_added_files(lines: Sequence[Line], evidence: Sequence[Part]) -> list[Line]:
    """Return the lines with `git add` before a commit that has none, if two sessions added files before theirs."""
    if any(map(_ADD_PATTERN.search, (run for line in lines for run in line.commands))):
        return [*lines]
    adds = [part for part in evidence if part.sort is PartKind.COMMAND and _ADD_PATTERN.search(part.text)]
    proofs = tuple({proof.session: proof for part in adds for proof in part.proofs}.values())
    at = next((at for at, line in enumerate(lines) if any(map(_BARE_COMMIT_PATTERN.search, line.commands))), None)
    if at is None or len(proofs) < MIN_SESSIONS:
        return [*lines]
    told = lines[at].part
    add = f"git add {ELLIPSIS}"
    longer = _BARE_COMMIT_PATTERN.sub(lambda commit: f"{add}` and `{commit[0]}", told.text, count=1)
    if told.sort is PartKind.WORDED and len(longer) <= MAX_LENGTH:
        line = replace(
            lines[at],
            part=replace(told, text=longer, proofs=(*told.proofs, *proofs)),
            sources=(*lines[at].sources, *adds),
        )
        return [*lines[:at], line, *lines[at + 1 :]]
    return [*lines[:at], Line(Part(PartKind.COMMAND, add, proofs), adds), *lines[at:]]


def in_working_order(lines: Sequence[Line], check: Line | None, evidence: Sequence[Part]) -> list[Part]:
    """Return the lines in the order in which they can be done; a check of the work comes before it is handed over."""
    usual = {part: number for number, part in enumerate(evidence) if part.sort in STEPS}
    keys = [-1]
    for line in lines:  # a worded one stays behind the one before it
        keys.append(usual.get(line.part, keys[-1]))
    kept = [lines[at] for at in sorted(range(len(lines)), key=lambda at: keys[at + 1])]
    kept = _each_before(kept, lambda line: line.changes_file, _COMMIT_PATTERN, last=True)
    kept = _each_before(
        kept, lambda line: all(map(_ADD_PATTERN.match, line.commands or ("",))), _COMMIT_PATTERN, last=True
    )
    if check is not None:
        kept = _each_before([*kept, check], lambda line: line == check and _is_of_work(line), _HANDOVER_PATTERN)
    return [line.part for line in kept]


def _each_before(
    lines: Sequence[Line], moves: Callable[[Line], bool], pattern: re.Pattern[str], *, last: bool = False
) -> list[Line]:
    """Move lines that come too late before the first line with such a command; with `last`, only if none follows."""
    places = [at for at, line in enumerate(lines) if line.hands_over(pattern)]
    if not places:
        return [*lines]
    behind = places[-1] if last else places[0]
    late = [line for line in lines[behind + 1 :] if moves(line)]
    rest = [line for line in lines if line not in late]
    first = min(at for at, line in enumerate(rest) if line.hands_over(pattern))
    while first and (runs := rest[first - 1].commands) and all(map(_ADD_PATTERN.match, runs)):
        first -= 1
    return [*rest[:first], *late, *rest[first:]]


def _is_of_work(check: Line) -> bool:
    """Whether a check is one of the work itself, not of what was handed over."""
    return any(CHECK_PATTERN.search(one) and tokens(one)[0] not in _REMOTE_PROGRAMS for one in check.commands)
