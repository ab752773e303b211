"""Creates turns from what a person said in a Codex rollout: prompts, answers to questions, review instructions.

Takes the records with such words, of which each message may have several mirrors; returns turns, or the reasons why
there are none. Knows nothing of replies and skills.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from skilld.agents.base import hash_name, items, mapping, objects, remember, short, string
from skilld.agents.codex.records import Record, Session
from skilld.agents.wrappers import (
    TemplateLookup,
    Wrappers,
    last_match,
    no_templates,
    normalize,
    option_labels,
    possible_picks,
    typed_arguments,
)
from skilld.text import fold, read_json
from skilld.types import Event, How, Ignored, Turn
from skilld.values import value_class

# What a person typed in the text of a prompt, or why nobody did. The wrappers are those of the Codex clients
# (openai/codex: core/src/context, core/src/review_prompts.rs, tui/src/chatwidget).


@value_class
class Prompt:
    """The words of a prompt, or "" and the `reason` why nobody typed it. `how` is None for an ordinary prompt."""

    text: str
    how: How | None = None
    reason: str = ""


# Matched at the start of the text, as Codex does. Tags may have attributes.
_INJECTED = re.compile(
    r"<(?:environment_context|user_instructions>|instructions>|recommended_plugins>|codex_internal_context"
    r"|goal_context>|extension_context>|app-context>|permissions instructions>|skills_instructions>"
    r"|plugins_instructions>|apps_instructions>|collaboration_mode>|multi_agent_mode>|model_switch>|personality_spec>"
    r"|token_budget>)",
    re.IGNORECASE,
)
_CLIENT_PREFIXES = {
    "<user_action>\n": "review",
    "<turn_aborted>": "aborted",
    "<subagent_notification>": "notification",
    "<user_shell_command>": "shell",
    "<hook_prompt": "hook",
    "<heartbeat>": "automation",
    "<skill>\n<name>": "skill-body",
}
_AGENTS_MD = re.compile(r"# AGENTS\.md instructions\b.*?<INSTRUCTIONS>", re.DOTALL)
_EXTERNAL = re.compile(r"<external_([\w-]+)>.*</external_\1>\s*\Z", re.DOTALL)
_WRAPPED = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^>]*)?>.*</\1>\s*\Z", re.DOTALL)

# Kinds of content items by their prefix, if the log has them.
_KIND_REASONS = {
    "generic.turn_aborted": "aborted",
    "shell.": "shell",
    "skills.": "skill-body",
    "multi_agent.": "notification",
}

# A client puts its context before the request. The last heading counts: a selection may quote an earlier one.
_REQUEST = r"^## My request(?: for Codex)?:[ \t]*"
_HEADING = re.compile(_REQUEST, re.MULTILINE)
_MAX_HEADINGS = 16  # a template may start at each of them
WRAPPERS = Wrappers(
    opens=r"# (?:Context from my IDE setup|Files mentioned by the user|Diff comments|Review findings|In app browser):"
    r"|## Prior conversation with Codex:",
    closes=_REQUEST,
    behind=False,
)

# Texts the client submits for a click or a bare command.
_CANNED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"PLEASE IMPLEMENT THIS PLAN:"), "plan"),
    (re.compile(r"A previous agent produced the plan below to accomplish the user's task\. Implement"), "plan"),
    (re.compile(r"## Code review guidelines:"), "review"),
    (re.compile(r"Review the current code changes \(staged, unstaged, and untracked files\) and provide"), "review"),
    (re.compile(r"Review the code changes against the base branch '.*'\. Start by finding the merge diff"), "review"),
    (re.compile(r"Review the code changes introduced by commit \w++.*Provide prioritized, actionable find"), "review"),
    (re.compile(r"Generate a file named AGENTS\.md that serves as a contributor guide for this repo"), "command"),
    (re.compile(r"Automation: .*\nAutomation ID: "), "automation"),
)
_PLAN_PICKED = re.compile(r"Implement the plan\.(?: If this thread has no active goal.*)?\Z")

# The template of a prompt command, with the typed arguments inserted.
_TEMPLATE = re.compile(r"(?:\A|\n)## User Input\n\n```text\n")
_TEMPLATE_END = "```\n\nYou **MUST** consider"
# A mention chosen from a list is logged as a link to the file.
_MENTION = re.compile(r"\[(\$[\w:.-]+)\]\([^()\n]*SKILL\.md\)")


def read_prompt(text: str, *, leaves_plan_mode: bool = False) -> Prompt:
    """Return what was typed in a message sent to the main thread, stripped of white space.

    `leaves_plan_mode` says that the turn is the first outside plan mode, where "Implement the plan." is a menu item.
    """
    request = _request(text)
    reason = injected_reason(text) or injected_reason(request)
    reason = reason or next((why for pattern, why in _CANNED if pattern.match(request)), None)
    if not reason and leaves_plan_mode and _PLAN_PICKED.match(request):
        reason = "plan"
    if not reason and not request:
        reason = "injected" if text.strip() else "empty"
    if reason:
        return Prompt("", reason=reason)
    if (template := _TEMPLATE.search(request)) and _TEMPLATE_END in request[template.end() :]:
        words = _arguments(request, template.end())
        return Prompt(words, How.COMMAND) if words else Prompt("", reason="command")
    return Prompt(_MENTION.sub(r"\1", request))


def injected_reason(text: str) -> str | None:
    """Return why a text is the client's own context, None if it does not look like that."""
    start = text.lstrip()
    if any(pattern.match(start) for pattern in (_INJECTED, _AGENTS_MD, _EXTERNAL)):
        return "injected"
    return next((reason for prefix, reason in _CLIENT_PREFIXES.items() if start[:64].lower().startswith(prefix)), None)


