"""Secrets of a house and of a person: passphrases of plain words, codes of doors, account numbers."""

from __future__ import annotations

from skilld.redact import Redactor
from support.rows import for_each

REDACT = Redactor(bytes(32)).redact


@for_each(
    ("text", "secret"),
    [
        ("the vpn passphrase: correct horse battery staple", "correct horse battery staple"),
        ("passphrase = purple monkey dishwasher kettle. Use it.", "purple monkey dishwasher kettle"),
        ("the ssh passphrase: purple-monkey-dishwasher-kettle", "purple-monkey-dishwasher-kettle"),
        ("passphrase: correct horse battery staple, keep it safe", "correct horse battery staple"),
        ("luks recovery phrase correct horse battery staple", "correct horse battery staple"),
        ("the disk passphrase correct horse battery staple", "correct horse battery staple"),
        ("the recovery phrase is apple river stone cloud", "apple river stone cloud"),
        ("the wallet seed phrase is apple river stone cloud", "apple river stone cloud"),
        ("backup phrase: apple river stone cloud", "apple river stone cloud"),
        ("recovery phrase: alpha tango bravo seven", "alpha tango bravo seven"),
        ("LUKS-Wiederherstellungsphrase ist Haus Maus Laus Klaus", "Haus Maus Laus Klaus"),
        ("totp seed JBSWY3DPEHPK3PXP", "JBSWY3DPEHPK3PXP"),
        ("TOTP: JBSW Y3DP EHPK 3PXP", "JBSW Y3DP EHPK 3PXP"),
        ("otp key jbsw y3dp ehpk 3pxp", "jbsw y3dp ehpk 3pxp"),
        ("2fa seed jbswy3dpehpk3pxp for prod", "jbswy3dpehpk3pxp"),
        ("my authenticator seed is JBSWY3DPEHPK3PXP", "JBSWY3DPEHPK3PXP"),
        ("TOTP-Seed JBSWY3DPEHPK3PXP", "JBSWY3DPEHPK3PXP"),
        ("Die Passphrase: Apfel Birne Kirsche Traube", "Apfel Birne Kirsche Traube"),
        ("door code 7739", "7739"),
        ("the gate code is 4471", "4471"),
        ("the lockbox code: 8821", "8821"),
        ("Der Türcode ist 7739", "7739"),
        ("le code de la porte est 7739", "7739"),
        ("el código de la puerta es 7739", "7739"),
        ("de deurcode is 7739", "7739"),
        ("pay it to IBAN DE44 5001 0517 5407 3249 31 THIS WEEK", "DE44 5001 0517 5407 3249 31"),
        ("FR7630006000011234567890189", "FR7630006000011234567890189"),
        ("passphrase for the signing key: cold harbor lantern eighty", "cold harbor lantern eighty"),
        ("die Passphrase für den Schlüssel lautet kalter Hafen Laterne achtzig", "kalter Hafen Laterne achtzig"),
        ("it is admin / Kirsch-Baum88", "Kirsch-Baum88"),
        ("db creds are eve/tiger99x", "tiger99x"),
    ],
)
def test_it_is_masked(text: str, secret: str) -> None:
    masked = REDACT(text)
    assert secret not in masked
    assert masked.startswith(text.partition(secret)[0])
    assert masked.endswith(text.partition(secret)[2])
    assert REDACT(masked) == masked


@for_each(
    "text",
    [
        "passphrase: ask Kim",
        "luks recovery phrase page needs red text",
        "the recovery phrase is shown after every signup",
        "the luks passphrase is cached between several boots",
        "show passphrase hint text bold red",
        "use otp MULTIFACTORAUTHENTICATION as a name",
        "2fa page src/twofactor2page3setupguide is new",
        "the passphrase is hashed client side before upload",
        "luks recovery phrase and passphrase prompts look the same",
        "add a totp seed field with base32 validation",
        "totp uses hmacsha256 and sixteen character strings",
        "use 2fa with the page that must have this form",
        "passphrase: see the vault entry for it",
        "use a passphrase: it is easier to remember",
        "passphrase: minimum length twenty characters",
        "passphrase: used when signing commits",
        "the passphrase should be at least four words",
        "error code 7739",
        "exit code 1234, status code 4040",
        "zip code 90210, area code 4155",
        "use DE89370400440532013000 as the test account",  # the registry's example
        "GB82 WEST 1234 5698 7654 32",
        "DE44 5001 0517 5407 3249 32",  # the checksum is wrong
        "DE44500105175407324931X",  # longer than an account number
        "commit AB12 3456 7890 1234 5678",
        "the passphrase for the signing key is never kept anywhere else today",
        "use a passphrase for the key: twelve characters minimum length please",
        "the admin / User2 split",
        "credentials: see docs/creds2024.md",
        "the login route is auth/callback2",
    ],
)
def test_it_is_left(text: str) -> None:
    assert REDACT(text) == text
