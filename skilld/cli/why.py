"""`skilld why`: which lines of a file proposals added, and the proposal and your words behind a line."""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Iterable
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from skilld import console
from skilld.classify.offline.choices import WORD
from skilld.cli import common
from skilld.cli.proposals import describe_judge, describe_origin, describe_quotes, refresh_or_warn
from skilld.clock import parse_time, time_ago
from skilld.edit.renumber import lines_added_by
from skilld.errors import SkilldError, UsageError
from skilld.files import shell_quoted
from skilld.git.errors import NotTrackedError
from skilld.git.repo import find_tracked
from skilld.git.same_project import is_same_file
from skilld.library.passages import plain_text
from skilld.proposals.current_work_tree import nearest_checkout
from skilld.proposals.explain import Origin, find_origin, uncommitted_origin
from skilld.proposals.model import CHANGED_NOTE, EDITED_NOTE, top_folder
from skilld.proposals.remarks import describe_age, describe_doubt
from skilld.skills.find import FILE
from skilld.skills.write import VARIABLE_NOTE
from skilld.store import Store
from skilld.text import truncate
from skilld.types import OBSERVED_TURN, Proposal, Update
from skilld.words import content_stems, matching_share, stems

_MAX_OTHER_CHARS = 200  # of the other changes in a proposal
_MIN_QUOTED = 0.5  # of the words of a line, in a quote that is behind it
_FRAME_PATTERN = re.compile(r"#|---$|(?:  )?[a-z][\w-]*:|Observed\b.*:$")
_LEAST_ALIKE = 0.8  # of two wordings of a line: a typo was fixed
_LEAST_OF_CHANGED = 0.6  # if git shows that the line has other words now
_FILE_PATTERN = re.compile(r"\S*[/.]\S*")  # a file, which may be a script
_PLACE_PATTERN = re.compile(r".*:\d+|\S*/\S*|\S*\.\w{1,5}", re.ASCII)  # a file, existing or not, rather than words

_Line = tuple[Path, int, str]


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    store = common.store_or_empty()
    if arguments.place and store.proposals.find(common.as_text(arguments.place)):
        raise UsageError("Expected FILE:LINE", f"{arguments.place} is a proposal", f"skilld show {arguments.place}")
    refresh_or_warn(store)
    arguments.place = _file_meant(arguments.place)
    if _is_file(arguments.place):
        path = Path(arguments.place).expanduser().resolve()
        lines = _added_lines(path, _accepted_for(store, path))
        return _print_lines(lines, arguments.place, as_json=arguments.json)
    if _is_place(arguments.place):
        path, line = _parse_place(arguments.place)
    else:
        saying = _find_lines(store, common.as_text(arguments.place))
        if len(saying) > 1:
            return _print_lines(saying, arguments.place, as_json=arguments.json)
        path, line, _ = saying[0]
    try:
        line_origin = find_origin(path, line)
    except NotTrackedError as error:
        if not any(proposal.creates for proposal in _accepted_for(store, path)):
            title = "No proposal added this line, and the file is not a skill in a git repository"
            raise SkilldError(title, error.cause) from error
        line_origin = uncommitted_origin(path, line)  # made by `accept --worktree`
    found = _proposals_behind(store, path, line_origin)
    if arguments.json:
        shown = {"file": str(path), "line": line, "text": line_origin.text, "commit": line_origin.commit}
        return common.write_json(
            shown | {"proposals": [_why_json(store, path, one, line_origin.text) for one in found]}
        )
    console.say(f"  {console.plain(line_origin.text)}")
    kept = "" if not line_origin.commit or _is_tracked(path) else " in the repository that skilld keeps for this folder"
    console.say(f"  commit {line_origin.commit[:10]}{kept}" if line_origin.commit else "  not committed", style="dim")
    for proposal in found:
        _print_why(store, path, proposal, line_origin.text)
    if not found:
        names = ", ".join(line_origin.proposals)
        elsewhere = f"The commit names the proposal {names}, which was accepted on another machine or by someone else."
        console.say(elsewhere if names else "No proposal added this line.")
    return 0


