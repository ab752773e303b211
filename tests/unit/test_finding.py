"""Finding skills for a task: synonyms, other languages, other word forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skilld.__main__ import main
from skilld.classify.closed_questions import skill_fit
from skilld.classify.json_answer import BadReplyError
from skilld.errors import SkilldError
from skilld.library.clusters import find_mentions
from skilld.library.recommend import confidence_word, model_recommendations, recommend, skills_to_ask
from skilld.meanings import related_stems, terms, words
from skilld.scoring.finding import judge, load
from skilld.skills import Skill, Source
from skilld.skills.spec import FrontMatter
from skilld.store import Store
from skilld.store.learnings import Learning
from support.rows import for_each

FINDING = Path(__file__).parents[1] / "data/finding"


def skill(name: str, about: str, folder: str = "/s") -> Skill:
    return Skill(name, Path(folder) / name / "SKILL.md", Source.USER, None, (), FrontMatter(name, about))


HIRING = skill("hiring", "Answer applicants and plan interviews.")
COMMITS = skill("commit-message", "Write a git commit message for staged changes. Use when the user asks to commit.")
BILLS = skill("bills", "Send invoices to customers.")


@for_each(
    ("one", "other"),
    [
        ("vulnerabilities", "Sicherheitslücke"),  # a compound of another language
        ("invoices", "facturas"),
        ("translated", "übersetzen"),
        ("a merge request", "a pull request"),
        ("数据库", "database"),
        ("containerised", "Docker"),
        ("it takes ages", "performance"),  # a phrase
        ("who on earth wrote this line", "git blame"),
        ("03/04/2026", "date formats"),  # a shape
        ("a rocket", "emoji"),  # an object for its kind
        ("сайт тормозит", "slow"),
    ],
)
def test_synonyms_count_as_one_word(one: str, other: str) -> None:
    found = words(other)
    assert [term for term in terms(one) if not term.is_action and term in found]


@for_each(("one", "other"), [("printer", "sprint"), ("table tennis", "tabs"), ("testament", "tests")])
def test_look_alike_words_are_kept_apart(one: str, other: str) -> None:
    assert not [term for term in terms(one) if term in words(other)]


def test_a_task_in_a_few_words_finds_the_skill_that_is_named_for_it() -> None:
    others = [skill(f"notes-{number}", "Write notes on each commit.") for number in range(4)]
    found = recommend("commit", [], [COMMITS, HIRING, BILLS, *others], now=0.0)
    assert [one.skill for one in found] == ["commit-message"]
    assert not recommend("paint my house", [], [COMMITS, HIRING, BILLS], now=0.0)


def test_an_action_word_alone_recommends_nothing() -> None:
    shelf = [skill("cleanup", "Remove and change things.")]
    assert recommend("remove the stain from the sofa and change the cover", [], shelf, now=0.0) == []
    assert [one.skill for one in recommend("schick dem Kunden die Rechnung", [], [HIRING, BILLS], now=0.0)] == ["bills"]


def test_everyday_or_frequent_words_alone_find_no_skill() -> None:
    shelf = [HIRING, BILLS, skill("launch", "Deploy the service to production.")]
    assert [one.skill for one in recommend("deploy to production", [], shelf, now=0.0)] == ["launch"]
    for task in ("a bill for the birthday cake", "a script that counts sheep"):
        assert recommend(task, [], [*shelf, skill("chores", "Run a script.")], now=0.0) == []


def test_one_word_of_a_long_question_is_not_enough() -> None:
    assert recommend("invoices", [], [HIRING, BILLS], now=0.0)
    assert not recommend("which museum in Vienna shows old invoices of famous painters", [], [HIRING, BILLS], now=0.0)


def test_the_skill_text_counts_beside_its_description() -> None:
    asked = "plan an interview about salaries"
    without = recommend(asked, [], [HIRING, BILLS], now=0.0)
    texts = {HIRING.path: "Never name salaries in the first interview."}
    beside = recommend(asked, [], [HIRING, BILLS], now=0.0, texts=texts)
    assert [one.skill for one in (*without, *beside)] == ["hiring", "hiring"]
    assert beside[0].confidence > without[0].confidence


def test_statements_are_found_by_other_words(store: Store) -> None:
    text, at = "Put the VAT on facturas.", "2026-01-05T10:00:00Z"
    store.learnings.add(Learning("l1", "t", text, text, "preference", "codex", "s1", "/p", None, "", 0.8, at))
    assert [mention.id for mention in find_mentions(store, "write an invoice")] == ["l1"]
    assert find_mentions(store, "paint the shed") == []


@pytest.mark.parametrize("text", ["le cours de l'euro", "what's new", "don't", "a\u2019b c'd", '"a" OR b*', "k8s"])
def test_no_search_text_breaks_the_index_query(store: Store, text: str) -> None:
    assert find_mentions(store, text) == []


def test_related_stems_include_synonyms() -> None:
    assert {"rechnung", "factura"} <= set(related_stems("invoices"))
    assert related_stems("change it") == []


def test_a_model_answers_with_numbers_in_order() -> None:
    read = skill_fit("a task", ["hiring", "bills"]).read
    assert read('<fits>[{"skill": 2}, {"skill": 1}, {"skill": 2}]</fits>') == [2, 1]
    for reply in ('<fits>[{"skill": 3}]</fits>', '<fits>[{"skill": 1, "why": "x"}]</fits>', "<fits>[1]</fits>"):
        with pytest.raises(BadReplyError):
            read(reply)
    named = model_recommendations([2, 1], [HIRING, BILLS], [])
    assert [(one.skill, confidence_word(one.confidence)) for one in named] == [("bills", "high"), ("hiring", "medium")]


def test_with_too_many_skills_only_those_found_by_words_are_asked_about() -> None:
    many = [skill(f"s{number}", "Something else.") for number in range(80)] + [BILLS]
    found = recommend("write the invoice", [], many, now=0.0)
    skills = skills_to_ask(many, found)
    assert (skills[0], len(skills)) == (BILLS, 60)


def test_the_published_search_scores_hold(capsys: pytest.CaptureFixture[str]) -> None:
    """docs/measurements/mining.md: eighty tasks, by words alone; the aim is 0.6 found and 0.9 left alone."""
    files = [part for name in ("develop", "held") for part in ("--data", str(FINDING / f"{name}.jsonl"))]
    assert main(["eval", "finding", *files, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (found["n"], found["with_skill"], found["without_skill"]) == (80, 56, 24)
    assert found["found_share"] >= 0.8
    assert found["left_alone_share"] >= 0.9


def test_a_file_without_tasks_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"skill": "a"}\n')
    with pytest.raises(SkilldError, match="Cannot read"):
        load([tmp_path / "x.jsonl"])
    assert list(judge([], lambda: pytest.fail("nobody is asked"))) == []
