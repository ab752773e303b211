"""`skilld inspect FILE`: shows what skilld sees in one transcript."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from skilld import console
from skilld.agents import ADAPTERS
from skilld.cli import common
from skilld.errors import SkilldError, cause_of
from skilld.ingest.explain import explain
from skilld.ingest.inspect import guess_agent, inspect
from skilld.text import pluralize


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    path: Path = arguments.file
    common.check_agent(arguments.agent)
    try:
        if not path.is_file():
            path.stat()  # raises if nothing is there
            folder = "it is a folder; name one transcript inside it"
            raise SkilldError(f"Cannot read {path}", folder if path.is_dir() else "it is not a regular file")
        agent = arguments.agent or guess_agent(path)
        if agent is None:
            raise SkilldError("Not a transcript", f"skilld does not recognize {path}", "Name its agent: --agent AGENT")
        if arguments.explain:
            return _explain(path, agent, as_json=arguments.json)
        view = inspect(path, ADAPTERS[agent])
    except (OSError, ValueError) as error:  # ValueError: no path can hold a zero byte
        raise SkilldError(f"Cannot read {path}", cause_of(error)) from error
    shown = view.as_json()
    if arguments.json:
        return common.write_json(shown)
    session, folder = shown["session_id"] or "with no ID", shown["cwd"] or "an unknown folder"
    console.say(f"{agent} session {console.plain(session)} in {console.plain(folder)}")
    if shown["main_dir"] != shown["cwd"]:
        console.say(f"most of the session's work was in {console.plain(shown['main_dir'])}")
    console.say(pluralize(len(shown["turns"]), "human turn"), style="bold")
    for number, turn in enumerate(shown["turns"], 1):
        console.say(
            f"{number:4}  {console.plain(turn['at'] or ''):20}  {turn['how']:9}  {console.plain(turn['text'])[:200]}"
        )
    for skill in shown["skills"]:
        shown_path = console.message(str(skill["path"] or "no path in the transcript"))
        console.say(f"skill {console.plain(skill['name'])}  {shown_path}")
    tools = ", ".join(_tool_counts(name, counts) for name, counts in shown["tools"].items())
    console.say(f"tools: {tools or 'none'}")
    ignored = ", ".join(f"{count} {reason}" for reason, count in shown["ignored"].items())
    console.say(f"ignored: {ignored or 'nothing'}; malformed lines: {shown['malformed']}")
    return 0


def _explain(path: Path, agent: str, *, as_json: bool) -> int:
    """List each record of a transcript without its words, so that the list can go into a bug report."""
    found = list(explain(path, ADAPTERS[agent]))
    if as_json:
        return common.write_json({"agent": agent, "records": [each.as_json() for each in found]})
    console.say(f"{agent}: {pluralize(len(found), 'record')}")
    for each in found:
        console.say(f"{each.span.start:9}  {console.plain(', '.join(each.taken))}  [{console.plain(each.kind)}]")
        console.say(f"{'':11}{console.plain(each.why)}" if each.why else "")
        if each.shape is not None:
            console.say(f"{'':11}shape: {console.plain(json.dumps(each.shape))}")
    return 0


def _tool_counts(name: str, counts: dict[str, int]) -> str:
    unwell = [f"{counts[how]} {how}" for how in ("failed", "rejected", "interrupted") if counts[how]]
    return f"{console.plain(name)} {counts['calls']}" + (f" ({', '.join(unwell)})" if unwell else "")
