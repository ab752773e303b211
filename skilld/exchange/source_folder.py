"""Addresses of a folder in a repository, as they are copied from a browser or written by hand. Pure."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from urllib.parse import unquote

from skilld.values import value_class

# https://github.com/OWNER/REPO/tree/BRANCH/FOLDER; GitLab has "/-/tree/", Gitea and Codeberg "/src/branch/".
_PAGE_PATTERN = re.compile(
    r"(?P<repository>https?://[^/?#]+/[^/?#]+/[^?#]+?)/(?:-/)?(?:tree|blob|src/branch)/(?P<branch>[^/?#]+)(?:/(?P<folder>[^?#]*))?"
    r"(?:[?#].*)?"
)
# REPO.git/FOLDER
_BELOW_PATTERN = re.compile(r"(?P<repository>.+?\.git)/(?P<folder>[^?#]+)")


@value_class
class SourceFolder:
    """A repository's address or path, the branch that is named ("" if none), and the folder in it."""

    repository: str
    branch: str
    folder: str

    def holds(self, path: str) -> bool:
        """Whether a file of the repository is in the folder."""
        return not self.folder or PurePosixPath(path).is_relative_to(self.folder)


def split_source(source: str) -> SourceFolder:
    """Return the parts of a source; the folder is "" if the source is a whole repository, or no such address."""
    found = _PAGE_PATTERN.fullmatch(source) or _BELOW_PATTERN.fullmatch(source)
    if found is None:
        return SourceFolder(source, "", "")
    parts = found.groupdict("")
    folder = unquote(parts["folder"]).strip("/")
    if folder.rpartition("/")[2] == "SKILL.md":  # the page of the file itself
        folder = folder.rpartition("/")[0]
    return SourceFolder(parts["repository"], parts.get("branch", ""), folder)
