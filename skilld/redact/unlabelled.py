"""Finds unlabelled, machine-made secrets: keys in sentences, bare key material, the body of a PEM. Pure.

Values are searched first, since they are rare; the text around one then shows whether it is a key or only a hash, an
ID or a public key. Sources: RFC 8017 and RFC 5208 (how the DER of a private key begins), OpenSSH's PROTOCOL.key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

from skilld.redact.blocks import decode_base64
from skilld.redact.findings import UUID, Finding, Span, is_opaque, is_stand_in
from skilld.redact.naming import COPULAS, names_a_key

_RUN = re.compile(r"[A-Za-z0-9_+/=-]{12,512}+")
_MAX_SHORT_KEY = 16  # a key with fewer characters needs "is" or a sign before it
_CHARS_BEFORE, _CHARS_AFTER = 90, 24  # characters around a value that may name it
_CHARS_NEAR = 48
# Next to these, a run is part of a path, an address or an identifier.
_CONTINUES_BEFORE = re.compile(r"[\w/.@#%&?$-]", re.ASCII)
_CONTINUES_AFTER = re.compile(r"[\w/@(%$\[*]|\.[\w.]|\u2026", re.ASCII)
_GIT_HASH_DIGITS = frozenset({40})  # hex digits of a git object
_PUBLIC_KEY_PREFIXES = ("AAAA", "sha")  # as OpenSSH writes a public key; a hash with its name
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]{64}(?:[0-9a-fA-F]{64})?")
_HASH = re.compile(r"[0-9a-fA-F]{7,512}")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==|(?=[A-Za-z0-9]*+[+/])(?:[A-Za-z0-9+/]{4}){10,32}={0,2}")
_KINDS = tuple(map(re.compile, ("[A-Z]", "[a-z]", "[0-9]", "[+/=]")))
_KIND_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z0-9+/])|(?<=[A-Z])(?=[a-z0-9+/])|(?<=[0-9])(?=[A-Za-z+/])")
_MIN_CHANGE_SHARE = 0.4  # of the places where the kind of character changes; 0.65 in random base64
# Words that label public values: hashes, IDs, names of commits and images.
_PUBLIC_WORD = re.compile(
    r"(?i)commit|\bsha-?\d?|hash|digest|checksum|integrity|docker|image|revert|cherry|merge|bisect|uuid|guid|trace|etag|\bids?\b"
    r"|public|revision|fingerprint|\bpub\b|\btx|transaction|block|\btree\b|\bblob\b|layer|sum\b|\bmd5|cert"
    r"|коммит|커밋|コミット|提交|کامیت|কমিট|कमिट|哈希|校验|해시|ハッシュ|хеш|хэш"
)
# Services whose keys have no prefix: their name with a sign is a label.
_ISSUER = (
    r"(?i)(?:\b|_)(?:adafruit|adobe|airtable|algolia|amplitude|asana|auth0|beamer|bitbucket|bittrex|bugsnag|cloudflare|codecov"
    r"|cohere|coinbase|confluent|contentful|datadog|deepgram|dropbox|droneci|elevenlabs|etsy|fastly|finicity|finnhub|flickr"
    r"|freshbooks|freshdesk|gitter|gocardless|hubspot|intercom|jfrog|jira|kraken|kucoin|launchdarkly|linear|linkedin|lob"
    r"|looker|mailchimp|mailgun|mapbox|mattermost|meraki|messagebird|mistral|netlify|new_?relic|nytimes|okta|opsgenie"
    r"|pagerduty|pingdom|plaid|postmark|privateai|rapidapi|rollbar|segment|sendbird|sendgrid|sentry|sidekiq|snyk|sonarqube"
    r"|sourcegraph|splunk|spotify|squarespace|sumo_?logic|telegram|todoist|travis(?:ci)?|trello|twilio|twitch|twitter"
    r"|typeform|vonage|yandex|zendesk)\w{0,24}[\"']?\s{0,3}(?:[:=,]|=>|:=|->)\s{0,3}[\"'`]?$"
)
# An RSA or PKCS#8 key in DER begins with a sequence and the version 0; an OpenSSH one with its magic.
_MIN_PEM_LINE = 23  # characters
_PEM = re.compile(
    r"(?:MII[A-Za-z0-9+/]{3}IBA[A-D]|b3BlbnNzaC1rZXktdjE|MC4CAQAwBQYDK2V|M(?:IGH|EE|HE)AgEA|MHcCAQEEI)"
    r"[A-Za-z0-9+/]{16,256}+={0,2}(?:\s{1,4}[A-Za-z0-9+/]{20,256}+={0,2}){0,256}+"
)


def find_unlabelled(text: str, runs: list[Span]) -> Iterator[Finding]:
    """Yield every key in the `runs` of `text`, recognized by its form and the words around it."""
    for found in _PEM.finditer(text) if any(end - start >= _MIN_PEM_LINE for start, end in runs) else ():
        yield Finding(*found.span(), "private-key")
    for found in chain.from_iterable(_RUN.finditer(text, *run) for run in runs if _KINDS[2].search(text, *run)):
        start, end = found.span()
        value = found[0]
        if (
            not _KINDS[2].search(value)
            or _CONTINUES_BEFORE.match(text, max(0, start - 1))
            or _CONTINUES_AFTER.match(text, end)
        ):
            continue
        if is_opaque(value) and _is_key(text, start, end, value):
            yield Finding(start, end, "secret-value")


def _is_key(text: str, start: int, end: int, value: str) -> bool:
    if is_stand_in(value) or value.startswith(_PUBLIC_KEY_PREFIXES) or decode_base64(value):
        return False
    if len(value) < _MAX_SHORT_KEY and not _follows_link(text[max(0, start - _CHARS_AFTER) : start]):
        return False
    before, after = text[max(0, start - _CHARS_BEFORE) : start], text[end : end + _CHARS_AFTER]
    if _issuer().search(before[-_CHARS_NEAR:]):
        return True
    if _PUBLIC_WORD.search(f"{before[-_CHARS_NEAR:]} {after}"):
        return False
    if _is_key_material(text, start, value):
        return True
    if not (names_a_key(before) or names_a_key(after)):
        return False
    if _HASH.fullmatch(value) or UUID.fullmatch(value):
        return len(value) not in _GIT_HASH_DIGITS or value != value.lower()
    return "/" not in value or _is_dense(value)


def _follows_link(before: str) -> bool:
    words = before.rstrip(" \t\"'`").split()
    return bool(words) and (words[-1][-1] in ":=：" or words[-1].lower() in COPULAS)


@cache
def _issuer() -> re.Pattern[str]:
    return re.compile(_ISSUER)


def _is_key_material(text: str, start: int, value: str) -> bool:
    return (_HEX.fullmatch(value) is not None) or (
        text[start - 1 : start] != ":" and _BASE64.fullmatch(value) is not None and _is_dense(value)
    )


def _is_dense(value: str) -> bool:
    """Whether a value has every kind of character of base64, and changes between them as often as random data."""
    return all(kind.search(value) for kind in _KINDS[:3]) and len(
        _KIND_CHANGE.findall(value)
    ) >= _MIN_CHANGE_SHARE * len(value)


# Numbers of payment cards are recognized by a checksum, seed phrases of wallets by a list of words. Sources: ISO/IEC
# 7812 (Luhn's checksum, ranges of issuers); BIP-39, whose English list is `seed_words.txt`.

# The pattern begins with the first digit, so that the search has something to look for.
_CARD = re.compile(
    r"[2-689](?<![\w.,:/#=+-].)(?:\d{3}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{1,3})?|\d{3}([ -])\d{6}\2\d{4,5}|\d{12,18}+)"
    r"(?![^\W_]|[.,:/-]\d)"
)
# Visa, Mastercard, American Express, Diners, Discover, JCB, UnionPay, Maestro, Mir, RuPay, Elo, Troy, Shetab.
_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|4[4-9]\d|5\d\d)\d{12}"
    r"|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}|(?:50|5[6-9]|6[0-9])\d{14}|220[0-4]\d{12}|(?:8[12]|508)\d{13,14}|9792\d{12}"
)
_MIN_DIGIT_KINDS = 5  # different digits; fewer are an example such as 4242 4242 4242 4242
_MIN_PHRASE_WORDS = 12  # words of the shortest phrase
_PHRASE_HITS = bytes([1] * 5)  # of every other word of a phrase, less its first and last
_WORD = re.compile(r"[^\W\d_]+")
_WORD_GAP = re.compile(r"[ \t\r\n,;]{1,6}(?:\d{1,2}[.):]?[ \t]{1,2})?")  # between two words of a phrase


def find_cards(text: str) -> Iterator[Finding]:
    """Yield every card number in `text`."""
    for found in _CARD.finditer(text):
        digits = re.sub(r"\D", "", found[0])
        if _ISSUERS.fullmatch(digits) and len(set(digits)) >= _MIN_DIGIT_KINDS and _luhn(digits):
            yield Finding(*found.span(), "card")


def _luhn(digits: str) -> bool:
    doubled = (2 * int(digit) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(number - 9 * (number > 9) for number in doubled)) % 10 == 0  # noqa: PLR2004


# Account numbers (ISO 13616): the length is the country's. The registry's own examples are no secret.
_IBAN_COUNTRIES = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18"
    " FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20"
    " LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24"
    " SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20"
)
_IBAN_LENGTHS = {country: int(length) for country, length in re.findall(r"(\D\D)(\d+) ?", _IBAN_COUNTRIES)}
_IBAN_START = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d\d(?=[ -]?[A-Z0-9]{4})")
_IBAN_REST = re.compile(r"(?:[ -]?[A-Z0-9]){11,30}", re.ASCII)
_IBAN_EXAMPLES = (
    "DE89370400440532013000 GB82WEST12345698765432 GB29NWBK60161331926819 GB33BUKB20201555555555 NL91ABNA0417164300"
    " FR1420041010050500013M02606 ES9121000418450200051332 IT60X0542811101000000123456 BE68539007547034"
    " CH9300762011623852957 AT611904300234573201 PL61109010140000071219812874 SE4550000000058398257466"
    " NO9386011117947 DK5000400440116243 IE29AIBK93115212345678 PT50000201231234567890154"
)


# Numbers by which a state knows a person, after a word that announces one: in the United States, Germany, Britain, ...
_PERSONAL_NUMBER = re.compile(
    r"(?i:\b(?:ssn|social security|steuer-?id(?:entifikationsnummer|nr)?|steuer-?identifikationsnummer|tax id"
    r"|sozialversicherungsnummer|rentenversicherungsnummer|national insurance|nino|sécurité sociale|codice fiscale"
    r"|cpf|dni|bsn|pesel|ahv|aadhaar|personnummer|passport (?:no|number)|reisepassnummer)\b"
    r"[^\w\n]{0,4}(?:[^\W\d]{1,12}[^\w\n]{1,4}){0,3})(?P<number>[A-Z0-9](?:[ ./-]?[A-Z0-9]){7,20})(?![\w-])"
)
_MIN_PERSONAL_DIGITS = 6


def find_personal_numbers(text: str) -> Iterator[Finding]:
    """Yield every number of a person that a word before it announces."""
    for found in _PERSONAL_NUMBER.finditer(text):
        if sum(map(str.isdigit, found["number"])) >= _MIN_PERSONAL_DIGITS and not is_stand_in(found["number"]):
            yield Finding(*found.span("number"), "personal-number")


def find_accounts(text: str) -> Iterator[Finding]:
    """Yield every account number (IBAN) in `text`."""
    for start in _IBAN_START.finditer(text):
        length = _IBAN_LENGTHS.get(start[0][:2], 0)
        rest = _IBAN_REST.match(text, start.end()) if length else None
        if rest is None:
            continue
        places = [at for at in range(start.start(), rest.end()) if text[at] not in " -"][:length]
        number = "".join(text[at] for at in places)
        ends = not text[places[-1] + 1 : places[-1] + 2].isalnum()
        if len(number) == length and ends and number not in _IBAN_EXAMPLES and _mod_97(number) == 1:
            yield Finding(start.start(), places[-1] + 1, "account")


def _mod_97(number: str) -> int:
    return int("".join(str(int(sign, 36)) for sign in number[4:] + number[:4])) % 97


def find_seeds(text: str, words: list[str]) -> Iterator[Finding]:
    """Yield each run of listed words that is long enough for a phrase; `words` are the words of `text`."""
    if text.count(",") + text.count(";") >= _MIN_PHRASE_WORDS - 1:
        words = text.replace(",", " ").replace(";", " ").split()
    # Most texts end here, by one word in nine, or by every other word. A number may precede each word of a phrase.
    if len(words) < _MIN_PHRASE_WORDS or _seed_words().isdisjoint(words[:: _MIN_PHRASE_WORDS - 3]):
        return
    hits = bytes(map(_seed_words().__contains__, words))
    if _PHRASE_HITS not in hits[::2] and _PHRASE_HITS not in hits[1::2]:
        return
    run: list[re.Match[str]] = []
    for word in chain(_WORD.finditer(text), [None]):
        listed = [word] if word is not None and word[0] in _seed_words() else []
        if listed and run and _WORD_GAP.fullmatch(text, run[-1].end(), listed[0].start()):
            run += listed
            continue
        if len(run) >= _MIN_PHRASE_WORDS:
            yield Finding(run[0].start(), run[-1].end(), "seed-phrase")
        run = listed


@cache
def _seed_words() -> frozenset[str]:
    words = Path(__file__).with_name("seed_words.txt").read_text(encoding="ascii").split()
    return frozenset([*words, *map(str.capitalize, words), *map(str.upper, words)])
