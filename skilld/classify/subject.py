"""The subject of a change: fills a pronoun from the words before it, or reports that it refers to nothing. Pure.

"No, always put it first" says nothing once it is in a file. Only the person's words directly before, or the offer they
agreed to, may fill the pronoun, and only if a single thing can be meant.
"""

from __future__ import annotations

import re

from skilld.words import content_stems

_BEFORE = r"""\W*(?:(?:always|never|please|do\ not|don't|dont|only|also|just|instead|make\ sure|be\ sure|to|you|we|must
    |should|not|and|then|first|from\ now\ on|next\ time|in\ (?:the\ )?future)\W+){0,5}"""
# Only a verb is before the pronoun, so the change has no noun that it could refer to.
_PRONOUN = re.compile(
    rf"""^(?!{_BEFORE}(?:stop|quit|cut|knock)\ it\ (?:out\ |off\ )?with\b)
        {_BEFORE}[a-z]+(?:\ (?:up|down|out|off|in|on|to|for|with|over|at))?\ (?P<it>it|them
        |one(?=\ (?:to|in|for|with|without|on|from|at|until|unless|when|if)\b|\W*$))\b
        (?!'|\ (?:is|was|has|should|a\ \w+)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_FOREIGN_PRONOUN = re.compile(
    r"""^\W*(?:(?:siempre|nunca|sempre|mai|jamais|immer|nie|toujours|por\ favor|bitte|всегда|никогда|请|以后|总是)
        \W*){0,3}(?:
      (?:pon|haz|usa|escribe|deja|mete|guarda|manda|borra)(?:lo|la|los|las)
    | (?:metti|fai|usa|scrivi|lascia|tieni|manda)(?:lo|la|li|le)
    | [a-zà-ÿ]+-(?:o|os|as|lo|los|las|le|les)
    | (?:mach|setz|schreib|stell|leg|pack|lass|nimm)e?\ (?:es|ihn|sie)
    | [а-яё]+\ (?:его|её|их)
    | (?:把|将)它 | それを | 그걸 | 그것을)(?!\w)
    # "mettilo sempre, il conto" says what
    (?!\ ?\w*,\ (?:il|la|lo|i|gli|le|el|los|las|o|a|os|as|der|die|das|den|les|l['’])\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCES = re.compile(r"(?<![.!?])[.!?]++(?:\s|$)|[\n。！？]")
_THING = re.compile(r"\b(the|an?|our|your|each|every|all)\s+([^,;:()]+)", re.IGNORECASE)
_SUBJECT = re.compile(
    r"\W*(?:(?:ok|okay|hm+|well|and|but|so|also)\W+)?(?:the|an?|our|your|each|every|all)\b", re.IGNORECASE
)
_STOP_WORDS = frozenset(
    """
    is are was were be been is has have had does do did goes go comes come belongs belong looks look stands stand sits
    sit needs need gets get takes take keeps ends end starts start begins begin appears appear shows show misses lacks
    should must can could will would may might at in on to of for from with without by and or but so as than that which
    who when where if before after below above under over behind into onto again too now here there still not never
    always only first last instead please
    """.split()  # noqa: SIM905 - a list of so many words is read more easily as text
)
# What the words right before a rule are about: "I changed my mind about em dashes, never use them in titles".
_TOPIC = re.compile(
    r"\b(?:changed my mind|(?:second )?thoughts?|what i (?:said|told you)) (?:about|on)"
    r" (?P<thing>[\w' /-]{2,40}?)\W*$",
    re.IGNORECASE,
)
_ASKED = re.compile(r"\b(?:what|which|whether|who|why|how|where)\b[^,;:.!?]*", re.IGNORECASE)  # "what an endpoint is"
# "Write it like you'd tell your aunt": without a thing of that kind, "it" is what the agent writes.
_WORDING = re.compile(rf"^{_BEFORE}(?:write|word|phrase|say|explain|spell)\ it\b", re.IGNORECASE | re.VERBOSE)
_MAX_WORDS = 3  # of a thing's name
_MAX_SENTENCES_BACK = 2
_MAX_TOPIC = 120  # characters before a rule
_BACK = frozenset(["like that", "like this", "that way", "this way"])
_CLAUSE_END = re.compile(r"[:;]\s")
_MIN_NAMED = 2  # content words of a clause that "like that" in the next one means


# References to something that only the conversation shows. "This repository" is clear in a file, and "such as" gives
# examples.
_POINTING_PHRASE = re.compile(
    r"""\b(?:this|that|these|those|such)\ (?:(?:kind|sort|type|way|style|manner|approach|case|example)s?)\b
      | \bsuch\ an?\b | \b(?:like|as|than)\ (?:this|that|these|those|above|below)\b(?!\ (?:repo|project|code|file))
      | \bthe\ (?:above|following|former|latter)\b
      | \b(?:diese|solche)[rsmn]?\ (?:art|weise)\b | \bso\ ein(?:e|en|em|er)?\b
      | \b(?:este|esta|ese|esa|tal)\ (?:tipo|clase|forma|manera|modo)\b
      | \b(?:ce|cette)\ (?:genre|type|sorte|fa[çc]on|mani[èe]re)\b | \bquest[oa]\ (?:tipo|modo|maniera|genere)\b
      | так(?:ой|ого|ие|их)\ (?:тип|вид|род|способ)\w* | этот\ (?:тип|вид|способ)
      | (?:这|這|那)(?:种|種|类|類|样|樣)
      | (?:この|その|あの|こういう|そういう)(?:種類|類|よう|やり方) | 이런\ ?(?:종류|식)""",
    re.IGNORECASE | re.VERBOSE,
)


# References to a part of the work: a rule "for this function only" holds nowhere once that function is done. "This
# file" is not among them, since a rule of an instruction file may mean that file.
_WORK_PART = re.compile(
    r"""\b(?:(?:this|these)|(?:for|in|on|to|from|with)\ (?:that|those))\ (?:function|method|class|module|script
        |component
        |test|page|query|queries|table|endpoint|handler|loop|branch|commit|pr|pull\ request|ticket|issue|task)(?:s
        |es)?\b
      | \bdies(?:e[rsmn]?)?\ (?:funktion|methode|klasse|modul|skript|komponente|test|seite|abfrage|tabelle|branch|commit
        |pr|ticket|aufgabe)s?\b
      | \best[ea]s?\ (?:funci[oó]n|m[eé]todo|clase|m[oó]dulo|script|componente|test|prueba|p[aá]gina|consulta|tabla|rama
        |commit|pr|ticket|tarea)s?\b
      | \bc(?:e|et|ette|es)\ (?:fonction|m[eé]thode|classe|module|script|composant|test|page|requ[eê]te|table|branche
        |commit|pr|ticket|t[aâ]che)s?\b
      | \bquest[oaie]\ (?:funzion|metod|class|modul|script|component|test|pagin|query|tabell|branch|commit|pr|ticket)\w*
      | \b(?:n?est[ea]|n?ess[ea]|dest[ea]|dess[ea])\ (?:fun[cç][aã]o|m[eé]todo|classe|m[oó]dulo|script|componente|teste
        |p[aá]gina|consulta|tabela|branch|commit|pr|ticket|tarefa)s?\b
      | \b(?:deze|dit|die|dat)\ (?:functie|methode|klasse|module|script|component|test|pagina|query|tabel|branch|commit
        |pr|ticket|taak)s?\b
      | \bэт(?:а|ой|у|от|ого|ом|ому|о|их|и)\ (?:функци|метод|класс|модул|скрипт|компонент|тест|страниц|запрос|таблиц
        |ветк|задач)\w*
      | \bt(?:ej|ym|ą|en|a|ego|ę)\ (?:funkcj|metod|klas|moduł|skrypt|komponen|test|stron|zapytani|tabel|gałę|zadani)\w*
      | \bt(?:éto|ato|ento|ohoto|omto|uto|oto)\ (?:funkc|metod|tříd|modul|skript|komponent|test|strán|dotaz|tabul|větv
        |úkol)\w*
      | \bbu\ (?:fonksiyon|metot|metod|sınıf|modül|bileşen|test|sayfa|sorgu|tablo|dal|görev)\w*
      | (?:hàm|phương\ thức|lớp|thành\ phần|trang|truy\ vấn|bảng|nhánh|tác\ vụ)\ này\b
      | (?:这|這)(?:个|個|些)?(?:函数|函數|方法|类(?!型)|類(?!型)|模块|模塊|脚本|腳本|组件|組件|测试|測試|页面|頁面
        |查询|表|分支|任务|任務)
      | (?:この|その)(?:関数|メソッド|クラス|モジュール|スクリプト|コンポーネント|テスト|ページ|クエリ|テーブル
        |ブランチ|タスク)
      | (?:이|그)\ ?(?:함수|메서드|클래스|모듈|스크립트|컴포넌트|테스트|페이지|쿼리|테이블|브랜치|작업)
      | इस\ (?:फ़ंक्शन|फंक्शन|क्लास|मेथड|मॉड्यूल|टेस्ट|पेज)""",
    re.IGNORECASE | re.VERBOSE,
)


def points_elsewhere(change: str) -> bool:
    """Whether a change refers to something that it does not name: "this kind of test", "in this function".

    In a later clause, "like that" means the one before: "Fields are split by semicolons: LIMS exports like that".
    """
    pointing = next((one for one in _POINTING_PHRASE.finditer(change) if not _means_clause_before(change, one)), None)
    return bool(pointing or _WORK_PART.search(change))


def _means_clause_before(change: str, phrase: re.Match[str]) -> bool:
    before = _CLAUSE_END.split(change[: phrase.start()])[0] if phrase[0].lower() in _BACK else ""
    return len(before) < phrase.start() and len(content_stems(before)) >= _MIN_NAMED


def fill_pronoun(change: str, before: str) -> str | None:
    """Return a change with its pronoun filled from `before`; None if its subject cannot be known."""
    if _FOREIGN_PRONOUN.match(change):
        return None
    leans = _PRONOUN.match(change)
    if leans is None:
        return change
    plural = leans["it"].lower() == "them"
    topic = _TOPIC.search(before[-_MAX_TOPIC:])
    if topic and _is_plural(topic["thing"]) == plural:
        return f"{change[: leans.start('it')]}{topic['thing']}{change[leans.end('it') :]}"
    said = [sentence for sentence in _SENTENCES.split(before) if sentence.strip()]
    for sentence in reversed(said[-_MAX_SENTENCES_BACK:]):
        things = [thing for thing in _things(sentence) if _is_plural(thing) == plural]
        if things:
            begins = bool(_SUBJECT.match(sentence)) and _things(sentence)[0] == things[0]
            one = things[0] if begins or len(set(things)) == 1 else None
            return one and f"{change[: leans.start('it')]}{one}{change[leans.end('it') :]}"
    return change if _WORDING.match(change) and said else None


def text_before_quote(quote: str, typed: str) -> str:
    """Return the typed text before a quote; empty if the quote is not found."""
    return typed[: max(typed.find(quote), 0)]


def _things(sentence: str) -> list[str]:
    """Return the things that a sentence names with an article, in a form that fits an instruction."""
    found = []
    rest = _ASKED.sub(" ", sentence)
    while match := _THING.search(rest):
        words: list[str] = []
        for word in (word.strip("\"'`*").rstrip(".-/") for word in match[2].split()):
            if not word or word.lower() in _STOP_WORDS or len(words) == _MAX_WORDS:
                break
            words.append(word)
        article = "the" if match[1].lower() in {"a", "an"} else match[1].lower()
        found += [" ".join([article, *words])] if words else []
        rest = rest[match.end(1) :]
    return found


def _is_plural(thing: str) -> bool:
    return thing.endswith("s") and not thing.endswith(("ss", "us", "is")) and not thing.startswith(("each ", "every "))
