"""Transcripts from other places (a folder, `s3://`, anything fsspec knows), provided as temporary local files.

The only module that imports fsspec. It uses the credentials of its own process and passes none on.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from skilld.agents import ADAPTERS
from skilld.errors import SkilldError
from skilld.git import objects, tree
from skilld.git.run import Git
from skilld.git.top import is_top
from skilld.values import value_class

CHECKPOINT_SCHEME = "checkpoints://"
# The branch of a recording tool (`entire`), local or fetched, and its newer form with a ref for each checkpoint.
_CHECKPOINT_REFS = "refs/heads/entire/checkpoints", "refs/remotes/*/entire/checkpoints/*", "refs/entire/checkpoints"
_FILE_PATTERN = re.compile(r"((?:.*/)?\d+)/(metadata\.json|full\.jsonl(?:\.\d{3})?)")
_METADATA_FILE = "metadata.json"
_MAX_METADATA_BYTES = 1 << 20  # bytes
_ID_PATTERN = re.compile(r"[\w.-]{1,100}")


@value_class
class _Checkpoint:
    """One checkpoint of a session: `blobs` are the pieces of the transcript, in order."""

    session: str
    at: str
    blobs: tuple[str, ...]


def checkpoint_addresses(folder: Path) -> list[tuple[str, int]]:
    """Return the address of each session stored in a repository, and the bytes of its checkpoints.

    Empty if the folder is not a repository. A repository that git cannot read gives one address, for which
    `write_checkpoints` raises the error.
    """
    git = _open_repository(folder)
    if git is None:
        return []
    try:
        parts = sorted(set(_checkpoints(git)), key=lambda one: (one.at, one.blobs))
        named = dict.fromkeys(blob for one in parts for blob in one.blobs)
        sizes = {oid: size for oid, _, size in objects.read_sizes(git, named)}
    except SkilldError:
        return [(f"{CHECKPOINT_SCHEME}{folder.absolute()}#", 0)]
    by_session: dict[str, list[_Checkpoint]] = {}
    for part in parts:
        by_session.setdefault(part.session, []).append(part)
    found = []
    for session, own in by_session.items():
        blobs = dict.fromkeys(",".join(one.blobs) for one in own)
        size = sum(max(sizes[blob], 0) for one in blobs for blob in one.split(","))
        found.append((f"{CHECKPOINT_SCHEME}{folder.absolute()}#{session}/{'+'.join(blobs)}", size))
    return sorted(found)


def write_checkpoints(address: str, folder: Path, max_bytes: int) -> Path:
    """Write the transcript at an address from `checkpoint_addresses` to a file in a folder; return its path.

    Blobs that a partial clone lacks are left out. Raises OSError if nothing is left, if it exceeds `max_bytes`,
    or if git cannot read the repository.
    """
    place, _, name = address.removeprefix(CHECKPOINT_SCHEME).rpartition("#")
    session, _, blobs = name.rpartition("/")
    git = _open_repository(Path(place))
    if git is None or not blobs:
        raise OSError("git cannot read this repository")
    seen: set[bytes] = set()
    path = folder / f"session-{Path(session).name}.jsonl"
    with path.open("wb") as out:
        for one in blobs.split("+"):
            sizes = [size for _, _, size in objects.read_sizes(git, one.split(","))]
            if min(sizes) < 0:
                continue
            if sum(sizes) > max_bytes or out.tell() > max_bytes:
                raise OSError("it is too large")
            data = b"\n".join(git.run("cat-file", "blob", blob) for blob in one.split(","))
            lines = data.splitlines()
            if not (lines and lines[0].startswith(b"{") and lines[0].endswith(b"}")):
                path = path.rename(path.with_suffix(".json"))  # one document, complete in each checkpoint
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


def _open_repository(folder: Path) -> Git | None:
    if is_top(folder):
        return Git(folder, ceiling=folder.parent)
    if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
        return Git(folder, git_dir=folder)
    return None


def _checkpoints(git: Git) -> Iterator[_Checkpoint]:
    for tip in dict.fromkeys(git.run("for-each-ref", "--format=%(objectname)", *_CHECKPOINT_REFS).decode().split()):
        folders: dict[str, dict[str, str]] = {}
        for path, entry in tree.parse_entries(git.run("ls-tree", "-r", "-z", tip)).items():
            if match := _FILE_PATTERN.fullmatch(path):
                folders.setdefault(match[1], {})[match[2]] = entry.oid
        whole = {name: files for name, files in folders.items() if _METADATA_FILE in files and len(files) > 1}
        metadata = _read_metadata(git, [files[_METADATA_FILE] for files in whole.values()])
        for files, about in zip(whole.values(), metadata, strict=True):
            if _ID_PATTERN.fullmatch(session := str(about.get("session_id"))):
                blobs = tuple(files[name] for name in sorted(files) if name != _METADATA_FILE)
                yield _Checkpoint(session, str(about.get("created_at")), blobs)


def _read_metadata(git: Git, oids: Sequence[str]) -> Iterator[dict[str, object]]:
    fit = {oid for oid, _, size in objects.read_sizes(git, oids) if 0 <= size <= _MAX_METADATA_BYTES}
    found = {one.oid: one.data for one in objects.read_objects(git, sorted(fit)) if one is not None}
    for oid in oids:
        try:
            about = json.loads(found.get(oid, b""))
        except (ValueError, RecursionError):
            about = None
        yield about if isinstance(about, dict) else {}


MAX_BYTES = 256 << 20  # of one transcript
_COPY_BYTES = 1 << 20
_LOCAL_PROTOCOLS = frozenset({"file", "local"})


@value_class
class RemoteFile:
    """A possible transcript, by its address; `size` in bytes."""

    url: str
    size: int


def list_files(url: str) -> list[RemoteFile]:
    """Return the files below an address that have the names of transcripts, sorted by address.

    If the folder is a repository, those that a recording tool stores in it are included. Raises SkilldError if they
    cannot be listed.
    """
    system, root = _file_system(url)
    try:
        found = system.find(root, detail=True)
    except Exception as error:  # noqa: BLE001 - each file system raises errors of its own
        raise SkilldError(f"Cannot list {url}", str(error)[:300]) from None
    named = (RemoteFile(system.unstrip_protocol(name), int(info.get("size") or 0)) for name, info in found.items())
    wanted = [one for one in named if any(adapter.is_transcript(Path(one.url)) for adapter in ADAPTERS.values())]
    if _is_local(system):
        wanted += [RemoteFile(*one) for one in checkpoint_addresses(Path(root))]
    return sorted(wanted, key=lambda one: one.url)


@contextmanager
def local_file(url: str) -> Iterator[Path]:
    """Yield a local path for a file: its own, or a private copy with the same name that is deleted afterwards.

    Raises OSError if it cannot be read or is too large.
    """
    if url.startswith(CHECKPOINT_SCHEME):
        with _private_folder() as folder:
            yield write_checkpoints(url, folder, MAX_BYTES)
        return
    try:
        system, path = _file_system(url)
        if _is_local(system):
            if system.size(path) > MAX_BYTES:
                raise OSError("it is too large")
            yield Path(path)
            return
    except SkilldError as error:
        raise OSError(error.cause) from error
    with _private_folder() as folder:
        copy = Path(folder, *(part for part in PurePosixPath(path).parts if part not in {"/", ".", ".."}))
        copy.parent.mkdir(parents=True)
        _download(system, path, copy)
        yield copy


@contextmanager
def _private_folder() -> Iterator[Path]:
    folder = tempfile.mkdtemp(prefix="skilld-")  # mode 0700
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_local(system: Any) -> bool:  # noqa: ANN401 - fsspec has no types
    protocols = {system.protocol} if isinstance(system.protocol, str) else set(system.protocol)
    return bool(protocols & _LOCAL_PROTOCOLS)


def _download(system: Any, path: str, copy: Path) -> None:  # noqa: ANN401 - fsspec has no types
    if system.size(path) > MAX_BYTES:
        raise OSError("it is too large")
    try:
        with system.open(path, "rb") as source, copy.open("wb") as into:
            shutil.copyfileobj(source, into, _COPY_BYTES)
    except Exception as error:
        raise OSError(str(error)[:300]) from error


def _file_system(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise SkilldError("Cannot read remote transcripts", "fsspec is not installed", _INSTALL_REMEDY) from None
    try:
        system, path = url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise SkilldError(f"Cannot read {url}", str(error), _INSTALL_REMEDY) from None
    return system, str(path)


_INSTALL_REMEDY = "Install it: pip install 'skilld[cluster]'"
