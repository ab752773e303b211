"""Which file a rule goes to: the closed list, whose project it is, and the choice by code."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from skilld.classify.backends import Spec
from skilld.classify.prompt import EXCERPT_LIMIT, excerpt
from skilld.classify.said_already import is_same_change
from skilld.classify.verify import VerifiedUpdate
from skilld.context import Context
from skilld.edit.insertion_point import insert_bullet
from skilld.edit.operations import apply
from skilld.git.state import is_own_project, is_surely_own
from skilld.jobs.placing import JobPlaces, find_file_of_kind, is_personal_file
from skilld.pipeline.documents import TargetDocument, as_edited, load_documents
from skilld.protocol import AnalyseBatch, BatchJob, Source
from skilld.skills import opt_out
from skilld.skills.find import is_kernel_path
from skilld.targets.find import TargetFiles, WorkingSession, find_targets
from skilld.targets.route import choose_target, is_personal, is_subject, ordered_file, ordered_files
from skilld.targets.scopes import find_bare_scopes, find_scopes
from skilld.targets.session_work import SessionWork, session_work
from skilld.types import Kind, SkillDoc, SkillRef, TargetKind, Update
from skilld.words import content_stems, stems
from support.rows import for_each
from support.tops import make_top

ALL = tuple(TargetKind)
TEXT = "# Project\n\n- Be brief.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make_top(tmp_path / "project")
    (tmp_path / "home/.claude").mkdir(parents=True)
    return tmp_path / "project"


def _write(path: Path, text: str = TEXT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _places(root: Path, *touched: str, agent: str = "claude-code", version: str = "", **more: object) -> TargetFiles:
    cwd = Path(str(more.get("cwd", root)))
    others: tuple[str, ...] = tuple(more.get("others", ()))  # type: ignore[arg-type]
    session = WorkingSession(agent, cwd, root.parent / "home", {}, SessionWork(version, touched), others)
    return find_targets(session, more.get("allowed", ALL))  # type: ignore[arg-type]


def _names(found: TargetFiles) -> list[tuple[str, str]]:
    return [(ref.kind.value, ref.name) for ref in found.refs if not ref.absent]


def test_the_readers_of_a_file_are_the_agents_that_load_it(root: Path) -> None:
    _write(root / "CLAUDE.md", "# Project\n\n@docs/guide.md\n")
    session = WorkingSession("claude-code", root, root.parent / "home", {}, others=("codex",))
    readers = {
        name: session.readers(_write(root / name))
        for name in ("docs/guide.md", "docs/other.md", "web/CLAUDE.md", ".claude/rules/web.md", "AGENTS.md")
    }
    assert readers == {
        "docs/guide.md": ("claude-code",),
        "docs/other.md": (),
        "web/CLAUDE.md": ("claude-code",),
        ".claude/rules/web.md": ("claude-code",),
        "AGENTS.md": ("codex",),
    }


def test_the_list_is_ordered_and_complete(root: Path) -> None:
    _write(root / "CLAUDE.md")
    _write(root / "CLAUDE.local.md", "- Mine.\n")
    _write(root / "README.md")
    _write(root / ".claude/rules/ts.md", '---\npaths: ["src/**"]\n---\n\n- Strict.\n')
    _write(root / ".claude/rules/other.md", '---\npaths: ["lib/**"]\n---\n\n- Other.\n')
    _write(root.parent / "home/.claude/CLAUDE.md", "- Me.\n")
    order = [("rules", ".claude/rules/ts.md"), ("instructions", "CLAUDE.md"), ("personal", "~/.claude/CLAUDE.md")]
    assert _names(_places(root, "src/a.ts", "src/b.ts", "README.md")) == order
    assert _names(_places(root, "src/a.ts", "README.md", "docs/a.md")) == order[1:], "a rule for most of the work"
    assert _names(_places(root)) == order[1:]
    assert _names(_places(root, "src/a.ts", allowed=(TargetKind.PERSONAL,))) == order[2:]


def test_one_new_rule_file_is_offered_for_one_folder_named_twice(root: Path) -> None:
    _write(root / "CLAUDE.md")
    _write(root / "src/routes/vat.ts")
    scopes = [*find_scopes("in src/routes, use default exports"), *find_scopes("always test in src/routes/")]
    found = find_targets(WorkingSession("claude-code", root, root.parent / "home", {}), ALL, scopes)
    assert [ref.name for ref in found.refs if ref.absent and ref.kind is TargetKind.RULES] == [
        ".claude/rules/src-routes.md"
    ]


@for_each(
    ("text", "chosen"),
    [
        ("For web only: always use vitest.", "web/AGENTS.md"),
        ("In web, never use moment.", "web/AGENTS.md"),
        ("never use moment in `web`", "web/AGENTS.md"),
        ("Put it in the AGENTS.md of web: use vitest.", "web/AGENTS.md"),
        ("In docs, never use tables.", "AGENTS.md"),  # has no instruction file
        ("In English, please.", "AGENTS.md"),
        ("Never use moment in web pages.", "AGENTS.md"),
    ],
)
def test_a_folder_named_without_a_slash_counts_if_it_has_an_instruction_file(text: str, chosen: str) -> None:
    with TemporaryDirectory() as folder:
        make_top(root := Path(folder, "project").resolve())
        for name in ("AGENTS.md", "web/AGENTS.md", "docs/guide.md"):
            _write(root / name)
        scopes = [*find_scopes(text), *find_bare_scopes(text)]
        found = find_targets(WorkingSession("codex", root, root.parent / "home", {}), ALL, scopes, ordered_files(text))
        target = choose_target(text, found.refs)
        assert target is not None
        assert target.name == chosen


def test_a_file_that_has_the_text_of_an_edit_is_found() -> None:
    absent = SkillDoc(1, "CLAUDE.md, of this project, not there yet", "/p/CLAUDE.md", "")
    assert as_edited(absent, "- Use tabs.\n") == replace(
        absent, name="CLAUDE.md, of this project", text="- Use tabs.\n"
    )


def test_a_nested_file_is_chosen_where_most_of_the_work_was(root: Path) -> None:
    _write(root / "CLAUDE.md")
    _write(root / "packages/api/CLAUDE.md", "- Api.\n")
    assert ("instructions", "packages/api/CLAUDE.md") in _names(_places(root, "packages/api/a.ts"))
    assert ("instructions", "CLAUDE.md") in _names(_places(root, "packages/api/a.ts", "web/b.ts"))


@pytest.mark.parametrize(
    "said",
    [
        "<!-- Generated by tool. Do not edit. -->",
        "# DO NOT EDIT",
        "> @generated",
        "# Managed by Ansible",
        "This file is managed by home-manager.",
        "<!-- Made by rulesync. Any changes will be overwritten. -->",
        "---\ngenerated: true\n---",
        "<!-- synced from org/handbook -->",
        "<!-- Automatisch erzeugt, nicht bearbeiten -->",
    ],
)
def test_a_generated_file_is_no_target(root: Path, said: str) -> None:
    _write(root / "CLAUDE.md", f"{said}\n\n{TEXT}")
    assert _names(_places(root)) == []


@pytest.mark.parametrize(
    "said", ["# State managed by Redux", "## Uncommitted changes will be lost", "- Changes get overwritten"]
)
def test_a_file_that_speaks_of_other_files_is_a_target(root: Path, said: str) -> None:
    _write(root / "CLAUDE.md", f"{said}\n\n{TEXT}")
    assert _names(_places(root)) == [("instructions", "CLAUDE.md")]


def test_a_file_in_another_encoding_is_no_target_and_says_so(root: Path) -> None:
    (root / "CLAUDE.md").write_bytes("# Für\n\n- a\n".encode("latin-1"))
    target_files = _places(root)
    assert TargetKind.INSTRUCTIONS not in {ref.kind for ref in target_files.refs}
    assert target_files.why_not == "CLAUDE.md is not UTF-8 text"


def test_a_link_inside_is_followed_and_one_leading_out_is_no_target(root: Path, tmp_path: Path) -> None:
    _write(root / "AGENTS.md")
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    (ref,) = [ref for ref in _places(root).refs if ref.kind is TargetKind.INSTRUCTIONS]
    assert ref.path == str(root / "AGENTS.md")
    (root / "CLAUDE.md").unlink()
    (root / "AGENTS.md").unlink()
    (root / "CLAUDE.md").symlink_to(_write(tmp_path / "outside.md"))
    assert [ref for ref in _places(root).refs if ref.kind is TargetKind.INSTRUCTIONS] == []


def test_a_linked_personal_file_is_edited_at_its_real_path(root: Path) -> None:
    real = _write(root.parent / "home/dotfiles/claude.md")
    (root.parent / "home/.claude/CLAUDE.md").symlink_to(real)
    (ref,) = [ref for ref in _places(root).refs if ref.kind is TargetKind.PERSONAL]
    assert (ref.name, ref.path) == ("~/.claude/CLAUDE.md", str(real))


@pytest.mark.parametrize(
    ("agent", "others", "name"),
    [
        ("claude-code", (), "CLAUDE.md"),
        ("codex", (), "AGENTS.md"),
        ("gemini-cli", ("gemini-cli",), "GEMINI.md"),
        ("claude-code", ("codex",), "AGENTS.md"),
        ("gemini-cli", ("codex",), "GEMINI.md"),  # which reads no other, unless it is told to
    ],
)
def test_the_file_to_create_is_the_one_all_active_agents_read(
    root: Path, agent: str, others: tuple[str, ...], name: str
) -> None:
    (ref,) = [ref for ref in _places(root, agent=agent, others=others).refs if ref.kind is TargetKind.INSTRUCTIONS]
    assert (ref.name, ref.absent) == (name, True)


def test_a_file_is_created_for_an_agent_that_does_not_read_the_existing_one(root: Path) -> None:
    _write(root / "AGENTS.md")
    found = _places(root, agent="gemini-cli", others=("codex",)).refs
    assert [ref.name for ref in found if ref.kind is TargetKind.INSTRUCTIONS] == ["GEMINI.md"]
    (root / "AGENTS.md").unlink()
    _write(root.parent / "home/.gemini/settings.json", '{"context": {"fileName": "AGENTS.md"}}')
    _write(root / ".gemini/settings.json", '{"context": {"includeDirectories": ["lib"]}}')  # the other one holds, too
    found = _places(root, agent="gemini-cli", others=("codex",)).refs
    assert [ref.name for ref in found if ref.kind is TargetKind.INSTRUCTIONS] == ["AGENTS.md"]


def test_a_new_claude_md_imports_the_agents_md_that_it_would_hide(root: Path) -> None:
    _write(root / "AGENTS.md")
    _write(root / "lib/AGENTS.md")
    (ref,) = [ref for ref in _places(root, version="2.1.197").refs if ref.kind is TargetKind.INSTRUCTIONS]
    assert (ref.name, ref.absent, ref.front) == ("CLAUDE.md", True, "@AGENTS.md\n\n")
    session = WorkingSession("claude-code", root, root.parent / "home", {}, SessionWork("2.1.332"))
    (named,) = [ref for ref in find_targets(session, ALL, named=("CLAUDE.local.md",)).refs if ref.on_order]
    assert (named.name, named.front) == ("CLAUDE.local.md", "@AGENTS.md\n\n")
    (root / "AGENTS.md").unlink()
    (root / "lib/AGENTS.md").unlink()
    (ref,) = [ref for ref in _places(root).refs if ref.kind is TargetKind.INSTRUCTIONS]
    assert (ref.name, ref.absent, ref.front) == ("CLAUDE.md", True, "")


def test_no_claude_md_is_made_above_the_agents_md_of_a_subfolder(root: Path) -> None:
    _write(root / "lib/AGENTS.md")
    (ref,) = [ref for ref in _places(root).refs if ref.kind is TargetKind.INSTRUCTIONS]
    assert (ref.name, ref.absent) == ("AGENTS.md", True)


@pytest.mark.parametrize(("other", "title"), [("opencode", "opencode"), ("pi", "Pi")])
def test_no_agents_md_is_made_that_hides_claude_md_from_an_agent_here(root: Path, other: str, title: str) -> None:
    _write(root / "CLAUDE.md")
    found = _places(root, agent="codex", others=(other,))
    assert [ref for ref in found.refs if ref.kind is TargetKind.INSTRUCTIONS] == []
    assert found.why_not == f"{title} would no longer load CLAUDE.md here if there were an AGENTS.md"
    (ref,) = [ref for ref in _places(root, agent="codex").refs if ref.kind is TargetKind.INSTRUCTIONS]
    assert (ref.name, ref.absent, ref.front) == ("AGENTS.md", True, "")


def test_the_agents_that_load_a_file_are_named(root: Path) -> None:
    _write(root / "AGENTS.md")
    target_files = _places(root, others=("codex", "claude-code", "gemini-cli"))
    (ref,) = [ref for ref in target_files.refs if ref.kind is TargetKind.INSTRUCTIONS]
    assert ref.agents == ("claude-code", "codex")


@pytest.mark.parametrize(
    ("agent", "others", "name"),
    [
        ("copilot-cli", (), ".github/copilot-instructions.md"),
        ("copilot-cli", ("codex",), "AGENTS.md"),
        ("copilot-cli", ("claude-code",), "CLAUDE.md"),
        ("qwen-code", ("codex",), "AGENTS.md"),
    ],
)
def test_of_several_files_the_one_loaded_by_the_others_is_chosen(
    root: Path, agent: str, others: tuple[str, ...], name: str
) -> None:
    for file in ("CLAUDE.md", "AGENTS.md", "QWEN.md", ".github/copilot-instructions.md"):
        _write(root / file)
    (ref,) = [ref for ref in _places(root, agent=agent, others=others).refs if ref.kind is TargetKind.INSTRUCTIONS]
    assert ref.name == name


def test_the_home_and_the_root_folder_are_no_projects(root: Path) -> None:
    home = root.parent / "home"
    for folder in (home, Path("/"), Path("/proc/self/cwd"), Path("/dev/fd")):
        target_files = _places(root, cwd=folder)
        assert {ref.kind for ref in target_files.refs} == {TargetKind.PERSONAL}
        assert target_files.why_none
    assert not is_kernel_path(Path("/dev/shm/project"))  # noqa: S108 - a name


def test_a_home_kept_in_git_with_instructions_is_a_project(root: Path) -> None:
    home = root.parent / "home"
    make_top(home)
    _write(home / ".claude/rules/drinks.md")
    bare = find_targets(WorkingSession("claude-code", home, home, {}), ALL)
    own = _write(home / "CLAUDE.md")
    target_files = find_targets(WorkingSession("claude-code", home, home, {}), ALL)

    assert bare.why_none == "the session was not in a project"
    assert target_files.why_none == ""
    assert (target_files.refs[0].kind, target_files.refs[0].path) == (TargetKind.INSTRUCTIONS, str(own))
    assert TargetKind.RULES not in {ref.kind for ref in target_files.refs}


def _git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=Other", "-c", "user.email=other@example.com"]
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


@pytest.mark.usefixtures("scrubbed")
def test_what_is_said_of_somebody_elses_clone_is_not_put_into_the_personal_file(tmp_path: Path, home: Path) -> None:
    """A model is given only the personal file there, so that it chooses this one says nothing."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    _git(origin, "init", "--quiet")
    _git(origin, "commit", "--quiet", "--allow-empty", "--message", "Begin")
    _git(tmp_path, "clone", "--quiet", str(origin), str(clone))
    _write(home / ".claude/CLAUDE.md", "# Me\n\n- Be brief.\n")
    found = find_targets(WorkingSession("claude-code", clone, home, {}), ALL)
    places = JobPlaces(load_documents(found.refs)[0], found, str(home))
    (personal,) = places.files

    def is_left_there(kind: Kind, said: str, wording: str) -> bool:
        update = Update(personal.doc.number, "", wording, "", kind, 1, said, 0.8)
        return places.redirect(VerifiedUpdate(update), said).update.skill == personal.doc.number

    of_the_clone = [
        (Kind.PREFERENCE, "here types are checked with pyright", "In the billing repo check types with pyright."),
        (Kind.ADD_STEP, "karim wants merge commits", "Karim wants merge commits."),
        (Kind.CHANGE_STEP, "we use spaces in this repo", "Use spaces."),
        (Kind.REMOVE_STEP, "no need to be brief here", "Be brief."),
    ]
    of_the_person = [
        (Kind.ADD_STEP, "no emojis in commits, in none of my projects", "No emojis in commits."),
        (Kind.PREFERENCE, "answer in French", "Answer in French."),
        (Kind.ADD_STEP, "put it into ~/.claude/CLAUDE.md: I use zsh", "I use zsh."),
        (Kind.CHANGE_STEP, "I use fish now", "Use fish."),
        (Kind.REMOVE_STEP, "forget the rule about brevity", "Be brief."),
    ]
    assert [said for said in of_the_clone if is_left_there(*said)] == []
    assert [said for said in of_the_person if not is_left_there(*said)] == []
    _git(clone, "commit", "--quiet", "--allow-empty", "--message", "Mine")
    found = find_targets(WorkingSession("claude-code", clone, home, {}), ALL)
    places = JobPlaces([personal], found, str(home))
    assert is_left_there(*of_the_clone[1]), "in an own project the judge's choice counts"


