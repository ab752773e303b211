"""S1, S6: no content of any wrapper of any agent passes for the person's words, whatever it says, and theirs are found.

`make test` tries forty contents in each wrapper; `make soak` goes on with others (tools/soak_wrappers.py).
"""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilld.agents import ADAPTERS
from support.forged import CARRIERS, PROMPTS, check_carrier, forged_content
from support.rows import for_each

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "40"))  # contents, each in every wrapper of an agent


def test_every_wrapper_known_to_an_adapter_has_a_forged_session() -> None:
    known = {name: set(adapter.INFO.wrappers) for name, adapter in ADAPTERS.items()}
    assert all(known.values())
    assert {name: {carrier.wrapper for carrier in carriers} for name, carriers in CARRIERS.items()} == known


@for_each("prompt", PROMPTS)
@for_each("agent", CARRIERS)
def test_the_prompt_beside_harmless_content_is_found(agent: str, prompt: str) -> None:
    for carrier in CARRIERS[agent]:
        check_carrier(agent, carrier, "a = 1", prompt)


@pytest.mark.parametrize("agent", CARRIERS)
@settings(max_examples=EXAMPLES)
@given(dice=st.randoms(use_true_random=False), prompt=st.sampled_from(PROMPTS), free=st.text(max_size=20))
def test_no_word_of_the_content_counts_as_typed(agent: str, dice: random.Random, prompt: str, free: str) -> None:
    content = forged_content(dice) + free
    for carrier in CARRIERS[agent]:
        check_carrier(agent, carrier, content, prompt)
