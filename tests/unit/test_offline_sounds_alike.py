from __future__ import annotations

from skilld.classify.offline.detector import Match, find_lasting
from skilld.classify.offline.phrasing import phrase
from support.rows import for_each

LASTING = """
Always end with a short list of open questions
next time run the tests before you tell me it works
in future, keep the summary under five lines
I prefer small commits
I prefer tabs over spaces
I hate long answers
I'd rather not have default exports
ich mag kurze Antworten
me gustan las respuestas cortas
j'aime les réponses courtes
add a step: run the linter before committing
don't use mocks in integration tests
stop summarizing your own changes in every answer
when you commit, use conventional commits
don't over-engineer
prefer composition over inheritance
whenever you add a dependency, pin it
verify with evidence before claiming something works
every new endpoint needs a test
you should have asked me first
keep answers short
usa pnpm en vez de npm
réponds en français
не добавляй лишние комментарии
勝手にファイルを削除しないで
不要加注释
내 허락 없이 푸시하지 마
đừng commit khi chưa hỏi tôi
""".strip().splitlines()

PASSING = """
just this once, always skip the tests
only this once: never run the tests
solo por esta vez, siempre usa npm
这次先不要写测试
always use tabs?
is it a rule that commits must be signed?
so the linter never runs on the docs?
the button should always be visible
I prefer the second screenshot
I like the new button
I want more tests
I love our code base
I love short summaries, but this one is too short
I'd rather see a mockup before you touch the header
As a user, I want short answers
me gustan los colores
ich mag lange Spaziergänge
I don't like the bold
use the same colour as in the header
keep the old function, remove the new one
don't touch the header in this PR
make sure the header is always sticky
Let me know if you agree
keep going
Ask me any questions you have
users should never see the page without logging in
I said the file is broken
the import was never used
用户每次登录都要验证
버튼은 항상 보여야 해
nút luôn phải hiển thị
кнопка всегда должна быть видна
el botón siempre debe estar visible
der Button soll immer sichtbar sein
Buttons immer rechts anzeigen
zeige das Menü immer oben an
Nutzer müssen sich immer zuerst anmelden
muestra siempre el menú en la pantalla principal
siempre mostrar el precio en la tabla
los usuarios nunca deben ver la página sin iniciar sesión
mostra sempre o menu na tela inicial
o botão deve sempre ficar visível
affiche toujours le bouton en haut de la page
toujours afficher le prix dans le tableau
le bouton doit toujours être visible
mostra sempre il pulsante in alto
il pulsante deve sempre essere visibile
показывай всегда кнопку на главном экране
пользователь никогда не должен видеть эту страницу
tlačítko musí být vždy viditelné
zobrazuj vždy tlačítko nahoře
przycisk zawsze musi być widoczny
pokazuj zawsze przycisk na górze strony
luôn hiển thị nút ở đầu trang
trang phải luôn có menu
버튼을 항상 화면 위에 표시해줘
按钮必须始终显示在页面顶部
页面上始终显示价格
每次点击按钮都要刷新列表
""".strip().splitlines()


@for_each("said", LASTING)
def test_lasting_statements_are_heard(said: str) -> None:
    assert [match.quote for match in find_lasting(said)] == [said]


@for_each("said", PASSING)
def test_temporary_statements_are_not_heard(said: str) -> None:
    assert find_lasting(said) == []


def test_the_same_words_in_a_long_description_do_not_count() -> None:
    said = "don't use mocks in integration tests"
    described = said + ". " + " ".join(f"The page shows the orders of month {n}." for n in range(40))
    assert [match.quote for match in find_lasting(described)] == []


@for_each(
    ("said", "change"),
    [
        ("I prefer small commits", "Prefer small commits."),
        ("I like short answers", "Prefer short answers."),
        ("I can't stand emojis in commit messages", "No emojis in commit messages."),
        ("in general I'd rather see a plan before you write code", "Show me a plan before you write code."),
        ("add a step: run the linter before committing", "Run the linter before committing."),
        ("Always end with a short list of open questions", "Always end with a short list of open questions."),
        ("next time run the linter first", "Run the linter first."),
    ],
)
def test_a_heard_statement_becomes_an_instruction(said: str, change: str) -> None:
    assert [phrase(match).text for match in _find_matches(said)] == [change]
    assert all(phrase(match).clear for match in _find_matches(said))


def _find_matches(said: str) -> list[Match]:
    return find_lasting(said)
