"""Who the person is for git: as configured, with a stand-in for a person who never set it up. Reads configuration."""

from __future__ import annotations

import re
import time

from skilld.git.objects import Ident
from skilld.git.run import Git

_NAME, _EMAIL = "Skill author", "author@localhost"


def identity(git: Git) -> dict[str, str]:
    """Return NAME and EMAIL, the last parts of the variables by which git takes them."""
    out = git.call("config", "--null", "--get-regexp", r"^user\.(name|email)$").out.decode("utf-8", "surrogateescape")
    rows = dict(item.split("\n", 1) for item in out.split("\0") if "\n" in item)
    name, email = (re.sub(r"[<>\n\r]", "", rows.get(key, "")).strip() for key in ("user.name", "user.email"))
    return {"NAME": name or _NAME, "EMAIL": email or _EMAIL}


def person_at(git: Git, seconds: int) -> Ident:
    """Return the person at a time (seconds since 1970), as a commit has it, in the time zone of this machine."""
    who = identity(git)
    return Ident(who["NAME"], who["EMAIL"], seconds, time.strftime("%z", time.localtime(seconds)))
