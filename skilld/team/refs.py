"""The refs of a team's members on the remote: reads and checks what each contains, and writes this person's own.

A person's ref points to one commit without a parent, signed with that person's SSH key, whose tree holds their records
as files named by their content. Everything read here was written by somebody else: a person whose data breaks a rule is
left out with the reason, without affecting the others.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from skilld.errors import RefusedError, SkilldError
from skilld.git import objects, tree
from skilld.git.borrowed_repo import BorrowedRepo, Push, RemoteRefs
from skilld.git.errors import GitFailedError, LostRaceError
from skilld.git.objects import OWN_EMAIL, Ident
from skilld.git.run import Git, Result
from skilld.team import sign
from skilld.team.records import (
    MACHINE_TYPES,
    MAX_BYTES,
    MAX_PEOPLE,
    MAX_RECORDS,
    TEAM_TYPES,
    Record,
    RecordType,
    decode,
    encode,
    is_person_name,
    record_file_name,
)
from skilld.values import value_class

TEAM_REFS = "refs/skilld/team/"
_COMMIT_MESSAGE = b"skilld: what this person taught\n\n[skip ci]\n"
_ABOUT_FILE, _RECORDS_FOLDER = "person.json", "records"
_FILE_MODE = "100644"
_MAX_COMMIT_BYTES = 16 << 10
_MAX_ROOT_BYTES = 256
_MAX_ROW_BYTES = 7 + 37 + 1 + 32  # bytes of one record in its tree at most: mode, name, id
_MAX_FETCH_BYTES = 32 << 20  # bytes of one fetch
_MAX_REF_BYTES = 2 << 20
_DAMAGED_PATTERN = re.compile(
    r"fsck|index-pack|unpack|bad object|invalid|file size limit|too large|missing", re.IGNORECASE
)
_REJECTED_PATTERN = re.compile(r"\[remote rejected\]|hidden ref|denied|prohibited|not allowed|declined", re.IGNORECASE)
_STALE_PATTERN = re.compile(
    r"stale info|fetch first|non-fast-forward|cannot lock ref|reference already exists", re.IGNORECASE
)
_DAY_SECONDS = 86400


@value_class
class RefLayout:
    """Where records are (on `branches` if a host accepts no other refs), of which types, and how many on one ref."""

    refs: str
    branches: str
    kinds: frozenset[RecordType]
    most: int


TEAM_LAYOUT = RefLayout(TEAM_REFS, "refs/heads/skilld/team/", TEAM_TYPES, MAX_RECORDS)
MACHINES_LAYOUT = RefLayout("refs/skilld/machines/", "refs/heads/skilld/machines/", MACHINE_TYPES, 4 * MAX_RECORDS)


@value_class
class Pin:
    """What the next version of a person's ref is checked against: their key, the newest serial, and the commit."""

    public: str
    serial: int = 0
    tip: str = ""


@value_class
class Member:
    """One person's records with a checked signature; `public` is the key that made it."""

    person: str
    public: str
    serial: int
    tip: str
    records: tuple[Record, ...]


@dataclass(slots=True)
class ReadResult:
    """What was read: people by name, why others were left out, and the remote's refs of this `form`."""

    members: dict[str, Member] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    listed: RemoteRefs = field(default_factory=lambda: RemoteRefs({}, ""))
    form: RefLayout = TEAM_LAYOUT


def read_members(
    hub: BorrowedRepo,
    address: str,
    pins: Mapping[str, Pin],
    environment: Mapping[str, str],
    extra: Sequence[str] = (),
    *,
    form: RefLayout = TEAM_LAYOUT,
) -> ReadResult:
    """Fetch what changed on the remote and return all of it, each person's records checked.

    `pins` is what is known about people from before: the first version of a ref is trusted, later ones must be signed
    with the same key. `extra` are patterns of further refs to list. Raises GitFailedError if the remote cannot be
    reached.
    """
    found = ReadResult(listed=hub.list_refs(address, [f"{form.refs}*", f"{form.branches}*", *extra]), form=form)
    there = _list_people(found)
    _fetch(hub, address, there, found)
    tips = {person: oid for person, (_, oid) in there.items() if person not in found.refused}
    return check_members(hub.git, tips, pins, environment, found)


