"""Turns verified updates of one skill into operations and new bytes, and checks the result."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from skilld.classify.backends import Backend, EditCheck
from skilld.classify.block_diff import parse_blocks
from skilld.classify.fidelity import check_fidelity
from skilld.classify.json_answer import BadReplyError
from skilld.classify.offline.placement import asks_for_step, is_step, new_title, section_for
from skilld.classify.support import adds_nothing
from skilld.classify.verify import VerifiedUpdate
from skilld.edit.derive_operations import operations_from_text
from skilld.edit.insertion_point import insert_bullet, write_items_alike
from skilld.edit.list_style import is_plain, separate_lines, write_like
from skilld.edit.marks import follows
from skilld.edit.operations import anchor_operation, apply, find_lines
from skilld.edit.secrets import refuse_secrets
from skilld.edit.separate import separate_items
from skilld.errors import RefusedError, RetryError, SkilldError
from skilld.git.line_diff import signature
from skilld.markdown.skill_file import Line, parse
from skilld.markdown.structure import (
    DEFAULT_TITLE,
    Role,
    is_default_title,
    is_rule,
    list_item,
    managed_blocks,
    roles,
    sections,
)
from skilld.pipeline.documents import TargetDocument
from skilld.text import fold, join_sentences, safe_text, split_sentences, truncate
from skilld.types import BODY_OPS, BY_HEADING_FLAG, SECTION_OPS, Kind, Op, Operation, SkillDoc, Update
from skilld.values import value_class
from skilld.words import content_stems

# Blank lines that Markdown needs around insertions: models send lines without them. Only insertions of plain text are
# changed. A list item inside a code block is detected, because it cannot be fixed.

_NO_BLANK_BEFORE = ("|", " ", "\t", "```", "~~~", ">")  # a table row, a continuation line, code, a quotation


def add_blank_lines(data: bytes, operations: Sequence[Operation]) -> list[Operation]:
    """Return the operations with blank lines around inserted paragraphs and before a list below a heading.

    A new item of a list, or a line among lines that say a thing each, gets the capital and full stop of the others. An
    operation that does not fit the file, and all after it, are returned unchanged.
    """
    done: list[Operation] = []
    for i, operation in enumerate(operations):
        try:
            body = parse(data).body
            step = _write_alike(body, _space_operation(body, operation))
            data = apply(data, [step], limited=False)
        except SkilldError:
            return [*done, *operations[i:]]
        done.append(step)
    return done


def inserts_into_code(data: bytes, operations: Sequence[Operation]) -> bool:
    """Whether a list item is inserted into a code block, where it is not read as one."""
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


def _space_operation(body: Sequence[Line], operation: Operation) -> Operation:
    lines = operation.text.strip("\n").split("\n")
    anchor = operation.anchor.split("\n")
    found = list(find_lines(body, anchor))
    if operation.op is not Op.INSERT_AFTER or len(found) != 1 or lines[0].startswith(_NO_BLANK_BEFORE):
        return operation
    end = found[0] + len(anchor)
    kinds = roles(body)
    if kinds[end - 1] is not Role.TEXT:
        return operation
    is_item = list_item(lines[0]) is not None
    if end in {part.start for part in sections(body) if part.level} and end < len(body) and not body[end].key:
        anchor, end = [*anchor, ""], end + 1  # the blank line below a heading belongs to it
    if all(map(is_plain, lines)) and (beside := separate_lines(body, kinds, end)):
        lines = [write_like(line, beside, beside) for line in lines]
        return replace(operation, anchor="\n".join(anchor), text="\n".join(lines))
    below = body[end].text if end < len(body) else ""
    above = body[end - 1].text
    if (
        above.strip()
        and not (follows(above, lines[0]) and end > 1 and body[end - 2].key)
        and (not is_item or _starts_other_block(above, lines[0]))
    ):
        lines = ["", *lines]
    same_list = is_item and list_item(below) and not _starts_other_block(lines[-1], below)
    if below.strip() and not same_list and not below.startswith(_NO_BLANK_BEFORE):
        lines = [*lines, ""]
    return replace(operation, anchor="\n".join(anchor), text="\n".join(lines))


def _write_alike(body: Sequence[Line], operation: Operation) -> Operation:
    """Return the operation with its new items of a list written like the others."""
    anchor, lines = operation.anchor.split("\n"), operation.text.split("\n")
    found = list(find_lines(body, anchor))
    if operation.op not in {Op.INSERT_AFTER, Op.REPLACE} or len(found) != 1 or not any(map(list_item, lines)):
        return operation
    end = found[0] + len(anchor)
    start = end if operation.op is Op.INSERT_AFTER else found[0]
    new = [*body[:start], *(Line(line, "\n") for line in lines), *body[end:]]
    return replace(operation, text="\n".join(write_items_alike(new, start, start + len(lines))))


def _starts_other_block(above: str, item: str) -> bool:
    """Whether an item below a line is in another list than that, or below a table."""
    one, other = list_item(above), list_item(item)
    if one is None or other is None:
        return above.startswith("|")
    return one.indent == other.indent and one.marker[0].isdigit() != other.marker[0].isdigit()


BY_ASSENT_FLAG = "the wording comes from something you agreed to, not from you"
QUOTED_FLAG = "the wording comes from something you quoted or pasted, which may not be yours"
BY_MODEL_FLAG = "only the model has checked that this is what you meant, rather than the opposite"
BEYOND_FLAG = "part of it is not in your own words"
COLLATERAL_FLAG = "it removes something that you did not mention"
_REMOVES_FLAG, _REMOVES_SAFEGUARD_FLAG = "It removes an instruction", "It removes a safeguard"  # the linter's
# Appended to the reason why an edit cannot be used, for the model: an extra line is better than losing what was said.
_RETRY_ADVICE = (
    "; take away, replace or alter only what the words of an improvement name or contradict, and where that cannot be "
    "done, add each change that is to be said in a line of its own, in the words it is given in, and take nothing away"
)
_MAX_SHOWN_LENGTH = 80  # characters of a clause quoted in a flag
_MARKER = re.compile(r"^(?:[-*+]|\d{1,9}[.)]|#{1,6}) +(?:\[.\] +)?")  # of a list item or a heading
REMOVED_PREFIX = "Remove the rule: "  # begins the summary of a removal; the rule's words follow
_NO_SECTION_NAME = "new step"  # the prompt's placeholder if no heading fits; not a heading
# Kinds that only add: if a model's anchors do not fit, code can place the verified change.
_ADDING_KINDS = frozenset({Kind.ADD_STEP, Kind.PREFERENCE, Kind.CORRECTION, Kind.FACT})


class LintError(RefusedError):
    """The linter refuses the edit. `is_harmful` tells whether its words may still be kept."""


@value_class
class CheckedEdit:
    """An edit that passed: operations, the new bytes, and flags that a person should see before accepting.

    `checked` are the updates that it makes, `left_out` those without an edit that may be kept as learnings.
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
    retry: bool = True,
) -> CheckedEdit:
    """Return the edit that makes the updates in the skill; `typed` is all that the person typed in their turns.

    The model sees the skill redacted, so an anchor that contains a secret does not fit. With `retry` the model is told
    once why an edit that changes or removes something cannot be used.

    Raises RefusedError if the edit is forbidden, SkilldError if none could be made.
    """
    updates = [item.update for item in checked]
    if loaded.ref.absent:
        return check_edit([create_operation(updates, loaded)], checked, loaded, typed, redact)
    if not backend.edits_together:
        try:
            return check_edit(_edit_one_by_one(backend, updates, loaded), checked, loaded, typed, redact)
        except LintError:
            raise
        except SkilldError:
            if any(update.kind is Kind.REMOVE_STEP for update in updates):
                raise
        # An extra line is better than losing what was said.
        return check_edit(place_updates(updates, loaded.data), checked, loaded, typed, redact)

    def unfit(suggestion: list[Operation] | str) -> str:
        try:
            check_edit(_parse_suggestion(suggestion, loaded.data), checked, loaded, typed, redact)
        except LintError:
            return ""  # refused below: a dangerous edit is not requested again
        except SkilldError as error:
            return f"{error.cause}{_RETRY_ADVICE}"
        return ""

    shown = replace(loaded.doc, text=redact(loaded.doc.text))
    refuse = unfit if retry and not all(only_adds(item) for item in checked) else None
    return check_edit(_edit_at_once(backend, updates, loaded, shown, refuse), checked, loaded, typed, redact)


