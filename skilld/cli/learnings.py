"""`skilld learnings`: lists lasting instructions that are not in a file yet, and proposes one."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from skilld import console
from skilld.cli import common
from skilld.clock import parse_time, time_ago
from skilld.errors import SkilldError, UsageError
from skilld.files import shell_quoted
from skilld.jobs.asks import current_asks, group_learnings
from skilld.library.clusters import confidence, group_asks, learning_mention
from skilld.proposals.passed_over import explained, forget_ask, forget_decided, passed_over_id
from skilld.proposals.results import learning_id
from skilld.store import Store
from skilld.store.learnings import NO_FILE_REASON, Learning
from skilld.text import pluralize
from skilld.words import content_stems, matching_words

_MAX_PASSED_OVER = 20  # shown unless a search or a project narrows them down
_MAX_REPEATED_REASON = 80  # characters: a longer reason of several learnings is printed once, below them


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    store = common.store_or_empty()
    if arguments.action:
        return _propose(store, arguments)
    if arguments.to is not None:
        raise UsageError("Missing word", "--to needs propose", "For example: skilld learnings propose ID --to PATH")
    if arguments.forget is not None:
        return _forget(store, common.as_text(arguments.forget))
    asks = current_asks(store, _matching_learnings(store, arguments))
    sure = _confidences(store)
    missed = _matching_passed_over(arguments)
    if arguments.project and not (asks or missed):
        common.resolve_folder(arguments.project)
    if arguments.json:
        found = [as_json(ask) | {"relied_on": sure[ask[0].id], "taken": True} for ask in asks]
        return common.write_json([*found, *(as_json([one]) | {"relied_on": 0.0, "taken": False} for one in missed)])
    marks = _mark_reasons(asks)
    for ask in asks:
        mark = marks.get(ask[0].why_kept)
        _print_ask(ask, f"see {mark}" if mark else "")
    for why, mark in marks.items():
        console.say(f"{mark} {console.message(why)}", 4)
    if asks:
        _print_ways_on(asks)
    else:
        console.say(_describe_none(arguments, nothing=not missed))
    is_narrowed = arguments.search is not None or arguments.project
    _print_passed_over(missed, len(missed) if is_narrowed else _MAX_PASSED_OVER)
    return 0


def show(store: Store, name: str) -> bool:
    """Print the learning with this ID, or what was passed over, for `skilld show`; return whether there is one."""
    found = find_asks(store, name)
    if len(found) != 1:
        return False
    taken = any(store.learnings.get(one.id) for one in found[0])
    (ask,) = current_asks(store, found[0]) if taken else [explained(found[0])]
    _print_ask(ask)
    if not ask[0].is_result:
        console.say(f"To propose it: skilld learnings propose {ask[0].id} [--to PATH]")
    console.say(f"To delete it: skilld learnings --forget {ask[0].id}")
    return True


def _print_ways_on(asks: Sequence[Sequence[Learning]]) -> None:
    if any(NO_FILE_REASON in ask[0].why_kept for ask in asks):
        once = "once you say it again in another session"
        console.say(f"A learning for a file that does not exist yet is proposed {once}.")
    if not all(ask[0].is_result for ask in asks):
        console.say("To propose one now: skilld learnings propose ID [--to PATH]")


def _print_ask(ask: Sequence[Learning], why: str = "") -> None:
    """Print a learning; `why` stands for its reason if that is printed elsewhere."""
    newest = ask[0]
    when = time_ago(parse_time(newest.created_at), time.time())
    console.say(f"{console.paint(newest.id, 'bold')}  {when}  {console.plain(newest.change)}")
    if newest.is_result:
        remarks = f"the result of the task \u201c{newest.quote}\u201d{_place(newest)}; not said by you"
    else:
        console.say(f"    you: \u201c{console.plain(newest.quote)}\u201d")
        often = pluralize(len({one.session_id for one in ask}), "session")
        remarks = f"said in {often}{_place(newest)}; not proposed: {why or newest.why_kept}"
    console.say(f"    {console.message(remarks)}", style="dim")


def _place(learning: Learning) -> str:
    """Return where a learning was said, as it follows in a sentence; "" if that is unknown."""
    return f" in {learning.project}" if learning.project else ""


def _mark_reasons(asks: Sequence[Sequence[Learning]]) -> dict[str, str]:
    """Return a mark for each long reason that several learnings have, in their order, to be printed once."""
    often = Counter(ask[0].why_kept for ask in asks if not ask[0].is_result)
    shared = [why for why, times in often.items() if times > 1 and len(why) > _MAX_REPEATED_REASON]
    return {why: f"[{number}]" for number, why in enumerate(shared, 1)}


def _forget(store: Store, name: str) -> int:
    learned = any(one.id.startswith(name) for one in (*store.learnings.all(), *common.passed_over()))
    decided = [one for one in store.proposals.find(name) if name and not learned and one.id.startswith(name)]
    if len(decided) > 1:
        raise SkilldError("Ambiguous ID", f"{name} matches {len(decided)} proposals", "Type more of the ID.")
    if decided:
        forget_decided(store, decided[0])
        console.say("Deleted from skilld's own data. If you say it again, it may be proposed again.")
        if command := _prune_command(decided[0].repo):
            console.say("git still keeps the proposal's commit, on no branch. To remove all such commits:")
            console.line(f"  {command}")
        return 0
    with store.transaction():
        forget_ask(store, _find_ask(store, name))
    store.erase_free_space()
    console.say("Deleted.")
    return 0


def _describe_none(arguments: argparse.Namespace, *, nothing: bool) -> str:
    """Say that there are no learnings; `nothing` is whether nothing that was said lately matches either."""
    is_searched = arguments.search is not None
    if nothing and (is_searched or arguments.project):
        return "No learnings match."
    about = " about this" if is_searched else ""
    return f"There are no learnings{about}{' in this project' if arguments.project else ''}."


def _print_passed_over(missed: Sequence[Learning], limit: int) -> None:
    if missed:
        console.say("Said recently, but not treated as a rule (to propose one: skilld learnings propose ID):")
    for one in missed[:limit]:
        said = f"\u201c{one.quote}\u201d{_place(one)}: {one.why_kept}"
        console.say(f"{console.paint(one.id, 'bold')}  {console.message(said)}")
    if len(missed) > limit:
        console.say(f"Showing the newest {limit} of {len(missed)}. To see others: --project FOLDER, --search TEXT")


def _prune_command(repo: str) -> str:
    """Return the command that removes unreachable commits from a repository, "" if it is gone."""
    own = Path(repo).parent == common.places().repositories
    if not repo or not Path(repo).is_dir():
        return ""
    return f"git {'--git-dir' if own else '-C'} {shell_quoted(Path(repo))} gc --prune=now"


def as_json(ask: Sequence[Learning]) -> dict[str, Any]:
    """Return one ask as JSON, in its newest wording."""
    newest = ask[0]
    placed = next((one for one in ask if one.place), None)
    return asdict(newest) | {
        "text": newest.change,
        "sessions": len({one.session_id for one in ask}),
        "said": [one.id for one in ask],
        "place": {"kind": placed.place_kind, "path": placed.place} if placed else None,
        "why_not": newest.why_kept,
    }


def find_asks(store: Store, name: str) -> list[list[Learning]]:
    """Return the learnings, and what was passed over, with this ID or prefix of one."""
    asks = [*group_learnings(store.learnings.all()), *([one] for one in common.passed_over())]
    return [ask for ask in asks if name and any(one.id.startswith(name) for one in ask)]


def _find_ask(store: Store, name: str) -> list[Learning]:
    found = find_asks(store, name)
    if len(found) > 1:
        raise SkilldError("Ambiguous ID", f"{name} matches {len(found)} learnings", "Type more of the ID.")
    if not found:
        if made := name and _find_proposed(store, name):
            raise SkilldError("Already proposed", f"this learning is proposal {made}", f"skilld show {made}")
        raise SkilldError("No such learning", name, "List them: skilld learnings")
    return found[0]


def _find_proposed(store: Store, name: str) -> str:
    """Return the ID of the proposal that a learning with this ID or prefix became; "" if there is none."""
    for one in reversed(store.proposals.all()):
        changes = ("", *(f"\n{change}" for change in (one.summary, *(update.change for update in one.updates))))
        ids = [learning_id(said.turn, f"{said.quote}{change}") for said in one.evidence for change in changes]
        ids += [passed_over_id(said.turn, said.quote) for said in one.evidence]
        if any(found.startswith(name) for found in ids):
            return one.id
    return ""


def check_words(arguments: argparse.Namespace) -> None:
    """Raise UsageError if there is no learning to propose."""
    if arguments.action and not arguments.id:
        raise UsageError("Which learning?", "propose needs an ID", "List them: skilld learnings")


def _propose(store: Store, arguments: argparse.Namespace) -> int:
    from skilld.jobs.relocation import propose_learning

    check_words(arguments)
    ask = _find_ask(store, common.as_text(arguments.id))
    if ask[0].is_result:
        cause = "it is the result of a task, and only what you say becomes a rule"
        raise SkilldError("Nothing was proposed", cause, "Tell your agent, or write it into the file yourself.")
    made = propose_learning(store, ask, common.host(), common.settings().targets, common.redactor(), to=arguments.to)
    if arguments.json:
        from skilld.cli.proposals import as_json as proposal_json

        return common.write_json(proposal_json(store, made))
    console.say(f"{console.paint(made.id, 'bold')}  {console.plain(made.skill)}  {console.plain(made.summary)}")
    console.say(f"To review it: skilld review {made.id}")
    return 0


def _matching_learnings(store: Store, arguments: argparse.Namespace) -> list[Learning]:
    if arguments.search is None:
        found = store.learnings.all()
    else:
        text = common.as_text(arguments.search)
        hits = [hit for hit in store.search.find(text) if hit.kind == "learning"]
        found = [one for hit in hits if (one := store.learnings.get(hit.id))]
        if not content_stems(text):  # the index has no function words such as "always"
            found = [one for one in store.learnings.all() if _is_about(one, text)]
    return [learning for learning in found if _is_wanted(learning, arguments)]


def _matching_passed_over(arguments: argparse.Namespace) -> list[Learning]:
    """Return what was said recently but not treated as a rule, limited to what was asked for."""
    found = [one for one in common.passed_over() if _is_wanted(one, arguments)]
    if arguments.search is None:
        return found
    return [one for one in found if _is_about(one, common.as_text(arguments.search))]


def _is_about(learning: Learning, text: str) -> bool:
    """Whether a learning has this text as typed, or a form of one of its words."""
    said = f"{learning.change} {learning.quote}"
    typed, words = text.strip().casefold(), content_stems(text)
    return bool(typed and typed in said.casefold()) or bool(words and matching_words(words, content_stems(said)))


def _is_wanted(learning: Learning, arguments: argparse.Namespace) -> bool:
    """Whether a learning is of the project that was asked for, which may be gone, if any was."""
    wanted = arguments.project and common.resolve_path(arguments.project)
    if wanted and not wanted.is_dir():
        return Path(learning.project or "/").is_relative_to(wanted)
    return not wanted or common.is_of_project(learning, wanted)


def _confidences(store: Store) -> dict[str, float]:
    """Return the confidence of each learning, by ID, over all the times that the same was said."""
    now = time.time()
    found = group_asks(map(learning_mention, store.learnings.all()))
    return {one.id: round(confidence(ask.pieces, now=now), 3) for ask in found for one in ask.said}
