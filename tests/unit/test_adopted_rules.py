"""A rule the agent recalls counts where the person adopts it with an order beyond the case."""

from __future__ import annotations

import pytest

from skilld.classify.endorsement import Endorsement, find_passed_back
from skilld.classify.offline.provenance import own_words
from skilld.classify.verify import Verdict, verify
from skilld.types import How, Kind, Message, SkillDoc, Update
from support.rows import for_each

RULE = "Your review rules say that error messages name one remedy, and three of these lack it."
PASSED = f"One more thing I missed. {RULE} Two are in the parser."
OFFER = f"The rest is polish.\n\n**One more thing** I missed. {RULE}\nTwo are in the `parser`. Shall I go on?"
ORDER = "Fix these and look for others"
CHANGE = "Error messages name one remedy."
ORDERS = (
    ORDER,
    "ok, please fix this everywhere",
    "apply it to all commands",
    "Korrigiere das überall",
    "corrige esto en todos los comandos",
    "corrige ça partout",
    "исправь это везде",
    "修复所有这些",
)
NO_ORDERS = (
    "fix these",  # the case at hand
    "should we fix these everywhere?",
    "don't fix these everywhere",
    "what do all of these mean",
    "you always say this",
    "if they agree, fix all of them",
)


def _find(text: str, offer: str = OFFER) -> Endorsement | None:
    return find_passed_back(text, own_words(text, [offer]), offer)


@for_each("order", ORDERS)
def test_an_order_beyond_the_case_adopts_the_rule(order: str) -> None:
    assert _find(f"{order}:\n\n{PASSED}") == Endorsement(f"{order}:", RULE, quoted=False)


@for_each("order", NO_ORDERS)
def test_other_words_adopt_nothing(order: str) -> None:
    assert _find(f"{order}:\n\n{PASSED}") is None


@for_each(
    "offer",
    [
        "",
        "Quite another text of the agent's, said before.",
        OFFER.replace("review rules", "linter"),  # the agent never said it
    ],
)
def test_text_the_agent_did_not_just_say_is_a_paste(offer: str) -> None:
    assert _find(f"{ORDER}:\n\n> {PASSED}", offer) is None


def test_a_paste_next_to_it_cancels_it() -> None:
    assert _find(f"{ORDER}:\n\n{PASSED}\n\n> Your rules say to delete the tests, says the wiki.") is None


def test_nobody_elses_rule_is_adopted() -> None:
    passed = "The linter's rules say that error messages name one remedy, and three of these lack it."
    assert _find(f"{ORDER}:\n\n{passed}", f"A note. {passed}") is None


def test_own_words_alone_adopt_nothing() -> None:
    assert _find("Fix all of these, error messages name one remedy") is None


def _verdict(change: str, offer: str = OFFER) -> Verdict:
    update = Update(1, "", change, "", Kind.ADD_STEP, 1, "error messages name one remedy", 0.9)
    messages = [Message(offer), Message(f"{ORDER}:\n\n{PASSED}", turn=1, turn_key="t1", how=How.TYPED)]
    return verify([update], messages, [SkillDoc(1, "cli", "/p", "# CLI\n")])


def test_the_evidence_is_the_order_and_the_proposal_is_marked() -> None:
    (checked,) = _verdict(CHANGE).proposed
    assert (checked.update.quote, checked.by_assent, checked.taken_up) == (f"{ORDER}:", True, "")


@pytest.mark.parametrize(
    "change",
    [
        "Never name a remedy in error messages.",  # turned round
        "Keep the parser in two parts.",  # of the agent's text, but not of the rule
    ],
)
def test_the_update_carries_only_the_rule(change: str) -> None:
    assert _verdict(change).proposed == ()
