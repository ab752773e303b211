"""Prepares a skill for other people: its SKILL.md without personal data, on a branch of its own.

The branch rests on what the remote's default branch was when it was last fetched, and holds one commit with nothing but
the skill; it is written by plumbing, so no work tree, index or HEAD is touched. Pushing it is a step of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skilld.edit.operations import mark_front_matter
from skilld.errors import RefusedError, SkilldError
from skilld.git import objects, refs, state, tree
from skilld.git.objects import person_ident
from skilld.git.remote import find_remote_base
from skilld.git.repo import Repo
from skilld.git.staging_branch import SHARE_REFS, STAGING_REF
from skilld.git.state import repo_lock
from skilld.markdown.skill_file import SkillFile, join_lines, parse
from skilld.redact import Finding as Secret
from skilld.skills.draft import EXAMPLE, SCHEMA, VARIABLES, Body, Item, lay, lift, trimmed
from skilld.skills.spec import front
from skilld.text import fold
from skilld.types import Op, Operation

# Nothing of any session leaves to other people. `cleared` takes out what skilld itself puts there of one; `carried`
# then looks through everything that leaves, as whatever else got there was written by somebody we cannot know. Commits
# of new skills, shares and exports all go through both.

SESSIONS = "skilld-sessions"
PERSONAL = (SESSIONS, "skilld-author")
_ORIGIN, _MINED = "skilld-origin", "mined"
# Code alone sets these.
_FIXED = frozenset({_ORIGIN, "skilld-kind", "skilld-evolving", "skilld-date", "skilld-version"})
_SHOWN = frozenset({"default", "example", "examples"})  # what a schema or a variable shows of a value
_ID_LENGTH = 6  # characters; a shorter id could be a word
_RUN = 3  # words of a quote in a row that are no accident
_TOKEN = re.compile(r"\S+")
_EDGE = "\"'`.,:;!?()[]{}<>\u201c\u201d\u2018\u2019"
_EXACT = re.compile(r"[/@\\]|\d|\w[.:=]\w")  # a link, a path, an address, a number


@dataclass(frozen=True, slots=True)
class SessionWords:
    """What is known of sessions: their ids, and words that a person said in one."""

    sessions: frozenset[str] = frozenset()
    quotes: tuple[str, ...] = ()


def cleared(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return a skill's metadata without sessions, people and the examples that were taken from a session."""
    is_mined = metadata.get(_ORIGIN) == _MINED
    kept = {key: value for key, value in metadata.items() if key not in PERSONAL}
    for key in {VARIABLES, SCHEMA} & kept.keys():
        try:
            value = json.loads(kept[key])
        except (ValueError, RecursionError):
            continue  # whatever it is, `carried` looks at it
        if (less := _without_examples(value, is_mined=is_mined)) != value:
            kept[key] = json.dumps(less)
    return kept


def cleared_body(body: str) -> str:
    """Return a body without the examples that name the session they were taken from."""
    parts = lift(body)
    pairs = list(zip(parts.examples[::2], parts.examples[1::2], strict=True))
    kept: list[Item] = [one for given, made in pairs if not made.codes for one in (given, made)]
    if len(kept) == len(parts.examples):
        return body
    return lay(Body(parts.prompt, parts.steps, parts.workflow, tuple(kept)))


def carried(text: str, said: SessionWords) -> str:
    """Return what a SKILL.md that is about to leave still carries of a session: a clause, empty if nothing.

    No id of a session may stand anywhere. Words of a quote may stand where people read what the skill says, its
    description and body; in any other field they were put there without anybody having looked.
    """
    if names_session(text, said):
        return "it contains a session ID"
    facts = front(text)
    told = _tokens(f"{facts.name} {facts.description} {join_lines(parse(text.encode('utf-8', 'replace')).body)}")
    for key, value in facts.metadata.items():
        if key not in _FIXED and _repeats(value, said, told):
            return f"its {key} field repeats your words from a session"
    return ""


def names_session(text: str, said: SessionWords) -> bool:
    """Whether the id of a session stands anywhere in a text."""
    return any(len(one) >= _ID_LENGTH and one in text for one in said.sessions)


