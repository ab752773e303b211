"""The report: its numbers are those of the JSON, its text is escaped, and nothing unknown is claimed."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import datetime
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from skilld import codec
from skilld.cli import permissions
from skilld.cli.parser import build_parser
from skilld.clock import local_day
from skilld.effect.figures import RuleState
from skilld.git import run as git_run
from skilld.paths import places
from skilld.report import plots, wording
from skilld.report.gather import gather
from skilld.report.lines import report_lines
from skilld.report.markup import tag
from skilld.report.page import page
from skilld.report.values import (
    Cost,
    DecisionCounts,
    FileCounts,
    FileWeight,
    Group,
    Lesson,
    ModelCost,
    Repeats,
    Report,
    RuleRow,
    Share,
    TaughtCounts,
    WeeklyShares,
    Weeks,
)
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.types import Evidence, How, Kind, Span, State, Turn, Update, Usage
from support.new_store import new_store
from support.program import Program
from support.proposals import make_proposal
from support.review_pilot import Screen, review, review_session
from support.rows import for_each
from support.year_of_use import CUT, NOW, simulate_year

HOME = "/home/ada"
SHARE = Share(3, 1, 33)
WEEK = (1, 2, 0)
REPORT = Report(
    made_at="2026-03-18T09:00:00Z",
    since="2026-03-04T09:00:00Z",
    weeks=("2026-03-02", "2026-03-09", "2026-03-16"),
    words=True,
    sessions=12,
    taught=TaughtCounts(
        18,
        dict.fromkeys(wording.DESTINATIONS, 3),
        dict.fromkeys(wording.DESTINATIONS, WEEK),
        12,
        (FileCounts("/p", "skill", 3, 2, 1),),
    ),
    decided=DecisionCounts(dict.fromkeys(wording.STATES, 4), 50, 1.5, dict.fromkeys(wording.STATES, 4)),
    again=Repeats(
        states=dict.fromkeys(RuleState, 1),
        before=SHARE,
        after=SHARE,
        per_week={"before": WEEK, "after": WEEK},
        most_in_a_week=4,
        around=WeeklyShares((-2, -1, 0, 1), (SHARE,) * 4, 33),
        rules=tuple(RuleRow("/p", 3, state, SHARE, SHARE, (6, 79), "Use pnpm.") for state in RuleState),
        unread=True,
    ),
    weight=(FileWeight(f"{HOME}/a/CLAUDE.md", 5, 300, -20, (320, None, 300)),),
    cost=Cost(9, 1000, 1.25, "usd", (0.5, 0.75, 0.0), 0.75, (ModelCost("m", 9, 1000, 1.25),), 4, 0.3125),
    agents=(Group("claude-code", 12, 18, 4, 1),),
    projects=(Group(f"{HOME}/a", 12, 18, 4, 1), Group("", 1, 1, 1, 1)),
    lessons=(Lesson("2026-03-17T09:00:00Z", "Use pnpm.", ("use pnpm, please",), "/p", "accepted"),),
)
TEXTS = {"path", "name", "model", "what", "where", "text"}  # fields that hold what somebody else wrote


class PageText(HTMLParser):
    """All that a page shows, and what it is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.shown: list[str] = []
        self._style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._style = tag == "style"
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self.shown += [value or "" for name, value in attrs if name in {"aria-label", "title", "alt"}]

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the parser's signature
        self._style = False

    def handle_data(self, data: str) -> None:
        if not self._style:
            self.shown.append(data)


