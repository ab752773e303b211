from __future__ import annotations

import subprocess
import sys

import pytest

from skilld.classify.backends.offline import Offline
from skilld.classify.offline.detector import find_lasting, find_practices, find_retractions
from skilld.classify.offline.grammar import KEPT_STRENGTH, Cue, languages
from skilld.classify.offline.product import likely_languages
from skilld.classify.offline.release import taking_back
from skilld.types import Kind, Message, Update
from support.rows import for_each

LASTING = """
From now on, run the formatter before you hand anything back.
going forward please keep migrations in their own commit
Always put a blank line between the sections of the notes
never push straight to main
Never, ever commit secrets.
you should always cite the issue in the PR body
don't ever delete my branches
stop adding co-author lines to commits
no more emojis in the changelog please
Remember: staging deploys need the VPN
add this to the skill: entries are sorted by area
Can you add that to AGENTS.md?
Make it a rule to link the ticket in each commit message
next time use the template in docs/
every time you add an endpoint, add it to the API docs too
before every commit, run make lint
run the type checker after each change
I always want the diff before you commit
I never want to see generated files in a PR
I don't want you to touch the lockfile
in this repo we never use default exports
our convention is to name branches after the ticket
Do not commit unless I ask you to
only push when I tell you to
ask me before running anything against production
Could you always answer in bullet points?
i keep telling you to use the staging database
always reply in Spanish please
don't make assumptions, ask
When I say "ship it" you should tag and push
if you are not sure about a name, ask me
use pnpm, not npm
commit messages should be in the imperative mood
all PRs must target develop
the lockfile should never be edited by hand
you keep forgetting to update the changelog
Yes, always.
use tabs from now on
De ahora en adelante escribe los commits en inglés
Nunca borres archivos sin preguntarme
no vuelvas a tocar ese archivo de configuración
deja de añadir comentarios obvios
Agrega esto a las reglas: nada de emojis
a partir de agora, use sempre aspas simples
nunca faça push direto na main
lembre-se de sempre perguntar antes de apagar algo
Ab sofort bitte alle Commit-Nachrichten auf Englisch
Immer zuerst die Tests laufen lassen, dann committen
Lösche nie etwas, ohne mich vorher zu fragen
Merk dir: der Build läuft nur mit Node 20
à partir de maintenant, réponds toujours en français
ne commit jamais sans me demander
n'oublie pas de toujours lancer les tests
d'ora in avanti scrivi i commit in inglese
non usare mai le abbreviazioni
С этого момента пиши коммиты на английском
всегда запускай тесты перед коммитом
никогда не пушь в main
запомни: деплой только через CI
не удаляй ничего без моего разрешения
od teď piš commity anglicky
nikdy nemaž soubory bez zeptání
zawsze uruchamiaj testy przed commitem
nigdy nie pushuj do main
từ giờ trở đi luôn viết commit bằng tiếng Anh
从现在开始，提交信息都用英文
以后改代码之前先跑测试
永远不要直接推送到 main
记住，我们用的是 pnpm
未经我同意不要删除任何文件
今後はコミットメッセージを英語で書いてください
mainには絶対に直接pushしないで
勝手にファイルを消さないで
앞으로 커밋 메시지는 영어로 써줘
절대 main에 바로 푸시하지 마
as a last step, always update the changelog
To finish, always summarize what you changed.
Lastly, always run the linter.
When done, always run the type checker.
내 허락 없이 파일 지우지 마
"""
PASSING = """
thanks, that works
why does this always fail on CI?
it never worked on my machine
the button should always be visible
Users must never see the raw error
invalid themes must never crash the app
never mind, found it
I always forget how rebase works
it's always the same stack trace
make sure the header is always sticky
fix the typo in the README
should we always validate on the server?
do you remember which branch we were on?
next time I'll write the spec myself
in the future we might support Windows
every time I click save the page reloads
for now just always return true
just this once, skip the hooks
stop the server
don't forget to export the function
remember to update the import in app.ts too
The log says "you should always run this as root"
My colleague said we must never use lodash here, is he right?
Add a rule to the firewall for port 443
create a rule engine with three operators
Implement an alert that always fires when the queue is full
the API should never return null for this field
You never sent me the link
we use React and Postgres in this project, build me a login page
show me the skills you have
From now on the endpoint returns 404 for unknown users
nunca funciona en mi máquina
los usuarios nunca deben ver el error
¿siempre falla en CI?
la próxima vez que el usuario entre, muestra el aviso
sempre dá o mesmo erro
por enquanto deixe sempre ligado
es kommt immer der gleiche Fehler
der Knopf muss immer sichtbar sein
le bouton doit toujours être visible
il bottone deve essere sempre visibile
всегда падает с одной и той же ошибкой
кнопка всегда должна быть видна
tlačítko musí být vždy vidět
przycisk musi być zawsze widoczny
为什么每次都失败？
用户永远不能看到原始错误
总是报同样的错误
毎回同じエラーが出ます
今回だけ必ず英語で書いて
At the end, the server always crashes.
As a last step, it always fails.
In the end, always the same error.
To finish the login page, always show the error below the field.
When done, the user always sees a banner.
항상 같은 에러가 나
이번에만 영어로 써줘
"""


