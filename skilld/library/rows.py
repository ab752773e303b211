"""The person's skills as rows: their source, usage and order, and what a list shows of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from skilld.clock import seconds
from skilld.ingest.discover import skill_places
from skilld.library.merge import MERGED_FROM
from skilld.library.patterns import COMPLETED
from skilld.past import PastSession
from skilld.skills import Skill, Source, find
from skilld.store import Store, meta
from skilld.store.overview import SkillUsage
from skilld.store.tasks import Task
from skilld.types import Proposal, SkillRef, State
from skilld.words import content_stems, likeness

# Which skills skilld itself offers to agents (mcp, sync, suggest, chat, recommend): all that the person left enabled.
# What agents load by themselves is theirs.


def disabled(store: Store) -> frozenset[Path]:
    """Return the skills that are not offered."""
    return frozenset(map(Path, store.meta.get(meta.DISABLED_SKILLS, [])))


def served(store: Store, skills: Iterable[Skill]) -> list[Skill]:
    """Return those of `skills` that are offered: not those that are disabled, or merged into another one of them."""
    found = list(skills)
    off = disabled(store) | merged_away(found).keys()
    return [skill for skill in found if skill.path not in off]


def switch(store: Store, paths: Iterable[Path], *, on: bool) -> int:
    """Enable or disable skills; return for how many that changed something."""
    return _list(store, meta.DISABLED_SKILLS, paths, listed=not on)


def _list(store: Store, name: str, paths: Iterable[Path], *, listed: bool) -> int:
    with store.transaction():
        before = frozenset(map(Path, store.meta.get(name, [])))
        after = before | set(paths) if listed else before - set(paths)
        store.meta.set(name, sorted(map(str, after)))
    return len(before ^ after)


def offered(skills: Iterable[Skill], most: int, rank: Callable[[Skill], float]) -> list[Skill]:
    """Return the person's own skills in their order, then at most `most` evolving ones, the highest rank first.

    Skills that write themselves pile up, and each one offered costs every session some attention.
    """
    found = list(skills)
    evolving = sorted((one for one in found if one.evolving), key=lambda one: (-rank(one), one.name))
    return [one for one in found if not one.evolving] + evolving[:most]


def pinned(store: Store) -> frozenset[Path]:
    """Return the skills that are never archived nor called stale, and stay in a merge: the person pinned them."""
    return frozenset(map(Path, store.meta.get(meta.PINNED_SKILLS, [])))


def pin(store: Store, path: Path, *, on: bool) -> bool:
    """Pin a skill or take that back; whether that changed something."""
    return bool(_list(store, meta.PINNED_SKILLS, [path], listed=on))


# A use is judged where its session was read for what had to be said again (docs/decisions/0049-effect.md): the skill
# was kept where nothing of it was, and no correction of it was proposed. What the person told of a session counts more.
# A recorded task with the skill counts as a use of its own, and was kept where it was completed and no check of it
# failed. Of all other uses nothing is known.


@dataclass(frozen=True, slots=True)
class Uses:
    """The uses of one skill: sessions, the Unix time of the newest (0: not known), and in how many it was kept.

    `judged` is of how many that is known: none if no session was read, more than there are sessions where tasks were
    recorded, or a person told of one not followed.
    """

    sessions: frozenset[str] = frozenset()
    last: float = 0.0
    kept: int = 0
    judged: int = 0

    @property
    def number(self) -> int:
        """In how many sessions it was used."""
        return len(self.sessions)

    @property
    def success(self) -> float | None:
        """The share in which it was kept, 0 to 1; None if there is nothing to judge by."""
        return self.kept / self.judged if self.judged else None


NEVER = Uses()


def sessions_by_path(
    skills: Sequence[Skill], used: Iterable[SkillUsage], find: Callable[[SkillUsage], str]
) -> dict[Path, dict[str, float]]:
    """Return the sessions that used each skill, with their times. `find` gives the path behind a log's claim, or "".

    A plugin's skill is not found by its path, which changes with every update, but by its name.
    """
    plugins = {skill.name: str(skill.path) for skill in skills if skill.source is Source.PLUGIN}
    found: dict[Path, dict[str, float]] = {}
    for use in used:
        if path := find(use) or plugins.get(use.name.rsplit(":", 1)[-1], ""):
            sessions = found.setdefault(Path(path), {})
            for session, at in use.sessions.items():
                sessions[session] = max(at, sessions.get(session, 0.0))
    return found


def used_by_path(
    store: Store, skills: Sequence[Skill], home: Path, environment: Mapping[str, str]
) -> dict[Path, dict[str, float]]:
    """Return the sessions that used each of `skills`, with their times; of two with one name each has its own."""
    return sessions_by_path(skills, store.overview.used(), _finder(home, environment))


def judged(
    name: str,
    sessions: Mapping[str, float],
    told: Mapping[str, bool],
    tasks: Iterable[Task],
    *,
    read: Iterable[str],
    corrected: Iterable[str],
) -> Uses:
    """Return the uses of the skill `name`.

    `sessions` are those that used it, `read` those that were read for what had to be said again, `corrected` those in
    which something was, or which led to a proposal; `told` is what a person said of a session (whether it helped).
    """
    outcomes = dict.fromkeys(set(read) & set(sessions), True)
    outcomes |= dict.fromkeys(set(corrected) & set(sessions), False) | dict(told)
    done = [task.status == COMPLETED and task.qa is not False for task in tasks if name in task.skills]
    return Uses(
        sessions=frozenset(sessions),
        last=max(sessions.values(), default=0.0),
        kept=sum(outcomes.values()) + sum(done),
        judged=len(outcomes) + len(done),
    )


# A skill as a row: where it comes from, how often it is used and corrected, when it last changed.

EVOLVING = "evolving"
GROUPS = (EVOLVING, *Source)
PLAIN = "skill"  # the kind of a skill that names none
_RECENT_SECONDS = 30 * 86400.0
_CORRECTIONS = frozenset({State.OPEN, State.DROPPED, State.ACCEPTED, State.REJECTED, State.REVERTED, State.STALE})
_ELSEWHERE = ("codex",)  # agents whose skills are called by a dollar sign


@dataclass(frozen=True, slots=True)
class LibraryRow:
    """One skill. `group` is its source, or `evolving` where skilld wrote it or has changed it lately.

    `corrections` counts the proposals that its use has led to, whatever became of them; `edited_at` is a Unix time,
    0 if no proposal was ever accepted. `marks` are single words that a list shows next to it.
    """

    skill: Skill
    group: str
    uses: Uses = NEVER
    corrections: int = 0
    edited_at: float = 0.0
    marks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What agents call it."""
        return self.skill.name

    @property
    def path(self) -> Path:
        """The real path of its SKILL.md."""
        return self.skill.path

    @property
    def kind(self) -> str:
        """What kind of skill it says it is."""
        return self.skill.front.metadata.get("skilld-kind") or PLAIN

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags: names with commas or blanks between, as it writes them."""
        return tuple(self.skill.front.metadata.get("skilld-tags", "").replace(",", " ").split())

    @property
    def origins(self) -> int:
        """From how many sessions it was generated; 0 if it was not."""
        return len(self.skill.front.metadata.get("skilld-sessions", "").replace(",", " ").split())

    @property
    def rate(self) -> float:
        """Corrections per use; 0 if it was never used."""
        return self.corrections / self.uses.number if self.uses.number else 0.0

    @property
    def invocation(self) -> str:
        """What a person types to use it."""
        only_elsewhere = all(agent in _ELSEWHERE for agent in self.skill.agents)
        return f"{'$' if only_elsewhere else '/'}{self.name}"


def shelf(
    skills: Sequence[Skill],
    uses: Mapping[Path, Uses],
    proposals: Sequence[Proposal],
    now: float,
    marks: Mapping[Path, tuple[str, ...]] | None = None,
) -> list[LibraryRow]:
    """Return the skills as rows, by group and name. `uses` and `marks` are by path, `now` is a Unix time."""
    corrections = Counter(proposal.path for proposal in proposals if corrects(proposal))
    landed = [proposal for proposal in proposals if proposal.state is State.ACCEPTED]
    edited = {item.path: seconds(item.decided_at) or 0.0 for item in sorted(landed, key=lambda one: one.decided_at)}
    waiting = {proposal.path for proposal in proposals if proposal.state is State.OPEN}
    rows = []
    for skill in skills:
        path = str(skill.path)
        changes = skill.evolving or path in waiting or now - edited.get(path, 0.0) < _RECENT_SECONDS
        rows.append(
            LibraryRow(
                skill,
                group=EVOLVING if changes and skill.source is not Source.PLUGIN else skill.source.value,
                uses=uses.get(skill.path, NEVER),
                corrections=corrections[path],
                edited_at=edited.get(path, 0.0),
                marks=(marks or {}).get(skill.path, ()),
            )
        )
    return sorted(rows, key=lambda row: (GROUPS.index(row.group), row.name, row.path))


def corrects(proposal: Proposal) -> bool:
    """Whether a proposal comes of what somebody said of a skill that was there, whatever became of it."""
    return proposal.state in _CORRECTIONS and bool(proposal.evidence) and not proposal.creates


_SEARCHED = 40  # words of a search


def matches(row: LibraryRow, words: str) -> bool:
    """Whether every word of a search is in the skill's name, description, group, tags or path."""
    said = (row.name, row.skill.front.description, row.group, row.kind, *row.tags, str(row.path))
    text = " ".join(said).casefold()
    return all(word in text for word in words.casefold().split()[:_SEARCHED])


