"""Transcripts that lie elsewhere, in a folder, `s3://` or whatever else fsspec knows, as local files for a while.

The only module that imports fsspec. Credentials are those of the process that reads; none is handed on.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from skilld.agents import ADAPTERS
from skilld.errors import SkilldError
from skilld.ingest import checkpoints

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

    Of a folder that is a repository those too that a recording tool keeps in it (`skilld.ingest.checkpoints`). Raises
    SkilldError where they cannot be listed.
    """
    system, root = _system(url)
    try:
        found = system.find(root, detail=True)
    except Exception as error:  # noqa: BLE001 - each file system raises errors of its own
        raise SkilldError(f"Cannot list {url}", str(error)[:300]) from None
    named = (RemoteFile(system.unstrip_protocol(name), int(info.get("size") or 0)) for name, info in found.items())
    wanted = [one for one in named if _may_be_transcript(one.url)]
    if _is_local(system):
        wanted += [RemoteFile(*one) for one in checkpoints.addresses(Path(root))]
    return sorted(wanted, key=lambda one: one.url)


@contextmanager
def here(url: str) -> Iterator[Path]:
    """Give a file as one of this machine: itself, or a private copy under the same name that is gone afterwards.

    Raises OSError where it cannot be read, or is too large.
    """
    if url.startswith(checkpoints.SCHEME):
        with _private() as folder:
            yield checkpoints.write(url, folder, MOST_BYTES)
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


def _may_be_transcript(url: str) -> bool:
    return any(adapter.is_transcript(Path(url)) for adapter in ADAPTERS.values())
