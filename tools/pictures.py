"""Draws the pictures of the review in docs/pictures: `make pictures`.

In: a throw-away home in which a few things are taught, offline, through the real pipeline. Out: SVG files that hold no
path of this machine. They are drawn anew by hand, when the review has changed; nothing compares them.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from conftest import furnish, plain_environment
from skilld.cli.terminal import edit
from skilld.clock import rfc3339
from skilld.git.environment import scrub_environment
from skilld.proposals.staging import stage
from skilld.proposals.staging_result import Staged
from skilld.review.app import ReviewApp
from skilld.review.controller import ReviewSession
from skilld.types import Kind, Op, Operation, State
from support.lessons import HOSTS, LINKS, TICKETS, Lessons
from support.live_project import Project
from support.program import Program
from support.reviewing import Screen, sitting
from support.session import Session
from support.waiting import LIMIT
from tools.install import ROOT

PICTURES = ROOT / "docs" / "pictures"
SIZE = (100, 28)


def teach(home: Path) -> None:
    """Fill the store of a home with proposals, and its folders with skills."""
    project = Project(home / "work/notes", home, ".claude/skills")
    lessons = Lessons(home, project, Program(home))
    session = Session(home, project)
    session.use_skill()
    session.type("Write the release notes for 2.4.0", TICKETS, "ok, looks good", HOSTS, "thanks")
    lessons.judge()
    lessons.teach(LINKS)
    for name in ("commit-messages", "code-review", "weekly-report"):
        file = home / f".claude/skills/{name}/SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(f"---\nname: {name}\ndescription: How we do it.\n---\n\n- Be brief.\n", encoding="utf-8")
    _reword(sitting(home))


def _reword(at: ReviewSession) -> None:
    """Add a proposal that rewords a line, as a model would make it."""
    (like, *_) = at.proposals()
    proposal = replace(
        like,
        id="5eed0001",
        batch_id="",
        operations=(
            Operation(
                Op.REPLACE,
                "- Past tense, one line per entry.",
                "- Present tense, one short line per entry.",
            ),
        ),
        summary="Write entries in the present tense, each one short line.",
        reason="A correction of how entries are written",
        kind=Kind.CHANGE_STEP,
        evidence=(replace(like.evidence[0], quote="no, present tense please, and keep each to one short line"),),
        confidence=0.92,
        model="openai/gpt-5-mini",
        created_at=rfc3339(time.time()),
    )
    staged = Staged()
    with at._store() as store:  # noqa: SLF001 - the tool stands in for the daemon
        stage(proposal, store.proposals.in_states([State.OPEN]), staged)
        store.proposals.add(staged.made[-1])


async def draw(home: Path) -> None:
    """Draw the tabs."""
    app = ReviewApp(sitting(home), (), 5, edit)
    async with app.run_test(size=SIZE) as pilot:
        screen = Screen(app, pilot)
        await app.workers.wait_for_complete()
        await screen.read()
        _save(app, "review-proposals")
        await screen.press("down", "down")
        await screen.read()
        await screen.press("p", "down", "space")
        _save(app, "review-parts")
        await screen.press("escape", "2")
        await screen.shows("weekly-report")
        _save(app, "review-skills")


def _save(app: ReviewApp, name: str) -> None:
    picture = app.export_screenshot(title="skilld review")
    PICTURES.mkdir(parents=True, exist_ok=True)
    (PICTURES / f"{name}.svg").write_text(picture.rstrip() + "\n", encoding="utf-8")
    print(f"docs/pictures/{name}.svg: {len(picture) // 1024} KiB")


def main() -> int:
    """Draw all pictures; return the exit code."""
    with tempfile.TemporaryDirectory(prefix="skilld-pictures-") as folder:
        home = Path(folder).resolve() / "home"
        home.mkdir()
        furnish(home)
        environment = plain_environment(home)
        os.environ.clear()
        os.environ.update(environment)
        scrub_environment()
        teach(home)
        asyncio.run(asyncio.wait_for(draw(home), 3 * LIMIT))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
