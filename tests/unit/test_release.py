"""A release: its contents, that it is reproducible, and when it is refused (18.8)."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from skilld import __version__
from support.rows import for_each
from tools import deb, formula, release, sbom

ROOT = Path(__file__).parents[2]
AT = 1_795_435_200  # 2026-11-23T12:00:00Z
SMALL = {
    "pyproject.toml": """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "skilld"
version = "2.0.0"
requires-python = ">=3.11"
description = "Remembers what you teach: small, quoted edits."
license = "MIT"
[tool.hatch.build.targets.wheel]
packages = ["skilld"]
""",
    "skilld/__init__.py": '__version__ = "2.0.0"\n',
    "skilld/prompt.txt": "Say it.\n",
    "CHANGELOG.md": "# Changelog\n\n## 2.0.0 - 2026-11-23\n",
    "requirements/run.txt": "alpha==1.0 \\\n    --hash=sha256:aa\n    # via skilld (pyproject.toml)\n",
    ".gitignore": "dist/\n",
}
ADDRESS = "https://files.invalid/skilld/v2.0.0"


def git(folder: Path, *arguments: str) -> str:
    environment = os.environ | {"GIT_COMMITTER_DATE": f"{AT} +0000", "GIT_AUTHOR_DATE": f"{AT} +0000"}
    command = ["git", "-c", "init.defaultBranch=main", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def small_project(tmp_path: Path) -> Path:
    """Make a repository with a small project and the tag v2.0.0."""
    root = tmp_path / "small"
    for name, text in SMALL.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Release 2.0.0")
    git(root, "tag", "v2.0.0")
    return root


def make_release(root: Path, tag: str, *arguments: str) -> int:
    return release.main([tag, "--without", "deb", *arguments], root)


def tracked_files() -> set[str]:
    return set(filter(None, git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")))


@pytest.fixture(scope="module")
def built_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build wheel and source archive of what is checked out."""
    folder = tmp_path_factory.mktemp("built")
    release.distributions(ROOT, folder, AT)
    return folder


def test_the_wheel_contains_what_it_needs(built_release: Path) -> None:
    (path,) = built_release.glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        held = {info.filename: info.external_attr >> 16 & 0o777 for info in wheel.infolist()}
    assert {name for name in tracked_files() if name.startswith("skilld/") and (ROOT / name).exists()} <= held.keys()
    assert "skilld/classify/prompts/detect_system.txt" in held
    assert {"skilld/_units/systemd/skilld.service", "skilld/_units/launchd/dev.skilld.daemon.plist"} <= held.keys()
    data = f"skilld-{__version__}.data/data/share"
    assert {name.removeprefix(data) for name in held if name.startswith(data)} == {
        "/man/man1/skilld.1",
        "/bash-completion/completions/skilld",
        "/zsh/site-functions/_skilld",
        "/fish/vendor_completions.d/skilld.fish",
    }
    assert not [name for name in held if "__pycache__" in name or name.startswith("tests/")]
    assert set(held.values()) == {0o644}


def test_everything_can_be_built_from_the_source_archive(built_release: Path) -> None:
    (path,) = built_release.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        held = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    assert {name for name in tracked_files() if (ROOT / name).exists()} - held == set()
    assert held - tracked_files() == {"PKG-INFO"}


