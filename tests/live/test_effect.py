"""A rule that real Claude Code and Codex break after it was accepted: one repeat, one proposal; no key, no model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from live.test_places import GUIDE, PEOPLE, PNPM, SOURCE, Told
from support.live_bench import Bench
from support.live_project import project_without_skill
from support.stub_agents import Rule, Say
from support.waiting import wait_for

pytestmark = pytest.mark.live

BROKEN = "You ran npm again. Use pnpm for the scripts as well, never npm!"
LINE = "- Always use pnpm, never npm, in this repository."


@pytest.mark.parametrize("who", ["claude-code-2.1.332", "codex"])
def test_a_rule_that_is_broken_in_a_later_session_is_proposed_more_clearly(
    make_bench: Callable[..., Bench], who: str, tmp_path: Path, home: Path
) -> None:
    person = PEOPLE[who]
    name = person.places[0]
    project = project_without_skill(tmp_path / "project", home, {name: GUIDE, SOURCE: "export {}\n"})
    bench = make_bench(person.agent, person.client, project)
    bench.skilld.environment["SKILLD_BATCH__IDLE_MINUTES"] = "0.05"
    bench.stub.rules = [Rule("sources", person.reads(project.root / SOURCE), Say("I have read them."))]
    told, file = Told(bench, 2), project.root / name
    with bench.skilld.daemon():
        told.session("Look at the sources please", PNPM)
        brought = told.proposal()
        project.git("merge", "--quiet", "--no-edit", "skilld/staging")
        bench.wait_for_state(brought["id"], "accepted")
        told.session("Look at the sources please", BROKEN)
        wait_for("what was broken to be proposed", lambda: bench.proposals("open"), every=0.5, context=bench.account)
        sharper = told.proposal()
        (rule,) = bench.skilld.json("effect")["rules"]
        assert (rule["text"], rule["after"]["repeats"], len(rule["evidence"])) == (LINE[2:], 1, 1)
        assert rule["remedy"] == {"kind": "sharpen", "proposal": sharper["id"], "state": "open", "checks": []}
        assert [said["quote"] for said in sharper["evidence"]] == [BROKEN]
        project.git("merge", "--quiet", "--no-edit", "skilld/staging")
        bench.wait_for_state(sharper["id"], "accepted")
        # The newer words leave out where the rule holds, so they do not replace it.
        assert f"- **{LINE[2:]}**\n" in file.read_text()
        assert bench.skilld.run("revert", sharper["id"]).returncode == 0
        assert file.read_text() == f"{GUIDE}{LINE}\n"
        assert bench.proposals("open") == []
