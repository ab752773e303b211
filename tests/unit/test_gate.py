from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import pytest

from skilld.batching import gate
from skilld.batching.gate import BUCKETS, Model, buckets, load, needs_classification, score

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "eval" / "turns.dev.jsonl"


@pytest.mark.parametrize(
    "text",
    [
        "thanks",
        "ok go on",
        "Looks good!",
        "yes please",
        "👍",
        "(2)",
        "1.4.0",
        "continue",
        "vale, gracias",
        "ja, weiter",
        "да, продолжай",
        "好的",
        "はい",
        "계속 진행해",
        "what does this function return?",
        "did you run the tests?",
        "is there an index on that column?",
        "why is the payload so large?",
        "这个函数返回什么？",
        "现在用的是什么模型啊",
        "导出的路径是根据什么来确定的",
        "file ở đâu",
        "报错了",
        "当前的三个选项有什么区别？",
        "规则说明是什么",
        "这个值应该填多少？是不是只能填整数？",
        "PS C:\\work> npm run build",
        "运行一下看看",
        "还是不行",
        "まだ動きません",
        "don't know, what do you think?",
        "hmm that is strange",
        "it is green now",
        "the page is blank",
        "which of the two would you choose and what would it cost",
        "I restarted it and it came up fine",
        "b",
        "exti",
        "页面打不开了",
        "왜 안 돼?",
        "run it again",
        "commit and push",
        "it still crashes on startup",
        "same error",
        "server is not running",
        "Traceback (most recent call last):\n  File \"/srv/app.py\", line 3, in <module>\nKeyError: 'name'",
        "```\nalways: true\n```",
        "@notes/plan.txt",
        "https://example.org/pull/12",
        "",
        "   \n",
    ],
)
def test_plain_chatter_is_dropped(text: str) -> None:
    assert needs_classification(text) is False


@pytest.mark.parametrize(
    "text",
    [
        "no, always use pnpm",
        "don't guess, look it up",
        "ok, don't create markdown files unless I ask for them",
        "réponds en français",
        "不用写测试了",
        "Never mention internal hostnames again.",
        "remember to ask me before you push",
        "can you add this to CLAUDE.md?",
        "yes, always",
        "from now on, one entry per ticket",
        "you edited the wrong folder",
        "you didn't update the log",
        "why did you commit to main?",
        "do not touch the lockfile",
        "work branch",
        "we keep scripts in tools/",
        "in this repo the fixtures are written by hand",
        "use spaces",
        "read @rules/naming.mdc first",
        "thanks! next time skip the summary",
        "Does it build? Also, stop renaming my variables.",
        '"Draft" is what we always call it',
        "no hagas commits sin preguntar",
        "immer erst die Tests",
        "пиши на русском",
        "以后都用中文",
        "中文回复，现在怎么访问",
        "你为什么不先问我",
        "I am on the free tier of the host",
        "my username is octocat",
        "I am new to this language",
        (
            "the port is dead again so if it does not answer then send the reset over the serial port and wait ten "
            "seconds before the next attempt is made and so on"
        ),
        "keep it english please",
        "必ずテストして",
        "항상 먼저 물어봐",
        "we are on debian",
        "keep answers short",
        "check with me before you merge",
        "before you touch the schema, ask me",
        "our branch names start with the ticket number",
        "the staging server has no internet access",
        "commit messages in the imperative",
        "tabs, not spaces",
        "the reviewers want one commit per change",
        "that's not how we name things here",
        "写进记忆",
        "提交信息用英文写",
        "コミットは英語で書いて",
        "커밋 메시지는 영어로 써줘",
        "jamais de commit sans test",
        "per favore rispondi in italiano",
        "ตอบเป็นภาษาไทยสั้นๆเสมอ",
        "I work on windows.",
        "je suis sous windows",
        "报错了。以后先跑测试。",
        "英語で回答してもらえますか？",
        "不要用npm好吗？",
        "为什么你又改了测试？",
        "왜 자꾸 주석을 지워?",
    ],
)
def test_what_may_be_lasting_passes(text: str) -> None:
    assert needs_classification(text) is True


