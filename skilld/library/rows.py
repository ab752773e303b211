"""The person's skills as rows of a list, with their source, usage, order and marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

from skilld.clock import parse_time
from skilld.errors import SkilldError
from skilld.git.managed_repos import find_any
from skilld.git.state import git_dirs
from skilld.git.top import find_top, folders_to_top
from skilld.ingest.discover import skill_places
from skilld.library.merge import MERGED_FROM, merged_files
from skilld.library.patterns import COMPLETED
from skilld.past import PastSession
from skilld.paths import places
from skilld.skills import Skill, Source, find, is_left_alone, text
from skilld.skills.spec import MAX_LINES, load_fault
from skilld.store import Store, meta
from skilld.store.overview import SkillUsage
from skilld.store.tasks import Task
from skilld.types import Proposal, SkillRef, State
from skilld.values import value_class
from skilld.words import content_stems, likeness

# Which skills skilld itself offers to agents (mcp, sync, suggest, chat, recommend): all that are enabled. What agents
# load on their own is not affected.


def disabled_skills(store: Store) -> frozenset[Path]:
    """Return the skills that are not offered."""
    return frozenset(map(Path, store.meta.get(meta.DISABLED_SKILLS, [])))


def offered_skills(store: Store, skills: Iterable[Skill]) -> list[Skill]:
    """Return the skills that are offered: not disabled, merged into another one, or in a project that opts out."""
    found = list(skills)
    off = disabled_skills(store) | merged_skills(found).keys()
    return [skill for skill in found if skill.path not in off and not is_left_alone(skill.path)]


def set_enabled(store: Store, paths: Iterable[Path], *, on: bool) -> int:
    """Enable or disable skills; return how many changed."""
    with store.transaction():
        before = disabled_skills(store)
        after = before - set(paths) if on else before | set(paths)
        store.meta.set(meta.DISABLED_SKILLS, sorted(map(str, after)))
    return len(before ^ after)


def limit_evolving(skills: Iterable[Skill], limit: int, rank: Callable[[Skill], float]) -> list[Skill]:
    """Return the person's own skills in their order, then at most `limit` evolving ones, the highest rank first.

    Generated skills accumulate, and each one offered costs every session some attention.
    """
    found = list(skills)
    evolving = sorted((one for one in found if one.evolving), key=lambda one: (-rank(one), one.name))
    return [one for one in found if not one.evolving] + evolving[:limit]


# A use is judged if its session was surveyed for repeats (docs/decisions/0049-effect.md): the skill was followed if
# none of its rules had to be repeated and no correction of it was proposed. The person's feedback on a session
# overrides this. A recorded task with the skill counts as a use of its own, followed if it was completed and no check
# failed. Nothing is known about other uses.


@value_class
class SkillUses:
    """The uses of one skill: sessions, the Unix time of the newest (0: unknown), and in how many it was followed.

    `judged` counts the uses for which that is known: 0 if no session was surveyed, and more than the sessions if tasks
    were recorded or the person gave feedback on other sessions.
    """

    sessions: frozenset[str] = frozenset()
    last: float = 0.0
    kept: int = 0
    judged: int = 0

    @property
    def number(self) -> int:
        """The number of sessions that used it."""
        return len(self.sessions)

    @property
    def success(self) -> float | None:
        """The share of judged uses in which it was followed, 0 to 1; None without judged uses."""
        return self.kept / self.judged if self.judged else None


NO_USES = SkillUses()


def sessions_by_path(
    skills: Sequence[Skill], used: Iterable[SkillUsage], find: Callable[[SkillUsage], str]
) -> dict[Path, dict[str, float]]:
    """Return the sessions that used each skill, with their times. `find` returns the path of a logged use, or "".

    A plugin's skill is found by its name, because its path changes with every update.
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
    """Return the sessions that used each of `skills`, with their times; skills of the same name are kept apart."""
    return sessions_by_path(skills, store.overview.used(), _path_finder(home, environment))


