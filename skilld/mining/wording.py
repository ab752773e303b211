"""Whether a line in a model's words says only what its sources say. Pure.

Each content word must be typed by the person during the task, be in a line that several sessions share, or be in lines
of two sessions; besides, a text may have the plain words of a short list. So a model can put together what belongs
together, and nothing of its own, of something that was only read, or of one session comes in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, takewhile

from skilld.classify.polarity import seems_reversed
from skilld.classify.prompt import load_text
from skilld.classify.support import MIN_OWN_SHARE, MIN_WRITTEN_SHARE, exact_tokens, holds_token
from skilld.edit.change import Finding
from skilld.mining.actions import PRIVILEGE_PATTERN, has_machine_path, line_findings, tokens, unfit_reason
from skilld.mining.similarity import ELLIPSIS, MIN_SESSIONS
from skilld.mining.values import Part, PartKind, count_sessions
from skilld.text import fold, safe_text
from skilld.words import (
    contains_name,
    content_stems,
    has_negation,
    has_unspaced,
    matching_share,
    matching_words,
    normalize,
    proper_names,
    stem,
)

_MIN_FIRST_WORDS = 2  # before the "\u2026" of a command whose second word says what it does
MAX_LENGTH = 240  # characters of a line
# Words that say nothing without the others: what one does with a text, a file or a list, in which order, to which part.
# None of them removes, sends, permits or leaves out anything (`classify/prompts/plain_words.txt`).
_PLAIN_STEMS = frozenset(map(stem, re.findall(r"\w+", load_text("plain_words"))))
_STRONG_STEMS = content_stems(
    """
    delete remove drop kill stop close reset revert undo overwrite replace force skip ignore disable enable allow
    approve accept permit grant bypass suppress send post publish deploy release upload push merge rebase amend install
    uninstall download migrate pay buy expose
    """
)
_HOLE_PATTERN = re.compile(r"\{\{\w{1,40}\}\}")
CODE_PATTERN = re.compile(r"`([^`\n]+)`")
_CONDITION_PATTERN = re.compile(r"\bif (?:not?|none|nothing)\b", re.IGNORECASE)
_CONDITIONAL_CLAUSE_PATTERN = re.compile(r"\b(?:if|when|where|until)\b[^,;.]*", re.IGNORECASE)
# An answer before an order, and no ban: "no just commit it".
_REFUSAL_PATTERN = re.compile(
    r"^\W*(?:no|nope|nah)(?:,\s*|\s+(?=(?:just|only|please|but|wait|actually)\b))", re.IGNORECASE
)
# What is wrong as it is, and no ban: "I don't see the commands", "it doesn't do the same", "the tests aren't passing".
_STATEMENT_PATTERN = re.compile(
    r"\bI (?:(?:do|did|ca|could)n['\u2019]?t|(?:do|did|can|could) ?not) (?:even |really )?"
    r"(?:see|find|notice|understand|know)\b"
    r"|\b(?:does|did|is|are|was|were)(?:n['\u2019]?t| not) (?:even |really |yet )?"
    r"(?:(?:(?:do )?the same|there|here|visible)\b"
    r"|(?:work|pass|match|exist|appear|load|compile?)(?:ing\b|\b(?! (?:on|in|to)\b)))",
    re.IGNORECASE,
)
# A reason has a negation of its own: "use one line so I won't have to approve two".
_REASON_PATTERN = re.compile(r"\b(?:so(?: that)?|because|since|otherwise)\b", re.IGNORECASE)
_CLAUSE_END_PATTERN = re.compile(rf"[.;,!?\n]|{_REASON_PATTERN.pattern}", re.IGNORECASE)
_MAX_CLAUSE = 300  # characters before a reason
# What is found or left, and no ban: "it has no complaints", "say which ones you did not fix".
_OUTCOME_PATTERN = re.compile(
    r"\b(?:has|have|is|are|be|with|shows|finds|gives|prints) no (?:(?:more|further|new|other|open|remaining) )?"
    r"(?:complaints?|errors?|warnings?|failures?|findings?|problems?|issues?|conflicts?|regressions?|differences?)\b"
    r"|\b(?:(?:ones?|those|anything|everything) (?:that|which|who)|what|which(?: ones?)?) (?:\w+ ){0,2}?"
    r"(?:did|do|does|is|are|was|were|has|have|could|can)(?: not|n['\u2019]t)\b",
    re.IGNORECASE,
)
_STOP_PATTERN = re.compile(r"\bstop\b(?! \w+ing\b)(?![^,;.]{0,200} from\b)", re.IGNORECASE)
_INSTEAD_PATTERN = re.compile(r"\b(?:instead|rather)\b", re.IGNORECASE)
_MARKUP_PATTERN = re.compile(r"[<>|#*\[\]\\^~]|https?:|://|\b[0-9a-f]{7,40}\b|\d{3,}|\[REDACTED")
_CUT_PATTERN = re.compile(r"[/=:@.]\u2026")  # inside a word: "repos/owner/name/issues/\u2026"
_SUBCOMMAND_PATTERN = re.compile(r"[a-z][\w:-]*")  # "commit" in "git commit"
_PROGRAM_PATTERN = re.compile(r"[a-z][\w.-]*")
_TOOL_PATTERN = re.compile(r"mcp__\w+|[A-Z][A-Za-z]+")  # an agent's own: its name says what it does
# Their names alone do not say what is done, or they remove, change or send whatever comes behind.
_OPEN_PROGRAM_PATTERN = re.compile(
    r"(?:ba|z|da|fi)?sh|python[\d.]*|node|deno|bun|ruby|perl|php|lua|Rscript|npx|bunx|uvx|pipx|xargs|env|eval|exec|source"
    r"|time|timeout|nohup|watch|rm|rmdir|unlink|shred|dd|truncate|mv|cp|ln|find|sed|awk|tee|tar|unzip|rsync|scp|sftp|ssh|nc"
    r"|curl|wget|http|mail|sendmail|psql|mysql|sqlite3|mongosh|redis-cli|crontab|at|cd|pushd|make|just|task|.*/.*"
)
_FOLDER_PATTERN = re.compile(r"cd \S+ && (?=\S)")
_PATH_PATTERN = re.compile(r"/|\.\w+\Z")
_SEPARATOR_PATTERN = re.compile(r"[^\w]+|_+")
# The person also sees these flags on the proposal.
_LISTED_RULES = ("steers-content", "foreign-", "joined-command", "runs-script", "contested-topic", "no-instruction")
# What the person asks for in the same words is theirs to give, such as a screenshot.
_TYPED_RULES = frozenset({"watches-person"})
_ONE_SENTENCE_RULES = frozenset({"sends-data"})  # also theirs to give, if one thing that they typed says all of it
# Short forms that people type; the long one is no other word.
_LONG_FORMS = {
    "app": "application",
    "auth": "authentication",
    "config": "configuration",
    "db": "database",
    "deps": "dependencies",
    "dev": "development",
    "dir": "directory",
    "docs": "documentation",
    "env": "environment",
    "func": "function",
    "info": "information",
    "lib": "library",
    "msg": "message",
    "param": "parameter",
    "perf": "performance",
    "prod": "production",
    "repo": "repository",
}


@dataclass(frozen=True)
class Sources:
    """The lines of evidence that a text names: what the person typed, what sessions share, and what single ones did."""

    parts: Sequence[Part]

    @cached_property
    def typed(self) -> list[str]:
        """What the person typed, as typed."""
        return [
            text
            for part in self.parts
            for text in (part.text, *(proof.quote for proof in part.proofs if not proof.observed))
            if not part.observed
        ]

    @cached_property
    def shared(self) -> list[str]:
        """What several sessions did, with variables."""
        return [part.text for part in self.parts if part.observed and count_sessions([part]) >= MIN_SESSIONS]

    @cached_property
    def single(self) -> dict[str, list[str]]:
        """What single sessions did, by session."""
        found: dict[str, list[str]] = {}
        for part in self.parts:
            if part.observed and count_sessions([part]) < MIN_SESSIONS:
                found.setdefault(part.proofs[0].session, []).append(part.text)
        return found

    @property
    def supported(self) -> bool:
        """Whether the person or at least two sessions support it."""
        return bool(self.typed or self.shared) or len(self.single) >= MIN_SESSIONS

    def holds(self, has: Callable[[str], bool]) -> bool:
        """Whether a text of the person, a shared one, or texts of two sessions have something."""
        if any(map(has, (*self.typed, *self.shared))):
            return True
        return sum(any(map(has, texts)) for texts in self.single.values()) >= MIN_SESSIONS

    @cached_property
    def words(self) -> frozenset[str]:
        """The content words that it may lend to a text."""
        return self.stems()

    def stems(self, *, all_of: bool = False) -> frozenset[str]:
        """Return the content words that two sessions or the person support, or `all_of` them."""
        own = content_stems("\n".join((*self.typed, *map(_spread, (*self.typed, *self.shared)))))
        by_session = [content_stems("\n".join(map(_spread, texts))) for texts in self.single.values()]
        if all_of:
            return own.union(*by_session)
        twice = (
            matching_words(stems, frozenset().union(*(other for other in by_session if other is not stems)))
            for stems in by_session
        )
        return own.union(*twice)


def _spread(text: str) -> str:
    """Return a command or path with its words apart, and written out: "docs/notes.md" is about documentation."""
    apart = _SEPARATOR_PATTERN.sub(" ", text)
    return f"{text} {apart} {' '.join(_LONG_FORMS.get(word.casefold(), '') for word in apart.split())}"


def wording_problem(text: str, sources: Sources, task: Sources, *, is_title: bool = False) -> str | None:
    """Return why no skill may have this text for a line, None if it may.

    The `sources` that it names must stand behind it. All evidence of the `task` lends words, except for those that
    remove, send, permit or leave out something, which the sources must have, as well as half of the others. A title
    asks for nothing, so it cannot ask for the opposite.
    """
    if not sources.supported:
        return "only one session shows it, and nobody said it"
    plain = CODE_PATTERN.sub(" ", _HOLE_PATTERN.sub(" ", text))
    if problem := _form_problem(text, plain):
        return problem
    for span in CODE_PATTERN.findall(text):
        if not _is_known_code(span, task):
            return f"{span!r} did not run like this in two sessions, and nobody typed it"
    if any(not task.holds(lambda one, hole=hole: hole in one) for hole in _HOLE_PATTERN.findall(text)):  # type: ignore[misc]
        return "it has a variable that no line has"
    if foreign := _foreign_words(plain, task):
        return f"no two sessions and no words of the person have {', '.join(map(repr, foreign[:3]))}"
    if problem := _source_problem(text, sources):
        return problem
    commands = [span for span in CODE_PATTERN.findall(text) if "stop" in tokens(span)]
    sense = _STOP_PATTERN.sub(" ", plain) if commands else plain
    return _sense_problem(sense, sources.typed, reversal=not is_title) or _danger(text, sources.typed)


def _source_problem(text: str, sources: Sources) -> str | None:
    """Return why the sources that a text names are not enough for it."""
    words, known = content_stems(_spread(text)), sources.stems(all_of=True)
    strong = [word for word in words & _STRONG_STEMS if not matching_words({word}, known)]
    if strong:
        return f"the lines that it names do not have {', '.join(map(repr, sorted(strong)))}"
    telling = words - matching_words(words, _PLAIN_STEMS)
    if telling and matching_share(telling, known, slips=True) < MIN_OWN_SHARE:
        return "the lines that it names do not say this"
    return None


def _form_problem(text: str, plain: str) -> str | None:
    if len(text) > MAX_LENGTH or fold(text) != text or safe_text(text) != text or text.count("`") % 2:
        return "it is not one line of plain text"
    if not content_stems(text):
        return "it says nothing without the conversation"
    if _MARKUP_PATTERN.search(plain):
        return "it has markup, an address or a number of one time"
    return None


def _is_known_code(span: str, sources: Sources) -> bool:
    """Whether what is in backticks ran like this, or begins like this before "…", in two sessions, or was typed."""
    if unfit_reason(_HOLE_PATTERN.sub("x", span)) or has_machine_path(span):
        return False
    if any(span in one for one in sources.typed) or span in sources.shared:
        return True
    words = tokens(span)
    if len(words) > 1:
        first = next((at + (word != ELLIPSIS) for at, word in enumerate(words) if ELLIPSIS in word), len(words))
        least = 1 if "&&" not in words and _is_telling_program(words[0], sources) else _MIN_FIRST_WORDS
        if first < least:
            return False
        if _has_run(words, span, sources):
            return True
        # Once as it is, and otherwise with something after it: "lat check" and "lat check --fix".
        whole = any(span in (part.text, *(proof.quote for proof in part.proofs)) for part in sources.parts)
        return whole and _has_run([*words, ELLIPSIS], f"{span} {ELLIPSIS}", sources)
    alone = span.rstrip("/")
    return sources.holds(lambda one: holds_token(normalize(alone), normalize(one)))


def _has_run(words: Sequence[str], span: str, sources: Sources) -> bool:
    return sources.holds(lambda one: any(_runs_like(words, tokens(ran)) for ran in _as_run(one, span)))


def _is_telling_program(name: str, sources: Sources) -> bool:
    """Whether a program's name says what it does: no bare word chose that in any run, and no shared line says more."""
    own = bool(_TOOL_PATTERN.fullmatch(name))
    if not own and (_OPEN_PROGRAM_PATTERN.fullmatch(name) or not _PROGRAM_PATTERN.fullmatch(name)):
        return False
    runs = [tokens(_FOLDER_PATTERN.sub("", text)) for text in chain(sources.shared, *sources.single.values())]
    mine = [[*takewhile(_is_argument, ran[1:])] for ran in runs if ran[:1] == (name,)]
    if any(tokens(text)[:1] == (name,) and ELLIPSIS not in text and len(tokens(text)) > 1 for text in sources.shared):
        return False
    return own or not any(_SUBCOMMAND_PATTERN.fullmatch(word) for ran in mine for word in ran)


