"""Issue 18, 5: every key of the review does what the table says; every key line, in two sizes.

The session is a stand-in that remembers what it was asked for: what git has after a decision is for `test_review`.
"""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import Screen as Displayed
from textual.widgets import Input, TabbedContent
from textual.widgets._footer import FooterKey

import skilld.review
from skilld.library.rows import LibraryRow
from skilld.mining.proposing import CandidateResult
from skilld.mining.sessions import Session
from skilld.mining.values import Candidate, Judgement, Part, PartKind, Proof
from skilld.paths import places, private_dir
from skilld.proposals.decide import DecisionReport
from skilld.proposals.explain import Part as Piece
from skilld.review.app import ReviewApp
from skilld.review.controller import ProposalView, ReviewSession
from skilld.review.dialogs import Choices, Rows
from skilld.review.diff import DiffRow
from skilld.review.generation import Generation, KeptCandidate, Preview, SessionChoice
from skilld.skills import Skill, Source
from skilld.skills.spec import FrontMatter
from skilld.store.learnings import Learning
from skilld.store.overview import LiveSession
from skilld.types import Proposal
from support.proposals import make_proposal
from support.review_pilot import Screen, review_session
from support.waiting import LIMIT

ONLY = "## One\n\n- x\n\n## Two\n\n"
ADDED = "\n".join(f"- line {number}" for number in range(80))
LONG = ONLY + ADDED
MOVED = f"## One\n\n- x\n{ADDED}\n\n## Two\n\n"
LOOK = ProposalView(
    tuple(DiffRow("+", ((cursor_is, False),)) for cursor_is in ADDED.splitlines()),
    (Piece((), ("- one",)), Piece((), ("- two",))),
    (),
    (),
    (),
    LONG,
    (),
    ONLY,
)
OPEN = [make_proposal(id=f"{number:08x}", path="/p/SKILL.md", commit="1" * 40) for number in range(3)]
WAITS = Learning("l1", "t1", "always b", "Say b", "fact", "claude-code", "s1", "/p", None, "no file", 0.9, "2026-03-02")
SKILL = Skill("mine", Path("/p/mine/SKILL.md"), Source.USER, None, ("claude-code",), FrontMatter("mine", "Mine."))
FINDING = Candidate(
    "squash-commits",
    "create",
    "/p",
    None,
    ("repeatable",),
    (Part(PartKind.REQUEST, "Squash them.", (Proof("s1", "t1", "squash them"),)),),
)


class FakeSession(ReviewSession):
    """Says what is open, and remembers what it was asked for."""

    did: list[str]

    def proposals(self, ids: Collection[str] = ()) -> list[Proposal]:
        del ids
        return OPEN

    def update_from_git(self) -> None:
        return None

    def view(self, proposal: Proposal) -> ProposalView:
        del proposal
        return LOOK

    def accept(self, proposal_id: str, seen: Proposal | None = None) -> DecisionReport:
        del seen
        return self._do(f"accept {proposal_id}")

    def accept_all(self, those: Sequence[Proposal]) -> DecisionReport:
        return self._do(f"accept all {len(those)}")

    def accept_all_question(self, those: Sequence[Proposal], file: str) -> str:
        return f"Accept {len(those)} for {file}?"

    def reject(self, proposal_id: str, why: str, seen: Proposal | None = None) -> DecisionReport:
        del seen
        return self._do(f"reject {proposal_id}{why}")

    def accept_edited(self, proposal_id: str, text: str, opened: str = "") -> DecisionReport:
        del opened
        return self._do(f"accept edited {proposal_id} {len(text)}")

    def accept_parts(self, proposal_id: str, chosen: Collection[int], seen: Proposal | None = None) -> DecisionReport:
        del seen
        return self._do(f"accept {proposal_id} {chosen}")

    def own_file(self, proposal: Proposal) -> str:
        del proposal
        return "~/own"

    def accept_elsewhere(self, proposal_id: str, path: str, seen: Proposal | None = None) -> DecisionReport:
        del seen
        return self._do(f"accept {proposal_id} in {path}")

    def undo(self, agree: Callable[[str], bool | None] = bool) -> DecisionReport:
        del agree
        return self._do("undo")

    def waiting_learnings(self) -> list[list[Learning]]:
        return [[WAITS]]

    def propose(self, ask: Sequence[Learning]) -> Proposal:
        self._do(f"propose {ask[0].id}")
        return OPEN[0]

    def forget(self, ask: Sequence[Learning]) -> None:
        self._do(f"forget {ask[0].id}")

    def skills(self) -> list[LibraryRow]:
        return [LibraryRow(SKILL, "user")]

    def switch_skill(self, skill: LibraryRow) -> bool:
        self._do(f"switch {skill.name}")
        return True

    def edit_skill(self, skill: LibraryRow, editor: Callable[[str], str]) -> bool:
        del editor
        self._do(f"edit {skill.name}")
        return True

    def sessions(self) -> list[LiveSession]:
        return []

    def _do(self, what: str) -> DecisionReport:
        self.did.append(what)
        return DecisionReport((f"done: {what}",))