@pytest.mark.parametrize(
    "text",
    [
        "rename the heading to 1.4.0 just this once",
        "fix the typo in the README",
        "add a test for parser.py",
        "ok. now remove the unused import",
        "for now use the old endpoint",
        "this time leave the tests out",
        "Write the release notes for 2.4.0",
        "$release-notes write the notes for version 2.4 please",
    ],
)
def test_a_small_task_alone_costs_no_call(text: str) -> None:
    assert needs_classification(text) is False


@pytest.mark.parametrize(
    "text",
    [
        "fix the typo in the README and always check the spelling",
        "for now use the old endpoint, but never in the tests",
        "write the tests first",
        "write the notes without emojis",
        "add a test for parser.py. I want one with every fix from here",
        "remove the import; the formatter that we run before a commit would have done it, so run that one too, please",
    ],
)
def test_a_task_with_room_for_a_rule_passes(text: str) -> None:
    assert needs_classification(text) is True


def test_a_rule_below_a_log_passes() -> None:
    assert needs_classification("2024-05-01 10:00:00 ERROR boom\nplease always retry twice") is True


def test_a_long_turn_passes_unread() -> None:
    assert needs_classification("thanks " * 1000) is True


def test_signs_are_no_words() -> None:
    assert buckets([], {"question"}).isdisjoint(buckets(["question"], ""))


def test_a_turn_without_a_hint_is_left_to_the_model() -> None:
    kept, floor = "the second column looks odd on a small screen", 0.0
    assert gate.decide(kept, 0.5, floor) is True
    assert gate.decide(kept, -0.5, floor) is False


@pytest.mark.parametrize("text", ["never again, whatever it looks like", "use spaces", "see above " * 50])
def test_a_hint_two_words_and_a_long_turn_pass_whatever_the_model_says(text: str) -> None:
    assert gate.decide(text, -100.0, 0.0) is True


def test_an_approval_is_dropped_whatever_the_model_says() -> None:
    assert gate.decide("yes please, go ahead", 100.0, 0.0) is False


def test_half_a_character_is_read_like_any_other() -> None:
    assert gate.features("the word \ud83d stands at the end \ud83d")
    assert needs_classification("always keep \ud83d") is True


def test_the_score_is_bias_plus_mean_weight() -> None:
    found = buckets(["use", "tabs"], ".")
    weights = bytearray(BUCKETS)
    for bucket in found:
        weights[bucket] = 10
    model = Model(bias=-1.0, scale=0.5, floor=0.0, weights=memoryview(bytes(weights)).cast("b"))  # type: ignore[arg-type]
    count = len(found)
    assert score(model, found) == pytest.approx(-1.0 + 0.5 * 10 * count / (count + 1) ** 0.5)


def test_buckets_tell_the_order_of_words() -> None:
    assert buckets(["tabs", "spaces"], "") != buckets(["spaces", "tabs"], "")


def test_weights_of_another_size_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text(json.dumps({"bias": 0, "scale": 1, "floor": 0, "weights": b64encode(bytes(3)).decode()}))
    with pytest.raises(ValueError, match="3 weights"):
        load(path)


def test_the_shipped_weights_say_what_they_were_made_of() -> None:
    stored = json.loads(Path(gate.__file__).with_name("gate_weights.json").read_text(encoding="utf-8"))
    assert [len(one) for one in stored["data_sha256"]] == [64, 64]
    assert stored["people"] > 100
    assert stored["figures_cross_validated"]["durable_passed"] >= 0.99
    assert stored["figures_cross_validated"]["chat_dropped"] >= 0.5
    assert len(json.dumps(stored)) < 300_000


def test_labelled_turns_of_the_random_part_pass_or_drop_as_promised() -> None:
    if not DATA.exists():
        pytest.skip("the labelled turns are not on this machine")
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    passed = {
        label: [needs_classification(row["text"]) for row in rows if (row["sample"], row["label"]) == label]
        for label in (("random", "durable"), ("random", "chat"), ("enriched", "durable"))
    }
    share = {label: sum(found) / len(found) for label, found in passed.items()}
    assert share["random", "durable"] >= 0.99
    assert share["random", "chat"] <= 0.5
    assert share["enriched", "durable"] >= 0.95
