"""Which drafted skills a run shows: the surest first, and no part of another one."""

from __future__ import annotations

from dataclasses import replace

from skilld.mining.draft_questions import shortlist
from skilld.mining.values import Candidate, Part, PartKind, Proof, Recurrence, Savings
from skilld.skills.draft import SkillKind

REQUEST = Part(PartKind.REQUEST, "do it", (Proof("s1", "t", "do it"),))
SORTS = {"~": PartKind.EDIT, "!": PartKind.SAID, "=": PartKind.WORDED}


def skill(name: str, sessions: int, *lines: str, seen: int = 2) -> Candidate:
    """Return a skill with steps; "~" marks a changed file, "!" a rule, "=" words, each of so many sessions."""
    parts = [
        Part(
            SORTS.get(line[0], PartKind.COMMAND),
            line.lstrip("~!="),
            tuple(Proof(f"s{n}", "t", line, observed=line[0] != "!") for n in range(1 if line[0] == "!" else seen)),
        )
        for line in lines
    ]
    saved = Savings(sessions, steps=len(parts))
    return Candidate(
        name, "create", "/shop", SkillKind.WORKFLOW, (), (REQUEST, *parts), title=name, recurrence=Recurrence("do it"),
        saved=saved,
    )  # fmt: skip


def shown(*made: Candidate) -> list[str]:
    return [one.name for one in shortlist(made)[0]]


COMMIT = "git add -A", 'git commit -m "{{message}}"'


def test_what_another_skill_does_on_its_way_takes_no_place_and_is_reported() -> None:
    commit = skill("commit", 3, *COMMIT)
    findings = skill("findings", 6, "=Apply the minimal fix of one finding", "go vet ./...", *COMMIT)
    assert shown(commit, findings) == ["findings"]
    (left_out,) = shortlist([commit, findings])[1]
    assert (left_out.topic, left_out.missed) == ("commit", "findings has its steps")
    assert set(shown(replace(commit, saved=Savings(14)), findings)) == {"commit", "findings"}  # asked for more often
    assert set(shown(replace(commit, target="/other"), findings)) == {"commit", "findings"}


def test_of_two_skills_for_one_task_the_one_with_the_persons_rules_stays() -> None:
    plain = skill("plain", 3, "git diff \u2026", "git log --oneline -5", "git show --stat \u2026", "git commit \u2026")
    fuller = skill(
        "fuller", 2, "!Divide the commits by domain", "=Group the changes by domain", "git log --oneline -10",
        "git diff --cached --stat", "git commit \u2026",
    )  # fmt: skip
    assert shown(plain, fuller) == ["fuller"]


def test_tests_and_commits_that_all_work_has_do_not_make_two_tasks_one() -> None:
    logs = skill("logs", 7, "=Look at those logs and find where the run fails", "go test ./...", *COMMIT)
    review = skill("review", 16, "=Check the finding in the code", "go build ./...", "go test ./...", *COMMIT)
    assert set(shown(logs, review)) == {"logs", "review"}


def test_two_tasks_of_one_program_are_two() -> None:
    merge, tell = skill("merge", 3, "gh pr view", "gh pr merge"), skill("tell", 5, "gh pr list", "gh pr comment")
    assert set(shown(merge, tell)) == {"merge", "tell"}


def test_how_much_of_all_work_is_in_it_tells_no_two_tasks_apart() -> None:
    taught = skill("taught", 3, "ledger post", "ledger close", "!Name the month")
    plain = skill("plain", 5, "ledger post", "ledger close", *COMMIT, "go build ./...", "go test ./...", "git push")
    assert shown(taught, plain) == ["taught"]


def test_files_are_the_same_in_whatever_words_they_are_named() -> None:
    bump = skill("bump", 3, "=Add a line to `CHANGELOG.md`", "=Raise the number in `pyproject.toml`")
    release = skill("release", 5, "=Write the news in `CHANGELOG.md`", "=Set `pyproject.toml`", "twine upload dist")
    assert shown(bump, release) == ["release"]


def test_the_most_frequent_comes_first_if_as_much_of_it_is_sure() -> None:
    sure = skill("sure", 6, "gh pr view \u2026", "gh api \u2026", "!I handle communication")
    loose = skill("loose", 6, "ledger post", "ledger close", "ledger mail", seen=1)
    often = skill("often", 12, "gh pr list", "gh issue list")
    plain = skill("plain", 7, "gh label list", "gh release list")
    generic = skill("generic", 8, *COMMIT, "git push")
    assert shown(generic, loose, plain, sure, often) == ["often", "sure", "plain", "generic", "loose"]


def test_of_skills_that_cover_each_other_in_a_circle_one_stays() -> None:
    steps = [f"tool{number} run" for number in range(1, 8)]
    one = skill("one", 5, *steps[:4], "!Ask me first", "!Keep it short")
    part = skill("part", 4, *steps[:3], "!Ask me first", "!Keep it short", "!Name the owner")
    large = skill("large", 5, *steps[1:], "!Ask me first")
    assert shown(one, part, large) == ["large"]
    assert [left_out.missed for left_out in shortlist([one, part, large])[1]] == [
        "part has its steps",
        "large has its steps",
    ]
