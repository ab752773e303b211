"""Which skill covers a recurring task: one whose lines have the task's own commands, or its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from skilld.library.clusters import Ask, Mention, Piece
from skilld.mining.covered import covered_reason
from skilld.mining.recurring_tasks import RecurringTask
from skilld.mining.selection import judge
from skilld.mining.session_summary import Row
from skilld.mining.values import Candidate, Part, PartKind, Proof
from skilld.skills import Skill, Source
from skilld.skills.spec import FrontMatter
from support.rows import for_each
from support.session_rows import NOW, session_row


def _rows(request: str, *commands: str) -> list[Row]:
    names = ("shoes", "books", "toys")
    return [
        session_row(n, (request.format(name), [one.format(name) for one in commands]))
        for n, name in enumerate(names, start=1)
    ]


def _skill(name: str, *lines: str, does: str = "Does something.") -> tuple[Skill, str]:
    path = Path(f"/shop/.claude/skills/{name}/SKILL.md")
    skill = Skill(name, path, Source.PROJECT, Path("/shop"), ("claude-code",), FrontMatter(name, does))
    return skill, "\n".join(["---", f"name: {name}", "---", "", "# Steps", "", *lines, ""])


def _covers(rows: Sequence[Row], *skills: tuple[Skill, str]) -> list[str]:
    """Return the reasons for which these sessions make no skill; none if they make one."""
    texts = {skill.path: text for skill, text in skills}
    judged = judge(rows, [skill for skill, _ in skills], texts, now=NOW)
    assert bool(judged.candidates) is not bool(judged.rejected), judged
    return [one.missed for one in judged.rejected]


INDEX = ("npm run {0}:export", "!npm run {0}:index", "npm run {0}:unlock", "npm run {0}:index")


@for_each(
    "lines",
    [
        ("1. Run `npm run lint:md`.", "2. Run `npm run seed`."),
        ("1. Run `npm test`.", "2. `npm run build`"),
        ("1. `EXPLAIN (ANALYZE, BUFFERS)`.",),
        ("1. `npm run SCRIPT`",),
        ("- Never run `npm run shoes:index` twice.",),
    ],
)
def test_a_skill_that_runs_the_same_program_does_not_cover_a_task(lines: Sequence[str]) -> None:
    assert _covers(_rows("Refresh the search index for {0}", *INDEX), _skill("other", *lines)) == []


@for_each(
    "lines",
    [
        (
            "1. Run `npm run {{{{name}}}}:export`.",
            "2. Run `npm run {{{{name}}}}:unlock`, then `npm run {{{{name}}}}:index`.",
        ),
        ("```", "npm run <category>:export", "npm run <category>:unlock", "npm run <category>:index", "```"),
        ("1. npm run $NAME:export", "2. npm run $NAME:unlock", "3. npm run $NAME:index"),
        ("1. `npm run shoes:export`", "2. `npm run shoes:unlock`", "3. `npm run shoes:index`."),
    ],
)
def test_a_skill_with_the_commands_covers_a_task(lines: Sequence[str]) -> None:
    (why,) = _covers(
        _rows("Refresh the search index for {0}", *INDEX), _skill("search-index", *(one.format() for one in lines))
    )
    assert why.startswith("search-index already does this in line ")


@for_each(
    ("command", "line", "covers"),
    [
        ("uv run billing {0} create", "1. `uv run billing reconcile --month {{month}}`", False),
        ("make report NAME={0}", "1. Run `make report NAME=...`.", True),
        ("make report NAME={0}", "1. Run `make reports NAME=...`.", False),
        ("kubectl rollout restart deploy/{0} -n staging", "1. `kubectl rollout restart deploy/shop -n staging`", True),
        ("kubectl rollout restart deploy/{0} -n staging", "1. `kubectl rollout status deploy/shop -n staging`", False),
        ("docker build -t {0} .", "1. `docker build -t IMAGE .`", True),
        ("docker push {0}", "1. `docker pull IMAGE`", False),
        ("acme tag v1.{0}.x", "1. `acme tag v1.<name>.x`", True),
        ("acme tag v1.{0}.x", "1. `acme tag v1.hats.x`", True),
        ("acme tag v1.{0}.x", "1. `acme tag v1..x`", False),
        ("acme tag v1.shoes.x", "1. `acme tag v1.<name>.x`", True),
        ("acme tag v1.{0}.x", "1. `acme tag v2.<name>.x`", False),
        ("acme tag v1.{0}.x", "1. `acme tag v1.<name>.y`", False),
        ("acme call -X POST {0}", "1. `acme call -X GET <name>`", False),
        ("acme lint CHANGELOG.md {0}", "1. `acme lint README.md <name>`", False),
        ("acme lint docs/notes.md {0}", "1. `acme lint docs/TODO.md <name>`", False),
        ("acme lint docs/notes.md {0}", "1. `acme lint docs/NAME.md <name>`", True),
    ],
)
def test_each_command_is_compared_as_a_whole(command: str, line: str, *, covers: bool) -> None:
    rows = _rows("Bring {0} up to date again", command, "!acme sign {0}", "acme unlock {0}", "acme sign {0}")
    other = _skill("other", line, "2. `acme unlock {{name}}`")
    assert bool(_covers(rows, other)) is covers


def test_commands_of_any_work_cover_no_task() -> None:
    rows = _rows("Refresh the search index for {0}", "git add -A", "git commit -m index", "git push", "acme sign {0}")
    assert _covers(rows, _skill("commits", "1. `git add -A`", "2. `git commit -m index`", "3. `git push`")) == []


@for_each(
    ("name", "does", "covers"),
    [
        ("cut-release", "Cut a release. Use when the person asks to ship a version.", False),
        ("publish", "Publish the site.", False),
        ("upgrade", "Bump a dependency.", True),
        ("bump-version", "Does something.", True),
    ],
)
def test_a_task_of_commands_of_any_work_is_covered_only_by_a_skill_for_it(
    name: str, does: str, *, covers: bool
) -> None:
    rows = tuple(_rows("bump {0} to the newest", "make test", "git push"))
    parts = tuple(Part(PartKind.COMMAND, text, (Proof("s1", "t1", text),)) for text in ("make test", "git push"))
    said = [Mention("task", "t1", "bump shoes to the newest", "", "", "", "/shop", Piece("s1", NOW, 0.5))]
    task = RecurringTask(Ask(tuple(said)), rows, Candidate("bump", "create", "/shop", None, (), parts))
    skill, text = _skill(name, "1. `make test`", "2. `git push`", does=does)
    assert bool(covered_reason(task, [skill], {skill.path: text})) is covers
    used = replace(task, rows=tuple(replace(row, skills_used=(name,)) for row in rows))
    assert covered_reason(used, [skill], {skill.path: text}) == f"{name} already does this in line 7: 1. `make test`"


RELEASE = ("npm run notes", "!acme sign app", "acme unlock app", "acme sign app")


@for_each(
    ("request_text", "line"),
    [
        (
            "please release version 2.5.0",
            "description: Write a changelog entry or the release notes for a new version.",
        ),
        ("please release version 2.5.0", "- Write the release notes for the new version."),
        ("update the dependencies", "- List updated dependencies in the pull request."),
        ("deploy the shop to staging", "- Ask before you deploy to staging."),
        ("write a schema migration", "- Mention each schema migration in the notes you write."),
    ],
)
def test_a_line_that_shares_words_with_a_request_does_not_do_it(request_text: str, line: str) -> None:
    assert _covers(_rows(request_text, *RELEASE), _skill("other", line)) == []


def test_a_line_that_says_just_the_task_does_it_unless_it_only_describes_when() -> None:
    rows = _rows("release a version", *RELEASE)
    (why,) = _covers(rows, _skill("shipping", "## Release a version", "Tag it, and wait for the build."))
    assert why == "shipping already does this in line 7: ## Release a version"
    assert _covers(rows, _skill("notes", "description: release version notes")) == []
    used = [replace(row, skills_used=("notes",)) for row in rows]
    (why,) = _covers(used, _skill("notes", "Everything about how a release gets its version."))
    assert why.startswith("notes already does this in line 7")


def test_a_skill_in_use_that_does_something_else_with_the_same_things_does_not_cover_the_task() -> None:
    rows = [replace(row, skills_used=("notes",)) for row in _rows("release tidepool {0}", *RELEASE)]
    other = "description: Write the release notes of a tidepool version from the git log."
    assert _covers(rows, _skill("notes", other)) == []
    for line in (
        "Release tidepool: test, sign, publish.",
        "Create a tidepool release.",
        "Use when you release tidepool.",
    ):
        (why,) = _covers(rows, _skill("notes", f"description: {line}"))
        assert why == f"notes already does this in line 7: description: {line}"


def test_a_skill_that_was_in_use_is_named_before_another_one() -> None:
    rows = _rows("Write the release notes of {0}", "gh pr list --state merged", "npm run notes", "npm run links")
    rows = [replace(row, skills_used=("release-notes",)) for row in rows]
    first = _skill("changelog", "Write release notes from what was merged.", "1. `gh pr list --state merged`")
    used = _skill("release-notes", "Write release notes.", "1. `gh pr list --state merged`")
    (why,) = _covers([*rows], first, used)
    assert why == "release-notes already does this in line 7: Write release notes."


LOOK = (
    "node tools/new-look.js {0}",
    "!node tools/render.js {0}",
    "node tools/render.js --hdr {0}",
    "node tools/diff.js",
)


@for_each(
    ("name", "does", "covers"),
    [
        ("looks", "Make a new look for the colour editor, or change one.", True),
        ("looks", "Explains which looks are licensed.", False),
        ("colour-looks", "Make a new look for the colour editor.", False),
    ],
)
def test_a_skill_that_has_a_tasks_name_and_does_what_it_asks_covers_it(name: str, does: str, *, covers: bool) -> None:
    found = _covers(_rows("create the look {0}", *LOOK), _skill(name, "Set lift, gamma and gain.", does=does))
    assert found == ([f"looks is for this: {does}"] if covers else [])


@for_each(
    ("request_text", "covers"),
    [
        ("please deploy {0} to staging", True),
        ("deploy {0}, then open a pull request with the changelog", False),
        ("fix how we deploy {0} to staging", False),
    ],
)
def test_a_skill_whose_name_is_all_that_is_asked_for_covers_it(request_text: str, *, covers: bool) -> None:
    rows = _rows(request_text, "make image NAME={0}", "!make push NAME={0}", "make login", "make push NAME={0}")
    found = _covers(rows, _skill("deploy", "Tell the team.", does="Deploys an app."))
    assert found == (["deploy is for this: Deploys an app."] if covers else [])


def test_a_skill_that_has_a_tasks_name_and_was_in_use_for_it_covers_it() -> None:
    rows = [replace(row, skills_used=("looks",)) for row in _rows("create the look {0}", *LOOK)]
    skill = _skill("looks", "Set lift, gamma and gain.", does="Which looks are licensed.")
    assert _covers(rows, skill) == ["looks is for this: Which looks are licensed."]
    assert _covers([replace(row, skills_used=("gains",)) for row in rows], skill) == []
