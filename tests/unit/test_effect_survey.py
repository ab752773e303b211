"""What a transcript shows about the loaded rules, by words and by a model's answer to a closed question."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from e2e.test_targets import Talk
from skilld import codec
from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.backends.model import Model
from skilld.classify.closed_questions import repeats
from skilld.classify.json_answer import BadReplyError
from skilld.classify.prompt import Prompt
from skilld.clock import parse_time
from skilld.effect import survey as module
from skilld.effect.model_questions import rule_key
from skilld.effect.survey import survey
from skilld.library.patterns import find_patterns
from skilld.past import PastSession
from skilld.protocol import FromWorker, Job, JobEnd, SurveyRequest, SurveyResult, SurveyTranscripts
from skilld.types import Usage
from support.repos import Person
from support.rows import for_each

RULES = "# App\n\n- Use pnpm, never npm, in this repository.\n- Answer in German.\n"
PNPM = "You ran npm again, use pnpm!"
GERMAN = "Das kann hier so keiner lesen, mein Passwort ist hunter2horse!"


class StoredAnswers(Model):
    """A model that always gives the same reply to a question."""

    reply = "<repeats>[]</repeats>"
    matters_reply = "<matters>[]</matters>"

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self.requests: list[str] = []

    def _ask(self, request: Prompt, form: Mapping[str, Any] | None) -> str:
        self.requests.append(request.user)
        self.usage += Usage(1, 10, 5, 0.0)
        return self.reply if "repeats" in json.dumps(form) else self.matters_reply


@pytest.fixture
def talk(home: Path, tmp_path: Path) -> Talk:
    """A session in a project with rules, in which one of them was said again in other words."""
    root = tmp_path / "app"
    root.mkdir()
    (root / "CLAUDE.md").write_text(RULES)
    os.utime(root / "CLAUDE.md", (1_700_000_000, 1_700_000_000))
    talk = Talk(home, root, at="2026-11-22T10:00:00.000Z")
    talk.type("Add a form please")
    talk.edits(root / "src/form.ts")
    talk.type(PNPM, GERMAN, "what does pnpm do?")
    return talk


def run_survey(talk: Talk, home: Path, model: str = OFFLINE, *, at: float = 0.0, is_live: bool = False) -> SurveyResult:
    job = SurveyRequest("claude-code", str(talk.path), str(home), talk.path.stat().st_size, at, is_live, Spec(model))
    return survey(job, lambda text: text.replace("hunter2horse", "[REDACTED]"))


def test_a_job_of_several_can_end_early_and_its_result_crosses_processes(
    talk: Talk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = SurveyTranscripts((SurveyRequest("claude-code", str(talk.path), str(home), 0, 0.0),) * 3)
    assert codec.decode(Job, codec.encode(Job(job, 0o22))).work == job
    monkeypatch.setattr(module, "_MAX_SECONDS", 60.0)
    assert len(module.survey_several(job, str).shown) == 3
    monkeypatch.setattr(module, "_MAX_SESSIONS", 2)
    surveys_result = module.survey_several(job, str)
    assert [len(one.sessions) for one in surveys_result.shown] == [1, 1]
    assert (
        codec.decode(FromWorker, codec.encode(JobEnd(surveys_result, stays=True, asked_models=False))).result
        == surveys_result
    )
    monkeypatch.setattr(module, "_MAX_SECONDS", 0.0)
    assert len(module.survey_several(job, str).shown) == 1


def test_a_transcript_shows_what_was_loaded_done_and_repeated(talk: Talk, home: Path) -> None:
    """Each repeat is tied to path, line and text, with the person's words and the time since when it stands there."""
    (session,) = run_survey(talk, home).sessions
    guide = str(Path(str(talk._shared["cwd"])) / "CLAUDE.md")
    assert session.loaded == (guide,)
    assert {"form", "typescript"} <= set(session.work)
    (repeat,) = session.repeats
    assert (repeat.path, repeat.line, repeat.quote, repeat.since) == (guide, 3, PNPM, 1_700_000_000)
    assert [one.turn for one in session.said if one.quote == PNPM] == [repeat.turn]
    assert "hunter2horse" not in repr(session)


def add_command(talk: Talk, number: int, command: str, *, failed: bool) -> None:
    """Have the agent run a command."""
    use = {"type": "tool_use", "id": f"toolu_b{number}", "name": "Bash", "input": {"command": command}}
    talk.add(type="assistant", message={"role": "assistant", "content": [use]})
    done = {"type": "tool_result", "tool_use_id": use["id"], "content": "...", "is_error": failed}
    talk.add(type="user", message={"role": "user", "content": [done]})


