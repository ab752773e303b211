"""Signatures of members, compared with real ssh-keygen."""

from __future__ import annotations

import base64
import os
import subprocess
from pathlib import Path

from skilld.team.sign import signature_key, verify_all
from support.rows import for_each

TEXT = b"tree 1\n\nwhat this person taught\n"


def sign(path: Path, kind: str, space: str = "git", digest: str = "sha512") -> tuple[bytes, bytes, str]:
    """Return a text, what a new key of this kind signed it with, and that key."""
    key = path / f"{kind}-{space}-{digest}"
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", "", "-f", str(key)], check=True)
    command = ["ssh-keygen", "-Y", "sign", "-n", space, "-O", f"hashalg={digest}", "-f", str(key)]
    output = subprocess.run(command, input=TEXT, check=True, capture_output=True).stdout
    return TEXT, output, " ".join(key.with_suffix(".pub").read_text(encoding="utf-8").split()[:2])


def with_flipped_bit(signature: bytes, at: int) -> bytes:
    """Return a signature with one bit of its content turned."""
    lines = signature.strip().split(b"\n")
    blob = bytearray(base64.b64decode(b"".join(lines[1:-1])))
    blob[at] ^= 1
    return b"\n".join((lines[0], base64.b64encode(bytes(blob)), lines[-1], b""))


def lengthened(signature: bytes, more: bytes) -> bytes:
    """Return a signature with more behind it."""
    lines = signature.strip().split(b"\n")
    blob = base64.b64decode(b"".join(lines[1:-1])) + more
    return b"\n".join((lines[0], base64.b64encode(blob), lines[-1], b""))


def test_a_signature_is_valid_only_for_its_text_key_and_purpose(tmp_path: Path) -> None:
    own, short = sign(tmp_path, "ed25519"), sign(tmp_path, "ed25519", digest="sha256")
    slow = sign(tmp_path, "ecdsa")
    file = sign(tmp_path, "ed25519", "file")
    text, made, public = own
    assert signature_key(made) == public
    pairs = [own, slow, short, file, (b"x" + text, made, public), (text, made, short[2]), (text, short[1], public)]
    pairs += [(slow[0] + b"x", *slow[1:]), (text, b"", public), (text, lengthened(made, b"\0\0\0\0"), public)]
    assert verify_all(pairs, dict(os.environ)) == [True, True, True, *[False] * 7]


def test_flipping_any_bit_invalidates_it_without_running_a_program(tmp_path: Path) -> None:
    text, made, public = sign(tmp_path, "ed25519")
    size = len(base64.b64decode(b"".join(made.strip().split(b"\n")[1:-1])))
    assert (
        verify_all([(text, with_flipped_bit(made, at), public) for at in range(size)], {"PATH": ""}) == [False] * size
    )
    assert verify_all([(text, made, public)], {"PATH": ""}) == [True]


@for_each("made", [b"\xff", b"a\n!\nb", b"a\nU1NIU0lHAAAAAQ==\nb", b"a\nU1NIU0lHAAAAAf////8=\nb"])
def test_an_invalid_signature_is_none(made: bytes) -> None:
    point = base64.b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0 " + b"k" * 32).decode()
    assert verify_all([(TEXT, made, f"ssh-ed25519 {point}")], {}) == [False]
