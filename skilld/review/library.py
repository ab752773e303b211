"""The person's skills as rows: where each comes from, how often it is used and corrected, when it last changed.

Takes the skills that lie on this machine and what the store counts of them; gives values. Deleting moves a folder to
the trash.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from skilld.errors import SkilldError
from skilld.skills import Skill, Source
from skilld.store.overview import Used
from skilld.times import seconds
from skilld.types import Proposal, State

EVOLVING = "evolving"
GROUPS = (EVOLVING, *Source)
_LATELY = 30 * 86400.0
_CORRECTIONS = frozenset({State.OPEN, State.ACCEPTED, State.REJECTED, State.REVERTED, State.STALE})
_ELSEWHERE = ("codex",)  # agents whose skills are called by a dollar sign


@dataclass(frozen=True, slots=True)
class Shelved:
    """One skill. `group` is its source, or `evolving` where skilld wrote it or has changed it lately.

    `corrections` counts the proposals that its use has led to, whatever became of them; `edited_at` is a Unix time,
    0 where no proposal was ever accepted.
    """

    name: str
    group: str
    path: str
    uses: int
    corrections: int
    edited_at: float
    invocation: str

    @property
    def rate(self) -> float:
        """Corrections per use; 0 where it was never used."""
        return self.corrections / self.uses if self.uses else 0.0


def shelf(
    skills: Sequence[Skill],
    used: Mapping[str, int],
    proposals: Sequence[Proposal],
    now: float,
) -> list[Shelved]:
    """Return the skills as rows, by group and name. `used` has the number of sessions by path."""
    corrections = Counter(proposal.path for proposal in proposals if proposal.state in _CORRECTIONS)
    landed = [proposal for proposal in proposals if proposal.state is State.ACCEPTED]
    edited = {item.path: seconds(item.decided_at) or 0.0 for item in sorted(landed, key=lambda one: one.decided_at)}
    waiting = {proposal.path for proposal in proposals if proposal.state is State.OPEN}
    rows = []
    for skill in skills:
        path = str(skill.path)
        changes = skill.evolving or path in waiting or now - edited.get(path, 0.0) < _LATELY
        rows.append(
            Shelved(
                name=skill.name,
                group=EVOLVING if changes and skill.source is not Source.PLUGIN else skill.source.value,
                path=path,
                uses=used.get(path, 0),
                corrections=corrections[path],
                edited_at=edited.get(path, 0.0),
                invocation=_invocation(skill),
            )
        )
    return sorted(rows, key=lambda row: (GROUPS.index(row.group), row.name, row.path))


def sessions_by_path(skills: Sequence[Skill], used: Sequence[Used], find: Callable[[Used], str]) -> dict[str, int]:
    """Return in how many sessions each skill was used. `find` gives the path behind a log's claim, or nothing.

    A plugin's skill is not found by its path, which changes with every update, but by its name.
    """
    plugins = {skill.name: str(skill.path) for skill in skills if skill.source is Source.PLUGIN}
    counts: Counter[str] = Counter()
    for use in used:
        if path := find(use) or plugins.get(use.name.rsplit(":", 1)[-1], ""):
            counts[path] += use.sessions
    return dict(counts)


def trash_of(home: Path, data_home: Path, platform: str) -> Path:
    """Return the person's trash: macOS's, or that of the freedesktop.org Trash specification 1.0."""
    return home / ".Trash" if platform == "darwin" else data_home / "Trash"


def put_aside(row: Shelved, trash: Path) -> Path:
    """Move a skill's folder to the trash and return where it is now. Raises SkilldError where it cannot be moved."""
    folder = Path(row.path).parent
    name = f"{folder.name}-{time.strftime('%Y%m%d-%H%M%S')}"
    if row.group == Source.PLUGIN.value or not (folder / "SKILL.md").is_file():
        raise SkilldError("The skill was not deleted", "it is not a folder of your own")
    files = trash / "files" if trash.name == "Trash" else trash
    try:
        files.mkdir(mode=0o700, parents=True, exist_ok=True)
        if files != trash:  # what desktops need to put it back
            info = trash / "info" / f"{name}.trashinfo"
            info.parent.mkdir(mode=0o700, exist_ok=True)
            said = f"Path={quote(str(folder))}\nDeletionDate={time.strftime('%Y-%m-%dT%H:%M:%S')}"
            info.write_text(f"[Trash Info]\n{said}\n", encoding="utf-8")
        shutil.move(folder, files / name)
    except OSError as error:
        raise SkilldError("The skill was not deleted", error.strerror or str(error)) from error
    return files / name


def matches(row: Shelved, words: str) -> bool:
    """Whether every word of a search stands in the skill's name, group or path."""
    text = f"{row.name} {row.group} {row.path}".casefold()
    return all(word in text for word in words.casefold().split())


def _invocation(skill: Skill) -> str:
    """Return what a person types to use it."""
    only_elsewhere = all(agent in _ELSEWHERE for agent in skill.agents)
    return f"{'$' if only_elsewhere else '/'}{skill.name}"