def numbers_in(text: str) -> list[float]:
    return [float(one.replace(",", "")) for one in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def leaf_values(value: Any) -> Iterator[Any]:
    match value:
        case dict():
            for one in value.values():
                yield from leaf_values(one)
        case list() | tuple():
            for one in value:
                yield from leaf_values(one)
        case _:
            yield value


def known_numbers(document: Any) -> set[float]:
    """Return the numbers of a JSON document, those in its texts too."""
    found = list(leaf_values(document))
    plain = {float(abs(one)) for one in found if isinstance(one, int | float) and not isinstance(one, bool)}
    return plain.union(*(numbers_in(one) for one in found if isinstance(one, str)))


def with_changes(value: Any, change: Any, name: str = "") -> Any:
    """Return a document with every leaf as `change` has it, given the name of its field."""
    match value:
        case dict():
            return {key: with_changes(one, change, key if key in _FIELDS else name) for key, one in value.items()}
        case list() | tuple():
            return [with_changes(one, change, name) for one in value]
        case _:
            return change(value, name)


_FIELDS = TEXTS | {"quotes", "at", "weeks", "state", "unit", "made_at", "kind"}


def report_with(change: Any) -> Report:
    return codec.decode(Report, json.dumps(with_changes(asdict(REPORT), change)))


def numbered_report() -> Report:
    """Return the report with another number in every place, none of which comes of others."""
    fresh = count(1_000_003, 9_973)

    def change(value: Any, _: str) -> Any:
        match value:
            case bool() | str() | None:
                return value
            case float():
                return next(fresh) / 100
            case _:
                return next(fresh) * (-1 if value < 0 else 1)

    return report_with(change)


def test_every_number_on_the_page_is_in_the_json() -> None:
    report = numbered_report()
    shown = numbers_in(" ".join(PageText(page(report, HOME)).shown))
    assert len(shown) > 140
    assert len(set(shown)) > 80, "the same few numbers tell nothing"
    assert set(shown) - known_numbers(json.loads(json.dumps(asdict(report)))) == set()


def test_every_number_in_the_text_is_in_the_json() -> None:
    report = numbered_report()
    shown = numbers_in(" ".join(report_lines(report, HOME)))
    assert len(set(shown)) > 30
    assert set(shown) - known_numbers(json.loads(json.dumps(asdict(report)))) == set()


def test_empty_parts_are_left_out() -> None:
    none = Share(0, 0, None)
    young = replace(
        REPORT,
        decided=replace(REPORT.decided, days=0.0),
        again=replace(REPORT.again, before=none),
        weight=(FileWeight(f"{HOME}/a/CLAUDE.md", 5, 35, 0, (35,)),),
    )
    shown = "\n".join(report_lines(young, HOME, 200))
    assert "half of the decisions were made within ten minutes." in shown
    assert "~/a/CLAUDE.md: 35 tokens\n" in shown
    assert "After a rule was added, you repeated it in 1 of 3 cases where it applied. A case is" in shown
    assert "in 0 of 0" not in shown


def test_a_report_starts_with_the_first_thing_to_tell() -> None:
    later = replace(REPORT, weeks=("2026-02-23", *REPORT.weeks), cost=replace(REPORT.cost, per_week=(0, *WEEK)))
    told = list(report_lines(later, HOME))
    assert told[0] == "4 Mar 2026 to 18 Mar 2026: 12 sessions"
    assert [one.strip() for one in told if "█" in one][-1] == "by week: ▅█"
    told = list(report_lines(replace(REPORT, since="2026-03-18T08:45:00Z"), HOME))
    assert told[0] == "18 Mar 2026: 12 sessions"
    assert not any("█" in one for one in told)


@for_each(
    "given",
    [
        "</style><script>alert(1)</script>",
        "</title></svg><img src=x onerror=alert(1)>",
        '" onmouseover="alert(1)',
        "'><iframe src=//example.org></iframe>",
        "<!--",
        "]]>&lt;script&gt;",
        "/a/<b>/c\u202e/\x1b[31m",
    ],
)
def test_no_text_breaks_out_of_the_page(given: str) -> None:
    plain = PageText(page(REPORT, HOME))
    report = report_with(lambda value, name: given if name in TEXTS | {"quotes"} and isinstance(value, str) else value)
    text = page(report, HOME)
    read = PageText(text)
    assert read.tags <= plain.tags
    assert {name for name, _ in read.attributes} == {name for name, _ in plain.attributes}
    assert "script" not in read.tags
    assert not any(name.startswith("on") for name, _ in read.attributes)
    assert "\u202e" not in text
    assert "\x1b" not in text
    for part in filter(None, given.replace("\u202e", "/").replace("\x1b", "/").split("/")):
        assert any(part in one for one in read.shown), "it is shown as the text it is"


def test_a_page_loads_nothing() -> None:
    text = page(REPORT, HOME)
    read = PageText(text)
    assert [value for name, value in read.attributes if name in {"src", "href", "srcset", "action"}] == ["data:,"]
    assert re.findall(r"url\(|@import|https?:", text) == []
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'; img-src data:") in read.attributes
    assert tag("p", 'a "b" <c>', title='"x"') == '<p title="&quot;x&quot;">a &quot;b&quot; &lt;c&gt;</p>'


def test_bars_are_as_high_as_their_values() -> None:
    one, two = plots.Series("one", (2, None, 0)), plots.Series("two", (2, 1, None))
    drawn = plots.bars([one, two], ["a", "b", "c"], highest=4, peak="4", about="x")
    assert '<path class="one" d="M1 50.00h8v50.00h-8z">' in drawn
    assert '<path class="two" d="M1 0.00h8v49.20h-8zM11 75.00h8v25.00h-8z">' in drawn
    assert "M" not in plots.bars([plots.Series("one", (0, None))], ["a", "b"], highest=0, peak="0", about="x")
    assert "NaN" not in plots.line((None, None), 1, "x")


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put this process where summer time began on 29 March 2026."""
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("berlin")
def test_a_week_is_one_of_the_persons_calendar() -> None:
    first, last = (datetime.fromisoformat(f"{day}T00:00+0{hours}:00").timestamp() for day, hours in _MONDAYS)
    weeks = Weeks.spanning([first], last)
    assert (weeks.number, weeks.mondays[0], weeks.mondays[-1]) == (17, "2026-03-02", "2026-06-22")
    assert [weeks.index_of(at) for at in (0.0, first - 1, first)] == [None, None, 0]
    assert [weeks.index_of(at) for at in (last - 1, last, weeks.ends[-1] - 1, weeks.ends[-1])] == [15, 16, 16, None]
    assert weeks.count([first, first + 1, 5.0])[:2] == (2, 0)
    assert (Weeks.spanning([1.0], first).number, Weeks.spanning([], first).number) == (53, 12)


@pytest.mark.usefixtures("berlin")
def test_a_day_is_one_of_the_persons_calendar() -> None:
    report = replace(REPORT, since="2026-06-21T22:30:00Z", made_at="2026-06-22T21:00:00Z")
    assert wording.period(report) == "22 Jun 2026"
    assert replace(report, weeks=("2026-06-15", "2026-06-22", "2026-06-29")).weeks_since == 2
    assert wording.day("2026-06-21") == "21 Jun"
    assert Weeks.spanning([], 1.7e9).index_of(253402300799.0) is None, "a transcript may claim any time"


_MONDAYS = (("2026-03-02", 1), ("2026-06-22", 2))


def test_the_page_counts_what_it_leaves_out_and_has_words_for_states() -> None:
    groups = tuple(Group(f"agent-{number}", 1, 1, 1, 1) for number in range(13))
    said, waiting = (replace(REPORT.lessons[0], state=state) for state in ("said", "waiting"))
    taught = replace(REPORT.taught, total=1)
    shown = PageText(page(replace(REPORT, agents=groups, lessons=(said, waiting), taught=taught), HOME)).shown
    assert [text for text in shown if "more not shown" in text] == ["3 more not shown"]
    assert ("agent-9" in shown, "agent-10" in shown) == (True, False)
    assert {"already in a file", "not in a file yet", "lasting instruction given"} <= {*shown}
    assert {"said", "waiting"}.isdisjoint(shown)


def test_an_empty_database_says_why_there_is_nothing(tmp_path: Path) -> None:
    report = gather(new_store(tmp_path / "skilld.db"), NOW, words=True)
    why = "Nothing to show, because skilld has not read any sessions yet. Start with: skilld run --backfill 7"
    assert why in PageText(page(report, HOME)).shown
    assert why in " ".join(" ".join(report_lines(report, HOME)).split())
    assert set(leaf_values(json.loads(json.dumps(asdict(report)))["taught"]["where"])) == {0}


def test_each_empty_part_says_why(tmp_path: Path) -> None:
    store = new_store(tmp_path / "skilld.db")
    store.usage.add("2026-10-01", "m", "s", Usage(1, 10, 10))
    said = " ".join(PageText(page(gather(store, NOW), HOME)).shown)
    for why in (
        "skilld has not read any sessions yet. Start with: skilld run --backfill 7",
        "no edit that you accepted added a rule that is still there, and you did not repeat any other.",
        "no edits have been proposed.",
        "20 tokens in 1 model call; nothing has been accepted yet.",
    ):
        assert why in said


def test_a_year_is_reported_with_file_history_from_git_and_changes_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store(home / "skilld.db")
    simulate_year(home, store)
    asked: list[list[str]] = []
    execute = git_run.execute

    def counted(argv: list[str], *rest: Any) -> git_run.Result:
        asked.append(argv)
        return execute(argv, *rest)

    monkeypatch.setattr(git_run, "execute", counted)
    before = _state(home), store._db.total_changes
    report = gather(store, NOW)
    assert (_state(home), store._db.total_changes) == before
    assert len(asked) < 40, "git is asked for a repository, not for a week"
    rows = store._db.execute("SELECT state, count(*) FROM proposals GROUP BY state").fetchall()
    assert {name: number for name, number in report.decided.states.items() if number} == {
        name: number for name, number in rows if name != "said"
    }
    assert (report.sessions, report.taught.where["waiting"]) == (400, 9)
    assert sum(map(sum, report.taught.per_week.values())) == report.taught.total
    path = f"{home}/infra/CLAUDE.md"
    (file,) = [one for one in report.weight if one.path == path]
    assert (file.per_week[CUT] or 0) < (file.per_week[CUT - 1] or 0), "it was made shorter in that week"
    for week in (10, CUT, 40):
        name = subprocess.run(
            ["git", "-C", f"{home}/infra", "rev-parse", f"HEAD~{51 - week}:CLAUDE.md"], check=True, capture_output=True
        ).stdout.decode()
        size = subprocess.run(
            ["git", "-C", f"{home}/infra", "cat-file", "-s", name.strip()], check=True, capture_output=True
        )
        assert file.per_week[week] == -(-(int(size.stdout) - 1) // 4), "without its last line break"
    (home / "infra/CLAUDE.md").write_text("x" * 41)
    (file,) = [one for one in gather(store, NOW).weight if one.path == path]
    assert (file.now, file.per_week[-1]) == (11, 11)
    told = list(report_lines(report, str(home)))
    assert (len(told) <= 30, max(map(len, told)) <= 80) == (True, True)
    assert max(map(len, report_lines(report, str(home), 58))) <= 58


def _state(home: Path) -> dict[str, tuple[float, int]]:
    own = {path: path.stat() for path in home.rglob("*") if not path.name.startswith("skilld.db")}
    return {str(path): (facts.st_mtime, facts.st_size) for path, facts in own.items()}


def test_every_statement_counts_and_free_calls_cost_nothing(tmp_path: Path) -> None:
    store = new_store(tmp_path / "skilld.db")
    changes = "Use pnpm.", "Run the linter."
    said = tuple(Update(0, "", change, "why", Kind.PREFERENCE, 1, change) for change in changes)
    proposal = make_proposal(updates=said, created_at="2026-10-01T09:00:00Z")
    store.proposals.add(proposal)
    store.proposals.decide(proposal, State.ACCEPTED, "2026-10-01T09:20:00Z", who="command")
    store.usage.add("2026-10-01", "m", "s", Usage(4))
    report = gather(store, NOW)
    assert (report.taught.total, report.taught.files[0].accepted, report.decided.states["accepted"]) == (2, 2, 1)
    assert report.cost.accepted == 1
    assert wording.cost(report) == "0 tokens in 4 model calls."
    assert wording.decided(report).endswith("half of the decisions were made within an hour.")


def test_only_what_the_person_said_counts_as_taught(tmp_path: Path) -> None:
    """An import, a remedy and a rule offered to another agent are decided on; words for two files were said once."""
    store = new_store(tmp_path / "skilld.db")
    update = Update(0, "", "Use pnpm.", "why", Kind.PREFERENCE, 1, "use pnpm")
    made: dict[str, dict[str, Any]] = {
        "own": {"updates": (update,)},
        "linked": {"updates": (replace(update, kind=Kind.CHANGE_STEP),), "path": "/p/other/SKILL.md"},
        "import": {"evidence": (), "agent": "", "session_id": "", "batch_id": "import-1"},
        "remedy": {"batch_id": "effect-sharpen-1"},
        "across": {"batch_id": "across-1"},
    }
    for name, said in made.items():
        one = make_proposal(id=name, created_at="2026-10-01T09:00:00Z", **said)
        store.proposals.add(one)
        store.proposals.decide(one, State.ACCEPTED, "2026-10-01T09:20:00Z", who="command")
    report = gather(store, NOW, words=True)
    assert (report.taught.total, report.decided.states["accepted"], len(report.lessons)) == (1, 5, 1)
    assert [group.taught for group in report.agents] == [1]


def test_what_a_newer_rule_replaced_was_not_reverted(tmp_path: Path) -> None:
    store = new_store(tmp_path / "skilld.db")
    steps = {
        "old": (State.ACCEPTED, "command", "a" * 40),
        "new": (State.ACCEPTED, "command", "b" * 40),
        "no": (State.ACCEPTED, "command", "c" * 40),
    }
    for name, (after, who, commit) in steps.items():
        store.proposals.add(one := make_proposal(id=name, created_at="2026-10-01T09:00:00Z"))
        store.proposals.decide(one, after, "2026-10-01T09:20:00Z", who=who, commit=commit)
    for name, who, commit in (("old", "git, maybe claude-code", "b" * 40), ("no", "command", "d" * 40)):
        accepted = store.proposals.get(name)
        assert accepted is not None
        store.proposals.decide(accepted, State.REVERTED, "2026-10-02T09:20:00Z", who=who, commit=commit)
    report = gather(store, NOW)
    assert (report.decided.states["reverted"], report.decided.percent) == (2, 67)
    assert report.decided.outcomes == {"accepted": 1, "reverted": 1, "replaced": 1}
    told = "\n".join(report_lines(report, str(tmp_path)))
    assert "1 accepted, 1 reverted, 1 replaced\n" in told
    assert '"replaced"' in page(report, str(tmp_path)), "as a part of the bar"


def test_an_import_alone_is_something_to_report(tmp_path: Path) -> None:
    store = new_store(tmp_path / "skilld.db")
    one = make_proposal(evidence=(), batch_id="import-1", created_at="2026-10-01T09:00:00Z")
    store.proposals.add(one)
    store.proposals.decide(one, State.ACCEPTED, "2026-10-01T09:20:00Z", who="command")
    told = " ".join(" ".join(report_lines(gather(store, NOW), HOME)).split())
    assert "taught Nothing to show, because skilld has not read any sessions yet." in told
    assert "Of the proposals you decided on, 100% were accepted" in told


def test_what_was_mined_before_anything_was_judged_counts_for_its_project(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    (project / ".git/HEAD").write_text("ref: refs/heads/main\n")
    store = new_store(tmp_path / "skilld.db")
    skill = str(project / ".claude/skills/deploy/SKILL.md")
    store.proposals.add(make_proposal(path=skill, batch_id="mine-1", created_at="2026-10-01T09:00:00Z"))
    told = " ".join(" ".join(report_lines(gather(store, NOW), str(tmp_path))).split())
    assert "skilld found 1 lasting instruction in past sessions." in told
    assert "projects ~/shop: 1 taught" in told
    assert "0 sessions" not in told


def _store_with_turns(folder: Path, **days: str) -> Store:
    """Return a store with one session in which these turns were said, each on its day."""
    store, path = new_store(folder / "skilld.db"), folder / "s1.jsonl"
    path.touch()
    file = store.transcripts.add_file("codex", str(path), path.stat(), baseline=0)
    store.transcripts.record_activity("codex", "s1", cwd=None, activity=NOW)
    for key, day in days.items():
        turn = Turn(key, "codex", "s1", "words", f"{day}T09:00:00Z", How.TYPED, Span(int(key[1]), 10))
        store.transcripts.add_turn(turn, file.id, counts=True, lasting=True)
    return store


def test_a_lesson_counts_in_the_week_in_which_it_was_said(tmp_path: Path) -> None:
    """A backfill proposes it weeks later."""
    store = _store_with_turns(tmp_path, t1="2026-09-14", t2="2026-09-22", t3="2026-09-15")
    made = make_proposal(
        evidence=(Evidence("t1", "use tabs"), Evidence("t2", "tabs!")), created_at="2026-10-01T09:00:00Z"
    )
    store.proposals.add(made)
    store.proposals.decide(made, State.ACCEPTED, "2026-10-01T21:00:00Z", who="command")
    store.learnings.add(
        Learning("l1", "t3", "be brief", "Be brief.", "preference", "codex", "s1", "/p", None, "", 0.9,
                 "2026-10-01T09:00:00Z", "instructions", "/p/CLAUDE.md")
    )  # fmt: skip
    report = gather(store, NOW)
    weeks = dict(zip(report.weeks, map(sum, zip(*report.taught.per_week.values(), strict=True)), strict=True))
    assert {week: count for week, count in weeks.items() if count} == {"2026-09-14": 2}
    assert report.decided.days == 0.5, "from the proposal to the decision"


def test_the_text_says_how_much_of_a_list_it_leaves_out() -> None:
    groups = tuple(Group(f"{HOME}/{name}", 1, 1, 1, int(name == "a")) for name in "abcd")
    files = tuple(FileCounts(f"{HOME}/{name}", "skill", 3, 2, 1) for name in "ab")
    told = list(report_lines(replace(REPORT, projects=groups, taught=replace(REPORT.taught, files=files)), HOME))
    assert told[-2:] == [
        "projects  ~/a: 1 session, 1 taught, 1 repeated",
        "          ~/b: 1 session, 1 taught (and 2 more projects)",
    ]
    assert "          ~/b: 3 taught, 2 accepted" in told


def test_while_messages_wait_it_is_not_said_that_nothing_was_found(tmp_path: Path) -> None:
    store = _store_with_turns(tmp_path, t1="2026-10-01")
    told = " ".join(" ".join(report_lines(gather(store, NOW), HOME)).split())
    none = "skilld has found no lasting instructions in 1 session yet."
    assert f"{none} 1 message is not judged yet (why: skilld doctor)." in told


def test_quotes_appear_only_if_requested(tmp_path: Path) -> None:
    store = new_store(tmp_path / "skilld.db")
    said, what = "use pnpm, I told you", "Use pnpm in this repository."
    learning = Learning(
        "l", "t", said, what, "preference", "codex", "s", "/p", None, "no file", 0.9, "2026-10-01T09:00:00Z"
    )
    store.learnings.add(learning)
    for words, number in ((False, 0), (True, 1)):
        report = gather(store, NOW, words=words)
        for text in (page(report, HOME), json.dumps(asdict(report))):
            assert [text.count(said), text.count(what)] == [number, number]


def test_the_command_gives_the_same_as_text_page_and_json(home: Path) -> None:
    program = Program(home)
    document = program.json("report")
    assert document["taught"]["total"] == 0
    assert "Nothing to show, because" in program.run("report").stdout
    file = home / "report.html"
    file.symlink_to(home / "elsewhere")
    result = program.run("report", "--html", str(file))
    assert (result.returncode, result.stdout) == (0, "Wrote ~/report.html\n")
    assert file.read_text().startswith("<!doctype html>")
    assert (file.is_symlink(), (home / "elsewhere").exists()) == (False, False)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    refused = program.run("report", "--html", str(home / "none" / "report.html"))
    assert refused.returncode == 1
    assert "Cannot write the page" in refused.stderr


def test_an_agent_may_read_the_report_but_write_no_file() -> None:
    parser = build_parser("report")
    may = [
        permissions.READ_ONLY["report"](parser.parse_args(["report", *rest]))
        for rest in ([], ["--json"], ["--html", "x"])
    ]
    assert may == [True, True, False]


def test_a_report_survives_a_json_round_trip() -> None:
    assert codec.decode(Report, codec.encode(REPORT)) == REPORT


def test_the_review_shows_it_as_a_tab_within_the_screen(home: Path) -> None:
    places().state.mkdir(parents=True, mode=0o700)
    store = new_store(places().database)
    store.usage.add(local_day(time.time()), "m", "s", Usage(3, 1000, 10))
    store.close()

    async def story(screen: Screen) -> None:
        await screen.press("5")
        await screen.shows("1,010 tokens in 3 model calls")
        assert max(map(len, screen.text.splitlines())) <= 60
        await screen.press("end")
        await screen.shows("For the full report: skilld report --html FILE")
        await screen.press("1")
        await screen.shows("No open proposals.")
        await screen.click("#--content-tab-report", (2, 0))
        await screen.shows("1,010 tokens in 3 model calls")

    review(review_session(home), story, size=(60, 20))


@for_each(
    "path, shown",
    [
        (f"{HOME}/a/CLAUDE.md", "~/a/CLAUDE.md"),
        (
            "/srv/build/benchmarks-of-hosts/.claude/skills/ansible-hosts/SKILL.md",
            "/…/benchmarks-of-hosts/.claude/skills/ansible-hosts/SKILL.md",
        ),
        (
            f"{HOME}/projects/measured/benchmarks/.claude/skills/ansible-hosts/SKILL.md",
            "~/…/benchmarks/.claude/skills/ansible-hosts/SKILL.md",
        ),
        (f"{HOME}/src/{'a' * 40}{'b' * 40}", f"~/…/{'a' * 13} … {'b' * 40}"),
    ],
)
def test_a_long_path_is_shortened_at_a_separator(path: str, shown: str) -> None:
    assert wording.short_path(path, HOME) == shown


def test_no_line_of_a_narrow_terminal_cuts_a_path() -> None:
    path = f"{HOME}/projects/measured/benchmarks/.claude/skills/ansible-hosts/SKILL.md"
    rules = tuple(replace(one, path=path) for one in REPORT.again.rules)
    told = list(report_lines(replace(REPORT, again=replace(REPORT.again, rules=rules)), HOME, 48))
    assert [one for one in told if "SKILL" in one] == ["          ~/…/ansible-hosts/SKILL.md:3: repeated"]
