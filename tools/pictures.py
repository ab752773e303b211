"""Draws the pictures of the review and of the report in docs/pictures: `make pictures`.

In: a throw-away home in which a few things are taught, offline, through the real pipeline; no proposal is made up. Out:
SVG files that hold no path of this machine, and what `tools/page_pictures.py` has the browser take. They are drawn anew
by hand, when the review or the page has changed; nothing compares them.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from textual._compositor import Compositor

from conftest import furnish, plain_environment
from skilld.cli.terminal import edit
from skilld.review.app import ReviewApp
from support.lessons import HOSTS, LINKS, TICKETS, Lessons
from support.live_project import Project
from support.program import Program
from support.review_pilot import Screen, draw_update, review_session
from support.session import Session
from support.waiting import LIMIT
from tools import page_pictures
from tools.install import ROOT

PICTURES = ROOT / "docs" / "pictures"
BRIEF = "From now on, keep every entry under 80 characters."
SIZE = (100, 28)


def teach(home: Path) -> None:
    """Fill the store of a home with proposals, and its folders with skills."""
    project = Project(home / "work/notes", home, ".claude/skills")
    lessons = Lessons(home, project, Program(home))
    session = Session(home, project)
    session.use_skill()
    session.type("Write the release notes for 2.4.0", TICKETS, "ok, looks good", HOSTS, "thanks")
    lessons.judge()
    lessons.teach(LINKS, BRIEF)
    for name in ("commit-messages", "code-review", "weekly-report"):
        file = home / f".claude/skills/{name}/SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(f"---\nname: {name}\ndescription: How we do it.\n---\n\n- Be brief.\n", encoding="utf-8")


async def draw(home: Path) -> None:
    """Draw the tabs."""
    app = ReviewApp(review_session(home), (), 5, edit)
    async with app.run_test(size=SIZE) as pilot:
        screen = Screen(app, pilot)
        await app.workers.wait_for_complete()
        await screen.shows("why:")
        _save(app, "review-proposals")
        await screen.press("down", "down")
        await screen.read()
        await screen.press("p", "down", "space")
        _save(app, "review-parts")
        await screen.press("escape", "2")
        await screen.shows("weekly-report")
        _save(app, "review-skills")


def _save(app: ReviewApp, name: str) -> None:
    Compositor.render_update = draw_update  # type: ignore[method-assign]
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
        teach(home)
        asyncio.run(asyncio.wait_for(draw(home), 3 * LIMIT))
        year = home / "year"
        year.mkdir()
        page_pictures.draw(year, PICTURES)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
