"""A hostile member of a team: what they push is refused and named, and takes nothing of the others with it.

Issue 20, parts 1 and 2.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from skilld.errors import SkilldError
from skilld.git.borrowed_repo import BorrowedRepo, Push
from skilld.git.errors import LostRaceError
from skilld.git.tree import Entry, encode_tree
from skilld.team import refs, sign
from skilld.team.records import MAX_RECORDS, encode, record_file_name
from skilld.team.refs import TEAM_REFS, Pin, ReadResult
from support.repos import isolate_git
from support.teams import RULE, Team, make_rule, ssh_key

EVE = "eve-evil"


class Bench:
    """A remote with one honest member, somebody who pushes what they like, and a reader."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.team = Team(folder / "team")
        self.address = str(self.team.hub.root)
        self.environment = {name: os.environ[name] for name in ("PATH", "HOME")}
        self.writer = self.borrow("writer")
        self.keys = {name: self.key(name) for name in ("ada", "eve")}
        self.put("team-ada", refs.write_commit(self.writer, "team-ada", 5, [make_rule()], self.seal("ada")))

    def borrow(self, name: str) -> BorrowedRepo:
        common = self.team.folder / "first" / ".git"
        return BorrowedRepo(self.folder / name / "a.git", common, "sha1")

    def key(self, name: str) -> sign.SigningKey:
        home = self.folder / "keys" / name
        ssh_key(home)
        return sign.find_key(self.writer.git, home)

    def seal(self, name: str) -> Callable[[bytes], bytes]:
        return lambda plain: sign.sign_commit(plain, self.keys[name], self.environment, self.folder, "sha1")

    def put(self, person: str, oid: str) -> None:
        """Point a ref at an object by force, as whoever may push can."""
        self.writer.git.write()
        old = self.team.hub.tip(TEAM_REFS + person)
        result = self.writer.push(self.address, [Push(TEAM_REFS + person, oid, old)])
        assert result.status == 0, result.err

    def commit(self, tree: str, *, who: str = "eve", head: str = "", message: bytes = refs._COMMIT_MESSAGE) -> str:
        plain = f"tree {tree}\n{head}author x <x@x> 0 +0000\ncommitter x <x@x> 0 +0000\n\n".encode() + message
        return self.writer.git.add("commit", self.seal(who)(plain))

    def tree(self, person: str, files: Mapping[str, bytes], more: str = "", serial: int = 1) -> str:
        git = self.writer.git
        rows = {name.encode(): Entry("100644", git.add("blob", data)) for name, data in files.items()}
        about = Entry("100644", git.add("blob", refs._encode_about(person, serial)))
        top = {b"person.json": about, b"records": Entry("40000", git.add("tree", encode_tree(rows)))}
        return git.add("tree", encode_tree(top | ({more.encode(): about} if more else {})))

    def read(self, pins: Mapping[str, Pin] | None = None, name: str = "reader") -> ReadResult:
        return refs.read_members(self.borrow(name), self.address, pins or {}, self.environment)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    isolate_git(monkeypatch, tmp_path / "home")
    return Bench(tmp_path)


FILES = {record_file_name(encode(make_rule())): encode(make_rule())}


def forgeries(bench: Bench) -> Iterator[tuple[str, str]]:
    """Yield what a hostile member may point their ref at, with what it is refused for."""
    git, tree = bench.writer.git, bench.tree(EVE, FILES)
    huge = b'{"v":1,"rule":"' + b"x" * 9000 + b'"}'
    yield bench.commit(bench.tree(EVE, {record_file_name(huge): huge})), "the limit is 4096"
    yield bench.commit(bench.tree(EVE, {record_file_name(b"{"): b"{"})), "not JSON"
    yield bench.commit(bench.tree(EVE, {"a.json": encode(make_rule())})), "does not match its content"
    many = {record_file_name(b"%d" % number): b"%d" % number for number in range(MAX_RECORDS + 1)}
    yield bench.commit(bench.tree(EVE, many)), "or more than 500 records"
    yield bench.commit(bench.tree(EVE, FILES, more="zz.sh")), "files that are not records"
    yield bench.commit(git.add("tree", b"")), "files that are not records"
    yield bench.commit(bench.tree("team-ada", FILES)), "it was copied from someone else"
    # A host takes no commit without its parent.
    yield bench.commit(tree, head=f"parent {bench.commit(tree)}\n"), "not in skilld's commit format"
    yield bench.commit(tree, message=b"Skilld-Proposal: forged\n"), "not in skilld's commit format"
    plain = f"tree {tree}\nauthor x <x@x> 0 +0000\ncommitter x <x@x> 0 +0000\n\n".encode() + refs._COMMIT_MESSAGE
    yield git.add("commit", plain), "not signed"
    yield git.add("commit", bench.seal("eve")(plain).replace(b"author x", b"author y")), "signature is not valid"
    signed = bench.seal("eve")(plain)
    at = signed.index(b"gpgsig ") + 40
    yield git.add("commit", signed[:at] + b"AAAAAAAA" + signed[at + 8 :]), "signature cannot be read"
    yield git.add("blob", b"no commit at all"), "where a commit is expected"