def check_edit(
    operations: Sequence[Operation],
    checked: Sequence[VerifiedUpdate],
    loaded: TargetDocument,
    typed: str,
    redact: Callable[[str], str],
) -> CheckedEdit:
    """Return the result of the operations, or raise like `compose` if they may not be proposed."""
    if any(operation.op not in BODY_OPS for operation in operations) and not loaded.ref.absent:
        raise RefusedError("The edit was not made", "it changes more than the skill's body")
    after = apply(loaded.data, operations)
    if _managed_lines(loaded.data) != _managed_lines(after):
        raise SkilldError("The edit was not made", "it would change lines that a program manages")
    refuse_secrets("The edit was not made", operations, loaded.ref.path, redact)
    ground = "\n".join([typed, loaded.doc.text, *(item.update.change for item in checked)])
    # The front matter of a new rules file is skilld's own.
    was = loaded.ref.front.encode() if loaded.ref.absent else loaded.data
    texts = [operation.text.removeprefix(loaded.ref.front) for operation in operations]
    if not all(adds_nothing(_without_default_title(text), ground) for text in texts):
        raise RefusedError("The edit was not made", "it says more than the person did")
    updates = [item.update for item in checked]
    before, then = was.decode("utf-8-sig"), after.decode("utf-8-sig")
    judged = check_fidelity(before, then, updates, typed)
    if judged.why_not:
        raise RefusedError("The edit was not made", judged.why_not)
    asked = [(QUOTED_FLAG if item.quoted else BY_ASSENT_FLAG, item) for item in checked if item.by_assent]
    asked += [(BY_MODEL_FLAG, item) for item in checked if item.by_model]
    # Beside others it shows its words, so that it stays with the part that says them.
    flags = [_flag_with_part(flag, item.update.change) if len(checked) > 1 else flag for flag, item in asked]
    flags += [_flag_with_part(BY_HEADING_FLAG, head) for head in judged.by_heading]
    flags += [
        _flag_with_part(BEYOND_FLAG, part)
        for part in (*(part for item in checked for part in item.beyond), *judged.beyond)
    ]
    flags += [_flag_with_part(COLLATERAL_FLAG, part) for part in judged.along]
    from skilld.edit.lint import lint  # its rules take 0.2 s to compile, and most batches need none

    for finding in lint(was, after, "\n".join([typed, *(item.taken_up for item in checked)])):
        if finding.severity == "refuse":
            raise LintError("The edit was not made", finding.sentence)
        flags.append(finding.sentence)
    steps = separate_items(loaded.data, operations) if len(checked) > 1 else tuple(operations)
    return CheckedEdit(steps, after, _without_repeats(flags), tuple(checked))


