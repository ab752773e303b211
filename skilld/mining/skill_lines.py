"""What a model makes of a draft: it words a skill from numbered evidence, and code checks each word of each line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from skilld.classify.draft_lines import DraftAnswer, DraftLine
from skilld.library.patterns import CHECK_PATTERN
from skilld.mining.line_order import Line, in_working_order
from skilld.mining.new_skill import part_problem, task_name, topic_words
from skilld.mining.values import STEPS, Candidate, Part, PartKind, Proof, Recurrence
from skilld.mining.wording import Sources, is_literal, line_doubt, title_problem, wording_problem
from skilld.text import fold, truncate

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
        Part(PartKind.REQUEST, title, tuple(proof for proof in asked if proof.quote == title) or asked[:1])
        for title in titles
    ]
    return [*requests, *one.parts[1:], *(task.done if task else ())]


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


def second_draft_text(one: Candidate, answer: DraftAnswer) -> str:
    """Return a draft's evidence with what a model gave, and what of it was left out; "" if nothing was."""
    _, refused = worded_skill(one, answer)
    if not refused:
        return ""
    lines = [{"kind": line.kind, "text": line.text, "from": line.sources} for line in answer.lines]
    given = json.dumps({"titles": answer.titles, "when": answer.when, "lines": lines}, ensure_ascii=False)
    left_out = "\n".join(f"- {text}" for text in refused)
    return f"{draft_text(one)}\n\nYou gave before:\n{given}\n\nLeft out of it, or in doubt:\n{left_out}"


def _sessions(one: Candidate) -> int:
    return len({proof.session for part in one.parts for proof in part.proofs})


def _label(part: Part, one: Candidate, names: Mapping[str, int], *, alone: bool) -> str:
    if part.sort is PartKind.REQUEST:
        return f"request, session {names.get(part.proofs[0].session, 0)}"
    kind = _LINE_KINDS[part.sort]
    if alone:
        return kind
    check = ", the check at the end" if one.recurrence and part.text == one.recurrence.check else ""
    seen = sorted({names.get(proof.session, 0) for proof in part.proofs})
    which = f" in session {seen[0]}," if len(seen) == 1 else ""
    return f"{kind}{check};{which} {len(seen)} of {len(names)} sessions"


def _shown(part: Part) -> str:
    return truncate(fold(part.text), _MAX_REQUEST_LENGTH if part.sort is PartKind.REQUEST else _MAX_LINE_LENGTH)


def worded_skill(one: Candidate, answer: DraftAnswer) -> tuple[Candidate | None, list[str]]:
    """Return a candidate with the lines of an answer, None if too little is left; and why texts were not taken."""
    evidence, task = evidence_lines(one), one.recurrence
    refused: list[str] = []
    if task is None or not answer.lines:
        return None, refused
    lines: dict[str, tuple[Line, str]] = {}
    for given in answer.lines:
        for part in _line_parts(given, evidence, one, refused):
            sources = [evidence[number - 1] for number in given.sources]
            lines.setdefault(part.text.casefold(), (Line(part, sources), given.kind))
    check = next((line for line, kind in lines.values() if kind == "check" and _is_check(line.part, task)), None)
    left = in_working_order([line for line, _ in lines.values() if line is not check], check, evidence, task)
    steps = [part for part in left if part.sort in STEPS]
    if len(left) < MIN_LINES or not steps:
        return None, refused
    titled = _titled(one, task, answer, evidence, refused)
    if titled is None:
        return None, refused
    ends = steps[-1].text if steps[-1].text in {task.check, check.part.text if check else ""} else ""
    saved = replace(one.saved, steps=len(steps))
    recurrence = replace(titled.recurrence or task, check=ends, done=())
    made = replace(titled, parts=(one.parts[0], *left), recurrence=recurrence, saved=saved, dimensions=(saved.why,))
    return with_plain_variables(made), refused


