"""What Codex loads, measured with 0.169.0."""

from __future__ import annotations

from posixpath import join

from skilld.context.gather import Resolution, Where, at, strings
from skilld.context.values import Kind, Scope, Segment

NEWEST = "0.169.0"
_MAX_BYTES = 32_768  # of all project files together
_NAMES = ("AGENTS.override.md", "AGENTS.md")


def resolve(where: Where) -> Resolution:
    """Return what is loaded, first to last."""
    found = Resolution(where)
    personal = where.toml(join(where.own, "config.toml"))
    trusted = at(personal, "projects", where.root or where.project, "trust_level") != "untrusted"
    project = where.toml(join(where.root or where.project, ".codex/config.toml")) if trusted else {}
    settings = personal | project
    said = [name for name in _NAMES if found.is_there(join(where.own, name))]
    if said:
        found.add(join(where.own, said[0]), Scope.PERSONAL)
    if len(said) > 1:
        found.tell(
            Kind.HIDDEN, join(where.own, "AGENTS.md"), "an override file is read instead", by=join(where.own, _NAMES[0])
        )
    _project(found, settings)
    if at(personal, "features", "memories") is True:
        found.add(join(where.own, "memories/memory_summary.md"), Scope.MEMORY)
    return found


def _project(found: Resolution, settings: dict[str, object]) -> None:
    where = found.where
    markers = strings(settings.get("project_root_markers")) or [".git"]
    roots = (folder for folder in where.up() if any(where.files.exists(join(folder, marker)) for marker in markers))
    limit = settings.get("project_doc_max_bytes")
    left = [limit if isinstance(limit, int) else _MAX_BYTES]
    names = (*_NAMES, *(name for name in strings(settings.get("project_doc_fallback_filenames")) if "/" not in name))
    for folder in where.up(next(roots, where.project))[::-1]:
        there = [name for name in names if where.files.read(join(folder, name)) is not None]
        if not there:
            continue
        path = join(folder, there[0])
        found.add(path, Scope.PROJECT, view=lambda text, path=path: _cut(found, path, text, left))  # type: ignore[misc]
        empty = not found.is_there(path)
        for name in there[1:]:
            if found.is_there(join(folder, name)) and name in _NAMES:
                why = f"{there[0]}, which {'is empty' if empty else 'is in the same folder'}, is read instead"
                found.tell(Kind.HIDDEN, join(folder, name), why, by=path)


def _cut(found: Resolution, path: str, text: str, left: list[int]) -> tuple[Segment, ...]:
    data = text.encode()
    kept = data[: left[0]].decode("utf-8", "ignore")
    if len(data) > left[0]:
        found.tell(
            Kind.CUT,
            path,
            f"the last {len(data) - left[0]} of its {len(data)} bytes exceed the combined limit for all files",
        )
    left[0] = max(0, left[0] - len(data))
    return (Segment(1, kept),) if kept.strip() else ()
