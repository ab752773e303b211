"""The person's settings: a TOML file, overridden by `SKILLD_*` variables, overridden by flags. Read once.

Only programs read settings; other code gets plain values. Importing this module takes about 150 ms (pydantic-settings),
so the command line imports it when a verb needs it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from skilld.agents import ADAPTERS
from skilld.classify.backends.choose import Choice, choose
from skilld.clock import parse_hours
from skilld.errors import UsageError
from skilld.settings_file import line_of, read_file
from skilld.types import TargetKind

VARIABLE_PREFIX = "SKILLD_"  # the prefix of their names
BUILT_IN_MODELS = ("auto", "offline", "agent")
_MODEL_PATTERN = re.compile(r"[\w.-][\w.:/@+-]*", re.ASCII)  # as litellm's list of models writes them


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Batch(_Section):
    """When the turns of a session are judged."""

    turns: int = Field(5, ge=1, le=50, description="number of your messages in a batch")
    idle_minutes: float = Field(
        10, ge=0, le=1440, description="minutes without activity after which a smaller batch is judged"
    )


class Notify(_Section):
    """Desktop notices."""

    enabled: bool = Field(default=True, description="show a desktop notification when something needs your decision")
    per_day: int = Field(12, ge=1, le=200, description="maximum notifications per day")
    minutes_between: float = Field(15, ge=0, le=720, description="minimum minutes between two notifications")
    quiet_hours: str = Field("", description="quiet hours in local time, such as 22:00-08:00")
    words: bool = Field(default=False, description="include the change and your own words in notifications")

    @field_validator("quiet_hours")
    @classmethod
    def _two_times(cls, hours: str) -> str:
        if hours and parse_hours(hours) is None:
            raise ValueError("must be two different times, such as 22:00-08:00")
        return hours

    @property
    def quiet(self) -> tuple[int, int] | None:
        """The quiet hours as two minutes of the day, None if there are none."""
        return parse_hours(self.quiet_hours)


_MIN_MEMORY_MB = 128  # MB: with less not even the offline rules get through


class Worker(_Section):
    """Limits of the process that judges one batch."""

    seconds: float = Field(300, ge=1, le=3600, description="time limit per job, in seconds")
    attempts: int = Field(4, ge=1, le=20, description="attempts before giving up on a batch")
    memory_mb: int = Field(2048, ge=0, le=1_000_000, description="memory limit per job, in MB; 0 for no limit")
    processor_seconds: float = Field(
        120, ge=0, le=3600, description="CPU time limit per job, in seconds; 0 for no limit"
    )

    @field_validator("memory_mb")
    @classmethod
    def _enough(cls, megabytes: int) -> int:
        if 0 < megabytes < _MIN_MEMORY_MB:
            raise ValueError(f"must be at least {_MIN_MEMORY_MB}, or 0 for no limit")
        return megabytes


class Budget(_Section):
    """What model calls may cost on one day of the person's; 0 switches a limit off."""

    calls: int = Field(60, ge=0, description="maximum model calls per day; 0 for no limit")
    tokens: int = Field(400_000, ge=0, description="maximum tokens per day, input and output; 0 for no limit")
    usd: float = Field(
        1.0, ge=0, allow_inf_nan=False, description="maximum dollars per day, if the price is known; 0 for no limit"
    )


class Accept(_Section):
    """Who may decide. Only valid in the settings file: an agent could easily set a variable."""

    by_agents: bool = Field(default=False, description="let agents and scripts run accept, reject and revert")
    terminals: list[str] = Field(default_factory=list, description="programs to treat as your own terminals")


