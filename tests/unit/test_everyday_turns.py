"""How lasting words stand among others: a tag behind them, a reason, a task before, what takes them back, a paste."""

from __future__ import annotations

import pytest

from skilld.classify.backends.offline import Offline
from skilld.classify.offline.provenance import own_words
from skilld.classify.said_already import says_already
from skilld.types import Message, SkillDoc

SKILL = SkillDoc(
    1, "bakery-site", "/p/SKILL.md", "# Bakery site\n\n## Pages\n\n- Photos as PNG.\n- Recipes in Markdown.\n"
)


def changes(*turns: str) -> list[str]:
    messages = [Message(text, turn=number) for number, text in enumerate(turns, 1)]
    return [update.change for update in Offline().detect(messages, [SKILL]) if update.confidence >= 0.5]


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("photos in two sizes, remember that", "Photos in two sizes."),
        ("recipes get a date, new law in this house", "Recipes get a date."),
        ("no photos above 1 MB, that's final", "No photos above 1 MB."),
        ("From April on do not show prices in recipes", "Do not show prices in recipes."),
        ("Starting in March, use WebP for photos", "Use WebP for photos."),
        ("photos never go above 1 MB anyway, keep that in mind for new ones", "Photos never go above 1 MB anyway."),
        ("take photo names from the recipe, now and forever", "Take photo names from the recipe."),
        ("from here on please resize photos before you commit, Mrs. Lang found a huge one yesterday",
         "Resize photos before you commit."),
        ("always name photos after the recipe, Tom will thank you for it", "Always name photos after the recipe."),
        ("arrête de couper les photos, ça ne se fait pas", "Arrête de couper les photos."),
        ("bevor du Fotos löschst frag mich erst, da hängen Leute dran", "Bevor du Fotos löschst frag mich erst."),
        ("leave the old page for now, and always add alt text to photos", "Always add alt text to photos."),
        ("we always use WebP here, never PNG", "Always use WebP here, never PNG."),
        ("always use WebP, never PNG", "Always use WebP, never PNG."),
        ("one question at a time please", None),
    ],
)  # fmt: skip
def test_what_stands_behind_a_rule_is_no_part_of_it(said: str, change: str | None) -> None:
    heard = [update.change for update in Offline().detect([Message(said, turn=1)], [SKILL])]
    assert heard == ([change] if change else ["One question at a time."])


@pytest.mark.parametrize(
    "said",
    [
        "By default, batch the photos and flush at 50",
        "change the upload script to prevent such photos in the future",
        "for broken photos always do 3",
        "this recipe page takes forever",
        "collect the photos from october 2025",
        "our old baker had a rule: never show prices, always wear the blue apron",
        "у нас был пекарь, он всегда говорил: никогда не показывай цены",
        "cutting corners is how we lost the photos last year",
        "désormais chaque client reçoit une photo du gâteau",
        "kiedyś zawsze robiliśmy zdjęcia i nigdy nic nie działało",
    ],
)
def test_words_of_time_that_lay_down_nothing(said: str) -> None:
    assert changes(said) == []


def test_what_is_taken_back_is_what_was_said_before_it() -> None:
    assert changes("always use JPEG for photos", "hm no, wait, that looks bad. always use WebP for photos") == [
        "Always use WebP for photos."
    ]
    assert changes("Ab jetzt bitte immer zwei Fotos pro Rezept", "lass es wieder, eins reicht") == []


def test_asking_first_how_much_is_no_question() -> None:
    assert changes("以后改照片之前先问我，不要自己决定改多少") == ["改照片之前先问我，不要自己决定改多少。"]
    assert changes("以后改照片要改多少") == []


@pytest.mark.parametrize(
    ("typed", "own"),
    [
        ("summarise this for the boss: always use the new form", "summarise this for the boss: "),
        ("what do I tell them: Dear Ms Wolf, from now on send no mails", "what do I tell them: "),
        ("write the following into the page: always wash the bowl", "write the following into the page: "),
        (
            "remember the following in CLAUDE.md: always use tabs",
            "remember the following in CLAUDE.md: always use tabs",
        ),
    ],
)
def test_a_letter_or_a_text_to_work_on_is_not_the_persons(typed: str, own: str) -> None:
    assert own_words(typed).strip("\n") == own


def test_a_pull_request_is_a_pr() -> None:
    assert says_already("One recipe per PR.", "- One recipe per pull request.\n")
    assert not says_already("One recipe per PR.", "- One recipe per page.\n")


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("never crop photos just because the page is full", "Never crop photos just because the page is full."),
        ("never crop photos because they look odd then", "Never crop photos."),
        ("photo names are cake- / bread- / team-, with a date", "Photo names are cake- / bread- / team-, with a date."),
    ],
)
def test_what_a_rule_needs_is_not_cut_off(said: str, change: str) -> None:
    assert changes(said) == [change]


@pytest.mark.parametrize("said", ["you left out the photos of each recipe", "you forgot the photos again"])
def test_a_reproach_is_not_turned_into_its_opposite(said: str) -> None:
    assert changes(said) == []


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("I told you: always name photos after the recipe", "Always name photos after the recipe."),
        ("like I said twice, never crop photos", "Never crop photos."),
        ("wie gesagt: immer WebP für Fotos nehmen", "Immer WebP für Fotos nehmen."),
        ("je te l'ai déjà dit : toujours nommer les photos", "Toujours nommer les photos."),
        ("ya te lo dije: usa siempre WebP", "Usa siempre WebP."),
        ("я же говорил: всегда называй фото по рецепту", "Всегда называй фото по рецепту."),
        ("photos must always be square in this project", "Photos must always be square in this project."),
        ("in this repo every recipe has to have a date", "In this repo every recipe has to have a date."),
        ("i told Tom: always name photos after the recipe", None),
        ("the total must never be negative", None),
        ("there must always be a bug in this project", None),
    ],
)
def test_what_is_said_again_or_of_the_project_is_heard(said: str, change: str | None) -> None:
    assert changes(said) == ([change] if change else [])


def test_a_rule_of_the_project_is_no_talk_about_the_product() -> None:
    told = changes("photos must always be square in this project", "always name photos after the recipe")
    assert told == ["Photos must always be square in this project.", "Always name photos after the recipe."]
