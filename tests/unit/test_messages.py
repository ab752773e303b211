"""The list of messages holds every text a person may see, in words people use."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from pydantic import BaseModel

from skilld.__main__ import main
from skilld.cli.parser import build_parser
from skilld.notify.notice import about_applied, about_budget, about_failure, about_proposals
from skilld.settings import Settings
from support.source_tree import nodes, paths, sources, trees
from tools.messages import FOR_A_MODEL, Message, collect, messages

SKILLD = Path(__file__).parents[2] / "skilld"

# What shows text, told apart from the list of the collector: a new one must be added to both.
SHOWS = {"SkilldError", "UsageError", "RefusedError", "NotRunningError", "RetryError", "line", "paint", "notify", "say"}
# Words of another language's grammar, or of another century.
STRANGE = re.compile(
    r"""\b(?: anew | thereof | whichever | wherever\ it | of\ those(?!\ to) | none\ is | (?:is|are)\ to\ be
    | lies | stands | hereby | ought | abreast | mended? | (?<![Tt]here\ )(?:is|are)\ no\ (?!longer\b|\{)
    | says\ otherwise | by\ now | throw-away | meanwhile | in\ place\ of\ the | somebody\ is | unasked
    | holds\ (?:an?\ (?!lock)|no|the|what) )\b""",
    re.VERBOSE,
)


@cache
def collected() -> list[Message]:
    return collect()


@cache
def texts() -> frozenset[str]:
    return frozenset(message.text for message in collected())


@cache
def patterns() -> list[re.Pattern[str]]:
    holed = [re.escape(text).replace(r"\{\}", "(.*)") for text in texts() if "{}" in text]
    return [re.compile(text, re.DOTALL) for text in holed]


def is_listed(text: str) -> bool:
    """Whether a text as it is shown is a message of the list, its holes filled."""
    text = text.strip("\n")
    return text in texts() or any(pattern.fullmatch(text) for pattern in patterns())


def literals(node: ast.AST) -> Iterator[ast.Constant]:
    """Yield the texts of an expression that are handed on as they are, by choice or joined."""
    match node:
        case ast.Constant(value=str()):
            yield node
        case ast.JoinedStr() | ast.IfExp() | ast.BoolOp() | ast.BinOp():
            for child in ast.iter_child_nodes(node):
                yield from literals(child)


def test_every_displayed_text_is_on_the_list() -> None:
    by_module: dict[str, str] = {}
    for message in collected():
        by_module[message.path] = f"{by_module.get(message.path, '')}\0{message.text}"
    missing, seen = [], 0
    for module, tree in trees().items():
        path = paths()[module].relative_to(SKILLD).as_posix()
        for call in nodes(tree, ast.Call):
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            for argument in call.args[: 3 if name.endswith("Error") else 1] if name in SHOWS else ():
                for text in literals(argument):
                    words = str(text.value).strip("\n")
                    if re.search(r"[a-z]{2}", words):
                        seen += 1
                        missing += [f"{path}:{text.lineno}: {words}"] if words not in by_module.get(path, "") else []
    assert seen > 500
    assert missing == []


def _helps(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if action.help and action.help != argparse.SUPPRESS and action.dest not in {"help", "kind"}:
            yield action.help
        if isinstance(action, argparse._SubParsersAction):
            yield from (choice.help for choice in action._choices_actions if choice.help)
            for inner in action.choices.values():
                yield from _helps(inner)


def test_every_help_text_is_on_the_list() -> None:
    helps = [text for text in _helps(build_parser()) if not text.startswith("show program's version")]
    assert len(helps) > 200
    assert [text for text in helps if not is_listed(text)] == []


def _descriptions(model: type[BaseModel]) -> Iterator[str]:
    for field in model.model_fields.values():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _descriptions(field.annotation)
        elif field.description:
            yield field.description


def test_every_setting_description_is_on_the_list() -> None:
    found = list(_descriptions(Settings))
    assert len(found) > 30
    assert [text for text in found if not is_listed(text)] == []


@pytest.mark.parametrize(
    "typed",
    [
        "show nosuch",
        "config set nosuch 1",
        "config set batch.turns 0",
        "inspect /nowhere",
        "context --agent nosuch",
        "why README.md",
        "skills show nosuch",
        "skills use nosuch",
        "recommend x --project /nowhere",
        "logs --follow --json",
        "proposals --state nosuch",
        "learnings propose",
        "chat",
        "pause soon",
        "status",
        "cost",
        "report",
        "proposals",
        "learnings",
        "effect",
    ],
)
def test_every_command_message_is_on_the_list(
    typed: str, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home)
    main(typed.split())
    captured = capsys.readouterr()
    said = [line for line in captured.err.removeprefix("skilld: ").splitlines() if line.strip()]
    said += [] if said else [line for line in captured.out.splitlines() if re.search(r"[a-z]{2} [a-z]{2}", line)]
    assert said != []
    assert [line for line in said if not is_listed(line) and not _by_parts(line)] == []


def _by_parts(line: str) -> bool:
    """Whether a line is a title with its cause, a remedy, or a row with a message as its last cell."""
    parts = [part.strip() for part in re.split(r": |  +|\? |; ", line) if re.search(r"[a-z]{2} [a-z]{2}", part)]
    return all(is_listed(part) or any(part in text for text in texts()) for part in parts)


def test_every_notice_text_is_on_the_list() -> None:
    told = [about_budget("x"), about_failure("accept", "x"), about_applied([("skill", "0123abcd")])]
    assert [text for text in [*told, about_proposals(["skill"])] if not is_listed(text)] == []


def test_messages_are_found_through_every_path_in_the_code() -> None:
    source = '''
"""A module that does nothing at all."""
WHY = "it takes too long"
SQL = "SELECT name FROM people"
PATTERN = re.compile("any words that match")
NAMES = "names of many things".split()

def f(x: "a type in words") -> "another type in words":
    """Return what is wanted here."""
    log.info("batch was closed", why="for no reason")
    if x == "a text that is compared":
        raise SkilldError("Failed", f"{x} is {'much too long' if x else 'fine'}", remedy="Retry")
    console.line(f"Wrote {x}")
    return {"some": ["found nothing there", 1]}
'''
    assert [(message.line, message.text) for message in messages("a.py", source)] == [
        (3, "it takes too long"),
        (12, "Failed"),
        (12, "{} is {}"),
        (12, "much too long"),
        (12, "Retry"),
        (13, "Wrote {}"),
        (14, "found nothing there"),
    ]


def test_no_message_uses_words_people_do_not_type() -> None:
    strange = [message for message in collected() if message.path not in FOR_A_MODEL and STRANGE.search(message.text)]
    assert [f"{one.path}:{one.line}: {one.text}" for one in strange] == []
    assert STRANGE.search("the settings are to be mended")


# What uses the name of a class: to tell one from another, in logs, in reports of bugs, to somebody who scores rows.
NAMES_CLASSES = {
    *("codec.py", "crash.py", "settings.py", "scoring/loader.py", "ingest/follow.py"),
    *("classify/backends/completion.py", "worker/__main__.py", "values.py"),
}


def test_no_message_names_a_python_class() -> None:
    uses = re.compile(r"\.__(?:qual)?name__\b")
    found = {paths()[name].relative_to(SKILLD).as_posix() for name, text in sources().items() if uses.search(text)}
    assert found == NAMES_CLASSES
