"""Values are secrets by the name they are given, and passwords by the user beside them."""

from __future__ import annotations

from skilld.redact import Redactor, passwords
from support.rows import for_each

REDACTOR = Redactor(bytes(32))

# The secret stands between » and «.
SECRETS = [
    # code and data
    'password = "»letmein«"',
    "passwd: '»letmein«'",
    '{"password":"»letmein«"}',
    '{\\"api_key\\": \\"»k2f9Lq81Zt«\\"}',
    'api_key := "»k2f9Lq81Zt«"',
    'const apiKey: string = "»k2f9Lq81Zt«"',
    'var dbPassword string = "»gr33n tea«"',
    'password: str = "»letmein«"',
    '"secret" => "»letmein«"',
    'char secret[25] = "»let,me&in«";',
    'config["password"] = "»letmein«"',
    'if (password == "»letmein«") {',
    'if ("»letmein«" !== password) {',
    'setPassword("»l3tm3in«")',
    'System.setProperty("API_TOKEN", "»k2f9Lq81Zt«")',
    'secret.assign("»let+me+in9«", 9);',
    'NSString *apiKey = @"»k2f9Lq81Zt«";',
    'password = """»multi9«"""',
    "password='»correct horse battery staple«'",
    "tokens:\n  access_token: »k2f9Lq81Zt«",
    '<add key="ClearTextPassword" value="»MainSourcePassword«" />',
    '- name: API_TOKEN\n  value: "»k2f9Lq81Zt«"',
    "<apiToken>\n    »k2f9Lq81Zt«\n</apiToken>",
    "spring.datasource.password=»s3cretpw«",
    "Server=db;User Id=sa;Password=»Pa55w.rd«;Encrypt=true",
    "DefaultEndpointsProtocol=https;AccountKey=»q7RzK2vXw9TbL4mPsH8cYd==«;EndpointSuffix=core",
    "https://example.org/?access_token=»k2f9Lq81Zt«&page=2",
    # shells
    "DB_PASSWORD=»postgres«",
    "export GITHUB_SECRET=»horse«",
    "  - POSTGRES_PASSWORD=»letmein«",
    "mysql --password=»hunter22«",
    "deploy --token »k2f9Lq81Zt«",
    "java -Dtrust.password=»chang3it« -jar x.jar",
    "wget --http-password=»cedarowl« https://a.example",
    "java -Dspring.datasource.password=»plum_tree« -jar x.jar",
    "docker run -e MYSQL_ROOT_PASSWORD=»plumtree« mysql",
    "FOO=1 PGPASSWORD=»maple« psql -h db",
    'docker run --env="POSTGRES_PASSWORD=»plumtree«" postgres',
    'export DB_PASSWORD="»plum_tree«"',
    # a UUID or digest is one where the name says so
    'DEPLOY_KEY = "»3f8b1c2e-9d47-4a6b-8e05-c71d2f94a0b6«"',
    "svc.login = »4f1c09b7e52da8360bd94e7f813ca65027f8e1b9«",
    "client_token: »120485739164052712«",
    # prose, in several languages
    "the db password is »hunter2«!",
    "**Password:** »hunter2«",
    "- **API key**: `»4f1c09b7e52da8360bd94e7f813ca650«`",
    "log in as bob with password »S3cr3t!x« please",
    "my token »q7RzK2vXw9TbL4mP« expired",
    "contraseña: »gatito99«",
    "пароль: »котик99«",
    "password：»hunter2«",
]

