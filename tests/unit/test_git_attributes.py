"""What skilld reads in .gitattributes, compared with git itself: it may only err towards "filtered"."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from skilld.git import attributes
from skilld.git.attributes import is_filtered
from skilld.git.errors import RepoRefusedError
from support.rows import for_each

PATH = "my skills/[a]/SKILL.md"

# Every line of a hostile file that hides or undoes a filter in a form that a simpler reader misses.
FILES = {
    "a longer blank": "*.md filter=x\u2003-filter",
    "a line that is none": "# a\x0c\n*.md filter=x",
    "another separator": "\x85*.md\n*.md filter=x\u2028-filter",
    "a byte order mark": "\ufeff*.md filter=x",
    "quoted": '"SKILL.md" filter=x',
    "quoted with a blank": '"my skills/*/SKILL.md" filter=x',
    "quoted in octal": '"SKILL\\056md" filter=x',
    "an escaped letter": "SKILL\\.md filter=x",
    "a class of letters": "[[:upper:]]KILL.md filter=x",
    "a class with a bracket": "[]S]KILL.md filter=x",
    "not in a class": "[!a]KILL.md filter=x",
    "not in a class of the other case": "[!s]KILL.md filter=x",
    "a class from capitals to small letters": "my?skills/[A-z]a]/* filter=x",
    "an escaped bracket": "my?skills/\\[a]/* filter=x",
    "unset in another case": "*.md filter=x\nskill.md -filter",
    "unset by two stars in a name": "*.md filter=x\nmy**MD -filter",
    "unset by a class": "*.md filter=x\n[[:alpha:]]KILL.txt -filter",
    "unset by two stars after a star": "*.md filter=x\n/m*y**.md -filter",
    "unset by the end of a name": "*.md filter=x\n**/KILL.md -filter\nmy?skills/**/KILL.md -filter",
    "set by any folders": "**/SKILL.md filter=x",
    "set below a folder": "/*/** filter=x",
    "set below the top": "/** filter=x",
    "set by two stars after letters": "/my** filter=x",
    "set by three stars": "***/SKILL.md filter=x",
    "a macro of a macro": "[attr]two one\n[attr]one filter=x\n*.md two",
    "a macro that is defined later": "*.md one\n[attr]one filter=x",
    "macros in a circle": "[attr]one two\n[attr]two one filter=x\n*.md one",
    "an unset macro": "[attr]one filter=x\n*.md filter=y\n*.md -one",
    "an unset filter that is set again": "*.md -filter\n*.md filter=x",
    "carriage returns": "*.md filter=x\r\nSKILL.md text\r\n",
}


ODD_PATH = "!é[b.md"
ODD_FILES = {
    "unset by a class without an end": "*.md filter=x\n?é[b.md -filter",
    "unset by what is no pattern": "*.md filter=x\n!é\\[b.md -filter",
    "a letter of two bytes": "?????.md filter=x",
    "unset but for a letter of two bytes": "*.md filter=x\n????.md -filter",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


@for_each(
    ("path", "text"),
    [*((PATH, text) for text in FILES.values()), *((ODD_PATH, text) for text in ODD_FILES.values())],
)
def test_what_git_filters_is_filtered(path: str, text: str, repository: Path) -> None:
    (repository / ".gitattributes").write_text(text + "\n", encoding="utf-8", newline="")
    command = ["git", "-C", str(repository), "check-attr", "-z", "filter", "--", path]
    said = subprocess.run(command, check=True, capture_output=True).stdout.split(b"\0")[2]
    assert said not in {b"unspecified", b"unset"}
    assert is_filtered(repository, repository / ".git", path, Path(os.devnull))


@pytest.mark.parametrize(
    "text",
    [
        "*.txt filter=x",
        "*.md filter=x\nSKILL.md -filter",
        "*.md filter=x\n/*/** !filter",
        "/** filter=x\n/** -filter",
        "[attr]m -text\n*.md m",
    ],
)
def test_what_is_surely_not_filtered_is_used(text: str, tmp_path: Path) -> None:
    (tmp_path / ".gitattributes").write_text(text + "\n")
    assert not is_filtered(tmp_path, tmp_path / ".git", PATH, Path(os.devnull))


@pytest.mark.parametrize(
    "text",
    [
        "x" * (1 << 20),
        "*" * 5000 + " filter=x",
        ("*" + "a*" * 1000 + " filter=x\n") * 104,
        "*a*b*?[ab]c filter=x\n" * 9_000,
        "[attr]m filter=x\n" + "zz m\n" * 40_000,
        ("a" + "**/" * 600 + " filter=x\n") * 100,
        "".join(f"[a{chr(n)}]* filter=x\n" for n in range(0x4E00, 0x5B00)),
    ],
    ids=["one word", "long", "stars", "lines", "macros", "folders", "classes"],
)
def test_a_hostile_file_takes_no_time(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of the largest file, and of the lines that are looked at: a fifth of the time."""
    assert attributes._MAX_LINES <= 20_000
    monkeypatch.setattr(attributes, "_MAX_LINES", 4_000)
    for folder in (tmp_path, tmp_path / "a", tmp_path / ".git/info") if text.startswith("*a") else (tmp_path,):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ("attributes" if folder.name == "info" else ".gitattributes")).write_text(text, encoding="utf-8")
    start = time.process_time()
    is_filtered(tmp_path, tmp_path / ".git", "a/" + "b" * 80 + ".md", Path(os.devnull))
    assert time.process_time() - start < 2  # 0.4 s at most; without the limits, minutes


@pytest.mark.parametrize("kind", ["pipe", "device", "large"])
def test_a_file_that_git_may_read_differently_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / ".gitattributes"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.write_text("#\n" * (1 << 19) + "*.md filter=x\n")
    with pytest.raises(RepoRefusedError):
        is_filtered(tmp_path, tmp_path / ".git", "SKILL.md", Path(os.devnull))