def _without_examples(value: Any, *, is_mined: bool) -> Any:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, list):
        return [_without_examples(one, is_mined=is_mined) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_examples(one, is_mined=is_mined)
        for key, one in value.items()
        if not (key == "description" and isinstance(one, str) and one.startswith(EXAMPLE))
        and not (is_mined and key in _SHOWN)
    }


def _repeats(value: str, said: SessionWords, told: list[str]) -> bool:
    """Whether a value holds exact tokens, or several words in a row, of a quote that the skill itself does not say."""
    own = frozenset(told)
    runs = set(_runs(told))
    tokens = [token for text in _strings(value) for token in _tokens(text)]
    for quote in said.quotes:
        spoken = _tokens(quote)
        if any(_EXACT.search(one) and one not in own for one in set(tokens) & set(spoken)):
            return True
        if (set(_runs(tokens)) & set(_runs(spoken))) - runs:
            return True
    return False


def _strings(value: str) -> Iterator[str]:
    """Yield the texts in a value, which may be JSON."""
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = value
    yield from _texts(parsed)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str | int | float):
        yield str(value)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _texts(key)
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _tokens(text: str) -> list[str]:
    found = (token.strip(_EDGE) for token in _TOKEN.findall(fold(text).casefold()))
    return [token for token in found if token]