def compose_separately(
    backend: Backend,
    checked: Sequence[VerifiedUpdate],
    loaded: TargetDocument,
    typed: str,
    redact: Callable[[str], str],
) -> CheckedEdit:
    """Return the edit of those updates that pass one by one and together; code places those that only add.

    Raises like `compose` if none passes.
    """
    done: CheckedEdit | None = None
    now = loaded  # with what is done
    left_out: list[VerifiedUpdate] = []
    why_not = SkilldError("The edit was not made", "there is nothing left to change")
    for item in checked:
        steps, kept = (done.operations, done.checked) if done else ((), ())
        try:
            if loaded.ref.absent:  # one operation makes the file
                steps = (create_operation([one.update for one in (*kept, item)], loaded),)
            elif only_adds(item):
                steps += check_edit(place_updates([item.update], now.data), [item], now, typed, redact).operations
            else:
                steps += compose(backend, [item], now, typed, redact, retry=False).operations
            done = check_edit(steps, (*kept, item), loaded, typed, redact)
            now = replace(loaded, data=done.after, doc=replace(loaded.doc, text=done.after.decode("utf-8-sig")))
        except RetryError:
            raise
        except SkilldError as error:
            why_not = error
            left_out += [] if is_harmful(item, error, loaded, typed, redact) else [item]
    if done is None:
        raise why_not
    return replace(done, left_out=tuple(left_out))