class Steps(Generation):
    """One past session, which comes to one skill."""

    def __init__(self, did: list[str]) -> None:
        self._did = did

    @property
    def model(self) -> str:
        return "offline"

    def choices(self, progress: object) -> list[SessionChoice]:
        del progress
        session = Session("claude-code", "s1", Path("/p/s1.jsonl"), "/p", "/p", "2026-03-02", (), ())
        return [SessionChoice(session, "2026-03-02", "p", "squash them")]

    def cost(self, choice: SessionChoice) -> None:
        del choice

    def find_offline(self, chosen: Collection[SessionChoice]) -> Judgement:
        del chosen
        return Judgement((FINDING,), (), ())

    def find(self, chosen: Collection[SessionChoice], agree: object, progress: object) -> Preview:
        del chosen, agree, progress
        considered = SimpleNamespace(report=SimpleNamespace(judgement=Judgement((), (), ())))
        return Preview(cast("Any", considered), [CandidateResult(FINDING, text=LONG)])

    def save(self, kept: Sequence[KeptCandidate], result: Preview, progress: object) -> Iterator[CandidateResult]:
        del result, progress
        self._did.append("save")
        yield from (CandidateResult(one.candidate, proposal="0123abcd") for one in kept)


class Scene(NamedTuple):
    """What a step is judged by."""

    screen: Screen
    did: list[str]


Seen = Callable[[Scene], object]


class Step(NamedTuple):
    """A key, the class that binds it (nothing: it is typed), and what is to be seen then."""

    owner: str
    key: str
    seen: Seen


def row_is(number: int) -> Seen:
    return lambda scene: isinstance(found := scene.screen.app.focused, Rows) and found.cursor_row == number


def tab_is(name: str) -> Seen:
    return lambda scene: scene.screen.app.query_one("#tabs", TabbedContent).active == name


def chosen_is(number: int) -> Seen:
    return lambda scene: scene.screen.app.screen.query_one(Choices).highlighted == number


def focus_is(name: str) -> Seen:
    return lambda scene: type(scene.screen.app.screen).__name__ == name


def asks(question: str) -> Seen:
    return lambda scene: focus_is("TextDialog")(scene) and question in scene.screen.text


def was_called(what: str) -> Seen:
    return lambda scene: scene.did == [what]


def shows(text: str) -> Seen:
    return lambda scene: text in scene.screen.text


def copied_is(text: str) -> Seen:
    return lambda scene: scene.screen.app.clipboard == text


def typing(scene: Scene) -> bool:
    return isinstance(scene.screen.app.focused, Input)


def listed(scene: Scene) -> bool:
    return isinstance(scene.screen.app.focused, Rows) and not scene.did


def scrolled(name: str, down: bool) -> Seen:  # noqa: FBT001 - what is to be seen
    return lambda scene: (scene.screen.app.screen.query_one(name).scroll_y > 0) is down


def cursor_is(number: int) -> Seen:
    def seen(scene: Scene) -> bool:
        shown = scene.screen.app.screen.query_one(VerticalScroll)
        return shown.scroll_y == min(number, shown.max_scroll_y)

    return seen