def _is_argument(word: str) -> bool:
    return word[0] not in "|&;<>" and not word.startswith("2>")


def _as_run(text: str, span: str) -> Iterator[str]:
    """Yield a command, and for the beginning of one also what ran in another folder: "cd src && go test ./..."."""
    yield text
    if span.endswith(ELLIPSIS) and (folder := _FOLDER_PATTERN.match(text)):
        yield text[folder.end() :]


def _runs_like(words: Sequence[str], ran: Sequence[str]) -> bool:
    """Whether a command ran like this: "\u2026" stands for any words or the rest of one, a variable for one word."""
    places = {0}  # in `ran`, up to which it is like the words so far
    for word in words:
        if word == ELLIPSIS and places:
            places = {*range(min(places), len(ran) + 1)}
        else:
            places = {at + 1 for at in places if at < len(ran) and _is_same_word(word, ran[at])}
    return bool(places) if words[-1].endswith(ELLIPSIS) else len(ran) in places  # the beginning may be enough


def _is_same_word(word: str, ran: str) -> bool:
    if word == ran:
        return True
    if _CUT_PATTERN.search(word) and word.count(ELLIPSIS) == 1:
        start, _, end = word.partition(ELLIPSIS)
        return ran.startswith(start) and ran.endswith(end) and len(ran) > len(start) + len(end)
    return bool(_HOLE_PATTERN.fullmatch(word)) and ran != ELLIPSIS


