"""What an import finds in strangers' files, folders and repositories, and what it never does there."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from skilld.errors import SkilldError, UsageError
from skilld.exchange import source_skills
from skilld.exchange.incoming import import_skill
from skilld.exchange.source_skills import SourceFolder, SourceSkill, find_skills, is_address, split_source
from skilld.git.errors import GitFailedError
from skilld.git.remote import clone
from skilld.git.run import Git
from support.repos import Person, isolate_git, snapshot
from support.rows import for_each
from support.tables import table_rows

TEXT = "---\nname: tidy\ndescription: Tidies up.\n---\n\nTidy up.\n"
YAML = "name: tidy\ndescription: Tidies up.\nprompt: Tidy up.\n"


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    isolate_git(monkeypatch, tmp_path / "home")
    root = tmp_path / "all" / "theirs"
    root.mkdir(parents=True)
    person = Person(root)
    person.git("init", "--quiet")
    return person


def _described(found: list[SourceSkill]) -> list[tuple[str, str, bool, tuple[str, ...], str]]:
    return [(one.where, one.folder, bool(one.data), one.beside, one.why) for one in found]


def test_a_file_is_imported_as_one_skill(tmp_path: Path) -> None:
    (tmp_path / "tidy").mkdir()
    (tmp_path / "tidy/SKILL.md").write_text(TEXT)
    (tmp_path / "tidy.yaml").write_text("name: tidy\n")
    (tmp_path / "tidy.txt").write_text("name: tidy\n")
    assert _described(find_skills(str(tmp_path / "tidy/SKILL.md"))) == [("SKILL.md", "tidy", True, (), "")]
    (skill,) = find_skills(str(tmp_path / "tidy.yaml"))
    assert (skill.is_yaml, skill.folder, skill.data) == (True, "", b"name: tidy\n")
    with pytest.raises(UsageError, match="YAML file, a folder or a git repository"):
        find_skills(str(tmp_path / "tidy.txt"))
    (tmp_path / "SKILL.md").write_text("name: x\ndescription: y\nprompt: z\n")
    assert [one.is_yaml for one in find_skills(str(tmp_path / "SKILL.md"))] == [False]
    with pytest.raises(SkilldError, match="does not exist") as error:
        find_skills(str(tmp_path / "none"))
    assert error.value.remedy == ""
    with pytest.raises(SkilldError, match="does not exist") as error:
        find_skills("github.com/someone/skills")
    assert error.value.remedy == "For a repository, give its URL: https://github.com/someone/skills"
    with pytest.raises(UsageError, match="is a file, which has no branches"):
        find_skills(str(tmp_path / "tidy.yaml"), "main")


def test_an_export_is_imported_from_a_file_of_any_name(tmp_path: Path) -> None:
    for name, text, folder, is_yaml in (
        ("tidy.md", TEXT, "tidy", False),
        ("my skill", TEXT, "my skill", False),
        ("tidy", YAML, "", True),
        ("tidy.bak", f"# saved\n{YAML}", "", True),
    ):
        (tmp_path / name).write_text(text)
        (found,) = find_skills(str(tmp_path / name))
        assert (found.where, found.folder, found.is_yaml) == (name, folder, is_yaml)
        assert import_skill(found, "theirs", lambda _: []).draft.name == "tidy"
    for name, text in (("notes.md", "# Notes\n"), ("build.yaml.txt", "name: x\ndescription: y\n")):
        (tmp_path / name).write_text(text)
        with pytest.raises(UsageError, match=r"is not a SKILL\.md"):
            find_skills(str(tmp_path / name))


def test_a_folder_yields_its_skills_and_their_files(tmp_path: Path) -> None:
    person = Person(tmp_path)
    person.write("README.md", "read me\n")
    person.write("a/SKILL.md", TEXT)
    person.write("a/scripts/run.sh", "rm -rf /\n")
    person.write("a/inner/SKILL.md", TEXT)
    person.write("a/inner/notes.md", "x\n")
    person.write(".git/SKILL.md", TEXT)
    os.mkfifo(tmp_path / "a/pipe")
    assert _described(find_skills(str(tmp_path))) == [
        ("a/SKILL.md", "a", True, ("a/pipe", "a/scripts/run.sh"), ""),
        ("a/inner/SKILL.md", "inner", True, ("a/inner/notes.md",), ""),
    ]


def test_links_pipes_and_huge_files_are_reported_and_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("top secret\n")
    top = tmp_path / "top"
    for name in ("huge", "link", "pipe", "folder"):
        (top / name).mkdir(parents=True)
    with (top / "huge/SKILL.md").open("wb") as file:
        file.truncate(1 << 30)
    (top / "link/SKILL.md").symlink_to(secret)
    os.mkfifo(top / "pipe/SKILL.md")
    (top / "linked").symlink_to(tmp_path)
    assert _described(find_skills(str(top))) == [
        ("huge/SKILL.md", "huge", False, (), "it is 1073741824 bytes; the limit is 1048576"),
        ("link/SKILL.md", "link", False, (), "it is a symlink"),
        ("pipe/SKILL.md", "pipe", False, (), "it is not a regular file"),
    ]


NO_SKILLS = {
    "action.yml": "name: build\ndescription: Builds.\nruns:\n  prompt: no\n",
    "compose.yaml": "name: shop\nservices: {}\n",
    "deep/tidy.yaml": YAML,
    "skill/SKILL.md": TEXT,
    "skill/agents/openai.yaml": YAML,
}


def test_the_exports_in_a_folder_or_repository_are_found_among_other_yaml(person: Person) -> None:
    for path, text in (NO_SKILLS | {"tidy.yaml": YAML, "two.YML": f"\ufeff{YAML}"}).items():
        person.write(path, text)
    (person.root / "link.yaml").symlink_to(person.root / "tidy.yaml")
    person.commit("exports")
    wanted = [
        ("skill/SKILL.md", "skill", True, ("skill/agents/openai.yaml",), ""),
        ("tidy.yaml", "", True, (), ""),
        ("two.YML", "", True, (), ""),
    ]
    assert _described(find_skills(str(person.root))) == wanted
    assert _described(find_skills(f"file://{person.root}")) == wanted
    person.write("SKILL.md", TEXT)
    assert [one.where for one in find_skills(str(person.root))] == ["SKILL.md", "skill/SKILL.md"]


def test_skills_are_chosen_by_path_folder_or_file_name(person: Person) -> None:
    for path, text in (NO_SKILLS | {"tidy.yaml": YAML, "a/skill/SKILL.md": TEXT}).items():
        person.write(path, text)
    chosen = {"tidy": ["tidy.yaml"], "a/skill/SKILL.md": ["a/skill/SKILL.md"]}
    chosen |= {"skill": ["a/skill/SKILL.md", "skill/SKILL.md"], "skill/SKILL.md": ["skill/SKILL.md"]}
    for name, found in chosen.items():
        assert [one.where for one in find_skills(str(person.root), only=[name])] == found
    with pytest.raises(UsageError, match=r"No such skill in the source: nope; available: skill, tidy$"):
        find_skills(str(person.root), only=["tidy", "nope"])


def test_too_many_skills_or_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    person = Person(tmp_path)
    for number in range(3):
        person.write(f"s{number}/SKILL.md", TEXT)
    monkeypatch.setattr(source_skills, "MAX_SKILLS", 2)
    with pytest.raises(SkilldError, match="has 3 skills; the limit is 2") as error:
        find_skills(str(tmp_path))
    assert error.value.remedy == "Choose some: --only NAME"
    assert len(find_skills(str(tmp_path), only=["s0", "s2"])) == 2
    monkeypatch.setattr(source_skills, "_MAX_FILES", 2)
    with pytest.raises(SkilldError, match="more than 2 files"):
        find_skills(str(tmp_path))


def test_of_many_skills_only_the_chosen_ones_are_read(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(51):
        person.write(f"s{number}/SKILL.md", TEXT)
    person.commit("skills")
    read, read_blob = list[str](), source_skills._read_blob

    def counted(git: Git, path: str, oid: str) -> bytes:
        read.append(path)
        return read_blob(git, path, oid)

    monkeypatch.setattr(source_skills, "_read_blob", counted)
    with pytest.raises(SkilldError, match="has 51 skills; the limit is 50"):
        find_skills(f"file://{person.root}")
    assert read == []
    (found,) = find_skills(f"file://{person.root}", only=["s7"])
    assert (found.data, read) == (TEXT.encode(), ["s7/SKILL.md"])


def test_the_files_of_thousands_of_skills_are_told_apart_at_once() -> None:
    files = [f"s{number}/{name}" for number in range(3000) for name in ("SKILL.md", "a.py", "b/c.py")]
    began = time.process_time()
    found = {where: beside for where, _, beside in source_skills._skill_files(files)}
    assert time.process_time() - began < 10
    assert len(found) == 3000
    assert found["s7/SKILL.md"] == ("s7/a.py", "s7/b/c.py")


@for_each(
    ("source", "repository", "branch", "folder"),
    [
        ("https://github.com/o/n/tree/main/skills/pdf", "https://github.com/o/n", "main", "skills/pdf"),
        ("https://github.com/o/n/tree/main/skills/pdf/", "https://github.com/o/n", "main", "skills/pdf"),
        ("https://github.com/o/n/blob/main/skills/pdf/SKILL.md", "https://github.com/o/n", "main", "skills/pdf"),
        ("https://github.com/o/n/blob/v2/SKILL.md?plain=1", "https://github.com/o/n", "v2", ""),
        ("https://github.com/o/n/tree/dev", "https://github.com/o/n", "dev", ""),
        ("https://gitlab.com/g/s/n/-/tree/main/skills", "https://gitlab.com/g/s/n", "main", "skills"),
        ("https://codeberg.org/o/n/src/branch/main/a", "https://codeberg.org/o/n", "main", "a"),
        ("https://github.com/o/n.git/skills/pdf", "https://github.com/o/n.git", "", "skills/pdf"),
        ("git@github.com:o/n.git", "git@github.com:o/n.git", "", ""),
        ("https://github.com/o/n", "https://github.com/o/n", "", ""),
        ("https://github.com/tree/n", "https://github.com/tree/n", "", ""),
        ("https://github.com/o/tree/tree/main/a%20b", "https://github.com/o/tree", "main", "a b"),
    ],
)
def test_an_address_may_name_a_folder_of_the_repository(source: str, repository: str, branch: str, folder: str) -> None:
    assert split_source(source) == SourceFolder(repository, branch, folder)


def test_only_the_skills_of_the_named_folder_are_found(person: Person, tmp_path: Path) -> None:
    for name in ("pdf", "pdf-forms"):
        person.write(f"skills/{name}/SKILL.md", TEXT)
    person.commit("skills")
    bare = tmp_path / "there.git"
    person.git("clone", "--quiet", "--bare", str(person.root), str(bare))
    for source in (f"file://{bare}/skills/pdf", f"{bare}/skills/pdf"):
        assert [one.where for one in find_skills(source)] == ["skills/pdf/SKILL.md"]
    with pytest.raises(SkilldError, match=r"there is no SKILL\.md"):
        find_skills(f"file://{bare}/skills/none")


def test_a_named_yaml_file_is_found_in_a_repository_that_is_a_skill_itself(person: Person) -> None:
    person.write("SKILL.md", TEXT)
    person.write("tidy.yaml", YAML)
    person.commit("both")
    found = find_skills(f"file://{person.root}/.git/tidy.yaml")
    assert _described(found) == [("tidy.yaml", "", True, (), "")]


def test_a_url_is_told_apart_from_a_path() -> None:
    for source, address in table_rows("exchange_sources", "addresses"):
        assert is_address(source) is (address == "yes")


def test_a_url_naming_a_program_is_refused() -> None:
    with pytest.raises(UsageError, match="runs a program"):
        find_skills("ext::sh -c 'touch /tmp/x'")


def _hostile_repository(person: Person) -> Path:
    """Fill a repository with everything that runs, leads elsewhere or is large; return what running it would make."""
    canary = person.root.parent / "canary"
    run = f"#!/bin/sh\ntouch {canary}\n"
    person.write("tidy/SKILL.md", TEXT)
    person.write("tidy/run.sh", run)
    person.write(".gitattributes", "* filter=evil\n*.bin filter=lfs\n")
    person.write(".gitmodules", f'[submodule "m"]\n\tpath = m\n\turl = ext::sh -c "touch {canary}"\n')
    person.write("big/SKILL.md", b"\0" * (9 << 20))
    (person.root / "link").mkdir()
    (person.root / "link/SKILL.md").symlink_to(person.root.parent / "secret")
    person.git("config", "filter.evil.smudge", f"touch {canary}; cat")
    person.git("config", "core.fsmonitor", f"touch {canary}")
    person.git("config", "uploadpack.packObjectsHook", f"touch {canary};")
    person.git("-c", "core.fsmonitor=false", "-c", "filter.evil.smudge=cat", "add", "--all")
    head = "1" * 40
    person.git("-c", "core.fsmonitor=false", "update-index", "--add", "--cacheinfo", f"160000,{head},m")
    person.git("-c", "core.fsmonitor=false", "commit", "--quiet", "-m", "all")
    for hook in ("post-checkout", "post-merge", "reference-transaction", "pre-commit"):
        path = person.write(f".git/hooks/{hook}", run)
        path.chmod(0o755)
    canary.unlink(missing_ok=True)
    return canary


def test_nothing_of_a_hostile_repository_is_run_or_followed(person: Person) -> None:
    canary = _hostile_repository(person)
    bare = person.root.parent / "bare.git"
    person.git("clone", "--quiet", "--bare", ".", str(bare))
    canary.unlink(missing_ok=True)
    before = snapshot(person.root.parent)
    for source in (str(bare), f"file://{person.root}"):
        found = _described(find_skills(source))
        assert found == [
            ("big/SKILL.md", "big", False, (), "it is 9437184 bytes; the limit is 1048576"),
            ("link/SKILL.md", "link", False, (), "it is a symlink"),
            ("tidy/SKILL.md", "tidy", True, ("tidy/run.sh",), ""),
        ]
    assert snapshot(person.root.parent) == before
    assert not canary.exists()


def test_names_leading_out_of_a_folder_stay_names_and_impossible_paths_are_dropped(person: Person) -> None:
    blob = person.git("hash-object", "-w", str(person.write(".git/text", TEXT)))
    inner = _mktree(person, f"100644 blob {blob}\tSKILL.md\0")
    listing = "".join(f"040000 tree {inner}\t{name}\0" for name in (".", "..", "tidy"))
    commit = person.git("commit-tree", "-m", "x", _mktree(person, listing))
    person.git("update-ref", "refs/heads/main", commit)
    found = [(skill.where, skill.folder) for skill in find_skills(f"file://{person.root}")]
    assert found == [("../SKILL.md", ".."), ("tidy/SKILL.md", "tidy")]


def _mktree(person: Person, listing: str) -> str:
    result = subprocess.run(
        ["git", "mktree", "-z"], cwd=person.root, input=listing.encode(), capture_output=True, check=True
    )
    return result.stdout.decode().strip()


def test_a_repository_without_commits_has_nothing_to_import(person: Person) -> None:
    with pytest.raises(SkilldError, match="has no commit"):
        find_skills(f"file://{person.root}")


def test_a_named_branch_is_read(person: Person) -> None:
    person.commit("main", {"README.md": "read me\n"})
    person.git("switch", "--quiet", "-c", "skilld/share/tidy")
    person.commit("shared", {"tidy/SKILL.md": TEXT})
    person.git("switch", "--quiet", "main")
    for source in (str(person.root), f"file://{person.root}"):
        (skill,) = find_skills(source, "skilld/share/tidy")
        assert (skill.where, skill.data) == ("tidy/SKILL.md", TEXT.encode())
    with pytest.raises(GitFailedError, match="--upload-pack"):
        find_skills(f"file://{person.root}", "--upload-pack=touch x")


def test_an_oversized_repository_is_stopped(person: Person, tmp_path: Path) -> None:
    person.commit("large", {"noise.bin": os.urandom(3 << 20), "tidy/SKILL.md": TEXT})
    with pytest.raises(GitFailedError, match="Could not clone"):
        clone(f"file://{person.root}", tmp_path / "small", max_bytes=1 << 20)
    assert clone(f"file://{person.root}", tmp_path / "enough").run("rev-parse", "HEAD").strip()


def test_a_remote_helper_allowed_by_configuration_is_still_refused(person: Person, tmp_path: Path) -> None:
    person.git("config", "--global", "protocol.ext.allow", "always")
    with pytest.raises(GitFailedError, match="transport 'ext' not allowed"):
        clone(f"ext::sh -c touch% {tmp_path}/canary", tmp_path / "into")
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("name", [b"caf\xe9", b"two\nlines\x1b[31m"])
def test_a_path_may_contain_newlines_and_invalid_utf8(tmp_path: Path, name: bytes) -> None:
    folder = tmp_path / os.fsdecode(name)
    try:
        folder.mkdir()
    except OSError:  # macOS
        pytest.skip("this file system has no such names")
    (folder / "SKILL.md").write_text(TEXT)
    assert _described(find_skills(str(folder))) == [("SKILL.md", folder.name, True, (), "")]


@pytest.mark.parametrize("source", ["a" * 5000, "~nobody-of-this-name/skills"])
def test_an_unreadable_path_is_reported(source: str) -> None:
    with pytest.raises(SkilldError, match=source[:20]):
        find_skills(source)