def check_members(
    git: Git, tips: Mapping[str, str], pins: Mapping[str, Pin], environment: Mapping[str, str], found: ReadResult
) -> ReadResult:
    """Add to `found` the contents of these local commits: people's records, or why they were refused."""
    claimed = _read_claims(git, tips, found)
    _verify(claimed, pins, environment, found)
    trees = {person: one.tree for person, one in claimed.items() if person not in found.refused}
    before = {person for person, pin in pins.items() if tips.get(person) == pin.tip}
    for person, (serial, records) in _records(git, trees, found, before).items():
        one = claimed[person]
        if (known := pins.get(person)) and serial < known.serial:
            found.refused[person] = "it is older than the version received before"
        else:
            found.members[person] = Member(person, one.public, serial, one.tip, records)
    return found


def update_pins(pins: Mapping[str, Pin], found: ReadResult) -> dict[str, Pin]:
    """Return the pins updated with the people who were read; nobody is removed, so that no name can be reused."""
    return dict(pins) | {one.person: Pin(one.public, one.serial, one.tip) for one in found.members.values()}


def _list_people(found: ReadResult) -> dict[str, tuple[str, str]]:
    """Return person -> (ref, commit); a ref takes precedence over a branch."""
    there: dict[str, tuple[str, str]] = {}
    for prefix in (found.form.branches, found.form.refs):
        for ref, oid in found.listed.refs.items():
            if ref.startswith(prefix):
                name = ref.removeprefix(prefix)
                if is_person_name(name):
                    there[name] = (ref, oid)
                else:
                    found.refused[name[:40]] = "the name is not valid"
    if len(there) > MAX_PEOPLE:
        raise RefusedError(
            "Could not read the team's rules", f"{len(there)} people share rules; the limit is {MAX_PEOPLE}"
        )
    return there


def _fetch(hub: BorrowedRepo, address: str, there: Mapping[str, tuple[str, str]], found: ReadResult) -> None:
    fetched = {item[0] for item in objects.read_sizes(hub.git, [oid for _, oid in there.values()]) if item[2] >= 0}
    wanted = {person: ref for person, (ref, oid) in there.items() if oid not in fetched}
    together = {ref: found.form.refs + who for who, ref in wanted.items()}
    if not wanted or not _refusal_reason(hub.fetch(address, together, max_bytes=_MAX_FETCH_BYTES)):
        return
    for person, ref in wanted.items():  # one of them makes the whole fetch fail: find out which
        if why := _refusal_reason(hub.fetch(address, {ref: found.form.refs + person}, max_bytes=_MAX_REF_BYTES)):
            found.refused[person] = why


def _refusal_reason(result: Result) -> str | None:
    """Return why the fetched data is refused; None if it is not. Raises GitFailedError for any other failure."""
    if result.status == 0:
        return None
    if result.status < 0 or _DAMAGED_PATTERN.search(result.err):
        return "it is too large or damaged"
    raise GitFailedError("Could not fetch from the remote", result.status, result.err)


@value_class
class _Claim:
    """A commit with its parts, and the key that its signature claims to be made with."""

    tip: str
    tree: str
    payload: bytes
    signature: bytes
    public: str


def _read_claims(git: Git, tips: Mapping[str, str], found: ReadResult) -> dict[str, _Claim]:
    data = _read_objects(git, tips, "commit", _MAX_COMMIT_BYTES, found)
    claims: dict[str, _Claim] = {}
    for person, raw in data.items():
        try:
            payload, signature = sign.split_signature(raw)
            head, _, message = payload.partition(b"\n\n")
            lines = head.split(b"\n")
            if message != _COMMIT_MESSAGE or len(lines) != 3 or not lines[0].startswith(b"tree "):  # noqa: PLR2004 - tree, author, committer
                raise RefusedError("Not accepted", "it is not in skilld's commit format")
            claims[person] = _Claim(
                tips[person], lines[0][5:].decode(), payload, signature, sign.signature_key(signature)
            )
        except SkilldError as error:
            found.refused[person] = error.cause
    return claims


