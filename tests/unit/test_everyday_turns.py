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
    assert changes("from now on put a watermark on all photos", "the shop hates it. fine, no watermark") == []
    assert changes("from now on put no watermark on photos", "and no watermark on the cover either") != []
    assert changes("Crop all photos to squares from now on", "So many? Then ignore what I wrote.") == []


def test_what_the_agent_took_out_again_stands_no_longer() -> None:
    messages = [
        Message("from now on every page gets a box with the main points", turn=1),
        Message("Added to both pages."),
        Message("Nora thinks it doubles the intro, leave the pages without", turn=2),
        Message("Removed from both pages."),
    ]
    assert Offline().detect(messages, [SKILL]) == []


@pytest.mark.parametrize(
    "said",
    [
        "never put a photo below the title, you did that last week and users quit",
        "ab jetzt nur WebP für Fotos, sonst meckert mein Chef wieder",
        "We never hide photos from the users, always show them",
    ],
)
def test_a_reason_behind_a_rule_takes_nothing_from_it(said: str) -> None:
    assert len(changes(said)) == 1


def test_what_is_asked_about_below_is_not_the_persons() -> None:
    assert changes("from the supplier, does it apply to us?\n\nFrom now on always use WebP for photos.") == []


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


def test_where_something_goes_is_where_it_is_put() -> None:
    assert says_already("The author always comes first.", "- Put the author first.\n")
    assert not says_already("The author always comes last.", "- Put the author first.\n")


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


@pytest.mark.parametrize(
    "said",
    [
        "at the print shop where I worked we were strict. always two proofs, never a photo from the web",
        "bei der Zeitung, bei der ich war, ging es zu. nie ein Foto ohne Quelle. und immer drei Korrekturleser",
        "meine Nachbarin arbeitet in einer Konditorei. dort muss immer ein Foto von jeder Torte sein. nie ohne",
        "mon frère bosse dans une agence. chez eux on relit toujours trois fois, jamais de photo sans accord",
        "mi prima trabaja en un hotel. allá ellos nunca publican fotos sin permiso, siempre firman dos personas",
        "mia cugina lavora in un giornale. là loro controllano sempre due volte. mai una foto senza firma",
        "mijn zus werkt bij een krant. daar moeten ze altijd twee keer tellen. nooit een foto zonder bron",
        "minha vizinha trabalha num hotel. lá eles sempre pedem duas fotos, nunca publicam no domingo",
        "moja siostra pracuje w gazecie. u nich zawsze dwa zdjęcia na stronę, nigdy bez podpisu",
        "moje sestra pracuje v novinách. u nich vždy dvě fotky na stránku, nikdy bez podpisu",
        "был на конференции вчера. у них всегда две фотографии на страницу, никогда без подписи",
        "ablam bir gazetede çalışıyor. onlarda her zaman iki fotoğraf var. asla imzasız fotoğraf koyma derler",
        "友達が新聞社で働いていて話を聞いた。写真は必ず二枚、絶対に署名なしで載せない",
        "친구가 신문사에서 일하는데 재밌더라. 거기는 사진을 항상 두 장 넣어. 절대 이름 없이 올리지 마 이런 식",
        "我表姐在报社上班，挺累的。他们都要求照片必须两张。永远不要发没有署名的照片",
        "SHOP-7: from May on a photo needs a caption of 80 characters, always rounded down",
        "New ticket from marketing: in future photos turn grey when the cake is sold out",
        "Neues Ticket vom Laden: ab Mai wird jedes Foto grau, wenn der Kuchen weg ist",
        "Nouveau ticket de la boutique : désormais chaque photo devient grise quand le gâteau est vendu",
        "nuevo ticket de la tienda: a partir de mayo cada foto sale en gris si no queda tarta",
        "novo chamado da loja: a partir de maio cada foto fica cinza quando o bolo acaba",
        "nowe zgłoszenie ze sklepu: od teraz każde zdjęcie robi się szare, gdy ciasta nie ma",
        "новая задача от магазина: отныне каждая фотография становится серой, если торта нет",
        "Neues Ticket vom Laden: das Foto muss grau werden >> In Zukunft soll der Preis darunter stehen, überall",
        "new ticket from the shop: the photo must turn grey >> and the price never bold >> and always a heart on it",
        "remember which photos were opened when the page comes back",
        "merk dir, welche Fotos schon offen waren, wenn die Seite wiederkommt",
        "retiens quelles photos étaient ouvertes quand la page revient",
        "from now on photos in black and white >> hm, all grey, nobody sees the cake. back to how it was",
        "from now on photos in black and white >> revert that please",
        "ab jetzt Fotos immer in Schwarzweiß >> ach nee, lass es doch, sieht traurig aus",
        "désormais mets les photos en noir et blanc >> mais alors on ne reconnaît plus rien... on garde comme avant",
        "a partir de ahora las fotos siempre en blanco y negro >> no, vuelve a como estaba, no se ve nada",
        "d'ora in poi le foto sempre in bianco e nero >> no dai, torna a come era prima",
        "vanaf nu foto's altijd in zwart-wit >> nee, draai dat maar terug",
        "a partir de agora as fotos sempre em preto e branco >> não, volta pra como era",
        "od teraz zdjęcia zawsze czarno-białe >> jednak brzydko, nic nie widać na ekranie. cofam to",
        "od teď fotky vždycky černobíle >> ne, vrať to zpátky",
        "отныне фотографии всегда чёрно-белые >> не, ничего не видно. откати",
        "bundan sonra fotoğraflar hep siyah beyaz olsun >> yok olmadı, geri al",
        "今後は写真を必ず白黒にして >> うーん、やっぱり元に戻して",
        "앞으로 사진은 항상 흑백으로 해줘 >> 음 원래대로 되돌려줘",
        "以后照片一律用黑白 >> 不行，还是改回原来的吧",
        "but then we can no longer tell the cakes apart, never mind the colours",
        "for the jam build leave out all photos and never mind the recipes",
        "for saturday's flyer always use the big photos",
        "for this demo never show a price",
        "für die Demo lass alle Fotos weg, immer nur Text",
        "pour la démo on enlève toutes les photos, jamais de prix",
        "para la demo quita todas las fotos, nunca precios",
        "для демо без фотографий, всегда только текст",
        "デモ版では写真は必ず外して",
    ],
)
def test_a_story_a_product_what_is_taken_back_and_an_occasion_lay_down_nothing(said: str) -> None:
    assert changes(*said.split(" >> ")) == []


@pytest.mark.parametrize(
    "said",
    [
        "at the print shop where I worked we were strict. anyway, from now on name photos after the recipe",
        "my cousin works at a hotel and told me a lot. please always name photos after the recipe",
        "meine Nachbarin arbeitet im Hotel. jedenfalls: Fotos ab jetzt immer nach dem Rezept benennen",
        "mon frère bosse dans une agence. bref, désormais nomme les photos d'après la recette",
        "был на конференции вчера, скучно. ладно, впредь всегда называй фотографии по рецепту",
        "moja siostra pracuje w gazecie. no dobra, od teraz zawsze nazywaj zdjęcia tak jak przepis",
        "SHOP-7: a photo needs a caption >> from now on name photos after the ticket",
        "new ticket from the shop: the photo must turn grey >> from now on please put two photos into each recipe",
        "remember to name photos after the recipe",
        "remember who owns the photos: always credit Tom",
        "from now on photos in black and white >> and revert that commit from yesterday",
        "from now on photos in black and white >> nice. back to the recipes page",
    ],
)
def test_what_is_said_after_a_story_or_of_the_work_is_heard(said: str) -> None:
    assert changes(*said.split(" >> ")) != []
