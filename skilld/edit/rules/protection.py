"""Lint family T-13, orders in words that take protection away: checks, access, safe practice, rules.

English. They only ever flag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.edit.change import Change
from skilld.edit.findings import SET_ASIDE, Finding, Severity, find, flag, near, nouns, phrase, verbs
from skilld.markdown.structure import sections
from skilld.text import folded

_FLAG = Severity.FLAG
_SKIP = verbs("disable skip bypass remove omit ignore suppress relax loosen weaken drop avoid deactivate") + (
    r"|\b(?:turn(?:s|ing)? off|comment(?:s|ing)? out|no need (?:for|to)|without|instead of|do(?: no"
    r"|n['’])t (?:need to |have to )?(?:do|run|use|check|validate|verify|test|review|escape|sanitize|hash|encrypt|log"
    r"|back up|ask for))\b"
)
_CHECKS = nouns(
    "test check validation verification sanitization sanitisation escaping authentication authorization auth CSRF"
    " CORS firewall lint(?:er|ing)? hook review approval audit logging monitoring alert warning backup sandbox"
    " encryption signature rate_limit rate_limiting security guard safety assertion type_check scanner antivirus"
    " gitignore input output confirmation two-?factor 2FA MFA paywall captcha"
)

_PHRASES = (
    phrase(
        "fixes-outcome",
        _FLAG,
        "It fixes the outcome of a check or a judgement",
        near(
            verbs("return give assign report set mark rate score"),
            r"\b(?:high|highest|perfect|maximum|top|low|lowest|passing|100%|full)\b\s+"
            + nouns("score rating mark ranking grade point"),
            40,
        ),
        r"\b(?:always|automatically)\s+(?:approve|accept|pass|succeed|merge|allow|trust|grant)\b|\bdo not proceed\b",
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
        _FLAG,
        "It creates access or writes down a password",
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
        _FLAG,
        "It asks for a practice that is known to be unsafe",
        near(
            r"\b(?:string concatenation|concatenat\w+|interpolat\w+|f-strings?)\b", r"\b(?:SQL|quer\w+|commands?)\b", 40
        ),
        near(
            r"\b(?:plain ?text|clear ?text|unencrypted|unhashed)\b",
            nouns("password credential secret token traffic connection key"),
            40,
        ),
        near(nouns("password credential secret token key"), r"\b(?:in |as )(?:plain|clear) ?text\b"),
        near(f"(?:{_SKIP})", _CHECKS, 50),
        near(
            r"\b(?:not to|to not|never|do not|don['’]?t|no need to)\s+"
            + verbs("write add include create run perform do use require"),
            nouns(
                "test check validation verification authentication authorization encryption sandbox audit review"
                " escaping SQL_injection security"
            ),
            40,
        ),
        near(
            verbs("allow accept permit trust"),
            r"\b(?:all|any|every|untrusted|unsigned|anonymous)\b[^.\n]{0,30}"
            + nouns("origin host input user certificate request connection command source"),
            30,
        ),
        near(r"\b(?:MD5|SHA-?1|DES|ECB|RC4)\b", r"\b(?:passwords?|hash\w*|encrypt\w*)\b", 30),
        near(verbs("hardcode hard-code commit log store print"), nouns("password key token secret credential"), 40),
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
        r"|\buse HTTP\b(?!S)|\bHTTP instead\b",
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
        _FLAG,
        "It takes a rule out of force",
        near(
            SET_ASIDE + "|" + verbs("remove delete drop skip strike"),
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
    r"|of))\b[^.\n]{0,40}?((?:[\w-]+\s+){1,3}?)(?:procedures?|section|protocol|add-?on|workflow|routine|appendix)\b",
    re.IGNORECASE,
)
_FILLERS = frozenset(
    re.findall(r"\w+", "the this our your a an same following usual each every that standard steps in of")
)


def check(change: Change) -> Iterator[Finding]:
    """Flag what sets protection aside, and references to a procedure that the skill does not have."""
    yield from find(change, _PHRASES, change.text)
    titles = [folded(part.title) for part in sections(change.after.body) if part.title]
    for match in change.matches(_PROCEDURE):
        names = [word for word in folded(match[1]).split() if word not in _FILLERS]
        if names and not any(all(word in title for word in names) for title in titles):
            yield flag("missing-procedure", "It refers to a procedure that the skill does not have", match[0])
