"""A day of work with an agent: 100 turns in 8 sessions, 5 of them with a skill of 300 lines in use.

Each project has a CLAUDE.md of 73 lines (guide.md), and the person has one too.

Written by hand to match labelled turns of real people: four in a hundred are lasting, a third is talk, and the rest is
about the current task; half of them have fewer than 65 characters.
"""

from __future__ import annotations

import random
from itertools import cycle
from pathlib import Path

from support.live_project import Project
from support.session import Session

SESSIONS = ((26, True), (20, False), (16, True), (12, True), (9, False), (8, True), (6, True), (3, False))
GUIDE = Path(__file__).with_name("guide.md").read_text(encoding="utf-8")
MINE = "# How I like to work\n\n- Be brief: no summaries of what I can see in the diff.\n- Ask before you delete.\n"
ANCHORS = ("- Rule 1 of chapter 1: say what was done.", "- The tag is signed and has the form `v1.2.3`.")
"""A line of the skill and one of the guide, each of which stands there once."""
LASTING = {
    "From now on, always put the ticket number first in the entry.": "Always put the ticket number first in the entry.",
    "never mention internal hostnames in the notes again": "Internal hostnames stay unmentioned in the notes.",
    "no, we always list breaking changes first, remember that": "Always list breaking changes first.",
    "please always ask me before you tag a release": "Always ask before you tag a release.",
}
"""What the person says for good, and what a skill should say then; of the second, rules cannot tell the polarity."""
_TALK = (
    "ok go on",
    "yes please",
    "thanks, that looks good",
    "what does the second warning mean? I have not seen that one before",
    "hm, why did that take so long?",
    "great, continue with the next one and tell me when you are through",
    "is there another place where this is called?",
    "sure",
)
_TASKS = (
    "write the release notes for 2.4.0 from the merged changes of the last two weeks, the tag of the last one is 2.3.1",
    "the second entry is wrong, it was the parser that changed and not the writer",
    "add the fix for the empty file to the list, it came in yesterday with the last pull request of the week",
    "rename the section to Fixed",
    "I think the tests of the importer still expect the old order, can you check that before we go on with the rest",
    "now do the same for the other package, but leave out the changes to its tests since nobody outside cares for them",
    "there is still a typo in line 12",
    "the title should be the one from the issue and the text below it a bit shorter, two sentences at most",
    """look at the traceback: it says that the key is missing, although the settings file has it. I think the file is
read before the defaults are put in, so have a look at the order in load() and tell me what you find.""",
    "revert the last edit, it broke the table",
    "the date on top is the one of the branch, it should be today's, and the link to the comparison points to main",
    "the link to the issue is missing here",
    "the summary does not say what happens to people who still have the old format, one sentence about it would do",
    "move this paragraph up",
    """we talked about the cache yesterday with the others and want to leave it as it is until the next version is out,
so take that part out again and only keep the two fixes and the new option with its default""",
    "take the screenshot from the wiki page, crop it and put it below the heading",
)
_REPLIES = (120, 480, 220)  # characters of what the agent says for each turn, besides a short word
_WORDS = "I have read the file and changed the entry that you named so that it now says what was done and why".split()  # noqa: SIM905 - read as text


def skill_text(name: str) -> str:
    """Return a skill of 300 lines, 33 characters a line in the mean."""
    head = ["---", f"name: {name}", "description: Writes the release notes of a version.", "---", "", "# Release notes"]
    body = []
    for chapter in range(1, 22):
        body += ["", f"## Chapter {chapter}", ""]
        body += [f"- Rule {rule} of chapter {chapter}: say what was done." for rule in range(1, 12)]
    return "\n".join(head + body) + "\n"


def turns() -> list[str]:
    """Return the day's 100 turns in order."""
    talk, tasks = cycle(_TALK), cycle(_TASKS)
    said = [next(talk) if number % 3 == 2 else next(tasks) for number in range(100)]
    for number, text in zip((7, 40, 55, 83), LASTING, strict=True):
        said[number] = text
    return said


def write(home: Path) -> list[int]:
    """Write the day's transcripts and skills below `home`; returns the number of turns of each session."""
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude/CLAUDE.md").write_text(MINE, encoding="utf-8")
    chance = random.Random(1)
    said = iter(turns())
    for number, (count, with_skill) in enumerate(SESSIONS):
        project = Project(home / f"project-{number}", home, ".claude/skills")
        project.skill_path.write_text(skill_text("release-notes"), encoding="utf-8")
        project.commit("Say more, and write down how we work", {"CLAUDE.md": GUIDE})
        session = Session(home, project, f"session-{number}")
        if with_skill:
            session.use_skill()
        for _ in range(count):
            session.type(next(said))
            for length in _REPLIES:
                session.reply(" ".join(chance.choices(_WORDS, k=length // 4))[:length])
    return [count for count, _ in SESSIONS]