def is_harmful(
    item: VerifiedUpdate, error: SkilldError, loaded: TargetDocument, typed: str, redact: Callable[[str], str]
) -> bool:
    """Whether the linter refuses an update's own words, wherever they are placed; `error` ended its edit.

    For a removal, which inserts nothing, the error decides.
    """
    if item.update.kind is Kind.REMOVE_STEP:
        return isinstance(error, LintError)
    updates = [item.update]
    try:
        steps = [create_operation(updates, loaded)] if loaded.ref.absent else place_updates(updates, loaded.data)
        check_edit(steps, [item], loaded, typed, redact)
    except LintError:
        return True
    except SkilldError:
        return False
    return False


def _managed_lines(data: bytes) -> list[str]:
    body = parse(data).body
    return [line.text for block in managed_blocks(body) for line in body[block.start : block.stop]]


def _parse_suggestion(suggestion: list[Operation] | str, data: bytes) -> list[Operation]:
    if isinstance(suggestion, str):
        return operations_from_text(data, suggestion)
    body = parse(data).body
    return add_blank_lines(data, _without_section_ops(data, [_as_in_file(body, one) for one in suggestion]))


_ITEM_MARKER = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)?")


def _as_in_file(body: Sequence[Line], operation: Operation) -> Operation:
    """Return an operation on one line with its indentation and bullet, if a model left these out of the anchor."""
    anchor = operation.anchor
    if "\n" in anchor or next(find_lines(body, [anchor]), None) is not None:
        return operation
    bare = _ITEM_MARKER.sub("", anchor, count=1).rstrip()
    found = [line.key for line in body if bare and _ITEM_MARKER.sub("", line.key, count=1) == bare]
    if len(found) != 1 or (len(anchor) != len(bare) and not found[0].endswith(anchor.strip())):
        return operation
    missing = found[0].removesuffix(anchor.strip())
    indent = missing[: len(missing) - len(missing.lstrip())]
    dropped = anchor[: len(anchor) - len(anchor.lstrip())]

    def placed(line: str) -> str:
        line = line.removeprefix(dropped)
        is_item = missing.strip() and _ITEM_MARKER.sub("", line, count=1) != line.lstrip()
        return f"{indent}{line.lstrip()}" if is_item else f"{missing}{line}" if line.strip() else line

    text = "\n".join(map(placed, operation.text.split("\n")))
    return replace(operation, anchor=found[0], text=text)


def _without_section_ops(data: bytes, operations: Sequence[Operation]) -> list[Operation]:
    """Return the operations with those on whole sections expanded to operations on lines.

    Raises SkilldError if an anchor does not occur exactly once, or has nothing below it.
    """
    done: list[Operation] = []
    for operation in operations:
        step = operation if operation.op not in SECTION_OPS else _expand_section_op(data, operation)
        data = apply(data, [step], limited=False) if any(one.op in SECTION_OPS for one in operations) else data
        done.append(step)
    return done


def _expand_section_op(data: bytes, operation: Operation) -> Operation:
    """Return the operation on all lines of a section that `operation` names by its first line."""
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


def _edit_at_once(
    backend: Backend, updates: Sequence[Update], loaded: TargetDocument, shown: SkillDoc, unfit: EditCheck | None
) -> list[Operation]:
    adds = all(update.kind in _ADDING_KINDS for update in updates)
    try:
        suggestion = backend.edit(updates, shown, unfit)
    except BadReplyError as error:
        if not adds:
            raise BadReplyError(error.cause.removesuffix(_RETRY_ADVICE)) from error  # the advice was for the model
        return place_updates(updates, loaded.data)
    try:
        operations = _parse_suggestion(suggestion, loaded.data)
        apply(loaded.data, operations)
    except SkilldError:
        if not adds:
            raise
        return place_updates(updates, loaded.data)
    return place_updates(updates, loaded.data) if adds and inserts_into_code(loaded.data, operations) else operations


def _edit_one_by_one(backend: Backend, updates: Sequence[Update], loaded: TargetDocument) -> list[Operation]:
    operations: list[Operation] = []
    data = loaded.data
    for update in updates:
        suggestion = backend.edit([update], replace(loaded.doc, text=data.decode("utf-8-sig")))
        steps = suggestion if isinstance(suggestion, list) else []
        if update.kind is Kind.REMOVE_STEP and not steps:  # what takes a rule back never becomes one
            raise SkilldError(
                "The edit was not made", f"no line of {loaded.ref.name} clearly says what this takes back"
            )
        steps = steps or place_updates([update], data)
        data = apply(data, steps)
        operations += steps
    return operations


