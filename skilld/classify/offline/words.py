"""Words of a text as comparable stems: how the offline back-end tells whether two texts are about the same thing.

Text in, sets of stems out. No dictionaries: endings are cut by rule, which is coarse but equal on both sides.
"""

from __future__ import annotations

import re
import unicodedata

# Letters and digits, kept together over the marks that names, options, paths and versions contain.
_TOKEN = re.compile(r"[^\W_]+(?:[._/@'’+-][^\W_]+)*", re.UNICODE)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CJK_RUN = re.compile(r"[\u3400-\u9fff\u30a0-\u30ff\uac00-\ud7af]{2,}")
_MEASURE = re.compile(r"([^\W\d_]+)?[ -]*(?<![\d.])(\d+)(?![\d.])[ -]*([^\W\d_]+)?")
_STEM_LENGTH = 7
_SHORT = 3

_COMMON = frozenset(
    # English
    "a an the this that these those it its they them their he she his her i me my mine we us our you your yours is are "
    "was were be been being am do does did done doing don't dont doesn't didn't not no nor yes ok okay and or but if "
    "then than so as at by for from in into of off on onto out over to up with without about when whenever while where "
    "which who what why how there here also too just only very really please thanks thank will would can could shall "
    "should may might must have has had having need want like let lets let's i'm i'd i'll i've you're we're it's that's "
    "isn't aren't won't can't cannot any some all each every other same such own more most much many few again anymore "
    "always never ever now later future forward going onwards time times remember make sure keep stop instead rather "
    "prefer thing things one ones way get got gets getting going go done skill skills rule rules note "
    # Spanish, Portuguese, Italian, French
    "el la lo los las un una unos unas de del al y o u en con sin por para que se su sus es son no si sí siempre nunca "
    "jamás más muy ya como cuando cada vez veces ahora adelante partir futuro os as um uma uns umas do da dos das no na "
    "nos nas e ou em com sem por para pelo pela não sim sempre mais muito já como quando cada vez agora diante frente "
    "il lo gli le un uno una di del della dei delle e o in con senza per che si è sono non sì sempre mai più ora quando "
    "ogni volta poi le la les un une des du de et ou en dans avec sans pour par que qui se sa son ses ce cette ces est "
    "sont ne pas plus jamais toujours quand chaque fois maintenant désormais avenir je tu il nous vous moi me te "
    # German
    "der die das den dem des ein eine einen einem einer und oder aber in im an am auf aus bei mit ohne nach von vor zu "
    "zum zur für ist sind war sei nicht kein keine nie niemals immer jetzt ab künftig zukunft bitte wenn jedes mal mehr "
    "ich du er sie es wir ihr mir mich dir dich uns soll sollst sollte "
    # Russian, Czech, Polish
    "и в во на с со к по о об от до из за для без не нет ни да же бы ли что это этот эта эти как когда если всегда "
    "никогда больше впредь теперь каждый раз пожалуйста мне меня ты вы мы я он она они нам "
    "a i v ve na s se k ke po o od do z ze za pro bez ne ano že co to ten ta ty jak když jestli vždy vždycky nikdy už "
    "teď příště pokaždé prosím mi mě my vy on ona oni w we na z ze do od dla bez nie tak że co to ten ta te jak kiedy "
    "jeśli zawsze nigdy już teraz odtąd przyszłość proszę mi mnie ty my wy".split()
)


def stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of `text`: function words and cue words left out, endings cut.

    Scripts without blanks give pairs of neighbouring characters instead.
    """
    out: set[str] = set()
    for token in _TOKEN.findall(text):
        low = token.lower().replace("’", "'")
        if low in _COMMON or _CJK.search(low):
            continue
        if "'" in low and low.split("'")[0] in _COMMON | {"don", "doesn", "isn"}:
            continue
        stem = _stem(low)
        if len(stem) > 1 or stem.isdigit():
            out.add(stem)
    for run in _CJK_RUN.findall(text):
        out.update(run[i : i + 2] for i in range(len(run) - 1))
    return frozenset(out)


def numbers(text: str) -> frozenset[str]:
    """Return the numbers written in `text`."""
    return frozenset(re.findall(r"\d+(?:[.,]\d+)?", text))


def measures(text: str) -> dict[str, str]:
    """Return the numbers of `text` by the word that stands before or behind them: "under" and "characters" for "60"."""
    out: dict[str, str] = {}
    for before, number, after in _MEASURE.findall(text.lower()):
        for unit in (before, after):
            if unit:
                out[unit] = number
    return out


def _stem(word: str) -> str:
    plain = "".join(c for c in unicodedata.normalize("NFD", word) if unicodedata.category(c) != "Mn")
    if not plain.isalpha() or len(plain) <= _SHORT:
        return plain
    for ending in ("ing", "ed", "es", "s"):
        if plain.endswith(ending) and len(plain) - len(ending) >= _SHORT and not plain.endswith("ss"):
            plain = plain[: -len(ending)]
            if ending in {"ing", "ed"} and len(plain) > _SHORT and plain[-1] == plain[-2] and plain[-1] not in "lsz":
                plain = plain[:-1]
            break
    if plain.endswith("y"):
        plain = plain[:-1] + "i"
    return plain.removesuffix("e")[:_STEM_LENGTH]
