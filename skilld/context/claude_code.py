"""What Claude Code loads, measured with 2.1.197, 2.1.330 and 2.1.332."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from posixpath import dirname, join

from skilld.context import markup
from skilld.context.markup import ImportRules, add_imports
from skilld.context.patterns import matches_path
from skilld.context.resolution import Resolution, Workspace, files_below, string_list, value_at
from skilld.context.values import Kind, LoadedFile, Scope, Segment, plain_segments, within

NEWEST = "2.1.332"
FALLBACK_SINCE = (2, 1, 277)  # reads AGENTS.md, and asks for consent to linked rules; 2.1.197 does neither
_MAX_HOPS = 4  # of imports below a file
_MAX_MEMORY_LINES, _MAX_MEMORY_BYTES = 200, 24_986
_AGENTS_MD_PLUGIN = "cc-plugin-agents-md@builtin"
_BINARY_SUFFIXES = (
    *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico", ".pdf"),
    *(".zip", ".gz", ".tar", ".mp3", ".mp4", ".mov", ".wasm", ".so", ".exe"),
)
_FOREIGN_KEYS = ("globs", "applyTo", "path", "alwaysApply")
MANAGED = (
    "/Library/Application Support/ClaudeCode/CLAUDE.md" if sys.platform == "darwin" else "/etc/claude-code/CLAUDE.md"
)


def visible_segments(text: str) -> tuple[Segment, ...]:
    """Return what is sent of a file: everything except front matter and comments on their own lines."""
    lines = markup.split_front_matter(text)[1]
    return markup.segments(markup.without_comments(lines), lines) if "<!--" in text else markup.segments(lines)


def resolve(where: Workspace) -> Resolution:
    """Return what is loaded, in order."""
    found = Resolution(where)
    if where.environment.get("CLAUDE_CODE_DISABLE_CLAUDE_MDS") != "1":
        _Resolver(found).run()
    return found


class _Resolver:
    def __init__(self, found: Resolution) -> None:
        self.found = found
        self.where = found.where
        user = self.where.json(join(self.where.own, "settings.json"))
        local = self.where.json(join(self.where.project, ".claude/settings.local.json"))
        self.excludes = [*string_list(user.get("claudeMdExcludes")), *string_list(local.get("claudeMdExcludes"))]
        self.mode = (
            value_at(user, "pluginConfigs", _AGENTS_MD_PLUGIN, "options", "instructionFiles")
            or "claude-md-or-agents-md"
        )
        off = value_at(user, "enabledPlugins", _AGENTS_MD_PLUGIN) is False
        is_new = not self.where.version or self.where.version >= FALLBACK_SINCE
        self.is_new = is_new
        self.reads_agents = is_new and not off and self.mode in {"claude-md-or-agents-md", "claude-md-and-agents-md"}
        self.remembers = user.get("autoMemoryEnabled") is not False
        # If CLAUDE_CONFIG_DIR moves the agent's folder, this file is inside it, otherwise next to it.
        moved = bool(self.where.environment.get("CLAUDE_CONFIG_DIR"))
        answers = self.where.json(join(self.where.own if moved else self.where.home, ".claude.json"))
        folders = (self.where.project, self.where.root or self.where.project)
        key = "hasClaudeMdExternalIncludesApproved"
        self.consent = any(value_at(answers, "projects", folder, key) is True for folder in folders)

    def run(self) -> None:
        self._add_file(MANAGED, Scope.MANAGED)
        if self.mode == "managed-only":
            return
        self._add_file(join(self.where.own, "CLAUDE.md"), Scope.PERSONAL)
        self._add_rules(join(self.where.own, "rules"), self.where.project, personal=True)
        chain = self.where.folders_up()[::-1]
        main = self.where.main_checkout()
        for folder in chain:
            shared = not (self.is_new and main and within(folder, main) and not within(folder, self.where.root))
            self._add_folder(folder, Scope.PROJECT, shared=shared)
        self._add_agents_md(chain)
        self._add_nested()
        if self.remembers:
            slug = re.sub(r"[^A-Za-z0-9]", "-", main or self.where.root or self.where.project)
            self._add_memory(join(self.where.own, "projects", slug, "memory/MEMORY.md"))

    def _add_folder(self, folder: str, scope: Scope, *, shared: bool = True) -> None:
        """Add the files of one folder; those of a nested one are loaded once something below it is touched."""
        below = folder if scope is Scope.NESTED else ""
        if shared:
            self._add_file(join(folder, "CLAUDE.md"), scope, below)
            self._add_file(join(folder, ".claude/CLAUDE.md"), scope, below)
            self._add_rules(join(folder, ".claude/rules"), folder, below)
        self._add_file(join(folder, "CLAUDE.local.md"), Scope.LOCAL, below)

    def _add_agents_md(self, chain: Sequence[str]) -> None:
        """Add AGENTS.md files, unless a Claude file on the path has contents."""
        names = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")
        paths = [join(folder, name) for folder in chain for name in ("AGENTS.md", ".claude/AGENTS.md")]
        ours = {join(folder, name) for folder in chain for name in names} - {join(self.where.own, "CLAUDE.md")}
        self.hider = next((file.path for file in self.found.files if file.path in ours and not file.via), "")
        if self.reads_agents and (not self.hider or self.mode == "claude-md-and-agents-md"):
            for path in paths:
                self._add_file(path, Scope.PROJECT)
            return
        for path in paths:
            there = self.where.files.read(path)
            if (
                self.hider
                and self.reads_agents
                and there
                and visible_segments(there.text)
                and there.real not in self.found.real_paths
            ):
                self.found.add_surprise(Kind.HIDDEN, path, "it is used only if there is no CLAUDE.md", by=self.hider)

    def _add_nested(self) -> None:
        for folder in self.where.nested("CLAUDE.md", ".claude", "CLAUDE.local.md", "AGENTS.md"):
            before = len(self.found.files)
            self._add_folder(folder, Scope.NESTED)
            none = not any(file.scope in {Scope.NESTED, Scope.LOCAL} for file in self.found.files[before:])
            if self.reads_agents and not self.hider and none:
                self._add_file(join(folder, "AGENTS.md"), Scope.NESTED, folder)
                self._add_file(join(folder, ".claude/AGENTS.md"), Scope.NESTED, folder)

    def _add_file(self, path: str, scope: Scope, below: str = "", paths: Sequence[str] = (), base: str = "") -> None:
        if not any(matches_path(pattern, path) for pattern in self.excludes):
            file = self.found.add(
                path, scope, view=visible_segments, folder=below or (base if paths else ""), paths=paths
            )
            if file:
                add_imports(
                    self.found,
                    file,
                    ImportRules(_MAX_HOPS, self._refusal, markup.RICH_SYNTAX, visible_segments, _BINARY_SUFFIXES),
                )

    def _refusal(self, file: LoadedFile, path: str, real: str) -> str | None:
        free = file.scope in {Scope.PERSONAL, Scope.MANAGED} or within(file.path, self.where.own) or self.consent
        if free or all(within(one, self.where.project) for one in (path, real if self.is_new else path)):
            return None
        return "is not loaded because it is outside the working folder and you have not approved that in Claude Code"

    def _add_rules(self, folder: str, base: str, below: str = "", *, personal: bool = False) -> None:
        real_base = self.where.files.real(dirname(dirname(folder)))
        for path in files_below(self.where.files, folder, ".md"):
            real = self.where.files.real(path)
            outside = not within(real, real_base) and not within(real, self.where.project)
            if outside and not personal and self.is_new and not self.consent:
                self.found.add_surprise(
                    Kind.DEAD,
                    path,
                    "leads outside the project through a symlink, which you have not approved in Claude Code",
                )
                continue
            self._add_rule(path, base, below)

    def _add_rule(self, path: str, base: str, below: str) -> None:
        text = self.where.text(path)
        if markup.split_front_matter(text)[0] is None and markup.front_entries(text.lstrip()):
            self.found.add_surprise(
                Kind.IGNORED, path, "a blank line comes before its front matter, so the file is always loaded"
            )
        keys = markup.front_entries(text)
        listed = markup.list_values(keys, "paths")
        if listed is None:
            self.found.add_surprise(Kind.NEVER, path, "its `paths` cannot be parsed, so the file is never loaded")
            return
        wrong = [key for key in _FOREIGN_KEYS if key in keys]
        if wrong and "paths" not in keys:
            words = f"`{wrong[0]}:` has no effect here, so the file is always loaded; use `paths:`"
            self.found.add_surprise(Kind.IGNORED, path, words)
        patterns = [] if listed == ["**"] else listed
        if patterns and all(pattern.startswith(("./", "/", "~")) for pattern in patterns):
            self.found.add_surprise(
                Kind.NEVER,
                path,
                f"no file can match {patterns[0]}: patterns must be relative and must not start with ./",
            )
        self._add_file(path, Scope.RULE, "" if patterns else below, patterns, base)

    def _add_memory(self, path: str) -> None:
        def start(text: str) -> tuple[Segment, ...]:
            kept = "\n".join(text.split("\n")[:_MAX_MEMORY_LINES])[:_MAX_MEMORY_BYTES]
            if len(kept) < len(text.rstrip("\n")):
                self.found.add_surprise(Kind.CUT, path, f"only its first {_MAX_MEMORY_LINES} lines or 24 kB are loaded")
            return plain_segments(kept)

        self.found.add(path, Scope.MEMORY, view=start)
