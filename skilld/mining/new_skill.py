"""Writes a candidate as a SKILL.md: its name, description and body, in the person's words, and where it goes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.classify.support import exact_tokens
from skilld.edit.lint import Severity, lint
from skilld.errors import SkilldError
from skilld.git.errors import NotTrackedError
from skilld.git.repo import open_repo
from skilld.ingest.discover import Host, skill_places
from skilld.mining.actions import has_machine_path, is_mcp_call, is_test
from skilld.mining.courtesy import without_politeness
from skilld.mining.evidence import Transcripts
from skilld.mining.sessions import project_of
from skilld.mining.similarity import ELLIPSIS, TEXT_NAMES, bare_words
from skilld.mining.values import OBSERVED, STEPS, Candidate, Part, PartKind, Recurrence, count_sessions
from skilld.skills import Places, Unusable, find
from skilld.skills.draft import Draft, SkillKind, write_draft
from skilld.skills.spec import read_front
from skilld.skills.write import VARIABLE_NOTE, holes, new_skill_path
from skilld.text import Redact, one_line, pluralize
from skilld.types import SkillRef
from skilld.words import content_stems, matching_share

# Names for new skills, as the Agent Skills specification requires.

MAX_NAME_LENGTH = 64  # https://agentskills.io/specification
_MAX_NAME_WORDS = 4


def join_name(parts: Iterable[str], taken: Collection[str] = ()) -> str:
    """Join the parts to a name of lower-case letters, digits and single hyphens that is not `taken`."""
    joined = "-".join(parts)
    plain = unicodedata.normalize("NFKD", joined).encode("ascii", "ignore").decode().lower()
    cleaned = "".join(char if char.isalnum() else "-" for char in plain)
    base = "-".join(word for word in cleaned.split("-") if word)[:MAX_NAME_LENGTH].strip("-") or "asked-for-again"
    name, number = base, 2
    while name in taken:
        name = f"{base[: MAX_NAME_LENGTH - 4].rstrip('-')}-{number}"
        number += 1
    return name


def with_free_names(candidates: Sequence[Candidate], taken: Collection[str]) -> list[Candidate]:
    """Return the candidates, new skills with names that are neither `taken` nor those of candidates before them."""
    used, named = set(taken), list[Candidate]()
    for one in candidates:
        named.append(replace(one, name=join_name([one.name], used)) if one.creates else one)
        used.add(named[-1].name)
    return named


def topic_words(text: str) -> list[str]:
    """Return the first few content words of a text."""
    words = [word.strip(".,:;!?'\"()`").lower() for word in text.split()]
    telling = [word for word in words if word.isascii() and word.isalpha() and content_stems(word)]
    return list(dict.fromkeys(telling))[:_MAX_NAME_WORDS]


def project_name(folder: str) -> str:
    """Return a project's name: that of its folder."""
    return Path(folder).name


def task_name(request: str, variables: Collection[str], project: str, wordings: Sequence[str] = ()) -> str:
    """Return a name for the skill of a task: the words of its request without the `variables`.

    Words that only this one of all `wordings`, such as the steps, has are left out if two others remain.
    """
    named = [
        word for word in topic_words(re.sub(r"[{}]{2}", " ", without_politeness(request))) if word not in variables
    ]
    said = [content_stems(one) for one in wordings]
    shared = [word for word in named if sum(content_stems(word) <= stems for stems in said) > 1]
    named = shared if len(shared) > 1 else named
    return join_name(named or [project_name(project), "task"])


# A skill contains nothing of one machine, nothing done only once, and nothing that every model knows.

