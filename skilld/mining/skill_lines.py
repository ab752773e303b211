"""What a model makes of a draft: it words a skill from numbered evidence, and code checks each word of each line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import NamedTuple

from skilld.classify.draft_lines import DraftAnswer, DraftLine
from skilld.library.patterns import CHECK_PATTERN
from skilld.mining.actions import tokens
from skilld.mining.new_skill import part_problem, task_name, topic_words, when_to_use
from skilld.mining.similarity import ELLIPSIS, MIN_SESSIONS
from skilld.mining.values import STEPS, Candidate, Part, PartKind, Proof, Recurrence, count_sessions
from skilld.mining.wording import (
    CODE_PATTERN,
    MAX_LENGTH,
    Sources,
    is_literal,
    line_doubt,
    title_problem,
    wording_problem,
)
from skilld.text import fold, truncate
from skilld.values import value_class
from skilld.words import content_stems

_CODE = re.compile(r"`[^`\n]+`")
MIN_LINES = 2
_MAX_SHOWN_REQUESTS = 8
_MAX_REQUEST_LENGTH, _MAX_LINE_LENGTH = 260, 180
_MAX_TITLE, _MAX_WHEN = 80, 240
_MAX_PROOFS = 12  # of one line
_HOLE_PATTERN = re.compile(r"\{\{(\w{1,40})\}\}")
_LINE_KINDS = {
    PartKind.COMMAND: "ran",
    PartKind.EDIT: "changed",
    PartKind.READ: "read",
    PartKind.SAID: "said by the person",
    PartKind.TRAP: "pitfall",
    PartKind.FACT: "fact, said by the person",
    PartKind.RULE: "rule, said by the person",
    PartKind.PITFALL: "rule, said by the person",
    PartKind.ANSWER: "answered with headings",
}


def evidence_lines(one: Candidate) -> list[Part]:
    """Return what the numbers of a draft stand for: requests, what is shared or was typed, what single sessions did."""
    task = one.recurrence
    titles = [*dict.fromkeys((task.request, *task.wordings))][:_MAX_SHOWN_REQUESTS] if task else []
    asked = one.parts[0].proofs
    requests = [
        Part(PartKind.REQUEST, title, tuple(proof for proof in asked if _is_wording(title, proof.quote)) or asked[:1])
        for title in titles
    ]
    return [*requests, *one.parts[1:], *(task.done if task else ())]


def _is_wording(title: str, quote: str) -> bool:
    """Whether a request, with variables, is what was typed."""
    first, *rest = _HOLE_PATTERN.sub("{{}}", title).split("{{}}")
    if not rest:
        return quote == title
    at = len(first) if quote.startswith(first) else -1
    for piece in rest[:-1]:
        found = quote.find(piece, at + 1) if at >= 0 else -1
        at = found + len(piece) if found >= 0 else -1
    return at >= 0 and quote.endswith(rest[-1]) and len(quote) - len(rest[-1]) > at


def draft_text(one: Candidate) -> str:
    """Return a draft's numbered evidence as a model sees it."""
    sessions = dict.fromkeys(proof.session for part in one.parts for proof in part.proofs)  # the newest first
    names = {session: len(sessions) - n for n, session in enumerate(sessions)}
    done = set(map(id, one.recurrence.done)) if one.recurrence else set[int]()
    lines, here = [], ""
    for number, part in enumerate(evidence_lines(one), 1):
        if id(part) in done and here != part.proofs[0].session:
            here = part.proofs[0].session
            lines.append(f"In session {names.get(here, 0)}, one after the other:")
        lines.append(f"{number}. ({_label(part, one, names, alone=id(part) in done)}) {_shown(part)}")
    return "\n".join(lines)


class Verdict(NamedTuple):
    """Why a text of an answer is left out, or only in `doubt`; without a text it is about the whole skill."""

    text: str
    why: str
    doubt: bool = False

    def __str__(self) -> str:
        return f"{self.text}: {self.why}" if self.text else self.why


