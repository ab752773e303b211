"""Lint family T-13, orders about what is written for others: fixed phrases, opinions, falsified facts, ciphers.

"Poison need not look malicious": a bland preference for a brand or a view reaches everyone who reads what the agent
writes. They only ever flag.
"""

from __future__ import annotations

from collections.abc import Iterator

from skilld.edit.change import Change
from skilld.edit.findings import Finding, Severity
from skilld.edit.phrases import find, near, nouns, phrase, verbs

_FLAG = Severity.FLAG
_PUT = verbs("append insert add include inject embed place mention use put prepend attach")

_PHRASES = (
    phrase(
        "steers-content",
        _FLAG,
        "It fixes words or opinions in what is written for others",
        near(
            _PUT,
            nouns(
                "phrase sentence slogan statement disclaimer claim citation wording watermark advert(?:isement)?"
                " endorsement"
            )
            + r"|\blinks? to\b",
            60,
        ),
        near(_PUT, r"['\"‘“][^'\"’”\n]{12,}['\"’”]", 60),
        # "In your replies" is how people wish for a style; one reply is what a text in a page wants to change.
        r"\b(?:in|into|to|within|with|of) (?:your (?:reply|response|answer|summary|output)"
        r"|the (?:reply|answer))\b",
        r"\b(?:start|begin|end|open|close|respond|reply|answer)\w*\b[^.\n]{0,40}\bwith\b[^.\n]{0,15}"
        r"(?:['\"‘“]|the words?\b)",
        near(
            verbs("tell ask urge advise invite direct"),
            r"\b(?:reader|visitor|customer|recipient|caller)s?\b[^.\n]{0,30}\b(?:call|card|details|pay|click|visit|send|buy"
            r"|password|account|number|refund|download)\b",
            20,
        ),
        near(
            verbs("recommend prefer suggest promote mention choose favour favor link hyperlink"),
            r"\b(?:brands?|partners?|affiliates?|sponsors?|sister compan\w+|stocks?|shares) ?\b",
            40,
        ),
        near(r"\brank\w*\b", r"\b(?:higher|highest|first|top|lower|lowest|last)\b", 40) + r"|\bprominent\w*\b",
        near(_PUT, nouns("word term language terminology expression") + r"\s+(?:like|such as)\b", 40),
        near(
            verbs("frame present portray depict describe characterize characterise refer_to treat"),
            r"\bas\b\s+(?:an?\s+|the\s+)?(?:['\"‘“(]|superior|inferior|better|best|worse|worst|safe|dangerous|natural"
            r"|positive|negative)",
            80,
        ),
        verbs(
            "promote downplay discredit disparage advertise endorse glorify favor favour criticise criticize belittle"
            " deny"
        ),
        near(
            verbs("portray frame present depict describe"),
            r"\b(?:positive|negative|favou?rabl\w+|unfavou?rabl\w+|good|bad)\b",
        ),
        r"\bcast doubt\b|\bemphasi[sz]e\b|\bclaim(?:s|ing)\b|\bconsensus\b|\balignment with\b",
        r"\balways (?:say|state|claim|recommend|suggest|respond with|answer with|mention|cite)\b",
        near(
            r"\b(?:recommend|suggest|prefer|choose|list)\w*\b",
            r"\b(?:first|only|exclusively|over (?:all )?(?:other|compet)\w*)\b",
            40,
        ),
        near(r"\breplace\w*\b", r"\bwords?\b", 40),
        r"\b(?:our|the) (?:products?|brands?|services?|company) (?:is|are|as) (?:the )?(?:best|superior|better)\b"
        r"|\boutperform\w*\b",
    ),
    phrase(
        "contested-topic",
        _FLAG,
        "It is about a contested matter",
        nouns(
            "climate sustainability renewable fossil vaccine gender racial ethnic ethnicity religion religious"
            " politic political election abortion immigration immigrant colonial genocide holocaust conspiracy"
            " diversity inclusion feminism tobacco gambling minority stereotype nationality homeopathy misinformation"
            " propaganda competitor sponsor pseudoscience"
        ),
        r"\bflat earth\b|\bEarth is flat\b|\benergy sources?\b|\bmedical consensus\b|\bcolonial\w*\b|\bwom[ae]n\b"
        r"|\b(?:male|female)s?\b|\bmen\b|\bforeign(?:ers?| names?| people)\b",
    ),
    phrase(
        "falsifies",
        _FLAG,
        "It changes facts or figures",
        verbs(
            "inflate exaggerate fabricate falsify fake manipulate tamper misreport understate overstate skew backdate"
            " distort"
        ),
        near(
            verbs("change adjust alter modify increase decrease reduce multiply round raise lower swap"),
            nouns(
                "figure number revenue result price amount score total balance salary metric statistic date value"
                " percentage"
            )
            + r"[^.\n]{0,30}\b(?:by|up|down|randomly|slightly|to (?:appear|look|make))\b",
            50,
        ),
        r"\bround(?:s|ed|ing)?\b[^.\n]{0,20}\b(?:up|down)\b",
        r"\b\d+\s?(?:%|percent) (?:higher|lower|more|less)\b|\brandom(?:ly)? (?:change|modif|replac|swap"
        r"|introduc)\w*\b",
        near(
            verbs("introduce insert add"),
            r"\b(?:subtle |small |random )?(?:errors?|bugs?|mistakes?|typos?|delays?|faults?)\b",
            30,
        ),
    ),
    phrase(
        "writes-unreadably",
        _FLAG,
        "It has something written so that people cannot read it",
        near(
            verbs("encode write respond reply answer convert obfuscate output translate render decode encipher"),
            r"\b(?:base ?-?\d+|hex(?:adecimal)?|rot-?13|morse|cipher\w*|caesar|binary|leetspeak|reversed|emojis?"
            r"|invisible|zero-width)\b",
            80,
        ),
        r"\bdecode (?:and|then|it)\b|\bwhite[- ]text\b|\binvisible to humans\b",
    ),
)


def check(change: Change) -> Iterator[Finding]:
    """Flag orders that tilt what others will read."""
    yield from find(change, _PHRASES, change.text)