def test_whatever_a_member_pushes_the_others_are_read(bench: Bench) -> None:
    told = {}
    for number, (oid, why) in enumerate(forgeries(bench)):
        told[f"{EVE}-{number}"] = why
        bench.put(f"{EVE}-{number}", oid)
    found = bench.read()
    assert {who: why for who, why in told.items() if why not in found.refused.get(who, "")} == {}
    assert [*found.members] == ["team-ada"]
    assert [record.rule for record in found.members["team-ada"].records] == [RULE]


def test_nobody_can_write_in_the_name_of_another(bench: Bench) -> None:
    first = bench.read()
    pins = refs.update_pins({}, first)
    bench.put("team-ada", refs.write_commit(bench.writer, "team-ada", 6, [], bench.seal("eve")))
    again = bench.read(pins)
    assert "a different key than before" in again.refused["team-ada"]
    # A copy of hers under another name, signature and all.
    bench.put(EVE, first.members["team-ada"].tip)
    assert "it was copied from someone else" in bench.read(pins).refused[EVE]


def test_an_older_version_of_a_member_is_refused(bench: Bench) -> None:
    old = bench.read().members["team-ada"].tip
    bench.put("team-ada", refs.write_commit(bench.writer, "team-ada", 6, [], bench.seal("ada")))
    pins = refs.update_pins({}, bench.read())
    bench.put("team-ada", old)
    assert "older than" in bench.read(pins).refused["team-ada"]


def test_an_oversized_ref_is_not_fetched(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refs, "_MAX_FETCH_BYTES", 60_000)
    monkeypatch.setattr(refs, "_MAX_REF_BYTES", 60_000)
    noise = b"".join(hashlib.sha256(b"%d" % number).digest() for number in range(10_000))
    bench.put(EVE, bench.commit(bench.tree(EVE, {"a.json": noise})))
    found = bench.read()
    assert found.refused == {EVE: "it is too large or damaged"}
    assert [*found.members] == ["team-ada"]


def test_twenty_concurrent_pushes_lose_nothing(bench: Bench) -> None:
    made = {
        f"person-{number:02}": refs.write_commit(
            bench.writer, f"person-{number:02}", 1, [make_rule()], bench.seal("eve")
        )
        for number in range(20)
    }
    listed = bench.writer.list_refs(bench.address, [])
    with ThreadPoolExecutor(20) as pool:
        pushes = [pool.submit(refs.publish, bench.writer, bench.address, *item, listed) for item in made.items()]
    assert sorted(push.result() for push in pushes) == [TEAM_REFS + person for person in sorted(made)]
    found = bench.read()
    assert found.refused == {}
    assert {person: one.tip for person, one in found.members.items() if person in made} == made


def test_foreign_ref_names_are_reported(bench: Bench) -> None:
    oid = bench.read().members["team-ada"].tip
    for name in ("A", "x--y", "deep/er"):
        bench.put(name, oid)
    found = bench.read()
    assert [*found.refused] == ["A", "deep/er", "x--y"]
    assert [*found.members] == ["team-ada"]


def test_a_push_that_lost_the_race_says_so(bench: Bench) -> None:
    listed = bench.read().listed
    later = refs.write_commit(bench.writer, "team-ada", 6, [], bench.seal("ada"))
    bench.put("team-ada", refs.write_commit(bench.writer, "team-ada", 7, [], bench.seal("ada")))
    with pytest.raises(LostRaceError):
        refs.publish(bench.writer, bench.address, "team-ada", later, listed)


def test_only_the_persons_git_settings_can_name_the_key(bench: Bench) -> None:
    home = Path(os.environ["HOME"])
    with pytest.raises(SkilldError, match="there is no SSH key") as missing:
        sign.find_key(bench.writer.git, home)
    assert missing.value.remedy == "Create one, then try again: ssh-keygen -t ed25519"
    config = bench.writer.folder / "config"
    config.write_text(config.read_text() + f"[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = {bench.keys['eve'].path}\n")
    with pytest.raises(SkilldError, match="there is no SSH key"):
        sign.find_key(bench.writer.git, home)
    with (home / ".gitconfig").open("a") as mine:
        mine.write(f"[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = {bench.keys['ada'].path}.pub\n")
    assert sign.find_key(bench.writer.git, home).public == bench.keys["ada"].public
    private = bench.keys["ada"].path
    public = private.with_name(f"{private.name}.pub")
    public.unlink()
    with pytest.raises(SkilldError) as lost:
        sign.find_key(bench.writer.git, home)
    assert lost.value.remedy == f"Create it: ssh-keygen -y -f {private} > {public}"


def test_a_key_with_a_passphrase_does_not_prompt(bench: Bench) -> None:
    path = bench.keys["ada"].path
    command = ["ssh-keygen", "-q", "-p", "-N", "secret words", "-P", "", "-f", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    with pytest.raises(SkilldError) as error:
        bench.seal("ada")(b"tree x\n\n")
    assert error.value.remedy == f"Add it to your SSH agent: ssh-add {path}"