def second_draft_text(one: Candidate, answer: DraftAnswer, verdicts: Sequence[Verdict]) -> str:
    """Return a draft's evidence with what a model gave, and the verdicts on it; "" if there are none."""
    if not verdicts:
        return ""
    lines = [{"kind": line.kind, "text": line.text, "from": line.sources} for line in answer.lines]
    given = json.dumps({"titles": answer.titles, "when": answer.when, "lines": lines}, ensure_ascii=False)
    told = [draft_text(one), f"You gave before:\n{given}"]
    for heading, doubt in (("Left out of it:", False), ("In doubt, but still in it:", True)):
        if found := [f"- {each}" for each in verdicts if each.doubt is doubt]:
            told.append("\n".join([heading, *found]))
    return "\n\n".join(told)


def _label(part: Part, one: Candidate, names: Mapping[str, int], *, alone: bool) -> str:
    if part.sort is PartKind.REQUEST:
        asked = sorted({names.get(proof.session, 0) for proof in part.proofs})
        return f"request, session {', '.join(map(str, asked))}"
    kind = _LINE_KINDS[part.sort]
    if alone:
        return kind
    check = ", the check at the end" if one.recurrence and part.text == one.recurrence.check else ""
    seen = sorted({names.get(proof.session, 0) for proof in part.proofs})
    which = f" in session {seen[0]}," if len(seen) == 1 else ""
    return f"{kind}{check};{which} {len(seen)} of {len(names)} sessions"


def _shown(part: Part) -> str:
    return truncate(fold(part.text), _MAX_REQUEST_LENGTH if part.sort is PartKind.REQUEST else _MAX_LINE_LENGTH)


def worded_skill(one: Candidate, answer: DraftAnswer) -> tuple[Candidate | None, list[Verdict]]:
    """Return a candidate with the lines of an answer, None if too little is left; and the verdicts on its texts."""
    evidence, task = evidence_lines(one), one.recurrence
    verdicts = [Verdict(text, "its kind, or the numbers in its from, are not as asked") for text in answer.unread]
    if task is None or not answer.lines:
        return None, verdicts
    lines: dict[str, tuple[Line, str]] = {}
    for given in answer.lines:
        for part in _line_parts(given, evidence, one, verdicts):
            sources = [evidence[number - 1] for number in given.sources]
            if lines.setdefault(part.text.casefold(), (Line(part, sources), given.kind))[0].part is not part:
                verdicts.append(Verdict(part.text, "another line says the same"))
    check = next((line for line, kind in lines.values() if kind == "check" and _is_check(line.part, task)), None)
    kept = with_added_files([line for line, _ in lines.values() if line is not check], evidence)
    left = in_working_order(kept, check, evidence)
    steps = [part for part in left if part.sort in STEPS]
    if len(left) < MIN_LINES or not steps:
        verdicts.append(Verdict("", f"the whole skill: it needs {MIN_LINES} lines, one of them a step"))
        return None, verdicts
    titled = _titled(one, task, answer, evidence, verdicts)
    if titled is None:
        verdicts.append(Verdict("", "the whole skill: it has no title"))
        return None, verdicts
    ends = steps[-1].text if steps[-1].text in {task.check, check.part.text if check else ""} else ""
    saved = replace(one.saved, steps=len(steps))
    recurrence = replace(titled.recurrence or task, check=ends, done=())
    made = replace(titled, parts=(one.parts[0], *left), recurrence=recurrence, saved=saved, dimensions=(saved.why,))
    return made, verdicts


def _line_parts(line: DraftLine, evidence: Sequence[Part], one: Candidate, verdicts: list[Verdict]) -> Iterator[Part]:
    """Yield a line as it is worded, or else the only line of evidence that can stand for it; nothing if none is fit."""
    parts = [evidence[number - 1] for number in line.sources]
    done = one.recurrence.done if one.recurrence else ()
    literal = (part for part in parts if part.sort is not PartKind.REQUEST and is_literal(part) and part not in done)
    fit = [part for part in literal if part_problem(part, one.target) is None]
    same = next((part for part in fit if part.text == line.text), None)
    if not line.text or same:
        told = [_as_told(part, line.kind) for part in ([same] if same else fit[:1])]
        if not told:
            why = part_problem(parts[0], one.target) or "only one session shows it: say it in words"
            verdicts.append(Verdict(parts[0].text, why))
        yield from told
        return
    if problem := wording_problem(line.text, Sources(parts), Sources(evidence)):
        stands = fit if len(fit) == 1 and (len(parts) == 1 or (fit[0].observed and line.kind != "rule")) else []
        instead = f"; this line replaces it: {stands[0].text!r}" if stands else ""
        verdicts.append(Verdict(line.text, problem + instead))
        yield from stands
        return
    typed = any(not part.observed for part in parts)
    if line.kind == "pitfall" and not typed:
        verdicts.append(Verdict(line.text, "nobody typed it: a pitfall is worded as in its line of evidence"))
        yield from (part for part in fit if part.sort is PartKind.TRAP)
        return
    sort = PartKind.WORDED if line.kind in {"step", "check"} or not typed else PartKind.SAID
    text = f"{line.text[:1].upper()}{line.text[1:]}"
    part = Part(sort, text, _proofs(parts, line.text if line.kind == "step" else ""))
    if problem := part_problem(part, one.target):
        verdicts.append(Verdict(line.text, problem))
        return
    if doubt := line_doubt(line.kind, line.text, parts, count_sessions(one.parts)):
        verdicts.append(Verdict(line.text, doubt, doubt=True))
    yield part


