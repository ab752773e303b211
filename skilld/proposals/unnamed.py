"""Finds which proposal a commit on the staging branch is whose message the person replaced, trailers and all.

An amend keeps the author with their date, the file and mostly the parent. Reads only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from skilld.git import objects, refs, tree
from skilld.git.objects import OWN_EMAIL, Commit
from skilld.git.repo import Repo
from skilld.git.staging_branch import PROPOSAL_REFS, STAGING_REF

_TRAILERS = re.compile(r"(?:[A-Za-z0-9-]+: .*(?:\n|$))+")


def with_names(repo: Repo, commits: Sequence[Commit]) -> list[Commit]:
    """Return the commits, each that must be a proposal's with its trailers again, as `Commit.renamed`.

    One that may be several proposals', and a proposal that may be several commits, are left alone.
    """
    unnamed = [one for one in commits if one.author.email == OWN_EMAIL and len(one.parents) == 1 and not one.proposals]
    if not unnamed:
        return [*commits]
    named = {name for commit in commits for name in commit.proposals}
    tips = refs.read_own_refs(repo.git, repo.common_dir)
    names = [ref for ref in tips if ref != STAGING_REF and ref.removeprefix(PROPOSAL_REFS) not in named]
    own = zip(names, objects.read_commits(repo.git, names), strict=True)
    known = {ref.removeprefix(PROPOSAL_REFS): one for ref, one in own if one is not None and one.parents}
    found = {one.oid: name for one in unnamed if (name := _name_of(repo, one, known))}
    times = Counter(found.values())
    return [
        _with_trailers(one, found[one.oid], known[found[one.oid]]) if times[found.get(one.oid, "")] == 1 else one
        for one in commits
    ]


def _name_of(repo: Repo, commit: Commit, known: dict[str, Commit]) -> str:
    """Return the ID of the only proposal that a commit can be; empty if none or several are possible."""
    files = _files(repo, commit)
    same = [name for name, one in known.items() if one.author == commit.author and files & _files(repo, one)]
    there = [name for name in same if known[name].parents == commit.parents]
    return next(iter(there if len(same) > 1 else same), "") if 1 in {len(same), len(there)} else ""


def _files(repo: Repo, commit: Commit) -> set[str]:
    return {*tree.changed_files(repo.git, commit.parents[0], commit.oid)}


def _with_trailers(commit: Commit, name: str, own: Commit) -> Commit:
    """Return a commit with the trailers of a proposal's own commit below its message."""
    text = commit.text.rstrip("\n")
    head, _, last = text.rpartition("\n\n")
    gap = "\n" if head and _TRAILERS.fullmatch(last) else "\n\n"
    rows = "\n".join(f"{key}: {value}" for key, value in ({"Skilld-Proposal": name} | own.trailers).items())
    return replace(commit, message=f"{text}{gap}{rows}\n".encode("utf-8", "surrogateescape"), renamed=True)
