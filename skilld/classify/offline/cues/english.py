"""English cues. The largest table: nine of ten people in the labelled data write English to their agents."""

from __future__ import annotations

from skilld.classify.offline.cues.base import Cue, Language, Pattern, compiled, words

# Nouns of the way of working, not of the product: a rule about them is a rule for the agent.
WORK = words(
    "commits? commit_messages? commit_titles? commit_bodies pull_requests? prs? pr_descriptions? pr_titles? branch(?:es)?",
    "branch_names? merges? pushes changelog changelogs changelog_entries release_notes? releases? tests? unit_tests?",
    "integration_tests? test_files? docs? documentation docstrings? code_comments? comments? rules? task_specs? specs?",
    "code migrations? imports? reviews? code_reviews? reports? answers? repl(?:y|ies) responses? summar(?:y|ies) plans?",
    "worktrees? messages? explanations? deploys? deployments? variable_names? function_names? file_names? identifiers?",
    "type_hints? dependenc(?:y|ies) packages? scripts? prs issues? tickets? sessions? edits? changes? fix(?:es)?",
    "features? refactors? refactorings? phases? steps? milestones? drafts? posts? articles? emails? slides? entries",
    "entry sections? headings? titles? bullets? bullet_points? sentences? paragraphs? spelling",
)
# What a product does by itself: "always show the date" is about a screen, unless it is shown to the speaker.
_PRODUCT_VERB = words(
    "show display render hide highlight return load fall default appear disappear sort draw resize scale cache work",
    "fail crash throw log visible truncate wrap open close start stay keep_visible redirect fetch send store trigger",
)
_NOT_A_VERB = (
    r"(?!(?:mind|been|seen|had|worked|got|a|an|the|in|on|at|to|of|there|here|thought|heard|knew|was|were|is|are|did|"
    r"does|has|have|be|same|this|that|it|they|we|i|he|she|again|ends?|gets?|\w+ed|failing|wrong|true|false|right|"
    r"gonna|going|really|quite|so|such|too|very|being|having|getting|mine|yours|welcome|ready|happy|good|bad|nice)\b)"
)
_DO = rf"(?:{_NOT_A_VERB}(?!{_PRODUCT_VERB}\b(?!.*\b(?:me|us|you|your)\b))[a-z`␣][\w'’`␣/.-]*)"
_MODAL = words("should must need_to have_to ought_to shall are_to gotta has_to 're_supposed_to are_supposed_to")
_EACH = words("every each any all")
_TARGET = words(
    "(?:the|this|that|your|our|my|its|a|an|current|project|existing)?_?skill(?:s|_file|_doc)?",
    r"\S*(?:claude|agents?|gemini|skill|conventions|contributing|copilot-instructions|rules)\.md",
    r"@?[\w./-]+\.mdc cursor_?rules? \.cursorrules \.clinerules \.windsurfrules",
    "(?:your|my|our|project|global|agent|team|user|house|custom|standing|workspace)_(?:rules?|instructions?)",
    "(?:your|long-term|persistent|project|global|user|agent)_(?:memory|memories|notes|guidelines|preferences)",
    "memor(?:y|ies) (?:the_)?rules?_file (?:the|those|these|your|our)_rules (?:style|coding)_?guide(?:lines)?",
    "(?:my|the_user'?s?|user)_preferences system_prompt",
)
_SAVE = words(
    "add put save store record write note document update include remember memori[sz]e log capture append persist",
    "mention specify state encode bake commit change amend modify extend edit improve tweak adjust revise",
)
_GENERAL = (
    rf"(?:\b(?:always|never|whenever|everywhere|anywhere|ever)\b|\b(?:before|after|for|with|on|in|at)\s+{_EACH}\b"
    rf"|\b(?:each|every|any|all)\s+(?:time|{WORK})\b|\b(?:when|before|after)\s+(?:you|we|\w+ing)\b|\bunless\s+i\b"
    rf"|\bby\s+default\b|\bno\s+matter\b|\bnothing\b|\banything\b)"
)

_OPENERS = compiled(
    r"""^(?:(?:no|nope|nah|yes|yep|yeah|yup|ok|okay|k|please|pls|plz|and|but|also|so|well|actually|hey|hi|hello|great|
    good|nice|cool|perfect|thanks|thank you|then|again|btw|by the way|oh|hmm+|right|sure|wait|sorry|important|note|
    fyi|reminder|one (?:more )?(?:thing|correction|note)|looks? good|lgtm|go ahead|wrong|not (?:quite|that|like that)|claude|codex|
    in general|generally|quick note|for the record|just|seriously|dude|man|guys|now|that's (?:good|great|fine|wrong|not right)|
    (?:that|this) (?:is|looks) (?:good|great|fine|wrong)|(?:please )?note that|as a reminder|as (?:i said|mentioned)(?: before)?)
    (?:\s*[,.!:;–—-]+\s*|\s+))+"""
)

