"""The skills on this machine as verbs need them: all, those that skilld offers, the one with a name."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld.agents import ADAPTERS
from skilld.agents.base import agent_homes
from skilld.cli import common
from skilld.clock import rfc3339
from skilld.errors import RefusedError, SkilldError, UsageError, cause_of
from skilld.files import shell_quoted
from skilld.skills import Places, Skill, inventory, is_left_alone, text
from skilld.skills.find import FILE
from skilld.skills.set_aside import archived_skills, restore_command, trash_folder, way_back
from skilld.store import Store

if TYPE_CHECKING:
    from skilld.exchange.outgoing import SessionWords
    from skilld.ingest.discover import Root
    from skilld.library.rows import LibraryRow


def project_skills(project: Path) -> list[Skill]:
    """Return the skills in a project, of all agents."""
    places = {name: Places(adapter.INFO.project_skills, ()) for name, adapter in ADAPTERS.items()}
    return [skill for skill in inventory(places, [project]) if skill.path.is_relative_to(project)]


def all_skills(projects: Sequence[Path]) -> list[Skill]:
    """Return the person's skills, those of these projects, and those of plugins."""
    plugins = {
        name: [folder / "plugins" for folder in agent_homes(adapter.INFO, common.home(), os.environ)]
        for name, adapter in ADAPTERS.items()
    }
    return inventory(skill_places(), projects, plugins)


def skill_places() -> dict[str, Places]:
    """Return the folders in which each agent keeps skills."""
    from skilld.ingest import discover

    configured = common.settings().roots
    return {name: discover.skill_places(name, common.home(), os.environ, configured) for name in ADAPTERS}


def transcript_folders() -> list[Root]:
    """Return the folders in which agents keep their transcripts."""
    from skilld.ingest.discover import find_roots

    return find_roots(common.home(), os.environ, common.settings().roots)


def are_folders_moved() -> bool:
    """Whether environment variables name other folders of transcripts than the person's home and settings do."""
    from skilld.ingest.discover import find_roots

    by_variable = any(name.upper().startswith("SKILLD_ROOTS") for name in os.environ)
    return by_variable or transcript_folders() != find_roots(common.home(), {}, common.settings().roots)


def newest_version(agent: str) -> str:
    """Return the version of the client that wrote an agent's newest transcript; empty if it names none."""
    from skilld.ingest.discover import find_transcripts
    from skilld.ingest.record_survey import version_of

    try:
        roots = [root for root in transcript_folders() if root.agent == agent]
        found = ((facts.st_mtime, path) for root in roots for path, facts in find_transcripts(root))
        newest = max(found, default=None)
        return version_of(newest[1], ADAPTERS[agent]) if newest is not None else ""
    except (OSError, SkilldError):  # invalid settings are reported elsewhere
        return ""


def offered_skills(skills: Sequence[Skill]) -> list[Skill]:
    """Return the skills that the person has not disabled."""
    from skilld.library.rows import offered_skills

    with closing(common.store_or_empty()) as opened:
        return offered_skills(opened, skills)


def skills_to_offer(skills: Sequence[Skill], project: Path) -> list[Skill]:
    """Return the enabled skills that agents can load; of those that skilld wrote, as many as the settings allow."""
    from skilld.library.rows import broken_reason, limit_evolving, recency_rank, relevance_rank, used_by_path

    rules = common.settings().lifecycle
    with closing(common.store_or_empty()) as opened:
        used = used_by_path(opened, skills, common.home(), os.environ) if rules.order == "recency" else {}
        rank = recency_rank(used) if rules.order == "recency" else relevance_rank(opened, project)
        sound = [skill for skill in offered_skills(skills) if not broken_reason(skill)]
        return limit_evolving(sound, rules.max_evolving, rank)


def sorted_by_use(skills: Sequence[Skill]) -> list[tuple[Skill, int]]:
    """Return skills, each with the number of sessions that used it: the most used first, then the most recent."""
    from skilld.library.rows import used_by_path

    with closing(common.store_or_empty()) as opened:
        used = used_by_path(opened, skills, common.home(), os.environ)
    sessions = {skill.path: used.get(skill.path, {}) for skill in skills}
    order = sorted(skills, key=lambda one: (-len(sessions[one.path]), -max(sessions[one.path].values(), default=0.0)))
    return [(skill, len(sessions[skill.path])) for skill in order]


