"""Rules about the parts of a text ("at the end of each line", "the table should ..."), and skills that write texts.

Such a rule shares no word with the skill whose output it is about, unless the skill happens to name the part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from skilld.classify.offline.detector import Match, clauses_of, typed_part
from skilld.classify.offline.grammar import STRENGTH, Cue
from skilld.classify.offline.product import after_opener, is_specification, likely_languages, opener_end
from skilld.skills.spec import read_front
from skilld.text import fold
from skilld.types import SkillDoc

_MAX_LENGTH = 160  # characters of a demand
_PARTS_EN = (
    r"(?:lines?|entr(?:y|ies)|rows?|columns?|tables?|summar(?:y|ies)|titles?|headings?|headlines?|subtitles?|lists?"
    r"|bullets?|(?:bullet )?points?|paragraphs?|sections?|sentences?|items?|outputs?|reports?|slides?"
    r"|intro(?:duction)?s?|conclusions?"
    r"|captions?|charts?|legends?|subjects?(?: lines?)?|greetings?|salutations?|signatures?|footnotes?|appendi(?:x|ces)"
    r"|timelines?|examples?|abstracts?)"
)
_PARTS = (
    r"(?:zeilen?|eintr[äa]ge?n?|tabellen?|spalten?|zusammenfassung(?:en)?|überschrift(?:en)?|titels?|listen?|abs[äa]tze?n?"
    r"|abschnitte?n?|s[äa]tze?n?|ausgaben?|berichte?n?|folien?|betreff|anrede|grußformel"
    r"|l[íi]neas?|entradas?|filas?|columnas?|tablas?|resumen|res[úu]menes|t[íi]tulos?|listas?|p[áa]rrafos?|secci[óo]n(?:es)?"
    r"|informes?|asunto|linhas?|tabelas?|colunas?|resumos?|par[áa]grafos?|se[çc][ãa]o|relat[óo]rios?"
    r"|lignes?|entr[ée]es?|colonnes?|tableaux?|r[ée]sum[ée]s?|titres?|listes?|paragraphes?|rapports?|objet"
    r"|righe?|voc[ei]|tabell[ae]|colonn[ae]|riassunt[oi]|titol[oi]|elench[io]|paragraf[oi]|relazion[ei]"
    r"|regels?|koppen|kop|alinea'?s?|samenvatting(?:en)?|rapport(?:en)?)"
)
_PART = re.compile(
    rf"\b(?:the|each|every|all|any|its|your|(?:an?|one) (?:new )?)\s+(?:[\w-]+\s+)?{_PARTS_EN}\b"
    rf"|\b(?:in|on|under|above|below) {_PARTS_EN}\b"
    rf"|\b(?:d(?:ie|er|as|en|em)|jede[rnms]?|alle[nr]?|im|am|zur?|el|la|los|las|cada|al|del|em|na|no|les?|chaque|du|aux?|l[ao]"
    rf"|il|gli|ogni|nell[ao]|de|het|elke)\s+(?:[^\W\d_]+\s+)?{_PARTS}\b"
    r"|(?:每|各)(?:一)?(?:行|条|項|项|列|段|节|句|页)|表格|摘要|标题|標題|列表|段落|章节|结尾|开头|輸出|输出|报告"
    r"|各(?:行|項目|段落)|行末|行頭|文末|要約|見出し|タイトル|箇条書き|表の|表は|出力|レポート",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"`|\b(?:code|functions?|class(?:es)?|methods?|modules?|tests?|commits?|branch(?:es)?|variables?|imports?|api|endpoints?"
    r"|database|quer(?:y|ies)|migrations?|components?|users?|buttons?|pages?|screens?|app)\b",
    re.IGNORECASE,
)
_WRITING = re.compile(
    r"\b(?:writ(?:e|es|ing)|draft\w*|summar\w+|compos\w+|prepar\w+|compil\w+|document(?:s|ing)?|translat\w+|report(?:s|ing)?"
    r"|notes?|minutes|changelogs?|messages?|letters?|e-?mails?|posts?|articles?|newsletters?|slides?|invoices?|repl(?:y|ies)"
    r"|answers?|post-?mortems?|descriptions?|turns?\b.{1,60}\binto"
    r"|schreib\w*|verfass\w*|erstell\w*|fass\w*|protokoll\w*|bericht\w*|übersetz\w*|escrib\w*|redact\w*|resum\w*|traduc\w*"
    r"|informes?|r[ée]dig\w*|[ée]cri\w*|compte[- ]rendu|rapports?|tradui\w*|scriv\w*|riassum\w*|redig\w*|escrev\w*)\b"
    r"|写|寫|撰|总结|報告|报告|翻译|周报|摘要|書|作成|要約|翻訳|議事録|週報",
    re.IGNORECASE,
)
_DEMAND = re.compile(
    rf"(?:the|each|every|all|any)\s+(?:[\w-]+\s+)?{_PARTS_EN}\s+(?:in (?:the|each|every) [\w-]+\s+)?"
    r"(?:should|must|needs?(?= to)|ha(?:s|ve)(?= to)|ought)\b.*\S",
    re.IGNORECASE,
)
_LASTS = re.compile(r"\b(?:always|never|each|every|all|any)\b", re.IGNORECASE)


def names_part(text: str) -> bool:
    """Whether a rule is about a part of a text, and about no code."""
    return bool(_PART.search(text)) and not _CODE.search(text)


def writes_text(skill: SkillDoc) -> bool:
    """Whether a skill writes texts, by its name and description."""
    return bool(_WRITING.search(f"{skill.name.replace('-', ' ')} {read_front(skill.text).description}"))


def find_demands(text: str, agent_texts: Sequence[str] = ()) -> list[Match]:
    """Return what `text`, one turn, says that a part of a text must always be like.

    Without a skill that writes the text, this is as often said of a product.
    """
    typed = typed_part(text, agent_texts)
    found = likely_languages(typed)
    if is_specification(typed):
        return []
    english = next(one for one in found if one.code == "en")
    demands = []
    for clause in clauses_of(typed, found):
        bare = fold(clause.text)
        frame = english.frames.match(rest := after_opener(bare, english))
        demanded = _DEMAND.match(rest[frame.end() if frame else 0 :].lstrip(" ,"))
        lasts = english.frames.search(bare) or _LASTS.search(bare)
        vetoed = any(one.vetoes.search(bare) or one.retracts.search(bare) or one.hedges.search(bare) for one in found)
        if demanded and lasts and names_part(rest) and not (vetoed or clause.question or len(bare) > _MAX_LENGTH):
            quote = text[clause.start : clause.start + len(clause.text)]
            said = quote[opener_end(clause.text, english) :]
            demands.append(
                Match(
                    quote,
                    said,
                    clause.start,
                    question=False,
                    language=english,
                    cue=Cue.LASTING,
                    strength=STRENGTH[Cue.PREFERENCE],
                )
            )
    return demands
