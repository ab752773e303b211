"""Wishes put as questions, tied to a recurring occasion, or said behind a small task; and what only looks so."""

from __future__ import annotations

import pytest

from skilld.classify.backends.offline import Offline
from skilld.classify.offline.detector import find_lasting
from skilld.classify.offline.phrasing import phrase
from skilld.types import Message


def proposed(text: str) -> list[str]:
    found = Offline().detect([Message("fix the rounding", 1), Message("Done."), Message(text, 2)], [])
    return [one.change for one in found if one.confidence >= 0.5]


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("can we have a screenshot with each PR from now on?", "Have a screenshot with each PR."),
        ("could we keep the fixtures small from here on?", "Keep the fixtures small."),
        ("can I get a list of the files at the end from now on?", "Give me a list of the files at the end."),
        ("is it possible to write the docs in British English from now on?", "Write the docs in British English."),
        ("could the commit messages name the module from now on?", "The commit messages must name the module."),
    ],
)
def test_a_question_with_words_for_the_future_is_a_request(said: str, rule: str) -> None:
    assert proposed(said) == [rule]


@pytest.mark.parametrize(
    "said",
    [
        "can members log in with a passkey from now on?",
        "can the server send it in a header from now on?",
        "should we use bun from now on?",
        "will this break from now on?",
    ],
)
def test_a_question_about_the_product_or_for_advice_is_none(said: str) -> None:
    assert proposed(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "always have the linter running before you commit",
        "use fixtures instead of factories when you write tests, pls",
        "when you add anything to the public API, write a line in the upgrade guide",
        "when you add a flag leave an example in the help text",
        "after you rename a package, run the link checker",
        "add a row to the decisions table whenever you pick a library",
        "cuando crees un endpoint déjale un ejemplo en los docs",
        "quand tu me proposes une migration, joins le plan de retour",
        "wenn du was am Schema änderst, zeig mir vorher das Diagramm",
    ],
)
def test_what_holds_each_time_something_is_done_lasts(said: str) -> None:
    assert len(proposed(said)) == 1


@pytest.mark.parametrize(
    "said",
    [
        "when you are done, push it",
        "when you change the header, also fix the footer",
        "after you fix this, run it again",
        "if you add a member the counter goes up",
        "wenn du den Header änderst, mach auch den Footer",
        "cuando termines haz push",
    ],
)
def test_what_holds_for_this_time_does_not(said: str) -> None:
    assert proposed(said) == []


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        (
            "reword that, you wrote the name - client names must not show up in any commit message",
            "Client names must not",
        ),
        ("fix it, and from now on use full words in names", "Use full words in names."),
        ("rename it back, we always use nouns here", "Always use nouns here."),
    ],
)
def test_a_small_task_before_a_rule_is_no_part_of_it(said: str, rule: str) -> None:
    (change,) = proposed(said)
    assert change.startswith(rule)


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("we'll do it this way henceforth: if a chart changes, attach both versions", "If a chart changes"),
        ("please adopt this for all pages you write: no exclamation marks", "No exclamation marks."),
        ("retries must never be infinite, always remember that", "Retries must never be infinite."),
        ("retries must never be infinite. Don't ever forget that!", "Retries must never be infinite."),
        ("Beträge dürfen nie Floats sein, denk immer dran", "Beträge dürfen nie Floats sein."),
        ("les commits sont toujours en anglais, ne l'oublie jamais", "Les commits sont toujours en anglais."),
        (
            "let's make that a standing thing: any query you write has a limit, never 1000",
            "Any query you write has a limit",
        ),
        ("Regel für alle Skripte: keine absoluten Pfade", "Für alle Skripte: keine absoluten Pfade."),
        ("fica combinado daqui para a frente: nomes de tabela no singular", "Nomes de tabela no singular."),
        ("queda acordado: los nombres de tabla van en singular", "Los nombres de tabla van en singular."),
    ],
)
def test_the_words_that_announce_a_rule_are_no_part_of_it(said: str, rule: str) -> None:
    (change,) = proposed(said)
    assert change.startswith(rule)


@pytest.mark.parametrize(
    "said",
    [
        "the backup from monday is broken, restore it",
        "drag it from tuesday to wednesday and the truck stays on tuesday",
        "the report from this week is wrong, redo it",
        "now look for any other entries that differ",
        "search for all other usages and rename them",
    ],
)
def test_a_day_or_the_rest_of_a_list_is_no_time_from_which_on(said: str) -> None:
    assert proposed(said) == []


