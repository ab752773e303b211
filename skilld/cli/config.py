"""`skilld config show | get KEY | path | set KEY VALUE | unset KEY`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from getpass import getpass
from pathlib import Path
from typing import Any

from skilld import console
from skilld.classify.backends import OFFLINE
from skilld.cli import common, terminal
from skilld.cli.settings_text import with_explanations, with_setting, without_setting
from skilld.errors import SkilldError, UsageError, cause_of
from skilld.files import write_atomically
from skilld.settings_file import read_file
from skilld.store.meta import DAEMON
from skilld.text import without_login

_ROOTS_PREFIX = "roots."  # one setting per agent; those that are not set are shown as one row
_VALUE_WIDTH = 9  # fits most values
_MASK = "***@"  # shown in place of a login


def show(arguments: argparse.Namespace) -> int:
    """Show every setting with its value, or only one, or those of one section."""
    from skilld.settings import setting_keys

    values, chosen = _values(), getattr(arguments, "key", None)
    known = {key: meaning for key, meaning in setting_keys().items() if chosen in {None, key, key.partition(".")[0]}}
    if chosen is not None and not known:
        _check_key(chosen)
    if getattr(arguments, "json", False):
        return common.write_json(_look_up(values, chosen) if chosen is not None else values)
    flat = {
        key: value
        for key in known
        if (value := _look_up(values, key)) is not None or key == chosen or not key.startswith(_ROOTS_PREFIX)
    }
    left = [key.removeprefix(_ROOTS_PREFIX) for key in known if key not in flat]
    rows = [(key, json.dumps(value), known[key]) for key, value in flat.items()]
    if left:
        meaning = f"{known[_ROOTS_PREFIX + left[0]]}; AGENT is one of {', '.join(left)}"
        rows.append((f"{_ROOTS_PREFIX}AGENT", "[]", meaning))
    own = read_file(common.places().settings_file)
    width = max(len(key) for key, _, _ in rows)
    with terminal.paged():
        for key, value, meaning in rows:
            named = f"{key:{width}}  {console.plain(value):{_VALUE_WIDTH}}"
            console.say(f"{named}  {console.paint(meaning + _origin(own, key), 'dim')}", width + _VALUE_WIDTH + 4)
    return 0


def _values() -> dict[str, Any]:
    """Return every setting as JSON, with the API key and the logins in addresses masked."""
    values: dict[str, Any] = _without_logins(common.settings().model_dump(mode="json"))
    return values | ({"model_api_key": "(set)"} if values.get("model_api_key") else {})


def _without_logins(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return {key: _without_logins(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_without_logins(one) for one in value]
    return without_login(value, _MASK) if isinstance(value, str) else value


def get(arguments: argparse.Namespace) -> int:
    """Print one value in the form that `set` takes: lists with commas, an empty line if it is not set."""
    _check_key(arguments.key)
    value = _look_up(_values(), arguments.key)
    if arguments.json:
        return common.write_json(value)
    items = ["" if one is None else one for one in (value if isinstance(value, list) else [value])]
    console.line(console.plain(",".join(one if isinstance(one, str) else json.dumps(one) for one in items)))
    return 0


def _origin(own: Mapping[str, Any], key: str) -> str:
    """Return as a clause who set a setting, with the `own` ones of the file; empty for a default."""
    from skilld.settings import variable_of

    name = next((one for one in os.environ if one.upper() == variable_of(key)), "")
    told = f"; set by {console.plain(name)}" if name else "" if _look_up(own, key) is None else "; set by you"
    return told + (_model_address_note() if key == "model_base_url" else "")


def _model_address_note() -> str:
    """Return the model's address as a clause, if it comes from the environment; empty for the provider's own."""
    from skilld.classify.backends.choose import model_address

    settings = common.settings()
    at = "" if settings.model_base_url else model_address(settings.model, None, os.environ)
    return f"; in use: {console.plain(at)}" if at else ""


def _look_up(values: Any, key: str) -> Any:  # noqa: ANN401 - JSON
    for part in key.split("."):
        values = values.get(part) if isinstance(values, dict) else None
    return values


def path(arguments: argparse.Namespace) -> int:
    """Print where the settings file is."""
    del arguments
    console.say(str(common.places().settings_file))
    return 0


def set_(arguments: argparse.Namespace) -> int:
    """Change one setting."""
    file = common.places().settings_file
    _check_key(arguments.key)
    write_setting(file, arguments.key, _read_value(arguments.key) if arguments.value == "-" else arguments.value)
    console.say(f"Set {arguments.key} in {console.message(str(file))}. {_when_effective(arguments.key)}")
    if arguments.key in {"model", "model_base_url"} and not arguments.no_check:
        named = "/" in common.settings().model  # no other judge is asked there
        if arguments.key == "model" or named:
            try_model()
    return 0


def _read_value(key: str) -> str:
    """Return a value from standard input, which no history of a shell keeps: hidden as it is typed, or one line."""
    value = getpass(f"{key}: ") if sys.stdin.isatty() else sys.stdin.readline().strip()
    if not value:
        raise UsageError("Nothing was changed", f"standard input has no value for {key}")
    return value


def try_model(*, asks_again: bool = False) -> bool:
    """Send the judge a test question, print the outcome, and return whether it can answer."""
    from skilld.classify.backends.choose import AGENT
    from skilld.health.judge_facts import model_facts
    from skilld.health.values import Trouble

    settings = common.settings()
    if settings.model == OFFLINE:
        return True
    who = "agent" if settings.model == AGENT else "model"
    if settings.model != "auto":  # auto finds no model, or an Ollama that answers at once
        console.say(f"Testing whether the {who} can answer ...")
    found = model_facts(settings, os.environ, common.store_or_empty(), time.time(), ask=True)
    trouble = found.missing or (found.answer if isinstance(found.answer, Trouble) else None)
    if found.answer is None and found.agents:
        trouble = found.agents[0][1]  # there was none to ask
    if trouble:
        console.say(f"The {who} cannot answer yet: {console.plain(trouble.what)}")
        console.say(f"  {console.plain(trouble.remedy)}")
        for other in found.others:
            console.say(f"{console.plain(other)}." if isinstance(other, str) else f"{console.plain(other.what)}")
        if not asks_again:
            console.say("The setting was saved, and skilld will try again. To choose another model: skilld setup")
    elif found.answer is not None:
        several = found.answer if settings.model == AGENT else f"The model answered a test question{found.answer}"
        console.say(f"{several}.")
        for name, one in found.agents:
            console.say(f"{name}: {console.plain(one.what)}")
            console.say(f"  {console.plain(one.remedy)}")
    _warn_of_lacking_keys()
    return trouble is None


def _warn_of_lacking_keys() -> None:
    """Say which keys of this shell the running daemon was started without: it cannot ask the model."""
    from skilld.cli.service import service_manager
    from skilld.service.values import give_key_remedy, lacking_keys

    settings = common.settings()
    if settings.model_api_key or settings.model_base_url or not common.daemon_pid():
        return
    if names := lacking_keys(os.environ, settings.model, common.store_or_empty().meta.get(DAEMON)):
        console.say(f"The running skilld was started without {', '.join(names)}, which this shell sets.")
        console.say(f"  {give_key_remedy(as_service=service_manager().state().running)}")


def edit(arguments: argparse.Namespace) -> int:
    """Open the whole file in the person's editor; an invalid result is not saved."""
    from skilld.settings import setting_keys, validate

    del arguments
    if not sys.stdin.isatty():
        remedy = "To change one setting: skilld config set KEY VALUE"
        raise UsageError("Could not open an editor", "standard input is not a terminal", remedy)
    file = common.places().settings_file
    before = file.read_bytes().decode("utf-8-sig", "replace") if file.exists() else ""
    ending = "\r\n" if "\r\n" in before else "\n"
    before = before.replace("\r\n", "\n")
    explained = {key: (_default(key), meaning) for key, meaning in setting_keys().items()}
    offered = text = with_explanations(before, explained)
    while (text := terminal.edit(text, name="config.toml")) != offered:
        try:
            values = tomllib.loads(text)
            validate(values, "", variables=False)
            _check_model_name(values.get("model", "auto"), values)
        except (tomllib.TOMLDecodeError, UsageError) as error:
            console.say(f"The file is not valid: {error.cause if isinstance(error, UsageError) else error}")
            if terminal.ask_yes_no("Edit the file again? [Y/n] ", sys.stdout, default=True):
                continue
            raise UsageError("Nothing was changed", "the file you saved is not valid") from None
        _write_file(file, text.replace("\r\n", "\n").replace("\n", ending))
        read_file(file)  # warns if others can read a key in it
        console.say(f"Wrote {console.message(str(file))}. A running daemon picks up the change within seconds.")
        return 0
    console.say("Nothing was changed.")
    return 0