def count_uses(
    name: str,
    sessions: Mapping[str, float],
    told: Mapping[str, bool],
    tasks: Iterable[Task],
    *,
    read: Iterable[str],
    corrected: Iterable[str],
) -> SkillUses:
    """Return the uses of the skill `name`.

    `sessions` are those that used it, `read` those that were surveyed for repeats, `corrected` those with a repeat or
    a proposal; `told` is the person's feedback on sessions (whether the skill helped).
    """
    outcomes = dict.fromkeys(set(read) & set(sessions), True)
    outcomes |= dict.fromkeys(set(corrected) & set(sessions), False) | dict(told)
    done = [task.status == COMPLETED and task.qa is not False for task in tasks if name in task.skills]
    return SkillUses(
        sessions=frozenset(sessions),
        last=max(sessions.values(), default=0.0),
        kept=sum(outcomes.values()) + sum(done),
        judged=len(outcomes) + len(done),
    )


# A skill as a row.

EVOLVING = "evolving"
GROUPS = (EVOLVING, *Source)
PLAIN_KIND = "skill"  # the kind of a skill that names none
_RECENT_SECONDS = 30 * 86400.0
_CORRECTION_STATES = frozenset({State.OPEN, State.DROPPED, State.ACCEPTED, State.REJECTED, State.REVERTED, State.STALE})
_DOLLAR_AGENTS = ("codex",)  # agents whose skills are called by a dollar sign


@value_class
class LibraryRow:
    """One skill. `group` is its source, or `evolving` if skilld wrote it or changed it recently.

    `corrections` counts the proposals that its use led to, in any state; `edited_at` is a Unix time, 0 if no proposal
    was ever accepted. `marks` are single words that a list shows next to it.
    """

    skill: Skill
    group: str
    uses: SkillUses = NO_USES
    corrections: int = 0
    edited_at: float = 0.0
    marks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name for agents."""
        return self.skill.name

    @property
    def path(self) -> Path:
        """The real path of its SKILL.md."""
        return self.skill.path

    @property
    def kind(self) -> str:
        """The kind of skill, from its metadata."""
        return self.skill.front.metadata.get("skilld-kind") or PLAIN_KIND

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags, separated by commas or blanks in its metadata."""
        return tuple(self.skill.front.metadata.get("skilld-tags", "").replace(",", " ").split())

    @property
    def origins(self) -> int:
        """The number of sessions it was generated from; 0 if it was not generated."""
        return len(self.skill.front.metadata.get("skilld-sessions", "").replace(",", " ").split())

    @property
    def rate(self) -> float:
        """Corrections per use; 0 if it was never used."""
        return self.corrections / self.uses.number if self.uses.number else 0.0

    @property
    def invocation(self) -> str:
        """What a person types to use it."""
        only_elsewhere = all(agent in _DOLLAR_AGENTS for agent in self.skill.agents)
        return f"{'$' if only_elsewhere else '/'}{self.name}"


def build_rows(
    skills: Sequence[Skill],
    uses: Mapping[Path, SkillUses],
    proposals: Sequence[Proposal],
    now: float,
    marks: Mapping[Path, tuple[str, ...]] | None = None,
) -> list[LibraryRow]:
    """Return the skills as rows, by group and name. `uses` and `marks` are by path, `now` is a Unix time."""
    corrections = Counter(proposal.path for proposal in proposals if is_correction(proposal))
    landed = [proposal for proposal in proposals if proposal.state is State.ACCEPTED]
    edited = {item.path: parse_time(item.decided_at) or 0.0 for item in sorted(landed, key=lambda one: one.decided_at)}
    waiting = {proposal.path for proposal in proposals if proposal.state is State.OPEN}
    rows = []
    for skill in skills:
        path = str(skill.path)
        changes = skill.evolving or path in waiting or now - edited.get(path, 0.0) < _RECENT_SECONDS
        rows.append(
            LibraryRow(
                skill,
                group=EVOLVING if changes and skill.source is not Source.PLUGIN else skill.source.value,
                uses=uses.get(skill.path, NO_USES),
                corrections=corrections[path],
                edited_at=edited.get(path, 0.0),
                marks=(marks or {}).get(skill.path, ()),
            )
        )
    return sorted(rows, key=lambda row: (GROUPS.index(row.group), row.name, row.path))


def is_correction(proposal: Proposal) -> bool:
    """Whether a proposal, in any state, corrects an existing skill because of something said."""
    return proposal.state in _CORRECTION_STATES and bool(proposal.evidence) and not proposal.creates


_MAX_SEARCH_WORDS = 40  # words of a search