# Which skills are not used any more. A stale skill is named as such in lists, and nothing else happens to it.

DAYS = 90
_DAY = 86400.0


def is_stale(*, used: float, changed: float, watched: float, now: float) -> bool:
    """Whether a skill was neither used nor changed for DAYS days.

    All are Unix times: of the last use (0: none known), of the last change of its file, and since when uses were
    counted. Before uses were counted for as long as that, nothing is called stale.
    """
    return now - max(used, changed) > DAYS * _DAY and now - watched > DAYS * _DAY


# By what skills are put in order where skilld offers them: how lately they were in use, or how near to the work.

_MAX_MENTIONS = 200  # of the newest things said that tell what the work is


def by_recency(used: Mapping[Path, Mapping[str, float]]) -> Callable[[Skill], float]:
    """Return the Unix time of a skill's last use or change as its rank; `used` is as `used_by_path` gives it."""
    return lambda skill: max([changed_at(skill.path), *used.get(skill.path, {}).values()])


def by_relevance(store: Store, project: Path) -> Callable[[Skill], float]:
    """Return how much a skill has to do with what was said and done in a project lately as its rank, 0 to 1."""
    said = [one.change for one in store.learnings.all() if one.project and Path(one.project) == project]
    done = [task.prompt for task in store.records.tasks(str(project))]
    wanted = content_stems("\n".join(islice([*said, *done], _MAX_MENTIONS)))
    return lambda skill: likeness(wanted, content_stems(f"{skill.name.replace('-', ' ')} {skill.front.description}"))


