"""Y4, Y4b: everyday wording is heard, and what only looks like it is not."""

from __future__ import annotations

import json
from hashlib import sha1
from pathlib import Path

import pytest

from skilld.classify.backends.offline import Offline
from skilld.classify.offline.detector import find_lasting, find_practices
from skilld.classify.offline.grammar import Cue
from skilld.classify.offline.product import likely_languages
from skilld.classify.said_already import find_same_ban
from skilld.classify.verify import verify
from skilld.types import Message, SkillDoc
from support.rows import for_each
from support.tables import table_rows

DATA = Path(__file__).parents[1] / "data" / "everyday"
SKILLS = json.loads((DATA / "skills.json").read_text(encoding="utf-8"))
LASTING = frozenset(("explicit", "plain", "mixed"))
SURE = 0.5


def data_lines(name: str) -> list[str]:
    return (DATA / name).read_text(encoding="utf-8").splitlines()


def is_proposed(skill: str, agent: str, said: str) -> bool:
    messages = [Message(agent)]
    for number, text in enumerate(said.split(" >> "), 1):
        messages += [Message(text, turn=number), Message("Done.")]
    doc = SkillDoc(1, skill, f"/skills/{skill}/SKILL.md", SKILLS[skill])
    return bool(verify(Offline().detect(messages, [doc]), messages, [doc]).proposed)


def found_by_tag(name: str, half: int | None = None) -> dict[str, list[bool]]:
    found: dict[str, list[bool]] = {}
    for line in data_lines(name):
        if not line.startswith("#"):
            tag, _, skill, agent, said = line.split("|", 4)
            if half is None or int(sha1(said.encode(), usedforsecurity=False).hexdigest(), 16) % 2 == half:
                found.setdefault(tag, []).append(is_proposed(skill, agent, said))
    return found


@pytest.mark.parametrize(
    ("name", "half", "least"),
    [
        ("cases.txt", 0, (0.9, 0.75, 0.35, 0.25)),
        ("cases.txt", 1, (0.9, 0.75, 0.35, 0.25)),
        # Families of constructions in sixteen languages; the forms for a third of the plain ones fired on no set by
        # another hand.
        ("families.txt", None, (0.97, 0.88, 0.55, 0.44)),
    ],
)
def test_everyday_wording_is_proposed_and_look_alikes_are_not(
    name: str, half: int | None, least: tuple[float, ...]
) -> None:
    found = found_by_tag(name, half)
    right = sum(sum(found[tag]) for tag in LASTING)
    wrong = sum(sum(cases) for tag, cases in found.items() if tag not in LASTING)
    shares = [sum(found[tag]) / len(found[tag]) for tag in ("explicit", "plain", "mixed")]
    assert all(share >= wanted for share, wanted in zip([right / (right + wrong), *shares], least, strict=True)), shares


def find_changes(skill: str, *said: str) -> list[str]:
    """What would be proposed of the person's turns `said`, the agent answering each."""
    messages = [Message("Done.")]
    for number, text in enumerate(said, 1):
        messages += [Message(text, turn=number), Message("Done.")]
    doc = SkillDoc(1, skill, f"/skills/{skill}/SKILL.md", SKILLS[skill])
    checked = verify(Offline().detect(messages, [doc]), messages, [doc]).proposed
    return [one.update.change for one in checked]


def test_talk_about_the_product_continues_in_the_next_turns() -> None:
    """Part 4: "never more than three" lays down what is built as long as that is the talk."""
    rule = "never give more than three items on a page"
    assert find_changes("newsletter", "the form should ask for the first name", rule) == []
    assert find_changes("newsletter", "thanks", rule) == ["Never give more than three items on a page."]
    assert find_changes("newsletter", "the form should ask for the first name", "ok", "yes", rule) != []


@for_each(
    "begins",
    [
        "the sign-up page: first name and mail, nothing else",
        "il faut que la page demande le prénom",
        "el formulario de alta siempre tiene que pedir la edad",
    ],
)
def test_talk_about_the_product_starts_in_many_wordings(begins: str) -> None:
    """Part 4: a heading, "it must be that", and a thing of many words."""
    rule = "toujours moins de trois articles" if begins.startswith("il") else "never give more than three items"
    assert find_changes("newsletter", begins, rule) == []
    assert find_changes("newsletter", "thanks", rule) != []


FORBIDS = """---
name: shop
description: Work on the shop
---

# Shop

- Strict types. No `any`, no casts.
- Do not use Redux.
- No floats anywhere near money.
- Order numbers do not go into mail subjects, use the name.
- Never edit a migration on main.
"""


def test_a_prohibition_is_recognized_as_already_said_in_any_wording() -> None:
    """Part 4: another "no", its reach and its politeness make no new rule; another object does."""
    for asked, said in table_rows("everyday", "prohibitions said already"):
        assert (find_same_ban(asked, FORBIDS) is not None) is (said == "yes"), asked


