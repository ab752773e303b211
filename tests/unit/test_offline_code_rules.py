"""What all code of a kind must have is a rule; what a product must do in the same words is none."""

from __future__ import annotations

from skilld.classify.backends.offline import Offline
from skilld.types import Message
from support.rows import for_each


def confidences(*said: str) -> list[float]:
    messages = [Message(one, turn=number) for number, one in enumerate(said, 1)]
    return [one.confidence for one in Offline().detect(messages, ())]


@for_each(
    "said",
    [
        "Models must always have a docstring",
        "Every migration must have a down step",
        "Every function must have a type hint.",
        "Components must always have a story.",
        "Every script must start with set -euo pipefail.",
        "Controllers must never query the database directly.",
        "Each class should have its own file.",
        "Every table must have a primary key.",
        "Functions must never exceed 40 lines.",
        "Endpoints must always have an integration test.",
        "Public methods must always be documented.",
        "Cada migración debe tener un paso de vuelta atrás.",
        "Tabellen müssen immer einen Primärschlüssel haben.",
        "Les modèles doivent toujours avoir une docstring.",
        "I modelli devono sempre avere una docstring.",
        "Componentes devem sempre ter um teste.",
    ],
)
def test_what_all_code_of_a_kind_must_have_is_a_rule(said: str) -> None:
    assert confidences(said) == [0.8]


@for_each(
    "said",
    [
        "Users must always be able to log out",
        "Every user must have a profile picture.",
        "Passwords must never be shown.",
        "All buttons must be blue.",
        "Invoices must always have a number.",
        "Every booking needs a deposit.",
        "Every course must have three modules.",
        "Each lesson must have a test at the end.",
        "Jeder Nutzer muss ein Profilbild haben.",
        "Cada usuario debe tener una foto.",
        "Chaque commande doit avoir une date.",
        "The function must always return a list.",
        "All scripts must run.",
        "must every function have a docstring?",
    ],
)
def test_what_a_product_must_do_is_not_a_rule(said: str) -> None:
    assert confidences(said) == []


@for_each(
    "said",
    [
        "Each class must have a teacher.",
        "Every model must have a price and a photo of the car.",
        "Every function must be in the menu.",
        "Services must always have a price.",
    ],
)
def test_what_may_be_a_rule_or_a_requirement_is_a_learning(said: str) -> None:
    assert confidences(said) == [0.45]
