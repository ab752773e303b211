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
from skilld.mining.evidence import Transcripts
from skilld.mining.sessions import project_of
from skilld.mining.values import Candidate, Part, Sort
from skilld.skills import Places, Unusable, find
from skilld.skills.draft import EXAMPLE, SkillKind, Variable
from skilld.skills.spec import front
from skilld.skills.write import compose, landing
from skilld.text import fold, one_line
from skilld.types import SkillRef
from skilld.words import content_stems

# Names for new skills, from words that were used: as the Agent Skills specification wants them. Pure.

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


# What a skill may say: nothing of one machine, nothing done once, nothing that every model knows. Pure.

# Folders in which one person's machine differs from another's; `/api/users` is no such thing.
_MACHINE = re.compile(
    r"(?<![\w.:/-])(?:~\w*/|\$HOME\b|\$\{HOME\}|/(?:Users|home|root|private|Volumes|tmp|var|opt|mnt|media|srv|usr|etc)/)"
    r"|\b[A-Za-z]:(?:\\|/(?!/))|\bfile:/|%(?:USERPROFILE|APPDATA|LOCALAPPDATA|HOMEPATH)%",
)
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
    if _MACHINE.search(text):
        return "it names a path on this machine"
    if part.sort in {Sort.REQUEST, Sort.STEP} and _ONCE.match(text):
        return "this is set up only once"
    stems = content_stems(text)
    if stems and stems <= _KNOWN_TO_ALL:
        return "any model knows this anyway"
    if part.sort is not Sort.STEP and len(stems) < _MIN_STEMS and not exact_tokens(text):
        return "it says nothing on its own"
    return None


def relative(text: str, project: str) -> str:
    """Return a text with the paths below a project's folder made relative to it."""
    if not Path(project).is_absolute() or project == "/":
        return text
    return re.sub(rf"{re.escape(project.rstrip('/'))}/(?=[\w.-])", "", text)


# One request in several wordings as a template: what is exact and differs between them becomes a variable. Pure.

_TOKEN = re.compile(r"\S+")
_EDGE = ".,:;!?()[]\"'`\u201c\u201d"
_LINK = re.compile(r"https?://")
_NUMBER = re.compile(r"#?\d+(?:[.,]\d+)*")
_MAX_VARIABLES = 6  # variables; with more it is another request each time


def template(newest: str, others: Sequence[str]) -> tuple[str, tuple[Variable, ...]]:
    """Return the newest wording with `{{name}}` for each exact token that another wording does not have.

    Exact is a link, a path, a number; plain words stay as they are. Without other wordings nothing is a variable. What
    stood there the last time is a variable's description.
    """
    known = [{token.strip(_EDGE) for token in _TOKEN.findall(other)} for other in others]
    names: dict[str, str] = {}

    def put(match: re.Match[str]) -> str:
        token = match[0].strip(_EDGE)
        shape = _shape(token)
        if not shape or all(token in one for one in known):
            return match[0]
        if token not in names:
            again = sum(name.rstrip("0123456789") == shape for name in names.values())
            names[token] = f"{shape}{again + 1}" if again else shape
        return match[0].replace(token, "{{" + names[token] + "}}", 1)

    text = _TOKEN.sub(put, newest)
    if len(names) > _MAX_VARIABLES or not names:
        return newest, ()
    return text, tuple(Variable(name, description=f"{EXAMPLE}{token}") for token, name in names.items())


def others_of(part: Part) -> list[str]:
    """Return the wordings of a request beside its newest one."""
    return [said for proof in part.proofs if (said := fold(proof.quote)) != fold(part.text)]


def _shape(token: str) -> str:
    """Return what sort of exact token it is, nothing for a plain word."""
    if _LINK.match(token):
        return "link"
    if _NUMBER.fullmatch(token):
        return "number"
    if "/" in token.strip("/") or re.fullmatch(r"\w[\w-]*\.[A-Za-z]{1,5}", token):
        return "path"
    return "id" if re.search(r"\d", token) else ""


_NAMED = 3  # parts that a description names: agents read it of every skill, in every session
_SAID = 120  # characters of one part in it
_TITLE = 80
_PART = 600
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
    parts = [_clean(part, candidate.target) for part in candidate.parts]
    kind = candidate.kind or SkillKind.KNOWLEDGE
    metadata = {"skilld-origin": "mined", "skilld-evolving": "true", "skilld-kind": kind.value, "skilld-date": day}
    metadata["skilld-sessions"] = ", ".join(sorted({proof.session for proof in candidate.evidence}))
    if parts[0].sort is Sort.REQUEST:
        said, body, variables = _request(parts[0], kind)
        if kind is SkillKind.TOOL:
            metadata["skilld-input-schema"] = json.dumps(_schema(variables))
        elif variables:
            metadata["skilld-variables"] = json.dumps([_told(one) for one in variables])
    elif any(part.sort is Sort.STEP for part in parts):
        said, body = _steps(parts)
    else:
        said, body = _rules(candidate, parts)
    if candidate.title:
        body = "\n".join([f"# {candidate.title}", *body.splitlines()[1:]])
    return NewSkill(
        candidate.name, candidate.description or said, body, metadata if with_sessions else cleared(metadata)
    )


def _clean(part: Part, project: str) -> Part:
    return replace(part, text=short(relative(part.text, project), _PART))


def _request(part: Part, kind: SkillKind) -> tuple[str, str, tuple[Variable, ...]]:
    text, variables = template(part.text, others_of(part))
    plain = text
    for one in variables:
        plain = plain.replace("{{" + one.name + "}}", f"some {one.name.rstrip('0123456789')}")
    said = f"Does a request that keeps coming up: {_bare(short(plain, _SAID))}."
    asked = f"## Steps\n\n1. {text}" if kind is SkillKind.WORKFLOW else text
    return f"{said} Use when asked for this, in these or other words.", f"{_title(plain)}\n\n{asked}", variables


def _schema(variables: Sequence[Variable]) -> dict[str, object]:
    """Return what a tool takes, as JSON Schema."""
    names = [one.name for one in variables]
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names}


def _told(variable: Variable) -> dict[str, str]:
    return {"name": variable.name, "type": variable.type, "description": variable.description}


def _steps(parts: Sequence[Part]) -> tuple[str, str]:
    steps = "; then ".join(_bare(short(part.text, _SAID)) for part in parts[:_NAMED])
    numbered = [f"{number}. {part.text}" for number, part in enumerate(parts, 1)]
    said = f"Steps that follow each other: {steps}. Use when asked for them, or for the first of them."
    return said, "\n".join([_title(parts[0].text), "", "## Steps", "", *numbered])


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
    projects = {top for session in sessions if (top := project_of(session.main_dir))}
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
