"""README.md: its sample is the shortened output of `skilld demo`, and its commands work."""

from __future__ import annotations

import re
from pathlib import Path

from support.program import Program

ROOT = Path(__file__).parents[2]
_ID = re.compile(r"\b[0-9a-f]{8}\b")


def test_the_sample_is_the_output_of_the_demo(home: Path) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    command, *sample = page.split("```\n")[1].splitlines()
    assert command == "$ skilld demo"
    printed = [_ID.sub("ID", line) for line in Program(home).run("demo").stdout.splitlines()]
    places = [printed.index(_ID.sub("ID", line)) for line in sample if line]
    assert len(places) > 10
    assert not [line for line in printed if "skilld accept" in line], "the folder it is about is gone"
    assert places == sorted(places)
    assert [line for line in printed if line.endswith("; loaded by claude-code")], "which is why CLAUDE.md was chosen"


def test_18_8_the_commands_without_make_match_the_makefile() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    run, test = page.split("Without `make`")[1].split("```\n")[1].splitlines()
    assert run == "python3 tools/install.py run && .venv/bin/skilld run"
    assert "@$(PYTHON) tools/install.py\n" in makefile
    assert "run: ## the daemon" in makefile
    assert "\t$(install) run\n\t@$(BIN)/skilld run $(ARGS)\n" in makefile
    install, _, tested = test.partition(" && .venv/bin/")
    assert install == "python3 tools/install.py test"
    (recipe,) = re.findall(r"^test: .*\n\t\$\(install\) test\n\t@\$\(BIN\)/(.*)$", makefile, re.MULTILINE)
    assert set(tested.split()) <= set(recipe.split()), "the same tests, without the frills"
    assert '-m "not live and not slow"' in tested


def test_18_9_the_page_is_short_and_starts_with_what_matters() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120
    headings = [line for line in lines if line.startswith("#")]
    assert headings[:4] == ["# skilld", "## Install", "## Start", "## Decide"]
    first = " ".join(lines[1 : lines.index("```")])
    assert len(re.findall(r"\.(?: |$)", first)) == 2, "what it is, in two sentences"
