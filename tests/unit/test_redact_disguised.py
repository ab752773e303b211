"""Secrets that no pattern sees as they are written: with colours, invisible characters and escapes in them."""

from __future__ import annotations

import time
from collections.abc import Callable

from skilld.redact import Redactor
from skilld.redact.redactor import _search
from support.rows import for_each

REDACTOR = Redactor(bytes(32))

HEX = "4f1c09b7e52da8360bd94e7f813ca65027f8e1b94d60c3a57b2e98f01d46ac35"
BODY = "q7RzK2vXw9TbL4mPsH8cYd3NfJ6gVtA5eUxZ1kQyW0oD"
TOKEN = "ghp" + "_" + BODY[:36]
_FENCE = "{} RSA PRIVATE " + "KEY-----"
KEY = "\n".join([_FENCE.format("-----BEGIN"), BODY + "MIIEvQIBADANBgkqhkiG", BODY[::-1], _FENCE.format("-----END")])


def _each(form: str) -> Callable[[str], str]:
    return lambda text: "".join(form.format(ord(char)) for char in text)


def _second(form: str) -> Callable[[str], str]:
    """Return a function that escapes every sign that is no letter or digit."""
    return lambda text: "".join(char if char.isalnum() else form.format(ord(char)) for char in text)


DISGUISES: dict[str, Callable[[str], str]] = {
    "zero-width space": lambda text: text[:12] + "\u200b" + text[12:],
    "soft hyphen": lambda text: text[:9] + "\u00ad" + text[9:],
    "byte order mark": lambda text: text[:20] + "\ufeff" + text[20:],
    "colour inside": lambda text: text[:4] + "\x1b[1;38;5;12m" + text[4:],
    "address of a terminal": lambda text: text[:4] + "\x1b]8;;https://x.example\x1b\\" + text[4:],
    "URL": _second("%{:02X}"),
    "all of a URL": _each("%{:02x}"),
    "HTML, decimal": _second("&#{};"),
    "HTML, hexadecimal": _second("&#x{:x};"),
    "JSON": _each("\\u{:04x}"),
    "C, hexadecimal": _each("\\x{:02x}"),
    "C, octal": _each("\\{:o}"),
    "wide letters": lambda text: "".join(chr(ord(c) + 0xFEE0) for c in text),
    "hexadecimal digits": lambda text: text.encode().hex(),
    "a hexadecimal number": lambda text: "0x" + text.encode().hex().upper(),
}


ADDRESS = f"postgres://app:{BODY[:9]}@db.example/x"
# Nobody types an address in wide letters.
CASES = {
    f"{name} of {kind}": (disguise, secret)
    for name, disguise in DISGUISES.items()
    for kind, secret in (("a token", TOKEN), ("an address", ADDRESS))
    if (name, secret) != ("wide letters", ADDRESS)
}


@for_each(("disguise", "secret"), CASES.values())
def test_a_disguised_secret_is_removed_whole(disguise: Callable[[str], str], secret: str) -> None:
    written = disguise(secret)
    text = f"first\nuse {written} here\nlast"
    masked = REDACTOR.redact(text)
    hidden = disguise(BODY[5:9])  # inside both secrets
    assert "[REDACTED:" in masked
    assert hidden not in masked
    assert masked.startswith("first\nuse ")
    assert masked.endswith("] here\nlast" if secret == TOKEN else "here\nlast")
    assert REDACTOR.redact(masked) == masked


@for_each(
    ("text", "secret"),
    [
        ("\x1b[1mpassword\x1b[0m: \x1b[32mWumpel7kat\x1b[0m", "Wumpel7kat"),
        ("\x1b[38;5;12mAPI_TOKEN\x1b[0m=\x1b[1m" + BODY[:22] + "\x1b[m", BODY[:22]),
        ("pass\u200fword: Wumpel7kat", "Wumpel7kat"),
        ("password&#61;Wumpel7kat", "Wumpel7kat"),
        ("https%3A%2F%2Fbob%3AWumpel7kat%40x.example", "Wumpel7kat"),
        ("\n".join(f"\x1b[32m{line}\x1b[0m" for line in KEY.split("\n")), BODY[::-1]),
        (f"https://{HEX[:40]}:x-oauth-basic@github.com/x", HEX[:40]),
        ("mysql://app:Wum/pel/7kat@db.example/x", "pel/7kat"),
        ("postgresql+psycopg://app:Wum@pel?7#kat@db:5432/x", "7#kat"),
        ("Server=x;User ID=a;Password={Wum;pel7kat};", "pel7kat"),
        ("api_token: >-\n  Wumpel7kat9QzX2", "Wumpel7kat9QzX2"),
        ("ada:$apr1$q7RzK2vX$w9TbL4mPsH8cYd3NfJ6gVt", "w9TbL4mPsH8cYd3NfJ6gVt"),
        ("root:$6$q7RzK2vX$" + BODY * 2 + ":19000:0", BODY),
        ("$2b$12$" + BODY + "q7RzK2vXw", BODY),
        ("$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$" + BODY, BODY),
        ("pbkdf2_sha256$600000$abc$" + BODY + "=", BODY),
        ("xprv" + (BODY * 3)[:107], BODY),
    ],
)
def test_more_places_of_secrets(text: str, secret: str) -> None:
    assert secret not in REDACTOR.redact(text)


@for_each(
    "text",
    [
        "use %20 for blanks, as in https://x.example/a%20b?q=%7Bid%7D",
        "the regex \\x1b\\[[0-9;]*m strips colours; grep -E '\\$2' file; C:\\60",
        "printf '\\033[1mbold\\033[0m'; \x1b[31mred\x1b[0m; s/\\(a\\)/\\1/g",
        "&#39;quoted&#39; &#169; caf\u00e9 na\u00efve \u200bhello \uff21\uff22\uff23",
        "commit 601ea81a9514aaf4553a56704f335206478ec05c, 48656c6c6f2c20776f726c6420616e642068656c6c6f",
        "postgres://user:password@localhost/db, postgres://u:$PW@h/db and mail to bob@x.example",
        "Server=x;Password={password};\npassword: |\n  the one from the vault",
        "it costs $1$ or $2$ each; key: >-\n  what the key is for",
    ],
)
def test_harmless_text_stays(text: str) -> None:
    assert REDACTOR.redact(text) == text


@for_each(
    "unit", ["\x1b[", "%41", "\\x41", "\u200b", "&#65;", "a%\n", "\x1b]8;;", "%2", "\uff21\n", "$2b$", "mysql://:@@"]
)
def test_the_time_is_proportional_to_the_length(unit: str) -> None:
    def measure(size: int) -> float:
        text = unit * (size // len(unit))
        start = time.process_time()
        _search(text)
        return time.process_time() - start

    assert measure(200_000) < 0.25 + 8 * measure(50_000)
