"""What "never mind" takes back: the last rule, unless the person has asked for something else since."""

from __future__ import annotations

from skilld.classify.offline.retraction import without_retracted
from skilld.types import Kind, Message, Update
from support.rows import for_each

RULE = "From now on, always use tabs in Makefiles."


@for_each(
    ("since", "holds"),
    [
        ([], False),
        (["haha nice, looks great"], False),
        (["wow that was fast"], False),
        (["super, sieht gut aus"], False),
        (["świetnie, dzięki"], False),
        (["make the title bold"], True),
        (["nice, now make the title bold"], True),
        (["why is the build so slow today?"], True),
        (["haha", "cool", "great"], True),  # too long ago
    ],
)
def test_never_mind_does_not_refer_to_a_reaction(since: list[str], *, holds: bool) -> None:
    turns = [RULE, *since, "nevermind"]
    rule = Update(1, "", RULE, "", Kind.PREFERENCE, 1, RULE, 0.9)
    messages = [Message(text, turn=number) for number, text in enumerate(turns, 1)]
    assert without_retracted([rule], messages) == [rule] * holds
