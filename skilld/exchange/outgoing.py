"""Prepares a skill for other people: its SKILL.md without personal data, on a branch of its own.

The branch is based on the last fetched state of the remote's default branch, and has one commit with only the skill; it
is written by git plumbing, so no work tree, index or HEAD is touched. The caller pushes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from skilld.edit.operations import mark_front_matter
from skilld.errors import RefusedError, SkilldError
from skilld.git import objects, refs, state, tree
from skilld.git.objects import person_ident
from skilld.git.remote import find_remote_base
from skilld.git.repo import Repo
from skilld.git.session import shared_git
from skilld.git.staging_branch import SHARE_REFS, STAGING_REF
from skilld.git.state import repo_lock
from skilld.markdown.skill_file import SkillFile, join_lines, parse
from skilld.markdown.structure import code_spans
from skilld.redact import Finding as Secret
from skilld.skills.draft import EXAMPLE_PREFIX, SCHEMA, VARIABLES, Body, Item, join_body, split_body, trim_body
from skilld.skills.spec import read_front
from skilld.skills.write import VARIABLE_NOTE, holes
from skilld.text import fold
from skilld.types import Op, Operation
from skilld.values import value_class

# Nothing from a session may reach other people. `clear_metadata` removes what skilld itself has written; then
# `leak_reason` checks the whole text, because anybody may have written the rest. Commits of new skills, shares and
# exports all go through both.

SESSIONS_KEY = "skilld-sessions"
PERSONAL_KEYS = (SESSIONS_KEY, "skilld-author")
_ORIGIN, _MINED = "skilld-origin", "mined"
# Only set by code.
_CODE_KEYS = frozenset({_ORIGIN, "skilld-kind", "skilld-evolving", "skilld-date", "skilld-version"})
_EXAMPLE_KEYS = frozenset({"default", "example", "examples"})  # of a schema or a variable
_MIN_ID_LENGTH = 6  # characters; a shorter id could be a word
_RUN_WORDS = 3  # consecutive words of a quote that are unlikely by accident
# In scripts without spaces a character is a token, and several count as one word.
_UNSPACED = "\u0e00-\u0eff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_TOKEN_PATTERN = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")
_UNSPACED_PATTERN = re.compile(rf"[{_UNSPACED}]")
_CHARACTERS_PER_WORD = 3
_EDGE_CHARACTERS = (
    "\"'`.,:;!?()[]{}<>\u201c\u201d\u2018\u2019\u3001\u3002\u300c\u300d\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"
)
_EXACT_PATTERN = re.compile(r"[/@\\]|\d|\w[.:=]\w")  # a link, a path, an address, a number


@value_class
class SessionWords:
    """The ids of sessions, and quotes from them."""

    sessions: frozenset[str] = frozenset()
    quotes: tuple[str, ...] = ()


def clear_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return a skill's metadata without sessions, people and examples from sessions."""
    is_mined = metadata.get(_ORIGIN) == _MINED
    kept = {key: value for key, value in metadata.items() if key not in PERSONAL_KEYS}
    for key in {VARIABLES, SCHEMA} & kept.keys():
        try:
            value = json.loads(kept[key])
        except (ValueError, RecursionError):
            continue  # `leak_reason` checks it
        if (less := _without_examples(value, is_mined=is_mined)) != value:
            kept[key] = json.dumps(less)
    return kept


def clear_body(body: str) -> str:
    """Return a body without the examples that name their session."""
    parts = split_body(body)
    pairs = list(zip(parts.examples[::2], parts.examples[1::2], strict=True))
    kept: list[Item] = [one for given, made in pairs if not made.codes for one in (given, made)]
    if len(kept) == len(parts.examples):
        return body
    return join_body(Body(parts.prompt, parts.steps, parts.workflow, tuple(kept)))


def leak_reason(text: str, said: SessionWords) -> str | None:
    """Return which session data a SKILL.md still contains, None if it has none.

    Session ids are not allowed anywhere. Words of a quote are allowed where people read the skill, in its description
    and body, but not in other fields, which nobody may have checked.
    """
    if names_session(text, said):
        return "it contains a session ID"
    facts = read_front(text)
    allowed = _tokens(f"{facts.name} {facts.description} {join_lines(parse(text.encode('utf-8', 'replace')).body)}")
    for key, value in facts.metadata.items():
        if key not in _CODE_KEYS and _repeats_quote(value, said, allowed):
            return f"its {key} field repeats your words from a session"
    return None


def names_session(text: str, said: SessionWords) -> bool:
    """Whether a text contains the id of a session."""
    return any(len(one) >= _MIN_ID_LENGTH and one in text for one in said.sessions)