def kind_reason(kinds: Sequence[str]) -> str | None:
    """Return why a message with these content item kinds is not a person's, None if it is: every kind counts."""
    for kind in kinds:
        if not kind.startswith("user."):
            return next((reason for start, reason in _KIND_REASONS.items() if kind.startswith(start)), "injected")
    return None


def without_context(texts: Sequence[str]) -> list[str]:
    """Return the texts of one message without image marks, and without context if that is a separate text."""
    words = [text for text in texts if not text.lstrip().startswith(("<image", "</image", "<local_image"))]
    return [text for text in words if not WRAPPERS.starts_wrapped(text)] or words


def is_wrapped(text: str) -> bool:
    """Whether the whole text is in one tag: then an item without any sign of a person is taken for context."""
    return _WRAPPED.match(text.lstrip()) is not None


def _request(text: str) -> str:
    heading = last_match(_HEADING, text)  # unknown kinds of context have one too
    return text[heading.end() :].strip() if heading else WRAPPERS.typed_text(text).strip()


def _typed_to_template(text: str, templates: Sequence[str] | None) -> str | None:
    """Return what was typed as arguments of the template that became the prompt, with or without context before it.

    None if it is none of the templates; "" if the arguments are unclear. A selection and a template may both contain
    the heading, so the template may start below any.
    """
    headings = [each.end() for each in _HEADING.finditer(text)]
    if templates and len(headings) > _MAX_HEADINGS:
        return ""
    found = [typed_arguments(text[at:], templates) for at in (0, *headings)]
    return min((each for each in found if each is not None), key=len, default=None)


def _arguments(request: str, start: int) -> str:
    """Return the arguments in a template; "" if it has several places for them, of which one may be its own text."""
    marked = len(_TEMPLATE.findall(request)), request.count(_TEMPLATE_END)
    return request[start : request.index(_TEMPLATE_END, start)].strip() if marked == (1, 1) else ""


# Codex writes one message as a response item, an event and a completed item; which of them depends on the version, and
# none is always there. The n-th occurrence of a text in one carrier is the n-th in any other, so real repeats remain.
# Keeps hashes, no words.

_MAX_TEXTS = 32  # of the current turn; mirrors follow each other closely


