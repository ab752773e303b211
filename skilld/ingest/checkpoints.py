"""The sessions that a recording tool keeps in git beside the work: Entire's checkpoints, one transcript a session.

A checkpoint has the transcripts of its sessions as far as they had come; older versions have what was new since the
last one. So the lines of all checkpoints of a session, each once, are its transcript. Nothing but its objects is read
of the repository.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from skilld.errors import SkilldError
from skilld.git import objects, tree
from skilld.git.environment import scrub_environment
from skilld.git.run import Git

SCHEME = "checkpoints://"
# Its branch, here or fetched, and the newer form of a ref for each checkpoint.
_REFS = "refs/heads/entire/checkpoints", "refs/remotes/*/entire/checkpoints/*", "refs/entire/checkpoints"
_FILE = re.compile(r"((?:.*/)?\d+)/(metadata\.json|full\.jsonl(?:\.\d{3})?)")
_ABOUT = "metadata.json"
_MAX_ABOUT = 1 << 20  # bytes
_ID = re.compile(r"[\w.-]{1,100}")


@dataclass(frozen=True, slots=True)
class _Part:
    """What one checkpoint has of a session: `blobs` are the pieces of the transcript, in order."""

    session: str
    at: str
    blobs: tuple[str, ...]


def addresses(folder: Path) -> list[tuple[str, int]]:
    """Return the address of each session that is kept in a repository, and how many bytes its checkpoints have.

    None where the folder is no repository; of one that git cannot read a single one, for which `write` says so.
    """
    git = _git(folder)
    if git is None:
        return []
    try:
        parts = sorted(set(_parts(git)), key=lambda one: (one.at, one.blobs))
        named = dict.fromkeys(blob for one in parts for blob in one.blobs)
        sizes = {oid: size for oid, _, size in objects.sizes(git, named)}
    except SkilldError:
        return [(f"{SCHEME}{folder.absolute()}#", 0)]
    by_session: dict[str, list[_Part]] = {}
    for part in parts:
        by_session.setdefault(part.session, []).append(part)
    found = []
    for session, own in by_session.items():
        blobs = dict.fromkeys(",".join(one.blobs) for one in own)
        size = sum(max(sizes[blob], 0) for one in blobs for blob in one.split(","))
        found.append((f"{SCHEME}{folder.absolute()}#{session}/{'+'.join(blobs)}", size))
    return sorted(found)


def write(address: str, folder: Path, most: int) -> Path:
    """Write the transcript that `addresses` named to a file in a folder, and return that.

    What a clone that was fetched in part has not is left out. Raises OSError where nothing is left, more than `most`
    bytes are, or git cannot read the repository.
    """
    place, _, name = address.removeprefix(SCHEME).rpartition("#")
    session, _, blobs = name.rpartition("/")
    git = _git(Path(place))
    if git is None or not blobs:
        raise OSError("git cannot read this repository")
    seen: set[bytes] = set()
    path = folder / f"session-{Path(session).name}.jsonl"
    with path.open("wb") as out:
        for one in blobs.split("+"):
            sizes = [size for _, _, size in objects.sizes(git, one.split(","))]
            if min(sizes) < 0:
                continue
            if sum(sizes) > most or out.tell() > most:
                raise OSError("it is too large")
            data = b"\n".join(git.run("cat-file", "blob", blob) for blob in one.split(","))
            lines = data.splitlines()
            if not (lines and lines[0].startswith(b"{") and lines[0].endswith(b"}")):
                path = path.rename(path.with_suffix(".json"))  # one document, which each checkpoint has as a whole
                out.truncate(0)
                out.seek(0)
                out.write(data)
                continue
            for line in lines:
                key = hashlib.blake2b(line, digest_size=16).digest()
                if key not in seen:
                    seen.add(key)
                    out.write(line + b"\n")
        if not out.tell():
            raise FileNotFoundError("this clone does not have it; fetch it first")
    return path


def _git(folder: Path) -> Git | None:
    scrub_environment()
    if (folder / ".git").exists():
        return Git(folder, ceiling=folder.parent)
    if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
        return Git(folder, git_dir=folder)
    return None


def _parts(git: Git) -> Iterator[_Part]:
    for tip in dict.fromkeys(git.run("for-each-ref", "--format=%(objectname)", *_REFS).decode().split()):
        folders: dict[str, dict[str, str]] = {}
        for path, entry in tree.parse(git.run("ls-tree", "-r", "-z", tip)).items():
            if match := _FILE.fullmatch(path):
                folders.setdefault(match[1], {})[match[2]] = entry.oid
        whole = {name: files for name, files in folders.items() if _ABOUT in files and len(files) > 1}
        for files, about in zip(whole.values(), _abouts(git, [files[_ABOUT] for files in whole.values()]), strict=True):
            if _ID.fullmatch(session := str(about.get("session_id"))):
                blobs = tuple(files[name] for name in sorted(files) if name != _ABOUT)
                yield _Part(session, str(about.get("created_at")), blobs)


def _abouts(git: Git, oids: Sequence[str]) -> Iterator[dict[str, object]]:
    fit = {oid for oid, _, size in objects.sizes(git, oids) if 0 <= size <= _MAX_ABOUT}
    found = {one.oid: one.data for one in objects.read(git, sorted(fit)) if one is not None}
    for oid in oids:
        try:
            about = json.loads(found.get(oid, b""))
        except (ValueError, RecursionError):
            about = None
        yield about if isinstance(about, dict) else {}
