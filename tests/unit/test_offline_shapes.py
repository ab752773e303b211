"""Shapes in which rules are said: as a request, a wish, once more, to a name; and lines that need the conversation."""

from __future__ import annotations

from skilld.classify.backends.offline import Offline
from skilld.types import Message
from support.rows import for_each

HEARD = """
die Ticketnummer gehört nach vorne => Die Ticketnummer gehört nach vorne.
der Scope gehört in Klammern => Der Scope gehört in Klammern.
I'll commit myself, you never commit => Never commit.
I'll merge myself, you never merge => Never merge.
for the last time, use pnpm => Use pnpm.
for the last time: no console.logs => No console.logs.
zum dritten Mal: nimm bun => Nimm bun.
Claude, nie auf main pushen => Nie auf main pushen.
Claude, ne push jamais sur main => Ne push jamais sur main.
claude, usa sempre pnpm => Usa sempre pnpm.
Claude, gebruik altijd pnpm => Gebruik altijd pnpm.
今後は必ずテストを実行してください => 必ずテストを実行してください。
今後は絵文字を使わないようにお願いします => 絵文字を使わないようにお願いします。
必ず事前に確認をお願いします => 必ず事前に確認をお願いします。
kannst du bitte immer die Tests laufen lassen vor dem Commit? => Immer die Tests laufen lassen vor dem Commit.
könntest du künftig immer auf Deutsch antworten? => Immer auf Deutsch antworten.
tu peux toujours répondre en français s'il te plaît ? => Toujours répondre en français.
peux-tu toujours me demander avant de supprimer un fichier ? => Toujours me demander avant de supprimer un fichier.
Das Changelog gehört immer nach vorne => Das Changelog gehört immer nach vorne.
From now on, put every date in that column into ISO format => Put every date in that column into ISO format.
"""

LEFT_ALONE = """
der Knopf gehört nach vorne
die Ticketnummer kommt aus der Datenbank
I'll commit this myself
for the last time it worked yesterday
it would be great if you fixed the login
it would be great if the app always showed the price
it would be nice if users never saw that error
Claude, run the tests
Claude never finishes
テストを実行してください
ユーザーには必ず通知を送ってください
kannst du die Tests laufen lassen?
kannst du immer noch nicht pushen?
könnte der Nutzer immer den Preis sehen?
tu peux toujours lancer les tests
tu peux toujours essayer
ça peut toujours servir
"""

# What these say cannot be understood in a file.
UNCLEAR = """
all of that should always be tested
never touch that without asking
in there never delete anything
from now on whatever route comes after it
die müssen immer auf Englisch sein
dann immer erst fragen
immer so wie eben
los quiero siempre en español
li voglio sempre in inglese
"""


def _hear(said: str) -> list[tuple[str, bool]]:
    messages = [Message("fix the price rounding in the cart", 1), Message("Done."), Message(said, 2)]
    return [(one.change, one.confidence >= 0.5) for one in Offline().detect(messages, [])]


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


@for_each("line", _lines(HEARD))
def test_rules_in_other_shapes_become_instructions(line: str) -> None:
    said, _, rule = line.partition(" => ")
    assert _hear(said) == [(rule, True)]


@for_each("said", _lines(LEFT_ALONE))
def test_tasks_and_reports_in_the_same_shapes_are_left_alone(said: str) -> None:
    assert _hear(said) == []


@for_each("said", _lines(UNCLEAR))
def test_what_needs_the_conversation_is_not_proposed(said: str) -> None:
    assert not any(proposed for _, proposed in _hear(said))


def test_a_clause_that_ends_within_brackets_keeps_none_open() -> None:
    heard = _hear("From now on never use contractions in warnings (do not, never do that). Thanks.")
    assert all(change.count("(") == change.count(")") for change, _ in heard)
    assert heard