def skill_text(skill: Skill, *, exact: bool = False) -> str:
    """Return the text of a skill's SKILL.md. Raises SkilldError if it cannot be read, or is not UTF-8 but must be."""
    try:
        return text(skill.path, "strict" if exact else "replace")
    except OSError as error:
        raise SkilldError("Cannot read the skill", f"{skill.path}: {error.strerror}") from error


def agents_here(store: Store) -> list[str]:
    """Return the agents on this machine: installed, with a folder in the home, or with sessions that were read."""
    from skilld.context.installed import present_agents

    return list(dict.fromkeys([*present_agents(common.home(), os.environ), *store.transcripts.summary()]))


def titles_without(present: Iterable[str], away: Skill, rest: Iterable[Skill]) -> list[str]:
    """Return the titles of the `present` agents that see the skill `away` but none of the `rest`."""
    seen = {agent for skill in rest for agent in skill.agents}
    return [ADAPTERS[agent].INFO.title for agent in present if agent in away.agents and agent not in seen]


def link_command(away: Skill, keep: Skill) -> str:
    """Return the command that puts a link to the skill `keep` into the folder that `away` is in."""
    folder = away.path.parent.parent
    target = os.path.relpath(keep.path.parent, folder)
    return f"ln -s {shell_quoted(target)} {shell_quoted(folder / keep.path.parent.name)}"


@contextmanager
def named_error(row: LibraryRow, done: str, *, others: bool = False) -> Iterator[None]:
    """Name the skill in an error: "NAME was not shared". `others`: because of it, no other skill was either."""
    try:
        yield
    except SkilldError as error:
        made = RefusedError if isinstance(error, RefusedError) else SkilldError
        title = f"No skill was {done}, because of {row.name}" if others else f"{row.name} was not {done}"
        raise made(title, error.cause or error.title, error.remedy) from error


# Shared by the verbs of the `skills` group: the library, the skill with a name, a row as JSON.


def library_rows(store: Store, near: Path | None = None) -> list[LibraryRow]:
    """Return all skills: the person's, plugins', and those around past sessions, this folder and `near`."""
    from skilld.library.rows import load_rows

    around = [Path.cwd(), *(near.parents if near is not None else ())]
    return load_rows(store, all_skills, common.home(), os.environ, now=time.time(), around=around)


def listed_rows(store: Store, project: Path | None = None) -> list[LibraryRow]:
    """Return the skills where no project opts out; of several work trees, those of `project` or of this folder."""
    from skilld.library.rows import without_copies

    rows = library_rows(store, project / "SKILL.md" if project else None)
    wanted = [row for row in rows if not is_left_alone(row.path)]
    return without_copies(wanted, project or common.current_folder())


def find_skill(store: Store, given: str, session: str = "", *, whole: bool = False) -> LibraryRow:
    """Return the skill with this name or path, as `find_skill_or_none`, but raise SkilldError if there is none."""
    found = find_skill_or_none(store, given, session, whole=whole)
    if found is None:
        _check_readable(given)
        _check_there(store, given)
        raise no_such_skill(given, (row.name for row in library_rows(store)))
    return found


def _check_readable(given: str) -> None:
    """Raise SkilldError if there is a skill of this name or at this path that skilld leaves out."""
    places = skill_places().values()
    own = [folder for one in places for folder in one.absolute]
    own += [common.current_folder() / sub for one in places for sub in one.in_project]
    for file in [Path(given), Path(given) / FILE, *(folder / given / FILE for folder in own if given)]:
        if file.name == FILE and (os.path.lexists(file) or os.path.islink(file.parent)):  # noqa: PTH114 - a long name
            try:
                text(Path(os.path.realpath(file)))
            except (OSError, ValueError) as error:
                raise SkilldError("Cannot read the skill", f"{file}: {cause_of(error)}") from error


def _check_there(store: Store, given: str) -> None:
    """Raise SkilldError if a skill of this name, or in this folder, is archived, in the trash, or only proposed."""
    title, shown, archive = "No such skill", common.as_text(given), common.places().archive
    for one in archived_skills(archive):
        if one.name == given or one.origin == typed_folder(given):
            raise SkilldError(title, f"{shown} is archived", f"To bring it back: {restore_command(one, archive)}")
    if back := way_out_of_trash(store, given):
        raise SkilldError(title, f"{shown} is in the trash", f"To bring it back: {back}")
    for proposal in store.proposals.open():
        if proposal.creates and proposal.skill == given:
            raise SkilldError(title, f"{shown} is only proposed", f"To decide: skilld review {proposal.id}")


