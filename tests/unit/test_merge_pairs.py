"""Ten merges whose right result a person wrote down: no rule twice, none lost, the steps in order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skilld.edit.operations import apply
from skilld.library.merge import merge_skills

PAIRS = json.loads((Path(__file__).parents[1] / "data/merges.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("pair", PAIRS, ids=[pair["name"] for pair in PAIRS])
def test_each_merge_gives_the_hand_written_result(pair: dict[str, str]) -> None:
    keep, away = (f"---\nname: {name}\ndescription: Some work.\n---\n\n{pair[name]}" for name in ("keep", "away"))
    found = merge_skills(keep.encode(), away.encode(), "away", lambda text: text)
    data = keep.encode()
    for part in found.parts:
        data = apply(data, part.operations)
    body = data.decode().partition("\n---\n\n")[2]
    assert body == pair["right"]
    assert [one.why.partition(":")[0] for one in found.left] == pair.get("left", [])
