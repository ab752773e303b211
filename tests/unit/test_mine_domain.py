"""Facts about a project become one skill of domain knowledge."""

from __future__ import annotations

from pathlib import Path

from skilld.mining.domains import draft_domain_skill, project_facts
from skilld.skills.draft import SkillKind, draft_faults, read_draft, write_draft
from skilld.store.learnings import Learning
from support.rows import for_each

SHOP = Path("/work/web-shop")
TOLD = (
    ("1", "The adapters live in src/adapters.", "fact", "/work/web-shop", None),
    ("2", "Prices are kept in cents.", "fact", "/work/web-shop/api", None),
    ("3", "The staging database is never reset.", "fact", "/work/web-shop", None),
    ("4", "Prices are kept in cents", "fact", "/work/web-shop", None),
    ("5", "Run the linter first.", "preference", "/work/web-shop", None),
    ("6", "The queue is called jobs.", "fact", "/work/other", None),
    ("7", "Tags have a leading v.", "fact", "/work/web-shop", "release"),
    ("8", "The office is in Bern.", "fact", None, None),
)


def _facts(project: Path, rows: tuple[tuple[str, str, str, str | None, str | None], ...] = TOLD) -> list[Learning]:
    learnings = [
        Learning(
            id=name,
            turn_key=f"t{name}",
            quote=f"by the way, {change}",
            change=change,
            kind=kind,
            agent="codex",
            session_id=f"s{name}",
            project=place,
            skill=skill,
            why_kept="no skill was in use",
            confidence=0.7,
            created_at=f"2026-01-0{name}T10:00:00Z",
        )
        for name, change, kind, place, skill in rows
    ]
    return project_facts(project, learnings)


def test_the_facts_of_a_project_become_one_skill_with_their_sources() -> None:
    found = draft_domain_skill(SHOP, _facts(SHOP), day="2026-01-09")
    assert found is not None
    draft, learnings = found
    assert (
        draft.body
        == """\
# web-shop

## Layout

- The adapters live in src/adapters.

## Conventions

- Prices are kept in cents

## Pitfalls

- The staging database is never reset."""
    )
    assert [learning.id for learning in learnings] == ["1", "4", "3"]
    assert (draft.name, draft.kind, draft.project) == (
        "web-shop-knowledge",
        SkillKind.KNOWLEDGE,
        "web-shop",
    )
    assert draft_faults(draft) == ()
    assert read_draft(write_draft(draft)) == draft


@for_each("rows", [TOLD[:1], TOLD[4:], ()])
def test_too_few_facts_make_no_skill(rows: tuple[tuple[str, str, str, str | None, str | None], ...]) -> None:
    assert draft_domain_skill(SHOP, _facts(SHOP, rows), day="2026-01-09") is None


def test_any_project_name_gives_a_valid_skill_name() -> None:
    rows = tuple((name, change, kind, "/srv/Mein Projekt (\u00fc)", None) for name, change, kind, _, _ in TOLD[:3])
    project = Path("/srv/Mein Projekt (\u00fc)")
    found = draft_domain_skill(project, _facts(project, rows), day="2026-01-09")
    assert found is not None
    assert found[0].name == "mein-projekt-knowledge"
    assert write_draft(found[0])