def changed_at(path: Path) -> float:
    """Return when a file last changed, 0 if it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


# What a list says of a skill in a word: pinned, disabled, stale, or merged into another one and not needed now.

DISABLED, PINNED, STALE, MERGED = "disabled", "pinned", "stale", "merged"


def marks(store: Store, skills: Iterable[Skill], uses: Mapping[Path, Uses], now: float) -> dict[Path, tuple[str, ...]]:
    """Return the marks of each skill by its path; `now` is a Unix time."""
    found = list(skills)
    off, kept = disabled(store), pinned(store)
    watched = min(store.meta.get(meta.INSTALLED_AT, now), store.overview.first_activity() or now)
    merged = merged_away(found)

    def of(skill: Skill) -> tuple[str, ...]:
        aged = is_stale(used=uses[skill.path].last, changed=changed_at(skill.path), watched=watched, now=now)
        said = {
            PINNED: skill.path in kept,
            DISABLED: skill.path in off,
            MERGED: skill.path in merged,
            STALE: aged and skill.path not in kept and skill.source is not Source.PLUGIN,
        }
        return tuple(word for word, holds in said.items() if holds)

    return {skill.path: of(skill) for skill in found}


def merged_away(skills: Iterable[Skill]) -> dict[Path, Skill]:
    """Return the skills whose content another one says it took over, with that one: of one project, or the person's."""
    found = list(skills)
    takers = {
        (one.source, one.project, name.strip()): one
        for one in found
        for name in one.front.metadata.get(MERGED_FROM, "").split(",")
    }
    return {
        one.path: taker
        for one in found
        if (taker := takers.get((one.source, one.project, one.name))) is not None and taker.path != one.path
    }


