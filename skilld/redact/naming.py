"""Finds the words for secrets in a text, in many languages; knows nothing about values. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from functools import cache
from typing import NamedTuple

from skilld.redact.findings import trie_pattern

# The words for secrets: one table, a line for each language. Words are lower case and separated by `|`; `*` stands for
# any ending. `made_up` are words for secrets that people make up, `codes` for those that arrive as digits (PIN,
# one-time code), `key` for machine-made ones, `user` for their owner, `link` for what may be between a name and its
# value ("is", "to"), `login` for "log in". A word of `short` is a name only with a sign (`mk: ...`) or a link after it.
# To add a language: a line here, and sentences in the test's table.


class Language(NamedTuple):
    """The words of one language (ISO 639-1)."""

    code: str
    made_up: str
    codes: str = ""
    key: str = ""
    user: str = ""
    link: str = ""
    login: str = ""
    short: str = ""


# fmt: off
LANGUAGES = (
    Language("en",
        made_up="password*|passwd|pwd|password-nya|password-ul|passphrase*|pass phrase*|passcode*|passwrd"
        "|pass word|pw|psw|pswd|passw|pword|pass-phrase*|recovery phrase*|seed phrase*|backup phrase*|recovery-phrase*"
        "|wifi key|wi-fi key|wpa key|network key", codes="pin|pin code|pincode|otp|one-time code"
        "|one time code|verification code|security code"
        "|2fa code|mfa code|cvv|cvc|door code|gate code|entry code|access code|alarm code|keypad code|lockbox code"
        "|lock code|safe code|vault code|garage code|unlock code",
        key="api key*|secret*|token*|key|keys|private key*|access key*|credential*",
        user="user*|username*|login|account|usr|acc",
        link="is|was|are|be|to|as|with|using|it's|its|=|:|->|=>|now|become*|called|being|should be",
        login="log in|login|logs in|logged in|sign in|signs in|signed in|log on|logon|logging in|signing in"
        "|credentials",
        short="pass|creds"),
    Language("de", made_up="passwort*|passwört*|passwoert*|kennwort*|kennwört*|zugangswort*|losungswort*"
        "|wlan-schlüssel*|netzwerkschlüssel*|wiederherstellungsphrase*|wiederherstellungs-phrase*"
        "|passphrase*|passwd",
        codes="pin-code|einmalcode*|bestätigungscode*|sicherheitscode*|freischaltcode*|geheimzahl*"
        "|türcode*|torcode*|haustürcode*|alarmcode*|zugangscode*|zutrittscode*",
        key="schlüssel*|api-schlüssel*|zugangsschlüssel*", user="benutzer*|nutzer*|anmeldename*",
        link="ist|lautet*|war|auf|in|zu|als|heißt|mit|jetzt|wird|wäre|sei|per",
        login="einloggen|anmelden|log dich|logge dich|logg dich|melde dich|meldet sich|loggt sich|zugangsdaten"
        "|anmeldedaten|logindaten", short="kw"),
    Language("fr", made_up="mot de passe|mots de passe|mdps|motdepasse|mot-de-passe|mdp|phrase secrète"
        "|phrase de passe",
        codes="code pin|code de vérification|code de verification|code secret|code de confirmation"
        "|code à usage unique|code de la porte|code d'entrée|code d'accès|code de l'alarme|digicode",
        key="clé*|clef*|clé api|jeton*", user="utilisateur*|identifiant|compte",
        link="est|c'est|était|en|à|par|avec|comme|vaut|sera|devient",
        login="se connecte*|connecte-toi|connectez-vous|connecte toi|te connecter|se connecter|identifiants"
        "|connexion avec"),
    Language("es",
        made_up="contraseña*|contrasena*|contraseñ*|clave de acceso|clave secreta|palabra clave secreta",
        codes="código de verificación|codigo de verificacion|código de seguridad|código pin|código de la puerta"
        "|código de acceso|código de la alarma",
        key="clave*|llave*|clave api", user="usuario*|usuaria|cuenta",
        link="es|era|a|por|con|como|sea|será|está|ahora|fue|usando",
        login="iniciar sesión|inicia sesión|inicia sesion|entra como|entra con|entrar con|entra|loguea*|logue*"
        "|conéctate|conectate|credenciales|accede",
        short="pass|contra|clave"),
    Language("pt", made_up="senha*|palavra-passe|palavra passe|palavras-passe",
        codes="código de verificação|codigo de verificacao|código de segurança", key="chave*",
        user="usuario*|usuário*|utilizador*|conta", link="é|e|eh|era|para|pra|por|com|como|fica|ficou|agora|foi"
        "|usando",
        login="faz login|fazer login|entra com|entrar com|iniciar sessão|loga com|logar|loga|entra|entrar"
        "|credenciais|acessa|acesse"),
    Language("it", made_up="parola d'ordine|parole d'ordine|parola di accesso|password*|parola segreta",
        codes="codice pin|codice di verifica|codice di sicurezza|codice otp|codice della porta|codice di accesso"
        "|codice d'accesso|codice dell'allarme", key="chiave*|chiavi", user="utente*",
        link="è|e'|era|a|in|con|come|sia|sarà|diventa",
        login="entra come|accedi|accede|entra con|fai login|collegati|autenticati|entra|credenziali", short="psw"),
    Language("nl", made_up="wachtwoord*|wagwoord*|toegangscode*|ww|wachtzin*|wachtwoordzin*",
        codes="verificatiecode*|beveiligingscode*|eenmalige code|deurcode*|alarmcode*",
        key="sleutel*|api-sleutel*|apisleutel*", user="gebruiker*", link="is|was|naar|op|in|als|met|wordt|luidt|nu|van",
        login="inloggen|log in|logt in|aanmelden|meld je aan|inloggegevens|log je in"),
    Language("sv", made_up="lösenord*|losenord*|lösenfras*",
        codes="pinkod*|engångskod*|verifieringskod*|säkerhetskod*|bekräftelsekod*",
        key="nyckel*|nyckeln|api-nyckel*", user="användare*|anv|användarnamn*|konto*",
        link="är|var|till|som|med|heter|blir|lyder|på|nu", login="logga in|loggar in|loggade in"
        "|inloggningsuppgifter*", short="lösen|losen|pwd"),
    Language("no", made_up="passord*|passfrase*", codes="pinkode*|engangskode*|bekreftelseskode*|sikkerhetskode*",
        key="nøkkel*|api-nøkkel*", user="bruker*|brukernavn*", link="er|var|til|som|med|heter|blir|lyder|det er"
        "|på|nå",
        login="logg inn|logger inn|logge inn|innlogging*|påloggingsinfo*"),
    Language("da", made_up="adgangskode*|kodeord*|løsen*",
        codes="pinkode*|engangskode*|bekræftelseskode*|sikkerhedskode*", key="nøgle*|api-nøgle*",
        user="bruger*|brugernavn*", link="er|var|til|som|med|hedder|bliver|lyder|på|nu",
        login="log ind|logger ind|logge ind|loginoplysninger*", short="kode|kw"),
    Language("fi", made_up="salasana*|tunnussana*|tunnuslause*",
        codes="pin-koodi*|kertakäyttökoodi*|vahvistuskoodi*|turvakoodi*|tunnusluku*",
        key="avain*|avaime*|api-avain*", user="käyttäjä*|tunnus", link="on|oli|olisi|kuuluu|olkoon|nyt",
        login="kirjaudu*|kirjautuu|loggaa*|tunnukset", short="salis|passu"),
    Language("pl", made_up="hasł*|haslo*|hasla*|haslem",
        codes="kod pin|kod jednorazow*|kod weryfikacyjn*|kod sms|kod potwierdzając*", key="klucz*",
        user="użytkownik*|uzytkownik*|konto", link="to|jest|było|brzmi|na|jako|z|będzie|teraz|niech",
        login="zaloguj*|loguj*|loguje*|zalogować|dane logowania|dane do logowania"),
    Language("cs", made_up="hesl*|přístupov* fráz*", codes="ověřovací kód*|jednorázov* kód*|bezpečnostní kód*",
        key="klíč*", user="uživatel*|uzivatel*", link="je|bylo|na|jako|s|zní|bude|teď|nyní",
        login="přihlas*|prihlas*|přihlaš*|loguj*|přihlašovací údaje"),
    Language("sk", made_up="hesl*", codes="overovací kód*|jednorazov* kód*|bezpečnostný kód*", key="kľúč*|kluc*",
        user="používateľ*|pouzivatel*|uživateľ*", link="je|bolo|na|ako|s|znie|bude", login="prihlás*|prihlas*"),
    Language("sl", made_up="gesl*", codes="potrditven* kod*|enkratn* kod*", key="ključ*", user="uporabnik*",
        link="je|bilo|na|kot|z", login="prijavi se|prijavite se"),
    Language("hr", made_up="lozink*|zapork*|šifr*|лозинк*|шифра",
        codes="kod za potvrdu|jednokratni kod*|verifikacijski kod*", key="ključ*|кључ*",
        user="korisnik*|korisnič*|корисник*", link="je|bila|na|u|kao|s|sa|је|на|у",
        login="prijavi se|ulogiraj*|uloguj*|пријави се"),
    Language("hu", made_up="jelsz*|jelmond*|kulcsmond*",
        codes="pin-kód*|ellenőrző kód*|ellenőrzőkód*|megerősítő kód*|biztonsági kód*", key="kulcs*|apikulcs*",
        user="felhasználó*|felhasznalo*", link="az|ez|volt|erre|legyen|lett|mint|most|így",
        login="jelentkezz be|bejelentkez*|lépj be|belép*"),
    Language("ro", made_up="parol*", codes="cod pin|cod de verificare|codul de verificare|cod de securitate",
        key="cheia|cheie*|cheii", user="utilizator*|cont|contul*", link="este|e|era|în|in|cu|ca|la|fie|va fi|acum",
        login="conectează-te|conecteaza-te|logheaz*|autentific*|intră cu|intra cu"),
    Language("el", made_up="κωδικ*|συνθηματικ*",
        codes="κωδικό επιβεβαίωσης|κωδικός επιβεβαίωσης|κωδικός μίας χρήσης|πιν", key="κλειδί*|κλειδι*",
        user="χρήστη*|χρηστη*|όνομα χρήστη", link="είναι|ειναι|ήταν|σε|με|ως|για|τον|το|τώρα|έγινε|μου|μας",
        login="συνδέσου|συνδεθείτε|συνδέεται|μπες|κάνε login"),
    Language("tr", made_up="şifre*|sifre*|parola*",
        codes="doğrulama kodu*|dogrulama kodu*|onay kodu*|güvenlik kodu*|tek kullanımlık kod*", key="anahtar*",
        user="kullanıcı*|kullanici*|hesap", link="olarak|olsun|şu|ile|yap|yapın|artık|şöyle|:",
        login="giriş yap*|giris yap*|oturum aç*"),
    Language("ru", made_up="парол*|пассворд*|пасворд*|кодовое слово|кодов* фраз*|кодовая фраза|парольная фраза"
        "|парольную фразу|кодовую фразу",
        codes="пин|пин-код*|пинкод*|код подтверждени*|код из смс|одноразов* код*|смс-код*"
        "|проверочн* код*", key="ключ*|токен*|секрет*", user="логин*|пользовател*|юзер*|учетк*|учётк*",
        link="это|был|была|на|в|с|как|будет|стоит|теперь|такой|вот|под", login="зайди*|войди*|залогинь*|логинится"
        "|логинься|заходи*|логинюсь|данные для входа|учетные данные|учётные данные|доступы",
        short="пасс|пас"),
    Language("uk", made_up="парол*|пассворд*",
        codes="пін|пін-код*|пінкод*|код підтвердження|одноразов* код*|код із смс", key="ключ*|токен*|секрет*",
        user="логін*|користувач*|юзер*", link="це|був|є|на|в|з|як|буде|тепер|такий|ось",
        login="зайди*|увійди*|залогінься|логіниться|заходь*|дані для входу|доступи", short="пас|пасс"),
    Language("bg", made_up="парол*", codes="пин|пин код*|код за потвърждение|еднократен код*", key="ключ*|токен*",
        user="потребител*|акаунт*", link="е|беше|на|с|като|да е|за|сега|ще бъде", login="влез*|логни се|впиши се"),
    Language("ar", made_up="كلمة المرور|كلمة مرور|كلمه المرور|كلمه مرور|كلمة السر|كلمة سر|كلمه السر|باسورد|باسوورد"
        "|الباس|الرقم السري", codes="رمز التحقق|كود التحقق|رمز التأكيد|الرمز السري|رمز التفعيل",
        key="مفتاح|المفتاح|توكن|التوكن", user="مستخدم|المستخدم|يوزر|اليوزر|حساب",
        link="هي|هو|الى|إلى|ل|تكون|صارت|صار|كان|كانت|يكون|خليها|بـ", login="سجل الدخول|سجل دخول|تسجيل الدخول|ادخل"),
    Language("he", made_up="סיסמ*|ססמ*|סיסמת", codes="קוד אימות|קוד חד פעמי|קוד האימות|קוד סודי|פין",
        key="מפתח*|טוקן*", user="משתמש*|יוזר*", link="היא|הוא|זה|ל|אל|הייתה|תהיה|היתה|עכשיו|עם",
        login="התחבר*|תתחבר*|להתחבר|היכנס|תיכנס"),
    Language("fa", made_up="رمز عبور|رمزعبور|گذرواژه|پسورد|کلمه عبور|گذر واژه|رمز ورود",
        codes="کد تایید|کد تأیید|رمز پویا|رمز یکبار مصرف|کد ورود|پین", key="کلید|توکن|توکن*",
        user="کاربر|نام کاربری|یوزر", link="است|هست|اینه|به|رو|را|شد|بود|با|بذار|=", login="وارد شو*"
        "|لاگین", short="رمز"),
    Language("ur", made_up="پاس ورڈ|پاسورڈ|پاس ورد", codes="تصدیقی کوڈ|او ٹی پی", key="کلید|ٹوکن",
        user="صارف|یوزر", link="ہے|کو|سے|میں|تھا|یہ|کر"),
    Language("hi", made_up="पासवर्ड*|कूटशब्द|पासवर्ड", codes="ओटीपी|पिन|सत्यापन कोड", key="कुंजी|टोकन|चाबी",
        user="यूजर|यूज़र|उपयोगकर्ता", link="है|को|से|ko|hai|kar|karke|rakh|se|wala", login="लॉगिन"),
    Language("bn", made_up="পাসওয়ার্ড*|পাসওয়ার্ড*", codes="ওটিপি|পিন|যাচাই কোড", key="চাবি|টোকেন*|কী",
        user="ইউজার|ব্যবহারকারী", link="হল|হলো|হচ্ছে|দিয়ে|ছিল|kore|holo|hocche|diye", login="লগইন"),
    Language("ta", made_up="கடவுச்சொல்*|பாஸ்வேர்ட்*", codes="ஓடிபி", key="டோக்கன்*", user="பயனர்*", link="ஆகும்"
        "|என்பது|என",
        login="உள்நுழை*"),
    Language("vi", made_up="mật khẩu|mat khau|mật mã", codes="mã xác nhận|mã xác thực|mã pin|mã otp|ma xac nhan",
        key="khóa|khoá|khóa api", user="tài khoản|tai khoan|tk|người dùng",
        link="là|la|thành|thanh|đổi thành|với|bằng|vào|sang", login="đăng nhập|dang nhap", short="mk|pass"),
    Language("id", made_up="kata sandi*|katasandi*|sandi*|kata laluan|katalaluan|passwordnya",
        codes="kode verifikasi|kode otp|kode pin|nombor pin", key="kunci*|tokennya",
        user="pengguna|nama pengguna|akun", link="adalah|jadi|menjadi|ke|ialah|pake|pakai|itu|yaitu|nya",
        login="masuk pake|masuk pakai|masuk dengan|login pake|log masuk", short="pass|pw|sandinya"),
    Language("sw", made_up="nenosiri|nywila|neno la siri", codes="nambari ya siri", key="ufunguo", user="mtumiaji",
        link="ni|kuwa|kwa|langu|yangu|letu", login="ingia"),
    Language("th", made_up="รหัสผ่าน|พาสเวิร์ด|พาสเวิด|พาส", codes="รหัส otp|รหัสยืนยัน|รหัสพิน|พิน|โอทีพี",
        key="คีย์|กุญแจ|โทเคน|โทเค็น", user="ผู้ใช้|ยูส|ยูสเซอร์|ชื่อผู้ใช้", link="คือ|เป็น|ว่า|ใช้",
        login="เข้าสู่ระบบ|ล็อกอิน"),
    Language("zh", made_up="密码|密碼|口令|登录密码|通行码|通行短语", codes="验证码|驗證碼|动态码|校验码|口令卡|pin码",
        key="密钥|密鑰|秘钥|私钥|令牌|金钥|金鑰", user="用户|用户名|账号|帐号|帳號|使用者",
        link="是|为|為|改成|改为|设成|设为|就是|用|换成|叫", login="登录|登錄|登陆|登入"),
    Language("ja", made_up="パスワード|暗号|合言葉|パスフレーズ|パスワ|pw",
        codes="認証コード|確認コード|暗証番号|ワンタイムパスワード|認証番号",
        key="秘密鍵|apiキー|シークレット|トークン|鍵", user="ユーザー|ユーザ|アカウント", link="は|を|が|に|です",
        login="ログイン|サインイン", short="パス"),
    Language("ko", made_up="비밀번호|비번|패스워드|암호|패스", codes="인증번호|인증코드|인증 코드|핀번호",
        key="키|토큰|시크릿|비밀키", user="아이디|사용자|계정", link="은|는|이|가|을|를|로|으로",
        login="로그인|접속"),
    Language("ca", made_up="contrasenya|contrasenyes", codes="codi de verificació", key="clau|claus",
        user="usuari", link="és|a|per|amb|com", login="inicia sessió"),
    Language("lt", made_up="slaptažod*|slaptazod*", codes="patvirtinimo kod*", key="rakt*",
        user="vartotoj*|naudotoj*", link="yra|į|kaip|su", login="prisijun*"),
    Language("lv", made_up="parole*|paroli|parolē", codes="apstiprinājuma kod*", key="atslēg*", user="lietotāj*",
        link="ir|uz|kā|ar", login="piesaki*"),
    Language("et", made_up="parool*|salasõn*", codes="kinnituskood*", key="võti|võtme*", user="kasutaja*",
        link="on|oli|nagu", login="logi sisse"),
    Language("is", made_up="lykilorð*|aðgangsorð*", codes="staðfestingarkóð*", key="lykill*|lykil*",
        user="notand*", link="er|var|í|sem|með|mitt|okkar", login="skráðu þig inn"),
    Language("gl", made_up="contrasinal*", key="chave*", user="usuari*", link="é|era|a|por|con|como|agora"),
    Language("eu", made_up="pasahitz*", key="gako*", user="erabiltzaile*", link="da|zen|hau da|orain"),
    Language("ga", made_up="pasfhoca*|focal faire", key="eochair*", user="úsáideoir*", link="is|é|ná|mar"),
    Language("sq", made_up="fjalëkalim*|fjalekalim*", key="çelës*", user="përdorues*", link="është|eshte|në|me|si"),
    Language("az", made_up="şifrə*|parol*", key="açar*", user="istifadəçi*", link="budur|olsun|ilə|indi"),
    Language("ka", made_up="პაროლ*", key="გასაღებ*", user="მომხმარებ*", link="არის|იყო|ახლა"),
    Language("hy", made_up="գաղտնաբառ*", key="բանալի*", user="օգտատ*", link="է|էր|հիմա"),
)
# fmt: on

_CONJUNCTIONS = (
    "and|und|et|y|e|ed|en|och|og|ja|i|a|és|si|și|και|ve|и|і|та|و|ו|और|এবং|và|dan|na|และ|和|と|&|the|mit|with"
)
CONJUNCTIONS = frozenset(_CONJUNCTIONS.split("|"))
"""Words that join a user and a password."""

_STATE_WORDS = (
    "reset|expired|wrong|incorrect|invalid|missing|empty|required|optional|forgotten|hashing|policy|field|change"
    "|changed|rotation|prompt|both|what|none|null|same|page|form|manager|dialog|auth|login|button|error|errors"
    "|works|failed|fails|unknown|hashes|hash|strength|recovery|input|box|protected|protection|rules|length|only"
    "|again|too|first|later|here|there|vergessen|falsch|fehlt|ungültig|abgelaufen|leer|ändern|zurücksetzen|oublié"
    "|faux|incorrecte|invalide|vide|expiré|manquant|olvidada|incorrecta|vacía|inválida|caducada|esquecida"
    "|incorreta|errada|inválida|vazia|sbagliata|errata|dimenticata|scaduta|vuota|mancante|vergeten|fout|onjuist"
    "|verlopen|leeg|glömt|fel|felaktigt|saknas|glemt|feil|forkert|mangler|unohtunut|väärin|väärä|puuttuu|błędne"
    "|zapomniane|nieprawidłowe|brak|puste|špatně|chybné|zapomenuté|nesprávné|elfelejtett|hibás|rossz|greșită"
    "|uitată|gresita|yanlış|hatalı|boş|unutuldu|неверный|забыт|забыл|пустой|истек|сброшен|неправильный|забыли"
    "|невірний|порожній|грешна|salah|lupa|sai|quên|galat"
)
STATE_WORDS = frozenset(_STATE_WORDS.split("|"))
"""Words said about passwords, which are no passwords."""


class Role(Enum):
    """The kind of secret that a name promises."""

    PASSWORD = auto()
    CODE = auto()  # digits
    LOGIN = auto()  # "log in": a password may follow


class Name(NamedTuple):
    """A name at [start, end). `is_short` says that it may mean something else."""

    start: int
    end: int
    role: Role
    is_short: bool


_ROLE_FIELDS = {"made_up": Role.PASSWORD, "short": Role.PASSWORD, "codes": Role.CODE, "login": Role.LOGIN}
_ENDING = re.compile(r"[^\W\d_]{0,24}+")
_UNSPACED = re.compile(r"[\u0590-\u06ff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_IDENTIFIER_BEFORE = re.compile(r"[\w$./\\@#%-]$")
_IDENTIFIER_AFTER = re.compile(r"[_\d(\[\\$/@]|\.\w|-\w|::|=\s?[\"'(\[{]")
_NON_ASCII = re.compile(r"[^\x00-\x7f][^\n]*+")
_MAX_LENGTH = 24  # letters of a name before the first one that is not ASCII
_CAMEL = re.compile(r"[a-z][A-Z]")
_MIN_COMPOUND_END = 6  # letters from which a name may end a compound: Adminpasswort


class _Word(NamedTuple):
    role: Role
    is_short: bool
    open: bool  # any ending may follow


def find_names(text: str, lowered: str) -> Iterator[Name]:
    """Yield every name of a secret in the prose of `text`."""
    yield from _valid_names(text, _names_pattern(ascii_only=True).finditer(lowered))
    if not text.isascii():
        # Names with other letters are only searched around such letters.
        done = 0
        for other in _NON_ASCII.finditer(lowered):
            yield from _valid_names(
                text,
                _names_pattern(ascii_only=False).finditer(lowered, max(done, other.start() - _MAX_LENGTH), other.end()),
            )
            done = other.end()


def _valid_names(text: str, matches: Iterator[re.Match[str]]) -> Iterator[Name]:
    for found in matches:
        word = _word_table()[found[0]]
        end = _name_end(found.string, found.end(), word)
        if end is None or not _is_word(text, found.start(), found[0]) or _IDENTIFIER_AFTER.match(text, end):
            continue
        yield Name(found.start(), end, word.role, word.is_short and not _ends_variable(text, found.start()))


def names_a_key(text: str) -> bool:
    """Whether a short `text` names a machine-made secret: a key, a token; `keyId` and `key_id` do not."""
    return any(not _CAMEL.search(text, *found.span()) for found in _field_pattern("key").finditer(text.lower()))


def names_a_user(text: str) -> bool:
    """Whether a text names a user."""
    return _field_pattern("user").search(text.lower()) is not None


def text_after_user(text: str) -> str | None:
    """Return what follows the last user named in a short `text`, None if none is."""
    last = max(_field_pattern("user").finditer(text.lower()), key=re.Match.end, default=None)
    return None if last is None else text[last.end() :]


def _name_end(lowered: str, at: int, word: _Word) -> int | None:
    ending = _ENDING.match(lowered, at)
    end = ending.end() if ending else at
    if end > at and not word.open and not _UNSPACED.match(lowered, at - 1) and not _UNSPACED.match(lowered, at):
        return None
    return end if word.open and not _UNSPACED.match(lowered, at - 1) else at


def _is_word(text: str, at: int, word: str) -> bool:
    """Whether a name begins at `at`, or ends a compound or an environment variable, not within another identifier."""
    if at == 0 or _UNSPACED.match(word):
        return True
    before = text[at - 1]
    if before.isalpha():
        return len(word) >= _MIN_COMPOUND_END and text[at].islower() and not _UNSPACED.match(word)
    if before == "/":
        return names_a_user(text[max(0, at - _MAX_LENGTH) : at - 1])  # user/pass: ...
    is_joined = before == "-" and text[max(0, at - 2) : at - 1].isalpha()
    return is_joined or _ends_variable(text, at) or not _IDENTIFIER_BEFORE.match(before)


def _ends_variable(text: str, at: int) -> bool:
    """Whether the name at `at` ends one as environment variables have: `DB_PASSWORD`."""
    return text[at - 1 : at] == "_" and text[at : at + 2].isupper() and text[max(0, at - 2) : at - 1].isalnum()


@cache
def _word_table() -> dict[str, _Word]:
    found: dict[str, _Word] = {}
    for language in LANGUAGES:
        for field, role in _ROLE_FIELDS.items():
            for entry in filter(None, getattr(language, field).split("|")):
                word = entry.rstrip("*")
                found.setdefault(word, _Word(role, field == "short", entry.endswith("*")))
    for word, meaning in found.items():  # a name that starts with another one keeps that one's endings
        if not meaning.open and any(
            found[word[:n]].open and found[word[:n]].role is meaning.role
            for n in range(3, len(word))
            if word[:n] in found
        ):
            found[word] = meaning._replace(open=True)
    return found


@cache
def _field_pattern(field: str) -> re.Pattern[str]:
    """Return a regex of the words of a field in all languages, each at the beginning of a word."""
    entries = {word for language in LANGUAGES for word in getattr(language, field).split("|") if word}
    spaced = {word for word in entries if not _UNSPACED.match(word)}
    opened = [re.escape(word.rstrip("*")) + r"[^\W\d_]{0,16}+" for word in spaced if word.endswith("*")]
    closed = [re.escape(word) for word in spaced if not word.endswith("*")]
    words = sorted([*opened, *closed], key=len, reverse=True)
    others = sorted((word.rstrip("*") for word in entries - spaced), key=len, reverse=True)
    return re.compile(rf"(?<![\w.])(?:{'|'.join(words)})(?!\w)|{'|'.join(others)}")


LINK_WORDS = frozenset(word.rstrip("*") for language in LANGUAGES for word in language.link.split("|") if word)
"""Words that may be between a name and its value."""

_COPULAS = (
    "is|was|are|be|it's|ist|lautet|war|heißt|est|c'est|vaut|es|era|sea|è|sarà|é|eh|luidt|wordt|är|heter|blir|er|hedder"
    "|bliver|jest|brzmi|je|zní|znie|bude|este|είναι|ειναι|ήταν|şu|olsun|это|был|будет|це|був|є|е|беше|هي|هو|היא|הוא|זה"
    "|است|هست|اینه|ہے|है|hai|হল|হলো|হচ্ছে|là|thành|adalah|jadi|menjadi|ialah|ni|คือ|เป็น|是|为|為|改成|改为|设成|设为"
    "|就是|は|です|은|는|és|yra|ir"
)
COPULAS = frozenset(_COPULAS.split("|"))
"""Those that mean just "is"."""


@cache
def _names_pattern(*, ascii_only: bool) -> re.Pattern[str]:
    return re.compile(trie_pattern({word for word in _word_table() if word.isascii() == ascii_only}))
