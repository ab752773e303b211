"""A day in a minute: forty sessions, a suspend, a change of settings, a full disk, a crash; and what must come of it.

The clock of all programs is set by the test (inject/sitecustomize.py), the disk of the state is a small tmpfs.
"""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from faults import apart
from faults.day import SKILLS, Day
from faults.disk import MOUNT, PROBE, TRIED, fill, has_read
from faults.world import HOUR
from support.processes import processes_of, workers_of
from support.waiting import wait_for

NOTES, LOG, NEWS = SKILLS
TICKETS = "From now on, always put the ticket number first in each entry."
HOSTS = "Never mention internal hostnames in the release notes again."
SIGNED = "Always sign the release notes with the name of the editor."
LINKS = "Remember to link every entry to its pull request."
EMOJI = "Never put more than one emoji into a release note."
TABS = "Always use tabs for indentation."  # said without a skill
CHATTER = ("ok", "thanks", "go on", "looks good", "yes please")


@pytest.mark.slow
def test_a_day_in_a_minute(home: Path) -> None:
    apart.skip_unless(PROBE)
    day = Day(home)
    state = home / ".local/state/skilld"
    state.mkdir(mode=0o700, parents=True)
    with apart.mount_point(day.program, MOUNT.format(size="6m", folder=state)) as root:
        on_disk = Path(f"{root}{state}")
        with apart.daemon(day.program) as daemon:
            _morning(day)
            _suspend(day, daemon.pid)
            _settings(day, on_disk / "skilld.log")
            _noon(day)
            _full_disk(day, daemon.pid, on_disk)
            _crash(day, daemon.pid)
        with apart.daemon(day.program):
            _evening(day)
            _wait_until_settled(day)
        assert day.sessions == 40
        assert day.proposals_made() == sorted(EXPECTED)
        assert len(day.commits_made()) == len(set(day.commits_made())) == len(EXPECTED)
        assert not day.program.json("learnings")
        day.pass_by(25 * HOUR)
        day.program.run("run", "--once")
        assert day.proposals_made() == sorted([*EXPECTED, *NEXT_DAY])
    assert day.project.fingerprint() == day.before


EXPECTED = [
    ("", TABS),  # a project without instructions is given some for what two sessions said
    *((NOTES, TICKETS), (LOG, TICKETS), (NEWS, TICKETS)),
    *((NOTES, HOSTS), (NOTES, SIGNED), (LOG, SIGNED)),
    *((NOTES, LINKS), (LOG, LINKS), (NEWS, EMOJI)),
]
NEXT_DAY = [(LOG, EMOJI), (NEWS, LINKS)]


def _morning(day: Day) -> None:
    """Nine sessions; what is said twice or copied counts once, and a short session once it is idle.

    What one session said without a skill waits for another, as there is no file for it.
    """
    first = _work(day, NOTES, TICKETS)
    _chat(day, 2)
    _work(day, LOG, TICKETS)
    day.session("", "hello", TABS, *CHATTER[:3])
    _work(day, NOTES, TICKETS)
    day.fork(first, "and now the other one", *CHATTER[:2])
    day.session(NOTES, "Let us begin", HOSTS, "ok")
    _chat(day, 1)
    _wait_until_settled(day)
    assert [learning["skill"] for learning in day.program.json("learnings")] == [None]


def _suspend(day: Day, daemon: int) -> None:
    """Four sessions; the machine sleeps for two hours in the middle of judging the first."""
    _work(day, NOTES, SIGNED)
    worker = wait_for("a worker", lambda: workers_of(day.home), every=0.01)
    apart.stop(daemon, *worker)
    day.pass_by(2 * HOUR)
    _work(day, LOG, SIGNED)
    apart.tell(signal.SIGCONT, *worker, daemon)
    _chat(day, 2)
    _wait_until_settled(day)


def _settings(day: Day, log: Path) -> None:
    """From now on a session is idle after a day only; before that the file makes no sense for a while."""
    path = day.home / ".config/skilld/config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[batch]\nidle = 1440\n")
    wait_for("it to be refused", lambda: "settings refused" in log.read_text())
    path.write_text("[batch]\nidle_minutes = 1440\n")
    wait_for("it to be taken up", lambda: "settings changed" in log.read_text())


def _noon(day: Day) -> None:
    """Eight sessions: nothing new is said but in one, and a short one waits for the next day."""
    _chat(day, 2)
    day.session(LOG, "Let us begin", EMOJI, "ok")
    _work(day, LOG, TICKETS)
    _work(day, NEWS, TICKETS)
    _chat(day, 3)


def _full_disk(day: Day, daemon: int, state: Path) -> None:
    """Three sessions while there is no room to note them; they are taken up when there is some."""
    _wait_until_settled(day)
    filler = fill(state)
    read = has_read(daemon)
    day.session(LOG, "Let us begin", LINKS, *CHATTER[:3], output="x" * TRIED)
    wait_for("it to try", lambda: has_read(daemon) > read + TRIED)
    _work(day, NOTES, LINKS)
    _chat(day, 1)
    assert not day.is_read()
    filler.unlink()
    _wait_until_settled(day)
    assert "full" in day.program.json("status")["last_error"]["message"]


def _crash(day: Day, daemon: int) -> None:
    """Four sessions; the daemon is killed in the middle of judging the first, and is away for the others."""
    day.session("", "hello", TABS, *CHATTER[:3])
    _work(day, NEWS, EMOJI)
    wait_for("a worker", lambda: workers_of(day.home), every=0.01)
    apart.tell(signal.SIGKILL, daemon)
    wait_for("everything to be gone with it", lambda: not _left_over(day))
    _chat(day, 2)


def _evening(day: Day) -> None:
    """Twelve sessions; a short one waits for the next day."""
    _chat(day, 10)
    day.session(NEWS, "Let us begin", LINKS, "ok")
    _chat(day, 1)


def _chat(day: Day, sessions: int) -> None:
    for _ in range(sessions):
        day.session(NOTES, "now run it again", *CHATTER[:4])


def _work(day: Day, skill: str, lasting: str) -> Path:
    return day.session(skill, "Let us begin", lasting, *CHATTER[:3])


def _wait_until_settled(day: Day) -> None:
    wait_for("all of it to be judged", day.is_idle, every=0.2, context=day.program.output)


def _left_over(day: Day) -> list[bytes]:
    return [command for command in processes_of(day.home).values() if b"skilld" in command]
