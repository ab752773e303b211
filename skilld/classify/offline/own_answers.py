"""Recognizes a question whose asker answers it with no, and so wants nothing: "shall we use tabs? No, leave that"."""

from __future__ import annotations

import re

_NO = re.compile(
    r"[\s?\uff1f\"'\u201d\u00bb)]*[?\uff1f][\s\"'\u201d\u00bb)]*"
    r"(?:(?:no+|nope|nah|nein|nö|non|nee|não|nao|nie|ne|нет|nej|hayır|不|いや|いいえ|아니(?:요|야)?)(?=\s*[,.!;:\u2013\u2014\uff0c\u3002\u3001\uff01-]|\s*\Z)"
    r"|(?:better not|rather not|lieber nicht|doch nicht|mejor no|melhor não|meglio di no|liever niet|算了|やめ))",
    re.IGNORECASE,
)


def answers_no(text: str, quote: str) -> bool:
    """Whether a no follows a question in `text`, one turn, of which `quote` is the end."""
    at = text.find(quote)
    end = at + len(quote.rstrip("?\uff1f "))
    return at >= 0 and _NO.match(text, end) is not None