_PLACEHOLDER = "[REDACTED:"
_SETUP_PATTERN = re.compile(
    r"\W*(?:please\W+|can you\W+|could you\W+|let'?s\W+)*"
    r"(?:(?:re)?install|set(?:ting)? up|bootstrap|scaffold|clone|initiali[sz]e|migrate|upgrade"
    r"|create an? (?:new )?(?:account|project|repo(?:sitory)?)|sign (?:in|up)|log ?in)\b",
    re.IGNORECASE,
)
# An order to change a skill, which is then done: "can you update your release skill to fix the links?"
_SKILL_CHANGE_PATTERN = re.compile(
    r"\W*(?:please\W+|can you\W+|could you\W+|also\W+|let'?s\W+)*"
    r"(?:update|change|fix|edit|improve|extend|rewrite|amend|adjust|correct)\b[^.;:]{0,60}\bskills?\b",
    re.IGNORECASE,
)
# Advice in these words alone is a commonplace.
_COMMONPLACE_STEMS = content_stems(
    """
    code clean good best practice practices careful carefully quality proper properly correct correctly bug bugs error
    errors mistake mistakes simple readable maintainable robust well better think hard harder thorough thoroughly
    professional efficient efficiently nice great perfect thing things stuff work works working make sure double
    attention detail details expert senior engineer production ready concise clear clearly high
    """
)
_MIN_STEMS = 2


def part_problem(part: Part, project: str, *, in_task: bool = False) -> str | None:
    """Return why no skill should say a part, None if it may. Paths below the folder `project` count as relative.

    What was said about a task needs fewer words `in_task`, beside its steps.
    """
    text = with_relative_paths(part.text, project)
    if _PLACEHOLDER in text:
        return "it contains a secret"
    if has_machine_path(text):
        return "it contains a path specific to this machine"
    if part.sort is PartKind.REQUEST and _SETUP_PATTERN.match(text):
        return "it is a one-time setup step"
    if part.sort in OBSERVED:
        return None
    if _SKILL_CHANGE_PATTERN.match(text):
        return "it asks for a skill to be changed"
    stems = content_stems(text)
    if stems and stems <= _COMMONPLACE_STEMS:
        return "any model knows this anyway"
    if len(stems) < (1 if in_task and part.kind else _MIN_STEMS) and not exact_tokens(text):
        return "it makes little sense out of context"
    return None


def with_relative_paths(text: str, project: str) -> str:
    """Make the paths below a project's folder relative to it."""
    if not Path(project).is_absolute() or project == "/":
        return text
    return re.sub(rf"{re.escape(project.rstrip('/'))}/(?=[\w.-])", "", text)


def checked_text(draft: Draft, typed: str, redact: Redact) -> tuple[str, tuple[str, ...]]:
    """Return the SKILL.md of a new skill, and what the person should look at in it; `typed` is what they typed.

    Raises SkilldError if it is invalid, contains a secret, or would do what no skill may.
    """
    text = write_draft(draft)
    findings = lint(b"", text.encode(), typed)
    refused = next((one.sentence for one in findings if one.severity is Severity.REFUSE), "")
    if why := "it would contain a secret" if redact(text) != text else refused:
        raise SkilldError("Could not write the new skill", why)
    asked = draft.description.partition(_ASKED)[2]
    own = {one.sentence for one in findings if one.rule == "quotation" and _quoted(one.sentence) in asked}
    return text, tuple(_told_once([one.sentence for one in findings if one.sentence not in own]))


def _quoted(sentence: str) -> str:
    """Return what a finding quotes."""
    return sentence.partition(": ")[2].strip("\u201c\u201d\u2026")


def _told_once(flags: Sequence[str]) -> Iterator[str]:
    """Yield the flags without those whose words begin with those of another: the description repeats the title."""
    parts = [(what, quoted.rstrip("\u2026")) for what, _, quoted in (flag.partition(": ") for flag in flags)]
    for flag, (what, quoted) in dict(zip(flags, parts, strict=True)).items():
        if not any(kind == what and known != quoted and known and quoted.startswith(known) for kind, known in parts):
            yield flag


_ASKED = "Use when asked for something like"
_MAX_DESCRIBED_PARTS = 3  # agents read the description of every skill in every session
_MAX_DESCRIBED_LENGTH = 120  # characters of one part in a description
_MAX_TITLE_LENGTH = 80
_MAX_SHOWN_REQUESTS = 2  # in a description
_MAX_PART_LENGTH = 600
_TAG_PATTERN = re.compile(r"[a-z][a-z0-9._-]{1,19}")
_MAX_TAGS = 5
# The kinds of work, to be put after "use when".
_WORK_DESCRIPTIONS = {
    "debugging": "looking for a bug or fixing a failure",
    "testing": "writing, changing or running tests",
    "optimization": "making something faster or smaller",
    "refactoring": "restructuring code",
    "documentation": "writing documentation",
    "deployment": "releasing or deploying",
}
_SECTIONS = ((PartKind.FACT, "Facts"), (PartKind.RULE, "Rules"), (PartKind.PITFALL, "Pitfalls"))