def _split_names(value: object) -> object:
    """Accept names separated by commas as a list, as people write them in a variable."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _absolute_folder(folder: Path) -> Path:
    """Return a folder with `~` resolved. A relative path is refused: it would depend on the current folder."""
    try:
        found = folder.expanduser()
    except RuntimeError as error:
        raise ValueError(f"{folder}: no such user") from error
    if "\0" in str(found):
        raise ValueError("a path cannot contain a NUL character")
    if not found.is_absolute():
        raise ValueError(f"{folder} is not an absolute path")
    return found


def _absolute_folders(folders: list[Path]) -> list[Path]:
    return [_absolute_folder(folder) for folder in folders]


Names = Annotated[list[str], NoDecode, BeforeValidator(_split_names)]
Folders = Annotated[list[Path], NoDecode, BeforeValidator(_split_names), AfterValidator(_absolute_folders)]
Targets = Annotated[list[TargetKind], NoDecode, BeforeValidator(_split_names)]


class Limits(_Section):
    """The maximum size of files that agents load."""

    tokens: int = Field(
        0, ge=0, description="maximum tokens in one instruction file or skill; 0 for the agents' own limits only"
    )


class Auto(_Section):
    """What is applied without asking, as a separate commit: only confident additions of plain words."""

    skills: Names = Field(
        default_factory=list, description="skills to edit without asking even if `apply` is set to stage"
    )
    confidence: float = Field(
        0.8, ge=0, le=1, description="minimum confidence for an edit to be applied without asking, 0 to 1"
    )
    targets: Targets = Field(
        default_factory=lambda: [TargetKind.SKILL],
        description="kinds of files to edit without asking (same values as `targets`)",
    )


class Mine(_Section):
    """Automatic mining of past sessions."""

    nightly: bool = Field(default=False, description="look for skills in past sessions once a night")
    auto_domain_skill: Folders = Field(
        default_factory=list, description="projects whose facts are collected in one skill per project"
    )


class Team(_Section):
    """Sharing rules with the team of a repository."""

    repositories: Folders = Field(
        default_factory=list, description="repositories whose teams you joined; set by `skilld team join`"
    )
    auto_pr: Literal["never", "weekly"] = Field(
        "never", description="weekly: open or update the team's pull request once a week without asking"
    )


class Machines(_Section):
    """Syncing one person's decisions between their machines."""

    remote: str = Field("", description="the remote your machines sync through; set by `skilld machines join`")


class Lifecycle(_Section):
    """The handling of skills that skilld creates."""

    mode: Literal["create_or_update", "create_new"] = Field(
        "create_or_update",
        description="create_or_update: extend a similar skill if there is one; create_new: always create one",
    )
    max_evolving: int = Field(10, ge=0, description="maximum number of skilld-created skills to offer to agents")
    order: Literal["recency", "relevance"] = Field(
        "recency", description="which skilld-created skills to offer: the latest, or the most relevant to the project"
    )


class Settings(BaseSettings):
    """All settings and their defaults."""

    model_config = SettingsConfigDict(
        extra="forbid", frozen=True, env_prefix=VARIABLE_PREFIX, env_nested_delimiter="__", protected_namespaces=()
    )
    _reads_variables: ClassVar[bool] = True

    model: str = Field(
        "auto",
        min_length=1,
        description="the judge: auto, offline, agent, an agent's program (cli:claude, cli:codex, ...), or a model as "
        "PROVIDER/NAME (openai/gpt-5-mini, anthropic/claude-haiku-4-5, ollama_chat/NAME, ... as litellm names them)",
    )
    model_base_url: str | None = Field(None, description="the model's endpoint, if not the provider's default")
    model_api_key: str | None = Field(
        None, repr=False, description="API key (default: the provider's own environment variable)"
    )
    apply: Literal["stage", "auto"] = Field(
        "stage",
        description="stage: every edit waits for you; auto: simple, high-confidence edits are applied immediately",
    )
    targets: Targets = Field(
        default_factory=lambda: list(TargetKind), min_length=1, description="kinds of files to propose edits for"
    )
    batch: Batch = Batch()
    notify: Notify = Notify()
    worker: Worker = Worker()
    budget: Budget = Budget()
    accept: Accept = Accept()
    limits: Limits = Limits()
    auto: Auto = Auto()
    mine: Mine = Mine()
    lifecycle: Lifecycle = Lifecycle()
    team: Team = Team()
    machines: Machines = Machines()
    roots: dict[str, list[Path]] = Field(
        default_factory=dict, description="folders to read instead of the agent's default folders"
    )

    @field_validator("model")
    @classmethod
    def _known_back_end(cls, model: str) -> str:
        """Refuse what cannot be a back-end. Only the provider knows whether it has the model."""
        from skilld.classify.backends.agent_cli.clients import CLIENTS, PREFIX, parse_model

        if model.startswith(PREFIX):
            try:
                parse_model(model)
            except UsageError as error:
                raise ValueError(error.cause) from None
        elif not _MODEL_PATTERN.fullmatch(model) or model.endswith("/"):
            raise ValueError("not a valid model name")
        elif model in CLIENTS:
            raise ValueError(f"{model!r} is not a model (did you mean {PREFIX}{model}?)")
        elif model not in BUILT_IN_MODELS and (near := suggestion(model, BUILT_IN_MODELS, cutoff=0.75)):
            raise ValueError(f"{model!r} is not a model{near}")
        return model

    @field_validator("model_base_url")
    @classmethod
    def _is_http(cls, url: str | None) -> str | None:
        if url and not re.match(r"https?://[^/\s]", url):
            raise ValueError("must begin with http:// or https://, and a host")
        return url

    @field_validator("roots", mode="before")
    @classmethod
    def _one_folder(cls, roots: object) -> object:
        """Accept one folder as a list of one, as people write it in a variable."""
        if not isinstance(roots, dict):
            return roots
        return {name: [value] if isinstance(value, str) else value for name, value in roots.items()}

    @field_validator("roots")
    @classmethod
    def _known_agents(cls, roots: dict[str, list[Path]]) -> dict[str, list[Path]]:
        named = {name.replace("_", "-"): folders for name, folders in roots.items()}
        if unknown := [f"unknown agent {name!r}{suggestion(name, ADAPTERS)}" for name in named if name not in ADAPTERS]:
            raise ValueError("; ".join(unknown))
        return {name: _absolute_folders(folders) for name, folders in named.items()}

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Exclude .env files and secret folders: a project must not configure skilld."""
        del env_settings, dotenv_settings, file_secret_settings
        return (_WithoutAccept(settings_cls), init_settings) if cls._reads_variables else (init_settings,)


class _WithoutAccept(EnvSettingsSource):
    """The variables, except those about who may decide."""

    def __call__(self) -> dict[str, Any]:
        """Return what the variables set."""
        return {name: value for name, value in super().__call__().items() if name != "accept"}


def suggestion(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a clause with the known word that is most similar to a mistyped one, "" if none is similar."""
    import difflib  # only needed for mistyped words

    found = difflib.get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return f" (did you mean {found[0]}?)" if found else ""


