"""A rule is heard by the words beside it that make it one, and is proposed without them."""

from __future__ import annotations

from skilld.batching.gate import needs_classification
from skilld.classify.backends.offline import Offline
from skilld.types import Message
from support.rows import for_each


def _proposed(said: str) -> list[str]:
    found = Offline().detect(
        [Message("fix the price rounding", 1), Message("Done, the tests pass."), Message(said, 2)], []
    )
    return [one.change for one in found if one.confidence >= 0.5]


@for_each(
    ("said", "rule"),
    [
        # Before a colon.
        ("One for the handbook: fixtures carry the year they are from.", "Fixtures carry the year they are from."),
        (
            "house rule, since nobody told you: a column ends in its unit. rename those two",
            "A column ends in its unit.",
        ),
        (
            "new rule and it goes in your notes today: screenshots are taken on the small phone",
            "Screenshots are taken on the small phone.",
        ),
        ("Put it in our guidelines: one query per page load.", "One query per page load."),
        (
            "Change the line about mocks in your instructions: recorded answers only, nothing invented.",
            "Recorded answers only, nothing invented.",
        ),
        # At the end of the sentence.
        (
            "tariffs are read from the table at run time, that's our convention",
            "Tariffs are read from the table at run time.",
        ),
        (
            "a failing sensor stops the arm, write that down somewhere you'll find it",
            "A failing sensor stops the arm.",
        ),
        # As a sentence of its own.
        ("Every chart names its source. Non-negotiable. And fix the legend", "Every chart names its source."),
        ("Captions end without a full stop. That belongs in the style guide.", "Captions end without a full stop."),
        (
            "first write a failing test, then touch the code. Make that your habit with bugs.",
            "First write a failing test, then touch the code.",
        ),
        ("Lesson learned. Exports are streamed, row by row.", "Exports are streamed, row by row."),
        (
            "Dependencies with no maintainer stay out. So that I don't have to say it again?",
            "Dependencies with no maintainer stay out.",
        ),
        # The scope is part of the rule.
        (
            "the parser gets a fuzz test, and that goes for all parsers in here",
            "The parser gets a fuzz test, and that goes for all parsers in here.",
        ),
        # Other languages.
        (
            "Fehlertexte nennen die Bestellnummer. Das gehört in deine Anleitung.",
            "Fehlertexte nennen die Bestellnummer.",
        ),
        (
            "les montants restent en centimes, ajoute-le dans tes consignes",
            "Les montants restent en centimes.",
        ),
        ("los sensores se nombran por su sitio, apúntalo en tus notas", "Los sensores se nombran por su sitio."),
        ("i prezzi sono in centesimi, scrivilo nelle linee guida", "I prezzi sono in centesimi."),
        ("os relatórios cabem numa página, põe isso nas tuas notas", "Os relatórios cabem numa página."),
        ("金额都用整数。这条写进你的规范里", "金额都用整数。"),
        # Like a report of what happened.
        ("principle: the tests need the fixture from the seed", "The tests need the fixture from the seed."),
        (
            "convention: the tests named after a module live beside it",
            "The tests named after a module live beside it.",
        ),
        ("Regel: die Beträge sind in Cent gespeichert", "Die Beträge sind in Cent gespeichert."),
        ("règle : chaque page a un titre et une date", "Chaque page a un titre et une date."),
    ],
)
def test_words_beside_a_rule_make_it_one(said: str, rule: str) -> None:
    assert needs_classification(said)
    assert _proposed(said) == [rule]


@for_each(
    "said",
    [
        "new rule for the load balancer: drop port 8080 from outside",  # a rule of the product
        "the rule is that guests book one room at most. implement it in the booking service",
        "put it in the config file, 30 seconds",
        "good, write that down in the ticket so support can see it",
        "note: the pipeline is red since noon",
        "note: the staging database is empty",
        "make a note of the ids and move on",
        "same for all the other pages, add the header",
        "make a note: the call with Jana is on Thursday",
        "Lesson learned. The cache was stale.",
        "I made a table with party, term, law, anything odd",
        "that's a rule of the linter, not ours",
        "What was the convention again?",
        "So much easier to read. Not a one-off I hope",
        "we moved it last week, that's our policy on old invoices",
        "just for this branch: no changelog entry. write that down",
        "reminder: our retro begins at four",
        "convention: the conference is in March and I need the hotel page",
        "lesson learned: the migration deleted the users table on staging",
        "one for the backlog: dark mode for the settings page",
        "Policy: refunds within 30 days. Put this text on the page.",
        "kein Einzelfall: der Job ist dreimal abgestürzt",
        "Erinnerung: der Kunde hat die große Rechnung doppelt bezahlt",
        "Rappel : la réunion commence à dix heures",
        "Recordatorio: la reunión empieza a las diez",
        "Promemoria: la riunione comincia alle dieci",
        "Lembrete: a reunião começa às dez",
    ],
)
def test_like_words_about_something_else_make_none(said: str) -> None:
    assert _proposed(said) == []


