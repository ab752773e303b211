"""Greetings and thanks around a request name no skill and become no line of one."""

from __future__ import annotations

from skilld.mining.courtesy import is_courtesy, without_politeness
from skilld.mining.new_skill import task_name, title_of
from skilld.mining.said import sentences
from support.rows import for_each


@for_each(
    ("asked", "plain", "name"),
    [
        (
            "Guten Tag! Könntest du bitte die lokale Datenbank aus dem Staging-Dump neu aufsetzen? Thanks a lot.",
            "die lokale Datenbank aus dem Staging-Dump neu aufsetzen",
            "lokale-datenbank-neu-aufsetzen",
        ),
        (
            "Hallo Codex, would you please update next to the newest patch release? Danke schon mal.",
            "update next to the newest patch release",
            "update-newest-patch-release",
        ),
        (
            "Hey Claude, good morning! Could you kindly bump the version, that would be great. Take your time!",
            "bump the version",
            "bump-version",
        ),
        (
            "Guten Morgen zusammen, würdest du mir mal kurz das Zertifikat erneuern? Lieben Dank!",
            "das Zertifikat erneuern",
            "zertifikat-erneuern",
        ),
        ("Schreib bitte die Notes, wenn du so lieb wärst.", "Schreib bitte die Notes", "notes"),
        ("Danke! Please restart the queue", "restart the queue", "restart-queue"),
        ("Bonjour, pourrais-tu lancer les tests ? Merci beaucoup", "lancer les tests", "lancer-tests"),
        ("Super wichtig: prüfe die Summen", "Super wichtig: prüfe die Summen", "super-wichtig-summen"),
        ("Restore the tattoo", "Restore the tattoo", "restore-tattoo"),
        ("add thanks to the footer", "add thanks to the footer", "add-footer"),
        ("Hi-res images for the landing page", "Hi-res images for the landing page", "images-landing-page"),
    ],
)
def test_a_request_is_named_by_its_task(asked: str, plain: str, name: str) -> None:
    assert without_politeness(asked) == plain
    assert task_name(asked, (), "/src/shop") == name


def test_a_name_has_the_words_that_several_requests_share() -> None:
    wordings = ["Cut the release {{version}}", "release {{version}} please", "ship the next release"]
    assert task_name(wordings[0], {"version"}, "/src/shop", wordings) == "cut-release"  # one word says too little
    wordings = ["Add the endpoint POST {{name}}", "add endpoint DELETE {{name}}", "a new endpoint, add it"]
    assert task_name(wordings[0], {"name"}, "/src/shop", wordings) == "add-endpoint"


@for_each(
    ("asked", "title"),
    [
        ("add endpoint DELETE /{{name}}/:id", "add endpoint DELETE NAME"),
        ("move src/{{name}}.ts up", "move NAME up"),
        ("restore {{table2}} into staging", "restore TABLE into staging"),
        ("read src/app.ts of {{name}}", "read src/app.ts of NAME"),
    ],
)
def test_a_title_has_no_path_that_nobody_typed(asked: str, title: str) -> None:
    assert title_of(asked) == title


@for_each(
    "said",
    [
        "Perfekt, vielen Dank!",
        "Lovely, danke!",
        "Jetzt passt es, danke.",
        "Really nice work, thanks a lot for your help!",
        "Guten Tag zusammen!",
        "Hello there, good morning",
        "Super, danke dir, schönes Wochenende!",
        "Prima, das wäre super nett",
    ],
)
def test_thanks_and_greetings_become_no_line(said: str) -> None:
    assert is_courtesy(said)
    assert [*sentences("s1", "t1", said)] == []


def test_a_wish_behind_thanks_stays_a_line() -> None:
    said = "Super, und bitte noch prüfen ob alles da ist. Danke dir! Please restart the queue first."
    assert [one.text for one in sentences("s1", "t1", said)] == ["Prüfen ob alles da ist", "Restart the queue first"]
