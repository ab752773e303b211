"""18.8: the Debian package, built with Debian's tools, installed, tried and purged in a copy of this machine.

The copy is an overlay in a namespace of its own: what the package does to the machine is what lies in the upper layer.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from skilld import __version__
from support.fresh_users import LIMIT, NOBODY
from tools import deb

ROOT = Path(__file__).parents[2]
AT = 1_795_435_200  # 2026-11-23T12:00:00Z
pytestmark = pytest.mark.slow

# $1: an empty folder, $2: the package. The copy ends with the namespace.
IN_A_COPY = r"""
set -eu
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount --rbind /proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
mkdir -p "$1/root/visitor/package"
cp "$2" "$1/root/visitor/package/skilld.deb"
chown -R NOBODY:NOBODY "$1/root/visitor"
chroot "$1/root" /bin/sh -eu <<'END'
cd /visitor
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
as() { env -i PATH="$PATH" HOME="$1" XDG_RUNTIME_DIR="$1" LC_ALL=C.UTF-8 $2 skilld $3; }
user="setpriv --reuid=NOBODY --regid=NOBODY --clear-groups"
dpkg -i package/skilld.deb
echo "== version"; as /visitor "$user" --version
echo "== user"; as /visitor "$user" demo
echo "== service"; as /visitor "$user" "service install --dry-run"
echo "== root"; mkdir /visitor/root; as /visitor/root "" demo
echo "== files"; dpkg -L skilld | grep -v '^/usr/lib/skilld/lib/'
echo "== broken"; dpkg --verify skilld
echo "== again"; dpkg -i package/skilld.deb >/dev/null; as /visitor "$user" --version
echo "== homes"; find /visitor -mindepth 1 -path /visitor/package -prune -o -print
rm -r /visitor
dpkg -P skilld >/dev/null
END
echo "== left"
cd "$1/upper"
find . ! -type d
find . -type d -name '*skilld*'
""".replace("NOBODY", str(NOBODY))


@pytest.fixture(scope="module")
def package() -> Iterator[Path]:
    """Build the package of what is checked out."""
    if lacking := deb.missing():
        pytest.skip(f"not installed: {', '.join(lacking)}")
    with tempfile.TemporaryDirectory(prefix="skilld-deb-") as name:
        tree = Path(name) / "tree"
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for file in filter(None, listed.split("\0")):
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, tree / file)
        deb.describe(tree, __version__, "Ada Maker <ada@maker.invalid>", AT)
        yield deb.build(tree, Path(name), AT)


@pytest.fixture(scope="module")
def copy(package: Path) -> dict[str, list[str]]:
    """Return what was printed in the copy, by heading."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root can make a copy of the machine, with unshare")
    with tempfile.TemporaryDirectory(prefix="skilld-copy-") as name:
        command = ["unshare", "--mount", "sh", "-c", IN_A_COPY, "sh", name, str(package)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    if "mount:" in done.stderr:
        pytest.skip(f"no overlay to be had: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stdout + done.stderr
    parts = [part.partition("\n") for part in done.stdout.split("== ")[1:]]
    return {heading: body.splitlines() for heading, _, body in parts}


def test_it_runs_for_everybody(copy: dict[str, list[str]]) -> None:
    assert copy["version"] == copy["again"] == [f"skilld {__version__}"]
    for who in ("user", "root"):
        assert "+- Always put the ticket number first in each entry." in copy[who]
        assert any(line.startswith("1 proposal") for line in copy[who])
    assert 'ExecStart=:"/usr/lib/skilld/bin/python3" "-P" "-m" "skilld" run' in copy["service"]
    assert copy["homes"] == ["/visitor/root"], "a demo leaves nothing"


def test_it_has_what_belongs_to_a_command(copy: dict[str, list[str]]) -> None:
    assert {
        "/usr/bin/skilld",
        "/usr/lib/skilld/bin/python3",
        "/usr/share/man/man1/skilld.1.gz",
        "/usr/share/bash-completion/completions/skilld",
        "/usr/share/zsh/vendor-completions/_skilld",
        "/usr/share/fish/vendor_completions.d/skilld.fish",
        "/usr/share/doc/skilld/copyright",
    } <= set(copy["files"])
    assert copy["broken"] == []


def test_purged_it_leaves_nothing(copy: dict[str, list[str]]) -> None:
    """But for what dpkg and man keep for themselves."""
    own = ("./var/lib/dpkg/", "./var/log/dpkg.log", "./var/cache/man/", "./var/log/alternatives.log")
    assert [path for path in copy["left"] if not path.startswith(own)] == []
    assert [path for path in copy["left"] if "skilld" in path] == []


def test_it_names_no_folder_it_was_built_in(package: Path, tmp_path: Path) -> None:
    subprocess.run(["dpkg-deb", "--extract", package, tmp_path], check=True)
    for name in ("pyvenv.cfg", "bin"):
        assert (tmp_path / "usr/lib/skilld" / name).exists()
    needle = str(package.parent).encode()
    assert [path for path in tmp_path.rglob("*") if path.is_file() and needle in path.read_bytes()] == []
    assert list(tmp_path.rglob("*.pyc")) == []
