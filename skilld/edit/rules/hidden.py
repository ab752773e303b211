"""Lint families T-10, T-12 and T-15: text hidden from readers, or that readers cannot read."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from skilld.edit.change import Change, Finding, flag, refuse
from skilld.text import fold_case, word_set

# Lint family T-10: HTML and Markdown that hide text from a reader of the rendered page, or imitate an agent's frame.
# Code, inline or fenced, hides nothing and is left alone. A tag that is only mentioned ("use <b>") differs from one in
# use, which has attributes, is closed, or opens a block.

_TAG = re.compile(r"(?<!\\)<(?P<close>/?)(?P<name>[A-Za-z][\w-]*)(?P<rest>(?:[\s/][^<>]*)?)(?:>|\Z)")
_DECLARATION = re.compile(r"<\?\w*|<![A-Za-z]\w*|<!\[CDATA\[")
_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
_DIRECTIVE = re.compile(r"\s*[a-z]+(?:[-:][a-z]+)+(?:[ :][\w ,/:-]{0,40})?\s*|\s*\w{1,30}\s*")
_DEFINITION = re.compile(
    r"^[ \t>]*+(?:(?:[-*+]|\d+[.)])[ \t]++)?\[(?P<label>[^\]\n]+)\]:[ \t]*+(?:\n[ \t]*+)?(?P<to><[^>\n]*>"
    r"|\S+)(?P<title>[ \t]*+(?:\n[ \t]*+)?(?:\"[^\"]*\"|'[^']*'|\([^)]*\)))?[ \t]*+$",
    re.MULTILINE,
)
_REMARK = re.compile(r"\[[^\]\n]{0,40}\]:\s*(?:#|<#?>|/{1,2}|\.)\s*[(\"']")
_ROLE_LINK = re.compile(r"\[(?:system|assistant|user|human|developer)\]\s*\(#[^)\n]*\)", re.IGNORECASE)
_EMPTY_TARGETS = frozenset({"#", "<>", "/", "//", "<#>", "."})
_HIDING_ATTRIBUTE = re.compile(
    r"\bon\w+\s*=|\b(?:style|src|srcset|href|hidden|action|formaction|data)\b", re.IGNORECASE
)

_ELEMENTS = word_set(
    "b i em strong code kbd br sub sup u s del ins mark small p q cite abbr samp var hr wbr a address article"
    " aside audio base blockquote body button canvas caption center col dd details dialog div dl dt embed"
    " fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header html iframe img"
    " input label legend li link main map math menu meta nav noscript object ol optgroup option param picture pre"
    " progress script section select source span style summary svg table tbody td template textarea tfoot th"
    " thead title tr track ul video"
)
_HIDING_ELEMENTS = word_set(
    "script style iframe template noscript textarea details summary title object embed svg math head caption select"
)
_FRAME = re.compile(
    r"system(?:[-_ ]\w+)?|(?:local-)?command-\w+|(?:tool|function)[-_](?:results?|calls?|use|output)|human|assistant"
    r"|user[-_](?:prompt|message|input|turn)\w*|instructions?|classifier_\w+|conversation\w*|skill_definition"
    r"|recent_messages|updates|im_(?:start|end)",
    re.IGNORECASE,
)


def check_markup(change: Change) -> Iterator[Finding]:
    """Refuse comments, HTML in use, link definitions that hide remarks, and changes to the meaning of other lines."""
    for line in change.reinterpreted:
        yield refuse("changes-other-lines", "It changes whether the surrounding text is code or a comment", line)
    for match in change.matches(_COMMENT, change.prose):
        typed = fold_case(match[0]) in fold_case(change.evidence)
        if typed and match[0].endswith("-->") and _DIRECTIVE.fullmatch(match[1]):
            yield flag("html-comment", "It adds a comment that is invisible on the rendered page", match[0])
        else:
            yield refuse("html-comment", "It adds a comment that is invisible on the rendered page", match[0])
    for match in change.matches(_DECLARATION, change.prose):
        yield flag("html", "It adds an HTML or XML declaration", match[0])
    for match in change.matches(_TAG, change.prose):
        yield from _check_tag(change, match)
    for match in change.matches(_ROLE_LINK, change.prose):
        yield refuse("frame-tag", "It imitates the markers that delimit messages in a conversation", match[0])
    for match in change.matches(_REMARK, change.prose):
        yield refuse("hidden-definition", "It adds a link definition that hides a comment", match[0])
    for match in change.matches(_DEFINITION, change.prose):
        yield from _check_definition(change, match)


def _check_tag(change: Change, match: re.Match[str]) -> Iterator[Finding]:
    name, rest = match["name"].lower(), match["rest"].strip(" /\n\t")
    closed = bool(match["close"]) or f"</{name}" in change.prose.casefold()
    if _HIDING_ATTRIBUTE.search(rest) and ("=" in rest or name in _ELEMENTS):
        yield refuse("html", "It adds HTML that loads, runs or hides something", match[0])
    elif _FRAME.fullmatch(name) or _FRAME.fullmatch(f"{name} {rest}"):
        make = refuse if closed or name in {"system", "human", "assistant"} else flag
        yield make("frame-tag", "It imitates the tags that delimit messages in a conversation", match[0])
    elif name in _ELEMENTS:
        hides = name in _HIDING_ELEMENTS and (closed or match.start() == _line_text_start(change.prose, match.start()))
        typed = fold_case(match[0]) in fold_case(change.evidence)
        yield (refuse if hides or "=" in rest or not typed else flag)("html", "It adds raw HTML", match[0])
    elif (closed or "=" in rest) and not change.prose[: match.start()][-1:].isalnum():
        yield flag("html", "It adds something that looks like a markup tag", match[0])


def _line_text_start(text: str, at: int) -> int:
    """Return where the text of the line around `at` starts, after blanks and a list marker."""
    start = text.rfind("\n", 0, at) + 1
    marker = re.compile(r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?").match(text, start)
    return marker.end() if marker else start


def _check_definition(change: Change, match: re.Match[str]) -> Iterator[Finding]:
    label, title = match["label"], match["title"] or ""
    if label.startswith("^"):
        return
    if match["to"] in _EMPTY_TARGETS or len(title.split()) > 2:  # noqa: PLR2004 - more words than a title needs
        yield refuse("hidden-definition", "It adds a link definition that hides a comment", match[0])
    elif change.new_text.casefold().count(f"[{label}]".casefold()) < 2:  # noqa: PLR2004 - itself and one use
        yield flag("hidden-definition", "It adds a link definition that nothing uses, so it is never shown", match[0])


# Lint family T-12: characters that hide text, change its direction, or look like letters of another script, found by
# Unicode category and script, not by a list of attacks. Joiners are allowed if a script or an emoji needs them (UTS
# 51); direction marks next to right-to-left letters are flagged.

_FINE, _DOUBTFUL, _BAD = "fine", "doubtful", "bad"
_UNSAFE = frozenset({"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"})
# Blank or ignorable, although the category is letter, mark or symbol (DerivedCoreProperties.txt), the variation
# selectors 1-14 and 17-256, and the stand-in for an object.
_BLANK_PATTERN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\ufffc\U000133fc\ufe00-\ufe0d\U000e0100-\U000e01ef]"
)
_DIRECTION_MARKS = frozenset("\u200e\u200f\u061c")
_ZWJ = "\u200d"
_JOINERS = frozenset({_ZWJ, "\u200c"})
_VARIATION_SELECTORS = frozenset("\ufe0e\ufe0f")
_EMOJI_MODIFIERS = "\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_KEYCAPS = frozenset("#*0123456789\u203c\u2049")
_UNICODE_TAG = re.compile("[\U000e0000-\U000e007f]")
# The flags of England, Scotland and Wales: the only tag sequences for general use.
_FLAGS = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
_NEEDS_JOINERS = re.compile(
    "ARABIC|SYRIAC|MONGOLIAN|NKO|DEVANAGARI|BENGALI|GURMUKHI|GUJARATI|ORIYA|TAMIL|TELUGU|KANNADA|MALAYALAM|SINHALA|MYANMAR|KHMER|TIBETAN"
)
_PICTOGRAPH = re.compile("[\U0001f000-\U0001faff]")
_IDEOGRAPH = re.compile("[\U00020000-\U0003fffd]")
_NO_CHARACTER = re.compile(
    "[\ufdd0-\ufdef\ufffe\uffff]|[\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U000efffe-\U000effff]"
)
_RUN = re.compile(r"[^\W\d_]+")
# Letters that a reader takes for Latin ones (UTS 39 confusables.txt, the single letters of the two scripts).
_CYRILLIC = frozenset("асԁеһіјӏорԛѕѵхуԝүгАВЕЅІЈКМНОРСТХУҮԌԚԜ")
_GREEK = frozenset("οαινρυκχγτωϲΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")
_STYLES = "[\U0001d400-\U0001d7ff\uff21-\uff3a\uff41-\uff5a\U0001f130-\U0001f189\u24b6-\u24e9\u212a]"
_STYLED = re.compile(f"{_STYLES}{{2,}}|(?<=[A-Za-z]){_STYLES}|{_STYLES}(?=[A-Za-z])")
# Four marks on one letter, or one that strikes it out or encloses it.
_STACKED = re.compile(
    r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]{4,}|[A-Za-z][\u0334-\u0338\u0488\u0489\u20d2-\u20eb]"
)
_MAX_SHORT_WORD = 2


def check_unicode(change: Change) -> Iterator[Finding]:
    """Refuse invisible and direction-changing characters that the edit adds; flag look-alike letters."""
    had = Counter("".join(change.removed))
    kinds = [(char, _judge_character(line, at)) for line in change.added for at, char in enumerate(line)]
    for make, wanted in ((refuse, _BAD), (flag, _DOUBTFUL)):
        for char in Counter(char for char, kind in kinds if kind == wanted) - had:
            yield make("invisible-character", f"It adds the invisible character {_character_name(char)}")
    for match in change.matches(_STYLED):
        yield flag("look-alike", "It adds stylized Unicode letters, which can get past text filters", match[0])
    for match in change.matches(_STACKED):
        yield flag("look-alike", "It stacks accents on a letter, or strikes it out", match[0])
    for line in change.added:
        for match in _RUN.finditer(line):
            strange = _is_mixed(match[0]) or (len(match[0]) > _MAX_SHORT_WORD and _is_disguised(match[0], line))
            if strange and fold_case(match[0]) not in change.removed_folded:
                yield flag(
                    "look-alike",
                    "It adds a word with look-alike letters from another script",
                    _show_characters(match[0]),
                )


def _judge_character(line: str, at: int) -> str:
    """Return the verdict on a character at this place of the line: fine, doubtful or bad."""
    char, before, after = line[at], line[at - 1 : at], line[at + 1 : at + 2]
    if char == "\t" or (char.isascii() and char.isprintable()):
        return _FINE
    category = unicodedata.category(char)
    if char in _JOINERS:
        fine = _is_needed_joiner(line[:at], char, after)
    elif char in _VARIATION_SELECTORS:
        fine = _is_symbol(before) or before in _KEYCAPS
    elif _UNICODE_TAG.match(char):
        fine = any(match.start() < at < match.end() for match in _FLAGS.finditer(line))
    elif char in _DIRECTION_MARKS:
        letters = (other for other in line if other not in _DIRECTION_MARKS)  # the marks are right-to-left themselves
        return _DOUBTFUL if any(unicodedata.bidirectional(other) in {"R", "AL"} for other in letters) else _BAD
    elif category == "Cn":
        return _judge_unassigned(char)
    else:
        fine = category not in _UNSAFE and not _BLANK_PATTERN.match(char)
    return _FINE if fine else _BAD


def _is_needed_joiner(before: str, char: str, after: str) -> bool:
    """Whether a joiner is between two parts of an emoji, or between letters of a script that joins."""
    last = before[-1:]
    emoji = char == _ZWJ and _is_symbol(before.rstrip(_EMOJI_MODIFIERS)[-1:]) and _is_symbol(after)
    return emoji or (bool(last) and _NEEDS_JOINERS.match(unicodedata.name(last, "")) is not None and after.isalpha())


def _judge_unassigned(char: str) -> str:
    """Judge a character that this Python does not know yet: new emoji and ideographs are added every year."""
    if _PICTOGRAPH.match(char) or _IDEOGRAPH.match(char):
        return _FINE
    return _BAD if _NO_CHARACTER.match(char) else _DOUBTFUL


def _is_symbol(char: str) -> bool:
    return bool(char) and (unicodedata.category(char) in {"So", "Sk", "Sm"} or _PICTOGRAPH.match(char) is not None)


def _is_mixed(word: str) -> bool:
    """Whether a word mixes Latin with letters of another script that could all pass for Latin, or the reverse."""
    scripts = {script: {c for c in word if _script(c) == script} for script in ("LATIN", "CYRILLIC", "GREEK")}
    latin, cyrillic, greek = scripts["LATIN"], scripts["CYRILLIC"], scripts["GREEK"]
    if not latin:
        return bool(cyrillic and greek)
    return bool((cyrillic and cyrillic <= _CYRILLIC) or (greek and greek <= _GREEK and len(word) > _MAX_SHORT_WORD))


def _is_disguised(word: str, line: str) -> bool:
    """Whether a word consists of foreign look-alikes in a line that is otherwise Latin."""
    letters = set(word)
    if not (letters <= _CYRILLIC or letters <= _GREEK):
        return False
    others = [c for c in line if c.isalpha() and _script(c) in {"CYRILLIC", "GREEK"}]
    return all(c in _CYRILLIC or c in _GREEK for c in others) and any(_script(c) == "LATIN" for c in line)


def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]


def _character_name(char: str) -> str:
    return f"U+{ord(char):04X}" + (f" ({name})" if (name := unicodedata.name(char, "")) else "")


def _show_characters(word: str) -> str:
    return word + " (" + " ".join(f"U+{ord(c):04X}" for c in dict.fromkeys(word) if not c.isascii()) + ")"


_MIN_LENGTH = 24  # characters; shorter stretches hide little and look English by chance
_STRETCH_WORDS = 8  # words that are decoded together
_MIN_ENGLISH_WORDS = 3  # different frequent words: so many in one stretch are no coincidence
_MIN_PIG_LATIN_SHARE = 0.6  # share of a text's words that end in "ay"
_AY_WORDS = word_set(
    "away day days say way today may pay play stay lay ray array display delay okay gray relay gateway replay"
    " overlay friday monday sunday tuesday thursday saturday wednesday spray essay birthday"
)
_FREQUENT = word_set(
    "the and that this with for you your are not was from have all any use run then when must should always never"
    " before after file files send post delete ignore instructions instruction previous system user to of in is it"
    " on as at be by or do if password secret state paper curl http https bash conclusion"
)
_MIN_LONG_WORD = 3  # letters; with 25 rotations to try, two-letter words often appear by chance
_WORD = re.compile(r"[A-Za-z]+")
_LETTERS_APART = re.compile(r"(?<![\w'’])(?:[A-Za-z][ ._*|/-]{1,2}){5,}[A-Za-z](?!\w)")
_CONCATENATION = re.compile(
    r"\b(\w{1,12})\s*=\s*[\"'‘“][^\"'’”\n]{1,40}[\"'’”][\s,;.]{0,3}(?:and\s+)?(\w{1,12})\s*=\s*[\"'‘“]"
    r"|[\"'][^\"'\n]{1,30}[\"']\s*\+\s*[\"'][^\"'\n]{1,30}[\"']\s*\+",
    re.IGNORECASE,
)
_SPELLED_OUT = re.compile(
    r"\b(?:first letters? of|letter by letter|join (?:them|the parts|the pieces)|put (?:them|the parts) together"
    r"|part (?:one|1|a) is|spell(?:ed)? (?:out|backwards))\b|\b(\w{2,})(?:[\s,]+\1\b){3,}",
    re.IGNORECASE,
)
_DIGITS = str.maketrans("013457@$!", "oieastasi")
_DIGIT_WORD = re.compile(r"(?<!\S)(?=\S{0,20}[A-Za-z])(?=\S{0,20}[013457@$!]\S)\S{3,}")


def check_disguise(change: Change) -> Iterator[Finding]:
    """Refuse rotated letters that decode to a sentence; flag the other disguises."""
    for line in change.added:
        turned = _decode_rotation(line)
        if turned:
            yield refuse("encoded-text", "It adds letter-shifted text (such as ROT13) that decodes to", turned)
        yield from _check_word_play(line)
    for match in change.matches(_LETTERS_APART):
        yield flag("disguised-words", "It spells out words letter by letter", match[0])
    for match in change.matches(_SPELLED_OUT):
        yield flag(
            "disguised-words", "It disguises words by spelling them out, splitting them or repeating them", match[0]
        )
    for match in change.matches(_CONCATENATION):
        yield flag("disguised-words", "It assembles words from pieces", match[0])


def _check_word_play(line: str) -> Iterator[Finding]:
    """Yield findings of text that reads better backwards, as Pig Latin or with digits as letters."""
    words = _WORD.findall(line)
    turned = [word for word in words if word.casefold().endswith("ay") and word.casefold() not in _AY_WORDS]
    if len(turned) >= _MIN_ENGLISH_WORDS and len(turned) >= _MIN_PIG_LATIN_SHARE * len(words):
        yield flag("disguised-words", "It adds text in Pig Latin", line)
    for undone in (line[::-1], " ".join(word[::-1] for word in words)):
        if _count_english(undone) >= _MIN_ENGLISH_WORDS and _count_english(undone) > 2 * _count_english(line):
            yield flag("disguised-words", "It adds text written backwards", undone)
    if len(_DIGIT_WORD.findall(line)) >= _MIN_ENGLISH_WORDS:
        undone = line.translate(_DIGITS)
        if _count_english(undone) >= _count_english(line) + _MIN_ENGLISH_WORDS - 1:
            yield flag("disguised-words", "It writes digits in place of letters", undone)


def _decode_rotation(line: str) -> str:
    """Return a stretch of the line that becomes English when all its letters are rotated, or an empty string."""
    words = _WORD.findall(line)
    for start in range(0, max(1, len(words) - _STRETCH_WORDS + 1), _STRETCH_WORDS // 2):
        stretch = " ".join(words[start : start + _STRETCH_WORDS])
        if len(stretch) < _MIN_LENGTH:
            continue
        known = _count_english(stretch)
        for table in _ROTATIONS:
            turned = stretch.translate(table)
            if (
                _count_english(turned) >= _MIN_ENGLISH_WORDS
                and _count_english(turned) > 2 * known
                and _count_english(turned, _MIN_LONG_WORD) >= 2  # noqa: PLR2004 - one could be chance
            ):
                return turned
    return ""


def _rotation(by: int) -> dict[int, int]:
    small, great = string.ascii_lowercase, string.ascii_uppercase
    return str.maketrans(small + great, small[by:] + small[:by] + great[by:] + great[:by])


_ROTATIONS = tuple(_rotation(by) for by in range(1, 26))


def _count_english(text: str, min_letters: int = 1) -> int:
    """Count the different frequent English words of at least so many letters in a text."""
    return sum(len(word) >= min_letters for word in _FREQUENT.intersection(_WORD.findall(text.casefold())))


# Lint family T-15: text that a reader cannot read: encoded, or a blob of unknown form. It is decoded once if possible;
# a decoded sentence is refused, whatever it says. Unlike payloads, digests, identifiers and paths do not decode to
# text.

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?((?:[0-9a-fA-F]{2}[ ,:]?){12,})(?![0-9A-Za-z])")
_ESCAPES = re.compile(r"(?:\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[0-3][0-7]{2}){4,}")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}){4,}")
_ENTITIES = re.compile(r"(?:&#(?:\d{2,7}|x[0-9a-fA-F]{2,6});){4,}")
_BINARY = re.compile(r"(?:[01]{8}\s?){4,}")
_MORSE = re.compile(r"(?:[.\-–·]{1,6}(?:\s|/)+){8,}")
_TOKEN = re.compile(r"\S{200,}")
_MIN_BLOB = 60  # characters from which a meaningless run is opaque
_BLOB_ENTROPY = 4.3  # bits per character; English in base64 has about 5, identifiers under 4.2
_MIN_PART = 20  # characters between the signs of base64; a path has about 8 between its slashes
_MIN_READABLE_SHARE = 0.95  # share of its characters
_MIN_WORD = 4  # characters of a word that commands anything


def check_encoded(change: Change) -> Iterator[Finding]:
    """Refuse text that is readable only when decoded; flag text that stays opaque."""
    for pattern, decode in _DECODERS:
        for match in change.matches(pattern):
            decoded = decode(match[0])
            if _is_text(decoded):
                yield refuse("encoded-text", "It adds encoded text that decodes to", decoded)
    for match in change.matches(_MORSE):
        yield flag("encoded-text", "It adds text in Morse code", match[0])
    for match in change.matches(_BASE64):
        if _is_blob(match[0]):
            yield refuse("opaque-blob", "It adds data that is not human-readable", match[0])
    for match in change.matches(_TOKEN):
        yield flag("opaque-blob", "It adds a very long string without spaces", match[0])


def _decode_base64(text: str) -> str:
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _decode_hex(text: str) -> str:
    return bytes.fromhex(re.sub(r"[^0-9a-fA-F]", "", text.removeprefix("0x"))).decode("utf-8", "replace")


def _decode_binary(text: str) -> str:
    return "".join(chr(int(octet, 2)) for octet in re.findall(r"[01]{8}", text))


_DECODERS: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (_BASE64, _decode_base64),
    (_HEX, _decode_hex),
    (_ESCAPES, lambda text: codecs.decode(text, "unicode_escape")),
    (_PERCENT, unquote),
    (_ENTITIES, html.unescape),
    (_BINARY, _decode_binary),
)


def _is_text(decoded: str) -> bool:
    """Whether it reads as words: nearly all printable ASCII, half of it letters, unlike random bytes."""
    printable = sum(char.isascii() and (char.isprintable() or char in "\n\t") for char in decoded)
    letters = sum(char.isalpha() for char in decoded)
    return len(decoded) >= _MIN_WORD and printable >= _MIN_READABLE_SHARE * len(decoded) and 2 * letters >= len(decoded)


def _is_blob(run: str) -> bool:
    """Whether a run has the length, mixture and entropy of encoded bytes, and no words between its signs."""
    kinds = all(any(test(char) for char in run) for test in (str.isupper, str.islower, str.isdigit))
    counts = Counter(run)
    entropy = -sum(n / len(run) * math.log2(n / len(run)) for n in counts.values())
    parts = len(re.findall(r"[/+_-]+", run)) + 1
    return len(run) >= _MIN_BLOB and kinds and entropy >= _BLOB_ENTROPY and len(run) / parts >= _MIN_PART
