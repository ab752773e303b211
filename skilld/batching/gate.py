"""The gate: separates turns that may contain a lasting instruction from plain chatter.

It takes microseconds and has no dependencies; a batch of five turns that it rejects needs no model call. It errs
towards yes: any hint of a rule is a yes. It rejects turns that consist only of approvals, questions and reports, small
tasks, and turns that a small linear model finds unlike a lasting one. Stores no text. The figures are in
docs/measurements/quality.md.
"""

from __future__ import annotations

import json
import re
import tomllib
from array import array
from base64 import b64decode
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import sqrt
from pathlib import Path
from string import punctuation
from typing import Literal
from zlib import crc32

from skilld.values import value_class

# The gate's second opinion: a small linear model over hashed words, word pairs and surface signs. The weights are one
# signed byte per bucket, made by tools/train_gate.py; their file names the data and the results.

BUCKETS = 16384
_START, _END = 0x5354, 0x454E  # the codes before the first and after the last word
_SIGN_SALT = 0x5347  # separates a sign from the same word
_PAIR_FACTOR = 1000003  # a prime, so that the pairs (a, b) and (b, a) have different buckets


@value_class
class Model:
    """A score is the bias plus the scaled sum of the buckets' weights, divided by the root of their number.

    Below `floor` a turn is chatter.
    """

    bias: float
    scale: float
    floor: float
    weights: array[int]


def buckets(words: Sequence[str], signs: Iterable[str], number: int = BUCKETS) -> set[int]:
    """Return the buckets of a text: its words in lower case, their pairs, its beginning and end, and its `signs`.

    There are `number` buckets.
    """
    codes = [crc32(word.encode("utf-8", "surrogatepass")) for word in words]
    out = {code % number for code in codes}
    before = _START
    for code in [*codes, _END]:
        out.add((before * _PAIR_FACTOR ^ code) % number)
        before = code
    out.update((crc32(sign.encode("utf-8", "surrogatepass")) ^ _SIGN_SALT) % number for sign in signs)
    return out


def score(model: Model, found: set[int]) -> float:
    """Return how similar a turn with the buckets `found` is to lasting ones."""
    weights = model.weights
    return model.bias + model.scale * sum([weights[bucket] for bucket in found]) / sqrt(len(found) + 1)


