"""`skilld service install | uninstall | start | stop | status`: run skilld whenever you are logged in."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from skilld import console
from skilld.cli import common, setup, terminal
from skilld.errors import NotRunningError, RefusedError, SkilldError
from skilld.service.install import ServiceManager, manager
from skilld.service.values import (
    TERMINAL_REMEDY,
    ServiceState,
    StartCommand,
    missing_variables,
    needed_variables,
    service_path,
)
from skilld.text import count_times

_LINGER_HINT = "The service stops when you log out. To keep it running: loginctl enable-linger"


def service_manager() -> ServiceManager:
    """Return the service manager of this machine."""
    return manager(sys.platform, dict(os.environ), common.home(), common.places().config)


def install(arguments: argparse.Namespace) -> int:
    """Install and start the service, or update it; --dry-run only shows its files."""
    manager = service_manager()
    if arguments.dry_run:
        for path, file in manager.files(_plan_start(manager, "leave")).items():
            console.say(f"# {console.message(str(path))}", style="bold")
            for text in file.data.decode().splitlines():
                console.line(console.plain(text))
        return 0
    state = manager.state()
    if state.state == "unknown" and not state.installed:  # to stop a daemon would not help
        raise SkilldError("The service was not installed", state.says, TERMINAL_REMEDY)
    _refuse_second_daemon(state)
    setup.ask_once(common.settings(), common.places().settings_file)  # the variables to keep depend on the judge
    install_service(manager, arguments.environment)
    return 0


def install_service(manager: ServiceManager, environment: str | None) -> None:
    """Install and start the service, or update it, and print the outcome; `environment` is `keep`, `leave` or None."""
    from skilld.service.install import install

    start = _plan_start(manager, environment)
    written = install(manager, start)
    for path in written:
        console.say(f"Wrote {console.message(str(path))}")
    state = manager.state()
    done = "Installed and running" if written else "Already installed and running; nothing to change"
    console.say(f"{done}. To check on it: skilld service status, skilld logs -f")
    if state.linger is False:
        console.say(_LINGER_HINT)


def _plan_start(manager: ServiceManager, consent: str | None) -> StartCommand:
    """Return how to start the service. Raises RefusedError if it would lack variables and nobody consented."""
    settings = common.settings()
    wanted = needed_variables(os.environ, settings.model, has_key=settings.model_api_key is not None)
    missing = {} if consent == "leave" else missing_variables(wanted, manager.variables(wanted))
    kept = missing if not missing or consent == "keep" or _confirm_variables(missing) else {}
    path = service_path(os.environ.get("PATH", ""))
    return StartCommand((sys.executable, "-P", "-m", "skilld"), path, kept)


def _confirm_variables(missing: Mapping[str, str]) -> bool:
    names = ", ".join(missing)
    are, them = ("is", "it") if len(missing) == 1 else ("are", "them")
    if not sys.stdin.isatty():
        keep = f"To save {them} in a file that only you can read: --environment keep"
        remedy = f"{keep}. To leave {them} out: --environment leave"
        raise RefusedError("The service was not installed", f"{names} {are} set only in this shell", remedy)
    console.say(f"{console.plain(names)} {are} set only in this shell; a service would not see {them}.")
    return terminal.ask_yes_no(f"Keep {them} for the service, in a file that only you can read? [y/N] ", sys.stdout)


def _refuse_second_daemon(state: ServiceState) -> None:
    """Raise NotRunningError if a daemon runs outside of the service: the service's own would exit at once."""
    if not state.running and (process := common.daemon_pid()):
        raise NotRunningError("skilld is already running", f"process {process}", "Stop skilld first (Ctrl-C).")


def uninstall(arguments: argparse.Namespace) -> int:
    """Stop the service and remove its files; a daemon in a terminal is reported and keeps running."""
    from skilld.service.install import uninstall

    del arguments
    removed = uninstall(service_manager())
    for path in removed:
        console.say(f"Removed {console.message(str(path))}")
    if not removed:
        console.say("The service is not installed.")
    if process := common.daemon_pid():
        console.say(f"A daemon is still running: process {process}.")
    return 0


def start(arguments: argparse.Namespace) -> int:
    """Start the installed service. Raises NotRunningError if a daemon runs outside of it."""
    del arguments
    manager = service_manager()
    state = _require_installed(manager)
    _refuse_second_daemon(state)
    if not state.running:
        manager.start()
    console.say("The service is already running." if state.running else "Started the service.")
    return 0


def stop(arguments: argparse.Namespace) -> int:
    """Stop the installed service until it is started again or the person logs in again."""
    del arguments
    manager = service_manager()
    state = _require_installed(manager)
    manager.stop()  # even if it is not running: it may be about to be restarted
    console.say("Stopped the service." if state.running else "The service was not running.")
    return 0


def _require_installed(manager: ServiceManager) -> ServiceState:
    state = manager.state()
    if not state.installed:
        remedy = "Install it: skilld service install"
        raise SkilldError("The service is not installed", f"{state.file} does not exist", remedy)
    return state


def status(arguments: argparse.Namespace) -> int:
    """Show the state of the service; the exit code is 0 even if it is not running."""
    state = service_manager().state()
    if getattr(arguments, "json", False):
        return common.write_json(asdict(state) | {"file": str(state.file)})
    if not state.installed:
        if state.state == "unknown":
            console.say(f"No service manager can be used here: {console.message(state.says)}")
            console.say("  Run skilld in a terminal instead: skilld run")
        else:
            console.say("The service is not installed. Install it: skilld service install")
        return 0
    running = console.paint("running", "green") if state.running else "not running"
    again = f", restarted {count_times(state.restarts)}" if state.restarts else ""
    console.say(f"{running}: {console.plain(state.state)}{again}")
    if state.says:
        console.say(f"status: {console.plain(state.says)}")
    console.say(f"{state.manager}: {console.message(str(state.file))}")
    if not state.enabled:
        console.say("The service does not start when you log in. To fix this: skilld service install")
    if not Path(state.program).exists():
        gone = f"Its program, {console.plain(state.program)}, no longer exists"
        console.say(f"{gone}. To fix this: skilld service install")
    if state.linger is False:
        console.say(_LINGER_HINT)
    return 0