_LASTING = r"""\b(?:from (?:now|here|this point|today) on(?:wards?)?|(?:going|moving) forwards?|from here on (?:out|in)|
    henceforth|hereafter|in (?:the )?future|for (?:all )?(?:the )?future(?: \w+)?|for (?:all )?(?:subsequent|upcoming) \w+|
    as a (?:general )?(?:rule|policy)(?! (?:in|for|to|file))|as standard practice|at all times|in all cases)\b"""
_EVERY_TIME = rf"""\b(?:(?:every|each) (?:single )?time(?:,|\s+(?:you|we|i ask)\b|\s*$)|next time(?:,|\s+(?:you|we|i ask|around|just|please|when|do|don'?t|use|run|make)\b|\s*[.!]?$)
    |whenever\s+(?:you|we|i ask)\b|any ?time (?:you|i ask)\b|when in doubt\b
    |(?:before|after|for|with|on|in) {_EACH} (?:single |new |of (?:the|your|these) |your )?(?:{WORK})\b)"""

# An imperative, as far as a pattern can tell: a clause that begins with a verb and not with a subject.
_IMPERATIVE = rf"""^(?!(?:i|i'm|i'd|i've|i'll|you|you're|he|she|it|it's|its|they|we|we're|this|that|that's|these|those|there|there's|the|a|an|my|our|your|
    what|what's|why|how|how's|which|who|where|when|whenever|if|is|are|was|were|am|does|did|has|had|have|will|would|should|could|may|might|
    can|cannot|shall|not|maybe|perhaps|looks|seems|some|each|every|all|any|both|as|since|because|once|until|in|on|at|for|from|with|
    yes|no|ok|\d+|{_PRODUCT_VERB} (?!.*\b(?:me|us)\b))\b)[a-z][\w'’-]+\b"""
_TOLD = rf"""(?:{_IMPERATIVE}|^(?:please|you {_MODAL}|you can|let'?s|(?:i|we)(?:'d| would)? (?:really )?(?:want|need|like|prefer|expect)|always|never|don'?t|do not|only|
    (?:can|could|would|will) you|no more|when|whenever|if|before|after|make sure|we (?:don'?t|do not|never|always|only)|i (?:don'?t|do not|never|always) want))"""


def _p(cue: Cue, strength: float, source: str) -> Pattern:
    return Pattern(cue, strength, compiled(source))


