"""The second look: each turn is looked up in its transcript before anything is made of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skilld.mining.evidence import GONE_REASON, WITHDRAWN_REASON, Transcripts, find_refutations
from skilld.mining.session_summary import summarize
from skilld.mining.sessions import Reader, Transcript
from skilld.mining.values import Part, PartKind, Proof
from skilld.types import Kind
from support.claude_lines import prompt_line, write_transcript

RULE = "Always keep each entry under 60 characters."
TASK = "commit this, push it and open a draft PR"


def _confirm(folder: Path, part: Part, *said: str) -> list[str]:
    path = folder / "s1.jsonl"
    write_transcript(path, *(prompt_line(f"t{number}", text) for number, text in enumerate(said)))
    sessions = [replace(one, id="s1") for one in Reader(str).sessions(Transcript("claude-code", path, 0.0))]
    return [*find_refutations([part], Transcripts(sessions)).values()]


def _part(quote: str, text: str = RULE, sort: PartKind = PartKind.RULE) -> Part:
    kind = Kind.PREFERENCE if sort is PartKind.RULE else None
    return Part(sort, text, (Proof("s1", "claude-code:t0", quote),), kind)


def test_a_turn_found_in_its_transcript_is_confirmed(tmp_path: Path) -> None:
    assert _confirm(tmp_path, _part(RULE), f"{RULE} Thanks!", "go on") == []
    assert _confirm(tmp_path, _part(TASK, TASK, PartKind.REQUEST), TASK) == []


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (_part(RULE), "Keep them short."),
        (_part(RULE), f"The page says:\n> {RULE}"),
        (_part(TASK, TASK, PartKind.REQUEST), "commit this"),
    ],
)
def test_a_missing_or_untyped_turn_is_not_confirmed(tmp_path: Path, part: Part, said: str) -> None:
    assert _confirm(tmp_path, part, said) == [GONE_REASON]


def test_a_request_copied_from_the_agent_is_not_confirmed(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    offer = {"role": "assistant", "content": [{"type": "text", "text": f"Next:\n\n- **{TASK}**"}]}
    agents = prompt_line("a1", type="assistant", parentUuid="t1", origin=None, message=offer)
    write_transcript(path, prompt_line("t1", "what now?"), agents, prompt_line("t0", TASK))
    (session,) = Reader(str).sessions(Transcript("claude-code", path, 0.0))
    assert [message.by_person for message in session.messages] == [True, False, True]
    assert summarize(session, ()).tasks == ()
    transcripts = Transcripts([replace(session, id="s1")])
    assert [*find_refutations([_part(TASK, TASK, PartKind.REQUEST)], transcripts).values()] == [GONE_REASON]


def test_a_retracted_turn_is_not_confirmed(tmp_path: Path) -> None:
    assert _confirm(tmp_path, _part(RULE), RULE, "go on", "scratch that, forget the 60 characters") == [
        WITHDRAWN_REASON
    ]


def test_a_turn_of_no_session_that_was_read_is_not_confirmed() -> None:
    assert [*find_refutations([_part(RULE)], Transcripts([])).values()] == [GONE_REASON]
