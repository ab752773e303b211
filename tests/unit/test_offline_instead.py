"""What belongs to a rule is proposed with it, and what only stands beside it is not."""

from __future__ import annotations

from skilld.batching.gate import needs_classification
from skilld.classify.backends.offline import Offline
from skilld.types import Message, SkillDoc
from support.rows import for_each

_BUILD = """---
name: fix-build
description: How to fix the build: plans, tests and reviews.
---

# Build

- Run the tests.
"""
_SHOP = """---
name: shop-page
description: Build and change pages of the shop, with the footer, the grid and the newsletter.
---

# Pages of the shop

- Prices are shown with VAT.
- The footer has the imprint and the shipping costs.
- The newsletter goes out on Mondays.
"""


def _proposed(said: str, *skills: SkillDoc) -> list[str]:
    found = Offline().detect(
        [Message("fix the price rounding", 1), Message("Done, the tests pass."), Message(said, 2)], skills
    )
    return [one.change for one in found if one.confidence >= 0.5]


@for_each(
    ("said", "rule"),
    [
        ("Never use px for fonts. Use rem.", "Never use px for fonts. Use rem."),
        ("Don't ever push to main. Open a pull request instead.", "Never push to main. Open a pull request instead."),
        ("stop using moment. use dayjs", "Do not use moment. Use dayjs."),
        ("never log to stdout. keep it in the file", "Never log to stdout. Keep it in the file."),
        (
            'never use the word "notes" for taste, our customers think of perfume. say "tastes of"',
            'Never use the word "notes" for taste, our customers think of perfume. Say "tastes of".',
        ),
        ("Nie px benutzen. Nimm stattdessen rem.", "Nie px benutzen. Nimm stattdessen rem."),
        ("jamais de yarn. utilise pnpm à la place", "Jamais de yarn. Utilise pnpm à la place."),
        ("never use the latest tag, always a fixed version", "Never use the latest tag, always a fixed version."),
        ("no unwrap outside tests, always a proper error", "No unwrap outside tests, always a proper error."),
        ("don't ever write in german. write english", "Never write in german. Write english."),
    ],
)
def test_what_to_do_instead_stays_with_the_ban(said: str, rule: str) -> None:
    assert needs_classification(said)
    assert _proposed(said) == [rule]


@for_each(
    ("said", "rule"),
    [
        ("never amend commits. fix them now", "Never amend commits."),
        ("Never use the old api. Use the new one now.", "Never use the old api."),
        ("never ship without tests. write the tests for the cart", "Never ship without tests."),
        ("Never push to main. Open a pull request instead?", "Never push to main."),
        ("Never use px. I like blue. Use rem.", "Never use px."),
        ("never call the old api. name the new file cart.ts", "Never call the old api."),
        (f"Never use px. Use rem {'for the sizes of what people read ' * 4}on phones.", "Never use px."),
    ],
)
def test_another_sentence_does_not(said: str, rule: str) -> None:
    assert _proposed(said) == [rule]


@for_each(
    "said",
    [
        "my brother texted me: Always put the NAS on the UPS. Never trust the power here. lol",
        "Mira says always export at 2x. Never use JPG. what do you think?",
        "this is what the linter prints: Never use bare except. Always catch a type.",
        "i read a blog post saying you should always memoize. never trust the compiler. nonsense?",
        "mein Chef meint, man soll immer rebasen. Nie mergen. was meinst du?",
    ],
)
def test_a_report_goes_on_with_its_next_rule(said: str) -> None:
    assert _proposed(said) == []


@for_each(
    ("said", "rule"),
    [
        ("the reviewer says use tabs. from now on always use tabs please", "Always use tabs."),
        ("The docs say always use const. Never use var here, I hate it.", "Never use var here."),
        ("Bob says always squash.\nNever rebase shared branches.", "Never rebase shared branches."),
        (
            "from now on when the linter says unused import remove it",
            "When the linter says unused import remove it.",
        ),
    ],
)
def test_after_a_report_the_person_can_speak_again(said: str, rule: str) -> None:
    assert _proposed(said) == [rule]


