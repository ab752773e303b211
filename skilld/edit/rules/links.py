"""Lint family T-11: links, images and web addresses that load, run, deceive or carry something away."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

from skilld.edit.change import Change
from skilld.edit.findings import Finding, flag, refuse
from skilld.edit.tokens import URL, addresses
from skilld.text import folded

_IMAGE = re.compile(r"!\[[^\]\n]*\](?:\(\s*<?(?P<to>[^)\s>]*)|\[)")
_LINK = re.compile(r"\]\(\s*<?(?P<to>[^)>]*)|<(?P<auto>[a-z][a-z0-9+.-]*:[^>\s]*)>", re.IGNORECASE)
_ACTIVE = re.compile(r"(?:javascript|vbscript|data|file|blob)\s*:", re.IGNORECASE)
_ACTIVE_TEXT = re.compile(r"\b(?:java|vb)script:(?=\S)|\bdata:\w+/[\w.+-]+[;,]", re.IGNORECASE)
_USER = re.compile(r"https?://(?P<user>[^\s/@]+)@(?P<host>[^\s/:?#`\"')>]+)", re.IGNORECASE)
_FILLED = re.compile(r"[\[{<][A-Za-z_.-]{2,}+[\]}>]|\$[({]?\w|%s\b|%7B|%5B", re.IGNORECASE)
_BLANK_LENGTH = 40  # characters behind an address in which a blank to fill may close
_BLANKS = re.compile(r"[\s\x00-\x1f]+")


def check(change: Change) -> Iterator[Finding]:
    """Refuse images from elsewhere, links that run code and addresses with a login; name every other new host."""
    for match in change.matches(_IMAGE, change.prose):
        to = match["to"]
        remote = to is None or re.match(r"(?:[a-z][a-z0-9+.-]*:|//)", to, re.IGNORECASE)
        yield (refuse if remote else flag)(
            "image", "It adds an image, which is loaded when the page is shown", match[0]
        )
    for match in change.matches(_LINK, change.prose):
        to = _BLANKS.sub("", html.unescape(match["to"] or match["auto"]))
        if _ACTIVE.match(to):
            yield refuse("active-link", "It adds a link that runs or embeds something", to)
    for match in change.matches(_ACTIVE_TEXT):
        yield flag("active-link", "It names an address that runs or embeds something", match[0])
    for match in change.matches(_USER):
        make = flag if _is_local(match["host"]) else refuse
        yield make("login-in-address", "It adds an address with a login, which hides where it leads", match[0])
    for match in change.matches(URL):
        whole = change.text[match.start() : match.end() + _BLANK_LENGTH].split()[0]
        if _FILLED.search(whole):
            yield flag("address-with-blank", "It adds an address into which something is filled", whole)
    yield from _hosts(change)


def _hosts(change: Change) -> Iterator[Finding]:
    old = folded(change.old_text)
    hosts: dict[str, None] = {}
    for address in addresses(change.text):
        host = _host(address)
        if host and not _is_local(host) and host not in old:
            hosts[host] = None
    for host in hosts:
        yield flag("address", "It names an address on the network", _plain(host))


def _host(address: str) -> str:
    """Return the host of a URL, e-mail or bare address in small letters; empty where there is none."""
    try:
        return urlsplit(address if "://" in address else f"//{address}").hostname or ""
    except ValueError:
        return address.casefold()


def _is_local(host: str) -> bool:
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        return ip_address(host).is_private
    except ValueError:
        return False


def _plain(host: str) -> str:
    """Return the host as the network knows it, so that letters of other scripts show (RFC 3492)."""
    if host.isascii():
        return host
    return f"{host} ({'.'.join(_punycode(label) for label in host.split('.'))})"


def _punycode(label: str) -> str:
    return label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")