def load_file(path: Path) -> Settings:
    """Return the settings of the file at `path` (or the defaults), overridden by the environment.

    Raises UsageError with the key, what is wrong with it and the nearest known key.
    """
    _check_variables(os.environ)
    return validate(read_file(path), f"Fix {path}.", file=path)


class _FileSettings(Settings):
    """The settings of a file without the variables."""

    model_config = SettingsConfigDict(defer_build=True)  # only a verb that checks the file alone needs it
    _reads_variables: ClassVar[bool] = False


def validate(values: Mapping[str, Any], remedy: str, *, variables: bool = True, file: Path | None = None) -> Settings:
    """Return the settings of `values`, with `variables` overridden by the environment; UsageError with `remedy`.

    A variable would hide that the file's value of the same name is invalid. The error names the line of `file`.
    """
    # The library would treat names like _env_file as its own arguments.
    unknown = sorted(key for key in values if key not in Settings.model_fields)
    wrong = [("", f"unknown setting {key}{suggestion(key, setting_keys())}{line_of(file, key)}") for key in unknown]
    known = {key: value for key, value in values.items() if key not in unknown}
    found: Settings | None = None
    try:
        found = Settings(**known) if variables else _FileSettings(**known)
    except ValidationError as error:
        wrong += [_describe_error(item, file, os.environ if variables else {}) for item in error.errors()]
    except SettingsError:
        name = f"{VARIABLE_PREFIX}ROOTS"
        wrong.append((name, f"{name} is not a JSON object"))
    if found is not None and not wrong:
        return found
    names = ", ".join(dict.fromkeys(name for name, _ in wrong if name))
    remedies = [remedy] if not all(name for name, _ in wrong) else []
    remedies += [f"Change or unset {names}."] if names else []
    raise UsageError("Invalid setting", "; ".join(told for _, told in wrong), " ".join(remedies))


def parse_value(key: str, text: str) -> Any:  # noqa: ANN401 - a value of TOML
    """Convert the text that a person typed for `key` (one of `keys`) to the key's type; unchanged if invalid."""
    lists = {"accept.terminals", "auto.skills", "mine.auto_domain_skill", "team.repositories"}
    if key.startswith("roots.") or key in lists:
        return [part.strip() for part in text.split(",")]
    field = _field_of(key.split("."))
    try:
        return TypeAdapter[Any]((field and field.annotation) or str).validate_python(text)
    except ValidationError:
        return text


def setting_keys() -> dict[str, str]:
    """Return every key in dotted form with its description."""
    found: dict[str, str] = {}
    for name, field in Settings.model_fields.items():
        inner = dict.fromkeys(ADAPTERS, field) if name == "roots" else _fields_in(field)
        below = {f"{name}.{sub}": one.description or "" for sub, one in inner.items()}
        found |= below or {name: field.description or ""}
    return found


