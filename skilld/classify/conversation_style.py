"""Whether words are about how the agent talks to the person: language, length, tone. Pure.

Such rules are personal in every project, and never a team's. "Comments in English" is not one of them.
"""

from __future__ import annotations

import re

from skilld.text import split_sentences

_LANGUAGES = (
    "english|german|french|spanish|italian|portuguese|russian|polish|ukrainian|czech|chinese|mandarin|japanese|korean"
    "|dutch|turkish|arabic|hindi|vietnamese"
)
_CJK_LANGUAGES = "(?:中文|汉语|漢語|英文|英语|英語|日语|日文|日本語|韩语|韓国語|法语|德语|俄语|西班牙语|简体|繁体|繁體)"
_KOREAN_LANGUAGES = "(?:한국어|한글|한국말|영어|일본어|일어|중국어)"
_FILLER_WORDS = (
    r"(?:\ (?:to|with|back|me|us|my|questions|prompts|messages|only|always|everything|all|please|strictly))*+"
)
# The language of the conversation is personal; "comments in English" and "error responses in English" are not.
_LANGUAGE_RULE = re.compile(
    rf"""
      \b(?:answer|repl[yi]|respon[ds]e?|talk|speak|communicate|converse|chat|write\ (?:to\ )?(?:me|us))(?:ing)?
        {_FILLER_WORDS}\ in\ (?:{_LANGUAGES})\b
    | \b(?:our|this|the|your|all)\ (?:chat|conversation|dialog(?:ue)?|discussion|answers|replies|responses)s?
        (?:\ (?:must|should|to|be|is|are|always|only))*\ in\ (?:{_LANGUAGES})\b
    | \b(?:speak|talk|use|keep\ to|stick\ to)\ (?:{_LANGUAGES})\ (?:with|to)\ (?:me|us)\b
    | \b(?:r[ée]pon[ds]\w*|parle\w*)(?:[ -]\w+){{0,3}}?\ en\ (?:fran[çc]ais|anglais|allemand|espagnol)\b
    | \b(?:resp[óo]nd\w*|cont[ée]sta\w*|h[áa]bla\w*|fale|fala|rispond\w*|parla\w*)(?:[ -]\w+){{0,3}}?
        \ (?:en|em|in)\ (?:espa[ñn]ol|castellano|ingl[ée]s\w*|portugu[êe]s|italiano)\b
    | \b(?:sprich|rede)(?:\ \w+){{0,3}}?\ (?:deutsch|englisch)\b
    | \b(?:отвечай\w*|отвечать|ответь\w*|говори\w*|общай\w*|общаться|пиши\ мне|работай\ со\ мной|відповідай\w*)
        (?:\ \w+){{0,3}}?\ (?:(?:на|по)[ -])?(?:русск|английск|украинск|немецк|українськ|англійськ)\w+
    | \b(?:odpowiad\w+|mów|odpov[íi]d\w+|mluv)(?:\ \w+){{0,3}}?\ (?:po|v)?\ ?(?:polsku|angielsku|česk\w+|angli\w+)
    | {_CJK_LANGUAGES}(?:来|來|进行|進行|跟我|和我|与我|與我|给我|給我|で|に)*+
        (?:回复|回覆|回答|答复|交流|沟通|溝通|对话|對話|答え|返答|返信|返事|応答|会話|話し)(?!用户|用戶|客户|客戶)
    | (?:回复|回覆|回答|答复|交流|沟通|对话|對話)(?:我|时|時|请|請|都|一律|使用|用)*+{_CJK_LANGUAGES}
    | {_KOREAN_LANGUAGES}(?:로|으로)?만?\s?(?:\S+\s)?(?:답|대답|응답|대화|말하|말해|소통|얘기|이야기)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ANSWERS = r"(?:answers|replies|responses|explanations|messages|summaries|chat|updates)"
_SHORT = (
    r"(?:short(?:er)?|brief(?:er)?|concise|terse|succinct|blunt|direct|honest|polite|(?:in)?formal|friendly|casual|chatty"
    r"|verbose|wordy|detailed|plain|long)"
)
_STYLE_RULE = re.compile(
    rf"""
      \bbe\ (?:\w+\ ){{0,2}}?{_SHORT}\ (?:with|to|towards)\ me\b
    | ^\W*(?:please\ )?be\ (?:a\ bit\ |more\ |less\ |very\ ){{0,2}}{_SHORT}(?:\ please)?\W*$
    | ^\W*(?:(?:only|please|much|very|a\ bit)\ )*{_SHORT}(?:,?\ (?:and\ )?{_SHORT})?\ {_ANSWERS}\b(?:,?\ please)?\W*$
    | ^\W*{_ANSWERS}\ (?:\w+\ )?{_SHORT}\W*$
    | ^\W*(?:bitte\ )?(?:k[uü]rz\w*|knapp\w*|klar\w*|einfach\w*)\ (?:antworten|erkl[äa]rungen|zusammenfassungen)\W*$
    | ^\W*(?:antworte|formuliere?)\ (?:mir\ |bitte\ )*(?:k[uü]rzer|knapper|kurz|einfacher)\b
    | \b(?:no|without\ a|keine?)\ (?:summary|recap|zusammenfassung)\ (?:at|after|am|nach)\b
    | \b(?:keep|make)\ (?:all\ )?your\ {_ANSWERS}(?:\ to\ me)?\ (?:\w+\ ){{0,2}}?{_SHORT}\b
    | \b(?:i\ (?:\w+\ ){{0,2}}?(?:like|prefer|want|need)|give\ me)\ (?:\w+\ ){{0,3}}?{_SHORT}\ {_ANSWERS}\b
    | \bkeep\ (?:all\ |the\ )?(?:answers|replies|explanations)\ (?:\w+\ ){{0,2}}?{_SHORT}\b
    | \b(?:in|of|from)\ (?:all\ )?your\ (?:answers|replies|responses|explanations)\b
    | \b(?:when|whenever)\ you\ (?:talk|speak|write|reply|answer|respond|explain\ \w+)\ (?:to\ |back\ to\ )?me\b
    | ^\W*(?:please\ )?(?:no|fewer|less|skip\ the|drop\ the|stop\ (?:using|with)|don'?t\ (?:use|put))\ [\w\ ]{{1,20}}?
        \ in\ your\ {_ANSWERS}\b
    | \b(?:stop|quit|no\ more|don'?t|do\ not|never)
        \ (?:apologi[sz]|flatter|prais|thank|compliment|congratulat)(?:e|ing)?(?:\ (?:to\ )?me\b|\s*[.!,]|$)
    | \b(?:summar(?:y|ies|i[sz]e|i[sz]ing)|recaps?)\b(?:\ \w+){{0,3}}?\ (?:what|everything|all)\ you
        (?:['’]ve|\ have)?(?:\ just)?\ (?:did|done|changed|made|do)\b
    | \b(?:talk|speak|explain\ (?:it|things|everything))\ to\ me\ (?:like|as|in|more|less)\b
    | \b(?:address|call)\ me\b | \b(?:dut?z|siez)(?:e|t)?\ mich\b | \bfass?\ dich\ (?:bitte\ )?k[uü]rz
    | \b(?:tutoie|vouvoie|appelle)-moi\b | \b(?:tut[eé]ame|ll[aá]mame)\b | \bdammi\ del\ (?:tu|lei)\b
    | \b(?:sois|sé|seja|sii|sê)\ (?:plus\ |m[aá]s\ |mais\ |pi[uù]\ )?(?:bref|concis|breve|conciso|direto|directo)\b
    | \b(?:отвечай|говори|пиши)(?:\ мне)?\ (?:\w+\ )?(?:кратко|коротко|короче)\b | \bна\ (?:ты|вы)\ со\ мной\b
    | (?:回答|回复|回覆|答复)(?:我|时|要|请|得|尽量|都)*(?:简短|简洁|简单|短一?点)
    | (?:簡潔|手短)に(?:答え|返|説明) | (?:짧게|간단히|간결하게)\s?(?:답|대답|말)
    """,
    re.IGNORECASE | re.VERBOSE,
)

# References to the whole project.
PROJECT_SCOPE = re.compile(
    r"\b(?:in|for|across|of|throughout)(?: all of)? (?:this|the|our) (?:whole |entire )?"
    r"(?:repo(?:sitory)?|project|code ?base|monorepo)\b"
    r"|\bproject[- ]wide\b|\bin diesem (?:projekt|repo)\b|\bdans ce (?:projet|d[ée]p[ôo]t)\b"
    r"|\ben este (?:proyecto|repo)|\bin questo (?:progetto|repo)|\bneste (?:projeto|reposit)"
    r"|в этом (?:проекте|репо)|这个项目|本项目|このプロジェクト|이 프로젝트",
    re.IGNORECASE,
)
_HERE = re.compile(
    r"(?<!from )(?<!von )(?<!ab )(?<!desde )(?<!d')(?<!da )\b(?:here|hier|ici|aqu[íi]|qui)\b|здесь|这里|ここ|여기",
    re.IGNORECASE,
)
# Says that words hold not only in the present project, though they may mention it.
ANY_PROJECT = re.compile(
    r"\bnot (?:just|only) (?:here|(?:in|for) this (?:repo(?:sitory)?|project))\b"
    r"|\b(?:no matter|regardless of|whatever|whichever) (?:which |what |the )?(?:project|repo(?:sitory)?)\b"
    r"|\bnicht nur (?:hier|in diesem (?:repo|projekt))\b|\begal (?:in |bei )?welche\w* (?:projekt|repo)\b"
    r"|\bpas (?:que|seulement|uniquement) ici\b|\bquel que soit le (?:projet|d[ée]p[ôo]t)\b"
    r"|\bno s[óo]lo (?:aqu[íi]|en este)\b|\bnon solo qui\b|\bn[ãa]o s[óo] aqui\b",
    re.IGNORECASE,
)
_THE_PERSON = re.compile(r"\bthe (?:user|person)\b(?!')", re.IGNORECASE)
_ABOUT_PRODUCT = re.compile(r"\W*(?:the|an?|our|each|every|it|bots?)\b", re.IGNORECASE)  # that speaks to its users


def is_about_conversation(text: str) -> bool:
    """Whether words say how the agent should speak to the person, in any project."""
    said = text if _ABOUT_PRODUCT.match(text) else _THE_PERSON.sub("me", text)
    return bool(_LANGUAGE_RULE.search(said) or _STYLE_RULE.search(said)) and not is_about_project(text)


def split_conversation(change: str) -> tuple[str, str]:
    """Split a change into the sentences about how the agent speaks to the person, and the rest."""
    parts = split_sentences(change)
    talk = [part for part in parts if is_about_conversation(part)]
    return " ".join(talk), " ".join(part for part in parts if part not in talk)


def remove_project_scope(text: str) -> str:
    """Return words without references to the present project."""
    return PROJECT_SCOPE.sub(" ", text)


def is_about_project(text: str) -> bool:
    """Whether words are about the present project."""
    return bool(PROJECT_SCOPE.search(text) or _HERE.search(text)) and not ANY_PROJECT.search(text)