MAIN = focus_is("Screen")
FIRST = OPEN[0].id
PROPOSALS = [
    *(
        Step("ReviewApp", key, tab_is(name))
        for key, name in zip("2345", ("skills", "sessions", "waiting", "report"), strict=True)
    ),
    Step("ReviewApp", "1", tab_is("proposals")),
    Step("Rows", "j", row_is(1)),
    Step("Rows", "k", row_is(0)),
    Step("Rows", "G", row_is(2)),
    Step("Rows", "g", row_is(0)),
    Step("Rows", "end", row_is(2)),
    Step("Rows", "home", row_is(0)),
    Step("ProposalsPane", "s", row_is(1)),
    Step("ProposalsPane", "n", row_is(2)),
    Step("Rows", "home", row_is(0)),
    Step("Pane", "space", scrolled("#detail", down=True)),
    Step("Pane", "b", scrolled("#detail", down=False)),
    Step("Pane", "question_mark", focus_is("KeysDialog")),
    Step("KeysDialog", "down", cursor_is(1)),
    Step("KeysDialog", "up", cursor_is(0)),
    Step("KeysDialog", "j", cursor_is(1)),
    Step("KeysDialog", "k", cursor_is(0)),
    Step("KeysDialog", "escape", MAIN),
    Step("Pane", "question_mark", focus_is("KeysDialog")),
    Step("KeysDialog", "question_mark", MAIN),
    Step("Pane", "question_mark", focus_is("KeysDialog")),
    Step("KeysDialog", "q", MAIN),
    Step("ProposalsPane", "slash", typing),
    Step("", "x", shows("No proposal contains these words.")),
    Step("SearchField", "escape", row_is(0)),
    Step("ProposalsPane", "slash", typing),
    Step("", "b", typing),
    Step("Field", "enter", row_is(0)),
    Step("Pane", "escape", row_is(0)),
    Step("ProposalsPane", "a", was_called(f"accept {FIRST}")),
    Step("ProposalsPane", "u", was_called("undo")),
    Step("ProposalsPane", "A", focus_is("YesNoDialog")),
    Step("YesNoDialog", "n", MAIN),
    Step("ProposalsPane", "A", focus_is("YesNoDialog")),
    Step("YesNoDialog", "escape", listed),
    Step("ProposalsPane", "A", focus_is("YesNoDialog")),
    Step("YesNoDialog", "y", was_called("accept all 3")),
    Step("ProposalsPane", "r", asks("Reject:")),
    Step("Dialog", "escape", listed),
    Step("ProposalsPane", "r", asks("Reject:")),
    Step("", "x", typing),
    Step("Field", "enter", was_called(f"reject {FIRST}x")),
    Step("ProposalsPane", "e", focus_is("EditDialog")),
    Step("EditDialog", "escape", listed),
    Step("ProposalsPane", "e", focus_is("EditDialog")),
    Step("", "x", shows("line 0x")),
    Step("EditDialog", "ctrl+r", lambda scene: "line 0x" not in scene.screen.text),
    Step("EditDialog", "ctrl+s", was_called(f"accept edited {FIRST} {len(LONG)}")),
    Step("ProposalsPane", "m", focus_is("SectionDialog")),
    Step("SectionDialog", "escape", listed),
    Step("ProposalsPane", "m", focus_is("SectionDialog")),
    Step("SectionDialog", "enter", focus_is("EditDialog")),
    Step("EditDialog", "ctrl+s", was_called(f"accept edited {FIRST} {len(MOVED)}")),
    Step("ProposalsPane", "o", focus_is("EditDialog")),
    Step("EditDialog", "ctrl+s", was_called(f"accept edited {FIRST} {len(LONG) + 1}")),
    Step("ProposalsPane", "p", focus_is("PartsDialog")),
    Step("PartsDialog", "escape", listed),
    Step("ProposalsPane", "p", focus_is("PartsDialog")),
    Step("PartsDialog", "enter", shows("Nothing is selected yet")),
    Step("PartsDialog", "space", shows("[x] + one")),
    Step("Choices", "j", chosen_is(1)),
    Step("Choices", "k", chosen_is(0)),
    Step("PartsDialog", "enter", was_called(f"accept {FIRST} (0,)")),
    Step("ProposalsPane", "t", asks("Accept into which file?")),
    Step("Dialog", "escape", listed),
    Step("ProposalsPane", "t", asks("Accept into which file?")),
    Step("Field", "enter", was_called(f"accept {FIRST} in ~/own")),
]
SKILLS = [
    Step("ReviewApp", "2", shows("/p/mine/SKILL.md")),
    Step("SkillsPane", "slash", typing),
    Step("", "x", shows("No skills match.")),
    Step("SearchField", "escape", shows("/p/mine/SKILL.md")),
    Step("SkillsPane", "c", copied_is("/mine")),
    Step("SkillsPane", "y", copied_is("/p/mine/SKILL.md")),
    Step("SkillsPane", "o", was_called("edit mine")),
    Step("SkillsPane", "x", was_called("switch mine")),
    Step("SkillsPane", "d", asks("to the trash?")),
    Step("Dialog", "escape", MAIN),
]
BEGIN = [Step("SkillsPane", "n", shows("1 session, none selected"))]
CHOSEN = [*BEGIN, Step("SessionsStep", "a", shows("1 selected; the built-in rules alone may find 1 pattern"))]
REVIEWED = [*CHOSEN, Step("SessionsStep", "enter", shows("2 of 3"))]
NAMED = [*REVIEWED, Step("ReviewStep", "enter", focus_is("SaveStep"))]


