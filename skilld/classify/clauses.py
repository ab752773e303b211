"""Finds the clauses of a change that share no content words with its ground. Pure.

The ground is what the person said or agreed to.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

from skilld.values import value_class
from skilld.words import (
    MIN_COMMON_STEM,
    content_stems,
    has_negation,
    has_unspaced,
    matching_words,
    same_stem,
    stem,
    stems,
)

# Words are compared without inflection. In scripts without blanks between words, a stretch of characters other than
# function words counts as said if the ground contains a long enough part of it: two characters of Chinese, the first
# two syllables of a Korean word, four letters of Thai.

# Letters by which two forms of one word may differ in a strict comparison; English endings are cut off before.
_MAX_ENDING = 1
_MAX_INFLECTED = 3
# Letters with their marks: in the scripts of India vowels are marks.
_SPACED = re.compile(
    r"(?:[^\W_]|[\u0300-\u036f\u064b-\u065f\u0670\u0900-\u0963\u0971-\u0dff])+"
    r"(?:['\u2019][^\W_]+)?"
)
_SCRIPTS = {
    "han": re.compile(r"[\u3005\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+"),
    "kana": re.compile(r"[\u3040-\u309f]+"),
    "hangul": re.compile(r"[\uac00-\ud7af]+"),
    "thai": re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+"),  # and Lao, Burmese, Khmer
}
# Cue words that can also name an action, and the cue that one of them is mostly part of.
_ACTION_CUES = frozenset({"forward", "forwards", "forwarding", "forwarded", "stop", "keep", "get", "note"})
_CUE = re.compile(r"\b(?:going|moving|looking|from\s+(?:here|now|this\s+point))\s+forwards?\b")
_UNSPACED = re.compile("|".join(pattern.pattern for pattern in _SCRIPTS.values()))
# Characters in a row that the ground must contain, and the number of characters that make one word.
_MIN_RUN = {"han": 2, "kana": 3, "hangul": 2, "thai": 4}
_CHARACTERS_PER_WORD = {"han": 2.0, "kana": 3.0, "hangul": 2.0, "thai": 4.0}
_FUNCTION_WORDS = {
    "han": re.compile(
        "以后|以後|今后|今後|总是|總是|永远|永遠|每次|每个|每個|必须|必須|应该|應該|需要|记住|記住|一定|务必|務必|始终|始終|不要|不用|不再"
        "|不能|而是|然后|然後|并且|並且|而且|同时|同時|接着|另外|此外|以及|因为|因為|所以|如果|之前|之后|之後|用户|用戶|毎回|必ず|場合|今度"
        "|[的了在是要都请請和与與及并並再就也还還把将將对對从從到为為以于让讓每时時后後前先这這那个個一不没沒别別勿有可能会會应應须須必所其之而且或但"
        "若则則等吧吗嗎呢给給被用使做]"
    ),
    "kana": re.compile(
        "してください|しないでください|てください|でください|ください|それから|これから|すること|しないこと|こと|ましょう|ではなく|だけでなく"
        "|そして|について|として|という|ように|とき|ときは|いつも|かならず|まえに|あとで|ます|ました|ません|です|でした|する|して|しない|した"
        "|さい|ない|なく|から|まで|より|など|また|もう|この|その|あの|これ|それ|[をにはがのでともやへかよねしてたるうくいれらりすばずん]"
    ),
    "hangul": re.compile(
        "항상|앞으로|매번|그리고|그런|다음|또한|하지만|대신|말고|반드시|모든|경우|때마다|때는|때|것은|것을|것|수|꼭|각|및|등"
        "|주세요|하세요|합니다|해줘|해주세요|하고|해야|한다|하기|마세요|말아|않는다|않고|않기|이제|부터|먼저|전에|후에|에서|으로"
    ),
    "thai": re.compile(
        "ทุกครั้ง|เสมอ|จากนั้น|พร้อมทั้ง|และ|แล้ว|ของ|ให้|ที่|ใน|การ|ความ|เป็น|ได้|ไว้|ต้อง|ควร|จาก|กับ|โดย|อย่า|ไม่|ก่อน|หลัง|นี้|นั้น|จะ|ด้วย|แต่|หรือ|เมื่อ|ถ้า|ทุก"
    ),
}


@value_class
class Word:
    """A meaningful word at [start, end) of a text. `own`: the ground has it.

    `weight` is the number of words it counts as; `content`: it is not one that any instruction may have, as "use" or
    "first".
    """

    start: int
    end: int
    weight: float
    own: bool
    content: bool = True


def content_words(text: str, ground: str, *, strictly: bool = False) -> list[Word]:
    """Return the content words of `text` in order, each with whether `ground` has it.

    A strict comparison allows neither typing errors nor a longer word that begins with a short one.
    """
    plain, known = _normalize(text), _normalize(ground)
    said = frozenset(one for match in _spaced_words(known) for one in _stem_of(match[0]))
    alike: dict[str, set[str]] = defaultdict(set)  # by what all forms of a word have in common
    for one in said:
        alike[one[:MIN_COMMON_STEM]].add(one)
    wanted = [(match, one) for match in _spaced_words(plain) for one in _stem_of(match[0])]
    if strictly:
        own = frozenset(
            one for _, one in wanted if any(_is_same_word(one, other) for other in alike[one[:MIN_COMMON_STEM]])
        )
    else:
        own = matching_words({one for _, one in wanted}, said, slips=True)
    words = [Word(match.start(), match.end(), 1.0, one in own, not _is_instructing(match[0])) for match, one in wanted]
    for script in _SCRIPTS:
        words += _unspaced_words(plain, known, script)
    return sorted(words, key=lambda word: word.start)


def has_only_own_words(text: str, ground: str) -> bool:
    """Whether the ground has every content word of `text`, ignoring inflection."""
    return all(word.own for word in content_words(text, ground, strictly=True))


def _normalize(text: str) -> str:
    """Return `text` with case and character forms normalized where this does not change its length."""
    if text.isascii():  # saves 0.25 s for a megabyte of blanks
        folded = text.lower()
    else:
        forms = ((char, unicodedata.normalize("NFKC", char).casefold()) for char in text)
        folded = "".join(form if len(form) == 1 else char for char, form in forms)
    return _CUE.sub(lambda match: " " * len(match[0]), folded)


def _spaced_words(plain: str) -> Iterator[re.Match[str]]:
    masked = _UNSPACED.sub(lambda match: " " * len(match[0]), plain)
    return _SPACED.finditer(masked)


@lru_cache(maxsize=4096)  # a text has few words, many times
def _stem_of(word: str) -> frozenset[str]:
    """Return the stem of a word, none for a function word. Words with marks, as in India, have no stem."""
    if word in _ACTION_CUES or word.isdecimal():
        return frozenset({stem(word)})
    return frozenset({word}) if any(unicodedata.category(char)[0] == "M" for char in word) else stems(word)


def _is_instructing(word: str) -> bool:
    return bool(stems(word)) and not content_stems(word) and word not in _ACTION_CUES


def _is_same_word(one: str, other: str) -> bool:
    limit = _MAX_ENDING if one.isascii() and other.isascii() else _MAX_INFLECTED
    return same_stem(one, other) and abs(len(one) - len(other)) <= limit


def _unspaced_words(plain: str, known: str, script: str) -> Iterator[Word]:
    """Yield stretches of one script without function words, split where known and unknown characters meet."""
    said = [part for _, part in _content_stretches(known, script)]
    parts = {part[i : i + _MIN_RUN[script]] for part in said for i in range(len(part))} | set(said)
    for start, part in _content_stretches(plain, script):
        held = _known_characters(part, parts, script)
        at = 0
        while at < len(part):
            end = next((i for i in range(at, len(part)) if held[i] != held[at]), len(part))
            weight = (
                max(1.0, (end - at) / _CHARACTERS_PER_WORD[script])
                if held[at]
                else (end - at) / _CHARACTERS_PER_WORD[script]
            )
            yield Word(start + at, start + end, weight, held[at])
            at = end


def _content_stretches(plain: str, script: str) -> Iterator[tuple[int, str]]:
    masked = _FUNCTION_WORDS[script].sub(lambda match: "\0" * len(match[0]), plain)
    for match in _SCRIPTS[script].finditer(masked):
        yield match.start(), match[0]


def _known_characters(part: str, parts: set[str], script: str) -> list[bool]:
    """Return for each character whether it belongs to a part that the ground has."""
    least = _MIN_RUN[script]
    if len(part) < least:
        return [part in parts] * len(part)
    if script == "hangul":  # particles and endings are attached to a word, so its beginning identifies it
        return [part[:least] in parts] * len(part)
    held = [False] * len(part)
    for i in range(len(part) - least + 1):
        if part[i : i + least] in parts:
            held[i : i + least] = [True] * least
    return held


# "The user", which models write for "me" and "I" though they are asked not to, and "themselves".
THE_USER = re.compile(
    r"\b(?:(?:my|your|him|her|it)self|(?:our|your|them)selves|the\s+user|(?:be)?nutzer(?:in|s)?|usu[aá]ri[oa]|l['\u2019](?:utilisat(?:eur|rice)|utente)|пользовател\w{1,2}|uživatel\w?|"
    r"użytkownik\w{0,3}|người\s+dùng)\b|用户|用戶|使用者|ユーザー?|사용자",
    re.IGNORECASE,
)
# Weight of foreign content words in a row that count as a clause of their own.
_MIN_FOREIGN_RUN = 3.0
_MIN_OPENING_RUN = 2.0
# Joins of two clauses: conjunctions, and punctuation outside of numbers, addresses and abbreviations.
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
# After one of these a clause says a further thing; after any other join it may say when or why the rest holds.
_ADDING_JOINS = frozenset(
    """
    , ; . ! ? : ( ) [ ] - -- – — … 。 ； ！ ？ ： 、 ， （ ） ।
    and then also plus so und dann danach sowie y e luego entonces además depois então também et puis ensuite poi anche
    и затем потом также pak potom také oraz potem także ve sonra en daarna och sedan og derefter và rồi dan lalu
    然后 然後 并 并且 並且 而且 同时 同時 接着 另外 此外 以及 จากนั้น พร้อมทั้ง และ แล้ว
    """.split()  # noqa: SIM905 - a list is read more easily as text
) | {"\n"}
_SENTENCE_ENDS = frozenset(".!?;\n\u0964。！？；")
# Words that narrow an instruction. A clause with them stays, since the rest would be wider than the person meant.
_NARROWING = re.compile(
    r"\b(?:only|unless|except|until|if|when\w*|while|where\w*|as\s+long|provided|in|on|for|at|during|within|under|per|from|to|"
    r"of|with|by|instead|rather|nur|wenn|falls|bei|beim|für|im|solo|sólo|si|cuando|en|para|só|quando|em|seul\w*|quand|dans|"
    r"pour|только|если|когда|при|для|jen|pokud|když|při|pro|tylko|jeśli|gdy|przy|dla)\b"
    r"|[仅僅只除若如当當在]|だけ|のみ|とき|場合|만|때|경우|ถ้า|เมื่อ|เฉพาะ|ใน",
    re.IGNORECASE,
)
_EXCEPTING = re.compile(
    r"\b(?:only|unless|except|until|if|when\w*|elsewhere|otherwise|else|nur|sonst|wenn|solo|sólo|si|sinon|только|если|иначе|jen|"
    r"jinak|tylko|inaczej)\b|[仅僅只除]|否则|だけ|以外|만",
    re.IGNORECASE,
)
_PAIRS = (("(", ")"), ("[", "]"), ("（", "）"))
_MIN_DROPPED = 2.0
_CONNECTIVE = re.compile(r"[\u3040-\u309f\uac00-\ud7af]")  # scripts whose verbs change their form within a sentence


@value_class
class _Clause:
    """Text [start, end) after a join, which begins at `joined`; `join` is the join's last word or mark."""

    start: int
    end: int
    joined: int
    join: str


