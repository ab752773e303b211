"""`skilld recommend TEXT` and `suggest`: skills that fit a task, and a few lines for the start of a session."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from skilld import console
from skilld.classify.question_jobs import MatchSkills
from skilld.cli import common, inventory
from skilld.errors import SkilldError, UsageError
from skilld.git.top import folders_to_top
from skilld.jobs.asks import proposal_saying
from skilld.library.clusters import Mention, confidence, find_mentions, group_asks, learning_mention
from skilld.library.recommend import (
    Recommendation,
    confidence_word,
    model_recommendations,
    recommend,
    skill_summary,
    skills_to_ask,
)
from skilld.library.rows import broken_reason, disabled_skills, merged_skills, offered_skills
from skilld.skills import Skill
from skilld.skills.write import body_of
from skilld.store import Store
from skilld.text import join_words, pluralize
from skilld.types import State, TargetKind

_MAX_BELOW = 3  # projects that are named


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    text = common.as_text(" ".join(arguments.text)).strip()
    if not text:
        raise UsageError("Which task?", "no text given", 'skilld recommend "write the release notes"')
    project = common.resolve_folder(arguments.project)
    found = find_recommendations(text, project, ask=arguments.ask)
    if arguments.json:
        return common.write_json([asdict(one) for one in found])
    for one in found:
        name = console.paint(console.plain(one.skill) if one.skill else "(not in a skill yet)", "bold")
        verdict = f"{'fits well' if confidence_word(one.confidence) == 'high' else 'may fit':9}"
        draft = "" if not one.path or Path(one.path).exists() else "  (only proposed so far: skilld review)"
        console.say(f"{verdict}  {name}  {console.message(str(one.path))}{draft}".rstrip())
        for because in one.because:
            sure = f"{because.kind} {because.id}, {confidence_word(because.confidence)} confidence"
            console.say(f"           {_who_said(because.kind)}: {console.plain(because.text)}  ({sure})", style="dim")
    if not found:
        console.say("None of your skills fit this task.")
        if below := _projects_below(project):
            named = console.plain(join_words([*below[:_MAX_BELOW], *(["others"] if len(below) > _MAX_BELOW else [])]))
            console.say(f"The skills of {named} are loaded only there; to search them: --project FOLDER")
        console.say("Rules in CLAUDE.md or AGENTS.md are not listed: your agent loads them anyway.", style="dim")
    return 0


def _projects_below(folder: Path) -> list[str]:
    """Return the projects below a folder, relative to it, that have skills of their own."""
    projects = map(Path, common.store_or_empty().overview.projects())
    below = [one for one in projects if folder in one.parents and one.is_dir()]
    return [str(one.relative_to(folder)) for one in below if inventory.offered_skills(inventory.project_skills(one))]


def find_recommendations(text: str, project: Path, *, ask: bool = False) -> list[Recommendation]:
    """Return the recommendations for a task in a project; with `ask` a model chooses among the skills."""
    store = common.store() if ask else common.store_or_empty()
    skills = inventory.all_skills([*folders_to_top(project)])
    off = {str(path) for path in (*disabled_skills(store), *merged_skills(skills))}
    offered = [one for one in offered_skills(store, skills) if not broken_reason(one)]
    found = recommend(
        text,
        [said for said in _in_their_skills(store, find_mentions(store, text)) if said.path not in off],
        offered,
        now=time.time(),
        project=str(project),
        feedback=store.records.feedback(),
        texts=_bodies(offered),
    )
    return _ask_model(store, text, offered, found, project) if ask else found


def _in_their_skills(store: Store, found: Sequence[Mention]) -> Iterator[Mention]:
    """Yield what was said, learnings as said about the skill that says them since the person accepted it.

    Those that another file says are left out: agents load it anyway.
    """
    accepted = store.proposals.in_states([State.ACCEPTED])
    for said in found:
        learning = store.learnings.get(said.id) if said.kind == "learning" else None
        made = proposal_saying(learning, accepted) if learning else None
        if made is None:
            yield said
        elif made.target is TargetKind.SKILL:
            yield replace(said, skill=made.skill, path=made.path)


def _ask_model(
    store: Store, text: str, skills: list[Skill], found: list[Recommendation], project: Path
) -> list[Recommendation]:
    """Return the model's choice; if it does not answer, what keywords found."""
    from skilld.cli.budgeted_model import BudgetedModel
    from skilld.protocol import ChoiceResult

    model = BudgetedModel(store, common.settings(), "recommend", project)
    asked = skills_to_ask(skills, found)
    if not asked:
        return found
    said = () if model.own else found  # what was said in sessions of other agents is not sent
    result, why = model.ask(MatchSkills(model.spec, text, tuple(skill_summary(one, said) for one in asked)))
    if not isinstance(result, ChoiceResult):
        told = "the model did not answer, so skills were matched by keywords only"
        sys.stderr.write(f"skilld: {told}: {console.plain(why)}\n")
        return found
    return model_recommendations([number for fit in result.numbers for number in fit], asked, found)


