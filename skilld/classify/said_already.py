"""Whether a line of a skill or of standing instructions already says what a change says. Pure.

Decides for every back-end, including models. Words are compared as stems, then by meaning.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache

from skilld.classify.answer_wishes import answer_wishes, has_answer_wish, same_answer_wish
from skilld.classify.bans import adds_nothing, ban_text, is_same_ban, is_same_code_ban, same_exception
from skilld.classify.content import (
    CHOICE_STEMS,
    META_STEMS,
    Content,
    ContentPart,
    choice_members,
    content_of,
    term_weights,
    weight_share,
    without_examples,
)
from skilld.classify.contradiction import (
    OWN_PROJECTS,
    PLAIN_VERBS,
    REACH,
    asks_for_refused,
    contradicts,
    contradicts_clearly,
    stems,
)
from skilld.classify.offline.choices import WORD, choices, chosen_part, is_reversed_choice, loses_order, same_choice
from skilld.classify.opposition import MAX_CHANGE
from skilld.classify.polarity import EXCEPTION
from skilld.classify.rule_texts import rule_texts
from skilld.meanings import Words, terms
from skilld.skills.spec import read_front
from skilld.types import Kind, Update
from skilld.words import (
    content_stems,
    has_negation,
    is_inflected,
    is_other_language,
    is_same_ask,
    matching_words,
    numbers,
    stem,
)

NEARLY = 0.79  # share for a line that need not have all of the content
_MIN_COVERED = 0.8  # share of an instruction's stems that a line must contain to say the same
# Function words that change the meaning of a rule. Those for the order of steps are members of a choice. "Every" is not
# among them: a rule holds every time, whether or not it says so.
_DIRECTION_WORDS = "up down out off under over above below without except unless only all both"
_DIRECTIONS = frozenset(_DIRECTION_WORDS.split())
_MIN_COUNT = 2  # stems: many rules share a single one that is no choice
_QUOTED_WORD = re.compile(r'["“”„«`]([^"“”„«»`\n]{1,60})["“”»`]')  # 'begin with "Hi"' is about that word


_SYNONYMS = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), name)
    for words, name in (
        ("(?:pull|merge) requests?|mrs?|prs", "PR"),
        ("begins?|beginning", "start"),
        ("below", "under"),
        ("above", "over"),
        ("written", "write"),
        ("beside|alongside", "next to"),
        (OWN_PROJECTS, " "),
        # Names of languages that are no words by themselves.
        ("(?:(?<=use )|(?<=in )|(?<=with ))go", "golang"),
        ("(?:(?<=use )|(?<=in ))c", "clanguage"),
        ("(?:(?<=use )|(?<=in ))r", "rlanguage"),
    )
)


# Words of Chinese that a rule may have or not: "操作要放工作线程" is "操作放到工作线程".
_DISPENSABLE = re.compile(
    r"(?<=[\u4e00-\u9fff])[到在了的着把都就也](?=[\u4e00-\u9fff])"
    r"|(?:(?<!不)(?<!需)要|请|应该|必须|需要)(?=[\u4e00-\u9fff])"
)


@lru_cache(maxsize=8192)
def unify_words(text: str) -> str:
    """Return `text` with one word for each of a few that say the same in a rule, and that are no content of it."""
    for words, name in _SYNONYMS:
        text = words.sub(name, text)
    return _DISPENSABLE.sub("", text)


_UNASKED = re.compile(
    r"\b(?:(?:do not|don['\u2019]?t|dont|never|no) (?P<banned>[^.;]{1,80}?),? (?:without|unless|before)"
    r"|only (?P<allowed>[^.;]{1,80}?),? (?:after|with|when|once|if)) (?:(?:you|we|first|having|have) ){0,3}"
    r"(?:ask(?:ed|ing)?|check(?:ed|ing)? with|confirm(?:ed)?|approved?"
    r"|(?:my|our|explicit) (?:ok(?:ay)?|go)|(?:(?:my|our|explicit) )?(?:permission|consent|approval))\b"
    r"(?: (?:me|us|it|so|first|for it|explicitly)\b)*",
    re.IGNORECASE,
)


def _as_consent(text: str) -> str:
    """Return a ban of a thing done unasked as a rule to ask first: "no tags without my ok" as "ask before tags"."""
    return _UNASKED.sub(lambda m: f"ask before {m['banned'] or m['allowed']}", text)


def _stems(text: str) -> frozenset[str]:
    """Return the stems of `text`, with one word for several of the same meaning."""
    return stems(unify_words(text))


# That something is not to be forgotten is about the thing: "do not forget the index" says what "add an index" says. So
# is that nothing changes it: "no matter how small the change is".
_REMINDED = re.compile(
    r"^(?:do not|don'?t|never) (?:ever )?forget (?:about )?(?=(?:the|an?|your|our)\b)"
    r"|,? (?:every time|always) you (?:forget|miss|skip)\b.*|,? (?:und )?nicht vergessen\W*$"
    r"|,? (?:no matter|regardless of) (?:what|how|who|which|where|when|whether)\b.*"
    r"|,? egal (?:was|wie|wer|wo|wann|ob|welche[rs]?)\b.*"
    r"|,? (?:peu importe|da igual|no importa) (?:que|qui|qu[eé]|si|c[oó]mo)\b.*",
    re.IGNORECASE,
)


def find_line(update: Update, text: str) -> str | None:
    """Return the line of `text` that already says an update, or None.

    A line to be changed says nearly the same, and a line to be removed says all of it.
    """
    if update.kind is Kind.REMOVE_STEP:
        return None
    update = replace(update, change=_REMINDED.sub("", update.change))
    if update.kind is Kind.CHANGE_STEP:
        return find_same_words(update.change, text, covered=1.0, in_full=True)
    return (
        find_same_words(update.change, text)
        or find_same_ban(update.change, text)
        or find_same_meaning(update.change, text)
        or _find_answer_wish(update.change, text)
    )


def _find_answer_wish(change: str, text: str) -> str | None:
    lines = (line for _, line in rule_texts(text)) if answer_wishes(change) else ()
    return next((line for line in lines if has_answer_wish(change, line)), None)


def is_same_change(one: str, other: str) -> bool:
    """Whether two changes are the same ask."""
    one, other = (_REMINDED.sub("", text) for text in (one, other))
    alike = is_same_ask(content_stems(one), content_stems(other)) and agrees(one, other)
    return alike or is_same_ban(one, other) or same_answer_wish(one, other)


def agrees(one: str, other: str) -> bool:
    """Whether two texts about the same thing want the same of it, and neither the opposite."""
    alike = has_negation(chosen_part(one)) == has_negation(chosen_part(other)) and same_choice(one, other)
    return alike and not (is_reversed_choice(one, other) or contradicts(one, other) or contradicts_clearly(one, other))


def says_already(change: str, text: str, *, covered: float = _MIN_COVERED, in_full: bool = False) -> bool:
    """Whether a line or item of `text` says what `change` says, by the criteria of `find_same_words`."""
    return find_same_words(change, text, covered=covered, in_full=in_full) is not None


def says_same_rule(change: str, text: str) -> bool:
    """Whether a rule that was just made says what `change` says, in its words or by forbidding the same.

    Not by meaning: without its file, a rule was taken for another about the same thing in 2 of 10,446 labelled pairs.
    """
    return says_already(change, text) or find_same_ban(change, text) is not None or same_answer_wish(change, text)


def find_same_words(change: str, text: str, *, covered: float = _MIN_COVERED, in_full: bool = False) -> str | None:
    """Return the line or item of `text` with the words, the numbers and the polarity of `change`.

    Dispensable verbs do not count: "no X" says "never use X". `covered` is the share of the change's words that the
    line must have, together with its heading, which alone is not enough: "Sign the tag", about notes, does not say
    "Sign the notes". Words of direction ("a down migration") are always required. With `in_full` the line must also
    refuse what the change refuses: "X instead of Y".
    """
    if len(change) > MAX_CHANGE:
        return None
    change = _as_consent(without_examples(change))
    asked = change if in_full else chosen_part(change)
    if len(_stems(asked) - PLAIN_VERBS) < _MIN_COUNT and not choices(asked):
        asked = change  # not every line about files says "one file instead of three"
    wanted = _stems(asked) - PLAIN_VERBS or _stems(asked)
    inflected = is_inflected(asked)
    for heading, written in rule_texts(text) if wanted else ():
        line = _as_consent(written)
        own = _stems(line) - PLAIN_VERBS
        own |= matching_words(wanted, own) if inflected else frozenset()
        held = wanted & (own | _stems(heading))
        if (
            len(held) >= covered * len(wanted)
            and len(held & own) * 2 >= len(wanted)
            and (len(held & own) > 1 or len(wanted) == 1 or own <= held | _stems(heading))
            and (len(wanted) > 1 or choices(asked) or len(own) <= _MIN_COUNT)
            and (_directions(asked) <= _directions(line) or _allow_alike(asked, line))
            and numbers(asked) <= numbers(line)
            and all(one.casefold() in line.casefold() for one in _QUOTED_WORD.findall(asked))
            and _same_polarity(asked, wanted, line, covered, in_full=asked != chosen_part(change))
            and (same_choice(asked, line) or _allow_alike(asked, line))
            and not is_reversed_choice(change, line)
            and not loses_order(change, line)
            and (len(wanted) > 1 or not (_only_lists(wanted, line) or _only_runs(wanted, line)))
            and (held == wanted or covered < _MIN_COVERED or not lost_words(asked, f"{heading} {line}"))
            and not asks_for_refused(asked, line)
        ):
            return written
    return None


# What only says when a rule holds, which is always: "before you change anything".
_ANY_TIME = re.compile(
    r"\b(?:before|after|until|when(?:ever)?|if|while) (?:you|we|i) \w+ (?:anything|something|it|them)\b", re.IGNORECASE
)
_STATE_VERBS = PLAIN_VERBS | stems("stay stays live lives remain remains")


def lost_words(change: str, line: str) -> list[str]:
    """Return the stems of content words of `change` without a counterpart in `line`; none if it says all of it.

    A counterpart is the word or another one with the same meaning. What the change refuses ("not numpy") and its reason
    need none, nor do verbs that any rule has.
    """
    asked = unify_words(chosen_part(_ANY_TIME.sub("", _REASON.sub("", change))) or change)
    own = _stems(line) | _STATE_VERBS | META_STEMS
    line = unify_words(line)
    known = Words([*terms(line), *(term for word in WORD.findall(line) for term in terms(word))])
    return [
        one
        for term in content_of(asked).words
        if term not in known
        for one in sorted(term.stems - own)
        if not any(part in known for part in terms(one))
    ]


def _lost_parts(change: str, line: str) -> list[str]:
    """Return the parts between the commas of `change` with words that `line` lacks."""
    lost = set(lost_words(change, line))
    return [part for part in change.split(",") if lost & _stems(part)] or sorted(lost)


_LIST_SEPARATOR = re.compile(r"(?<!\s)\s*+(?:[,;/+&|]|\band\b)\s*+", re.IGNORECASE)
_MIN_LISTED = 3


def _only_lists(wanted: frozenset[str], line: str) -> bool:
    """Whether a line names one thing only among others, as "TypeScript, pnpm, Vite." does, and asks for none."""
    for clause in _CLAUSE_END.split(line):
        if wanted <= _stems(clause):
            names = [_stems(name) - PLAIN_VERBS for name in _LIST_SEPARATOR.split(clause.strip(" .-*")) if name]
            if len(names) < _MIN_LISTED or max(map(len, names)) > _MIN_COUNT or has_negation(clause):
                return False
    return True


# A tool at the beginning of a command: "`uv run pytest`", "pnpm install", but not "pnpm for packages", "yarn only".
_COMMAND = re.compile(
    r"`(?P<shown>[\w.+@/-]+) [^`\n]+`"
    r"|(?<![\w`.+-])(?P<named>[\w.+]++)(?= (?!(?:for|in|as|at|on|with|when|where|while|if|is|are|and|or|not|never|only"
    r"|over|instead|rather|everywhere|always|here|now|[a-z]{3,}s)\b)-{0,2}[a-z])"  # "yarn installs ..." is a sentence
)
_CHOSEN = re.compile(r"\b(?:us(?:e|es|ed|ing)|prefer|only|never|not?|instead|rather)\b", re.IGNORECASE)


def _only_runs(wanted: frozenset[str], line: str) -> bool:
    """Whether a line has a tool only in commands that it runs, as "Set up with `uv sync`" does, and chooses none."""
    without = _COMMAND.sub(lambda m: " " if wanted & _stems(m["shown"] or m["named"]) else m[0], line)
    return not (_CHOSEN.search(without) or wanted <= _stems(without))


_CLAUSE_END = re.compile(r"(?<=[.;!?])\s|[()]")


def _same_polarity(asked: str, wanted: frozenset[str], line: str, covered: float, *, in_full: bool) -> bool:
    """Whether a line has the polarity of `asked`, judged by the clause that says all of it, if any ("pnpm. No npm.").

    With `in_full` the refused part of the line counts too, and if it has most of the words.
    """
    told = max(_CLAUSE_END.split(line), key=lambda one: len(wanted & _stems(one)))
    told = told if len(wanted & _stems(told)) >= covered * len(wanted) else line
    chosen = chosen_part(told)
    in_full = in_full or len(wanted & _stems(chosen)) * 2 < len(wanted & _stems(told))
    if _allow_alike(asked, told):
        return True
    return has_negation(asked) == has_negation(told if in_full else chosen) and _same_force(asked, told)


# Forbids a thing unless something else holds, in two ways: "never deploy without a test", "deploy only with a test".
_NEVER_WITHOUT = re.compile(
    r"\b(?:never|not|no|\w+n['\u2019]?t|nie|niemals|nicht|kein\w*|nunca|no|não|jamais|pas|mai|non)\b[^.;]{1,80}?"
    r"\b(?:without|unless|ohne|außer|sin|sem|sans|senza)\b",
    re.IGNORECASE,
)
_ONLY_WITH = re.compile(
    r"\b(?:only (?:with|after|once|if|when)|(?:nur|erst) (?:mit|nach|wenn)|seulement (?:avec|après|si)"
    r"|s[oó](?:lo)? (?:con|com|si|se|después|depois|dopo))\b",
    re.IGNORECASE,
)


def _allow_alike(one: str, other: str) -> bool:
    """Whether one text forbids a thing without a condition, and the other allows it only with one."""
    return any(_NEVER_WITHOUT.search(a) and _ONLY_WITH.search(b) for a, b in ((one, other), (other, one)))


_NEEDLESS = re.compile(
    r"\b(?:(?:not|never|no longer|\w+n['\u2019]?t) (?:have to|need|(?:be )?(?:required?|necessary))\b"
    r"|need(?: not|n['\u2019]t)\b|no need\b|no (?:\w+ ){1,3}(?:needed|necessary|required)\b|not needed\b)",
    re.IGNORECASE,
)


def _same_force(one: str, other: str) -> bool:
    """Whether two rules both order, both ban or both drop something: "without" alone does not make a ban."""
    if bool(_NEEDLESS.search(one)) != bool(_NEEDLESS.search(other)):
        return False
    excepted = EXCEPTION.search(one) and EXCEPTION.search(other)
    return not excepted or has_negation(EXCEPTION.sub(" ", one)) == has_negation(EXCEPTION.sub(" ", other))


_SENTENCE = re.compile(r"(?<=[.;!?])\s+")
_MIN_SHARED = 3  # stems shared with a prohibition in another language, whose other words may differ


_PLACE_AT_END = re.compile(
    r"\s(?:in|inside|within|for)\s(?:(?:the|any|our|my|these)\s)?([\w-]{1,40}(?: [\w-]{1,40}){0,3})\Z"
)


def _without_subject(ban: str, skill: str) -> str:
    """Return a ban without "in the release notes" at its end if that is what the skill is called."""
    found = _PLACE_AT_END.search(ban := ban.rstrip(" .!"))
    return ban[: found.start()] if found and stems(found[1]) <= stems(skill.replace("-", " ")) else ""


def find_same_ban(change: str, text: str) -> str | None:
    """Return the line of `text` that forbids what `change` forbids, in the same words or those shared by languages."""
    if len(change) > MAX_CHANGE or not has_negation(change):
        return None
    wanted, asked = ban_text(change), _stems(REACH.sub("", change)) - PLAIN_VERBS
    foreign = is_other_language(change, text)
    everywhere = ban_text(_without_subject(change, read_front(text).name))
    for _, line in rule_texts(text) if len(wanted.split()) > 1 else ():
        for one in filter(has_negation, _SENTENCE.split(line)):
            own = _stems(REACH.sub("", one)) - PLAIN_VERBS
            if (
                (wanted.startswith("no ") and f" {wanted} " in f" {ban_text(one)} " and same_exception(change, one))
                or (everywhere.startswith("no ") and everywhere == ban_text(one))
                or (is_same_code_ban(change, one) and adds_nothing(change, line))
                or (foreign and _share_terms(asked, own) and numbers(change) <= numbers(one))
            ):
                return line
    return None


def _share_terms(asked: frozenset[str], own: frozenset[str]) -> bool:
    """Whether two prohibitions in different languages share most of their words, or several."""
    shared = asked & own
    differs_by_one = max(len(asked), len(own)) - len(shared) <= 1
    return bool(shared) and len(shared) * 2 >= len(own) and (differs_by_one or len(shared) >= _MIN_SHARED)


_MIN_MEANT = 0.6  # share of the weight of a change, and of a clause of a line, that the other must have
_MIN_MET = 2  # shared terms: many rules share a single one
_AGENT_STEMS = frozenset(map(stem, ("agent", "assistant", "claude", "bot")))  # every rule addresses the agent
_PLACE_WORD = re.compile(r"\b(?:first|last|top|bottom|start|end|beginning|next to|ask|tell|show|say)\b", re.IGNORECASE)
_SAME_PLACE = {"first": "start", "last": "end"}  # "put the number first", "start with the number"
_REASON = re.compile(
    r"(?<=\w{3}),? (?:so|because|cuz|since|otherwise|damit|sonst|weil|pour que|parce que|sinon|para que|porque)\b.*",
    re.IGNORECASE,
)
_ADDITION_WORD = re.compile(
    r"\b(?:also|too|as well|auch|también|également|aussi|anche|também|ook|też|také|также)\b", re.IGNORECASE
)


def find_same_meaning(change: str, text: str) -> str | None:
    """Return the line of `text` that says what `change` says in other words; they must share at least one.

    The line must express most of the change, and the change most of one clause of the line, with the same polarity. The
    subject of the skill or of the section need not be repeated.
    """
    asked = _REASON.sub("", _as_consent(change)) if len(change) <= MAX_CHANGE else ""
    if _ADDITION_WORD.search(asked):
        return None
    wanted, own, title = content_of(asked), _stems(asked), read_front(text).name.replace("-", " ")
    for heading, written in rule_texts(text):
        line = _as_consent(written)
        if (
            not own.isdisjoint(_stems(line))
            and not line.startswith(("#", "|"))
            and _directions(asked) == _directions(line)
            and _place_words(asked) <= _place_words(line)
            and numbers(asked) <= numbers(line)
            and _same_force(asked, line)
            and _same_files(asked, line)
            and wanted.asked & CHOICE_STEMS <= choice_members(line)
            and same_choice(asked, line)
            and not is_reversed_choice(asked, line)
            and not loses_order(_ANY_TIME.sub("", asked), line)
            and not _is_parallel(asked, line)
            and all(
                find_same_ban(part, text) for part in _lost_parts(asked, f"{title} {heading} {line}")
            )  # "No X, and Y" may be two lines
            and _is_same_meaning(wanted, content_of(line), Words(terms(f"{title} {heading}")))
            and not asks_for_refused(asked, line)
        ):
            return written
    return None


_MIN_PARALLEL = 7  # words: of shorter rules that differ in one word many say the same


def _is_parallel(asked: str, line: str) -> bool:
    """Whether a text has the words of another in their places, except a few, which are what is new in it.

    "Rows in the title of every plot" and "columns in the subtitle of every plot" have words of one meaning and are two
    rules.
    """
    one, other = (WORD.findall(text.casefold()) for text in (asked, line))
    different = sum(a != b for a, b in zip(one, other, strict=False))
    return len(one) == len(other) >= _MIN_PARALLEL and 0 < different * 3 <= len(one)


_FILE = re.compile(r"(?<![\w./-])(?:[\w.-]+/)+[\w.*-]*|(?<![\w-])[\w-]+\.[a-z]\w{0,5}\b")
_PLACED = re.compile(rf"\b(?:in|into|to|under|at|inside|next to) `?({_FILE.pattern})", re.IGNORECASE)


def _same_files(asked: str, line: str) -> bool:
    """Whether `line` names the files and folders of `asked`, and `asked` those in which `line` puts something."""
    chosen = chosen_part(asked)
    wanted, places = _FILE.findall(chosen), _PLACED.findall(chosen_part(line))
    return all(_has_name(one, line) for one in wanted) and (not places or any(_has_name(one, asked) for one in places))


def _has_name(path: str, text: str) -> bool:
    return path.strip("/.").rpartition("/")[2].casefold() in text.casefold()


def _is_same_meaning(wanted: Content, told: Content, about: Words) -> bool:
    known = Words(told.words)
    said = [
        one
        for one in wanted.words
        if one in known or not (one in about or (one.stem in META_STEMS and not one.meanings))
    ]
    if weight_share(term_weights(said, told.words)) < _MIN_MEANT:
        return False
    for part in (*told.parts, ContentPart(told.words, told.asked, told.codes, told.denies)):
        weights = term_weights([one for one in part.words if one.stem not in _AGENT_STEMS or one in Words(said)], said)
        nearest = _nearest(wanted, part)
        enough = weight_share(weights) >= _MIN_MEANT and sum(map(bool, weights.values())) >= _MIN_MET
        if enough and nearest.denies == part.denies == _nearest(told, nearest).denies:
            return True
    return False


def _nearest(content: Content, part: ContentPart) -> ContentPart:
    """Return the part of a text that shares most with a part of another."""
    return max(content.parts, key=lambda one: sum(term_weights(one.words, part.words).values()))


def _place_words(text: str) -> Counter[str]:
    """Return the words for a place, each as often as in the text: "start the server first" has two."""
    found = _PLACE_WORD.findall(unify_words(text).lower())
    return Counter(_SAME_PLACE.get(one, one) for one in found)


def _directions(text: str) -> frozenset[str]:
    return _DIRECTIONS.intersection(word.casefold() for word in WORD.findall(unify_words(text)))
