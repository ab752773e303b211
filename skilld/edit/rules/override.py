"""Lint family T-13: text that overrides other instructions, and orders about text written for others."""

from __future__ import annotations

from collections.abc import Iterator

from skilld.edit.change import DISREGARD, Change, Finding, collapse_spaces, find_phrases, near, nouns, phrase, verbs

_OTHER_SOURCE = r"\b(?:previous|prior|above|earlier|preceding|other|existing|your|these|system|all)\b"
_ORDERS = nouns("instruction directive rule prompt guideline command policy order constraint safeguard restriction")
_SENTENCE_START = r"(?:^|[.!?:\n])[-*+>\s]{0,20}+(?:(?:please|now|just|actually|ok(?:ay)?|so|and|but),?\s+)*"
_ROLE_CLAIM = (
    r"\b(?:I['’]?m|I am|we are|we['’]re|this is|you are|you['’]re)\s+(?:(?:now|actually|really|only|in fact)\s+)*"
)
_SECRETS = nouns(
    "password passphrase passcode PIN credential secret api_?key token social_security private_key login card_number"
)
_SPECIAL_MODES = (
    "unrestricted unlocked unfiltered privileged root sudo superuser override emergency system maintenance developer"
    " debug god admin recovery diagnostic jailbreak DAN"
)

