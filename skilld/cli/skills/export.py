"""`skilld skills export`: skills as YAML or SKILL.md files for other people, without whose words they came from."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld import console
from skilld.cli import common, inventory
from skilld.cli.skills import library
from skilld.errors import SkilldError, UsageError

if TYPE_CHECKING:
    from skilld.library.rows import Shelved
    from skilld.store import Store


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "export", run, "write skills to files for other people, secrets and sessions left out")
    parser.add_argument("names", metavar="NAME", nargs="+")
    parser.add_argument("-o", "--out", metavar="FILE", type=Path, help="a file, or a folder for several")
    parser.add_argument("--format", choices=("yaml", "skill"), default="yaml", help="yaml, or skill: a SKILL.md")
    parser.add_argument("--with-evidence", action="store_true", help="with your quotes, the sessions and the author")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    store = common.store()
    rows = [library.the_skill(store, name) for name in dict.fromkeys(arguments.names)]
    out: Path | None = arguments.out
    if len(rows) > 1 and (out is None or not out.is_dir()):
        raise UsageError(
            "Where to?", f"{len(rows)} skills make as many files", "Give a folder that is there: -o FOLDER"
        )
    redact = common.redactor()
    for row in rows:
        text, is_masked = _said(store, row, arguments, redact)
        if is_masked:
            sys.stderr.write(f"skilld: {row.name}: what looks like a secret was masked\n")
        name = f"{row.name}.yaml" if arguments.format == "yaml" else f"{row.name}/SKILL.md"
        _write(out / name if out is not None and out.is_dir() else out, text, below=out)
    return 0


def _said(store: Store, row: Shelved, arguments: argparse.Namespace, redact: Callable[[str], str]) -> tuple[str, bool]:
    """Return the text to write without secrets, and whether there were any."""
    from skilld.exchange import document as yaml_text
    from skilld.exchange.outgoing import without_sessions

    said = inventory.skill_text(row.skill)
    if not arguments.with_evidence:
        said = without_sessions(said, library.said(store, [row]))
    if arguments.format == "yaml":
        document = _document(store, row, said, with_evidence=arguments.with_evidence)
        # Each text by itself first: YAML folds long lines, and half a secret on each is found in neither.
        masked = _masked(document, redact)
        dumped = yaml_text.dump(masked)
        text = redact(dumped)
        return text, masked != document or text != dumped
    text = redact(said)
    return text, text != said


def _masked(value: Any, redact: Callable[[str], str]) -> Any:  # noqa: ANN401 - maps, lists and scalars
    if isinstance(value, dict):
        return {_masked(key, redact): _masked(item, redact) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item, redact) for item in value]
    return redact(value) if isinstance(value, str) else value


def _document(store: Store, row: Shelved, said: str, *, with_evidence: bool) -> dict[str, Any]:
    from skilld.draft import read
    from skilld.exchange.document import Stats, to_document
    from skilld.types import State

    accepted = store.proposals.in_states([State.ACCEPTED])
    quotes = [piece.quote for one in accepted if one.path == str(row.path) for piece in one.evidence]
    stats = Stats(row.uses.number, row.uses.success)
    draft = read(said, row.name)
    return to_document(draft, stats, list(dict.fromkeys(quotes)) if with_evidence else ())


def _write(path: Path | None, text: str, *, below: Path | None) -> None:
    """Write a file, in a folder of its own where that is to be `below` one; to standard output without a path."""
    from skilld.files import write_whole

    if path is None:
        console.piece(text)
        return
    try:
        if path.parent.parent == below:
            path.parent.mkdir(exist_ok=True)
        write_whole(path.resolve(), text.encode(), 0o644)
    except OSError as error:
        raise SkilldError("The file was not written", f"{path}: {error.strerror or error}") from error
    console.line(f"{console.plain(str(path))} written.")