def _foreign_words(plain: str, sources: Sources) -> list[str]:
    """Return what a text has, apart from plain words, that its sources do not have."""
    strange = [
        token
        for token in sorted(exact_tokens(plain))
        if not sources.holds(lambda one, token=token: holds_token(token, normalize(one)))  # type: ignore[misc]
    ]
    strange += [
        name
        for name in sorted(proper_names(plain))
        if not sources.holds(lambda one, name=name: contains_name(name, normalize(_spread(one))))  # type: ignore[misc]
    ]
    if strange:
        return strange
    stems, known = content_stems(plain), sources.words
    wanted = stems - matching_words(stems, _PLAIN_STEMS)
    if has_unspaced(plain):
        return [] if not wanted or matching_share(wanted, known) >= MIN_WRITTEN_SHARE else [plain.strip()]
    return sorted(wanted - matching_words(wanted, known, slips=True))


def _sense_problem(plain: str, typed: Sequence[str], *, reversal: bool) -> str | None:
    """Return what is wrong with the direction of a text: it forbids what nobody forbade, or says the opposite."""
    bans = _OUTCOME_PATTERN.sub(" ", _CONDITIONAL_CLAUSE_PATTERN.sub(" ", plain))
    if has_negation(bans) and not any(map(has_negation, typed)):
        return "it forbids what nobody forbade"
    mine = content_stems(plain)
    for said in (_as_wish(one) for one in typed if reversal):
        near = matching_share(mine, content_stems(said)) >= MIN_OWN_SHARE
        if near and len(said) <= MAX_LENGTH and not _INSTEAD_PATTERN.search(plain) and seems_reversed(plain, said):
            return "it says the opposite of what was said"
    return None


