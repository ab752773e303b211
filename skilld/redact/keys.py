"""Judge the name that a value is given: does it promise a password, a secret, perhaps one, or nothing? Pure.

`SONAR_TOKEN`, `dbPassword`, `x-api-key` do; `max_tokens`, `keyboard`, `public_key`, `token_count`, `secretName` do not.
"""

from __future__ import annotations

import re
from enum import IntEnum


class Promise(IntEnum):
    """How much a name promises, which is how little its value must show to be taken for a secret."""

    NOTHING = 0
    PERHAPS = 1  # a key, a login, an id of an access: only what looks made by a machine
    SECRET = 2  # a token, an API key: what is no word
    PASSWORD = 3  # a password: people make those up


# Where to look for a name: every name that promises something contains one of these.
STEMS = re.compile(
    r"pass|pw|secret|token|key|cred|auth|login|access_?-?id|client_?-?id|sas|cookie|salt|pat\b"
    r"|contrase|kennwort|senha|парол|密码|密碼|パスワード|비밀번호"
)
_FOREIGN = re.compile(r"contraseñ?n?a|kennwort|\bsenha|парол|密码|密碼|パスワード|비밀번호")

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PASSWORD = re.compile(
    r"\w*(?:passw(?:or)?d|passphrase|passcode)|\w{0,8}pwd|(?:db|my|user|root|admin|mysql|pg|ftp|smtp|sl)?pass|pw|secrete?"
)
_SECRET = re.compile(
    r"\w*(?:token|(?:api|access|secret|private|auth|shared|account|master|signing|encryption)key|(?:client|app)secret)"
    r"|creds?|credentials?"
)
_PERHAPS = re.compile(r"keys?|pat|auth|login|salt|cookie|sas")
# What makes a key or an auth a secret for certain: the word before it.
_OWNER = re.compile(
    r"api|aws|access|account|secret|private|priv|auth(?:orization)?|shared|master|signing|encryption|deploy|service|client"
    r"|admin|root|webhook|consumer|license|ssh|iam|bearer|db|database"
)
_ID = re.compile(r"(?:access|client|app|account|key)_?(?:id|identifier)$")
# Words that turn the name of a secret into the name of something about it, or of something public.
_BEFORE = re.compile(
    r"pub(?:lic)?|primary|foreign|sort|partition|cached?|max|min|num|total|count|n|next|per|input|output|prompt"
    r"|completion|used?|no|has|is|with|without|missing|invalid|forgot|reset|show|hide|toggle"
)
_AFTER = re.compile(
    r"names?|types?|length|len|size|counts?|limits?|max|min|num|paths?|files?|filename|dir|directory|folder|url|uri"
    r"|endpoint|host|port|vault|store|storage|ring|board|codes?|map|format|fields?|column|index|input|labels?"
    r"|placeholder|pattern|regex|policy|expir(?:y|es|ation)|ttl|timeout|prefix|suffix|version|alg(?:orithm)?|usage|used"
    r"|budget|costs?|price|window|rotation|enabled|required|valid(?:ators?|ation)?|hashers?|errors?|exception|help|hint|prompt"
    r"|manager|provider|services?|handler|helper|class|env|var(?:iable)?|arn|ref|fingerprint|ids?|identifier"
    r"|param(?:eter)?s?|at|time(?:stamp)?|date|since|thresholds?|settings|config|options|state|status|context|strategy"
    r"|mode|scopes?|method|middleware|page|form|reset|less|stream|png|svg|json|ya?ml|toml|ini|cfg|txt|pem|md|html|css|csv"
)


def promise_of(name: str) -> Promise:
    """Return what `name`, an identifier in any spelling (dots, dashes, camel case), promises of its value."""
    if _FOREIGN.search(name.lower()):
        return Promise.PASSWORD
    words = [word.lower() for word in _WORD.findall(name)]
    best = max((_promise_of_word(words, i) for i in range(len(words))), default=Promise.NOTHING)
    if best is Promise.NOTHING and _ID.search("_".join(words)):
        return Promise.PERHAPS
    return best


def _promise_of_word(words: list[str], i: int) -> Promise:
    """Return what word `i` promises among the others, which may say that the name is only about a secret."""
    if any(map(_AFTER.fullmatch, words[i + 1 :])):
        return Promise.NOTHING
    if _PASSWORD.fullmatch(words[i]):
        return Promise.PASSWORD
    if any(map(_BEFORE.fullmatch, words[:i])):
        return Promise.NOTHING
    if _SECRET.fullmatch(words[i]):
        return Promise.SECRET
    if not _PERHAPS.fullmatch(words[i]):
        return Promise.NOTHING
    owned = words[i] in {"key", "auth"} and i > 0 and _OWNER.fullmatch(words[i - 1])
    return Promise.SECRET if owned else Promise.PERHAPS
