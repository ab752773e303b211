"""Chooses a target by code, for the back-end that has only rules: words and places in, one place out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType

from skilld.classify.backends import Backend, Unfit
from skilld.classify.conversation_style import PROJECT_SCOPE, is_about_conversation, is_about_project
from skilld.classify.offline.placement import replacement, section_for
from skilld.targets.scopes import scopes, takes
from skilld.types import Kind, Message, Operation, SkillDoc, SkillRef, TargetKind, Update, Usage
from skilld.words import content_stems, is_about, likeness

# Said of the person, wherever they work.
_PERSONAL = re.compile(
    r"\b(?:in|for|across|on) (?:all|every|any)(?: of)?(?: my| the)? (?:projects?|repos?|repositor\w+)\b"
    r"|\bcall me\b|\bmy name is\b|\bi (?:\w+ )?prefer\b|\bwhatever (?:project|repo)\b|\bwherever i work\b"
    r"|\bin allen (?:meinen )?(?:projekten|repos)\b|\bnenne? mich\b|\bantworte?\b[^.]{0,20} auf\b|\bich bevorzuge\b"
    r"|\bdans tous mes projets\b|\bappelle[- ]moi\b|\br[ée]ponds?[- ]moi\b|\bje pr[ée]f[èe]re\b"
    r"|\ben todos mis proyectos\b|\bll[áa]mame\b|\bresp[óo]ndeme\b|\bprefiero\b"
    r"|\bin tutti i miei progetti\b|\bchiamami\b|\brispondimi\b|\bpreferisco\b"
    r"|\bem todos os meus projetos\b|\bme chame\b|\bresponda-?me\b|\beu prefiro\b"
    r"|во всех (?:моих )?проектах|называй меня|отвечай мне|я предпочитаю"
    r"|所有项目|每个项目|叫我|すべてのプロジェクト|모든 프로젝트",
    re.IGNORECASE,
)
# Says how the person likes things.
_LIKES = re.compile(
    r"""\W*(?:(?:in\ general|generally|overall|personally|honestly|and|but|also|btw|by\ the\ way|generell
        |grunds[äa]tzlich|im\ allgemeinen|und|aber|en\ g[ée]n[ée]ral|et|en\ general|y|in\ generale|em\ geral|e),?\ )*
    (?:i\ (?:(?:really|just|generally|usually|always)\ )?
        (?:like|love|hate|dislike|do(?:\ not|n?['’]?t)\ (?:really\ )?like|can(?:not|['’]?t)\ stand)
    | i(?:['’]m|\ am)\ (?:not|no)\ (?:a\ )?(?:big\ )?fan\ of | i(?:['’]d|\ would)\ rather(?!\ you)
    | ich\ (?:mag|hasse|liebe|\w+\ lieber) | (?:mag|hasse|liebe)\ ich | \w+\ ich\ lieber
    | mir\ (?:ist|sind|w[äa]re\w*)\ .*\ lieber | je\ (?:d[ée]teste|n['’]aime\ pas) | j['’](?:aime|adore)
    | (?:no\ )?me\ (?:gusta|encanta)n? | odio | detesto | (?:non\ )?mi\ piac\w+ | (?:n[ãa]o\ )?gosto\ de | odeio
    | я\ (?:не\ )?(?:люблю|ненавижу) | мне\ (?:не\ )?нрав\w+
    | (?:ich\ (?:will|m[öo]chte)|je\ veux|quiero)\ (?:\w+\ ){0,2}?
        (?:antworten|erkl[äa]rungen|r[ée]ponses|explications|respuestas|explicaciones))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_NONE: frozenset[str] = frozenset()
_FILE_NAME = re.compile(
    r"(?<![\w.])((?:claude|agents|gemini|qwen|copilot-instructions)(?:\.local)?\.md)\b", re.IGNORECASE
)
_MENTION = re.compile(r"(?<![\w.~/-])((?:~/|\./|/)?(?:[\w.-]+/)*[\w.-]+\.mdc?)\b", re.IGNORECASE)
_INTO = re.compile(
    r"\b(?:in|into|inside|to|under|onto|dans|[àa]u?|en|em|ao|nel|ins?|zu|unter)\W+(?:\w+\W+){0,2}$", re.IGNORECASE
)
_STAND_IN = "AGENTS.md"
_KNOWN = re.compile(r"(?:claude|agents|gemini)\.md$|\.mdc$", re.IGNORECASE)  # to the grammar
_MAX = 4  # files that one text orders something into
_MAX_LENGTH = 20_000  # characters of it that are looked at
_REACH = 120  # characters between the order and the file
_SENTENCE_END = re.compile(r"[.!?;]\s|\n")
_OWN_FILE = re.compile(r"~/[\w./-]+\.md\b|\b(?:global|personal|user(?:-level)?)\s+\w+\.md\b", re.IGNORECASE)
_PUTS = re.compile(
    r"\b(?:put|add|write|note|document|record|save|append|keep|store|include|schreib\w*|trag\w*|notier\w*|[ée]cri\w*"
    r"|ajoute\w*|anot\w*|escrib\w*|a[ñn]ad\w*|agrega\w*|aggiung\w*|scriv\w*|adicion\w*)\b"
    r"|запиши|добавь|写|加|書|追加|적어|추가",
    re.IGNORECASE,
)


def ordered_file(text: str) -> str:
    """Return the name of the instruction file that words order something into, in lower case; empty if none."""
    found = _FILE_NAME.search(text)
    return found[1].lower() if found and _PUTS.search(text) else ""


def files_ordered(text: str) -> list[str]:
    """Return the first files that words order something into, as they name them."""
    return list(islice(dict.fromkeys(_into(text)), _MAX)) if _PUTS.search(text) else []


def _into(text: str) -> Iterator[str]:
    for match in _MENTION.finditer(text[:_MAX_LENGTH]):
        before = _SENTENCE_END.split(text[max(0, match.start() - _REACH) : match.start()])[-1]
        if _FILE_NAME.fullmatch(match[1]) or (_PUTS.search(before) and _INTO.search(before)):
            yield match[1].removeprefix("./")


def is_called(name: str, *ways: str) -> bool:
    """Whether a file that is reached by these ways is meant by a name: by the whole of one, or the end of it."""
    return any(f"/{way}".lower().endswith(f"/{name}".lower()) for way in ways)


def _ordered(text: str, refs: Sequence[SkillRef]) -> SkillRef | None:
    """Return the file that words order something into, if it is one of these."""
    first = sorted(refs, key=lambda ref: (ref.kind is TargetKind.PERSONAL) != bool(_OWN_FILE.search(text)))
    files = [ref for ref in first if ref.kind is not TargetKind.SKILL]
    for name in files_ordered(text):
        whole = [ref for ref in files if "/" in name and name.lower() in {ref.name.lower(), ref.path.lower()}]
        if found := whole or [ref for ref in files if is_called(name, ref.name, ref.path)]:
            return found[0]
    return None


def is_personal(text: str) -> bool:
    """Whether words are about the person in any project."""
    return bool(_PERSONAL.search(text) or _LIKES.match(text) or is_about_conversation(text)) and not is_about_project(
        text
    )


def choose(
    text: str, refs: Sequence[SkillRef], subjects: Mapping[str, frozenset[str]] = MappingProxyType({})
) -> SkillRef | None:
    """Return the place for words, the quote with what stands around it; `refs` come in their order of preference.

    `subjects` are the stems of the skills among them, by path.
    """
    if (named := _ordered(text, refs)) is not None:
        return named
    refs = [ref for ref in refs if not ref.on_order]
    if not is_personal(text):
        wanted = content_stems(text)
        skills = [ref for ref in refs if ref.kind is TargetKind.SKILL and is_about(text, subjects.get(ref.path, _NONE))]
        if skills:
            return max(skills, key=lambda ref: likeness(wanted, subjects[ref.path]))
    about = scopes(text)
    ruling = [ref for ref in refs if ref.patterns and any(takes(ref.patterns, scope) for scope in about)]
    if ruling and not is_personal(text):
        return ruling[0]
    # A rule for some paths is no place for words about others, and none is made for words about all.
    refs = [ref for ref in refs if not (ref.patterns and (about or ref.absent)) and ref.kind is not TargetKind.SKILL]
    own = [ref for ref in refs if (ref.kind is TargetKind.PERSONAL) == is_personal(text)]
    if PROJECT_SCOPE.search(text):
        own.sort(key=lambda ref: ref.kind is TargetKind.RULES or ref.absent)
    there = [ref for ref in own if not ref.absent]
    return next(iter(there or own), None)


class RoutedBackend:
    """A back-end of rules alone before places: what it hears is no skill's, and code says where it goes.

    What is said of one of the `overlaid`, skills in use that are never edited, goes to that one's number.
    """

    def __init__(
        self,
        inner: Backend,
        refs: Mapping[int, SkillRef],
        overlaid: Sequence[SkillDoc] = (),
        subjects: Mapping[str, frozenset[str]] = MappingProxyType({}),
    ) -> None:
        self._inner = inner
        self._subjects = subjects
        self._refs = refs
        self._overlaid = overlaid
        self.name = inner.name
        self.together = inner.together
        self.sure = inner.sure

    @property
    def usage(self) -> Usage:
        """What its calls have cost: nothing."""
        return self._inner.usage

    def detect(
        self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
    ) -> tuple[list[Update], list[str]]:
        """Return what was said, each with its place. Whether that says it already is for others to judge."""
        del instructions
        updates, left_out = self._heard(messages)
        texts = {message.turn: message.text for message in messages}
        of_skill = self._inner.detect(messages, self._overlaid)[0] if self._overlaid else []
        about = {(one.turn, one.quote): one for one in of_skill if one.confidence >= self.sure}
        found = [
            about.get((update.turn, update.quote)) or self._placed(update, texts[update.turn], skills)
            for update in updates
        ]
        return found, left_out

    def _heard(self, messages: Sequence[Message]) -> tuple[list[Update], list[str]]:
        """Return what was said; in an order, any file that is loaded passes for one that is known to hold rules."""
        refs = list(self._refs.values())
        names: dict[int, str] = {}
        for message in messages:
            found = _ordered(message.text, refs) if message.turn is not None else None
            named = files_ordered(message.text) if found and _STAND_IN not in message.text else []
            name = next((one for one in named if found and is_called(one, found.name, found.path)), "")
            if message.turn is not None and name and not _KNOWN.search(name):
                names[message.turn] = name
        shown = [
            replace(one, text=one.text.replace(names.get(one.turn or 0, _STAND_IN), _STAND_IN)) for one in messages
        ]
        updates, left_out = self._inner.detect(shown, ())
        named_again = [(one, names.get(one.turn, _STAND_IN)) for one in updates]
        return [
            replace(one, quote=one.quote.replace(_STAND_IN, name), change=one.change.replace(_STAND_IN, name))
            for one, name in named_again
        ], left_out

    def _placed(self, update: Update, turn: str, skills: Sequence[SkillDoc]) -> Update:
        numbers = {id(ref): number for number, ref in self._refs.items()}
        refs = list(self._refs.values())
        about = turn if ordered_file(turn) or _ordered(turn, refs) else update.quote
        ref = choose(about, refs, self._subjects)
        doc = next((doc for doc in skills if ref is not None and doc.number == numbers[id(ref)]), None)
        if doc is None:
            return update
        if not doc.text.strip():
            return replace(update, skill=doc.number)
        kind = Kind.CHANGE_STEP if replacement(update.change, doc.text) else update.kind
        return replace(
            update, skill=doc.number, section=section_for(update.quote, update.change, doc.text).heading, kind=kind
        )

    def reword(self, updates: Sequence[Update], said: Sequence[str]) -> list[str]:
        """Return nothing: the person's own words are used."""
        return self._inner.reword(updates, said)

    def polarity(self, updates: Sequence[Update], said: Sequence[str]) -> list[bool | None]:
        """Return nothing: the rules are not sure."""
        return self._inner.polarity(updates, said)

    def edit(self, updates: Sequence[Update], skill: SkillDoc, unfit: Unfit | None = None) -> list[Operation] | str:
        """Return the operations that put the updates in place of what they contradict."""
        return self._inner.edit(updates, skill, unfit)