@pytest.mark.usefixtures("scrubbed")
def test_a_clone_the_person_never_committed_to_is_not_theirs(tmp_path: Path, home: Path) -> None:
    origin = tmp_path / "origin"
    origin.mkdir()
    _git(origin, "init", "--quiet")
    _write(origin / "CLAUDE.md")
    _git(origin, "add", "--all")
    _git(origin, "commit", "--quiet", "--message", "Begin")
    assert is_own_project(origin), "no remote: nobody else's"
    clone = tmp_path / "clone"
    _git(tmp_path, "clone", "--quiet", str(origin), str(clone))
    assert (is_surely_own(clone), is_own_project(clone)) == (False, False)
    target_files = find_targets(WorkingSession("claude-code", clone, home, {}), ALL)
    assert [ref.kind for ref in target_files.refs if ref.kind is not TargetKind.PERSONAL] == []
    assert target_files.why_none == "the project is a clone that you have never committed to"
    _git(clone, "commit", "--quiet", "--allow-empty", "--message", "Mine")
    assert is_surely_own(clone)
    linked = tmp_path / "linked"
    _git(clone, "worktree", "add", "--quiet", str(linked))
    assert is_surely_own(linked)


@pytest.mark.usefixtures("scrubbed", "home")
def test_a_clone_of_the_persons_repository_is_recognized_by_its_history(tmp_path: Path) -> None:
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    subprocess.run(["git", "-C", str(origin), "init", "--quiet"], check=True)
    subprocess.run(["git", "-C", str(origin), "commit", "--quiet", "--allow-empty", "-m", "Begin"], check=True)
    _git(tmp_path, "clone", "--quiet", str(origin), str(clone))
    assert (is_surely_own(clone), is_own_project(clone)) == (False, True)