def with_edits(drafted: Draft, text: str) -> Draft:
    """Return a drafted skill with the name, description and body of a text that the person edited."""
    lines = text.removeprefix("\ufeff").splitlines()
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), 0)
    body = "\n".join(lines[end + 1 :] if end and lines[0].rstrip() == "---" else lines)
    front = read_front(text)
    description = front.description or drafted.description
    return replace(drafted, name=front.name or drafted.name, description=description, body=body)


def build_skill(candidate: Candidate, *, day: str, with_sessions: bool) -> Draft:
    """Return the skill that a candidate would create; `day` is YYYY-MM-DD.

    `with_sessions` keeps the sessions' ids and examples from requests in it, which no file that others see may have.
    """
    parts = [
        replace(part, text=shorten(with_relative_paths(part.text, candidate.target), _MAX_PART_LENGTH))
        for part in candidate.parts
    ]
    kind = candidate.kind or SkillKind.KNOWLEDGE
    if candidate.recurrence is not None:
        said, body = _task_text(candidate, candidate.recurrence, parts, with_sessions=with_sessions)
    else:
        said, body = _rules_text(candidate, parts)
    if candidate.title:
        body = "\n".join([f"# {candidate.title}", *body.splitlines()[1:]])
    body = body.replace("\0", "")  # no text has one, and the format allows none
    return Draft(
        name=candidate.name,
        description=candidate.description or said,
        body=body,
        kind=kind,
        tags=tuple(_tags(candidate)),
        schema=_input_schema(holes(body)) if kind is SkillKind.TOOL and candidate.recurrence else {},
        sessions=tuple(sorted({proof.session for proof in candidate.evidence})) if with_sessions else (),
        date=day,
        origin="mined",
    )


def _tags(candidate: Candidate) -> list[str]:
    """Return tags for search: the kind of work, and the programs that the steps run."""
    programs = [part.text.split()[0] for part in candidate.parts if part.sort is PartKind.COMMAND and part.text.split()]
    named = [one.rpartition("/")[2].lower() for one in programs if not is_mcp_call(one)]
    tags = [candidate.work] if candidate.work in _WORK_DESCRIPTIONS else []
    return list(dict.fromkeys([*tags, *(one for one in named if _TAG_PATTERN.fullmatch(one))]))[:_MAX_TAGS]


_OPEN_PATH_PATTERN = re.compile(
    r"(?<!\S)[^\s{}/]*+/[^\s{}]*+\{\{(\w+)\}\}\S*|(?<!\S)[^\s{}]*+\{\{(\w+)\}\}[^\s{}/]*+/\S*"
)


def title_of(request: str) -> str:
    """Return a request as a title, with its variables as words; a path with such a word was typed by nobody."""
    request = _OPEN_PATH_PATTERN.sub(lambda path: "{{" + (path[1] or path[2]) + "}}", request)
    asked = _without_end_punctuation(shorten(without_politeness(request), _MAX_DESCRIBED_LENGTH))
    several = {"name", "name2"} <= set(holes(asked))
    return re.sub(r"\{\{(\w+)\}\}", lambda hole: (hole[1] if several else hole[1].rstrip("0123456789")).upper(), asked)


