"""`learnings` and `doctor` name what sounded lasting and was not treated as a rule."""

from __future__ import annotations

import shutil
import time
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

from skilld.clock import rfc3339
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.store.meta import PASSED_OVER
from support.in_process import run_in_process
from support.live_project import Project
from support.program import Program
from support.session import CHATTER, Session

KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


def test_what_sounded_lasting_does_not_vanish_silently(home: Path, project: Project, program: Program) -> None:
    program.run("run", "--once")
    Session(home, project).type(f"never store user data like {KEY} again", *CHATTER[:4])
    program.run("run", "--once")
    assert program.json("proposals", "--state", "all") == []
    [missed] = program.json("learnings")
    assert (missed["taken"], missed["why_not"]) == (False, "it seems to describe what a product does")
    told = program.run("learnings").stdout
    assert "There are no learnings." in told
    assert "“never store user data like" in told
    assert "skilld learnings propose ID" in told
    assert KEY not in told
    reasons = program.json("doctor")["why_nothing"]
    assert any("never store user data" in reason for reason in reasons)
    assert "nothing judged so far sounded like a lasting instruction" not in reasons
    program.environment["SKILLD_MODEL"] = "openai/judge"
    assert "never store" not in program.run("learnings").stdout, "a model took it for no rule, not the offline judge"
    program.environment["SKILLD_MODEL"] = "offline"
    (project.root / ".skilld.toml").write_text("enabled = false\n")
    assert "never store" not in program.run("learnings").stdout


def test_search_and_project_cover_it(home: Path, project: Project, program: Program) -> None:
    program.run("run", "--once")
    Session(home, project).type("never show the raw id again", "never display tokens again", *CHATTER[:4])
    program.run("run", "--once")
    quote = "“never display tokens again”"
    found = program.run("learnings", "--search", "token").stdout
    assert found.startswith("There are no learnings about this.\nSaid recently, but not treated as a rule")
    assert (quote in found, "raw id" in found) == (True, False)
    assert [one["quote"] for one in program.json("learnings", "--search", "token")] == ["never display tokens again"]
    assert len(program.json("learnings", "--search", "NEVER")) == 2, "a function word, which no index has"
    assert program.run("learnings", "--search", "nosuch").stdout == "No learnings match.\n"
    here = program.run("learnings", "--project", str(project.root)).stdout
    assert here.startswith("There are no learnings in this project.\nSaid recently")
    assert quote in here
    assert program.run("learnings", "--project", str(home)).stdout == "No learnings match.\n"
    mistyped = program.run("learnings", "--project", str(project.root / "scr"))
    assert (mistyped.returncode, mistyped.stdout, "No such folder" in mistyped.stderr) == (1, "", True)


def test_the_newest_twenty_are_shown_and_the_rest_on_request(home: Path, program: Program) -> None:
    program.run("run", "--once")
    one = Learning(
        "oldest", "s:t", "never push it", "Never push it.", "preference", "codex", "s", "/shop", None, "unsure", 0.2,
        rfc3339(time.time()),
    )  # fmt: skip
    others = [replace(one, id=f"new{n}", quote=f"never do {n}", change="", project=f"/p{n}") for n in range(20)]
    with closing(Store.open(home / ".local/state/skilld/skilld.db")) as store:
        store.meta.set(PASSED_OVER, [asdict(kept) for kept in (*others, one)])
    shown = program.run("learnings").stdout
    assert (shown.count("unsure"), "never push it" in shown) == (20, False)
    assert "Showing the newest 20 of 21. To see others: --project FOLDER, --search TEXT" in shown
    assert len(program.json("learnings")) == 21
    for narrowed in (("--project", "/shop"), ("--search", "push")):
        shown = program.run("learnings", *narrowed).stdout
        assert (shown.count("unsure"), "never push it" in shown, "are shown" in shown) == (1, True, False)
    with closing(Store.open(home / ".local/state/skilld/skilld.db")) as store:
        store.meta.set(PASSED_OVER, [asdict(kept) for kept in others])
    assert "are shown" not in program.run("learnings").stdout


def test_it_can_be_proposed_or_forgotten_when_its_transcript_is_gone(
    home: Path, project: Project, program: Program
) -> None:
    program.run("run", "--once")
    Session(home, project).type("never show the raw id again", "never display the token again", *CHATTER[:4])
    program.run("run", "--once")
    shutil.rmtree(home / ".claude" / "projects")
    [token, raw] = program.json("learnings")
    assert [raw["quote"], token["quote"]] == ["never show the raw id again", "never display the token again"]
    made = program.json("learnings", "propose", raw["id"])
    assert made["summary"] == "Never show the raw id."
    program.run("learnings", "--forget", token["id"])
    assert program.json("learnings") == []


def test_doctor_names_it_also_right_after_a_proposal(home: Path, project: Project, program: Program) -> None:
    program.run("run", "--once")
    Session(home, project).type("never show the raw id again", "never display the token again", *CHATTER[:4])
    program.run("run", "--once")
    [token, _raw] = program.json("learnings")
    program.run("learnings", "propose", token["id"])
    unknown = "the offline judge does not know this wording"
    why = f"but not treated as a rule: “never show the raw id again”: {unknown}"
    assert program.json("doctor")["why_nothing"] == [f"said in {project.root}, {why}"]
    told = " ".join(program.run("doctor").stdout.split())
    assert f"Why nothing more was proposed said in {project.root}, {why}" in told