@for_each("text", LASTING.strip().splitlines())
def test_lasting_statements_are_heard(text: str) -> None:
    assert find_lasting(text)


@for_each("text", PASSING.strip().splitlines())
def test_temporary_statements_are_not_heard(text: str) -> None:
    assert find_lasting(text) == []


def test_a_statement_is_located_in_its_turn() -> None:
    text = "Great.\n\n- Fix the header\n- ok, never commit “generated” files, and always sign the tag."
    matches = find_lasting(text)
    assert [match.quote for match in matches] == ["ok, never commit “generated” files", "always sign the tag."]
    assert [text[match.start : match.start + len(match.quote)] for match in matches] == [
        match.quote for match in matches
    ]


@for_each(
    "text",
    [
        "commit messages: always imperative mood, never past tense",
        "branch names: always lowercase, never underscores",
        "Commit messages: never emojis, always the ticket first.",
    ],
)
def test_a_topic_before_a_colon_applies_to_everything_after_it(text: str) -> None:
    """Without it "never past tense" would hold for everything that is written."""
    assert [match.quote for match in find_lasting(text)] == [text]


def test_a_list_below_words_of_time_is_a_list_of_rules() -> None:
    matches = find_lasting("From now on:\n- use tabs\n\n- single quotes in all strings\nFix the login.")
    assert [(match.quote, match.cue) for match in matches] == [
        ("use tabs", Cue.LASTING),
        ("single quotes in all strings", Cue.LASTING),
    ]
    assert find_lasting("For now:\n- use tabs\n- no semicolons here") == []
    assert find_lasting("From now on:\n- the button is blue\n- users see a banner") == []


def test_the_strongest_wording_counts() -> None:
    (match,) = find_lasting("from now on, stop adding emojis to commits")
    assert (match.cue, match.strength) == (Cue.LASTING, 0.85)


def test_in_a_task_only_explicit_requests_to_remember_count() -> None:
    task = "Create a page for invoices. Always keep the total in view. "
    assert find_lasting(task) == []
    matches = find_lasting(task + "Add a rule to CLAUDE.md: money is stored in cents.")
    assert [match.cue for match in matches] == [Cue.MEMORY]


def test_a_long_description_is_a_task_too() -> None:
    story = "The importer reads each file once and keeps the rows it could not parse in a table. " * 9
    assert find_lasting(story + "Never drop rows.") == []


@pytest.mark.parametrize("steps", [2, 5])
def test_an_introduction_to_steps_between_tags_is_part_of_a_prompt(steps: int) -> None:
    """Said once, it is kept: a prompt of an agent's is sent again and again, and nobody means it for good."""
    prompt = 'You are the reviewer now. Never leave this part until told so.\n\n<part level="1">\n'
    (match,) = find_lasting(prompt + "".join(f"{step}. Read file {step}\n" for step in range(1, steps + 1)) + "</part>")
    assert (match.strength < 0.5) is (steps > 3)


def test_a_chinese_list_needs_no_space_after_its_numbers() -> None:
    answer = "\n".join(f"{number}、每次提交前必须先运行测试{number}" for number in range(1, 6))
    assert [match for match in find_lasting(answer) if match.strength >= 0.5] == find_practices(answer) == []


def test_the_agents_words_repeated_are_not_heard() -> None:
    agent = "I will remember this: always run the linter before committing."
    assert find_lasting("I will remember this: always run the linter before committing.", [agent]) == []
    assert find_lasting("always run the linter before committing", ["Done."])


def test_an_overlong_sentence_is_not_a_rule() -> None:
    assert find_lasting("always use " + "very " * 120 + "short names") == []


@for_each(
    ("text", "codes"),
    [
        ("always use pnpm", ["en"]),
        ("nunca borres los archivos", ["en", "es"]),
        ("пиши на русском", ["ru", "en"]),
        ("以后用 pnpm", ["zh", "en"]),
        ("これから使って", ["ja", "en"]),
        ("항상", ["ko", "en"]),
    ],
)
def test_the_language_is_detected_by_script_and_function_words(text: str, codes: list[str]) -> None:
    assert [language.code for language in likely_languages(text)] == codes


