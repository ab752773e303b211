"""Skills to other people and from them, by the program itself, on a home in which things were taught."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.taught import Taught

TOOL = """\
---
name: port-finder
description: "Finds the port of a service."
metadata:
  skilld-kind: "mcp-tool"
  skilld-input-schema: "{\\"type\\": \\"object\\", \\"properties\\": {\\"service\\": {\\"type\\": \\"string\\"}}}"
  skilld-sessions: "11111111-2222-3333-4444-555555555555"
  skilld-author: "Pat Person"
  skilld-tags: "ports"
---

Say which port {{service}} has.
"""


def _skill(world: Taught, text: str, name: str = "port-finder") -> Path:
    file = world.home / ".claude/skills" / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def test_a_skill_is_exported_without_whose_words_it_came_from(world: Taught) -> None:
    _skill(world, TOOL)
    done = world.program.run("skills", "export", "port-finder")
    assert (
        done.stdout
        == """\
name: port-finder
version: 1.0.0
description: Finds the port of a service.
type: mcp-tool
generated_from:
  sessions: []
  extracted_at: ''
prompt: ''
input_schema:
  type: object
  properties:
    service:
      type: string
implementation:
  prompt: Say which port {{service}} has.
examples: []
workflow: []
tags:
- ports
author: ''
team: ''
stats:
  times_used: 0
  success_rate: null
"""
    )
    told = world.program.run("skills", "export", "port-finder", "--with-evidence").stdout
    assert "- 11111111-2222-3333-4444-555555555555\n" in told
    assert "author: Pat Person\n" in told


def test_evidence_is_the_quotes_of_what_was_accepted(world: Taught) -> None:
    assert world.program.run("accept", world.one).returncode == 0
    quote = world.shown(world.one)["evidence"][0]["quote"]
    said = " ".join(world.program.run("skills", "export", "release-notes", "--with-evidence").stdout.split())
    assert quote in said
    assert quote not in " ".join(
        world.program.run("skills", "export", "release-notes").stdout.split("prompt:")[0].split()
    )


def test_several_go_into_a_folder_and_secrets_are_masked(world: Taught, tmp_path: Path) -> None:
    secret = "ghp_" + "Ab3dEf6hIj9lMn2pQr5tUv8xYz1Bc4Dd6Fg8"
    _skill(world, TOOL.replace("Say which", f"Log in with {secret}. Say which"))
    assert world.program.run("skills", "export", "port-finder", "release-notes").returncode == 2
    done = world.program.run("skills", "export", "port-finder", "release-notes", "-o", str(tmp_path))
    assert done.returncode == 0
    assert done.stderr == "skilld: port-finder: what looks like a secret was masked\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["port-finder.yaml", "release-notes.yaml"]
    assert secret not in (tmp_path / "port-finder.yaml").read_text()
    assert "[REDACTED:" in (tmp_path / "port-finder.yaml").read_text()


@pytest.mark.parametrize(("options", "code"), [(("nosuch",), 1), (("release-notes", "-o", "/nosuch/x.yaml"), 1)])
def test_what_cannot_be_exported_is_told(world: Taught, options: tuple[str, ...], code: int) -> None:
    done = world.program.run("skills", "export", *options)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("skilld: ")
