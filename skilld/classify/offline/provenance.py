"""Finds the parts of a turn that the person typed: pastes, quotations, code and logs are someone else's words.

The result has the length of the turn, so that positions stay the same.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from skilld.classify.caseless import caseless
from skilld.classify.offline.reported import announced_quotation, names_text
from skilld.text import fold

FILLER = "\u2423"  # replaces each character of an inline quotation, so that no cue is found inside it

_FENCE = re.compile(r"^[ \t]*(?P<marks>`{3,}|~{3,}|:{3,}|(?:\"{3}|'{3})(?=[ \t]{0,9}$))[ \t]*(?P<info>.*)$")
_TAG = re.compile(r"<([a-z][\w:-]*+)[^<>\n]*+>|<(!--)", re.IGNORECASE)
_TAGS_WITH_ID = frozenset(("pasted_content",))  # Claude Code 2.1.330: the end tag repeats an id that no paste can know
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)  # of the same length, as `lower` is not
_HEADING = re.compile(r"^#{1,4} \S")
_MESSAGE_HEADER = re.compile(
    r"""^(?:(?:From|To|Cc|Subject|Sent|Date|System|Assistant|Human|User|RE|Fwd|FW|WG|AW):\ \S
      | (?:==>\ [^<\n]{1,200}\ <==|={3,9}\ [^=\n]{1,200}\ ={3,9}|-{3,9}\ ?BEGIN\b[^-\n]{0,99}-{3,9})\ {0,9}$
      # A message in a chat, a comment on a change.
      | <?@?\w[\w.-]{0,31}>\ \S | .{1,60}\ ·\ ?\d{1,3}\ ?(?:s|min|m|h|d|w|mo|y)\b.{0,20}$
      | (?:.{1,40}\ )?\d{1,2}\ (?:minute|hour|day|week|month|year)s?\ ago\s*$
      | .{1,40}\ left\ (?:a|some)\ (?:comment|review|note)s?\b.{0,30}$
      | @?\w[\w.'-]{0,31}(?:\ \w[\w.'-]{0,31}){0,2}\ {1,3}\[?\d\d?:\d\d(?:\ ?[AaPp][Mm])?\]?\s*$
      | @?\w[\w.'-]{0,31}(?:\ \w[\w.'-]{0,31}){0,2}\ (?:commented|replied|requested\ changes)\b[^.?!]{0,60}$
      | @\w[\w-]{0,31}:\ \S | Q:\ \S | \[/?INST\] | <<SYS>> | <\|\w{1,20}\|>
      | (?:[Rr]eview\ )?[Cc]omment\ (?:from|by)\ [^.?!]{1,30}(?:\.\w{1,5}:\d+)?\s*$)""",
    re.VERBOSE,
)
# The first and the further lines of a block of a tool or of markup: a diff, a log of commits, a directive.
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
      | Error\ in\ [^\s:]{1,80}\s?:\s # R
      | (?:error|warning|fatal)\b(?:\s*[:!\[(\t]|\ (?=[A-Z\d./]|[^.?!\n]*:)) # "error wins" is no log
      | (?:npm\ ERR!|npm\ WARN|E\d{3,}|FAIL|PASS|FAILED)\b\s*[:!\[(\t ]
      | Traceback\ \(most | Caused\ by: | File\ ".*",\ line\ \d+ | at\ \S[^\s(]*+\ ?+\(.*:\d | at\ [\w.$]+:\d+
      | (?:hint|tip|info|success|notice|deprecated|usage)\s*[:!]\s | [✓✔✖✗✘×⚠ℹ]
      # Linters: "14:9  error  ...", "a.ts(3,5): ...", "README.md:3 MD013 ...", "^-- SC2086: ...", "::warning file=...".
      | \d{1,6}:\d{1,6}\s{1,9}(?:[✖✗✘×⚠ℹ]|(?:error|warning|warn|info|hint|style)\b)
      | [\w./@-]{1,200}\(\d{1,6}(?:,\d{1,6})?\):\s | [\w./@-]{1,200}(?::\d{1,6}){1,2}\s{1,9}[A-Z]{1,9}-?\d{2,6}\b
      | \^[-~^]{1,99}\s | ::(?:error|warning|notice|debug|group)\b
      | [CEFIRW]:\s?\d{1,6},\s?\d{1,6}: | \d{1,6}\ (?:errors?|warnings?|problems?)\b\s?[:(] | \d{1,6}\s{3,9}\S
      | \[(?:eslint|stylelint|ruff|mypy|tsc|vite|webpack|jest|vitest|pytest|prettier|rubocop|clippy)\b[^\]]{0,40}\]
      # A chat or a log, but not "03:10 is too late for that".
      | \[?\d{1,2}:\d\d(?:\ ?[AP]M\]?|\])\s | \d{1,2}:\d\d\s(?=[A-Z]{3,9}\b|[^.?!\n]{0,40}[:<>\[\]])
      | (?:echo|printf)\ \S | (?:--|;{1,3})\ \S
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
# A line that announces somebody else's words; all text after it is not the person's.
_ANNOUNCEMENT = caseless(
    r"""(?x)(?:\b(?:
        prints?|printed|outputs?|logs?|logged|says|said|saying|got|getting|errors?|respond(?:s|ed)|replie[ds]|reply|
        wrote|writes|returns|returned|reviewer|feedback|suggest(?:s|ed|ions?)|observations?|findings?|transcript|
        snippet|diff|stack\ ?trace|
        e?mail|ticket|article|post|(?:the|this|their|review|pr|following)\ (?:\w+\ )?comments?|
        console|copilot|coderabbit|chatgpt|answer(?:ed)?|
        (?:here|this)(?:'s|\ is|\ are)|from\ (?:the|my|our|an?|stack)|
        dice|dijo|salida|sagt|ausgabe|выда[её]т|пишет|вывод|dit|sortie|sa[ií]da|disse|píše|výpis|dice|wypisuje
        )\b[^.?!\n]{0,60} | (?:报错|输出|日志|提示|错误|返回|エラー|ログ|出力|에러|오류|로그)[^\n]{0,10})[:：]\s*$"""
)
# The same within a line: "the page says: ...", "found this on the forum: ...".
_INLINE_ANNOUNCEMENT = caseless(
    r"""(?x)\b(?:here|this|that)(?:'s|\ is|\ was)\ [^.?!:\n]{0,30}\b(?:output|text|message|prompt|answer|reply|response
        |excerpt|result)s?\b[^.?!:\n]{0,20}[:：]\s
      | \bprompts?\ (?:of|for)\ [^.?!:\n]{1,40}\b(?:is|was|goes)\s?[:：]\s
      | \b(?:explain|rewrite|reword|improve|correct|simplify|analy[sz]e|interpret|grammar|tl;?dr)\b[^.?!:\n]{0,20}
        \b(?:this|these|the\ following)\b[^.?!:\n]{0,40}[:：]\s
      | \b(?:is|are)\ (?:this|that|these)\ [^.?!:\n]{0,30}\b(?:rules?|prompt|sentence|wording|instructions?|phrase)\b
        [^.?!:\n]{0,40}(?:[:：]\s|[?？]\s)
      | \b(?:it|he|she|they|which|that|page|site|readme|docs?|documentation|file|comment|review|reviewer|article|error
        |log|output|message|answer|someone|overflow|copilot|chatgpt|gemini|claude|bot|colleague|boss|client|customer)\b
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
        \s?[:：]\s"""
)
# Somebody, except the person, who is quoted within a line without a verb of saying ("Bob's message: ..."; those with
# one are in `reported`), and what they are to be told.
_REPORT = re.compile(
    r"""(?:^|[.!?;,(])\s{0,3}(?:
        (?!(?:when\w*|what\w*|if|for|before|after|once|every|each|next)\b)
        (?![^.?!:\n]{0,60}\b(?:i|i've|we|we've|you)\b)
        (?:and\ |but\ )?(?:some(?:one|body)|he|she)\b[^.?!:\n]{0,60}
      | (?:message|comment|note|e?-?mail|letter|reply|post|tweet|slack|dm|ping|chat|sms|text|teams|discord|whatsapp)
        \ (?:from|by)\ [^.?!:\n]{1,40}
      | (?:the\ |a\ )?comment\ (?:in|on)\ [^.?!:\n]{1,40} | (?:from|by|via)\ (?-i:[A-Z])\w{1,30}
      | (?-i:[A-Z])\w{1,30}['’]s\ (?:message|comment|note|e?-?mail|letter|reply|post|tweet|answer|text)
      | (?-i:[A-Z])\w{1,30},?\ (?:on|via|in)\ (?:slack|teams|discord|jira|github|gitlab|the\ chat)
      | (?:slack|teams|discord|jira|github)\ ?\([^()\n]{1,30}\)
      | [^.?!:\n]{0,30}\bwhat\ (?!(?:i|we|you)\b)[^.?!:\n]{1,30}\ (?:sent|wrote|said|told|posted)\b[^.?!:\n]{0,20}
      | [^.?!:\n]{0,30}\b(?:log|page|file|output|site|console|terminal|response)\b[^.?!:\n]{0,30}
        \b(?:i\ see|contains|shows|includes)\b[^.?!:\n]{0,20}
      | (?:note|notice|attention|message|instructions?)\ (?:to|for)\ [^.?!:\n]{0,20}
        \b(?:agents?|assistants?|llms?|bots?)\b
      )[:：]\s
      # What is to be written to others.
      | (?:^|[.!?;]\s)\s{0,3}(?:(?:please|pls|can|could|would|you|now|also|and|then|ok)[ ,]{1,2}){0,4}
        (?:write|draft|compose|send|post)\ [^.?!:\n]{0,40}\b(?:e?-?mail|letter|tweet|announcement|newsletter|prompt
        |(?:message|reply|answer|note)\ (?:to|for))\b(?:[^.?!:\n]{0,40}[:：]\s
        |[^.?!:\n]{0,60}\b(?:saying|that\ (?:says|tells)|telling|(?:to|and)\ (?:say|tell))\s)
      | (?:^|[。、])\s?(?![^：:\n]{0,40}(?:私|僕|俺))[^。：:\n]{1,40}(?:言っ|書い|話し|述べ)[^\s。：:]{0,8}[:：]
      | (?:^|[.,])\s?(?![^：:\n]{0,40}(?:내가|제가|나는|저는))[^.：:\n]{1,40}
        (?:말했|말씀|썼|전했)(?![듯잖])[^\s：:]{0,4}\s?[:：]""",
    re.IGNORECASE | re.VERBOSE,
)
_SAYING = re.compile("say|tell", re.IGNORECASE)  # in a report without a colon
_TAKEN_UP = re.compile(
    r"\s*(?:(?:please|ok|so|yes|and|let'?s)[ ,]{1,2}){0,3}"
    r"(?:make|treat|add|put|save|remember|keep|adopt)\ (?:that|this|it)\b",
    re.IGNORECASE,
)
# A line that asks about the text below it, or names its source. It ends in one of these marks.
_ASKING_ENDS = ("?", "？", ":", "：")
_QUESTION_ABOUT_PASTE = caseless(
    r"""(?x)(?:\bwhat\ (?:do|should|shall|can|would)\ (?:i|we)\ (?:answer|tell|reply|write|say)\b
      | \b(?:does|do)\ (?:this|that|it|these|any\ of\ (?:this|it))\ (?:apply|concern|affect|matter|hold)\b
      | \b(?:is|are)\ (?:this|that|it|these)\ (?:still\ )?(?:true|right|outdated|current|correct|valid)\b
      | \bwhat\ do\ you\ (?:make|think)\ of\ (?:this|that|it|these)\b
      | ^(?:any\ )?(?:thoughts|opinions?)\b
      | \b(?:can|could|would)\ you\ (?:please\ )?(?:answer|reply\ to|respond\ to|explain|translate)
        \ (?:this|that|it|these)\b
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
      [^?？:：\n]{0,60}[?？:：]\s*$"""
)
# A line that hands over the text below it.
_HANDED_OVER = caseless(
    r"""(?x)^[^\n]{0,40}\b(?:got|received|found)\ (?:this|these|that|the\ following)\b[^\n]{0,60}$
      | ^what\ do\ you\ (?:make|think)\ of\ (?:this|that|it|these)$
      | ^[^\n]{0,40}\b(?:translate|proofread|summari[sz]e|übersetz\w*|tradu\w+|traduci\w*|vertaal|przetłumacz
      |переведи)\b[^\n]{0,60}$"""
)
# Who said the sentence before: ", says the wiki", ". That's what the linter says.", "(quoted from the guide)".
_ATTRIBUTION = re.compile(
    r"""(?:,\ (?:or\ so\ |as\ )?
        (?:says|said|wrote|writes|claims|(?:say|claim)(?=\ (?:the|my|our|their|its|his|her|all|most)\ ))
        \ (?!(?:i|we|you)\b)[^.?!,\n]{1,40}
      | ,\ (?:or\ so\ |as\ )?(?!(?:i|we|you)\b|[^.?!,\n]{0,30}\b(?:it|that|this)\b)(?:\w+\ ){1,3}?
        (?:says?|said|wrote|writes|claims?)\ ?)(?=[.?!\n]|$)
      | \ \((?:quote|quoted|cited|copied|pasted)\b[^()\n]{0,60}\)
      | [.!]["”]?\ {1,3}(?:(?:that|this|it)(?:'s|\ is|\ was|\ comes|\ came)\b
        (?![^.?!\n]{0,60}\b(?:i|we|you|now)\b)[^.?!\n]{0,30}\b(?:says?|said|from|wrote|quoted?)\b[^.?!\n]{0,40}(?=[.?!\n]|$)
        |(?:where|who)\b[^.?!\n]{0,20}\b(?:this|that|it)\b[^.?!\n]{0,30}\?)""",
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE_END = re.compile(r"[.?!]\s")
# A letter that is not to the agent, from its salutation to its end.
_GREETING = re.compile(
    r"""^\s*(?:dear|hello|hi|hey|hallo|liebe[rs]?|sehr\ geehrte[rs]?|cher|chère|chers|bonjour|estimad[oa]s?|hola
        |gentil[ie]|car[oai]|prezad[oa]s?|olá|beste|уважаем\w+|здравствуйте)\ (?:[^\W\d_]+[\ ,!]){1,4}""",
    re.IGNORECASE | re.VERBOSE,
)
_CHAT_LINE = re.compile(r"\s{0,4}@?([^\W\d_][\w.-]{1,24}(?: [^\W\d_][\w.-]{0,24})?): \S")
_TO_THE_AGENT = re.compile(r"\b(?:claude|codex|gemini|copilot|agent|assistant|there|again)\b", re.IGNORECASE)
_FAREWELL = re.compile(
    r"""(?:^|[.!]\s)\s*(?:(?:best|cheers|thanks|thank\ you|lg),|(?:(?:kind|best|warm)\ )?regards\b|sincerely\b|yours\b
        |(?:mit\ )?(?:freundliche[nr]?|viele[nr]?|liebe)\ gr(?:ü|ue)(?:ß|ss)en?\b|(?:un\ |atentos\ )?saludos?\b
        |cordialement\b|bien\ à\ vous\b|(?:cordiali\ )?saluti\b|abraços\b|atenciosamente\b|с\ уважением\b|pozdrawiam\b
        |s\ pozdravem\b),?(?:\s+[^\W\d_]+){0,3}\s*$""",
    re.IGNORECASE | re.VERBOSE,
)
_WORK_ORDER = re.compile(
    r"^\s*(?:please\s+)?(?:address|fix|consider|implement|execute|resolve|look\s+at|check|review|handle)\b"
    r"[^.?!\n]{0,60}[:：](?:\s|$)",
    re.IGNORECASE,
)
_OWN_LIST = re.compile(
    # Except in paths: "in .specify/memory/constitution.md".
    r"(?<![/\w.-])(?:rules?|skills?|preferences?|guidelines?|conventions?|remember|memory|instructions?|reglas?|regras?|"
    r"règles?|regeln?|правила?)\b(?!/)|规则|規則|ルール|규칙|"
    r"\b(?:claude|agents|gemini|qwen|skill|copilot-instructions|conventions|contributing|memory)\.md\b|\.mdc\b",
    re.IGNORECASE,
)
_OPENING_MARK = re.compile(r"[`\"“‘«‹„「『]|(?<!\w)'")
_CLOSERS = {'"': '"', "“": "”", "„": "“"}  # of a quotation that begins a line and spans several
# The closing pattern of each opening mark, and the minimum number of characters between them.
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
_MIN_COPIED = 30  # characters: a shorter match may be an accident
_MAX_COMPARED = 300  # lines of a turn compared with the agent's messages; further ones count as pasted


def own_words(text: str, agent_texts: Sequence[str] = ()) -> str:
    """Return `text` with every character that the person did not type replaced by a newline.

    `agent_texts` are the agent's messages before: a line copied from one of them is a quotation too. A line below a log
    line belongs to the log, unless it begins in lower case, as people type and programs do not.
    """
    return _own_words(text, copied_from(text, tuple(agent_texts)))


@lru_cache(maxsize=16)  # the turns of one batch are looked at by each check
def copied_from(text: str, agent_texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return `agent_texts` if a line of `text` may be copied from one of them, else none: then they do not matter."""
    lines = [line for line in _without_tagged(text).split("\n") if len(line) >= _MIN_COPIED] if agent_texts else []
    if len(lines) > _MAX_COMPARED:
        return agent_texts
    plain = [one for one in map(as_rendered, lines) if len(one) >= _MIN_COPIED]
    theirs = map(_rendered, agent_texts) if plain else ()
    return agent_texts if any(one in said for said in theirs for one in plain) else ()


@lru_cache(maxsize=16)
def _own_words(text: str, agent_texts: tuple[str, ...]) -> str:
    theirs: list[str] = []  # filled only if a line may be copied, which is rare
    kept: list[str] = []
    compared = 0
    pasted = logged = reported = False
    fences: list[str] = []
    lines = _without_tagged(text).split("\n")
    ends = {close: max((i for i, line in enumerate(lines) if close in line), default=-1) for close in _CLOSERS.values()}
    quoted = ""  # the closing mark of a quotation of several lines
    block: re.Pattern[str] | None = None
    letter, chat = _letter(lines), _chat_names(lines)
    for number, line in enumerate(lines):
        if not line:
            logged = reported = False
            kept.append(line)
            continue
        fence = _FENCE.match(line)
        fenced = bool(fences)
        pasted = pasted or bool(_HEADING.match(line) or _MESSAGE_HEADER.match(line))
        opened = next((goes_on for begins, goes_on in _BLOCKS if begins.match(line)), None)
        block = opened or (block if block and block.match(line) else None)
        logged = _is_quote_or_log(line) or (logged and bool(line.strip()) and not _PLAIN_LINE.match(line))
        closing = _CLOSERS.get(line.lstrip()[:1], "")
        opens = bool(closing) and not quoted and closing not in line.lstrip()[1:] and ends[closing] > number
        quoted = closing if opens else quoted
        pasted = pasted or number == letter
        reported = reported or bool(chat and (said := _CHAT_LINE.match(line)) and said[1] in chat)
        reported = reported and not _TAKEN_UP.match(line)
        foreign = pasted or reported or fenced or fence is not None or logged or bool(quoted or block)
        if quoted and not opens and quoted in line:
            quoted = ""
        if agent_texts and not foreign and len(line) >= _MIN_COPIED and len(plain := as_rendered(line)) >= _MIN_COPIED:
            theirs = theirs or [_rendered(agent) for agent in agent_texts]
            compared += 1
            foreign = compared > _MAX_COMPARED or any(plain in agent for agent in theirs)
        own = 0 if foreign else len(line)
        if not foreign:
            own, pasted, reported = _own_length(line, lines[number + 1 : number + 3])
        if fence is not None:
            _update_fences(fences, fence["marks"], fence["info"])
        typed = _without_attributed(line) if own == len(line) else line[:own]
        kept.append(typed + "\n" * (len(line) - len(typed)))
    return "\n".join(kept)


def without_quotations(text: str, *, min_words: int = 0) -> str:
    """Return `text` with inline quotations and long code spans filled, so that they contain no cues.

    A short code span is a name that the person typed ("use `uv run`"), and so is a quotation of fewer than `min_words`
    words.
    """
    out: list[str] = []
    done = 0
    for begin, end in _quotations(text):
        if len(_WORD.findall(text, begin, end)) >= min_words:
            out += [text[done:begin], FILLER * (end - begin)]
            done = end
    return "".join([*out, text[done:]])


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of inline quotations. Linear: an unclosed mark is searched only once per line."""
    at = 0
    unclosed: dict[str, int] = {}  # by the mark, the end of the line in which nothing closes it
    while opening := _OPENING_MARK.search(text, at):
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
    """Whether apostrophes enclose more than one word, with at most one line break, and are not part of a word."""
    breaks = inside.count("\n")
    space = _SPACE.search(inside, 2) if breaks == 0 else breaks == 1 and inside.find("\n") >= 2  # noqa: PLR2004
    return bool(space) and not _LETTER_OR_DIGIT.match(after)


def as_rendered(text: str) -> str:
    """Return Markdown as a terminal shows it, without marks and on one line, since people copy it from there."""
    return fold(_MARKS.sub("", _BULLET.sub("", text)))


_rendered = lru_cache(maxsize=32)(as_rendered)  # an agent's message is compared with each later turn


def tagged_text(text: str) -> str:
    """Return the tagged stretches of `text` with their tags, one per line."""
    return "\n".join(text[begin:end] for begin, end in _tagged_spans(text))


def _without_tagged(text: str) -> str:
    """Return `text` with newlines instead of tagged stretches."""
    out: list[str] = []
    done = 0
    for begin, end in _tagged_spans(text):
        out += [text[done:begin], "\n" * (end - begin)]
        done = end
    return "".join([*out, text[done:]])


def _tagged_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each tagged stretch. Linear for any text."""
    done = 0
    endless: set[str] = set()
    lowered = text.translate(_LOWER)
    for tag in _TAG.finditer(text):
        name = (tag[1] or tag[2]).translate(_LOWER)
        if tag.start() < done or name in endless:
            continue
        closing = "-->" if tag[2] else f"</{name}>"
        if name in _TAGS_WITH_ID:
            closing = f"</{tag[0][1:]}".translate(_LOWER)
        end = lowered.find(closing, tag.end())
        if end < 0:
            endless.add(name)
            continue
        done = end + len(closing)
        yield tag.start(), done


def _update_fences(fences: list[str], marks: str, info: str) -> None:
    """Update the open fences by a fence line: it closes the last one, opens one, or is plain text.

    Follows CommonMark (0.31, 4.5), but also allows nested blocks with fences of the same length, which people paste.
    """
    if not fences or (info and marks[0] == fences[-1][0]):
        fences += [] if marks[0] == "`" and "`" in info else [marks]
    elif not info and marks.startswith(fences[-1]):
        fences.pop()


def _chat_names(lines: Sequence[str]) -> set[str]:
    """Return the names before the lines of a chat: labels of a list do not come back, people do."""
    names = Counter(said[1] for line in lines if (said := _CHAT_LINE.match(line)))
    return set(names) if len(names) > 1 and names.most_common(1)[0][1] > 1 else set()


def _letter(lines: Sequence[str]) -> int:
    """Return the line in which a letter to somebody begins, which ends with a farewell; -1 if there is none."""
    ends = max((number for number, line in enumerate(lines) if _FAREWELL.search(line)), default=-1)
    for number, line in enumerate(lines[: ends + 1]):
        if (greets := _GREETING.match(line)) and not _TO_THE_AGENT.search(greets[0]):
            return number
    return -1


def _own_length(line: str, below: Sequence[str]) -> tuple[int, bool, bool]:
    """Return the length of the person's own words in `line`, and what of the next lines is somebody else's.

    All of them, or those up to a blank line. `below` are the first of the next lines.
    """
    colon = ":" in line or "：" in line  # most lines have none, and most expressions need one
    says = _INLINE_ANNOUNCEMENT.search(line) if colon or "?" in line or "？" in line else None
    if says and not _OWN_LIST.search(line, 0, says.end()):
        return says.end(), True, False
    report = _REPORT.search(line) if colon or _SAYING.search(line) else None
    start, end = min(filter(None, (report and report.span(), announced_quotation(line))), default=(0, 0))
    if end and not _OWN_LIST.search(line, 0, end):
        return start, False, True
    if _OWN_LIST.search(line):
        return len(line), False, False
    taken_up = _WORK_ORDER.match(line)
    if taken_up and len(line) - taken_up.end() >= _MIN_COPIED:
        return taken_up.end(), True, False
    announced = taken_up or (colon and _ANNOUNCEMENT.search(line)) or _HANDED_OVER.match(line)
    asks = line.rstrip().endswith(_ASKING_ENDS) and _QUESTION_ABOUT_PASTE.search(line)
    return len(line), bool(announced or asks) or names_text(line, "\n".join(below)), False


def _without_attributed(line: str) -> str:
    """Return a line without sentences of which the person says who else said them."""
    for said in _ATTRIBUTION.finditer(line):
        begins = max((end.end() for end in _SENTENCE_END.finditer(line, 0, said.start())), default=0)
        line = line[:begins] + "\n" * (said.end() - begins) + line[said.end() :]
    return line


def _is_quote_or_log(line: str) -> bool:
    return bool(_QUOTED_LINE.match(line) or _LOG_LINE.match(line))
