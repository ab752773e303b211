"""The page of `skilld report` in Chromium: at 400 and 1400 pixels, dark and light, without an error or a request."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tools import page_pictures

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium not found on PATH"),
]


def test_the_page_of_a_year_opens_without_an_error_or_a_request(home: Path, tmp_path: Path) -> None:
    page_pictures.draw(home, tmp_path)  # ends with what the console said, or what was asked for
    taken = {path.name: path.stat().st_size for path in tmp_path.glob("report-*.png")}
    assert sorted(taken) == [
        "report-dark-narrow.png",
        "report-dark.png",
        "report-light-narrow.png",
        "report-light.png",
    ]
    assert min(taken.values()) > 50_000, "an empty page takes less"


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ("<script>console.error('odd')</script>", "odd"),
        ("<img src='http://127.0.0.1:9/picture.png'>", "picture.png"),
        ("<p>quiet</p>", ""),
    ],
)
def test_what_a_page_says_or_asks_for_is_seen(part: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(f"<body>{part}</body>", encoding="utf-8")
    said = page_pictures.shot(tmp_path / "page.html", tmp_path / "page.png", (400, 300), 1)
    assert [told in one for one in said] == ([True] * len(said) if told else [])
    assert bool(said) == bool(told)