def foreign_parts(text: str, ground: str) -> list[str]:
    """Return the parts of `text` whose content words are all foreign to the ground, in order.

    A part is a clause, or anywhere a run of more foreign words than a paraphrase has. Also a further clause that does
    something foreign with what the clauses before it name: "... first in each entry, and forward each entry".
    """
    words, clauses = _words_to_judge(text, ground), _clauses(text)
    found = [clause for clause in clauses if _is_foreign(clause, words)] + _clauses_on_same(
        text, clauses, words, ground
    )
    parts = [(clause.start, clause.end) for clause in found]
    opening = {clause.start for clause in clauses if clause.join in _ADDING_JOINS}
    parts += [
        run for run in _foreign_runs(words, opening) if not any(start < run[1] and run[0] < end for start, end in parts)
    ]
    return [text[start:end].strip(" ,;.") for start, end in sorted(parts)]


def without_foreign_clauses(text: str, ground: str, file: str = "") -> str:
    """Return `text` without the clauses that share no words with the ground, as far as the rest can stand alone.

    Only a clause that adds something is removed; one that narrows the rest, negates something, or ends a sentence whose
    verb depends on it stays, and one that only names what the rest is about in words of the `file`.
    """
    while True:
        words = _words_to_judge(text, ground)
        clauses = _clauses(text)
        place = next(
            (
                i
                for i in range(len(clauses))
                if _is_removable(text, clauses, i, words) and not _names_subject(text, clauses, i, file)
            ),
            None,
        )
        if place is None:
            return text
        text = _remove_clause(text, clauses, place)


