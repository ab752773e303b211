"""Lists of typed prompts: which file is taken."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from skilld.agents import ADAPTERS
from skilld.ingest import side_files

INFO = replace(ADAPTERS["codex"].INFO, typed_list=("../list.jsonl", "$TOY_STATE/toy/list.jsonl", "~/.toy/list.jsonl"))


def write_list(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_first_existing_list_is_used(tmp_path: Path) -> None:
    transcript = write_list(tmp_path / "data" / "store" / "t.jsonl", "")
    environment = {"HOME": str(tmp_path / "home"), "TOY_STATE": str(tmp_path / "state")}
    assert side_files.read_typed_list(transcript, INFO, environment) is None
    write_list(tmp_path / "home" / ".toy" / "list.jsonl", "home")
    assert side_files.read_typed_list(transcript, INFO, environment) == b"home"
    write_list(tmp_path / "state" / "toy" / "list.jsonl", "variable")
    assert side_files.read_typed_list(transcript, INFO, environment) == b"variable"
    write_list(tmp_path / "data" / "list.jsonl", "beside")
    assert side_files.read_typed_list(transcript, INFO, environment) == b"beside"
    assert side_files.read_typed_list(transcript, replace(INFO, typed_list=()), environment) is None


def test_a_relative_path_in_a_variable_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_list(tmp_path / "toy" / "list.jsonl", "here")
    assert side_files.read_typed_list(tmp_path / "a" / "b" / "t", INFO, {"TOY_STATE": "."}) is None


def test_only_a_regular_file_is_a_list(tmp_path: Path) -> None:
    transcript = write_list(tmp_path / "data" / "store" / "t.jsonl", "")
    (tmp_path / "data" / "list.jsonl").symlink_to(write_list(tmp_path / "elsewhere", "x"))
    assert side_files.read_typed_list(transcript, INFO, {}) is None
    (tmp_path / "data" / "list.jsonl").unlink()
    os.mkfifo(tmp_path / "data" / "list.jsonl")
    assert side_files.read_typed_list(transcript, INFO, {}) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_list_must_have_the_same_owner_as_the_transcript(tmp_path: Path) -> None:
    transcript = write_list(tmp_path / "data" / "store" / "t.jsonl", "")
    written = write_list(tmp_path / "data" / "list.jsonl", "x")
    os.chown(written, 65534, 65534)
    assert side_files.read_typed_list(transcript, INFO, {}) is None
    os.chown(transcript, 65534, 65534)
    assert side_files.read_typed_list(transcript, INFO, {}) == b"x"
