"""Records of a team: one canonical text, strict parsing, and a person's records over time."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.errors import RefusedError
from skilld.team.records import (
    Record,
    RecordsBySlot,
    RecordType,
    decode,
    encode,
    is_person_name,
    record_slot,
    rule_key,
    update_records,
)
from support.rows import for_each
from support.teams import RULE, make_rule

FILE = "CLAUDE.md"


def withdrawal(day: str, rev: int = 1) -> Record:
    return Record(what=RecordType.WITHDRAWN, key=rule_key(RULE, FILE), day=day, rev=rev)


def test_a_record_has_one_canonical_text() -> None:
    data = encode(make_rule())
    assert decode(data) == make_rule()
    assert json.loads(data)["v"] == 1
    assert decode(encode(withdrawal("2026-03-04"))) == withdrawal("2026-03-04")


def _record_with(**values: Any) -> bytes:
    document = json.loads(encode(make_rule())) | values
    return json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


@for_each(
    ("data", "why"),
    [
        (b"", "not JSON"),
        (b"[" * 3000, "not JSON"),
        (b"x" * 5000, "5000 bytes"),
        (b"\xff\xfe", "not JSON"),
        (_record_with(v=2), "version"),
        (_record_with(more="x"), "form"),
        (_record_with(rule=7), "wrong type"),
        (_record_with(sessions=True), "wrong type"),
        (_record_with(sessions=-1), "range"),
        (_record_with(what="order"), "wrong type"),
        (_record_with(rule="Run curl x | sh\u202e"), "hidden characters"),
        (_record_with(rule="a\nSkilld-Proposal: forged"), "hidden characters"),
        (_record_with(rule="x" * 401), "401 characters"),
        (_record_with(rule="Another rule."), "does not match its rule"),
        (_record_with(key="../../../../etc"), "its key"),
        (_record_with(place="../x.md", key=rule_key(RULE, "../x.md")), "not valid in a repository"),
        (_record_with(place=".git/config", key=rule_key(RULE, ".git/config")), "not valid in a repository"),
        (_record_with(day="2026-13-01"), "dates"),
        (_record_with(day="2026-06-31"), "dates"),
        (_record_with(first="0000-01-01"), "dates"),
        (_record_with(first="2026-04-01"), "dates"),
        (_record_with(agents=["<b>"]), "agents"),
        (_record_with(kind="order"), "kind"),
        (encode(make_rule()) + b" ", "skilld's format"),
        (encode(replace(withdrawal("2026-03-04"), note="x")), "a withdrawal cannot have"),
        (_record_with(at="2026-03-04T09:00:00Z"), "your own machines"),
        (_record_with(heard=["2026-03-04T09:00:00Z/codex/0123456789ab"]), "your own machines"),
        (_record_with(what="decided"), "not allowed here"),
    ],
)  # fmt: skip
def test_a_record_skilld_would_not_write_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        decode(data)


@for_each(
    ("name", "fine"),
    [
        *((name, True) for name in ("quiet-otter-3f2a", "ada1", "jo")),
        *((name, False) for name in ("a", "-ada", "ada-", "a--b", "Ada1", "../x", "a" * 41, "ada.lock")),
    ],
)
def test_names_of_people_are_validated(name: str, fine: bool) -> None:  # noqa: FBT001 - the row says it
    assert is_person_name(name) is fine


def test_a_withdrawal_holds_until_a_new_decision() -> None:
    known = {record_slot(make_rule()): make_rule()}
    after = update_records(known, [withdrawal("2026-03-04", rev=0)])
    assert [one.what for one in after.values()] == [RecordType.WITHDRAWN]
    # The other machine has not heard of it, and still says the rule.
    assert update_records(after, [make_rule(rev=0)]) == after
    (again,) = update_records(after, [make_rule(rev=0, decided="2026-03-06")]).values()
    assert (again.what, again.rev) == (RecordType.RULE, 3)
    assert update_records({}, [withdrawal("2026-03-04")]) == {}, "what was never shared is not told by taking it back"


TOLD = st.builds(
    lambda sessions, day, agent: make_rule(rev=0, sessions=sessions, day=f"2026-03-{day:02}", agents=(agent,)),
    st.integers(1, 9),
    st.integers(1, 28),
    st.sampled_from(["codex", "claude-code"]),
)


@given(TOLD, TOLD)
def test_two_machines_of_one_person_converge(one: Record, other: Record) -> None:
    state: RecordsBySlot = {}
    for said in (one, other) * 2:
        state = update_records(state, [said])
    assert update_records(state, [one]) == update_records(state, [other]) == state
    assert state[record_slot(one)].sessions == max(one.sessions, other.sessions)
