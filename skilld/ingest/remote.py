"""Transcripts that lie elsewhere, in a folder, `s3://` or whatever else fsspec knows, as local files for a while.

The only module that imports fsspec. Credentials are those of the process that reads; none is handed on.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from skilld.agents import ADAPTERS
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
            raise FileNotFoundError("this clone does not have the transcript; fetch it first")
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


MOST_BYTES = 256 << 20  # of one transcript
_CHUNK = 1 << 20
_LOCAL = frozenset({"file", "local"})


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file that may be a transcript, by its address; `size` in bytes."""

    url: str
    size: int


def files(url: str) -> list[RemoteFile]:
    """Return the files below an address whose names are those of transcripts, in the order of their addresses.

    Of a folder that is a repository those too that a recording tool keeps in it (`skilld.ingest.remote`). Raises
    SkilldError where they cannot be listed.
    """
    system, root = _system(url)
    try:
        found = system.find(root, detail=True)
    except Exception as error:  # noqa: BLE001 - each file system raises errors of its own
        raise SkilldError(f"Cannot list {url}", str(error)[:300]) from None
    named = (RemoteFile(system.unstrip_protocol(name), int(info.get("size") or 0)) for name, info in found.items())
    wanted = [one for one in named if any(adapter.is_transcript(Path(one.url)) for adapter in ADAPTERS.values())]
    if _is_local(system):
        wanted += [RemoteFile(*one) for one in addresses(Path(root))]
    return sorted(wanted, key=lambda one: one.url)


@contextmanager
def here(url: str) -> Iterator[Path]:
    """Give a file as one of this machine: itself, or a private copy under the same name that is gone afterwards.

    Raises OSError where it cannot be read, or is too large.
    """
    if url.startswith(SCHEME):
        with _private() as folder:
            yield write(url, folder, MOST_BYTES)
        return
    try:
        system, path = _system(url)
        if _is_local(system):
            if system.size(path) > MOST_BYTES:
                raise OSError("it is too large")
            yield Path(path)
            return
    except SkilldError as error:
        raise OSError(error.cause) from error
    with _private() as folder:
        copy = Path(folder, *(part for part in PurePosixPath(path).parts if part not in {"/", ".", ".."}))
        copy.parent.mkdir(parents=True)
        _fetch(system, path, copy)
        yield copy


@contextmanager
def _private() -> Iterator[Path]:
    folder = tempfile.mkdtemp(prefix="skilld-")  # mode 0700
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_local(system: Any) -> bool:  # noqa: ANN401 - fsspec has no types
    protocols = {system.protocol} if isinstance(system.protocol, str) else set(system.protocol)
    return bool(protocols & _LOCAL)


def _fetch(system: Any, path: str, copy: Path) -> None:  # noqa: ANN401 - fsspec has no types
    if system.size(path) > MOST_BYTES:
        raise OSError("it is too large")
    try:
        with system.open(path, "rb") as source, copy.open("wb") as into:
            shutil.copyfileobj(source, into, _CHUNK)
    except Exception as error:
        raise OSError(str(error)[:300]) from error


def _system(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise SkilldError("Cannot read remote transcripts", "fsspec is not installed", _INSTALL) from None
    try:
        system, path = url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise SkilldError(f"Cannot read {url}", str(error), _INSTALL) from None
    return system, str(path)


_INSTALL = "Install it: pip install 'skilld[cluster]'"
