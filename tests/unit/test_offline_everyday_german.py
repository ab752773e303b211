"""Everyday German about the agent's work, and its look-alikes."""

from __future__ import annotations

from skilld.classify.backends.offline import Offline
from skilld.types import Message, Update
from support.rows import for_each

HEARD = """
Merke: Tabellen immer mit Überschrift => Tabellen immer mit Überschrift.
Das gilt ab jetzt für alle Seiten: Titel unter 60 Zeichen => Für alle Seiten: Titel unter 60 Zeichen.
Tests vor dem Push laufen lassen, merk dir das bitte für alle meine Projekte => Tests vor dem Push laufen lassen.
für alle meine Projekte: keine Emojis => Keine Emojis.
kleine Commits bitte => Kleine Commits.
Commit-Messages auf Englisch bitte => Commit-Messages auf Englisch.
bitte keine Kommentare im Code => Keine Kommentare im Code.
du sollst keine Tests löschen => Du sollst keine Tests löschen.
Kein useEffect zum Datenladen. Merk dir das. => Kein useEffect zum Datenladen.
wir benutzen hier grundsätzlich date-fns, nicht moment => Wir benutzen hier grundsätzlich date-fns, nicht moment.
wir nehmen hier vitest, kein jest => Wir nehmen hier vitest, kein jest.
Bitte künftig immer die Button-Komponente aus packages/ui nehmen. => Immer die Button-Komponente aus packages/ui nehmen.
frag mich, bevor du pushst => Frag mich, bevor du pushst.
zeig mir erst den Plan, bevor du anfängst => Zeig mir erst den Plan, bevor du anfängst.
mir wäre lieber, du fragst vorher => Mir wäre lieber, du fragst vorher.
kürzere Antworten bitte => Kürzere Antworten.
antworte kürzer => Antworte kürzer.
fass dich kurz => Fass dich kurz.
keine Zusammenfassung am Ende bitte => Keine Zusammenfassung am Ende.
ich brauche nicht jedes Mal eine Zusammenfassung => Ich brauche nicht jedes Mal eine Zusammenfassung.
wenn du einen Endpunkt änderst, pass die OpenAPI-Datei an => Wenn du einen Endpunkt änderst, pass die OpenAPI-Datei an.
jede Funktion braucht einen Docstring => Jede Funktion braucht einen Docstring.
jeder Commit braucht eine Ticketnummer => Jeder Commit braucht eine Ticketnummer.
schon wieder default exports. nur benannte Exporte bitte => Nur benannte Exporte.
Fehler gehen immer nach stderr => Fehler gehen immer nach stderr.
Tests zuerst, dann der Code => Tests zuerst, dann der Code.
niemals direkt auf main => Niemals direkt auf main.
arbeite nicht auf main => Arbeite nicht auf main.
commite nie ohne zu fragen => Commite nie ohne zu fragen.
Finger weg von vendor/ => Finger weg von vendor/.
den Ordner vendor/ nicht anfassen => Den Ordner vendor/ nicht anfassen.
generierte Dateien nicht von Hand ändern => Generierte Dateien nicht von Hand ändern.
halte dich an die bestehenden Muster => Halte dich an die bestehenden Muster.
nicht raten, nachschauen => Nicht raten, nachschauen.
wenn du unsicher bist, frag => Wenn du unsicher bist, frag.
bitte immer deutsche Variablennamen => Immer deutsche Variablennamen.
Variablennamen auf Englisch => Variablennamen auf Englisch.
zwei Leerzeichen, keine Tabs => Zwei Leerzeichen, keine Tabs.
einfache Anführungszeichen bitte => Einfache Anführungszeichen.
ich mag keine langen Funktionen => Keine langen Funktionen.
ich hasse es, wenn du console.logs drin lässt => Ich hasse es, wenn du console.logs drin lässt.
lass die console.logs weg => Lass die console.logs weg.
keine Emojis mehr => Keine Emojis mehr.
ich hab dir doch gesagt: keine Emojis => Keine Emojis.
zum dritten Mal: keine Emojis => Keine Emojis.
beim nächsten Mal bitte zuerst die Tests laufen lassen => Zuerst die Tests laufen lassen.
und merk dir das ein für alle mal: grafiken nur als svg => Grafiken nur als svg.
ohne einheit schreibt man keine werte in eine tabelle => Ohne einheit schreibt man keine werte in eine tabelle.
also ein für alle mal, schreibs in die anleitung: vor dem flashen kammer auslesen => Vor dem flashen kammer auslesen.
"""

LEFT_ALONE = """
Das gilt für alle Kunden: Versand ist frei
wenn du fertig bist, lass die Tests laufen
wenn du den Button anklickst, geht ein Dialog auf
jede Funktion braucht einen Parameter mehr, mach das
jeder Kunde bekommt eine Rechnung
die Rechnung gehört nach vorne, auf Seite eins
kleine Bilder bitte
keine Ahnung
keine Tests heute
kein Problem
lass die Datei so
arbeite heute nicht auf main, da läuft der Build
frag Anna, bevor du das löschst
zeig mir den Plan
ich mag das Blau nicht
wir nehmen den Zug, nicht das Auto
schon wieder ein Fehler im Login
die Tests sind rot
commite das jetzt
commite noch nicht
ich brauche eine Zusammenfassung für den Chef
die Antworten sind zu lang für das Formular
wenn der User eine Mail anlegt, zeig den Dialog
wenn eine Bestellung storniert wird, muss das Geld zurück
kürzere Texte auf der Startseite bitte
die Finger weg von den Keksen
zwei Leerzeichen fehlen
rate mal
nicht raten, die Antwort steht im Ticket
jeder Test dauert zu lange
die Kommentare im Code sind gut
du musst keine Angst haben
du musst jeden Tag neu starten, sonst geht es nicht
du sollst nichts ändern, nur schauen
ich will, dass du keinen Fehler übersiehst in der Datei
Kommentare im Code auf Deutsch sind okay
klein bitte
kurze Frage
kurze Antwort bitte
einfache Lösung bitte
Code auf der Seite bitte kürzer
Tests laufen
Importe sind kaputt
die Doku nicht ändern
der Code ist nicht zu ändern
keine Kommentare zu den Preisen
keine Semikolons in der CSV bitte
keine Mocks für diesen Test
keine Emojis in der Mail an Frau Huber
wenn du eine Bestellung anlegst, geht eine Mail raus
wenn du einen Kunden löschst, verschwinden die Rechnungen
wir nehmen hier die zweite Variante, nicht die erste
jede Funktion braucht jetzt den neuen Parameter
erst testen
Finger weg, ich mache das
nicht raten, im Ticket steht es
zum dritten Mal ist der Build rot
antworte dem Kunden kürzer
nie gedacht dass das so schnell geht
sowas pusht man nicht ohne test
"""


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def _hear(said: str) -> list[Update]:
    messages = [Message("runde die Preise im Warenkorb richtig", 1), Message("Erledigt."), Message(said, 2)]
    return Offline().detect(messages, [])


@for_each("line", _lines(HEARD))
def test_everyday_wishes_are_heard_and_become_instructions(line: str) -> None:
    said, _, rule = line.partition(" => ")
    assert [one.change for one in _hear(said)][:1] == [rule]


@for_each("said", _lines(LEFT_ALONE))
def test_tasks_products_and_reports_in_like_words_are_left_alone(said: str) -> None:
    assert not _hear(said)
