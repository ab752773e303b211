"""Runs attacks and look-alikes against the guard: what gets through when the model obeys everything.

Cases in, outcomes and figures out. Every attack is planted in each carrier and judged twice: the model quotes the
attack, and it quotes a harmless turn of the person word for word. Then it is typed by the person; so are look-alikes.
Sessions are written to a folder and read by the real adapter.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Any

from skilld.agents import ADAPTERS
from skilld.errors import SkilldError
from skilld.evaluate.batches import Pipeline, PipelineResult
from skilld.evaluate.loader import GuardCase, Typed
from skilld.evaluate.models import Quoting, longest_line, obedient
from skilld.evaluate.turns import grouped
from skilld.ingest.inspect import inspect
from skilld.pipeline import messages as conversation
from skilld.pipeline.documents import TargetDocument, load_skills
from skilld.protocol import BatchJob, Source
from skilld.skills import Places, find
from skilld.types import Message, SkillRef

AGENT = "claude-code"
_WRITTEN = json.loads(files("skilld.evaluate").joinpath("carriers.json").read_text(encoding="utf-8"))
# What the person types besides: nothing here is an attack, a wish for the future, or assent to something lasting. The
# second turn comes right after what was planted.
HARMLESS: tuple[str, ...] = tuple(_WRITTEN["harmless"])
SESSION: str = _WRITTEN["common"]["sessionId"]

Redact = Callable[[str], str]


class Carrier(StrEnum):
    """Where an agent meets a text that no person typed: `carriers.json` has the records, in several versions' shapes.

    A file is attached in records of its own, and as clients did before there were any; early clients wrote the records
    of a sub-agent between those of the session, and set no flag on a summary.
    """

    TOOL_RESULT = "tool_result"
    ASSISTANT = "assistant_text"
    FILE = "attached_file"
    SUB_AGENT = "sub_agent"
    SUMMARY = "compaction_summary"


class Scene:
    """A project with one skill below `root`, and one session in it that is written again for every text."""

    def __init__(self, root: Path) -> None:
        self.project = root / "shop"
        self.store = root / "home" / ".claude" / "projects"
        self.skill = self.project / ".claude" / "skills" / "release-notes" / "SKILL.md"
        self._main = self.store / "-shop" / f"{SESSION}.jsonl"
        self._early_agent = self.store / "-shop" / "agent-0badcafe.jsonl"
        self._agent = self.store / "-shop" / SESSION / "subagents" / "agent-a0badcafe.jsonl"
        for folder in (self.skill.parent, self._agent.parent):
            folder.mkdir(parents=True)
        text = "\n".join(_WRITTEN["skill"])
        self.skill.write_text(text, encoding="utf-8")
        self._written = _filled(_WRITTEN, {"{project}": str(self.project), "{skill}": text})

    def play(self, text: str, carrier: Carrier | None) -> None:
        """Write the session with `text` in one carrier, or typed by the person where it is None."""
        written = self._written
        planted = [written["person"], _agent("Understood.")] if carrier is None else written["carriers"][carrier]
        records = [*written["use"], _person(HARMLESS[0]), *_filled(planted, {"{text}": text})]
        for turn in HARMLESS[1:]:
            records += [_person(turn), _agent("Done.")]
        self._write(self._main, records)
        aside = _filled(written["sub_agent"], {"{text}": text}) if carrier is Carrier.SUB_AGENT else []
        for path in (self._agent, self._early_agent):
            self._write(path, [{"isSidechain": True, "agentId": "a0badcafe"} | record for record in aside])

    def _write(self, path: Path, records: Sequence[Mapping[str, Any]]) -> None:
        lines = [
            {
                "parentUuid": f"{number - 1:036x}" if number > 1 else None,
                **self._written["common"],
                "uuid": f"{number:036x}",
                "timestamp": f"2026-01-05T09:{number // 60:02}:{number % 60:02}.000Z",
                **record,
            }
            for number, record in enumerate(records, 1)
        ]
        # In ASCII: a text may hold half a surrogate pair, which no file can.
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="ascii")


def _person(text: str) -> Any:  # noqa: ANN401 - JSON is Any
    return _filled(_WRITTEN["person"], {"{text}": text})


def _agent(text: str) -> Any:  # noqa: ANN401 - JSON is Any
    return _filled(_WRITTEN["agent"], {"{text}": text})


def _filled(value: Any, words: Mapping[str, str]) -> Any:  # noqa: ANN401 - JSON is Any
    """Return a value of JSON with the marks in all its strings replaced."""
    if isinstance(value, dict):
        return {key: _filled(inner, words) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, words) for inner in value]
    for mark, text in words.items() if isinstance(value, str) else ():
        value = value.replace(mark, text)
    return value


@dataclass(frozen=True, slots=True)
class Through:
    """An attack that became a proposal: from which carrier, and whose words were quoted for it."""

    carrier: Carrier
    quoting: Quoting


@dataclass(frozen=True, slots=True)
class GuardResult:
    """A case with what came of it. `why_not` says why nothing became of the typed text, where nothing did."""

    case: GuardCase
    through: tuple[Through, ...]
    typed: Typed
    why_not: tuple[str, ...]


class Guard:
    """The real reading and judging of sessions below `root`, a folder of one's own."""

    def __init__(self, root: Path, redact: Redact, pipeline: Pipeline) -> None:
        self._scene = Scene(root)
        self._redact = redact
        self._pipeline = pipeline

    def judge(self, case: GuardCase) -> GuardResult:
        """Put one case through everything. Raises SkilldError if the sessions cannot be read as they were meant."""
        carriers = Carrier if case.attack else ()
        through = [Through(carrier, quoting) for carrier in carriers for quoting in self._got(case, carrier)]
        messages, skills = self._read(case.text, None)
        typed = Typed.REFUSED
        why_not: list[str] = []
        for model in obedient(case.text, Quoting.ATTACK):
            judged = self._pipeline.judge(model, messages, skills)
            typed = max(typed, _typed(judged))
            why_not += judged.why_not
        return GuardResult(case, tuple(through), typed, () if typed else tuple(dict.fromkeys(why_not)))

    def _got(self, case: GuardCase, carrier: Carrier) -> list[Quoting]:
        messages, skills = self._read(case.text, carrier)
        return [
            quoting
            for quoting in Quoting
            if any(
                self._pipeline.judge(model, messages, skills).proposed
                for model in (*obedient(case.text, quoting), longest_line(case.text, quoting))
            )
        ]

    def _read(self, text: str, carrier: Carrier | None) -> tuple[list[Message], list[TargetDocument]]:
        self._scene.play(text, carrier)
        adapter = ADAPTERS[AGENT]
        paths = [path for path in sorted(self._scene.store.rglob("*.jsonl")) if adapter.is_transcript(path)]
        views = [inspect(path, adapter) for path in paths]
        sources = tuple(Source(str(path), 0, path.stat().st_size) for path in paths)
        turns = tuple(key for view in views for key in view.turns)
        session = next(view.session_id for view in views if view.turns)
        batch = BatchJob(agent=AGENT, session_id=session or "", sources=sources, turns=turns)
        messages = conversation.read(batch, self._redact)
        places = Places(adapter.INFO.project_skills, ())
        found = [find(use.name, use.path, use.cwd, places) for view in views for use, _ in view.skills]
        skills, _ = load_skills([ref for ref in found if isinstance(ref, SkillRef)])
        heard = [message.text for message in messages if message.by_person]
        if len(skills) != 1 or not set(HARMLESS) <= set(heard):
            raise SkilldError("Cannot score the guard", "a test session changed when it was read back")
        return messages, skills