def _words_to_judge(text: str, ground: str) -> list[Word]:
    """Return the content words without those for the user: "not even the user" is "not even me"."""
    named = [found.span() for found in THE_USER.finditer(text)]
    return [word for word in content_words(text, ground) if not any(start <= word.start < end for start, end in named)]


def may_state_exception(text: str) -> bool:
    """Whether a text may state an exception."""
    return bool(_EXCEPTING.search(text))


def _clauses(text: str) -> list[_Clause]:
    """Return the clauses of a text; several joins in a row count as one."""
    out: list[_Clause] = []
    start = joined = 0
    join = ""
    for match in _JOIN.finditer(text):
        if text[start : match.start()].strip(" ,"):
            out.append(_Clause(start, match.start(), joined, join))
            joined = match.start()
        start, join = match.end(), _stronger_join(join if joined != match.start() else "", match[0].strip().casefold())
    if text[start:].strip(" ,"):
        out.append(_Clause(start, len(text), joined, join))
    return out


def _stronger_join(before: str, now: str) -> str:
    """Return the more meaningful of two joins in a row: in ", when" it is the word."""
    now = now or "\n"
    return before if before and before not in _ADDING_JOINS else now if now.isalpha() or not before else before


def _words_in(clause: _Clause, words: Sequence[Word]) -> list[Word]:
    first, last = (bisect_left(words, place, key=lambda word: word.start) for place in (clause.start, clause.end))
    return [*words[first:last]]


