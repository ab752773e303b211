"""`skilld effect` over a year: 400 sessions and 60 rules, reading what each session shows from the store.

Each session has five things that were said, besides those that had to be said again, and 300 words of its work, like
550 quotes of 1,009 real turns. Yardstick: reading the same rows without looking at any rule.
"""

from __future__ import annotations

import random
from dataclasses import replace

from benchmarks.kit import children, year
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.timing import seconds, side_by_side
from skilld import meanings
from skilld.classify import content, rule_repeats
from skilld.effect.rules import effects, rules
from skilld.past import Correction, PastSession
from skilld.store import Store

_SAID, _STEMS, _WORDS = 5, 300, 3_000


def measure(scale: Scale) -> dict[str, Figure]:
    """Return the time of all that the verb does but starting."""
    chance = random.Random(1)
    known = year.truths(chance, 60)
    files = year.texts(known)
    held = [_fuller(one, chance) for one in year.sessions(chance, known)]
    with children.scratch() as home:
        store = Store.open(home / "skilld.db")
        with store.transaction():
            for one in held:
                store.past.save(f"/transcripts/{one.session_id}", 1, one.at, [one])

        def tell() -> float:
            kept = (
                rule_repeats.match_keys,
                rule_repeats.demand_clauses,
                rule_repeats._correcting_stretches,  # noqa: SLF001 - a process starts without them
                content.content_of,
                content.content_terms,
                content.choice_members,
            )
            for cached in (*kept, meanings.terms, meanings._term, meanings._table):  # noqa: SLF001 - a process starts without
                cached.cache_clear()
            return seconds(lambda: _told(store, known, files))

        told, read = side_by_side(scale.pick(9, 3), tell, lambda: seconds(store.past.sessions))
        store.close()
    basis = f"{len(held)} sessions, {len(known)} rules"
    return {"effect": Figure(told, "s", "reading the rows", read, basis, Target(Of.VALUE, most=1.0))}


def _told(store: Store, known: list[year.Truth], files: dict[str, str]) -> None:
    sessions = store.past.sessions()
    assert len(effects(rules(year.accepted(known), sessions, files.__getitem__), sessions)) == len(known)


def _fuller(session: PastSession, chance: random.Random) -> PastSession:
    words = [f"word{number}" for number in chance.sample(range(_WORDS), _STEMS)]
    said = [
        Correction(f"x{place}", session.at, f"Please {words[place]} the {words[-place]} again, don't {words[9]} it.")
        for place in range(1, _SAID + 1)
    ]
    return replace(session, work=tuple(sorted({*session.work, *words})), said=(*session.said, *said))
