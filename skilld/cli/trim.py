"""`skilld trim`: proposes cuts to files that agents load, the largest savings first."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilld import console
from skilld.classify.backends import OFFLINE
from skilld.classify.closed_questions import spare_parts
from skilld.classify.question_jobs import FindRedundancy
from skilld.cli import common, inventory
from skilld.cli.budgeted_model import BudgetedModel
from skilld.cli.progress import Progress
from skilld.clock import rfc3339
from skilld.context import Disk
from skilld.context.installed import contexts
from skilld.context.references import Project, dead_references
from skilld.context.tokenizer import Tokenizer, tokenizer
from skilld.context.values import Kind, Surprise
from skilld.effect.figures import RuleState
from skilld.effect.outcomes import collect, sessions_with_repeats
from skilld.errors import SkilldError, cause_of
from skilld.files import read_whole
from skilld.git.top import find_top
from skilld.proposals.amend import stage_and_store
from skilld.proposals.poll import refresh
from skilld.protocol import ChoiceResult
from skilld.store import Store
from skilld.text import fold_case, pluralize
from skilld.trim.code_cuts import DoubtfulLine, FileFacts, certain_cuts, doubtful_lines
from skilld.trim.cuts import MODEL_REASONS, Cut, CutReason
from skilld.trim.model_cuts import PieceAnswer, cuts_from_answers, numbered_texts
from skilld.trim.propose import CutStatus, PlannedCut, TrimmableFile, instruction_files, plan, proposal, skill_files
from skilld.trim.units import ParsedFile, parse_units
from skilld.types import State

_MAX_SENT_TOKENS = 60_000  # of one file


@dataclass(frozen=True)
class FileCuts:
    """What was found in one file."""

    file: TrimmableFile
    tokens: int = 0
    cuts: tuple[Cut, ...] = ()
    dead: tuple[Surprise, ...] = ()
    doubts: tuple[DoubtfulLine, ...] = ()
    trouble: str = ""


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    store = common.store_or_empty() if arguments.dry_run and not arguments.ask else common.store()
    refresh(store)
    counter = tokenizer()
    file_cuts, model = find_cuts(store, arguments, counter)
    cuts = [(one.file.ref, cut) for one in file_cuts for cut in one.cuts]
    planned = plan(cuts, store.proposals.all())
    results = [(one, *_propose(store, one, model, counter, dry=arguments.dry_run)) for one in planned]
    if arguments.json:
        shown = [_as_json(one, name, trouble) for one, name, trouble in results]
        files = [_file_as_json(one) for one in file_cuts]
        return common.write_json({"tokenizer": counter.name, "cuts": shown, "files": files})
    for one, name, trouble in results:
        _print_cut(one, name, trouble)
    examined = any(not one.file.why_not for one in file_cuts)
    for found in file_cuts:
        _print_notes(found, in_full=arguments.path is not None or not examined)
    if not file_cuts:
        console.say("No instruction files or skills here. To see what agents load: skilld context")
    elif not results and examined:
        more = "" if arguments.ask else " A model may find more: skilld trim --ask"
        console.say(f"Nothing can be removed safely.{more}")
    return 0


def find_cuts(store: Store, arguments: argparse.Namespace, counter: Tokenizer) -> tuple[list[FileCuts], str]:
    """Return what was found in each file, and the model that was asked."""
    project, settings = common.resolve_folder(arguments.project), common.settings()
    root, files = _files_in(project, arguments.path)
    if not files and (around := _project_around(arguments.path)) is not None:
        root, files = _files_in(around, arguments.path)
    if arguments.path is not None and not files:
        _check_folder(arguments.path)
    parsed_files: dict[str, ParsedFile] = {}
    file_cuts = []
    for one in files:
        try:
            parsed_files[one.ref.path] = parse_units(read_whole(one.ref.path))
        except (OSError, SkilldError) as error:
            cause = error.cause if isinstance(error, SkilldError) else cause_of(error)
            why = f"it cannot be read: {cause}"
            file_cuts.append(FileCuts(replace(one, why_not=why), trouble=why))
    effects = collect(store, sessions_with_repeats(store))
    unused = {(one.rule.path, one.rule.line) for one in effects if one.state is RuleState.UNUSED}
    model = _TrimModel(store, settings, "trim", project) if arguments.ask else None
    finder = _CutFinder(store, unused, Project(str(root), Disk()), counter, model)
    readable = [one for one in files if one.ref.path in parsed_files]
    if model:
        asked = [parsed_files[one.ref.path] for one in readable if not one.why_not]
        sizes = [_question_tokens(one, counter) for one in asked if _sent_tokens(one, counter)]
        if sizes:
            model.announce(sizes)
    step = "Files read by the model" if model else "Files read"
    with Progress(step) as progress:
        for number, one in enumerate(readable):
            progress(step, number, len(readable))
            others = {Path(path).name: parsed_files[path] for path in one.loaded_with if path in parsed_files}
            file_cuts.append(finder.find_in(one, parsed_files[one.ref.path], others))
    return file_cuts, model.model if model else ""


def _files_in(project: Path, path: str | None) -> tuple[Path, list[TrimmableFile]]:
    """Return the root of a project and the wanted files that agents load there."""
    loaded, targets = contexts(project, common.home(), os.environ), common.settings().targets
    files = instruction_files(loaded, common.home(), targets)
    files += skill_files(inventory.all_skills([project]), targets)
    root = Path(next((one.root for one in loaded), project))
    return root, [one for one in files if _is_wanted(one, path)]


def _project_around(path: str | None) -> Path | None:
    """Return the top of the repository around an existing path, which may be another than the current one's."""
    found = common.resolve_path(path) if path else None
    return find_top(found if found.is_dir() else found.parent) if found is not None and found.exists() else None


