"""Writes a candidate as a SKILL.md: its name, description and body, in words that were said, and its place."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.classify.support import exact_tokens
from skilld.errors import SkilldError
from skilld.exchange.outgoing import cleared
from skilld.git.errors import NotTrackedError
from skilld.git.repo import open_repo
from skilld.ingest.discover import Host, skill_places
from skilld.mining.actions import is_called, names_machine
from skilld.mining.evidence import Transcripts
from skilld.mining.sessions import project_of
from skilld.mining.values import OBSERVED, Candidate, Part, Recurrence, Sort
from skilld.skills import Places, Unusable, find
from skilld.skills.draft import SkillKind, Variable
from skilld.skills.spec import front
from skilld.skills.write import DECLARES, compose, holes, landing
from skilld.text import counted, one_line
from skilld.types import SkillRef
from skilld.words import content_stems

# Names for new skills, from words that were used: as the Agent Skills specification wants them.

MAX_NAME = 64  # https://agentskills.io/specification
_WORDS = 4


def name_of(parts: Iterable[str], taken: Collection[str] = ()) -> str:
    """Return the parts joined to a name that is not `taken`: lower case, digits and single hyphens."""
    joined = "-".join(parts)
    plain = unicodedata.normalize("NFKD", joined).encode("ascii", "ignore").decode().lower()
    cleaned = "".join(char if char.isalnum() else "-" for char in plain)
    base = "-".join(word for word in cleaned.split("-") if word)[:MAX_NAME].strip("-") or "asked-for-again"
    name, number = base, 2
    while name in taken:
        name = f"{base[: MAX_NAME - 4].rstrip('-')}-{number}"
        number += 1
    return name


def telling_words(text: str) -> list[str]:
    """Return the first few words of a text that say what it is about."""
    words = [word.strip(".,:;!?'\"()`").lower() for word in text.split()]
    telling = [word for word in words if word.isascii() and word.isalpha() and content_stems(word)]
    return list(dict.fromkeys(telling))[:_WORDS]


def project_name(folder: str) -> str:
    """Return how a project is called: the name of its folder."""
    return Path(folder).name


# What a skill may say: nothing of one machine, nothing done once, nothing that every model knows.

_PLACEHOLDER = "[REDACTED:"
_ONCE = re.compile(
    r"\W*(?:please\W+|can you\W+|could you\W+|let'?s\W+)*"
    r"(?:(?:re)?install|set(?:ting)? up|bootstrap|scaffold|clone|initiali[sz]e|migrate|upgrade"
    r"|create an? (?:new )?(?:account|project|repo(?:sitory)?)|sign (?:in|up)|log ?in)\b",
    re.IGNORECASE,
)
# Advice made of these words alone is known to whoever writes code.
_KNOWN_TO_ALL = content_stems(
    """
    code clean good best practice practices careful carefully quality proper properly correct correctly bug bugs error
    errors mistake mistakes simple readable maintainable robust well better think hard harder thorough thoroughly
    professional efficient efficiently nice great perfect thing things stuff work works working make sure double
    attention detail details expert senior engineer production ready concise clear clearly high
    """
)
_MIN_STEMS = 2


def part_problem(part: Part, project: str) -> str | None:
    """Return why no skill should say a part, with paths below the folder `project` taken as relative; else None."""
    text = relative(part.text, project)
    if _PLACEHOLDER in text:
        return "it contains a secret"
    if names_machine(text):
        return "it contains a path specific to this machine"
    if part.sort is Sort.REQUEST and _ONCE.match(text):
        return "it is a one-time setup step"
    if part.sort in OBSERVED:
        return None
    stems = content_stems(text)
    if stems and stems <= _KNOWN_TO_ALL:
        return "any model knows this anyway"
    if len(stems) < _MIN_STEMS and not exact_tokens(text):
        return "it makes little sense out of context"
    return None


def relative(text: str, project: str) -> str:
    """Return a text with the paths below a project's folder made relative to it."""
    if not Path(project).is_absolute() or project == "/":
        return text
    return re.sub(rf"{re.escape(project.rstrip('/'))}/(?=[\w.-])", "", text)


_NAMED = 3  # parts that a description names: agents read it of every skill, in every session
_SAID = 120  # characters of one part in it
_TITLE = 80
_PART = 600
_TAG = re.compile(r"[a-z][a-z0-9._-]{1,19}")
_MAX_TAGS = 5
# What a kind of work is, for the words "use when".
_WORK = {
    "debugging": "looking for a bug or fixing a failure",
    "testing": "writing, changing or running tests",
    "optimization": "making something faster or smaller",
    "refactoring": "restructuring code",
    "documentation": "writing documentation",
    "deployment": "releasing or deploying",
}
_SECTIONS = ((Sort.FACT, "Facts"), (Sort.RULE, "Rules"), (Sort.PITFALL, "Pitfalls"))


