"""Splits a turn into sentences and clauses, with their positions.

The text must be the result of `provenance.own_words`. A sentence is split where a second rule begins, so that each rule
has a quote of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain

from skilld.classify.offline.names import ends_in_prefix
from skilld.values import value_class
from skilld.words import has_unspaced


@value_class
class Clause:
    """A stretch of a turn: its exact text, its start, and whether it belongs to a question.

    `lead` is the text before it in its sentence; only the beginning of a long one. `header` is the line with a colon
    above the list that it is in.
    """

    text: str
    start: int
    question: bool
    lead: str = ""
    header: str = ""


_WRAPPED = re.compile(r"(?<=[^\s.!?:;。！？：；])\n(?=[ \t]{0,4}[a-zà-ÿа-я])")
_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,2}[.)]|[a-z][.)])[ \t]+")
# A run of stops is matched from its first or second; from each of them, a run of 10,000 took a second.
_END = re.compile(
    r"""(?=[.!?…。！？;；\U0001f300-\U0001faff\u2600-\u27bf])  # rules out most places at once
        (?<![.!?…]{2})(?<![\s.]\b[A-Za-z])(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)(?<!\bz\.B)(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bProf)
        (?<!\bSt)(?<!\bNr)(?<!\bFig)(?<!\bbzw)(?<!\bapprox)(?<!\bincl)(?<!\bSra)(?<!\bSr)
        (?:(?<!/)(?<!/\.)(?<!/\.\.)(?!(?<=[ \t])\.[ \t]+[^\sA-ZÀ-ÞА-Я])  # "./..." and "eslint ." end nothing
        [.!?…]++["”»')\]]*+(?=\s|$) | [。！？]++[」』”]*+ | ;(?=\s) | ；
        # Not before a word in lower case: "never push 📦 images without a digest" would become "never push".
        | [\U0001f300-\U0001faff\u2600-\u27bf]\ufe0f?(?=\s*+$|\s++(?:[^\sa-zà-ÿа-яё]
          |(?:never|always|please|pls|from\ now|don'?t|do\ not|remember|nie|immer|bitte|ab\ jetzt|jamais|toujours
            |d[eé]sormais|nunca|siempre|sempre|mai)\b)))""",
    re.VERBOSE,
)
# "Never push to main. Unless I ask.": without the second sentence the rule would say more than the person did, and in
# "use tabs. Always." the second sentence is the rule's scope. Each stays in one clause, so that one quote has both.
# Begins the end of a Japanese or Korean sentence: "src/app.ts. を変更したら", "npm test" and "を実行した後" below it.
_PARTICLE = re.compile(r"を|は、|[のにでとへがはも][\u3400-\u9fff\u30a1-\u30fa]|(?:을|를|는|에서|으로|로)\s")
_CONTINUATION = re.compile(
    rf"""\s{{0,3}}(?:
        (?:but\s+)?(?:unless|except|excluding|other\s+than|apart\s+from|only\s+(?:if|when|for|in|on|after|once)|
            not\s+(?:for|in|on|when|if|during|with))\b
      | (?:salvo|excepto|a\s+menos\s+que|exceto|a\s+n[aã]o\s+ser|sauf|[aà]\s+moins|hormis|außer|es\s+sei\s+denn|
            tranne|a\s+meno\s+che|кроме|за\s+исключением|если\s+только\s+не|chyba\s+że|oprócz|kromě|leda|trừ)\b
      | 除非|除了|但.{{0,6}}除外|ただし|다만|단,|{_PARTICLE.pattern}
      | (?:and\s+)?(?:always|never|ever|everywhere|all\s+of\s+them|no\s+exceptions?|from\s+now\s+on|
            every\s+(?:single\s+)?time|each\s+time|in\s+(?:the\s+)?future|
            siempre|nunca|sempre|toujours|immer|niemals|nie|überall|nirgends|ausnahmslos|ohne\s+ausnahme|
            please|pls|plz|всегда|никогда|vždy|zawsze|luôn)\s*
            (?:[.!]|$|,(?:\s*+\w++){{0,2}}+\s*(?:[.!]|$))
      | (?:in|for|across|für|bei|en|para|dans|pour)\s+
        (?:all|every|each|any|alle[nr]?|jede[rnsm]?|tod[oa]s|tou(?:te)?s)\b
        (?:\s++[\w.*/-]++){{0,4}}+\s*(?:[.!]|$)
      | we\s+(?:don'?t|do\s+not|never)\s+(?:do|use|have|want|allow)\s+(?:that|this|those|these|them|it)\s+
        (?:here|anywhere|at\s+all|in\s+(?:this|our)\s+\S+)\s*(?:[.!]|$)
      | (?:that|this)(?:'?s|\s+is)\s+(?:how|what|the\s+way)\s+we\s+(?:do|have|want|handle|write|like)\s+
        (?:(?:it|things|that|this|them)\s+)?(?:here|in\s+(?:this|our)\s+\S+)\s*(?:[.!]|$)
      | (?:(?:and\s+)?(?:please\s+)?(?:remember|memori[sz]e)\s+(?:that|this)|(?:bitte\s+)?merk\s+dir\s+das
            |retiens(?:[\s-]+)(?:ça|le)|recuérdalo|lembre-se\s+disso|ricordatelo)\s*(?:[.!]|$)
      | (?:(?:please\s+)?(?:make|consider|call|treat|take)\s+(?:it|that|this)(?:\s+as)?\s+)?
        (?:(?:that|this|it)(?:'?s|\s+is)\s+)?(?:an?\s+|the\s+|our\s+|my\s+|your\s+)?(?:(?:new|house|hard|general
        |golden|standing)\s+)?
        (?:rule|order|policy|law|instruction|default|habit)(?:\s+(?:here|now|for\s+(?:good|the\s+future)
        |from\s+now\s+on))?\s*(?:[.!]|$)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
# Runs of blanks are matched possessively from their first blank: a run of 6,000 took 16 s.
_SECOND_RULE = re.compile(
    r"""(?=[\s,:，–—-])(?:  # rules out most places at once
        (?<!\s)(?<!\bonce)\s*+(?:,\s++)?+(?<=\s)(?:and|but|also|then|plus)\s++(?:also\s++|please\s++|pls\s++
        |then\s++){0,8}+
        (?=(?:always|never|don'?t\s++ever|do\s++not\s++ever|from\s++now\s++on|in\s++(?:the\s++)?future|next\s++time|
            remember\s++to|(?:stop|quit)\s++\w+ing|don'?t|dont|do\s++not|make\s++sure\s++you\s++(?:always|never)|
            every|each|any(?:thing|one)|everything|(?:if|when|for|in|on|with|at)\s++(?:an?|any|every|each|all)
            |we\s++(?:never|always))\b)
      | (?<!\s)\s*+(?:,\s++)?+(?<=\s)(?:y|e|et|und|aber|en|и|а|a|i)\s++
        (?=(?:siempre|nunca|sempre|immer|nie|niemals|toujours|всегда|никогда|впредь|vždy|nikdy|zawsze|nigdy
        |altijd|nooit|
            (?:en|para|em|nos?|nas?|dans|sur|pour|chez|bei|in|für|auf|mit|bij|voor|nei|nelle|per|w|przy|u|у|в
            |для|при)\s++
            (?:tod[oa]s?|cada|tou(?:te)?s|chaque|nous|jede[rsmn]?|alle[nr]?|uns|ogni|tutt[ie]|elke?|ons|każd\w++
            |nas|нас|кажд\w++|все[хм]))\b)
      | (?<!\s)\s*+(?:,\s++)?+(?<=\s)(?P<general>and|but|also|plus|y|e|et)\s++
        (?=(?:in\s++general|generally|overall|en\s++g[ée]n[ée]ral|por\s++lo\s++general|em\s++geral|in\s++generale)\b)
      | (?<!\s)\s*+(?:,\s++)?+(?<=\s)(?P<again>et|y|e)\s++
        (?=(?:ne\s++|n')\w++\s++(?:jamais|plus)\b|n[oã]o?\s++\w++\s++nunca\b|non\s++\w++\s++mai\b)
      | (?<!\s)\s*+(?:,\s++)?+(?<=\s)(?:and\s++|but\s++|oh\s++)?+(?:by\s++the\s++way|btw),?+\s++(?=\w++\s++\w++\s++\w)
      | (?<!\s)\s++[-–—]{1,2}\s++(?=(?:always|never|from\s++now\s++on|please\s++always|remember)\b)
      | ,\s++(?=(?:and\s++)?i\s++(?:never|always)\s++want\b)
      | (?<!\s)\s*+(?:,|[-–—]{1,2})\s++
        (?=(?:oh\s++|ah\s++|ach\s++)?+(?:no,?\s++(?:wait|actually|sorry|make\s++that)|wait,?\s++no|actually,?\s++no
            |scratch\s++that|or\s++rather|i\s++mean\s++(?:use|put|write|run)|nein,?\s++(?:warte|doch|lieber)
            |non,?\s++(?:attends|plutôt)|ou\s++plutôt|no,?\s++(?:espera|mejor|aspetta|anzi)|mejor\s++dicho
            |melhor\s++dizendo|não,?\s++espera)\b)
      | (?P<colon>:)\s++(?=(?:from\s++now|in\s++(?:the\s++)?future)\b)
      | (?<!\s)\s*+(?P<comma>,)\s++
        (?!never\s++(?:in|on|at|to|from|with|as|by)\b)
        (?!(?:always|never|from\s++now(?:\s++on(?:wards?)?)?)\s*+(?:[.!]|$))
        (?!so\s++(?:please\s++)?(?:never|don'?t|dont|do\s++not)\b  # "Ann does it, so never do it"
            [^,.;!?\n]{1,60}?\b(?:it|them|that|those)\b)
        (?=(?:(?:and|also|so|but|please)\s++)*+(?:always|never|stop\s++\w+ing|don'?t|do\s++not|dont|from\s++now|
            keep\s++in\s++mind|i\s++(?:don'?t|do\s++not|always|never)\s++(?:want|need|like)|
            you\s++(?:must|should)\s++(?:always|never|not)|ab\s++(?:jetzt|sofort|heute)|in\s++zukunft|künftig|désormais
            |dorénavant|[àa]\s++partir\s++de\s++(?:maintenant|ahora|agora)|à\s++l'avenir|de\s++ahora\s++en\s++adelante
            |de\s++agora\s++em\s++diante|d'ora\s++in\s++(?:poi|avanti)|vanaf\s++nu|voortaan|od\s++(?:teraz|teď)|odteď
            |впредь|с\s++этого\s++момента|bundan\s++sonra)\b)
      | (?<!\s)\s++\((?=stop\s++\w+ing\b)
      | [，,]\s*+(?=以后|从现在|今后|下次|请?记住(?!\W*+$)|永远不|不要再|別再|别再|另外|每次|务必|一律|所有|
            请?[把将](?:这|以上|上述)|(?:[那请]|请问)?[我这它]?[该应要]?(?:如何|怎[么麼]|[为為]什[么麼]))
    )""",
    re.VERBOSE | re.IGNORECASE,
)

# What is allowed instead of what the sentence before forbids: "never amend. new commits only".
_REST = re.compile(
    r"\s{1,3}(?:(?:[\w()/-]++\s++){1,3}only|(?:only|nur)(?:\s++[\w()/-]++){1,3}+)\s*(?:[.!]|$)", re.IGNORECASE
)
_BAN = re.compile(r"\b(?:never|no|don'?t|do\s+not|nie|niemals|kein\w*)\b", re.IGNORECASE)
_MAX_BAN = 60  # characters
_ALTERNATIVE = re.compile(r"\s+(?:use|run|prefer|nimm|nutze|usa|utilise)\s", re.IGNORECASE)
_NEXT_LINE = re.compile(r"(?<=[^\s:])\n(?=" + _CONTINUATION.pattern + ")", _CONTINUATION.flags)
# An order without its object, which comes before it: "anything in the schema, don't touch without asking".
_NO_OBJECT = re.compile(
    r"(?:please\s++)?(?:do\s++not|don'?t|dont|never)\s++(?:ever\s++)?(?:touch|edit|change|modify|delete|remove|rename|update"
    r"|overwrite|regenerate|reformat)\s++(?:without|unless|before|until)\b",
    re.IGNORECASE,
)
_OBJECT_FIRST = re.compile(rf",\s++(?={_NO_OBJECT.pattern})", re.IGNORECASE)
# Says that the rule after the comma was given before, and nothing else.
_SAID_BEFORE = re.compile(
    r"\W*(?:and\s++)?(?:(?:i\s++)?(?:told\s++you|said)(?:\s++(?:this|that|it|so|already|before|twice|again))*|again|once\s++(?:more|again)"
    r"|(?:same\s++as|just\s++like|like|as)\s++(?:the\s++)?(?:last|every)\s++times?|as\s++(?:always|usual|ever|before|i\s++said))\s*+\Z",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"\W*(?:(?:ok|okay|no|oh|hm+|sorry|actually)\W+){0,2}(?:(?:scratch|strike|forget|scrap|undo|ignore)\s+(?:that|it|this)"
    r"|never\s?mind(?:\s+that)?|nvm|wait|no|vergiss\s+(?:das|es)|laisse\s+tomber|oublie\s+[çc]a|olv[ií]dalo|lascia\s+stare"
    r"|esquece|laat\s+maar|забудь)\W*",
    re.IGNORECASE,
)
_THREE_WORDS = re.compile(r"\s*+\S++\s++\S++\s++\S")
_QUESTION_END = re.compile(
    r"(?<!\bok)(?<!\bokay)(?<!,\sja)(?<!,\soder)(?<!d'accord)(?<!\bplease)(?<!\bthanks)(?<!\bvale)(?<!\boké)(?<![?？])[?？][?？!]*+[\"”»')\]]*+\s*+$",
    re.IGNORECASE,
)
# The topic of everything that follows, in a few words.
_TOPIC = re.compile(r"\W{0,8}+(?!\S{1,30}ing\b)(?:[\w'/-][\w'/.-]{0,30}+\s){0,3}[\w'/-][\w'/.-]{0,30}+\s?[:：]\s")
_MAX_LEAD_LENGTH = 500  # characters
_MAX_RUN_ON, _MIN_LENGTH = 240, 12  # characters
_COMMA = re.compile(r"(?<!\s)\s*+(?:,\s++|，\s*+)")
_SEAM = re.compile(
    r"(?<!\s)\s*+(?:[,;]\s++|:\s++(?![/|])|[，：；、]\s*+|(?<=\s)[-–—]{1,2}\s++|(?<=\s)(?:so|but|because|cause|cuz|coz|cos|since)\s++"
    r"|(?<=\s)(?:and|plus)\s++(?:(?:also|please|pls)\s++)?+(?=(?:when(?:ever)?|every|each|any|whatever|please|pls|no|links?)\b))"
)
# The words for how long a rule holds, right before it, after other words: a decision, praise, a greeting.
_LATE_FRAME = re.compile(
    r"(?:[:：,]\s++(?:(?:and|but|so)\s++)?|\A\W*+\w++\W++)"
    r"(?:from\s++now(?:\s++on(?:wards?)?)?|in\s++(?:the\s++)?future|going\s++forward|next\s++time)\Z",
    re.IGNORECASE,
)
_MAX_FRAME = 60  # characters of such words, and of what comes before them
_HABIT_WORD = re.compile(
    r"\b(?:always|we|our|any|every|each|from\s++now|in\s++(?:the\s++)?future|going\s++forward)\b", re.IGNORECASE
)
_LASTS = re.compile(
    r"\b(?:d[eé]sormais|dor[eé]navant|maintenant|avenir|toujours|jamais|siempre|nunca|ahora|adelante|sempre|agora|poi)\b",
    re.IGNORECASE,
)
_NEVER_OTHER = re.compile(
    r"(?:and\s++)?+never\s++(?:(?:plain|bare|raw|naked|just)\s++)?+[\w./@-]++"
    r"(?:\s++(?:or|and|nor)\s++(?:(?:plain|bare|raw|just)\s++)?+[\w./@-]++)?+(?:\s++(?:here|please|pls|ever))?+\s*+(?:[.!,;]|$)",
    re.IGNORECASE,
)
# A rule without a verb of its own: the words before it have it.
_ELLIPSIS = re.compile(
    r"(?:and\s++)?+(?:always|never|only)\s++(?:an?|the|one|two|our|my|your|their|its|with|without|from|via|through|as|under"
    r"|over|after|before|up|down|more|less|fewer|above|below|between|inside|outside|on|in|at|to|for)\b",
    re.IGNORECASE,
)
_SAME_SUBJECT = re.compile(
    r"(?:always|never|please|don'?t|dont|do\s++not|immer|nie|siempre|nunca|toujours|jamais|sempre)\s++(?:(?:always|never|ever)\s++)?+"
    r"[\w-]++\s++(?:(?:it|them|sie|es)\b|(?:those|these)\b(?!\s++[\w'-]))",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\W*(?:(?:and|but|so|ok|okay|please|also|no|yes)\W+)*(?:when|whenever|if|before|after|for|in|on|across|every|each|once|"
    r"unless|until|while|as|with|since|because|from|next|any|going|moving|at the (?:very )?(?:end|start|beginning)"
    r"|to (?:start|begin|finish|end|conclude|close|wrap|round))\b",
    re.IGNORECASE,
)


# That the person thinks otherwise now, beside the rule that holds instead: a clause of its own.
CHANGE_OF_MIND = (
    r"(?:i(?:['’]ve|\s+have)?\s+(?:just\s+)?changed\s+my\s+mind|we(?:['’]ve|\s+have)?\s+changed\s+our\s+minds?"
    r"|on\s+second\s+thoughts?|(?:ich\s+)?habe?\s+(?:ich\s+)?(?:es\s+)?mir\s+(?:das\s+|es\s+)?anders\s+überlegt"
    r"|ich\s+habe?\s+meine\s+meinung\s+geändert|j['’]ai\s+changé\s+d['’]avis"
    r"|(?:he\s+cambiado|cambi[eé])\s+de\s+(?:idea|opini[oó]n)|ho\s+cambiato\s+idea|mudei\s+de\s+(?:ideia|opini[aã]o)"
    r"|ik\s+ben\s+van\s+gedachten\s+veranderd|zmieni[lł][ae]m\s+zdanie|rozmyslela?\s+jsem\s+(?:se|si\s+to)"
    r"|я\s+передумала?)\b"
)
_MIND_FIRST = re.compile(
    rf"\W*(?:(?:ok|okay|so|actually|hm+|and|but|no|sorry|oh|wait|well)\W+){{0,3}}{CHANGE_OF_MIND}"
    r"(?:\s+(?:about|on|regarding|with|over)\s+[^,:;()–—]{1,60}?)?\s*+(?P<seam>[,:]\s++|\s[-–—]{1,2}\s++)(?=\S+\s+\S)",
    re.IGNORECASE,
)
_MIND_LAST = re.compile(
    rf"(?<!\s)\s*+(?:,|\(|\s[-–—]{{1,2}})\s*+(?:(?:and|but|since|because|as|so|sorry)\s++)?(?={CHANGE_OF_MIND}[^,;:.!?]{{0,60}}+\W*$)",
    re.IGNORECASE,
)


def _minds(line: str, begin: int, end: int) -> list[tuple[int, int]]:
    """Return the seams between a rule and the words that the person has changed their mind."""
    first = _MIND_FIRST.match(line, begin, end)
    last = _MIND_LAST.search(line, begin, end)
    return [*([first.span("seam")] if first else []), *([last.span()] if last else [])]


def order_behind_object(text: str) -> str:
    """Return the order in a clause that names its object first, as in "the schema, don't touch without asking"."""
    comma = _OBJECT_FIRST.search(text)
    return text[comma.end() :] if comma else ""


@lru_cache(maxsize=16)  # the turns of one batch are split by each check
def clauses(text: str) -> tuple[Clause, ...]:
    """Return the clauses of `text` in order; `Clause.text` is the exact text at `Clause.start`.

    What a particle begins is left out: the words before it are somebody else's, such as the line of a log.
    """
    return tuple(_clauses(text))


def _clauses(text: str) -> Iterator[Clause]:
    joined = _NEXT_LINE.sub(" ", _WRAPPED.sub(" ", text))
    offset, header = 0, ""
    for line in joined.split("\n"):
        if line:
            bullet = _BULLET.match(line)
            found = _line_clauses(line, offset, bullet.end() if bullet else 0)
            yield from (replace(clause, header=header) for clause in found) if bullet and header else found
            if not bullet:
                header = line.strip()[:_MAX_LEAD_LENGTH] if line.rstrip().endswith((":", "：")) else ""
        offset += len(line) + 1


# A small task before the rest: "fix that, and ...", "reword, you wrote ... — ...".
_TASK_HEAD = re.compile(
    r"\W*(?:(?:yes|yep|yeah|ok|okay|no|now|but|then|please|and|good|sorry|right|ja|gut|jetzt|bitte|sí|oui|sim)\W+)*"
    r"(?:rename|reword|rephrase|redo|revert|undo|rerun|retry|fix|change|replace|remove|delete|rewrite|merge|push|commit|continue"
    r"|go (?:on|ahead)|adjust|move|drop|update|(?:mach|änder|ersetz|korrigier|benenn)e?|corrige|change|remplace|renomme"
    r"|c[áa]mbia|corr[íi]ge|cambia|correggi|rinomina|troca|muda)(?:-?(?:l[aeo]s?))?"
    r"(?:\s++(?:it|that|this|them|these|those|both|again|back|now|please|first|das|es|um|ça|eso|isso))*\s*+(?:[,;]|\s[-–—]{1,2})\s++",
    re.IGNORECASE,
)
_TOLD_PART = re.compile(
    r"(?:you|i|it|that|they|we)\s++(?:\w+ed|wrote|did|was|were|had|put|made|left|forgot|broke|got)\b[^,;–—]*?(?:[,;]|\s[-–—]{1,2})\s++",
    re.IGNORECASE,
)


def without_task(clause: Clause) -> Clause:
    """Return a clause without the small task at its beginning, and without what that part tells: the rest may last."""
    head = _TASK_HEAD.match(clause.text)
    if head is None:
        return clause
    told = _TOLD_PART.match(clause.text, head.end())
    end = (told or head).end()
    return replace(clause, text=clause.text[end:], start=clause.start + end)


def parts(clause: Clause) -> Iterator[Clause]:
    """Yield the whole clause, then its parts between commas, colons and dashes, such as a reason and a rule."""
    yield clause
    begin = 0
    for seam in (*_SEAM.finditer(clause.text), None):
        end = seam.start() if seam else len(clause.text)
        first, last = _trim(clause.text, begin, end)
        least = _MIN_LENGTH // (2 if has_unspaced(clause.text) else 1)
        if least <= last - first < len(clause.text):
            yield replace(clause, text=clause.text[first:last], start=clause.start + first)
        begin = seam.end() if seam else end


def _line_clauses(line: str, offset: int, begin: int) -> Iterator[Clause]:
    ends = [m.end() for m in _END.finditer(line, begin) if not _continues(line, m)] + [len(line)]
    for end in ends:
        question = bool(_QUESTION_END.search(line, begin, end))
        rules = [rule for rule in _SECOND_RULE.finditer(line, begin, end) if _is_separate_rule(line, begin, rule)]
        found = sorted({*(rule.span() for rule in rules), *_minds(line, begin, end)})
        stretches = zip([begin, *(cut for _, cut in found)], [*(seam for seam, _ in found), end], strict=True)
        for first, last in chain.from_iterable(_pieces(line, *stretch) for stretch in stretches):
            clause = _trim(line, first, last)
            if clause[0] < clause[1] and not _PARTICLE.match(line, *clause):
                lead = line[begin : min(first, begin + _MAX_LEAD_LENGTH)].strip()
                yield Clause(line[clause[0] : clause[1]], offset + clause[0], question, lead)
        begin = end


def _continues(line: str, end: re.Match[str]) -> bool:
    """Whether what follows the end of a sentence belongs to it: "never run go test; use make test"."""
    if end[0] == ";" and _ALTERNATIVE.match(line, end.end()):
        return True
    if (
        end[0] == "."
        and _REST.match(line, end.end())
        and _BAN.search(line, max(0, end.start() - _MAX_BAN), end.start())
    ):
        return True
    return bool(_CONTINUATION.match(line, end.end()))


def _pieces(line: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the stretch, split at commas if it runs on as in the writing of people who use no full stops."""
    commas = _COMMA.finditer(line, first, last) if last - first > _MAX_RUN_ON else ()
    for comma in commas:
        if comma.start() - first >= _MIN_LENGTH and not _CONDITION.match(line, first, comma.start()):
            yield first, comma.start()
            first = comma.end()
    yield first, last


def _is_separate_rule(line: str, begin: int, rule: re.Match[str]) -> bool:
    """Whether words after a comma are a separate rule: not after "from now on", "when you write docs" or "titles:"."""
    if _NO_OBJECT.match(line, rule.end()) or _SAME_SUBJECT.match(line, rule.end()) or _ELLIPSIS.match(line, rule.end()):
        return False  # "we never hide errors, always show them", "never the latest tag, always a fixed version"
    if _NEVER_OTHER.match(line, rule.end()) and _HABIT_WORD.search(line, begin, rule.start()):
        return False  # "always use pnpm here, never npm", "we split by time, never at random"
    if rule["general"]:
        return not _CONDITION.match(line, begin, rule.start())  # "when you write docs, and in general"
    if rule["again"]:  # after "désormais, utilise pnpm" it is the other half of the rule
        return not _LASTS.search(line, begin, rule.start())
    if not (rule["comma"] or rule["colon"]):
        return True
    before = line[max(begin, rule.start() - _MAX_FRAME) : rule.start()]
    if len(before) < _MAX_FRAME and _SAID_BEFORE.match(before):
        return False
    if _TOPIC.match(line, begin, rule.start()) or _LATE_FRAME.search(before):
        return False
    whole = _THREE_WORDS.match(line, begin, rule.start()) or _TAKES_BACK.fullmatch(line, begin, rule.start())
    return whole is not None and not _CONDITION.match(line, begin, rule.start())


def _trim(line: str, first: int, last: int) -> tuple[int, int]:
    while first < last and line[first] in " \t\r,;:，；：-–—(":
        first += 1
    close = line.find(")", first, last)
    if close >= 0 and "(" not in line[first:close]:
        last = close
    while last > first and line[last - 1] in " \t\r,;:，；：" and not ends_in_prefix(line, first, last):
        last -= 1
    return first, last
