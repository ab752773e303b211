"""Turns a remedy for a rule into a proposal, from existing lines and the person's own words, without a model.

Remedies are ordinary proposals: their edits are checked, past decisions are respected, and they are staged.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.classify.backends import OFFLINE, Spec, make_backend
from skilld.classify.content import code_names
from skilld.classify.contradiction import contradicts
from skilld.classify.offline.detector import find_lasting
from skilld.classify.offline.phrasing import phrase
from skilld.classify.offline.placement import target_section
from skilld.classify.offline.sections import BlockKind, ProseBlock, body_lines, sections
from skilld.classify.opposition import opposes
from skilld.classify.rule_repeats import demand_clauses, demand_sentences
from skilld.classify.said_already import says_already
from skilld.classify.verify import VerifiedUpdate
from skilld.clock import rfc3339
from skilld.context.values import within
from skilld.edit.operations import anchor_operation
from skilld.effect.remedies import (
    MIN_REPEATED_SESSIONS,
    SUGGESTED,
    Remedy,
    batch_id_of,
    called_for,
    count_sessions,
    is_missed,
    is_unused,
    remedy_of,
)
from skilld.effect.rule_lines import rules_in, text_of
from skilld.effect.rules import Effect, Rule
from skilld.errors import SkilldError
from skilld.git.repo import find_for_new, find_tracked
from skilld.ingest.discover import Host
from skilld.markdown.skill_file import parse
from skilld.past import PastSession
from skilld.pipeline.documents import TargetDocument, load_documents, session_opt_out
from skilld.pipeline.edits import CheckedEdit, check_edit, compose
from skilld.proposals.contradictions import split_edits
from skilld.proposals.past_decisions import known_reason
from skilld.protocol import PastDecision
from skilld.skills.find import FILE
from skilld.skills.spec import read_front
from skilld.targets.find import INSTRUCTION_NAMES, WorkingSession, file_refusal, find_targets, project_refusal
from skilld.targets.route import choose_target as choose_place
from skilld.targets.scopes import find_scopes
from skilld.text import Redact, fold, indentation, pluralize, truncate
from skilld.types import Evidence, Kind, Proposal, SkillRef, State, TargetKind, Update
from skilld.values import value_class
from skilld.words import content_stems, is_about, is_other_language, numbers

_MAX_SUMMARY = 200
_MAX_WORDING = 240  # characters of a newer wording
_PLEASE = r"(?:please|pls|plz|bitte|s'il te plaît|por favor|per favore)"
_ASIDE = re.compile(
    rf"^(?:(?:no|nein|non|nee|and|und|ok|{_PLEASE})\b,?\s+)+|(?<![\s,])[\s,]++{_PLEASE}(?=\W*$)", re.IGNORECASE
)
_EMPHASIS = ("**", "__", "important", "must ")
_SUMMARIES: Mapping[Remedy, str] = {
    Remedy.CUT: "Remove a rule that was never needed: {}",
    Remedy.MERGE: "Say this only once: {}",
    Remedy.MOVE: "Move this to a file that is loaded when it applies: {}",
    Remedy.SCOPE: "Limit this to the files it applies to: {}",
    Remedy.SHARPEN: "Say this more clearly: {}",
}
_IN_BOLD = "Set this in bold: {}"


@value_class
class RemedyContext:
    """What remedies depend on: sessions and proposals by id, past decisions, and the agents used in a folder."""

    host: Host
    allowed: Collection[TargetKind]
    sessions: Mapping[str, PastSession]
    proposals: Mapping[str, Proposal]
    decided: Sequence[PastDecision]
    agents_in: Callable[[str], Sequence[str]]
    redact: Redact
    now: float

    def is_known(self, update: Update, path: str, session: str) -> bool:
        """Whether an open proposal or an earlier decision says what an update of a file from a session says."""
        standing = [one for one in self.proposals.values() if one.state is State.OPEN]
        return known_reason(update, path, session, standing, self.decided) is not None


@value_class
class RemedyPlan:
    """The remedy for a rule, and the proposal for it if the remedy is one."""

    remedy: Remedy | None = None
    draft: Proposal | None = None


def plan_remedy(effect: Effect, made: Iterable[Proposal], around: RemedyContext) -> RemedyPlan:
    """Return what to do about a rule; `made` are its earlier proposals, as each remedy is proposed only once."""
    tried, drafter = {remedy_of(one) for one in made}, _RemedyDrafter(effect, around)
    for remedy in called_for(effect, around.now):
        if remedy in tried:
            continue
        if remedy in SUGGESTED:
            return RemedyPlan(remedy)
        if draft := drafter.draft(remedy):
            return RemedyPlan(remedy, draft)
    return RemedyPlan()


def rule_edit(update: Update, target: TargetDocument, typed: str, around: RemedyContext) -> CheckedEdit:
    """Return the edit that adds a rule to a file, under the heading that fits it. Raises SkilldError if it is refused.

    `typed` is what the person said about it.
    """
    text = target.doc.text
    placed = replace(update, section=target_section(update.change, text, typed).heading if text.strip() else "")
    return compose(make_backend(Spec(OFFLINE)), [VerifiedUpdate(placed)], target, typed, around.redact)


def edit_proposal(  # noqa: PLR0917 - all that a proposal says
    batch: str,
    target: TargetDocument,
    composed: CheckedEdit,
    summary: str,
    reason: str,
    evidence: tuple[Evidence, ...],
    around: RemedyContext,
) -> Proposal:
    """Return the proposal of an edit that no session asked for."""
    ref, update = target.ref, composed.checked[0].update
    return Proposal(
        id=hashlib.sha256(f"{batch}\n{ref.path}".encode("utf-8", "surrogatepass")).hexdigest()[:8],
        batch_id=batch,
        skill=ref.name,
        path=ref.path,
        operations=composed.operations,
        summary=truncate(summary, _MAX_SUMMARY),
        reason=reason,
        kind=update.kind,
        evidence=evidence,
        confidence=update.confidence,
        model=OFFLINE,
        created_at=rfc3339(around.now),
        flags=composed.flags,
        updates=tuple(item.update for item in composed.checked if item.update.quote),
        target=ref.kind,
        agents=ref.agents,
    )


class _RemedyDrafter:
    """Drafts the proposals for one rule, from its repeats, the newest last."""

    def __init__(self, effect: Effect, around: RemedyContext) -> None:
        self._effect, self._context = effect, around
        self._rule = effect.rule
        self._repeats = sorted((*effect.missed, *effect.evidence), key=lambda one: one.at)
        self._origin = around.proposals.get(self._rule.proposal)
        self._quotes = [one.quote for one in self._repeats]
        self._session = around.sessions.get(self._repeats[-1].session) if self._repeats else None

    def draft(self, remedy: Remedy) -> Proposal | None:
        """Return the proposal of a remedy, if that is possible."""
        ways = {
            Remedy.CUT: self._draft_cut,
            Remedy.MERGE: self._draft_merge,
            Remedy.MOVE: self._draft_move,
            Remedy.SCOPE: self._draft_scope,
            Remedy.SHARPEN: self._draft_sharpen,
        }
        try:
            return ways[remedy]()
        except SkilldError:  # a check refuses the edit
            return None

    def _draft_cut(self) -> Proposal | None:
        loaded = self._load_editable(self._rule)
        return self._delete_from(loaded, self._rule, Remedy.CUT) if loaded else None

    def _draft_merge(self) -> Proposal | None:
        """Remove the line that another line covers; if both say the same, the other line."""
        for keep, away in self._find_twins():
            loaded = self._load_editable(away)
            if loaded is not None and (keep.path == away.path or in_same_repository(keep.path, away.path)):
                return self._delete_from(
                    loaded, away, Remedy.MERGE, f"{Path(keep.path).name}:{keep.line} also says this."
                )
        return None

    def _find_twins(self) -> Iterable[tuple[Rule, Rule]]:
        for path in self._session.loaded if self._session and self._repeats else ():
            for line, text in rules_in(text_of(path)):
                other = replace(self._rule, path=path, line=line, text=text)
                if (path, line) != (self._rule.path, self._rule.line):
                    if _covers(self._rule, other) and _loads_wherever(self._rule, other):
                        yield self._rule, other
                    elif _covers(other, self._rule) and _loads_wherever(other, self._rule):
                        yield other, self._rule

    def _draft_move(self) -> Proposal | None:
        if self._rule.is_in_skill and is_missed(self._effect):
            ref = next((ref for ref in self._places(TargetKind.INSTRUCTIONS) if not ref.absent), None)
            why = "You asked for this in sessions where the rule's skill was not in use."
        elif is_missed(self._effect):
            ref = next((ref for ref in self._places(TargetKind.INSTRUCTIONS) if self._reaches_further(ref)), None)
            why = "The agent had not loaded the rule's file where you asked for this."
        else:
            ref = None if self._rule.is_in_skill else self._skill_in_use()
            why = "That skill was in use every time you had to repeat the rule."
        return self._move_to(ref, Remedy.MOVE, why) if ref else None

    def _reaches_further(self, ref: SkillRef) -> bool:
        """Whether the last session loads a file that is also loaded wherever the rule's own is."""
        session = self._session
        readers = self._rule.agents or frozenset(self._context.agents_in(session.cwd) if session else ())
        keep = replace(self._rule, path=ref.path)
        return not ref.absent and readers <= set(ref.agents) and _loads_wherever(keep, self._rule)

    def _skill_in_use(self) -> SkillRef | None:
        """Return the skill about a rule that was in use in all of its sessions, if there are several."""
        ids = {one.session for one in self._effect.evidence}
        loaded = [set(self._context.sessions[name].loaded) for name in ids if name in self._context.sessions]
        for path in sorted(set.intersection(*loaded)) if len(loaded) > 1 else ():
            facts = read_front(text_of(path)) if Path(path).name == FILE else None
            if facts and is_about(self._rule.text, content_stems(f"{facts.name} {facts.description}")):
                return SkillRef(Path(path).parent.name, path)
        return None

    def _draft_scope(self) -> Proposal | None:
        """Move a rule to one that is loaded for certain files, if the person named the same files every time."""
        named = {tuple(one.name for one in find_scopes(quote)) for quote in self._quotes}
        if (
            len(named) != 1
            or () in named
            or count_sessions(self._repeats) < MIN_REPEATED_SESSIONS
            or find_scopes(self._rule.text)
        ):
            return None
        quote = self._quotes[-1]
        ref = choose_place(quote, self._places(TargetKind.RULES, quote))
        return (
            self._move_to(ref, Remedy.SCOPE, "You specified which files the rule applies to.")
            if ref and ref.patterns
            else None
        )

    def _draft_sharpen(self) -> Proposal | None:
        loaded = self._load_editable(self._rule)
        block = _find_block(loaded, self._rule) if loaded else None
        if loaded is None or block is None or not self._repeats:
            return None
        newer = next(_newer_wordings(self._quotes, self._rule.text), "")
        body = parse(loaded.data).body
        lines = [line.text for line in body[block.first : block.last + 1]]
        before = lines[0][: indentation(lines[0]) + len(block.marker) + len(block.gap) * bool(block.marker)]
        if newer:
            lines = [before + newer]
        elif is_missed(self._effect):
            return None  # emphasis changes nothing where the file is not loaded
        elif len(lines) == 1 and block.text in lines[0] and not self._rule.text.casefold().startswith(_EMPHASIS):
            lines = [f"{before}**{block.text}**"]
        else:
            return None
        change = newer or fold(self._rule.text)
        operation = anchor_operation(body, block.first, block.last + 1, lines)
        update = self._update(change, Kind.CORRECTION)
        composed = check_edit([operation], [VerifiedUpdate(update)], loaded, self._typed_text(), self._context.redact)
        if self._context.is_known(update, loaded.ref.path, self._repeats[-1].session):
            return None
        made = self._proposal(Remedy.SHARPEN, loaded, composed, "")
        title = _SUMMARIES[Remedy.SHARPEN] if newer else _IN_BOLD
        return replace(made, summary=truncate(title.format(change), _MAX_SUMMARY))

    def _move_to(self, ref: SkillRef, remedy: Remedy, why: str) -> Proposal | None:
        """Add the rule to another file of its repository and remove it from its own."""
        files, _ = load_documents([ref])
        source = self._load_editable(self._rule)
        if not files or source is None or ref.kind not in self._context.allowed or ref.path == self._rule.path:
            return None
        target = files[0]
        if says_already(self._rule.text, target.doc.text) or (not ref.absent and file_refusal(ref.path)):
            return None
        update = self._update(self._rule.text, Kind.CORRECTION)
        composed = rule_edit(update, target, self._typed_text(), self._context)
        gone = self._deletion(source, self._rule)
        if gone is None or self._context.is_known(update, ref.path, self._repeats[-1].session):
            return None
        whole, linked = split_edits(self._proposal(remedy, target, composed, why), [(source.ref, gone.operations)])
        return whole if whole.also and not linked else None

    def _delete_from(self, loaded: TargetDocument, rule: Rule, remedy: Remedy, why: str = "") -> Proposal | None:
        gone = self._deletion(loaded, rule)
        return self._proposal(remedy, loaded, gone, why) if gone else None

    def _deletion(self, loaded: TargetDocument, rule: Rule) -> CheckedEdit | None:
        block, body = _find_block(loaded, rule), parse(loaded.data).body
        if block is None or _continues(body[block.last + 1].text if block.last + 1 < len(body) else "", block):
            return None
        operation = anchor_operation(body, block.first, block.last + 1, [])
        update = self._update(rule.text, Kind.REMOVE_STEP)
        return check_edit([operation], [VerifiedUpdate(update)], loaded, self._typed_text(), self._context.redact)

    def _update(self, change: str, kind: Kind) -> Update:
        return Update(1, "", change, "", kind, 1, self._quotes[-1] if self._quotes else "")

    def _typed_text(self) -> str:
        """Return everything the person said about the rule: its origin and its repeats."""
        return "\n".join([*(one.quote for one in (self._origin.evidence if self._origin else ())), *self._quotes])

    def _places(self, kind: TargetKind, said: str = "") -> Sequence[SkillRef]:
        session = self._last_session()
        return find_targets(session, {kind} & set(self._context.allowed), find_scopes(said)).refs if session else ()

    def _last_session(self) -> WorkingSession | None:
        """Return the session in which the rule was last repeated."""
        past, around = self._session, self._context
        if past is None or not Path(past.cwd).is_absolute():
            return None
        others = tuple(around.agents_in(past.cwd))
        return WorkingSession(past.agent, Path(past.cwd), around.host.home, around.host.environment, others=others)

    def _load_editable(self, rule: Rule) -> TargetDocument | None:
        """Return the file of a rule, if it may be edited."""
        ref = self._target_ref(rule)
        if ref is None or ref.kind not in self._context.allowed or file_refusal(rule.path):
            return None
        cwd = self._session.cwd if self._session else ""
        files, _ = load_documents([ref])
        return files[0] if files and not (cwd and session_opt_out(cwd)) else None

    def _target_ref(self, rule: Rule) -> SkillRef | None:
        path, origin = Path(rule.path), self._origin
        if origin is not None and origin.path == rule.path:
            return SkillRef(origin.skill, rule.path, kind=origin.target, agents=origin.agents)
        if path.name == FILE:
            return SkillRef(path.parent.name, rule.path)
        session = self._last_session()
        if session is None:
            return None
        context = session.context()
        if not within(rule.path, context.root):
            return SkillRef(path.name, rule.path, kind=TargetKind.PERSONAL, agents=(session.agent,))
        if project_refusal(session, context):
            return None
        kind = TargetKind.RULES if "rules" in path.parts else TargetKind.INSTRUCTIONS
        name = path.relative_to(context.root).as_posix()
        return SkillRef(name, rule.path, kind=kind, agents=(session.agent,))

    def _proposal(self, remedy: Remedy, loaded: TargetDocument, composed: CheckedEdit, why: str) -> Proposal:
        made = edit_proposal(
            batch_id_of(self._rule, remedy),
            loaded,
            composed,
            _SUMMARIES[remedy].format(fold(self._rule.text)),
            " ".join(filter(None, (repeat_summary(self._effect), why))),
            tuple(Evidence(one.turn, one.quote) for one in reversed(self._repeats)),
            self._context,
        )
        if self._repeats:
            return replace(made, agent=self._repeats[-1].agent, session_id=self._repeats[-1].session)
        origin = self._origin
        return replace(made, agent=origin.agent, session_id=origin.session_id) if origin else made