def load(path: Path) -> Model:
    """Load the weights file at `path`. Raises ValueError or KeyError if it is invalid."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    weights = array("b", b64decode(stored["weights"]))
    if len(weights) != BUCKETS:
        raise ValueError(f"{path.name} has {len(weights)} weights, not {BUCKETS}")
    return Model(float(stored["bias"]), float(stored["scale"]), float(stored["floor"]), weights)


# The words of gate_words.toml as sets.

_DATA: dict[str, str] = tomllib.loads(Path(__file__).with_name("gate_words.toml").read_text(encoding="utf-8"))


def _words(name: str) -> frozenset[str]:
    return frozenset(_DATA[name].split())


def _phrases(name: str) -> frozenset[str]:
    return frozenset(" ".join(phrase.split()) for phrase in _DATA[name].split(","))


ASSENTS = _words("assents")
OPENERS = _words("openers")
QUESTIONS = _words("questions")
QUESTION_ENDINGS = _words("asks_last")
ORDER_OBJECTS = _words("done")
REBUKE_OPENERS = _words("rebukes")
AGENT_WORDS = _words("rebuked")
REPORT_PHRASES = _phrases("reports")
FAILURE_PHRASES = _phrases("broken")
ONE_OFF_PHRASES = _phrases("once")
TASK_VERBS = _words("tasks")
CREATION_VERBS = _words("makes")
ARTICLES = _words("articles")
MANNER_WORDS = _words("how")
RULE_OPENERS = _words("begins")
RULE_OPENER_EXCEPTIONS = _words("unaware")
HINTS = _words("hints")
HINT_PAIRS = _phrases("hint_pairs")
WISHES = _words("wishes")
DOUBTS = _words("doubts")
CJK_FAINT_HINTS = tuple(_DATA["cjk_faint"].split())
CJK_HINTS = tuple(hint for hint in _DATA["cjk_hints"].split() if hint not in CJK_FAINT_HINTS)
CJK_ASSENTS = _words("cjk_assents")
CJK_QUESTIONS = tuple(_DATA["cjk_questions"].split())
CJK_QUESTION_WORDS = tuple(_DATA["cjk_wonders"].split())
CJK_AGENT_WORDS = tuple(_DATA["cjk_rebuked"].split())
CJK_REPORTS = tuple(_DATA["cjk_reports"].split())
CJK_REPORT_ENDINGS = tuple(_DATA["cjk_ends"].split())


_MAX_LENGTH = 4000  # characters: longer turns always pass
_MAX_APPROVAL_WORDS = 8  # a sentence this short is an approval if it begins as one
_MAX_CJK_REPORT = 14  # characters of a report in scripts without blanks
_MAX_CJK_QUESTION = 40  # characters: a longer question may contain a rule
_MAX_TASK_WORDS = 14  # a longer task may contain a rule
_MAX_ONE_WORD = 20  # letters: one word without a hint is an answer; a longer one may be a sentence without blanks
# The model judges turns with so many words, or characters in scripts without blanks.
_MIN_WORDS, _MAX_WORDS = 3, 80

# str.translate and split take a tenth of the time of a regular expression over words.
_SEPARATORS = str.maketrans(dict.fromkeys(punctuation + "¿¡«»“”„–—…•\n\t", " ") | {"'": "'", "’": "'"})
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CJK_TOKENS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[a-z0-9_]+")
_CJK_PARTS = re.compile(r"[\s,，、。!！]+")
_CJK_SENTENCE = re.compile(r"(?<=[。.!！?？；;])\s*|\n+")
# Words that only seem to contain a hint: "error", "difference", "project".
_CJK_FALSE_HINTS = re.compile(r"[报報出][错錯]|不[错錯]|错误|錯誤|[区區特級级類类分识識][别別]")
_CJK_BLAME = re.compile(r"(?:[为為]什[么麼]|怎[么麼])[你您]?(?:又|[总總]|老|[还還]|[没沒]|不|把|[删刪]|改)")
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_LOG = re.compile(
    r"\s*(?:[$❯➜%] |~ ?[✗❯➜] |PS [A-Z]:\\|\[?\d{4}-\d\d-\d\d|\[?\d\d[:/]\d\d[:/]\d\d|at \S+[(:]|File \"|"
    r"Traceback|Caused by|npm ERR|"
    r"\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b|[\w.]{0,60}(?:Error|Exception)\b\s*[:(]|(?:error|fatal)\b.*:|"
    r"(?:GET|POST|PUT|DELETE) \S|https?://\S+\s*$|[\w./-]{1,200}:\d+\b|[\]\[{}]\s*(?:$|[\"{}\[\]])|\"[\w.-]+\"\s*:)"
)
_ATTACHMENT = re.compile(
    r"(?<!\S)(?:@|\$[a-z]|https?://|[a-zA-Z]:\\|\.{0,2}/|~/|\[(?:Image|Request|Pasted)\b[^\]]{0,300}+\])\S*"
)
_RULE_FILE = re.compile(r"\.mdc\b|\b(?:CLAUDE|AGENTS?|GEMINI|SKILL)\.md\b|rules|skills?\b", re.IGNORECASE)
_CODE_ENDS = ("{", "}", ";", "},", "],")
_MAX_SENTENCES = 5  # larger numbers are the same sign
_FAMILIES = {"wish": WISHES, "doubt": DOUBTS, "you": AGENT_WORDS, "i": frozenset(("i", "i'm", "im", "my", "me"))}
_Kind = Literal["approval", "question", "rebuke", "report", "task", "wish", "rest"]
_CHATTER: frozenset[_Kind] = frozenset(("approval", "question", "report"))
_TALK: frozenset[_Kind] = frozenset(("approval", "question"))
_SMALL_TALK: frozenset[_Kind] = _CHATTER | {"task"}  # in a turn too short for a task and a rule
_MODEL = load(Path(__file__).with_name("gate_weights.json"))


def needs_classification(text: str) -> bool:
    """Whether `text`, one whole turn, might contain something worth remembering. False only for plain chatter."""
    return decide(text, None, _MODEL.floor)


def decide(text: str, likeness: float | None, floor: float) -> bool:
    """Return the gate's decision on `text`; turns whose score is below `floor` are chatter.

    With `likeness` None the shipped model computes the score. The training script passes that of a model that was not
    trained on this turn.
    """
    if len(text) > _MAX_LENGTH:
        return True
    prose = _prose(text)
    if _CJK.search(prose):
        parts = [part for part in _CJK_SENTENCE.split(prose) if part.strip()]
        if _cjk_hints(prose, parts):
            return True
        if all(_cjk_kind(part) in _CHATTER for part in parts):
            return False
        words, kinds = _CJK_TOKENS.findall(prose.lower()), [_cjk_kind(prose)]
    else:
        words = _gate_words(prose)
        if len(words) > _MAX_WORDS or not HINTS.isdisjoint(words) or not HINT_PAIRS.isdisjoint(_pairs(words)):
            return True
        sentences = _sentences(prose)
        if any(_begins_as_rule(*sentence) for sentence in sentences):
            return True
        kinds = [_kind(*sentence) for sentence in sentences]
    chatter = _SMALL_TALK if len(words) <= _MAX_TASK_WORDS else _CHATTER
    if chatter.issuperset(kinds) or (len(words) == 1 and len(words[0]) <= _MAX_ONE_WORD):
        return False
    if not _MIN_WORDS <= len(words) <= _MAX_WORDS:
        return True
    return (score(_MODEL, buckets(words, _signs(prose, words, kinds))) if likeness is None else likeness) >= floor


def features(text: str) -> set[int]:
    """Return the model's features of `text`: the words of its prose, without code and logs, and its surface signs."""
    prose = _prose(text)
    if _CJK.search(prose):
        words, kinds = _CJK_TOKENS.findall(prose.lower()), [_cjk_kind(prose)]
    else:
        words, kinds = _gate_words(prose), [_kind(*sentence) for sentence in _sentences(prose)]
    return buckets(words, _signs(prose, words, kinds))


