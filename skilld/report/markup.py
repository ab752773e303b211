"""HTML in which outside text stays text: only `tag` makes markup, and it escapes everything else."""

from __future__ import annotations

from html import escape

from skilld.text import safe_text


class Markup(str):
    """Markup that `tag` made."""

    __slots__ = ()


BREAK = Markup("<wbr>")  # a line may be broken here


def tag(name: str, *content: str, **attributes: str) -> Markup:
    """Return an element; `class_` stands for class, `_` in names of attributes for a hyphen."""
    named = ((key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items() if value)
    opened = "".join(f' {key}="{text(value)}"' for key, value in named)
    return Markup(f"<{name}{opened}>{join(*content)}</{name}>")


def join(*content: str) -> Markup:
    """Return pieces one after the other."""
    return Markup("".join(one if isinstance(one, Markup) else text(one) for one in content))


def text(given: str) -> Markup:
    """Return text as markup that shows it: also what would hide, or turn the direction of writing, is seen."""
    return Markup(escape(safe_text(given)))
