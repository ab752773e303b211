"""Judge the name that a value is given: does it promise a password, a secret, perhaps one, or nothing of the kind? Pure.

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
    r"pass|pw|secret|token|key|cred|auth|login|access_?-?id|client_?-?id|sas|session|cookie|salt|pin\b|pat\b"
    r"|contrase|kennwort|senha|парол|密码|密碼|パスワード|비밀번호"
)
_FOREIGN = re.compile(r"contraseñ?n?a|kennwort|\bsenha|парол|密码|密碼|パスワード|비밀번호")

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PASSWORD = re.compile(r"(?:\w*(?:passw(?:or)?d|passwd|passphrase|passcode)|\w{0,8}pwd|\w{0,4}pass|pw|secrete?|pin)$")
_SECRET = re.compile(
    r"(?:\w*(?:token|apikey|accesskey|secretkey|privatekey|authkey|sharedkey|accountkey|masterkey|signingkey"
    r"|encryptionkey|clientsecret|appsecret)|cred|creds|credentials?|authtoken)$"
)
_KEY_OWNERS = frozenset(
    "api access account secret private auth authorization shared master signing encryption deploy service app client"
    " admin root webhook consumer license ssh iam bearer db database priv storage connection".split()
)
_PERHAPS = frozenset("key keys pat auth login salt session cookie sas sid".split())
_IDS = re.compile(r"(?:access|client|app|account|key)_?(?:id|identifier)$")
# Words that turn the name of a secret into the name of something about it.
_ABOUT_BEFORE = frozenset(
    "public pub primary foreign sort partition cache max min num total count n next per input output prompt completion"
    " used cached no has is use with without missing invalid forgot reset show hide toggle".split()
)
_ABOUT_AFTER = frozenset(
    "name names type types length len size count limit max min num path paths file files filename dir directory folder"
    " url uri endpoint host port vault store storage ring board code map format field fields column index input label"
    " placeholder pattern regex policy expiry expires expiration ttl timeout prefix suffix version algorithm alg usage"
    " used budget cost price window rotation enabled required valid validator validation error errors exception help hint"
    " prompt manager provider service services handler helper class env var variable arn ref fingerprint id ids identifier"
    " parameter parameters param params at time timestamp date since labels thresholds settings config options state status context"
    " png svg json yaml yml toml ini cfg txt pem md html css csv strategy mode scope scopes method middleware page form reset less stream".split()
)


def promise_of(name: str) -> Promise:
    """Return what `name`, an identifier in any spelling (dots, dashes, camel case), promises of its value."""
    if _FOREIGN.search(name.lower()):
        return Promise.PASSWORD
    words = [word.lower() for word in _WORD.findall(name)]
    best = Promise.NOTHING
    for i, word in enumerate(words):
        here = _promise_of_word(words, i, word)
        if here and not _is_about(words, i, here):
            best = max(best, here)
    if best is Promise.NOTHING and _IDS.search("_".join(words)):
        return Promise.PERHAPS
    return best


def _promise_of_word(words: list[str], i: int, word: str) -> Promise:
    if _PASSWORD.match(word):
        return Promise.PASSWORD
    if _SECRET.match(word):
        return Promise.SECRET
    if word in {"key", "auth"} and i and words[i - 1] in _KEY_OWNERS:
        return Promise.SECRET
    return Promise.PERHAPS if word in _PERHAPS else Promise.NOTHING


def _is_about(words: list[str], i: int, here: Promise) -> bool:
    """Whether the other words make the name one about a secret (its length, its file) or of something public."""
    if any(word in _ABOUT_AFTER for word in words[i + 1 :]):
        return True
    before = words[:i]
    return any(word in _ABOUT_BEFORE for word in before) and here is not Promise.PASSWORD
