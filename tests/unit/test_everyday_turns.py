"""Lasting words among others: a tag behind them, a reason, a task before, a retraction, a paste."""

from __future__ import annotations

import pytest

from skilld.classify.backends.offline import Offline
from skilld.classify.offline.provenance import own_words
from skilld.classify.said_already import says_already
from skilld.types import Message, SkillDoc
from support.rows import for_each
from support.tables import table_rows, table_texts

SKILL = SkillDoc(
    1, "bakery-site", "/p/SKILL.md", "# Bakery site\n\n## Pages\n\n- Photos as PNG.\n- Recipes in Markdown.\n"
)


def find_changes(*turns: str) -> list[str]:
    messages = [Message(text, turn=number) for number, text in enumerate(turns, 1)]
    return [update.change for update in Offline().detect(messages, [SKILL]) if update.confidence >= 0.5]


def test_text_after_a_rule_is_no_part_of_it() -> None:
    for said, change in table_rows("everyday_turns", "what stands behind a rule"):
        heard = [update.change for update in Offline().detect([Message(said, turn=1)], [SKILL])]
        assert heard == ([change] if change else ["One question at a time."])


def test_words_of_time_alone_make_no_rule() -> None:
    for text in table_texts("everyday_turns", "words of time"):
        assert find_changes(text) == []


def test_taking_back_removes_what_was_said_before() -> None:
    assert find_changes("always use JPEG for photos", "hm no, wait, that looks bad. always use WebP for photos") == [
        "Always use WebP for photos."
    ]
    assert find_changes("Ab jetzt bitte immer zwei Fotos pro Rezept", "lass es wieder, eins reicht") == []
    assert find_changes("from now on put a watermark on all photos", "the shop hates it. fine, no watermark") == []
    assert find_changes("from now on put no watermark on photos", "and no watermark on the cover either") != []
    assert find_changes("Crop all photos to squares from now on", "So many? Then ignore what I wrote.") == []


def test_what_the_agent_removed_no_longer_counts() -> None:
    messages = [
        Message("from now on every page gets a box with the main points", turn=1),
        Message("Added to both pages."),
        Message("Nora thinks it doubles the intro, leave the pages without", turn=2),
        Message("Removed from both pages."),
    ]
    assert Offline().detect(messages, [SKILL]) == []


@for_each(
    "said",
    [
        "never put a photo below the title, you did that last week and users quit",
        "ab jetzt nur WebP für Fotos, sonst meckert mein Chef wieder",
        "We never hide photos from the users, always show them",
    ],
)
def test_a_reason_after_a_rule_does_not_weaken_it(said: str) -> None:
    assert len(find_changes(said)) == 1


def test_text_that_is_asked_about_is_not_the_persons() -> None:
    assert find_changes("from the supplier, does it apply to us?\n\nFrom now on always use WebP for photos.") == []


def test_asking_how_much_first_is_no_question() -> None:
    assert find_changes("以后改照片之前先问我，不要自己决定改多少") == ["改照片之前先问我，不要自己决定改多少。"]
    assert find_changes("以后改照片要改多少") == []


def test_a_letter_or_text_to_work_on_is_not_the_persons() -> None:
    for typed, own in table_rows("everyday_turns", "letters and texts to work on"):
        assert own_words(typed).strip("\n") == own


def test_saying_where_something_comes_is_saying_to_put_it_there() -> None:
    assert says_already("The author always comes first.", "- Put the author first.\n")
    assert not says_already("The author always comes last.", "- Put the author first.\n")


def test_a_pull_request_is_a_pr() -> None:
    assert says_already("One recipe per PR.", "- One recipe per pull request.\n")
    assert not says_already("One recipe per PR.", "- One recipe per page.\n")


@for_each(
    ("said", "change"),
    [
        ("never crop photos just because the page is full", "Never crop photos just because the page is full."),
        ("never crop photos because they look odd then", "Never crop photos."),
        ("photo names are cake- / bread- / team-, with a date", "Photo names are cake- / bread- / team-, with a date."),
    ],
)
def test_a_needed_part_of_a_rule_is_not_cut_off(said: str, change: str) -> None:
    assert find_changes(said) == [change]


@pytest.mark.parametrize("said", ["you left out the photos of each recipe", "you forgot the photos again"])
def test_a_reproach_is_not_turned_into_its_opposite(said: str) -> None:
    assert find_changes(said) == []


def test_repeated_and_project_wide_statements_are_heard() -> None:
    for said, change in table_rows("everyday_turns", "said again, or of the project"):
        assert find_changes(said) == ([change] if change else [])


def test_a_project_rule_is_no_talk_about_the_product() -> None:
    told = find_changes("photos must always be square in this project", "always name photos after the recipe")
    assert told == ["Photos must always be square in this project.", "Always name photos after the recipe."]


@for_each(
    ("said", "change"),
    [
        ("From now on, please prefer pipes over temp files.", "Prefer pipes over temp files."),
        ("Going forward, keep functions under 40 lines.", "Keep functions under 40 lines."),
        ("From now on, name helpers after what they do.", "Name helpers after what they do."),
        ("please never shadow err", "Never shadow err."),
        ("from now on show the price in red", ""),
        ("from now on the price must be red", ""),
        ("never more than three", ""),
    ],
)
def test_what_is_expressly_for_the_future_is_no_talk_about_the_product(said: str, change: str) -> None:
    heard = Offline().detect([Message("the loader should always close the file", turn=1), Message(said, turn=2)], [])
    assert [update.change for update in heard] == ([change] if change else [])


@for_each(
    ("said", "change"),
    [
        ("Here, always keep imports sorted.", "Always keep imports sorted."),
        ("Here, never use panic.", "Never use panic."),
        ("Here always use snake case.", "Always use snake case."),
        ("In here, never log with print.", "Never log with print."),
        ("ok, here always run the linter first", "Always run the linter first."),
        ("Here, it always crashes.", ""),
        ("Here always the same error.", ""),
        ("here never works", ""),
    ],
)
def test_an_order_that_begins_with_here_is_heard(said: str, change: str) -> None:
    heard = Offline().detect([Message(said, turn=1)], [])
    assert [update.change for update in heard] == ([change] if change else [])


def test_stories_product_talk_retractions_and_single_occasions_make_no_rule() -> None:
    for text in table_texts("everyday_turns", "stories, products, what is taken back, occasions"):
        assert find_changes(*text.split(" >> ")) == []


def test_statements_after_a_story_or_about_the_work_are_heard() -> None:
    for text in table_texts("everyday_turns", "after a story, or of the work"):
        assert find_changes(*text.split(" >> ")) != []


def test_forget_it_means_what_was_said_last() -> None:
    def kept(*turns: str) -> list[str]:
        messages = [Message(text, turn=number) for number, text in enumerate(turns, 1)]
        return [update.change for update in Offline().detect(messages, []) if update.confidence >= 0.5]

    rule, change = "from now on, always run ruff before every commit", ["Always run ruff before every commit."]
    assert kept(rule, "mach den Titel fett", "ach so, vergiss es") == change
    assert kept(rule, "rename the column to net_total", "never mind, undo that") == change
    assert kept(rule, "ok", "ach so, vergiss es") == []
    assert kept(rule, "ach so, vergiss es") == []
