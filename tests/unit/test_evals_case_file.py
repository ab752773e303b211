"""`evals/evals.json`: files of skill-creator and people are read, and additions keep the rest verbatim."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.errors import SkilldError
from skilld.evals.case_file import Case, add_cases, parse_cases
from skilld.evals.checks import judged_statements
from support.rows import for_each

NEW = Case("", "Write the notes of 2.4", "Tickets first.", ('The output contains "pnpm"', "It is short"))
# As the schema of skill-creator has it, letter for letter.
THEIRS = """{
  "skill_name": "example-skill",
  "evals": [
    {
      "id": 1,
      "prompt": "User's example prompt",
      "expected_output": "Description of expected result",
      "files": ["evals/files/sample1.pdf"],
      "expectations": [
        "The output includes X",
        "The skill used script Y"
      ]
    }
  ]
}
"""


def test_a_new_file_has_the_format_of_skill_creator() -> None:
    document = json.loads(add_cases("", "notes", [NEW]))
    assert list(document) == ["skill_name", "evals"]
    (case,) = document["evals"]
    assert list(case) == list(json.loads(THEIRS)["evals"][0])
    assert (document["skill_name"], case["id"], case["files"]) == ("notes", 1, [])


def test_a_skill_creator_file_is_read_and_extended() -> None:
    (case,) = parse_cases(THEIRS)
    assert (case.id, case.statements[0], case.obstacle) == (
        "1",
        "The output includes X",
        "it needs files, which skilld does not provide",
    )
    text = add_cases(THEIRS, "other", [NEW, NEW])
    assert text.startswith(THEIRS[: THEIRS.rindex("}\n  ]")])
    assert [case.id for case in parse_cases(text)] == ["1", "2", "3"]
    assert json.loads(text)["skill_name"] == "example-skill"


@for_each(
    "text",
    [
        '{"evals":[]}',
        '{"evals": [ ] , "more": 1}\n',
        '{"a": "\\"evals\\": [1]", "evals":\n\t[{"id":"x","prompt":"p","assertions":["a"],"mine":{"k":[1,2]}}]}',
        '\ufeff{"evals": [{"id": 7, "prompt": "p", "expectations": [{"text": "t"}]}], "note": "\u00fc \\u00fc"}',
        '{\n\t"evals": [\n\t\t{\n\t\t\t"prompt": "p"\n\t\t}\n\t]\n}',
    ],
)
def test_everything_a_person_wrote_stays_byte_for_byte(text: str) -> None:
    changed = add_cases(text, "notes", [NEW])
    before, after = (json.loads(one.removeprefix("\ufeff")) for one in (text, changed))
    new = after["evals"].pop()
    assert after == before
    assert new["prompt"] == NEW.prompt
    end = text.rindex("]") if "more" not in text else text.index("]")
    assert changed.startswith(text[:end].rstrip())
    assert changed.endswith(text[end:])
    assert len({case.id for case in parse_cases(changed)}) == len(after["evals"]) + 1


@for_each(
    ("text", "why"),
    [
        ("", "it is not valid JSON"),
        ("{", "line 1 is not valid JSON"),
        ('{"evals": [}', "line 1 is not valid JSON"),
        ("[]", 'it has no "evals" list'),
        ('{"evals": {}}', 'it has no "evals" list'),
        ('{"evals": [1]}', "case 1 is not an object"),
        ('{"evals": [{"id": 1}]}', "case 1: prompt is not a string"),
        ('{"evals": [{"prompt": " "}]}', "case 1 has no prompt"),
        ('{"evals": [{"prompt": "p", "id": true}]}', "case 1 has an ID that is neither a number nor a string"),
        ('{"evals": [{"prompt": "p", "id": 1}, {"prompt": "q", "id": 1}]}', "two cases have the ID 1"),
        ('{"evals": [{"prompt": "p", "files": "x"}]}', "case 1: files is not a list"),
        ('{"evals": [{"prompt": "p", "expectations": [3]}]}', "case 1: an expectation is not a string"),
        ('{"evals": [{"prompt": "p", "expectations": [""]}]}', "case 1: an expectation is empty"),
        ('{"evals": [{"prompt": "p", "expectations": [{"script": "rm"}]}]}', "case 1: an expectation is not a string"),
        (json.dumps({"evals": [{"prompt": "p" * 20_001}]}), "case 1: prompt has more than 20000 characters"),
        (json.dumps({"evals": [{"prompt": "p", "id": n} for n in range(501)]}), "it has more than 500 cases"),
        ("[" * 100_000, "it is not valid JSON"),
    ],
)  # fmt: skip
def test_an_invalid_case_file_is_reported(text: str, why: str) -> None:
    with pytest.raises(SkilldError) as error:
        parse_cases(text)
    assert why in str(error.value) or (text == "" and "not valid JSON" in str(error.value))


def test_object_checks_of_other_tools_are_read() -> None:
    checks: list[Any] = [
        {"type": "contains", "value": "pnpm"},
        {"type": "not_contains", "value": "npm"},
        {"description": "It is short"},
        {"type": "contains", "value": 'say "hi"'},
        {"type": ["contains"], "text": "It is polite"},
    ]
    (case,) = parse_cases(json.dumps({"evals": [{"prompt": "p", "assertions": checks}]}))
    assert case.statements == (
        'The output contains "pnpm"',
        'The output does not contain "npm"',
        "It is short",
        'The output contains \u201csay "hi"\u201d',
        "It is polite",
    )
    assert judged_statements(case.statements) == ["It is short", "It is polite"]


def test_a_case_is_identified_by_its_prompt_and_checks() -> None:
    other = Case("9", NEW.prompt, "another word for it", NEW.statements)
    assert other.content == NEW.content


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40).filter(str.strip)
cases = st.builds(
    Case, st.just(""), texts, st.text(max_size=20), st.lists(texts.map(str.strip), min_size=1, max_size=3).map(tuple)
)


@given(first=st.lists(cases, min_size=1, max_size=3), then=st.lists(cases, min_size=1, max_size=3))
def test_a_written_file_is_read_back(first: list[Case], then: list[Case]) -> None:
    text = add_cases(add_cases("", "notes", first), "notes", then)
    found = [(case.prompt, case.expected, case.statements) for case in parse_cases(text)]
    assert found == [(one.prompt, one.expected, tuple(dict.fromkeys(one.statements))) for one in (*first, *then)]
    assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"
