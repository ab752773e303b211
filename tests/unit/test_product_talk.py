"""What a thing that was just ordered looks like is no rule; orders to the agent after it are."""

from __future__ import annotations

from skilld.classify.backends.offline import Offline
from skilld.types import Message, SkillDoc
from support.rows import for_each

SKILL = SkillDoc(
    1, "devis", "/p", "---\nname: devis\ndescription: Rédige les devis.\n---\n# Devis\n\n- Une ligne par poste.\n"
)


def proposed(*turns: str, skill: SkillDoc | None = None) -> list[str]:
    messages = [one for at, text in enumerate(turns, 1) for one in (Message(text, at), Message("Done."))]
    found = Offline().detect(messages, [skill] if skill else [])
    return [one.change for one in found if one.confidence >= 0.5]


@for_each(
    ("order", "look"),
    [
        ("baue eine Timer-Seite mit einem Countdown", "bitte immer rot ab 5 min"),
        ("mach mir einen Timer", "bitte immer rot ab 5 min"),
        ("erstelle ein Dashboard für die Küche", "bitte immer grün wenn fertig"),
        ("füge eine Tabelle mit den Bestellungen hinzu", "bitte immer nach datum sortiert"),
        ("baue eine Rechnungsübersicht", "bitte immer zwei nachkommastellen"),
        ("make a dashboard for the kitchen", "please always green when done"),
        ("make a dashboard for the kitchen", "please always bold and centered"),
    ],
)
def test_a_look_after_an_order_to_build_is_no_rule(order: str, look: str) -> None:
    assert proposed(order, look) == []
    assert proposed(order, "super", look) == []
    assert proposed(order, *["super"] * 3, look) != [], "by then it may be about anything"


@for_each(
    ("said", "rule"),
    [
        ("bitte immer pnpm nehmen", "Immer pnpm nehmen."),
        ("bitte immer Tests schreiben", "Immer Tests schreiben."),
        ("bitte immer erst den Plan zeigen", "Immer erst den Plan zeigen."),
        ("ab jetzt bitte immer auf Deutsch antworten", "Immer auf Deutsch antworten."),
        ("bitte immer Überschriften fett schreiben", "Immer Überschriften fett schreiben."),
        ("always keep coverage above 80 %", "Always keep coverage above 80 %."),
        ("always wait 5 sec between two calls", "Always wait 5 sec between two calls."),
        ("please always answer in bold", "Always answer in bold."),
    ],
)
def test_an_order_to_the_agent_after_it_is_one(said: str, rule: str) -> None:
    assert proposed("baue eine Timer-Seite", said) == [rule]


@for_each(
    "said",
    [
        "Así se queda, no toques nada",
        "c'est bon comme ça, ne touche à rien",
        "so bleibt es, fass nichts an",
        "va bene così, non toccare niente",
        "fica assim, não mexa em nada",
    ],
)
def test_to_leave_what_is_there_is_no_rule(said: str) -> None:
    assert proposed("fix it", said) == proposed("fix it", said, skill=SKILL) == []


@for_each(
    "said",
    [
        "the tank is full. next: at the upper limit the pump must stop and never restart by itself",
        "shops should get a mail when stock is low. never more than one mail a day per shop",
        "Die Prognose darf nie über dem Maximum liegen.",
        "Die Tür muss nachts immer zu sein.",
        "nunca debe salir un número negativo",
        "siempre tiene que verse el precio con iva",
        "le solde ne doit jamais être négatif",
        "il saldo non deve mai essere negativo",
        "o saldo nunca pode ficar negativo",
        "must not overwrite the target if it exists. and never follow symlinks, just report them",
        "each order should have a number. from now on write it in the footer",
        "I'd like every invoice to show the vat. never use a comma there",
        "the bot is too pushy, it must wait an hour between hints and never use exclamation marks",
        "from now on `sync` has to refuse files over 2 GB",
        "マイナスは必ずエラーにして",
        "после отмены всегда возвращать деньги на карту",
    ],
)
def test_what_a_thing_must_do_is_no_rule(said: str) -> None:
    assert proposed(said) == []


@for_each(
    "said",
    [
        "the lockfile should never be edited by hand",
        "Commits müssen immer auf Englisch sein",
        "los commits siempre deben ser en inglés",
        "les tests ne doivent jamais toucher le réseau",
        "i test non devono mai toccare la rete",
        "os commits devem ser sempre em inglês",
        "sempre tem que rodar os testes antes de commitar",
    ],
)
def test_what_the_work_must_be_is_one(said: str) -> None:
    assert len(proposed(said)) == 1


@for_each(
    ("said", "rule"),
    [
        ("each order should have a number. from now on commit small", "Commit small."),
        ("each order should have a number. and never touch the lockfile", "Never touch the lockfile."),
        ("the total must be right. please always use two spaces here", "Always use two spaces here."),
        ("never use a comma in headings", "Never use a comma in headings."),
        ("всегда спрашивай меня перед деплоем", "Всегда спрашивай меня перед деплоем."),
    ],
)
def test_an_order_to_the_agent_beside_what_a_thing_must_do_is_a_rule(said: str, rule: str) -> None:
    assert proposed(said) == [rule]


def test_an_order_for_good_in_a_turn_of_its_own_is_no_talk_about_the_product() -> None:
    told = proposed(
        "the summary table should be sorted by share", "From now on, always put the row count in the title."
    )
    assert told == ["Always put the row count in the title."]