def repeat_summary(effect: Effect) -> str:
    """Return a sentence with the counts of a rule since it was added."""
    after = effect.after
    if is_unused(effect):
        return "The rule has not applied in any session since it was added."
    again = f"You repeated the rule in {after.repeats} of {pluralize(after.sessions, 'session')} where it applied"
    return f"{again}, and in {count_sessions(effect.missed)} that had not loaded it." if effect.missed else f"{again}."


def _covers(rule: Rule, other: Rule) -> bool:
    """Whether a rule says everything that another one says."""
    return says_already(other.text, rule.text, covered=1.0, in_full=True)


def _loads_wherever(keep: Rule, away: Rule) -> bool:
    """Whether the kept line is loaded wherever the other is: in the same file, or one that is loaded at the start."""
    return keep.path == away.path or (
        Path(keep.path).name in INSTRUCTION_NAMES and within(away.path, str(Path(keep.path).parent))
    )


def in_same_repository(one: str, other: str, *, absent: bool = False) -> bool:
    """Whether git tracks two files in one repository, or would if the `absent` other were made."""
    try:
        place = (find_for_new if absent else find_tracked)(Path(other))
        return find_tracked(Path(one)).repo.address == place.repo.address
    except (OSError, SkilldError):
        return False


def _find_block(loaded: TargetDocument, rule: Rule) -> ProseBlock | None:
    """Return the lines of a rule in the body of its file; None if it is gone."""
    text = loaded.doc.text
    above = len(text.splitlines()) - len(body_lines(text))
    blocks = (block for section in sections(text) for block in section.blocks if block.kind is not BlockKind.OTHER)
    same = [block for block in blocks if block.text == rule.text]
    return min(same, key=lambda block: abs(above + block.first + 1 - rule.line), default=None)


def _continues(below: str, block: ProseBlock) -> bool:
    """Whether the line below a block belongs to it, so that the block says more than the rule."""
    return bool(below.strip()) and len(below) - len(below.lstrip()) > len(block.indent)


def _newer_wordings(quotes: Sequence[str], rule: str) -> Iterator[str]:
    """Yield the person's latest words that say all of a rule and more, each as a sentence in the rule's language.

    Words that say only a part of it, and something else, are another rule.
    """
    own, codes = content_stems(rule), code_names(rule)
    demands = (one for quote in reversed(quotes) for one in (*demand_sentences(quote), *demand_clauses(quote)))
    for demand in demands:
        plain = _ASIDE.sub("", demand)
        said = next((made.text for match in find_lasting(demand) if (made := phrase(match)).clear), plain)
        says_all = own < content_stems(said) and codes <= code_names(said) and numbers(rule) == numbers(said)
        turned = contradicts(demand, rule) or opposes(demand, rule)
        if says_all and len(said) <= _MAX_WORDING and not turned and not is_other_language(said, rule):
            text = fold(said).strip(" !.,;:")
            yield f"{text[:1].upper()}{text[1:]}."
