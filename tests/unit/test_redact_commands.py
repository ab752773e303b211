"""Secrets in commands and links: found by what takes them, whatever the program, and only if they look made."""

from __future__ import annotations

import random
import string

import pytest

from skilld.redact import Redactor
from skilld.redact.findings import is_scrambled
from support.rows import for_each

REDACTOR = Redactor(b"k" * 32)
VALUES = ("pIjXebblno", "qZkWvRtNbXc", "tXjI73ouu8lcB5", "94qh87rcjgg2", "vNqWxePaBhQBfSgUxFBJ")


@for_each(
    "command",
    [
        'curl -H "X-Api-Key: {}" https://a.example',
        "curl https://api.example/v1?api_key={}",
        "curl -b 'session={}' https://a.example",
        "curl --oauth2-bearer {} https://a.example",
        "export FOO_TOKEN={}",
        "mysqladmin --password={} status",
        "helm install x --set auth.rootPassword={}",
        "aws configure set aws_secret_access_key {}",
        "git remote add o https://{}@github.com/x/y",
        "echo {} | docker login --password-stdin -u x",
        "printf '%s' {} | gh secret set DEPLOY",
        "gh auth login --with-token <<< {}",
        "kinit eve <<< {}",
        "twine upload -u __token__ -p {} dist/*",
        "bw unlock {}",
        "snyk auth {}",
        "doctl auth init -t {}",
        "ngrok config add-authtoken {}",
        'restic -r s3:x --password-command "echo {}" backup',
        "expect -c 'send \"{}\\r\"'",
        "flyctl secrets set API={}",
        "vault kv put secret/x value={}",
        "kubectl create secret generic x --from-literal=a={}",
        "az keyvault secret set --vault-name v --name n --value {}",
        "aws ssm put-parameter --name n --type SecureString --value {}",
        "python -c \"import x; x.login('bob', '{}')\"",
    ],
)
def test_a_made_value_after_what_takes_a_secret_is_found(command: str) -> None:
    for value in VALUES:
        assert value not in REDACTOR.redact(command.format(value)), command.format(value)


@for_each(
    "text",
    [
        "docker login registry.example.com",
        "npm publish --tag next -p 3000",
        "log in with getUserName, then auth fails",
        "kubectl create secret tls x --cert=certs/tls1.crt",
        "echo hello | base64",
        "<<<<<<< HEAD",
        "api_key = getServiceAccessKey",
        "X-Api-Key: MyServiceKey",
        "token: UserAccessToken",
        "curl --oauth2-bearer $TOKEN https://a.example",
        "--password=changeme --token ${TOKEN}",
        "the token JavaScript uses, the password LibreOffice asks for",
        "upload 3f2a9bc1d4e5",
        "secret = model_api_key",
        "git unlock docs/plan2.md",
        "kubectl create secret generic x --from-literal=cert=certs/tls1.crt",
        "vault kv put secret/x value=@secret1.txt",
        'python3 <<< "print2xx"',
    ],
)
def test_names_words_and_stand_ins_stay(text: str) -> None:
    assert REDACTOR.redact(text) == text