def typed_folder(given: str) -> Path:
    """Return the folder that the person typed, which may be gone."""
    with suppress(OSError, RuntimeError, ValueError):  # "~" of an unknown user, a working folder that is gone
        return Path(given).expanduser().absolute()
    return Path(given)


def way_out_of_trash(store: Store, given: str) -> str:
    """Return the command that restores a deleted skill for which something was proposed, "" if there is none."""
    archive, trash = common.places().archive, trash_folder(common.home(), common.places().data.parent, sys.platform)
    meant = typed_folder(given)
    for folder in sorted({Path(one.path).parent for one in store.proposals.all()}):
        if (folder.name == given or folder == meant) and not os.path.lexists(folder):
            return way_back(folder, archive, trash)
    return ""


def no_such_skill(given: str, known: Iterable[str]) -> SkilldError:
    """Return the error for an unknown skill name, with the nearest known name."""
    from skilld.settings import suggestion

    cause = f"{common.as_text(given)}{suggestion(given, known)}"
    return SkilldError("No such skill", cause, "List them: skilld skills list")


def find_skill_or_none(store: Store, given: str, session: str = "", *, whole: bool = False) -> LibraryRow | None:
    """Return the skill with this name, or with this path: of its folder, its SKILL.md, or unless `whole` a file in it.

    Of several with that name, return the one that `session` used, and of one skill in several work trees of a
    repository the one here, or else in the main one. Raises UsageError with the choices if that leaves several: the
    current project's is not guessed.
    """
    from skilld.library.rows import without_copies

    path = _skill_file(given, whole=whole)
    rows = library_rows(store, path)
    named = [row for row in rows if row.name == given.rstrip("/")] or [row for row in rows if row.path == path]
    named = [row for row in named if session in row.uses.sessions] or named
    if len(named) > 1:
        named = without_copies(named, common.current_folder())
    if len(named) > 1:
        choices = "; ".join(f"{shell_quoted(row.path.parent)} ({row.skill.source.value})" for row in named)
        cause = f"{len(named)} skills are called {given}: {choices}"
        raise UsageError("Which skill?", cause, "Give the folder instead of the name.")
    return named[0] if named else None


def typed_name(name: str, path: Path, rows: Iterable[LibraryRow]) -> str:
    """Return how to name the skill at `path` in a command: by its folder if others of `rows` share its name."""
    shared = any(row.name == name and row.path != path for row in rows)
    return shell_quoted(path.parent if shared else name)


def session_words(store: Store, rows: Sequence[LibraryRow]) -> SessionWords:
    """Return what these skills may reveal of sessions: all session IDs, and the quotes the skills came from."""
    from skilld.exchange.outgoing import SessionWords

    paths = {str(row.path) for row in rows}
    proposals = store.proposals.all()
    quotes = [piece.quote for one in proposals if one.path in paths for piece in one.evidence]
    sessions = {one.session_id for one in proposals} | {one.session_id for one in store.overview.sessions_since(0)}
    return SessionWords(frozenset(sessions), tuple(dict.fromkeys(quotes)))


def row_json(row: LibraryRow) -> dict[str, Any]:
    """Return a row as JSON. Rates are 0 to 1, null if unknown; times are RFC 3339."""
    skill, uses = row.skill, row.uses
    return common.pick(row, "name", "group") | {
        "source": skill.source.value,
        "project": str(skill.project) if skill.project else None,
        "path": str(row.path),
        "description": skill.front.description,
        "kind": row.kind,
        "tags": list(row.tags),
        "agents": list(skill.agents),
        "uses": uses.number,
        "corrections": row.corrections,
        "corrections_per_use": round(row.rate, 3),
        "success_rate": None if uses.success is None else round(uses.success, 3),
        "last_used_at": rfc3339(uses.last) if uses.last else None,
        "edited_at": rfc3339(row.edited_at) if row.edited_at else None,
        "origin": skill.front.metadata.get("skilld-origin", ""),
        "evolving": row.group == "evolving",
        "generated_from": row.origins,
        "marks": list(row.marks),
    }


def _skill_file(given: str, *, whole: bool) -> Path | None:
    """Return the SKILL.md at a path, in it, or unless `whole` in the nearest folder above it; None if there is none."""
    path = common.path_or_none(given)
    if path is None or not (given and os.path.exists(path)):  # noqa: PTH110 - raises nothing
        return None
    there = (path, path / FILE) if whole else (path / FILE, *(folder / FILE for folder in path.parents))
    return next((file.resolve() for file in there if file.name == FILE and os.path.isfile(file)), None)  # noqa: PTH113
