"""Every text that a person may see, collected from the code for review: `python -m tools.messages`.

In: the modules of skilld as syntax trees. Out: messages with their places, holes shown as {}. A string is a message
where it is handed to something that shows it (an error, a line, a help text, a setting's description), and wherever
else it reads as prose: most texts pass through a variable, a value or a constant first. What reads as prose and is not
a message is named here, each kind with its reason.
"""

from __future__ import annotations

import ast
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOLE = "{}"

# What shows its arguments, by the last part of its name: which of them, by position or keyword. None: all positions.
_ERROR = (None, ("title", "cause", "remedy"))
_ARGPARSE = ((), ("help", "description", "title", "epilog"))
SINKS: dict[str, tuple[tuple[int, ...] | None, tuple[str, ...]]] = {
    **dict.fromkeys(("SkilldError", "UsageError", "RefusedError", "NotRunningError", "RetryError"), _ERROR),
    **dict.fromkeys(("add_parser", "add_argument", "add_subparsers", "add_argument_group"), _ARGPARSE),
    **dict.fromkeys(("line", "piece", "paint", "write", "notify", "say", "Static", "Label"), ((0,), ())),
    "Verb": ((1,), ("description", "epilog")),
    "argument": ((1,), ()),
    "Check": ((2, 3), ("detail", "remedy")),
    "Field": ((), ("description",)),
    "Binding": ((2,), ("description",)),
}

