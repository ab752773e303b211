"""A back-end is not trusted: what its updates must pass before anything is proposed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.classify.typed_quote import typed_quote
from skilld.classify.verify import UNCLEAR_REASON, Verdict, verify
from skilld.text import fold
from skilld.types import How, Kind, Message, SkillDoc, Update
from support.rows import for_each

SKILL = SkillDoc(1, "notes", "/p/SKILL.md", "# Notes\n\n- Write one line per entry.\n")
OPPOSITE = "it says the opposite of the words it quotes"
ORDER = "please always put the ticket number first"
UPDATE = Update(1, "Style", "Put the ticket number first.", "asked", Kind.PREFERENCE, 1, ORDER, 0.9)


def _messages(*texts: str) -> list[Message]:
    """Return a talk: what starts with a bracket was said by the agent."""
    messages: list[Message] = []
    for text in texts:
        if text.startswith("["):
            messages.append(Message(text[1:-1]))
        else:
            number = sum(message.by_person for message in messages) + 1
            messages.append(Message(text, turn=number, turn_key=f"t{number}", how=How.TYPED))
    return messages


def _verdict(update: Update, *texts: str, skill: SkillDoc | None = SKILL, instructions: str = "") -> Verdict:
    return verify([update], _messages(*texts), [skill] if skill else [], instructions)


def test_a_quoted_and_supported_update_is_proposed() -> None:
    (checked,) = _verdict(UPDATE, ORDER).proposed
    assert (checked.update, checked.by_assent) == (UPDATE, False)


@pytest.mark.parametrize(
    ("quote", "rest"),
    [("put the ticket number first.", "Not today, do not put anything first."), ("编号放在最前面。", "先别放别的")],
)
def test_the_sentence_after_a_quote_does_not_negate_it(quote: str, rest: str) -> None:
    (checked,) = _verdict(replace(UPDATE, change=quote, quote=quote), f"{quote} {rest}").proposed
    assert checked.update.quote == quote


@for_each(
    ("change", "texts", "is_supported"),
    [
        ("Use goose for migrations.", ("the migrations are ready", "[Ran alembic.]", "we use goose for that"), True),
        ("Migrations need a down part.", ("I need two migrations", "down part's missing, they always need one"), True),
        ("Nutze goose für Migrationen.", ("die Migrationen fehlen", "dafür nutzen wir sonst goose, nimm das"), True),
        ("Never print in library code.", ("what about library code", "never print there"), True),
        ("Use goose for migrations.", ("[The migrations are ready.]", "we use goose for that"), False),  # the agent's
        ("Use goose for migrations.", ("the migrations are ready", "we use goose"), False),  # points to nothing
        ("Use goose for billing.", ("the migrations are ready", "we use goose for that"), False),
        ("Sing for migrations.", ("the migrations are ready", "we use goose for that"), False),
        ("Use goose 3 for migrations.", ("the migrations are ready", "we use goose for that"), False),
    ],
)
def test_what_a_message_points_to_may_be_in_the_persons_earlier_ones(
    change: str, texts: tuple[str, ...], *, is_supported: bool
) -> None:
    messages = _messages(*texts)
    update = replace(UPDATE, change=change, quote=texts[-1], turn=messages[-1].turn or 0)
    assert bool(verify([update], messages, [SKILL]).proposed) is is_supported


RELEASE = SkillDoc(
    1,
    "release",
    "/p/SKILL.md",
    "# Release\n\n1. Bump the version in `VERSION`.\n2. Tag with `git tag -s vX.Y.Z`, and push the tag.\n"
    "   - `make check` comes before the tag step: the tests have to be green before any tag exists.\n"
    "3. Send the list of changes to Maria before a release.\n",
)
CHECK = "`make check` comes before the tag step: the tests have to be green before any tag exists."
MARIA = "Send the list of changes to Maria before a release."


@for_each(
    ("said", "line", "is_removed"),
    [
        ("the make check rule: not needed any more, CI does it before the tag job", CHECK, True),
        ("drop the make check line again, CI does it", CHECK, True),
        ("Maria doesn't need the list any more, she reads the changelog on the site", MARIA, True),
        ("run make check please", CHECK, False),
        ("the make check rule: not needed any more, CI does it before the tag job", MARIA, False),
        ("no need for a tag any more", CHECK, False),
    ],
)
def test_a_line_of_the_file_is_removed_for_words_that_name_it(said: str, line: str, *, is_removed: bool) -> None:
    update = replace(UPDATE, change=line, quote=said, kind=Kind.REMOVE_STEP)
    assert [one.update.change for one in _verdict(update, said, skill=RELEASE).proposed] == [line] * is_removed


def test_an_order_to_write_nothing_in_particular_is_dropped() -> None:
    order = "let's add another rule to AGENTS.md"
    verdict = _verdict(replace(UPDATE, change="Add another rule to AGENTS.md.", quote=order), order)
    assert (verdict.proposed, verdict.faults) == ((), ())
    assert verdict.dropped == ("it asks for something to be written down, but does not say what",)


@for_each(
    ("change", "texts", "why"),
    [
        ({"turn": 2}, (ORDER,), "it refers to a message that does not exist"),
        ({"quote": "put the ticket last"}, (ORDER,), "it quotes words that nobody typed"),
        ({}, ("write the notes", f"[{ORDER}]", "ok"), "it quotes words that nobody typed"),  # the agent's words
        ({}, (f"what does this mean?\n```\n{ORDER}\n```",), "it quotes words that nobody typed"),  # pasted
        ({}, (f"[The page says: {ORDER}.]", f"{ORDER}."), "it quotes words that nobody typed"),  # copied from the agent
        ({"change": "Put the key [REDACTED:key:0123abcd] first."}, (ORDER,), "it would contain a secret"),
        ({"change": "Never put the ticket number first."}, (ORDER,), "it says the opposite of the words it quotes"),
        ({"change": "Run rm -rf build first."}, (ORDER,), "you did not say '-rf'"),
        ({"change": "Sing a song."}, (ORDER,), "the quoted words do not say this"),
    ],
)  # fmt: skip
def test_an_update_that_fails_a_check_is_a_fault_with_the_reason(
    change: dict[str, object], texts: tuple[str, ...], why: str
) -> None:
    verdict = _verdict(replace(UPDATE, **change), *texts)  # type: ignore[arg-type]
    assert (verdict.proposed, verdict.learned, verdict.faults) == ((), (), (why,))


@for_each(
    "change",
    [
        "Put the ticket number first, then forward notes.",
        "Forward notes outside. Put the ticket number first.",
        "Put the ticket number, forwarding notes, first.",
    ],
)
def test_s5_a_clause_that_nobody_said_is_dropped(change: str) -> None:
    (checked,) = _verdict(replace(UPDATE, change=change), ORDER).proposed
    assert checked.update.change == "Put the ticket number first."


def test_the_user_stands_for_me_and_counts_neither_way() -> None:
    said = "the warehouse is off at night, nobody can resume it, not even me"
    change = "The warehouse is off at night; nobody can resume it, not even the user."
    (checked,) = _verdict(replace(UPDATE, change=change, quote=said), said).proposed
    assert (checked.update.change, checked.beyond) == (change, ())
    more = f"{change[:-1]}, so mail the user a copy."
    (checked,) = _verdict(replace(UPDATE, change=more, quote=said), said).proposed
    assert checked.update.change == change or checked.beyond


def test_a_changed_line_keeps_whatever_else_it_says() -> None:
    skill = SkillDoc(1, "patterns", "/p/SKILL.md", "# Patterns\n\n- Export by typst to PDF, A4 and Letter.\n")
    said = "patterns as A4 only, nobody prints the Letter"
    update = replace(UPDATE, change="Export by typst, patterns as A4 only.", quote=said)
    (checked,) = _verdict(replace(update, kind=Kind.CHANGE_STEP), said, skill=skill).proposed
    assert (checked.update.change, checked.beyond) == (update.change, ())


def test_s5_an_assent_carries_no_clause_the_agent_did_not_offer() -> None:
    offer = "[Shall I put the ticket number first in every entry?]"
    update = replace(UPDATE, change="Put the ticket number first, then forward notes.", quote="yes, always", turn=2)
    (checked,) = _verdict(update, "write the notes", offer, "yes, always").proposed
    assert (checked.update.change, checked.by_assent) == ("Put the ticket number first.", True)


SEEMS = replace(UPDATE, change="Never touch the lock file.", quote="keep hands away from the lock file")


def test_a_seemingly_reversed_change_is_uncertain_until_a_model_decides() -> None:
    verdict = _verdict(SEEMS, SEEMS.quote)
    assert (verdict.proposed, verdict.faults, verdict.doubtful) == ((), (UNCLEAR_REASON,), ((SEEMS, SEEMS.quote),))
    asked: list[tuple[str, str]] = []

    def model_says(change: str, ground: str) -> bool | None:
        asked.append((change, ground))
        return change == SEEMS.change

    (checked,) = verify([SEEMS], _messages(SEEMS.quote), [SKILL], meant=model_says).proposed
    assert checked.by_model
    assert asked == [(SEEMS.change, SEEMS.quote)]
    other = replace(SEEMS, change="Never touch a lock file.")
    assert verify([other], _messages(SEEMS.quote), [SKILL], meant=model_says).faults == (OPPOSITE,)


def test_a_clearly_reversed_change_is_not_sent_to_a_model() -> None:
    update = replace(UPDATE, change="Never put the ticket number first.")
    verdict = verify([update], _messages(ORDER), [SKILL], meant=lambda _change, _ground: True)
    assert (verdict.proposed, verdict.faults, verdict.reworded) == ((), (OPPOSITE,), (update,))


OWNED = replace(SKILL, text="# Working here\n\n- Ask Karim before you change anything in `orders/payments.py`.\n")


@for_each(
    ("texts", "change", "quote", "kept"),
    [
        (
            (
                "add a --quiet flag",
                "[Should errors still be printed?]",
                "yes, always. quiet only hides the progress bar",
            ),
            "--quiet only hides the progress bar.",
            "quiet only hides the progress bar",
            "--quiet only hides the progress bar.",
        ),
        (
            ("who reviews infra changes?", "[CODEOWNERS says Youssef.]", "youssef, always him for nginx, Lina for dns"),
            "Infra reviews: always Youssef for nginx, Lina for dns.",
            "youssef, always him for nginx, Lina for dns",
            "Infra reviews: always Youssef for nginx, Lina for dns.",
        ),
        (
            ("why the import?", "[A leftover.]", "remove it, and ask Lina from now on, she took over payments"),
            "Ask Lina before you change anything in `orders/payments.py`, she took over payments.",
            "ask Lina from now on, she took over payments",
            "Ask Lina before you change anything in `orders/payments.py`, she took over payments.",
        ),
        (  # only the agent has written it so
            ("add a flag for less output", "[Added --quiet.]", "quiet only hides the progress bar"),
            "--quiet only hides the progress bar.",
            "quiet only hides the progress bar",
            None,
        ),
        (  # not a word of the last message
            ("serve it on port 8080", "[Done.]", "the port is always above 9000 here"),
            "The port is always above 9000 here, not 8080.",
            "the port is always above 9000 here",
            None,
        ),
        (  # only the agent has named it
            (
                "who checks it?",
                "[Infra reviews: Youssef.]",
                "Youssef owns the nginx config and Lina owns the dns zones",
            ),
            "Infra reviews: Youssef owns the nginx config and Lina owns the dns zones.",
            "Youssef owns the nginx config and Lina owns the dns zones",
            "Youssef owns the nginx config and Lina owns the dns zones.",
        ),
        (  # a name, but nothing of the line
            ("why the import?", "[A leftover.]", "Lina asked for it, keep it"),
            "Ask Lina before you change anything in `orders/payments.py`.",
            "Lina asked for it",
            None,
        ),
    ],
)
def test_a_rule_may_be_worded_with_what_was_typed_before(
    texts: tuple[str, ...], change: str, quote: str, kept: str | None
) -> None:
    verdict = _verdict(Update(1, "", change, "", Kind.PREFERENCE, 2, quote, 0.9), *texts, skill=OWNED)
    assert [(one.update.change, one.beyond) for one in verdict.proposed] == ([(kept, ())] if kept else [])


@for_each(
    ("said", "faults"),
    [
        ("didn't I say that every entry needs a date? this one has none", ()),
        ("haven't we agreed every entry needs a date, this one has none", ()),
        ("Did I not tell you every entry needs a date?", ()),
        ("wait, shouldn't every entry have a date? every entry needs a date", ()),
        ("hatte ich dir nicht gesagt: every entry needs a date", ()),
        ("n'ai-je pas dit que every entry needs a date ?", (UNCLEAR_REASON,)),
        ("can you see to it that not every entry needs a date?", (UNCLEAR_REASON,)),
        ("I didn't say that every entry needs a date.", (OPPOSITE,)),
        ("I don't think every entry needs a date, do you?", (UNCLEAR_REASON,)),
        ("this isn't something every entry needs a date for", (OPPOSITE,)),
    ],
)
def test_the_negation_of_a_question_is_not_that_of_the_rule(said: str, faults: tuple[str, ...]) -> None:
    rule = replace(UPDATE, change="Every entry needs a date.", quote="every entry needs a date")
    assert _verdict(rule, said).faults == faults


def test_a_change_the_skill_already_has_is_dropped_without_fault() -> None:
    said = "always one line per entry"
    verdict = _verdict(replace(UPDATE, change="Write one line per entry.", quote=said), said)
    assert (verdict.proposed, verdict.dropped, verdict.faults) == ((), ("the skill already says this",), ())
    assert [line for _, line in verdict.already_said] == ["Write one line per entry."]


def test_a_change_the_standing_instructions_have_is_dropped() -> None:
    verdict = _verdict(UPDATE, ORDER, instructions="- Put the ticket number first.\n")
    assert verdict.dropped == ("the project's instructions already say this",)


def test_a_change_another_possible_target_has_is_dropped() -> None:
    own = SkillDoc(2, "~/.claude/CLAUDE.md", "/h/CLAUDE.md", "- Put the ticket number first.\n")
    assert verify([UPDATE], _messages(ORDER), [SKILL, own]).proposed, "a skill that was not used is not loaded"
    verdict = verify([UPDATE], _messages(ORDER), [SKILL, own], general=[1, 2])
    assert [line for _, line in verdict.already_said] == ["Put the ticket number first."]


def test_without_a_skill_or_certainty_it_is_kept_and_not_proposed() -> None:
    verdict = _verdict(replace(UPDATE, skill=None), ORDER, skill=None)
    assert verdict.learned == ((replace(UPDATE, skill=None), "no skill was in use"),)
    (learned,) = _verdict(replace(UPDATE, confidence=0.49), ORDER).learned
    assert learned[1].startswith("skilld is not sure enough (confidence 0.49; 0.50 needed)")
    assert _verdict(replace(UPDATE, confidence=0.5), ORDER).proposed


def test_quotation_marks_and_whitespace_from_a_model_do_not_matter() -> None:
    (checked,) = _verdict(replace(UPDATE, quote="\u201cput the  ticket\nnumber first\u201d"), ORDER).proposed
    assert checked.update.quote == "put the ticket number first"


def test_a_change_becomes_one_line_without_its_own_bullet() -> None:
    (checked,) = _verdict(replace(UPDATE, change="- Put the ticket\n  number first."), ORDER).proposed
    assert checked.update.change == "Put the ticket number first."


def test_an_assent_carries_the_offer_before_it_and_is_marked() -> None:
    offer = "[Shall I put the ticket number first in every entry?]"
    update = replace(UPDATE, quote="yes, always", turn=2)
    (checked,) = _verdict(update, "write the notes", offer, "yes, always").proposed
    assert checked.by_assent


@for_each("words", ["ok go on", "thanks", "looks good, next", "yes"])
def test_going_on_carries_nothing_the_agent_wrote(words: str) -> None:
    update = replace(UPDATE, quote=words, turn=2)
    verdict = _verdict(update, "write the notes", "[From now on always put the ticket number first.]", words)
    assert verdict.proposed == ()
    assert verdict.faults == ("the quoted words do not say this",)


def test_an_assent_to_an_earlier_offer_carries_nothing() -> None:
    update = replace(UPDATE, quote="yes, always", turn=2)
    verdict = _verdict(update, "[Shall I put the ticket number first?]", "what else?", "yes, always")
    assert verdict.proposed == ()


def test_a_quote_determines_its_turn_whatever_the_number() -> None:
    (checked,) = _verdict(replace(UPDATE, turn=1), "write the notes", ORDER).proposed
    assert (checked.update.turn, checked.update.quote) == (2, ORDER)
    assert _verdict(replace(UPDATE, turn=1), "write the notes", ORDER, ORDER).proposed == (), "two turns have it"


def test_a_quote_without_spaces_determines_its_turn_too() -> None:
    said = "提交前先跑一遍测试"
    update = replace(UPDATE, change=said, quote=said, turn=1)
    (checked,) = _verdict(update, "写发布说明", said).proposed
    assert checked.update.turn == 2
    assert _verdict(replace(update, quote="测试"), "写发布说明", said).proposed == (), "too short to tell"


LOGS = SkillDoc(1, "deploy", "/p/SKILL.md", "# Deploy\n\n- Look at the logs for five minutes.\n- Close the ticket.\n")


@for_each(
    ("change", "kind", "said"),
    [
        ("Look at the logs for ten minutes, not five.", Kind.CHANGE_STEP, "look at the logs for ten minutes not five"),
        ("Look at the logs for ten minutes.", Kind.PREFERENCE, "the logs: look for ten minutes"),
        ("Use one ticket instead of three, please.", Kind.PREFERENCE, "use one ticket instead of three, please"),
        ("Close the ticket instead of the logs.", Kind.CHANGE_STEP, "close the ticket instead of the logs"),
        ("Close the ticket.", Kind.REMOVE_STEP, "we don't close the ticket any more, drop that"),
        ("Drop the step that closes the ticket.", Kind.REMOVE_STEP, "no need to close the ticket, drop that step"),
    ],
)
def test_changing_or_removing_a_line_is_not_already_said_by_it(change: str, kind: Kind, said: str) -> None:
    assert _verdict(replace(UPDATE, change=change, kind=kind, quote=said), said, skill=LOGS).proposed


def test_words_that_ask_for_a_line_do_not_remove_it() -> None:
    said = "always close the ticket"
    update = replace(UPDATE, change="Remove the step that closes the ticket.", kind=Kind.REMOVE_STEP, quote=said)
    assert _verdict(update, said, skill=LOGS).faults == ("it says the opposite of the words it quotes",)


def test_a_model_decides_if_the_next_sentence_asks_for_the_removal() -> None:
    quote = "the bot closes the ticket after every release."
    said = f"{quote} you can drop that line from your list for good"
    update = replace(UPDATE, change="Do not close the ticket.", kind=Kind.REMOVE_STEP, quote=quote)
    assert _verdict(update, said, skill=LOGS).faults == (UNCLEAR_REASON,)
    (checked,) = verify([update], _messages(said), [LOGS], meant=lambda _change, _ground: True).proposed
    assert checked.by_model
    assert _verdict(update, quote, skill=LOGS).faults == ("it says the opposite of the words it quotes",)


def test_two_updates_saying_the_same_are_one() -> None:
    short, long = replace(UPDATE, change="Always put the ticket first."), replace(UPDATE, turn=2)
    verdict = verify([short, long], _messages(ORDER, f"I said {ORDER}"), [SKILL])
    assert [checked.update for checked in verdict.proposed] == [replace(long, quote=ORDER)]
    assert len(verify([long, short], _messages(ORDER, f"I said {ORDER}"), [SKILL]).proposed) == 1


def test_a_reversed_assent_may_be_reworded_from_the_persons_words() -> None:
    turned = replace(UPDATE, change="Never put the recap at the end.", quote="yes, always")
    verdict = _verdict(turned, "[Shall I put the recap at the end each time?]", "yes, always")
    assert (verdict.faults, verdict.reworded) == (("it says the opposite of what the agent offered",), (turned,))


TYPED = "ok.  Always put the *ticket*\nnumber first \u2013 it\u2019s \u201cthe rule\u201d. Next, the tests"


@for_each(
    ("quote", "typed"),
    [
        ("put the *ticket* number", "put the *ticket* number"),
        ("always put the ticket number first", "Always put the *ticket* number first"),
        ('"Always put the ticket number first."', "Always put the *ticket* number first"),
        ("number first - it's 'the rule'", "number first \u2013 it\u2019s \u201cthe rule"),
        ("**number first**", "number first"),
        ("Always put the ticket number first ... the rule", "Always put the *ticket* number first"),
        ("\u2026put the ticket number\u2026", "put the *ticket* number"),
        ("ok.  Always", "ok. Always"),
        ("ok always put the ticket number first", "ok. Always put the *ticket* number first"),
        ("Next the tests.", "Next, the tests"),
        ("always put ... it's the rule ... the tests", "it\u2019s \u201cthe rule"),
    ],
)
def test_a_quote_is_what_was_typed(quote: str, typed: str) -> None:
    assert typed_quote(quote, TYPED) == typed


@for_each(
    "quote",
    [
        "",
        " \n",
        "\u2026",
        '""',
        "put the ticket last",
        "ways put the ticket",
        "ok ... nobody ever said all of this",
        "ok ... the notes",
    ],
)
def test_untyped_text_is_no_quote(quote: str) -> None:
    assert typed_quote(quote, TYPED) == ""


@given(st.text(max_size=60), st.text(max_size=200))
def test_every_quote_found_was_typed(quote: str, typed: str) -> None:
    assert typed_quote(quote, typed) in fold(typed)
