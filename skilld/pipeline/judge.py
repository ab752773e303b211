"""Judges one batch, from messages and skills to checked edits: everything except reading and git.

What `skilld eval` scores is this, so that the figures say what would be proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from skilld.classify.backends import Backend
from skilld.classify.offline.placement import target_section
from skilld.classify.offline.provenance import own_words
from skilld.classify.said_already import says_already
from skilld.classify.talk import is_of_project, talk_apart
from skilld.classify.verify import NOT_SURE, Checked, Verdict, verify
from skilld.errors import RefusedError, RetryError, SkilldError
from skilld.pipeline.documents import Loaded
from skilld.pipeline.edits import Composed, adds, apart, compose
from skilld.types import Kind, Message, SkillDoc, TargetKind, Update
from skilld.words import content_stems, share_held

Redact = Callable[[str], str]
Own = Callable[
    [Loaded], Loaded | None
]  # what takes words about the person that were meant for a file; itself, if any may
# Content words of a change made of nothing but the quote's own words: with fewer it is "ok, go on" or "do that".
_SAYS_SOMETHING = 3
_NOT_SAID = "the edited skill still does not say this"
NO_EDIT = "no edit says this the way you did"
UNCHECKED = "could not check again whether it says what you said"


class Judge:
    """One batch before one back-end. Messages and instructions come redacted."""

    def __init__(
        self,
        backend: Backend,
        messages: Sequence[Message],
        skills: Sequence[Loaded],
        instructions: str,
        redact: Redact,
        *,
        own: Own = lambda named: named,
    ) -> None:
        self._backend = backend
        self._messages = messages
        self._skills = skills
        self._instructions = instructions
        self._redact = redact
        self._own = own
        self._meant: dict[
            tuple[str, str], bool | None
        ] = {}  # of a change and what it rests on: whether both say the same
        self.unusable: list[str] = []

    def verdict(self) -> Verdict:
        """Ask once, and check what comes back. What was left out of the answer, and why, is kept in `unusable`."""
        verdict, self.unusable = self._ask(self._docs())
        docs = self._docs()  # with the person's own file, if words for it came
        if verdict.foreign:
            again = self._reworded(verdict, docs)
            # What could be said in the person's own words after all was no fault.
            heard = again.proposed or again.learned or again.doubtful
            if heard:
                lost = tuple(one for one in verdict.lost if one[0] not in verdict.foreign)
                verdict = replace(verdict, faults=tuple(_not_sure(verdict)), lost=lost)
            verdict += again
        return self._decided(verdict, docs) if verdict.doubtful else verdict

    def _reworded(self, verdict: Verdict, docs: Sequence[SkillDoc]) -> Verdict:
        """Give changes in foreign words one more attempt in the person's own."""
        try:
            changes = self._backend.reword(verdict.foreign, [self._typed([update]) for update in verdict.foreign])
        except RetryError:
            raise
        except SkilldError as error:
            return Verdict(dropped=(str(error),))
        again = [
            self._clean(replace(update, change=change))
            for update, change in zip(verdict.foreign, changes, strict=False)
            if _says_something(change, update.change)
        ]
        # Why a change was dropped was said the first time.
        found = self._verify(again, docs)
        return replace(found, dropped=(), faults=tuple(_not_sure(found)))

    def _decided(self, verdict: Verdict, docs: Sequence[SkillDoc]) -> Verdict:
        """Ask which of the changes that seem turned round are; what is not known then stays a fault."""
        asked = [update for update, _ in verdict.doubtful]
        typed = [self._typed([update]) for update in asked]
        said = [
            one if ground in one else f"{ground}\n{one}"
            for one, (_, ground) in zip(typed, verdict.doubtful, strict=True)
        ]
        try:
            meant = self._backend.polarity(asked, said)
        except RetryError:
            raise
        except SkilldError:
            meant = []
        if not meant:
            return verdict
        for (update, ground), same in zip(verdict.doubtful, meant, strict=False):
            self._meant[update.change, ground] = same
        faults = tuple(fault for fault in verdict.faults if fault != NOT_SURE)
        lost = tuple(one for one in verdict.lost if one[1] != NOT_SURE)
        return replace(verdict, faults=faults, doubtful=(), lost=lost) + self._verify(asked, docs)

    def edit(self, loaded: Loaded, checked: Sequence[Checked]) -> Composed:
        """Return the edit that makes one skill say the updates, and after which the same question comes back empty.

        Where they cannot be put in together, those are that can alone: `checked` of the outcome says which. Where the
        question does not come back empty, the updates are placed word for word and it is asked once more. Raises
        SkilldError where no edit can be made, RefusedError where it must not be.
        """
        typed = self._typed([item.update for item in checked])
        try:
            composed = compose(self._backend, checked, loaded, typed, self._redact)
        except RetryError:
            raise
        except SkilldError:
            if len(checked) == 1:
                raise
            composed = apart(self._backend, checked, loaded, typed, self._redact)
        asked = self._still_asked(loaded, composed)
        if asked:
            rest = [item for item in composed.checked if item not in asked or adds(item)]
            if not rest:
                raise RefusedError("Could not make the edit", _NOT_SAID)
            unsaid = (*composed.left_out, *(item for item in asked if item not in rest))
            composed = apart(self._backend, rest, loaded, typed, self._redact)
            composed = replace(composed, left_out=(*unsaid, *composed.left_out))
            asked = self._still_asked(loaded, composed)
        if asked:
            raise RefusedError("Could not make the edit", _NOT_SAID)
        return composed if asked is not None else replace(composed, flags=(*composed.flags, UNCHECKED))

    def _still_asked(self, loaded: Loaded, composed: Composed) -> list[Checked] | None:
        """Return what the edited skill leaves unsaid of what was put in; None where that could not be asked.

        Something else of the same turns, found only now, is no reason to drop what was found first.
        """
        edited = composed.after.decode("utf-8-sig")
        try:
            verdict, _ = self._ask(self._docs(loaded, edited))
        except SkilldError:
            return None
        mine = [item.update for item in verdict.proposed if item.update.skill == loaded.doc.number]
        # A line that was to change is nearly said by the old one; the new one may be nearly the words, too.
        rest = [update for update in mine if not says_already(update.change, edited)]
        return [item for item in composed.checked if any(same_words(item.update, other) for other in rest)]

    def _ask(self, docs: Sequence[SkillDoc]) -> tuple[Verdict, list[str]]:
        updates, left_out = self._backend.detect(self._messages, docs, instructions=self._instructions)
        placed = [one for update in updates for one in self._placed(self._clean(update))]
        return self._verify(placed, [*docs, *self._docs()[len(docs) :]]), left_out

    def _placed(self, update: Update) -> list[Update]:
        """Return an update; what it says of how the agent speaks to the person as one of their own file."""
        named = next((one for one in self._skills if one.doc.number == update.skill), None)
        talk, rest = talk_apart(update.change)
        if named is None or not talk or update.kind is Kind.REMOVE_STEP or is_of_project(self._typed([update])):
            return [update]
        own = self._own(named)
        if own is named:
            return [update]
        number = None if own is None else own.doc.number
        section = target_section(talk, own.doc.text).heading if own is not None and own.doc.text.strip() else ""
        mine = replace(update, change=talk, skill=number, section=section, kind=Kind.PREFERENCE)
        return [*([replace(update, change=rest)] if rest else []), mine]

    def _verify(self, updates: Sequence[Update], docs: Sequence[SkillDoc]) -> Verdict:
        def meant(change: str, ground: str) -> bool | None:
            return self._meant.get((change, ground))

        general = [loaded.doc.number for loaded in self._skills if loaded.ref.kind is not TargetKind.SKILL]
        sure = self._backend.sure
        return verify(updates, self._messages, docs, self._instructions, sure=sure, general=general, meant=meant)

    def _docs(self, edited: Loaded | None = None, text: str = "") -> list[SkillDoc]:
        return [
            replace(loaded.doc, text=self._redact(text if loaded is edited else loaded.doc.text))
            for loaded in self._skills
        ]

    def _typed(self, updates: Sequence[Update]) -> str:
        turns = {update.turn for update in updates}
        return "\n".join(own_words(message.text) for message in self._messages if message.turn in turns)

    def _clean(self, update: Update) -> Update:
        """Redact what the model wrote: it may have put together what was apart."""
        redact = self._redact
        return replace(
            update, section=redact(update.section), change=redact(update.change), reason=redact(update.reason)
        )


def _not_sure(verdict: Verdict) -> list[str]:
    return [fault for fault in verdict.faults if fault == NOT_SURE]


def _says_something(change: str, before: str) -> bool:
    """Whether a change in the person's own words is more than a nod: "we are on arch", where Arch was spoken of."""
    said = content_stems(change)
    return len(said) >= _SAYS_SOMETHING or share_held(said, content_stems(before)) > 0


def same_words(one: Update, other: Update) -> bool:
    """Whether two updates go back to the same words of the same turn."""
    return one.turn == other.turn and (one.quote in other.quote or other.quote in one.quote)