def _default(key: str) -> str:
    from skilld.settings import Settings

    value = _look_up(Settings.model_construct().model_dump(mode="json"), key)
    return _toml_literal(([] if key.startswith(_ROOTS_PREFIX) else "") if value is None else value)


def unset(arguments: argparse.Namespace) -> int:
    """Remove one setting from the file."""
    file = common.places().settings_file
    key, shown = arguments.key, console.message(str(file))
    done = write_setting(file, key, None)
    console.say(f"Removed {key} from {shown}. {_when_effective(key)}" if done else f"{key} is not set in {shown}.")
    return 0


def _when_effective(key: str) -> str:
    if key == "notify.enabled" or key.startswith(_ROOTS_PREFIX):
        return "The change takes effect when skilld restarts."
    return "A running daemon picks up the change within seconds."


def write_setting(file: Path, key: str, value: str | None) -> bool:
    """Set one key of the settings file, or remove it (None), leaving all other lines as they are.

    Returns False if there was nothing to remove. Raises UsageError, with the file unchanged, if the key is unknown, the
    value is invalid, or the file sets the key in a form that cannot be edited line by line.
    """
    changed = _changed_values(file, key, value)
    if changed is None:
        return False
    values, new = changed
    if key == "model" and value:
        _check_model_name(value, values)
    text = file.read_bytes().decode("utf-8-sig") if file.exists() else ""
    ending = "\r\n" if "\r\n" in text else "\n"
    text = text.replace("\r\n", "\n")
    after = without_setting(text, key) if value is None else with_setting(text, key, _toml_literal(new))
    if not _has_values(after, values):
        cause = f"skilld cannot edit the line in {file} that sets {key}"
        raise UsageError("The setting was not changed", cause, f"Edit {file} by hand.")
    _write_file(file, after.replace("\n", ending))
    return True