def _as_told(part: Part, kind: str) -> Part:
    """Return a line of the evidence as it is; a sentence that is a step comes where it belongs among the steps."""
    return replace(part, sort=PartKind.WORDED) if part.sort is PartKind.SAID and kind in {"step", "check"} else part


def _is_check(part: Part, task: Recurrence) -> bool:
    if part.sort is PartKind.WORDED:
        return True
    return part.sort is PartKind.COMMAND and (part.text == task.check or bool(CHECK_PATTERN.search(part.text)))


def _proofs(parts: Sequence[Part], step: str = "") -> tuple[Proof, ...]:
    """Return the evidence of these parts: what was said first, and how answers were built only if there is no other.

    For a `step` that the agent was seen to do, a request counts only if it asks for just that, not for the whole task.
    """
    own = [part for part in parts if part.sort is not PartKind.ANSWER] or parts
    if step and any(part.observed for part in own):
        asked = content_stems(_CODE.sub("", step))
        own = [one for one in own if one.sort is not PartKind.REQUEST or (asked and asked <= content_stems(one.text))]
    every = dict.fromkeys(proof for part in own for proof in part.proofs)
    return tuple(sorted(every, key=lambda proof: proof.observed))[:_MAX_PROOFS]


def _titled(
    one: Candidate, task: Recurrence, answer: DraftAnswer, evidence: Sequence[Part], verdicts: list[Verdict]
) -> Candidate | None:
    """Return a candidate with the model's title, or a request as its title; None if neither is fit for a skill."""
    every, passed = Sources(evidence), list[str]()
    for title in (one.replace("`", "") for one in answer.titles):
        if problem := title_problem(title, every, _MAX_TITLE):
            verdicts.append(Verdict(title, problem))
        else:
            passed.append(title)
    if passed:
        title, when = passed[0], answer.when.replace("`", "").rstrip(" .")
        if when and (problem := title_problem(when, every, _MAX_WHEN)):
            verdicts.append(Verdict(when, problem))
            when = ""
        when = when or when_to_use([task.request])
        named = next((one for one in passed if topic_words(one)), title)
        told = f"{title}. {when}."
        name = task_name(named, (), one.target)
        return replace(one, name=name, title=f"{title[:1].upper()}{title[1:]}", description=told)
    chosen = next(
        (
            evidence[number - 1].text
            for line in answer.lines
            for number in line.sources
            if evidence[number - 1].sort is PartKind.REQUEST
        ),
        task.request,
    )
    sort = PartKind.RULE if task.examples else PartKind.REQUEST
    if part_problem(replace(one.parts[0], text=chosen, sort=sort), one.target):
        return None
    return replace(one, name=task_name(chosen, task.examples, one.target), recurrence=replace(task, request=chosen))


# The order of a drafted skill's lines, and its check. A model puts steps in another order than the sessions, changes
# files after the commit, or tests after the push.

_ADD_PATTERN = re.compile(r"\A(?:git|hg|jj) (?:-C \S+ )?(?:add|stage)\b")
_COMMIT_PATTERN = re.compile(r"\b(?:git|hg|jj) (?:-C \S+ )?commit\b")
# Without `-a`, which adds on its own.
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
    for line in lines:  # a worded one stays after the one before it
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
