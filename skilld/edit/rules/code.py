"""Lint family T-13 in program code: an added snippet that starts processes, talks to the network or reads the machine.

Looks at whole added text, for a pasted snippet need not be fenced; a capability counts only where code is, told by the
signs of program text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.edit.change import Change
from skilld.edit.findings import Finding, Severity, flag
from skilld.edit.phrases import find, phrase

_CODE_SIGN = re.compile(
    r"^[ \t]*(?:[-*+>]\s+)?(?:import\s+[\w.]+|from\s+[\w.]+\s+import\b|(?:const|let|var)\s+\w+\s*=|def\s+\w+\s*\("
    r"|function\b[^\n]*\(|#include\b|using\s+\w+|package\s+\w+|while\s*\(?(?:True|true|1)\b|for\s+\w+\s+in\s+range"
    r"|[\w.]{1,100}\([^\n]*\)\s*;?$)|\b[A-Za-z_][\w.]{0,100}\(\s*[\"'\[]",
    re.MULTILINE,
)
_FLAG = Severity.FLAG
_PHRASES = (
    phrase(
        "code-runs-programs",
        _FLAG,
        "Its code starts programs or runs text as code",
        r"\bsubprocess\b|\bos\.(?:system|popen|exec\w*|spawn\w*|kill|setuid)\b|\bpty\.spawn|\bchild_process\b"
        r"|\bexecSync\b|\bspawn\(|\bRuntime\.getRuntime|\bProcess(?:Builder|\.Start)\b|\b(?:shell_exec|passthru"
        r"|proc_open|system|popen)\s*\(|\bKernel\.\w+|\bctypes\b|\bwinreg\b|\bwin32\w+",
        r"(?<![\w.])(?:eval|exec|compile|__import__)\s*\(|\bnew Function\(|\bpickle\.loads?|\bmarshal\.loads"
        r"|\byaml\.load\(",
    ),
    phrase(
        "code-talks-to-network",
        _FLAG,
        "Its code talks to the network",
        r"\bsocket\b|\brequests\.\w+|\burllib\b|\bhttpx\b|\baiohttp\b|\bhttp\.(?:client|server|cookie\w*)|\bftplib\b"
        r"|\bsmtplib\b|\btelnetlib\b|\bparamiko\b|\bscapy\b|\bnmap\b|\bdns\.\w+|\bfetch\(|\bXMLHttpRequest\b"
        r"|\bsendBeacon\b|\bWebSocket\b|\baxios\b|\bnet\.(?:connect|Dial)\b|\bHttpClient\b|\bimport\s+requests\b",
    ),
    phrase(
        "code-reads-machine",
        _FLAG,
        "Its code reads the machine, its user or its secrets",
        r"\bos\.(?:environ|getenv|uname|getlogin|listdir|walk)\b|\bprocess\.env\b|\bplatform\.\w+|\bpsutil\b"
        r"|\bgetpass\b|\bkeyring\b|\bpwd\.\w+|\buuid\.getnode|\bcookies?(?:jar)?\b|\bbrowser_cookie\w*"
        r"|\blocalStorage\b|\bpynput\b|\bkeyboard\.\w+|\bpyperclip\b|\bpyautogui\b|\bImageGrab\b|\bmss\b"
        r"|\bcv2\.VideoCapture|\bsounddevice\b|\bpyaudio\b|\bgeocoder\b|\bnavigator\.\w+|\bgetsizeof\b|\bgc\.get_\w+"
        r"|\bsqlite3\b|\bglob\.glob|/proc/\w+",
    ),
    phrase(
        "code-destroys",
        _FLAG,
        "Its code deletes, encrypts or exhausts",
        r"\bshutil\.(?:rmtree|move)|\bos\.(?:remove|unlink|rmdir|rename|chmod|fork)\b|\bunlinkSync\b|\brmSync\b"
        r"|\bfs\.(?:rm|unlink)\w*|\bFernet\b|\bCrypto\w*\b|\bcryptography\b|\bAES\b|\brandom\.\w+\([^\n]*\bwrite\b"
        r"|\bwhile\s*\(?\s*(?:True|true|1)\b|\bfor\s*\(\s*;\s*;|\brange\(\s*\d{3,}|\bThread\(|\bmultiprocessing\b"
        r"|\bopen\([^\n)]*[\"'][wa]b?[\"']|\bwriteFileSync\b",
    ),
)


def check(change: Change) -> Iterator[Finding]:
    """Flag what a snippet is able to do; prose that only names such a module passes. Flag code that stands bare."""
    code = "\n".join(change.code)
    if not code and _CODE_SIGN.search(change.text):
        code = change.text
    yield from find(change, _PHRASES, code)
    bare = _CODE_SIGN.search(change.prose)
    if bare:
        yield flag("bare-code", "It holds program code outside of a code block, among instructions", bare[0])