@for_each(
    ("said", "rule"),
    [
        (
            "never update alarms without a select first, we closed 900 real ones",
            "Never update alarms without a select first.",
        ),
        ("always ask before you touch the lock file, you broke it twice", "Always ask before you touch the lock file."),
        ("never deploy on fridays, it took us a weekend", "Never deploy on fridays."),
        ("if a test failed, never retry it silently", "If a test failed, never retry it silently."),
        ("always check the lint passed, then commit", "Always check the lint passed, then commit."),
        ("lead with the cause please, the rest below it", "Lead with the cause, the rest below it."),
        ("always run the tests with -race please, it's in the file for a reason", "Always run the tests with -race."),
        ("fehlertexte immer auf deutsch, steht doch im skill", "Fehlertexte immer auf deutsch."),
        ("los errores siempre en español, que ya lo pone en el archivo", "Los errores siempre en español."),
        ("never put it in the header of the page, that's in the way", None),
        ("lead with the nicest example in chapter two", None),
        ("Writers want to duplicate a quest with all its dialogue.", None),
    ],
)
def test_what_happened_or_is_written_already_is_no_part_of_a_rule(said: str, rule: str | None) -> None:
    assert _proposed(said) == ([rule] if rule else [])


@for_each(
    ("said", "rule"),
    [
        ("may I have it as policy that no file in vendor gets edited", "No file in vendor gets edited."),
        ("lab rule: raw counts stay in the counts folder", "Raw counts stay in the counts folder."),
        (
            "kindly hang on to this one: figures are drawn at the width of a column",
            "Figures are drawn at the width of a column.",
        ),
        (
            "figures are drawn at the width of a column. please make that part of your routine as reviewers ask",
            "Figures are drawn at the width of a column.",
        ),
        (
            "a green build, but I am not going to have this discussion twice: migrations run on the copy first",
            "Migrations run on the copy first.",
        ),
        ("legends under the plot, and please treat that as settled for all of them", "Legends under the plot."),
        ("pin this above your desk: exported names keep their spelling", "Exported names keep their spelling."),
        (
            "let me say this once so we are done with it: versions move in a PR of their own",
            "Versions move in a PR of their own.",
        ),
        ("на будущее: эталонные файлы сам не переписывай", "Эталонные файлы сам не переписывай."),
        ("de acá en más contestame en dos líneas", "Contestame en dos líneas."),
        ("zum merken: Messwerte stehen in SI-Einheiten", "Messwerte stehen in SI-Einheiten."),
        (
            "grabátelo para siempre: las migraciones van en su propia carpeta",
            "Las migraciones van en su propia carpeta.",
        ),
        ("regola tra noi due: i test stanno accanto al codice", "I test stanno accanto al codice."),
        ("schrijf dit even bij je afspraken: bedragen zijn in centen", "Bedragen zijn in centen."),
        ("żelazna zasada: kwoty trzymamy w groszach", "Kwoty trzymamy w groszach."),
        ("запиши себе в правила: суммы храним в копейках", "Суммы храним в копейках."),
        ("이건 꼭 기억해둬: 금액은 원 단위로 적는다", "금액은 원 단위로 적는다."),
    ],
)
def test_marks_are_heard_in_many_wordings_and_languages(said: str, rule: str) -> None:
    assert _proposed(said) == [rule]


@for_each(
    ("said", "rule"),
    [
        ("Remember to add a contract to each mart.", "Add a contract to each mart."),
        ("Denk daran, jede Spalte im Schema zu beschreiben.", "Jede Spalte im Schema beschreiben."),
        ("for fuck's sake never touch the seed data", "Never touch the seed data."),
        ("for god's sake, always read the error first", "Always read the error first."),
        ("for the love of god stop renaming my branches", "Do not rename my branches."),
        ("goddamn it, always run the linter before you push", "Always run the linter before you push."),
        ("stop guessing versions, god damn it", "Do not guess versions."),
        ("in this repo: always set a timeout on requests", "Always set a timeout on requests."),
        ("we should always wrap errors with their cause", "Always wrap errors with their cause."),
    ],
)
def test_curses_and_introductions_are_no_part_of_a_rule(said: str, rule: str) -> None:
    assert _proposed(said) == [rule]