def _runs(tokens: list[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(tokens[at:] for at in range(_RUN)), strict=False)


PREFIX = SHARE_REFS.removeprefix("refs/heads/")
_TITLE = "The skill was not shared"
_OTHER = "Choose another name: --branch NAME"
_MAX_COMMITS = 100  # commits of a branch that is pushed again


@dataclass(frozen=True, slots=True)
class SharedBranch:
    """A branch that holds skills to be pushed: its ref, its commit, and the commit it rests on (None: on none).

    `before` is the commit that it had before (None: there was no such branch).
    """

    ref: str
    commit: str
    base: str | None
    before: str | None


@dataclass(frozen=True, slots=True)
class Check:
    """What must not leave: secrets, by what finds them, and what is known of sessions."""

    secrets: Callable[[str], Sequence[Secret]]
    said: SessionWords


def redacted(text: str, check: Check) -> str:
    """Return a SKILL.md as `without_sessions`, or raise RefusedError for a secret, with the line it is in."""
    if found := check.secrets(text):
        where = ", ".join(f"line {text.count(chr(10), 0, one.start) + 1} ({one.kind})" for one in found[:5])
        raise RefusedError(_TITLE, f"it contains what looks like a secret: {where}", "Remove it from the skill first.")
    return without_sessions(text, check.said)


def without_sessions(text: str, said: SessionWords) -> str:
    """Return a SKILL.md without the sessions and people it came from, as commits of new skills are cleared too.

    Raises RefusedError if something of a session stays: in front matter that cannot be changed, or in a field that
    only the person can tell about.
    """
    file = parse(text.encode("utf-8"))
    matter, metadata = file.front, front(file.front).metadata
    cleaner = cleared(metadata)
    for key in metadata:
        if cleaner.get(key, "") != metadata[key]:
            matter = mark_front_matter(matter, Operation(Op.MARK, key, cleaner.get(key, "")), file.ending)
    if any(key in matter for key in PERSONAL):
        raise RefusedError(_TITLE, "its front matter names sessions or people, and skilld cannot redact them")
    clean = matter + _clean_body(file)
    own = metadata.get(SESSIONS, "").replace(",", " ").split()
    if why := carried(clean, replace(said, sessions=said.sessions | {*own})):
        raise RefusedError(_TITLE, why, "Remove it from the skill first.")
    return clean


def _clean_body(file: SkillFile) -> str:
    body = join_lines(file.body)
    trimmed_body = trimmed(body)
    clean = cleared_body(trimmed_body)
    if clean == trimmed_body:
        return "".join(line.text + line.ending for line in file.body)
    blank = len(body) - len(body.lstrip("\n"))
    return (body[:blank] + clean + "\n").replace("\n", file.ending)


def put(
    repo: Repo, remote: str, branch: str, files: Mapping[str, str], *, message: str, seconds: int, check: Check
) -> SharedBranch:
    """Put files (path -> text) on `branch` of the person's repository, in their name, and return it.

    A branch that is there goes on from its tip, if nothing but these files is on it that `remote` has not, and none of
    their earlier versions holds what `redacted` takes out: pushing it must carry nothing else there. Raises
    RefusedError if it does, if the branch is in use or can have no such name, and if the remote has the
    skills as they are.
    """
    ref = f"refs/heads/{branch}"
    if repo.git.call("check-ref-format", "--branch", branch).status != 0:
        raise RefusedError(_TITLE, f"{branch} is not a valid branch name")
    with repo_lock(repo.common_dir):
        _check_unused(repo, ref)
        tip, base = refs.read_tip(repo.git, ref), find_remote_base(repo, remote)
        if tip is not None and not _only(repo, tip, base, files, check):
            raise RefusedError(
                _TITLE, f"{branch} contains more than these skills, and all of it would be pushed", _OTHER
            )
        parent = tip or base
        made = _with_files(repo, parent, files)
        if parent and (there := objects.read_commit(repo.git, parent)) and there.tree == made:
            if tip is None:
                raise RefusedError(_TITLE, "the remote already has this version")
            return SharedBranch(ref, tip, base, tip)
        who = person_ident(repo.git, seconds)
        parents = [parent] if parent else []
        commit = objects.write_commit(
            repo.git, tree=made, parents=parents, message=message.encode(), author=who, committer=who
        )
        refs.move_refs(repo.git, repo.common_dir, [refs.RefChange(ref, commit, tip)])
    return SharedBranch(ref, commit, base, tip)


def _check_unused(repo: Repo, ref: str) -> None:
    refs.check_no_links(repo.common_dir, [ref])
    if ref in {*state.checked_out(repo.common_dir), STAGING_REF}:
        branch = ref.removeprefix("refs/heads/")
        raise RefusedError(_TITLE, f"{branch} is checked out or belongs to skilld", _OTHER)


def take_back(repo: Repo, shared: SharedBranch) -> None:
    """Put the branch back to what it was, for a push that failed; raises LostRaceError if it moved meanwhile."""
    if shared.commit != shared.before:
        refs.move_refs(repo.git, repo.common_dir, [refs.RefChange(shared.ref, shared.before, shared.commit)])


def _with_files(repo: Repo, parent: str | None, files: Mapping[str, str]) -> str:
    blobs = {path: objects.write_blob(repo.git, text.encode()) for path, text in files.items()}
    changes = {path: tree.Entry("100644", oid) for path, oid in blobs.items()}
    return tree.rewrite_tree(repo.git, parent or tree.EMPTY_TREES[len(repo.head)], changes)


def _only(repo: Repo, tip: str, base: str | None, files: Mapping[str, str], check: Check) -> bool:
    """Whether the commits up to `tip` that `base` has not are a straight line that changes nothing but these files.

    Nor may one of them, in its message or in what it made of a file, say what may not be shared.
    """
    behind = [f"^{base}"] if base is not None else []
    out = repo.git.run("rev-list", f"--max-count={_MAX_COMMITS}", tip, *behind).decode().split()
    for commit in objects.read_commits(repo.git, out):
        if commit is None or len(commit.parents) > 1 or len(out) == _MAX_COMMITS:
            return False
        before = commit.parents[0] if commit.parents else tree.EMPTY_TREES[len(tip)]
        changed = tree.changed_files(repo.git, before, commit.oid)
        if not changed.keys() <= files.keys():
            return False
        if check.secrets(commit.text) or names_session(commit.text, check.said):
            return False
        made = objects.read_objects(repo.git, [now.oid for _, now in changed.values() if now is not None])
        if not all(one is not None and _is_shareable(one.data, check) for one in made):
            return False
    return True


def _is_shareable(data: bytes, check: Check) -> bool:
    try:
        text = data.decode("utf-8")
        return redacted(text, check) == text
    except (UnicodeDecodeError, SkilldError):
        return False