@for_each(
    ("text", "secret"),
    [
        ("use the token qZkWvRtNbXc for this", "qZkWvRtNbXc"),
        ("pip config set global.password summer2024", "summer2024"),
        ("git config --global user.password summer2024", "summer2024"),
        ("git config user.password summer2024", "summer2024"),
        ("echo summer2024 | docker login --password-stdin", "summer2024"),
        ("npm publish --otp=482913", "482913"),
        ("https://onetimesecret.com/secret/lWAyOger8Htq2UkWrUhcVM", "lWAyOger8Htq2UkWrUhcVM"),
        ("https://zapier.com/hooks/catch/991234/LbbhZunnQOgaB184sl1i/", "LbbhZunnQOgaB184sl1i"),
        ("the invite is https://t.corp.example/join/OlDsjmvGiZGoNwMHeoJB.", "OlDsjmvGiZGoNwMHeoJB"),
        ("[x](https://a.example/reset-password/eyT2kQz9Lw1pR8vX)", "eyT2kQz9Lw1pR8vX"),
        ("https://a.example/login?code=eyT2kQz9Lw1pR8vX", "eyT2kQz9Lw1pR8vX"),
        ("join https://join.slack.com/t/acme/shared_invite/zt-1a2b3c4d5-qZkWvRt7NbXcAbLm", "qZkWvRt7NbXcAbLm"),
        ("the key is sk-ant-api03- VqeXyhVbsFW85ZTCBY7WuGpMSI733g6sz", "VqeXyhVbsFW85ZTCBY7WuGpMSI733g6sz"),
        ('t = "ghp_" + "YjKavUYUzLYfaBfBDgfam37fXptmhjUqTtl0"', "YjKavUYUzLYfaBfBDgfam37fXptmhjUqTtl0"),
        ("the gmail app password is cipm ejtp gyqj oiqi", "ejtp gyqj"),
        ("das App-Passwort: xkqz-wvbn-rtpl-hgfd", "wvbn-rtpl"),
        ("the one-time code is 483 920", "483 920"),
        ("der Bestätigungscode lautet 483-920", "483-920"),
        ("my SSN is 219-09-9843", "219-09-9843"),
        ("Steuer-ID: 86 095 742 719", "86 095 742 719"),
        ("the national insurance number is QQ 12 34 56 C", "12 34 56"),
        ("my SSN: 219-09-9843 Thanks", "219-09-9843"),  # a capital behind it
        ("codice fiscale RSSMRA85T10A562S", "RSSMRA85T10A562S"),
        ("Reisepassnummer C01X00T47", "C01X00T47"),
        ("the PIN is 4829, extension 555 123", "4829"),
        ("the verification code is 482913, ticket 555-123 is open", "482913"),
        ("join at **https://a.example/join/qZkWvRtNbXc**", "qZkWvRtNbXc"),
        ("|https://a.example/join/qZkWvRtNbXc|", "qZkWvRtNbXc"),
    ],
)
def test_links_codes_and_numbers(text: str, secret: str) -> None:
    assert secret not in REDACTOR.redact(text)


@for_each(
    "text",
    [
        "https://github.com/acme/auth/commit/3f2a9bc1d4e5f60718293a4b5c6d7e8f90123456",
        "https://a.example/auth/realms/3f2a9bc1-d4e5-4607-8829-3a4b5c6d7e8f",
        "https://a.example/docs/join/getting-started-guide",
        "https://a.example/share/annual-report-2026",
        "https://a.example/share/xxxxxxxxxxxx",
        "https://github.com/acme/share/blob/main/qZkWvRtNbXc",
        "see https://a.example and open /join/qZkWvRtNbXc there",
        "https://a.example/share/qZkWvRtNbXc.html",
        "https://a.example/share/qZkWvRtNbXc/in/the/long/run",
        "src/hooks/useUserProfile/index",
        "they said that this same code took some time over",
        "the password must have four, then more like this same line",
        "the code has 120 300 lines, and 100 200 entries",
        "order 2190999842 shipped",
        "ghp_ and the rest of the token",
        "npm_ packageInstallationDirectory",
        "sk_live_ xxxxxxxxxxxxxxxxxxxxxxxx",
        "the app password is xxxx xxxx xxxx xxxx",
        "the one-time code is 120 300 entries",
        "SSN 000-00-0000",
        "the ssn column has VARCHAR2 TYPE AND",
    ],
)
def test_what_only_looks_like_a_link_code_or_number_stays(text: str) -> None:
    assert REDACTOR.redact(text) == text


def test_random_letters_are_told_from_names() -> None:
    chance = random.Random(20261129)
    made = ["".join(chance.choices(string.ascii_letters, k=12)) for _ in range(1000)]
    assert sum(map(is_scrambled, made)) > 950
    names = (
        "getUserName parseHttpResponse AzureOpenAI DuckDuckGo keyboard MariaDB LibreOffice defaultView XMLHttpRequest"
    )
    assert [name for name in names.split() if is_scrambled(name)] == []


@pytest.mark.parametrize("value", ["ab<def9x8Q7zK2", "Zx81kQ9p>Lm4TqW"])
def test_a_cookie_is_redacted_as_a_whole_with_angle_brackets(value: str) -> None:
    redacted = REDACTOR.redact(f"curl --cookie sid={value} https://shop.example")
    assert value[-6:] not in redacted