_PHRASES = (
    phrase(
        "overrides",
        "It tries to override other instructions, or claims to speak for someone else",
        rf"{DISREGARD}\s+(?:\w+\s+){{0,3}}?{_OTHER_SOURCE}\s+(?:\w+\s+)?{_ORDERS}(?!\s+(?:about|on|for|regarding|that))",
        rf"{DISREGARD}\s+(?:\w+\s+){{0,2}}you (?:have been|were|are) (?:told|given|instructed)",
        rf"{_SENTENCE_START}(?:forget|ignore|disregard|never mind|scratch|skip)\s+(?:about\s+)?(?:that|this|it"
        r"|everything|all(?: of (?:that|this|it))?)\s*(?:[,.!:;\n]|$|and\b|now\b)",
        r"\bignore (?:everything|all|the \w+ and)\b|\byou are now\b|\bact as (?:if|though)\b|\bpretend\b|\bjailbreak\b",
        rf"\b(?:{_SPECIAL_MODES.replace(' ', '|')})[ -]modes?\b|\bsystem (?:override|update|upgrade|reset)\b",
        r"\boverrid(?:e|ing)s?\s+(?:modes?|codes?|protocols?|authori[sz]ations?|sequences?)\b",
        rf"{_ROLE_CLAIM}(?:entering|switching (?:in)?to|operating in|running in)\b[^.\n]{{0,60}}\bmodes?\b",
        r"\b(?:system|initial|hidden|original) (?:prompt|instructions?|message)\b|\bnew (?:system )?instructions?\b",
        r"\byour (?:secret|password|api key|system prompt)|\bremember this for next time\b|\bcoming from the user\b"
        r"|\bas an AI\b",
        r"忽略.{0,12}(?:指令|指示|说明)|(?:无视|忘记|忘掉|不要理会).{0,12}(?:指令|指示|规则)|(?:指示|命令|指令)を?(?:すべて)?無視"
        r"|(?:^|[。:：「'\"\s])無視して|(?:이전|기존|위의)\s*(?:지시|명령)|무시하",
        r"\b(?:ignor|olvid|omit|esquec|esqueç|dimentic|oubli|néglig)\w* (?:\w+ ){0,3}(?:instrucciones|instruções"
        r"|istruzioni|consignes|instructions|indicaciones|órdenes|ordens|ordini|ordres|règles|reglas|regras|regole)\b",
        r"\b(?:ignorier|vergiss|vergesse|missacht)\w* .{0,30}(?:Anweisung|Regel|Befehl)"
        r"|(?:игнориру|забуд)\w+ .{0,30}(?:инструкц|указани|правил)|(?:zignoruj|ignoruj|zapomn\w+) .{0,30}(?:instrukc"
        r"|pokyn|polecen|pravid)|(?:negeer|vergeet) .{0,30}(?:instructies|regels)|(?:yok say|unut)\w*",
    ),
    phrase(
        "claims-role",
        "It poses as someone in authority to give orders",
        rf"{_ROLE_CLAIM}(?:an?|the|your|god\b)(?:\s+\w+){{0,3}}?\s*\b(?:developer|admin\w*|engineer|owner|creator|officer"
        r"|police|agent|manager|auditor|researcher|doctor|expert|moderator|operator|supervisor|god|CEO|CTO|root)\b",
        r"\bI['’]?m (?:god|root|the (?:system|boss))\b|\b(?:law enforcement|by order of|on behalf of)\b",
        r"\b(?:must|have to|need to|will)\s+(?:now\s+|only\s+)?(?:listen to|obey|comply with|answer to)\b",
    ),
    phrase(
        "plays-part",
        "It makes the agent play a role or act in an imaginary world",
        rf"{_SENTENCE_START}(?:imagine|suppose|assume) (?:that )?(?:you|we|a|I)\b",
        r"\blet['’]?s (?:play|say|imagine|pretend)\b",
        r"\brole-?play\w*|\bhypothetical\w*|\bfictional\b|\bin a world\b|\bonce upon a time\b"
        r"|\btell (?:me |us )?a story\b",
        r"\byou are (?:an?|free|no longer|not an?)\b|\bin character\b|\bas a (?:character|pirate|wizard|villain)\b",
    ),
    phrase(
        "presses",
        "It applies pressure through urgency, pity, payment or claimed permission",
        r"\b(?:an? emergency|lives? depends?|I['’]?m begging|begging you|(?:lose|lost) my job"
        r"|(?:I['’]?ll|I will) (?:tip|pay)|tip you|my (?:boss|manager|grand\w+)|trust me|no matter what)\b",
        r"\b(?:has|have|is|are) (?:already )?(?:agreed|authori[sz]ed|cleared|entitled|given (?:\w+ )?permission)\b"
        r"|\bI (?:hereby )?authori[sz]e\b|\bfor (?:educational|research|testing) purposes\b",
    ),
    phrase(
        "asks-context",
        "It asks an agent to reveal its instructions, the conversation or hidden text",
        near(
            verbs("output repeat print summarize summarise translate reveal describe show recite copy"),
            r"\b(?:text|conversation|words?|messages?|everything|lines?|sentences?)\s+(?:\w+\s+)?(?:above|so far"
            r"|before this|earlier)\b|\byour (?:first|initial|own|hidden|secret|full) (?:line|word|instruction"
            r"|text|note|rule|setup|message)s?\b|\bhidden (?:parts?|words?|text)\b",
        ),
        r"\bQ:\s[^\n]{1,200}\bA:",
    ),
    phrase(
        "asks-secret",
        "It asks for a secret or someone's location",
        near(
            verbs(
                "confirm tell give reveal share provide state say repeat disclose recite spell hand guess recall verify"
            ),
            r"\b(?:the|your|a|any|my|their|his|her|all)\s+(?:\w+\s+){0,2}?" + _SECRETS,
            40,
        ),
        near(r"\bwhere\b", nouns("user person customer owner he she they"), 20)
        + r"[^.\n]{0,30}\b(?:liv\w+|located|stay\w*|now|home)\b",
    ),
)


def check_override(change: Change) -> Iterator[Finding]:
    """Flag text that would make an agent obey somebody else."""
    yield from find_phrases(change, _PHRASES, collapse_spaces(change.text))


# Lint family T-13, orders about text for others: fixed phrases, opinions, falsified facts, ciphers. "Poison need not
# look malicious": a bland preference for a brand or a view reaches everyone who reads what the agent writes. They only
# flag.

# "Use when asked for something like ..." says when a skill is for something, as every description does.
_INSERT = (
    verbs("append insert add include inject embed place mention put prepend attach")
    + r"|\b(?:used?|uses|using)\b(?!\s+(?:(?:it|this(?:\s+skill)?)\s+)?(?:when|whenever|if)\b)"
)