RULES, FILE, MINE, ABSENT = (
    SkillRef(".claude/rules/a.md", "/p/.claude/rules/a.md", kind=TargetKind.RULES),
    SkillRef("AGENTS.md", "/p/AGENTS.md", kind=TargetKind.INSTRUCTIONS),
    SkillRef("~/.claude/CLAUDE.md", "/h/.claude/CLAUDE.md", kind=TargetKind.PERSONAL),
    SkillRef("CLAUDE.md", "/p/CLAUDE.md", kind=TargetKind.INSTRUCTIONS, absent=True),
)


@for_each(
    ("text", "chosen"),
    [
        ("Always use strict mode.", RULES),
        ("Always use pnpm in this repository.", FILE),
        ("Put it into AGENTS.md: always use tabs.", FILE),
        ("In all my projects, always use tabs.", MINE),
        ("Add to my global CLAUDE.md: always use tabs.", MINE),
        ("Put it into ~/.claude/CLAUDE.md: always use tabs.", MINE),
        ("Please always answer me in German.", MINE),
        ("Call me Kim from now on.", MINE),
        ("from now please also response me in Japanese", MINE),
        ("and keep our chat in english", MINE),
        ("Keep communicating with me in Czech only... all your answers in Czech.", MINE),
        ("中文回复我", MINE),
        ("请用中文和我交流", MINE),
        ("以后回答都用英文", MINE),
        ("以後は日本語で答えてください", MINE),
        ("한글로 답변해줘.", MINE),
        ("항상 한국어로만 대답해", MINE),
        ("отвечай мне всегда на русском", MINE),
        ("Réponds toujours en français", MINE),
        ("a partir de ahora respóndeme siempre en español", MINE),
        ("responda sempre em português", MINE),
        ("Write the API's error responses in English.", RULES),
        ("The bot must always answer customers in German.", RULES),
        ("代码注释用中文", RULES),
        ("커밋 메시지는 한국어로 작성해줘", RULES),
        ("コミットメッセージは日本語で書いて", RULES),
        ("Always reply in English in this repository.", FILE),
        ("Antworte mir bitte immer auf Deutsch.", MINE),
        ("I prefer tabs in this project.", FILE),
        ("I like small commits", MINE),
        ("in general I'd rather see a plan before you write code", MINE),
        ("ich mag kurze Funktionen", MINE),
        ("never end with a summary of what you did", MINE),
        ("in general: one line is enough for a commit. everywhere", MINE),
        ("in general: keep commits small, everywhere", MINE),
        ("no matter which repo: never push without asking me", MINE),
        ("never use sudo, not just in this repo but in every one", MINE),
        ("never commit without asking, regardless of the project", MINE),
        ("egal in welchem Projekt: nie force-pushen", MINE),
        ("use the logger everywhere", RULES),
        ("I'd rather you used pnpm", RULES),
        ("never use sleep in tests, I hate flaky ones", RULES),
    ],
)
def test_the_target_is_chosen_by_what_the_words_are_about(text: str, chosen: SkillRef) -> None:
    assert choose_target(text, [RULES, FILE, MINE]) is chosen