def _is_tracked(path: Path) -> bool:
    """Whether a repository of the person's tracks a file, rather than one of skilld's own."""
    try:
        return bool(find_tracked(path))
    except NotTrackedError:
        return False


def _is_place(given: str) -> bool:
    """Whether this names a place in a file, existing or not, rather than words of a line."""
    name, _, number = given.rpartition(":")
    return bool(_PLACE_PATTERN.fullmatch(given)) or (_is_file(name) and number.split() in ([number], []))


def _is_file(given: str) -> bool:
    try:
        return Path(given).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):
        return False


def _file_meant(given: str) -> str:
    """Return the SKILL.md of a skill whose folder was given, and anything else as it was given."""
    file = f"{given.rstrip('/')}/{FILE}"
    return file if given and _is_file(file) else given


def _added_lines(path: Path, proposals: Iterable[Proposal]) -> list[_Line]:
    """Return the lines of a file that these proposals added."""
    from skilld.effect.rule_lines import text_of

    added = {line for proposal in proposals for line in _lines_added_by(proposal)} - {""}
    lines = enumerate(text_of(str(path)).splitlines(), 1)
    return [(path, number, line.strip()) for number, line in lines if line.strip() in added]


def _find_lines(store: Store, words: str) -> list[_Line]:
    """Return the lines added by accepted proposals that contain all of these words. Raises UsageError if none does."""
    if not words.strip():
        raise UsageError("Which line?", "no file and no words given", "For example: skilld why CLAUDE.md:12")
    wanted = content_stems(words) or stems(words)
    found: set[_Line] = set()
    for proposal in store.proposals.accepted():
        in_each = (_added_lines(Path(path), [proposal]) for path in _work_tree_paths(proposal))
        saying = (
            [line for line in lines if (wanted and wanted <= stems(line[2])) or _has_each(words, line[2])]
            for lines in in_each
        )
        found.update(next(filter(None, saying), []))
    if not found:
        cause = f"no line added by a proposal contains all of these words: {words}"
        raise UsageError("No such line", cause, "To list the lines added to a file: skilld why FILE")
    return sorted({one for one in found if _has_each(words, one[2])} or found)


def _has_each(words: str, line: str) -> bool:
    """Whether a line has every one of these words, also those without content: "never", "nie auf"."""
    asked, said = ({*WORD.findall(text.casefold())} for text in (words, line))
    return bool(asked) and all(one in said or frozenset() < stems(one) <= stems(line) for one in asked)


def _work_tree_paths(proposal: Proposal) -> list[str]:
    """Return where a proposal's file is: in the current work tree, if that is of its repository, and in its own."""
    here = str(Path(nearest_checkout() or "/", proposal.relpath))
    paths = here if is_same_file(here, proposal.path) else "", proposal.path
    return [path for path in dict.fromkeys(paths) if path and _is_file(path)]


def _print_lines(lines: list[_Line], given: str, *, as_json: bool) -> int:
    """List lines that accepted proposals added; return the exit code."""
    if as_json:
        return common.write_json([{"file": str(path), "line": number, "text": text} for path, number, text in lines])
    named = given if _is_file(given) else ""
    for path, number, text in lines:
        console.say(f"{console.plain(named or str(path))}:{number}  {console.plain(text)}")
    if lines:
        first = console.plain(shell_quoted(named or lines[0][0]))
        console.say(f"To see where one comes from: skilld why {first}:{lines[0][1]}")
    else:
        console.say("No accepted proposal added a line that is still in this file.")
    return 0


def _parse_place(given: str) -> tuple[Path, int]:
    name, _, number = given.rpartition(":")
    if not name or not number.isascii() or not number.isdigit():
        if _is_file(name):
            why = f"{number or 'nothing'} is not a line number"
        elif os.path.exists(common.expand_path(given)):  # noqa: PTH110 - raises nothing
            why = f"{given} is not a file"
        else:
            raise UsageError("No such file", given)
        remedy = "For example: CLAUDE.md:12. To list the lines added to a file: skilld why FILE"
        raise UsageError("Expected FILE:LINE", why, remedy)
    if (path := common.path_or_none(name)) is None or not os.path.exists(path):  # noqa: PTH110 - raises nothing
        raise UsageError("No such file", name)
    return path, int(number)