@for_each(
    "said",
    [
        "Newsletters go out on tuesdays, change it in the footer",
        "Prices are shown without VAT, so fix that in the footer.",
        "Every newsletter gets the imprint too, add it to the footer",
        "Tom gets the newsletter too, add him to the list.",
    ],
)
def test_a_statement_with_a_task_behind_it_is_no_practice(said: str) -> None:
    assert _proposed(said, SkillDoc(1, "shop-page", "/repo/.claude/skills/shop-page/SKILL.md", _SHOP, used=(1,))) == []


@for_each(
    "said",
    [
        "We use Redis instead of Memcached, migrate it.",
        "Wir nutzen Redis statt Memcached, stell das um.",
        "Wir verwenden Postgres 16, stell das in der compose-Datei um",
    ],
)
def test_nor_is_it_how_things_are_done_here(said: str) -> None:
    assert _proposed(said) == []


def test_a_lasting_rule_with_a_task_behind_it_stays_one() -> None:
    assert _proposed("We never hardcode colours here, fix it in the footer") == ["Never hardcode colours here."]


@for_each(
    ("said", "rule"),
    [
        (
            "dont use unittest.TestCase, we write plain pytest functions here",
            "Do not use unittest.TestCase, we write plain pytest functions here.",
        ),
        ("we use plain pytest functions here", "We use plain pytest functions here."),
        ("snake_case, not camelCase, like everywhere else", "snake_case, not camelCase, like everywhere else."),
        ("remember to always run the tests", "Always run the tests."),
    ],
)
def test_how_things_are_done_here_is_heard(said: str, rule: str) -> None:
    assert needs_classification(said)
    assert _proposed(said) == [rule]


@for_each(
    "said",
    [
        "don't worry, we have time here",
        "don't touch the config, we use it everywhere",
        "don't push, we use the same branch here and I need it",
        "the button looks broken like everywhere else",
        "we use the old one everywhere i look",
        "remember to also fix the footer",
        "don't ever change, claude",
        "Always 3 lives now.",
        "Always jump height 3.2 now, before it was 3, just change that.",
    ],
)
def test_the_same_words_about_the_present_task_are_not(said: str) -> None:
    assert _proposed(said) == []


def test_a_ban_that_follows_from_what_others_do_names_what_they_do() -> None:
    skill = SkillDoc(1, "shop-page", "/repo/.claude/skills/shop-page/SKILL.md", _SHOP, used=(1,))
    said = "Ann does the prices of the shop page, so never change them yourself"
    assert _proposed(said, skill) == [f"{said}."]
    assert _proposed("this is a public repo, so never commit keys") == ["Never commit keys."]


@for_each(
    ("said", "rule"),
    [
        ("I'd rather you ran ruff before a commit, every time", "Run ruff before a commit."),
        ("Imports immer sortieren, auch in Zukunft", "Imports immer sortieren."),
    ],
)
def test_no_past_tense_and_no_lone_word_is_left(said: str, rule: str) -> None:
    assert _proposed(said) == [rule]


def test_who_does_the_deploys_is_said_once() -> None:
    said = "from now on I do the deploys myself on Fridays, you never run the deploy script"
    assert _proposed(said) == ["Leave deploys to me on Fridays, you never run the deploy script."]


@for_each(
    "said",
    ["Siempre igual, otra vez el formato roto.", "siempre me pasa lo mismo con las fechas", "Siempre acabo tarde."],
)
def test_a_grumble_is_no_rule(said: str) -> None:
    assert _proposed(said) == []


@for_each(
    "said",
    [
        "before we start, I have to tell you about the tester who read the whole plan upside down",
        "reminds me of my first job, there the rule was every fix needs two reviewers and a rollback script",
        "pas le temps, lance sans les tests pour ce coup",
        "the build dies right away, no idea",
    ],
)
def test_a_story_or_a_half_sentence_is_not_a_rule_beside_a_skill(said: str) -> None:
    skill = SkillDoc(1, "fix-build", "/repo/.claude/skills/fix-build/SKILL.md", _BUILD, used=(1,))
    assert _proposed(said, skill) == []


def test_would_you_say_asks_for_an_opinion() -> None:
    assert _proposed("makes sense. would you say we should make everything incremental from now on?") == []
    assert _proposed("would you always say which file it is from now on?") == ["Always say which file it is."]
