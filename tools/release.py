"""Makes everything a release consists of, from one tag: `make release TAG=v1.2.3`.

In: a tag of this repository whose name is the version that the tree says, and the address its files will have. Out, in
`dist/`: wheel, source archive, Debian package, Homebrew formula, bill of materials, and SHA256SUMS of them all. Nothing
but what is committed goes in, and the tag's own time stands for the clock, so that the same tag gives the same bytes:
`--twice` builds all of it in two folders and compares. Nothing is published. docs/releasing.md is the way around it.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools import deb, formula, sbom

ROOT = Path(__file__).resolve().parents[1]
SUMS = "SHA256SUMS"
PARTS = ("deb", "formula")  # what may be left out, where a tool or an address is missing


class ReleaseError(Exception):
    """There is no release; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Release:
    """What a tag says: `project` is the table of pyproject.toml, `who` made the commit, `at` a Unix time."""

    tag: str
    commit: str
    who: str
    at: int
    project: dict[str, Any]

    @property
    def version(self) -> str:
        """The version that is released."""
        return str(self.project["version"])


def read(root: Path, tag: str) -> Release:
    """Return what a tag says. Raises ReleaseError where it is none, or not that of the version in its tree."""
    try:
        commit = _git(root, "rev-parse", "--verify", "--quiet", f"refs/tags/{tag}^{{commit}}").strip()
    except subprocess.CalledProcessError:
        raise ReleaseError(f"there is no tag {tag}; make it: git tag -a {tag}") from None
    at, who = _git(root, "log", "-1", "--format=%ct%n%cn <%ce>", commit).splitlines()
    project = tomllib.loads(_git(root, "show", f"{commit}:pyproject.toml"))["project"]
    release = Release(tag, commit, who, int(at), project)
    if tag.removeprefix("v") != release.version:
        raise ReleaseError(f"the tag is {tag}, but pyproject.toml there says {release.version}")
    module, changes = f"{release.project['name']}/__init__.py", rf"(?m)^## \[?{re.escape(release.version)}\b"
    if f'__version__ = "{release.version}"\n' not in _git(root, "show", f"{commit}:{module}"):
        raise ReleaseError(f"{module} at {tag} says another version")
    if not re.search(changes, _git(root, "show", f"{commit}:CHANGELOG.md")):
        raise ReleaseError(f"CHANGELOG.md at {tag} has no heading for {release.version}")
    return release


def export(root: Path, commit: str, folder: Path) -> None:
    """Write the files of a commit into a new folder, with the modes that git knows."""
    packed = subprocess.run(["git", "archive", "--format=tar", commit], cwd=root, check=True, capture_output=True)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")


def distributions(tree: Path, into: Path, at: int) -> None:
    """Build the wheel and the source archive of a tree, with the back-end that is installed here."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(at), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(into)]
    done = subprocess.run(command, cwd=tree, env=environment, stdout=2, check=False, umask=0o022)
    if done.returncode:
        raise ReleaseError("the wheel could not be built; the reason stands above")


def checksums(folder: Path) -> str:
    """Return the lines that `sha256sum --check` reads, by name."""
    files = sorted(path for path in folder.iterdir() if path.name != SUMS)
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)


def build(root: Path, release: Release, source: formula.Source | None, into: Path, *, with_deb: bool) -> None:
    """Make everything into the empty folder `into`; without `source` no formula."""
    with tempfile.TemporaryDirectory(prefix="skilld-release-") as scratch:
        tree = Path(scratch) / "tree"
        export(root, release.commit, tree)
        distributions(tree, into, release.at)
        name = f"{release.project['name']}-{release.version}"
        lock = (tree / "requirements/run.txt").read_text(encoding="utf-8")
        made = sbom.text(sbom.document(lock, release.project, release.at))
        (into / f"{name}.cdx.json").write_text(made, encoding="utf-8")
        if source is not None:
            archive = hashlib.sha256((into / f"{name}.tar.gz").read_bytes()).hexdigest()
            text = formula.formula(source, archive, release.project["description"], release.project["license"])
            (into / "skilld.rb").write_text(text, encoding="utf-8")
        if with_deb:
            deb.describe(tree, release.version, release.who, release.at)
            deb.build(tree, into, release.at)
    for path in into.iterdir():
        path.chmod(0o644)
    (into / SUMS).write_text(checksums(into), encoding="utf-8")


def source_of(root: Path, release: Release, address: str | None) -> formula.Source:
    """Return where the release can be had: below `address`, else in the releases of the remote `origin`."""
    try:
        page = formula.page(_git(root, "remote", "get-url", "origin"))
    except subprocess.CalledProcessError:
        page = None
    below = address or (formula.downloads(page, release.tag) if page else None)
    if below is None:
        raise ReleaseError(
            "where will the files be? The remote `origin` is no address on the web.\n"
            "  Name the folder: --address URL, or leave the formula out: --without formula"
        )
    archive = f"{below.rstrip('/')}/{release.project['name']}-{release.version}.tar.gz"
    return formula.Source(page or below, archive)


def compared(first: Path, second: Path) -> list[str]:
    """Return the names of files that two folders have not alike."""
    names = {path.name for folder in (first, second) for path in folder.iterdir()}

    def content(folder: Path, name: str) -> bytes | None:
        return (folder / name).read_bytes() if (folder / name).exists() else None

    return sorted(name for name in names if content(first, name) != content(second, name))


def main(argv: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Make the release; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description="Makes what a release consists of.")
    parser.add_argument("tag", metavar="TAG", help="such as v1.2.3")
    parser.add_argument(
        "--into",
        metavar="DIR",
        type=Path,
        default=root / "dist",
        help="default: dist; an earlier release in it is replaced",
    )
    parser.add_argument("--address", metavar="URL", help="the folder on the web that will have the files")
    parser.add_argument(
        "--without", metavar="PART", action="append", choices=PARTS, default=[], help=" or ".join(PARTS)
    )
    parser.add_argument("--twice", action="store_true", help="build everything twice, and fail unless the bytes agree")
    given = parser.parse_args(argv)
    try:
        _make(root, given)
    except (ReleaseError, deb.DebError, ValueError) as error:
        print(f"no release: {error}", file=sys.stderr)
        return 1
    print((given.into / SUMS).read_text(encoding="utf-8"), end="")
    return 0


def _make(root: Path, given: argparse.Namespace) -> None:
    release = read(root, given.tag)
    source = None if "formula" in given.without else source_of(root, release, given.address)
    with_deb = "deb" not in given.without
    if with_deb and (lacking := deb.missing()):
        raise ReleaseError(f"the Debian package needs {', '.join(lacking)}, or: --without deb")
    into: Path = given.into
    if into.exists() and any(into.iterdir()) and not (into / SUMS).exists():
        raise ReleaseError(f"{into} holds something else than a release")
    with tempfile.TemporaryDirectory(prefix="skilld-release-") as scratch:
        folders = [Path(scratch) / name for name in (["made", "again"] if given.twice else ["made"])]
        for folder in folders:
            folder.mkdir()
            build(root, release, source, folder, with_deb=with_deb)
        if differing := compared(folders[0], folders[-1]):
            raise ReleaseError(f"not the same bytes twice: {', '.join(differing)}")
        shutil.rmtree(into, ignore_errors=True)
        shutil.copytree(folders[0], into)


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
