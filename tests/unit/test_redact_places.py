"""Secrets where protocols, programs and files put them: headers, URLs, commands, keys, manifests."""

from __future__ import annotations

import base64

from skilld.redact import Redactor, blocks
from support.rows import for_each

REDACTOR = Redactor(bytes(32))

ALNUM = "q7RzK2vXw9TbL4mPsH8cYd3NfJ6gVtA5eUxZ1kQyW0oDiSrBhCnMpGaEjFuI2l4O8R3Tz7Xb"
HEX = "4f1c09b7e52da8360bd94e7f813ca65027f8e1b94d60c3a57b2e98f01d46ac35"
BASE64_LINES = """\
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj
K2vXw9TbL4mPsH8cYd3NfJ6gVtA5eUxZ1kQyW0oD
c3RhY2s="""
BEGIN, END = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"

# The secret stands between » and «.
SECRETS = [
    ("authorization", "Authorization: Basic »YWRhOmh1bnRlcjI=«"),
    ("authorization", "curl -H 'Authorization: Bearer »k2f9Lq81Zt«' https://example.org"),
    ("authorization", '{"Authorization": "token »k2f9Lq81Zt«"}'),
    ("authorization", "authorization:  »3f8b1c2e-9d47-4a6b-8e05-c71d2f94a0b6«"),
    ("authorization", f"the server wants bearer »{ALNUM[:40]}« from now on"),
    ("cookie", "Cookie: »session=k2f9Lq81Zt; theme=dark«"),
    ("cookie", "set-cookie: »sid=k2f9Lq81Zt; Path=/«"),
    ("url-password", "postgres://ada:»xyzzy«@db.internal:5432/app"),
    ("url-password", "https://ada:»p%40ss«@example.net/a?b=c"),
    ("url-password", f"git clone https://»{ALNUM[:40]}«@example.net/a.git"),
    ("url-password", "redis://:»xyzzy«@cache:6379"),
    ("slack-webhook", f"https://hooks.slack.com/services/»T02AB3CD4/B05EF6GH7/{ALNUM[:24]}«"),
    ("discord-webhook", f"https://discord.com/api/webhooks/»120485739164052712/{ALNUM[:68]}«"),
    ("teams-webhook", f"https://acme.webhook.office.com/»webhookb2/{HEX[:36]}@{HEX[:36]}/IncomingWebhook/{HEX[:32]}«"),
    ("teams-webhook", f"https://outlook.office.com/»webhook/{HEX[:36]}@{HEX[:36]}/IncomingWebhook/{HEX[:32]}«"),
    ("signed-url", f"https://x.blob.example.net/c?sv=2024&sig=»{ALNUM[:44]}%3D«&se=2026"),
    ("signed-url", f"https://s3.example.net/k?X-Amz-Signature=»{HEX}«&x=1"),
    ("curl-password", "curl -s --user 'ada:»hunter22«' https://example.org"),
    ("curl-password", "curl -X POST \\\n  -d world \\\n  -u ada:»hunter22«"),
    ("curl-password", 'curl --user ada:"»hunter22«" -v https://example.org'),
    ("curl-password", 'curl -u "»k2f9Lq81Zt«:" https://example.org'),
    ("bundler-password", "BUNDLE_GEMS__EXAMPLE__ORG: »cafe:babe«"),
    ("npm-auth", "//npm.example.org/:_authToken=»npm_yyyyyyyyyyyyyy«"),
    ("softlayer", f"https://api.softlayer.com/soap/v3/»{HEX}«"),
    ("private-key", f"here:\n»{BEGIN}\n{BASE64_LINES}\n{END}«\nthanks"),
    ("private-key", f"»{BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{BASE64_LINES}\n{END}«"),
    ("private-key", f'"private_key": "»{BEGIN}\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\\n{END}«\\n"'),
    ("private-key", f"> »{BEGIN}\n> MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n> {END}«"),
    ("private-key", f"»{BEGIN}\n{BASE64_LINES}«"),  # cut off behind
    ("private-key", f"»{BASE64_LINES}\n{END}«"),  # cut off before
    (
        "private-key",
        f"»-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{BASE64_LINES}\n=8xQN\n-----END PGP PRIVATE KEY BLOCK-----«",
    ),
    (
        "private-key",
        "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 2\n»AAABAQCzK2vXw9Tb\nL4mPsH8cYd3NfJ6g\n«Private-MAC: 0",
    ),
    ("url-password", "connect to ada:»Wumpel7kat«@db.internal:5432"),
    ("url-password", "jdbc:oracle:thin:ada/»Wumpel7kat«@//h:1521/x"),
    ("password", "requests.get(u, auth=('ada', '»Wumpel7kat«'))"),
    ("password", 'auth: ["ada", "»Wumpel7kat«"]'),
    ("password", '{"user":"ada","pass":"»Wumpel7kat«"}'),
    ("kubernetes-secret", "kind: Secret\nmetadata:\n  name: a\ndata:\n  user: »YWRhYWRh«\n"),
    ("kubernetes-secret", "apiVersion: v1\nstringData:\n  user: »adalovelace« # who\nkind: Secret\n"),
    ("kubernetes-secret", "kind: Secret\ndata:\n  cfg: |\n    »Zm9vYmFyYmF6cXV4«\n"),
    ("kubernetes-secret", '{"kind": "Secret", "data": {"user": "»YWRhYWRh«"}}'),
]

