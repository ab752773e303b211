"""What a file can do without: certain cuts, those a model names, and what is never cut."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from skilld.classify.closed_questions import spare_parts
from skilld.classify.json_answer import BadReplyError
from skilld.context import Context, LoadedFile, LoadTime, Scope
from skilld.context.ceilings import ceilings, excess_reason
from skilld.context.tokenizer import ESTIMATE, tokenizer
from skilld.edit.operations import apply
from skilld.errors import RefusedError
from skilld.proposals.staging import stage
from skilld.proposals.staging_result import StagingResult
from skilld.trim.code_cuts import FileFacts, certain_cuts, doubtful_lines
from skilld.trim.cuts import Cut, CutReason
from skilld.trim.model_cuts import PieceAnswer, cuts_from_answers, numbered_texts, pieces, unit_cuts
from skilld.trim.propose import MAX_OPEN, CutStatus, instruction_files, plan, proposal
from skilld.trim.units import ParsedFile, lead_followers, parse_units
from skilld.types import SkillRef, State, TargetKind
from support.proposals import make_proposal
from support.rows import for_each

COUNT = ESTIMATE.count


def parse(text: str) -> ParsedFile:
    return parse_units(text.encode())


def cut_text(text: str, cuts: list[Cut]) -> str:
    data = text.encode()
    for cut in cuts:
        data = apply(data, cut.operations)
    return data.decode()


LONG = "Money is in cents, and never in floating point numbers."


@for_each(
    ("text", "left", "why"),
    [
        (f"# A\n\n- {LONG}\n- b\n- {LONG}\n", f"# A\n\n- {LONG}\n- b\n", CutReason.TWICE),
        (
            "# A\n\n## Contents\n\n- [B](#b)\n  - [C](#c)\n\n## B\n\nText.\n",
            "# A\n\n## B\n\nText.\n",
            CutReason.CONTENTS,
        ),
        ("# A\n\n[![b](https://x.example/b.svg)](https://x.example)\n\nText.\n", "# A\n\nText.\n", CutReason.BADGE),
        ("# A\n\nText.\n\n## B\n", "# A\n\nText.\n", CutReason.EMPTY),
        ("# A\n\nText.\n\n## Deployment\n\n## B\n\nMore.\n", "# A\n\nText.\n\n## B\n\nMore.\n", CutReason.EMPTY),
        ("# A\n\n- Be brief.\n- Use tabs.\n- Be brief.\n", "# A\n\n- Be brief.\n- Use tabs.\n", CutReason.TWICE),
        (
            f"# A\n\n- b\n- {LONG}\n- {LONG}\n\n## B\n\nText.\n",
            f"# A\n\n- b\n- {LONG}\n\n## B\n\nText.\n",
            CutReason.TWICE,
        ),
        (
            f"# A\n\n## B\n\n- {LONG}\n- b\n- c\n\n## C\n\nText.\n\n## B\n\n- c\n- {LONG}\n\n## D\n\nMore.\n",
            f"# A\n\n## B\n\n- {LONG}\n- b\n- c\n\n## C\n\nText.\n\n## D\n\nMore.\n",
            CutReason.TWICE,
        ),
    ],
)
def test_redundant_lines_go_with_their_heading_and_blank_lines(text: str, left: str, why: CutReason) -> None:
    (cut,) = certain_cuts(parse(text), FileFacts(), COUNT)
    assert (cut.why, cut.lost, cut_text(text, [cut])) == (why, "nothing", left)


@for_each(
    "text",
    [
        f"# A\n\n## Create\n\n- {LONG}\n\n## Update\n\n- {LONG}\n",  # said of two things
        f"# A\n\n## Go\n\n### Style\n\n- {LONG}\n\n## C\n\n### Style\n\n- {LONG}\n",  # the same
        "# A\n\n## B\n\n- Be brief.\n\nOr:\n\n- Be brief.\n\nOr:\n\n- Use tabs.\n",  # one of several ways
        "# A\n\n## B\n\n- yes\n\n## C\n\nText.\n\n## B\n\n- yes\n",  # too short to be certain
        "# A\n\nText.\n\n## TypeScript\n\n## Forbidden\n\n## Stack\n\n### Postgres\n\n### Redis\n\n## Push nothing\n",
        f"# A\n\n1. {LONG}\n2. b\n3. {LONG}\n",  # steps are counted on
        "# A\n\n## Contents\n\n- The title page\n- The index\n\nText.\n",
        f"# A\n\n<!-- x:start -->\n- {LONG}\n- {LONG}\n<!-- x:end -->\n",  # a program's lines
        "# A\n\nText ![b](https://x.example/b.svg) goes on.\n",
        "# A\n\n## When to use\n\n- Only on Mondays\n",  # no skill
    ],
)
def test_possibly_meaningful_lines_stay(text: str) -> None:
    assert certain_cuts(parse(text), FileFacts(), COUNT) == []


SKILL = (
    "---\nname: a\ndescription: Makes notes.\n---\n\n# A\n\n## When to use\n\n- {}\n- Releasing\n\n## Steps\n\n1. b\n"
)


def test_a_repeated_when_to_use_goes_from_the_part_read_later() -> None:
    text = SKILL.format("Making notes")
    (cut,) = certain_cuts(parse(text), FileFacts(is_skill=True, described=True), COUNT)
    assert (cut.why, cut.line, "When to use" in cut_text(text, [cut])) == (CutReason.CHOOSING, 8, False)
    assert certain_cuts(parse(text), FileFacts(is_skill=True), COUNT) == [], "it has no description"
    limited = SKILL.format("Making notes, but not for a patch")
    assert certain_cuts(parse(limited), FileFacts(is_skill=True, described=True), COUNT) == []


def test_a_broken_reference_goes_and_a_rule_containing_one_stays() -> None:
    text = "# A\n\n- See `docs/b.md`.\n- Money is in cents: `src/money.ts`.\n- c\n"
    (cut,) = certain_cuts(parse(text), FileFacts(dead={3, 4}), COUNT)
    assert (cut.why, cut.line) == (CutReason.DEAD, 3)


def test_a_rule_that_never_mattered_goes_unless_the_person_said_it() -> None:
    text = "# A\n\n- Draw with crayons.\n- b\n"
    assert [cut.why for cut in certain_cuts(parse(text), FileFacts(unused={3}), COUNT)] == [CutReason.UNUSED]
    assert certain_cuts(parse(text), FileFacts(unused={3}, own={"draw with crayons."}), COUNT) == []


def test_lines_of_a_file_always_loaded_with_it_go() -> None:
    other = parse(f"# X\n\n## A\n\n- {LONG}\n")
    (cut,) = certain_cuts(parse(f"# Y\n\n## A\n\n- {LONG}\n- b\n"), FileFacts(others={"AGENTS.md": other}), COUNT)
    assert (cut.why, cut.where) == (CutReason.TWICE, "AGENTS.md")


def model_cuts(text: str, *words: str, known: FileFacts | None = None, besides: list[Cut] | None = None) -> list[Cut]:
    """The cuts where the units that hold some words are said elsewhere, a model says and code approves."""
    parts = parse(text)
    chosen = {
        at: (CutReason.SAID, "") for at, unit in enumerate(parts.units) if any(word in unit.text for word in words)
    }
    assert chosen
    return unit_cuts(parts, known or FileFacts(), chosen, COUNT, besides or [])


REST = "\n## Rules\n\n- We do this.\n- We do that, and the other thing as well, whenever the moon is full.\n"


@for_each(
    ("below", "words"),
    [
        ("## Kettles\n\nWater boils.\n", "Water"),
        ("Kettles\n-------\n\nWater boils.\n", "Water"),  # an underlined heading
        ("## Kitchen\n\n### Kettles\n\nWater boils.\n", "Water"),  # and so upwards
        ("## Kettles\n\n- Water boils.\n- Water cools.\n\n---\n", "Water"),  # a rule says nothing
        ("## Kettles\n\nLike this:\n\n- Water boils.\n- Water cools.\n", "Water"),
    ],
)
def test_a_cut_that_empties_a_section_removes_its_heading(below: str, words: str) -> None:
    """Issue 17, 4: no heading stays with nothing below it, whether or not anything else names its subject."""
    text = f"# A\n\nText.\n\n{below}{REST}"
    (found,) = model_cuts(text, words)
    assert cut_text(text, [found]).strip() == f"# A\n\nText.\n{REST}".strip()
    assert found.operations[0].anchor.startswith(below.split("\n", maxsplit=1)[0]), "the heading is named with the rest"


def test_a_heading_stays_while_something_below_it_stays() -> None:
    for more in ("We like tea.", "### Tea\n\nTea is our choice.", "<!-- note -->"):
        text = f"# A\n\nText.\n\n## Kettles\n\nWater boils.\n\n{more}\n{REST}"
        (cut,) = model_cuts(text, "Water")
        assert cut_text(text, [cut]) == text.replace("Water boils.\n\n", "")


@for_each(
    ("text", "word"),
    [
        ("# Kettles\n\nWater boils.\n\n# Pots\n\nIron.\n", "Water"),  # the file's title
        ("# A\n\n## Gas stove (recommended)\n\nWater boils.\n", "Water"),  # it says a choice
        ("# A\n\n## Step 1\n\nWater boils.\n\n## Step 2\n\nPour.\n", "Water"),  # it is counted on
        ("# A\n\nSee [there](#kettles).\n\n## Kettles\n\nWater boils.\n", "Water"),  # a link leads there
        ("# A\n\n## Ways\n\nSome.\n\n### Kettles\n\nWater boils.\n", "Water"),  # one of several ways
        ("# A\n\n## Black tea\n\nWater boils.\n\n## Green tea\n\nNot quite.\n", "Water"),
        ("# A\n\n## Black tea (old)\n\n### Pots\n\nWater boils.\n\n## Green tea (new)\n\nNo.\n", "Water"),
    ],
)
def test_lines_below_a_required_heading_are_not_cut(text: str, word: str) -> None:
    assert model_cuts(text + REST, word) == []


def test_the_persons_heading_stays_and_a_repeated_one_goes() -> None:
    text = f"# A\n\nText.\n\n## Kettles\n\nWater boils.\n{REST}"
    assert model_cuts(text, "Water", known=FileFacts(own={"## kettles"})) == []
    several = text.replace("Kettles", "Black tea") + "\n## Green tea\n\nNot quite.\n"
    assert model_cuts(several, "Water") == []
    assert len(model_cuts(several.replace("Text.", "Green tea, or black."), "Water")) == 1


@pytest.mark.parametrize("below", ["- Water boils.\n- Water cools.\n", "| Water |\n|---|\n"])
def test_a_line_introducing_a_list_or_table_goes_with_it(below: str) -> None:
    text = f"# A\n\nText.\n\nFor example:\n\n{below}{REST}"
    (cut,) = model_cuts(text, "Water", "water")
    assert cut_text(text, [cut]) == f"# A\n\nText.\n{REST}".replace(".\n\n##", ".\n\n##")
    for lead in ("We always do this:", "Tea is green. For example:"):
        assert model_cuts(text.replace("For example:", lead), "Water", "water") == [], "more is said than was named"


LONG_ITEMS = ["".join(f"- Water {word} {number}.\n" for number in range(28)) for word in ("boils", "cools")]


def orders(text: str, cuts: list[Cut], rng: random.Random) -> None:
    """Each cut can be made alone, and those that do not wait in any order: nothing that is gone stays announced."""
    free = [cut for cut in cuts if not cut.after]
    for some in [*([cut] for cut in cuts), *(rng.sample(free, len(free)) for _ in range(4))]:
        parsed_file = parse(cut_text(text, some))
        says = {
            section.title: any(map(parsed_file.has_text, range(section.start, section.end)))
            for section in parsed_file.sections
            if section.level
        }
        assert [title for title, more in says.items() if not more] == []
        assert [parsed_file.units[at].text for at, below in lead_followers(parsed_file).items() if not below] == []


@pytest.mark.parametrize(
    "text",
    [
        f"# A\n\n{LONG}\n\n## Kettles\n\n{LONG_ITEMS[0]}\nIn between.\n\n{LONG_ITEMS[1]}",
        f"# A\n\n{LONG}\n\n## Kettles\n\n### Hot\n\n{LONG_ITEMS[0]}\n### Cold\n\n{LONG_ITEMS[1]}",
        f"# A\n\n{LONG}\n\n## Kettles\n\nIn between:\n\n{LONG_ITEMS[0]}{LONG_ITEMS[1]}",
    ],
    ids=["units", "subsections", "lead"],
)
def test_of_cuts_that_together_empty_a_section_the_smallest_waits_and_takes_the_heading(text: str) -> None:
    text += f"{REST}\n" + f"- {LONG} We say so again and again.\n" * 40
    words = ("Water", "In between")
    cuts = model_cuts(text, *words)
    first, last = [cut for cut in cuts if not cut.after], [cut for cut in cuts if cut.after]
    assert first
    (waiting,) = last
    assert set(waiting.after) <= {one.key for one in first}
    orders(text, cuts, random.Random(17))
    left = cut_text(text, first)
    assert "Kettles" in left
    (then,) = model_cuts(left, *words)
    assert cut_text(left, [then]).count("Kettles") == cut_text(left, [then]).count("In between") == 0
    fates = {one.cut.key: one for one in plan([(REF, cut) for cut in cuts], [])}
    assert fates[waiting.key].status is CutStatus.WAITS
    kept = proposal(fates[waiting.after[0]], "m", "t", "2026-01-01T00:00:00Z")
    for state, fate in ((State.OPEN, CutStatus.WAITS), (State.REJECTED, CutStatus.PROPOSE)):
        known = make_proposal(id=kept.id, batch_id=kept.batch_id, state=state)
        assert {one.cut.key: one.status for one in plan([(REF, cut) for cut in cuts], [known])}[waiting.key] is fate


def test_a_models_cut_waits_for_a_sure_cut_that_together_would_empty_a_section() -> None:
    text = f"# A\n\n## Tea\n\n- {LONG}\n\n## Kettles\n\nWater boils.\n\n## Tea\n\nWater cools.\n\n- {LONG}\n{REST}"
    (certain,) = certain_cuts(parse(text), FileFacts(), COUNT)
    (named_too,) = model_cuts(text, "cools", besides=[certain])
    assert (certain.after, named_too.after) == ((), (certain.key,))
    orders(text, [certain, named_too], random.Random(17))


def random_file(rng: random.Random) -> str:
    """A file of sections within sections with lists in them, some announced."""
    parts = ["# Top\n\nText.\n\n"]
    for number in range(rng.randrange(3, 9)):
        parts.append(f"{'#' * rng.randrange(2, 5)} Part {'abcdefghi'[number]}\n\n")
        for at in range(rng.randrange(1, 3)):
            parts.append(rng.choice(["", f"Like {number}{at}:\n\n"]))
            parts += [f"- Word {number} {at} {line}\n" for line in range(rng.choice([1, 3, 15, 25]))]
            parts.append("\nBetween.\n\n")
    return "".join(parts) + REST + f"- {LONG} We say so again and again.\n" * 60


def test_no_order_of_a_models_cuts_leaves_an_empty_heading() -> None:
    rng = random.Random(17)
    made = waiting = 0
    for _ in range(10):
        text = random_file(rng)
        parts = parse(text)
        some = {unit.heading for unit in parts.units if rng.random() < 0.5}
        numbers = [at for at, unit in enumerate(parts.units) if unit.heading in some or rng.random() < 0.3]
        cuts = unit_cuts(parts, FileFacts(), dict.fromkeys(numbers, (CutReason.SAID, "")), COUNT)
        orders(text, cuts, rng)
        made, waiting = made + len(cuts), waiting + sum(bool(cut.after) for cut in cuts)
    assert made > 16
    assert waiting > 1


def test_a_models_answer_refers_to_numbered_existing_parts() -> None:
    read = spare_parts([(0, "title"), (1, "a"), (2, "b")]).read
    twice = '<spare>[{"number": 2, "same": 0}, {"number": 1, "same": 2}, {"number": 2, "same": 1}]</spare>'
    assert read(twice) == [(1, 2, ""), (2, 0, "")]
    assert read('<spare>[{"number": 2}, {"number": 1, "same": 0, "text": "x"}]</spare>') == [
        (1, 0, "x"),
        (2, 0, ""),
    ]
    assert read("<spare>[]</spare>") == []
    for reply in (
        '<spare>[{"number": 3, "same": 0}]</spare>',
        '<spare>[{"number": 1, "same": 3}]</spare>',
        '<spare>[{"number": 1, "same": 1}]</spare>',
        '<spare>[{"number": 1, "text": 2}]</spare>',
        '<spare>[{"number": 1, "why": "x"}]</spare>',
        "<spare>[1]</spare>",
    ):
        with pytest.raises(BadReplyError):
            read(reply)


def piece_cuts(text: str, *wanted: tuple[str, str]) -> list[Cut]:
    """The cuts where a model names the pieces that hold some words, each with the words of what says the same."""
    parts = parse(text)

    def place(words: str) -> int:
        return next(at for at, part in enumerate(pieces(parts)) if words in part.text)

    return cuts_from_answers(
        parts, FileFacts(), [PieceAnswer(place(one), place(same) if same else None) for one, same in wanted], COUNT
    )


def test_a_model_sees_the_file_in_order_with_every_piece_numbered_once() -> None:
    table = "| Pot | Use |\n| --- | --- |\n| iron | soup |\n| clay | tea |"
    code = "```sh\n# Fill the pot\nfill pot\n\n# Boil it\nboil pot\n```"
    text = (
        f"---\nname: a\n---\n# A\n\nIt is hot in here. Pour it now.\n\n{table}\n\n{code}\n\n- b c\n  - d e\n  - f g\n"
    )
    assert numbered_texts(parse(text)) == [
        (0, "---\nname: a\n---\n"),
        (0, "# A"),
        (1, "It is hot in here."),
        (2, "Pour it now."),
        (0, "| Pot | Use |\n| --- | --- |"),
        (3, "| iron | soup |"),
        (4, "| clay | tea |"),
        (5, code),
        (6, "- b c"),
        (7, "  - d e"),
        (8, "  - f g"),
    ]
    step = "1. Boil:\n   ```sh\n   boil pot\n   ```\n   - Wait. Then pour.\n"
    assert numbered_texts(parse(f"# A\n\n{step}"))[1:] == [
        (1, "1. Boil:"),
        (0, "   ```sh\n   boil pot\n   ```"),
        (2, "   - Wait. Then pour."),
    ]


BOILS = "Water boils there in all of the old kettles"
ECHO = f"\n## Kettles\n\n{BOILS}, and cools.\n"


@for_each(
    ("below", "left"),
    [
        (f"{BOILS}. Tea is green here.\nPour it.\n", "Tea is green here.\nPour it.\n"),
        (f"Tea is green here.\n{BOILS}.\n", "Tea is green here.\n"),
        (f"- Tea is green here. {BOILS}.\n", "- Tea is green here.\n"),
        (f"- Tea\n  - {BOILS}\n  - It cools\n", "- Tea\n  - It cools\n"),
        (f"| a | b |\n|---|---|\n| {BOILS} | b |\n| d | e |\n", "| a | b |\n|---|---|\n| d | e |\n"),
    ],
)
def test_a_piece_of_a_kept_part_can_go(below: str, left: str) -> None:
    (cut,) = piece_cuts(f"# A\n\n{below}{ECHO}", (BOILS, "and cools"))
    assert cut_text(f"# A\n\n{below}{ECHO}", [cut]) == f"# A\n\n{left}{ECHO}"


@for_each(
    "below",
    [
        f"{BOILS}. It is hot now.\n",  # the next sentence leans on it
        f"- **{BOILS}:** always. Tea is green here.\n",  # the label
        f"- Tea:\n  - {BOILS}\n",
        f"1. Tea is green here. {BOILS}.\n2. Pour.\n",  # a step
        f"1. Boil:\n   - {BOILS}\n   ```sh\n   boil\n   ```\n",  # around code
        f"```sh\n# {BOILS}\nboil\n```\n",  # code
    ],
)
def test_a_piece_the_rest_depends_on_stays(below: str) -> None:
    assert piece_cuts(f"# A\n\n{below}{ECHO}", (BOILS, "and cools")) == []


def test_an_empty_phrase_goes_only_if_the_rest_has_its_words_and_nothing_binding() -> None:
    text = f"# Tea\n\nGuide to green tea.\n\n## Steps\n\n- Boil water for green tea by the guide.\n{REST}"
    (cut,) = piece_cuts(text, ("Guide to", ""))
    assert (cut.why, cut.lost, cut.where) == (CutReason.SAID, "Guide to green tea.", "")
    for more in ("Always guide to green tea.", "Guide to 3 green teas.", "Guide to `green` tea.", "Guide to kettles."):
        assert piece_cuts(text.replace("Guide to green tea.", more), (more, "")) == []
    steps = text.replace("- Boil", "1. Boil").replace("Guide to green tea.", "| a | b |\n|---|---|\n| green | tea |")
    assert piece_cuts(steps, ("| green", "")) == []


TWICE = "# A\n\n- Never push to `main` before the tests pass.\n- {}\n" + REST


def test_a_rule_goes_if_another_line_says_it_and_that_line_stays() -> None:
    text = TWICE.format("You must never push to `main`.")
    (cut,) = piece_cuts(text, ("You must", "before the"))
    assert (cut.why, cut.where, cut.line) == (CutReason.SAID, "line 3", 4)
    assert cut_text(text, [cut]) == TWICE.replace("- {}\n", "")
    assert piece_cuts(text, ("You must", "")) == [], "nothing says it"
    both = piece_cuts(text, ("You must", "before the"), ("before the", "You must"))
    assert [one.line for one in both] == [4], "of two that name each other one stays"
    (flag,) = proposal(plan([(REF, cut)], [])[0], "m", "t", "2026-01-01T00:00:00Z").flags[1:]
    assert "You must never push" in flag


@for_each(
    "more",
    [
        "Never push to `main` after 6 pm.",  # a value
        "Never push to `main` or `stable`.",  # a name
        "Never push to main unless asked.",  # a condition
        "Never merge without an approval by two people.",  # something else
        "Use pnpm, never push.",  # a tool
        "Never push to main with src/deploy.py.",  # a path
    ],
)
def test_a_line_that_adds_anything_is_not_redundant(more: str) -> None:
    assert piece_cuts(TWICE.format(more), (more[-12:], "before the")) == []


def test_a_prohibition_is_not_covered_by_a_line_that_forbids_nothing() -> None:
    text = TWICE.replace("Never push", "Push").format("Never push to `main` by hand.")
    assert piece_cuts(text, ("by hand", "before the")) == []


def test_a_cut_anchored_on_a_line_another_cut_removes_waits() -> None:
    tea = "- Water is wet.\n- We pour."
    text = f"# A\n\n## B\n\n{tea}\n\n## C\n\n- {LONG}\n- Milk.\n\n## C\n\n- {LONG}\n{tea}\n{REST}"
    parts = parse(text)
    (certain,) = certain_cuts(parts, FileFacts(), COUNT)
    first, second = [at for at, part in enumerate(pieces(parts)) if "Water" in part.text]
    (answer,) = cuts_from_answers(parts, FileFacts(), [PieceAnswer(second, first)], COUNT, [certain])
    assert answer.after == (certain.key,)


RULE = "- If you need to make a release, you should always run `make dist` before you push the tag to the server."


def reworded_cuts(old: str, new: str, known: FileFacts | None = None) -> list[Cut]:
    """The cuts where a model says the first piece of a file again."""
    return cuts_from_answers(
        parse(f"# A\n\n## B\n\n{old}\n{REST}"), known or FileFacts(), [PieceAnswer(0, text=new)], COUNT
    )


@for_each(
    ("old", "new"),
    [
        (RULE, "- If you need to make a release, always run `make dist` before pushing the tag."),
        (RULE, "If you need to release, always run `make dist` before pushing the tag."),  # without its marker
        ("1. **Files:** Look at each of the files that you have changed.", "1. Files: Look at each changed file."),
        ("When you are going to be writing issues:", "When writing issues:"),
    ],
)  # fmt: skip
def test_a_part_is_shortened_to_fewer_of_its_words(old: str, new: str) -> None:
    (cut,) = reworded_cuts(old, new)
    marker = "- " if old == RULE and not new.startswith("- ") else ""
    text = f"# A\n\n## B\n\n{old}\n{REST}"
    assert cut_text(text, [cut]) == text.replace(old, marker + new)
    assert (cut.why, cut.line, cut.tokens > 0) == (CutReason.SHORTER, 5, True)


@for_each(
    "new",
    [
        "- Always run `make dist` before pushing the tag.",  # the case
        "- If you need to release, run `make dist` before pushing the tag.",  # strictness
        "- If you need to release, always run `make dist`, then push the tag.",  # order
        "- If you need to release, always run make before pushing the tag.",  # a command
        "- If you need to release, always run `make dist` and `make` before pushing the tag.",
        "- If you need to release, never run `make dist` before pushing the tag.",
        "- If you need to release, always run `make dist` before deleting the tag.",  # another word
        "- If you need to release, always run `make dist` before any push.",
        "* If you need to release, always run `make dist` before pushing the tag.",  # the marker
        "- If you need to, always `make dist` before it.",  # hardly any word is left
        "- If you need to release, always run `make dist` before pushing 2 tags.",
        RULE + " Always.",
        "- If you need to release, always run `make dist` before pushing\n---",  # a heading
        "- If you need to release, always run `make dist` before pushing the [tag].",
    ],
)
def test_a_shorter_version_may_not_add_or_lose_anything_binding(new: str) -> None:
    assert reworded_cuts(RULE, new) == []
    assert reworded_cuts(RULE, "- If you need to release, always run `make dist` before pushing the tag.") != []


@for_each(
    ("old", "new"),
    [
        ("Usually the answer stands in the file of notes that is there.", "The answer stands in the notes file."),
        ("Use a shell such as bash for what you are going to do there.", "Use bash for what you do there."),
        ("Is the answer that you gave there the right one for this case?", "The answer there is right for this case."),
        ("Write the notes for Anna into the file that is there for them.", "Write notes into the file for them."),
        ("Keep the answer that you give there as short as it can be:", "Keep the answer short."),
        ("| the answer that you give there | is short |", "| answer | short |"),
        ("Use it for critical services, and for those with zero tolerance.", "Use it for critical services."),
        ("Give every client of the studio a look that is of their own.", "Give clients a look of their own."),
        ("Niemals auf main pushen, außer wenn die Tests grün sind.", "Niemals auf main pushen."),
        ("Jamais de commit sans les tests, sauf pour les textes.", "Jamais de commit sans les tests."),
        ("> Keep the answer that you give there short, as it can be.", "> Keep answers short."),
    ],
)
def test_code_examples_questions_names_introductions_tables_lists_scope_and_other_languages_stay(
    old: str, new: str
) -> None:
    assert reworded_cuts(old, new) == []


@for_each(
    ("old", "new"),
    [
        ("- Write KDoc for the public API of the module only.", "- Write KDoc for public API of module only."),
        ("- Money is always `BigDecimal` with scale 2, in any service.", "- Money always `BigDecimal` with scale 2."),
        ("- Use constructor injection; no service locators at all.", "- Constructor injection; no service locators."),
        (
            "- Return errors as results, since the domain never throws.",
            "- Return errors as results; domain never throws.",
        ),
    ],
)
def test_a_sentence_does_not_become_shorthand(old: str, new: str) -> None:
    assert reworded_cuts(old, new) == []


def test_parts_of_a_rewording_are_in_the_order_of_the_file() -> None:
    olds = [f"- {one} the notes that are in the file of the team there." for one in ("Read", "Translate")]
    news = [one.replace("that are in the file of the team there", "there") for one in olds]
    text = f"# A\n\n{olds[0]}\n- Be brief.\n{olds[1]}\n"
    parsed = parse_units(text.encode())
    answers = [PieceAnswer(0, text=news[0]), PieceAnswer(2, text=news[1])]
    (cut,) = cuts_from_answers(parsed, FileFacts(), answers, str.__len__)
    assert [(one.anchor, one.text) for one in cut.operations] == [*zip(olds, news, strict=True)]


def test_the_persons_words_are_not_reworded() -> None:
    new = "- If you need to release, always run `make dist` before pushing the tag."
    assert reworded_cuts(RULE, new, FileFacts(own={RULE.removeprefix("- ").lower()})) == []


def test_a_section_is_shortened_at_once_and_asked_about_once() -> None:
    where = ("mail", "chat", "note")
    one, two, three = (f"Keep the answer that was wanted in the {word} as short as it can be." for word in where)
    text = f"# A\n\n## B\n\n{one}\n\n### C\n\n{two}\n\n## D\n\n{three}\n{REST}"
    short = [PieceAnswer(at, text=f"Keep the {word} answer short.") for at, word in enumerate(where)]
    below_d, below_b = sorted(
        cuts_from_answers(parse(text), FileFacts(), short, COUNT), key=lambda one: len(one.operations)
    )
    assert (len(below_b.operations), len(below_d.operations)) == (2, 1)
    assert below_b.lost == "the word “wanted”"
    other = [PieceAnswer(0, text="Keep answers in the mail short.")]
    (answer,) = cuts_from_answers(parse(text), FileFacts(), other, COUNT)
    assert (answer.key, answer.operations != below_b.operations) == (below_b.key, True)
    (made,) = plan([(REF, below_b)], [])
    assert proposal(made, "m", "t", "2026-01-01T00:00:00Z").summary == f"shorten 2 lines, {below_b.tokens} tokens"


def test_a_line_below_no_heading_of_the_first_two_levels_is_shortened() -> None:
    text = f"### A\n\nKeep the answer that was wanted in the mail as short as it can be.\n{REST}"
    (cut,) = cuts_from_answers(parse(text), FileFacts(), [PieceAnswer(0, text="Keep the mail answer short.")], COUNT)
    assert cut_text(text, [cut]) == f"### A\n\nKeep the mail answer short.\n{REST}"


def test_general_advice_is_only_questioned() -> None:
    text = "# A\n\n- Write clean, readable code.\n- Use pnpm.\n"
    assert [line.line for line in doubtful_lines(parse(text))] == [3]
    assert doubtful_lines(parse(text), {"write clean, readable code."}) == [], "the person had to say it"
    assert certain_cuts(parse(text), FileFacts(), COUNT) == []


REF = SkillRef("a", "/x/a/SKILL.md")


def make_cut(number: int) -> Cut:
    (cut,) = certain_cuts(parse(f"# A\n\n- {LONG}{number}\n- b\n- {LONG}{number}\n"), FileFacts(), COUNT)
    return cut


def test_a_cut_is_proposed_once_and_at_most_ten_at_a_time() -> None:
    cuts = [(REF, make_cut(number)) for number in range(12)]
    planned = plan(cuts, [])
    assert [one.status for one in planned] == [CutStatus.PROPOSE] * MAX_OPEN + [CutStatus.WAITS] * 2
    made = [proposal(one, "offline", "t", "2026-01-01T00:00:00Z") for one in planned[:3]]
    states = (State.OPEN, State.REJECTED, State.STALE)
    known = [
        make_proposal(id=one.id, batch_id=one.batch_id, state=state) for one, state in zip(made, states, strict=True)
    ]
    again = {one.batch.rpartition("-")[0]: one for one in plan(cuts, known)}
    fates = [again[one.batch_id.rpartition("-")[0]].status for one in made]
    assert fates == [CutStatus.OPEN, CutStatus.REJECTED, CutStatus.PROPOSE]
    assert all(one.flags and not one.evidence for one in made)


def test_cuts_for_an_undecodable_path_are_planned_but_not_staged() -> None:
    ref = SkillRef("CLAUDE.md", "/p\udcff/CLAUDE.md", kind=TargetKind.INSTRUCTIONS)
    made = proposal(plan([(ref, make_cut(1))], [])[0], "offline", "t", "2026-01-01T00:00:00Z")
    with pytest.raises(RefusedError, match="is not valid UTF-8"):
        stage(made, [], StagingResult())


def test_a_size_limit_counts_in_its_vendors_unit() -> None:
    codex = ceilings(["codex"], is_skill=False)
    assert excess_reason("", "é" * 16_384, codex, COUNT) is None
    assert "32,769 bytes" in str(excess_reason("", "é" * 16_384 + "x", codex, COUNT))
    assert "40,001 characters" in str(excess_reason("", "é" * 40_001, ceilings(["claude-code"], is_skill=False), COUNT))
    assert "501 lines" in str(excess_reason("", "a\n" * 501, ceilings([], is_skill=True), COUNT))
    assert "11 tokens (limit 10)" in str(excess_reason("", "abcd" * 11, ceilings([], is_skill=True, tokens=10), COUNT))
    assert excess_reason("a\n" * 600, "a\n" * 599, ceilings([], is_skill=True), COUNT) is None, (
        "a cut is always possible"
    )
    assert excess_reason("", "a\n" * 201, ceilings(["claude-code"], is_skill=False), COUNT) is None, "advice only"


def test_tokens_are_counted_without_network_and_litellm() -> None:
    found = tokenizer()
    assert found.name == "o200k_base"
    assert (found.count("hello world"), found.count("Überprüfung <|endoftext|>")) == (2, 9)


class Counted(tuple[LoadedFile, ...]):  # noqa: SLOT001 - it counts on its class
    """Files that count how often somebody goes through them."""

    times = 0

    def __iter__(self) -> Iterator[LoadedFile]:
        Counted.times += 1
        return super().__iter__()


def test_hundreds_of_rule_files_are_gone_through_once(tmp_path: Path) -> None:
    paths = [tmp_path / f".claude/rules/r{number}.md" for number in range(300)]
    files = Counted(
        LoadedFile(str(path), str(path), when, Scope.RULE, base=str(tmp_path))
        for path in paths
        for when in [LoadTime.ON_USE if path.name == "r1.md" else LoadTime.START]
    )
    Counted.times = 0
    context = Context("claude-code", "2.1.332", "measured", str(tmp_path), files)
    found = instruction_files([context], tmp_path, [TargetKind.RULES])
    assert Counted.times < 1000
    assert found[3].loaded_with == (str(paths[0]), str(paths[2]))
