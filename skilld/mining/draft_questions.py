"""Closed questions to a model about recurring tasks, within the daily budget: code checks each word.

Which requests are one task, which skill a draft becomes, and what a new skill is called. Where there is no answer, or
one that cannot be used, the skills stay those of the rules.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from skilld.classify.draft_lines import DraftAnswer, answer_of
from skilld.classify.question_jobs import GroupRequests, Title, TitleSkills, WordSkills
from skilld.classify.title import acceptable_title
from skilld.clock import local_day
from skilld.errors import SkilldError
from skilld.mining.actions import is_generic, tokens
from skilld.mining.new_skill import build_skill, project_name
from skilld.mining.proposing import MiningRun, NoAnswerError, check_skill
from skilld.mining.requests import Request, requests_with_actions
from skilld.mining.session_summary import Row
from skilld.mining.similarity import MIN_SESSIONS
from skilld.mining.skill_lines import Line, Verdict, draft_text, evidence_lines, second_draft_text, worded_skill
from skilld.mining.values import STEPS, Candidate, Grouping, PartKind, RejectedCandidate, ToldTask, count_sessions
from skilld.mining.wording import CODE_PATTERN
from skilld.skills.draft import Draft
from skilld.text import fold, truncate
from skilld.values import value_class
from skilld.words import content_stems, matching_share

# Which requests are the same task: one question about the newest of all projects, since people also have habits.

_MAX_REQUESTS = 500
_MAX_REQUEST_LENGTH = 200
_MAX_COMMANDS, _MAX_FILES = 6, 2  # that are named with a request
_COMMAND_WORDS, _PATH_PARTS = 3, 3


def group_requests(rows: Sequence[Row], run: MiningRun) -> Grouping:
    """Return which requests are the same task. Raises NoAnswerError."""
    asked = [*requests_with_actions(rows, looks=True)][:_MAX_REQUESTS]
    numbers = {session: n for n, session in enumerate(dict.fromkeys(one.row.session_id for one in asked), 1)}
    if len({one.row.session_id for one in asked if one.done}) < MIN_SESSIONS:
        return Grouping()
    several = len({one.row.project for one in asked}) > 1
    texts = tuple(_request_line(numbers[one.row.session_id], one, several=several) for one in asked)
    work = GroupRequests(run.world.terms.spec, texts)
    answer = [one["numbers"] for one in run.answer("tasks", work, *texts)]
    places = [(one.row.session_id, one.task.turn) for one in asked]
    tasks = [
        ToldTask(frozenset(places[n - 1] for n in own), frozenset(places[n - 1] for n in more))
        for own, more in zip(answer[::2], answer[1::2], strict=True)
    ]
    return Grouping(tasks, frozenset(places))


def _request_line(session: int, one: Request, *, several: bool) -> str:
    """Return a request as the model sees it, with the beginnings of commands that followed it, and changed files."""
    ran = dict.fromkeys(
        " ".join(tokens(seen.text)[:_COMMAND_WORDS]) for seen in one.done if not (seen.edits or seen.reads)
    )
    changed = dict.fromkeys(_short_path(seen.text) for seen in one.done if seen.edits)
    looked = dict.fromkeys(_short_path(seen.text) for seen in one.done if seen.reads)
    done = f" [ran: {'; '.join([*ran][:_MAX_COMMANDS])}]" if ran else ""
    done += f" [changed: {'; '.join([*changed][:_MAX_FILES])}]" if changed else ""
    done += f" [read: {'; '.join([*looked][:_MAX_FILES])}]" if looked and not done else ""
    where = f" in {project_name(one.row.project)}" if several else ""
    return f"session {session}{where}: {truncate(fold(one.task.text), _MAX_REQUEST_LENGTH)}{done}"


def _short_path(path: str) -> str:
    return "/".join(path.split("/")[-_PATH_PARTS:])


# The skills that drafts become: a question for each dozen of drafts, and one more where code left out something.

MAX_DRAFTS = 36  # of one run
DRAFTS_ASKED = 12  # about in one question
_NO_TASK_REASON = "the model found no task in it that a skill could describe"


def word_skills(
    candidates: Sequence[Candidate], run: MiningRun
) -> tuple[tuple[Candidate, ...], list[RejectedCandidate]]:
    """Return the candidates as a model words them, the best first, and those left out.

    Code has checked each word of it. Candidates other than recurring tasks stay as they are. Raises NoAnswerError if
    there is an answer about none of them.
    """
    drafts = {one: draft_text(one) for one in candidates if one.recurrence}
    first, why = _worded_drafts(drafts, run)
    made = {one: _worded(one, answer, run) for one, answer in first.items()}
    again = {one: text for one, (_, told) in made.items() if (text := second_draft_text(one, first[one], told))}
    second: dict[Candidate, DraftAnswer] = {}
    with suppress(NoAnswerError):  # the first answer stands
        second, _ = _worded_drafts(again, run)
    kept = {one: made[one][0] if one in made else one for one in candidates if one in made or one not in drafts}
    for one, answer in second.items():
        better, _ = _worded(one, answer, run)
        if not (answer.lines or answer.unread):  # seen again, it is no task
            kept[one] = None
        elif better and (kept[one] is None or not _refusal(better, run)):
            kept[one] = better
    dropped = [RejectedCandidate(one.parts[0].text, _NO_TASK_REASON) for one, left in kept.items() if left is None]
    dropped += [
        RejectedCandidate(one.parts[0].text, f"the model did not word it: {why}") for one in drafts if one not in first
    ]
    shown, covered = shortlist([one for one in kept.values() if one is not None])
    return tuple(shown), [*dropped, *covered]


def _worded(one: Candidate, answer: DraftAnswer, run: MiningRun) -> tuple[Candidate | None, list[Verdict]]:
    """Return a candidate in a model's words, and the verdicts on them; None if no skill may have them.

    A request is its title if the proposal could not have the model's.
    """
    made, verdicts = worded_skill(one, answer)
    if made is None:
        return None, verdicts
    if why := _refusal(made, run):
        verdicts.append(Verdict("", f"the skill: {why}"))
        made = worded_skill(one, replace(answer, titles=()))[0] if made.title else made
    return made, verdicts


def _refusal(made: Candidate, run: MiningRun) -> str:
    """Return why no proposal could have this skill, "" if one could."""
    try:
        check_skill(made, build_skill(made, day=local_day(time.time()), with_sessions=False), run)
    except SkilldError as error:
        return error.cause or error.title
    return ""


def _worded_drafts(drafts: Mapping[Candidate, str], run: MiningRun) -> tuple[dict[Candidate, DraftAnswer], str]:
    """Return the answers about drafts with these texts, and why some have none.

    Raises NoAnswerError if all have none.
    """
    found: dict[Candidate, DraftAnswer] = {}
    ones = [*drafts]
    for start in range(0, len(ones), DRAFTS_ASKED):
        asked = ones[start : start + DRAFTS_ASKED]
        texts = tuple(drafts[one] for one in asked)
        work = WordSkills(run.world.terms.spec, texts, tuple(len(evidence_lines(one)) for one in asked))
        try:
            found |= zip(asked, map(answer_of, run.answer("drafts", work, *texts)), strict=True)
        except NoAnswerError as error:
            if not found:
                raise
            return found, error.cause
    return found, ""


# Names, descriptions and headings of new skills: one question for all of them. Words that do not pass stay the drafted.


def with_titles(candidates: Sequence[Candidate], taken: Collection[str], run: MiningRun) -> tuple[Candidate, ...]:
    """Return the candidates, new skills with a model's titles if those pass; `taken` are the names of existing skills.

    Raises NoAnswerError.
    """
    drafts = {
        one: build_skill(one, day=local_day(time.time()), with_sessions=False)
        for one in candidates
        if one.creates and not one.title
    }
    if not drafts:
        return tuple(candidates)
    texts = tuple(f"{one.name}\n\n{one.description}\n\n{one.body}" for one in drafts.values())
    answer = run.answer("titles", TitleSkills(run.world.terms.spec, texts), *texts)
    told = {one["skill"]: Title(one["name"], one["description"], one["title"]) for one in answer}
    numbers = {one: number for number, one in enumerate(drafts, 1)}
    names = {*taken, *(one.name for one in candidates)}
    named: list[Candidate] = []
    for one in candidates:
        suggested = told.get(numbers.get(one, 0))
        named.append(_apply_title(one, drafts[one], suggested, names - {one.name}, run) if suggested else one)
        names.add(named[-1].name)
    return tuple(named)


def _apply_title(one: Candidate, drafted: Draft, title: Title, taken: Collection[str], run: MiningRun) -> Candidate:
    """Return a candidate with the acceptable parts of a suggestion, unchanged if the skill would not pass with them."""
    rules = drafted.body.splitlines()
    quotes = [proof.quote for proof in one.evidence]
    own = Title(one.name, drafted.description, rules[0].lstrip("# "))
    passed = acceptable_title(title, own, rules, quotes, taken)
    better = replace(one, name=passed.name or one.name, description=passed.description, title=passed.title)
    try:
        check_skill(better, build_skill(better, day=local_day(time.time()), with_sessions=False), run)
    except SkilldError:
        return one
    return better


# Which drafted skills one run shows, and in which order. The surest and most useful come first. A skill that does only
# part of what another one does, or the same, is left out.

_MIN_PART_SHARE, _MIN_SAME_SHARE = 2 / 3, 1 / 2  # of the steps
_MIN_WORD_SHARE = 0.75  # of a step without a command
_VERB_PLACE = 2  # words that say what a command does
_RULES = frozenset({PartKind.RULE, PartKind.PITFALL, PartKind.SAID, PartKind.FACT})


@value_class
class _Deed:
    """What a step does: the beginning of a command, or a file, or the words of a step that has neither."""

    name: tuple[str, ...]
    words: frozenset[str] = frozenset()

    def is_in(self, others: Sequence[_Deed]) -> bool:
        if self.name:
            return any(self.name == one.name for one in others)
        return any(one.words and matching_share(self.words, one.words) >= _MIN_WORD_SHARE for one in others)


_Deeds = tuple[Sequence[_Deed], Sequence[_Deed]]


def shortlist(made: Sequence[Candidate]) -> tuple[list[Candidate], list[RejectedCandidate]]:
    """Return the skills to show, the best first, without those that another one covers; and these with the reason."""
    deeds = {one: _deeds(one) for one in made}
    covered: dict[Candidate, Candidate] = {}
    for one in made:
        others = (other for other in made if one is not other and other not in covered and other.recurrence)
        if one.recurrence and (cover := next((other for other in others if _is_covered(one, other, deeds)), None)):
            covered[one] = cover
    kept = [one for one in made if one not in covered]
    left_out = [
        RejectedCandidate(one.title or one.name, f"{other.name} has its steps") for one, other in covered.items()
    ]
    return sorted(kept, key=lambda one: (one.creates, -_worth(one))), left_out


def _worth(one: Candidate) -> float:
    """Return the rank of a skill: how often it was asked for, times how much of it is sure and says something."""
    steps = [part for part in one.parts[1:] if part.sort in STEPS]
    sure = sum(count_sessions([part]) >= MIN_SESSIONS for part in steps)
    own = any(not runs or not all(map(is_generic, runs)) for runs in (Line(part).commands for part in steps))
    told = sum(part.sort in _RULES for part in one.parts[1:])
    share = (sure + 1) / (len(steps) + 2)
    return one.saved.sessions * share * (1 if own else 1 / 2) * (1 + told / 4)


def _is_covered(one: Candidate, other: Candidate, deeds: Mapping[Candidate, _Deeds]) -> bool:
    """Whether another skill has most steps of one and was asked for as often, or is the same task and fuller."""
    if one.target != other.target:
        return False
    (own, generic), (own_there, generic_there) = deeds[one], deeds[other]
    mine, theirs = own or generic, own_there if own else [*own_there, *generic_there]
    share = sum(deed.is_in(theirs) for deed in mine) / max(len(mine), 1)
    back = sum(deed.is_in(mine) for deed in theirs) / max(len(theirs), 1)
    if share < _MIN_PART_SHARE:
        return back >= _MIN_PART_SHARE and share >= _MIN_SAME_SHARE and _fullness(other) > _fullness(one)
    if back >= _MIN_SAME_SHARE:
        return _fullness(other) > _fullness(one)
    return other.saved.sessions >= one.saved.sessions


def _fullness(one: Candidate) -> tuple[int, int, int, str]:
    """Return the rank among skills for one task: by how much the person said about it, then by its sessions."""
    told = sum(part.sort in _RULES for part in one.parts[1:])
    return told, one.saved.sessions, len(one.parts), one.name


def _deeds(one: Candidate) -> _Deeds:
    """Return what the steps do, and apart from that the tests, commits and the like, which all work has."""
    own, generic = dict[_Deed, None](), dict[_Deed, None]()
    for part in one.parts[1:]:
        if part.sort not in STEPS:
            continue
        spans = [part.text] if part.sort in {PartKind.EDIT, PartKind.READ} else Line(part).commands
        spans = spans or (CODE_PATTERN.findall(part.text) if part.sort is PartKind.WORDED else [])
        for span in spans:
            (generic if is_generic(span) else own)[_Deed(_name(span))] = None
        if not spans:
            own[_Deed((), content_stems(part.text))] = None
    return [*own], [*generic]


def _name(span: str) -> tuple[str, ...]:
    words = tokens(span)
    place = _VERB_PLACE + (words[:1] in {("gh",), ("glab",)})
    return words[:place]
