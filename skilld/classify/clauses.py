"""Which clauses of a change the person had no part in: those that hold none of their content words.

Pure. A text and its ground, the words that the person said or said yes to, go in; clauses, or the text without them,
come out. What counts as a word is decided in `accounted`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skilld.classify.accounted import Word, content_words
from skilld.words import denies

# Foreign content words in a row that count as a clause without an end of its own.
_RUN = 3.0
_OPENING_RUN = 2.0
# What joins two clauses: punctuation that ends no number, address or abbreviation, and conjunctions.
_JOIN = re.compile(
    r"""[.:](?=\s|$) | [;!?\n\u0964()\[\]\u2013\u2014\u2026\u3002\uff1b\uff01\uff1f\uff1a\u3001\uff0c\uff08\uff09]
      | ,(?!\d) | \s-{1,2}(?=\s)
      | \b(?:and|then|but|while|also|plus|or|nor|so|after|before|when|whenever|if|unless|until|because|which|where
        |und|dann|danach|aber|sowie|oder|bevor|wenn|pero|y|e|luego|entonces|además|cuando|depois|então|quando|também
        |et|puis|ensuite|mais|ou|quand|poi|ma|anche|и|затем|потом|но|или|также|когда|pak|potom|ale|nebo|také|když
        |oraz|potem|lub|także|kiedy|ve|sonra|en|daarna|och|sedan|og|derefter|và|rồi|dan|lalu)\b
      | (?<=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff])[ \u3000]+
        (?=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff])
      | 并(?=[把将请在])|然后|然後|并且|並且|而且|同时|同時|接着|另外|此外|以及
      | そして|それから|および|그리고|그런\s?다음|또한
      | จากนั้น|พร้อมทั้ง|และ|แล้ว""",
    re.IGNORECASE | re.VERBOSE,
)
# A clause behind one of these says a further thing; behind any other join it may say when or why the rest holds.
_ADDS = frozenset(
    """
    , ; . ! ? : ( ) [ ] - -- – — … 。 ； ！ ？ ： 、 ， （ ） ।
    and then also plus so und dann danach sowie y e luego entonces además depois então também et puis ensuite poi anche
    и затем потом также pak potom také oraz potem także ve sonra en daarna och sedan og derefter và rồi dan lalu
    然后 然後 并 并且 並且 而且 同时 同時 接着 另外 此外 以及 จากนั้น พร้อมทั้ง และ แล้ว
    """.split()  # noqa: SIM905 - a list is read more easily as text
) | {"\n"}
_ENDS = frozenset(".!?;\n\u0964。！？；")
# Words that narrow what is said. Without them it would be wider than the person meant, so such a clause is left in.
_NARROWS = re.compile(
    r"\b(?:only|unless|except|until|if|when\w*|while|where\w*|as\s+long|provided|in|on|for|at|during|within|under|per|from|to|"
    r"of|with|by|instead|rather|nur|wenn|falls|bei|beim|für|im|solo|sólo|si|cuando|en|para|só|quando|em|seul\w*|quand|dans|"
    r"pour|только|если|когда|при|для|jen|pokud|když|při|pro|tylko|jeśli|gdy|przy|dla)\b"
    r"|[仅僅只除若如当當在]|だけ|のみ|とき|場合|만|때|경우|ถ้า|เมื่อ|เฉพาะ|ใน",
    re.IGNORECASE,
)
_EXCEPTS = re.compile(
    r"\b(?:only|unless|except|until|if|when\w*|elsewhere|otherwise|else|nur|sonst|wenn|solo|sólo|si|sinon|только|если|иначе|jen|"
    r"jinak|tylko|inaczej)\b|[仅僅只除]|否则|だけ|以外|만",
    re.IGNORECASE,
)
_PAIRS = (("(", ")"), ("[", "]"), ("（", "）"))
_LEAST_DROPPED = 2.0
_CONNECTIVE = re.compile(r"[\u3040-\u309f\uac00-\ud7af]")  # verbs there change their form where a sentence goes on


@dataclass(frozen=True, slots=True)
class _Clause:
    """Text [start, end), without the join before it, which begins at `joined`; `join` is its last word or mark."""

    start: int
    end: int
    joined: int
    join: str


def beyond(text: str, ground: str) -> list[str]:
    """Return the parts of `text` that hold content words and none of the ground's, in their order.

    A part is a clause, or a run of more foreign words than a paraphrase has, wherever it stands.
    """
    words = content_words(text, ground)
    found = [clause for clause in _clauses(text) if _is_foreign(clause, words)]
    parts = [(clause.start, clause.end) for clause in found]
    opening = {clause.start for clause in _clauses(text) if clause.join in _ADDS}
    parts += [run for run in _runs(words, opening) if not any(start < run[1] and run[0] < end for start, end in parts)]
    return [text[start:end].strip(" ,;.") for start, end in sorted(parts)]


def without_beyond(text: str, ground: str) -> str:
    """Return `text` without the clauses that hold none of the ground's words, as far as the rest stands alone.

    A clause goes where it only adds to the rest: one that narrows it, denies something, or ends a sentence whose verb
    depends on it is left in.
    """
    while True:
        words = content_words(text, ground)
        clauses = _clauses(text)
        place = next((i for i in range(len(clauses)) if _can_go(text, clauses, i, words)), None)
        if place is None:
            return text
        text = _cut(text, clauses, place)


def _clauses(text: str) -> list[_Clause]:
    """Return the clauses of a text; several joins in a row are one."""
    out: list[_Clause] = []
    start = joined = 0
    join = ""
    for match in _JOIN.finditer(text):
        if text[start : match.start()].strip(" ,"):
            out.append(_Clause(start, match.start(), joined, join))
            joined = match.start()
        start, join = match.end(), _weaker(join if joined != match.start() else "", match[0].strip().casefold())
    if text[start:].strip(" ,"):
        out.append(_Clause(start, len(text), joined, join))
    return out


def _weaker(before: str, now: str) -> str:
    """Of two joins in a row the one that tells more: in ", when" that is the word."""
    now = now or "\n"
    return before if before and before not in _ADDS else now if now.isalpha() or not before else before


def _words_in(clause: _Clause, words: Sequence[Word]) -> list[Word]:
    return [word for word in words if clause.start <= word.start < clause.end]


def _is_foreign(clause: _Clause, words: Sequence[Word]) -> bool:
    mine = _words_in(clause, words)
    mine = [word for word in mine if word.content] or mine
    return sum(word.weight for word in mine) >= 1 and not any(word.own for word in mine)


def _runs(words: Sequence[Word], opening: set[int]) -> Iterator[tuple[int, int]]:
    """Yield where foreign words stand in a row; in front of a clause that adds something, and last, fewer will do."""
    run: list[Word] = []
    last = 0
    for word in (*(word for word in words if word.content), None):
        if word is not None and not word.own:
            run.append(word)
            continue
        opens = word is None or (bool(run) and any(last <= start <= run[0].start for start in opening))
        if run and sum(one.weight for one in run) >= (_OPENING_RUN if opens else _RUN):
            yield run[0].start, run[-1].end
        run, last = [], word.end if word else 0


def _can_go(text: str, clauses: Sequence[_Clause], place: int, words: Sequence[Word]) -> bool:
    clause = clauses[place]
    if len(clauses) == 1 or not _is_foreign(clause, words):
        return False
    said = text[clause.start : clause.end]
    behind = clauses[place + 1] if place + 1 < len(clauses) else None
    closed = behind is None or behind.join in _ADDS
    opened = clause.join in _ADDS if place else behind is not None and behind.join != "," and behind.join in _ADDS
    if sum(word.weight for word in _words_in(clause, words)) < _LEAST_DROPPED:
        return False  # one word more in a list
    whole = (not place or text[clause.joined] in _ENDS) and (behind is None or text[behind.joined] in _ENDS)
    if not (closed and opened) or (_CONNECTIVE.search(text) and not whole):
        return False
    if denies(said) or _EXCEPTS.search(said) or (not whole and _NARROWS.match(said.lstrip())):
        return False
    rest = _cut(text, clauses, place)
    return all(rest.count(mark) == rest.count(other) for mark, other in _PAIRS)


def _cut(text: str, clauses: Sequence[_Clause], place: int) -> str:
    clause = clauses[place]
    if place + 1 == len(clauses):
        end = re.search(r"[.!?。！？]\s*$", text)
        rest = text[: clause.joined].rstrip(" ,;:-\u2013\u2014(，；、（")
        return rest + (end[0].strip() if end and rest[-1:] not in _ENDS else "")
    behind = clauses[place + 1]
    if not place:
        rest = text[behind.start :].lstrip()
        return rest[:1].upper() + rest[1:]
    head, tail = text[: clause.joined].rstrip(), text[behind.joined :]
    if text[clause.joined] in ",(（，、" and tail[:1] in ",)），、":
        tail = tail[1:]
    if text[clause.joined] in _ENDS and tail[:1] in _ENDS:
        tail = tail[1:] if head[-1:] in _ENDS else tail
    return f"{head}{'' if tail[:1] in ',.;:!?。，；、！？' or not head.isascii() else ' '}{tail.lstrip()}"