OF_TESTS = replace(RULES, name=".claude/rules/checks.md", patterns=("tests/**/*.rs",))


@for_each(
    ("text", "chosen"),
    [
        ("In the tests folder, never use unwrap.", OF_TESTS),
        ("In tests/*.rs, name the test after the bug.", OF_TESTS),
        ("Always put a comment over each test that says which bug it is for.", OF_TESTS),
        ("Always write Rust tests without unwrap.", OF_TESTS),
        ("In the src folder, never use unwrap.", FILE),
        ("In tests/fixtures/, never rename a file.", FILE),
        ("Never use panic in library code.", FILE),
        ("Always run the tests before you say you are done.", FILE),
        ("Never merge without green tests.", FILE),
    ],
)
def test_what_applies_to_all_work_is_not_put_into_a_rule_for_some_paths(text: str, chosen: SkillRef) -> None:
    assert choose_target(text, [OF_TESTS, FILE, MINE]) is chosen


def test_a_rule_for_some_paths_is_chosen_if_there_is_no_other_file() -> None:
    assert choose_target("Never use panic in library code.", [OF_TESTS, ABSENT]) is OF_TESTS


def test_an_existing_file_is_preferred_to_a_new_one_unless_named() -> None:
    assert choose_target("Always use tabs in this project.", [RULES, ABSENT]) is RULES
    assert choose_target("Write into CLAUDE.md that we use tabs.", [RULES, ABSENT]) is ABSENT
    assert choose_target("Always use tabs.", [MINE]) is None


