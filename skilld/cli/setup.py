"""`skilld setup [MODEL]`: chooses who judges what you say to your agents, and guides the first steps."""

from __future__ import annotations

import argparse
import os
import string
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from skilld import console
from skilld.classify.backends import OFFLINE
from skilld.classify.backends.agent_cli.base import host_of
from skilld.classify.backends.agent_cli.clients import CLIENTS
from skilld.classify.backends.choose import AGENT, PROVIDERS, local_ollama, model_address
from skilld.classify.backends.names import check_name
from skilld.cli import common, permissions, terminal
from skilld.errors import Exit, UsageError
from skilld.files import find_program
from skilld.store.meta import UNAVAILABLE_JUDGES
from skilld.values import value_class

if TYPE_CHECKING:
    from pathlib import Path

    from skilld.settings import Settings

# For 100 human turns in 8 sessions, 5 of them with a skill, as counted by benchmarks/prompt.py: 30 calls. Sessions in
# which nearly every message taught something took 85 calls for 81 messages, including what is asked besides judging.
DAILY_USE = "30 to 100 calls and about 140,000 tokens for 100 messages a day"
_OFFLINE_LIMIT = 'recognizes only explicit wording, such as "from now on" or "never ... again"'
OWN_SERVER = "skilld setup openai/NAME --base-url http://localhost:8000/v1"
_SENT_TO_MODEL = "the skill in use, your instruction files and your last messages, with secrets removed"


@value_class
class Offer:
    """A possible judge: the value for the setting `model`, who that is, what is sent to whom, and the cost."""

    model: str
    title: str
    sends: str
    costs: str


def asks_nothing(arguments: argparse.Namespace) -> bool:
    """Whether these arguments change nothing: they answer no question, and there is no terminal to ask in."""
    given = arguments.model, arguments.service, arguments.look_back, arguments.statusline
    answered = any(one is not None for one in given)
    listed = arguments.json is True and arguments.model is None and arguments.statusline is None
    return listed or not (answered or sys.stdin.isatty())


def run(arguments: argparse.Namespace) -> int:
    """Go through the first steps; given only MODEL or --statusline, do just that."""
    if arguments.statusline is not None:
        from skilld.cli import statusline_setup

        statusline_setup.install_status_line(arguments.statusline)
        if arguments.model is None and arguments.service is None and arguments.look_back is None:
            return 0
    found = find_offers(os.environ)
    file = common.places().settings_file
    if arguments.model is not None:
        _save_judge(file, common.as_text(arguments.model), quiet=arguments.json, at=arguments.base_url)
    elif arguments.base_url is not None:
        raise UsageError("Missing word", "--base-url needs MODEL", f"For example: {OWN_SERVER}")
    settings = common.settings()
    if arguments.json:
        shown = {"model": settings.model, "answered": "model" in settings.model_fields_set}
        return common.write_json(shown | {"offers": [asdict(one) for one in found]})
    if arguments.model is not None:
        from skilld.cli import first_steps
        from skilld.cli.config import try_model

        if settings.model != arguments.model:
            console.say(f"SKILLD_MODEL overrides this setting in this shell: {console.plain(settings.model)}.")
        try_model()
        if arguments.service is None and arguments.look_back is None:
            first_steps.print_start()
            return 0
    elif asks_nothing(arguments):
        _print_offers(found)
        given = f"skilld setup {' | '.join(one.model for one in found)} [--service yes|no] [--look-back DAYS]"
        doubt = permissions.person_doubt()  # who may not answer is not told to
        how = permissions.remedy(doubt, ["setup"]) if doubt else f"To answer them beforehand: {given}"
        sys.stderr.write(f"skilld: setup needs a terminal to ask its questions. {how}\n")
        return Exit.USAGE
    return _run_steps(arguments, found, file)