@pytest.mark.parametrize("said", ["from monday on, use the new linter", "so from monday all PRs get squashed"])
def test_a_day_from_which_on_is(said: str) -> None:
    assert len(proposed(said)) == 1


@pytest.mark.parametrize(
    "said",
    [
        "please don't mock the queue in tests, I said it last week",
        "no print statements in the scripts, I already told you",
        "I said it yesterday: no print statements in the scripts",
    ],
)
def test_a_ban_that_was_said_before_lasts(said: str) -> None:
    assert len(proposed(said)) == 1


def test_the_remark_that_it_is_meant_is_cut_whole() -> None:
    assert proposed("no plugins in my dotfiles, and I mean that for good") == ["No plugins in my dotfiles."]


def test_a_source_file_shows_that_the_work_is_meant() -> None:
    assert proposed("colours always come from theme.scss, never as hex in a widget")


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("write the summary first, always in English", "Write the summary first, always in English."),
        ("use short names, never more than three words", "Use short names, never more than three words."),
    ],
)
def test_the_second_half_of_a_rule_that_has_no_verb_stays_with_the_first(said: str, rule: str) -> None:
    assert proposed(said) == [rule]


def test_such_a_half_is_no_rule_where_the_first_is_none() -> None:
    assert proposed("the width is 40 in the lobby, but never more than 45 in the hall") == []


@pytest.mark.parametrize(
    "said",
    [
        "never upfront, they cost us 40 cents each",
        "but never after ten, the club closes at eleven",
        "pero nunca después de las diez",
        "the invoice number should go up by one for every new invoice",
        "when only a season is selected, then i want the table of all teams",
        "when clicking a button the list is updated, but the labels dont change",
        "haz que en el móvil se vea siempre",
        "please go on with the router so the app opens on the first page by default",
        "по умолчанию сайт будет открываться на второй вкладке",
        "make the site ready for tenants to come in",
        "in this repo here is the output of the last run",
        "everytime you open a page you have to choose the language again",
    ],
)
def test_what_nobody_asks_of_the_agent_is_not_proposed(said: str) -> None:
    assert proposed(said) == []


def test_it_is_kept_until_it_is_said_again() -> None:
    (found,) = Offline().detect([Message("never upfront, they cost 40 cents each", 1)], [])
    assert found.confidence == 0.45


@pytest.mark.parametrize(
    "turns",
    [
        ("always name the unit in constants", "the count has no unit but fine"),
        ("from now on, keep the domain words in French. The rest stays as before",),
        ("à partir de maintenant, garde les termes métier en français. Le reste en anglais comme avant.",),
    ],
)
def test_a_rule_that_later_words_only_touch_is_not_taken_back(turns: tuple[str, ...]) -> None:
    found = Offline().detect([Message(text, at) for at, text in enumerate(turns, 1)], [])
    assert [one.turn for one in found if one.confidence >= 0.5] == [1]


def test_want_is_because_only_in_dutch() -> None:
    """It cut such a rule behind "don": to the expression, the apostrophe ended the word before "want"."""
    said = 'when I use the tool I don’t want the "progress spinner"'
    (found,) = find_lasting(said)
    assert phrase(found).text == 'When I use the tool I don’t want the "progress spinner".'


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("I want the commits smaller from now on.", "Make the commits smaller."),
        ("from now on I'd like the commit messages more detailed", "Make the commit messages more detailed."),
        ("please, commits smaller from now on", "Make commits smaller."),
        ("from now on I want a dry run before every rollout", "Do a dry run before every rollout."),
        ("I always want a dry run before every rollout", "Always do a dry run before every rollout."),
        ("from now on we want a review before each merge", "Do a review before each merge."),
        ("I want a test for each bug fix, always", "Add a test for each bug fix."),
        ("from now on I want the diff before each commit", "Give me the diff before each commit."),
        ("from now on I expect a screenshot with every UI change", "Give me a screenshot with every UI change."),
        ("from now on I want every PR with a changelog entry", "I want every PR with a changelog entry."),
        ("from now on I want one commit per change", "I want one commit per change."),
        ("from now on keep the fixtures small", "Keep the fixtures small."),
        ("answers short please, from now on", "Answers short."),
    ],
)
def test_a_wish_without_a_verb_gets_a_certain_one_or_stays_as_it_was_said(said: str, rule: str) -> None:
    assert proposed(said) == [rule]