# Nothing here is a secret.
HARMLESS = [
    # names about secrets
    "max_tokens: 4096",
    "token_count = 128000",
    "secretName: my-app-tls-2",
    'keyboard = "qwerty-us2"',
    "primary_key: order_id_2",
    'public_key = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE"',
    "PASSWORD_FILE=/run/secrets/db2",
    'key_vault_name: "app7-vault2"',
    'STORAGE_KEY = "app-state-v2"',
    "monkey: george2",
    "PWD=/home/ada/project",
    "GITHUB_TOKEN_URL=https://example.org/token2",
    # values that are code, templates or stand-ins
    'password = os.environ["DB_PASSWORD"]',
    "apiKey: process.env.API_KEY2,",
    "const token = await fetchToken2(userId);",
    "self.api_key = config.api_key2",
    "def login(user: str, password: str) -> Token:",
    'password = get_secret("DB_PASSWORD")',
    'raise Error(f"token={token2} is old")',
    'api_key = f"key-{name}-2"',
    "token: ${{ secrets.NPM_TOKEN }}",
    "PASSWORD=$DB_PASSWORD2",
    "DB_PASSWORD=db_password",
    "connect(host, DB_PASSWORD=db_pw)",
    "deploy --password=PASSWORD",
    "deploy --password=/run/secrets/x --show-password=false",
    "API_KEY=your_api_key_here",
    "API_KEY=<your key 2>",
    "password: ********",
    'password = "afakepassword"',
    'password: "Enter your new password"',
    'password = "password"',
    'eos_token = "<|endoftext|>"',
    'pad_token: "[PAD]"',
    '"password", "token2", "secret3"',
    'fields = ["password", "token2"]',
    '"type": "password"',
    'credentials: "include"',
    # prose
    "token: use the one from the vault",
    "Password: required, at least 12 characters",
    "The password is stored hashed with bcrypt",
    "all tests pass: `./gradlew check2`",
    "Secret: `data` holds base64",
    "press the key: Ctrl+Shift+P",
    "the token was expired",
    "token v2 endpoint",
    "session 0f8fad5b-d9cb-469f-a165-70867728950e ended",
    'api_key = "ab-12345678901234567890123456789012"',
    "commit key 9fceb02d0ae598e95dc970b74767f19372d61af8",
    '"kms_key_id": "0b1f3a52-6c1d-4f0e-9a53-2d7c8e4b6f10"',
]


@for_each("marked", SECRETS)
def test_only_the_value_is_a_secret(marked: str) -> None:
    before, _, rest = marked.partition("»")
    secret, _, after = rest.partition("«")
    redacted = REDACTOR.redact(before + secret + after)
    assert redacted.startswith(before + "[REDACTED:")
    assert redacted.endswith("]" + after)
    assert redacted.count("[REDACTED:") == 1


@for_each("text", HARMLESS)
def test_harmless_values_are_left_alone(text: str) -> None:
    assert REDACTOR.redact(text) == text


def test_text_beside_a_secret_is_kept() -> None:
    text = "DB_HOST=db.internal\nDB_PASSWORD=hunter2\nDB_PORT=5432\n"
    first, second, third = REDACTOR.redact(text).splitlines()
    assert (first, third) == ("DB_HOST=db.internal", "DB_PORT=5432")
    assert second.startswith("DB_PASSWORD=[REDACTED:password:")


def test_a_letter_with_a_longer_lower_case_shifts_no_offset() -> None:
    assert REDACTOR.redact("İİİ password=hunter22 İ").startswith("İİİ password=[REDACTED:password:")


@for_each(
    ("text", "secrets"),
    [
        ("u: eve / p: sunflower", ["sunflower"]),
        ("login=eve, p=moonlight7", ["moonlight7"]),
        ("go in with admin/Tr0ub-lampost!", ["Tr0ub-lampost"]),
        ("log in with eve:Tr0ub-lampost", ["Tr0ub-lampost"]),
        ("log in to staging as eve with hunter2xyz.", ["hunter2xyz"]),
        ("melde dich als eve mit hunter2xyz an", ["hunter2xyz"]),
        ("sign in with user eve and hunter2xyz", ["hunter2xyz"]),
        ("melde dich mit dem Benutzer eva und Quill7Fern an", ["Quill7Fern"]),
        ("log in with user bob and step2", []),
        ("sign in with user bob and run python3", []),
        ("sign in as eve with two-factor, then run step2", []),
        ("p: sunflower", []),  # nobody is named
        ("the path src/Tr0ub-lampost is gone", []),  # `src` is no account
        ("set admin/tr0ub-lampost up", []),  # a name, by its small letters
        ("exp: eve / p: sunflower", []),  # `exp` names no user
    ],
)
def test_the_password_beside_a_user_name_is_found(text: str, secrets: list[str]) -> None:
    found = passwords.find_pairs(text, has_digit=any(letter.isdigit() for letter in text))
    assert [text[one.start : one.end] for one in found] == secrets


@for_each(
    ("text", "word", "is_one"),
    [
        ("user eve, password sunflower", "sunflower", True),
        ("user eve, password sunflower for the demo", "sunflower", True),
        ("user eve, password wrong", "wrong", False),
        ("user eve, password reset did not work", "reset", False),
        ("password sunflower", "sunflower", False),
    ],
)
def test_a_plain_word_after_a_user_at_the_end_of_a_clause_is_a_password(text: str, word: str, *, is_one: bool) -> None:
    at = text.index(word)
    beside = passwords.has_user_before(text, text.index("password"))
    assert (beside and passwords.is_password_beside_user(text, at, at + len(word))) == is_one