@for_each(
    "text",
    [
        "It should go into CLAUDE.md that every post needs a description.",
        "This must go in the CLAUDE.md: plots are saved as png",
        "that belongs into our `CLAUDE.md`: no inline styles",
        "Das gehört in die CLAUDE.md: keine Kommentare auf Deutsch",
        "Es soll auch in CLAUDE.md, dass wir Tabs nehmen",
    ],
)
def test_what_should_go_into_a_file_is_ordered_into_it(text: str) -> None:
    assert ordered_file(text) == "claude.md"


@for_each(
    "text",
    [
        "As CLAUDE.md says, use tabs.",
        "What does AGENTS.md say?",
        "Put it into notes.md",
        "CLAUDE.md should be shorter.",
        "The build should go through CLAUDE.md first",
        "this belongs to me, not to CLAUDE.md",
        "You should go by CLAUDE.md",
        "It should go faster, see CLAUDE.md",
    ],
)
def test_mentioning_a_file_is_no_request_to_use_it(text: str) -> None:
    assert ordered_file(text) == ""


@for_each(
    ("text", "named"),
    [
        ("Put it into web/AGENTS.md: use tabs. See docs/a.md.", ["web/AGENTS.md"]),
        ("Write the release notes first; docs/style.md is old.", []),
        ("Add docs/style.md to the index.", []),
        ("Add to ./docs/style.md: use tabs.", ["docs/style.md"]),
        (
            "put this in the AGENTS.md of services/backend: logging only with slog",
            ["services/backend/AGENTS.md", "AGENTS.md"],
        ),
        ("note in the CLAUDE.md in `web/`: use tabs", ["web/CLAUDE.md", "CLAUDE.md"]),
        ("schreib in die AGENTS.md im web Ordner: Tabs", ["web/AGENTS.md", "AGENTS.md"]),
        ("put it in the AGENTS.md of the project: use tabs", ["AGENTS.md"]),
        ("put it into AGENTS.md, in web/ we use tabs", ["AGENTS.md"]),
    ],
)
def test_a_request_names_the_file_after_the_preposition(text: str, named: list[str]) -> None:
    assert ordered_files(text) == named