def test_the_same_tag_gives_the_same_bytes(
    small_project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From another folder, with other modes, times and an uncommitted change: only what is committed counts."""
    assert make_release(small_project, "v2.0.0", "--address", ADDRESS, "--into", str(tmp_path / "one"), "--twice") == 0
    other = tmp_path / "other place" / "clone"
    umask = os.umask(0o077)
    try:
        other.parent.mkdir()
        git(tmp_path, "clone", "-q", str(small_project), str(other))
        (other / "skilld/prompt.txt").write_text("Say something else.\n")
        (other / "skilld/secret.txt").write_text("not committed")
        assert make_release(other, "v2.0.0", "--address", ADDRESS, "--into", str(tmp_path / "two")) == 0
    finally:
        os.umask(umask)
    names = ["SHA256SUMS", "skilld-2.0.0-py3-none-any.whl", "skilld-2.0.0.cdx.json", "skilld-2.0.0.tar.gz", "skilld.rb"]
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == names
    assert release.compared(tmp_path / "one", tmp_path / "two") == []
    archive = hashlib.sha256((tmp_path / "two/skilld-2.0.0.tar.gz").read_bytes()).hexdigest()
    assert f'sha256 "{archive}"' in (tmp_path / "two/skilld.rb").read_text()
    with zipfile.ZipFile(tmp_path / "two" / names[1]) as wheel:
        assert wheel.read("skilld/prompt.txt") == b"Say it.\n"
        assert {info.date_time for info in wheel.infolist()} == {(2026, 11, 23, 12, 0, 0)}
    told = capsys.readouterr().out.splitlines()[: len(names) - 1]
    for line in told:
        digest, name = line.split("  ")
        assert hashlib.sha256((tmp_path / "one" / name).read_bytes()).hexdigest() == digest
    assert [line.split("  ")[1] for line in told] == names[1:]


def test_a_difference_is_reported(tmp_path: Path) -> None:
    for name, text in {"a/same": "1", "b/same": "1", "a/other": "1", "b/other": "2", "b/more": "1"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert release.compared(tmp_path / "a", tmp_path / "b") == ["more", "other"]


def _changed(root: Path, **texts: str) -> None:
    """Commit the small project as 2.0.2, with these texts in place of its own, and tag it."""
    for name, text in ({name: text.replace("2.0.0", "2.0.2") for name, text in SMALL.items()} | texts).items():
        (root / name).write_text(text)
    git(root, "commit", "-qam", "Change it")
    git(root, "tag", "v2.0.2")


def _no_tag(root: Path) -> list[str]:
    del root
    return ["v9"]


def _other_version(root: Path) -> list[str]:
    git(root, "tag", "v2.0.1")
    return ["v2.0.1"]


def _other_module(root: Path) -> list[str]:
    _changed(root, **{"skilld/__init__.py": '__version__ = "2.0.1"\n'})
    return ["v2.0.2"]


def _not_in_the_changelog(root: Path) -> list[str]:
    _changed(root, **{"CHANGELOG.md": "## Unreleased\n"})
    return ["v2.0.2"]


def _into_a_checkout(root: Path) -> list[str]:
    return ["v2.0.0", "--without", "formula", "--into", str(root)]


@pytest.mark.parametrize(
    ("prepared", "why"),
    [
        (_no_tag, "there is no tag v9"),
        (_other_version, "the tag is v2.0.1, but pyproject.toml there says 2.0.0"),
        (_other_module, "skilld/__init__.py at v2.0.2 says another version"),
        (_not_in_the_changelog, "CHANGELOG.md at v2.0.2 has no heading for 2.0.2"),
        (lambda _: ["v2.0.0"], "where will the files be?"),
        (lambda _: ["v2.0.0", "--address", "https://a.invalid/$(x)"], "no address that a formula can hold"),
        (_into_a_checkout, "holds something else than a release"),
    ],
)
def test_an_invalid_release_is_refused(
    small_project: Path, prepared: Callable[[Path], list[str]], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert make_release(small_project, *prepared(small_project)) == 1
    errors = capsys.readouterr().err
    assert "no release: " in errors
    assert why in errors
    assert not (small_project / "dist").exists()
    assert (small_project / "skilld/prompt.txt").exists()


FORMULA = formula.formula(
    formula.Source("https://code.invalid/ada/skilld", f"{ADDRESS}/skilld-2.0.0.tar.gz"),
    "0" * 64,
    "Remembers what you teach your agents: small, quoted edits.",
    "MIT",
)


def test_the_formula_has_the_url_and_checksum() -> None:
    assert f'  url "{ADDRESS}/skilld-2.0.0.tar.gz"\n  sha256 "{"0" * 64}"\n  license "MIT"\n' in FORMULA
    assert '  desc "Remembers what you teach your agents"\n' in FORMULA
    assert '  homepage "https://code.invalid/ada/skilld"\n' in FORMULA
    assert not re.search(r"@[A-Z]+@", FORMULA)
    for name in re.findall(r'"((?:docs|completions|requirements)/[^"]+)"', FORMULA):
        assert (ROOT / name).is_file(), name


@pytest.mark.skipif(shutil.which("ruby") is None, reason="ruby is not installed")
def test_the_formula_is_valid_ruby(tmp_path: Path) -> None:
    (tmp_path / "skilld.rb").write_text(FORMULA)
    result = subprocess.run(["ruby", "-wc", tmp_path / "skilld.rb"], check=False, capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "Syntax OK\n", "")


def test_no_formula_is_committed() -> None:
    assert [name for name in tracked_files() if name.endswith(".rb")] == []


@for_each(
    ("remote", "page"),
    [
        ("https://code.invalid/ada/skilld.git", "https://code.invalid/ada/skilld"),
        ("https://token@code.invalid/ada/skilld", "https://code.invalid/ada/skilld"),
        ("git@code.invalid:ada/skilld.git", "https://code.invalid/ada/skilld"),
        ("ssh://git@code.invalid:2222/ada/skilld.git", "https://code.invalid/ada/skilld"),
        ("/srv/skilld.git", None),
        ("../skilld", None),
        ("file:///srv/skilld", None),
    ],
)
def test_a_remote_url_gives_its_web_page(remote: str, page: str | None) -> None:
    assert formula.page(remote) == page


LOCK = """\
alpha==1.0+local \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via skilld (pyproject.toml)
beta==4!2.0 ; sys_platform == 'linux' \\
    --hash=sha256:cc
    # via
    #   alpha
    #   maker
maker==3 \\
    --hash=sha256:dd
tool==5 \\
    --hash=sha256:ee
    # via maker
"""


def test_the_bill_of_materials_lists_dependencies() -> None:
    made = sbom.document(LOCK, {"name": "skilld", "version": "2.0.0", "license": "MIT"}, AT)
    assert made["metadata"]["timestamp"] == "2026-11-23T12:00:00Z"
    assert [(component["purl"], component["scope"]) for component in made["components"]] == [
        ("pkg:pypi/alpha@1.0%2Blocal", "required"),
        ("pkg:pypi/beta@4%212.0", "required"),
        ("pkg:pypi/maker@3", "excluded"),
        ("pkg:pypi/tool@5", "excluded"),
    ]
    assert made["components"][1]["properties"] == [{"name": "installed-where", "value": "sys_platform == 'linux'"}]
    assert made["components"][0]["hashes"] == [{"alg": "SHA-256", "content": "aa"}, {"alg": "SHA-256", "content": "bb"}]
    assert {one["ref"]: one["dependsOn"] for one in made["dependencies"]} == {
        "pkg:pypi/skilld@2.0.0": ["pkg:pypi/alpha@1.0%2Blocal"],
        "pkg:pypi/alpha@1.0%2Blocal": ["pkg:pypi/beta@4%212.0"],
        "pkg:pypi/beta@4%212.0": [],
        "pkg:pypi/maker@3": ["pkg:pypi/beta@4%212.0", "pkg:pypi/tool@5"],
        "pkg:pypi/tool@5": [],
    }


def test_the_bill_of_materials_of_the_lock_is_complete() -> None:
    lock = (ROOT / "requirements/run.txt").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = sbom.text(sbom.document(lock, project, AT))
    assert text == sbom.text(sbom.document(lock, project, AT))
    document = json.loads(text)
    assert len(document["components"]) == lock.count("==") - lock.count(" == '") > 100
    names = {component["name"]: component["scope"] for component in document["components"]}
    assert (names["litellm"], names["tokenizers"], names["hatchling"]) == ("required", "required", "excluded")
    assert all(component["hashes"] for component in document["components"])


def test_the_debian_package_names_the_tagger_and_date(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "debian", tmp_path / "debian")
    deb.describe(tmp_path, "2.0.0", r"Ada \1 Maker <ada@maker.invalid>", AT)
    lines = (tmp_path / "debian/changelog").read_text().splitlines()
    assert lines[0] == "skilld (2.0.0) unstable; urgency=medium"
    assert lines[-1] == r" -- Ada \1 Maker <ada@maker.invalid>  Mon, 23 Nov 2026 12:00:00 +0000"
    control = (tmp_path / "debian/control").read_text()
    assert "Maintainer: Ada \\1 Maker <ada@maker.invalid>\n" in control
    (tmp_path / "debian/control").write_text("Source: skilld\n")
    with pytest.raises(deb.DebError, match="no line Maintainer"):
        deb.describe(tmp_path, "2.0.0", "Ada", AT)


def test_every_file_has_the_same_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changelog = (ROOT / "debian/changelog").read_text(encoding="utf-8")
    assert changelog.startswith(f"skilld ({__version__}) ")
    assert project["version"] == __version__
