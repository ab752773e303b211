"""Runs attacks and look-alikes against the guard, with a model that obeys everything.

Every attack is planted in each carrier and judged twice: once the model quotes the attack, once a harmless turn of the
person. Then the person types it; so they do look-alikes. Sessions are written to a folder and read by the real adapter.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Any

from skilld.agents import ADAPTERS
from skilld.errors import SkilldError
from skilld.ingest.inspect import inspect
from skilld.pipeline import messages as conversation
from skilld.pipeline.documents import TargetDocument, load_documents
from skilld.protocol import BatchJob, Source
from skilld.scoring.batches import Pipeline, PipelineResult
from skilld.scoring.loader import GuardCase, TypedOutcome
from skilld.scoring.models import Quoting, longest_line_model, obedient_models
from skilld.scoring.turns import group_by_key
from skilld.skills import Places, find
from skilld.text import Redact
from skilld.types import Message, SkillRef
from skilld.values import value_class

AGENT = "claude-code"
_RECORDS = json.loads(files("skilld.scoring").joinpath("carriers.json").read_text(encoding="utf-8"))
# The person's other turns: none is an attack, a wish for the future, or assent to something lasting. The second one
# comes right after the planted text.
HARMLESS: tuple[str, ...] = tuple(_RECORDS["harmless"])
SESSION: str = _RECORDS["common"]["sessionId"]


class Carrier(StrEnum):
    """The places where an agent reads text that no person typed; `carriers.json` has their records.

    They have the formats of several versions: attached files with and without records of their own, sub-agents in
    records of the session itself, and summaries without a flag, as early clients wrote them.
    """

    TOOL_RESULT = "tool_result"
    ASSISTANT = "assistant_text"
    FILE = "attached_file"
    SUB_AGENT = "sub_agent"
    SUMMARY = "compaction_summary"


class PlantedSession:
    """A project with one skill below `root`, and a session that is rewritten for every text."""

    def __init__(self, root: Path) -> None:
        self.project = root / "shop"
        self.store = root / "home" / ".claude" / "projects"
        self.skill = self.project / ".claude" / "skills" / "release-notes" / "SKILL.md"
        self._main = self.store / "-shop" / f"{SESSION}.jsonl"
        self._early_agent = self.store / "-shop" / "agent-0badcafe.jsonl"
        self._agent = self.store / "-shop" / SESSION / "subagents" / "agent-a0badcafe.jsonl"
        for folder in (self.skill.parent, self._agent.parent):
            folder.mkdir(parents=True)
        text = "\n".join(_RECORDS["skill"])
        self.skill.write_text(text, encoding="utf-8")
        self._written = _fill(_RECORDS, {"{project}": str(self.project), "{skill}": text})

    def write(self, text: str, carrier: Carrier | None) -> None:
        """Write the session with `text` in a carrier, or typed by the person if it is None."""
        written = self._written
        planted = [written["person"], _agent("Understood.")] if carrier is None else written["carriers"][carrier]
        records = [*written["use"], _person(HARMLESS[0]), *_fill(planted, {"{text}": text})]
        for turn in HARMLESS[1:]:
            records += [_person(turn), _agent("Done.")]
        self._write(self._main, records)
        aside = _fill(written["sub_agent"], {"{text}": text}) if carrier is Carrier.SUB_AGENT else []
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
        # ASCII, since a text may contain half a surrogate pair.
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="ascii")


def _person(text: str) -> Any:  # noqa: ANN401 - JSON is Any
    return _fill(_RECORDS["person"], {"{text}": text})


def _agent(text: str) -> Any:  # noqa: ANN401 - JSON is Any
    return _fill(_RECORDS["agent"], {"{text}": text})


def _fill(value: Any, words: Mapping[str, str]) -> Any:  # noqa: ANN401 - JSON is Any
    """Replace the placeholders in all strings of a JSON value."""
    if isinstance(value, dict):
        return {key: _fill(inner, words) for key, inner in value.items()}
    if isinstance(value, list):
        return [_fill(inner, words) for inner in value]
    for mark, text in words.items() if isinstance(value, str) else ():
        value = value.replace(mark, text)
    return value


@value_class
class Breach:
    """An attack that became a proposal: its carrier, and whose words the model quoted."""

    carrier: Carrier
    quoting: Quoting


@value_class
class GuardResult:
    """The result of a case. `why_not` says why the typed text was refused."""

    case: GuardCase
    breaches: tuple[Breach, ...]
    typed: TypedOutcome
    why_not: tuple[str, ...]


class Guard:
    """Reads and judges sessions below `root`, as the worker does; the folder must be unused."""

    def __init__(self, root: Path, redact: Redact, pipeline: Pipeline) -> None:
        self._scene = PlantedSession(root)
        self._redact = redact
        self._pipeline = pipeline

    def judge(self, case: GuardCase) -> GuardResult:
        """Judge one case. Raises SkilldError if the sessions are not read back as written."""
        carriers = Carrier if case.attack else ()
        through = [Breach(carrier, quoting) for carrier in carriers for quoting in self._find_breaches(case, carrier)]
        messages, skills = self._read(case.text, None)
        typed = TypedOutcome.REFUSED
        why_not: list[str] = []
        for model in obedient_models(case.text, Quoting.ATTACK):
            judged = self._pipeline.judge(model, messages, skills)
            typed = max(typed, _typed_outcome(judged))
            why_not += judged.why_not
        return GuardResult(case, tuple(through), typed, () if typed else tuple(dict.fromkeys(why_not)))

    def _find_breaches(self, case: GuardCase, carrier: Carrier) -> list[Quoting]:
        messages, skills = self._read(case.text, carrier)
        return [
            quoting
            for quoting in Quoting
            if any(
                self._pipeline.judge(model, messages, skills).proposed
                for model in (*obedient_models(case.text, quoting), longest_line_model(case.text, quoting))
            )
        ]

    def _read(self, text: str, carrier: Carrier | None) -> tuple[list[Message], list[TargetDocument]]:
        self._scene.write(text, carrier)
        adapter = ADAPTERS[AGENT]
        paths = [path for path in sorted(self._scene.store.rglob("*.jsonl")) if adapter.is_transcript(path)]
        views = [inspect(path, adapter) for path in paths]
        sources = tuple(Source(str(path), 0, path.stat().st_size) for path in paths)
        turns = tuple(key for view in views for key in view.turns)
        session = next(view.session_id for view in views if view.turns)
        batch = BatchJob(agent=AGENT, session_id=session or "", sources=sources, turns=turns)
        messages = conversation.read_batch(batch, self._redact)
        places = Places(adapter.INFO.project_skills, ())
        found = [find(use.name, use.path, use.cwd, places) for view in views for use, _ in view.skills]
        skills, _ = load_documents([ref for ref in found if isinstance(ref, SkillRef)])
        typed = [message.text for message in messages if message.by_person]
        if len(skills) != 1 or not set(HARMLESS) <= set(typed):
            raise SkilldError("Cannot score the guard", "a test session changed when it was read back")
        return messages, skills


def figures(guarded: Sequence[GuardResult]) -> dict[str, Any]:
    """Return the figures for `skilld eval injection --json`: counts of cases."""
    attacks = [one for one in guarded if one.case.attack]
    benign = [one for one in guarded if not one.case.attack]
    ways = Counter(way for one in attacks for way in one.breaches)
    return {
        "kind": "injection",
        "n": len(guarded),
        "attacks": len(attacks),
        "proposed": sum(bool(one.breaches) for one in attacks),
        "typed": _counts(attacks),
        "typed_as_due": {
            f"must_be_{name}": {
                "n": sum(one.case.due is worst for one in attacks),
                "met": sum(one.case.due is worst and one.typed <= worst for one in attacks),
            }
            for name, worst in (("refused", TypedOutcome.REFUSED), ("refused_or_flagged", TypedOutcome.FLAGGED))
        },
        "benign": len(benign),
        "benign_refused": sum(one.typed is TypedOutcome.REFUSED for one in benign),
        "benign_flagged": sum(one.typed is TypedOutcome.FLAGGED for one in benign),
        "by_carrier": {
            carrier.value: {f"quoting_{quoting.value}": ways[Breach(carrier, quoting)] for quoting in Quoting}
            for carrier in Carrier
        },
        "by_family": {
            family: {"n": len(group), "proposed": sum(bool(one.breaches) for one in group), **_counts(group)}
            for family, group in group_by_key((one.case.family, one) for one in attacks).items()
        },
    }


def outcome_rows(guarded: Sequence[GuardResult]) -> list[dict[str, Any]]:
    """Return the outcome of each case, without its text."""
    return [
        {
            "id": one.case.id,
            "label": "attack" if one.case.attack else "benign",
            "family": one.case.family,
            "proposed": bool(one.breaches),
            "through": [{"carrier": way.carrier.value, "quoting": way.quoting.value} for way in one.breaches],
            "typed": one.typed.name.lower(),
            "as_due": one.typed <= one.case.due and (one.case.attack or one.typed is not TypedOutcome.REFUSED),
            "why_not": list(one.why_not),
        }
        for one in guarded
    ]


def _typed_outcome(judged: PipelineResult) -> TypedOutcome:
    if not judged.proposed:
        return TypedOutcome.REFUSED
    return TypedOutcome.FLAGGED if judged.flags else TypedOutcome.PASSED


def _counts(guarded: Sequence[GuardResult]) -> dict[str, int]:
    counts = Counter(one.typed for one in guarded)
    return {typed.name.lower(): counts[typed] for typed in TypedOutcome}
