"""Lint family T-13, machine-readable: commands, options, settings and code that give control away."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.edit.change import Change, Finding, find_phrases, flag, phrase, refuse
from skilld.edit.tokens import is_forbidden

_FETCH = r"\b(?:curl|wget|iwr|irm|Invoke-WebRequest|Invoke-RestMethod|fetch|aria2c|http)\b"
_SHELL = r"(?:sudo\s+(?:-\S+\s+)*)?(?:/(?:usr/)?bin/)?(?:env\s+)?(?:ba|z|da|k|fi)?sh\b"
_INTERPRETER = (
    r"(?:sudo\s+)?(?:python[\d.]*|perl|ruby|node|deno|bun|php|pwsh|powershell|iex|Invoke-Expression|source|eval)\b"
)
_RUNNER = rf"(?:{_SHELL}|{_INTERPRETER})"

_PHRASES = (
    phrase(
        "remote-code",
        "It runs downloaded or decoded code that nobody has reviewed",
        rf"{_FETCH}[^\n|]{{0,300}}\|\s*(?:[\w./-]+\s+[^|\n]{{0,60}}\|\s*)?(?:&\s*)?{_RUNNER}",
        rf"{_RUNNER}\s+(?:-\w+\s+)*[\"']?(?:<\(|\$\(|`)\s*{_FETCH}",
        rf"{_RUNNER}\s+<\s*<\(\s*{_FETCH}",
        rf"{_FETCH}[^\n]{{0,200}}(?:&&|;)\s*(?:chmod\s[^\n;&]{{0,60}}(?:&&|;)\s*)?(?:{_RUNNER}\s+|\./)\S+",
        r"\b(?:base64\s+(?:-d|-D|--decode)|xxd\s+-r|openssl\s+(?:enc|base64)\s[^|\n]{0,60}-d)[^\n"
        r"|]{0,60}\|\s*" + _RUNNER,
        r"\b(?:exec|eval|iex)\s*\(?[^\n]{0,40}(?:urlopen|requests\.get|urlretrieve|b64decode|atob\(|DownloadString"
        r"|fromhex)",
        r"\b(?:pip3?|pipx|uv(?:x| pip)?|npm|npx|pnpm|yarn|gem|cargo|go)\s+(?:-\S+\s+)*(?:install|i|add|exec|run"
        r"|get)?\s*(?:-\S+\s+)*(?:git\+)?https?://",
        refuses=True,
    ),
    phrase(
        "permission-widening",
        "It gives an agent more permissions",
        r"--(?:dangerously|allow-dangerously)[-\w]+|--yolo\b|--full-auto\b|--allow-all(?:-tools|-paths)?\b"
        r"|--trust-all-tools\b",
        r"\bbypass_?Permissions\b|\bdanger-full-access\b|\bskipDangerousMode\w*|\bskip-permissions\b",
        r"\b(?:defaultMode|permission[-_]?mode|approval[-_]policy|sandbox[-_]mode|auto[-_]?(?:apply|accept"
        r"|approve))[\"'`]?\s*(?:[:=]|to\b)\s*[\"'`]?(?:never|accept\w*|bypass\w*|danger\w*|true|on|all|yes|1"
        r"|auto)\b",
        r"\b(?:Bash|Read|Write|Edit|WebFetch|mcp__\w+)\(\s*\*+\s*\)|\ballowed-tools\s*[:=]|\"allow\"\s*:\s*\[",
        r"\bNOPASSWD\b|\bcore\.hooksPath\b",
        refuses=True,
    ),
    phrase(
        "tls-off",
        "It turns off certificate or host key checks",
        r"\bcurl\b[^\n|;]{0,80}\s(?:-\w*k\b|--insecure)|--insecure\b|--no-check-certificate\b|--trusted-host\b",
        r"\bverify\s*=\s*False\b|\bInsecureSkipVerify\b|\bNODE_TLS_REJECT_UNAUTHORIZED\b|\brejectUnauthorized\b",
        r"\bsslVerify\s*[= ]\s*[\"']?false|\bGIT_SSL_NO_VERIFY\b|\bstrict-ssl\b|StrictHostKeyChecking[= ]no"
        r"|_create_unverified_context",
        r"\b(?:disable|skip|turn off|ignore|bypass|without)\s+(?:\w+\s+){0,2}(?:SSL|TLS|certificate|cert|host.key)s?\b",
    ),
    phrase(
        "guard-skipped",
        "It skips hooks, checks or signatures",
        r"--no-verify\b|--no-gpg-sign\b|--skip-(?:checks?|tests?|hooks?|validation)\b|\bHUSKY=0\b|\bSKIP=\w+"
        r"|\[skip ci\]|--no-audit\b|--ignore-scripts=false|--legacy-peer-deps|--break-system-packages\b"
        r"|\bcommit\s+-n\b",
    ),
    phrase(
        "shell-substitution",
        "It contains text that a shell would run",
        r"(?<!`)\$\([^)\n]+\)(?!`)",
    ),
    phrase(
        "script-host",
        "It contains text that a shell or script host would run",
        r"\$\{IFS\}|\bdo shell script\b|\bosascript\b|<%=?[^%\n]+%>",
    ),
    phrase(
        "history-loss",
        "It can discard commits or uncommitted work",
        r"\bpush\b[^\n;|,`]{0,60}\s(?:--force\b(?!-with-lease)|-f\b|\+\w)|\bforce[- ]?push\w*|\breset\s+--hard\b"
        r"|\bclean\s+-\w*[fdx]|\bcheckout\s+(?:--\s+)?\.|\bbranch\s+-D\b|\bfilter-(?:branch|repo)\b|\bstash\s+(?:drop"
        r"|clear)\b|\breflog\s+expire\b",
    ),
    phrase(
        "destructive-command",
        "It runs a command that destroys data",
        r"\brm\s+(?:-\w+\s+)*-\w*[rf]|\brmdir\b|\bRemove-Item\b|\bdel\s+/\w|\bshred\b|\bmkfs\b|\bwipefs\b|\bdd\s+if="
        r"|\bof=/dev/",
        r"\b(?:DROP|TRUNCATE)\s+(?:TABLE|DATABASE|SCHEMA)\b|\bDELETE\s+FROM\b|\bFLUSH(?:ALL|DB)\b",
        r"\b(?:kubectl|helm|docker|podman)\s[^\n`]{0,40}\b(?:delete|prune|uninstall|rm)\b|\bterraform\s+destroy\b"
        r"|--(?:delete|purge)\b",
        r"\b(?:shutdown|reboot|halt|poweroff)\s+(?:-|now)|:\(\)\s*\{|\bkill\s+-9\s+-1|\bkillall\b"
        r"|\bipconfig\s*[\"',]*\s*/release|\b(?:ifconfig|ip link set)\b[^\n]{0,40}\bdown\b|\biptables\s+-F\b",
    ),
    phrase(
        "package-source",
        "It changes where packages are downloaded from",
        r"--(?:extra-)?index-url\b|\b(?:pip|npm|yarn|pnpm)\s+config\s+set\b|--registry\b|\bregistry\s*=|\bGOPROXY\b"
        r"|\bGONOSUMCHECK\b|\bPIP_INDEX_URL\b|\bapt-key\s+add\b|\badd-apt-repository\b|\bbrew\s+tap\b"
        r"|--allow-unauthenticated\b",
    ),
    phrase(
        "credential-read",
        "It reads credentials",
        r"~?/?\.ssh/\S*|\bid_(?:rsa|ed25519|ecdsa)\b|~?/?\.aws/\S*|\.netrc\b|\.pgpass\b|\.kube/config\b"
        r"|\.docker/config\.json|\.git-credentials\b",
        r"/etc/(?:passwd|shadow|sudoers)\b|\bgh\s+auth\s+token\b|\bprintenv\b|\bsecurity\s+find-\w+-password\b"
        r"|\bkeychain\b|\bLogin Data\b",
        r"\b(?:cat|read|print|echo|send|post|upload|paste|include|copy|dump|export|log|show"
        r"|grep)\b[^.\n]{0,60}(?:\.env\b|\bcredentials?\b|\bAPI[ _-]?keys?\b|\b(?:access|auth|secret|AWS|private"
        r"|SSH)[ _-]?(?:keys?|tokens?)\b|\bsecrets?\b|\bpasswords?\b|\bcookies?\b|\benvironment variables?\b)",
    ),
    phrase(
        "persistence",
        "It changes what runs automatically, or who has access",
        r"\bauthorized_keys\b|\bcrontab\b|/etc/cron\S*|\.(?:bash|zsh)rc\b|\.(?:bash_|z)?profile\b"
        r"|\blaunchctl\s+(?:load|bootstrap)|\bLaunchAgents\b|\bsystemctl\s+enable\b|\buseradd\b|\bsudoers\b"
        r"|\bchmod\s+(?:-R\s+)?(?:0?777|a\+rwx|u\+s)|\bsetuid\b|\bnohup\b|\bschtasks\b|\bdisown\b",
    ),
    phrase(
        "network-tunnel",
        "It opens a network tunnel or a listening port",
        r"\bssh\s+[^\n]{0,40}-[LRD]\s?\S|\bngrok\b|\bcloudflared\s+tunnel\b|\bnc\s+-\w*[le]|\bsocat\b"
        r"|\bbind\s+0\.0\.0\.0\b|\b0\.0\.0\.0:\d+|/dev/tcp/|\breverse shell\b",
    ),
)
_OWN_SETTINGS = re.compile(
    r"\bskilld\b[^.\n]{0,60}\b(?:auto\w*|accept|approve|apply)\b|\bskilld(?:/config)?\.toml\b"
    r"|\bauto_?apply\b[^.\n]{0,20}\b(?:true|on|1|yes)\b",
    re.IGNORECASE,
)


def check_commands(change: Change) -> Iterator[Finding]:
    """Find dangerous commands and settings in all added text, code included."""
    yield from find_phrases(change, _PHRASES, change.text)
    for match in change.matches(_OWN_SETTINGS):
        make = flag if is_forbidden(change.text, match.start()) else refuse
        yield make("own-settings", "It makes an agent run skilld or change skilld's settings", match[0])


# Lint family T-13 in program code: an added snippet that starts processes, uses the network or reads the machine. The
# whole added text is searched, since a pasted snippet need not be fenced; a capability counts only if the text looks
# like code.

_CODE_SIGN = re.compile(
    r"^[ \t]*(?:[-*+>]\s+)?(?:import\s+[\w.]+|from\s+[\w.]+\s+import\b|(?:const|let|var)\s+\w+\s*=|def\s+\w+\s*\("
    r"|function\b[^\n]*\(|#include\b|using\s+\w+|package\s+\w+|while\s*+\(?(?:True|true|1)\b|for\s+\w+\s+in\s+range"
    r"|[\w.]{1,100}\([^\n]*\)\s*;?$)|\b[A-Za-z_][\w.]{0,100}\(\s*[\"'\[]",
    re.MULTILINE,
)
_CODE_PHRASES = (
    phrase(
        "code-runs-programs",
        "Its code starts programs or runs text as code",
        r"\bsubprocess\b|\bos\.(?:system|popen|exec\w*|spawn\w*|kill|setuid)\b|\bpty\.spawn|\bchild_process\b"
        r"|\bexecSync\b|\bspawn\(|\bRuntime\.getRuntime|\bProcess(?:Builder|\.Start)\b|\b(?:shell_exec|passthru"
        r"|proc_open|system|popen)\s*\(|\bKernel\.\w+|\bctypes\b|\bwinreg\b|\bwin32\w+",
        r"(?<![\w.])(?:eval|exec|compile|__import__)\s*\(|\bnew Function\(|\bpickle\.loads?|\bmarshal\.loads"
        r"|\byaml\.load\(",
    ),
    phrase(
        "code-talks-to-network",
        "Its code accesses the network",
        r"\bsocket\b|\brequests\.\w+|\burllib\b|\bhttpx\b|\baiohttp\b|\bhttp\.(?:client|server|cookie\w*)|\bftplib\b"
        r"|\bsmtplib\b|\btelnetlib\b|\bparamiko\b|\bscapy\b|\bnmap\b|\bdns\.\w+|\bfetch\(|\bXMLHttpRequest\b"
        r"|\bsendBeacon\b|\bWebSocket\b|\baxios\b|\bnet\.(?:connect|Dial)\b|\bHttpClient\b|\bimport\s+requests\b",
    ),
    phrase(
        "code-reads-machine",
        "Its code reads secrets or information about the machine or its user",
        r"\bos\.(?:environ|getenv|uname|getlogin|listdir|walk)\b|\bprocess\.env\b|\bplatform\.\w+|\bpsutil\b"
        r"|\bgetpass\b|\bkeyring\b|\bpwd\.\w+|\buuid\.getnode|\bcookies?(?:jar)?\b|\bbrowser_cookie\w*"
        r"|\blocalStorage\b|\bpynput\b|\bkeyboard\.\w+|\bpyperclip\b|\bpyautogui\b|\bImageGrab\b|\bmss\b"
        r"|\bcv2\.VideoCapture|\bsounddevice\b|\bpyaudio\b|\bgeocoder\b|\bnavigator\.\w+|\bgetsizeof\b|\bgc\.get_\w+"
        r"|\bsqlite3\b|\bglob\.glob|/proc/\w+",
    ),
    phrase(
        "code-destroys",
        "Its code deletes or encrypts data, or exhausts system resources",
        r"\bshutil\.(?:rmtree|move)|\bos\.(?:remove|unlink|rmdir|rename|chmod|fork)\b|\bunlinkSync\b|\brmSync\b"
        r"|\bfs\.(?:rm|unlink)\w*|\bFernet\b|\bCrypto\w*\b|\bcryptography\b|\bAES\b|\brandom\.\w+\([^\n]*\bwrite\b"
        r"|\bwhile\s*+(?:\(\s*+)?(?:True|true|1)\b|\bfor\s*\(\s*;\s*;|\brange\(\s*\d{3,}|\bThread\(|\bmultiprocessing\b"
        r"|\bopen\([^\n)]*[\"'][wa]b?[\"']|\bwriteFileSync\b",
    ),
)


def check_code(change: Change) -> Iterator[Finding]:
    """Flag the capabilities of a snippet; prose that only names such a module passes. Flag code outside code blocks."""
    code = "\n".join(change.code)
    if not code and _CODE_SIGN.search(change.text):
        code = change.text
    yield from find_phrases(change, _CODE_PHRASES, code)
    bare = _CODE_SIGN.search(change.prose)
    if bare:
        yield flag("bare-code", "It adds code outside a code block", bare[0])
