"""Which parts of a turn the person typed: pastes, quotations, code and logs are someone else's words.

Text in, text of the same length out, so that places in it are places in the turn.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence

from skilld.text import fold

FILLER = "\u2423"  # stands for each character of an inline quotation, so that no cue is heard inside it

_FENCE = re.compile(r"^[ \t]*(?P<marks>`{3,}|~{3,}|:{3,}|(?:\"{3}|'{3})(?=[ \t]{0,9}$))[ \t]*(?P<info>.*)$")
_TAG = re.compile(r"<([a-z][\w:-]*+)[^<>\n]*+>|<(!--)", re.IGNORECASE)
_REPEATED = frozenset(("pasted_content",))  # Claude Code 2.1.330: the end repeats the id, which no paste can know
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)  # of the same length, as `lower` is not
_HEADING = re.compile(r"^#{1,4} \S")
_LETTER = re.compile(
    r"""^(?:(?:From|To|Cc|Subject|Sent|Date|System|Assistant|Human|User):\ \S
      | (?:==>\ [^<\n]{1,200}\ <==|={3,9}\ [^=\n]{1,200}\ ={3,9}|-{3,9}\ ?BEGIN\b[^-\n]{0,99}-{3,9})\ {0,9}$
      # A message in a chat, a comment on a change.
      | @?\w[\w.'-]{0,31}(?:\ \w[\w.'-]{0,31}){0,2}\ {1,3}\[?\d\d?:\d\d(?:\ ?[AaPp][Mm])?\]?\s*$
      | @?\w[\w.'-]{0,31}(?:\ \w[\w.'-]{0,31}){0,2}\ (?:commented|replied|requested\ changes)\b[^.?!]{0,60}$
      | (?:[Rr]eview\ )?[Cc]omment\ (?:from|by)\ [^.?!]{1,30}(?:\.\w{1,5}:\d+)?\s*$)""",
    re.VERBOSE,
)
# What opens a block of a tool or of markup, and how its lines go on: a diff, a log of commits, a directive.
_BLOCKS = (
    (re.compile(r"diff --git |@@ -\d"), re.compile(r"[ +\\@-]|diff |index |(?:new|old|deleted) |rename |similarity ")),
    (
        re.compile(r"commit [0-9a-f]{7,64}(?: \([^()\n]{1,200}\))?[ \t]{0,9}$"),
        re.compile(r"(?:Author|Commit|Merge)(?:Date)?:|Date:|    "),
    ),
    (re.compile(r"\.\. [\w-]+::|!!! \w|[\w-]{1,40}: [|>]-?$"), re.compile(r"[ \t]")),
)
_PLAIN_LINE = re.compile(r"^\s*[a-zà-ÿа-я]")
_QUOTED_LINE = re.compile(r"^[\s\u200b-\u200f\u2060\ufeff]*(?:>|＞|[│┃┆┊║▌▍▎▏▐]|\|.*\|\s*$|⏺|⎿|└|├|│)")
_LOG_LINE = re.compile(
    r"""^\s*+(?:
        \[?\d{4}-\d\d-\d\d[T ,]\d\d:\d\d | \[\d\d[:/]\d\d | \d\d:\d\d:\d\d
      | \[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b[\]: ]
      | (?:[A-Za-z_.]+)?(?:Error|Exception|Warning|Panic|panic)\b\s*[:(\[]
      | (?:error|warning|fatal)\b(?:\s*[:!\[(\t]|\ (?=[A-Z\d./]|[^.?!\n]*:)) # "error wins" is no log
      | (?:npm\ ERR!|npm\ WARN|E\d{3,}|FAIL|PASS|FAILED)\b\s*[:!\[(\t ]
      | Traceback\ \(most | Caused\ by: | File\ ".*",\ line\ \d+ | at\ \S[^\s(]*+\ ?+\(.*:\d | at\ [\w.$]+:\d+
      | (?:hint|tip|info|success|notice|deprecated|usage)\s*[:!]\s | [✓✔✗✘⚠ℹ]
      | \[?\d{1,2}:\d\d(?:\ ?[AP]M)?\]?\s
      | (?:\$|❯|➜|%|PS\ [A-Z]:.*>|[^\s@]++@[^\s:~]++[:~].*[$\#])\ \S
      | (?:@@\ |\+\+\+\ |---\ [ab/]|diff\ --git|index\ [0-9a-f]{6,})
      | [+-]\ {2,}\S
      | (?:const|let|var|function|def|class|import|from|public|private|return|export|func|package)
        (?!\s(?:now|here|us|me)\b)\s[^.?!]*[;{:)]\s*$
      | (?://|/\*|REM\b|\[//\]:) | [\w./-]+\.\w{1,5}:\d+(?::\d+)?:
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
        snippet|diff|stack\ ?trace|
        e?mail|ticket|article|post|(?:the|this|their|review|pr|following)\ (?:\w+\ )?comments?|
        console|copilot|coderabbit|chatgpt|answer(?:ed)?|
        (?:here|this)(?:'s|\ is|\ are)|from\ (?:the|my|our|an?|stack)|
        dice|dijo|salida|sagt|ausgabe|выда[её]т|пишет|вывод|dit|sortie|sa[ií]da|disse|píše|výpis|dice|wypisuje
        )\b[^.?!\n]{0,60} | (?:报错|输出|日志|提示|错误|返回|エラー|ログ|出力|에러|오류|로그)[^\n]{0,10})[:：]\s*$""",
    re.IGNORECASE | re.VERBOSE,
)
# The same within a line: "the page says: ...", "found this on the forum: ...".
_SAYS = re.compile(
    r"""\b(?:it|he|she|they|which|that|page|site|readme|docs?|documentation|file|comment|review|reviewer|article|error|log|
        output|message|answer|someone|overflow|copilot|chatgpt|gemini|claude|bot|colleague|boss|client|customer)\b
        [^.?!:\n]{0,30}\b(?:says?|said|saying|prints?|printed|wrote|writes|replie[ds]|reads|tells|told)\b
        [^.?!:\n]{0,20}[:：]\s
      | \b(?:kund\w+|chef\w*|kolleg\w+|handbuch|anleitung|doku\w*|e?-?mails?|client\w*|manual|documentaci[oó]n|correo|
        jef[ea]|manuel|courriel|manuale|documentazione|capo|documentação|klant\w*|handleiding|baas|klient\w*
        |instrukcj\w+|szef\w*|
        zákazník\w*|návod\w*|šéf\w*|клиент\w*|заказчик\w*|инструкци\w+|письм\w+|документаци\w+|начальник\w*|
        müşteri\w*|kılavuz\w*|patron\w*|artikel|art[ií]culo|article|articolo|artykuł\w*|стать\w+)\b[^.?!:\n]{0,30}
        \b(?:schreibt|schrieb|steht|sagte?|meinte?|escribe|escribió|pone|dice|dijo|écrit|dit|escreveu|escreve
        |diz|disse|escrito|
        scrive|scritto|schrijft|schreef|staat|zegt|pisze|napisał\w*|jest|píše|napsal\w*|stojí|je|пишет
        |написал\w*|написано|пишут|сказано|
        yazmış|yazıyor|yazdı|diyor)\s?[:：]\s
      | (?:[写寫]道|[写寫][着著]|回[复覆][说說]?|(?:からの|よりの)(?:メール|連絡|コメント)|
        이렇게\ (?:썼|말했|왔)[^\s:]{0,3})\s?[:：]
      | \b(?:found|saw|read|copied|pasted|quot(?:e|ed|ing)|from|per)\b[^.?!:\n]{0,40}
        \b(?:reddit|forum|overflow|twitter|hacker\ news|docs?|documentation|readme|slack|discord|blog|article
        |internet|
        google|chatgpt|copilot|gemini|e?mail|ticket|issue|review|comment|page|site|website|wiki|log|output|terminal|
        console|book|video|post|answer)\b[^.?!:\n]{0,20}[:：]\s
      | \b(?:summari[sz]e|translate|proofread|paraphrase|rephrase|shorten)\b[^.?!:\n]{0,60}[:：]\s
      | [:：]\s(?=(?:dear|hello|hi|sehr\ geehrte[rs]?|liebe[rs]?|cher|chère|chers|estimad[oa]s?|prezad[oa]s?
      |gentil[ie])
        \ [^\W\d_]+(?:\ [^\W\d_]+)?,\s)
      | \b(?:generate|write|create|put|insert|add|include)\b[^?!:\n]{0,60}\b(?:the\ following|this|these)\b
        (?:[^.?!:\n]|\.(?=\w)){0,40}\b(?:file|document|doc|page|section|readme)\b[^.?!:\n]{0,20}[:：](?:\s|$)
      | \b(?:pasted|copied|quoted|forwarded|excerpt)\b[^.?!:\n]{0,30}[:：]\s
      | \b(?:this|these|following|attached|below)\ (?:\w+\ ){0,2}?(?:resume|cv|paper|article|e?mail|document|essay|
        report|abstract|transcript|review|story|passage|letter|contract|tweet)s?
        \s?[:：]\s""",
    re.IGNORECASE | re.VERBOSE,
)
# A line that asks about, or names the source of, what stands below it.
_SHOWS = re.compile(
    r"""(?:\bwhat\ (?:do|should|shall|can|would)\ (?:i|we)\ (?:answer|tell|reply|write|say)\b
      | \b(?:does|do)\ (?:this|that|it|these|any\ of\ (?:this|it))\ (?:apply|concern|affect|matter|hold)\b
      | \b(?:is|are)\ (?:this|that|it|these)\ (?:still\ )?(?:true|right|outdated|current|correct|valid)\b
      | \b(?:do|are)\ we\ (?:already\ |still\ )?(?:follow|do|doing|meet|in\ line)
      | \b(?:from|by|in|on)\ (?:the|our|my|an?|their)\ (?:\w+\ |\w+'s\ ){0,2}?(?:supplier|vendor|client|customer
      |wiki|kb|handbook|manual
        |style\ guide|guide|slack|forum|mail|e-?mail|letter|docs?|lawyer|board|boss|colleague|news)\b
      | \b(?:slack|mail|e-?mail|message|letter|note|text|nachricht|brief|mensaje|correo|message)\ (?:from|von
      |vom|de|del|du|da)\ \w
      | \b(?:was\ (?:schreib|antwort|sag)\w*\ (?:ich|wir)|betrifft\ (?:uns|das)|gilt\ das|stimmt\ das
      |steht\ (?:so\ )?im)\b
      | \b(?:ça|cela)\ (?:nous|me)\ concerne|\bque\ (?:lui\ )?r[ée]pond|\bnos\ afecta
      |\bqu[ée]\ (?:le\ )?(?:contest|respond)
      | \bci\ riguarda|\bcosa\ (?:gli\ |le\ )?rispond|\bnos\ (?:afeta|diz\ respeito)|\bo\ que\ respond
      |\bgeldt\ dit|\bwat\ antwoord
      | касается|что\ (?:ему\ |ей\ )?ответить|\bdotyczy|\btýká|当てはま|どう返|适用|怎么回|해당)
      [^?？:：\n]{0,60}[?？:：]\s*$
      | ^[^\n]{0,40}\b(?:translate|proofread|summari[sz]e|übersetz\w*|tradu\w+|traduci\w*|vertaal|przetłumacz
      |переведи)\b[^\n]{0,60}$""",
    re.IGNORECASE | re.VERBOSE,
)
_TAKES_UP = re.compile(
    r"^\s*(?:please\s+)?(?:address|fix|consider|implement|execute|resolve|look\s+at|check|review|handle)\b"
    r"[^.?!\n]{0,60}[:：](?:\s|$)",
    re.IGNORECASE,
)
_OWN_LIST = re.compile(
    # A folder's name is none of them: "in .specify/memory/constitution.md".
    r"(?<![/\w.-])(?:rules?|skills?|preferences?|guidelines?|conventions?|remember|memory|instructions?|reglas?|regras?|"
    r"règles?|regeln?|правила?)\b(?!/)|规则|規則|ルール|규칙|"
    r"\b(?:claude|agents|gemini|qwen|skill|copilot-instructions|conventions|contributing|memory)\.md\b|\.mdc\b",
    re.IGNORECASE,
)
_OPENS = re.compile(r"[`\"“‘«‹„「『]|(?<!\w)'")
_CLOSES = {'"': '"', "“": "”", "„": "“"}  # of a quotation that begins a line and goes over several
# What closes a quotation by what opens it, and the fewest characters between them.
_QUOTATIONS = {
    mark: (re.compile(closes), least)
    for mark, closes, least in (
        ("`", "[`\n]", 30), ('"', '["\n]', 2), ("'", "'", 3), ("“", "[”\n]", 2), ("‘", "[’\n]", 2),
        ("«", "[»\n]", 2), ("‹", "[›\n]", 2),
        ("„", "[“”\n]", 2), ("「", "[」\n]", 2), ("『", "[』\n]", 2),
    )
}  # fmt: skip
_BULLET = re.compile(r"^[ \t]*(?:[-*+•◦▪●]|\d+[.)]|#+)[ \t]+", re.MULTILINE)
_MARKS = re.compile(r"[*_`]")
_WORD = re.compile(r"[^\W\d_]{2,}")
_SPACE = re.compile(r"\s")
_LETTER_OR_DIGIT = re.compile(r"\w")
_COPIED = 30  # characters from which a stretch is no accident
_MAX_COMPARED = 300  # lines of a turn that are looked for in the agent's messages: who typed more of them pasted them


def own_words(text: str, agent_texts: Sequence[str] = ()) -> str:
    """Return `text` with every character that the person did not type replaced by a newline; the length stays.

    `agent_texts` are the agent's messages before: a line copied from one of them is a quotation too. A line below a
    line of a log goes with it unless it begins in lower case, as people type and programs do not.
    """
    theirs: list[str] = []  # folded for the first line that may be one of them: most turns have none
    kept: list[str] = []
    compared = 0
    pasted = logged = False
    fences: list[str] = []
    lines = _without_tagged(text).split("\n")
    ends = {close: max((i for i, line in enumerate(lines) if close in line), default=-1) for close in _CLOSES.values()}
    quoted = ""  # what closes a quotation of several lines
    block: re.Pattern[str] | None = None
    for number, line in enumerate(lines):
        if not line:
            logged = False
            kept.append(line)
            continue
        fence = _FENCE.match(line)
        fenced = bool(fences)
        pasted = pasted or bool(_HEADING.match(line) or _LETTER.match(line))
        opened = next((goes_on for begins, goes_on in _BLOCKS if begins.match(line)), None)
        block = opened or (block if block and block.match(line) else None)
        logged = _is_foreign(line) or (logged and bool(line.strip()) and not _PLAIN_LINE.match(line))
        mark = line.lstrip()[:1]
        opens = (
            not quoted and mark in _CLOSES and _CLOSES[mark] not in line.lstrip()[1:] and ends[_CLOSES[mark]] > number
        )
        quoted = _CLOSES[mark] if opens else quoted
        foreign = pasted or fenced or fence is not None or logged or bool(quoted or block)
        if quoted and not opens and quoted in line:
            quoted = ""
        if agent_texts and not foreign and len(line) >= _COPIED and len(plain := as_shown(line)) >= _COPIED:
            theirs = theirs or [as_shown(agent) for agent in agent_texts]
            compared += 1
            foreign = compared > _MAX_COMPARED or any(plain in agent for agent in theirs)
        own = 0 if foreign else len(line)
        if not (foreign or _OWN_LIST.search(line)):
            own, pasted = _end_of_own(line)
        if fence is not None:
            _enter(fences, fence["marks"], fence["info"])
        kept.append(line[:own] + "\n" * (len(line) - own))
    return "\n".join(kept)


def without_quotations(text: str, *, least: int = 0) -> str:
    """Return `text` with inline quotations and long code spans filled, same length: nothing in them is a cue.

    A short code span is a name that the person typed ("use `uv run`"). With `least`, so is a quotation of fewer words.
    """
    out: list[str] = []
    done = 0
    for begin, end in _quotations(text):
        if len(_WORD.findall(text, begin, end)) >= least:
            out += [text[done:begin], FILLER * (end - begin)]
            done = end
    return "".join([*out, text[done:]])


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of inline quotations. Linear: what is not closed in its line is looked for once there."""
    at = 0
    unclosed: dict[str, int] = {}  # by the mark, the end of the line in which nothing closes it
    while opening := _OPENS.search(text, at):
        at = opening.end()
        mark = opening[0]
        if at <= unclosed.get(mark, -1):
            continue
        closes, least = _QUOTATIONS[mark]
        closing = closes.search(text, at)
        if closing is None or closing[0] == "\n":
            unclosed[mark] = len(text) if closing is None else closing.start()
            continue
        inside = text[at : closing.start()]
        if len(inside) < least or (mark == "'" and not _is_phrase(inside, text[closing.end() : closing.end() + 1])):
            continue
        yield opening.start(), closing.end()
        at = closing.end()


def _is_phrase(inside: str, after: str) -> bool:
    """Whether apostrophes enclose more than one word, over a line's end at most once, and close no word's own."""
    breaks = inside.count("\n")
    space = _SPACE.search(inside, 2) if breaks == 0 else breaks == 1 and inside.find("\n") >= 2  # noqa: PLR2004
    return bool(space) and not _LETTER_OR_DIGIT.match(after)


def as_shown(text: str) -> str:
    """Return Markdown as a terminal may show it, on one line: it is copied from there without the marks."""
    return fold(_MARKS.sub("", _BULLET.sub("", text)))


def tagged(text: str) -> str:
    """Return what of `text` is between a tag and its end, each stretch with its tags on lines of its own."""
    return "\n".join(text[begin:end] for begin, end in _tagged(text))


def _without_tagged(text: str) -> str:
    """Return `text` with newlines for what is between a tag and its end."""
    out: list[str] = []
    done = 0
    for begin, end in _tagged(text):
        out += [text[done:begin], "\n" * (end - begin)]
        done = end
    return "".join([*out, text[done:]])


def _tagged(text: str) -> Iterator[tuple[int, int]]:
    """Yield where tags begin and their ends are over. Linear, whatever the text."""
    done = 0
    endless: set[str] = set()
    lowered = text.translate(_LOWER)
    for tag in _TAG.finditer(text):
        name = (tag[1] or tag[2]).translate(_LOWER)
        if tag.start() < done or name in endless:
            continue
        closing = "-->" if tag[2] else f"</{name}>"
        if name in _REPEATED:
            closing = f"</{tag[0][1:]}".translate(_LOWER)
        end = lowered.find(closing, tag.end())
        if end < 0:
            endless.add(name)
            continue
        done = end + len(closing)
        yield tag.start(), done


def _enter(fences: list[str], marks: str, info: str) -> None:
    """Take a line of a fence to those that are open: it closes the last one, opens one, or is its text.

    As CommonMark has it (0.31, 4.5), but for a block in a block between fences of one length, which people paste.
    """
    if not fences or (info and marks[0] == fences[-1][0]):
        fences += [] if marks[0] == "`" and "`" in info else [marks]
    elif not info and marks.startswith(fences[-1]):
        fences.pop()


def _end_of_own(line: str) -> tuple[int, bool]:
    """Return where in `line` somebody else's words begin, its length if nowhere, and whether the next lines are."""
    taken_up = _TAKES_UP.match(line)
    if taken_up and len(line) - taken_up.end() >= _COPIED:
        return taken_up.end(), True
    says = _SAYS.search(line)
    if says:
        return says.end(), True
    return len(line), bool(_ANNOUNCES.search(line) or _SHOWS.search(line) or taken_up)


def _is_foreign(line: str) -> bool:
    return bool(_QUOTED_LINE.match(line) or _LOG_LINE.match(line))