def matches_search(row: LibraryRow, words: str) -> bool:
    """Whether every word of a search is in the skill's name, description, group, tags or path."""
    texts = (row.name, row.skill.front.description, row.group, row.kind, *row.tags, str(row.path))
    text = " ".join(texts).casefold()
    return all(word in text for word in words.casefold().split()[:_MAX_SEARCH_WORDS])


# Stale skills are marked in lists; nothing else happens to them.

STALE_DAYS = 90
_DAY_SECONDS = 86400.0


def is_stale(*, used: float, changed: float, watched: float, now: float) -> bool:
    """Whether a skill was neither used nor changed for STALE_DAYS days.

    All are Unix times: the last use (0: none known), the last change of its file, and the start of counting uses.
    Nothing is stale before uses have been counted for that long.
    """
    return now - max(used, changed) > STALE_DAYS * _DAY_SECONDS and now - watched > STALE_DAYS * _DAY_SECONDS


# Ranks of offered skills: by recent use, or by relevance to the work.

_MAX_MENTIONS = 200  # the newest ones describe the current work


def recency_rank(used: Mapping[Path, Mapping[str, float]]) -> Callable[[Skill], float]:
    """Rank skills by the Unix time of their last use or change; `used` is the result of `used_by_path`."""
    return lambda skill: max([changed_at(skill.path), *used.get(skill.path, {}).values()])


def relevance_rank(store: Store, project: Path) -> Callable[[Skill], float]:
    """Rank skills by their similarity, 0 to 1, to what was recently said and done in a project."""
    changes = [one.change for one in store.learnings.all() if one.project and Path(one.project) == project]
    done = [task.prompt for task in store.records.tasks(str(project))]
    wanted = content_stems("\n".join(islice([*changes, *done], _MAX_MENTIONS)))
    return lambda skill: likeness(wanted, content_stems(f"{skill.name} {skill.front.description}"))


