"""The files that an export writes: nothing is lost in them, and nothing else by them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skilld.store import Store
from skilld.types import Evidence, State
from support.lessons import HOSTS, LINKS, TICKETS
from support.live_project import Project
from support.program import Program
from support.proposals import make_proposal
from support.repos import Person, snapshot
from support.taught_project import TaughtProject

# Skills that are awkward to write down, by the name of their folder: front matter, then the text below it.
AWKWARD = {
    "uni-code": ("name: uni-code\ndescription: Für „Übung“ — 日本語 🎉 # no comment", "# Übung\n\nSchreibe „so“.\n"),
    "code-blocks": (
        'name: code-blocks\ndescription: "a: b \\"c\\" \\\\d"',
        "# Code\n\n```yaml\nkey: |\n  two  \n\n\n- more\n```\n\n~~~\n\ttab\\n {{ hole }} '\"\n~~~\n",
    ),
    "empty-parts": ("name: empty-parts\ndescription: yes", "## Steps\n\n## Examples\n\n##\n\n## Workflow"),
    "steps-twice": (
        "name: steps-twice\ndescription: 1.0",
        "## Steps\n\n1. **One** (`a`)\n\n   x\n\n## Steps\n\n1. **Two**\n",
    ),
    "long-words": (f"name: long-words\ndescription: {'words of a list ' * 60}end", "- " + "a word " * 400 + "\n"),
    "indented": ("name: indented\ndescription: >-\n  folded\n  text", "\n\n    code first\n\nlast line  \n\n\n"),
    "line-ends": ("name: line-ends\r\ndescription: Line ends.\r", "A\r\n\r\nB\r\n"),
    "its-folder": ("name: Not A Name\ndescription: Named by its folder.", "Use the folder.\n"),
    "tagged": (
        'name: tagged\ndescription: Tagged.\nmetadata:\n  skilld-tags: "a, b"\n  skilld-team: "x: y"',
        "Tagged text.\n",
    ),
    "port-finder": (
        (
            "name: port-finder\ndescription: Finds ports.\nmetadata:\n  skilld-kind: mcp-tool\n"
            """  skilld-input-schema: '{"type": "object", "properties": {"service": {"maxLength": 9}}}'"""
        ),
        "Say which port {{service}} has.\n",
    ),
    "greet": (
        (
            "name: greet\ndescription: Greets.\nmetadata:\n  skilld-kind: prompt-template\n"
            '  skilld-variables: \'[{"name": "who", "type": "string", "description": ""}]\''
        ),
        "Greet {{who}}.\n",
    ),
}


@pytest.fixture
def program(home: Path, project: Project) -> Program:
    assert project.skill_path.is_file()
    return Program(home)


def _add(program: Program, name: str, text: str) -> Path:
    file = program.home / ".claude/skills" / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode())
    return file


def _plain(program: Program, *names: str) -> list[Path]:
    return [_add(program, name, f"---\nname: {name}\ndescription: About {name}.\n---\n\nDo it.\n") for name in names]


@pytest.mark.parametrize("form", ["yaml", "skill"])
def test_what_is_exported_is_imported_as_the_same_skills(program: Program, tmp_path: Path, form: str) -> None:
    for name, (front, body) in AWKWARD.items():
        file = _add(program, name, f"---\n{front}\n---\n{body}")
        (file.parent / "scripts").mkdir()
        (file.parent / "scripts/run.sh").write_text("#!/bin/sh\n")
        (file.parent / "scripts/run.sh").chmod(0o755)
    out = tmp_path / "out"
    out.mkdir()
    exported = program.run("skills", "export", *AWKWARD, "-o", str(out), "--format", form)
    assert exported.returncode == 0, exported.stderr
    assert exported.stderr.splitlines() == [
        f"skilld: {name}: only its SKILL.md is included, not scripts/run.sh" for name in AWKWARD
    ]
    other = Program(tmp_path / "other")
    other.home.mkdir()
    Person(other.home)  # gives git a name there
    rows = other.json("skills", "import", str(out), "--yes")
    assert {row["name"]: (row["refused"], row["left_out"]) for row in rows} == dict.fromkeys(AWKWARD, ("", []))
    accepted = other.run("accept", *(row["id"] for row in other.json("proposals")))
    assert accepted.returncode == 0, accepted.stderr
    for name, (_, body) in AWKWARD.items():
        mine = program.json("skills", "show", name)
        theirs = other.json("skills", "show", name)
        for same in ("description", "kind", "tags"):
            assert (name, " ".join(theirs[same])) == (name, " ".join(mine[same]))
        assert theirs["metadata"] == mine["metadata"] | {"skilld-origin": "imported"}
        wanted = body.replace("\r\n", "\n").strip("\n").rstrip()
        assert (other.home / ".claude/skills" / name / "SKILL.md").read_bytes().decode().split("---\n\n", 1)[
            1
        ] == wanted + "\n"
    assert not [path for path in other.home.rglob("*.sh") if ".claude" in path.parts]


def test_an_archive_is_neither_exported_nor_imported(program: Program, tmp_path: Path) -> None:
    _plain(program, "first", "second")
    out = tmp_path / "x.zip"
    result = program.run("skills", "export", "first", "-o", str(out))
    assert (result.returncode, out.exists()) == (2, False)
    assert f"-o {tmp_path / 'x.yaml'}" in result.stderr
    out.write_bytes(b"PK\x03\x04 zipped")
    assert "Unpack it" in program.run("skills", "import", str(out)).stderr


def test_one_skill_that_cannot_be_exported_names_that_none_was(program: Program, tmp_path: Path) -> None:
    _plain(program, "first")
    _add(program, "broken", "---\nname: broken\ndescription: x\n\n# never ends\n")
    result = program.run("skills", "export", "first", "broken", "-o", str(tmp_path))
    assert result.returncode != 0
    assert result.stderr.startswith("skilld: No skill was exported, because of broken: ")


def test_skills_that_are_there_already_are_one_line(program: Program, tmp_path: Path) -> None:
    _plain(program, "first", "second")
    out = tmp_path / "out"
    out.mkdir()
    assert program.run("skills", "export", "first", "second", "-o", str(out)).returncode == 0
    result = program.run("skills", "import", str(out))
    assert result.returncode != 0
    assert result.stderr.splitlines()[0].endswith("with these names: first, second")
    assert len(result.stderr.splitlines()) == 2
    alone = program.run("skills", "import", str(out), "--only", "first")
    assert "you already have a skill called first" in alone.stderr


def test_an_export_replaces_other_text_only_with_force(program: Program, tmp_path: Path) -> None:
    first, _ = _plain(program, "first", "second")
    out = tmp_path / "out"
    out.mkdir()
    old = out / "second.yaml"
    old.write_text("mine\n")
    old.chmod(0o600)
    before = snapshot(out)
    for verb in (("first", "second", "-o", str(out)), ("first", "-o", str(old))):
        result = program.run("skills", "export", *verb)
        assert (result.returncode, result.stdout) == (5, "")
        assert result.stderr == f"skilld: Nothing was exported: {old} already exists\n  To replace it: --force\n"
    assert snapshot(out) == before  # not even the first of the two
    assert program.run("skills", "export", "first", "second", "-o", str(out), "--force").returncode == 0
    assert old.read_text().startswith("name: second\n")
    assert old.stat().st_mode & 0o777 == 0o600
    again = program.run("skills", "export", "first", "second", "-o", str(out))
    assert again.stdout == f"Unchanged: {out / 'first.yaml'}\nUnchanged: {old}\n"
    first.write_text(first.read_text().replace("Do it.", "Do it well."))
    assert program.run("skills", "export", "first", "-o", str(out)).returncode == 5
    skills = ("skills", "export", "first", "-o", str(out), "--format", "skill")
    assert program.run(*skills).returncode == 0
    (out / "first/SKILL.md").write_text("mine\n")
    assert program.run(*skills).returncode == 5
    assert (out / "first/SKILL.md").read_text() == "mine\n"


def test_an_export_follows_no_symlink_and_replaces_no_pipe(program: Program, tmp_path: Path) -> None:
    _plain(program, "first")
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "SKILL.md").write_text("theirs\n")
    out = tmp_path / "out"
    out.mkdir()
    (out / "first").symlink_to(victim)
    (out / "first.yaml").symlink_to(tmp_path / "nowhere")
    os.mkfifo(out / "pipe")
    before = snapshot(tmp_path)
    for verb in ((str(out),), (str(out), "--format", "skill"), (str(out / "first.yaml"),), (str(out / "pipe"),)):
        result = program.run("skills", "export", "first", "--force", "-o", *verb)
        assert (verb, result.returncode, result.stdout) == (verb, 5, "")
        assert result.stderr.endswith("  Choose another place: -o PATH\n")
    assert snapshot(tmp_path) == before
    assert (out / "pipe").is_fifo()
    report = program.run("report", "--html", str(out / "pipe"))
    assert report.returncode == 1
    assert (out / "pipe").is_fifo()


def test_skills_with_the_same_name_do_not_replace_each_other(program: Program, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    notes = _plain(program, "notes")[0].parent
    other = program.home / ".codex/skills/notes"
    other.mkdir(parents=True)
    (other / "SKILL.md").write_text("---\nname: notes\ndescription: Other notes.\n---\n\nOther.\n")
    result = program.run("skills", "export", str(notes), str(other), "-o", str(out))
    assert result.returncode == 2
    assert "several of these skills are called notes" in result.stderr
    assert list(out.iterdir()) == []


def test_a_skill_is_not_exported_over_itself(program: Program) -> None:
    marked = "metadata:\n  skilld-sessions: 11111111-2222-3333-4444-555555555555"
    text = f"---\nname: mined\ndescription: Mined.\n{marked}\n---\n\nDo it.\n"
    file = _add(program, "mined", text)
    (program.home / "link").symlink_to(file.parents[1])
    for out in (file, file.parents[1], program.home / "link"):
        result = program.run("skills", "export", "mined", "--format", "skill", "--force", "-o", str(out))
        assert (result.returncode, "is the skill itself" in result.stderr) == (5, True)
    assert file.read_text() == text


def test_a_missing_folder_is_named_with_the_command_that_makes_it(program: Program, tmp_path: Path) -> None:
    _plain(program, "first")
    new = tmp_path / "a folder"
    for given in (f"{new}/", str(new / "first.yaml")):
        result = program.run("skills", "export", "first", "-o", given)
        assert result.returncode in {1, 2}
        assert result.stderr.endswith(f"mkdir -p '{new}'\n")
        assert not new.exists()
    assert program.run("skills", "export", "first", "-o", "-").stdout.startswith("name: first\n")
    assert not (program.home / "-").exists()


def test_front_matter_without_a_place_in_yaml_is_named(program: Program) -> None:
    extra = "license: MIT\nallowed-tools: Bash\nmetadata:\n  owner: ops\n  skilld-tags: x"
    _add(program, "licensed", f"---\nname: licensed\ndescription: Licensed.\n{extra}\n---\n\nDo it.\n")
    named = "skilld: licensed: not included in yaml: license, allowed-tools, metadata.owner\n"
    assert program.run("skills", "export", "licensed").stderr == named
    assert program.run("skills", "export", "licensed", "--format", "skill").stderr == ""


def test_evidence_holds_the_sessions_the_author_and_the_quotes(program: Program, project: Project) -> None:
    program.run("resume")  # makes the store
    quoted = {
        State.ACCEPTED: "always say who reviewed it",
        State.REJECTED: "no jokes in the notes",
        State.OPEN: "one line for each",
    }
    store = Store.open(program.home / ".local/state/skilld/skilld.db")
    for number, (state, quote) in enumerate(quoted.items()):
        store.proposals.add(
            make_proposal(
                id=f"{number}{number}345678",
                state=state,
                path=str(project.skill_path),
                evidence=(Evidence("t1", quote),),
                session_id=f"session-{state.value}",
                decided_at="2026-01-06T10:00:00Z",
            )
        )
    store.close()
    Person(project.root).git("config", "user.name", "Pat Person")
    skill = str(project.skill_path.parent)
    told = ("session-accepted", "Pat Person", "always say who", "2026-01-06")
    private = ("session-rejected", "session-open", "no jokes", "one line for each")
    document = program.run("skills", "export", skill, "--with-evidence").stdout
    assert [text for text in told if text not in document] == []
    assert "author: Pat Person\n" in document
    marked = program.run("skills", "export", skill, "--with-evidence", "--format", "skill").stdout
    assert 'skilld-sessions: "session-accepted"' in marked
    assert 'skilld-author: "Pat Person"' in marked
    assert [text for text in private if text in document + marked] == []
    for form in ("yaml", "skill"):
        assert [text for text in told if text in program.run("skills", "export", skill, "--format", form).stdout] == []


def test_evidence_of_a_proposal_accepted_in_part_is_that_of_the_part(world: TaughtProject) -> None:
    assert world.program.run("accept", world.two, "--part", "1").returncode == 0
    for one in world.program.json("proposals"):
        assert world.program.run("reject", one["id"]).returncode == 0
    document = world.program.run("skills", "export", str(world.project.skill_path.parent), "--with-evidence").stdout
    (transcript, other) = sorted(path.stem for path in world.home.glob(".claude/projects/*/*.jsonl"))
    assert [name for name in (transcript, other) if name in document] == [world.show(world.two)["session_id"]]
    assert [text for text in (TICKETS, HOSTS, LINKS) if text in document] == [TICKETS]


def test_skills_with_the_same_name_are_distinguished_by_path(program: Program) -> None:
    for number in (1, 2, 3):
        file = program.home / f"in/dup{number}/x/SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(f"---\nname: x\ndescription: About x.\n---\n\nDo {number}.\n")
    result = program.run("skills", "import", "in")
    assert "  check: imported from " + str(program.home / "in") in result.stdout.splitlines()
    assert result.stderr.splitlines()[0].endswith("with these names: dup2/x/SKILL.md, dup3/x/SKILL.md")
    named = program.run("skills", "import", "in", "--only", "x", "--name", "y")
    assert "  Choose one: --only dup1/x/SKILL.md\n" in named.stderr


def test_a_fault_of_a_source_is_reported_as_one_of_the_import(program: Program, tmp_path: Path) -> None:
    file = tmp_path / "in/x/SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: x\ndescription: About x.\n---\n\n" + "- Do it.\n" * 10_000)
    result = program.run("skills", "import", str(file))
    assert result.stderr == "skilld: The skill was not imported: it has 10005 lines; the limit is 10000\n"
    result = program.run("skills", "import", str(file.parent), "--branch", "main")
    assert result.returncode == 2
    assert "is not the top folder of a repository, so it has no branches" in result.stderr
