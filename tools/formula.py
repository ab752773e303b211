"""The Homebrew formula of a release. Pure: where its files can be had, a version and a hash in, Ruby out.

It is made at release and never committed, so that no address stands in the project. docs/decisions/0056-packages.md
says why it installs the lock's wheels and why `skilld` is a script that names the folder without a version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PYTHON = "3.13"
_URL = re.compile(r"https?://[\w.:-]+(?:/[\w.~%+-]+)+/?", re.ASCII)
# How a clone names a repository -> its host and path.
_REMOTES = (
    re.compile(r"https?://(?:[^/@]+@)?(?P<host>[\w.:-]+)/(?P<path>[\w./~-]+?)(?:\.git)?/?", re.ASCII),
    re.compile(r"ssh://(?:[^/@]+@)?(?P<host>[\w.-]+)(?::\d+)?/(?P<path>[\w./~-]+?)(?:\.git)?/?", re.ASCII),
    re.compile(r"(?:[^/@:]+@)(?P<host>[\w.-]+):(?P<path>[\w./~-]+?)(?:\.git)?/?", re.ASCII),
)
_TEMPLATE = """\
class Skilld < Formula
  desc "@DESC@"
  homepage "@HOMEPAGE@"
  url "@URL@"
  sha256 "@SHA256@"
  license "@LICENSE@"

  depends_on "python@@PYTHON@"

  on_macos do
    depends_on arch: :arm64 # the locked cryptography has no wheels for Intel Macs
  end

  # Wheels carry libraries whose headers have no room for the names that Homebrew would give them.
  preserve_rpath

  def install
    system Formula["python@@PYTHON@"].opt_bin/"python@PYTHON@", "-m", "venv", libexec
    pip = [libexec/"bin/python", "-m", "pip", "install", "--disable-pip-version-check"]
    system(*pip, "--require-hashes", "--only-binary=:all:", "-r", "requirements/run.txt")
    system(*pip, "--no-deps", "--no-build-isolation", ".")
    # By opt_libexec: the service starts what runs here, also when the next version has taken its place.
    (bin/"skilld").write <<~SH
      #!/bin/sh
      exec "#{opt_libexec}/bin/python" -P -m skilld "$@"
    SH
    chmod 0755, bin/"skilld"
    man1.install "docs/skilld.1"
    bash_completion.install "completions/skilld.bash" => "skilld"
    zsh_completion.install "completions/_skilld"
    fish_completion.install "completions/skilld.fish"
  end

  def caveats
    <<~EOS
      To start: skilld setup
      To keep skilld running whenever you are logged in: skilld service install
      Before you uninstall it: skilld uninstall
    EOS
  end

  test do
    assert_match "1 proposal", shell_output("#{bin}/skilld demo")
  end
end
"""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a release can be had: the project's page, and the address of its source archive."""

    homepage: str
    url: str


def formula(source: Source, sha256: str, description: str, licence: str) -> str:
    """Return the formula. Raises ValueError for what would not be a plain string of Ruby."""
    for url in (source.homepage, source.url):
        if not _URL.fullmatch(url):
            raise ValueError(f"no address that a formula can hold: {url}")
    if not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise ValueError(f"no SHA-256: {sha256}")
    if not re.fullmatch(r"[\w ,.:;/()-]+", description + licence, re.ASCII):
        raise ValueError(f"a description that a formula cannot hold: {description}")
    values = {"DESC": shortened(description), "HOMEPAGE": source.homepage, "URL": source.url}
    values |= {"SHA256": sha256, "LICENSE": licence, "PYTHON": PYTHON}
    return re.sub(r"@([A-Z][A-Z0-9]+)@", lambda match: values[match[1]], _TEMPLATE)


def shortened(description: str) -> str:
    """Return a description as Homebrew wants one: its first half sentence, without a full stop."""
    return description.partition(":")[0].rstrip(".")


def page(remote: str) -> str | None:
    """Return the page of a repository that a clone names so; None where it is a folder, or unknown."""
    for pattern in _REMOTES:
        if match := pattern.fullmatch(remote.strip()):
            return f"https://{match['host']}/{match['path']}"
    return None


def downloads(page: str, tag: str) -> str:
    """Return the folder in which GitHub, Gitea and Forgejo have the files of a release."""
    return f"{page}/releases/download/{tag}"