_CONTENT_PHRASES = (
    phrase(
        "steers-content",
        "It dictates wording or opinions in text that other people will read",
        near(
            _INSERT,
            nouns(
                "phrase sentence slogan statement disclaimer claim citation wording watermark advert(?:isement)?"
                " endorsement"
            )
            + r"|\blinks? to\b",
            60,
        ),
        # Not within what a draft says it is for: 'something like “Add a page” or “Add the page x”'. Nor a word that is
        # itself quoted: "past tense: 'Added', 'Fixed the total of a cart'". Nor what is between two quoted words.
        near(
            rf"(?<!something like “)(?<!” or “)(?:{_INSERT})(?!['\"’”])",
            r"(?<!\w)['\"‘“](?!\s)[^'\"’”\n]{12,}['\"’”]",
            60,
        ),
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
        near(_INSERT, nouns("word term language terminology expression") + r"\s+(?:like|such as)\b", 40),
        near(
            verbs("frame present portray depict describe characterize characterise refer_to treat"),
            r"\bas\b\s+(?:an?\s+|the\s+)?(?:['\"‘“(]|superior|inferior|better|best|worse|worst|safe|dangerous|natural"
            r"|positive|negative)",
            80,
        ),
        verbs("downplay discredit disparage advertise endorse glorify favour criticise criticize belittle"),
        # Not "promote a build to production" nor "deny requests without a token".
        rf"(?:{verbs('promote deny')})(?!`|\s+(?:(?:the|an?|this|each|every|all|any)\s+)?"
        r"(?:builds?|releases?|images?|artifacts?|canar\w+|deployments?|tags?|snapshots?|replicas?|requests?|access|traffic"
        r"|connections?|users?|to|by|unless|is|without)\b)",
        # Not "por favor", "a favor de" and the like, which are Spanish and Portuguese.
        rf"(?<!\bpor )(?!(?:(?<=\ba )|(?<=\be[nm] ))favor d(?:el?|[ao]s?)\b)(?:{verbs('favor')})",
        near(
            verbs("portray frame present depict describe"),
            r"\b(?:positive|negative|favou?rabl\w+|unfavou?rabl\w+|good|bad)\b",
        ),
        r"\bcast doubt\b|\bemphasi[sz]e\b|\bclaim(?:s|ing)\b|\bconsensus\b|\balignment with\b",
        # Which number or name an entry has: "always mention the MSRV in the release notes".
        r"\balways (?:say|state|claim|recommend|suggest|respond with|answer with)\b",
        r"\balways (?:mention|cite)\b"
        r"(?!\s+(?:the|each|every)\s+(?:MSRV|version|issue|ticket|pull request|PR|commit|branch|milestone|RFC)s?\b)",
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
        "It is about a controversial topic",
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
        "It changes facts or figures",
        verbs(
            "inflate exaggerate fabricate falsify manipulate tamper misreport understate overstate skew backdate"
            " distort"
        ),
        # Not "use fake names in tests", nor the fakes beside the mocks.
        r"\bfak(?:ed|ing|es?\s+(?:the|an?|our|your|their|its|these|those|any|all|some|it|them))\b(?!\s+(?:servers?|clients?)\b)",
        near(
            verbs("change adjust alter modify increase decrease reduce multiply round raise lower swap"),
            nouns(
                "figure number revenue result price amount score total balance salary metric statistic date value"
                " percentage"
            )
            + r"[^.\n]{0,30}\b(?:by|up|down|randomly|slightly|to (?:appear|look|make))\b",
            50,
        ),
        r"\bround(?:s|ed|ing)?\b[^.\n]{0,20}(?<!half )\b(?:up|down)\b",  # "half up" is how everybody rounds
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
        "It asks for text that is not human-readable",
        near(
            verbs("encode write respond reply answer convert obfuscate output translate render decode encipher"),
            r"\b(?:base ?-?\d+|hex(?:adecimal)?|rot-?13|morse|cipher\w*|caesar|binary|leetspeak|reversed|emojis?"
            r"|invisible|zero-width)\b",
            80,
        ),
        r"\bdecode (?:and|then|it)\b|\bwhite[- ]text\b|\binvisible to humans\b",
    ),
)


def check_content(change: Change) -> Iterator[Finding]:
    """Flag orders that distort what others will read."""
    yield from find_phrases(change, _CONTENT_PHRASES, change.text)
