"""Which open proposals "accept all" leaves to the person."""

from __future__ import annotations

from typing import Any

import pytest

from skilld.jobs.one_by_one import why_one_by_one
from skilld.pipeline.edits import COLLATERAL_FLAG
from skilld.store import Store
from skilld.types import BY_HEADING_FLAG, Evidence, Kind, Update
from support.proposals import make_proposal

UNSAFE = "It asks for an unsafe practice: No need to use the old\u2026"
REBASE = "It removes an instruction: - Rebase before you push."


def _said(quote: str, kind: Kind = Kind.CHANGE_STEP) -> dict[str, Any]:
    return {"evidence": (Evidence("agent:1", quote),), "updates": (Update(1, "", quote, "", kind, 1, quote),)}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"flags": (REBASE,), **_said("From now on always squash fixup commits.")}, "it removes an instruction: - Reb"),
        ({"flags": (REBASE,), **_said("Always squash before pushing.")}, "it removes an instruction: - Rebase"),
        ({"flags": (REBASE,), **_said("No need to rebase before a push any more.")}, ""),
        ({"flags": (REBASE,), **_said("You can drop the rebase.", Kind.REMOVE_STEP)}, ""),
        ({"flags": (REBASE,), **_said("Drop the linter.", Kind.REMOVE_STEP)}, "it removes an instruction"),
        ({"flags": (f"{COLLATERAL_FLAG}: \u201cBe kind.\u201d",)}, COLLATERAL_FLAG),
        ({"flags": (f"{BY_HEADING_FLAG}: \u201cStyle\u201d",)}, BY_HEADING_FLAG),
        ({"flags": ("CLAUDE.md:51 may already say this",)}, "CLAUDE.md:51 may already say this"),
        ({"flags": ("It adds a path that exists only on one person's machine: /home/x",)}, ""),
        (
            {"flags": ("you may have taken this back since: \u201cforget it\u201d",)},
            "you may have taken this back since",
        ),
        ({"batch_id": "effect-cut-0a1b2c3d", "evidence": ()}, "you did not ask for this cut"),
        ({"batch_id": "import-1", "evidence": ()}, "the skill is imported, and none of it is in your words. To"),
        ({"batch_id": "reviews-1", "evidence": ()}, "reviewers asked for it, not you"),
        ({"flags": ("the wording comes from a file you specified, not from you",)}, "the wording comes from a file"),
        ({"batch_id": "effect-sharpen-0a1b2c3d"}, ""),
        ({"batch_id": "trim-1", "evidence": (), "flags": (REBASE,)}, ""),
        ({"flags": ("It skips hooks, checks or signatures: --no-verify",)}, "it skips hooks"),
        ({"flags": (UNSAFE,)}, "it asks for an unsafe practice: No need to use the old\u2026 To accept"),
        ({"flags": (f"{REBASE[:-1]}\u2026",), **_said("Squash.")}, "it removes an instruction: - Rebase before you"),
        ({}, ""),
    ],
)
def test_a_batch_leaves_what_nobody_named(store: Store, fields: dict[str, Any], why: str) -> None:
    one = make_proposal(**fields)
    store.proposals.add(one)
    told = why_one_by_one(store, one)
    assert bool(told) is bool(why)
    if why:
        assert told.startswith(f"{one.id} was left open: {why}")
        assert "\u2026." not in told
        assert told.endswith(f" To accept it anyway: skilld accept {one.id}")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Commit-Nachrichten immer auf Deutsch.", "Write commit messages in English."),
        ("Answer in German.", "Code comments in English, answers in English."),
        ("We use luxon for dates, not dayjs.", "We use date-fns for dates, not luxon."),
        (
            "No need to use the test postgres, mock the database in tests if it's faster.",
            "Do not mock the db in tests; use the real test postgres.",
        ),
    ],
)
def test_both_of_two_opposites_are_left(store: Store, one: str, other: str) -> None:
    both = [make_proposal(id=f"p{n}", summary=text, **_said(text)) for n, text in enumerate((one, other))]
    for made in both:
        store.proposals.add(made)
    for made, opposite in (both, reversed(both)):
        assert f"the open proposal {opposite.id} says the opposite" in why_one_by_one(store, made)