_PATTERNS = (
    # "from now on", said in a clause that tells the agent something
    _p(
        Cue.LASTING,
        0.85,
        rf"^{_LASTING}[\s,:–—-]*(?!i\b|i'|we\s+(?:might|may|could|will|can)\b|the\b|it\b|this\b|there\b|users?\b).+",
    ),
    _p(Cue.LASTING, 0.85, rf"{_TOLD}.*{_LASTING}"),
    _p(Cue.LASTING, 0.8, rf"^(?:{_EVERY_TIME})[\s,:–—-]*(?!i'll|i will|i\b)\S.*"),
    _p(Cue.LASTING, 0.75, rf"{_TOLD}.*{_EVERY_TIME}"),
    # "always" and "never" as an instruction to the agent
    _p(Cue.ADVERB, 0.8, rf"^(?:always|never(?: ever)?)\s+(?:ever\s+)?{_DO}\s+\S"),
    _p(Cue.ADVERB, 0.8, rf"^(?:you|u) (?:{_MODAL} )(?:always|never) {_NOT_A_VERB}\w"),
    _p(Cue.ADVERB, 0.8, r"^(?:can|could|would|will) you (?:please )?(?:always|never) \w+ \w"),
    _p(
        Cue.ADVERB,
        0.8,
        rf"\b(?:make sure|be sure|ensure|see to it) (?:that )?(?:you|to|we) (?:always|never) {_NOT_A_VERB}\w",
    ),
    _p(Cue.ADVERB, 0.8, r"\b(?:want|need|expect|like|asked|prefer) (?:for )?you to (?:always|never) \w"),
    _p(
        Cue.ADVERB,
        0.75,
        rf"^(?:you {_MODAL} not|don'?t|do not|never) (?:you )?(?:ever \w+ \w|\w+ .*\b(?:ever again|ever)\s*[.!]*$)",
    ),
    _p(Cue.ADVERB, 0.75, r"^(?:don'?t|do not|never) (?!mind)\w+ .*\b(?:again|any ?more)\b(?! (?:until|yet|for now))"),
    _p(
        Cue.ADVERB,
        0.65,
        rf"^(?:(?:the|our|your|all|any|every|each|my) )?(?:\w+ )?(?:{WORK}|\S+\.md) (?:should|must|may|need to|have to|has to|can) (?:always|never|not ever|not .*\bever\b)",
    ),
    _p(Cue.ADVERB, 0.65, rf"{_IMPERATIVE} .*(?:,|\band) always\s*[.!]*$"),
    _p(
        Cue.ADVERB,
        0.6,
        r"^(?:yes|yep|yeah|yup|sure|ok|okay|please|do|do (?:so|it|that|this))?[\s,]*(?:always|every ?time|each time)(?: (?:do (?:so|it|that|this)|please|yes))?\s*[.!]*$",
    ),
    # memory and rule files
    _p(
        Cue.MEMORY,
        0.85,
        rf"\b{_SAVE}\b(?:(?!\btasks? to\b|\bhow\b).){{0,60}}?\b(?:to|in|into|inside|of|on|as|under) (?:@|`|\.?/)*(?:\w+ )?{_TARGET}(?![\w/])",
    ),
    _p(
        Cue.MEMORY,
        0.85,
        rf"\b(?:update|change|amend|modify|edit|extend|improve|fix|revise|adjust|tweak) (?:@|the |that |this |your |our |`)*(?:\w+ )?{_TARGET}(?![\w/])",
    ),
    _p(
        Cue.MEMORY,
        0.8,
        r"\b(?:make|create|add|write|record|define|set|introduce|establish) (?:a|an|another|one|it|this|that|these|them|as|new| )+(?:global |cursor |project |general |standing |permanent |agent |team )*(?:rule|convention|guideline|preference|policy)s?\b(?!\s+(?:called|named|engine|set|in the (?:firewall|linter|config)))",
    ),
    _p(Cue.MEMORY, 0.75, rf"^remember(?: that|:|,)\s+(?!when\b|the )\S.*{_GENERAL}"),
    _p(Cue.MEMORY, 0.7, r"^(?:please )?(?:always )?remember (?:to|not to|never to) \w.*"),
    _p(
        Cue.MEMORY,
        0.75,
        r"^(?:you (?:must|should|need to|have to) )?(?:remember|keep in mind|note|learn|memori[sz]e) (?:this|that|it)?\s*(?:for (?:next time|the future|later sessions|future \w+)|permanently|across sessions)",
    ),
    _p(
        Cue.MEMORY,
        0.7,
        r"\b(?:memori[sz]e (?:this|that|the|how|it)|commit (?:this|that|it) to memory|make (?:a )?(?:mental )?note (?:of|that)|save (?:this|that|it) (?:as a|to) (?:preference|memory|rule))\b",
    ),
    # stop, prefer, here we
    _p(
        Cue.STOP,
        0.75,
        r"^(?:please )?(?:can you |could you )?(?:stop|quit) (?!working|running|being|using the|trying)\w+ing\b\s+\S",
    ),
    _p(Cue.STOP, 0.7, r"^(?:no more|enough (?:with|of)) (?!than|time|questions|changes)\w+"),
    _p(Cue.PREFERENCE, 0.75, r"^i (?:always|never) (?:want|prefer|like|need|expect) \w"),
    _p(Cue.PREFERENCE, 0.7, r"^(?:i )?(?:do not|don'?t) want (?:from )?you to (?:ever )?\w+ \w"),
    _p(Cue.PREFERENCE, 0.65, rf"^i(?:'d| would)? (?:much |really |generally |usually )?prefer .*{_GENERAL}"),
    _p(
        Cue.CONVENTION,
        0.7,
        r"\b(?:our|the|my|house) (?:convention|style|policy|rule|standard|practice) (?:here )?(?:is|has always been) (?:to|that|never|always)\b",
    ),
    _p(
        Cue.CONVENTION,
        0.65,
        r"^(?:in|for|on|within) (?:this|our|my) (?:repo|repository|project|codebase|team|company|monorepo|workspace)s?\b[\s,]+(?!is\b|are\b|can\b|do\b|does\b|i\b|what|how|where|why|please\b)\S+",
    ),
    _p(Cue.CONVENTION, 0.7, rf"^we (?:always|never|only ever) {_NOT_A_VERB}\w+ \w"),
    _p(
        Cue.CONSENT,
        0.75,
        r"^(?:never|don'?t|do not|you (?:should|must|may|can) ?(?:not|n't|never)) .*\b(?:without (?:asking|checking with|confirming|my|explicit|getting my|consulting|first)|unless i (?:ask|tell|say|explicitly|approve|request)|(?:before|until) (?:asking|i approve|checking with me|confirming with me))",
    ),
    _p(
        Cue.CONSENT,
        0.7,
        r"^(?:always |please )*(?:ask|check with|confirm with|consult) (?:me|us) (?:first )?(?:before|first|whenever|when)\b",
    ),
    _p(
        Cue.REPEATED,
        0.6,
        r"\bhow many times (?:do|have|must|did) i\b|\bi(?: have|'ve)? (?:already )?(?:said|told you|asked you|mentioned) (?:this|that|it)?\s*(?:before|many times|repeatedly|already (?:twice|many)|(?:a )?(?:hundred|thousand|million|several|\d+) times)\b|\bi keep (?:having to )?(?:tell|ask|remind|repeat)",
    ),
)

