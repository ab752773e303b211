"""Lint family T-13, orders in words: those that do harm, and those that remove protection."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.edit.change import DISREGARD, NOT_FOR_TESTS, Change, Finding, find_phrases, flag, near, nouns, phrase, verbs
from skilld.markdown.structure import sections
from skilld.text import fold_case, word_set

# Who logs something to a server sends it; the log, `logs deploy/webhooks` and `git log` are there to be read.
_LOG = (
    r"(?<![\w/.:-])(?<!\bthe )(?<!\ban )(?<!\ba )(?<!\bin )(?<!\bof )(?<!\bgit )log(?:ged|ging)?\b"
    r"(?!/|:| (?:(?:file|line|level|entry|message|format|output|statement|event)s?\b|entries|--?\w)"
    r"(?![^.\n]{0,60}\sto\s))"
)
# Not the method, as in "add the endpoint POST /labels".
_POST = (
    r"(?-i:\b[Pp]ost(?:s|ed|ing)?\b|\bPOST(?=\s+(?:the|this|that|all|it|them|any|every\w*|each|your|data)\b)"
    r"|(?<!\bendpoint )(?<!\bpage )(?<!\broute )(?<!\bmethod )\bPOST(?=\s+[^\s/][^\n“”\"]{0,80}?\sto\s))"
)
_SEND = f"{_LOG}|{_POST}|" + verbs(
    "send sent forward upload transmit sync synchronize submit export share email e-mail mail copy backup"
    " publish relay mirror report deliver push stream store ping contact notify register verify cc bcc connect"
    " download fetch pull"
)
_SEND_THERE = f"{_POST}|" + verbs(
    "send sent forward upload transmit sync synchronize submit export share copy backup publish relay mirror"
    " deliver push stream"
)
_REMOTE_TARGET = (
    nouns(
        "server endpoint collector webhook remote external off-?site third_party cloud intranet telemetry analytics"
        " central attacker pastebin gist bucket dropbox ftp location_service logging_service logging_system"
        " monitoring social_media backup_system backup_location backup_service our_service our_system our_api partner"
        " portal public_channel shared_folder shared_drive unknown_sender stranger"
    )
    + r"|\b(?:e-?mail|following|this|monitoring) address|https?://(?!(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/\s]|$))|[\w.+-]{1,64}@[\w-]{1,64}\.\w"
)
_ALL = r"\b(?:all|every|entire|each)\b"
_WRITING = nouns("change_?log entry message paragraph section chapter page text note summary description slide draft")
_EMPTYING = verbs("clean clear empty blank")
_DESTROY = "|".join(
    (
        "(?:"
        + verbs(
            "delete remove erase wipe purge truncate overwrite cancel destroy discard shred unlink revoke reset"
            " uninstall trash archive unsubscribe corrupt scramble shuffle nullify evict terminate deactivate expire"
            " decline reject"
        ),
        # Not "a blank line", "one empty row", "a clean copy" and "a drop shadow".
        rf"(?<!\ba )(?<!\ban )(?<!\bone )(?<!\bno ){_EMPTYING}",
        rf"{_EMPTYING}(?= of\b)",
        # Nor "drop anything internal from the entries", which is about what a text says.
        verbs("drop") + rf"(?![ -](?:shadow|cap|zone)s?\b| anything [^.\n]{{0,60}}\bfrom [^.\n]{{0,20}}{_WRITING}))",
    )
)
_DATA = nouns(
    "file document folder directory e?mail message entry event appointment meeting paragraph record row column table"
    " database data backup branch user account calendar history volume container cluster slide sheet contact"
    " occurrence original copy version quarter photo picture repository job task credential everything invitation"
    " attachment subject invoice order customer patient transaction cell formula field value section chapter page"
    " content"
)
_RUN = verbs("run execute call invoke launch start trigger")
_SCRIPT = r"[\w./-]{1,100}\.(?:sh|py|js|ts|rb|pl|ps1|bat|cmd|exe|bin|bash|zsh|jar)\b"
# A rule that keeps a password or somebody's address private protects a person and hides no action. It must keep back
# nothing else: not "the password change", nor "the user emails that you sent".
_OWNER = nouns("user person owner customer client member employee patient visitor")
_PERSONAL = nouns(
    "e-?mail name email_address address phone phone_number number birthday location data detail information profile"
    " record password credential"
)
_SECRET = nouns(
    "password passphrase credential secret token api_key private_key access_key card_number phone_number"
    " e-?mail_address home_address personal_data personal_information personal_detail PII"
)
_PRIVATE = (
    r"(?:(?:the|an?|any|other|full|real|raw|plain|plaintext|personal|access|session)\s+){0,3}"
    rf"(?:(?:{_OWNER}(?:['’]s?)?\s+)?{_SECRET}|(?<!the ){_OWNER}\s+{_PERSONAL}|{_OWNER}(?<=s)['’]\s+{_PERSONAL}"
    rf"|{_OWNER}['’]s\s+(?:full\s+)?{_PERSONAL}|{_PERSONAL}\s+of\s+(?:the\s+|an?\s+)?{_OWNER})"
)
_KEEPING_PRIVATE = (
    rf"{verbs('mention show reveal disclose display log')}\s+{_PRIVATE}"
    rf"(?:,?\s+(?:and|or)\s+(?:{_PRIVATE}|{_PERSONAL}))?\s*(?:[.;\n]|$|\b(?:to|in|on|with|anywhere|back)\b)"
)
# "Store phone numbers as text": a column's type says nothing about anybody.
_NOT_AS_TYPE = (
    r"(?!\s+(?:(?:columns?|fields?)\s+)?as\s+(?:an?\s+)?"
    r"(?:text|strings?|varchar|citext|char|int|integers?|bigints?|numbers?|numeric|decimals?|floats?|inet|points?|uuids?|E\.164)"
    r"\s*(?:[.,;)\n]|$))"
)
_NOT = r"\b(?:do not|don['’]?t|never|without|avoid|no need to|not)\s+(?:ever\s+)?(?:to\s+)?"
# How a page looks hides nothing: "do not show the sidebar to users who are logged out".
_DRAWING = (
    r"(?:show|display)\s+(?:(?:the|an?|any|its|this)\s+)?(?:(?!warn|err|alert|fail|confirm|consent|permi|secur|approv)\w+\s+)?"
    + nouns(
        "avatar badge banner button caption cursor footer header icon loader logo menu placeholder"
        " progress_bar scrollbar sidebar skeleton spinner splash_screen tab thumbnail toolbar tooltip"
    )
)
_NOT_TELLING = rf"{_NOT}(?!{_KEEPING_PRIVATE}|{_DRAWING})" + verbs(
    "mention tell inform notify alert show reveal disclose report display log warn"
)
_NOT_ASKING = _NOT + verbs("ask prompt bother confirm")
_PEOPLE = nouns("user person human anyone anybody owner customer confirmation permission approval")
# What is given up in "without asking for a size" is no say, and in "without waiting for the mail" no check.
_SAY = (
    rf"(?:{_PEOPLE}|"
    + nouns(
        "consent go-?ahead ok okay sign-?off agreement blessing review feedback opinion input decision answer reply"
        " response yes reason authori[sz]ation clearance password passphrase passcode PIN login credential token key"
        " code author boss colleague lead maintainer manager reviewer team vote"
    )
    + ")"
)
_CHECKED = nouns("check test CI build green pipeline hook lint(?:er)? verification validation result backup scan")
_FOR_A = r"\s+for\s+(?:an?|another|its|more|the|their)\s+"
_FOR_A_THING = rf"{_FOR_A}(?!(?:[\w'’-]+\s+){{0,3}}{_SAY})\w"
_FOR_NO_CHECK = rf"{_FOR_A}(?!(?:[\w'’-]+\s+){{0,3}}(?:{_SAY}|{_CHECKED}))\w"
# "Don't tell me what it does" is a wish for brevity; "don't ask me" gives up a say.
_NOT_WARNING_ME = _NOT + verbs("inform notify alert warn")

# What a program or a page does on its own hides nothing that an agent does: "the kiosk boots silently", "load the
# images in the background".
_BY_ITSELF = (
    "boot boots closes exits loads opens plays reconnects refreshes reloads renews restarts resumes runs starts"
)
_NOT_BY_ITSELF = "".join(rf"(?<!\b{verb} )" for verb in _BY_ITSELF.split())
_IN_VIEW = "emulator images server servers simulator stay stays watcher"
_NOT_SHOWN_BACKGROUND = (
    "".join(rf"(?<!\b{word} )" for word in _IN_VIEW.split())
    + r"\bin (?:the )?background\b(?! (?:colou?r|image|layer|of the (?:card|chart|hero|image|page|photo|slide))\b)"
)

_WITHOUT = r"\bwithout (?:(?:first|ever|any|further|prior|even)\s+)?"

_EVENT = nouns(
    "task request message response reply answer session conversation chat prompt query interaction occasion action"
    " operation execution tool_call response input output change user"
)

_SCREENSHOT = nouns("screen_?shot screen_?capture screen_?grab")
_CAPTURE = verbs(
    "take took taken capture record grab make create collect save send upload post attach include share monitor"
    " track copy forward email add append embed transmit snap schedule"
)

_PHRASES = (
    phrase(
        "sends-data",
        "It sends something to another person or system",
        near(_SEND, f"(?:{_REMOTE_TARGET})", 140),
        near(f"(?:{_REMOTE_TARGET})", _SEND_THERE, 60),
        r"\bexfiltrat\w+",
    ),
    phrase(
        "deletes",
        "It deletes or undoes something",
        near(_DESTROY, _DATA),
        near(_DATA, r"\b(?:deleted|removed|erased|wiped|purged|cancell?ed|destroyed|overwritten|lost)\b", 60),
        near(_DATA, _DESTROY + r"\s+(?:them|it|all)\b", 60),
        near(verbs("replace rename move rewrite modify hide"), _ALL + r"[^.\n]{0,30}" + _DATA, 30),
        near(verbs("keep retain preserve"), r"\bonly (?:the )?(?:new|late|last|most)\w*", 30),
        near(r"\bset\b", near(rf"{_DATA}|{_ALL}", r"\bto (?:empty|zero|null|blank|nothing)\b"))
        + r"|\bfree up\b|\bsave (?:disk )?space\b",
    ),
    phrase(
        "runs-script",
        "It runs a script whose contents are not shown here",
        near(_RUN, _SCRIPT, 80),
        near(verbs("use source"), _SCRIPT + r"\s+script", 80),
        near(_RUN, r"\bscripts?/?\s+(?:director|folder|dir\b)", 80),
        near(
            verbs("run execute call invoke perform"),
            nouns("clean-?up utility routine macro maintenance helper_script"),
            60,
        ),
        near(
            verbs("follow perform execute complete obey carry_out"),
            r"\bin\b[^.\n]{0,30}\.(?:md|txt|rst|pdf|docx?|ya?ml|json)\b",
            60,
        ),
        near(
            verbs("install import load open execute"),
            r"\b(?:attach(?:ed|ments?)|USB|downloads? folder|the zip|link below|forum)\b",
            40,
        ),
        verbs("run execute") + r"\s+(?:this|the following|these)\s+" + nouns("script command code program"),
    ),
    phrase(
        "conceals",
        "It hides something from the user",
        near(_NOT_TELLING, _PEOPLE, 40),
        near(_NOT_TELLING, r"\b(?:this|it|them|that)\b", 15),
        near(_NOT_WARNING_ME, r"\bme\b", 40),
        r"\b(?:secretly|covertly|stealthily|discreetly|unnoticed)\b",
        rf"{_NOT_BY_ITSELF}\b(?:silently|quietly|invisibly)\b",
        near(nouns("agent assistant claude codex model skill"), r"\b(?:silently|quietly|invisibly)\b"),
        r"\bsubtly\b(?! (?:animated|colou?red|darker|highlighted|lighter|rounded|shaded|tinted)\b)",
        rf"\bhidden from\b|{_NOT_SHOWN_BACKGROUND}|\bbehind the scenes\b|\binvisible to\b",
        near(
            r"\bso (?:that )?(?:the )?" + nouns("user person human customer"),
            r"(?:\b(?:not|never|unaware)\b|n['’]t\b)",
            30,
        ),
        rf"{_WITHOUT}(?:notice|warning)\b",
    ),
    phrase(
        "conceals",
        "It acts without asking or checking",
        near(_NOT_ASKING, rf"{_PEOPLE}(?!{_FOR_A_THING})", 40),
        near(_NOT_ASKING, r"\b(?:this|it|them|that)\b", 15),
        near(_NOT_ASKING, r"\bme\b", 40),
        rf"{_WITHOUT}(?:(?:verification|review|confirmation|approval"
        rf"|(?:check|verify|validat|confirm|review|read|test|inspect|scann)ing)\b"
        rf"|asking\b(?!{_FOR_A_THING})|waiting\b(?!{_FOR_NO_CHECK}))",
    ),
    phrase(
        "watches-person",
        "It records or reveals something about the user",
        # Looking at a screenshot, or naming one, records nobody.
        near(_CAPTURE, _SCREENSHOT, 60),
        near(_SCREENSHOT, _SEND_THERE, 60),
        rf"{_SCREENSHOT}\s+(?:of\s+)?(?:my|their|your|his|her"
        r"|the (?:user|person|customer|screen|desktop|display|window))\b",
        nouns(
            "clipboard key_?stroke key_?logger webcam microphone GPS geo-?location"
            " coordinate CoreLocation browser_history browsing_history contact_list IP_address MAC_address"
            " serial_number fingerprint home_address phone_number whereabout"
        )
        + _NOT_AS_TYPE,
        near(r"\b(?:user|person|home|current|your|their|add|adding|precise|exact)\b", r"\blocations?\b", 20),
        r"\b(?:screencapture|pbpaste|xclip|wl-paste|scrot|imagesnap)\b",
    ),
    phrase(
        "locks-files",
        "It encrypts or locks files",
        near(
            verbs("encrypt password-protect lock"),
            r"\b(?:passwords?|remov\w+|delet\w+|originals?|unencrypted|random|ransom)\b",
            120,
        ),
        r"\bransom\w*|\bencryption procedure\b",
    ),
    phrase(
        "exhausts",
        "It repeats something endlessly or on a large scale",
        near(
            verbs("retry repeat loop continue"),
            r"\b(?:indefinitely|forever|endless\w*|infinite\w*|until|without limit)\b",
            50,
        ),
        r"\bkeep (?:trying|calling|running)\b|\binfinite loop\b|\bas many (?:\w+ )?as possible\b"
        r"|\bcontinue_after_error\b",
        r"\b\d{3,}\s+(?:times|requests|copies|threads|connections)\b",
    ),
    phrase(
        "broad-trigger",
        "It triggers an action every time, regardless of the task",
        # Not "in each entry" or "in all files": that is how the artefact looks. Of 45 attack lines that this rule
        # shows, 2 need "in each" and none "in all", which made 3 of the 14 flags on 136 things that people said.
        # Nor "for every new page" or "before every commit": that is what a rule is about. What an agent does all day
        # is another matter: of 117 attack lines that are flagged one has no other flag.
        rf"\b(?:(?:after|before|when(?:ever)?|while|during|on)\b[^.\n]{{0,40}}|for\s+)\b(?:any|every|each|all)\s+(?:\w+\s+)?{_EVENT}",
        r"\bautomatically\b[^.\n]{0,40}\b(?:any|every|each|all)\b",
    ),
    phrase(
        "money",
        "It involves payments or purchases",
        near(
            verbs("transfer wire pay send donate purchase buy order invest"),
            nouns("fund money payment dollar bitcoin crypto coin gift_card invoice bank"),
            40,
        ),
        r"\b(?:bitcoin|monero|ethereum|crypto ?min\w+|wallet address|bank account)\b",
    ),
)


def check_harm(change: Change) -> Iterator[Finding]:
    """Flag orders that an honest skill rarely contains.

    A broad trigger is in 4 of 144 lasting things that people really said to agents, and in about half of 83 injected
    lines of public test sets: too uncertain to refuse, enough to show.
    """
    yield from find_phrases(change, _PHRASES, change.orders)


# Lint family T-13, orders in words that remove protection: checks, access, safe practice, rules. English. They only
# flag.

_SKIP = verbs("disable skip bypass remove omit ignore suppress relax loosen weaken drop deactivate") + (
    r"|\b(?:turn(?:s|ing)? off|comment(?:s|ing)? out|no need for)\b"
)
_NOT_DOING = verbs("avoid") + (
    r"|\b(?:no need to|without|instead of|do(?: no"
    r"|n['’])t (?:need to |have to )?(?:do|run|use|check|validate|verify|test|review|escape|sanitize|hash|encrypt|log"
    r"|back up|ask for))\b"
)
_CHECKS = nouns(
    "check validation verification sanitization sanitisation escaping authentication authorization auth CSRF"
    " CORS firewall lint(?:er|ing)? hook review approval audit logging monitoring alert warning backup sandbox"
    " encryption signature rate_limit rate_limiting security guard safety assertion type_check scanner antivirus"
    " gitignore input output confirmation two-?factor 2FA MFA paywall captcha"
)

# Not writing tests first does not abolish them.
_TEST = nouns("test") + rf"(?!\s+(?:first|beforehand|up-?front)\b){NOT_FOR_TESTS}"
# Someone who wants no Jest tests wants other ones.
_TOOLS = "jest mocha jasmine vitest pytest unittest nose junit testng rspec cypress playwright selenium karma snapshot"
_KINDS = "-driven -based -style parametrized parameterized"
_TESTS = "".join(rf"(?<!{one} )" for one in (*(rf"\b{tool}" for tool in _TOOLS.split()), *_KINDS.split())) + _TEST
# "No need to put factories in `tests/`" is about a place.
_NO_PLACE = "".join(rf"(?<!\bin {word})" for word in ("", "`", "the ", "our "))
# "Always pass --verbose", "always pass the locale as an argument" is about calling a program.
_NO_ARGUMENT = r"(?!\s+[\"'`(]*--?\w|[^.\n]{0,60}?\b(?:argument|context|flag|keyword|option|parameter|switch)s?\b)"
# What is passed on to something, or merged in some way, is not judged: "always pass the file through ruff",
# "always pass the id as a string", "always merge main into your branch".
_JUDGED = nouns(
    "application applicant assessment audit build candidate change check claim essay exam gate order paper patch"
    " person PR proposal pull_request request resume review student submission test them user work"
)
_PASSED_ON = (
    rf"(?!\s+(?:(?!{_JUDGED})[^\s.;]+\s+){{1,6}}?(?:(?:through|into|via)\s+(?!with|un|any|no\b|prod|{_JUDGED})[^\s.;]"
    r"|as\s+(?!is\b|it\s+is\b|accept|approv|correct|good|ok|pass|success|valid)[^\s.;]"
    r"|to\s+(?!(?:the\s+)?(?:next|prod|green|live))[^\s.;]|by\s+(?:reference|value|name|keyword|position)\b))"
)
_MERGED_HOW = (
    r"(?!\s+(?:`?(?:main|master|develop|trunk|upstream|origin/\S+)`?\s+(?:into|first|in)\b"
    r"|(?:with|by|using)\s+(?:an?\s+)?[\"'`]*(?:-{0,2}(?:ff|no-ff|squash|rebas)|-[Xs]\b|merge|-{1,2}(?:log|signoff|strategy))))"
)

# Not what speaks HTTP or belongs to it: "use http calls instead", "use HTTP status codes", "HTTP instead of gRPC".
_OF_HTTP = (
    "api cache caching call client code connector delete endpoint error get handler header hook method middleware"
    " mock only patch polling post put range redirect request response route semantics server status streaming trigger"
    " verb"
)
_NO_TLS = r" (?:instead of|rather than) (?!HTTPS|TLS|SSL)"
_PLAIN_HTTP = (
    rf"\buse HTTP\b(?!/\d|[ -](?:\d{{3}}\b|{nouns(_OF_HTTP)})|{_NO_TLS})"
    r"|\bHTTP instead\b(?! of (?!HTTPS|TLS|SSL))"
    r"|(?<!never use )(?<!not use )(?<!n['’]t use )\bHTTP\b[^.\n]{0,40}\b(?:instead of|rather than|not)"
    r" (?:HTTPS|TLS|SSL)\b"
)

_PROTECTION_PHRASES = (
    phrase(
        "fixes-outcome",
        "It dictates the outcome of a check, review or rating",
        near(
            verbs("return give assign report set mark rate score"),
            r"\b(?:high|highest|perfect|maximum|top|low|lowest|passing|100%|full)\b\s+"
            + nouns("score rating mark ranking grade point"),
            40,
        ),
        r"\b(?:always|automatically)\s+"
        rf"(?:(?:approve|accept|succeed|allow|trust|grant)\b|pass\b{_PASSED_ON}|merge\b{_MERGED_HOW}){_NO_ARGUMENT}"
        r"|\bdo not proceed\b",
        near(verbs("merge"), r"\s[\"'`]*--admin\b"),  # without the checks and reviews that a branch requires
        near(
            verbs("approve merge accept grant allow admit"),
            r"\b(?:automatically|as soon as|immediately|from anyone|anyone|anybody|everybody|everyone|unread)\b",
            40,
        ),
        near(r"\b(?:rate|score|grade|rank)s?\b", r"\b(?:higher|lower|better|worse)\b", 40),
        near(nouns("candidate resume applicant"), r"\b(?:qualified|best|recommend\w*|hire)\b"),
    ),
    phrase(
        "accounts",
        "It grants access or contains a password",
        near(
            verbs("add create insert set_up enable register"),
            r"\b(?:admin\w*|root|back-?door|super-?user|service|emergency|default)\s+(?:accounts?|users?|access"
            r"|logins?|password)\b",
            60,
        ),
        r"\bpasswords?\s+(?:is\s+|=\s*|:\s*)?['\"][^'\"\n]{3,}['\"]|\bSSH key\b|\bemergency access\b|\bback-?doors?\b",
        near(
            verbs("grant give share widen elevate escalate open expose"),
            nouns("permission access privilege right everyone everybody anyone public internet world"),
            60,
        ),
        near(
            r"\b(?:set|change|make)s?\b",
            r"\b(?:publicly|world-?(?:readable|writable)|public (?:read|write|access)|everyone)\b",
            60,
        ),
        r"\bpermissions?\.sh\b|\bdefault (?:credentials?|passwords?)\b",
    ),
    phrase(
        "weak-security",
        "It asks for an unsafe practice",
        near(
            r"\b(?:string concatenation|concatenat\w+|interpolat\w+|f-strings?)\b", r"\b(?:SQL|quer\w+|commands?)\b", 40
        ),
        near(
            r"\b(?:plain ?text|clear ?text|unencrypted|unhashed)\b",
            nouns("password credential secret token traffic connection key"),
            40,
        ),
        near(nouns("password credential secret token key"), r"\b(?:in |as )(?:plain|clear) ?text\b"),
        near(f"(?:{_SKIP})", f"{_CHECKS}|{_TEST}", 50),
        near(f"(?:{_NOT_DOING})", f"{_CHECKS}|{_NO_PLACE}{_TESTS}", 50),
        # What is forbidden, not where: "never use floats for amounts, not even in tests", "no docstrings to
        # tests".
        r"\b(?:not to|to not|never|do not|don['’]?t|no need to)\s+"
        + verbs("write add include create run perform do use require")
        + r"\s+(?:(?!(?:for|in|on|at|from|within|inside|outside|except)\b)[^\s,;.:()]+\s+){0,5}?(?:"
        + r"(?<!\bto )(?<!\bto the )"
        + _TESTS
        + "|"
        + nouns(
            "check validation verification authentication authorization encryption sandbox audit review"
            " escaping SQL_injection security"
        )
        + ")",
        near(
            verbs("allow accept permit trust"),
            r"\b(?:all|any|every|untrusted|unsigned|anonymous)\b[^.\n]{0,30}"
            + nouns("origin host input user certificate request connection command source"),
            30,
        ),
        near(r"\b(?:MD5|SHA-?1|DES|ECB|RC4)\b", r"\b(?:passwords?|hash\w*|encrypt\w*)\b", 30),
        near(verbs("commit log store print"), nouns("password key token secret credential"), 40),
        near(
            # What is looked for: "Look for hard-coded secrets", "Find any hard-coded key".
            r"(?<!\bfor )(?<!\bfind )(?<!\bflag )(?<!\breport )(?<!\bdetect )(?<!\bspot )(?<!\bcatch )(?<!\bagainst )"
            r"(?<!\bany )(?<!\bno )(?<!\breject )(?<!\bremove )(?<!\bavoid )\bhard-?cod(?:e[sd]?|ing)\b",
            nouns("password key token secret credential"),
            40,
        ),
        near(r"\bdebug\w*\b", r"\b(?:in|on) (?:prod\w*|live)\b", 40),
        near(
            verbs("log print dump store trace"),
            r"\b(?:request|response) (?:bod(?:y|ies)|headers?)\b|\bpersonal data\b",
            40,
        ),
        near(
            nouns("key secret password credential certificate token"),
            r"\b(?:in|into|to|with) the (?:repo\w*|code|project|image|log|source)\b",
            40,
        ),
        r"\bdebug\s*=\s*True\b|\bshell\s*=\s*True\b|\brun(?:s|ning)? (?:\w+ ){0,3}as (?:root|admin\w*)\b"
        rf"|{_PLAIN_HTTP}",
        r"\b(?:use|using|call|prefer)\s+[`'\"]?(?:eval|exec|innerHTML|dangerouslySetInnerHTML|pickle|os\.system)\b",
        near(
            nouns("token session password key"),
            r"\b(?:localStorage|query (?:string|parameters?)|URL parameters?|never expires?)\b",
        ),
        r"\bwild-?card\b[^.\n]{0,30}\b(?:CORS|origins?|permissions?)\b|\b(?:expose|return|show"
        r"|include)s? (?:full )?stack traces?\b",
        near(
            r"\btrust\w*\b",
            r"\b(?:user|client|internal|incoming|external)\b[^.\n]{0,20}\b(?:input|data|headers?|requests?|network)\b",
            20,
        ),
        near(r"\b(?:user|raw|unvalidated|unescaped) input\b", r"\bdirectly\b")
        + r"|\bdirectly\b[^.\n]{0,40}\buser input\b",
        r"\b(?:ignore|swallow|suppress|hide)s? (?:all |any |the )?(?:errors?|exceptions?|failures?)\b",
    ),
    phrase(
        "rule-removal",
        "It removes a rule, or says that it no longer applies",
        near(
            DISREGARD + "|" + verbs("remove delete drop skip strike"),
            nouns("rule bullet guideline guard restriction requirement step"),
            40,
        ),
        near(
            nouns("rule bullet guideline guard restriction requirement approval confirmation review"),
            r"\b(?:no longer (?:applies|needed|required|necessary)|(?:is|are) (?:not (?:needed|required)|obsolete"
            r"|optional|unnecessary))\b",
            40,
        ),
    ),
)

_PROCEDURE = re.compile(
    r"\b(?:follow|see|look at|refer to|apply|perform|do|execute|use|steps? (?:in"
    r"|of))\b[^.,;\n]{0,40}?((?:[\w-]+\s+){1,3}?)(?:procedures?|section|protocol|add-?on|workflow|routine|appendix)\b",
    re.IGNORECASE,
)
_FILLERS = word_set("the this our your a an same following usual each every that standard steps in of")


def check_protection(change: Change) -> Iterator[Finding]:
    """Flag orders that remove protection, and references to a procedure that the skill does not have."""
    yield from find_phrases(change, _PROTECTION_PHRASES, change.orders)
    titles = [fold_case(part.title) for part in sections(change.after.body) if part.title]
    for match in change.matches(_PROCEDURE):
        names = [word for word in fold_case(match[1]).split() if word not in _FILLERS]
        if names and not any(all(word in title for word in names) for title in titles):
            yield flag("missing-procedure", "It refers to a procedure that is not in the file", match[0])