def _signs(prose: str, words: list[str], kinds: list[_Kind]) -> set[str]:
    """Return the surface signs of a turn: its form, and the families of its words. They are hashed for the model."""
    signs = {f"kind {kind}" for kind in kinds}
    signs.add(f"first {kinds[0] if kinds else None}")
    signs.add(f"sentences {min(len(kinds), _MAX_SENTENCES)}")
    signs.add(f"length {len(words).bit_length()}")
    signs.add(f"end {prose.rstrip()[-1:]}")
    signs.add(f"asks {'?' in prose or '？' in prose} {len(kinds) > 1}")
    signs |= {f"says {name}" for name, family in _FAMILIES.items() if not family.isdisjoint(words)}
    return signs


def _prose(text: str) -> str:
    """Return `text` without code blocks, log lines, addresses and attached files other than files of rules."""
    if "```" in text:
        text = _CODE.sub("\n", text)
    prose = "\n".join(line for line in text.split("\n") if not (_LOG.match(line) or line.endswith(_CODE_ENDS)))
    return _ATTACHMENT.sub(lambda m: m[0] if _RULE_FILE.search(m[0]) else " ", prose)


def _gate_words(text: str) -> list[str]:
    return text.lower().translate(_SEPARATORS).split()


def _sentences(prose: str) -> list[tuple[str, list[str]]]:
    """Return the sentences, each with its words."""
    return [(sentence, _gate_words(sentence)) for sentence in _SENTENCE.split(prose) if sentence]


