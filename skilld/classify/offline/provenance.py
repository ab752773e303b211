"""What of a turn the person typed: pastes, quotations, code and logs are somebody else's words.

Text in, text of the same length out, so that places in it are places in the turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from skilld.text import fold

FILLER = "\u2423"  # stands for each character of an inline quotation, so that no cue is heard inside it

_FENCE = re.compile(r"^[ \t]*(```|~~~)")
_TAG = re.compile(r"<([a-z][\w-]*)[^<>\n]*>.*?</\1>", re.DOTALL | re.IGNORECASE)
_HEADING = re.compile(r"^#{1,4} \S")
_QUOTED_LINE = re.compile(r"^\s*(?:>|\|.*\|\s*$|⏺|⎿|└|├|│)")
_LOG_LINE = re.compile(
    r"""^\s*(?:
        \[?\d{4}-\d\d-\d\d[T ,]\d\d:\d\d | \[\d\d[:/]\d\d | \d\d:\d\d:\d\d
      | \[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b[\]: ]
      | (?:[A-Za-z_.]+)?(?:Error|Exception|Warning|Panic|panic)\b\s*[:(\[]
      | (?:error|warning|fatal|npm\ ERR!|npm\ WARN|E\d{3,}|FAIL|PASS|FAILED)\b\s*[:!\[(\t ]
      | Traceback\ \(most | Caused\ by: | File\ ".*",\ line\ \d+ | at\ \S+\ ?\(.*:\d+ | at\ [\w.$]+:\d+
      | (?:\$|❯|➜|%|PS\ [A-Z]:.*>|\S+@\S+[:~].*[$\#])\ \S
      | (?:@@\ |\+\+\+\ |---\ [ab/]|diff\ --git|index\ [0-9a-f]{6,})
      | [+-]\ {2,}\S
      | (?:const|let|var|function|def|class|import|from|public|private|return|export|func|package)\s[^.?!]*[;{:)]\s*$
      | [\]\[{}();,]+\s*$ | "[^"]+"\s*:\s
      | .*[;{}]\s*$
    )""",
    re.VERBOSE,
)
# A line that announces somebody else's words: what follows it, to the end, is not the person's.
_ANNOUNCES = re.compile(
    r"""(?:\b(?:
        prints?|printed|outputs?|logs?|logged|says|said|saying|got|getting|errors?|respond(?:s|ed)|replie[ds]|reply|
        wrote|writes|returns|returned|reviewer|feedback|suggest(?:s|ed|ions?)|observations?|findings?|transcript|
        snippet|diff|stack\ ?trace|console|copilot|coderabbit|chatgpt|answer(?:ed)?|
        (?:here|this)(?:'s|\ is|\ are)|from\ (?:the|my|our|an?|stack)|
        dice|dijo|salida|sagt|ausgabe|выда[её]т|пишет|вывод|dit|sortie|sa[ií]da|disse|píše|výpis|dice|wypisuje
        )\b[^.?!\n]{0,60} | (?:报错|输出|日志|提示|错误|返回|エラー|ログ|出力|에러|오류|로그)[^\n]{0,10})[:：]\s*$""",
    re.IGNORECASE | re.VERBOSE,
)
_TAKES_UP = re.compile(
    r"^\s*(?:please\s+)?(?:address|fix|consider|implement|execute|resolve|look\s+at|check|review|handle)\b"
    r"[^.?!\n]{0,60}[:：](?:\s|$)",
    re.IGNORECASE,
)
_OWN_LIST = re.compile(
    r"\b(?:rules?|skills?|preferences?|guidelines?|conventions?|remember|memory|instructions?|reglas?|regras?|règles?|"
    r"regeln?|правила?)\b|规则|規則|ルール|규칙|\b[A-Z]+\.md\b|\.mdc\b",
    re.IGNORECASE,
)
_INLINE = re.compile(
    r"""`[^`\n]{30,}` | "[^"\n]{2,}" | “[^”\n]{2,}” | «[^»\n]{2,}» | „[^“”\n]{2,}[“”] | 「[^」\n]{2,}」 | 『[^』\n]{2,}』
      | (?<![\w])'[^'\n]{2,}?\s[^'\n]*?'(?![\w])""",
    re.VERBOSE,
)
_LONG_DOCUMENT = 600
_AGENT_LINE = 30


def own_words(text: str, agent_texts: Iterable[str] = ()) -> str:
    """Return `text` with every character that the person did not type replaced by a newline; the length stays.

    `agent_texts` are the agent's messages before: a line copied from one of them is a quotation too.
    """
    tagged = _TAG.sub(lambda m: "\n" * len(m.group()), text)
    theirs = [fold(agent) for agent in agent_texts]
    kept: list[str] = []
    fenced = pasted = False
    document = len(text) > _LONG_DOCUMENT
    for line in tagged.split("\n"):
        fence = bool(_FENCE.match(line))
        foreign = pasted or fenced or fence or _is_foreign(line)
        if fence:
            fenced = not fenced
        if not foreign and len(fold(line)) >= _AGENT_LINE and any(fold(line) in agent for agent in theirs):
            foreign = True
        if document and _HEADING.match(line):
            foreign = pasted = True
        kept.append("\n" * len(line) if foreign else line)
        if not fenced and not _OWN_LIST.search(line):
            taken_up = bool(_TAKES_UP.match(line))
            pasted = pasted or taken_up or bool(_ANNOUNCES.search(line))
            if taken_up:
                kept[-1] = "\n" * len(line)
    return "\n".join(kept)


def without_quotations(text: str) -> str:
    """Return `text` with inline quotations and long code spans filled, same length: nothing in them is a cue.

    A short code span is a name that the person typed ("use `uv run`").
    """
    return _INLINE.sub(lambda m: FILLER * len(m.group()), text)


def _is_foreign(line: str) -> bool:
    return bool(_QUOTED_LINE.match(line) or _LOG_LINE.match(line))