_VETOES = compiled(
    r"""\b(?:for now|this time|just (?:this )?once|only (?:this )?once|for the (?:moment|time being)|temporarily|right now|
    for this (?:one|pr|task|change|commit|session|run|round)(?!\w)|at the moment|until (?:i|we|then|tomorrow)|today(?! on)|
    maybe|perhaps|might|probably|eventually|someday|wondering|not sure|i think|i guess|i wonder|would be nice|
    next time i|i will|i'll|we'll|we will|will be able|wants? users?|
    (?:he|she|they|someone|somebody|people|everyone|coderabbit|copilot|the (?:docs?|documentation|reviewer|linter|compiler|error|log|readme|article)) (?:say|says|said|suggest\w*|claims?|told|wants?|wrote|thinks?|recommend\w*)|
    according to|it says|quote)\b"""
)
_ASKS = compiled(
    r"""^(?:(?:so|and|but|ok|okay|hmm|wait|well|also)[\s,]+)*
    (?:what|why|how|which|who|where|when|is|are|was|were|am|do|does|did|has|have|had|should|shall|may|isn'?t|aren'?t|doesn'?t|
    didn'?t|don'?t (?:you|we|i)|won'?t|wouldn'?t|shouldn'?t|(?:can|could|would|will) (?!you\b|u\b)|any)\b"""
)
_FRAMES = compiled(
    rf"""(?:^|[\s,–—-]+)(?:starting )?(?:{_LASTING}|next time(?: around)?(?=\s*[,.!]|\s*$| (?:just|please|do|don'?t|use|run|make)\b)|(?:ever )?again(?=\s*[.!]*$)|any ?more(?=\s*[.!]*$))(?:[\s,:–—-]+|(?=[.!]|$))"""
)
_RETRACTS = compiled(
    r"""\b(?:forget (?:about )?(?:what|that|it|the|this|my|all)|scratch that|never ?mind(?!ed)|disregard|ignore (?:what i|that|my|the (?:rule|last|previous))|
    i (?:take|took) (?:that|it) back|changed my mind|on second thoughts?|(?:undo|drop|remove|cancel|revert|discard|skip) (?:that|the|this) (?:last )?(?:rule|preference|instruction|request|convention)|
    actually,? (?:no|don'?t|leave|keep it)|no need (?:to do (?:that|this)|for that) (?:any ?more|after all)|after all\b|leave it as it (?:is|was)|(?:was|were) (?:just )?kidding|strike that)"""
)

_ORDERS = compiled(
    r"""^\W*(?:(?:ok|okay|now|please|also|then|can you|could you|let's|lets|go ahead and|great|good|and|we want|we need|i want|i need)[\s,.!]+)*
    (?:(?:create|add|make|write|open|file|log|draft)(?: a| an| another| the| up)*(?: new)?(?: \w+)? (?:tasks?|issues?|tickets?|todos?|story|stories|specs?|prd|command|subcommand|endpoint|page|button|feature|component)\b|
    (?:implement|build|design|refactor|develop)\b|update (?:that|the|this) (?:task|spec|issue|ticket)\b)"""
)

ENGLISH = Language("en", _OPENERS, _PATTERNS, _VETOES, _FRAMES, _RETRACTS, _ASKS, _ORDERS)