@dataclass(frozen=True, slots=True)
class NewSkill:
    """A skill that nobody has agreed to yet: `text` is the whole SKILL.md."""

    name: str
    description: str
    body: str
    metadata: Mapping[str, str]

    @property
    def text(self) -> str:
        """The SKILL.md. Raises SkilldError where the name or the body can be no skill's."""
        return compose(self.name, self.description, self.body, self.metadata)

    def edited(self, text: str) -> NewSkill:
        """Return it with the description and body of another text: its name and marks are not for editing."""
        lines = text.removeprefix("\ufeff").splitlines()
        end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), 0)
        body = "\n".join(lines[end + 1 :] if end and lines[0].rstrip() == "---" else lines)
        return replace(self, description=front(text).description or self.description, body=body)


def new_skill(candidate: Candidate, *, day: str, with_sessions: bool) -> NewSkill:
    """Return the skill that a candidate to create would be; `day` is YYYY-MM-DD.

    `with_sessions` keeps the sessions' ids and what was last asked about in it: no file that others see should.
    """
    parts = [replace(part, text=short(relative(part.text, candidate.target), _PART)) for part in candidate.parts]
    kind = candidate.kind or SkillKind.KNOWLEDGE
    metadata = {"skilld-origin": "mined", "skilld-evolving": "true", "skilld-kind": kind.value, "skilld-date": day}
    if tags := _tags(candidate):
        metadata["skilld-tags"] = ", ".join(tags)
    metadata["skilld-sessions"] = ", ".join(sorted({proof.session for proof in candidate.evidence}))
    if candidate.recurrence is not None:
        said, body = _task(candidate, candidate.recurrence, parts, with_sessions=with_sessions)
        if kind is SkillKind.TOOL:
            metadata["skilld-input-schema"] = json.dumps(_schema([Variable(name) for name in holes(body)]))
    else:
        said, body = _rules(candidate, parts)
    if candidate.title:
        body = "\n".join([f"# {candidate.title}", *body.splitlines()[1:]])
    return NewSkill(
        candidate.name, candidate.description or said, body, metadata if with_sessions else cleared(metadata)
    )


def _tags(candidate: Candidate) -> list[str]:
    """Return what to find a skill by besides its words: the kind of work, and the programs that its steps run."""
    programs = [part.text.split()[0] for part in candidate.parts if part.sort is Sort.COMMAND and part.text.split()]
    named = [one.rpartition("/")[2].lower() for one in programs if not is_called(one)]
    tags = [candidate.work] if candidate.work in _WORK else []
    return list(dict.fromkeys([*tags, *(one for one in named if _TAG.fullmatch(one))]))[:_MAX_TAGS]


_POLITE = re.compile(
    r"\A\W*(?:(?:please|hi|hey|hello|now|ok|okay|so|next|(?:can|could|would|will) you|i (?:want|need) you to"
    r"|let'?s)\W+)*",
    re.IGNORECASE,
)


_COMMAND = re.compile(r"(?<!\S)/[A-Za-z][\w:-]*(?!\S)\s*")
_CLOSES = "_)]}'\"`"
_TAIL = re.compile(r"\b(?:please|too|as well|now|again|for me|thanks|thank you)\Z", re.IGNORECASE)
_ENDS = " \t\n?!.,"


def plain_request(text: str) -> str:
    """Return a request without what only makes it polite, and without the commands in it: they are what is there."""
    plain = _POLITE.sub("", _COMMAND.sub("", text)).rstrip(_ENDS)
    while tail := _TAIL.search(plain):
        plain = plain[: tail.start()].rstrip(_ENDS)
    last = next((n for n in range(len(plain), 0, -1) if plain[n - 1].isalnum() or plain[n - 1] in _CLOSES), 0)
    return plain[:last]  # without smileys


def title_of(request: str) -> str:
    """Return a request as a title, its variables as words."""
    asked = _bare(short(plain_request(request), _SAID))
    return re.sub(r"\{\{(\w+)\}\}", lambda hole: hole[1].rstrip("0123456789").upper(), asked)


def _task(candidate: Candidate, task: Recurrence, parts: Sequence[Part], *, with_sessions: bool) -> tuple[str, str]:
    """Return description and body for a task that came again: the person's words as rules, the rest as observed."""
    sessions = {proof.session for part in candidate.parts for proof in part.proofs}
    plain = title_of(task.request) or candidate.name
    lines = [f"# {plain[:1].upper()}{plain[1:]}"]
    used = [name for name in task.examples if any("{{" + name + "}}" in part.text for part in parts)]
    if used:
        lines += ["", *(_variable(name, task.examples[name] if with_sessions else ()) for name in used)]
    for heading, sorts in (("Rules", (Sort.RULE, Sort.PITFALL)), ("Facts", (Sort.FACT,))):
        told = [f"- {part.text}" for part in parts if part.sort in sorts]
        lines += ["", f"## {heading}", "", *told] if told else []
    lines += _observed_sections(parts, task, counted(len(sessions), "session"))
    count = counted(sum(part.sort in {Sort.COMMAND, Sort.EDIT} for part in parts), "step")
    also = ", plus a final check" if task.check else ""
    also += ", and what failed before" if any(part.sort is Sort.TRAP for part in parts) else ""
    said = f"{plain[:1].upper()}{plain[1:]}: {count} that worked in {counted(len(sessions), 'session')}{also}."
    return f"{said} Use when asked to do this, in these or other words.", "\n".join(lines)


