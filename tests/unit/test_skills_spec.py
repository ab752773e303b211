"""The rules of the specification, and that composed skills follow them and read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.errors import SkilldError
from skilld.skills.spec import find_faults, load_fault, read_front
from skilld.skills.write import compose
from skilld.text import fold, safe_text, truncate
from support.rows import for_each

yaml = pytest.importorskip("yaml", reason="litellm brings it; without it there is nothing to compare with")

HEAD = "---\nname: notes\ndescription: Takes notes.\n"
BODY = "---\n\n# Notes\n\nTake them.\n"


def _faults_with(front_matter: str) -> tuple[str, ...]:
    return find_faults(HEAD + front_matter + BODY, "notes")


@for_each(
    "front_matter",
    [
        "",
        "license: MIT\ncompatibility: Needs git.\nallowed-tools: Bash(git:*) Read\n",
        "metadata:\n  author: Pat\n  version: '1.0'\n",
        "# a remark\nmetadata: # one more\n    version: 1.0\n",
        "license: >-\n  Folded\n  over lines\n",
        'license: "said \\"so\\"" # behind it\n',
        "license: Goes on\n  below\n",
    ],
)
def test_a_valid_skill_has_no_faults(front_matter: str) -> None:
    assert _faults_with(front_matter) == ()
    assert yaml.safe_load(HEAD[4:] + front_matter)["name"] == "notes"


@for_each(
    ("front_matter", "fault"),
    [
        ("name: notes\n", "it has the key name twice"),
        ("hooks: x\n", "its key hooks is not in the specification"),
        ("compatibility: ''\n", "it has no compatibility"),
        (f"compatibility: {'x' * 501}\n", "its compatibility is 501 characters long; the limit is 500"),
        ("license: [MIT]\n", "its license is not text"),
        ("license: &a MIT\n", "its license is not text"),
        ("license: !!str MIT\n", "its license is not text"),
        ("license: two: colons\n", "its license is not text"),
        ("license: 'open\n", "its license is not text"),
        ("license:\n  - MIT\n", "its license is not text"),
        ("license:\n", "its license is not text"),
        ("metadata: {a: b}\n", "its metadata is not a mapping"),
        ("metadata: text\n", "its metadata is not a mapping"),
        ("metadata:\n", "its metadata is not a mapping"),
        ("metadata:\n  - a\n", "its metadata is not a mapping"),
        ("metadata:\n  a: x\n  stray\n", "its metadata is not a mapping"),
        ("metadata:\n  a:\n    b: c\n", "the value of a in its metadata is not text"),
        ("metadata:\n  a: [x]\n", "the value of a in its metadata is not text"),
        ("metadata:\n  a: x\n  a: y\n", "its metadata has the key a twice"),
        ("no entry\n", "its front matter has lines that belong to no key"),
        ("- item\n", "its front matter has lines that belong to no key"),
    ],
)
def test_front_matter_faults_are_named(front_matter: str, fault: str) -> None:
    assert fault in _faults_with(front_matter)


@for_each(
    ("name", "fault"),
    [
        ("Notes", "its name can contain only lowercase letters, digits and single hyphens"),
        ("no--tes", "its name can contain only lowercase letters, digits and single hyphens"),
        ("-notes", "its name can contain only lowercase letters, digits and single hyphens"),
        ("notes-", "its name can contain only lowercase letters, digits and single hyphens"),
        ("../notes", "its name can contain only lowercase letters, digits and single hyphens"),
        ("n" * 65, "its name is 65 characters long; the limit is 64"),
        ("''", "it has no name"),
    ],
)
def test_name_faults_are_named(name: str, fault: str) -> None:
    assert find_faults(f"---\nname: {name}\ndescription: Notes.\n{BODY}", name) == (fault,)


def test_the_name_must_match_the_folder() -> None:
    assert find_faults(HEAD + BODY, "notes") == ()
    assert find_faults(HEAD + BODY, "other") == ("its name does not match its folder's name",)


@for_each(
    ("text", "fault"),
    [
        ("---\nname: notes\n---\nBody\n", "it has no description"),
        (
            f"---\nname: notes\ndescription: {'d' * 1025}\n---\nBody\n",
            "its description is 1025 characters long; the limit is 1024",
        ),
        (HEAD + "---\n\n \n", "it has no text after its front matter"),
        (HEAD + BODY + "line\n" * 493, "it has 501 lines; the limit is 500"),
        (HEAD + BODY + "\0", "it contains characters that are not allowed in a text file"),
        (HEAD + BODY + "\udc80", "it contains characters that are not allowed in a text file"),
    ],
)
def test_other_faults_are_named(text: str, fault: str) -> None:
    assert find_faults(text, "notes") == (fault,)


@for_each("text", ["", "# Notes\n", "---\nname: notes\n", "\n---\nname: notes\n---\nBody\n"])
def test_without_front_matter_only_that_is_reported(text: str) -> None:
    (fault,) = find_faults(text, "notes")
    assert fault.startswith("it does not start with front matter")


_VALUES = st.one_of(st.text(max_size=80), st.text(alphabet=" \n\t:#'\"\\|>-?&*!%@`{}[],x1é\u202e\x1b\x85", max_size=40))


@given(_VALUES, _VALUES)
def test_any_words_compose_a_skill_that_reads_back(description: str, value: str) -> None:
    said = truncate(fold(safe_text(description)), 1024)
    if not said:
        with pytest.raises(SkilldError, match="it has no description"):
            compose("notes", description, "Take them.", {})
        return
    text = compose("notes", description, "Take them.", {"skilld-x": value})
    assert find_faults(text, "notes") == ()
    read = yaml.safe_load(text.split("\n---\n", 1)[0][4:])
    kept = safe_text(value, newlines=True)
    assert read == {"name": "notes", "description": said, "metadata": {"skilld-x": kept}}
    assert read_front(text).description == said
    assert read_front(text).metadata == {"skilld-x": kept}


@given(_VALUES)
def test_a_faultless_skill_is_text_to_yaml(value: str) -> None:
    text = f"license: {value}\n"
    if find_faults(HEAD + text + BODY, "notes") == ():
        read = yaml.load(HEAD[4:] + text, Loader=yaml.BaseLoader)
        assert isinstance(read["license"], str)


def test_a_plain_description_is_not_quoted() -> None:
    text = compose(
        "notes", "Takes notes;  use it\nin meetings.", "# Notes\r\n\r\nTake them.\r\n\n\n", {"skilld-origin": "mined"}
    )
    assert text == (
        "---\nname: notes\ndescription: Takes notes; use it in meetings.\n"
        'metadata:\n  skilld-origin: "mined"\n---\n\n# Notes\n\nTake them.\n'
    )


def test_a_long_description_is_cut() -> None:
    assert len(read_front(compose("notes", "word " * 500, "Take them.", {})).description) == 1024


@for_each(
    ("name", "body", "metadata"),
    [
        ("No", "Body", {}),
        ("no", " \n", {}),
        ("no", "line\n" * 500, {}),
        ("no", "a\0b", {}),
        ("no", "Body", {"a b": "c"}),
    ],
)
def test_an_impossible_skill_is_refused(name: str, body: str, metadata: dict[str, str]) -> None:
    with pytest.raises(SkilldError, match="Could not write the new skill"):
        compose(name, "Notes.", body, metadata)


@for_each(
    ("front", "why"),
    [
        ("description: Use it: always.", ""),
        ("description: >-\n  Use it\n  always.", ""),
        ("description:\n  Use it.", ""),
        ("allowed-tools:\n- Read\n- Grep\ndescription: Use it.", ""),
        ("description: |", "it has no description"),
        ("description: # none", "it has no description"),
        ("metadata:\n  description: Use it.", "it has no description"),
        ("description:\n- Use it.", "it has no description"),
        ("description:\n  - Use it.", "its description is not text"),
        ("description: Use it.\nAlways.", "its front matter has lines that belong to no key"),
    ],
)
def test_a_skill_is_broken_where_agents_cannot_tell_when_to_use_it(front: str, why: str) -> None:
    assert load_fault(f"---\nname: one\n{front}\n---\n\nText.\n") == why


@pytest.mark.parametrize(
    ("text", "why"),
    [(" \n", "it is empty"), ("# One\n", "it does not start with front matter between two lines of three hyphens")],
)
def test_a_file_without_front_matter_is_broken(text: str, why: str) -> None:
    assert load_fault(text) == why
