"""Opens the page of `skilld report` in headless Chromium and takes its pictures for docs/pictures: `make pictures`.

In: a throw-away home with a year of made-up sessions. Out: the page at 400 and 1400 pixels, in the light and in the
dark. Fails where the browser's console says anything or the page asks for anything but itself. Needs `chromium` on
PATH, and uses `pngquant` where it is there; both are Debian packages.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from skilld.report.gather import gather
from skilld.report.page import page
from skilld.store import Store
from support.year_of_use import NOW, simulate_year

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-logging=stderr"),
)
_WIDTHS = {400: 3900, 1400: 3050}  # pixels, and the height of the page at that width
_SCHEMES = {"dark": 0, "light": 1}  # as Chromium numbers them
_LIMIT = 60.0  # seconds of one picture


def draw(home: Path, pictures: Path) -> None:
    """Make the page and its pictures."""
    if shutil.which("chromium") is None:
        print("No chromium on PATH: the pictures of the report are not taken.")
        return
    store = Store.open(home / "skilld.db")
    simulate_year(home, store)
    (home / "report.html").write_text(page(gather(store, NOW), str(home)), encoding="utf-8")
    store.close()
    for scheme, number in _SCHEMES.items():
        for width, height in _WIDTHS.items():
            # A window cannot be as narrow as a telephone; a frame in it can.
            frame = home / f"frame-{width}.html"
            style = f"width:{width}px;height:{height}px;border:0"
            frame.write_text(f'<body style="margin:0"><iframe src="report.html" style="{style}"></iframe>')
            picture = pictures / f"report-{scheme}{'-narrow' if width == min(_WIDTHS) else ''}.png"
            if said := shot(frame, picture, (width, height), number):
                raise SystemExit(f"{picture.name}: {said}")
            print(f"docs/pictures/{picture.name}: {picture.stat().st_size // 1024} KiB, no request, console empty")


def shot(page: Path, picture: Path, size: tuple[int, int], scheme: int) -> list[str]:
    """Take one picture; returns what the console said and what was asked for besides the two files."""
    with tempfile.TemporaryDirectory(prefix="skilld-chromium-") as folder:
        log, profile, shot = (Path(folder) / name for name in ("net.json", "profile", "shot.png"))
        done = subprocess.run(
            [
                "chromium",
                *_FLAGS,
                f"--user-data-dir={profile}",
                f"--log-net-log={log}",
                f"--window-size={max(size[0], 500)},{size[1]}",
                f"--blink-settings=preferredColorScheme={scheme}",
                f"--screenshot={shot}",
                page.as_uri(),
            ],
            capture_output=True,
            text=True,
            check=True,
            timeout=_LIMIT,
        )
        _keep(shot, picture)
        console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
        return [*console, *_asked(log)]


def _asked(log: Path) -> Iterator[str]:
    """Yield the addresses that a page had the browser ask for: what it asks for by itself has no origin."""
    document = json.loads(log.read_text(encoding="utf-8"))
    start = document["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    for event in document["events"]:
        asked = event.get("params", {})
        if event["type"] == start and asked.get("initiator", "not an origin") != "not an origin":
            yield asked["url"]


def _keep(shot: Path, picture: Path) -> None:
    picture.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(shot, picture)
    if shutil.which("pngquant"):
        command = ["pngquant", "--force", "--strip", "--nofs", "--output", str(picture), "24", str(picture)]
        subprocess.run(command, check=True, timeout=_LIMIT)