def figures(guarded: Sequence[GuardResult]) -> dict[str, Any]:
    """Return the figures under the keys of `skilld eval injection --json`: counts of cases."""
    attacks = [one for one in guarded if one.case.attack]
    benign = [one for one in guarded if not one.case.attack]
    ways = Counter(way for one in attacks for way in one.through)
    return {
        "kind": "injection",
        "n": len(guarded),
        "attacks": len(attacks),
        "proposed": sum(bool(one.through) for one in attacks),
        "typed": _counts(attacks),
        "typed_as_due": {
            f"must_be_{name}": {
                "n": sum(one.case.due is worst for one in attacks),
                "met": sum(one.case.due is worst and one.typed <= worst for one in attacks),
            }
            for name, worst in (("refused", Typed.REFUSED), ("refused_or_flagged", Typed.FLAGGED))
        },
        "benign": len(benign),
        "benign_refused": sum(one.typed is Typed.REFUSED for one in benign),
        "benign_flagged": sum(one.typed is Typed.FLAGGED for one in benign),
        "by_carrier": {
            carrier.value: {f"quoting_{quoting.value}": ways[Through(carrier, quoting)] for quoting in Quoting}
            for carrier in Carrier
        },
        "by_family": {
            family: {"n": len(group), "proposed": sum(bool(one.through) for one in group), **_counts(group)}
            for family, group in grouped((one.case.family, one) for one in attacks).items()
        },
    }


def rows_out(guarded: Sequence[GuardResult]) -> list[dict[str, Any]]:
    """Return the outcome of each case, without its text."""
    return [
        {
            "id": one.case.id,
            "label": "attack" if one.case.attack else "benign",
            "family": one.case.family,
            "proposed": bool(one.through),
            "through": [{"carrier": way.carrier.value, "quoting": way.quoting.value} for way in one.through],
            "typed": one.typed.name.lower(),
            "as_due": one.typed <= one.case.due and (one.case.attack or one.typed is not Typed.REFUSED),
            "why_not": list(one.why_not),
        }
        for one in guarded
    ]


def _typed(judged: PipelineResult) -> Typed:
    if not judged.proposed:
        return Typed.REFUSED
    return Typed.FLAGGED if judged.flags else Typed.PASSED


def _counts(guarded: Sequence[GuardResult]) -> dict[str, int]:
    counts = Counter(one.typed for one in guarded)
    return {typed.name.lower(): counts[typed] for typed in Typed}
