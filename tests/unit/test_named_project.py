"""Which project words are about, if they name one."""

from __future__ import annotations

import pytest

from skilld.targets.named_project import named_project, unknown_project

FOLLOWED = ["smallhours", "ripcsv", "teashop2", "docs", "churn-lab", "game", "tie"]


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