@pytest.mark.parametrize("text", ["Always use tabs here, I prefer that.", "We answer tickets in German."])
def test_words_about_the_project_are_not_about_the_person(text: str) -> None:
    assert not is_personal(text)


def test_touched_files_are_read_from_tool_calls_and_not_from_text(tmp_path: Path) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "/p/src/a.ts"}}
    search = {"type": "tool_use", "id": "t2", "name": "Grep", "input": {"path": "/p/lib"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": '"file_path": "/etc/shadow"'}
    lines: list[dict[str, object]] = [
        {"type": "user", "version": "2.1.330", "message": {"role": "user", "content": '"file_path": "/etc/passwd"'}},
        {"type": "assistant", "message": {"role": "assistant", "content": [use, search]}},
        {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {"version": "9.9"}},
    ]
    path = _write(tmp_path / "s.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    seen = session_work(
        "claude-code", "s", [Source(str(path), 0, path.stat().st_size), Source(str(tmp_path / "gone.jsonl"), 0, 5)]
    )
    assert seen == SessionWork("2.1.330", ("/p/src/a.ts",))


@pytest.mark.parametrize(("agent", "kind"), [("codex", "function_call"), ("pi", "toolCall")])
def test_only_the_batchs_own_part_of_a_session_counts(tmp_path: Path, agent: str, kind: str) -> None:
    def call(path: str) -> dict[str, object]:
        if agent == "pi":
            said = {"role": "assistant", "content": [{"type": kind, "arguments": {"path": path}}]}
            return {"type": "message", "message": said}
        body = {"type": kind, "name": "edit", "call_id": path, "arguments": json.dumps({"path": path})}
        return {"type": "response_item", "payload": body}

    lines = [json.dumps(call(path)) + "\n" for path in ("/p/early.md", "/p/now.md", "/p/late.md")]
    path = _write(tmp_path / "s.jsonl", "".join(lines))
    start, end = len(lines[0]), len(lines[0]) + len(lines[1])
    assert session_work(agent, "s", [Source(str(path), start, end)]) == SessionWork("", ("/p/now.md",))


def test_project_settings_restrict_the_kinds(root: Path) -> None:
    _write(root / ".skilld.toml", 'targets = ["skill"]\n')
    path = root / "CLAUDE.md"
    assert (opt_out(path, "CLAUDE.md", TargetKind.INSTRUCTIONS) or "").endswith("opts out of skilld")
    assert opt_out(path, "a", TargetKind.SKILL) is None
    assert opt_out(root) is None


@for_each(
    ("one", "other", "same"),
    [
        ("Always use pnpm, never npm, in this repository.", "Use pnpm in this repository.", True),
        ("Always use tabs for indentation.", "Never use tabs for indentation.", False),
        ("Keep subjects under 50 characters.", "Keep subjects under 72 characters.", False),
    ],
)
def test_a_request_is_told_apart_from_its_opposite(one: str, other: str, same: bool) -> None:  # noqa: FBT001
    assert is_same_change(one, other) is same


@for_each(
    ("words", "line"),
    [
        ("Put the ticket number first.", 3),  # an item over two lines
        ("| Indent | Two spaces | | Quotes | Double |", 6),
        ("Be brief.", 0),
    ],
)
def test_the_first_line_of_a_multi_line_statement_is_found(words: str, line: int) -> None:
    text = "# Project\n\n- Put the ticket\n  number first.\n\n| Indent | Two spaces |\n| Quotes | Double |\n"
    file = TargetDocument(FILE, b"", SkillDoc(1, FILE.name, FILE.path, text))
    found = JobPlaces([file], TargetFiles((), Context("codex", "", "known", "")), "/h").find_line(words)
    assert found == ((FILE, line) if line else None)


def test_rules_beyond_a_size_limit_are_reported_as_not_read(root: Path) -> None:
    _write(root / "AGENTS.md", "# P\n\n" + "- Keep it short.\n" * 2000 + "- Always use tabs.\n")
    target_files = _places(root, agent="codex")
    around = JobPlaces(load_documents(target_files.refs)[0], target_files, str(root.parent / "home"))
    unread = around.unread_target("Always use tabs.")
    assert unread is not None
    assert unread[1] == "AGENTS.md:2003 says this, but Codex stops reading before that line"
    assert around.unread_target("Keep it short.") is None


def test_nothing_is_inserted_between_a_programs_markers() -> None:
    block = "<!-- tool:start -->\n## Conventions\n\n- Use npm or pnpm.\n<!-- tool:end -->\n"
    text = f"# Project\n\n{block}".encode()
    assert block in apply(text, [insert_bullet(text, "Conventions", "Always use pnpm.")]).decode()


def test_a_model_sees_only_the_relevant_parts_of_a_long_file() -> None:
    filler = "".join(f"## Part {number}\n\n{'Nothing of note stands here. ' * 40}\n\n" for number in range(20))
    text = f"{filler}## Packages\n\n- Use npm.\n"
    shown = excerpt(text, stems("always use pnpm for packages"))
    assert len(shown) < EXCERPT_LIMIT + 2000
    assert "- Use npm." in shown
    assert "## Part 7\n" in shown
    assert excerpt(TEXT, frozenset()) == TEXT


def test_another_users_file_is_no_target(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(root / "CLAUDE.md")
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert _names(_places(root)) == []


def test_the_persons_file_is_the_target_for_how_the_agent_talks(root: Path) -> None:
    mine, home = _write(root.parent / "home/.claude/CLAUDE.md"), root.parent / "home"
    batch = BatchJob(agent="claude-code", cwd=str(root / "src"), home=str(home))
    job = AnalyseBatch(batch=batch, closed_at="", backend=Spec("offline"))
    own = find_file_of_kind(job, TargetKind.PERSONAL, 4)
    assert own is not None
    assert (own.ref.path, own.ref.kind, own.doc.number) == (str(mine), TargetKind.PERSONAL, 4)
    assert find_file_of_kind(replace(job, targets=(TargetKind.SKILL,)), TargetKind.PERSONAL, 4) is None, (
        "unless personal files are left out"
    )
    project = find_file_of_kind(job, TargetKind.INSTRUCTIONS, 4)
    assert project is not None
    assert (project.ref.path, project.ref.absent) == (str(root / "CLAUDE.md"), True)
    teams, theirs = (
        SkillRef("a", str(root / "skills/a/SKILL.md")),
        SkillRef("b", str(home / ".claude/skills/b/SKILL.md")),
    )
    assert [is_personal_file(ref, str(root / "src")) for ref in (teams, theirs, own.ref)] == [False, True, True]


@for_each(
    ("text", "is_about"),
    [
        ("Do not add docstrings to test functions.", False),
        ("Always write and review tests first.", False),
        ("Never create or update branches without a test.", False),
        ("Database migrations never get merged on a Friday.", True),
        ("In Django migrations always set a lock timeout.", True),
    ],
)
def test_a_skill_is_meant_by_its_subject_and_not_by_what_any_work_does(text: str, *, is_about: bool) -> None:
    skill = content_stems("add migration. Create, review, update and test Django database migrations.")
    assert is_subject(text, skill) is is_about
    deploy = content_stems("deploy. Deploy the shop to production.")
    assert not is_subject("Always keep production secrets in vault.", deploy)


def test_a_link_in_the_project_is_shown_by_the_name_of_its_file(root: Path) -> None:
    _write(root / "AGENTS.md")
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    found = _places(root)
    assert _names(found) == [("instructions", "AGENTS.md")]
    ordered = find_targets(WorkingSession("claude-code", root, root.parent / "home", {}), ALL, named=["CLAUDE.md"])
    chosen = choose_target("Put it into CLAUDE.md: always use tabs.", ordered.refs)
    assert chosen is not None
    assert chosen.path == str(root / "AGENTS.md")
