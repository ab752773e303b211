"""What Codex loads, measured with 0.169.0 and 0.171.0."""

from __future__ import annotations

from posixpath import join

from skilld.context.resolution import Resolution, Workspace, string_list, value_at
from skilld.context.values import Kind, Scope, Segment, plain_segments

NEWEST = "0.171.0"
_MAX_BYTES = 32_768  # of all project files together
_NAMES = ("AGENTS.override.md", "AGENTS.md")


def resolve(where: Workspace) -> Resolution:
    """Return what is loaded, in order."""
    found = Resolution(where)
    personal = where.toml(join(where.own, "config.toml"))
    trusted = value_at(personal, "projects", where.root or where.project, "trust_level") != "untrusted"
    project = where.toml(join(where.root or where.project, ".codex/config.toml")) if trusted else {}
    settings = personal | project
    names = [name for name in _NAMES if found.has_content(join(where.own, name))]
    if names:
        found.add(join(where.own, names[0]), Scope.PERSONAL)
    if len(names) > 1:
        found.add_surprise(
            Kind.HIDDEN, join(where.own, "AGENTS.md"), "an override file is read instead", by=join(where.own, _NAMES[0])
        )
    _add_project_files(found, settings)
    if value_at(personal, "features", "memories") is True:
        found.add(join(where.own, "memories/memory_summary.md"), Scope.MEMORY)
    return found


def _add_project_files(found: Resolution, settings: dict[str, object]) -> None:
    where = found.where
    markers = string_list(settings.get("project_root_markers")) or [".git"]
    roots = (
        folder for folder in where.folders_up() if any(where.files.exists(join(folder, marker)) for marker in markers)
    )
    limit = settings.get("project_doc_max_bytes")
    left = [limit if isinstance(limit, int) else _MAX_BYTES]
    names = (
        *_NAMES,
        *(name for name in string_list(settings.get("project_doc_fallback_filenames")) if "/" not in name),
    )
    for folder in where.folders_up(next(roots, where.project))[::-1]:
        there = [name for name in names if where.files.read(join(folder, name)) is not None]
        if not there:
            continue
        path = join(folder, there[0])
        found.add(path, Scope.PROJECT, view=lambda text, path=path: _cut_to_limit(found, path, text, left))  # type: ignore[misc]
        empty = not found.has_content(path)
        for name in there[1:]:
            if found.has_content(join(folder, name)) and name in _NAMES:
                why = f"{there[0]}, which {'is empty' if empty else 'is in the same folder'}, is read instead"
                found.add_surprise(Kind.HIDDEN, join(folder, name), why, by=path)


def _cut_to_limit(found: Resolution, path: str, text: str, left: list[int]) -> tuple[Segment, ...]:
    data = text.encode()
    kept = data[: left[0]].decode("utf-8", "ignore")
    if len(data) > left[0]:
        found.add_surprise(
            Kind.CUT,
            path,
            f"the last {len(data) - left[0]} of its {len(data)} bytes exceed the combined limit for all files",
        )
    left[0] = max(0, left[0] - len(data))
    return plain_segments(kept)
