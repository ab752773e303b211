"""Provenance: what the person did not type, and the skill did not say, is refused. Examples written by hand."""

from __future__ import annotations

import pytest

from skilld.edit.lint import Severity
from skilld.edit.tokens import addresses, is_command, packages, paths
from support.edits import changed, findings

REFUSE, FLAG = Severity.REFUSE, Severity.FLAG


@pytest.mark.parametrize(
    ("text", "said", "rule"),
    [
        ("See https://a.dev/guide first", "see the guide first", "foreign-address"),
        ("See https://a.dev first", "see https://a.dev.evil.io first", "foreign-address"),
        ("Mail bo@acme.dev first", "mail bo first", "foreign-address"),
        ("Check 10.0.0.7 first", "check the box first", "foreign-address"),
        ("Look into docs/tone.md first", "look into the tone doc first", "foreign-path"),
        ("Keep it in ~/notes always", "keep it in my notes always", "foreign-path"),
        ("Run `scripts/lint src/` first", "lint it first", "foreign-path"),
        ("Add the left-pad package", "pad it on the left", "foreign-package"),
        ("Pin numpy==1.26 there", "pin numpy there", "foreign-package"),
        ("Run `make lint` first", "lint it first", "foreign-command"),
        ("Run `make lint --fix` first", "run make lint first", "foreign-command"),
        ("Use --fix there", "fix it there", "foreign-command"),
        ("Then run kubectl for it", "then ship it", "foreign-command"),
        ("Do this:\n```py\nprint(secret)\n```", "do this", "foreign-command"),
    ],
)
def test_a_concrete_thing_nobody_typed_is_refused(text: str, said: str, rule: str) -> None:
    assert findings(text, said)[rule] is REFUSE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Run `make lint` first", "please always run   make\nLINT first"),
        ("Look into `docs/tone.md` first", "look into docs/tone.md, always"),
        ("Run `git log` once more", "look at the log once more"),
        ("See docs/style.md again", "see the style doc again"),
        ("Use CI/CD and/or read/write locks, 24/7", "use ci and locks"),
        ("Use Node.js and Vue.js there", "use node and vue there"),
        ("Call it `noteTitle` in code", "call it noteTitle"),
        ("Say e.g. v1.2.3 of it. Done", "say the version"),
    ],
)
def test_what_was_typed_or_stood_in_the_skill_is_known(text: str, said: str) -> None:
    assert findings(text, said) == {}


def test_a_command_joined_from_typed_words_is_flagged() -> None:
    assert findings("Run `make fast lint` first", "make the lint fast, first of all") == {"joined-command": FLAG}
    assert changed("`git log`", "`git log` and `git log --oneline`", "use --oneline too") == {"joined-command": FLAG}


def test_the_forms_of_addresses_paths_commands_and_packages() -> None:
    assert list(addresses("a https://x.io/y?z=1, b.example.com/c. d@e.org 1.2.3.4:80 main.py v1.2")) == [
        "https://x.io/y?z=1",
        "b.example.com/c",
        "d@e.org",
        "1.2.3.4:80",
    ]
    assert list(paths("see a/b/c.md, ./x, ~/y, this/that, .env and main.py", code=False)) == [
        "a/b/c.md",
        "./x",
        "~/y",
        ".env",
        "main.py",
    ]
    assert [is_command(text) for text in ("ls", "FOO=1 sudo make x", "$ anything -v", "noteTitle", "a b c")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert list(packages("install the left-pad package, @acme/ui, x==1.0")) == ["left-pad", "@acme/ui", "x==1.0"]
