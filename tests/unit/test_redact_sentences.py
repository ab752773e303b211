"""S7: secrets said in plain sentences in many languages, and in commands."""

from __future__ import annotations

import hashlib
from pathlib import Path

from skilld.redact import Redactor
from skilld.redact.naming import LANGUAGES
from support.rows import for_each

REDACTOR = Redactor(bytes(32))
# Language, and sentences with {} in the place of the password.
SENTENCES = {
    "en": ("the password for staging = {}", "change the admin password to {}", "log on with the password {}", "pw: {}"),
    "de": ("Passwort: {}", "das Passwort lautet {}", "setz das Adminpasswort auf {}", "Kennwort {} nehmen"),
    "fr": ("mot de passe : {}", "avec le mot de passe {}", "le mdp c'est {}"),
    "es": ("la contraseña es {}", "entra con la contraseña {}", "clave: {}"),
    "pt": ("a senha é {}", "senha: {}", "palavra-passe: {}"),
    "it": ("la password è {}", "usa la password {}", "parola d'ordine: {}"),
    "nl": ("wachtwoord: {}", "het adminwachtwoord is {}"),
    "sv": ("lösenordet är {}", "byt lösenordet till {}", "lösen: {}"),
    "no": ("passordet er {}", "passord: {}"),
    "da": ("adgangskoden er {}", "kodeord: {}"),
    "fi": ("salasana on {}", "vaihda salasanaksi {}"),
    "pl": ("hasło: {}", "hasło to {}", "haslo do bazy: {}"),
    "cs": ("heslo: {}", "heslo na server je {}"),
    "sk": ("heslo je {}",),
    "sl": ("geslo je {}",),
    "hr": ("lozinka je {}", "лозинка је {}"),
    "hu": ("jelszó: {}", "a jelszó {} lett"),
    "ro": ("parola este {}", "parola: {}"),
    "el": ("ο κωδικός είναι {}", "κωδικός: {}"),
    "tr": ("şifre: {}", "parolam {}"),
    "ru": ("пароль: {}", "пароль на сервер: {}", "пароль такой: {}"),
    "uk": ("пароль: {}", "пароль це {}"),
    "bg": ("паролата е {}", "парола: {}"),
    "ar": ("كلمة المرور: {}", "كلمة السر هي {}", "الباسورد {}"),
    "he": ("סיסמה: {}", "הסיסמה היא {}"),
    "fa": ("رمز عبور {} است", "پسورد: {}"),
    "ur": ("پاس ورڈ {} ہے",),
    "hi": ("पासवर्ड: {}", "पासवर्ड {} है"),
    "bn": ("পাসওয়ার্ড: {}",),
    "ta": ("கடவுச்சொல்: {}",),
    "vi": ("mật khẩu là {}", "mk: {}"),
    "id": ("kata sandinya {}", "kata sandi: {}"),
    "sw": ("nenosiri ni {}",),
    "th": ("รหัสผ่านคือ {}", "รหัสผ่าน: {}"),
    "zh": ("密码是{}", "密碼：{}", "口令: {}"),
    "ja": ("パスワードは{}です", "パスワード: {}"),
    "ko": ("비밀번호는 {} 입니다", "비번: {}"),
    "ca": ("la contrasenya és {}",),
    "lt": ("slaptažodis yra {}",),
    "lv": ("parole ir {}",),
    "et": ("parool on {}",),
    "is": ("lykilorðið er {}",),
    "gl": ("o contrasinal é {}",),
    "eu": ("pasahitza {} da",),
    "ga": ("is é {} an pasfhocal",),
    "sq": ("fjalëkalimi është {}",),
    "az": ("şifrəsi {} olsun",),
    "ka": ("პაროლი არის {}",),
    "hy": ("գաղտնաբառը {} է",),
}
PASSWORDS = ("sunflower88", "Zk4!renard", "Otter-Copper-58")
CASES = [(sentence, word) for sentences in SENTENCES.values() for sentence in sentences for word in PASSWORDS]


