from __future__ import annotations

import pytest

from skilld.decide.guard import MARKERS, refuse_agent
from skilld.errors import Exit, RefusedError


@pytest.mark.parametrize("marker", sorted(MARKERS))
def test_an_agent_without_a_terminal_is_refused(marker: str) -> None:
    with pytest.raises(RefusedError, match=marker) as refused:
        refuse_agent({"PATH": "/bin", marker: "1"}, stdin_is_tty=False, allowed=False)
    assert refused.value.code is Exit.REFUSED


def test_a_terminal_or_the_configuration_allows_it() -> None:
    refuse_agent({"CLAUDECODE": "1"}, stdin_is_tty=True, allowed=False)
    refuse_agent({"CLAUDECODE": "1"}, stdin_is_tty=False, allowed=True)


@pytest.mark.parametrize(
    "env", [{}, {"CLAUDECODE": ""}, {"CLAUDECODE": "0"}, {"CODEX_HOME": "/x"}, {"CLAUDE_CONFIG_DIR": "/x"}]
)
def test_what_a_person_sets_for_an_agent_is_no_marker(env: dict[str, str]) -> None:
    refuse_agent(env, stdin_is_tty=False, allowed=False)