def _verify(claims: dict[str, _Claim], pins: Mapping[str, Pin], env: Mapping[str, str], found: ReadResult) -> None:
    """Refuse people who did not sign with their known key; commits that were checked before are not checked again."""
    asked = []
    for person, one in claims.items():
        pin = pins.get(person)
        if pin and pin.public != one.public:
            found.refused[person] = "it is signed with a different key than before; someone else may be using this name"
        elif not pin or pin.tip != one.tip:
            asked.append(person)
    pairs = [(claims[who].payload, claims[who].signature, claims[who].public) for who in asked]
    for person, holds in zip(asked, sign.verify_all(pairs, env), strict=True):
        if not holds:
            found.refused[person] = "its signature is not valid"


def _records(
    git: Git, trees: Mapping[str, str], found: ReadResult, before: Container[str]
) -> dict[str, tuple[int, tuple[Record, ...]]]:
    """Return serial and records of each person; none for a person with a refused record.

    The records of the people in `before` were already accepted.
    """
    roots = _read_trees(git, trees, _MAX_ROOT_BYTES, found)
    modes = {_ABOUT_FILE: _FILE_MODE, _RECORDS_FOLDER: tree.TREE_MODE}
    for person, root in roots.items():
        if {name: entry.mode for name, entry in root.items()} != modes:
            found.refused[person] = "the branch contains files that are not records"
    fine = {person: root for person, root in roots.items() if person not in found.refused}
    blobs = {person: root[_ABOUT_FILE].oid for person, root in fine.items()}
    about = _read_objects(git, blobs, "blob", _MAX_ROOT_BYTES, found)
    subtrees = {person: root[_RECORDS_FOLDER].oid for person, root in fine.items()}
    folders = _read_trees(git, subtrees, found.form.most * _MAX_ROW_BYTES, found)
    for person, folder in folders.items():
        if len(folder) > found.form.most or any(entry.mode != _FILE_MODE for entry in folder.values()):
            more = f"more than {found.form.most} records"
            found.refused[person] = f"the branch contains files that are not records, or {more}"
    fit = {person: folder for person, folder in folders.items() if person not in found.refused}
    files = {f"{person} {name}": entry.oid for person, folder in fit.items() for name, entry in folder.items()}
    texts = _read_objects(git, files, "blob", MAX_BYTES, found, of=lambda name: name.split(" ")[0])
    kept: dict[str, tuple[int, tuple[Record, ...]]] = {}
    for person, folder in fit.items():
        if person in found.refused or person not in about:
            continue
        try:
            data = {name: texts[f"{person} {name}"] for name in folder}
            own = _decode_records(data, found.form.kinds, again=person in before)
            kept[person] = (_parse_serial(about[person], person), own)
        except SkilldError as error:
            found.refused[person] = error.cause
    return kept


def _decode_records(texts: Mapping[str, bytes], kinds: frozenset[RecordType], *, again: bool) -> tuple[Record, ...]:
    records = []
    for name, data in texts.items():
        if name != record_file_name(data):
            raise RefusedError("Not accepted", "a record's name does not match its content")
        try:
            records.append(decode(data, kinds, again=again))
        except SkilldError as error:
            raise RefusedError("Not accepted", f"a record is invalid: {error.cause}") from error
    return tuple(records)


def _parse_serial(data: bytes, person: str) -> int:
    try:
        about = json.loads(data)
    except (ValueError, RecursionError):
        about = None
    serial = about.get("serial") if isinstance(about, dict) else None
    if type(serial) is not int or data != _encode_about(person, serial):
        raise RefusedError("Not accepted", "it was copied from someone else, or is not in skilld's format")
    return serial


def _encode_about(person: str, serial: int) -> bytes:
    return json.dumps({"person": person, "serial": serial, "v": 1}, sort_keys=True).encode()


