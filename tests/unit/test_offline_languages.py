from __future__ import annotations

import pytest

from skilld.classify.offline.listen import listen
from skilld.classify.offline.phrasing import phrase

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


@pytest.mark.parametrize("said", LASTING)
def test_what_lasts_is_heard_in_every_language(said: str) -> None:
    assert listen(said) != []


@pytest.mark.parametrize("said", ASKED)
def test_a_question_holds_no_rule_with_or_without_its_mark(said: str) -> None:
    assert listen(said) == []


@pytest.mark.parametrize("said", OF_THE_MOMENT)
def test_an_order_for_the_moment_is_not_heard(said: str) -> None:
    assert listen(said) == []


@pytest.mark.parametrize(
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
def test_what_is_heard_becomes_an_instruction(said: str, change: str) -> None:
    assert [(phrase(one).text, phrase(one).clear) for one in listen(said)] == [(change, True)]


def test_who_sets_no_full_stops_is_heard_too() -> None:
    said = "so I looked at the page and the list is still empty" + ", and the filter does nothing at all" * 7
    heard = listen(f"{said}, keep it in english please, the page is at the old address")
    assert [one.quote for one in heard] == ["keep it in english please"]


def test_of_a_list_of_steps_even_plain_words_are_only_kept() -> None:
    steps = "\n".join(f"{n}. write part {n} of the report" for n in range(1, 5))
    assert [one.strength for one in listen(f"{steps}\n5. Never push to main")] == [0.45]


def test_a_request_in_a_question_is_kept_and_not_proposed() -> None:
    (heard,) = listen("kannst du ab jetzt immer auf Deutsch antworten?")
    assert not phrase(heard).clear


def test_in_the_longest_turns_even_plain_words_are_only_kept() -> None:
    pasted = " ".join(f"Section {n} says how the orders of month {n} are shown." for n in range(20))
    assert [one.strength for one in listen("from now on always run the linter")] == [0.85]
    assert [one.strength for one in listen(f"{pasted} From now on always run the linter.")] == [0.45]
    assert [one.strength for one in listen("订单页面显示每个月的数据。" * 30 + "以后都用中文回答。")] == [0.45]
