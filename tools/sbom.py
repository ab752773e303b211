"""The bill of materials of a release, CycloneDX 1.6 as JSON, made from the lock. Pure.

In: the text of `requirements/run.txt`, the project's name, version and licence, the time of the tag. Out: one document
with every package that any platform installs, the hashes of its files, the condition under which it is installed, and
what needs what. The same lock gives the same bytes. Licences are not in it: a lock does not know them.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from tools.lock import entries

_NEEDED_BY = re.compile(r"^    # (?:via ?|  )(\S*)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:(\w+)")


@dataclass(frozen=True, slots=True)
class Locked:
    """One package of the lock: `needed_by` are names of packages, the project's own among them."""

    name: str
    version: str
    condition: str
    hashes: tuple[str, ...]
    needed_by: frozenset[str]

    @property
    def purl(self) -> str:
        """The package's address in the index of Python packages, whichever server that is."""
        return _purl(self.name, self.version)


def packages(lock: str) -> Iterator[Locked]:
    """Yield what a lock holds."""
    for pin, entry in entries(lock).items():
        pinned, _, condition = pin.partition(";")
        name, _, version = pinned.strip().partition("==")
        needed_by = frozenset(filter(None, _NEEDED_BY.findall(entry)))
        yield Locked(name, version, condition.strip(), tuple(_HASH.findall(entry)), needed_by)


def document(lock: str, project: Mapping[str, str], at: int) -> dict[str, Any]:
    """Return the document for a project (`name`, `version`, `license`) at a Unix time."""
    found = list(packages(lock))
    name, version = project["name"], project["version"]
    root = _purl(name, version)
    needs: dict[str, set[str]] = {root: set(), **{one.purl: set() for one in found}}
    places = {name: root, **{one.name: one.purl for one in found}}
    for one in found:
        for dependent in one.needed_by:
            needs[places[dependent]].add(one.purl)
    runs = _reached(root, needs)
    about = {"type": "application", "bom-ref": root, "name": name, "version": version, "purl": root}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, root + hashlib.sha256(lock.encode()).hexdigest())}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": about | {"licenses": [{"license": {"id": project["license"]}}]},
        },
        "components": [_component(one, runs=one.purl in runs) for one in sorted(found, key=lambda one: one.purl)],
        "dependencies": [{"ref": ref, "dependsOn": sorted(below)} for ref, below in sorted(needs.items())],
    }


def text(made: Mapping[str, Any]) -> str:
    """Return a document as it is written."""
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def _component(one: Locked, *, runs: bool) -> dict[str, Any]:
    about: dict[str, Any] = {"type": "library", "bom-ref": one.purl, "name": one.name, "version": one.version}
    about |= {"purl": one.purl, "scope": "required" if runs else "excluded"}  # excluded: only building needs it
    about["hashes"] = [{"alg": "SHA-256", "content": content} for content in one.hashes]  # of each of its files
    if one.condition:
        about["properties"] = [{"name": "installed-where", "value": one.condition}]
    return about


def _reached(root: str, needs: Mapping[str, set[str]]) -> set[str]:
    """Return what is needed by what is needed, from the root on."""
    seen: set[str] = set()
    waiting = [root]
    while waiting:
        if (ref := waiting.pop()) not in seen:
            seen.add(ref)
            waiting += needs[ref]
    return seen


def _purl(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{quote(version, safe='')}"