def changed_at(path: Path) -> float:
    """Return when a file last changed, 0 if it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def written_at(path: Path) -> float:
    """Return when a file was first committed, or last changed if git does not track it; 0 if it is gone."""
    changed = changed_at(path)
    with suppress(SkilldError, OSError):
        tracked = find_any(path, places().repositories)
        commits = tracked.repo.git.lines("rev-list", "--timestamp", "HEAD", "--", tracked.relpath)
        return min(float(commits[-1].split()[0]), changed) if commits else changed
    return changed


# Marks that a list shows. A merged skill is no longer needed.

DISABLED, STALE, MERGED, BROKEN = "disabled", "stale", "merged", "broken"


def skill_marks(
    store: Store, skills: Iterable[Skill], uses: Mapping[Path, SkillUses], now: float
) -> dict[Path, tuple[str, ...]]:
    """Return the marks of each skill by its path; `now` is a Unix time."""
    found = list(skills)
    off = disabled_skills(store)
    watched = min(store.meta.get(meta.INSTALLED_AT, now), store.overview.first_activity() or now)
    merged = merged_skills(found)

    def of(skill: Skill) -> tuple[str, ...]:
        aged = is_stale(used=uses[skill.path].last, changed=changed_at(skill.path), watched=watched, now=now)
        said = {
            DISABLED: skill.path in off,
            MERGED: skill.path in merged,
            BROKEN: bool(broken_reason(skill)),
            STALE: aged and skill.source is not Source.PLUGIN,
        }
        return tuple(word for word, holds in said.items() if holds)

    return {skill.path: of(skill) for skill in found}


def broken_reason(skill: Skill) -> str:
    """Return why agents cannot load a skill or do not know when to use it, "" if they can."""
    try:
        return load_fault(text(skill.path))
    except (OSError, SkilldError):
        return "it cannot be read"


def long_by(skill: Skill) -> int:
    """Return the number of lines of a skill that has more than the specification advises, 0 if it has not."""
    try:
        lines = len(text(skill.path).splitlines())
    except (OSError, SkilldError):
        return 0
    return lines if lines > MAX_LINES else 0


def merged_skills(skills: Iterable[Skill]) -> dict[Path, Skill]:
    """Return the skills that were merged into another one of the same project (or the person's own), with that one."""
    found = list(skills)
    takers = {
        (path, one.source, one.project): one
        for one in found
        for path in merged_files(one.path, one.front.metadata.get(MERGED_FROM, ""))
    }
    return {
        one.path: taker
        for one in found
        if (taker := takers.get((one.path, one.source, one.project))) is not None and taker.path != one.path
    }


# Loading the rows: skills from the disk, their history from the store.


def load_rows(
    store: Store,
    find_skills: Callable[[Sequence[Path]], list[Skill]],
    home: Path,
    environment: Mapping[str, str],
    *,
    now: float,
    around: Iterable[Path] = (),
) -> list[LibraryRow]:
    """Return the skills of the person, of plugins, and of the projects of sessions, proposals and `around`."""
    proposals = store.proposals.all()
    proposed = (Path(one.path).parent for one in proposals if one.state in {State.OPEN, State.ACCEPTED})
    folders = [*around, *map(Path, store.overview.projects()), *proposed]
    projects = dict.fromkeys(parent for folder in folders if folder.is_absolute() for parent in folders_to_top(folder))
    skills = find_skills([parent for parent in projects if parent != home])
    sessions = used_by_path(store, skills, home, environment)
    tasks, past = store.records.tasks(), store.past.sessions()
    uses = {
        skill.path: count_uses(
            skill.name,
            sessions.get(skill.path, {}),
            store.records.feedback_by_session(skill.name, str(skill.path)),
            tasks,
            read=[one.session_id for one in past if str(skill.path) in one.loaded],
            corrected=_corrected_sessions(store, str(skill.path), proposals, past),
        )
        for skill in skills
    }
    return build_rows(skills, uses, proposals, now, skill_marks(store, skills, uses, now))


def _corrected_sessions(
    store: Store, path: str, proposals: Iterable[Proposal], past: Iterable[PastSession]
) -> set[str]:
    """Return the sessions in which a skill was corrected or one of its rules was repeated."""
    corrections = [one for one in proposals if one.path == path and (is_correction(one) or one.state is State.SAID)]
    sessions = store.overview.sessions_of(piece.turn for one in corrections for piece in one.evidence)
    again = {one.session_id for one in past for rule in one.repeats if rule.path == path and rule.since <= one.at}
    return sessions | again | {one.session_id for one in corrections}


def _path_finder(home: Path, environment: Mapping[str, str]) -> Callable[[SkillUsage], str]:
    places = cache(lambda agent: skill_places(agent, home, environment))

    def path_of(use: SkillUsage) -> str:
        claimed = find(use.name, use.path or None, use.cwd, places(use.agent))
        return claimed.path if isinstance(claimed, SkillRef) else ""

    return path_of


# Skills that are one file in several work trees of a repository: listed and compared once.


def without_copies(rows: Sequence[LibraryRow], here: Path) -> list[LibraryRow]:
    """Return the rows with one for each file of a repository: that of the work tree around `here`, or the main one.

    It has the uses of all.
    """
    tops: dict[Path, tuple[Path, Path] | None] = {}

    def tree_of(folder: Path) -> tuple[Path, Path] | None:
        """Return the top of the work tree around a folder and what its repository's trees share; runs no git."""
        if folder not in tops:
            tops[folder] = None
            with suppress(OSError, ValueError):
                if (top := find_top(folder.resolve())) is not None:
                    tops[folder] = top, git_dirs(top / ".git")[1].resolve()
        return tops[folder]

    current = tree_of(here)
    groups: dict[tuple[str, str], list[tuple[int, LibraryRow]]] = {}
    for row in rows:
        tree = tree_of(row.skill.project) if row.skill.project is not None else None
        key, rank = ("", str(row.path)), 0
        if tree is not None and row.path.is_relative_to(tree[0]):
            key = str(tree[1]), row.path.relative_to(tree[0]).as_posix()
            rank = 0 if current and tree[0] == current[0] else 1 if (tree[0] / ".git").is_dir() else 2
        groups.setdefault(key, []).append((rank, row))
    return [_merged(sorted(those, key=lambda one: one[0])) for those in groups.values()]


def _merged(ranked: Sequence[tuple[int, LibraryRow]]) -> LibraryRow:
    best, others = ranked[0][1], [row for _, row in ranked[1:]]
    if not others:
        return best
    sessions = best.uses.sessions.union(*(one.uses.sessions for one in others))
    uses = replace(best.uses, sessions=sessions, last=max(best.uses.last, *(one.uses.last for one in others)))
    return replace(
        best,
        uses=uses,
        corrections=best.corrections + sum(one.corrections for one in others),
        edited_at=max(best.edited_at, *(one.edited_at for one in others)),
    )