# Texts that a model reads first, as the fault of an answer of its own: they belong to the versioned prompt, and people
# see them only behind "The model's answer was not used" or "The edit was not made".
FOR_A_MODEL = (
    "classify/backends/model.py",
    "classify/closed_questions.py",
    "classify/fidelity.py",
    "classify/json_answer.py",
    "classify/reply.py",
    "classify/title.py",
    "classify/trial_prompt.py",
    "edit/derive_operations.py",
    "edit/insertion_point.py",
    "edit/operations.py",
    "pipeline/edits.py",
)
# Modules with prose that nobody is shown: here only what is handed to something that shows it.
_NOT_SHOWN = (
    "agents/",  # what agents write into transcripts
    "batching/gate.py",  # names of what it counts
    "classify/backends/agent_cli/c",  # arguments of agents' programs
    "classify/backends/agent_cli/gemini.py",
    "classify/backends/agent_cli/opencode.py",
    "classify/clauses.py",  # words to recognize
    "classify/contradiction.py",
    "classify/offline/",
    "classify/prompt.py",  # the prompt
    "classify/said_already.py",
    "classify/subject.py",
    "effect/enforce.py",
    "effect/relevance.py",
    "effect/survey.py",
    "scoring/models.py",  # what a stand-in of a model answers
    "mining/questions.py",  # the prompt
    "pipeline/documents.py",  # how the prompt names a file
    "redact/",  # shapes of secrets
    "store/schema.py",  # SQL
    "words.py",
)
_RULES = "edit/rules/"  # beside their sentences, which begin with a capital, only words to recognize
_EXAMPLES = "cli/examples.py"  # beside what each is for, only commands to type
_LOGGERS = frozenset({"debug", "info", "warning", "error", "exception"})
_OWN_BUGS = frozenset({"AssertionError", "RuntimeError", "NotImplementedError"})  # reported as such, text left out
_TWO_WORDS = re.compile(r"(?:^|[\s(])[A-Za-z][a-z']+[,;:.)]*\s+\W?[A-Za-z{]")
_WORD = re.compile(r"[a-z]{2}")
_SMALL = frozenset(
    {
        *("a", "an", "the", "is", "are", "was", "has", "does", "to", "of", "in", "it", "on", "at", "by", "for", "from"),
        *("with", "and", "or", "not", "no", "that", "what", "you"),
    }
)
_LONGEST_TITLE = 7  # words
_WORDLESS = (ast.Name, ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.alias)  # two of three nodes
_NO_PROSE = re.compile(
    r"""\\b | \(\?[:!<=P] | \[\^                                     # a pattern
    | ^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|WITH|VACUUM)\b | \bNOT\ IN\b | \bIN\ \(\{\}
    | \{[^{}]*:[^{}]*;\s*\}                                          # a style sheet
    | ^(?:author|committer|parent|tree|create|update|delete|key|id)(?:\ \{\}|,\ batch) # what git is told, columns
    | ^trap\ | ^grep\ | ^osascript | ^(?:on\ run|end\ run|tell\ app|display\ notif)
    | ^skilld(?:\ [a-z]+)?\ (?:[a-z-]+|\{\})$                        # a command to type
    | ^(?:full\ sweep|/visual\ studio|state\ is-|claude\ code$|mined\n|domain\n|asked\ asks|---) # compared, not shown
    | ^not\ a\ git\ repository\ \(or\ any
    | ^(?:reference|unable\ to\ resolve|but\ expected)
    | ^(?:bold\ |\{\}\ bold\ |same\ change$|lines\ gone$) # styles, values
    | ^FROM\ batches\b | ^globs:\  | ^the\ of\ and\b | ^\{\}\nwithout\ # the rest of a query, front matter, words, a key
    | ^(?:member\ namespaces|ignore\ disregard|\[core\])
    | ^\[Request\ interrupted | ^credit\ balance\|
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """One text: where it is and what it says."""

    path: str
    line: int
    text: str


def text_of(node: ast.AST) -> str | None:
    """Return the text of a string expression with its holes, None where it is none."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) or HOLE if isinstance(part, ast.Constant) else HOLE for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = text_of(node.left), text_of(node.right)
        return None if left is None and right is None else (left or HOLE) + (right or HOLE)
    return None


def name_of(call: ast.Call) -> str:
    """Return the last part of the name of what is called."""
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def is_prose(text: str, path: str = "") -> bool:
    """Whether a text has words one after another, as a sentence has."""
    if path.startswith(_NOT_SHOWN):
        return False
    if path.startswith(_RULES) and not text[:1].isupper():
        return False
    if path == _EXAMPLES and text.startswith("skilld "):
        return False
    return bool(_TWO_WORDS.search(text)) and not _NO_PROSE.search(text) and not _is_a_list(text)


def _is_a_list(text: str) -> bool:
    """Whether a text is many words with none of those that no sentence does without."""
    words = text.split()
    return len(words) > _LONGEST_TITLE and not re.search(r"[,:;.] ", text) and not _SMALL.intersection(words)


def messages(path: str, source: str) -> Iterator[Message]:
    """Yield the messages of one module."""
    for line, text in _walk(ast.parse(source), path, shown=False):
        yield Message(path, line, text.strip("\n"))


def _walk(node: ast.AST, path: str, *, shown: bool) -> Iterator[tuple[int, str]]:
    text = text_of(node)
    if text is None:
        for child in _children(node):
            yield from _walk(child, path, shown=_is_shown(node, child, shown=shown))
        return
    words = text.replace(HOLE, "")
    if is_prose(text, path) or (shown and _WORD.search(words) and not words.isspace()):
        yield node.lineno, text  # type: ignore[attr-defined]
    for hole, is_side in _holes(node):
        yield from _walk(hole, path, shown=shown and is_side)


def _holes(node: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    """Yield what a text is put together from beside its own words; with each whether it is a side of a sum."""
    if isinstance(node, ast.BinOp):
        for side in (node.left, node.right):
            yield from _holes(side) if text_of(side) is not None else [(side, True)]
    for part in node.values if isinstance(node, ast.JoinedStr) else ():
        if isinstance(part, ast.FormattedValue):
            yield part.value, False


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what can hold messages: no docstring, type, pattern, comparison, list of words, or event of the log."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.arg() | ast.Compare():
            return
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"))):
            return
        case ast.Call(func=ast.Attribute(attr="split", value=ast.Constant())):
            return
        case ast.Call(func=ast.Attribute(attr=name)) if name in _LOGGERS:
            return
        case ast.Call(func=ast.Name(id=name)) if name in _OWN_BUGS:
            return
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from (child for child in ast.iter_child_nodes(node) if child is not node.returns)
        case ast.Dict():
            yield from (key for key in node.keys if key is not None and not (text_of(key) or "").islower())
            yield from node.values
        case ast.AnnAssign():
            yield from (child for child in ast.iter_child_nodes(node) if child is not node.annotation)
        case _:
            yield from (child for child in ast.iter_child_nodes(node) if not isinstance(child, _WORDLESS))


def _is_shown(node: ast.AST, child: ast.AST, *, shown: bool) -> bool:
    """Whether a part of `node` is shown to somebody, where `node` itself is or is not."""
    match node:
        case ast.Call():
            places, keywords = SINKS.get(name_of(node), ((), ()))
            if isinstance(child, ast.keyword):
                return child.arg in keywords
            return child in node.args and (places is None or node.args.index(child) in places)
        case ast.keyword() | ast.IfExp() | ast.BoolOp():
            return shown
    return False


def collect(root: Path = ROOT) -> list[Message]:
    """Return the messages of the project, by file and line."""
    found: set[Message] = set()
    for file in sorted((root / "skilld").rglob("*.py")):
        path = file.relative_to(root / "skilld").as_posix()
        found.update(messages(path, file.read_text(encoding="utf-8")))
    return sorted(found)


def listing(found: Sequence[Message]) -> str:
    """Return the list for a reader: a heading for each module, one message a line; those for a model at the end."""
    people = [one for one in found if one.path not in FOR_A_MODEL]
    models = [one for one in found if one.path in FOR_A_MODEL]
    return "\n".join([*_listed(people), "", "# Said to a model first", *_listed(models), ""])


def _listed(found: Sequence[Message]) -> Iterator[str]:
    path = ""
    for one in found:
        if one.path != path:
            path = one.path
            yield f"\n## {path}"
        yield f"{one.line}: {shown(one.text)}"


def shown(text: str) -> str:
    """Return a text on one line."""
    return text.replace("\n", "\\n")


def sample(found: Sequence[Message], number: int, seed: int) -> list[Message]:
    """Return some messages for people, drawn at random, each text once and those of one word left out."""
    texts = {one.text: one for one in found if one.path not in FOR_A_MODEL and is_prose(one.text, one.path)}
    return random.Random(seed).sample(list(texts.values()), min(number, len(texts)))  # noqa: S311 - no secret


def main(arguments: Sequence[str]) -> int:
    """Print the list, or with NUMBER SEED a sample of it; returns the exit code."""
    found = collect()
    if arguments:
        number, seed = map(int, arguments)
        drawn = sample(found, number, seed)
        sys.stdout.write("".join(f"{place}. [{one.path}] {shown(one.text)}\n" for place, one in enumerate(drawn, 1)))
    else:
        sys.stdout.write(listing(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