def _proposals_behind(store: Store, path: Path, origin: Origin) -> list[Proposal]:
    """Return the proposals behind a line: those its commit names, otherwise those whose edit contains the line.

    The file may have been renamed or split since. Of several in one commit, only those whose edit contains the line
    count. A squashed commit may name none, and an uncommitted line was written by `accept --worktree`.
    """
    named = [proposal for name in origin.proposals if (proposal := store.proposals.get(name)) is not None]
    candidates = named or _accepted_for(store, path)
    text = origin.text.strip()
    with_line = [proposal for proposal in candidates if text and text in _lines_added_by(proposal)]
    changed = (one for one in _accepted_for(store, path) if text and _accepted_as(path, one, text))
    return with_line or named or (_moved_here(store, path, text) if text else []) or [*changed]


def _accepted_as(path: Path, proposal: Proposal, line: str) -> str:
    """Return what a proposal added in place of a line that the person has changed since; empty if it is not of it."""
    from skilld.effect.rule_lines import text_of

    present = {*map(str.strip, text_of(str(path)).splitlines())}
    gone = _lines_added_by(proposal) - present if line not in _lines_added_by(proposal) else ()
    alike = {one: SequenceMatcher(None, one, line, autojunk=False).ratio() for one in gone if one}
    nearest = max(alike, key=alike.__getitem__, default="")
    return nearest if alike.get(nearest, 0.0) >= (_LEAST_OF_CHANGED if _was_edited(proposal) else _LEAST_ALIKE) else ""


def _moved_here(store: Store, path: Path, line: str) -> list[Proposal]:
    """Return the accepted proposals of the same folder that added a line to a file which has it no more."""
    from skilld.effect.rule_lines import text_of

    near = [one for one in store.proposals.accepted() if path.is_relative_to(top_folder(one))]
    added = [one for one in near if one.path != str(path) and line in _lines_added_by(one)]
    return [one for one in added if line not in map(str.strip, text_of(one.path).splitlines())]


def _accepted_for(store: Store, path: Path) -> list[Proposal]:
    """Return the accepted proposals for a file, from any work tree or clone of its repository."""
    return [proposal for proposal in store.proposals.accepted() if is_same_file(proposal.path, str(path))]


def _lines_added_by(proposal: Proposal) -> set[str]:
    return {line.strip() for operation in proposal.operations for line in lines_added_by(operation)}


def _update_behind(proposal: Proposal, line: str) -> Update | None:
    """Return the update behind one line, if the proposal records several."""
    several = proposal.creates or len(proposal.updates) > 1 or _was_edited(proposal)
    said = [one for one in proposal.updates if one.change and one.change in line] if several else []
    return max(said, key=lambda one: len(one.change), default=None)


def _was_edited(proposal: Proposal) -> bool:
    return proposal.note in {CHANGED_NOTE, EDITED_NOTE}


def _quotes_about(proposal: Proposal, line: str) -> list[str]:
    """Return the quotes of a proposal; of one that the person edited, only those that say most of the line."""
    quotes = [evidence.quote for evidence in proposal.evidence]
    if not line.strip():
        return []
    if not _was_edited(proposal):
        return quotes
    if _is_frame(line) or (proposal.creates and proposal.updates):
        return []  # each line that was said has its update
    return [one for one in quotes if matching_share(content_stems(line), content_stems(one)) >= _MIN_QUOTED]


def _is_frame(line: str) -> bool:
    """Whether a line is a heading, front matter, or another line that skilld writes around what was said."""
    return bool(_FRAME_PATTERN.match(line)) or VARIABLE_NOTE in line