HARMLESS = [
    "Authorization: required for all endpoints",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    'Authorization: Bearer $(vault-login --print)"',
    "Authorization: Basic ***",
    "Bearer tokens are fine, basic authentication-schemes too",
    "the Cookie: header, and a cookie: consent banner",
    "https://user@example.org/path",
    "ssh://git@example.org:22/a/b",
    "postgres://user:password@localhost:5432/db",
    "postgres://${USER}:${PASSWORD}@db.internal/app",
    "http://localhost:3000/?token=",
    "mailto:ada.l1815@example.org, git@example.org:22/a, actions/checkout2@v4.1.0",
    "registry.example.org/app:v1.22.333@sha256:1234567890abcdef",
    'auth = ("name", "word"); login("user", "<password1>")',
    "image: registry.example.org:5000/app@sha256:abc",
    "docker run -u 1000:1000 image",
    "git push -u origin feature:main",
    'curl -u "${NAME}:${PASSWORD}" https://example.org',
    "curl --silent --user ${u5er}:${p4ss9x} https://example.org",
    "curl -u ada:password https://example.org",
    "curl --user ada:[PASSWORD] https://example.org",
    "//npm.example.org/:_authToken=${NPM_TOKEN}",
    f"{BEGIN} must never be committed",
    f"{BEGIN}\nno key at all\n{END}",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKC\n-----END PUBLIC KEY-----",
    "kind: ConfigMap\ndata:\n  user: YWRhYWRh\n",
    "kind: Secret\nmetadata:\n  name: database-credentials\n",
    "eyJ is how a JWT begins: eyJz.eyJ0.eyJ5eQ",
    "APDocumentLoader, APBridgeController, SK_HYNIX and AC_POWER",
]


@for_each(("kind", "marked"), SECRETS)
def test_the_secret_part_is_found_whole(kind: str, marked: str) -> None:
    before, _, rest = marked.partition("»")
    secret, _, after = rest.partition("«")
    redacted = REDACTOR.redact(before + secret + after)
    assert redacted.startswith(f"{before}[REDACTED:{kind}:")
    assert redacted.endswith("]" + after)
    assert redacted.count("[REDACTED:") == 1


@for_each("text", HARMLESS)
def test_harmless_text_is_left_alone(text: str) -> None:
    assert REDACTOR.redact(text) == text


def test_base64_is_decoded_once() -> None:
    once = base64.b64encode(b"DB_PASSWORD=hunter2\nDB_HOST=db.internal\n").decode()
    twice = base64.b64encode(once.encode()).decode()
    assert REDACTOR.redact(f"echo {once} | base64 -d").startswith("echo [REDACTED:base64:")
    assert REDACTOR.redact(twice) == twice


def test_base64_of_harmless_text_is_left_alone() -> None:
    runs = " ".join(base64.b64encode(f"line {n} of a quiet poem".encode()).decode() for n in range(20))
    assert REDACTOR.redact(runs) == runs


def test_the_secret_is_found_among_many_runs() -> None:
    words = [
        base64.b64encode(text).decode() for text in (b"good morning, Ada", b"password=hunter22", b"good night to all")
    ]
    redacted = REDACTOR.redact(" ".join(words)).split(" ")
    assert (redacted[0], redacted[2]) == (words[0], words[2])
    assert redacted[1].startswith("[REDACTED:base64:")


def test_the_ends_of_long_secrets_are_redacted_too() -> None:
    long = "-".join([ALNUM] * 60)
    for text in (f'password = "{long}"', f"password={long}", f"Authorization: Bearer {long}", f"Cookie: a={long}"):
        assert REDACTOR.redact(text).endswith((']"', "]"))
        assert ALNUM not in REDACTOR.redact(text)


@for_each(
    ("text", "secrets"),
    [
        ("db.example.org:5432:app:eve:hunter2xyz", ["hunter2xyz"]),
        ("*:*:*:postgres:sunflower", ["sunflower"]),
        ("src/app.py:1204:error: no such name", []),
        ("localhost:5432:app:eve:your_password", []),
        ("user,password\neve,sunflower\nbob,hunter22\n", ["sunflower", "hunter22"]),
        ("| user | api key |\n|---|---|\n| ci | q7f3hunter2 |\n", ["q7f3hunter2"]),
        ("id,token\n1,hello\n2,there\n", []),  # words of a text
        ("a user, a password\nand then, nothing\n", []),
        ("Backup codes: 1234-5678 2345-6789", ["1234-5678", "2345-6789"]),
        ("my recovery codes:\n1. abcd-efgh\n2. wxyz-1234\n", ["abcd-efgh", "wxyz-1234"]),
        ("backup codes: well-known long-term", []),
        ("my backup code is 1234-5678", ["1234-5678"]),
        ("use the recovery code 9f3k-22ab-x81q", ["9f3k-22ab-x81q"]),
        ("backup codes 2023-2024 are gone", []),
        ("the recovery code in parse-2024.py", []),
        ("the backup code path handles 1024-2048 rows", []),
        ("exit codes: 1234-5678 2345-6789", []),
    ],
)
def test_values_listed_below_or_after_their_name_are_found(text: str, secrets: list[str]) -> None:
    found = blocks.find_listed(text, text.lower())
    assert [text[one.start : one.end] for one in found] == secrets
