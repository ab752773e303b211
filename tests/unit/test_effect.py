"""What is claimed about rules never exceeds what the numbers support."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from benchmarks.kit.year import MODEL, WORDS, Ears, has_enough, lived
from skilld import codec
from skilld.classify.rule_repeats import repeats_rule
from skilld.clock import local_day, rfc3339
from skilld.daemon.surveys import SurveySchedule
from skilld.effect.figures import MIN_SESSIONS, Count, RuleState, state_of, wilson
from skilld.effect.model_questions import rule_key
from skilld.effect.outcomes import collect
from skilld.effect.relevance import could_matter
from skilld.effect.rules import Effect, Origin, Rule, effects, rules, with_noted_repeats
from skilld.ingest.discover import Host
from skilld.past import Correction, PastSession, Repeat, SessionWork
from skilld.protocol import Result, SurveyResult, SurveysResult
from skilld.settings import Settings
from skilld.store import Store
from skilld.store.meta import FOREVER, PAUSED_UNTIL
from skilld.types import OBSERVED_TURN, Evidence, Kind, Op, Operation, Outcome, Proposal, State, Update, Usage
from support.new_store import new_store
from support.proposals import make_proposal
from support.rows import for_each

RULE = "Use pnpm, never npm, in this repository."
DAY = 86400.0
GUIDE = "/home/ada/a/CLAUDE.md"
AGAIN = "you ran npm again, use pnpm"
SAYS_AGAIN = cache(repeats_rule)  # a made-up year has the same words over and over


def session(at: float, *said: str, loaded: tuple[str, ...] = (GUIDE,), **more: object) -> PastSession:
    quotes = tuple(Correction(f"t{at}-{place}", at, text) for place, text in enumerate(said))
    one = PastSession("claude-code", f"s{at}", "/home/ada/a", "2.1", at, loaded, ("npm", "package"), quotes, ())
    return replace(one, **more)  # type: ignore[arg-type]


def compute_effect(sessions: list[PastSession], since: float = 0.0, path: str = GUIDE) -> Effect:
    rule = Rule(path, 3, RULE, Origin.PROPOSAL, since, frozenset({"claude-code"}))
    (effect,) = effects([rule], sessions)
    return effect


def test_the_confidence_interval_is_wilsons() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(10, 40)  # as R's prop.test(10, 40, correct = FALSE) has it
    assert (round(low, 4), round(high, 4)) == (0.1419, 0.4019)
    assert wilson(0, 20)[0] == 0.0
    assert wilson(20, 20)[1] == 1.0


@for_each(
    ("repeats", "of", "in_reach", "state"),
    [
        (0, 0, 0, RuleState.UNKNOWN),
        (0, MIN_SESSIONS - 1, 300, RuleState.UNKNOWN),
        (MIN_SESSIONS - 1, MIN_SESSIONS - 1, 300, RuleState.UNKNOWN),
        (0, MIN_SESSIONS, MIN_SESSIONS, RuleState.HOLDS),
        (1, MIN_SESSIONS, MIN_SESSIONS, RuleState.UNKNOWN),
        (3, MIN_SESSIONS, MIN_SESSIONS, RuleState.UNKNOWN),
        (5, MIN_SESSIONS, MIN_SESSIONS, RuleState.REPEATED),
        (2, 100, 100, RuleState.HOLDS),
        (20, 100, 100, RuleState.REPEATED),
        (0, 0, MIN_SESSIONS - 1, RuleState.UNKNOWN),
        (0, 0, MIN_SESSIONS, RuleState.UNUSED),
    ],
)
def test_no_claim_exceeds_what_the_numbers_support(repeats: int, of: int, in_reach: int, state: RuleState) -> None:
    assert state_of([place < repeats for place in range(of)], in_reach) is state


def test_a_rule_that_stopped_holding_is_repeated() -> None:
    assert state_of([False] * 200 + [True, False] * 5, 210) is RuleState.REPEATED
    assert state_of([True, False] * 5 + [False] * 200, 210) is not RuleState.REPEATED


def test_words_said_before_the_rule_existed_are_no_repeat() -> None:
    effect = compute_effect([session(10, AGAIN), session(20), session(30, AGAIN)], since=25)
    assert (effect.before, effect.after) == (Count(2, 1), Count(1, 1))
    assert [evidence.session for evidence in effect.evidence] == ["s30"]


def test_the_session_that_taught_the_rule_is_no_repeat() -> None:
    """First hour: "imperative, please" made "Write commit messages in the imperative mood", counted as never said."""
    sessions = [session(10, "like this from now on, please"), session(30)]
    rule = Rule(GUIDE, 3, RULE, Origin.PROPOSAL, 20, frozenset({"claude-code"}), "p1", frozenset({"s10"}))
    (effect,) = effects([rule], sessions)
    assert (effect.before, effect.after) == (Count(1, 1), Count(1, 0))
    (effect,) = effects([replace(rule, taught_in=frozenset({"s30"}))], sessions)
    assert (effect.before, effect.after) == (Count(1, 0), Count(1, 0)), "it came in before that session"


@for_each(
    ("rule", "in_any_work"),
    [
        ("Ask Lina before you change anything in `backend/orders/payments.py`.", False),
        ("For production you ask Salma.", False),
        ("The labels in the admin app are in French.", False),
        ("Ask before you delete a file.", True),
        ("When in doubt, ask.", True),
        ("Always ask me first.", True),
        ("Answer in French.", True),
        ("Réponds-moi en français quand j'écris en français.", True),
        ("Speak German.", True),
        ("German only.", True),
    ],
)
def test_a_rule_about_how_the_agent_proceeds_applies_in_any_work_but_asking_somebody_else_does_not(
    rule: str,
    in_any_work: bool,  # noqa: FBT001
) -> None:
    assert could_matter(rule, frozenset({"css", "button"})) is in_any_work


def test_words_that_became_another_rule_repeat_none_but_what_is_said_beside_them_may(tmp_path: Path) -> None:
    guide = tmp_path / "CLAUDE.md"
    old, new = "Give the migration a name that says what it does.", "Migrations are named with the ticket first."
    guide.write_text(f"# Rules\n\n- {old}\n- {new}\n- {RULE}\n")
    words = "migrations are named with the ticket first"
    told = (f"didn't I tell you {words}? this one isn't", f"{AGAIN}, and {words}")
    past = session(30, *told, loaded=(str(guide),), cwd=str(tmp_path))
    line = Repeat("t30-0", told[0], str(guide), 3, old, 0.0)

    def repeated(taught_by: Proposal) -> dict[str, list[str]]:
        store = new_store(tmp_path / f"{taught_by.batch_id}.db")
        store.proposals.add(taught_by)
        found = collect(store, [replace(past, repeats=(line, replace(line, turn="t30-1", quote=told[1], text=RULE)))])
        return {one.rule.text: [said.turn for said in one.evidence] for one in found if one.evidence}

    by = make_proposal(
        path=str(guide),
        state=State.ACCEPTED,
        decided_at=rfc3339(10),
        operations=(Operation(Op.INSERT_AFTER, f"- {old}", f"- {new}"),),
        evidence=(Evidence("t30-0", words), Evidence("t30-1", words)),
    )
    assert repeated(replace(by, batch_id="effect-sharpen-1"))[old] == ["t30-0"], "a remedy quotes what was repeated"
    assert repeated(by) == {RULE: ["t30-1"]}


def test_of_several_mined_rules_each_was_said_only_in_its_own_sessions() -> None:
    told = {10: "no npm again, please: use pnpm", 12: "that goes to the ticket as in the last release"}
    changes = {10: RULE, 12: "Put the ticket number first in each entry."}
    sessions = [session(at, said) for at, said in told.items()]
    mined = make_proposal(
        batch_id="mine-1",
        path=GUIDE,
        session_id="s10",
        operations=(Operation(Op.INSERT_AFTER, "# Rules", "\n".join(f"- {one}" for one in changes.values())),),
        evidence=tuple(Evidence(f"t{at}-0", said) for at, said in told.items()),
        updates=tuple(
            Update(1, "", changes[at], "", Kind.PREFERENCE, number, said)
            for number, (at, said) in enumerate(told.items(), 1)
        ),
    )
    text = "# Rules\n\n" + "".join(f"- {one}\n" for one in changes.values())
    found = {one.text: one.taught_in for one in rules([(mined, 20.0)], sessions, lambda _: text)}
    assert (found[changes[10]], found[changes[12]]) == (frozenset({"s10"}), frozenset({"s12"}))
    judged = {one.rule.text: one.before for one in effects(rules([(mined, 20.0)], sessions, lambda _: text), sessions)}
    assert judged[changes[12]].repeats == 1
    single = rules([(replace(mined, batch_id="b1"), 20.0)], sessions, lambda _: text)
    assert {*single[0].taught_in, *single[1].taught_in} == {"s10"}, "of one session, everything was said there"


def test_a_rule_that_was_not_loaded_is_not_repeated() -> None:
    elsewhere = [session(DAY * at, AGAIN, loaded=("/home/ada/a/AGENTS.md",)) for at in range(1, MIN_SESSIONS + 1)]
    effect = compute_effect(elsewhere)
    assert (effect.after, effect.state) == (Count(), RuleState.UNKNOWN)
    skill = "/home/ada/a/.claude/skills/notes/SKILL.md"
    assert compute_effect(elsewhere, path=skill).state is RuleState.UNKNOWN, "no session used the skill"


def test_only_sessions_with_work_show_that_a_rule_was_not_needed() -> None:
    """Forty questions without a command or a file: a cut was proposed for a rule about code."""
    talked = SessionWork(work="", tools=(), calls=0, failed=0, seconds=0.0, passed=None)
    held = [session(DAY * at, work=("css", "button"), done=talked) for at in range(1, MIN_SESSIONS + 1)]
    assert compute_effect(held).state is RuleState.UNKNOWN
    ran = [replace(one, done=replace(talked, calls=1)) for one in held]
    assert compute_effect(ran).state is RuleState.UNUSED
    judged = [replace(one, idle=(rule_key(RULE),)) for one in held]
    assert compute_effect(judged).state is RuleState.UNUSED


def test_a_young_rule_is_not_called_unused() -> None:
    """Many short sessions in two days, none about the rule: a cut was proposed minutes after it was accepted."""
    busy = [session(at, work=("css", "button")) for at in range(1, 2 * int(DAY), 1800)]
    assert len(busy) > MIN_SESSIONS
    assert compute_effect(busy).state is RuleState.UNKNOWN
    later = session(15 * DAY, work=("css", "button"))
    assert compute_effect([*busy, later]).state is RuleState.UNUSED
    assert compute_effect([*busy, later], since=2 * DAY).state is RuleState.UNKNOWN


def test_an_unrelated_session_is_not_counted() -> None:
    other = session(1, work=("css", "button"))
    assert compute_effect([other, session(2)]).after == Count(1, 0)
    assert compute_effect([replace(other, at=0.0)]).after == Count()  # when, nobody knows


def test_a_models_answer_on_relevance_outweighs_shared_words() -> None:
    key, css = rule_key(RULE), ("css", "button")
    assert compute_effect([session(1, idle=(key,)), session(2, mattered=(key,), work=css)]).after == Count(1, 0)
    assert compute_effect([session(1, AGAIN, idle=(key,))]).after == Count(1, 1), "it was said, so it mattered"
    assert compute_effect([session(1, idle=(rule_key("another"),))]).after == Count(1, 0), "it was not asked about"


def test_a_session_stored_by_an_older_version_is_read() -> None:
    data = json.loads(codec.encode(session(1, AGAIN)))
    del data["mattered"], data["idle"]
    assert codec.decode(PastSession, json.dumps(data), strict=False) == session(1, AGAIN)


def test_rules_are_proposal_lines_and_repeated_rules() -> None:
    text = f"# App\n\n- {RULE}\n- Keep functions short.\n- Write tests first.\n"
    brought = replace(make_proposal(id="p1"), path=GUIDE, agent="codex")
    brought = replace(brought, operations=(replace(brought.operations[0], text="- Write tests first."),))
    tied = session(9, AGAIN, repeats=(Repeat("t9-0", AGAIN, GUIDE, 7, RULE, 4.0),))
    found = rules([(brought, 5.0)], [tied], {GUIDE: text}.__getitem__)
    assert [(one.line, one.origin, one.since) for one in found] == [(3, Origin.PERSON, 4.0), (5, Origin.PROPOSAL, 5.0)]
    assert rules([(brought, 5.0)], [tied], lambda _: "") == []  # they stand there no more


def test_steps_that_nobody_said_are_not_rules() -> None:
    skill = "/home/ada/a/.claude/skills/add-service/SKILL.md"
    rows = "## Rules\n\n- Always set limits.\n\n## Steps\n\n1. Run `git add -A`.\n2. Run `make lint` twice.\n"
    text = f"---\nname: add-service\ndescription: Adds one.\n---\n\n# Add a service\n\n{rows}"
    updates = (
        Update(1, "", "Always set limits.", "", Kind.PREFERENCE, 1, "always set limits"),
        Update(1, "", "Run `git add -A`.", "observed in 3 sessions", Kind.PREFERENCE, OBSERVED_TURN, "git add -A"),
        Update(1, "", "Run `make lint` twice.", "", Kind.PREFERENCE, 1, "lint twice"),
    )
    mined = make_proposal(batch_id="mine-1", path=skill, updates=updates)
    mined = replace(mined, operations=(Operation(Op.CREATE, "", text),))

    def texts(proposal: Proposal, *sessions: PastSession) -> list[str]:
        return [one.text for one in rules([(proposal, 5.0)], sessions, lambda _: text)]

    assert texts(mined) == ["Always set limits.", "Run `make lint` twice."]
    assert texts(replace(mined, updates=(), evidence=())) == ["Always set limits."], "imported"
    repeated = session(9, AGAIN, repeats=(Repeat("t9-0", AGAIN, skill, 14, "Run `git add -A`.", 4.0),))
    assert texts(mined, repeated) == ["Always set limits.", "Run `git add -A`.", "Run `make lint` twice."]


def test_lines_that_only_got_another_number_are_not_rules() -> None:
    text = "# App\n\n1. Test.\n2. Show me the outdated dependencies.\n3. Bump `version`.\n4. Tag.\n"
    anchor, new = "2. Bump `version`.\n3. Tag.", "2. Show me the outdated dependencies.\n3. Bump `version`.\n4. Tag."
    brought = replace(make_proposal(id="p1"), path=GUIDE, operations=(Operation(Op.REPLACE, anchor, new),))
    found = rules([(brought, 5.0)], [], lambda _: text)
    assert [one.text for one in found] == ["Show me the outdated dependencies."]


def test_a_rule_the_judge_found_already_written_is_a_repeat() -> None:
    update = Update(1, "", RULE, "", Kind.PREFERENCE, 1, "Bitte pnpm", 0.9)
    note = replace(make_proposal(id="n1"), state=State.SAID, path=GUIDE, session_id="s9", updates=(update,))
    text = f"- {RULE}\n"
    (noted,) = with_noted_repeats([session(9)], [note], lambda _: text, lambda *_: 3.0)
    assert [(repeat.path, repeat.line, repeat.since) for repeat in noted.repeats] == [(GUIDE, 1, 3.0)]
    assert compute_effect([noted]).after == Count(1, 1)
    reads: list[str] = []

    def read(path: str) -> str:
        reads.append(path)
        return text

    notes = [replace(note, id=f"n{number}", session_id=f"s{number}") for number in (1, 2)]
    with_noted_repeats([session(1), session(2)], notes, read, lambda *_: 3.0)
    assert reads == [GUIDE], "a file is read once, however often it was repeated"
    # The rule came in later in that very session.
    assert (compute_effect([noted], since=9.5).after, compute_effect([noted], since=9.5).evidence) == (Count(), ())


@pytest.mark.parametrize(("ears", "least"), [(WORDS, 0.95), (MODEL, 0.95)])
def test_a_simulated_year_is_judged_correctly(ears: Ears, least: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """States right for 95 % of the rules with enough sessions, by words and with a model; hardly one is wrong."""
    monkeypatch.setattr("skilld.effect.rules.repeats_rule", SAYS_AGAIN)
    counts: Counter[str] = Counter()
    for seed in range(20):
        for truth, found in zip(*lived(seed, ears=ears), strict=True):
            if truth.state is RuleState.UNUSED:
                counts["unclaimed"] += found.state is RuleState.UNKNOWN
                counts["never loaded"] += 1
            elif has_enough(found):
                counts["enough"] += 1
                counts["right"] += found.state is truth.state
                counts["wrong"] += found.state not in (truth.state, RuleState.UNKNOWN)
                if truth.later == truth.after:
                    low, high = found.after.interval
                    counts["intervals"] += 1
                    counts["covering"] += low <= truth.after <= high
            else:
                counts["too few"] += 1
                assert found.state is RuleState.UNKNOWN
    print(dict(counts))
    assert counts["right"] >= least * counts["enough"]
    assert counts["wrong"] <= 0.01 * counts["enough"]
    assert counts["enough"] >= 0.6 * (counts["enough"] + counts["too few"])
    assert counts["unclaimed"] == counts["never loaded"]
    assert counts["covering"] >= 0.93 * counts["intervals"]


def _store_with_transcripts(tmp_path: Path, *names: str) -> Store:
    """Return a store that knows these transcripts, each 100 seconds older than the one before, of 1,000 and less."""
    store = new_store(tmp_path / "skilld.db")
    for number, name in enumerate(names):
        path = tmp_path / name
        path.write_text("")
        store.transcripts.add_file("codex", str(path), path.stat(), baseline=0)
        store._db.execute("UPDATE files SET mtime = ? WHERE path = ?", (1000 - 100 * number, str(path)))
    return store


def _asked_rules(surveys: SurveySchedule, now: float) -> list[str] | None:
    job = surveys.job(Settings(model="offline"), now)
    return None if job is None else [Path(survey.path).name for survey in job.surveys]


def test_transcripts_are_read_in_one_job_newest_first_and_again_when_grown(tmp_path: Path) -> None:
    store = _store_with_transcripts(tmp_path, "at work", "new", "old", "oldest")
    surveys = SurveySchedule(store, Host(tmp_path, {}))
    assert _asked_rules(surveys, 1550.0) == ["new", "old", "oldest"]
    result = SurveyResult(outcome=Outcome.NOTHING, sessions=(session(5.0),))
    surveys.record(SurveysResult(outcome=Outcome.NOTHING, shown=(result, replace(result, sessions=()))))
    assert [one.session_id for one in store.past.sessions()] == ["s5.0"]
    assert _asked_rules(surveys, 1551.0) == ["oldest"]  # what was not come to, without another look at all there are
    surveys.record(SurveysResult(outcome=Outcome.NOTHING, shown=(result,)))
    store._db.execute("UPDATE files SET mtime = 801 WHERE path = ?", (str(tmp_path / "old"),))
    assert _asked_rules(surveys, 1849.0) is None
    store.meta.set(PAUSED_UNTIL, FOREVER)
    assert _asked_rules(surveys, 1851.0) is None
    store.meta.set(PAUSED_UNTIL, 0.0)
    assert _asked_rules(surveys, 1852.0) == ["at work", "old"]
    store.close()


def test_if_a_joint_job_fails_each_transcript_is_read_alone(tmp_path: Path) -> None:
    store = _store_with_transcripts(tmp_path, "sound", "bad", "fine")
    surveys, failed = SurveySchedule(store, Host(tmp_path, {})), Result(outcome=Outcome.RETRY)
    read = SurveysResult(outcome=Outcome.NOTHING, shown=(SurveyResult(outcome=Outcome.NOTHING),))
    given = []
    for now, result in ((2000.0, failed), (2300.0, read), (2301.0, failed), (2600.0, read)):
        given.append(_asked_rules(surveys, now))
        surveys.record(result)
    assert given == [["sound", "bad", "fine"], ["sound"], ["bad"], ["fine"]]
    assert len(store.past.read_files()) == 3
    assert _asked_rules(surveys, 2900.0) is None
    store.close()


def test_a_model_is_asked_later_about_what_a_command_or_a_day_without_budget_read(tmp_path: Path) -> None:
    store = _store_with_transcripts(tmp_path, "shown", "poor", "old", "asked")
    store._db.execute("UPDATE files SET baseline = 10 WHERE path = ?", (str(tmp_path / "old"),))
    for name, later in (("shown", True), ("old", True), ("asked", False)):
        number = ["shown", "poor", "old", "asked"].index(name)
        store.past.save(str(tmp_path / name), 0, 1000.0 - 100 * number, (), ask_later=later)
    settings = Settings(model="openai/stub", model_base_url="http://localhost:1/v1")
    surveys, read = SurveySchedule(store, Host(tmp_path, {})), SurveyResult(outcome=Outcome.NOTHING)

    def given(now: float) -> list[tuple[str, str]]:
        job = surveys.job(settings, now)
        surveys.record(SurveysResult(outcome=Outcome.NOTHING, shown=(read,)))
        return [] if job is None else [(Path(one.path).name, one.backend.model) for one in job.surveys]

    day = 86400.0
    store.usage.add(local_day(5000.0), "openai/stub", "", Usage(30, 1, 1, 0.0))  # half of 60 calls
    assert given(5000.0) == [("poor", "offline")]
    assert given(5400.0) == []
    assert given(5000.0 + day) == [("shown", "openai/stub")]
    assert given(5001.0 + day) == [("poor", "openai/stub")]
    assert given(5400.0 + day) == []
    store.close()


def test_a_rule_that_was_reverted_and_accepted_again_keeps_its_past(tmp_path: Path) -> None:
    guide = tmp_path / "CLAUDE.md"
    guide.write_text(f"# A\n\n- {RULE}\n")
    store = new_store(tmp_path / "skilld.db")
    store.proposals.add(
        make_proposal(id="p1", path=str(guide), operations=(Operation(Op.INSERT_AFTER, "", f"- {RULE}"),))
    )
    for day, state in ((2, State.ACCEPTED), (5, State.REVERTED), (8, State.ACCEPTED)):
        (known,) = filter(None, [store.proposals.get("p1")])
        store.proposals.decide(known, state, rfc3339(day * DAY), who="command")
    held = [session(DAY * day + 60, AGAIN, cwd=str(tmp_path), loaded=(str(guide),)) for day in (1, 3, 4, 6, 9)]
    (effect,) = collect(store, held)
    assert (effect.before, effect.after) == (Count(1, 1), Count(3, 3)), (
        "the day on which it was reverted counts as neither"
    )
    store.close()


def _with_reworded_rule(tmp_path: Path, newer: str, batch: str = "effect-sharpen-01234567") -> list[Effect]:
    """Return the effects of a rule that was accepted on day 2, and reworded on day 5; one that was repeated."""
    guide = tmp_path / "CLAUDE.md"
    guide.write_text(f"# A\n\n- {newer}\n")
    store = new_store(tmp_path / "skilld.db")
    first = Operation(Op.INSERT_AFTER, "", f"- {RULE}")
    reworded = Operation(Op.REPLACE, f"- {RULE}", f"- {newer}")
    for name, day, edit, by in (("p1", 2, first, "batch-1"), ("p2", 5, reworded, batch)):
        one = make_proposal(id=name, path=str(guide), operations=(edit,), batch_id=by, session_id=f"of-{name}")
        store.proposals.add(one)
        store.proposals.decide(one, State.ACCEPTED, rfc3339(day * DAY), who="command")
    held = [session(DAY * day + 60, AGAIN, cwd=str(tmp_path), loaded=(str(guide),)) for day in (1, 3, 4, 6, 9)]
    tied = Repeat("t-tied", "bun is what we use", str(guide), 3, RULE, 2 * DAY)
    held[2] = replace(held[2], said=(Correction("t-tied", held[2].at, "bun is what we use"),), repeats=(tied,))
    found = collect(store, held)
    store.close()
    return found


@pytest.mark.parametrize("newer", [f"**{RULE}**", "In this repository only pnpm is run, and npm never."])
def test_a_rule_that_skilld_reworded_keeps_its_past(tmp_path: Path, newer: str) -> None:
    (effect,) = _with_reworded_rule(tmp_path, newer)
    assert (effect.before, effect.after) == (Count(1, 1), Count(4, 4))
    assert (effect.rule.proposal, effect.rule.since) == ("p2", 2 * DAY)
    assert effect.rule.taught_in == {"of-p1", "of-p2"}


def test_a_rule_that_the_person_reworded_starts_over(tmp_path: Path) -> None:
    (effect,) = _with_reworded_rule(tmp_path, f"**{RULE}**", "batch-2")
    assert (effect.before, effect.after) == (Count(3, 2), Count(2, 2))


def test_a_rule_of_the_person_that_skilld_reworded_counts_from_when_they_wrote_it(tmp_path: Path) -> None:
    guide = str(tmp_path / "CLAUDE.md")
    reworded = Operation(Op.REPLACE, f"- {RULE}", f"- **{RULE}**")
    made = make_proposal(id="p2", path=guide, operations=(reworded,), batch_id="effect-sharpen-01234567")
    repeat = Repeat("t1", AGAIN, guide, 3, RULE, 2 * DAY)
    (rule,) = rules([(made, 5 * DAY)], [session(3 * DAY, AGAIN, repeats=(repeat,))], lambda _: f"- **{RULE}**\n")
    assert (rule.since, rule.formerly) == (2 * DAY, (RULE,))
