"""The redactor as a whole: placeholders, properties of every text, and that it fails closed."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.errors import SkilldError
from skilld.redact import Finding, RedactionError, Redactor
from skilld.redact.tokens import SHAPES, load_formats
from support.rows import for_each

ROOT = Path(__file__).parents[2]
REDACTOR = Redactor(bytes(32))
SLACK = 256
PLACEHOLDER = re.compile(r"\[REDACTED:[a-z0-9-]+:[0-9a-f]{8}\]")
TOKEN = "ghp_" + "q7RzK2vXw9TbL4mPsH8cYd3NfJ6gVtA5eUxZ"
HEX = "4f1c09b7e52da8360bd94e7f813ca65027f8e1b94d60c3a57b2e98f01d46ac35"

# What the detectors look for, in pieces: texts made of these reach deep into them.
PIECES = [
    *sorted({prefix for each in load_formats() for prefix in each.prefixes}),
    *sorted({each.anchor for each in SHAPES if each.anchor}),
    *("password", "Password: ", "api_key=", "key='", 'token="', "secret(", "<token>", "-u ada:", "curl ", "--token "),
    *("Authorization: ", "Bearer ", "Cookie: a=", "://a:", "://", "@host", "BUNDLE_A__B: ", ":_authToken=", "sig="),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "kind: Secret\n",
        "data:\n",
        "  a: ",
        "is ",
        "value=",
    ),
    *("[REDACTED:", "[REDACTED:password:0a1b2c3d]", ":0a1b2c3d]", "\0", "\\n", '\\"', "%3D", "${", "{{", "xxxx", "..."),
    *(
        " ",
        "\n",
        "=",
        ":",
        ",",
        ";",
        "&",
        '"',
        "'",
        "`",
        "\\",
        "/",
        ".",
        "-",
        "_",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
    ),
    *("q7RzK2vXw9TbL4mPsH8cYd3NfJ6g", HEX, "cGFzc3dvcmQ9aHVudGVyMjI=", "hunter22", "words", "İ", "ключ", "\ud800", "é"),
]
TEXTS = st.one_of(
    st.text(), st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=40).map("".join)
)


def test_a_secret_becomes_a_placeholder_of_the_documented_form() -> None:
    assert re.fullmatch(r"use \[REDACTED:github:[0-9a-f]{8}\] here", REDACTOR.redact(f"use {TOKEN} here"))


def test_findings_give_kind_and_span_in_order() -> None:
    text = f"password=hunter22 and {TOKEN}"
    first, second = REDACTOR.findings(text)
    assert first == Finding(9, 17, "password")
    assert (second.kind, text[slice(*second.span)]) == ("github", TOKEN)


def test_a_secret_gets_the_same_placeholder_everywhere() -> None:
    redacted = REDACTOR.redact(f"{TOKEN}\nGITHUB_TOKEN={TOKEN}\n{{'a': '{TOKEN}'}}")
    assert len(set(PLACEHOLDER.findall(redacted))) == 1
    assert len(PLACEHOLDER.findall(redacted)) == 3


def test_other_secrets_and_keys_give_other_placeholders() -> None:
    other = TOKEN[:-1] + "a"
    assert REDACTOR.redact(TOKEN) != REDACTOR.redact(other)
    assert REDACTOR.redact(TOKEN) != Redactor(b"k" * 32).redact(TOKEN)


def test_the_digest_is_an_hmac_of_the_secret() -> None:
    # printf hunter22 | openssl dgst -sha256 -mac HMAC -macopt hexkey:(64 zeros)
    assert REDACTOR.redact("password=hunter22") == "password=[REDACTED:password:17aa3874]"


def test_the_more_exact_of_two_findings_names_the_secret() -> None:
    assert REDACTOR.redact(f"token={TOKEN}").startswith("token=[REDACTED:github:")


def test_a_text_without_secrets_is_returned_unchanged() -> None:
    text = "Always run `pytest -q` before you commit.\r\n\tSee docs/a.md, 9fceb02 and ada@example.org. ✅ ключ\0\n"
    assert REDACTOR.redact(text) == text
    assert REDACTOR.redact("") == ""


@given(TEXTS)
def test_redaction_is_idempotent(text: str) -> None:
    once = REDACTOR.redact(text)
    assert REDACTOR.redact(once) == once
    assert REDACTOR.findings(once) == []


@given(TEXTS)
def test_the_result_is_at_most_twice_as_long(text: str) -> None:
    assert len(REDACTOR.redact(text)) <= 2 * len(text) + SLACK


@given(TEXTS)
def test_text_outside_findings_stays_and_findings_never_overlap(text: str) -> None:
    findings = REDACTOR.findings(text)
    assert all(0 <= finding.start < finding.end <= len(text) for finding in findings)
    assert all(left.end <= right.start for left, right in itertools.pairwise(findings))
    assert all(re.fullmatch("[a-z0-9-]+", finding.kind) for finding in findings)
    if not findings:
        assert REDACTOR.redact(text) == text


@given(TEXTS, TEXTS)
def test_a_token_on_its_own_line_never_gets_through(before: str, after: str) -> None:
    assert TOKEN not in REDACTOR.redact(f"{before}\n{TOKEN}\n{after}")


def test_many_short_secrets_stay_within_twice_the_length() -> None:
    text = "pw=a1!b;" * 500
    redacted = REDACTOR.redact(text)
    assert len(redacted) <= 2 * len(text) + SLACK
    assert "a1!b" not in redacted


def test_an_unbroken_quarter_megabyte_terminates() -> None:
    for text in ("a" * 250_000, HEX * 4_000, "eyJ" * 75_000, "=" * 250_000, '"' * 250_000):
        assert REDACTOR.redact(text) == text


@for_each("key", [b"", b"short", bytes(33)])
def test_a_key_of_the_wrong_length_is_refused(key: bytes) -> None:
    with pytest.raises(RedactionError):
        Redactor(key)


class Broken(str):
    """A text that cannot be cut."""

    __slots__ = ()

    def __getitem__(self, _: object) -> str:
        raise OSError(str(self))


@for_each("text", [None, b"password=hunter22", 7, Broken("password=hunter22")])
def test_any_internal_error_is_a_refusal_without_text(text: str) -> None:
    with pytest.raises(RedactionError) as error:
        REDACTOR.redact(text)
    assert isinstance(error.value, SkilldError)
    assert "hunter22" not in str(error.value)
    assert error.value.__suppress_context__


def test_findings_in_bytes_fail_closed_too() -> None:
    with pytest.raises(RedactionError):
        REDACTOR.findings(b"password=hunter22")  # type: ignore[arg-type]


def test_a_redacting_worker_imports_no_library() -> None:
    names = "sorted({name.split('.')[0] for name in sys.modules} - set(sys.stdlib_module_names))"
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import skilld.redact; print({names})"
    result = subprocess.run([sys.executable, "-Ic", code], check=True, capture_output=True, text=True)
    assert "'skilld'" in result.stdout
    assert not {"yaml", "requests", "detect_secrets", "litellm"} & set(re.findall(r"\w+", result.stdout))