class MirrorCounter:
    """The texts seen since the turn began: hash -> carrier -> count."""

    def __init__(self, state: object = None) -> None:
        """Resume from a checkpoint's state; anything else is a fresh start."""
        self._seen: dict[str, dict[str, int]] = {}
        if isinstance(state, Mapping):
            for text, counts in list(state.items())[-_MAX_TEXTS:]:
                if isinstance(text, str) and isinstance(counts, Mapping):
                    self._seen[text] = {str(key): value for key, value in counts.items() if isinstance(value, int)}

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return self._seen

    def clear(self) -> None:
        """Forget everything: a new turn begins."""
        self._seen.clear()

    def is_new(self, text_hash: str, carrier: str) -> bool:
        """Count an occurrence of a text; return whether no other carrier has had it yet."""
        counts = self._seen.get(text_hash, {})
        known = max(counts.values(), default=0)
        counts[carrier] = counts.get(carrier, 0) + 1
        remember(self._seen, text_hash, counts, _MAX_TEXTS)
        return counts[carrier] > known


# Separates typed answers to the agent's questions from picked ones. Only those of built-in tools count: the call must
# be in the log, since any command may print the JSON of an answer. Keeps hashes, no words.

_TOOLS = frozenset({"request_user_input", "request_user_input_async"})
_MAX_REMEMBERED = 256  # calls, labels and secret questions, each
_NOTE = "user_note: "
_NONE_OF_THEM = "None of the above"  # the terminal's own last option
_REPLY, _REPLY_END = "<send_user_message_question_reply>", "</send_user_message_question_reply>"