def create_operation(updates: Sequence[Update], loaded: TargetDocument) -> Operation:
    """Return the operation that creates a file with the changes only."""
    lines = [f"- {update.change}" for update in updates]
    return Operation(
        Op.CREATE, loaded.ref.kind.value, loaded.ref.front + "\n".join([f"# {DEFAULT_TITLE}", "", *lines, ""])
    )


def only_adds(item: VerifiedUpdate) -> bool:
    """Whether an update removes nothing, so that code can place it."""
    return item.update.kind in _ADDING_KINDS


def place_updates(updates: Sequence[Update], data: bytes) -> list[Operation]:
    """Return the operations that add each change to its section word for word."""
    operations: list[Operation] = []
    ground = data.decode("utf-8-sig") + "\n".join(update.change for update in updates)
    for update in updates:
        text = data.decode("utf-8-sig")
        hint = "" if fold(update.section).casefold() == _NO_SECTION_NAME else update.section
        fitting = _fitting_heading(update, text)
        step = is_step(update.change) or (update.kind is Kind.ADD_STEP and not is_rule(update.change))
        step = step or asks_for_step(update.quote)
        title = new_title(text)
        operation = insert_bullet(data, hint or fitting, update.change, step=step, title=title)
        head = next((line for line in operation.text.split("\n") if line.strip("- ")), "")
        if not adds_nothing(head, ground):  # a new heading, in words that nobody used
            operation = insert_bullet(data, fitting, update.change, step=step, title=title)
        data = apply(data, [operation])
        operations.append(operation)
    return operations


def _fitting_heading(update: Update, text: str) -> str:
    """Return the heading of the section that fits a change; "" if a new one would, or the file has no text."""
    section = section_for(update.quote, update.change, text, update.quote) if text.strip() else None
    return section.heading if section is not None and (section.level or section.blocks) else ""


def summarize(edit: CheckedEdit, loaded: TargetDocument, redact: Callable[[str], str]) -> str:
    """Return what an edit does to a file, as orders: the rules that it adds, and then those that it removes.

    Nothing follows a removal, whose rule would seem to go on: "Remove the rule: Sign tags. Never name tickets."
    """
    removed, added = signature(loaded.data, edit.after)
    kept = "\n".join(added)  # of a line, when only one of its sentences goes
    gone: list[str] = []
    for line in removed:
        rule = _MARKER.sub("", line)
        parts = [part for part in split_sentences(rule) if part not in kept]
        gone += [redact(part) for part in ([rule] if len(parts) == len(split_sentences(rule)) else parts)]
    orders = []
    for update in (item.update for item in edit.checked):
        words = content_stems(f"{update.change} {update.quote}")
        if update.kind is not Kind.REMOVE_STEP or not gone:
            orders.append(update.change)
            continue
        rule = max(gone, key=lambda one: len(words & content_stems(one)))
        gone.remove(rule)
        orders.append(f"{REMOVED_PREFIX}{rule}")
    return join_sentences(sorted(orders, key=lambda one: one.startswith(REMOVED_PREFIX)))


def _flag_with_part(flag: str, part: str) -> str:
    return f"{flag}: {truncate(safe_text(fold(part)), _MAX_SHOWN_LENGTH)}"


def _without_repeats(flags: Sequence[str]) -> tuple[str, ...]:
    """Return each flag once; of two about the removal of the same line, the one that says more."""
    removals = dict[str, str]()
    for start in (_REMOVES_FLAG, COLLATERAL_FLAG, _REMOVES_SAFEGUARD_FLAG):
        removals |= {_shown_line(flag): flag for flag in flags if flag.startswith(f"{start}: ")}
    starts = tuple(f"{start}: " for start in (_REMOVES_FLAG, COLLATERAL_FLAG))
    kept = (flag for flag in flags if not flag.startswith(starts) or removals[_shown_line(flag)] == flag)
    return tuple(dict.fromkeys(kept))


def _shown_line(flag: str) -> str:
    """Return the line that a flag shows, without its marker, cut to what all flags show of it."""
    return _MARKER.sub("", flag.partition(": ")[2])[: _MAX_SHOWN_LENGTH // 2]


def _without_default_title(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not is_default_title(line))
