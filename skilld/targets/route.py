"""Chooses a target by rules, for the offline back-end: words and possible targets in, one target out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import PurePosixPath
from types import MappingProxyType

from skilld.classify.backends import OfflineBackend
from skilld.classify.contradiction import OWN_PROJECTS
from skilld.classify.conversation_style import ANY_PROJECT, PROJECT_SCOPE, is_about_conversation, is_about_project
from skilld.classify.offline.placement import replacement, section_for
from skilld.classify.offline.relevance import WEAK_STEMS
from skilld.classify.offline.removals import with_removals
from skilld.classify.said_already import says_already
from skilld.targets.scopes import covers, find_bare_scopes, find_scopes, fits, kinds_of_files
from skilld.types import Kind, Message, SkillDoc, SkillRef, TargetKind, Update
from skilld.words import content_stems, is_about, likeness, stems

# About the person, in any project.
_PERSONAL_PATTERN = re.compile(
    r"\b(?:in|for|across|on) (?:all|every|any|none)(?: of)?(?: my| the)? (?:projects?|repos?|repositor\w+)\b"
    rf"|\b(?:{OWN_PROJECTS})\b"
    r"|\b(?:in general|generally)\b[^\n]{0,80}\beverywhere\b|\bcall me\b|\bmy name is\b|\bi (?:\w+ )?prefer\b"
    r"|\b(?:in|für|bei) allen? (?:mein(?:e|en) )?(?:projekten?|repos)\b"
    r"|\bnenne? mich\b|\bantworte?\b[^.]{0,20} auf\b|\bich bevorzuge\b"
    r"|\b(?:dans|pour) tous mes projets\b|\bappelle[- ]moi\b|\br[ée]ponds?[- ]moi\b|\bje pr[ée]f[èe]re\b"
    r"|\b(?:en|para) (?:todos mis proyectos|cualquier proyecto)\b|\bll[áa]mame\b|\bresp[óo]ndeme\b|\bprefiero\b"
    r"|\b(?:in|per) tutti i miei progetti\b|\bchiamami\b|\brispondimi\b|\bpreferisco\b"
    r"|\b(?:em|para) todos os meus projetos\b|\bme chame\b|\bresponda-?me\b|\beu prefiro\b"
    r"|во всех (?:моих )?проектах|называй меня|отвечай мне|я предпочитаю"
    r"|所有项目|每个项目|叫我|すべてのプロジェクト|모든 프로젝트",
    re.IGNORECASE,
)
# States a preference.
_PREFERENCE_PATTERN = re.compile(
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
# However little of a project was worked on.
_OF_ALL_WORK = re.compile(
    r"\b(?:commit|push|merge|rebase|branch|release|changelog|readme|pull[- ]request|dependenc)\w*"
    r"|\b(?:PR|MR|CI|MSRV)s?\b|\bbefore you (?:say|call|tell)\b"
)
_NAME = re.compile(r"[^\W\d_]+")
_NO_STEMS: frozenset[str] = frozenset()
_TASK_STEMS = WEAK_STEMS | stems("test review update write fix run build")  # what is done in any work
_MIN_SUBJECT_STEMS = 2
_FILE_NAME = re.compile(
    r"(?<![\w.])((?:claude|agents|gemini|qwen|copilot-instructions)(?:\.local)?\.md)\b", re.IGNORECASE
)
_MENTION = re.compile(r"(?<![\w.~/-])((?:~/|\./|/)?(?:[\w.-]+/)*[\w.-]+\.mdc?)\b", re.IGNORECASE)
# "The AGENTS.md of services/api", "... in web/", "... of the web folder": the folder comes after the file's name.
_FOLDER_BEHIND = re.compile(
    r"`?(?: file| datei)? (?:of|in|under|inside|from|for|von|im|unter|für|de|del|du|do|da|di|van|w|в|из) "
    r"(?:the |der |dem )?"
    r"[`\"']?((?:[\w.-]+/)+[\w-]+|[\w-]+(?=/)|[\w-]+(?=[`\"']? (?:folder|directory|ordner|verzeichnis)\b))",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"\b(?:in|into|inside|to|under|onto|dans|[àa]u?|en|em|ao|nel|ins?|zu|unter)\W+(?:\w+\W+){0,2}$", re.IGNORECASE
)
_STAND_IN_NAME = "AGENTS.md"
_KNOWN_TO_GRAMMAR = re.compile(r"(?:claude|agents|gemini)\.md$|\.mdc$", re.IGNORECASE)  # by the offline grammar
_MAX_FILES = 4  # named in one text as the place for something
_MAX_LENGTH = 20_000  # characters that are searched
_MAX_DISTANCE = 120  # characters between the verb and the file's name
_SENTENCE_END = re.compile(r"[.!?;]\s|\n")
_OWN_FILE = re.compile(r"~/[\w./-]+\.md\b|\b(?:global|personal|user(?:-level)?)\s+\w+\.md\b", re.IGNORECASE)
_WRITE_VERB = re.compile(
    r"\b(?:put|add|write|note|document|record|save|append|keep|store|include|schreib\w*|trag\w*|notier\w*|[ée]cri\w*"
    r"|ajoute\w*|anot\w*|escrib\w*|a[ñn]ad\w*|agrega\w*|aggiung\w*|scriv\w*|adicion\w*)\b"
    r"|запиши|добавь|写|加|書|追加|적어|추가"
    r"|\b(?:belongs?|(?:should|must|shall|has to|needs? to|ought to) go|gehör(?:t|en)|soll(?:te)?|muss|kommt)"
    r" (?:also |auch )?(?:in|into|to|ins?) (?:the |our |my |die |unsere )?`?[\w./~-]{0,60}\.md\b",
    re.IGNORECASE,
)


def ordered_file(text: str) -> str:
    """Return the instruction file that words ask to write to, in lower case; "" if none."""
    found = _FILE_NAME.search(text)
    return found[1].lower() if found and _WRITE_VERB.search(text) else ""


def ordered_files(text: str) -> list[str]:
    """Return the first files that words ask to write to, as named there."""
    return list(islice(dict.fromkeys(_mentioned_files(text)), _MAX_FILES)) if _WRITE_VERB.search(text) else []


def _mentioned_files(text: str) -> Iterator[str]:
    for match in _MENTION.finditer(text[:_MAX_LENGTH]):
        before = _SENTENCE_END.split(text[max(0, match.start() - _MAX_DISTANCE) : match.start()])[-1]
        if _FILE_NAME.fullmatch(match[1]) or (_WRITE_VERB.search(before) and _PREPOSITION.search(before)):
            name = match[1].removeprefix("./")
            if "/" not in name and (folder := _FOLDER_BEHIND.match(text, match.end())):
                yield f"{folder[1]}/{name}"
            yield name


def matches_name(name: str, *ways: str) -> bool:
    """Whether a name means a file with these paths: it equals one of them or its last parts."""
    return any(f"/{way}".lower().endswith(f"/{name}".lower()) for way in ways)


def _ordered_target(text: str, refs: Sequence[SkillRef]) -> SkillRef | None:
    """Return the file among these that words ask to write to, if any.

    A bare name means the project's file, so it is the personal one only if the words say so.
    """
    own = bool(_OWN_FILE.search(text))
    folders = [scope.folder for scope in find_bare_scopes(text)]
    first = sorted(refs, key=lambda ref: (ref.kind is TargetKind.PERSONAL) != own)
    files = [ref for ref in first if ref.kind is not TargetKind.SKILL]
    for name in ordered_files(text):
        if "/" not in name and not (own or is_personal(text)):
            files = [ref for ref in files if ref.kind is not TargetKind.PERSONAL]
        names = {name.lower()} if "/" in name else {f"{folder}/{name}".lower() for folder in folders}
        whole = [ref for ref in files if names & {ref.name.lower(), ref.path.lower()}]
        if found := whole or [ref for ref in files if matches_name(name, ref.name, ref.path)]:
            return found[0]
    return None


def _orders_other_file(text: str, refs: Sequence[SkillRef]) -> bool:
    """Whether words ask to write to an instruction file that is not one of these: it must not go to another instead.

    A bare name may mean the project's file, whatever it is called, if there is one.
    """
    if _OWN_FILE.search(text) or is_personal(text):
        return False
    names = [name for name in ordered_files(text) if _FILE_NAME.search(name)]
    of_project = any(ref.kind in {TargetKind.INSTRUCTIONS, TargetKind.RULES} for ref in refs)
    return any("/" in name or not of_project for name in names)


def is_personal(text: str) -> bool:
    """Whether words are about the person and not about one project."""
    if ANY_PROJECT.search(text):
        return True
    if is_about_project(text):
        return False
    return bool(_PERSONAL_PATTERN.search(text) or _PREFERENCE_PATTERN.match(text) or is_about_conversation(text))


def is_subject(text: str, subject: frozenset[str]) -> bool:
    """Whether words are about the subject of an unused skill, which has these stems, and not only about a similar task.

    "Do not add docstrings to test functions" is not about a skill to "create, review and test migrations".
    """
    return is_about(text, subject) and len(content_stems(text) & subject - _TASK_STEMS) >= _MIN_SUBJECT_STEMS


def choose_target(
    text: str, refs: Sequence[SkillRef], subjects: Mapping[str, frozenset[str]] = MappingProxyType({})
) -> SkillRef | None:
    """Return the target for words (the quote and its surroundings); `refs` are in order of preference.

    `subjects` are the stems of the skills among them, by path.
    """
    if (named := _ordered_target(text, refs)) is not None:
        return named
    if _orders_other_file(text, refs):
        return None
    refs = [ref for ref in refs if not ref.on_order]
    if not is_personal(text):
        wanted = content_stems(text)
        skills = [
            ref for ref in refs if ref.kind is TargetKind.SKILL and is_subject(text, subjects.get(ref.path, _NO_STEMS))
        ]
        if skills:
            return max(skills, key=lambda ref: likeness(wanted, subjects[ref.path]))
    about = find_scopes(text)
    scopes = (*about, *find_bare_scopes(text))
    ruling = [ref for ref in refs if ref.patterns and any(fits(ref.patterns, scope) for scope in scopes)]
    if ruling and not is_personal(text):
        return next((ref for ref in ruling if any(covers(ref.patterns, scope) for scope in scopes)), ruling[0])
    # A file for some paths is not a target for words about others, and no rule is created for words about all files.
    narrow = [ref for ref in refs if ref.patterns and (about or ref.absent or ref.kind is TargetKind.INSTRUCTIONS)]
    refs = [ref for ref in refs if ref not in narrow and ref.kind is not TargetKind.SKILL]
    own = [ref for ref in refs if (ref.kind is TargetKind.PERSONAL) == is_personal(text)]
    if PROJECT_SCOPE.search(text):
        own.sort(key=lambda ref: ref.kind is TargetKind.RULES or ref.absent)
    else:  # a rule for the paths that were worked on is not loaded in other work
        own.sort(key=lambda ref: bool(ref.patterns) and not _is_about_paths(text, ref))
    there = [ref for ref in own if not ref.absent]
    return next(iter(there or own), None)


def _is_about_paths(text: str, rule: SkillRef) -> bool:
    """Whether words name what a rule file or its paths are called, and not how any work is committed or released."""
    if _OF_ALL_WORK.search(text):
        return False
    names = _NAME.findall(" ".join([PurePosixPath(rule.name).stem, *rule.patterns, *kinds_of_files(rule.patterns)]))
    return not stems(" ".join(names)).isdisjoint(content_stems(text))


class RoutedBackend(OfflineBackend):
    """The offline back-end with targets: it detects instructions, and rules choose the target of each.

    What is about one of the `overlaid` skills (in use, but never edited) gets that skill's number. What a model made of
    the words earlier (`kept`) counts unless the rules detect something else.
    """

    def __init__(
        self,
        refs: Mapping[int, SkillRef],
        overlaid: Sequence[SkillDoc],
        subjects: Mapping[str, frozenset[str]],
        kept: Update | None = None,
    ) -> None:
        super().__init__()
        self._refs, self._overlaid, self._subjects, self._kept = refs, overlaid, subjects, kept

    def detect(
        self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
    ) -> tuple[list[Update], list[str]]:
        """Return the updates, each with its target. Whether the target says so already is checked later."""
        del instructions
        updates, left_out = self._detect(messages)
        if (kept := self._kept) and all(says_already(update.change, kept.change) for update in updates):
            updates = [kept]
        texts = {message.turn: message.text for message in messages}
        before = {one.turn: last.text for last, one in pairwise(messages) if one.by_person and not last.by_person}
        of_skill = super().detect(messages, self._overlaid)[0] if self._overlaid else []
        about = {(one.turn, one.quote): one for one in of_skill if one.confidence >= self.min_confidence}
        found = [
            about.get((update.turn, update.quote))
            or self._place(update, texts[update.turn], before.get(update.turn, ""), skills)
            for update in updates
        ]
        return with_removals(found, messages, [one for one in skills if one.number in self._refs]), left_out

    def _detect(self, messages: Sequence[Message]) -> tuple[list[Update], list[str]]:
        """Return the updates. Names of loaded files are replaced by one that the offline grammar knows."""
        refs = list(self._refs.values())
        names: dict[int, str] = {}
        for message in messages:
            found = _ordered_target(message.text, refs) if message.turn is not None else None
            named = ordered_files(message.text) if found and _STAND_IN_NAME not in message.text else []
            name = next((one for one in named if found and matches_name(one, found.name, found.path)), "")
            if message.turn is not None and name and not _KNOWN_TO_GRAMMAR.search(name):
                names[message.turn] = name
        shown = [
            replace(one, text=one.text.replace(names.get(one.turn or 0, _STAND_IN_NAME), _STAND_IN_NAME))
            for one in messages
        ]
        updates, left_out = super().detect(shown, ())
        named_again = [(one, names.get(one.turn, _STAND_IN_NAME)) for one in updates]
        return [
            replace(one, quote=one.quote.replace(_STAND_IN_NAME, name), change=one.change.replace(_STAND_IN_NAME, name))
            for one, name in named_again
        ], left_out

    def _place(self, update: Update, turn: str, before: str, skills: Sequence[SkillDoc]) -> Update:
        numbers = {id(ref): number for number, ref in self._refs.items()}
        refs = list(self._refs.values())
        about = turn if ordered_file(turn) or _ordered_target(turn, refs) else update.quote
        ref = choose_target(about, refs, self._subjects)
        doc = next((doc for doc in skills if ref is not None and doc.number == numbers[id(ref)]), None)
        if doc is None:
            return update
        if not doc.text.strip():
            return replace(update, skill=doc.number)
        kind = Kind.CHANGE_STEP if replacement(update.change, doc.text) else update.kind
        section = section_for(update.quote, update.change, doc.text, f"{turn}\n{before}")
        return replace(update, skill=doc.number, section=section.heading, kind=kind)