def _variable(name: str, examples: Sequence[str]) -> str:
    told = [one for one in examples[:_NAMED] if "`" not in one and one[:1] not in {'"', "'"}]  # no text for people
    as_in = ", ".join(f"`{short(one, _TITLE)}`" for one in told)
    return f"- `{{{{{name}}}}}`: {DECLARES}{f' (for example {as_in})' if as_in else ''}."


def _observed_sections(parts: Sequence[Part], task: Recurrence, sessions: str) -> list[str]:
    """Return the sections of what was done, each marked as observed: nobody said it."""
    steps, check = [part for part in parts if part.sort in {Sort.COMMAND, Sort.EDIT}], task.check
    ends = bool(steps) and steps[-1].text == check
    lines = ["", "## Steps", "", f"Observed in {sessions}:", ""] if steps[: len(steps) - ends] else []
    for number, part in enumerate(steps[: len(steps) - ends], 1):
        verb = "Change" if part.sort is Sort.EDIT else "Call" if is_called(part.text) else "Run"
        lines.append(f"{number}. {verb} `{part.text}`.")
    if task.left_out:
        one = len(task.left_out) == 1
        what, it = ("A command from these sessions was", "it") if one else ("Commands from these sessions were", "them")
        lines += ["", f"{what} left out, because a skill must not run {it}."]
    if check:
        how = "the last step" if ends else "a step"
        lines += ["", "## Check", "", f"Observed as {how} of these sessions:", "", f"- Run `{check}`. It must pass."]
    traps = [f"- {part.text}" for part in parts if part.sort is Sort.TRAP]
    return [*lines, *(["", "## Pitfalls", "", "Observed:", "", *traps] if traps else [])]


def _schema(variables: Sequence[Variable]) -> dict[str, object]:
    """Return what a tool takes, as JSON Schema."""
    names = [one.name for one in variables]
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names}


def _rules(candidate: Candidate, parts: Sequence[Part]) -> tuple[str, str]:
    project = short(project_name(candidate.target), _TITLE)
    work = _WORK.get(candidate.work)
    lines = [_title(f"{project}: {candidate.work}" if work else project or candidate.name)]
    lines += ["", f"For {work}."] if work else []
    for sort, heading in _SECTIONS:
        told = [f"- {part.text}" for part in parts if part.sort is sort]
        lines += ["", f"## {heading}", "", *told] if told else []
    named = "; ".join(_bare(short(part.text, _SAID)) for part in parts[:_NAMED])
    place = f" in {project}" if project else ""
    what = f"{work}{place}" if work else f"working{place or ' there'}"
    return f"Rules and facts for {what}: {named}. Use when {what}.", "\n".join(lines)


def short(text: str, limit: int) -> str:
    """Return a text as one harmless line of at most `limit` characters, cut between words: half a link is another."""
    line = one_line(text)
    if len(line) <= limit:
        return line
    head = line[: limit - 1].rpartition(" ")[0] or line[: limit - 1]
    return f"{head.rstrip()}\u2026"


def _title(text: str) -> str:
    return f"# {_bare(short(text, _TITLE))}"


def _bare(text: str) -> str:
    return text.rstrip(" .!;:,")


# Where a new skill goes: into the project its evidence comes from, or to the person's own where that is not here.

# Which project a folder of a log belongs to, as far as this machine tells.


@dataclass(frozen=True, slots=True)
class Place:
    """The path of the SKILL.md to be, and whether others get to see what stands in it."""

    path: Path
    shared: bool


def place(candidate: Candidate, name: str, transcripts: Transcripts, around: Host) -> Place:
    """Return where a new skill called `name` goes. Raises SkilldError where there is no place for it."""
    heard = [transcripts.find(proof) for proof in candidate.evidence]
    sessions = [one.session for one in heard if one is not None]
    projects = {top for session in sessions if (top := project_of(session.project))}
    path = landing(name, projects, [session.agent for session in sessions], _places(around), around.home)
    return Place(path, _is_shared(path))


def edit_refusal(name: str, path: str, around: Host) -> str | None:
    """Return why the skill at `path` is not to be edited, for whichever agent it is; None where it may be."""
    found = [find(name, path, None, places) for places in _places(around).values()]
    if any(isinstance(one, SkillRef) for one in found):
        return None
    return next(one.why for one in found if isinstance(one, Unusable))


def _places(around: Host) -> dict[str, Places]:
    return {agent: skill_places(agent, around.home, around.environment, around.roots) for agent in ADAPTERS}


def _is_shared(path: Path) -> bool:
    standing = next(folder for folder in path.parents if folder.is_dir())
    try:
        return open_repo(standing).remote
    except NotTrackedError:
        return False
    except SkilldError:
        return True  # it cannot be told: say less