def test_every_language_of_the_table_has_sentences() -> None:
    assert [language.code for language in LANGUAGES] == list(SENTENCES)
    assert len(LANGUAGES) >= 25


@for_each(("sentence", "password"), CASES)
def test_s7_a_password_is_found_in_a_sentence(sentence: str, password: str) -> None:
    assert password not in REDACTOR.redact(f"so {sentence.format(password)}, ok")


OTHERS = (
    "user: eve, pass: »sunflower«",
    "user/pass: eve/»sunflower88«",
    "Benutzer: eve, Passwort: »sommerregen«",
    'das Passwort lautet "»Sommerregen«"',
    "log in as eve with »Tr0ub-lampost«",
    "use »letmein2024« as its password",
    "der code aus der SMS ist »482913«",
    "verification code is »482913«",
    "meine PIN: »4711«",
    "sshpass -p »hunter« ssh a@b",
    "SSHPASS=»Herbstlaub« sshpass -e ssh a@b",
    "sqlplus scott/»hunter« @x",
    "useradd -m -p »hunter« eve",
    "rabbitmqctl change_password guest »hunter«",
    "rclone obscure »hunter«",
    "gh secret set DEPLOY -R o/r --body »hunter«",
    "setx API_SECRET »Herbstlaub7«",
    "set -gx DB_PASSWORD »Herbstlaub«",
    "set DB_PASSWORD to »sunflower88« in the pod",
    "setze SMTP_PASS auf »sunflower88«",
    "always use »sunflower88« as DB_PASSWORD",
    "CREATE USER eve IDENTIFIED BY '»hunter«'",
    "npm config set //registry.example/:_authToken »3c2f9b1a77aa4b2c«",
    '{"name": "DB_PASSWORD", "value": "»Herbstlaub«"}',
    "- name: DB_PASSWORD\n  value: »Herbstlaub7«",
    "mysql -u root -p»Zk4renard« shop",
    "mysqldump -h db '-x' -p'»a b c d«' shop",
    "docker login -u ci -p »hunter« registry.example",
    "redis-cli -h c -a »tortuga« ping",
    "smbclient //nas/x -U eve%»knedlik« -c ls",
    "ldapsearch -x -w »hunter« -D cn=a",
    "openssl enc -aes-256-cbc -pass pass:»hunter«",
    "http -a eve:»hunter« https://x.example",
    "lftp -u eve,»hunter« sftp://x.example",
    "echo »hunter22« | sudo -S apt update",
    "net use z: //srv/share »Hunter22« /user:eve",
    "7z x -p»hunter« a.7z",
    "plink -ssh -pw »hunter« eve@host",
    "schtasks /create /ru eve /rp »hunter« /tr job.exe",
    "pdftk in.pdf input_pw »hunter« output out.pdf",
    "psexec //srv -u eve -p »hunter« cmd",
    "keytool -list -keypass »hunter«",
    '$c = ConvertTo-SecureString "»Herbst laub«" -AsPlainText -Force',
    "ConvertTo-SecureString -AsPlainText -Force -String »Herbstlaub«",
    "https://mattermost.example.org/hooks/»r6ccai5dqiphydwtd1ayzklwux«",
    "https://chat.googleapis.com/v1/spaces/»AAAAq8Zk2Lw/messages?key=AIzaSyB0x&token=xwniId91WSPIHDSbpzfe6Kf«",
    "https://open.feishu.cn/open-apis/bot/v2/hook/»4c141308-7716-43bb-9879-41a7628231ac«",
    "https://hooks.zapier.com/hooks/catch/»1234567/b8x2k9q«",
    "https://hooks.slack.com/triggers/»T04QKPZ7M/6012345678901/5c0e7f1b2a9d8e3f4a6b7c8d9e0f1a2b«",
    "the api key is »9f86d081884c7d659a2feaa0c55ad015«",
    "密钥是»4OZv7kxiQpJXD4GpS7A9vLJieNyJBUpj«，解密失败",
    "use »9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08« for it",
    "it is »kJ8mZ2xQ9vB4nL7wR1tY6uP3sD5fG0hH2jK4lM6nB8o=« there",
    "my card »4539 3951 1185 5926« fails",
    "my card »4539395111855926« fails",
    "my wallet:\n»gift village gain eyebrow smile obvious regular language zoo useless ring push«\nthanks",
    "1. »gift 2. village 3. gain 4. eyebrow 5. smile 6. obvious 7. regular 8. language 9. zoo 10. art 11. ice 12. fog«",
    "»ghp_RYJEW40vTj6UyhF\n6ZUKYukhoka394TyGVIPl«",
    "key is\n  »sk-ant-api03-ZpxEKJXYqIt3CvHK-LOd86RycT8qCXm\n  lGybWi-w2x0vgxBGzV5ZXv20egSmpo38si1nfs7Dn7sAA«",
    "»MIIEvQIBADANBgkqhkiG9w0BAQEFAASC8E4uqMECJeUBLW5sO4eTv71D2mqrwxwM\nMoh/o3qCRZbHRBEbPg5WXA56MIFkY1a1+gD2u5lR«",
)  # fmt: skip