def _bodies(skills: list[Skill]) -> dict[Path, str]:
    found = {}
    for skill in skills:
        with suppress(SkilldError):
            found[skill.path] = body_of(inventory.skill_text(skill))
    return found


def _who_said(kind: str) -> str:
    return "the result of a task" if kind == "result" else "you said"


# `skilld suggest`: a few lines for the start of a session, printed by an agent's own hook.

_MAX_SKILLS = 5
_MAX_MINDED = 3
# Agents that can run a command when a session starts: the settings file and the name of the event.
HOOKS = {
    "claude-code": ("~/.claude/settings.json", "SessionStart"),
    "gemini-cli": ("~/.gemini/settings.json", "SessionStart"),
}


def run_suggest(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    if arguments.hook:
        return _print_hook(arguments.hook)
    found = collect(common.resolve_folder(arguments.project))
    if arguments.json:
        return common.write_json(found)
    for skill in found["skills"]:
        used = f" ({pluralize(skill['sessions'], 'session')})" if skill["sessions"] else ""
        console.say(f"skill {console.plain(skill['name'])}{used}: {console.plain(skill['description'])}")
    if found["more"]:
        console.say(f"and {pluralize(found['more'], 'more skill')}: skilld skills list", style="dim")
    for minded in found["minded"]:
        sure = confidence_word(minded["confidence"])
        console.say(f"{_who_said(minded['kind'])}: {console.plain(minded['text'])} ({sure} confidence)")
    if not found["skills"] and not found["minded"]:
        console.say("Nothing to suggest for this project yet.")
    return 0


def collect(project: Path) -> dict[str, Any]:
    """Return the project's skills, the most used first, and the learnings there with the highest confidence.

    `more` is the number of skills that are left out. Learnings with a low confidence are left out, too: the agent reads
    this as what the person wants.
    """
    store = common.store_or_empty()
    folders = [*folders_to_top(project)]  # an agent that is started below the top of a project also loads those above
    near = {skill.path: skill for folder in folders for skill in inventory.project_skills(folder)}
    skills = inventory.sorted_by_use(inventory.skills_to_offer([*near.values()], project))
    now = time.time()
    places = set(map(str, folders))
    accepted = store.proposals.in_states([State.ACCEPTED])
    said = group_asks(
        learning_mention(one)
        for one in store.learnings.all()
        if one.project in places and not one.skill and not proposal_saying(one, accepted)
    )
    weighed = ((confidence(ask.pieces, now=now), ask.text, ask.said[0].kind) for ask in said)
    surest = sorted((one for one in weighed if confidence_word(one[0]) != "low"), reverse=True)
    return {
        "skills": [
            {"name": skill.name, "description": skill.front.description, "sessions": sessions}
            for skill, sessions in skills[:_MAX_SKILLS]
        ],
        "more": max(0, len(skills) - _MAX_SKILLS),
        "minded": [
            {"text": text, "confidence": round(sure, 3), "kind": kind} for sure, text, kind in surest[:_MAX_MINDED]
        ],
    }


def _print_hook(agent: str) -> int:
    if agent not in HOOKS:
        raise UsageError("No hook for this agent", f"{common.as_text(agent)}; available for: {', '.join(HOOKS)}")
    file, event = HOOKS[agent]
    command = f"{shutil.which('skilld') or sys.argv[0]} suggest"
    sys.stderr.write(f"Add this to {file} yourself; skilld did not change it:\n")
    hook = {"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}}
    console.say(json.dumps(hook, indent=2))
    return 0