def leaving_steps(name: str, way: Sequence[Step]) -> list[Step]:
    """Return the keys that each of the three steps has, after the way to one of them."""
    keys = [Step(name, "question_mark", focus_is("KeysDialog")), Step("KeysDialog", "escape", focus_is(name))]
    return [*way, *keys, Step(name, "escape", MAIN), *way, Step(name, "q", MAIN)]


GENERATING = [
    *CHOSEN,
    Step("SessionsStep", "space", shows("none selected")),
    Step("SessionsStep", "slash", typing),
    Step("SessionsStep", "enter", row_is(0)),
    Step("SessionsStep", "escape", MAIN),
    *REVIEWED,
    Step("ReviewStep", "space", shows("[ ]")),
    Step("ReviewStep", "space", shows("[x]")),
    Step("ReviewStep", "pagedown", scrolled("#evidence", down=True)),
    Step("ReviewStep", "pageup", scrolled("#evidence", down=False)),
    Step("ReviewStep", "e", focus_is("EditDialog")),
    Step("EditDialog", "escape", focus_is("ReviewStep")),
    Step("ReviewStep", "b", focus_is("SessionsStep")),
    Step("SessionsStep", "enter", focus_is("ReviewStep")),
    Step("ReviewStep", "enter", focus_is("SaveStep")),
    Step("SaveStep", "n", asks("Name of the new skill:")),
    Step("Dialog", "escape", focus_is("SaveStep")),
    Step("SaveStep", "b", focus_is("ReviewStep")),
    Step("ReviewStep", "enter", focus_is("SaveStep")),
    Step("SaveStep", "enter", was_called("save")),
    *leaving_steps("SessionsStep", BEGIN),
    *leaving_steps("ReviewStep", REVIEWED),
    *leaving_steps("SaveStep", NAMED),
]
WAITING = [
    Step("ReviewApp", "4", shows("Say b")),
    Step("WaitingPane", "p", was_called("propose l1")),
    Step("WaitingPane", "f", focus_is("YesNoDialog")),
    Step("YesNoDialog", "y", was_called("forget l1")),
    Step("ReviewApp", "q", lambda scene: not scene.screen.app.is_running),
]
TABLE = [*PROPOSALS, *SKILLS, *GENERATING, *WAITING]


def opened_steps(key: str, name: str, owner: str = "ProposalsPane", *, over: str = "Screen") -> list[Step]:
    """Return the keys that open a dialog and leave it."""
    return [Step(owner, key, focus_is(name)), Step("Dialog", "escape", focus_is(over))]


