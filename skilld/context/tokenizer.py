"""Counts tokens with a real tokenizer, loaded on request: its vocabulary takes half a second to load.

The vocabulary is OpenAI's `o200k_base`, which litellm contains; litellm is not imported, and nothing is downloaded.
Other vendors count differently, and most publish no tokenizer: docs/measurements/trim.md says how far off this one is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from skilld.values import value_class

NAME = "o200k_base"
_FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"  # as tiktoken calls it: the SHA-1 of the address it is published at
_VARIABLE = "TIKTOKEN_CACHE_DIR"
_PER_TOKEN = 4  # characters


@value_class
class Tokenizer:
    """A function that counts tokens, and its name for people."""

    name: str
    count: Callable[[str], int]


# Of the line breaks at the end of a file, some agents' rules keep one and others none: they do not count.
ESTIMATE = Tokenizer("characters / 4", lambda text: -(-len(text.rstrip("\n")) // _PER_TOKEN))


def tokenizer() -> Tokenizer:
    """Return the real tokenizer; the estimate if its vocabulary is not on this machine."""
    package = find_spec("litellm")
    folders = package.submodule_search_locations if package else None
    folder = Path(next(iter(folders or ()), "")) / "litellm_core_utils" / "tokenizers"
    if not (folder / _FILE).is_file():
        return ESTIMATE
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = str(folder)  # the only way to keep tiktoken from downloading it
    try:
        import tiktoken

        encoding = tiktoken.get_encoding(NAME)
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before
    return Tokenizer(NAME, lambda text: len(encoding.encode_ordinary(text)))