def _fields_in(section: FieldInfo) -> dict[str, FieldInfo]:
    """Return the settings in a section; none if it is a setting itself."""
    kind = section.annotation
    return kind.model_fields if isinstance(kind, type) and issubclass(kind, BaseModel) else {}


def _field_of(key: Iterable[str]) -> FieldInfo | None:
    """Return the setting with this key, given in parts."""
    fields, field = Settings.model_fields, None
    for name in key:
        field = fields.get(name)
        fields = _fields_in(field) if field else {}
    return field


def setting_choices(key: str) -> list[str]:
    """Return the possible values of a setting if there are few, otherwise none."""
    field = _field_of(key.split("."))
    kind = field.annotation if field else None
    if kind is bool:
        return ["true", "false"]
    if key.rpartition(".")[2] == "targets":
        return [one.value for one in TargetKind]
    return [str(one) for one in get_args(kind)] if get_origin(kind) is Literal else []


def variable_of(key: str) -> str:
    """Return the name of the environment variable that overrides a setting."""
    return VARIABLE_PREFIX + key.upper().replace(".", "__").replace("-", "_")


def _check_variables(environment: Mapping[str, str]) -> None:
    known = {variable_of(key) for key in [*setting_keys(), "roots"]}
    ours = [name for name in environment if name.upper().startswith(VARIABLE_PREFIX)]
    if unknown := [name for name in ours if name.upper() not in known | {"SKILLD_CHILD"}]:
        told = "; ".join(f"unknown setting {name}{suggestion(name, known)}" for name in unknown)
        remedy = f"If it is not meant for skilld: unset {' '.join(unknown)}"
        raise UsageError("Invalid environment variable", told, remedy)


def _describe_error(item: Mapping[str, Any], file: Path | None, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the variable that an invalid value comes from, "" if it is `file`, and what is wrong."""
    key = ".".join(part for part in item["loc"] if isinstance(part, str))
    if item["type"] == "extra_forbidden":
        return "", f"unknown setting {key}{suggestion(key, setting_keys())}{line_of(file, key)}"
    wrong = f", not {item['input']!r}" if len(item["loc"]) > 1 and isinstance(item["loc"][-1], int) else ""
    allowed = _allowed_values(item["type"], item["loc"], item.get("ctx", {})) or item["msg"]
    name, line = variable_of(key), line_of(file, key)
    names = [one for one in environment if one.upper() == name or (not line and one.upper().startswith(f"{name}__"))]
    return (names[0], f"{names[0]}: {allowed}{wrong}") if names else ("", f"{key}: {allowed}{wrong}{line}")


_TYPE_MESSAGES = {
    "string_too_short": "cannot be empty",
    "too_short": "cannot be empty (to stop proposals: skilld pause)",
    "string_type": "must be text",
    "list_type": "must be a list",
    "dict_type": "must be a table of settings",
    "model_type": "must be a table of settings",
}


def _allowed_values(wrong: str, key: tuple[int | str, ...], context: Mapping[str, Any]) -> str:
    """Return a full description of the allowed values, where pydantic has only the fault; "" if unknown."""
    if wrong == "value_error":
        return str(context["error"])
    if wrong in {"literal_error", "enum"}:
        return f"must be {context['expected']}".replace("'", "")
    if wrong in _TYPE_MESSAGES:
        return _TYPE_MESSAGES[wrong]
    field = _field_of(map(str, key))
    if field is None or field.annotation not in {bool, int, float}:
        return ""
    if field.annotation is bool:
        return "must be true or false"
    limits = {type(limit).__name__: limit for limit in field.metadata}
    lowest, highest = (getattr(limits.get(name), name.lower(), None) for name in ("Ge", "Le"))
    number = "a whole number" if field.annotation is int else "a number"
    if lowest is None:
        return f"must be {number}"
    limits_text = f"of at least {lowest}" if highest is None else f"from {lowest} to {highest}"
    return f"must be {number} {limits_text}"


def choose_back_end(settings: Settings, env: Mapping[str, str], agent: str = "", *, in_job: bool = True) -> Choice:
    """Return the back-end that works now, for a session of `agent` if given.

    One question may take half the time of a job, or all of it outside of jobs.
    """
    seconds = max(1.0, settings.worker.seconds / 2) if in_job else settings.worker.seconds
    return choose(settings.model, settings.model_base_url, settings.model_api_key, seconds, env, agent=agent)