def _as_wish(said: str) -> str:
    """Return what was said without negations that ban nothing, and with its reasons as clauses of their own."""
    for pattern in (_CONDITION_PATTERN, _STATEMENT_PATTERN):
        said = pattern.sub(" ", said)
    return _REASON_PATTERN.sub(_as_clause, _REFUSAL_PATTERN.sub("", said))


def _as_clause(reason: re.Match[str]) -> str:
    """Return what to put for the word that begins a reason: a full stop, unless the clause before it bans something."""
    before = reason.string[max(0, reason.start() - _MAX_CLAUSE) : reason.start()]
    return reason[0] if has_negation(_CLAUSE_END_PATTERN.split(before)[-1]) else ". "


def _danger(text: str, typed: Sequence[str]) -> str | None:
    if PRIVILEGE_PATTERN.search(text) or has_machine_path(text):
        return "it is about one machine, or changes permissions"
    bare = _HOLE_PATTERN.sub("x", text)
    found = line_findings(bare, "\n".join([*typed, bare]))
    asked = content_stems("\n".join(typed))
    meant = all(matching_words({word}, asked) for word in content_stems(bare) & _STRONG_STEMS)
    ignored = (*_LISTED_RULES, *(("deletes",) if meant else ()))
    return next(
        (one.sentence for one in found if not (one.rule.startswith(ignored) or _is_own(one, bare, typed))), None
    )


