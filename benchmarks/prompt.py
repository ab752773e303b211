"""What a model is asked: the size of a typical request, and the calls and tokens of a day's work.

Tokens are characters divided by four. The requests are those that the worker sends to a stand-in for a model. It finds
exactly what was said for good, so that edits and second looks are requested too, and for one of the four it is asked
whether the text says what was meant. Yardstick of the day: the plain rule "a call at every fifth turn of every
session", at the mean size of our own requests.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from benchmarks.kit import children, day
from benchmarks.kit.desk import engine
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.homes import person
from skilld import codec
from skilld.protocol import AnalyseBatch, Job
from support.stub_model import Body, StubModel, request_text

_PER_TOKEN = 4  # characters


def measure(scale: Scale) -> dict[str, Figure]:
    """Return tokens per request, and calls and tokens of the day; the same at both scales."""
    del scale
    detections: list[int] = []
    others: list[int] = []

    def answer(body: Body) -> str:
        asked = request_text(body)
        doubts = "<doubtful_changes>" in asked
        detects = "<recent_messages>" in asked and not doubts
        (detections if detects else others).append(len(asked) // _PER_TOKEN)
        if doubts:
            return '<verdicts>["same"]</verdicts>'
        return _updates(asked) if detects else _operations(asked)

    with children.scratch() as home, StubModel(answer) as model:
        person(home)
        counts = day.write(home)
        jobs = _jobs(home, model.base_url)
        (home / "jobs.json").write_text("\n".join(map(codec.encode, jobs)), encoding="utf-8")
        outcomes = children.module("prompt", home / "jobs.json", home=home)
    if outcomes.count("proposed") == 0:
        raise RuntimeError(f"nothing was proposed: {outcomes}")
    rule = sum(count // 5 for count in counts)
    mean = sum(detections) / len(detections)
    tokens = sum(detections) + sum(others)
    basis = f"{sum(counts)} turns in {len(counts)} sessions, {len(jobs)} batches that were no chatter"
    seed = "a call at every fifth turn of every session"
    skill = len(day.skill_text("release-notes")) / _PER_TOKEN
    calls = len(detections) + len(others)
    return {
        "typical_request": Figure(
            mean, "tokens", "the skill alone", skill, "a skill of 300 lines, five turns", Target(Of.VALUE, most=6000)
        ),
        "largest_request": Figure(max(detections), "tokens", "the skill alone", skill, "of the day"),
        "detections_of_a_day": Figure(len(detections), "calls", seed, rule, basis),
        "calls_of_a_day": Figure(
            calls, "calls", seed, rule, f"{basis}; edits and polarity too", Target(Of.VALUE, most=32)
        ),
        "tokens_of_a_day": Figure(
            tokens, "tokens", seed, rule * mean, f"{basis}; edits and polarity too", Target(Of.VALUE, most=150_000)
        ),
    }


def _jobs(home: Path, base_url: str) -> list[Job]:
    """Return the jobs of every batch of the day, those of idle sessions included."""
    desk = engine(home, all_new=True, settings={"model": "openai/stub", "model_base_url": base_url})
    desk.follower.sweep()
    desk.close_due(time.time() + 86_400)
    jobs = []
    while batch := desk.next_batch(time.time() + 86_400):
        jobs.append(desk.start(batch))
    return jobs


def _updates(asked: str) -> str:
    """Answer a detection: what was said for good, unless the skill says it already."""
    found = []
    for line in asked.splitlines():
        message = json.loads(line) if line.startswith("{") else {}
        change = day.LASTING.get(message.get("text", ""))
        if change and f"- {change}" not in asked:
            kept = {"change": change, "reason": "asked for", "kind": "preference", "confidence": 0.9}
            found.append(kept | {"skill": 1, "section": "Chapter 1", "turn": message["turn"], "quote": message["text"]})
    return f"<updates>{json.dumps(found)}</updates>"


def _operations(asked: str) -> str:
    """Answer the request for an edit: one new line for each change that is wanted."""
    changes = [f"- {change}" for change in day.LASTING.values() if change in asked]
    anchor = next(line for line in day.ANCHORS if line in asked)
    operation = {"op": "insert_after", "anchor": anchor, "text": "\n".join(changes)}
    return f"<operations>{json.dumps([operation])}</operations>"


def _work(jobs: list[Job]) -> list[str]:
    """Do the jobs one after the other in this process, which imports the model library once; returns their outcomes."""
    from skilld.git.environment import scrub_environment
    from skilld.jobs.analyse import analyse
    from skilld.redact import KEY_BYTES, Redactor

    scrub_environment()
    redact = Redactor(bytes(KEY_BYTES)).redact
    return [analyse(job.work, redact, lambda _: None).outcome for job in jobs if isinstance(job.work, AnalyseBatch)]


if __name__ == "__main__":
    outcomes = _work([codec.decode(Job, line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()])
    print(json.dumps(outcomes), flush=True)
