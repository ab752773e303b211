from __future__ import annotations

from skilld.classify.backends import Spec, make_backend
from skilld.classify.offline.detector import find_lasting
from skilld.classify.offline.phrasing import phrase
from skilld.types import Message, SkillDoc
from support.rows import for_each

SKILL = SkillDoc(1, "release-notes", "/p/SKILL.md", "# Release notes\n\n- Past tense.\n", (0,))

LASTING = """
from now please answer me in German
fix the header, don't mention Claude in the commit messages
double-check the links before reporting back
verify the fix in the browser before you sign off
utilise pnpm au lieu de npm
verwende pnpm statt npm
usa pnpm invece di npm
use pnpm em vez de npm
используй pnpm вместо npm
用 pnpm 而不是 npm
npmではなくpnpmを使ってください
não adicione comentários
n'ajoute pas de commentaires
füge keine Kommentare hinzu
non aggiungere commenti
no añadas comentarios en el código
не добавляй комментарии
コメントは書かないでください
以后的回答都用中文
中文回答
以后都用中文回答可以吗？
提交代码时，先跑测试，记住
把这条规则写进 CLAUDE.md
từ giờ luôn trả lời bằng tiếng Việt
今後は日本語で回答してください
앞으로는 한국어로 답변해줘
la prochaine fois demande-moi avant de supprimer un fichier
¿puedes recordar siempre ejecutar los tests antes de hacer commit?
peux-tu toujours répondre en français ?
kannst du ab jetzt immer auf Deutsch antworten?
можешь впредь отвечать по-русски?
você pode sempre responder em português?
puoi sempre rispondere in italiano?
suas respostas devem ser em português
keep your language simple
keep it in english please
when I run the deploy command, look in notes.md first
you are not allowed to change the schema without a written decision
we are on Fedora
can you update ~/.claude/CLAUDE.md so that styles are not tested
add to the bottom of AGENTS.md that the API is frozen
во-первых, говори со мной на русском
сделай так, чтобы ты всегда отвечал по-русски
新增一条准则，不确定的事情要先询问
把这个流程记录下来
""".strip().splitlines()

ASKED = """
现在默认用的是哪个模型
规则是什么
你还记得我们的规则吗
每次提交都要测试吗
この設定は今後も使いますか
必ずテストは必要でしょうか
규칙이 뭐야
항상 테스트를 하나요
bộ nhớ của bạn ở đâu
bạn có luôn nhớ quy tắc không
siempre usas tabulaciones?
¿siempre hay que hacer commit?
sempre usi i tab?
sempre usa tabs?
verwendest du immer Tabs?
toujours rien dans la table, regarde les logs
toujours en panne ?
ты всегда используешь табы?
""".strip().splitlines()

OF_THE_MOMENT = """
默认模型设为 sonnet
以后的版本再说
停止服务
用之前那一版
记忆存在哪里
今後の対応策をまとめてください
vérifie que tout marche
ouvre le fichier pour que je le vérifie
ask me a question
just answer me
stop everything and answer
don't run the test
stop guessing and find the reason
remember to create the repository
write it down so that in future we can look it up
we keep it because in future we may need it
review it and make a plan going forward
ask me again
we never used that library
I am on Fedora and this is running in a container
每次你都显示错误的总数
下次打开程序时可以直接使用
记得检查列表的数量
一定要实现
""".strip().splitlines()


@for_each("said", LASTING)
def test_lasting_wishes_are_heard_in_every_language(said: str) -> None:
    assert find_lasting(said) != []


@for_each("said", ASKED)
def test_a_question_holds_no_rule_with_or_without_a_question_mark(said: str) -> None:
    assert find_lasting(said) == []


@for_each("said", OF_THE_MOMENT)
def test_a_one_time_instruction_is_not_heard(said: str) -> None:
    assert find_lasting(said) == []


