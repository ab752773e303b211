"""Find the values of Kubernetes Secret manifests, whose names promise nothing. Pure.

Source: the Kubernetes API reference (kind Secret: `data` holds base64, `stringData` plain text), YAML and JSON alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.redact.findings import Finding
from skilld.redact.values import is_stand_in

_KIND = re.compile(r"""kind["']?:[ \t]{0,8}["']?[Ss]ecret\b""")
_DATA = re.compile(r"""(?m)(?:^|[{,])[ \t]{0,16}["']?(?:data|stringData)["']?:\s{0,8}(?:\{|\n)""")
_ENTRY = re.compile(
    r"""(?x)
    \s{0,40} ["']? (?P<name>[\w.-]{1,128}+) ["']? : [ \t]{0,8}
    (?: [|>][+-]? [ \t]{0,8} \n \s{1,40} )?                       # a block scalar
    ["']? (?P<secret>[^\s"',{}]{4,8192}+) ["']? ,? [ \t]{0,8} (?:\#[^\n]{0,200})? (?=\n|\}|$)"""
)
_OTHER_FIELDS = frozenset({"kind", "metadata", "apiVersion", "type"})
_REACH = 4096  # a manifest of a few values


def find(text: str) -> Iterator[Finding]:
    """Yield every value below `data` or `stringData` of a manifest of kind Secret in `text`."""
    done = 0
    for kind in _KIND.finditer(text):
        begin = max(kind.start() - _REACH, done, 0)
        begin = max(begin, text.rfind("\n---", begin, kind.start()))
        stop = min(len(text), kind.end() + _REACH)
        end = text.find("\n---", kind.end(), stop)
        done = stop = end if end >= 0 else stop
        for data in _DATA.finditer(text, begin, stop):
            yield from _entries(text, data.end(), stop)


def _entries(text: str, at: int, stop: int) -> Iterator[Finding]:
    while at < stop and (entry := _ENTRY.match(text, at)) and entry["name"] not in _OTHER_FIELDS:
        if not is_stand_in(entry["secret"]):
            yield Finding(*entry.span("secret"), "kubernetes-secret")
        at = entry.end()