def _check_folder(given: str) -> None:
    """Raise SkilldError unless this is a folder: nothing that an agent loads was found there."""
    found = common.expand_path(given)
    if given and found.is_dir():
        return
    title = "Not a skill or instruction file" if given and found.exists() else "No such file, folder or skill"
    raise SkilldError(title, given, "To see what is loaded: skilld context")


def _is_wanted(file: TrimmableFile, path: str | None) -> bool:
    if path is None:
        return True
    if not path:
        return False
    real = common.resolve_path(path)
    return file.ref.name == path or Path(file.ref.path).is_relative_to(real)


@dataclass(frozen=True)
class _CutFinder:
    """Finds cuts in one file after another."""

    store: Store
    unused: set[tuple[str, int]]
    tree: Project
    counter: Tokenizer
    model: _TrimModel | None

    def find_in(self, file: TrimmableFile, parsed: ParsedFile, others: dict[str, ParsedFile]) -> FileCuts:
        """Return what was found in one file; if it may not be trimmed, only dead references and doubtful lines."""
        path = file.ref.path
        text = parsed.file.data.decode("utf-8", "replace")
        dead = [*dead_references(text, path, self.tree)]
        known = FileFacts(
            is_skill=Path(path).name == "SKILL.md",
            described="description:" in parsed.file.front,
            others=others,
            dead={one.line for one in dead if not one.now},
            unused={line for other, line in self.unused if other == path},
            own=_own_lines(self.store, path),
        )
        cuts: list[Cut] = []
        trouble = file.why_not
        if not file.why_not:
            cuts = certain_cuts(parsed, known, self.counter.count)
            if self.model:
                named, trouble = self.model.find_cuts(parsed, known, self.counter, cuts)
                cuts += named
        surprises = tuple(Surprise(Kind.DEAD, path, f"{one.name}: {one.why}", one.line) for one in dead)
        doubts = tuple(doubtful_lines(parsed, known.own))
        return FileCuts(file, self.counter.count(text), tuple(cuts), surprises, doubts, trouble)


def _own_lines(store: Store, path: str) -> frozenset[str]:
    """Return the lines of a file that came from the person's own words, folded."""
    made = [one for one in store.proposals.in_states([State.ACCEPTED, State.OPEN]) if one.path == path and one.evidence]
    lines = [line for one in made for operation in one.operations for line in operation.text.split("\n")]
    return frozenset(fold_case(line.strip().lstrip("-*+ ")) for line in lines if line.strip())


def _sent_tokens(parsed: ParsedFile, counter: Tokenizer) -> int:
    """Return how many tokens of a file the model would be sent: none if it says nothing or is too long."""
    size = counter.count(parsed.file.data.decode("utf-8", "replace")) if parsed.units else 0
    return size if size <= _MAX_SENT_TOKENS else 0


def _question_tokens(parsed: ParsedFile, counter: Tokenizer) -> int:
    """Return how many tokens the question about a file has, with the file in it."""
    asked = spare_parts(numbered_texts(parsed)).request
    return counter.count(f"{asked.system}\n{asked.user}")


