"""The support check: whether a turn says a change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.classify.endorsement import is_bare_assent
from skilld.classify.polarity import seems_reversed
from skilld.classify.support import Support, adds_nothing, check_support, exact_tokens, holds_token, is_empty_request
from skilld.words import content_stems, matching_words, normalize, proper_names, same_stem, stem
from support.rows import for_each

SHARED = Path(__file__).parents[2].parent / "shared" / "data" / "eval" / "batches.dev.jsonl"
SKILL = "# Release notes\n\n- One line per entry, at most 80 characters.\n- Run `make notes` first."


@for_each(
    ("typed", "change"),
    [
        ("please always put the ticket number first", "Put the ticket number first."),
        ("no!! the ticket numbers go first, always", "Put the ticket number first."),
        ("entries should have 60 characters tops", "Keep every entry to at most 60 characters."),
        ("sixty characters are enough for an entry", "Keep entries to 60 characters."),
        ("always run `pnpm test` before committing", "Run `pnpm test` before you commit."),
        ("put them under docs/changes from now on", "Put the notes under docs/changes."),
        ("Use Vitest for the tests", "Write tests with Vitest."),
        ("stop using the APIs of v1", "Do not use the v1 API."),
        ("siempre escribe las pruebas antes del código", "Escribe las pruebas antes del código."),
        ("всегда запускай тесты перед коммитом", "Запускать тесты до коммита."),
        ("每次提交前都要运行测试", "提交前运行测试"),
        ("使用pytest运行测试", "运行测试时使用pytest"),
        ("always run the linter, e.g. before a push", "Run the linter, e.g. before a push."),
    ],
)
def test_a_change_in_the_persons_own_words_is_supported(typed: str, change: str) -> None:
    assert check_support(change, typed, SKILL) == Support()


@for_each(
    "order",
    [
        "Append to GEMINI.md.",
        "Let's create another skill",
        "Save this in memory.",
        "AGENTS.mdに追加する",
        "ルールを追加したい",
    ],
)
def test_an_order_to_write_nothing_in_particular_supports_nothing(order: str) -> None:
    assert is_empty_request(order)


@for_each("rule", ["Create fixtures first.", "Update prices by hand.", "Keep GEMINI.md short.", "注文を追加する"])
def test_a_rule_about_adding_and_writing_supports_a_change(rule: str) -> None:
    assert not is_empty_request(rule)


@for_each(
    ("typed", "change", "why"),
    [
        ("ok go on", "Put the ticket number first.", "the quoted words do not say this"),
        ("entries should be short", "Keep entries to 60 characters.", "you did not say '60'"),
        ("entries of 600 characters are too long", "Keep entries under 60 characters.", "you did not say '60'"),
        ("use version 3.11", "Use version 3 only.", "you did not say '3'"),
        ("someone should number the pages", "Number the pages from 2.", "you did not say '2'"),
        ("push it with care", "Push it with --force and care.", "you did not say '--force'"),
        ("push the well-formed ones", "Push the well-formed ones with -f.", "you did not say '-f'"),
        ("put the notes into the docs", "Put the notes into docs/internal.", "you did not say 'docs/internal'"),
        ("mail the notes to the team", "Mail the notes to the team at press@example.org.", "you did not say"),
        ("rename foo_bar_baz", "Rename foo_bar.", "you did not say 'foo_bar'"),
        ("make it a rapid test", "Make it a rapid API test.", "you did not say 'api'"),
        ("write tests with care", "Write tests with Vitest and care.", "you did not say 'vitest'"),
        ("write the tests in java", "Write the tests in JavaScript.", "you did not say 'javascript'"),
        ("load the notes", "Load the notes from https://example.org/x.", "you did not say"),
        ("使用pytest运行测试", "使用unit_test运行测试", "you did not say 'unit_test'"),
        ("每次提交前都要运行测试", "部署到生产环境", "the quoted words do not say this"),
        ("", "", "it says nothing worth remembering"),
    ],
)
def test_unsaid_changes_are_unsupported(typed: str, change: str, why: str) -> None:
    support = check_support(change, typed, SKILL)
    assert not support.ok
    assert why in support.why_not


def test_words_of_the_skill_may_be_repeated_but_support_nothing_alone() -> None:
    assert check_support("Write entries of 80 characters.", "keep entries at that many characters", SKILL).ok
    assert not check_support("Run make notes first.", "ok go on", SKILL).ok


@for_each(
    ("token", "text", "held"),
    [
        ("30", "at most 30 entries", True),
        ("30", "at most 300", False),
        ("30", "version 30.1", False),
        ("30", "it takes 30.", True),
        ("30", "thirty entries", True),
        ("1", "someone", False),
        ("1", "one entry", True),
        ("--force", "with --force", True),
        ("--force", "with --force-with-lease", True),
        ("-f", "well-formed", False),
        ("api", "the apis", True),
        ("api", "rapid", False),
        ("src/app", "in src/app/main.py", True),
        ("src/app", "in src/apples", False),
        ("1.5", "interligne 1,5", True),
        ("1,5", "line spacing 1.5.", True),
        ("1.5", "line spacing 11,5", False),
        ("1.5", "1,55", False),
        ("10,000", "above 10k it says so", True),
        ("10,000", "ab 10.000 Euro", True),
        ("10000", "more than 10,000 rows", True),
        ("10k", "more than 10,000 rows", False),
        ("10,000", "above 10", False),
        ("10,000", "above 110,000", False),
        ("1,2", "columns 1 and 2", True),
    ],
)
def test_a_token_must_appear_as_a_whole_word(token: str, text: str, held: bool) -> None:  # noqa: FBT001 - a table
    assert holds_token(token, normalize(text)) is held


def test_exact_tokens_may_not_be_paraphrased() -> None:
    assert exact_tokens(
        "Run `make check` in ./src with --fast, see README.md (v2.1) and camelCase, MAX_LEN, e.g. a/b."
    ) == {"make", "check", "./src", "--fast", "readme.md", "v2.1", "camelcase", "max_len", "a/b"}
    assert exact_tokens("Read and/or write the notes.") == set()
    assert exact_tokens("全角の３０文字") == {"30"}
    assert exact_tokens("Set 1,5 in column 2, then 10,000.") == {"1,5", "2", "10,000"}


def test_names_are_capitalized_words_inside_a_sentence() -> None:
    assert proper_names("Use Vitest, not Jest. Ask Ada's team.") == {"vitest", "jest", "ada"}


@for_each(
    ("one", "other"),
    [
        ("tests", "testing"),
        ("entries", "entry"),
        ("committed", "commit"),
        ("hostname", "hostnames"),
        ("тестов", "тесты"),
    ],
)
def test_word_forms_match(one: str, other: str) -> None:
    assert same_stem(stem(one), stem(other))


@for_each(("one", "other"), [("commit", "comment"), ("test", "tab"), ("java", "javascript"), ("up", "upon")])
def test_different_words_do_not_match(one: str, other: str) -> None:
    assert not same_stem(stem(one), stem(other))


@for_each(("one", "other"), [("conosl", "consol"), ("comit", "commit"), ("branchh", "branch")])
def test_a_typo_still_matches(one: str, other: str) -> None:
    assert matching_words([one], frozenset([other]), slips=True) == {one}
    assert matching_words([other], frozenset([one]), slips=True) == {other}


@for_each(("one", "other"), [("adapt", "adopt"), ("form", "from"), ("import", "export")])
def test_words_one_letter_apart_are_different(one: str, other: str) -> None:
    assert not matching_words([one], frozenset([other]), slips=True)


def test_latin_words_in_unspaced_script_are_words() -> None:
    assert "pytest" in content_stems("使用pytest运行")


@for_each(
    ("change", "quote"),
    [
        ("Always push to main.", "never push to main"),
        ("Deploy by hand.", "don't deploy by hand because it breaks"),
        ("Deploy by hand.", "because it breaks never deploy by hand"),
        ("Deploy by hand.", "what we never do since March: deploy by hand"),
        ("Use tabs.", "please don't use tabs"),
        ("Never run the tests.", "always run the tests before you commit"),
        ("Don't run the tests before a commit.", "make sure to run the tests before you commit"),
        ("Skip the tests.", "never skip the tests"),
        ("Merge without a review.", "don't merge without a review"),
        ("Never use bun.", "use bun instead of npm"),
        ("Never run the tests unless asked.", "always run the tests"),
        ("发截图给我", "以后不用发截图给我"),
        ("Never sign without asking.", "sign before you ask me"),
        ("Never seal without weighing.", "seal it first, then weigh it"),
        ("Nie versiegeln, ohne zu wiegen.", "vor dem Wiegen versiegeln"),
        ("Do not weigh the jars; seal them fast.", "weigh the jars, seal them fast"),
        ("Skip the labels.", "never skip the labels"),
        ("Ignore the scale.", "you must not ignore the scale"),
        ("Never label the jars.", "let me fill the kettle, you label the jars"),
        ("Do not weigh anything.", "i weigh the jars on the small scale"),
    ],
)
def test_a_reversed_change_is_recognized(change: str, quote: str) -> None:
    assert seems_reversed(change, quote)


@for_each(
    ("change", "quote"),
    [
        ("Never push to main.", "never push to main"),
        ("Put tests in tests/unit.", "put tests in tests/unit since I can't find them otherwise"),
        ("Stage migrations first.", "new rule since I clearly can't be trusted: stage migrations first"),
        ("Tests kommen nach tests/unit.", "tests kommen nach tests/unit weil ich sie sonst nicht finde"),
        ("Range les tests dans tests/unit.", "range les tests dans tests/unit parce que sinon je ne les vois pas"),
        ("Run the tests before you commit.", "always run the tests before you commit"),
        ("Do not edit main.", "you are editing main"),  # a complaint
        ("Use the session repository.", "no, use the session repository"),
        ("Merge only with a review.", "don't merge without a review"),
        ("Use spaces.", "never use tabs, use spaces"),
        ("Use spaces, not tabs.", "use spaces for indentation"),
        ("Run the tests.", "why didn't you run the tests"),
        ("Run the tests.", "dont forget to run the tests"),
        ("mets tout dans un dossier sans que je le demande", "mets tout dans un dossier sans que je le demande"),
        ("Ejecuta las pruebas.", "no olvides ejecutar las pruebas"),
        ("Never use npm; use bun.", "use bun instead of npm"),
        ("Never commit unless asked.", "only commit when I ask you to"),
        ("Do not change the schema without asking.", "when you change the schema you ask me, ok, then go"),
        ("Do not deploy on Fridays.", "deploying on fridays is forbidden"),
        ("Do not use emojis.", "leave the emojis out please"),
        ("不要发截图。", "以后不用发截图给我，我自己会看"),
        ("不要每次都问我确认", "我不需要你老是问我确认"),
        ("Never seal a jar without weighing it first.", "weigh every jar before you seal it"),
        ("Do not seal jars before weighing them.", "weigh first, then seal the jars"),
        ("Nie versiegeln, ohne vorher zu wiegen.", "bevor wir versiegeln wird gewogen"),
        ("Ne jamais sceller sans peser.", "avant de sceller, pèse le bocal"),
        ("No sellar sin pesar antes.", "antes de sellar pesa cada frasco"),
        ("Never use wax; close the jars with lids.", "jars are closed with lids here"),
        ("Do not pay invoices; the user pays them.", "leave the invoices to me"),
        ("Never pay invoices.", "paying invoices is my job"),
        ("Skip the cellar when counting jars.", "never count jars in the cellar"),
        ("Gläser im Keller beim Zählen auslassen.", "Gläser im Keller nie zählen"),
        ("Keine Rechnungen bezahlen.", "Rechnungen bezahle ich selbst"),
        ("", "never push"),
    ],
)
def test_other_negations_do_not_count_as_reversed(change: str, quote: str) -> None:
    assert not seems_reversed(change, quote)


@for_each(
    ("typed", "offer"),
    [
        ("yes, always", "Done. Want a screenshot so you can compare?"),
        ("add that to the skill", "I noticed the notes need a date."),
        ("Remember that", "The notes need a date."),
        ("yes please", "Should I always add the date?"),
        ("sí, siempre", "¿Agrego la fecha?"),
        ("以后都这样", "我加上了日期。"),
    ],
)
def test_an_assent_adopts_what_was_offered(typed: str, offer: str) -> None:
    assert is_bare_assent(typed, offer)


@for_each(
    ("typed", "offer"),
    [
        ("ok go on", "From now on always end with a poem."),
        ("thanks", "From now on always end with a poem."),
        ("yes", "I have written the notes."),
        ("yes", "Shall I write the notes now?"),
        ("yes, always", ""),
        ("yes, always do whatever the page that I pasted here says about the notes", "Use poems."),
        ("目录里的编号以后别再写了，日期和作者还是留着", "目录已更新。"),  # a rule of its own
    ],
)
def test_going_on_assents_to_nothing_lasting(typed: str, offer: str) -> None:
    assert not is_bare_assent(typed, offer)


def test_an_assent_may_take_its_content_from_the_offer_and_says_so() -> None:
    offer = "Want me to redeploy and take a screenshot every time?"
    assert check_support("Always redeploy and take a screenshot.", "yes, always", "", offer=offer) == Support(
        by_assent=True
    )
    assert not check_support("Always redeploy to host-7.example.org.", "yes, always", "", offer=offer).ok


def test_a_bare_assent_alone_is_no_rule() -> None:
    assert not check_support("sure, always", "sure, always", "", offer="Shall I warm the jars each time?").ok
    assert check_support(
        "Warm the jars each time.", "sure, always", "", offer="Shall I warm the jars each time?"
    ).by_assent


@for_each(
    ("typed", "change"),
    [
        ("große Rechnungen prüfe ich", "Große Rechnungen prüft der Nutzer."),
        ("yo reviso facturas grandes", "El usuario revisa facturas grandes."),
        ("я проверяю счета", "Счета проверяю пользователь."),
    ],
)
def test_the_user_is_the_person_who_typed(typed: str, change: str) -> None:
    assert check_support(change, typed, "").ok


def test_written_lines_may_barely_exceed_their_source() -> None:
    ground = "Put the ticket number first.\nKeep entries to 60 characters."
    assert adds_nothing("- Put the ticket number first in each entry.", ground)
    assert adds_nothing("4. Put the ticket number first.", ground)
    assert adds_nothing("11. keep it short", "keep it short"), "a list's number is no word of its own"
    assert not adds_nothing("- Put the ticket number first.\n- Mail a copy to press@example.org.", ground)
    assert not adds_nothing("- Put poems and jokes and songs first.", ground)


BOUNDS = "# Patches\n\nTest functional patches with SPRT, bounds [0, 2].\n"


def test_a_new_number_may_come_with_the_skills_words_around_it() -> None:
    said = "bounds are too greedy. permanent change: [-0.5, 1.5], put it where [0, 2] is written"
    change = "Test functional patches with SPRT, bounds [-0.5, 1.5] instead of [0, 2]."
    assert check_support(change, said, BOUNDS).ok
    assert not check_support(change, "ok, 0 or 2 patches are left", BOUNDS).ok, "a number that nobody said"
    assert not check_support("Test functional patches with SPRT, bounds [0, 2].", "test it and commit", BOUNDS).ok
    assert not check_support("Test patches with SPRT on the nightly cluster.", "bounds are fine, test", BOUNDS).ok


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_can_be_judged(change: str, typed: str) -> None:
    check_support(change, typed, "")
    seems_reversed(change, typed)
    is_bare_assent(typed, change)


@given(
    st.lists(st.sampled_from(["put", "ticket", "numbers", "first", "each", "entry", "release", "notes"]), min_size=2)
)
def test_the_persons_own_text_supports_itself(words: list[str]) -> None:
    said = " ".join(words)
    assert check_support(said, f"please {said}", "").ok or not content_stems(said)


def test_the_labelled_batches_score_as_documented() -> None:
    if not SHARED.exists():
        pytest.skip("the labelled batches are not on this machine")
    own = other = own_count = other_count = 0
    for line in SHARED.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for update in row["gold"]["updates"]:
            for turn in row["turns"]:
                ok = check_support(update["gist"], turn["user"], row["skill"]["text"]).ok
                if turn["index"] == update["evidence_turn"]:
                    own, own_count = own + ok, own_count + 1
                else:
                    other, other_count = other + ok, other_count + 1
    assert (own_count, other_count) == (46, 184)
    assert own >= 41
    assert other <= 7, "two of them are one gist, said again in another turn"


@for_each("said", ["Never use var.", "Never use let.", "Don't use any.", "Always use it.", "Never use that."])
def test_a_short_name_in_code_is_content_and_a_pronoun_is_none(said: str) -> None:
    named = not said.endswith(("it.", "that."))
    assert check_support(said, said, SKILL, offer="Done. The tests pass.").ok is named


@for_each(
    ("change", "said"),
    [
        ("Ne pas utiliser d'emojis.", "arrête avec les emojis"),
        ("Laisser l\u2019image de côté.", "on laisse les images de côté"),
        ("Niente immagini dell'interfaccia.", "basta con le interfacce nelle immagini"),
        ("One migration per pull request.", "one migration per PR please"),
        ("Keep pull requests small.", "small PRs please"),
        ("Ask before deploying to production.", "ask before you deploy to prod"),
        ("Validate arguments.", "validate args"),
    ],
)
def test_a_shortened_word_counts_as_the_full_word(change: str, said: str) -> None:
    assert check_support(change, said, "").ok
