"""The doctor's checks on facts a test cannot build for real: kernel limits, full disks, old daemons."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from skilld.context import Context, LoadedFile, LoadTime, Scope, Segment
from skilld.health import agent_checks, checks
from skilld.health.checks import no_common_file, reasons_for_nothing, repeats, surprises
from skilld.health.gather import count_turns
from skilld.health.machine_checks import machine
from skilld.health.values import Agent, Check, Counts, Daemon, Disk, Machine, Model, Service, Trouble
from skilld.service.values import ServiceState
from skilld.store import Store
from skilld.store.batches import Delay
from skilld.store.learnings import Learning
from support.rows import for_each

NOW = 1_800_000_000.0
MACHINE = Machine(
    NOW, None, None, None, "git version 2.39.5 (Apple Git-154)", (Disk(Path("/a"), "its state", 1 << 40),), 8192, 12
)
AGENT = Agent(
    name="codex",
    title="Codex",
    folders=(Path("/c"),),
    chosen_by="",
    exists=True,
    unreadable=(),
    files=3,
    newest=NOW - 60,
    turns=40,
    malformed=0,
    verified="1.0 (2026-11)",
)
DAEMON = Daemon(
    running=True,
    status={"version": "1.0", "unwatched": 0},
    seen_at=NOW - 10,
    paused_until="",
    version="1.0",
    last_error="",
)
SERVICE = ServiceState(
    "systemd", Path("/unit"), installed=True, enabled=True, running=True, state="active", program="/p"
)


def find_check(checks: list[Check], name: str) -> tuple[str, str, str]:
    (check,) = (check for check in checks if check.name == name)
    return check.verdict.value, check.detail, check.remedy


def test_a_healthy_machine_gets_no_remedy() -> None:
    checks = machine(MACHINE, NOW - 5, NOW - 60)
    assert [(check.verdict.value, check.remedy) for check in checks] == [("ok", "")] * 7


@for_each(
    ("facts", "name", "verdict", "detail", "remedy"),
    [
        (replace(MACHINE, folders=9000), "watches", "warn", "9,000 folders; the kernel allows 8,192",
            "max_user_watches=524288"),
        (replace(MACHINE, folders=600000), "watches", "warn", "the kernel allows 8,192", "max_user_watches=1200000"),
        (replace(MACHINE, watch_limit=8, watch_setting="user.max_inotify_watches"), "watches", "warn",
            "12 folders; the kernel allows 8; the rest are polled", "sudo sysctl user.max_inotify_watches=524288"),
        (replace(MACHINE, unwatched=3), "watches", "warn", "with other programs' watches; the rest are polled",
            "max_user_watches=524288"),
        (replace(MACHINE, unwatched=12, no_watches=True), "watches", "warn", "none of 12 folders is watched",
            "sudo sysctl fs.inotify.max_user_instances=1024"),
        (replace(MACHINE, remote=(Path("/nfs"),)), "watches", "warn", "polling /nfs", ""),
        (replace(MACHINE, watch_limit=None), "watches", "ok", "12 folders", ""),
        (replace(MACHINE, disks=(Disk(Path("/a"), "its state", 9 << 30), Disk(Path("/b"), "proposals", 5 << 20))),
            "disk", "fail", "5 MB free at /b", "Free some space"),
        (replace(MACHINE, disks=(Disk(Path("/a"), "its state", 9 << 30),)), "disk", "ok",
            "9,216 MB free at /a, where skilld writes its state", ""),
        (replace(MACHINE, disks=(Disk(Path("/a"), "its state", 71 << 30),)), "disk", "ok",
            "71 GB free at /a, where skilld writes its state", ""),
        (replace(MACHINE, disks=()), "disk", "skip", "free space unknown", ""),
        (replace(MACHINE, git="git version 2.36.0"), "git", "ok", "2.36.0", ""),
        (replace(MACHINE, git="git version 2.35.9"), "git", "fail", "2.35 is too old, 2.36 or newer",
            "Install git 2.36"),
        (replace(MACHINE, git="git version 3.0.1"), "git", "ok", "3.0.1", ""),
        (replace(MACHINE, git="nonsense"), "git", "warn", "nonsense", ""),
        (replace(MACHINE, now=1000.0), "clock", "fail", "before this version of skilld was released",
            "Set the system clock"),
    ],
)  # fmt: skip
def test_machine_problems_are_reported(facts: Machine, name: str, verdict: str, detail: str, remedy: str) -> None:
    found = find_check(machine(facts, None, None), name)
    assert found[0] == verdict
    assert detail in found[1]
    assert remedy in found[2]


def test_a_daemon_start_time_in_the_future_means_the_clock_was_set_back() -> None:
    assert find_check(machine(MACHINE, NOW + 7200, None), "clock")[1].startswith(
        "seems to have been set back: the daemon's status is dated 120 minutes in the future"
    )
    assert "dated 3 days in the future" in find_check(machine(MACHINE, NOW + 3 * 86400, None), "clock")[1]
    assert find_check(machine(MACHINE, NOW + 60, None), "clock")[0] == "ok"  # a file server's clock may be ahead


def test_whoever_runs_it_once_lately_needs_no_daemon() -> None:
    nobody = replace(DAEMON, running=False, status=None)
    no_service = replace(SERVICE, installed=False, running=False)

    def verdict(ago: float, service: ServiceState) -> str:
        return find_check(checks.daemon(replace(nobody, ran_once_at=NOW - ago), service, NOW), "daemon")[0]

    assert verdict(60, no_service) == "warn"
    assert verdict(86_400, no_service) == "warn"
    assert verdict(3 * 86_400, no_service) == "fail", "it has stopped"
    assert verdict(60, SERVICE) == "fail", "the service should run"
    assert find_check(checks.daemon(nobody, no_service, NOW), "daemon")[0] == "fail"


def test_a_daemon_without_a_key_is_told_from_a_shell_without_it() -> None:
    failed = replace(DAEMON, parked=("Could not ask the model: skilld was started without A_API_KEY",))
    in_terminal = replace(SERVICE, running=False)
    stop = "Stop skilld (Ctrl-C), then in a shell that has it: skilld run"
    keep = "In a shell that has it: skilld service install --environment keep"
    assert find_check(checks.daemon(failed, in_terminal, NOW), "batches")[2] == f"{stop}; after that: skilld retry"
    assert find_check(checks.daemon(failed, SERVICE, NOW), "batches")[2] == f"{keep}; after that: skilld retry"
    for status in ({"keys": ["A_API_KEY"]}, {"has_key": True}):
        has_it = replace(failed, status=status)
        assert find_check(checks.daemon(has_it, SERVICE, NOW), "batches")[2] == "Fix the cause, then: skilld retry"
    lacking = replace(DAEMON, lacking=("A_API_KEY",))
    found = find_check(checks.daemon(lacking, in_terminal, NOW), "daemon")
    assert found == ("warn", "started without A_API_KEY, which this shell sets", stop)
    assert find_check(checks.daemon(lacking, SERVICE, NOW), "daemon")[0] == "ok", "the check of the service says it"


@for_each(
    ("facts", "name", "verdict", "detail"),
    [
        (DAEMON, "daemon", "ok", "version 1.0"),
        (replace(DAEMON, version="1.1"), "daemon", "warn", "running version 1.0, but 1.1 is installed"),
        (replace(DAEMON, status={"version": "1.0", "unwatched": 7}), "daemon", "warn", "polling 7 folders"),
        (replace(DAEMON, seen_at=NOW - 121), "daemon", "fail", "not responding; last seen"),
        (replace(DAEMON, running=False, seen_at=NOW - 9999), "daemon", "fail", "not running"),
        (replace(DAEMON, parked=("a", "no key")), "batches", "fail", "2 failed; last error: no key"),
        (replace(DAEMON, last_error="late"), "batches", "ok", "last error: late"),
        (replace(DAEMON, delayed=(Delay("late", 2, NOW + 61),)), "batches", "warn",
            "2 batches wait: late; next try in 2 minutes"),
        (replace(DAEMON, delayed=(Delay("late", 1, NOW + 9),), paused_until="x"), "batches", "warn",
            "1 batch waits: late"),
    ],
)  # fmt: skip
def test_daemon_problems_are_reported(facts: Daemon, name: str, verdict: str, detail: str) -> None:
    found = find_check(checks.daemon(facts, SERVICE, NOW), name)
    assert found[0] == verdict
    assert detail in found[1]


@for_each(
    ("facts", "verdict", "detail"),
    [
        (SERVICE, "ok", "running under systemd"),
        (replace(SERVICE, installed=False), "skip", "not installed"),
        (Service(SERVICE, program_exists=False), "fail", "/p, which no longer exists"),
        (replace(SERVICE, running=False, state="failed (exit-code)"), "fail", "failed (exit-code)"),
        (replace(SERVICE, running=False, state="inactive"), "warn", "inactive"),
        (replace(SERVICE, restarts=4), "warn", "restarted 4 times"),
        (replace(SERVICE, enabled=False), "warn", "does not start when you log in"),
        (replace(SERVICE, state="unknown", says="no bus"), "warn", "no bus"),
        (replace(SERVICE, state="unknown", installed=False, says="no bus"), "skip", "not available here: no bus"),
    ],
)
def test_service_problems_are_reported(facts: Service | ServiceState, verdict: str, detail: str) -> None:
    check = checks.service(facts if isinstance(facts, Service) else Service(facts))
    assert check.verdict == verdict
    assert detail in check.detail


def test_no_service_is_suggested_where_no_manager_can_run_it() -> None:
    away = replace(SERVICE, state="unknown", installed=False, says="no bus")
    daemon = find_check(checks.daemon(replace(DAEMON, running=False), away, NOW), "daemon")
    assert daemon[2] == "skilld run"
    assert checks.service(Service(away)).remedy == "Run skilld in a terminal instead: skilld run"


def test_many_unreadable_lines_suggest_an_unknown_format() -> None:
    strange = replace(AGENT, turns=7, malformed=3)
    verdict, detail, remedy = find_check(agent_checks.agents([strange], NOW), "agent codex")
    assert (verdict, "tested with 1.0 (2026-11)" in detail, "skilld inspect" in remedy) == ("warn", True, True)
    assert find_check(agent_checks.agents([replace(AGENT, turns=9, malformed=1)], NOW), "agent codex")[0] == "ok"


def test_transcripts_of_another_user_are_reported() -> None:
    """A container's root sees the sessions of the host's user, and reads none of them."""
    assert find_check(agent_checks.agents([replace(AGENT, foreign=2)], NOW), "agent codex") == (
        "warn",
        "2 of 3 session files not read: they belong to another user",
        "Run skilld as the user who runs Codex",
    )


def test_a_keyless_backend_is_healthy_and_lists_the_alternatives() -> None:
    check = checks.back_end(Model("offline", "nothing else is configured", ("OPENAI_API_KEY is set; ...",)))
    assert (check.verdict, check.remedy) == ("ok", "OPENAI_API_KEY is set; ...")
    check = checks.back_end(Model("m", "you chose it", answer=Trouble("no answer", "wait")))
    assert (check.verdict, check.detail, check.remedy) == ("fail", "m: no answer", "wait")


def test_a_judge_of_other_settings_is_tested_where_they_are_set() -> None:
    own = checks.back_end(Model("openai/gpt-5-mini", "OPENAI_API_KEY is set"))
    assert own.remedy == "To test it: skilld doctor --ask"
    other = checks.back_end(Model("openai/gpt-5-mini", f"OPENAI_API_KEY is set; {checks.STARTED_WITH}"))
    assert other.remedy.startswith("To test it, in a shell with the settings that skilld was started with")


def test_why_nothing_counts_from_the_newest_proposal() -> None:
    at = "2026-11-28T03:00:00Z"
    assert reasons_for_nothing(Counts(since=at, said=("a", "b")), "", running=True) == []
    assert reasons_for_nothing(
        Counts(turns=2, judged=2, since=at, said=("a", "b"), said_since=1), "", running=True
    ) == [f"2 messages read since the newest proposal ({at}): 2 judged", "said, but already in a file: a (once)"]


def test_backfill_advice_says_to_stop_a_running_skilld() -> None:
    assert reasons_for_nothing(Counts(), "", running=True) == ["no session of any agent was found here"]
    assert [
        reasons_for_nothing(Counts(files=1), "", running=running)[0].partition("; ")[2] for running in (False, True)
    ] == [
        "to read the last 7 days: skilld run --once --backfill 7",
        "to read the last 7 days, stop skilld, then: skilld run --once --backfill 7",
    ]


def test_repeats_are_counted_by_line() -> None:
    (check,) = repeats((("/p/CLAUDE.md:7", 2), ("/h/CLAUDE.md:1", 1)))
    assert check.detail == "rules you had to repeat: /p/CLAUDE.md:7 (in 2 sessions); /h/CLAUDE.md:1 (in 1 session)"
    assert repeats(()) == []


SKIPPED = "3 skipped (no lasting instructions)"


def test_why_nothing_names_waiting_refused_and_paused_work() -> None:
    counts = Counts(turns=47, judged=38, pending=5, waiting=1, chatter=3, parked=2, refusals={"a": 1, "b": 3})
    assert reasons_for_nothing(counts, "until you resume", running=True) == [
        f"47 messages read: 38 judged, 5 not judged yet, 1 waiting for the rest of the session, {SKIPPED}",
        "messages are judged once their session has 5 messages, ends, or is idle for 10 minutes",
        "2 batches failed (why, and what to do: skilld status)",
        "3 edits refused: b",
        "1 edit refused: a",
        "paused until you resume",
    ]


def test_why_nothing_says_that_nothing_lasting_was_heard() -> None:
    assert reasons_for_nothing(Counts(turns=6, judged=5, chatter=1), "", running=True) == [
        "6 messages read: 5 judged, 1 skipped (no lasting instructions)",
        "nothing judged so far sounded like a lasting instruction",
    ]
    again = reasons_for_nothing(Counts(turns=5, judged=5, taught=1, since="2026-11-28T03:00:00Z"), "", running=True)
    assert again[1:] == ["what you said has been proposed before (list: skilld proposals --state all)"]
    since = reasons_for_nothing(Counts(turns=5, judged=5, since="2026-11-28T03:00:00Z"), "", running=True)
    assert since[1:] == ["nothing judged since then sounded like a lasting instruction"]
    spent = reasons_for_nothing(Counts(turns=5, pending=5, spent="1 of 1 model calls used"), "", running=True)
    assert spent == [
        "5 messages read: 5 not judged yet",
        "today's budget is spent (1 of 1 model calls used); the rest is judged tomorrow",
    ]
    (fresh,) = reasons_for_nothing(Counts(ran=False), "", running=False)
    assert fresh == "skilld has not run here yet; to read the last 7 days: skilld run --once --backfill 7"
    kept = reasons_for_nothing(Counts(turns=5, judged=5, learnings=2), "", running=True)
    assert kept[1:] == ["2 lasting instructions kept, but not in any file yet (list: skilld learnings)"]


def context_with(agent: str, names: list[str]) -> Context:
    files = tuple(LoadedFile(f"/p/{name}", f"/p/{name}", LoadTime.START, Scope.PROJECT) for name in names)
    return Context(agent, "", "measured", "/p", files)


@for_each(
    ("codex", "claude", "verdict"),
    [
        (["AGENTS.md"], ["CLAUDE.md"], "warn"),
        (["AGENTS.md"], ["CLAUDE.md", "AGENTS.md"], ""),
        (["AGENTS.md"], [], "ok"),  # the other one loads nothing here
        ([], ["CLAUDE.md"], ""),  # Codex has no name of its own for such a file
        ([], [], ""),
    ],
)
def test_agents_of_one_project_without_a_common_file_are_reported(
    codex: list[str], claude: list[str], verdict: str
) -> None:
    found = no_common_file([context_with("codex", codex), context_with("claude-code", claude)])
    assert [check.verdict for check in found] == [verdict] * bool(verdict)
    told = {
        "warn": ("no single file is loaded by all agents here: codex loads AGENTS.md; claude-code loads CLAUDE.md",
                 "Have CLAUDE.md import AGENTS.md: echo @AGENTS.md >> CLAUDE.md"),
        "ok": ("AGENTS.md is not loaded here by claude-code",
               "Have CLAUDE.md import AGENTS.md: echo @AGENTS.md >> CLAUDE.md"),
    }  # fmt: skip
    assert [(check.detail, check.remedy) for check in found] == [told[check.verdict] for check in found]


@for_each(
    ("loads", "remedy"),
    [
        (
            {"codex": ["AGENTS.md"], "gemini-cli": ["GEMINI.md"]},
            "Have GEMINI.md import AGENTS.md: echo @AGENTS.md >> GEMINI.md",
        ),
        (
            {"claude-code": ["CLAUDE.md"], "opencode": ["AGENTS.md"], "qwen-code": ["QWEN.md"]},
            "Have CLAUDE.md and QWEN.md import AGENTS.md: echo @AGENTS.md >> CLAUDE.md && echo @AGENTS.md >> QWEN.md",
        ),
        (
            {"claude-code": ["CLAUDE.md"], "copilot-cli": ["CLAUDE.md", "GEMINI.md"], "gemini-cli": ["GEMINI.md"]},
            "Have GEMINI.md import CLAUDE.md: echo @CLAUDE.md >> GEMINI.md",
        ),
        (
            {"codex": ["AGENTS.md"], "aider": ["CONVENTIONS.md"]},
            "Write what all of them should know into a file that each loads: skilld context",
        ),
    ],
)
def test_the_remedy_names_the_files_of_the_agents_that_miss_one(loads: dict[str, list[str]], remedy: str) -> None:
    (check,) = no_common_file([context_with(agent, names) for agent, names in loads.items()])
    assert check.remedy == remedy


def test_contradictions_between_loaded_files_are_reported() -> None:
    files = tuple(
        LoadedFile(path, path, LoadTime.START, scope, segments=(Segment(3, text),))
        for path, scope, text in (
            ("/h/.claude/CLAUDE.md", Scope.PERSONAL, "- Always use npm."),
            ("/p/CLAUDE.md", Scope.PROJECT, "- Be brief.\n- Use pnpm for everything."),
        )
    )
    (check,) = surprises([Context("claude-code", "", "measured", "/p", files)])
    assert check.detail == "/p/CLAUDE.md:4 says the opposite of /h/.claude/CLAUDE.md:3"


@for_each(("minutes", "told"), [(1.0, "1 minute"), (10, "10 minutes"), (0.5, "0.5 minutes")])
def test_the_idle_time_is_told_in_plain_words(minutes: float, told: str) -> None:
    reasons = reasons_for_nothing(Counts(turns=1, waiting=1, idle_minutes=minutes), "", running=True)
    assert reasons[-1].endswith(f"or is idle for {told}")


def test_the_result_of_a_recorded_task_is_no_instruction_that_was_kept(store: Store) -> None:
    for number, agent in enumerate(("codex", "record", "record")):
        said = (f"{agent}:{number}", "Use tabs.", "Use tabs.", "fact", agent, "s", None, None, "no skill", 0.5)
        store.learnings.add(Learning(f"l{number}", *said, "2026-03-02T09:00:00Z"))
    assert count_turns(store, None).learnings == 1
