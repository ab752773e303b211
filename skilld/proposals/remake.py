"""A proposal made anew from what was said, where its edit has no place in the skill as the person has it now.

The offline back-end judges, whichever one made the proposal: nothing leaves the machine for a look at git, and what it
cannot do stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

from skilld.classify.backends import OFFLINE, Spec, make
from skilld.classify.verify import Checked
from skilld.errors import SkilldError
from skilld.paths import places
from skilld.pipeline.documents import Loaded
from skilld.pipeline.edits import compose
from skilld.proposals.fitted import REMADE
from skilld.redact import Redactor
from skilld.settings.redaction_key import load_key
from skilld.types import Proposal, SkillDoc, SkillRef, Update


def made_from_update(proposal: Proposal, current: bytes) -> Proposal | None:
    """Return the proposal with operations for the skill's text as it is now; None where no edit passes the checks.

    Only for one update with one quote: which of several a quote justifies is not kept.
    """
    if proposal.creates or len(proposal.evidence) != 1:
        return None
    quote = proposal.evidence[0].quote
    update = Update(1, "", proposal.summary, proposal.reason, proposal.kind, 1, quote, proposal.confidence)
    try:
        doc = SkillDoc(1, proposal.skill, proposal.path, current.decode("utf-8-sig"))
        loaded = Loaded(SkillRef(proposal.skill, proposal.path), current, doc)
        redact = Redactor(load_key(places().redaction_key)).redact
        composed = compose(make(Spec(OFFLINE)), [Checked(update)], loaded, quote, redact, tell=False)
    except (SkilldError, UnicodeDecodeError):
        return None
    if not set(composed.flags) <= set(proposal.flags):
        return None  # a person was never shown these
    return replace(proposal, operations=composed.operations, commit="", base="", note=REMADE)
