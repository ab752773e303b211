"""Judges one batch, from messages and skills to checked edits: everything except reading and git.

`skilld eval` scores this code, so that the figures show what would be proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from skilld.classify.backends import Backend
from skilld.classify.backends.offline import UNRELATED_CONFIDENCE, Offline, skills_by_use, subject_stems
from skilld.classify.backends.paid_calls import BudgetSpentError
from skilld.classify.clauses import may_state_exception
from skilld.classify.contradiction import contradicts, replace_numbers
from skilld.classify.conversation_style import PROJECT_SCOPE, is_about_project, remove_project_scope, split_conversation
from skilld.classify.offline.placement import target_section
from skilld.classify.offline.provenance import own_words
from skilld.classify.offline.release import releases
from skilld.classify.offline.relevance import WEAK_STEMS
from skilld.classify.offline.removals import with_removals
from skilld.classify.said_already import NEARLY, find_same_meaning, says_already, says_same_rule
from skilld.classify.support import is_empty_request
from skilld.classify.typed_quote import typed_quote
from skilld.classify.verify import MIN_GENERAL_CONFIDENCE, UNCLEAR_REASON, Verdict, VerifiedUpdate, verify
from skilld.errors import RefusedError, RetryError, SkilldError
from skilld.pipeline.documents import TargetDocument, as_edited
from skilld.pipeline.edits import CheckedEdit, compose, compose_separately, is_harmful, only_adds
from skilld.skills.spec import read_front
from skilld.text import Redact, join_sentences, split_sentences
from skilld.types import Kind, Message, Op, SkillDoc, TargetKind, Update
from skilld.words import content_stems, has_negation, is_other_language, matching_share

# Returns the file of a kind for words that were assigned to another file; that file itself if it may have them.
FindFile = Callable[[TargetDocument, TargetKind], TargetDocument | None]
# Content words of a change in the quote's own words: with fewer it is "ok, go on" or "do that".
_MIN_CONTENT_STEMS = 3
_CHANGES = frozenset((Kind.CHANGE_STEP, Kind.REMOVE_STEP))
_NOT_SAID_REASON = "asked again, the judge still finds that {} does not say this"
NO_EDIT_REASON = "no edit could be made that says this the way you did"
_SAID_BEFORE_REASON = "You said it in an earlier session too."
UNCHECKED_FLAG = "could not verify that it says what you said"
_BUDGET_FLAG = f"{UNCHECKED_FLAG}, because the day's budget was spent"


class NotSaidError(RefusedError):
    """The same question about the edited file still finds all of the updates."""


class Judge:
    """Judges one batch with one back-end. Messages and instructions must be redacted.

    `own` finds the file of a kind; `said_before` tells whether the person asked for an update in another session, too.
    """

    def __init__(
        self,
        backend: Backend,
        messages: Sequence[Message],
        skills: Sequence[TargetDocument],
        instructions: str,
        redact: Redact,
        *,
        own: FindFile = lambda named, _: named,
        said_before: Callable[[Update], bool] = lambda _: False,
    ) -> None:
        self._backend = backend
        self._messages = messages
        self._skills = skills
        self._instructions = instructions
        self._redact = redact
        self._own = own
        self._said_before = said_before
        # Whether a change and its evidence say the same.
        self._meant: dict[tuple[str, str], bool | None] = {}
        self.unusable: list[str] = []

    def verdict(self) -> Verdict:
        """Ask once, and check the answer. `unusable` gets the reasons for what was left out of the answer."""
        verdict, self.unusable = self._ask(self._docs())
        docs = self._docs()  # with the personal file, if an update belongs in it
        if verdict.reworded:
            verdict = self._reword(verdict, docs)
        verdict = self._ask_polarity(verdict, docs) if verdict.doubtful else verdict
        return replace(verdict, proposed=tuple(self._with_one_place_each(verdict.proposed)))

    def _with_one_place_each(self, proposed: Sequence[VerifiedUpdate]) -> Iterator[VerifiedUpdate]:
        """Yield the updates without those that add what was said once to one more file.

        What the words name stays, and so does what changes a line. Otherwise the file stays whose subject the words
        are about, then the one that the back-end is surest of, then the skill used last.
        """
        by_use: dict[int, list[int]] = {}
        for item in proposed:
            same = [one for one in proposed if _is_said_once(one.update, item.update)]
            turn = item.update.turn
            used = by_use.setdefault(turn, [doc.number for doc in skills_by_use(self._docs(), turn)])
            first = max(same, key=lambda one: self._fit(one.update, used))
            if item is first or item.update.kind in _CHANGES or self._fit(item.update, used)[0]:
                yield item

    def _fit(self, update: Update, used: Sequence[int]) -> tuple[bool, bool, int, float, int]:
        """Return how well a file fits an update: named, with a line that changes, by subject, certainty and use."""
        doc = next((loaded.doc for loaded in self._skills if loaded.doc.number == update.skill), None)
        if doc is None:
            return False, False, 0, 0.0, 0
        said = f"{update.quote} {update.change}"
        is_named = doc.name.replace("-", " ").lower() in said.replace("-", " ").lower()
        about = len(content_stems(said) & subject_stems(doc))
        return (
            is_named,
            update.kind in _CHANGES,
            about,
            update.confidence,
            -used.index(doc.number) if doc.number in used else -len(used),
        )

    def _reword(self, verdict: Verdict, docs: Sequence[SkillDoc]) -> Verdict:
        """Ask once more for changes in the person's own words, or else keep the supported part.

        Each change is checked on its own; one that could be said in the person's words is no longer a fault.
        """
        try:
            texts = self._backend.reword(verdict.reworded, [self._typed_text([update]) for update in verdict.reworded])
        except RetryError:
            raise
        except SkilldError as error:
            verdict, texts = replace(verdict, dropped=(*verdict.dropped, str(error))), []
        for number, update in enumerate(verdict.reworded):
            change = texts[number] if number < len(texts) else ""
            found = Verdict()
            if _has_substance(change, update.change):
                found = self._verify([self._redact_update(replace(update, change=change))], docs)
            if not _has_content(found):
                found += self._supported_part(update, docs)
            if _has_content(found):
                verdict = verdict.without_fault(update)
            else:
                found = replace(found, lost=())  # already in `lost`
            verdict += replace(found, dropped=(), faults=tuple(one for one in found.faults if one == UNCLEAR_REASON))
        return verdict

    def _supported_part(self, update: Update, docs: Sequence[SkillDoc]) -> Verdict:
        """Return the verdict on the supported sentences of a change, if the others only add.

        What stands behind a semicolon may be only the reason for what stands before it: both are one sentence.
        """
        parts: list[str] = []
        for part in split_sentences(update.change):
            behind = parts and parts[-1].endswith((";", "\uff1b"))
            parts[-1:] = [f"{parts[-1]} {part}"] if behind else [*parts[-1:], part]
        if len(parts) == 1 or update.kind in {Kind.CHANGE_STEP, Kind.REMOVE_STEP}:
            return Verdict()
        sound = [part for part in parts if not self._verify([replace(update, change=part)], docs).lost]
        if not sound or any(has_negation(part) or may_state_exception(part) for part in parts if part not in sound):
            return Verdict()
        return self._verify([replace(update, change=" ".join(sound))], docs)

    def keep_own_words(self, verdict: Verdict) -> Verdict:
        """Return the verdict with the person's own words as learnings for updates lost because of a model's wording.

        The quotes were checked before. Nothing is kept that another update covers or that has no substance.
        """
        known = [item.update for item in verdict.proposed] + [
            one for one, _ in (*verdict.learned, *verdict.already_said)
        ]
        kept: list[tuple[Update, str]] = []
        for update, why in verdict.lost:
            quote = typed_quote(update.quote, self._typed_text([update]))
            says = _has_substance(quote, update.change) and not is_empty_request(quote)
            says = says and not any(same_words(update, other) for other, _ in verdict.already_said)
            if says and not any(_is_covered_by(quote, update, other) for other in known):
                known.append(replace(update, change=quote, quote=quote))
                kept.append((known[-1], f"the suggested wording could not be used: {why}"))
        return replace(verdict, learned=(*verdict.learned, *kept))

    def _ask_polarity(self, verdict: Verdict, docs: Sequence[SkillDoc]) -> Verdict:
        """Ask whether doubtful changes say the opposite of their evidence; unknown ones remain faults."""
        asked = [update for update, _ in verdict.doubtful]
        typed = [self._typed_text([update]) for update in asked]
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
        faults = tuple(fault for fault in verdict.faults if fault != UNCLEAR_REASON)
        lost = tuple(one for one in verdict.lost if one[1] != UNCLEAR_REASON)
        return replace(verdict, faults=faults, doubtful=(), lost=lost) + self._verify(asked, docs)

    def edit(self, loaded: TargetDocument, checked: Sequence[VerifiedUpdate], *, typed: str = "") -> CheckedEdit:
        """Return the edit that makes the updates in one skill, after which the same question finds nothing new.

        `typed` is what the person typed for them, if the messages are only quotes: out of its turn, a quote may look
        like the announcement of a paste.

        If they cannot be made together, those that can be made alone are in `checked` of the result. If the question
        still finds some, the updates are placed word for word and it is asked once more; what it finds then is left
        out. Raises SkilldError if no edit can be made, NotSaidError if that is because of the question, RefusedError
        if it is forbidden.
        """
        typed = typed or self._typed_text([item.update for item in checked])
        try:
            composed = compose(self._backend, checked, loaded, typed, self._redact)
        except RetryError:
            raise
        except SkilldError:
            if len(checked) == 1:
                raise
            composed = compose_separately(self._backend, checked, loaded, typed, self._redact)
        asked = self._unsaid_updates(loaded, composed)
        placed_yet = False
        while isinstance(asked, list) and asked:
            rest = [item for item in composed.checked if item not in asked or (only_adds(item) and not placed_yet)]
            if not rest:
                raise NotSaidError("Could not make the edit", _NOT_SAID_REASON.format(loaded.ref.name))
            unsaid = (*composed.left_out, *(item for item in composed.checked if item not in rest))
            composed = compose_separately(self._backend, rest, loaded, typed, self._redact)
            composed = replace(composed, left_out=(*unsaid, *composed.left_out))
            asked, placed_yet = self._unsaid_updates(loaded, composed), True
        if isinstance(asked, list):
            return composed
        spent = isinstance(asked, BudgetSpentError)
        return replace(composed, flags=(*composed.flags, _BUDGET_FLAG if spent else UNCHECKED_FLAG))

    def is_harmful(self, loaded: TargetDocument, item: VerifiedUpdate, error: SkilldError) -> bool:
        """Whether the linter refuses an update's own words, so they are not kept; `error` ended its edit."""
        return is_harmful(item, error, loaded, self._typed_text([item.update]), self._redact)

    def _unsaid_updates(self, loaded: TargetDocument, composed: CheckedEdit) -> list[VerifiedUpdate] | SkilldError:
        """Return the updates that the edited skill still does not say, or why that could not be asked.

        Other findings from the same turns do not count against the updates.
        """
        edited = composed.after.decode("utf-8-sig")
        try:
            verdict, _ = self._ask(self._docs(loaded, edited))
        except SkilldError as error:
            return error
        mine = [item.update for item in verdict.proposed if item.update.skill == loaded.doc.number]
        # The old line nearly says a change; the new one may also nearly repeat the words.
        rest = [update for update in mine if not says_already(update.change, edited, covered=NEARLY)]
        return [
            item
            for item in composed.checked
            if any(_asks_again(other, item.update) for other in rest)
            and not _only_changes_number(composed, item.update)
        ]

    def _ask(self, docs: Sequence[SkillDoc]) -> tuple[Verdict, list[str]]:
        updates, left_out = self._backend.detect(self._messages, docs, instructions=self._instructions)
        placed = [one for update in updates for one in self._redirect_updates(self._redact_update(update))]
        placed += self._removals_beside_skills(placed)
        return self._verify(placed, [*docs, *self._docs()[len(docs) :]]), left_out

    def _redirect_updates(self, update: Update) -> list[Update]:
        """Redirect an update, or the part of it on how the agent talks to the person, to the personal file.

        An update about the project that is off the skill's topic goes to the project's file.
        """
        named = next((one for one in self._skills if one.doc.number == update.skill), None)
        if named is None or update.kind is Kind.REMOVE_STEP:
            return [update]
        is_unrelated = update.confidence == UNRELATED_CONFIDENCE and named.ref.kind is TargetKind.SKILL
        update = update if is_unrelated else self._with_repetition(update)
        if _is_off_topic(update, named):
            return [self._redirect_update(update, named, TargetKind.INSTRUCTIONS)]
        if is_unrelated and (elsewhere := self._place_unrelated(update, named)):
            return [elsewhere]
        talk, rest = split_conversation(update.change)
        if not talk or is_about_project(self._typed_text([update])):
            return [update]
        mine = self._redirect_update(replace(update, change=talk, kind=Kind.PREFERENCE), named, TargetKind.PERSONAL)
        if mine.skill == update.skill:
            return [update]
        return [*([replace(update, change=rest)] if rest else []), mine]

    def _removals_beside_skills(self, placed: Sequence[Update]) -> list[Update]:
        """Return removals of lines that the person takes back, from the project's or the personal file.

        With a skill in use these files are no places, but "forget what I said about the todo comments" may mean a line
        of theirs.
        """
        skill = next(iter(self._skills), None)
        if skill is None or any(one.ref.kind is not TargetKind.SKILL for one in self._skills):
            return []
        if not any(releases(own_words(message.text)) for message in self._messages if message.turn):
            return []
        general = (self._own(skill, kind) for kind in (TargetKind.INSTRUCTIONS, TargetKind.PERSONAL))
        found = with_removals([], self._messages, [one.doc for one in general if one is not None and one is not skill])
        known = [(one.turn, one.quote) for one in placed]
        return [one for one in found if not any(turn == one.turn and quote in one.quote for turn, quote in known)]

    def _place_unrelated(self, update: Update, named: TargetDocument) -> Update | None:
        """Return a rule that was held back, since no skill is about it, for the project's file.

        It must be clear enough to be proposed if no skill were in use, or be said in a second session.
        """
        plain = Offline().detect(self._messages, ())  # a model would be paid for the second question
        said = next((one for one in plain if (one.turn, one.quote) == (update.turn, update.quote)), update)
        moved = self._redirect_update(update, named, TargetKind.INSTRUCTIONS)
        moved = self._with_repetition(replace(moved, confidence=max(said.confidence, update.confidence)))
        return None if moved.confidence < MIN_GENERAL_CONFIDENCE or moved.skill in {update.skill, None} else moved

    def _with_repetition(self, update: Update) -> Update:
        """Return an update that is not certain enough alone as one that is, if it was said in an earlier session."""
        least = max(self._backend.min_confidence, MIN_GENERAL_CONFIDENCE)
        if not UNRELATED_CONFIDENCE <= update.confidence < least or not self._said_before(update):
            return update
        return replace(update, confidence=least, reason=join_sentences([update.reason, _SAID_BEFORE_REASON]))

    def _redirect_update(self, update: Update, named: TargetDocument, kind: TargetKind) -> Update:
        """Redirect an update from `named` to the file of a kind, unless `named` may have it."""
        own = self._own(named, kind)
        if own is named:
            return update
        text = "" if own is None else own.doc.text
        section = target_section(update.change, text, update.quote).heading if text.strip() else ""
        return replace(update, skill=None if own is None else own.doc.number, section=section)

    def _verify(self, updates: Sequence[Update], docs: Sequence[SkillDoc]) -> Verdict:
        def meant(change: str, ground: str) -> bool | None:
            return self._meant.get((change, ground))

        general = [loaded.doc.number for loaded in self._skills if loaded.ref.kind is not TargetKind.SKILL]
        return verify(
            updates,
            self._messages,
            docs,
            self._instructions,
            min_confidence=self._backend.min_confidence,
            general=general,
            meant=meant,
        )

    def _docs(self, edited: TargetDocument | None = None, text: str = "") -> list[SkillDoc]:
        docs = (as_edited(one.doc, text) if one is edited else one.doc for one in self._skills)
        return [replace(doc, text=self._redact(doc.text)) for doc in docs]

    def _typed_text(self, updates: Sequence[Update]) -> str:
        turns = {update.turn for update in updates}
        return "\n".join(own_words(message.text) for message in self._messages if message.turn in turns)

    def _redact_update(self, update: Update) -> Update:
        """Redact what the model wrote: it may have joined the parts of a secret."""
        redact = self._redact
        return replace(
            update, section=redact(update.section), change=redact(update.change), reason=redact(update.reason)
        )