def test_doctor_begins_with_what_was_said_in_the_project_here(home: Path, project: Project, program: Program) -> None:
    program.run("run", "--once")
    Session(home, project).type("never show the raw id again", *CHATTER[:4])
    program.run("run", "--once")
    newest = Learning(
        "c0", "s:t", "never do c0", "", "fact", "codex", "s", f"{home}/c", None, "unsure", 0.2, rfc3339(time.time())
    )
    others = [replace(newest, id=name, quote=f"never do {name}", project=f"{home}/{name[0]}") for name in ("a0", "b0")]
    here = replace(newest, id="d0", quote="never do d0", project=str(project.root / "src"))
    with closing(Store.open(home / ".local/state/skilld/skilld.db")) as store:
        store.meta.set(PASSED_OVER, [asdict(one) for one in (newest, *others, here)])
    told = run_in_process(["doctor"], project.root, program.environment).stdout
    first, second, third = [line.strip() for line in told.splitlines() if "not treated as a rule" in line]
    assert first == f"said in {project.root}/src, but not treated as a rule: “never do d0”: unsure"
    assert second == "said in ~/c, but not treated as a rule: “never do c0”: unsure"
    assert third == "said in ~/a, but not treated as a rule: “never do a0”: unsure"
    assert "“never do c0” in ~/c: unsure" in program.run("learnings").stdout


def test_review_lists_it_below_the_learnings(home: Path, project: Project, program: Program) -> None:
    program.run("run", "--once")
    Session(home, project).type("never show the raw id again", "never display the token again", *CHATTER[:3])
    program.run("run", "--once")
    said = program.run("review", "--plain", typed="4\nf\ny\np\nq\n").stdout
    assert "learning: Never display the token.\n  not proposed: it was not treated as a rule (it seems to" in said
    assert "Forgotten." in said
    assert "Never show the raw id." in said
    assert program.json("learnings") == []
    assert [one["summary"] for one in program.json("proposals")] == ["Never show the raw id."]


def test_review_lists_a_few_and_says_where_the_rest_are(home: Path, program: Program) -> None:
    program.run("run", "--once")
    at = rfc3339(time.time())
    kept = [
        Learning(
            f"a{n}", "s:t", f"never do {n}", f"Never do {n}.", "fact", "codex", "s", f"/p{n}", None, "unsure", 0.2, at
        )
        for n in range(9)
    ]
    with closing(Store.open(home / ".local/state/skilld/skilld.db")) as store:
        store.meta.set(PASSED_OVER, [asdict(one) for one in kept])
    rest = "Not shown: 4 more that were not treated as rules. List them: skilld learnings"
    said = program.run("review", "--plain", typed="4\n" + "s\n" * 5 + "q\n").stdout
    assert (said.count("learning: Never do"), rest in said) == (5, True)
    with closing(Store.open(home / ".local/state/skilld/skilld.db")) as store:
        store.meta.set(PASSED_OVER, [asdict(one) for one in kept[:5]])
    assert "Not shown" not in program.run("review", "--plain", typed="4\n" + "s\n" * 5 + "q\n").stdout


def test_show_knows_what_was_passed_over(home: Path, project: Project, program: Program) -> None:
    program.run("run", "--once")
    Session(home, project).type("never show the raw id again", *CHATTER[:4])
    program.run("run", "--once")
    [missed] = program.json("learnings")
    shown = program.run("show", missed["id"]).stdout
    assert "you: “never show the raw id again”" in shown
    assert "not proposed: it was not treated as a rule (" in shown
    assert shown.endswith(
        f"To propose it: skilld learnings propose {missed['id']} [--to PATH]\n"
        f"To delete it: skilld learnings --forget {missed['id']}\n"
    )
    for verb in (["accept"], ["show", "--json"]):
        refused = program.run(*verb, missed["id"])
        assert refused.returncode == 1
        assert f"To see it: skilld show {missed['id']}" in refused.stderr
    made = program.json("learnings", "propose", missed["id"])
    assert made["id"] in program.run("learnings", "propose", missed["id"]).stderr, "it is a proposal now"


def test_what_was_accepted_is_not_named(home: Path, project: Project, program: Program) -> None:
    program.run("run", "--once")
    Session(home, project).type("never show the raw id again", "never display tokens again", *CHATTER[:4])
    program.run("run", "--once")
    name = next(one["id"] for one in program.json("learnings") if "raw id" in one["quote"])
    (project.root / "CLAUDE.md").write_text("# Guide\n\n- Be brief.\n")
    project.git("add", "CLAUDE.md")
    project.git("commit", "--quiet", "--message", "Guide")
    assert program.run("learnings", "propose", name, "--to", str(project.root / "CLAUDE.md")).returncode == 0
    Session(home, project).type("never show the raw id again", *CHATTER[:4])
    program.run("run", "--once")
    assert [one["quote"] for one in program.json("learnings")] == ["never display tokens again"]