def own_words(text: str, said: SessionWords) -> list[str]:
    """Return what a text has of a person's own words: three or more in a row, and examples of variables; each once."""
    spoken = [_tokens(quote) for quote in said.quotes]
    runs = {run for tokens in spoken for run in _word_runs(tokens)}
    found: list[str] = []
    for line in text.splitlines():
        words = [match for match in _TOKEN_PATTERN.finditer(line) if _tokens(match[0])]
        tokens = [fold(word[0]).casefold().strip(_EDGE_CHARACTERS) for word in words]
        said_here = [(at, run) for at, run in enumerate(_word_runs(tokens)) if run in runs]
        covered = {place for at, run in said_here for place in range(at, at + len(run))}
        for at in (one for one in sorted(covered) if one - 1 not in covered):
            end = next(place for place in count(at) if place not in covered)
            found.append(line[words[at].start() : words[end - 1].end()].strip(_EDGE_CHARACTERS))
        if VARIABLE_NOTE in line:
            examples = (span.content for span in code_spans(line) if not holes(span.content))
            found += [one for one in examples if any(one.casefold() in quote.casefold() for quote in said.quotes)]
    return [one for one in dict.fromkeys(found) if not any(one in other for other in found if other != one)]


def _without_examples(value: Any, *, is_mined: bool) -> Any:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, list):
        return [_without_examples(one, is_mined=is_mined) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_examples(one, is_mined=is_mined)
        for key, one in value.items()
        if not (key == "description" and isinstance(one, str) and one.startswith(EXAMPLE_PREFIX))
        and not (is_mined and key in _EXAMPLE_KEYS)
    }


def _repeats_quote(value: str, said: SessionWords, told: list[str]) -> bool:
    """Whether a value has exact tokens, or consecutive words, of a quote that the skill itself does not say."""
    own = frozenset(told)
    runs = set(_word_runs(told))
    tokens = [token for text in _texts_in_value(value) for token in _tokens(text)]
    for quote in said.quotes:
        spoken = _tokens(quote)
        if any(_EXACT_PATTERN.search(one) and one not in own for one in set(tokens) & set(spoken)):
            return True
        if (set(_word_runs(tokens)) & set(_word_runs(spoken))) - runs:
            return True
    return False


def _texts_in_value(value: str) -> Iterator[str]:
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = value
    yield from json_texts(parsed)


def json_texts(value: object) -> Iterator[str]:
    """Yield the texts and numbers in a JSON value, also those that are keys."""
    if isinstance(value, str | int | float):
        yield str(value)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from json_texts(key)
            yield from json_texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from json_texts(one)


def _tokens(text: str) -> list[str]:
    found = (token.strip(_EDGE_CHARACTERS) for token in _TOKEN_PATTERN.findall(fold(text).casefold()))
    return [token for token in found if token]