def _is_foreign(clause: _Clause, words: Sequence[Word]) -> bool:
    mine = _words_in(clause, words)
    mine = [word for word in mine if word.content] or mine
    return sum(word.weight for word in mine) >= 1 and not any(word.own for word in mine)


def _clauses_on_same(text: str, clauses: Sequence[_Clause], words: Sequence[Word], ground: str) -> list[_Clause]:
    """Return the further clauses that begin with a foreign word, and whose own words are all used up before them."""
    if has_unspaced(text):
        return []
    said, used = Counter(map(stem, _SPACED.findall(ground.casefold()))), Counter[str]()
    found = []
    at = 0
    for clause in clauses:
        mine: list[Word] = []
        while at < len(words) and words[at].start < clause.end:
            mine += [words[at]] if words[at].content else []
            at += 1
        own = [stem(text[word.start : word.end].casefold()) for word in mine if word.own]
        if clause.join in _ADDING_JOINS and own and not mine[0].own and all(said[one] <= used[one] for one in own):
            found.append(clause)
        used.update(own)
    return found


def _foreign_runs(words: Sequence[Word], opening: set[int]) -> Iterator[tuple[int, int]]:
    """Yield runs of foreign words; before a clause that adds something, and at the end, shorter ones count."""
    run: list[Word] = []
    last = 0
    for word in (*(word for word in words if word.content), None):
        if word is not None and not word.own:
            run.append(word)
            continue
        opens = word is None or (bool(run) and any(last <= start <= run[0].start for start in opening))
        if run and sum(one.weight for one in run) >= (_MIN_OPENING_RUN if opens else _MIN_FOREIGN_RUN):
            yield run[0].start, run[-1].end
        run, last = [], word.end if word else 0


