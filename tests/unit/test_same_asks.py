"""What was said before in other words: a model is asked whether the person asks for the same once more."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skilld.classify.backends import Spec
from skilld.classify.backends.model import Model
from skilld.classify.closed_questions import same_asks
from skilld.classify.json_answer import BadReplyError
from skilld.classify.verify import Verdict
from skilld.jobs.extract import extend_skill
from skilld.jobs.same_asks import SameAsks, find_lines
from skilld.proposals.results import learning_id
from skilld.protocol import AnalyseBatch, BatchJob, ExtendSkill, PastLearning
from skilld.store.learnings import NO_FILE_REASON, Learning
from skilld.types import Evidence, How, Kind, Message, Outcome, Proposal, SkillRef, State, TargetKind, Update
from support.in_process_daemon import InProcessDaemon
from support.live_project import Project
from support.proposals import make_proposal
from support.session import Session
from support.stub_model import Body, StubModel, request_text

FIRST, AGAIN = "nur Standardbibliothek hier, kein pip", "as I said, never use anything that has to be installed"
CHANGE, CHANGE_AGAIN = "Nur Standardbibliothek, kein pip.", "Never use anything that has to be installed."


def _answer(found: list[dict[str, int]]) -> str:
    return f"<same>{json.dumps(found)}</same>"


def _update(change: str, quote: str, kind: str = "preference") -> str:
    update = {
        "skill": 1,
        "section": "new step",
        "change": change,
        "reason": "a preference",
        "kind": kind,
        "turn": 1,
        "quote": quote,
        "confidence": 0.9,
    }
    return f"<updates>{json.dumps([update])}</updates>"


class _Answers:
    """A model that hears what it was told to, and finds the first noted instruction in the first new one."""

    def __init__(self) -> None:
        self.heard: dict[str, str] = {}  # changes by their quotes
        self.same: list[dict[str, int]] = [{"new": 1, "noted": 1}]
        self.kind = "preference"
        self.asked: list[str] = []

    def __call__(self, body: Body) -> str:
        text = request_text(body)
        if "<noted>" in text:
            self.asked.append(text)
            return _answer(self.same)
        if "inside <updates> tags" in text:
            words = text.rpartition("<recent_messages>")[2]
            known = text.partition("<recent_messages>")[0]
            new = [(quote, change) for quote, change in self.heard.items() if quote in words and change not in known]
            return _update(new[0][1], new[0][0], self.kind) if new else "<updates>[]</updates>"
        return "<operations>[]</operations>"


@pytest.fixture
def answers(stub: StubModel) -> _Answers:
    stub.decide = found = _Answers()
    return found


@pytest.fixture
def daemon(home: Path, stub: StubModel, answers: _Answers) -> Iterator[InProcessDaemon]:
    del answers
    folder = home / ".config/skilld"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(
        f'model = "openai/stub"\nmodel_base_url = "{stub.base_url}"\nmodel_api_key = "k"\n'
    )
    (folder / "config.toml").chmod(0o600)
    made = InProcessDaemon(home)
    yield made
    made.close()


@pytest.fixture
def bare(home: Path, tmp_path: Path) -> Project:
    return Project(tmp_path / "bare", home, ".elsewhere")


def _learning(project: Project, number: int, quote: str, change: str) -> Learning:
    return Learning(
        id=learning_id(f"claude-code:t{number}", quote),
        turn_key=f"claude-code:t{number}",
        quote=quote,
        change=change,
        kind="preference",
        agent="claude-code",
        session_id=f"s{number}",
        project=str(project.root),
        skill=None,
        why_kept=f"{NO_FILE_REASON} CLAUDE.md yet",
        confidence=0.9,
        created_at="2026-01-01T00:00:00Z",
        place_kind="instructions",
        place=str(project.root / "CLAUDE.md"),
    )


def test_a_wish_put_in_other_words_in_a_second_session_is_proposed_with_both_quotes(
    daemon: InProcessDaemon, answers: _Answers, home: Path, bare: Project
) -> None:
    daemon.store.learnings.add(_learning(bare, 1, FIRST, CHANGE))
    answers.heard = {AGAIN: CHANGE_AGAIN}
    Session(home, bare).type(AGAIN, "ok", "go on", "thanks", "fine")
    (made,) = daemon.run()
    assert {one.quote for one in made.evidence} == {AGAIN, FIRST}
    assert daemon.store.learnings.all() == []


def test_another_wish_waits_for_a_second_session_of_its_own(
    daemon: InProcessDaemon, answers: _Answers, home: Path, bare: Project
) -> None:
    daemon.store.learnings.add(_learning(bare, 1, FIRST, CHANGE))
    answers.heard, answers.same = {AGAIN: CHANGE_AGAIN}, []
    Session(home, bare).type(AGAIN, "ok", "go on", "thanks", "fine")
    assert daemon.run() == []
    assert {one.change for one in daemon.store.learnings.all()} == {CHANGE, CHANGE_AGAIN}
    assert len(answers.asked) == 1


def test_what_waited_is_proposed_once_its_file_exists_even_if_the_rules_miss_it(
    daemon: InProcessDaemon, answers: _Answers, bare: Project
) -> None:
    answers.same = []
    daemon.store.learnings.add(_learning(bare, 1, FIRST, CHANGE))
    _commit(bare, "# Tool\n\n- Be brief.\n")
    (made,) = daemon.run()
    assert (made.summary, made.evidence) == (CHANGE, (Evidence("claude-code:t1", FIRST),))


def test_a_models_wording_is_proposed_whole_even_if_the_rules_find_part_of_it(
    daemon: InProcessDaemon, answers: _Answers, bare: Project
) -> None:
    answers.same = []
    daemon.store.learnings.add(
        _learning(bare, 1, "no sleeps in tests. use fake timers", "No sleeps in tests. Use fake timers.")
    )
    _commit(bare, "# Tool\n\n- Be brief.\n")
    (made,) = daemon.run()
    assert made.summary == "No sleeps in tests. Use fake timers."


def test_what_waited_is_not_proposed_beside_a_line_or_a_proposal_that_says_it(
    daemon: InProcessDaemon, answers: _Answers, bare: Project
) -> None:
    _commit(bare, "# Tool\n\n- Standardbibliothek genügt immer.\n")
    answers.same = [{"new": 1, "noted": 1}]
    daemon.store.learnings.add(_learning(bare, 1, FIRST, CHANGE))
    assert daemon.run() == []
    (said,) = daemon.store.proposals.in_states([State.SAID])
    assert said.note == "CLAUDE.md:3 already says this: Standardbibliothek genügt immer."

    answers.same = []
    daemon.store.learnings.add(_learning(bare, 2, FIRST, CHANGE))
    (made,) = daemon.run()
    answers.same = [{"new": 1, "noted": 1}]
    daemon.store.learnings.add(_learning(bare, 3, AGAIN, CHANGE_AGAIN))
    (still,) = daemon.run()
    assert still.id == made.id
    assert AGAIN in {one.quote for one in still.evidence}
    assert daemon.store.learnings.all() == []


@pytest.mark.parametrize(
    "said",
    [
        "the ticket number at the start of the titles: drop that again, the tool adds it",
        "the ticket number at the start of the titles looks silly, no ticket number there please",
    ],
)
def test_an_open_proposal_that_a_model_finds_taken_back_is_marked(
    daemon: InProcessDaemon, answers: _Answers, home: Path, bare: Project, said: str
) -> None:
    change, asked = (
        "Put the ticket number at the start of the titles.",
        "put the ticket number at the start of the titles",
    )
    answers.same = []
    _commit(bare, "# Tool\n\n- Be brief.\n")
    answers.heard = {asked: change}
    Session(home, bare).type(asked, "ok", "go on", "thanks", "fine")
    (made,) = daemon.run()
    answers.heard, answers.kind = {said: change}, "remove_step"
    Session(home, bare).type(said, "ok", "go on", "thanks", "fine")
    (still,) = daemon.run()
    assert (still.id, still.flags) == (made.id, (f"you may have taken this back since: “{said}”",))
    assert [one.quote for one in still.evidence] == [asked]


def test_an_agent_sees_only_what_was_said_to_it(stub: StubModel, answers: _Answers) -> None:
    model = Model(Spec("openai/stub", stub.base_url, "k"))
    said = (PastLearning("codex:t1", "one", "Codex heard this.", "s1"), PastLearning("pi:t2", "two", "Pi too.", "s2"))
    theirs = make_proposal(evidence=(Evidence("pi:t3", "q"),), updates=(_made("Made of words to Pi."),), repo="/p")
    batch = BatchJob(batch="b9", agent="codex", session_id="s9", cwd="/p", sources=(), turns=(), skills=())
    for name, seen in (("cli:codex", [True, False, False]), ("openai/stub", [True, True, True])):
        job = AnalyseBatch(
            batch=batch, closed_at="", backend=Spec(name), matcher=Spec(name), waiting=said, open=(theirs,)
        )
        SameAsks(job).split(Verdict(learned=((_made("New."), ""),)), [], model, str)
        assert [one in answers.asked[-1] for one in ("Codex heard", "Pi too", "Made of words")] == seen


def test_only_open_proposals_for_files_that_the_agent_loads_are_compared(stub: StubModel, answers: _Answers) -> None:
    """For all projects too, made in another one, and said later: past sessions may be judged in any order."""
    everywhere = _open("everywhere", "/h/.claude/CLAUDE.md", target=TargetKind.PERSONAL, agents=("claude-code",))
    codex = _open("codex", "/h/.codex/AGENTS.md", target=TargetKind.PERSONAL, agents=("codex",))
    later, apart = _open("later", "/p/CLAUDE.md", repo="/p"), _open("apart", "/q/CLAUDE.md", repo="/q")
    batch = BatchJob(
        batch="b", agent="claude-code", session_id="s9", cwd="/p", sources=(), turns=(), skills=(), home="/h"
    )
    job = AnalyseBatch(
        batch=batch,
        closed_at="",
        backend=Spec("openai/stub"),
        matcher=Spec("openai/stub"),
        open=(everywhere, codex, later, apart),
        elsewhere=("everywhere", "codex", "apart"),
        newer=("later",),
    )
    model = Model(Spec("openai/stub", stub.base_url, "k"))
    _, known = SameAsks(job).split(Verdict(learned=((_made("New."), ""),)), [], model, str)
    assert [name for name in ("everywhere", "codex", "later", "apart") if name in answers.asked[-1]] == [
        "everywhere",
        "later",
    ]
    assert known == [(_made("New."), everywhere)]


def test_what_a_skill_says_in_another_language_is_not_added_to_it(
    stub: StubModel, answers: _Answers, bare: Project
) -> None:
    skill = bare.root / "SKILL.md"
    skill.write_text("---\nname: release\ndescription: Releases.\n---\n# Release\n\n- Ask before you publish.\n")
    said = "erst fragen, dann raus damit"
    job = ExtendSkill(
        backend=Spec("openai/stub", stub.base_url, "k"),
        skill=SkillRef("release", str(skill)),
        messages=(Message(f"{said}, bitte immer", 1, "t1", How.TYPED),),
        updates=(Update(1, "", "Erst fragen, dann raus damit.", "", Kind.PREFERENCE, 1, said, 0.9),),
    )
    made = extend_skill(job, str)
    assert (made.outcome, made.detail) == (Outcome.NOTHING, "release already says this: Ask before you publish.")
    assert len(answers.asked) == 1


@pytest.mark.parametrize("reply", ['[{"new": 3, "noted": 1}]', '[{"new": 1, "noted": 0}]', '[{"new": 1}]', "yes"])
def test_an_answer_about_other_numbers_does_not_count(reply: str) -> None:
    with pytest.raises(BadReplyError):
        same_asks(["a", "b"], ["c"]).read(f"<same>{reply}</same>")


def test_each_rule_of_a_file_is_shown_once(answers: _Answers, stub: StubModel) -> None:
    text = "# Guide\n\n- Use tabs.\n- Never push.\n  Ask me.\n1. Run it.\n\nPlain words.\n"
    find_lines([_made("Indent with tabs.")], text, Model(Spec("openai/stub", stub.base_url, "k")), str)
    (asked,) = answers.asked
    assert [asked.count(one) for one in ("Use tabs.", "Never push.", "Ask me.", "Run it.", "Plain words.")] == [1] * 5


def _made(change: str) -> Update:
    return Update(None, "", change, "", Kind.PREFERENCE, 1, change, 0.9)


def _open(name: str, path: str, **fields: Any) -> Proposal:
    return make_proposal(id=name, batch_id=f"b-{name}", path=path, updates=(_made(name),), **fields)


def _commit(project: Project, text: str) -> None:
    (project.root / "CLAUDE.md").write_text(text)
    subprocess.run(["git", "add", "--all"], cwd=project.root, check=True)
    subprocess.run(["git", "commit", "--quiet", "--message", "Guide"], cwd=project.root, check=True)