def _describe_unsaid(store: Store, proposal: Proposal, line: str) -> str:
    """Return where a line comes from that none of the person's words is behind."""
    if not line.strip():
        return "a blank line, which came with the lines around it"
    name, number = _merged_line(store, proposal, line)
    if number:
        return f"from line {number} of the skill {name}, which was merged into this one; not said by you"
    if proposal.creates and _was_edited(proposal) and (_is_frame(line) or not proposal.updates):
        return "you edited this proposal; nothing you said in a session is behind this line"
    if _was_edited(proposal):
        return "you added this line yourself when you edited the proposal"
    if name:
        return f"from the skill {name}, which was merged into this one; not said by you"
    return f"{proposal.reason.rstrip('.')}; not said by you"


def _merged_line(store: Store, proposal: Proposal, line: str) -> tuple[str, int]:
    """Return the skill that a line was merged from, or "", and the line's number there, 0 if it is not there now."""
    from skilld.effect.rule_lines import text_of
    from skilld.library.consolidate import merge_source

    name, path = merge_source(proposal, store.proposals.all())
    lines = enumerate(text_of(str(path)).splitlines(), 1) if path else ()
    return name, next((number for number, other in lines if plain_text(other) == plain_text(line)), 0)


def _why_json(store: Store, path: Path, proposal: Proposal, line: str) -> dict[str, Any]:
    update = _update_behind(proposal, line)
    name, number = _merged_line(store, proposal, line)
    return {
        **common.pick(proposal, "id", "state", "skill", "summary", "reason"),
        "evidence": [common.pick(evidence, "turn", "quote") for evidence in proposal.evidence],
        "observed": {"where": update.reason, "ran": update.quote} if update and update.turn == OBSERVED_TURN else None,
        "merged_from": {"skill": name, "line": number or None} if name else None,
        "accepted_as": _accepted_as(path, proposal, line.strip()),
        **common.pick(proposal, "agent", "session_id", "model", "created_at", "decided_at", "landed"),
        "accepted_at": store.proposals.accepted_at(proposal.id),
        "decided_by": store.proposals.decided_by(proposal.id),
    }


def _print_why(store: Store, path: Path, proposal: Proposal, line: str) -> None:
    update = _update_behind(proposal, line)
    accepted = store.proposals.accepted_at(proposal.id)
    now = time.time()
    accepted_ago = f"accepted {time_ago(parse_time(accepted), now)}"
    when = accepted_ago if accepted else f"proposed {describe_age(store, proposal, now)}"
    console.say(f"{console.paint(proposal.id, 'bold')}  {console.plain(proposal.skill)}  {proposal.state.value}")
    console.say(f"  {console.plain(update.change if update else proposal.summary)}")
    if was := _accepted_as(path, proposal, line.strip()):
        how = "originally proposed as" if proposal.note == EDITED_NOTE else "originally accepted as"
        console.say(f"  {how}: {console.plain(was)}")
    if update is not None and update.turn == OBSERVED_TURN:
        console.say(f"  {console.plain(update.reason)}; not said by you")
        did = "ran or opened" if _FILE_PATTERN.fullmatch(update.quote) else "ran"
        console.say(f"  the agent {did}: {console.plain(update.quote)}")
    elif quotes := [update.quote] if update else _quotes_about(proposal, line):
        for quote in describe_quotes(quotes):
            console.say(f"  {quote}")
    else:
        console.say(f"  {console.plain(_describe_unsaid(store, proposal, line))}")
    there = "\n".join(operation.text for operation in proposal.operations)
    rest = [one.change for one in proposal.updates if update and one.change and one is not update]
    if others := [one for one in rest if not _was_edited(proposal) or one in there]:
        shown = truncate("; ".join(others).replace(".; ", "; "), _MAX_OTHER_CHARS)
        console.say(f"  in the same proposal: {console.plain(shown)}", style="dim")
    who = f"{describe_origin(proposal)}, {when}, {describe_judge(proposal)}"
    console.say(f"  {who}", style="dim")
    if maybe := describe_doubt(store, proposal):
        console.say(f"  note: {console.plain(maybe)}", style="yellow")