@for_each(
    "text",
    [
        "actually forget what I said about the ticket number",
        "scratch that",
        "never mind the rule about tabs",
        "olvídate de eso",
        "vergiss das mit den Tabs",
        "забудь про эмодзи",
        "算了，不用了",
        "さっきのはなしで、忘れて",
        "아까 말한 건 취소",
    ],
)
def test_a_retraction_is_heard_as_one(text: str) -> None:
    assert find_retractions(text)
    assert find_lasting(text) == []


@for_each(
    "text",
    [
        "ah massa, não sabia.",
        "legal, não lembrava disso",
        "vale, no sabía",
        "bello, non lo sapevo",
        "schön, nicht gewusst",
    ],
)
def test_what_the_person_did_not_know_is_not_a_practice(text: str) -> None:
    assert [one.cue for one in find_practices(text) if one.cue is Cue.PRACTICE] == []


@for_each(
    "text",
    [
        "lass das erstmal so",
        "lass es so, passt",
        "déjalo así por ahora",
        "laisse comme ça",
        "laat maar zo",
        "zostaw tak jak jest",
        "оставь как есть",
        "öyle kalsın",
        "leave it like that",
    ],
)
def test_leaving_something_as_it_is_takes_no_rule_back(text: str) -> None:
    assert find_retractions(text) == []


def test_a_ban_on_rolling_back_is_not_a_retraction() -> None:
    assert [one.quote for one in find_lasting("never roll back without telling me why")] != []
    assert find_retractions("ok, roll that back please") != []


@for_each(
    "text",
    [
        "der rollout bleibt immer bei 80% hängen",
        "der worker stirbt immer bei großen dateien",
        "le build plante toujours sur la CI",
        "el deploy siempre se cuelga en el último paso",
        "il job si blocca sempre di notte",
        "o build trava sempre no CI",
    ],
)
def test_what_always_fails_is_not_a_rule(text: str) -> None:
    assert [one.quote for one in find_lasting(text) if one.strength > KEPT_STRENGTH] == []


def test_every_language_has_openers_and_retractions() -> None:
    assert [language.code for language in languages().values() if not language.cue_forms] == []
    assert [language.code for language in languages().values() if language.retracts.expression.pattern == "(?!)"] == []
    assert len(languages()) == 16


def test_no_language_is_compiled_before_the_first_turn() -> None:
    program = (
        "from skilld.classify.backends.offline import Offline; from skilld.classify.offline import grammar;"
        "from skilld.types import Message; print(grammar.languages.cache_info().currsize);"
        "Offline().detect([Message('use tabs from now on', turn=1)], []);"
        "print(sorted(one.code for one in grammar.languages().values() if 'cue_forms' in vars(one)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n")[:2] == ["0", "['en']"]


def test_a_gap_nobody_types_ends_the_statement() -> None:
    said = "From now on always sort the entries"
    assert [match.quote for match in find_lasting(said + " " * 300 + "x")] == [said]


@for_each(
    "said",
    [
        "the tool must always write utf-8 and never overwrite existing files",
        "das tool soll immer utf-8 schreiben und nie bestehende dateien überschreiben",
        "el script siempre debe avisar y nunca borrar filas",
    ],
)
def test_a_product_requirement_is_no_rule_for_the_agent_after_an_and(said: str) -> None:
    assert find_lasting(said) == []


