"""Signs commits with the person's SSH key and verifies signatures, as git does (`gpg.format = ssh`).

A key is identified by the text of its public half, "ssh-ed25519 AAAA...". `git verify-commit` accepts our signatures.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from skilld.errors import RefusedError, SkilldError
from skilld.files import find_program, read_regular, shell_quoted
from skilld.git.run import Git
from skilld.team.programs import run_program
from skilld.values import value_class

_NAMESPACE = "git"  # the namespace of git's own signatures
_KEY_NAMES = "id_ed25519", "id_ecdsa", "id_rsa"
_KEY_TYPE_PATTERN = re.compile(
    rb"ssh-(?:ed25519|rsa)|ecdsa-sha2-nistp\d+|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com"
)
_SIGNATURE_FIELD = (
    rb"\ngpgsig(?:-sha256)? (-----BEGIN SSH SIGNATURE-----\n(?: [0-9A-Za-z+/=]*\n)+ -----END SSH SIGNATURE-----)\n"
)
_SIGNATURE_PATTERN = re.compile(_SIGNATURE_FIELD)
_MAX_KEY_BYTES = 16 << 10
_TITLE = "Nothing was signed"
_MAX_PROCESSES = 4
_MAGIC, _ED25519, _DIGESTS = b"SSHSIG\0\0\0\1", b"ssh-ed25519", (b"sha256", b"sha512")


@value_class
class SigningKey:
    """The person's SSH key: its file for ssh-keygen, and its public half."""

    path: Path
    public: str


def find_key(git: Git, home: Path) -> SigningKey:
    """Return the key that git signs with by the person's own settings, or the one that ssh uses.

    Settings of a repository are ignored. Raises SkilldError with one remedy if there is none.
    """
    if configured := _configured_key(git):
        path = Path(configured.replace("~/", f"{home}/", 1) if configured.startswith("~/") else configured)
        if not path.is_absolute():
            remedy = "Set it to the key file: git config --global user.signingKey ~/.ssh/id_ed25519.pub"
            raise SkilldError(_TITLE, "user.signingKey is not an absolute path", remedy)
        return _read_key(path)
    for name in _KEY_NAMES:
        if (home / ".ssh" / f"{name}.pub").is_file():
            return _read_key(home / ".ssh" / name)
    raise SkilldError(
        _TITLE, f"there is no SSH key in {home / '.ssh'}", "Create one, then try again: ssh-keygen -t ed25519"
    )


def _configured_key(git: Git) -> str:
    """Return the key in the person's own git settings if they sign with ssh; empty otherwise."""
    rows = git.settings(r"^(gpg\.format|user\.signingkey)$", "--global")
    return rows.get("user.signingkey", "") if rows.get("gpg.format") == "ssh" else ""


def _read_key(path: Path) -> SigningKey:
    private = _private_key_path(path)
    public = private.with_name(f"{private.name}.pub")
    try:
        words = read_regular(public, _MAX_KEY_BYTES)[0].decode("utf-8").split()
        if len(words) > 1 and _blob_type(words[1]) == words[0].encode():
            return SigningKey(path, " ".join(words[:2]))
        why = "it is not an SSH public key"
    except OSError as error:
        why = error.strerror or "it cannot be read"
    except ValueError:
        why = "it is not an SSH public key"
    remedy = f"Create it: ssh-keygen -y -f {shell_quoted(private)} > {shell_quoted(public)}"
    raise SkilldError(_TITLE, f"{public}: {why}", remedy)


def _private_key_path(path: Path) -> Path:
    """Return the private key's file; `path` may be the public one."""
    return path.with_suffix("") if path.suffix == ".pub" else path


def sign_commit(commit: bytes, key: SigningKey, environment: Mapping[str, str], folder: Path, algorithm: str) -> bytes:
    """Return a commit, in git's format, with the key's signature.

    Raises SkilldError if ssh-keygen is missing, or the key cannot be used without its passphrase.
    """
    program = _find_ssh_keygen(environment)
    answer = run_program(
        program, ["-Y", "sign", "-n", _NAMESPACE, "-f", str(key.path)], environment, folder, stdin=commit
    )
    if answer.status != 0 or b"BEGIN SSH SIGNATURE" not in answer.out:
        remedy = f"Add it to your SSH agent: ssh-add {shell_quoted(_private_key_path(key.path))}"
        raise SkilldError(_TITLE, f"{key.path} could not be used: {answer.err or 'ssh-keygen failed'}", remedy)
    lines = answer.out.strip().split(b"\n")
    head, _, message = commit.partition(b"\n\n")
    field = b"gpgsig" if algorithm == "sha1" else b"gpgsig-sha256"
    return head + b"\n" + field + b" " + b"\n ".join(lines) + b"\n\n" + message


