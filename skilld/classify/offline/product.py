"""The languages of a turn, where its instruction begins, and whether it describes a product."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from skilld.classify.offline.grammar import Language, languages
from skilld.text import fold
from skilld.words import content_stems

_MIN_BEFORE_DOUBT = 30  # characters before a comma, after which a doubt is about something else
_MAX_DESCRIBED = 2000  # characters of a turn in which requirements are looked for
_BEGINNING_CHARACTERS = 500  # of a turn, which decide its kind
_HAN = re.compile(r"[\u3400-\u9fff]")
_LETTERS = re.compile(r"[^\W\d_]+")
_MAX_ARTICLE = 5  # characters before the first noun of a clause
_VERB_SECOND = frozenset({"de", "nl"})
_SUBJECT_WORDS = 4  # at the beginning of a clause
_MAX_ANNOUNCEMENT = 80  # characters before the colon that introduces a rule
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_TICKET = re.compile(
    r"^\W{0,8}+(?:\w{2,10} )?(?!(?:UTF|ISO|RFC|SHA|TODO|HTTP)\b)[A-Z]{2,10}-\d{1,6}\s?[:,–—-]\s"
    r"|^\W{0,8}+(?i:(?:(?:next|new|neue[rs]?|nuev[oa]|nouvelle|nuov[oa]|nov[oa]|нов\w\w|nowa|nieuwe?) )?"
    r"(?:card|story|ticket|feature|requirement|epic|karte|anforderung"
    r"|tarea|tâche|tarefa|compito|fiche|requisito|règle métier"
    r"|funktion|задача|фича|карточка|taak|zadanie|úkol|görev|需求|工单|チケット|要件|課題|요구사항)"
    r"(?: (?!for you)[\w-]{1,20}){0,4}\s?[:.,：–—-]\s?)"
)
_RULE_REMINDER = re.compile(
    r"remember|mind|note|point|merk|denk|vergiss|souv|rappel|retiens|note|recuerda|lembr|ricord|pamięt|pamat|запомни|помни|onthoud"
    r"|unutma|rule|regel"
    r"|regola|r[eè]gle|regla|regra|zasada|pravidlo|правило",
    re.IGNORECASE,
)
_PATH = re.compile(r"`?(?<![\w/])[\w.@-]{1,60}/[\w./@*-]{1,200}`?")  # "packages/cart" names a folder and no product
# What only the work on a product has: code, its parts, and the languages that it is written in.
_OF_CODE = re.compile(
    r"`|[\w)]\(\)|\b(?:code|main|master|std(?:err|out)|lint(?:er)?|formatter|functions?|funktion\w*|fonctions?|funci[oó]n\w*"
    r"|funzion\w+|fun[cç][oõã]\w+|variab[el]\w*|\w*variable\w*|class(?:es)?|constants?|modul\w*|exports?|types?|any|api|sql|json"
    r"|iso|everywhere|tabs|spaces|headings?|headlines?|titles?|captions?|slides?|footnotes?"
    r"|überschriften|titel[ns]?|titres?|t[ií]tulos?|titoli"
    r"|camelcase|snake_case|kebab-case|lockfile|ticket|npm|pnpm|jest|vitest|pytest|docker|fehlertexte?|\w*messages?"
    r"|english|englisch\w*|deutsch\w*|german|français|anglais|inglés|español|inglese|italiano|inglês|português|engels|nederlands)\b",
    re.IGNORECASE,
)
_PART_BREAK = re.compile(r"[.!?:;,]\s")


def likely_languages(text: str) -> list[Language]:
    """Return the likely languages of `text`, by its script, or by its small words in Latin script.

    English is always among them, since people mix it into everything.
    """
    by_code = languages()
    return [by_code[code] for code in _likely_codes(text)]


@lru_cache(maxsize=32)  # each check of a turn asks for them
def _likely_codes(text: str) -> tuple[str, ...]:
    by_code = languages()
    scripts = (("ja", _KANA), ("ko", _HANGUL), ("ru", _CYRILLIC), ("zh", _HAN))
    for code, script in scripts:
        if script.search(text):
            return code, "en"
    words = {word.lower() for word in _LETTERS.findall(text)}
    letters = frozenset(text.lower())
    counts = {
        code: len(words & language.marks) + len(letters & language.letters)
        for code, language in by_code.items()
        if language.marks
    }
    highest = max(counts.values(), default=0)
    # One word that English has too says nothing: "create a PR", "go on".
    tied = highest > 1 or not counts["en"]
    return tuple(dict.fromkeys(("en", *(code for code, n in counts.items() if tied and n and n == highest))))


def after_opener(bare: str, language: Language) -> str:
    """Return the instruction of a clause, without its opener."""
    return bare[opener_end(bare, language) :]


def opener_end(text: str, language: Language) -> int:
    """Return the start of the instruction in a clause, after an opener or "one more thing, if I may:"."""
    opener = language.openers.match(text)
    begin = opener.end() if opener else 0
    head, colon, _ = text[begin : begin + _MAX_ANNOUNCEMENT].partition(": ")
    announced = (
        colon
        and not (
            _RULE_REMINDER.search(head) or language.frames.search(head) or language.given_again.match(text[begin:])
        )
        and not content_stems(head) - language.saying
    )
    return begin + len(head + colon) if announced else begin


def is_about_product(bare: str, languages: Sequence[Language]) -> bool:
    """Whether words name a product or say what a thing must do, and do not mention the work on it."""
    bare = _PATH.sub(" ", bare)
    works = any(language.work.search(bare) for language in languages)  # tools have English names in any language
    return not works and any(language.product.search(bare) or language.requires.search(bare) for language in languages)


def names_product(bare: str, languages: Sequence[Language]) -> bool:
    """Whether words name a product, and do not mention the work on it."""
    works = any(language.work.search(bare) for language in languages)
    return not works and any(language.product.search(bare) for language in languages)


def describes_product(rest: str, language: Language, spoken_in: Sequence[Language]) -> bool:
    """Whether the words after "from now on" describe a product or its users, rather than address the agent."""
    if language.served.match(rest) and not any(one.work.search(rest) for one in spoken_in):
        return True
    if language.commands.match(rest) or not is_about_product(rest, spoken_in):
        return False
    begins = " ".join(rest.split()[:_SUBJECT_WORDS]) if language.spaced else ""
    tells = language.theirs.match(rest) or language.requires.match(rest) or language.musts.search(begins)
    named = language.product.search(begins)  # "der Nutzer", or with the verb before it "bekommt jeder Nutzer"
    return bool(tells or (named and (language.code in _VERB_SECOND or named.start() <= _MAX_ARTICLE)))


def only_tells(rest: str, language: Language) -> bool:
    """Whether the words beside "from now on" or "always" only tell what is, was or will be: "... I am on leave"."""
    lasting = language.frames.search(rest) or language.always.search(rest)
    begin = 0 if lasting is None else rest.rfind(", ", 0, lasting.start() + 1) + 1
    end = rest.find(",", begin + 1 if lasting is None else lasting.end())
    return bool(language.tells.search(rest[begin : end if end > 0 else len(rest)].strip()))


def is_specification(text: str) -> bool:
    """Whether `text`, one turn, is announced as a specification: "ABC-12: ...", "new ticket from sales: ..."."""
    return bool(_TICKET.match(fold(text)[:_BEGINNING_CHARACTERS]))


def opens_with_product(text: str) -> bool:
    """Whether the beginning of `text`, one turn, says what a product must do, and does not mention the work on it."""
    begins, found = fold(text)[:_BEGINNING_CHARACTERS], likely_languages(text)
    if any(language.work.search(begins) for language in found):
        return False
    parts_of = (begins, begins.partition(": ")[2])
    return any(one.theirs.match(head) for head in parts_of for one in found) or sentence_requires(begins, found)


def turn_is_about_product(text: str, languages: Sequence[Language]) -> bool:
    """Whether `text`, a turn or its beginning, names a product or says what it must do, and not the work on it."""
    text = _PATH.sub(" ", text)
    if any(language.work.search(text) for language in languages):
        return False
    return any(language.product.search(text) for language in languages) or sentence_requires(text, languages)


def sentence_requires(text: str, languages: Sequence[Language]) -> bool:
    """Whether a sentence, or what follows a colon, says what a thing must do: "fine. it should also ..."."""
    for head in (text, *_PART_BREAK.split(text)):
        for one in languages:
            rest = after_opener(head.strip(), one)
            frame = one.frames.match(rest)
            if one.requires.match(rest) or (frame and one.requires.match(rest[frame.end() :])):
                return True
    return False


def requires_something(text: str) -> bool:
    """Whether a sentence of `text` says what a thing, and not the agent, must do."""
    return sentence_requires(fold(text)[:_MAX_DESCRIBED], likely_languages(text))


def is_vetoed(bare: str, languages: Sequence[Language]) -> bool:
    """Whether a clause holds for once, is somebody else's, or retracts something, in any of its likely languages."""
    head = bare[: bare.find(", ", _MIN_BEFORE_DOUBT) + 1 or len(bare)]
    return any(
        language.vetoes.search(language.without_not_once(bare))
        or language.retracts.search(bare)
        or language.hedges.search(head)
        for language in languages
    )


def is_about_work(text: str) -> bool:
    """Whether `text` mentions the work, in any of its likely languages."""
    return any(language.work.search(text) for language in likely_languages(text))


def announces_rule(text: str, language: Language) -> bool:
    """Whether words call themselves a rule: "remember, ...", "..., that's how we do it here"."""
    return bool(_RULE_REMINDER.search(text) or language.tags.search(text))


def speaks_to_agent(text: str, language: Language, *, of_product: bool) -> bool:
    """Whether words address the agent, mention the work or name something in code.

    "Never upfront" and "UTC always" may as well say what the product does. In talk `of_product`, so may words for what
    agents and programs do, and names of code. True in a language without a list of such words.
    """
    if not language.lists.get("acts"):
        return True
    bare, spoken_in = fold(text), (language, languages()["en"])
    if any(one.acts.search(bare) for one in spoken_in) or is_about_work(text):
        return True
    return not of_product and (bool(_OF_CODE.search(bare)) or any(one.shared_acts.search(bare) for one in spoken_in))
