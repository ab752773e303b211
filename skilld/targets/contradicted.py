"""Finds the rules of a text that contradict what the person said. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from skilld.classify.contradiction import contradicts_clearly
from skilld.classify.outdated import is_outdated
from skilld.context.contradictions import Rule, rules
from skilld.targets.scopes import find_scopes, names_files, without_files
from skilld.types import Update


def contradicted_rules(
    updates: Sequence[Update], text: str, first: int, *, everywhere: bool = False
) -> tuple[Rule, ...]:
    """Return the rules of a text that updates contradict; `everywhere` if the text is loaded whatever the work."""
    every = list(rules(text, first))
    return tuple(
        rule for update in updates for rule in every if _contradicts_rule(update, rule.words, everywhere=everywhere)
    )


def _contradicts_rule(update: Update, rule: str, *, everywhere: bool) -> bool:
    """Whether an update contradicts a rule; one for some files is an exception to one for all files."""
    said = f"{update.quote}\n{update.change}"
    mine, theirs = find_scopes(said), find_scopes(rule)
    shared = [scope for scope in (*mine, *theirs) if names_files(said, scope) and names_files(rule, scope)]
    if (theirs or (mine and everywhere)) and not shared:
        return False
    change = update.change
    if contradicts_clearly(change, rule) or is_outdated(rule, change, update.quote):
        return True
    return any(contradicts_clearly(without_files(change, scope), without_files(rule, scope)) for scope in shared)