@for_each(
    ("said", "change"),
    [
        ("I write in German, so from now please answer me in German", "Answer me in German."),
        ("I don't need comments in my code", "No comments in my code."),
        (
            "fix the header, don't mention Claude in the commit messages",
            "Do not mention Claude in the commit messages.",
        ),
        ("以后的回答都用中文", "回答都用中文。"),
        ("提交代码时，先跑测试，记住", "提交代码时，先跑测试。"),
        ("lưu vào bộ nhớ của bạn là tôi không biết lập trình", "Tôi không biết lập trình."),
    ],
)
def test_a_heard_wish_becomes_an_instruction(said: str, change: str) -> None:
    assert [(phrase(match).text, phrase(match).clear) for match in find_lasting(said)] == [(change, True)]


def test_text_without_full_stops_is_heard_too() -> None:
    said = "so I looked at the page and the list is still empty" + ", and the filter does nothing at all" * 7
    matches = find_lasting(f"{said}, keep it in english please, the page is at the old address")
    assert [match.quote for match in matches] == ["keep it in english please"]


def test_plain_words_in_a_list_of_steps_are_kept_but_not_proposed() -> None:
    steps = "\n".join(f"{n}. write part {n} of the report" for n in range(1, 5))
    assert [match.strength for match in find_lasting(f"{steps}\n5. Never push to main")] == [0.45]


def test_a_request_in_a_question_becomes_an_instruction() -> None:
    (match,) = find_lasting("kannst du ab jetzt immer auf Deutsch antworten?")
    assert (phrase(match).text, phrase(match).clear) == ("Immer auf Deutsch antworten.", True)


def test_plain_words_in_the_longest_turns_are_kept_but_not_proposed() -> None:
    pasted = " ".join(f"Section {n} says how the orders of month {n} are shown." for n in range(20))
    assert [match.strength for match in find_lasting("from now on always run the linter")] == [0.85]
    assert [match.strength for match in find_lasting(f"{pasted} From now on always run the linter.")] == [0.45]
    assert [match.strength for match in find_lasting("订单页面显示每个月的数据。" * 30 + "以后都用中文回答。")] == [
        0.45
    ]


HABITS = """
why do you keep adding comments?
why do you always rewrite the whole file
why did you touch the tests again?
¿por qué siempre borras los comentarios?
por que você sempre cria arquivos novos?
pourquoi tu changes toujours le style ?
warum fügst du immer wieder Kommentare hinzu?
perché riscrivi sempre tutto il file?
почему ты каждый раз удаляешь комментарии?
你怎么老是改别的文件
왜 자꾸 주석을 지워?
sao bạn cứ thêm comment vậy?
""".strip().splitlines()

TOLD = """
I work on windows.
we're on Python 3.9
I'm on windows 11 btw
our CI has no network
my laptop has 8GB of RAM
I don't have sudo on this machine
we use Node 18 here
FWIW I use the fish shell
remember we currently are on a Mac
the tools I use are brew, nvim and uv
je suis sous windows
我用的是windows
私はWindowsを使っています
저는 윈도우를 써요
""".strip().splitlines()


@for_each("said", [*HABITS, *TOLD])
def test_blamed_habits_and_passing_facts_are_kept_but_not_proposed(said: str) -> None:
    (match,) = find_lasting(said)
    assert min(match.strength, 0.4 if not phrase(match).clear else 1) < 0.5


@for_each(
    "said",
    [
        "always the same error",
        "don't run the tests, they take forever",
        "we agreed to ship on friday",
        "let's agree on the schema first",
        "we don't use that module anymore, delete it",
        "ask before you overwrite the file",
        "why do you get the error again?",
        "¿por qué siempre falla el test?",
        "pourquoi le bouton est toujours caché ?",
        "为什么总是报错",
        "我们现在在第3步",
        "we're on step 3",
        "we're on Python 3.9 and the page is empty",
        "our CI is broken",
        "I'm using windows and get an error",
        "as a default there should be as many games as there are rounds",
        "you still return 6 for all games, no matter what",
        "use any libraries if you need to",
        "feel free to rename things from now on",
        "ロゴは常に回転させてほしい",
        "数字は必ず中央に置いて",
    ],
)
def test_look_alikes_of_facts_habits_and_rules_are_not_heard(said: str) -> None:
    assert find_lasting(said) == []