def check_set(arguments: argparse.Namespace) -> None:
    """Raise UsageError if the setting cannot be set to this value."""
    _changed_values(common.places().settings_file, arguments.key, arguments.value)


def check_unset(arguments: argparse.Namespace) -> None:
    """Raise UsageError if there is no such setting."""
    _check_key(arguments.key)


def _changed_values(file: Path, key: str, value: str | None) -> tuple[dict[str, Any], Any] | None:
    """Return the file's values after a change, and the new one; None if there is nothing to remove."""
    from skilld.settings import validate

    _check_key(key)
    if value and f"//{_MASK}" in value:
        raise UsageError("Nothing was changed", f"{_MASK} replaces a login, which is not shown", "Write the login.")
    values = read_file(file)
    *outer, last = key.split(".", 1)
    target = values.setdefault(outer[0], {}) if outer else values
    if not isinstance(target, dict):
        raise UsageError("The settings file is not valid", f"{outer[0]} is not a table", f"Edit {file} by hand.")
    if value is None and last not in target:
        return None
    if value is None:
        del target[last]
    else:
        target[last] = _parse_value(key, common.as_text(value))
    validate(values, f"Nothing was changed in {file}.", variables=False)
    return values, target.get(last)


def _parse_value(key: str, text: str) -> Any:  # noqa: ANN401 - a value of TOML
    """Return the value that a person typed; a list also in the form in which `config show` prints it."""
    from skilld.settings import Settings, parse_value

    listed = key.startswith(_ROOTS_PREFIX) or isinstance(_look_up(Settings.model_construct().model_dump(), key), list)
    if listed and text.startswith("["):
        with suppress(tomllib.TOMLDecodeError):
            return tomllib.loads(f"typed = {text}")["typed"]
    return parse_value(key, text)


def _check_key(key: str) -> None:
    from skilld.settings import setting_keys, suggestion

    known = setting_keys()
    if key not in known:
        within = [name for name in known if name.startswith(f"{key}.")]
        near = f" (it is a section: {', '.join(within)})" if within else suggestion(key, known)
        raise UsageError("No such setting", key + near, "List them: skilld config show")


def _check_model_name(model: str, values: Mapping[str, Any]) -> None:
    """Refuse a model name that no provider takes, and warn of one that is merely unknown."""
    from skilld.classify.backends.names import check_name

    if told := check_name(model, own_server=bool(values.get("model_base_url")) or _has_own_server()):
        sys.stderr.write(f"skilld: {told}; if the model is new, ignore this warning\n")


def _has_own_server() -> bool:
    try:
        return bool(common.settings().model_base_url)
    except UsageError:  # invalid settings, which this command may be about to fix
        return False


def _has_values(text: str, values: dict[str, Any]) -> bool:
    """Whether a text is TOML with exactly these settings; an empty table is not a setting."""
    try:
        read, wanted = (
            {key: one for key, one in table.items() if one != {}} for table in (tomllib.loads(text), values)
        )
    except tomllib.TOMLDecodeError:
        return False
    return read == wanted


def _write_file(file: Path, text: str) -> None:
    """Replace the file's text, with mode 0600; if the file is a symlink, replace its target."""
    real = file.resolve()
    try:
        real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(real, text.encode("utf-8"), 0o600)
    except OSError as error:
        raise SkilldError("Cannot write the settings file", f"{file}: {cause_of(error)}") from error


def _toml_literal(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_toml_literal(item) for item in value)}]"
    if isinstance(value, float):
        return repr(value)  # inf is TOML and not JSON
    # JSON strings are TOML strings except for escaped surrogates and a bare DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