def _line_parts(line: DraftLine, evidence: Sequence[Part], one: Candidate, refused: list[str]) -> Iterator[Part]:
    """Yield a line as it is worded, or else what its first source says; nothing if neither is fit for a skill."""
    parts = [evidence[number - 1] for number in line.sources]
    literal = [part for part in parts if part.sort is not PartKind.REQUEST and is_literal(part)]
    done = one.recurrence.done if one.recurrence else ()
    fit = [part for part in literal if part not in done]
    same = next((part for part in fit if part.text == line.text), None)
    if not line.text or same:
        yield from (_as_told(part, line.kind) for part in ([same] if same else fit[:1]))
        return
    if problem := wording_problem(line.text, Sources(parts), Sources(evidence)):
        refused.append(f"{line.text}: {problem}")
        yield from (part for part in fit[:1] if part.observed or len(parts) == 1)
        return
    if doubt := line_doubt(line.kind, line.text, parts, _sessions(one)):
        refused.append(f"{line.text}: {doubt}")
    typed = any(not part.observed for part in parts)
    if line.kind == "pitfall" and not typed:
        yield from (part for part in fit if part.sort is PartKind.TRAP)
        return
    sort = PartKind.WORDED if line.kind in {"step", "check"} or not typed else PartKind.SAID
    text = f"{line.text[:1].upper()}{line.text[1:]}"
    part = Part(sort, text, _proofs(parts))
    if part_problem(part, one.target) is None:
        yield part


def _as_told(part: Part, kind: str) -> Part:
    """Return a line of the evidence as it is; a sentence that is a step comes where it belongs among the steps."""
    return replace(part, sort=PartKind.WORDED) if part.sort is PartKind.SAID and kind in {"step", "check"} else part


def _is_check(part: Part, task: Recurrence) -> bool:
    if part.sort is PartKind.WORDED:
        return True
    return part.sort is PartKind.COMMAND and (part.text == task.check or bool(CHECK_PATTERN.search(part.text)))


def _proofs(parts: Sequence[Part]) -> tuple[Proof, ...]:
    """Return the evidence of these parts: what was said first, and how answers were built only if there is no other."""
    own = [part for part in parts if part.sort is not PartKind.ANSWER] or parts
    every = dict.fromkeys(proof for part in own for proof in part.proofs)
    return tuple(sorted(every, key=lambda proof: proof.observed))[:_MAX_PROOFS]


def _titled(
    one: Candidate, task: Recurrence, answer: DraftAnswer, evidence: Sequence[Part], refused: list[str]
) -> Candidate | None:
    """Return a candidate with the model's title, or a request as its title; None if neither is fit for a skill."""
    every, passed = Sources(evidence), list[str]()
    for title in (one.replace("`", "") for one in answer.titles):
        if problem := title_problem(title, every, _MAX_TITLE):
            refused.append(f"{title}: {problem}")
        else:
            passed.append(title)
    if passed:
        title, when = passed[0], answer.when.replace("`", "").rstrip(" .")
        if when and (problem := title_problem(when, every, _MAX_WHEN)):
            refused.append(f"{when}: {problem}")
            when = ""
        when = when or "Use when asked to do this, in these or other words"
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


def with_plain_variables(one: Candidate) -> Candidate:
    """Return a candidate whose variables have no number where no other has the same name."""
    task = one.recurrence
    if task is None:
        return one
    texts = [part.text for part in one.parts[1:]]
    used = dict.fromkeys(name for text in texts for name in _HOLE_PATTERN.findall(text))
    plain = {name: name.rstrip("0123456789") or name for name in used}
    new = {name: base for name, base in plain.items() if [*plain.values()].count(base) == 1 and base != name}

    def renamed(text: str) -> str:
        return _HOLE_PATTERN.sub(lambda hole: f"{{{{{new.get(hole[1], hole[1])}}}}}", text)

    parts = (one.parts[0], *(replace(part, text=renamed(part.text)) for part in one.parts[1:]))
    examples = {
        new.get(name, name): known for name, known in task.examples.items() if name in new or name not in new.values()
    }
    return replace(one, parts=parts, recurrence=replace(task, examples=examples, check=renamed(task.check)))