def test_what_was_done_is_known_without_words(talk: Talk, home: Path) -> None:
    add_command(talk, 1, "pnpm test", failed=True)
    add_command(talk, 2, "grep -r tests src", failed=True)  # it looks at tests and runs none
    (failing,) = run_survey(talk, home).sessions
    add_command(talk, 3, "cd app && pnpm test", failed=False)
    add_command(talk, 4, "git commit -m tests", failed=True)
    (session,) = run_survey(talk, home).sessions
    assert failing.done is not None
    assert session.done is not None
    assert (failing.done.passed, session.done.passed) == (False, True)
    assert (session.done.tools, session.done.calls, session.done.failed) == (("Edit", "Bash"), 5, 3)
    assert codec.decode(PastSession, codec.encode(session), strict=False) == session
    assert not {"form", "pnpm", "commit"} & set(repr(session.done).split())

    patterns = find_patterns([], [session, failing, replace(session, done=None)])
    assert (patterns.tasks, patterns.success_rate, patterns.qa_rate) == (2, 0.5, 0.5)
    assert (patterns.success_known, patterns.qa_known) == (2, 2)
    unchecked = replace(session, done=replace(session.done, passed=None))
    patterns = find_patterns([], [session, failing, unchecked])
    assert (patterns.tasks, patterns.success_known, patterns.qa_known) == (3, 2, 2)
    patterns = find_patterns([], [session, failing, replace(session, done=None)])
    assert (patterns.tools, patterns.work) == ({"Edit": 2, "Bash": 2}, {"other": 2})
    assert patterns.projects == {session.cwd: 2}


@pytest.mark.parametrize(
    ("hours", "is_live", "shift"), [(0.5, True, 0), (17, True, 17), (17, False, 0), (24 * 30, True, 0), (-5, True, 0)]
)
def test_a_slow_clock_is_detected_by_the_file_time(
    talk: Talk,
    home: Path,
    hours: float,
    is_live: bool,  # noqa: FBT001 - a case
    shift: float,
) -> None:
    """Only of a transcript that has come since skilld is there; an old one is a session of its own time."""
    said = parse_time("2026-11-22T10:00:00Z") or 0.0
    (session,) = run_survey(talk, home, at=said + hours * 3600, is_live=is_live).sessions
    assert session.at == said + shift * 3600
    assert {one.at for one in session.said} == {session.at}


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> StoredAnswers:
    """The model of the settings, with stored replies."""
    model = StoredAnswers(Spec("stored"))
    monkeypatch.setattr(module, "make_backend", lambda _: model)
    return model


def test_a_model_is_asked_once_where_words_cannot_tell(talk: Talk, home: Path, model: StoredAnswers) -> None:
    model.reply = '<repeats>[{"said": 2, "rule": 2}]</repeats>'
    result = run_survey(talk, home, "stored")
    (session,) = result.sessions
    assert [(repeat.line, repeat.text) for repeat in session.repeats] == [
        (3, "Use pnpm, never npm, in this repository."),
        (4, "Answer in German."),
    ]
    assert (result.model, result.usage.calls) == ("stored", 2)
    asked, _ = model.requests
    assert '{"number": 2, "text": "Answer in German."}' in asked
    assert (PNPM in asked, "hunter2horse" in asked, "[REDACTED]" in asked) == (False, False, True)


def test_a_model_is_not_asked_about_rules_that_came_from_the_session(
    talk: Talk, home: Path, tmp_path: Path, model: StoredAnswers
) -> None:
    repo = Person(tmp_path / "app")
    repo.git("init", "--quiet")
    repo.git("add", "CLAUDE.md")
    repo.git("commit", "--quiet", "-m", "Rules", GIT_COMMITTER_DATE="2026-11-01T10:00:00Z")
    repo.write("CLAUDE.md", f"{RULES}- Name forms after what they edit.\n")
    find_repeats(model, talk, home)
    asked = model.requests[0]
    assert ("Answer in German." in asked, "Name forms after" in asked) == (True, False)


def test_the_persons_own_file_counts_through_a_link_to_another_folder(talk: Talk, home: Path, tmp_path: Path) -> None:
    """Dotfiles may lie anywhere; what a file imports may not."""
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "mine.md").write_text("# All\n\n- No emojis in anything you write.\n@other.md\n")
    (dotfiles / "other.md").write_text("- Be brief.\n")
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude/CLAUDE.md").symlink_to(dotfiles / "mine.md")
    (session,) = run_survey(talk, home).sessions
    assert session.loaded == (str(dotfiles / "mine.md"), str(tmp_path / "app/CLAUDE.md"))