# The shelf as it is now: skills from the disk, what became of them from the store.


def collect(
    store: Store,
    find_skills: Callable[[Sequence[Path]], list[Skill]],
    home: Path,
    environment: Mapping[str, str],
    *,
    now: float,
    around: Iterable[Path] = (),
) -> list[LibraryRow]:
    """Return every skill of the person, of plugins, and of the projects that sessions worked in or `around` names.

    A project that something was proposed for is one of them, also where no session of it was ever followed.
    """
    proposals = store.proposals.all()
    proposed = (Path(one.path).parent for one in proposals if one.state in {State.OPEN, State.ACCEPTED})
    folders = [*around, *map(Path, store.overview.projects()), *proposed]
    projects = dict.fromkeys(project for folder in folders if folder.is_absolute() for project in up_to_root(folder))
    skills = find_skills([project for project in projects if project != home])
    sessions = used_by_path(store, skills, home, environment)
    tasks, past = store.records.tasks(), store.past.sessions()
    uses = {
        skill.path: judged(
            skill.name,
            sessions.get(skill.path, {}),
            store.records.feedback_by_session(skill.name, str(skill.path)),
            tasks,
            read=[one.session_id for one in past if str(skill.path) in one.loaded],
            corrected=_corrected(store, str(skill.path), proposals, past),
        )
        for skill in skills
    }
    return shelf(skills, uses, proposals, now, marks(store, skills, uses, now))


def up_to_root(folder: Path) -> Iterator[Path]:
    """Yield a folder and those around it, up to the root of its repository; without one, the folder alone."""
    above = [folder, *folder.parents]
    # os.path: Path.exists raises for a folder that is closed to us, or whose name no disk takes. It is a log's claim.
    root = next((number for number, one in enumerate(above) if os.path.exists(one / ".git")), 0)  # noqa: PTH110
    yield from above[: root + 1]


def _corrected(store: Store, path: str, proposals: Iterable[Proposal], past: Iterable[PastSession]) -> set[str]:
    """Return the sessions in which a skill was corrected, or what it says had to be said again."""
    corrections = [one for one in proposals if one.path == path and (corrects(one) or one.state is State.SAID)]
    said = store.overview.sessions_of(piece.turn for one in corrections for piece in one.evidence)
    again = {one.session_id for one in past for rule in one.repeats if rule.path == path and rule.since <= one.at}
    return said | again | {one.session_id for one in corrections}


def _finder(home: Path, environment: Mapping[str, str]) -> Callable[[SkillUsage], str]:
    places = cache(lambda agent: skill_places(agent, home, environment))

    def path_of(use: SkillUsage) -> str:
        claimed = find(use.name, use.path or None, use.cwd, places(use.agent))
        return claimed.path if isinstance(claimed, SkillRef) else ""

    return path_of