def _task_text(
    candidate: Candidate, task: Recurrence, parts: Sequence[Part], *, with_sessions: bool
) -> tuple[str, str]:
    """Return description and body for a recurring task: the person's words as rules, the rest as observed."""
    sessions = pluralize(count_sessions(candidate.parts), "session")
    plain = title_of(task.request) or candidate.name
    lines = [f"# {plain[:1].upper()}{plain[1:]}"]
    used = [name for name in task.examples if any("{{" + name + "}}" in part.text for part in parts)]
    told = [name for name in used if name.rstrip("0123456789") not in TEXT_NAMES]  # `-m "{{message}}"` says it all
    notes = [_variable_line(name, task.examples[name] if with_sessions else ()) for name in told]
    commands = (part.text for part in parts if part.sort in {PartKind.COMMAND, PartKind.WORDED})
    if any(ELLIPSIS in word for text in commands for word in bare_words(text.replace("`", " "))):
        notes.append(f"- `{ELLIPSIS}`: {VARIABLE_NOTE}.")
    lines += ["", *notes] if notes else []
    for heading, sorts in (("Rules", (PartKind.RULE, PartKind.PITFALL, PartKind.SAID)), ("Facts", (PartKind.FACT,))):
        lines += section(heading, [f"- {part.text}" for part in parts if part.sort in sorts])
    lines += _observed_sections(parts, task, sessions)
    steps = [part for part in parts if part.sort in STEPS]
    ends = bool(task.check) and steps[-1:] != [] and steps[-1].text == task.check
    shown = len(steps) - ends
    what = f"{pluralize(shown, 'step')} that worked in {sessions}" if shown else f"what was learned in {sessions}"
    also = ", plus a final check" if ends else ""
    also += ", and what failed before" if any(part.sort is PartKind.TRAP for part in parts) else ""
    summary = f"{plain[:1].upper()}{plain[1:]}: {what}{also}."
    asked = [task.request, *task.wordings] if with_sessions else [task.request]
    return f"{summary} {when_to_use(asked)}.", "\n".join(lines)


def when_to_use(requests: Sequence[str]) -> str:
    """Return when an agent should load a skill: for requests such as the first one, and another in other words."""
    shown: list[str] = []
    for one in filter(None, map(title_of, requests)):
        stems = content_stems(one)
        known = [content_stems(other) for other in shown]
        longer = any(one.casefold().startswith(other.casefold()) for other in shown)
        if not shown or (stems & known[0] and not longer and all(stems - other for other in known)):
            shown.append(f"{one[:1].upper()}{one[1:]}")
    named = " or ".join(f"\u201c{one}\u201d" for one in shown[:_MAX_SHOWN_REQUESTS])
    return f"{_ASKED} {named}" if named else "Use when asked to do this"


def _variable_line(name: str, examples: Sequence[str]) -> str:
    # Texts for people, in quotes, are not shown.
    shown = [one for one in examples[:_MAX_DESCRIBED_PARTS] if "`" not in one and one[:1] not in {'"', "'"}]
    as_in = ", ".join(f"`{shorten(one, _MAX_TITLE_LENGTH)}`" for one in shown)
    return f"- `{{{{{name}}}}}`: {VARIABLE_NOTE}{f' (for example {as_in})' if as_in else ''}."


_MIN_SAID_SHARE = 0.75  # of a check's words
_STEP_VERBS = {PartKind.COMMAND: "Run", PartKind.EDIT: "Change", PartKind.READ: "Read"}


def section(heading: str, lines: Sequence[str]) -> list[str]:
    """Return a section of a skill with the blank line before it; nothing if it has no lines."""
    return ["", f"## {heading}", "", *lines] if lines else []


def _observed_sections(parts: Sequence[Part], task: Recurrence, sessions: str) -> list[str]:
    """Return the sections of observed steps, each marked as observed."""
    steps, check = [part for part in parts if part.sort in STEPS], task.check
    ends = bool(steps) and steps[-1].text == check
    shown = steps[: len(steps) - ends]
    told = "" if all(part.observed for part in shown) else ", with what you said there"
    numbered = [f"{number}. {_step_text(part)}." for number, part in enumerate(shown, 1)]
    lines = section("Steps", [f"Observed in {sessions}{told}:", "", *numbered] if shown else [])
    if check:
        how = "the last step" if ends else "a step"
        last = next((part for part in steps if part.text == check), None)
        worded = last is not None and last.sort is PartKind.WORDED
        by_whom = f"Observed as {how} of these sessions:" if last is None or last.observed else _check_note(last)
        passes = " It must pass." if is_test(check) else ""
        lines += section("Check", [by_whom, "", f"- {check}." if worded else f"- Run `{check}`.{passes}"])
    traps = [f"- {part.text}" for part in parts if part.sort is PartKind.TRAP]
    return [*lines, *section("Pitfalls", ["Observed:", "", *traps] if traps else [])]