def _run_steps(arguments: argparse.Namespace, found: Sequence[Offer], file: Path) -> int:
    """Go through the steps, each carried out as soon as it is decided on, so that leaving early keeps what was done."""
    from skilld.cli import first_steps

    asks = sys.stdin.isatty()
    first_steps.print_findings()
    steps: dict[str, Callable[[], str]] = {
        "who judges": lambda: _choose_judge(arguments, found, file, asks=asks),
        "the service": lambda: first_steps.offer_service(arguments.service, arguments.environment, asks=asks),
        "looking back": lambda: first_steps.offer_look_back(arguments.look_back, asks=asks),
    }
    done: list[str] = []
    did = ""
    for number, step in enumerate(steps.values()):
        try:
            did = step()
            done += [did] if did else []
        except (KeyboardInterrupt, _InputEndedError) as error:
            left = ", ".join([*steps][number:])
            console.line()
            console.say("Stopped. " + (f"Done so far: {'; '.join(done)}." if done else "Nothing was changed."))
            console.say(f"Still to decide: {left}. To continue: skilld setup")
            return Exit.INTERRUPTED if isinstance(error, KeyboardInterrupt) else Exit.FAILURE
    if asks:
        first_steps.offer_link()
    first_steps.print_outcome(listed=bool(did))  # the last step lists its proposals itself
    return 0


class _InputEndedError(Exception):
    """The input ended."""


def _choose_judge(arguments: argparse.Namespace, found: Sequence[Offer], file: Path, *, asks: bool) -> str:
    """Ask who judges unless an argument says so; return what was decided."""
    settings = common.settings()
    chosen = "model" in settings.model_fields_set
    if arguments.model is not None or not asks:
        return f"the judge is {console.plain(settings.model)}" if chosen else ""
    console.line()
    _print_offers(found)
    if not _ask_for_judge(found, file, settings, settings.model if chosen else ""):
        raise _InputEndedError
    settings = common.settings()
    return f"the judge is {console.plain(settings.model)}" if "model" in settings.model_fields_set else ""


def ask_once(settings: Settings, file: Path) -> bool:
    """Ask who judges, if there is a terminal, a choice, and no answer yet; return whether there is an answer now."""
    in_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    # Who judges is a setting, and only the person may change settings.
    if "model" in settings.model_fields_set or not in_terminal or permissions.calling_agent() is not None:
        return False
    found = find_offers(os.environ)
    if len(found) == 1:
        return False
    _print_offers(found)
    answered = _ask_for_judge(found, file, settings)
    console.line()
    return answered


def find_offers(environment: Mapping[str, str]) -> list[Offer]:
    """Return the possible judges: the agents themselves, a local Ollama, providers whose keys are set, the rules."""
    found = []
    if here := [client for client in CLIENTS.values() if find_program(client.program, environment)]:
        names = ", ".join(client.title for client in here)
        title = f"each agent judges its own sessions (installed: {names}); those of other agents are judged offline"
        sends = f"{_SENT_TO_MODEL}, to that agent only, through its own login"
        sends += "".join(f"; {one.title} at {where}" for one in here if (where := one.address(environment)))
        found.append(Offer(AGENT, title, sends, f"your plan or credits for that agent: {DAILY_USE}"))
    if local := local_ollama(0, environment):
        title = f"your local Ollama, {console.plain(local.model.partition('/')[2])}"
        found.append(Offer("auto", title, "nothing; it runs on this machine", "only CPU time on this machine"))
    for variable, model in PROVIDERS.items():
        if environment.get(variable):
            provider = model.partition("/")[0]
            sends = f"{_SENT_TO_MODEL}, to {model_address(model, None, environment) or provider}"
            costs = f"a few cents a day: {DAILY_USE}"
            found.append(Offer(model, f"a small {provider} model, with your {variable}", sends, costs))
    title = f"no model; {_OFFLINE_LIMIT}"
    return [*found, Offer(OFFLINE, title, "nothing", "nothing")]