@for_each(
    ("said", "quote"),
    [
        ("te equivocaste, siempre hay que correr los tests antes", "Siempre hay que correr los tests antes."),
        ("está errado, sempre rode os testes antes", "Sempre rode os testes antes."),
        ("c'est faux, il faut toujours lancer les tests avant", "Il faut toujours lancer les tests avant."),
        ("das war falsch, führe immer erst die Tests aus", "Führe immer erst die Tests aus."),
        ("è sbagliato, lancia sempre prima i test", "Lancia sempre prima i test."),
        ("неправильно, всегда запускай сначала тесты", "Всегда запускай сначала тесты."),
        ("špatně, vždy nejdřív spusť testy", "Vždy nejdřív spusť testy."),
        ("źle, zawsze najpierw uruchom testy", "Zawsze najpierw uruchom testy."),
        ("sai rồi, luôn chạy test trước khi commit", "Luôn chạy test trước khi commit."),
        ("你错了，以后都用pnpm安装依赖", "用pnpm安装依赖。"),
        ("틀렸어, 항상 테스트를 먼저 실행해", "항상 테스트를 먼저 실행해."),
    ],
)
def test_a_rule_after_an_objection_is_a_separate_instruction(said: str, quote: str) -> None:
    assert [(phrase(match).text, phrase(match).clear) for match in find_lasting(said)] == [(quote, True)]


@for_each(
    ("said", "heard"),
    [
        ("Never push to main. Unless I ask.", "Never push to main. Unless I ask."),
        ("Always sign the commits.\nExcept for merges.", "Always sign the commits.\nExcept for merges."),
        ("Always run the tests. Not for the docs.", "Always run the tests. Not for the docs."),
        ("Use British spelling. Always.", "Use British spelling. Always."),
        ("Nunca hagas push a main. Salvo que yo lo pida.", "Nunca hagas push a main. Salvo que yo lo pida."),
        ("Push niemals auf main. Außer ich sage es.", "Push niemals auf main. Außer ich sage es."),
        ("以后提交前先跑测试。除非我说不用。", "以后提交前先跑测试。除非我说不用。"),
        ("call it with uv run and not python, from now on", "call it with uv run and not python, from now on"),
        ("Always run the tests. The page is empty.", "Always run the tests."),
        ("用中文回答，我如何切换模型", "用中文回答"),
    ],
)
def test_a_quote_ends_exactly_where_the_rule_does(said: str, heard: str) -> None:
    assert [match.quote for match in find_lasting(said)] == [heard]


@for_each(
    "said",
    [
        "Als letzten Schritt immer den Formatter ausführen.",
        "Wenn du fertig bist, immer eine Zusammenfassung ausgeben.",
        "Como último paso, ejecuta siempre el formateador.",
        "À la fin, liste toujours les questions ouvertes.",
        "Alla fine elenca sempre le domande aperte.",
        "No final, lista sempre as perguntas abertas.",
        "Als laatste stap altijd de formatter draaien.",
        "Jako ostatni krok zawsze uruchom formatter.",
        "Jako poslední krok vždy spusť formátovač.",
        "最后总是先运行测试。",
    ],
)
def test_when_in_the_work_a_rule_applies_stays_part_of_it(said: str) -> None:
    """The words before it neither hide the rule nor are they cut off."""
    updates, _ = make_backend(Spec("offline")).detect([Message(said, 1, "t1")], [SKILL])
    assert [(update.change, update.confidence) for update in updates] == [(said, 0.8)]


@for_each(
    "said", ["Zum Schluss ist immer alles rot.", "Al final siempre falla el test.", "À la fin, ça plante toujours."]
)
def test_what_happens_at_the_end_is_no_rule(said: str) -> None:
    assert make_backend(Spec("offline")).detect([Message(said, 1, "t1")], [SKILL])[0] == []
