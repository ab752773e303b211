"""Objects as git names and carries them: the id of one, and a pack of several. Pure.

A pack is the only form in which git takes blobs, trees and commits from one process together (`git unpack-objects`).
Its format: gitformat-pack(5).
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Sequence

SHA1, SHA256 = "sha1", "sha256"
_NUMBERS = {"commit": 1, "tree": 2, "blob": 3}

Written = tuple[str, bytes]
"""An object to be written: its kind and its content."""


def object_id(kind: str, data: bytes, algorithm: str = SHA1) -> str:
    """Return the name of an object in a repository of this object format."""
    return hashlib.new(algorithm, f"{kind} {len(data)}\0".encode() + data, usedforsecurity=False).hexdigest()


def pack(objects: Sequence[Written], algorithm: str = SHA1) -> bytes:
    """Return a pack of these objects, in their order, none as a difference from another."""
    out = [b"PACK", struct.pack(">II", 2, len(objects))]
    for kind, data in objects:
        out += [_header(_NUMBERS[kind], len(data)), zlib.compress(data)]
    body = b"".join(out)
    return body + hashlib.new(algorithm, body, usedforsecurity=False).digest()


def _header(number: int, size: int) -> bytes:
    """Return kind and size: 4 bits of the size in the first byte, 7 in each of the others, the lowest first."""
    first, rest = number << 4 | size & 15, size >> 4
    out = bytearray([first])
    while rest:
        out[-1] |= 128
        out.append(rest & 127)
        rest >>= 7
    return bytes(out)
