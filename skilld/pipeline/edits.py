"""Turns verified updates of one skill into operations and new bytes, checked once more in code."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from skilld.classify.backends import Backend, Unfit
from skilld.classify.block_diff import parse_blocks
from skilld.classify.fidelity import check_fidelity
from skilld.classify.support import adds_nothing
from skilld.classify.verify import VerifiedUpdate
from skilld.edit.derive_operations import operations_from_text
from skilld.edit.insertion_point import DEFAULT_TITLE, insert_bullet
from skilld.edit.operations import anchor_operation, apply, find_lines
from skilld.errors import RefusedError, RetryError, SkilldError
from skilld.markdown.skill_file import Line, parse
from skilld.markdown.structure import Role, list_item, managed_blocks, roles, sections
from skilld.pipeline.documents import TargetDocument
from skilld.text import cut, fold, safe_text
from skilld.types import BODY_OPS, SECTION_OPS, Kind, Op, Operation, SkillDoc, Update

# The blank lines that Markdown wants around what a model inserts: it is asked for whole lines, and sends them bare.
#
# Only insertions of plain text are touched. A list item inside a code block is told apart, too: it cannot be mended.

_TIGHT = ("|", " ", "\t", "```", "~~~", ">")  # a table's row, a further line of an item, code, a quotation


def spaced(data: bytes, operations: Sequence[Operation]) -> list[Operation]:
    """Return operations that set inserted paragraphs and headings off by blank lines, and begin a heading's list.

    One that does not fit the file comes back as it is, with all that follow it.
    """
    done: list[Operation] = []
    for i, operation in enumerate(operations):
        try:
            step = _spaced(parse(data).body, operation)
            data = apply(data, [step], limited=False)
        except SkilldError:
            return [*done, *operations[i:]]
        done.append(step)
    return done


def in_code(data: bytes, operations: Sequence[Operation]) -> bool:
    """Whether a list item is inserted into a code block, where nobody reads it as one."""
    body = parse(data).body
    kinds = roles(body)
    for operation in operations:
        anchor = operation.anchor.split("\n")
        found = list(find_lines(body, anchor))
        if operation.op is Op.INSERT_AFTER and len(found) == 1 and list_item(operation.text.split("\n")[0]):
            end = found[0] + len(anchor)
            if kinds[end - 1] is Role.CODE or (kinds[end - 1] is Role.FENCE and kinds[end : end + 1] == [Role.CODE]):
                return True
    return False


def _spaced(body: Sequence[Line], operation: Operation) -> Operation:
    lines = operation.text.strip("\n").split("\n")
    anchor = operation.anchor.split("\n")
    found = list(find_lines(body, anchor))
    if operation.op is not Op.INSERT_AFTER or len(found) != 1 or lines[0].startswith(_TIGHT):
        return operation
    end = found[0] + len(anchor)
    if roles(body)[end - 1] is not Role.TEXT:
        return operation
    is_item = list_item(lines[0]) is not None
    if end in {part.start for part in sections(body) if part.level} and end < len(body) and not body[end].key:
        anchor, end = [*anchor, ""], end + 1  # the blank line below a heading belongs to it
    below = body[end].text if end < len(body) else ""
    above = body[end - 1].text
    if not is_item and above.strip():
        lines = ["", *lines]
    if below.strip() and not (is_item and list_item(below)) and not below.startswith(_TIGHT):
        lines = [*lines, ""]
    return replace(operation, anchor="\n".join(anchor), text="\n".join(lines))


TAKEN_UP = "the wording comes from something you agreed to, not from you"
BY_MODEL = "only the model has checked that this is what you meant, rather than the opposite"
BY_HEADING = "it removes or rewrites everything under a heading"
BEYOND = "part of it is not in your own words"
ALONG = "it removes something that you did not mention"
# Behind the reason why an edit cannot be used, for the model: a line too much is better than what was said lost.
_IN_DOUBT = (
    "take away, replace or alter only what the words of an improvement name or contradict, and where that cannot be "
    "done, add each change that is to be said in a line of its own, in the words it is given in, and take nothing away"
)
_SHOWN = 80  # characters of a clause that a flag quotes
_NO_SECTION = "new step"  # what the prompt has a model say where no heading fits: no name for a new one
# Kinds that only add: where a model's anchors do not fit, the verified change can be placed by code.
_ADDS = frozenset({Kind.ADD_STEP, Kind.PREFERENCE, Kind.CORRECTION, Kind.FACT})
_IN_ORDER = re.compile(r"(?:then|next|first|after|before|finally|lastly|once|when)\b", re.IGNORECASE)


class LintError(RefusedError):
    """The linter refuses the edit. Whether its words are worth keeping all the same, `harms` says."""


@dataclass(frozen=True, slots=True)
class CheckedEdit:
    """An edit that passed: what to do, what comes of it, what a person should look at before accepting.

    `checked` are the updates that it makes, `left_out` those for which no edit was found, worth keeping all the same.
    """

    operations: tuple[Operation, ...]
    after: bytes
    flags: tuple[str, ...]
    checked: tuple[VerifiedUpdate, ...]
    left_out: tuple[VerifiedUpdate, ...] = ()


def compose(
    backend: Backend,
    checked: Sequence[VerifiedUpdate],
    loaded: TargetDocument,
    typed: str,
    redact: Callable[[str], str],
    *,
    tell: bool = True,
) -> CheckedEdit:
    """Return the edit that puts the updates into the skill; `typed` is everything the person typed in their turns.

    A model is shown the skill redacted, so an anchor of its own that holds a secret does not fit. With `tell` it is
    told once why an edit that changes or removes something cannot be used.

    Raises RefusedError if the edit would do what no edit may, SkilldError if none could be made.
    """
    updates = [item.update for item in checked]
    if loaded.ref.absent:
        return check([creation(updates, loaded)], checked, loaded, typed, redact)
    if not backend.together:
        return check(_one_by_one(backend, updates, loaded), checked, loaded, typed, redact)

    def unfit(suggestion: list[Operation] | str) -> str:
        try:
            check(_operations(suggestion, loaded.data), checked, loaded, typed, redact)
        except LintError:
            return ""  # refused below: what is dangerous is not asked for once more
        except SkilldError as error:
            return f"{error.cause}; {_IN_DOUBT}"
        return ""

    shown = replace(loaded.doc, text=redact(loaded.doc.text))
    told = unfit if tell and not all(adds(item) for item in checked) else None
    return check(_together(backend, updates, loaded, shown, told), checked, loaded, typed, redact)


def check(
    operations: Sequence[Operation],
    checked: Sequence[VerifiedUpdate],
    loaded: TargetDocument,
    typed: str,
    redact: Callable[[str], str],
) -> CheckedEdit:
    """Return what the operations come to, or raise as `compose` does where they may not be proposed."""
    if any(operation.op not in BODY_OPS for operation in operations) and not loaded.ref.absent:
        raise RefusedError("The edit was not made", "it changes more than the skill's body")
    after = apply(loaded.data, operations)
    if _managed(loaded.data) != _managed(after):
        raise SkilldError("The edit was not made", "it would change lines that a program manages")
    if any(redact(part) != part for operation in operations for part in (operation.anchor, operation.text)):
        raise RefusedError("The edit was not made", "it would store a line that contains a secret")
    ground = "\n".join([typed, loaded.doc.text, *(item.update.change for item in checked)])
    # The front matter of a rule that is made is ours.
    was = loaded.ref.front.encode() if loaded.ref.absent else loaded.data
    texts = [operation.text.removeprefix(loaded.ref.front) for operation in operations]
    if not all(adds_nothing(_without_our_title(text), ground) for text in texts):
        raise RefusedError("The edit was not made", "it says more than the person did")
    updates = [item.update for item in checked]
    before, then = was.decode("utf-8-sig"), after.decode("utf-8-sig")
    judged = check_fidelity(before, then, updates, typed, title=DEFAULT_TITLE)
    if judged.why_not:
        raise RefusedError("The edit was not made", judged.why_not)
    flags = [TAKEN_UP] if any(item.by_assent for item in checked) else []
    flags += [BY_MODEL] if any(item.by_model for item in checked) else []
    flags += [_shown(BY_HEADING, head) for head in judged.by_heading]
    flags += [_shown(BEYOND, part) for part in (*(part for item in checked for part in item.beyond), *judged.beyond)]
    flags += [_shown(ALONG, part) for part in judged.along]
    from skilld.edit.lint import lint  # its rules take 0.2 s to compile, and of most batches nothing comes

    for finding in lint(was, after, "\n".join([typed, *(item.taken_up for item in checked)])):
        if finding.severity == "refuse":
            raise LintError("The edit was not made", finding.sentence)
        flags.append(finding.sentence)
    return CheckedEdit(tuple(operations), after, tuple(dict.fromkeys(flags)), tuple(checked))


def apart(
    backend: Backend,
    checked: Sequence[VerifiedUpdate],
    loaded: TargetDocument,
    typed: str,
    redact: Callable[[str], str],
) -> CheckedEdit:
    """Return the edit of those updates that pass alone and next to each other, those that only add placed by code.

    Raises as `compose` does, where none passes.
    """
    done: CheckedEdit | None = None
    left_out: list[VerifiedUpdate] = []
    why_not = SkilldError("The edit was not made", "there is nothing left to change")
    for item in checked:
        try:
            done = _with_one_more(backend, done, item, loaded, typed, redact)
        except RetryError:
            raise
        except SkilldError as error:
            why_not = error
            left_out += [] if harms(item, error, loaded, typed, redact) else [item]
    if done is None:
        raise why_not
    return replace(done, left_out=tuple(left_out))


def _with_one_more(  # noqa: PLR0917 - as `compose`, with what is done already
    backend: Backend,
    done: CheckedEdit | None,
    item: VerifiedUpdate,
    loaded: TargetDocument,
    typed: str,
    redact: Callable[[str], str],
) -> CheckedEdit:
    """Return the edit `done`, if there is one, with one more update in it, checked alone and as a whole."""
    kept = done.checked if done else ()
    if loaded.ref.absent:  # one operation makes the file
        updates = [one.update for one in (*kept, item)]
        return check([creation(updates, loaded)], (*kept, item), loaded, typed, redact)
    now = loaded
    if done:
        now = replace(loaded, data=done.after, doc=replace(loaded.doc, text=done.after.decode("utf-8-sig")))
    if adds(item):
        one = check(placed([item.update], now.data), [item], now, typed, redact)
    else:
        one = compose(backend, [item], now, typed, redact, tell=False)
    before = done.operations if done else ()
    return check((*before, *one.operations), (*kept, item), loaded, typed, redact)


def harms(
    item: VerifiedUpdate, error: SkilldError, loaded: TargetDocument, typed: str, redact: Callable[[str], str]
) -> bool:
    """Whether the linter refuses an update's own words, however they are put into the file; `error` ended its edit.

    Of a removal, which puts nothing in, the error tells.
    """
    if item.update.kind is Kind.REMOVE_STEP:
        return isinstance(error, LintError)
    updates = [item.update]
    try:
        steps = [creation(updates, loaded)] if loaded.ref.absent else placed(updates, loaded.data)
        check(steps, [item], loaded, typed, redact)
    except LintError:
        return True
    except SkilldError:
        return False
    return False


def _managed(data: bytes) -> list[str]:
    body = parse(data).body
    return [line.text for block in managed_blocks(body) for line in body[block.start : block.stop]]


def _operations(suggestion: list[Operation] | str, data: bytes) -> list[Operation]:
    if isinstance(suggestion, str):
        return operations_from_text(data, suggestion)
    return spaced(data, _in_lines(data, suggestion))


def _in_lines(data: bytes, operations: Sequence[Operation]) -> list[Operation]:
    """Return the operations with each on a whole section as one on its lines.

    Raises SkilldError if what it is anchored on does not stand there once, or has nothing below it.
    """
    done: list[Operation] = []
    for operation in operations:
        step = operation if operation.op not in SECTION_OPS else _on_lines(data, operation)
        data = apply(data, [step], limited=False) if any(one.op in SECTION_OPS for one in operations) else data
        done.append(step)
    return done


def _on_lines(data: bytes, operation: Operation) -> Operation:
    """Return the operation that does to all lines of a section what `operation` asks for by its first line."""
    body = parse(data).body
    found = parse_blocks(data.decode("utf-8-sig"))
    starts = list(find_lines(body, operation.anchor.split("\n")[:1]))
    head = next((block for block in found if starts == [block.start]), None)
    if head is None:
        raise SkilldError(
            "The edit does not apply to this file", "no section, or more than one, begins with the line it names"
        )
    end = found[head.end].start if head.end < len(found) else len(body)
    if operation.op is Op.REPLACE_SECTION:  # the blank lines below it stay
        while end > head.start + 1 and not body[end - 1].key:
            end -= 1
    return anchor_operation(body, head.start, end, operation.text.split("\n") if operation.text else [])


def _together(
    backend: Backend, updates: Sequence[Update], loaded: TargetDocument, shown: SkillDoc, unfit: Unfit | None
) -> list[Operation]:
    suggestion = backend.edit(updates, shown, unfit)
    try:
        operations = _operations(suggestion, loaded.data)
        apply(loaded.data, operations)
    except SkilldError:
        if any(update.kind not in _ADDS for update in updates):
            raise
        return placed(updates, loaded.data)
    if in_code(loaded.data, operations) and all(update.kind in _ADDS for update in updates):
        return placed(updates, loaded.data)
    return operations


def _one_by_one(backend: Backend, updates: Sequence[Update], loaded: TargetDocument) -> list[Operation]:
    operations: list[Operation] = []
    data = loaded.data
    for update in updates:
        suggestion = backend.edit([update], replace(loaded.doc, text=data.decode("utf-8-sig")))
        steps = suggestion if isinstance(suggestion, list) and suggestion else placed([update], data)
        data = apply(data, steps)
        operations += steps
    return operations


def creation(updates: Sequence[Update], loaded: TargetDocument) -> Operation:
    """Return the operation that makes a file of nothing but the changes."""
    lines = [f"- {update.change}" for update in updates]
    return Operation(
        Op.CREATE, loaded.ref.kind.value, loaded.ref.front + "\n".join([f"# {DEFAULT_TITLE}", "", *lines, ""])
    )


def adds(item: VerifiedUpdate) -> bool:
    """Whether an update takes nothing away, so that code can place it."""
    return item.update.kind in _ADDS


def placed(updates: Sequence[Update], data: bytes) -> list[Operation]:
    """Return the operations that put each change into its section word for word."""
    operations: list[Operation] = []
    ground = data.decode("utf-8-sig") + "\n".join(update.change for update in updates)
    for update in updates:
        hint = "" if fold(update.section).casefold() == _NO_SECTION else update.section
        step = update.kind is Kind.ADD_STEP or bool(_IN_ORDER.match(update.change))
        operation = insert_bullet(data, hint, update.change, step=step)
        if any(line.startswith("#") and not adds_nothing(line, ground) for line in operation.text.split("\n")):
            operation = insert_bullet(data, "", update.change, step=step)  # a new heading in words that nobody used
        data = apply(data, [operation])
        operations.append(operation)
    return operations


def _shown(flag: str, part: str) -> str:
    return f"{flag}: {cut(safe_text(fold(part)), _SHOWN)}"


def _without_our_title(text: str) -> str:
    """Leave out the heading that code gives a section of its own: it says nothing."""
    return "\n".join(line for line in text.split("\n") if line.lstrip("#").strip() != DEFAULT_TITLE)