ONCE = [
    *PROPOSALS[:5],
    *opened_steps("question_mark", "KeysDialog", "Pane"),
    *opened_steps("A", "YesNoDialog"),
    *opened_steps("r", "TextDialog"),
    *opened_steps("e", "EditDialog"),
    *opened_steps("p", "PartsDialog"),
    *opened_steps("m", "SectionDialog"),
    *opened_steps("t", "TextDialog"),
    SKILLS[0],
    *opened_steps("d", "TextDialog", "SkillsPane"),
    *NAMED,
    *opened_steps("n", "TextDialog", "SaveStep", over="SaveStep"),
]
SCREENS = {"Screen", "KeysDialog", "YesNoDialog", "TextDialog", "EditDialog", "PartsDialog", "SectionDialog"}
SCREENS |= {"SessionsStep", "ReviewStep", "SaveStep"}


def bound_keys() -> Iterator[tuple[str, str]]:
    """Yield every class of the review with each key that it binds."""
    for found in pkgutil.iter_modules(skilld.review.__path__, "skilld.review."):
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            if isinstance(value, type) and value.__module__ == module.__name__:
                for binding in vars(value).get("BINDINGS", ()):
                    assert isinstance(binding, Binding)
                    yield from ((name, key) for key in binding.key.split(","))


def test_every_binding_is_in_the_table() -> None:
    assert {(step.owner, step.key) for step in TABLE if step.owner} == set(bound_keys())


def _key_line(app: ReviewApp, screen: Screen, width: int) -> bool:
    """Whether the last line is the key line, no key cut, all there in 80 columns, and no line is too long."""
    lines = screen.text.splitlines()
    keys = [f"{one.key_display} {one.description}" for one in app.screen.query(FooterKey)]
    named = {one.binding.description for one in app.screen.active_bindings.values() if one.binding.show}
    return (
        bool(keys)
        and lines[-1].startswith(keys[0])
        and all(key in lines[-1] for key in keys)
        and (width < 80 or named <= {one.description for one in app.screen.query(FooterKey)})
        and max(map(len, lines)) <= width
    )


@pytest.mark.parametrize(("size", "steps"), [((80, 24), TABLE), ((60, 20), ONCE)], ids=range(2))
def test_each_key_does_what_the_table_says_and_the_key_line_stays(
    home: Path, size: tuple[int, int], steps: list[Step]
) -> None:
    private_dir(places().state)
    at = FakeSession(review_session(home)._context)
    at.did = []
    screens = set()

    def edit(text: str, around: Callable[[], AbstractContextManager[object]], name: str) -> str:
        del around, name
        return f"{text}\n"

    async def run() -> None:
        app = ReviewApp(at, (), 5, edit, lambda: Steps(at.did))
        async with app.run_test(size=size, notifications=True) as pilot:
            screen = Screen(app, pilot)
            await screen.read()
            for number, step in enumerate(steps):
                at.did.clear()
                await screen.press(step.key)
                what = f"step {number}, {step.owner} {step.key}"
                await screen.until(what, partial(step.seen, Scene(screen, at.did)))
                if app.is_running and isinstance(app.screen, Displayed):
                    await screen.until(f"the key line of {what}", partial(_key_line, app, screen, size[0]))
                    screens.add(type(app.screen).__name__)

    asyncio.run(run())
    assert screens == SCREENS


def test_a_key_that_came_too_early_is_told_until_the_next_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skilld.review.app._MESSAGE_SECONDS", 10 * LIMIT)
    private_dir(places().state)
    at, gate = FakeSession(review_session(home)._context), threading.Event()

    def view(_: Proposal) -> ProposalView:
        gate.wait(LIMIT)
        return LOOK

    at.did = []
    monkeypatch.setattr(at, "view", view)

    async def run() -> None:
        app = ReviewApp(at, (), 5, lambda text, _around, _name: text, lambda: Steps(at.did))
        async with app.run_test(size=(80, 24)) as pilot:
            screen = Screen(app, pilot)
            await screen.until("the list", lambda: screen.open)
            await screen.press("e")
            await screen.until("the message", lambda: "Nothing was done: the whole proposal was not yet" in screen.text)
            gate.set()
            await screen.read()
            assert "Nothing was done: " in screen.text, "who presses a key that does nothing must see why"
            await screen.press("e")
            await screen.until("the message to go", lambda: "Nothing was done: " not in screen.text)

    asyncio.run(run())
