"""What is true of one thing at hand, and the task behind a statement, become no rules."""

from __future__ import annotations

from skilld.classify.backends.offline import Offline
from skilld.types import Message, SkillDoc
from support.rows import for_each

ORDERS = """---
name: db-migrations
description: Write and review migrations of the orders database, and copy it between servers.
---

# Migrations

- Add a column in a migration of its own.
- Stop nginx before you copy the database.
"""
DIAGRAM = (
    "---\nname: network-diagram\ndescription: Draw the network.\n---\n\n- Draw each DC as a box.\n- Name the hosts.\n"
)


def rules(said: str, skill: str = ORDERS) -> list[str]:
    doc = SkillDoc(1, skill.split()[2], "SKILL.md", skill)
    found = Offline().detect([Message(said, turn=1)], [doc])
    return [one.change for one in found if one.confidence >= 0.5]


@for_each(
    "said",
    [
        "a coluna chama-se customer_ref, não client_ref",
        "die Spalte heißt customer_ref, nicht client_ref",
        "tabela nazywa się orders_v2, nie orders",
        "make sure nginx is stopped on glas02 before you copy",
        "make sure the cron on db1.internal is off when you copy",
        "stop the worker on prod-2 when you copy a database",
    ],
)
def test_a_fact_about_one_name_or_machine_is_not_a_rule(said: str) -> None:
    assert rules(said) == []


@for_each(
    ("said", "skill", "rule"),
    [
        ("Make sure nginx is stopped before you copy.", ORDERS, "Make sure nginx is stopped before you copy."),
        (
            "make sure nginx is stopped on glas02 before you copy",
            f"{ORDERS}- glas02 is the live server.\n",
            "Make sure nginx is stopped on glas02 before you copy.",
        ),
        (
            "die Spalte heißt customer_ref, nicht client_ref",
            f"{ORDERS}- Fill client_ref.\n",
            "Die Spalte heißt customer_ref, nicht client_ref.",
        ),
        ("from now on stop nginx on web-03 first", ORDERS, "Stop nginx on web-03 first."),
    ],
)
def test_what_the_skill_names_or_the_person_calls_lasting_stays(said: str, skill: str, rule: str) -> None:
    assert rules(said, skill) == [rule]


@for_each(
    ("said", "kept"),
    [
        ("Wir haben zwei Rechenzentren, aktualisiere das Diagramm", []),
        ("у нас теперь два ЦОДа, обнови схему", []),
        ("Every DC gets its own page, so split the diagram.", []),
        ("we never name hosts by their IP, fix the diagram", ["Never name hosts by their IP."]),
        ("We never use IPs in diagrams - fix the second page", ["Never use IPs in diagrams."]),
        ("Wir zeichnen Hosts immer als Kästen, ändere die zweite Seite", ["Wir zeichnen Hosts immer als Kästen."]),
        ("We never use IPs in diagrams, fix it in the second page", ["Never use IPs in diagrams."]),
    ],
)
def test_only_the_statement_before_a_task_can_stay(said: str, kept: list[str]) -> None:
    assert rules(said, DIAGRAM) == kept


@for_each(
    "said",
    [
        "When a host moves, update the diagram.",
        "Every time we add a host, update the inventory.",
        "After each change of the network, update the diagram.",
        "When I rename a host, rename the page too.",
        "Keep the boxes small, adjust the font.",
        "Each time you add a host, add it to the inventory.",
        "Any time you rename a host, change it in the page too.",
    ],
)
def test_what_should_be_done_on_an_occasion_is_not_a_task(said: str) -> None:
    assert rules(f"From now on: {said}", DIAGRAM) == [said]