def _pairs(words: list[str]) -> set[str]:
    return {f"{one} {two}" for one, two in pairwise(words)}


def _begins_as_rule(sentence: str, words: list[str]) -> bool:
    rest = words[_opener_end(words) :]
    return (
        len(rest) > 1
        and rest[0] in RULE_OPENERS
        and rest[1] not in RULE_OPENER_EXCEPTIONS
        and not sentence.rstrip().endswith("?")
    )


def _opener_end(words: list[str]) -> int:
    return next((i for i, word in enumerate(words) if word not in OPENERS), len(words))


def _kind(sentence: str, words: list[str]) -> _Kind:
    start = _opener_end(words)
    rest = words[start:]
    if all(word in ASSENTS or len(word) == 1 or word.isdigit() for word in rest):
        return "approval"
    if _is_question(sentence, rest):
        return "rebuke" if not REBUKE_OPENERS.isdisjoint(rest[:2]) and not AGENT_WORDS.isdisjoint(rest) else "question"
    pairs = _pairs(words)
    if len(words) <= _MAX_TASK_WORDS and (not ONE_OFF_PHRASES.isdisjoint(pairs) or _is_small_task(rest)):
        return "task"
    reports = rest[0] in REPORT_PHRASES or " ".join(rest[:2]) in REPORT_PHRASES or not FAILURE_PHRASES.isdisjoint(pairs)
    if not WISHES.isdisjoint(words) or not (reports or DOUBTS.isdisjoint(words)):
        return "wish"
    if reports:
        return "report"
    if rest[0] in TASK_VERBS and len(words) <= _MAX_TASK_WORDS:
        return "task"
    return "approval" if start > 0 and words[0] in ASSENTS and len(words) <= _MAX_APPROVAL_WORDS else "rest"


def _is_small_task(rest: list[str]) -> bool:
    says_how = not (MANNER_WORDS.isdisjoint(rest[2:]) and WISHES.isdisjoint(rest))
    return rest[0] in CREATION_VERBS and not ARTICLES.isdisjoint(rest[1:2]) and not says_how


def _is_question(sentence: str, rest: list[str]) -> bool:
    ordered = rest[0] == "do" and len(rest) > 1 and rest[1] in ORDER_OBJECTS
    return not ordered and (rest[0] in QUESTIONS or rest[-1] in QUESTION_ENDINGS or sentence.rstrip().endswith("?"))


def _cjk_hints(prose: str, sentences: list[str]) -> bool:
    """Whether a turn has a hint of a rule; a faint one in approvals and questions only counts as a reproach."""
    hinted = _CJK_FALSE_HINTS.sub("", prose)
    if any(hint in hinted for hint in CJK_HINTS):
        return True
    if not any(hint in hinted for hint in CJK_FAINT_HINTS):
        return False
    return any(word in prose for word in CJK_AGENT_WORDS) or any(_cjk_kind(one) not in _TALK for one in sentences)


def _cjk_kind(sentence: str) -> _Kind:
    """Return the kind of a sentence, or of a whole turn, as in the model's training."""
    plain = sentence.strip("。！!?？.~ ,，、\n")
    if all(part in CJK_ASSENTS for part in _CJK_PARTS.split(plain)):
        return "approval"
    if _CJK_BLAME.search(plain) and any(word in plain for word in CJK_AGENT_WORDS):
        return "rebuke"
    asks = sentence.rstrip().endswith(("?", "？")) or plain.startswith(CJK_QUESTIONS) or plain.endswith(CJK_QUESTIONS)
    wonders = any(word in plain for word in CJK_QUESTION_WORDS) and not any(word in plain for word in CJK_AGENT_WORDS)
    if asks or (len(plain) <= _MAX_CJK_QUESTION and wonders):
        return "question"
    goes_on = len(plain) <= _MAX_CJK_REPORT and (plain.startswith(CJK_REPORTS) or plain.endswith(CJK_REPORT_ENDINGS))
    return "report" if goes_on else "rest"
