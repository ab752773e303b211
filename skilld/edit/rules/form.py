"""Lint families of form and T-14: text that is not an instruction, and edits that remove or weaken a rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from skilld.edit.change import NOT_FOR_TESTS, Change, Finding, flag, nouns, refuse, verbs
from skilld.edit.tokens import FILE_ENDING
from skilld.errors import SkilldError
from skilld.markdown.skill_file import SkillFile, parse
from skilld.markdown.structure import is_default_title
from skilld.skills.spec import read_front
from skilld.skills.write import compose
from skilld.text import fold_case
from skilld.words import content_stems

_LINE_START = r"(?:^|\n)[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?"
_QUESTION_START = re.compile(
    r"(?:what|who|whose|where|why|how)\s+(?:is|are|was|were|am|does|do|did|can|could|would|should|many|much)\b",
    re.IGNORECASE,
)
_REPROACH = re.compile(
    r"\bwhy\s+(?:did|do|does|are|were|is|was|would|have|had)\w*(?:n['’]?t)?\s+(?:you|we|I)\b", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"(?<=[.!?？。])\s+|\n+")
_ONE_OFF = re.compile(
    rf"{_LINE_START}(?:(?:please|(?:can|could|would|will) you)[,\s]+)*(?:help (?:me|us)|I (?:need|want) you to"
    r"|(?:write|draft|summari[sz]e|translate|compose|generate) (?:me|us|a|an|this)\b[^.\n]{0,60}"
    r"\b(?:based on|about|from|for|of) (?:this|the following|these)\b)",
    re.IGNORECASE,
)
_LONG_QUOTE = 60  # characters from which quotation marks contain a text, not a name or a phrase to use
_QUOTATION = re.compile(
    rf"\"[^\"\n]{{{_LONG_QUOTE},}}\"|“[^”\n]{{{_LONG_QUOTE},}}”|«[^»\n]{{{_LONG_QUOTE},}}»|「[^」\n]{{30,}}」"
    rf"|„[^“”\n]{{{_LONG_QUOTE},}}[“”]|(?<!\w)'[^\n]{{{_LONG_QUOTE},2000}}'(?!\w)"
)
_MARKER = re.compile(r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")


def check_form(change: Change) -> Iterator[Finding]:
    """Flag text that is not an instruction."""
    text = _MARKER.sub("", change.prose, count=1).strip()
    if _is_question(text):
        yield flag("question", "It only asks a question and does not say what to do", text)
    for match in change.matches(_ONE_OFF, change.prose):
        yield flag("one-off", "It asks for a one-off task, which is not a lasting instruction", match[0])
    for match in change.matches(_QUOTATION):
        yield flag("quotation", "It contains a long quotation", match[0])
    if change.spans and not re.search(r"\w", text) and not change.code:
        yield flag("bare-command", "It gives a command without saying when to run it", " ".join(change.spans))


def _is_question(text: str) -> bool:
    """Whether a text only asks. "Why are you not using tabs?" is an objection, not a question."""
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if re.search(r"\w", sentence)]
    asks = bool(_QUESTION_START.match(text)) or all(sentence.endswith(("?", "？")) for sentence in sentences)
    return bool(sentences) and asks and not _REPROACH.search(text)


# Lint family T-14: an edit that removes or weakens a rule. The person may have asked for just that, so it is flagged,
# never refused; it is never applied without review.

_BAN = (
    r"\b(?:never|don['’]?t|do not|must not|mustn['’]?t|may not|cannot|can['’]?t|shall not|should not|shouldn['’]?t"
    r"|avoid|forbidden|prohibited|refuse|not allowed|no longer than|at most|only if|only after|unless|without|nunca"
    r"|jamais|niemals|nie)\b"
)
_BAN_PATTERN = re.compile(_BAN, re.IGNORECASE)
_DEMAND_PATTERN = re.compile(
    r"\b(?:always|must|required?|ensure|make sure|confirm|ask|approv\w+|review\w*|verif\w+|validat\w+|check\w*"
    r"|test\w*|lint\w*|back ?up|sign\w*|encrypt\w*|sanitiz\w+|escap\w+|audit\w*|warn\w*|stop|abort|siempre|immer"
    r"|toujours)\b",
    re.IGNORECASE,
)
# Words of an order that guards nothing: "always sort the imports", "put factories in tests/".
_ONLY_STANDING = re.compile(r"\b(?:always|siempre|immer|toujours)\b|\bin `?tests?\b\S*", re.IGNORECASE)
# What protects the person: that the agent asks, tests, checks, reviews or keeps a record. Not "the check-in page", "the
# review count", "close it with Escape".
_ASSURANCE = re.compile(
    r"\b(?:confirm\w*|ask|approv\w+|verif\w+|validat\w+|lint\w*|back(?:s|ed|ing)? ?up|backups?|encrypt\w*|sanitiz\w+"
    r"|warn\w*|abort|stop(?= *(?:and|at once|before|if|immediately|when|$|[.,;:]))|log (?:all|each|every)"
    r"|check(?!box|mark|out)\w*(?!-(?:in|mark|out)| ?marks?\b)|escap(?:e|es|ed|ing)(?! (?:closes|is|key|quits)\b)"
    r"|(?:audit|review)(?:s|ed|ing|ers?)?"
    r"(?! (?:card|column|count|form|list|page|score|section|star|tab|table|widget)s?\b)"
    r"|sign(?:s|ed|ing)? (?:all|and|commits|each|every|it|off|our|releases|tags|the|your)"
    rf"|(?:let|show|tell|wait for) (?:me|us)|tests?{NOT_FOR_TESTS}|test(?:ed|en|er|et|ez|ing))\b"
    r"|\b(?:commits?|releases?|tags?) [^.\n]{0,20}\bsigned\b",
    re.IGNORECASE,
)
# What can do harm once it is no longer forbidden or conditional; the rest is taste: "never use default exports", "no
# capital in commit messages".
_RISK = (
    verbs(
        "accept allow approve bypass change clean commit deploy delete destroy disable disclose discard drop edit"
        " erase execute expose force grant hard-code ignore install kill leak log mention merge migrate modify"
        " overwrite publish purge push rebase release remove rename reset restart reveal revert rewrite run send share"
        " skip store suppress swallow touch truncate trust uninstall upgrade upload wipe"
    )
    + "|"
    + nouns(
        "address admin backup certificate client cookie CORS credential customer data database dependency e-?mail eval"
        " exec hook host HTTP innerHTML key licen[cs]e main master MD5 migration package password permission personal"
        " phone pickle prod production root schema script secret server SHA-?1 shell SQL sudo token user"
    )
)
_NO_RISK = r"(?! (?:bod(?:y|ies)|column|heading|menu|message|name|note|page|subject|title)s?\b)"
_RISKY_BAN = re.compile(
    rf"(?:{_BAN})[^.\n]{{0,80}}?(?:{_RISK}){_NO_RISK}|(?:{_RISK})[^.\n]{{0,80}}?\b(?:only (?:after|if)|unless)\b"
    r"|\b(?:nunca|jamais|niemals|nie)\b",
    re.IGNORECASE,
)
_HEDGE_PATTERN = re.compile(
    r"\b(?:usually|normally|generally|preferably|ideally|if (?:possible|needed|convenient|time|you want|unsure)"
    r"|when(?:ever)? (?:possible|convenient|needed)|optional(?:ly)?|may|might|can|could|consider|try to"
    r"|where (?:possible|practical)|feel free|except|unless|not required|at your discretion)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"(?<=[.;!?])\s+|,\s+(?:and|but|then)\s+")
_AROUND = " -*+.,;:!?"
_NO_WORD = re.compile(r"[.,;:!?\n]+\s*|^\s*[-*+]\s", re.MULTILINE)
_MIN_SAME_SHARE = 0.5  # share of equal characters from which a new line counts as the old one reworded
_MAX_LINES, _MAX_LINE = 40, 400  # lines, and characters of one, among which a reworded one is looked for


def check_guards(change: Change) -> Iterator[Finding]:
    """Flag every removed instruction, and every rule that returns in a weaker form."""
    looked_for = 0
    for line in change.removed:
        text = line.strip()
        if not re.search(r"\w", text) or fold_case(text) in change.added_folded or _is_own_heading(text):
            continue
        looked_for += 1
        heir = _find_replacement(text, change.added) if looked_for <= _MAX_LINES else None
        text = text if heir else _without_kept_clauses(text, change.added_folded)
        guards = _RISKY_BAN.search(text) or _ASSURANCE.search(_ONLY_STANDING.sub(" ", text))
        if heir is None and text:
            rule, what = ("guard-removed", "a safeguard") if guards else ("instruction-removed", "an instruction")
            yield flag(rule, f"It removes {what}", text)
        elif heir is not None and _is_weaker(text, heir):
            what = "says the opposite of" if _is_opposite(text, heir) else "weakens"
            yield flag("guard-weakened", f"It {what} a rule", *_differing_clauses(text, heir.strip()))


def _without_kept_clauses(line: str, added: str) -> str:
    """Return a removed line without the clauses that added lines have; empty if they have all."""
    clauses = [one for one in _CLAUSE_END.split(line) if re.search(r"\w", one)]
    gone = [one for one in clauses if f" {fold_case(one).strip(_AROUND)} " not in f" {_NO_WORD.sub(' ', added)} "]
    return line if len(gone) == len(clauses) else " ".join(gone)


def _differing_clauses(old: str, new: str) -> tuple[str, str]:
    """Return two lines without the clauses that both have, so that what differs is shown whole."""
    olds, news = (_CLAUSE_END.split(text) for text in (old, new))
    rest = (" ".join(one for one in mine if one not in theirs) for mine, theirs in ((olds, news), (news, olds)))
    return next(rest) or old, next(rest) or new


def _is_own_heading(text: str) -> bool:
    """Whether a line is the heading that skilld adds, and that goes with its last line."""
    return text.startswith("#") and is_default_title(text)


def _is_opposite(old: str, new: str) -> bool:
    """Whether one of two lines forbids what the other says, in the same words."""
    bans = [bool(_BAN_PATTERN.search(text)) for text in (old, new)]
    words = [content_stems(_ONLY_STANDING.sub(" ", _BAN_PATTERN.sub(" ", text))) for text in (old, new)]
    return bans[0] != bans[1] and words[0] == words[1]


def _find_replacement(text: str, added: tuple[str, ...]) -> str | None:
    """Return the added line that most likely replaces a removed one."""
    old = text.casefold()[:_MAX_LINE]
    ratios = [
        (SequenceMatcher(None, old, line.strip().casefold()[:_MAX_LINE]).ratio(), line) for line in added[:_MAX_LINES]
    ]
    ratio, line = max(ratios, default=(0.0, ""))
    return line if ratio >= _MIN_SAME_SHARE else None


def _is_weaker(old: str, new: str) -> bool:
    lost_ban = len(_BAN_PATTERN.findall(old)) > len(_BAN_PATTERN.findall(new))
    lost_demand = bool(_DEMAND_PATTERN.search(old)) and not _DEMAND_PATTERN.search(new)
    hedged = len(_HEDGE_PATTERN.findall(new)) > len(_HEDGE_PATTERN.findall(old))
    return lost_ban or lost_demand or (hedged and bool(_BAN_PATTERN.search(old) or _DEMAND_PATTERN.search(old)))


# Lint families T-06 to T-09: front matter, its imitations, and text that a client runs, fills in or includes.

_FRONT_ITEM = r"^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?"
# A line `---`, then `key:` lines up to the next `---`, or a first key that only the head of a skill or a hook has.
_BLOCK = re.compile(
    _FRONT_ITEM + r"---[ \t]*\n(?:[ \t]*[\w-]+[ \t]*:[^\n]*\n(?:[^\n]*\n){0,60}?[ \t]*---[ \t]*$"
    r"|[ \t]*(?:name|description|allowed-tools|hooks|model|license|context|agent)[ \t]*:)",
    re.MULTILINE,
)
_FIELD = (
    r"(?:name|description|when_to_use|argument-hint|allowed-tools|model|license|compatibility|metadata)[ \t]*:[^\n]*"
)
_FIELDS = re.compile(_FRONT_ITEM + _FIELD + r"\n[ \t]*" + _FIELD, re.MULTILINE)
# The same with its lines run together, as folding leaves them.
_KEY = (
    r"\b(?:name|description|allowed-tools|hooks|model|license|context|agent|user-invocable|disable-model-invocation)"
    r"[ \t]*:[ \t]"
)
_RUN_TOGETHER = re.compile(
    _FRONT_ITEM + rf"(?:---[ \t]+[\w-]+[ \t]*:[ \t]|{_KEY}(?=[^\n]{{0,200}}?{_KEY}))", re.MULTILINE | re.IGNORECASE
)
_PERMISSION_FIELD = re.compile(
    _FRONT_ITEM + r"[\"']?(?:(?:dis)?allowed-?tools|disable-model-invocation|user-invocable|permission-?mode"
    r"|(?:Pre|Post)ToolUse|mcp-?servers)[\"']?[ \t]*:",
    re.MULTILINE | re.IGNORECASE,
)
_YAML_TAG = re.compile(r"!!(?:python|ruby|java|js|map|set|binary)\b[^\s]*|" + _FRONT_ITEM + r"<<[ \t]*:", re.MULTILINE)


def check_front(change: Change) -> Iterator[Finding]:
    """Refuse any difference before the body, and text in the body that reads like front matter."""
    if (change.before.bom, change.before.front) != (change.after.bom, change.after.front):
        yield refuse("front-matter", "It changes the front matter, which only you can edit")
    for match in change.matches(_BLOCK):
        yield refuse("front-matter-block", "It adds a second front matter block", match[0])
    for match in change.matches(_FIELDS):
        yield refuse("front-matter-block", "It adds fields that belong in the front matter", match[0])
    for match in change.matches(_RUN_TOGETHER):
        yield refuse("front-matter-block", "It adds fields that belong in the front matter", match[0])
    for match in change.matches(_PERMISSION_FIELD):
        yield refuse("permission-widening", "It sets a field that gives an agent more permissions", match[0])
    for match in change.matches(_YAML_TAG):
        yield refuse("yaml-tag", "It adds YAML that can construct objects or merge maps", match[0])


# Lint family T-08, T-09: text that a client runs, fills in or includes before any model reads it. Claude Code runs an
# exclamation mark before inline code, and fences whose language starts with one, wherever they stand; Gemini CLI does
# so with braces. `@path` includes a file outside of code (Claude Code's memory page).

_COMMAND = re.compile(r"(?<![\w`])!`[^`]{1,4000}`|(?<!`)`{3,}[ \t]*!|(?<!~)~{3,}[ \t]*!|(?<!\w)!\{[^}\n]+\}")
_NEAR_COMMAND = re.compile(r"[\w`]!`[^`]{1,4000}`")
_ARGUMENTS = re.compile(r"\$\{?ARGUMENTS\b")
_PLACEHOLDER = re.compile(r"\$\{CLAUDE_\w+\}|\{\{args\}\}|(?<!\w)@\{[^}\n]+\}")
_NUMBERED_PLACEHOLDER = re.compile(r"(?<![\w$\\])\$\d\b")
_IMPORT = re.compile(r"(?<![\w@.])@([~\w./\\-][^\s`'\"()\[\]<>,;]*)")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._-]*")
_OUTSIDE_PATH = re.compile(
    r"~|/(?:etc|home|Users|root|var|proc|private|tmp|opt|usr|dev|mnt|Library)\b|\\|[A-Za-z]:", re.IGNORECASE
)


def check_dynamic(change: Change) -> Iterator[Finding]:
    """Refuse new dynamic commands and inclusions, also inside code; existing ones are left alone."""
    for found in change.new_matches(_COMMAND):
        yield refuse("dynamic-command", "It adds a command that runs as soon as the file is loaded", found)
    for found in change.new_matches(_NEAR_COMMAND):
        yield flag("dynamic-command", "It adds a command that some agents may run as soon as the file is loaded", found)
    for found in change.new_matches(_ARGUMENTS):
        yield refuse("arguments", "It adds a placeholder that the agent fills in with arguments", found)
    for found in change.new_matches(_PLACEHOLDER):
        yield flag("arguments", "It adds a placeholder that the agent fills in", found)
    for code in (*change.spans, *change.code):
        if _NUMBERED_PLACEHOLDER.search(code) and not change.contained_before(code):
            yield flag("arguments", "It adds a numbered placeholder that some agents fill in with arguments", code)
    for match in change.matches(_IMPORT, change.prose):
        yield from _check_import(change, match[1].rstrip(".:!?"))


def _check_import(change: Change, path: str) -> Iterator[Finding]:
    is_file = FILE_ENDING.search(path) is not None
    if not is_file and ("/" not in path or _PACKAGE.fullmatch(path)):
        return
    typed = fold_case("@" + path) in fold_case(change.evidence)
    if _OUTSIDE_PATH.match(path) or not typed:
        yield refuse("import", "It makes agents load another file", "@" + path)
    else:
        yield flag("import", "It adds an import, so some agents will load this file too", "@" + path)


# The front matter of a new skill must be in our own format. Its description, which every agent reads before the rest,
# is judged as the first paragraph of the body.


def unfold_front(after: bytes) -> tuple[list[Finding], bytes]:
    """Return the findings about the front matter, and the skill as one body. Raises as `parse` does."""
    skill = parse(after)
    front = read_front(skill.front)
    findings = (
        []
        if _is_own_format(skill)
        else [refuse("front-matter", "Its front matter is not in the format that skilld writes")]
    )
    body = SkillFile(bom=False, front="", body=skill.body).data
    return findings, front.description.encode("utf-8") + b"\n\n" + body


def _is_own_format(skill: SkillFile) -> bool:
    """Whether the front matter is, byte for byte, what `compose` writes for its name, description and marks."""
    front = read_front(skill.front)
    if skill.bom or any(not key.startswith("skilld-") for key in front.metadata):
        return False
    try:
        again = compose(front.name, front.description, "body", front.metadata)
    except SkilldError:
        return False
    return parse(again.encode("utf-8")).front == skill.front