def _only_changes_number(composed: CheckedEdit, update: Update) -> bool:
    """Whether an edit gives a line the number of an update, and keeps what else the line says."""
    return any(
        one.op is Op.REPLACE and one.anchor != one.text == replace_numbers(update.change, one.anchor)
        for one in composed.operations
    )


def _is_off_topic(update: Update, named: TargetDocument) -> bool:
    """Whether an update is about the project and not about the topic of the skill."""
    text = f"{update.quote}\n{update.change}"
    if named.ref.kind is not TargetKind.SKILL or update.kind is Kind.CHANGE_STEP or not PROJECT_SCOPE.search(text):
        return False
    own = f"the skill {named.ref.name.replace('-', ' ')}: {read_front(named.doc.text).description}"
    return not (
        content_stems(remove_project_scope(text)) & content_stems(own) - WEAK_STEMS or is_other_language(text, own)
    )


def _has_content(verdict: Verdict) -> bool:
    return bool(verdict.proposed or verdict.learned or verdict.doubtful or verdict.already_said)


def _is_covered_by(quote: str, update: Update, other: Update) -> bool:
    """Whether another update covers the kept quote of an update, by its words or its meaning."""
    whole = update.turn == other.turn and quote in other.quote and quote == other.change
    return whole or says_already(quote, other.change)


def _has_substance(change: str, before: str) -> bool:
    """Whether a change in the person's own words is more than a nod, like "we are on arch" after talk about Arch."""
    stems = content_stems(change)
    return len(stems) >= _MIN_CONTENT_STEMS or matching_share(stems, content_stems(before)) > 0


def _is_said_once(one: Update, other: Update) -> bool:
    """Whether two updates make the same rule of the same words."""
    both = (one.change, other.change), (other.change, one.change)
    alike = any(says_same_rule(*pair) or find_same_meaning(*pair) for pair in both)
    return one is other or (same_words(one, other) and alike and not contradicts(one.change, other.change))


def _asks_again(update: Update, made: Update) -> bool:
    """Whether an update asks for one that was made; without its line, a removal may seem to be a rule."""
    removes = made.kind is Kind.REMOVE_STEP
    return same_words(update, made) and (update.kind is Kind.REMOVE_STEP or not removes)


def same_words(one: Update, other: Update) -> bool:
    """Whether two updates are based on the same words of the same turn."""
    return one.turn == other.turn and (one.quote in other.quote or other.quote in one.quote)