def test_a_model_hears_corrections_that_words_miss(talk: Talk, home: Path, model: StoredAnswers) -> None:
    """A violation that is only described: short turns are asked about, unless the gate spares all of them."""
    described = "package-lock.json is back, and pnpm-lock.yaml is gone"
    talk.type(described, "ok", "see\n```\nnpm error\n```", "long " * 100)
    assert [one.quote for one in run_survey(talk, home).sessions[0].said].count(described) == 0
    asked = find_repeats(model, talk, home)
    german = GERMAN.replace("hunter2horse", "[REDACTED]")
    assert asked == ["Add a form please", german, "what does pnpm do?", described]
    model.reply = f'<repeats>[{{"said": {asked.index(described) + 1}, "rule": 1}}]</repeats>'
    (session,) = run_survey(talk, home, "stored").sessions
    assert [repeat.quote for repeat in session.repeats] == [PNPM, described]
    assert session.said[-1].quote == described
    assert session.said[-1].at == session.at


@pytest.mark.parametrize("turns", [["ok, thanks"], ["thanks, looks good", "go on", "ok"], ["what does pnpm do?"]])
def test_no_question_is_asked_about_a_session_that_the_gate_spares(
    home: Path, tmp_path: Path, model: StoredAnswers, turns: list[str]
) -> None:
    root = tmp_path / "quiet"
    root.mkdir()
    (root / "CLAUDE.md").write_text(RULES)
    os.utime(root / "CLAUDE.md", (1_700_000_000, 1_700_000_000))
    quiet = Talk(home, root, at="2026-11-22T10:00:00.000Z")
    quiet.type(*turns)
    (session,) = run_survey(quiet, home, "stored").sessions
    assert session.loaded
    assert model.requests == []
    quiet.type("package-lock.json is back, and pnpm-lock.yaml is gone")
    run_survey(quiet, home, "stored")
    assert len(model.requests) == 2


def find_repeats(model: StoredAnswers, talk: Talk, home: Path) -> list[str]:
    """Return what a model is asked about."""
    run_survey(talk, home, "stored")
    block = model.requests[-2].partition("<said>\n")[2].partition("\n</said>")[0]
    return [json.loads(line)["text"] for line in block.splitlines()]


def test_a_model_says_which_rules_were_relevant(talk: Talk, home: Path, model: StoredAnswers) -> None:
    """Issue 17, 2: by a closed question where there is a model; the session keeps no words of it."""
    model.matters_reply = '<matters>[{"rule": 2}]</matters>'
    (session,) = run_survey(talk, home, "stored").sessions
    pnpm, german = (rule_key(line[2:]) for line in RULES.splitlines()[2:])
    assert (session.mattered, session.idle) == ((german,), (pnpm,))
    work = model.requests[-1].partition("</work>")[0]
    assert '{"asked": "Add a form please"}' in work
    assert "src/form.ts" in work
    assert ("hunter2horse" in work, "[REDACTED]" in work) == (False, True)


@pytest.mark.parametrize("reply", ['<matters>[{"rule": 3}]</matters>', '<matters>[{"rule": 1, "why": "x"}]</matters>'])
def test_rules_without_a_usable_answer_are_left_out(talk: Talk, home: Path, model: StoredAnswers, reply: str) -> None:
    model.matters_reply = reply
    (session,) = run_survey(talk, home, "stored").sessions
    assert (session.mattered, session.idle, len(session.repeats)) == ((), (), 1)


def test_without_a_usable_answer_only_words_count(talk: Talk, home: Path, model: StoredAnswers) -> None:
    model.reply = '<repeats>[{"said": 7, "rule": 2}]</repeats>'
    (session,) = run_survey(talk, home, "stored").sessions
    assert [repeat.line for repeat in session.repeats] == [3]


def test_a_missing_transcript_shows_nothing(talk: Talk, home: Path) -> None:
    result = run_survey(talk, home)
    talk.path.rename(talk.path.with_suffix(".gone"))
    job = SurveyRequest("claude-code", str(talk.path), str(home), 0, 0.0)
    assert (survey(job, str).sessions, len(result.sessions)) == ((), 1)


@for_each(
    "reply",
    [
        "<repeats>yes</repeats>",
        '<repeats>[{"said": 1}]</repeats>',
        '<repeats>[{"said": 0, "rule": 1}]</repeats>',
        '<repeats>[{"said": 1, "rule": 4}]</repeats>',
        '<repeats>[{"said": 1, "rule": 1, "why": "x"}]</repeats>',
    ],
)
def test_a_malformed_answer_is_none(reply: str) -> None:
    read = repeats(["a", "b"], ["1", "2", "3"]).read
    with pytest.raises(BadReplyError):
        read(reply)
    assert read("<repeats>[]</repeats>") == []