def split_signature(data: bytes) -> tuple[bytes, bytes]:
    """Return the signed part of a commit, and its signature. Raises RefusedError unless it has exactly one."""
    head, _, message = data.partition(b"\n\n")
    found = _SIGNATURE_PATTERN.findall(head + b"\n")
    if len(found) != 1:
        raise RefusedError("Not accepted", "it is not signed with an SSH key")
    return _SIGNATURE_PATTERN.sub(b"\n", head + b"\n")[:-1] + b"\n\n" + message, found[0].replace(b"\n ", b"\n") + b"\n"


def signature_key(signature: bytes) -> str:
    """Return the public key that an SSH signature claims to be made with; raises RefusedError if it names none."""
    try:
        blob = base64.b64decode(b"".join(signature.strip().split(b"\n")[1:-1]), validate=True)
        (length,) = struct.unpack(">I", blob[10:14])
        public = blob[14 : 14 + length]
        text = base64.b64encode(public).decode() if blob[:10] == _MAGIC else ""
        return f"{_blob_type(text).decode()} {text}"
    except (ValueError, struct.error):
        raise RefusedError("Not accepted", "its signature cannot be read") from None


def _blob_type(text: str) -> bytes:
    """Return the type of a public key in base64. Raises ValueError unless ssh can sign with it."""
    try:
        public = base64.b64decode(text, validate=True)
        (length,) = struct.unpack(">I", public[:4])
    except (binascii.Error, struct.error) as error:
        raise ValueError(text) from error
    kind = public[4 : 4 + length]
    if not _KEY_TYPE_PATTERN.fullmatch(kind):
        raise ValueError(text)
    return kind


def verify_all(pairs: Sequence[tuple[bytes, bytes, str]], environment: Mapping[str, str]) -> list[bool]:
    """Return for each (payload, signature, public key) whether the signature is valid.

    Ed25519, the most common type, is verified here: 200 take 0.03 s of processor time, and 1.8 s with ssh-keygen, which
    verifies the others, one process each, 4 at a time.
    """
    results = [_verify_ed25519(*pair) for pair in pairs]
    others = [pair for pair, holds in zip(pairs, results, strict=True) if holds is None]
    if not others:
        return [bool(holds) for holds in results]
    program = _find_ssh_keygen(environment)
    with tempfile.TemporaryDirectory(prefix="skilld-") as name, ThreadPoolExecutor(_MAX_PROCESSES) as pool:
        folder = Path(name)
        asked = [
            pool.submit(_verify_with_ssh_keygen, program, folder / str(number), pair, environment)
            for number, pair in enumerate(others)
        ]
        answers = iter([one.result() for one in asked])
    return [next(answers) if holds is None else holds for holds in results]


def _verify_ed25519(payload: bytes, signature: bytes, public: str) -> bool | None:
    """Return whether an Ed25519 signature is valid, False for a form ssh-keygen does not write; None for other keys."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    kind, _, text = public.partition(" ")
    if kind != _ED25519.decode():
        return None
    try:
        own = base64.b64decode(text, validate=True)
        blob = base64.b64decode(b"".join(signature.strip().split(b"\n")[1:-1]), validate=True)
        key, space, reserved, digest, seal = _unpack_strings(blob.removeprefix(_MAGIC))
        (key_kind, point), (seal_kind, made) = _unpack_strings(key), _unpack_strings(seal)
        if not blob.startswith(_MAGIC) or key != own or {key_kind, seal_kind} != {_ED25519}:
            return False
        if space != _NAMESPACE.encode() or reserved or digest not in _DIGESTS:
            return False
        hashed = hashlib.new(digest.decode(), payload).digest()
        what = _MAGIC[:6] + b"".join(struct.pack(">I", len(one)) + one for one in (space, b"", digest, hashed))
        Ed25519PublicKey.from_public_bytes(point).verify(made, what)
    except (ValueError, struct.error, InvalidSignature):
        return False
    return True


def _unpack_strings(data: bytes) -> list[bytes]:
    """Return the length-prefixed strings in ssh's format. Raises struct.error or ValueError for any other form."""
    found, position = [], 0
    while position < len(data):
        (length,) = struct.unpack(">I", data[position : position + 4])
        found.append(data[position + 4 : position + 4 + length])
        position += 4 + length
    if position != len(data):
        raise ValueError("truncated")
    return found


def _verify_with_ssh_keygen(
    program: str, path: Path, pair: tuple[bytes, bytes, str], environment: Mapping[str, str]
) -> bool:
    payload, signature, public = pair
    allowed, seal = path.with_suffix(".allowed"), path.with_suffix(".sig")
    allowed.write_text(f'member namespaces="{_NAMESPACE}" {public}\n', encoding="utf-8")
    seal.write_bytes(signature)
    arguments = ["-Y", "verify", "-n", _NAMESPACE, "-f", str(allowed), "-I", "member", "-s", str(seal)]
    return run_program(program, arguments, environment, path.parent, stdin=payload).status == 0


def _find_ssh_keygen(environment: Mapping[str, str]) -> str:
    program = find_program("ssh-keygen", environment)
    if not program:
        raise SkilldError(_TITLE, "ssh-keygen is not on PATH", "Install OpenSSH 8.2 or newer.")
    return program
