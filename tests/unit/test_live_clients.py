"""Where the live tests look for the real clients, and when one counts as installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.live_clients import KILO_CODE, KIMI_CODE, install


def put(program: Path) -> None:
    program.parent.mkdir(parents=True)
    program.touch()


def test_a_client_is_installed_when_what_it_needs_beside_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVE_CLIENTS_DIR", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin")
    put(tmp_path / "kimi-2.1.0/node_modules/.bin/kimi")
    alone = KIMI_CODE.is_there
    put(tmp_path / "node-24.15.0/bin/node")
    assert (alone, KIMI_CODE.is_there) == (False, True)
    assert KIMI_CODE.search_path == f"{tmp_path}/node-24.15.0/bin:/usr/bin"
    assert install(KIMI_CODE) == f"@moonshot-ai/kimi-code 2.1.0: already in {tmp_path}/kimi-2.1.0"


def test_kilo_code_finds_the_ripgrep_that_it_would_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVE_CLIENTS_DIR", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin")
    folder = "rg-1.18.0/node_modules/@vscode/ripgrep-linux-x64/bin"
    assert KILO_CODE.search_path == f"{tmp_path}/{folder}:/usr/bin"
