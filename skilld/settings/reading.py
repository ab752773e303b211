"""Settings out of the file and the variables over it; what is not understood is told with what is nearest to it."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsError

from skilld.agents import ADAPTERS
from skilld.errors import UsageError
from skilld.files import in_shell, open_to_others, read_plain
from skilld.settings.values import VARIABLES, Settings, nearest

_NOT_SETTINGS = frozenset({"SKILLD_CHILD"})


def load(path: Path) -> Settings:
    """Return the settings of the file at `path` (absent: defaults) with the process's environment over them.

    Raises UsageError with the key, what is wrong with it and the nearest known key.
    """
    _check_variables(os.environ)
    return checked(read_file(path), f"Edit {path}, or the variable.")


class _OfFile(Settings):
    """What a file says, whatever the variables say over it."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        del settings_cls, env_settings, dotenv_settings, file_secret_settings
        return (init_settings,)


def checked(values: Mapping[str, Any], remedy: str, *, variables: bool = True) -> Settings:
    """Return the settings of `values`, with `variables` the environment over them, or raise UsageError with `remedy`.

    A variable hides the file's value of its name, and so would hide that this is none.
    """
    title = "A setting is not understood"
    # The library would take names like _env_file for arguments of its own.
    if unknown := sorted(key for key in values if key not in Settings.model_fields):
        raise UsageError(title, f"{unknown[0]} is no setting{nearest(unknown[0], keys())}", remedy)
    try:
        return Settings(**values) if variables else _OfFile(**values)
    except ValidationError as error:
        raise UsageError(title, _explain(error), remedy) from error
    except SettingsError as error:
        raise UsageError(title, f"{VARIABLES}ROOTS is no JSON object", remedy) from error


def read_file(path: Path) -> dict[str, Any]:
    """Return the settings file as written; UsageError where it is not TOML, or others decide or read what it says."""
    try:
        data, facts = read_plain(path, 1 << 20)
        values = tomllib.loads(data.decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:  # ValueError: no UTF-8, no TOML, a number of 5,000 digits
        raise UsageError("The settings file cannot be read", f"{path}: {error}", f"Mend or remove {path}.") from error
    if others := open_to_others(facts, secret="model_api_key" in values):
        remedy = f"chown it, or chmod 600 {in_shell(path)}"
        raise UsageError("The settings file cannot be trusted", f"{path} {others}", remedy)
    return values


def from_text(key: str, text: str) -> Any:  # noqa: ANN401 - a value of TOML
    """Return what a person typed for `key` (one of `keys`) as a value of that key's type; as typed where it is none."""
    if key.startswith("roots.") or key in {"accept.terminals", "auto.skills", "mine.auto_domain_skill"}:
        return [part.strip() for part in text.split(",")]
    section, _, name = key.rpartition(".")
    inner = Settings.model_fields[section].annotation if section else Settings
    fields = inner.model_fields if isinstance(inner, type) and issubclass(inner, BaseModel) else {}
    try:
        return TypeAdapter[Any](fields[name].annotation or str).validate_python(text)
    except ValidationError:
        return text


def keys() -> dict[str, str]:
    """Return every settable key in dotted form with its description."""
    found: dict[str, str] = {}
    for name, field in Settings.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            for sub, subfield in inner.model_fields.items():
                found[f"{name}.{sub}"] = subfield.description or ""
        elif name == "roots":
            found.update({f"roots.{agent}": field.description or "" for agent in ADAPTERS})
        else:
            found[name] = field.description or ""
    return found


def _check_variables(environment: Mapping[str, str]) -> None:
    known = {VARIABLES + key.upper().replace(".", "__").replace("-", "_") for key in [*keys(), "roots"]}
    for name in environment:
        if name.upper().startswith(VARIABLES) and name.upper() not in known | _NOT_SETTINGS:
            raise UsageError("A variable is not understood", f"{name} is no setting{nearest(name, known)}")


def _explain(error: ValidationError) -> str:
    parts = []
    for item in error.errors():
        key = ".".join(str(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            parts.append(f"{key} is no setting{nearest(key, keys())}")
        else:
            parts.append(f"{key}: {item['msg'].removeprefix('Value error, ')}")
    return "; ".join(parts)
