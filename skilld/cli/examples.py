"""The examples at the end of each command's help, with a remark if the command does not explain itself.

Every command has at least one, and every one of them parses (tests/unit/test_help.py).
"""

from __future__ import annotations

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "skilld": (
        ("skilld setup", "get started"),
        ("skilld run --backfill 7", "start now and include the last 7 days"),
        ("skilld review", "decide on the proposals"),
    ),
    "skilld run": (
        ("skilld run", "follow your agents until Ctrl-C"),
        ("skilld run --once --backfill 7", "process the last 7 days, then exit"),
    ),
    "skilld setup": (
        ("skilld setup", "answer a few questions"),
        ("skilld setup agent", "let each agent judge its own sessions"),
        ("skilld setup offline --look-back 7", "the same without questions"),
        ("skilld setup --statusline claude-code", "open proposals in its status line"),
    ),
    "skilld demo": (("skilld demo", ""),),
    "skilld status": (
        ("skilld status", ""),
        ("skilld status --check || echo 'skilld needs you'", "in a shell prompt"),
    ),
    "skilld statusline": (
        ("skilld statusline", 'prints "skilld: 2 waiting"'),
        ("skilld statusline --agent codex", "count only proposals from Codex sessions"),
    ),
    "skilld cost": (("skilld cost", ""),),
    "skilld doctor": (
        ("skilld doctor", ""),
        ("skilld doctor --ask", "also send the model one test question"),
    ),
    "skilld logs": (("skilld logs --follow", ""), ("skilld logs --lines 200", "")),
    "skilld proposals": (
        ("skilld proposals", ""),
        ("skilld proposals --state accepted,reverted", ""),
        ("skilld proposals --json", ""),
    ),
    "skilld show": (("skilld show 3f2a", "a prefix of the ID is enough"),),
    "skilld why": (
        ("skilld why CLAUDE.md:12", ""),
        ("skilld why CLAUDE.md", "the lines that proposals added"),
        ("skilld why 'use pnpm'", "the line with these words"),
    ),
    "skilld review": (
        ("skilld review", ""),
        ("skilld review 3f2a", "only this proposal"),
        ("skilld review --plain", "for a screen reader"),
    ),
    "skilld accept": (
        ("skilld accept 3f2a", "a prefix of the ID is enough"),
        ("skilld accept --all", "this repository's, and your personal ones"),
        ("skilld accept --worktree 3f2a", "write the change without committing it"),
    ),
    "skilld reject": (
        ("skilld reject 3f2a", ""),
        ("skilld reject 3f2a --why 'only for this release'", ""),
    ),
    "skilld restore": (("skilld restore 3f2a", ""),),
    "skilld revert": (("skilld revert 3f2a", ""),),
    "skilld machines": (("skilld machines join git@github.com:ada/my-skilld.git", ""), ("skilld machines status", "")),
    "skilld machines add": (("skilld machines add", "shows the rules and asks first"),),
    "skilld machines join": (
        ("skilld machines join git@github.com:ada/my-skilld.git", "asks first"),
        ("skilld machines join git@github.com:ada/my-skilld.git --name desk", ""),
    ),
    "skilld machines leave": (("skilld machines leave", ""),),
    "skilld machines status": (("skilld machines status", ""), ("skilld machines status --json", "")),
    "skilld machines sync": (("skilld machines sync", ""),),
    "skilld team": (("skilld team join", ""), ("skilld team status", "")),
    "skilld team join": (
        ("skilld team join", "shows what would be shared, and asks"),
        ("skilld team join --name ada --quotes", ""),
    ),
    "skilld team leave": (("skilld team leave", ""),),
    "skilld team pr": (
        ("skilld team pr --dry-run", "see the lines that would be proposed"),
        ("skilld team pr 3f2a9c", "propose a rule that only you have given"),
    ),
    "skilld team status": (("skilld team status", ""), ("skilld team status --json", "")),
    "skilld team sync": (("skilld team sync", ""),),
    "skilld git": (("skilld git log --oneline", ""), ("skilld git --root ~/.claude/skills status", "")),
    "skilld skills list": (
        ("skilld skills list", ""),
        ("skilld skills list --search 'release notes' --sort uses", ""),
    ),
    "skilld skills show": (("skilld skills show release-notes", ""),),
    "skilld skills history": (("skilld skills history release-notes --limit 5", ""),),
    "skilld skills diff": (
        ("skilld skills diff release-notes", "uncommitted changes"),
        ("skilld skills diff release-notes HEAD~3", ""),
    ),
    "skilld skills test": (("skilld skills test release-notes --session 0198c2d4", ""),),
    "skilld skills eval": (
        ("skilld skills eval release-notes --dry-run", "show the cases and the cost"),
        ("skilld skills eval release-notes --with 3f2a", "test this proposal"),
        ("skilld skills eval release-notes", "test the whole skill"),
    ),
    "skilld skills use": (("skilld skills use release-notes --var version=2.1", ""),),
    "skilld skills enable": (("skilld skills enable release-notes", ""),),
    "skilld skills disable": (("skilld skills disable release-notes", ""),),
    "skilld skills profile": (("skilld skills profile", ""),),
    "skilld skills archive": (("skilld skills archive release-notes", ""),),
    "skilld skills restore": (
        ("skilld skills restore", "list the archived skills"),
        ("skilld skills restore release-notes", ""),
    ),
    "skilld skills export": (("skilld skills export release-notes --out notes.yaml", ""),),
    "skilld skills import": (
        ("skilld skills import notes.yaml", ""),
        ("skilld skills import ./their-skills --only release-notes --project", ""),
    ),
    "skilld skills share": (("skilld skills share release-notes --to origin --dry-run", ""),),
    "skilld skills delete": (("skilld skills delete release-notes", ""),),
    "skilld consolidate": (
        ("skilld consolidate --dry-run", ""),
        ("skilld consolidate release-notes changelog", "merge these two skills"),
    ),
    "skilld report": (
        ("skilld report", ""),
        ("skilld report --html report.html", "a page to open in a browser"),
    ),
    "skilld effect": (
        ("skilld effect", ""),
        ("skilld effect release-notes", "the rules of one skill"),
        ("skilld effect 3f2a91c4", "everything about one rule"),
    ),
    "skilld learnings": (
        ("skilld learnings", ""),
        ("skilld learnings propose 7c01 --to AGENTS.md", ""),
        ("skilld learnings --search 'commit messages'", ""),
    ),
    "skilld mine": (
        ("skilld mine --dry-run", "report only"),
        ("skilld mine --since 30 --project .", ""),
        ("skilld mine --interactive", ""),
        ("skilld mine --reviews", "what reviewers keep asking for"),
    ),
    "skilld recommend": (("skilld recommend write the release notes", ""),),
    "skilld suggest": (("skilld suggest", ""), ("skilld suggest --hook claude-code", "")),
    "skilld record": (
        ("skilld record 'fix the flaky login test' --skill pytest", ""),
        ("skilld record --stats", ""),
    ),
    "skilld feedback": (("skilld feedback release-notes --helpful", ""),),
    "skilld sync": (
        ("skilld sync --agent claude-code", ""),
        ("skilld sync", "update every file that already has a managed block"),
    ),
    "skilld unsync": (("skilld unsync --all", ""),),
    "skilld mcp": (("skilld mcp --config codex", "print the settings to add"),),
    "skilld chat": (("skilld chat --skill release-notes", ""),),
    "skilld inspect": (
        ("skilld inspect session.jsonl", ""),
        ("skilld inspect session.jsonl --agent codex --json", ""),
        ("skilld inspect session.jsonl --explain", "each record, without its text"),
    ),
    "skilld context": (
        ("skilld context", ""),
        ("skilld context --agent codex --project ~/src/app", ""),
        ("skilld context --tokens", "count with a tokenizer"),
    ),
    "skilld trim": (
        ("skilld trim --dry-run", "show what could be removed"),
        ("skilld trim CLAUDE.md", "propose cuts to one file"),
        ("skilld trim release-notes --ask", "also ask the model"),
    ),
    "skilld eval": (("skilld eval turns --data turns.jsonl --json", ""),),
    "skilld pause": (("skilld pause", ""), ("skilld pause 2h", "")),
    "skilld resume": (("skilld resume", ""),),
    "skilld snooze": (("skilld snooze 4h", ""), ("skilld snooze off", "")),
    "skilld retry": (("skilld retry", ""),),
    "skilld completion": (
        ('eval "$(skilld completion)"', "in ~/.bashrc or ~/.zshrc"),
        ("skilld completion fish", "into ~/.config/fish/completions/skilld.fish"),
    ),
    "skilld config": (
        ("skilld config set model cli:claude", ""),
        ("skilld config set notify.quiet_hours 22:00-08:00", ""),
        ("skilld config show", ""),
    ),
    "skilld config show": (("skilld config show --json", ""),),
    "skilld config get": (("skilld config get model", ""),),
    "skilld config path": (("skilld config path", ""),),
    "skilld config edit": (("skilld config edit", ""),),
    "skilld config set": (
        ("skilld config set batch.turns 3", ""),
        ("skilld config set auto.skills release-notes,changelog", "a list"),
    ),
    "skilld config unset": (("skilld config unset batch.turns", ""),),
    "skilld service": (("skilld service install", ""), ("skilld service status", "")),
    "skilld service install": (("skilld service install --dry-run", ""),),
    "skilld service uninstall": (("skilld service uninstall", ""),),
    "skilld service start": (("skilld service start", ""),),
    "skilld service stop": (("skilld service stop", ""),),
    "skilld service status": (("skilld service status --json", ""),),
    "skilld uninstall": (("skilld uninstall --dry-run", ""), ("skilld uninstall --purge", "")),
}


def format_examples(prog: str) -> str:
    """Return the last part of a command's help, its examples; empty if it has none."""
    found = EXAMPLES.get(prog, ())
    width = max((len(typed) for typed, remark in found if remark), default=0)
    lines = [f"  {typed:{width}}  # {remark}" if remark else f"  {typed}" for typed, remark in found]
    return "\n".join(["", "examples:", *lines, ""]) if found else ""
