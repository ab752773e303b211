"""How well near-duplicate skills are told from others: thirty labelled skills in, tables out.

The tables are in docs/measurements/quality.md. Skills and labels are tests/fixtures/alike. Those of `tuned` were read
while the matcher was made; a pair with one of `aside` in it was only counted. Deterministic.

    python -m tools.measure_matching
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skilld.library import consolidate

ROOT = Path(__file__).parents[1] / "tests" / "fixtures" / "alike"
CURVE = (0.15, 0.2, 0.25, consolidate.MIN_SIMILARITY, 0.3, 0.4, 0.5)
UNRELATED = "unrelated"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two skills by their folder below ROOT, whether they are for one task, and what sort of pair they are."""

    skills: tuple[str, str]
    same: bool
    kind: str
    score: float
    alone: float

    @property
    def aside(self) -> bool:
        """Whether the tuning did not read one of the two."""
        return any(name.startswith("aside/") for name in self.skills)


@dataclass(frozen=True, slots=True)
class Score:
    """Pairs for one task that were found and missed, and pairs that were taken for such."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """Share of what was found that is right; 1 where nothing was found."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Share of what is there that was found."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


def skills() -> list[consolidate.SkillDescription]:
    """Return the thirty skills."""
    return [
        consolidate.describe_skill(
            file.parent.relative_to(ROOT).as_posix(), file.parent.name, file.read_text(encoding="utf-8")
        )
        for file in sorted(ROOT.glob("*/*/*/SKILL.md"))
    ]


def measured() -> list[Pair]:
    """Return every pair of the thirty with its label and its score: among all thirty, and alone."""
    labels = tomllib.loads((ROOT / "pairs.toml").read_text(encoding="utf-8"))["pair"]
    known = {frozenset(label["skills"]): (label["same"], label["kind"]) for label in labels}
    found = skills()
    by_key = {skill.key: skill for skill in found}
    return [
        Pair(names, *known.get(frozenset(names), (False, UNRELATED)), match.score, _alone(names, by_key))
        for match in consolidate.similar_pairs(found, list(by_key))
        for names in [(match.one.key, match.other.key)]
    ]


def _alone(names: tuple[str, str], by_key: Mapping[str, consolidate.SkillDescription]) -> float:
    (match,) = consolidate.similar_pairs([by_key[name] for name in names], names)
    return match.score


def counted(pairs: Collection[Pair], floor: float, *, alone: bool = False) -> Score:
    """Return what a threshold of `floor` finds among `pairs`."""
    found = [pair for pair in pairs if (pair.alone if alone else pair.score) >= floor]
    right = sum(pair.same for pair in found)
    return Score(right, len(found) - right, sum(pair.same for pair in pairs) - right)


def drafts(part: str) -> Score:
    """Return how often a skill of `part`, taken for a draft, is matched with one for the same task, or with none."""
    every = skills()
    same = {names for pair in measured() if pair.same for names in (pair.skills, pair.skills[::-1])}
    right = wrong = missed = 0
    for draft in (skill for skill in every if skill.key.startswith(part)):
        found = consolidate.best_match(draft, every)
        if found is None:
            missed += any(names[0] == draft.key for names in same)
        elif (draft.key, found.other.key) in same:
            right += 1
        else:
            wrong += 1
    return Score(right, wrong, missed)


def report() -> Iterator[str]:
    """Yield the lines of the tables."""
    every = measured()
    parts = {"tuned": [p for p in every if not p.aside], "**aside**": [p for p in every if p.aside], "all": every}
    yield "| pairs | n | same | found | right | precision | recall |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name, pairs in parts.items():
        yield _row(name, pairs, consolidate.MIN_SIMILARITY, alone=False)
    yield _row("all, each pair alone", every, consolidate.MIN_SIMILARITY_AMONG_FEW, alone=True)
    yield ""
    yield "| kind of pair | n | taken for the same | highest score | lowest score |"
    yield "| --- | --- | --- | --- | --- |"
    for kind in sorted({pair.kind for pair in every}, key=lambda one: (one == UNRELATED, one)):
        yield _kind(kind, [pair for pair in every if pair.kind == kind])
    yield ""
    yield "| threshold | tuned: right, wrong, missed | aside: right, wrong, missed | alone, all: right, wrong, missed |"
    yield "| --- | --- | --- | --- |"
    for floor in CURVE:
        cells = [counted(parts[name], floor) for name in ("tuned", "**aside**")]
        cells.append(counted(every, floor, alone=True))
        yield f"| {floor} | " + " | ".join(f"{one.right}, {one.wrong}, {one.missed}" for one in cells) + " |"
    yield ""
    counts = {part: drafts(part) for part in ("tuned", "aside")}
    said = (
        f"of `{name}` {one.right} rightly, {one.wrong} wrongly, {one.missed} missed" for name, one in counts.items()
    )
    yield f"Each skill as a draft, matched with the others: {'; '.join(said)}. Confusions among the pairs:"
    yield ""
    for pair in sorted(every, key=lambda one: -one.score):
        if pair.same != (pair.score >= consolidate.MIN_SIMILARITY):
            verdict = "missed" if pair.same else "wrongly taken for the same"
            yield f"- {verdict}: `{pair.skills[0]}` and `{pair.skills[1]}` ({pair.kind}, {pair.score:.2f})"


def _row(name: str, pairs: Sequence[Pair], floor: float, *, alone: bool) -> str:
    one = counted(pairs, floor, alone=alone)
    same = one.right + one.missed
    found = one.right + one.wrong
    return f"| {name} | {len(pairs)} | {same} | {found} | {one.right} | {one.precision:.2f} | {one.recall:.2f} |"


def _kind(kind: str, pairs: Sequence[Pair]) -> str:
    scores = [pair.score for pair in pairs]
    taken = sum(score >= consolidate.MIN_SIMILARITY for score in scores)
    name = f"{kind} (same)" if pairs[0].same else kind
    return f"| {name} | {len(pairs)} | {taken} | {max(scores):.2f} | {min(scores):.2f} |"


def main() -> int:
    """Print the tables."""
    for line in report():
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