def _read_objects(
    git: Git, names: Mapping[str, str], kind: str, limit: int, found: ReadResult, *, of: Callable[[str], str] = str
) -> dict[str, bytes]:
    """Return the objects with these IDs by owner; sizes are checked first, so that no large one is held in memory."""
    for who, (_, is_kind, size) in zip(names, objects.read_sizes(git, names.values()), strict=True):
        if is_kind != kind or size > limit:
            if size < 0:
                found.refused[of(who)] = "it has not been fetched; sync again"
                continue
            odd = f"it has a {is_kind} where a {kind} is expected"
            found.refused[of(who)] = odd if is_kind != kind else f"its {kind} is {size} bytes; the limit is {limit}"
    wanted = {who: oid for who, oid in names.items() if of(who) not in found.refused}
    answers = git.objects([oid.encode() for oid in wanted.values()]) if wanted else []
    return {who: item[2] for who, item in zip(wanted, answers, strict=True) if item is not None}


def _read_trees(git: Git, trees: Mapping[str, str], limit: int, found: ReadResult) -> dict[str, dict[str, tree.Entry]]:
    read = _read_objects(git, trees, "tree", limit, found)
    parsed = {person: tree.parse_tree(data, len(trees[person]) // 2) for person, data in read.items()}
    return {
        person: {name.decode("utf-8", "replace"): entry for name, entry in entries.items()}
        for person, entries in parsed.items()
    }


def write_commit(
    hub: BorrowedRepo,
    person: str,
    serial: int,
    records: Iterable[Record],
    seal: Callable[[bytes], bytes],
    *,
    form: RefLayout = TEAM_LAYOUT,
) -> str:
    """Write these records as a commit that `seal` signs, and return its id; no ref is moved."""
    git = hub.git
    files = {record_file_name(data): data for data in map(encode, records)}
    if len(files) > form.most:
        raise RefusedError("Nothing was sent", f"there are {len(files)} records; the limit is {form.most}")
    rows = {name.encode(): tree.Entry(_FILE_MODE, git.add("blob", data)) for name, data in files.items()}
    folder = tree.Entry(tree.TREE_MODE, git.add("tree", tree.encode_tree(rows)))
    about = tree.Entry(_FILE_MODE, git.add("blob", _encode_about(person, serial)))
    entries = {_ABOUT_FILE.encode(): about, _RECORDS_FOLDER.encode(): folder}
    root = git.add("tree", tree.encode_tree(entries))
    who = Ident(person, OWN_EMAIL, int(time.time()) // _DAY_SECONDS * _DAY_SECONDS)  # the day without the time
    plain = f"tree {root}\nauthor {who}\ncommitter {who}\n\n".encode() + _COMMIT_MESSAGE
    commit = git.add("commit", seal(plain))
    git.write()
    return commit


def publish(
    hub: BorrowedRepo, address: str, person: str, commit: str, listed: RemoteRefs, *, form: RefLayout = TEAM_LAYOUT
) -> str:
    """Push a commit to the person's ref, or to a branch if the host accepts no such ref; return the ref pushed to.

    An empty commit deletes the ref. Raises LostRaceError if another machine of this person was faster, GitFailedError
    with the host's reason if it accepts neither.
    """
    there = {ref: listed.refs[ref] for ref in (form.refs + person, form.branches + person) if ref in listed.refs}
    if not commit:
        for ref, old in there.items():
            if (result := hub.push(address, [Push(ref, "", old)])).status != 0:
                raise GitFailedError("Could not push", result.status, result.err)
        return ""
    known = form.branches + person if list(there) == [form.branches + person] else form.refs + person
    for ref in dict.fromkeys((known, form.branches + person)):
        result = hub.push(address, [Push(ref, commit, there.get(ref, ""))])
        if result.status == 0:
            return ref
        if _STALE_PATTERN.search(result.err):
            raise LostRaceError("The ref has changed in the meantime", result.err)
        if not _REJECTED_PATTERN.search(result.err):
            raise GitFailedError("Could not push", result.status, result.err)
    branch = (form.branches + person).removeprefix("refs/heads/")
    why = f"the remote accepts neither {form.refs}{person} nor the branch {branch}: {_host_reason(result.err)}"
    raise GitFailedError("Could not push", result.status, why)


def _host_reason(err: str) -> str:
    """Return the host's first message about a rejected push, or git's last line."""
    lines = [line.removeprefix("remote:").strip() for line in err.splitlines() if line.startswith("remote:")]
    return next(filter(None, lines), "") or err.strip().rpartition("\n")[2]