@for_each("marked", OTHERS)
def test_s7_other_secrets_are_found_whole(marked: str) -> None:
    before, _, rest = marked.partition("»")
    secret, _, after = rest.partition("«")
    redacted = REDACTOR.redact(before + secret + after)
    assert redacted.startswith(before + "[REDACTED:")
    assert redacted.endswith("]" + after)


HARMLESS = (
    "the password reset email is not sent for user42",
    "password hashing with bcrypt12 is slow",
    "passwords must have 8 characters and 1 digit",
    "das Passwort vergessen geht nicht auf server01",
    "le mot de passe doit contenir 12 caractères",
    "the token limit is 200k for claude-3-5-sonnet-20241022",
    "rename API_TOKEN to SERVICE_TOKEN2 and read check_password from utils2.py",
    "ConvertTo-SecureString $pw -AsPlainText; ConvertTo-SecureString (Get-Content key2)",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b broke the login key",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "the md5 is d41d8cd98f00b204e9800998ecf8427e",
    "trace id of the key rotation: 7f3b9c1e2d4a5b6c7d8e9f0a1b2c3d4e",
    "use password = os.environ['DB_PASSWORD2']",
    "log in to ubuntu-22.04 with ssh",
    "order 4242 4242 4242 4242 fails, as does 4000123412349981",
    "call +49 30 901820 tomorrow, invoice 2024-00045817",
    "the OTP expires after 3000 ms, the PIN has 4 to 8 digits",
    "mysql -u root -p shop",
    "docker run -p 8080:80 nginx && ssh -p 2222 host && mkdir -p src/app2/x",
    'mysql -u root -p$PASSWORD -p"$MYSQL_PWD"',
    "integrity sha512-j267gMXGOqW2t8PsQclKfPS9CxLlgcQOt1wRFaqEdSUhWitoDxTmENWlucbB5MSx3m5NG83bH8NdvuPPz5He51==",
    "my regex for the token is ^ghp_[A-Za-z0-9]{36}$ and it fails",
    "пароль минимум 8 символов, сброс в v2.3.1 сломан",
    "비밀번호는 8자 이상, 密码至少8位, パスワードは8文字以上",
    "all 12 tests pass on py311, pass the value x2 to func3",
    "can you please move the small button below the header before lunch today",
    "ghp_... is cut\nsee step2 below",
)  # fmt: skip


@for_each("text", HARMLESS)
def test_s7_look_alikes_are_left_alone(text: str) -> None:
    assert REDACTOR.redact(text) == text


def test_the_seed_word_list_is_the_standard_one() -> None:
    words = Path(__file__).parents[2] / "skilld/redact/seed_words.txt"
    digest = "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda"
    assert hashlib.sha256(words.read_bytes()).hexdigest() == digest