def _print_offers(found: Sequence[Offer]) -> None:
    console.say("Who should judge whether something you tell an agent is worth remembering?")
    if any(_SENT_TO_MODEL in one.sends for one in found):
        console.say(f"A model is sent {_SENT_TO_MODEL}. That takes {DAILY_USE}.")
    for letter, one in zip(string.ascii_lowercase, found, strict=False):
        console.line()
        console.say(f"  {letter}  {one.model}: {one.title}", 5)
        to = one.sends.removeprefix(f"{_SENT_TO_MODEL}, to ")
        console.say(f"     {'sends' if to == one.sends else 'sent to'}: {to}", 5)
        console.say(f"     costs: {one.costs.removesuffix(f': {DAILY_USE}')}", 5)
    console.line()
    console.say(f"Your own server, or your company's: {OWN_SERVER}", style="dim")
    if all(one.model != AGENT for one in found):
        why = f"none of these is on your PATH: {', '.join(CLIENTS)}"
        console.say(f"Not available: {AGENT} (each agent judges its own sessions), because {why}", style="dim")
    console.line()


def _ask_for_judge(found: Sequence[Offer], file: Path, settings: Settings, kept: str = "") -> bool:
    """Ask for a letter or a name; Enter means the earlier choice, or the first. Return whether there was an answer.

    The chosen judge is sent a test question; if that fails the person is asked again, and Enter keeps the choice.
    """
    from skilld.cli.config import try_model

    first = kept or found[0].model
    by_answer = {letter: one.model for letter, one in zip(string.ascii_lowercase, found, strict=False)}
    by_answer |= {one.model: one.model for one in found}
    tried = ""
    later = "" if kept else " (n: decide later)"
    question = f"Type a letter, or press Enter for {console.plain(first)}{later}: "
    while (said := terminal.ask(question)) is not None:
        answer = said.strip().lower()
        if answer in {"n", "no"}:
            if not tried:
                console.say(_describe_default(settings, kept))
            return True
        if model := by_answer.get(answer) if answer else first:
            if model != tried:
                _save_judge(file, model, quiet=True)
            if model == tried or try_model(asks_again=True):
                _print_saved(file, model, answers=model != tried)
                return True
            question = f"Press Enter to keep {console.plain(model)} anyway, or type another letter: "
            tried = first = model
            continue
        console.say(f"{console.plain(said)!r} is not one of the choices.")
    console.line()
    if tried:
        _print_saved(file, tried, answers=False)
    else:
        console.say("No choice made. To choose later: skilld setup")
    return bool(tried)


def _describe_default(settings: Settings, kept: str) -> str:
    """Describe who judges if the person chooses nobody, or nobody else."""
    from skilld.settings import choose_back_end

    if kept:
        return f"Unchanged: {console.plain(kept)}. To change it: skilld setup"
    name = choose_back_end(settings, os.environ).name
    judge = f"skilld judges offline: it {_OFFLINE_LIMIT}" if name == OFFLINE else f"{console.plain(name)} judges"
    return f"Until you choose, {judge}. To choose: skilld setup"


def _save_judge(file: Path, model: str, *, quiet: bool = False, at: str | None = None) -> None:
    from skilld.cli.config import write_setting

    if at is not None:
        check_name(model, own_server=True)  # before anything is saved
        write_setting(file, "model_base_url", at)
    write_setting(file, "model", model)
    common.store_or_empty().meta.delete(UNAVAILABLE_JUDGES)  # a judge that could not be asked may be logged in now
    if not quiet:
        _print_saved(file, model)


def _print_saved(file: Path, model: str, *, answers: bool = True) -> None:
    own = common.settings().model_base_url
    at = f", at {host_of(own)}" if own and "/" in model else ""
    saved = f"saved in {console.message(str(file))}. To change it: skilld setup"
    console.say(f"Judge: {console.plain(f'{model}{at}')}, {saved}")
    if not answers:
        console.say("It cannot answer yet; skilld will try again. To test it: skilld doctor --ask")
