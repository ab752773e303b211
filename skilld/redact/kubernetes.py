"""Find the values of Kubernetes Secret manifests, whose names promise nothing. Pure.

Source: the Kubernetes API reference (kind Secret: `data` holds base64, `stringData` plain text), YAML and JSON alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.redact.findings import Finding
from skilld.redact.values import is_stand_in

_KIND = re.compile(r"""kind["']?:[ \t]{0,8}["']?Secret\b(?!\w)""")
_DATA = re.compile(r"""(?m)(?:^|[{,])[ \t]{0,16}["']?(?:data|stringData)["']?:\s{0,8}(?:\{|\n)""")
_ENTRY = re.compile(
    r"""\s{0,40}["']?(?P<name>[\w.-]{1,128}+)["']?:[ \t]{0,8}["']?(?P<secret>[^\s"',{}]{4,8192}+)["']?,?[ \t]{0,8}"""
    r"""(?:\#[^\n]{0,200})?(?=\n|\}|$)"""
)
_REACH = 4096  # a manifest of a few values


def find(text: str) -> Iterator[Finding]:
    """Yield every value below `data` or `stringData` of a manifest of kind Secret in `text`."""
    if "Secret" not in text:
        return
    for kind in _KIND.finditer(text):
        before = text.rfind("\n---", 0, kind.start())
        after = text.find("\n---", kind.end())
        begin = max(before, kind.start() - _REACH, 0)
        stop = min(after if after >= 0 else len(text), kind.end() + _REACH)
        for data in _DATA.finditer(text, begin, stop):
            at = data.end()
            while (entry := _ENTRY.match(text, at, stop)) and entry["name"] not in {"kind", "metadata", "apiVersion"}:
                if not is_stand_in(entry["secret"]):
                    yield Finding(*entry.span("secret"), "kubernetes-secret")
                at = entry.end()