def _check_note(check: Part) -> str:
    """Return who said a check: the person, only if they typed nearly all of its words."""
    typed = content_stems("\n".join(proof.quote for proof in check.proofs if not proof.observed))
    own = matching_share(content_stems(check.text), typed) >= _MIN_SAID_SHARE
    return "As you said:" if own else "From these sessions:"


def _step_text(part: Part) -> str:
    if part.sort is PartKind.WORDED:
        return part.text
    return f"{_STEP_VERBS[part.sort] if not is_mcp_call(part.text) else 'Call'} `{part.text}`"


def _input_schema(names: Sequence[str]) -> dict[str, object]:
    properties = {name: {"type": "string"} for name in names}
    return {"type": "object", "properties": properties, "required": list(names)}


def _rules_text(candidate: Candidate, parts: Sequence[Part]) -> tuple[str, str]:
    project = shorten(project_name(candidate.target), _MAX_TITLE_LENGTH)
    work = _WORK_DESCRIPTIONS.get(candidate.work)
    title = f"{project}: {candidate.work}" if work else project or candidate.name
    lines = [f"# {_without_end_punctuation(shorten(title, _MAX_TITLE_LENGTH))}"]
    lines += ["", f"For {work}."] if work else []
    for sort, heading in _SECTIONS:
        lines += section(heading, [f"- {part.text}" for part in parts if part.sort is sort])
    named = "; ".join(
        _without_end_punctuation(shorten(part.text, _MAX_DESCRIBED_LENGTH)) for part in parts[:_MAX_DESCRIBED_PARTS]
    )
    place = f" in {project}" if project else ""
    what = f"{work}{place}" if work else f"working{place or ' there'}"
    return f"Rules and facts for {what}: {named}. Use when {what}.", "\n".join(lines)


def shorten(text: str, limit: int) -> str:
    """Return a text as one safe line of at most `limit` characters, cut between words: half a link is another link."""
    line = one_line(text)
    if len(line) <= limit:
        return line
    head = line[: limit - 1].rpartition(" ")[0] or line[: limit - 1]
    return f"{head.rstrip()}\u2026"


def _without_end_punctuation(text: str) -> str:
    return text.rstrip(" .!;:,")


# Where a new skill goes: into the one project of its evidence, or to the person's own skills.


def find_place(candidate: Candidate, name: str, transcripts: Transcripts, host: Host) -> tuple[Path, bool]:
    """Return where a new skill called `name` goes, and whether others will see the file.

    Raises SkilldError if there is no place for it.
    """
    turns = [transcripts.find(proof) for proof in candidate.evidence]
    sessions = [one.session for one in turns if one is not None]
    # What came up in several projects belongs to none of them, even if only one is still here.
    one_project = len({session.project for session in sessions}) == 1
    projects = {top for session in sessions if one_project and (top := project_of(session.project))}
    path = new_skill_path(name, projects, [session.agent for session in sessions], places_by_agent(host), host.home)
    return path, _is_shared(path)


def edit_refusal(name: str, path: str, host: Host) -> str | None:
    """Return why the skill at `path` may not be edited for any agent, None if it may."""
    found = [find(name, path, None, places) for places in places_by_agent(host).values()]
    if any(isinstance(one, SkillRef) for one in found):
        return None
    return next(one.why for one in found if isinstance(one, Unusable))


def places_by_agent(host: Host) -> dict[str, Places]:
    """Return where each agent's skills are."""
    return {agent: skill_places(agent, host.home, host.environment, host.roots) for agent in ADAPTERS}


def _is_shared(path: Path) -> bool:
    standing = next(folder for folder in path.parents if folder.is_dir())
    try:
        return open_repo(standing).remote
    except NotTrackedError:
        return False
    except SkilldError:
        return True  # unknown: better to disclose less