def _word_runs(tokens: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield the tokens from each one on that are as much as three words, as long as there are so many."""
    for at in range(len(tokens)):
        left = _RUN_WORDS * _CHARACTERS_PER_WORD
        for end in range(at, len(tokens)):
            left -= 1 if _UNSPACED_PATTERN.fullmatch(tokens[end]) else _CHARACTERS_PER_WORD
            if left <= 0:
                yield tuple(tokens[at : end + 1])
                break
        else:
            return


BRANCH_PREFIX = SHARE_REFS.removeprefix("refs/heads/")
_TITLE = "The skill was not shared"
_NAME_REMEDY = "Choose another name: --branch NAME"
_MAX_BRANCH_COMMITS = 100  # of a branch that is pushed again


@value_class
class SharedBranch:
    """A branch with skills to be pushed: its ref, its commit, and its base (None: no base).

    `before` is its previous commit (None: the branch is new).
    """

    ref: str
    commit: str
    base: str | None
    before: str | None


@value_class
class LeakCheck:
    """What must not be shared: a function that finds secrets, and words of sessions."""

    secrets: Callable[[str], Sequence[Secret]]
    said: SessionWords

    def refusal(self, text: str) -> str | None:
        """Return why a text must not leave this machine; None if it may."""
        if self.secrets(text):
            return "it contains what looks like a secret"
        return "it contains a session ID" if names_session(text, self.said) else None


def redact_skill(text: str, check: LeakCheck) -> str:
    """Return the result of `without_sessions`, or raise RefusedError for a secret, with its line."""
    if found := check.secrets(text):
        where = ", ".join(f"line {text.count(chr(10), 0, one.start) + 1} ({one.kind})" for one in found[:5])
        raise RefusedError(_TITLE, f"it contains what looks like a secret: {where}", "Remove it from the skill first.")
    return without_sessions(text, check.said)


def without_sessions(text: str, said: SessionWords) -> str:
    """Return a SKILL.md without its sessions and people, as for commits of new skills.

    Raises RefusedError if session data remains: in front matter that cannot be changed, or in a field that only the
    person can judge.
    """
    file = parse(text.encode("utf-8"))
    matter, metadata = file.front, read_front(file.front).metadata
    cleaner = clear_metadata(metadata)
    for key in metadata:
        if cleaner.get(key, "") != metadata[key]:
            matter = mark_front_matter(matter, Operation(Op.MARK, key, cleaner.get(key, "")), file.ending)
    if any(key in matter for key in PERSONAL_KEYS):
        raise RefusedError(_TITLE, "its front matter names sessions or people, and skilld cannot redact them")
    clean = matter + _clean_body(file)
    own = metadata.get(SESSIONS_KEY, "").replace(",", " ").split()
    if why := leak_reason(clean, replace(said, sessions=said.sessions | {*own})):
        raise RefusedError(_TITLE, why, "Remove it from the skill first.")
    return clean


def _clean_body(file: SkillFile) -> str:
    body = join_lines(file.body)
    trimmed_body = trim_body(body)
    clean = clear_body(trimmed_body)
    if clean == trimmed_body:
        return "".join(line.text + line.ending for line in file.body)
    blank = len(body) - len(body.lstrip("\n"))
    return (body[:blank] + clean + "\n").replace("\n", file.ending)


@shared_git()
def put_on_branch(
    repo: Repo, remote: str, branch: str, files: Mapping[str, str], *, message: str, seconds: int, check: LeakCheck
) -> SharedBranch:
    """Commit files (path -> text) to `branch` of the person's repository, in their name, and return it.

    An existing branch is continued if it has only these files beyond `remote`, and none of their versions there
    contains what `redact_skill` removes: pushing it must share nothing else. Otherwise raises RefusedError, as well as
    if the branch is in use or its name is invalid, and if the remote already has the same skills.
    """
    ref = f"refs/heads/{branch}"
    if repo.git.call("check-ref-format", "--branch", branch).status != 0:
        raise RefusedError(_TITLE, f"{branch} is not a valid branch name", _NAME_REMEDY)
    with repo_lock(repo.common_dir):
        refs.check_no_links(repo.common_dir, [ref])
        if ref in {*state.checked_out(repo.common_dir), STAGING_REF}:
            raise RefusedError(_TITLE, f"{branch} is checked out or belongs to skilld", _NAME_REMEDY)
        tip, base = refs.read_tip(repo.git, ref), find_remote_base(repo, remote)
        if tip is not None and not _has_only(repo, tip, base, files, check):
            raise RefusedError(
                _TITLE, f"{branch} contains more than these skills, and all of it would be pushed", _NAME_REMEDY
            )
        parent = tip or base
        made = _write_tree(repo, parent, files)
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


def restore_branch(repo: Repo, shared: SharedBranch) -> None:
    """Restore the branch after a failed push; raises LostRaceError if it has moved meanwhile."""
    if shared.commit != shared.before:
        refs.move_refs(repo.git, repo.common_dir, [refs.RefChange(shared.ref, shared.before, shared.commit)])


def _write_tree(repo: Repo, parent: str | None, files: Mapping[str, str]) -> str:
    blobs = {path: objects.write_blob(repo.git, text.encode()) for path, text in files.items()}
    changes = {path: tree.Entry("100644", oid) for path, oid in blobs.items()}
    return tree.rewrite_tree(repo.git, parent or tree.EMPTY_TREES[len(repo.head)], changes)


def _has_only(repo: Repo, tip: str, base: str | None, files: Mapping[str, str], check: LeakCheck) -> bool:
    """Whether the commits from `base` to `tip` are linear, change only these files, and may all be shared."""
    behind = [f"^{base}"] if base is not None else []
    out = repo.git.run("rev-list", f"--max-count={_MAX_BRANCH_COMMITS}", tip, *behind).decode().split()
    for commit in objects.read_commits(repo.git, out):
        if commit is None or len(commit.parents) > 1 or len(out) == _MAX_BRANCH_COMMITS:
            return False
        before = commit.parents[0] if commit.parents else tree.EMPTY_TREES[len(tip)]
        changed = tree.changed_files(repo.git, before, commit.oid)
        if not changed.keys() <= files.keys():
            return False
        if check.refusal(commit.text):
            return False
        made = objects.read_objects(repo.git, [now.oid for _, now in changed.values() if now is not None])
        if not all(one is not None and _is_shareable(one.data, check) for one in made):
            return False
    return True


def _is_shareable(data: bytes, check: LeakCheck) -> bool:
    try:
        text = data.decode("utf-8")
        return redact_skill(text, check) == text
    except (UnicodeDecodeError, SkilldError):
        return False
