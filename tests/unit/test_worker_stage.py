"""A worker's proposal on a real staging branch, and the meaning of git's outcomes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skilld.errors import SkilldError
from skilld.proposals.staging import restage, stage
from skilld.proposals.staging_result import StagingResult
from skilld.types import Evidence, Op, Operation, Proposal
from support.proposals import make_proposal
from support.repos import Person

PROPOSAL = make_proposal(
    skill="release",
    operations=(Operation(Op.INSERT_AFTER, "- Tag the commit.", "- Sign the tag."),),
    summary="Sign the tag.",
    evidence=(Evidence("claude-code:t1", "always sign the tag"),),
)


def _stage(person: Person, *standing: Proposal, **changes: object) -> tuple[bool, StagingResult]:
    staged = StagingResult()
    proposal = replace(PROPOSAL, path=str(person.skill), **changes)  # type: ignore[arg-type]
    return stage(proposal, standing, staged), staged


def test_a_proposal_is_a_commit_with_its_location(person: Person) -> None:
    made, staged = _stage(person)
    assert made
    (proposal,) = staged.made
    assert proposal.commit == person.tip("skilld/staging")
    assert proposal.base == person.tip()
    assert (proposal.repo, proposal.relpath) == (str(person.root), "skills/release/SKILL.md")
    assert "- Tag the commit.\n- Sign the tag.\n" in person.show(ref="skilld/staging") + "\n"
    assert person.show() == (person.root / "skills/release/SKILL.md").read_text().rstrip("\n")


def test_a_change_the_person_wrote_by_hand_is_not_proposed(person: Person) -> None:
    text = person.skill.read_text().replace("- Tag the commit.", "- Tag the commit.\n- Sign the tag.")
    person.commit("by hand", {"skills/release/SKILL.md": text})
    with pytest.raises(SkilldError, match="already says this in that place"):
        _stage(person)
    assert person.tip("skilld/staging") == ""


def test_an_edit_of_uncommitted_lines_waits_without_a_commit(person: Person) -> None:
    person.write("skills/release/SKILL.md", person.skill.read_text().replace("- Push the tag.", "- Push it."))
    only_here = (Operation(Op.INSERT_AFTER, "- Push it.", "- Tell the team."),)
    made, staged = _stage(person, operations=only_here)
    assert made
    (proposal,) = staged.made
    assert (proposal.commit, proposal.repo) == ("", str(person.root))
    assert "on hold until you commit your changes" in proposal.note
    assert person.tip("skilld/staging") == ""


def test_an_edit_that_fits_nowhere_is_reported(person: Person) -> None:
    nowhere = (Operation(Op.INSERT_AFTER, "- A line that never was.", "- x"),)
    with pytest.raises(SkilldError, match="not proposed"):
        _stage(person, operations=nowhere)
    assert person.tip("skilld/staging") == ""


def _own_section(*items: str, title: str = "## Preferences") -> tuple[Operation, ...]:
    return (Operation(Op.INSERT_AFTER, "Keep the changelog short.", "\n".join(["", title, "", *items])),)


def test_a_second_proposal_goes_below_the_heading_the_first_adds(person: Person) -> None:
    _, first = _stage(person, operations=_own_section("- Sign the tag."))
    other = _own_section("- Tell the team.", "- Write the news,\n  in English.", title="## PREFERENCES")
    changes = {"id": "4567cdef", "batch_id": "c" * 16, "operations": other, "summary": "Tell the team."}
    _, second = _stage(person, *first.made, **changes)
    text = person.show(ref="skilld/staging")
    assert text.lower().count("## preferences") == 1
    assert text.endswith("## Preferences\n\n- Sign the tag.\n- Tell the team.\n- Write the news,\n  in English.")

    # Without the first, the second brings the heading itself.
    rest = StagingResult()
    restage(str(person.root), [*first.made, *second.made][1:], rest, {first.made[0].id})
    text = person.show(ref="skilld/staging")
    assert text.endswith("## PREFERENCES\n\n- Tell the team.\n- Write the news,\n  in English.")
    assert "Sign the tag" not in text


def test_a_heading_merged_meanwhile_is_not_added_again(person: Person) -> None:
    _, first = _stage(person, operations=_own_section("- Sign the tag."))
    person.git("merge", "--quiet", "--ff-only", "skilld/staging")
    other = {"id": "4567cdef", "batch_id": "c" * 16, "operations": _own_section("- Tell the team."), "summary": "Tell."}
    _, second = _stage(person, **other)
    assert second.made[0].commit
    assert person.show(ref="skilld/staging").endswith("## Preferences\n\n- Sign the tag.\n- Tell the team.")
    assert first.made[0].commit == person.tip()


def test_a_section_with_more_than_items_is_inserted_as_it_is(person: Person) -> None:
    _, first = _stage(person, operations=_own_section("- Sign the tag."))
    other = _own_section("Tell the team, each time.")
    changes = {"id": "4567cdef", "batch_id": "c" * 16, "operations": other, "summary": "Tell the team."}
    _stage(person, *first.made, **changes)
    assert person.show(ref="skilld/staging").count("## Preferences") == 2, "of text no place below is certain"


@pytest.mark.parametrize("count", [1, 2], ids=["one operation", "two operations"])
@pytest.mark.parametrize("below", ["", "\n## Credits\n\nPat.\n"], ids=["at the end", "in between"])
def test_a_second_line_with_a_section_uses_the_heading_the_first_adds(person: Person, count: int, below: str) -> None:
    person.commit("mine", {"skills/release/SKILL.md": person.skill.read_text() + below})

    def edit(line: str, *items: str) -> tuple[Operation, ...]:
        section = "\n".join(["", "## Preferences", "", *items])
        anchor = "Keep the changelog short."
        if count == 1:
            return (Operation(Op.INSERT_AFTER, anchor, f"\n{line}\n{section}"),)
        return Operation(Op.INSERT_AFTER, anchor, f"\n{line}"), Operation(Op.INSERT_AFTER, line, section)

    _, first = _stage(person, operations=edit("Never use floats, not even in tests.", "- Comment every function."))
    other = edit("From now on, skip the slow tests on main.", "- Log no account number.", "- Ask Kim,\n  each time.")
    changes = {"id": "4567cdef", "batch_id": "c" * 16, "operations": other, "summary": "Skip the slow tests."}
    _, second = _stage(person, *first.made, **changes)
    rules = "- Comment every function.\n- Log no account number.\n- Ask Kim,\n  each time."
    text = person.show(ref="skilld/staging")
    assert text.count("## Preferences") == 1
    assert f"## Preferences\n\n{rules}" in text
    assert all(text.count(line) == 1 for line in ("Never use floats", "skip the slow tests", *below.splitlines()[1:2]))
    assert text.index("skip the slow tests") < text.index("## Preferences")

    # Rebuilt without the first, the second brings the heading itself.
    restage(str(person.root), [*first.made, *second.made][1:], StagingResult(), {first.made[0].id})
    text = person.show(ref="skilld/staging")
    assert "## Preferences\n\n- Log no account number.\n- Ask Kim,\n  each time." in text
    assert "Comment every function" not in text