class _TrimModel(BudgetedModel):
    """The configured model, asked what a file says twice or at length."""

    def find_cuts(
        self, parsed: ParsedFile, known: FileFacts, counter: Tokenizer, found: list[Cut]
    ) -> tuple[list[Cut], str]:
        """Return the cuts that the model named and that passed the checks in code, or why it was not asked."""
        if why := self.spent_limit():
            return [], f"the model was not asked because today's budget is spent ({why})"
        if not _sent_tokens(parsed, counter):
            return [], "the model was not asked because the file is too long" if parsed.units else ""
        pieces = numbered_texts(parsed)
        work = FindRedundancy(self.spec, tuple(number for number, _ in pieces), tuple(part for _, part in pieces))
        result, why = self.ask(work)
        if not isinstance(result, ChoiceResult):
            return [], f"the model did not answer: {why}"
        answers = [PieceAnswer(int(number) - 1, same - 1 if same else None) for number, same in result.same.items()]
        answers += [PieceAnswer(int(number) - 1, text=text) for number, text in result.text.items()]
        return cuts_from_answers(parsed, known, answers, counter.count, found), ""


def _propose(store: Store, one: PlannedCut, model: str, counter: Tokenizer, *, dry: bool) -> tuple[str, str]:
    """Propose a cut if it is due; return the proposal's ID, or an empty one and the reason."""
    if dry or one.status is not CutStatus.PROPOSE:
        return one.proposal, ""
    lost = common.redactor()(one.cut.lost)
    named = model if one.cut.why in MODEL_REASONS else OFFLINE
    made = proposal(replace(one, cut=replace(one.cut, lost=lost)), named, counter.name, rfc3339(time.time()))
    try:
        return stage_and_store(store, made).id, ""
    except SkilldError as error:
        return "", str(error)


def _as_json(one: PlannedCut, name: str, trouble: str) -> dict[str, Any]:
    cut = one.cut
    return {
        "path": one.ref.path,
        **common.pick(cut, "line", "last", "tokens", "where"),
        "reason": cut.why.value,
        "lost": common.redactor()(cut.lost),
        "what": one.status.value,
        "proposal": name or None,
        "trouble": trouble,
    }


def _file_as_json(found: FileCuts) -> dict[str, Any]:
    redact = common.redactor()
    return {
        "path": found.file.ref.path,
        "tokens": found.tokens,
        "why_not": found.trouble,
        "dead": [{"line": one.line, "why": redact(one.why)} for one in found.dead],
        "doubtful": [{"line": one.line, "text": redact(one.text)} for one in found.doubts],
    }


def _print_cut(one: PlannedCut, name: str, trouble: str) -> None:
    from skilld.cli.context import short_path

    cut = one.cut
    place = f"{short_path(one.ref.path, Path.cwd())}:{cut.line}"
    console.say(f"{console.plain(place)}  {pluralize(cut.tokens, 'token')}", style="bold")
    where = f" ({cut.where})" if cut.where else ""
    console.say(f"  {console.plain(cut.why.value + where)}")
    if cut.why is CutReason.SHORTER:
        for step in cut.operations:
            for sign, text in (("-", step.anchor), ("+", step.text)):
                changed = set(step.anchor.split("\n")) ^ set(step.text.split("\n"))
                for line in (one for one in text.split("\n") if one in changed):
                    console.say(f"  {sign} {console.plain(common.redactor()(line))}", 4)
    console.say(f"  would be lost: {console.plain(common.redactor()(cut.lost))}")
    said = {
        CutStatus.OPEN: f"already proposed (skilld show {name})",
        CutStatus.REJECTED: "you chose to keep this text; the cut will not be proposed again",
        CutStatus.WAITS: "not proposed until you decide on the others",
    }
    if trouble:
        console.say(f"  not proposed: {console.message(trouble)}", style="yellow")
    elif one.status in said:
        console.say(f"  {said[one.status]}")
    elif name:
        console.say(f"  proposed: skilld review {name}")


def _print_notes(found: FileCuts, *, in_full: bool) -> None:
    """Print what the person may want to look at, but is not proposed; `in_full` also why a file was left alone."""
    from skilld.cli.context import short_path

    name = short_path(found.file.ref.path, Path.cwd())
    if found.file.why_not and (found.dead or found.doubts or in_full):
        console.say(f"{console.plain(name)} was left unchanged: {console.message(found.trouble)}", style="dim")
    elif found.trouble and not found.file.why_not:
        console.say(f"{console.plain(name)}: {console.message(found.trouble)}", style="yellow")
    for one in found.dead:
        console.say(f"  ! {console.plain(f'{name}:{one.line}: {one.why}')}")
    for doubt in found.doubts:
        what = f"a model may do this without being told: {doubt.text}"
        console.say(f"  ? {console.plain(f'{name}:{doubt.line}: {what}')}")
