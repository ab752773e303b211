"""Temporary wishes are kept and not proposed, and so is a change that refers to something unnamed."""

from __future__ import annotations

from collections.abc import Sequence

from skilld.classify.offline.detector import find_lasting
from skilld.classify.offline.grammar import languages
from skilld.classify.subject import points_elsewhere
from skilld.classify.verify import TEMPORARY_REASON, is_temporary, verify
from skilld.types import Kind, Message, SkillDoc, Update
from support.rows import for_each

DOC = SkillDoc(1, "notes", "/p/SKILL.md", "# Notes\n\n- Past tense.\n")


@for_each(
    "said",
    [
        "use sqlite for now",
        "for the time being all pull requests go to develop",
        "so far we only build for linux",
        "deploys are done by hand at the moment",
        "just this once, skip the linter",
        "bitte vorerst keine neuen Abhängigkeiten",
        "por ahora usa siempre npm",
        "por enquanto deixe os testes de lado",
        "pour l'instant on reste sur la version 2",
        "per ora usiamo sqlite",
        "пока что используем sqlite",
        "zatím používej npm",
        "na razie używaj npm",
        "gebruik voorlopig npm voor het bouwen",
        "とりあえずテストは書かないでください",
        "당분간 npm을 사용해 주세요",
        "tạm thời dùng npm",
        "şimdilik npm kullan",
        "暂时都用 sqlite",
        "filhal npm use karo",
    ],
)
def test_temporary_wishes_are_recognized_in_every_language(said: str) -> None:
    assert is_temporary(said, said)
    assert not find_lasting(said), "offline too"


@for_each(
    "said",
    [
        "from now on use pnpm",
        "as of now, releases are tagged by me",
        "not just for now: use pnpm always",
        "stop doing that right now",
        "ab jetzt immer pnpm",
        "a partir de ahora usa pnpm",
        "desde agora use pnpm",
        "désormais utilise pnpm",
        "с этого момента используй pnpm",
        "пока я не скажу, ничего не удаляй",
        "从现在起都用 pnpm",
        "今後は pnpm を使ってください",
        "이제부터 pnpm을 써 주세요",
    ],
)
def test_wishes_that_hold_from_now_on_are_not_temporary(said: str) -> None:
    assert not is_temporary(said, said)


@for_each(
    ("rule", "scope"),
    [
        ("Check the layout on the small phone too", "not just this time"),
        ("Prüf das Layout auch auf dem kleinen Telefon", "nicht nur diesmal"),
        ("Revisa también el diseño en el móvil pequeño", "no solo esta vez"),
        ("Vérifie aussi la mise en page sur le petit téléphone", "pas seulement cette fois"),
        ("Controlla il layout anche sul telefono piccolo", "non solo questa volta"),
        ("Verifique o layout também no celular pequeno", "não só desta vez"),
        ("Controleer de lay-out ook op de kleine telefoon", "niet alleen deze keer"),
        ("Sprawdzaj układ też na małym telefonie", "nie tylko tym razem"),
        ("Kontroluj rozložení i na malém telefonu", "nejen tentokrát"),
        ("Проверяй вёрстку и на маленьком телефоне", "не только в этот раз"),
        ("Düzeni küçük telefonda da kontrol et", "sadece bu sefer değil"),
        ("Kiểm tra bố cục trên điện thoại nhỏ nữa", "không chỉ lần này"),
        ("layout chhote phone par bhi check karo", "sirf is baar nahi"),
        ("レイアウトは小さい端末でも確認して", "今回だけじゃなくて毎回ね"),
        ("레이아웃은 작은 폰에서도 확인해 주세요", "이번만 말고 쭉이요"),
        ("布局也要在小手机上检查", "不只是这次"),
    ],
)
def test_not_just_this_time_is_the_opposite_of_this_time(rule: str, scope: str) -> None:
    for said in (f"{rule}, {scope}.", f"{rule}. {scope}."):
        assert not is_temporary(said, said)
        assert find_lasting(said), "offline too"


def test_words_for_now_about_something_else_do_not_count_beside_lasting_ones() -> None:
    said = "two outsiders sent patches this time, they get a thank-you line in the notes, same whenever there are some"
    change = "Write a thank-you line in the notes."
    assert _judged(said, said, change) == ([change], [])
    assert _judged(said.replace(", same whenever there are some", ""), "they get a thank-you line", change)[0] == []
    quote, alike = said.partition(", ")[2], "Write a thank-you line for outsiders who sent patches in the notes."
    assert _judged(said, quote, alike) == ([alike], [])
    assert _judged(said, said, alike)[0] == []


def test_every_language_has_words_for_it() -> None:
    for name in ("meanwhile", "not_once"):
        assert [code for code, language in languages().items() if not language.lists.get(name)] == []


def _judged(typed: str, quote: str, change: str) -> tuple[Sequence[str], Sequence[str]]:
    update = Update(1, "", change, "", Kind.PREFERENCE, 1, quote, 0.95)
    verdict = verify([update], [Message(typed, turn=1, turn_key="t1")], [DOC])
    return [item.update.change for item in verdict.proposed], [why for _, why in verdict.learned]


def test_a_models_answer_dropping_for_now_is_kept_but_not_proposed() -> None:
    typed = "let us use sqlite for the database for now. And write the readme in English, always."
    assert _judged(typed, "use sqlite for the database", "Use SQLite for the database.") == ([], [TEMPORARY_REASON])
    right = "Write the readme in English, always."
    assert _judged(typed, "write the readme in English, always", right) == ([right], []), "the next sentence holds"


@for_each(
    ("change", "pointing"),
    [
        ("Recognize this kind of test.", True),
        ("Format tables like this.", True),
        ("Never write such a test.", True),
        ("Follow the above order.", True),
        ("For this function only, always round half up.", True),
        ("Immer aufrunden, aber nur in dieser Klasse.", True),
        ("Pour cette fonction, arrondis toujours vers le haut.", True),
        ("この関数だけは常に切り上げること。", True),
        ("Keep the old names. Write new ones like that.", True),
        ("Read the sheet with semicolons: the lab exports like that and it will stay that way.", False),
        ("Add a docstring to every function that takes money.", False),
        ("Keep this file below 200 lines.", False),
        ("Use the pnpm of this repository.", False),
        ("Use tools such as ruff.", False),
        ("Name files like the ones in src/lib.", False),
        ("Answer in the kind of English that the style guide asks for.", False),
    ],
)
def test_a_change_that_refers_to_something_unnamed_is_recognized(change: str, *, pointing: bool) -> None:
    assert points_elsewhere(change) is pointing
    proposed, learned = _judged(change, change, change)
    assert (proposed, bool(learned)) == ([] if pointing else [change], pointing)
