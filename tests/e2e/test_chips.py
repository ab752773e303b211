"""What clients write where an image or a file was is no part of what was typed, nor of a rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilld.agents.chips import without_chips
from support.in_process_daemon import InProcessDaemon
from support.live_project import project_without_skill
from support.rows import for_each
from support.session import Session

RULE = "From now on, always use green for totals."


@for_each(
    "client, typed, words",
    [
        ("Claude Code, Codex", f"[Image #1] {RULE}", RULE),
        ("opencode", f"{RULE} [Image 1]", RULE),
        ("Codex in a message", f'<image name=[Image #1] path="/a.png"></image>\n{RULE}', RULE),
        ("Kimi Code", f"[image:a.png,640x480] {RULE}", RULE),
        ("with a size", f"{RULE} [image 640x480 PNG]", RULE),
        ("a file", f"[File: plan.pdf] {RULE}", RULE),
        ("a paste", f"[Pasted ~9 lines] [Pasted text #2 +200 lines] {RULE}", RULE),
        ("between sentences", "This is wrong [Image #1] never use red.", "This is wrong \n\nnever use red."),
        ("with a comma behind", "Wrong [Image #1], never use red.", "Wrong \n\nnever use red."),
        ("a sentence that needs it", "Use a gap as in [Image #1].", "Use a gap as in \u2026"),
        ("a link", "See [Image 1](a.png) and ![Image 2](b.png).", "See [Image 1](a.png) and ![Image 2](b.png)."),
        ("code", "Keep `[Image #1]` in the log.", "Keep `[Image #1]` in the log."),
        ("a usage line", "Document it as: show [file] [image].png", "Document it as: show [file] [image].png"),
        (
            "a tag",
            "Never use <image> tags, <image href=a> neither.",
            "Never use <image> tags, <image href=a> neither.",
        ),
        ("an index", "Read frames[image 0] first.", "Read frames[image 0] first."),
        ("a box", "- [x] images [1]", "- [x] images [1]"),
    ],
)
def test_marks_are_removed_and_part_what_is_around_them(client: str, typed: str, words: str) -> None:
    assert without_chips(typed) == words, client


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("look at [Image #1]  this is wrong: never use red for totals.", "- Never use red for totals."),
        (f"[Image #1] [Image #2] {RULE}", "- Always use green for totals."),
        ("From now on, always use green for totals [image 64x64 PNG]", "- Always use green for totals."),
    ],
)
def test_a_rule_said_beside_an_image_is_written_without_it(
    daemon: InProcessDaemon, home: Path, tmp_path: Path, typed: str, line: str
) -> None:
    project = project_without_skill(tmp_path / "plain", home, {"CLAUDE.md": "# Guide\n\n- Be brief.\n"})
    Session(home, project).type(typed, "thanks", "ok go on", "yes please", "looks good")
    (proposal,) = daemon.run()
    assert [one.text for one in proposal.operations] == [line]
    assert "mage" not in "".join(said.quote for said in proposal.evidence)


@pytest.mark.parametrize(
    "typed", ["From now on, always use the same spacing as in [Image #1].", "Never use the layout of [Image 1] again."]
)
def test_a_rule_that_needs_the_image_is_not_written(
    daemon: InProcessDaemon, home: Path, tmp_path: Path, typed: str
) -> None:
    project = project_without_skill(tmp_path / "plain", home, {"CLAUDE.md": "# Guide\n\n- Be brief.\n"})
    Session(home, project).type(typed, "thanks", "ok go on", "yes please", "looks good")
    assert daemon.run() == []
