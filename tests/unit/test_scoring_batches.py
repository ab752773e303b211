"""Labelled batches and turns through the whole pipeline: what is read, counted and lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from skilld.classify.backends import Backend, EditCheck, Spec, make_backend
from skilld.errors import RetryError, SkilldError
from skilld.scoring import batches, loader
from skilld.scoring.batches import Pipeline, in_memory, likeness, match
from skilld.scoring.loader import BatchCase, GoldUpdate, LabelledTurn
from skilld.scoring.models import GoldModel
from skilld.types import Kind, Message, Op, Operation, SkillDoc, Update, Usage
from support.scripted_backend import ScriptedBackend

SKILL = """\
---
name: bread
description: Bakes bread.
---

# Bread

## Dough

- Knead the dough by hand for ten minutes.
- Let it rest under a cloth.

## Oven

- Heat the oven to 230 degrees.
"""


def row(identity: str, *said: str, updates: Sequence[dict[str, Any]] = (), **changes: Any) -> dict[str, Any]:
    turns = [{"index": i, "assistant_before": "Done." if i else "", "user": text} for i, text in enumerate(said)]
    gold = {"updates": list(updates), "optional": changes.pop("optional", [])}
    skill = {"name": "bread", "text": SKILL}
    return {"id": identity, "lang": "en", "tags": [], "skill": skill, "turns": turns, "gold": gold, **changes}


def gold(gist: str, turn: int, kind: str = "preference", section: str = "Dough") -> dict[str, Any]:
    return {"gist": gist, "kind": kind, "evidence_turn": turn, "section_hint": section}


ADDED = row(
    "added",
    "bake two loaves",
    "always weigh the flour twice before you mix it. and hurry up today",
    updates=[gold("Always weigh the flour twice before mixing it", 1, "add_step")],
)
CHANGED = row(
    "changed",
    "thanks",
    "from now on heat the oven to 250 degrees, 230 is too cold for this stone",
    updates=[gold("Heat the oven to 250 degrees", 1, "change_step", "Oven")],
    tags=["contradicts_skill"],
)
SEVERAL = row(
    "several",
    "never open the oven door early",
    "and sprinkle some water on every loaf from now on",
    updates=[
        gold("Never open the oven door early", 0, section="Oven"),
        gold("Sprinkle water on every loaf", 1, "add_step", "Oven"),
    ],
    tags=["multi"],
)
CHATTER = row("chatter", "ok", "looks good, slice it", sample="random")


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    return path


def cases(*rows: dict[str, Any]) -> list[BatchCase]:
    return [loader.batch_case(each) for each in rows]


def pipeline(waits: list[float] | None = None) -> Pipeline:
    return Pipeline(lambda text: text, ([] if waits is None else waits).append)


class AddingBackend(ScriptedBackend):
    """A back-end with one answer; it adds each change at the end of the file, and is content with an edited skill."""

    def __init__(self, *updates: Update, failures: Sequence[SkilldError] = ()) -> None:
        super().__init__()
        self.requests: list[str] = []
        self._updates = updates
        self._failures = list(failures)

    def detect(
        self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
    ) -> tuple[list[Update], list[str]]:
        del messages, instructions
        self.usage += Usage(calls=1, tokens_in=50, tokens_out=5)
        self.requests += [skill.text for skill in skills]
        if self._failures:
            raise self._failures.pop(0)
        return [update for update in self._updates if update.change not in skills[0].text], []

    def reword(self, updates: Sequence[Update], said: Sequence[str]) -> list[str]:
        del said
        return [update.change for update in updates]

    def edit(self, updates: Sequence[Update], skill: SkillDoc, unfit: EditCheck | None = None) -> list[Operation] | str:
        del unfit
        last = skill.text.rstrip("\n").rpartition("\n")[2]
        return [Operation(Op.INSERT_AFTER, last, "\n".join(f"- {update.change}" for update in updates))]


def make_update(change: str, turn: int, quote: str) -> Update:
    return Update(1, "Oven", change, "", Kind.PREFERENCE, turn, quote, 0.9)


def run(rows: Sequence[dict[str, Any]], backend: Callable[[BatchCase], Backend]) -> dict[str, Any]:
    return batches.figures(list(batches.judge_batches(cases(*rows), backend, pipeline())))


def test_a_model_answering_the_gold_labels_loses_nothing() -> None:
    found = run([ADDED, CHANGED, SEVERAL, CHATTER], lambda case: GoldModel(case.gold))
    level = {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert {key: found[key] for key in level} == level
    assert (found["n"], found["gold"], found["found"], found["true"]) == (4, 3, 3, 3)
    assert found["updates"] == {**level, "gold": 4, "found": 4, "true": 4}
    assert found["by_kind"] == {
        "add_step": {"gold": 2, "recall": 1.0},
        "change_step": {"gold": 1, "recall": 1.0},
        "preference": {"gold": 1, "recall": 1.0},
    }
    assert set(found["by_tag"]) == {"contradicts_skill", "multi", "untagged"}
    assert found["false_alarms_per_100_random"] == 0.0
    assert found["gate"] == {"spared": 1, "lost": 0}
    assert found["calls"] == 10  # each batch is asked once; three are edited and asked again
    assert found["tokens"] > found["tokens_in"] > 1000


def test_the_gold_model_replaces_the_line_a_change_is_about() -> None:
    (case,) = cases(CHANGED)
    model = GoldModel(case.gold)
    doc = in_memory("bread", SKILL).doc
    updates, left_out = model.detect(case.messages, [doc])
    assert left_out == []
    assert updates[0].quote == "from now on heat the oven to 250 degrees, 230 is too cold for this stone"
    assert model.edit(updates, doc) == [
        Operation(Op.REPLACE, "- Heat the oven to 230 degrees.", "- Heat the oven to 250 degrees")
    ]


def test_an_update_refused_by_the_checks_is_not_found() -> None:
    unsaid = make_update("Buy a new stone every week", 1, "bake two loaves")
    scored = list(batches.judge_batches(cases(ADDED), lambda _: AddingBackend(unsaid), pipeline()))
    assert batches.figures(scored)["found"] == 0
    (outcome,) = batches.outcome_rows(scored)
    assert (outcome["found"], outcome["missed"], outcome["updates"]) == (False, [2], [])
    assert outcome["why_not"] == ["the quoted words do not say this"]


def test_an_update_without_a_gold_label_is_a_false_alarm() -> None:
    alarm = make_update("Always slice the bread thin", 2, "always slice the bread thin")
    chatter = row("chatter", "ok", "always slice the bread thin", sample="random")
    found = run([ADDED, chatter], lambda case: AddingBackend(alarm) if case.id == "chatter" else GoldModel(case.gold))
    assert (found["precision"], found["recall"], found["f1"]) == (0.5, 1.0, 0.6667)
    assert found["updates"]["precision"] == 0.5
    assert found["false_alarms_per_100_random"] == 100.0


def test_an_optional_update_counts_neither_way() -> None:
    optional = row("optional", "always slice the bread thin", optional=[gold("Slice it thin", 0)])
    update = make_update("Always slice the bread thin", 1, "always slice the bread thin")
    scored = list(batches.judge_batches(cases(optional), lambda _: AddingBackend(update), pipeline()))
    found = batches.figures(scored)
    assert (found["precision"], found["found"], found["updates"]["found"]) == (None, 0, 0)
    assert batches.outcome_rows(scored)[0]["updates"][0]["verdict"] == "optional"
    also = row("also", "always slice the bread thin", "never freeze it", updates=[gold("Never freeze it", 1)])
    also["gold"]["optional"] = optional["gold"]["optional"]
    assert run([also], lambda _: AddingBackend(update))["recall"] == 0.0


def updates_of(*pairs: tuple[str, int]) -> list[Update]:
    return [make_update(change, turn, "x") for change, turn in pairs]


def test_an_update_is_right_by_turn_and_meaning() -> None:
    (case,) = cases(SEVERAL)
    assert match(updates_of(("Don't ever open the door of the oven early.", 1)), case.gold, case) == {0: 0}
    assert match(updates_of(("Don't ever open the door of the oven early.", 2)), case.gold, case) == {}
    assert match(updates_of(("Clean the windows", 1)), case.gold, case) == {}


def test_each_gold_update_is_found_once() -> None:
    (case,) = cases(SEVERAL)
    twice = updates_of(("Open the oven door late", 1), ("Never open the oven door early", 1))
    assert match(twice, case.gold, case) == {1: 0}


def test_the_turn_decides_where_the_gist_is_in_another_language() -> None:
    spanish = row("es", "siempre pesa la harina dos veces", updates=[gold("Weigh the flour twice", 0)], lang="es")
    (case,) = cases(spanish)
    assert match(updates_of(("Siempre pesa la harina dos veces.", 1)), case.gold, case) == {0: 0}


def test_a_gist_in_another_language_is_quoted_whole_despite_words_shared_with_the_agent() -> None:
    said = row("vi", "ok", "thiếu bột mì thì phải hỏi tôi trước đã", updates=[gold("Ask the user for flour", 1)])
    said["turns"][1]["assistant_before"] = "I may ask the user for flour."
    (case,) = cases(said)
    updates, _ = GoldModel(case.gold).detect(case.messages, [in_memory("bread", SKILL).doc])
    assert updates[0].quote == "thiếu bột mì thì phải hỏi tôi trước đã"
    assert run([said], lambda case: GoldModel(case.gold))["updates"]["recall"] == 1.0


def test_similarity_is_the_share_of_the_shorter_texts_words() -> None:
    assert likeness("Use tabs", "use  tabs") == 1.0
    assert likeness("Weigh the flour", "Weigh the flour and the salt on the kitchen scale") == 1.0
    assert likeness("Weigh the flour", "Weigh the eggs") == 0.5
    assert likeness("Weigh the flour", "Clean the oven") == 0.0


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (b"{", "it is not JSON (Expecting property name enclosed in double quotes)"),
        (b"[1]", "it is not a JSON object"),
        (b'{"id": "\xff"}', "it is not UTF-8"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b"{}", "'turns' is missing"),
        (json.dumps(row("x", "hi", updates=[gold("Do", 7)])).encode(), "evidence_turn 7 is not a turn in the batch"),
        (json.dumps(row("x", "hi", updates=[gold("Do", 0, "rule")])).encode(), "'rule' is not a valid Kind"),
        (json.dumps(row("x", "hi", tags="multi")).encode(), "tags is not a list"),
        (json.dumps({**row("x", "hi"), "turns": ["hi"]}).encode(), "an entry is not a JSON object"),
        (json.dumps({**row("x", "hi"), "skill": None}).encode(), "'skill' is missing"),
    ],
)
def test_a_bad_row_is_reported_by_file_and_line(tmp_path: Path, broken: bytes, why: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(json.dumps(CHATTER).encode() + b"\n\n" + broken + b"\n")
    with pytest.raises(SkilldError) as error:
        loader.load([path], loader.batch_case)
    assert error.value.title == "A row cannot be scored"
    assert error.value.cause == f"cases.jsonl:3: {why}"


def test_many_bad_rows_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "cases.jsonl", *[{}] * 7)
    with pytest.raises(SkilldError) as error:
        loader.load([path], loader.batch_case)
    assert error.value.title == "7 rows cannot be scored"
    assert error.value.cause.startswith("cases.jsonl:1: 'turns' is missing; cases.jsonl:2:")
    assert error.value.cause.endswith(" and 2 more")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SkilldError, match=r"Cannot read .*: No such file"):
        loader.load([tmp_path / "none.jsonl"], loader.batch_case)


def test_rows_of_several_files_keep_their_order(tmp_path: Path) -> None:
    paths = [write(tmp_path / "one.jsonl", ADDED, CHATTER), write(tmp_path / "two.jsonl", CHANGED)]
    assert [case.id for case in loader.load(paths, loader.batch_case)] == ["added", "chatter", "changed"]


def test_a_batch_is_built_as_its_row_says() -> None:
    case = loader.batch_case(ADDED)
    assert [(message.turn, message.text) for message in case.messages] == [
        (1, "bake two loaves"),
        (None, "Done."),
        (2, "always weigh the flour twice before you mix it. and hurry up today"),
    ]
    assert case.gold == (GoldUpdate("Always weigh the flour twice before mixing it", Kind.ADD_STEP, 2, "Dough"),)


def test_a_busy_backend_is_asked_again_after_its_own_wait() -> None:
    waits: list[float] = []
    backend = AddingBackend(failures=[RetryError("busy"), RetryError("busy", after=5), RetryError("busy", after=4000)])
    judged = pipeline(waits).judge(backend, [Message("hi", turn=1)], [in_memory("bread", SKILL)])
    assert waits == [2.0, 5, 60.0]
    assert judged.answered is True
    assert judged.usage == Usage(calls=4, tokens_in=200, tokens_out=20)


def test_a_backend_that_stays_unavailable_ends_the_run() -> None:
    line = pipeline()
    away = [AddingBackend(failures=[RetryError("away")] * 4) for _ in range(3)]
    message, skill = [Message("hi", turn=1)], [in_memory("bread", SKILL)]
    assert [line.judge(backend, message, skill).answered for backend in away[:2]] == [False, False]
    with pytest.raises(RetryError):
        line.judge(away[2], message, skill)


def test_a_success_resets_the_failure_count() -> None:
    line = pipeline()
    message, skill = [Message("hi", turn=1)], [in_memory("bread", SKILL)]
    away = [AddingBackend(failures=[RetryError("away")] * 4) for _ in range(4)]
    order = [*away[:2], AddingBackend(), *away[2:]]
    answered = [line.judge(backend, message, skill).answered for backend in order]
    assert answered == [False, False, True, False, False]


def test_a_broken_setup_ends_the_run_but_a_bad_answer_does_not() -> None:
    message, skill = [Message("hi", turn=1)], [in_memory("bread", SKILL)]
    with pytest.raises(SkilldError, match="no key"):
        pipeline().judge(AddingBackend(failures=[SkilldError("no key", remedy="set one")]), message, skill)
    judged = pipeline().judge(
        AddingBackend(failures=[SkilldError("The answer was not used", "it is prose")]), message, skill
    )
    assert (judged.answered, judged.why_not) == (True, ("The answer was not used: it is prose",))


def labelled(text: str, before: str = "") -> LabelledTurn:
    return LabelledTurn("t", "r", "en", text, before, "durable", "random", None, None, 1.0)


def test_a_turn_counts_as_heard_when_it_would_be_kept() -> None:
    turns = [labelled("From now on, always run the linter before you commit."), labelled("what does this do?")]
    judged = batches.judge_turns(turns, lambda: make_backend(Spec("offline")), pipeline())
    assert [turn.found for turn, _ in judged] == [True, False]


def test_a_model_gets_a_general_skill_and_each_turn_alone() -> None:
    backend = AddingBackend(make_update("Run the linter first", 1, "run the linter first"))
    ((judged, usage),) = batches.judge_turns([labelled("run the linter first", "Done.")], lambda: backend, pipeline())
    assert judged.confidence == 0.9
    assert usage.calls == 2
    assert "# Any work" in backend.requests[0]


def test_typed_text_is_redacted_before_a_backend_sees_it() -> None:
    seen: list[str] = []

    class RecordingBackend(AddingBackend):
        def detect(
            self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
        ) -> tuple[list[Update], list[str]]:
            seen.extend(message.text for message in messages)
            return super().detect(messages, skills, instructions=instructions)

    line = Pipeline(lambda text: text.replace("hunter2", "[gone]"), lambda _: None)
    list(batches.judge_batches(cases(row("secret", "the word is hunter2")), lambda _: RecordingBackend(), line))
    assert seen == ["the word is [gone]"]


def test_every_fourth_shared_batch_is_read_and_asked() -> None:
    path = Path(__file__).parents[2].parent / "shared" / "data" / "eval" / "batches.dev.jsonl"
    if not path.is_file():
        pytest.skip("the shared labelled batches are not here")
    loaded = loader.load([path], loader.batch_case)[::4]
    found = batches.figures(list(batches.judge_batches(loaded, lambda case: GoldModel(case.gold), pipeline())))
    assert found["n"] == len(loaded) > 10
    assert found["precision"] == 1.0
    assert found["unanswered"] == 0


OTHER = "---\nname: jam\ndescription: Cooks jam.\n---\n\n# Jam\n\n- Stir it all the time.\n"
TWO_SKILLS = row(
    "two skills",
    "boil the berries",
    "skim off the foam before you fill the jars, always",
    updates=[{**gold("Always skim off the foam before filling the jars", 1, "add_step", "Jam"), "skill": 2}],
    skill=None,
    skills=[{"name": "bread", "text": SKILL}, {"name": "jam", "text": OTHER}],
)


def test_an_update_counts_only_for_its_own_skill() -> None:
    (case,) = cases(TWO_SKILLS)
    assert [name for name, _ in case.skills] == ["bread", "jam"]
    assert run([TWO_SKILLS], lambda case: GoldModel(case.gold))["updates"]["true"] == 1
    strayed = AddingBackend(make_update("Always skim off the foam before filling the jars", 2, "skim off the foam"))
    assert run([TWO_SKILLS], lambda _: strayed)["updates"] == {
        "precision": 0.0,
        "recall": 0.0,
        "f1": 0.0,
        "gold": 1,
        "found": 1,
        "true": 0,
    }


def test_a_label_names_a_skill_in_use() -> None:
    with pytest.raises(ValueError, match="skill 2 is not in use"):
        cases(row("x", "a", updates=[{**gold("b", 0), "skill": 2}]))
