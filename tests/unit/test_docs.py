"""The rules for pages and files, each on text that breaks it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.rows import for_each
from tools import docs, pages

ROOT = Path(__file__).parents[2]


def test_valid_links_pass() -> None:
    files = {
        "README.md": "# A\n[a](docs/b.md) [b](docs/b.md#two-words) [c](docs) [d](https://example.org/x) [e](#a)\n",
        "docs/b.md": "## Two words\n[up](../README.md 'title') [self](b.md#two-words-1)\n## Two `words`\n",
    }
    assert list(pages.links(files, files)) == []


@for_each(
    ("text", "finding"),
    [
        ("x\n[a](gone.md)\n", "docs/a.md:2: the link leads nowhere: gone.md"),
        ("[a](../docs/a.md#none)\n", "docs/a.md:1: docs/a.md has no heading for #none"),
        ("![picture](demo.png)\n", "docs/a.md:1: the link leads nowhere: demo.png"),
        ("[a][b]\n\n[b]: ../gone\n", "docs/a.md:3: the link leads nowhere: ../gone"),
        ("[a](/etc/hosts)\n", "docs/a.md:1: the link leads nowhere: /etc/hosts"),
    ],
)
def test_a_broken_link_is_reported(text: str, finding: str) -> None:
    assert [found.strip() for found in pages.links({"docs/a.md": text}, ["docs/a.md"])] == [finding]


def test_links_and_headings_inside_code_are_ignored() -> None:
    page = "```\n[a](gone.md)\n# No heading\n```\nand `[b](gone.md)`, [c](#no-heading)\n"
    assert list(pages.links({"a.md": page}, ["a.md"])) == ["a.md:5: a.md has no heading for #no-heading"]


def test_a_page_has_at_most_250_lines() -> None:
    assert list(pages.sizes({"docs/a.md": "x\n" * 250})) == []
    assert list(pages.sizes({"docs/a.md": "x\n" * 251})) == ["docs/a.md:251: 251 lines, more than 250"]
    assert list(pages.sizes({"README.md": "x\n" * 120})) == []
    assert list(pages.sizes({"README.md": "x\n" * 121})) == ["README.md:121: 121 lines, more than 120"]


def test_a_file_named_by_a_page_must_exist() -> None:
    files = ["skilld/a.py", "skilld/b/c.py"]
    page = "`skilld/a.py`, `skilld/b/`, the branch `skilld/staging`, `skilld/b/*.txt`\n```\n`skilld/gone.py`\n```\n"
    assert list(pages.named({"README.md": page}, files)) == []
    gone = {"README.md": "x\nin `skilld/gone.py` and `skilld/gone/`\n"}
    assert list(pages.named(gone, files)) == [
        "README.md:2: there is no skilld/gone.py",
        "README.md:2: there is no skilld/gone/",
    ]


@for_each(
    ("path", "text", "finding"),
    [
        ("0001-a.md", "# A\n2026-01-02\n" + "x\n" * 12, "14 lines, not 15 to 40"),
        ("0001-a.md", "# A\n2026-01-02\n" + "x\n" * 39, "41 lines, not 15 to 40"),
        ("0001-a.md", "# A\n" + "x\n" * 20 + "2026-01-02\n", "no date in the first five lines"),
        ("locks.md", "# A\n2026-01-02\n" + "x\n" * 20, "not named NNNN-title.md, or the number is taken"),
    ],
)
def test_a_malformed_decision_record_is_reported(path: str, text: str, finding: str) -> None:
    assert list(pages.decisions({f"docs/decisions/{path}": text})) == [f"docs/decisions/{path}:1: {finding}"]


def test_duplicate_decision_numbers_are_reported() -> None:
    text = "# A\n2026-01-02\n" + "x\n" * 13
    assert list(pages.decisions({"docs/decisions/0001-a.md": text, "docs/decisions/0002-b.md": text})) == []
    assert len(list(pages.decisions({"docs/decisions/0001-a.md": text, "docs/decisions/0001-b.md": text}))) == 1


@for_each(
    ("path", "text", "finding"),
    [
        ("a.py", 'x = 1\ny = "/src/checkout/a"\n', "a.py:2: a path of this machine: /src/checkout"),
        ("a.md", "see /home/ada/x\n", "a.md:1: a path in somebody's home: /home/a"),
        ("a.sh", "curl https://files.python" + "hosted.org/x\n", "a registry's host: https://files.python"),
        ("a.json", '"https://registry.npm' + 'js.org/a"', "a registry's host: https://registry.npm"),
        ("requirements/run.txt", "-r run.txt\n--index-url x\n", ":2: an option in a lock: --index-url x"),
    ],
)
def test_machine_specific_paths_are_reported(path: str, text: str, finding: str) -> None:
    (place,) = pages.places({path: text}, ["/src/checkout"])
    assert finding in place


def test_other_paths_and_hosts_are_allowed() -> None:
    files = {
        "a.py": "cwd = '/home/ada/app'\n'/src/checkout-2'",
        "a.md": "~/x, https://example.org/home/a, $HOME/home/b\n",
    }
    assert list(pages.places(files, ["/src/checkout"])) == []


@for_each(
    ("part", "first"),
    [*zip(docs.PARTS, ["- `skilld setup", ".TH SKILLD 1", "| agent |", "```ts\n// setup: ", "| pairs |"], strict=True)],
)
def test_a_generated_part_replaces_only_the_text_between_its_marks(part: docs.Generated, first: str) -> None:
    page = f"# A\n<!-- {part.name}:start -->\nOUTDATED \\1\n<!-- {part.name}:end -->\nB\n"
    written = part.put_into(page)
    assert written.startswith(f"# A\n<!-- {part.name}:start -->\n{first}")
    assert written.endswith(f"\n<!-- {part.name}:end -->\nB\n")
    assert "OUTDATED" not in written
    assert part.put_into(written) == written


def test_a_page_without_marks_is_an_error() -> None:
    with pytest.raises(ValueError, match="commands:start"):
        docs.PARTS[0].put_into("# A\n")
    (finding,) = docs.generated(docs.PARTS[0], {"docs/commands.md": "# A\n"})
    assert finding.startswith("docs/commands.md:1: no command reference: no `<!-- commands:start -->`")


def test_the_projects_files_are_found() -> None:
    found = docs.texts()
    assert {"pyproject.toml", "Makefile", "docs/architecture.md", "tests/unit/test_docs.py"} <= found.keys()
    assert not [path for path in found if path.startswith((".venv/", ".git/"))]


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
def test_the_man_page_renders_without_warnings() -> None:
    page = docs.ROOT / "docs" / "skilld.1"
    environment = os.environ | {"MANROFFSEQ": "", "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}
    result = subprocess.run(
        ["man", "--warnings", "-l", page], env=environment, capture_output=True, text=True, check=True
    )
    assert result.stderr == ""
    text = " ".join(result.stdout.split())  # lines are justified
    for words in (
        "skilld - remembers",
        "skilld accept [--json] [ID...]",
        "EXIT STATUS",
        "~/.config/skilld/config.toml",
    ):
        assert words in text