def _is_removable(text: str, clauses: Sequence[_Clause], place: int, words: Sequence[Word]) -> bool:
    clause = clauses[place]
    if len(clauses) == 1 or not _is_foreign(clause, words):
        return False
    said = text[clause.start : clause.end]
    behind = clauses[place + 1] if place + 1 < len(clauses) else None
    closed = behind is None or behind.join in _ADDING_JOINS
    opened = (
        clause.join in _ADDING_JOINS
        if place
        else behind is not None and behind.join != "," and behind.join in _ADDING_JOINS
    )
    if sum(word.weight for word in _words_in(clause, words)) < _MIN_DROPPED:
        return False  # one word more in a list
    whole = (not place or text[clause.joined] in _SENTENCE_ENDS) and (
        behind is None or text[behind.joined] in _SENTENCE_ENDS
    )
    if not (closed and opened) or (_CONNECTIVE.search(text) and not whole):
        return False
    if has_negation(said) or _EXCEPTING.search(said) or (not whole and _NARROWING.match(said.lstrip())):
        return False
    rest = _remove_clause(text, clauses, place)
    return all(rest.count(mark) == rest.count(other) for mark, other in _PAIRS)


def _names_subject(text: str, clauses: Sequence[_Clause], place: int, file: str) -> bool:
    """Whether a clause in brackets, or before a colon, has only words of a file: "What is out (migrations) stays"."""
    clause, behind = clauses[place], clauses[place + 1] if place + 1 < len(clauses) else None
    heads = behind is not None and behind.join == ":" and (not place or clause.join in _SENTENCE_ENDS)
    return (clause.join in {"(", "\uff08"} or heads) and has_only_own_words(text[clause.start : clause.end], file)


def _remove_clause(text: str, clauses: Sequence[_Clause], place: int) -> str:
    clause = clauses[place]
    if place + 1 == len(clauses):
        end = re.search(r"[.!?。！？]\s*$", text)
        rest = text[: clause.joined].rstrip(" ,;:-\u2013\u2014(，；、（")
        return rest + (end[0].strip() if end and rest[-1:] not in _SENTENCE_ENDS else "")
    behind = clauses[place + 1]
    if not place:
        rest = text[behind.start :].lstrip()
        return rest[:1].upper() + rest[1:]
    head, tail = text[: clause.joined].rstrip(), text[behind.joined :]
    if text[clause.joined] in ",(（，、" and tail[:1] in ",)），、":
        tail = tail[1:]
    if text[clause.joined] in _SENTENCE_ENDS and tail[:1] in _SENTENCE_ENDS:
        tail = tail[1:] if head[-1:] in _SENTENCE_ENDS else tail
    return f"{head}{'' if tail[:1] in ',.;:!?。，；、！？' or not head.isascii() else ' '}{tail.lstrip()}"