@for_each(
    ("change", "said", "takes_back"),
    [
        ("Always put the ticket number first.", "Ok. Forget what I said about the ticket number.", True),
        ("Always put the ticket number first.", "the ticket number isn't needed any more", True),
        ("Always put the ticket number first.", "Please don't put the ticket number first any more.", True),
        ("Never log the customer number.", "no need for the customer number in the log anymore", False),
        ("Always put the ticket number first.", "for now we don't need the ticket number any more", False),
        ("Always put the ticket number first.", "for now, forget the ticket number", False),
        ("Always put the ticket number first.", "the ticket table is no longer broken", False),
        ("Always put the ticket number first.", "forget about the broken billing ticket export script", False),
        ("Always put the ticket number first.", "never mind", False),
        ("Always put the ticket number first.", "Don't forget the ticket number!", False),
        ("Always put the ticket number first.", "remove the ticket number from the second entry", False),
        ("Always put the ticket number first.", "nah, drop the ticket idea", True),
        ("Always put the ticket number first.", "drop the ticket thing from the sidebar", False),
        ("Keep each feature in a folder of its own.", "hm, forget the folder idea", True),
        ("Od teraz nazwy plików zawsze z małej litery.", "cofam nazwy plików, zostaw jak były", True),
        ("Zawsze pisz testy w pytest.", "cofam to z testami, zostaw jak były", True),
        ("Zawsze pisz testy w pytest.", "cofam, zostaw jak były", False),
        ("Zawsze pisz testy w pytest.", "cofam zmianę w nagłówku, zostaw jak był", False),
        ("Always put the ticket number first.", "you can drop the ticket number again", True),
        ("Always put the ticket number first.", "Thanks. Leave the ticket number out from now on.", True),
        ("Always put the ticket number first.", "the ticket number can go again", True),
        ("Always put the ticket number first.", "you dropped the ticket number again", False),
        ("Always put the ticket number first.", "why did you leave the ticket number out again?", False),
        ("Always put the ticket number first.", "never leave the ticket number out again", False),
        ("Always put the ticket number first.", "drop the ticket number column from the table again", False),
        ("Die Ticketnummer immer zuerst nennen.", "die Ticketnummer kannst du wieder weglassen", True),
        ("Die Ticketnummer immer zuerst nennen.", "die Ticketnummer ist schon wieder weg", False),
        ("Mets toujours le numéro du ticket.", "tu peux de nouveau enlever le numéro du ticket", True),
        ("Pon siempre el número de ticket primero.", "ya puedes quitar el número de ticket", True),
        ("总是把工单号放在最前面。", "以后工单号可以去掉了", True),
        ("Die Ticketnummer immer zuerst nennen.", "vergiss das mit der Ticketnummer", True),
        ("Die Ticketnummer immer zuerst nennen.", "vergiss die Ticketnummer nicht", False),
        ("Zet altijd het ticketnummer vooraan.", "vergeet het ticketnummer niet", False),
        ("Pon siempre el número de ticket primero.", "olvida lo del número de ticket", True),
        ("Pon siempre el número de ticket primero.", "no olvides el número de ticket", False),
        ("Всегда ставь номер тикета первым.", "забудь про номер тикета", True),
        ("Всегда ставь номер тикета первым.", "не забудь номер тикета", False),
        ("Numer zgłoszenia zawsze na początku.", "nie zapomnij o numerze zgłoszenia", False),
        ("总是把工单号放在最前面。", "忘掉我说的工单号", True),
    ],
)
def test_later_words_take_a_rule_back_only_by_naming_it(change: str, said: str, *, takes_back: bool) -> None:
    rule = Update(1, "", change, "", Kind.PREFERENCE, 1, change)
    assert bool(taking_back(said, rule)) is takes_back


@for_each(
    ("said", "changes"),
    [
        ("range les tests dans tests/ et n'utilise jamais npm", ["N'utilise jamais npm."]),
        ("et n'utilise plus jamais lodash", ["N'utilise plus jamais lodash."]),
        ("désormais, utilise pnpm et n'utilise jamais npm", ["Utilise pnpm et n'utilise jamais npm."]),
        ("mueve los archivos y no uses nunca npm", ["No uses nunca npm."]),
        ("n'en parle plus maintenant", []),
        ("always end every paragraph with a full stop", ["Always end every paragraph with a full stop."]),
        ("always start the game with a tutorial", []),
        ("I told you already. What is next?", []),
        ("remember to fix the bug first", []),
    ],
)
def test_a_rule_is_heard_behind_a_task_and_in_short_forms(said: str, changes: list[str]) -> None:
    assert [update.change for update in Offline().detect([Message(said, 1)], [])] == changes


def test_what_to_remember_to_do_is_kept_but_not_proposed() -> None:
    (update,) = Offline().detect([Message("also remember to update the changelog as well", 1)], [])
    assert (update.change, update.confidence < 0.5) == ("Update the changelog as well.", True)


@for_each(
    "said",
    [
        "great, and always post it in the channel? no, leave that, I do it",
        "from now on, always squash the commits? no, rather not",
        "Sollen wir ab jetzt immer rebasen? Nein, lass das.",
        "always tag the release next time? nope.",
    ],
)
def test_who_answers_their_own_question_with_no_has_asked_for_nothing(said: str) -> None:
    assert Offline().detect([Message(said, turn=1)], []) == []


def test_a_no_that_begins_a_wish_is_no_answer() -> None:
    found = Offline().detect([Message("can you always use pnpm? no npm please", turn=1)], [])
    assert any("pnpm" in update.change for update in found)