class AskedQuestions:
    """The agent's questions, so that its own words are never taken for the person's."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint's state; an empty one is a fresh start."""
        self._calls = _hashes(state.get("calls"))
        self._labels = _hashes(state.get("labels"))
        self._secret = _hashes(state.get("secret"))
        self._imitated = bool(state.get("imitated"))  # the agent's code contains the mark of a note

    def state(self) -> dict[str, list[Any]]:
        """Return the state for a checkpoint."""
        hashes = {"calls": list(self._calls), "labels": list(self._labels), "secret": list(self._secret)}
        return {**hashes, "imitated": [True] if self._imitated else []}

    def on_call(self, call: Mapping[str, Any]) -> None:
        """Record a tool call if it is a question. A namespace means an MCP server, not a built-in tool."""
        if _NOTE.strip() in string(call.get("input")):
            self._imitated = True
        if string(call.get("name")) not in _TOOLS or call.get("namespace"):
            return
        call_id = short(call.get("call_id"))
        _remember(self._calls, hash_name(call_id))
        self.add_options(objects(mapping(read_json(string(call.get("arguments")))).get("questions")), call_id)

    def add_options(self, questions: list[Mapping[str, Any]], call_id: str = "") -> None:
        """Record the options of questions, from a call or from an agent's message."""
        for question in questions:
            names = [call_id + "\0" + string(question.get("id"))] if call_id else []
            names += [normalize(string(question.get(key))) for key in ("question", "title") if question.get(key)]
            if question.get("isSecret") is True or question.get("is_secret") is True:
                _remember(self._secret, hash_name(names[0] if names else ""))
            for pick in sorted(possible_picks(option_labels([question]))):
                for name in names:
                    _remember(self._labels, hash_name(name, pick))

    def answers(self, output: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield (question id, words) from the output of a question call; words are "" if an option was picked."""
        call_id = short(output.get("call_id"))
        if hash_name(call_id) not in self._calls:
            return
        found = output.get("output")
        found = read_json(found) if isinstance(found, str) else found
        for key, answer in mapping(mapping(found).get("answers")).items():
            name = call_id + "\0" + string(key)
            if hash_name(name) in self._secret:
                continue
            for words in items(mapping(answer).get("answers")):
                yield short(key), self._typed(name, string(words))

    def verified_notes(self, record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the notes in a verified_answer whose call is not in the log (it ran inside code).

        Its options are unknown, so only what is marked as a note is the person's, unless an option may have that mark.
        """
        if hash_name(short(record.get("call_id"))) in self._calls:
            return
        for number, question in enumerate(objects(record.get("questions"))):
            _, mark, words = ("\n" + string(question.get("answer"))).partition("\n" + _NOTE)
            yield str(number), words.strip() if mark and not self._imitated else ""

    def envelope_answers(self, text: str) -> list[str] | None:
        """Return the answers in a reply envelope, "" for a picked one; None if the text is not an envelope."""
        envelope = text.strip()
        if not envelope.startswith(_REPLY):
            return None
        rows = objects(read_json(envelope.removeprefix(_REPLY).removesuffix(_REPLY_END)))
        return [self._typed(normalize(string(row.get("question"))), string(row.get("answer"))) for row in rows]

    def _typed(self, question: str, answer: str) -> str:
        label = normalize(answer)
        if label == normalize(_NONE_OF_THEM) or hash_name(question, label) in self._labels:
            return ""
        return answer.removeprefix(_NOTE).strip()


def _hashes(value: object) -> dict[str, None]:
    return dict.fromkeys(map(short, items(value)[-_MAX_REMEMBERED:]))


def _remember(hashes: dict[str, None], value: str) -> None:
    remember(hashes, value, None, _MAX_REMEMBERED)


@value_class
class _PendingPrompt:
    """A user's response item whose mirror, which has more about its origin, should be the next line."""

    record: Record
    text: str
    is_marked: bool  # its content kinds say that it is the user's


class PromptReader:
    """Reads what was said in one rollout. Shares the session with the parser."""

    def __init__(self, session: Session, state: Mapping[str, Any], agent: str) -> None:
        """Resume from a checkpoint's state; an empty one is a fresh start."""
        self._session = session
        self._agent = agent
        self._prompts = MirrorCounter(state.get("prompts"))
        self.questions = AskedQuestions(mapping(state.get("questions")))
        self._pending: _PendingPrompt | None = None
        self.templates: TemplateLookup = no_templates

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return {"prompts": self._prompts.state(), "questions": self.questions.state()}

    def pending_start(self, end: int) -> int:
        """Return the start of the prompt that waits for its mirror, `end` if none does."""
        return end if self._pending is None else self._pending.record.span.start

    def on_turn(self) -> None:
        """Handle the start of a turn."""
        self._prompts.clear()

    def on_event(self, record: Record) -> list[Event]:
        """Return the events of a legacy user_message."""
        body = record.body
        if string(body.get("kind")) not in {"", "plain"}:  # up to 0.4x: user_instructions, environment_context
            return [*self.release_pending(), Ignored("injected", record.span)]
        client_id = short(body.get("client_id"))
        return self._on_mirror(record, "event", string(body.get("message")), native=client_id, client_id=client_id)

    def on_item(self, record: Record) -> list[Event]:
        """Return the events of a completed UserMessage item."""
        item = record.body
        texts = [string(part.get("text")) for part in objects(item.get("content")) if part.get("type") == "text"]
        text = "".join(without_context([text for text in texts if not injected_reason(text)] or texts))
        native, client_id = short(item.get("id")), short(item.get("client_id"))
        return self._on_mirror(record, "item", text, native=native, client_id=client_id)

    def on_response(self, record: Record, texts: list[str]) -> list[Event]:
        """Hold a response item of role user until its mirror arrives, unless it is the client's own context."""
        passed = mapping(record.body.get("internal_chat_message_metadata_passthrough"))
        kinds = [string(kind) for kind in items(passed.get("content_item_kinds"))]
        reason = kind_reason(kinds) if kinds else next(filter(None, map(injected_reason, texts)), None)
        if reason:
            return [Ignored(reason, record.span)]
        text = "".join(without_context(texts))
        self._pending = _PendingPrompt(record, text, bool(kinds)) if text.strip() else None
        return []

    def release_pending(self) -> list[Event]:
        """Return the events of a held prompt: images and replies often have no mirror, the oldest files never."""
        pending, self._pending = self._pending, None
        if pending is None or not self._prompts.is_new(hash_name(pending.text), "response"):
            return []
        if not pending.is_marked and (self._session.mirrored or is_wrapped(pending.text)):
            return [Ignored("injected", pending.record.span)]
        return self._on_prompt(pending.record, pending.text, native=short(pending.record.body.get("id")), client_id="")

    def on_review(self, record: Record) -> list[Event]:
        """Handle the start of a review. Its prompts are the client's; only custom instructions were typed."""
        self._session.review = True
        words = string(mapping(record.body.get("target")).get("instructions")).strip()
        if not words:
            return []
        reason = self._session.ignored_reason("", record.turn_id)
        if reason:
            return [Ignored(reason, record.span)]
        key = self._key(record.turn_id or self._session.turn_id, hash_name("review", words))
        return [self._turn(record, key, words, How.COMMAND)]

    def on_output(self, record: Record) -> list[Event]:
        """Return the answers in the output of a question call."""
        return self._answers(record, self.questions.answers(record.body))

    def on_retained(self, record: Record) -> list[Event]:
        """Return the notes in a verified_answer."""
        is_answer = record.body.get("type") == "verified_answer"
        return self._answers(record, self.questions.verified_notes(record.body)) if is_answer else []

    def _on_mirror(self, record: Record, carrier: str, text: str, *, native: str, client_id: str) -> list[Event]:
        is_paired = self._pending is not None and _is_same_prompt(self._pending.text, text)
        events = [] if is_paired else self.release_pending()
        self._pending = None
        self._session.mirrored = True
        mark = hash_name(text)
        is_new = self._prompts.is_new(mark, carrier)
        if is_paired:
            self._prompts.is_new(mark, "response")
            self._session.review = False  # a review's own prompts are not response items of this thread
        return events + (self._on_prompt(record, text, native=native, client_id=client_id) if is_new else [])

    def _on_prompt(self, record: Record, text: str, *, native: str, client_id: str) -> list[Event]:
        """Return the turns of a prompt seen for the first time, or the reason why it is not a turn."""
        session = self._session
        turn_id = record.turn_id or session.turn_id
        is_steer = session.prompts > 0 and turn_id == session.turn_id != ""
        key = native or self._key(turn_id, hash_name(text))
        reason = session.ignored_reason(client_id, turn_id) or ("review" if session.review else None)
        session.prompts += 1
        session.order += 1
        arguments = _typed_to_template(text, self.templates(session.cwd or None))
        prompt = (
            read_prompt(text, leaves_plan_mode=session.leaves_plan_mode)
            if arguments is None
            else Prompt(arguments, How.COMMAND, reason="" if arguments else "command")
        )
        reason = reason or prompt.reason
        if reason or session.is_resubmission(hash_name(prompt.text)):
            return [Ignored(reason or "duplicate", record.span)]
        session.heard = True
        answers = self.questions.envelope_answers(prompt.text)
        if answers is not None:
            return [self._answer(record, f"{key}.{number}", words) for number, words in enumerate(answers)]
        return [self._turn(record, key, prompt.text, prompt.how or (How.QUEUED if is_steer else How.TYPED))]

    def _answers(self, record: Record, answers: Iterable[tuple[str, str]]) -> list[Event]:
        call = short(record.body.get("call_id"))
        place = record.turn_id or self._session.turn_id or self._session.root
        reason = self._session.ignored_reason("", record.turn_id)
        return [
            Ignored(reason, record.span) if reason else self._answer(record, f"{place}.{call}.{name}.{number}", words)
            for number, (name, words) in enumerate(answers)
        ]

    def _answer(self, record: Record, key: str, words: str) -> Event:
        return self._turn(record, key, words, How.ANSWER) if words else Ignored("picked-answer", record.span)

    def _turn(self, record: Record, key: str, text: str, how: How) -> Turn:
        agent, session = self._agent, self._session
        return Turn(f"{agent}:{key}", agent, session.thread, text, record.at, how, record.span, session.cwd or None)

    def _key(self, turn_id: str, mark: str) -> str:
        """Return a key for a prompt without a native id that is the same in a forked file."""
        session = self._session
        return f"{turn_id}.{session.prompts}.{mark}" if turn_id else f"{session.root}.{session.order}.{mark}"


def _is_same_prompt(response: str, mirror: str) -> bool:
    """Whether a response item and the mirror after it hold the same prompt: one may also name attachments."""
    one, other = fold(response), fold(mirror)
    return other != "" and (one in other or other in one)
