"""The lock files: how they are split into levels, and that the ones in the repository are complete."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import distributions
from pathlib import Path

from support.rows import for_each
from tools import lock

ROOT = Path(__file__).parents[2]
TEXT = """\
alpha==1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via
    #   beta
    #   -r -
beta==2.0 ; sys_platform == 'linux' \\
    --hash=sha256:cc
"""


def test_a_lock_is_split_into_its_entries() -> None:
    entries = lock.entries("# a comment\n" + TEXT)
    assert list(entries) == ["alpha==1.0", "beta==2.0 ; sys_platform == 'linux'"]
    assert "".join(entries.values()) == TEXT


def test_a_level_holds_only_what_it_adds() -> None:
    gamma = "gamma==3 \\\n    --hash=sha256:dd\n"
    assert lock.added(TEXT + gamma, TEXT) == gamma
    assert lock.added(TEXT.replace("1.0", "1.1"), TEXT).startswith("alpha==1.1 ")


@for_each(("version", "stolen"), [("1.82.6", False), ("1.82.7", True), ("1.82.8", True), ("1.82.80", False)])
def test_compromised_releases_are_refused(version: str, *, stolen: bool) -> None:
    assert bool(lock.STOLEN.search(f"a==1 \\\nlitellm=={version} \\\n")) == stolen


def locked_packages() -> dict[str, str]:
    texts = [(ROOT / "requirements" / f"{level}.txt").read_text(encoding="utf-8") for level in lock.LEVELS]
    return {pin: entry for text in texts for pin, entry in lock.entries(text).items()}


def test_every_declared_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    asked += [item for group in project["dependency-groups"].values() for item in group if isinstance(item, str)]
    names = {match[0] for requirement in asked if (match := re.match(r"[A-Za-z0-9_.-]+", requirement))}
    assert len(names) > 10
    assert {name.lower() for name in names} - {pin.split("==")[0] for pin in locked_packages()} == set()


def test_every_entry_is_one_version_with_hashes() -> None:
    entries = locked_packages()
    assert len(entries) > 50
    assert [pin for pin, entry in entries.items() if "--hash=sha256:" not in entry or "==" not in pin] == []
    names = [pin.split("==")[0] for pin in entries]
    assert sorted(names) == sorted(set(names))


def test_no_compromised_release_is_locked() -> None:
    assert any(pin.startswith("litellm==") for pin in locked_packages())
    assert not [pin for pin in locked_packages() if lock.STOLEN.match(pin)]


def test_no_locked_package_runs_code_at_python_startup() -> None:
    # How the second of the stolen releases worked: a .pth file in site-packages.
    names = {pin.split("==")[0] for pin in locked_packages()}
    installed = [package for package in distributions() if package.name.lower().replace("_", "-") in names]
    assert len(installed) > 50
    assert [str(file) for package in installed for file in package.files or [] if file.suffix == ".pth"] == []
