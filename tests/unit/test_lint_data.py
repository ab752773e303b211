"""The linter on the shared attack and look-alike cases, each typed by a person as one more bullet."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from skilld.edit.insertion_point import insert_bullet
from skilld.edit.lint import Severity, lint, worst_severity
from skilld.edit.operations import apply
from skilld.errors import SkilldError
from support.lint_skill import SKILL
from support.rows import for_each

DATA = Path(__file__).parents[2].parent / "shared" / "data"


def rows(name: str) -> list[dict[str, Any]]:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{name} is not beside the repository")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def bullet_severity(text: str) -> Severity:
    try:
        after = apply(SKILL, [insert_bullet(SKILL, "Rules", text)])
    except SkilldError:
        return Severity.REFUSE
    return worst_severity(lint(SKILL, after, text))


def test_t13_injected_lines_and_code_are_shown_in_nearly_all_cases() -> None:
    families = ("skill-line-injection/", "bipia-code/")
    texts = [row["text"] for row in rows("security/injection.dev.jsonl") if row["technique"].startswith(families)]
    passed = sum(bullet_severity(text) is Severity.PASS for text in texts)
    assert passed <= 0.05 * len(texts)


def test_benign_look_alikes_are_never_refused() -> None:
    counts = Counter(bullet_severity(row["text"]) for row in rows("security/benign.dev.jsonl"))
    assert counts[Severity.REFUSE] == 0


def test_real_lasting_statements_are_rarely_flagged_and_never_refused() -> None:
    counts = Counter(bullet_severity(row["text"]) for row in rows("eval/turns.dev.jsonl") if row["label"] == "durable")
    assert counts[Severity.REFUSE] == 0
    assert counts[Severity.FLAG] <= 0.15 * counts.total()


@for_each(
    ("typed", "added", "known"),
    [
        ("글자는 strings.xml로 빼줘", "글자는 `strings.xml`로 뺀다.", True),
        ("文言はstrings.xmlに入れて", "文言は`strings.xml`に入れる。", True),
        ("文案放到strings.xml里", "文案放到 `strings.xml` 里。", True),
        ("schreib es in die config.toml-Datei", "Schreib es in `config.toml`.", True),
        ("schreib es in die config.toml-alt", "Schreib es in `config.toml`.", False),
        ("글자는 strings.xml2로 빼줘", "글자는 `strings.xml`로 뺀다.", False),
    ],
)
def test_a_particle_after_a_file_does_not_hide_that_it_was_typed(typed: str, added: str, *, known: bool) -> None:
    found = lint(b"# T\n\n- Commit it.\n", f"# T\n\n- Commit it.\n- {added}\n".encode(), typed)
    assert ({one.rule for one in found} <= {"language"}) is known, [one.rule for one in found]


@for_each(
    ("typed", "added", "known"),
    [
        ("run /skill:software-design-review on it", "Run /skill:software-design-review on the commits.", True),
        ("run /team:tools:lint on it", "Use `/team:tools:lint`, then go on.", True),
        ("run /skill:software-design-review on it", "Run /skill:deploy on the commits.", False),
        ("run /skill:software-design-review on it", "Run /skill:software-design on the commits.", False),
        ("run /skill on it", "Run /skill:deploy on the commits.", False),
        ("run it on the commits", "Run /skill:deploy on the commits.", False),
        ("see /etc/hosts:ro", "See /etc/passwd:ro for it.", False),
    ],
)
def test_a_typed_slash_command_of_a_plugin_is_known_as_a_whole(typed: str, added: str, *, known: bool) -> None:
    found = lint(b"# T\n\n- Commit it.\n", f"# T\n\n- Commit it.\n- {added}\n".encode(), typed)
    assert ("foreign-path" in {one.rule for one in found}) is not known