def _is_own(found: Finding, text: str, typed: Sequence[str]) -> bool:
    """Whether a finding is only about the person's own words, which the text also has."""
    if found.rule in _ONE_SENTENCE_RULES:
        return any(_says_all(one, text, found.rule) for one in typed)
    if found.rule not in _TYPED_RULES:
        return False
    asked = content_stems("\n".join(typed))
    added = " ".join(word for word in text.split() if not matching_words(content_stems(word), asked))
    said, rest = (line_findings(one, one) for one in (" ".join(typed), added))
    return any(one.rule == found.rule for one in said) and all(one.rule != found.rule for one in rest)


def _says_all(typed: str, text: str, rule: str) -> bool:
    """Whether one text that was typed says all of a line outside of its conditions, and is found the same."""
    words = content_stems(_CONDITIONAL_CLAUSE_PATTERN.sub(" ", text))
    if not words or len(matching_words(words, content_stems(typed))) < len(words):
        return False
    return any(one.rule == rule for one in line_findings(typed, typed))


def line_doubt(kind: str, text: str, sources: Sequence[Part], sessions: int) -> str | None:
    """Return why a text that may stand perhaps should not, in a task of so many `sessions`; None if it should.

    What one request asks for beside its task may be for that time. A file, or what reaches others, that few sessions
    had is a step only on a condition.
    """
    seen = count_sessions(sources)
    if kind == "rule" and all(part.observed or part.sort is PartKind.REQUEST for part in sources) and seen == 1:
        return "only one request asks for it: say it again only if it holds whenever the task is done"
    paths = [span for span in CODE_PATTERN.findall(text) if len(tokens(span)) == 1 and _PATH_PATTERN.search(span)]
    if kind in {"step", "check"} and 2 * seen < sessions and not _CONDITIONAL_CLAUSE_PATTERN.search(text):
        strong = content_stems(text) & _STRONG_STEMS
        if paths or strong:
            few = f"only {seen} of {sessions} sessions are in the lines that it names"
            return f"{few}: name the others, say when it is done (If \u2026), or leave it out"
    return None


def title_problem(text: str, sources: Sources, limit: int) -> str | None:
    """Return why no skill may be called this, None if it may."""
    if len(text) > limit or "{{" in text:
        return "it is too long, or has markup"
    return wording_problem(text.replace("`", ""), sources, sources, is_title=True)


def is_literal(part: Part) -> bool:
    """Whether a line of evidence can be a line of a skill as it is: two sessions or the person support it."""
    return part.sort is not PartKind.ANSWER and (not part.observed or count_sessions([part]) >= MIN_SESSIONS)
