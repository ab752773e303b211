"""Which project words are about, if they name one."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.verify import Verdict, VerifiedUpdate
from skilld.jobs.other_projects import named_project, unknown_project, without_other_projects
from skilld.protocol import AnalyseBatch, BatchJob
from skilld.types import Kind, Message, SkillRef, TargetKind, Update
from support.rows import for_each
from support.tops import make_top

FOLLOWED = ["smallhours", "ripcsv", "teashop2", "docs", "churn-lab", "game", "tie"]


@for_each(
    ("said", "name"),
    [
        ("by the way, on the blog (smallhours) never use stock photos", "smallhours"),
        ("in the ripcsv repo always put the error first", "ripcsv"),
        ("and in ripcsv always put the error first and the hint second", "ripcsv"),
        ("in ripcsv put the error first, always", "ripcsv"),
        ("for smallhours: always run pnpm check first", "smallhours"),
        ("smallhours: never use stock photos", "smallhours"),
        ("never use floats for prices in the Teashop2 repository", "teashop2"),
        ("in churn lab never print customer names", "churn-lab"),
        ("from now on, for smallhours only, never use px", "smallhours"),
        ("in the docs repo always use British English", "docs"),
        ("for my game project: never use Comic Sans in the menus", "game"),
        ("im Projekt ripcsv immer zuerst den Fehler zeigen", "ripcsv"),
        ("dans le projet smallhours, toujours lancer pnpm check", "smallhours"),
        ("like in ripcsv, always put the error first", ""),
        ("do it as in the ripcsv repo: always put errors first", ""),
        ("always use ripcsv for joins", ""),
        ("never call ripcsv in tests", ""),
        ("in docs always use British English", ""),
        ("in the game never use Comic Sans", ""),
        ("always import smallhours/config.ts first", ""),
        ("in ripcsv.toml always sort the keys", ""),
        ("in case of a tie always take the older one", ""),
    ],
)
def test_a_project_is_named_as_the_place_of_a_rule(said: str, name: str) -> None:
    assert named_project(said, FOLLOWED) == name
    assert named_project(said, FOLLOWED, present=[name.upper(), "src"]) == ""


@for_each(
    ("said", "name"),
    [
        ("in the flurb repo always squash before merging", "flurb"),
        ("in the other repo never use px", "other"),
        ("in this repo never use px", ""),
        ("in the same repo never use px", ""),
        ("in the teashop repo never use px", ""),
        ("in the web repository never use px", ""),
        ("like in the flurb repo always squash", ""),
    ],
)
def test_a_repository_is_named_that_is_not_known(said: str, name: str) -> None:
    assert unknown_project(said, present=["teashop-web", "src"]) == name


@pytest.mark.parametrize(
    ("work", "others", "theirs"),
    [
        ("mono", ["ripcsv"], True),
        ("mono/packages/ripcsv", ["ripcsv"], False),  # named as the folder that the session is in
        ("mono", ["mono/vendor/ripcsv"], False),  # a part of the session's own project
        ("ripcsv/tools", ["ripcsv"], False),
        ("mono", ["a/ripcsv", "b/ripcsv"], True),  # either may be meant
    ],
)
def test_only_a_project_apart_from_the_sessions_own_is_another(
    tmp_path: Path, work: str, others: list[str], *, theirs: bool
) -> None:
    for name in (work.partition("/")[0], *others):
        make_top(tmp_path / name)
        (tmp_path / name / "CLAUDE.md").write_text("# Rules\n")
    (tmp_path / work).mkdir(parents=True, exist_ok=True)
    batch = BatchJob(agent="claude-code", cwd=str(tmp_path / work), home=str(tmp_path))
    job = AnalyseBatch(
        batch=batch, closed_at="", backend=Spec(OFFLINE), folders=tuple(str(tmp_path / one) for one in ("", *others))
    )
    said = "in the ripcsv repo always put the error first"
    update = VerifiedUpdate(Update(1, "", said, "", Kind.PREFERENCE, 1, said))
    ref = SkillRef("CLAUDE.md", str(tmp_path / work / "CLAUDE.md"), kind=TargetKind.INSTRUCTIONS)
    left, kept = without_other_projects(Verdict((update,)), job, [Message(said, turn=1)], lambda _: ref)
    assert (left.proposed, len(kept)) == (() if theirs else (update,), int(theirs))
    assert all((place is None) == (len(others) > 1) for _, _, place in kept)
