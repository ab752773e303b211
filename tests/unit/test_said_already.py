"""What a line already says: in any inflection and either way to allow a thing, but not by its place alone."""

from __future__ import annotations

from skilld.classify.offline.detector import find_practices
from skilld.classify.offline.phrasing import phrase
from skilld.classify.said_already import find_same_meaning, is_same_change, says_already
from support.rows import for_each


@for_each(
    ("change", "line"),
    [
        ("Meldungen immer in einfacher Sprache.", "Jede Meldung an Nutzer auf Deutsch und in einfacher Sprache."),
        ("Nie mergen ohne dass es auf dem Tablet probiert wurde.", "Kein Merge ohne Probe auf dem Tablet."),
        ("Never deploy without a green build.", "Deploy only with a green build."),
        ("Deploy only with a green build.", "Never deploy without a green build."),
        ("Nie ohne grünen Build deployen.", "Deployen nur mit grünem Build."),
        ("Keep the api service behind the proxy.", "The api service is always kept behind the proxy."),
        ("No secrets in the config folder.", "The config folder has no secrets."),
    ],
)
def test_a_line_says_it_in_another_form(change: str, line: str) -> None:
    assert says_already(change, line)


@for_each(
    ("change", "line"),
    [
        ("In packages/web, never commit screenshots.", "In packages/web, always use named exports."),
        ("When you deploy, never skip the smoke test.", "When you deploy, tell the team."),
        ("In Tests, nie sleep verwenden.", "In Tests immer pytest verwenden."),
        ("Never deploy with a green build.", "Deploy only with a green build."),
        ("Never deploy without a review.", "Deploy only with a green build."),
        ("Write the failing unit test before the production code.", "Write the failing unit test and production code."),
        ("Never log production data.", "Never log product data."),
        ("リリースノートには必ず日付を書いてください。", "リリースノートには必ずバージョンを書いてください。"),
        ("릴리스 노트에는 반드시 날짜를 적어 주세요.", "릴리스 노트에는 반드시 버전을 적어 주세요."),
        ("发布说明里每一条都要写上日期。", "发布说明里每一条都要写上版本。"),
    ],
)
def test_a_line_says_another_thing(change: str, line: str) -> None:
    assert not says_already(change, line)


@for_each(
    "said",
    [
        "on garde ce texte",
        "nos quedamos con este texto",
        "dabei bleiben wir hier",
        "editor numbers are junk",
        "month sized ones break the nodes",
    ],
)
def test_approval_and_blame_of_present_work_is_no_practice(said: str) -> None:
    assert not any(phrase(one).clear for one in find_practices(said, ["Done."]) if one.cue.value == "practice")


@for_each(
    ("change", "text", "says"),
    [
        ("Use pnpm, never npm.", "```\npnpm install\npnpm test\n```\n", False),
        ("Use uv instead of pip.", "- Run the tests with `uv run pytest`.\n", False),
        ("No yarn, use pnpm.", "- Before a commit, run pnpm test and pnpm lint.\n", False),
        ("Use vitest.", "- Setup: vitest --init\n", False),
        ("Use pnpm, never npm.", "- Package manager: pnpm\n", True),
        ("Use pnpm, never npm.", "- Use `pnpm install`, never `npm install`.\n", True),
        ("Use uv instead of pip.", "- We use uv here.\n", True),
        ("Use yarn.", "- Yarn installs what is missing.\n", True),
    ],
)
def test_a_command_that_a_file_shows_chooses_no_tool(change: str, text: str, says: bool) -> None:  # noqa: FBT001 - a column of the table
    assert says_already(change, text) == says


@for_each(
    ("one", "same", "another"),
    [
        ("Always answer in German, no matter what I write.", "Always answer in German.", "Always answer in Dutch."),
        ("Run the unit suite.", "Run the unit suite, regardless of how small it is.", "Run the e2e suite."),
        ("Antworte auf Deutsch, egal wie ich frage.", "Antworte auf Deutsch.", "Antworte auf Polnisch."),
        ("Réponds en anglais, peu importe que je parle français.", "Réponds en anglais.", "Réponds en danois."),
    ],
)
def test_that_nothing_changes_a_rule_adds_nothing_to_it(one: str, same: str, another: str) -> None:
    """Y6: said in two sessions, it is one rule said twice."""
    assert is_same_change(one, same)
    assert not is_same_change(one, another)


def test_a_rule_that_differs_from_a_line_in_a_word_in_its_place_is_new() -> None:
    """Rows and columns are of one meaning, and so are titles and subtitles."""
    text = "# Plots\n\n- Always put the number of rows in the title of every plot.\n"
    assert find_same_meaning("Always put the number of columns in the subtitle of every plot.", text) is None
    assert find_same_meaning("Every plot has the number of rows in its heading.", text) is not None


def test_first_is_where_something_starts() -> None:
    asked = "Always put the ticket number first in each entry."
    for line in ("Start each entry with the ticket number.", "End each entry with the ticket number."):
        found = find_same_meaning(asked, f"# Notes\n\n- {line}\n")
        assert (found is not None) is line.startswith("Start")
    server = "# Notes\n\n- Start the dev server on port 3000.\n"
    assert find_same_meaning("Always start the dev server first.", server) is None


@for_each(
    ("change", "line"),
    [
        ("部署之前一定要检查备份。", "部署之前一定要检查日志。"),
        ("デプロイの前に必ずバックアップを確認してください。", "デプロイの前に必ずログを確認してください。"),
        ("Always write the author of a pull request in its entry.", "Write an entry for each pull request."),
        ("Always add alt text to images.", "Add captions to images."),
    ],
)
def test_no_other_word_replaces_what_is_new_in_a_rule(change: str, line: str) -> None:
    assert find_same_meaning(change, f"# Notes\n\n- {line}\n") is None


@for_each(
    ("change", "line"),
    [
        ("Prefer cursor pagination.", "Use offset pagination for lists, not cursor."),
        ("Prefer cursor pagination for lists.", "Use offset pagination for lists, not cursor."),
        ("Use yarn workspaces.", "Use pnpm workspaces instead of yarn."),
    ],
)
def test_a_line_that_refuses_a_thing_does_not_ask_for_it(change: str, line: str) -> None:
    assert not says_already(change, line)
    assert find_same_meaning(change, line) is None
    assert says_already(line, line)


@for_each(
    ("change", "text", "said"),
    [
        ("Sign the notes.", "# Release notes\n\n- Sign the tag.\n", False),
        ("Never delete notes.", "# Release notes\n\n- Never delete branches.\n", False),
        ("Always review the migration.", "# Migrations\n\n- Review the pull request.\n", False),
        ("Always test the migration.", "# Migrations\n\n1. Write it.\n2. Test it.\n", True),
        ("Always test the migration on staging.", "# Migrations\n\n1. Test it on staging.\n", True),
    ],
)
def test_y5_a_heading_and_one_word_of_a_line_about_something_else_do_not_say_it(
    change: str,
    text: str,
    said: bool,  # noqa: FBT001 - a column
) -> None:
    assert says_already(change, text) is said