def test_what_a_sentence_calls_the_custom_is_quoted_with_it() -> None:
    """Part 4: "that is our way" means the part before it."""
    (change,) = find_changes(
        "data-analysis", "now the widths, give the error of the mean in brackets, that's how we do it"
    )
    assert "in brackets" in change


@pytest.mark.parametrize(
    "story",
    [
        "at my old job in the big city we always had to submit everything as a printed report, never as a csv",
        "my brother's shop makes them test on eleven phones each sprint and never merge on a friday",
    ],
)
def test_a_story_is_no_rule_however_long(story: str) -> None:
    assert find_changes("data-analysis", story) == []
    assert find_changes("api-service", story) == []


def test_rejecting_a_line_of_the_skill_needs_no_lasting_word() -> None:
    """Part 4: beside something else in a short turn, by a word that few lines of the skill have."""
    said = "thanks. the wiki page is a lot to write, nobody has read it in years"
    assert find_changes("api-service", said) == ["The wiki page is a lot to write, nobody has read it in years."]
    assert find_changes("api-service", "thanks. the newspaper you quote there, nobody has read it in years") == []
    assert find_changes("api-service", "thanks. the wiki page has a typo in the third line") == []


def test_from_now_on_alone_makes_the_sentence_before_it_a_rule() -> None:
    said = "run the linter before you push. please do that from now on"
    assert find_changes("api-service", said) == ["Run the linter before you push."]
    assert find_changes("api-service", "is the linter on? please do that from now on") == []


@pytest.mark.parametrize("no", ["no changelog, no wiki", "and never a wiki page"])
def test_a_bare_no_lasts_as_long_as_the_sentence_before_it(no: str) -> None:
    assert find_changes("api-service", f"only the tests this time. {no}") == []


def test_each_language_is_tried_once_and_clear_english_alone() -> None:
    assert [
        language.code for language in likely_languages("please do not put the date on it, they have it from the list")
    ] == ["en"]
    assert [language.code for language in likely_languages("bundan sonra raporları bana da gönder")] == ["en", "tr"]


def has_practice(said: str) -> bool:
    return any(practice.cue is Cue.PRACTICE for practice in find_practices(said))


def has_sure_rule(said: str) -> bool:
    return any(match.strength >= SURE for match in find_lasting(said))


def test_lasting_words_are_heard() -> None:
    assert [line for line in data_lines("lasting.txt") if not has_sure_rule(line)] == []


def test_statements_about_a_whole_kind_of_things_are_heard() -> None:
    assert [line for line in data_lines("practice.txt") if not (has_practice(line) or has_sure_rule(line))] == []


def test_temporary_wishes_are_neither_practices_nor_sure_rules() -> None:
    assert [line for line in data_lines("passing.txt") if has_practice(line) or has_sure_rule(line)] == []


def is_learned(said: str) -> bool:
    return any(update.confidence >= SURE for update in Offline().detect([Message(said, turn=1)], []))


def test_ordinary_chat_in_fifteen_languages_makes_no_rule() -> None:
    """Plans, reports and tasks have words of time too: "from Monday I am on leave", "only the docs left now"."""
    said = data_lines("chat.txt")
    assert sum(map(is_learned, said)) / len(said) <= 0.06


def test_rules_in_fifteen_languages_are_heard() -> None:
    said = data_lines("told.txt")
    assert sum(map(is_learned, said)) / len(said) >= 0.9


@for_each(
    ("said", "heard"),
    [
        ("from now on i want the branch names to start with the ticket", True),
        ("Going forward I need a test with each fix", True),
        ("from now on we expect signed commits", True),
        ("in future I need the logs in json", True),
        ("in the future I want the app to support dark mode", False),
        ("from now on i want to sleep more", False),
        ("from now on i want the button to be blue", False),
        ("from now on I want it to be quiet here", False),
    ],
)
def test_what_is_wanted_from_now_on_is_lasting_unless_it_is_a_plan_or_the_product(*, said: str, heard: bool) -> None:
    assert bool(find_lasting(said)) is heard


@for_each(
    "said",
    [
        "o teste das receitas falhou no forno",
        "el test de las recetas falló en el horno",
        "le test des recettes a échoué au four",
        "il test delle ricette è fallito nel forno",
        "der Test der Rezepte ist im Ofen fehlgeschlagen",
    ],
)
def test_what_failed_is_no_practice(said: str) -> None:
    doc = SkillDoc(1, "recipe-blog", "/skills/recipe-blog/SKILL.md", SKILLS["recipe-blog"])
    assert Offline().detect([Message("Done."), Message(said, turn=1)], [doc]) == []
