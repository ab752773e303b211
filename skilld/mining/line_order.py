"""The order of a drafted skill's lines, and its check. Pure.

A model puts lines in an order that no session kept, changes files after the commit, or tests after the push.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from skilld.library.patterns import CHECK_PATTERN
from skilld.mining.actions import tokens
from skilld.mining.kinds import MIN_SESSIONS
from skilld.mining.similarity import ELLIPSIS
from skilld.mining.values import STEPS, Part, PartKind, Recurrence
from skilld.mining.wording import CODE_PATTERN, MAX_LENGTH

_START_WORDS = 3  # that say what a command does
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


@dataclass(frozen=True, slots=True)
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


def in_working_order(
    lines: Sequence[Line], check: Line | None, evidence: Sequence[Part], task: Recurrence
) -> list[Part]:
    """Return the lines in the order in which they can be done; a check of the work comes before it is handed over."""
    kept = _in_a_kept_order(lines, evidence, task)
    kept = _each_before(kept, lambda line: line.changes_file, _COMMIT_PATTERN, last=True)
    kept = _each_before(
        kept, lambda line: all(map(_ADD_PATTERN.match, line.commands or ("",))), _COMMIT_PATTERN, last=True
    )
    kept = _details_first(kept)
    if check is not None:
        kept = [*kept, check]
        kept = _each_before(kept, lambda line: line == check and _is_of_work(line, kept, task), _HANDOVER_PATTERN)
    return [line.part for line in kept]


def _in_a_kept_order(lines: Sequence[Line], evidence: Sequence[Part], task: Recurrence) -> list[Line]:
    """Return the lines in the chosen order, or in the usual one if no session did the steps like that."""
    if not is_reversed([line.part.text for line in lines if line.part.sort in STEPS], task.order):
        return [*lines]
    usual = {part: number for number, part in enumerate(evidence)}
    before = -1
    keys: list[int] = []
    for line in lines:
        before = usual.get(line.part, before)
        keys.append(before)
    return [line for _, line in sorted(zip(keys, lines, strict=True), key=lambda each: each[0])]


def is_reversed(texts: Sequence[str], order: Collection[tuple[str, str]]) -> bool:
    """Whether steps come in an order that no session kept."""
    last = {text: at for at, text in enumerate(texts)}
    first = {text: at for at, text in reversed([*enumerate(texts)])}
    return any(earlier in first and first[earlier] < last.get(later, -1) for later, earlier in order)


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


def _details_first(lines: Sequence[Line]) -> list[Line]:
    """Move a line about how a command is given, in words alone, before the line with that command."""
    found: list[Line] = []
    for line in lines:
        starts = {tokens(one.text)[:_START_WORDS] for one in line.sources if one.sort is PartKind.COMMAND}
        alone = line.part.sort is PartKind.WORDED and not line.commands and len(starts) == 1
        alone = alone and all(one.sort in {PartKind.COMMAND, PartKind.SAID} for one in line.sources)
        places = (
            at for at, one in enumerate(found) if any(tokens(run)[:_START_WORDS] in starts for run in one.commands)
        )
        at = next(places, None) if alone else None
        found.insert(len(found) if at is None else at, line)
    return found


def _is_of_work(check: Line, lines: Sequence[Line], task: Recurrence) -> bool:
    """Whether a check is one of the work itself, and was not always done after the commit."""
    own = [one for one in check.commands if CHECK_PATTERN.search(one) and tokens(one)[0] not in _REMOTE_PROGRAMS]
    over = [line.part.text for line in lines if line.hands_over()]
    return bool(own) and not any((text, check.part.text) in task.order for text in over)
