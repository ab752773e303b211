"""18.8: the bill of materials is CycloneDX by the schema of its own library."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from support.fresh_users import LIMIT
from tools import sbom

ROOT = Path(__file__).parents[2]
AT = 1_795_435_200
CHECK = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
sys.exit(str(JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read()) or "") or 0)
"""
pytestmark = pytest.mark.slow


def test_the_bill_of_materials_is_valid(tmp_path: Path) -> None:
    lock = (ROOT / "requirements/run.txt").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = sbom.text(sbom.document(lock, project, AT))
    python = str(tmp_path / "env/bin/python")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "cyclonedx-python-lib[json-validation]"]
    done = subprocess.run(install, capture_output=True, text=True, timeout=LIMIT, check=False)
    if done.returncode:
        pytest.skip(f"its library is not to be had: {done.stderr[-300:]}")

    def complaints(of: str) -> str:
        return subprocess.run([python, "-c", CHECK], input=of, capture_output=True, text=True, check=False).stderr

    assert complaints(text) == ""
    assert complaints(text.replace('"scope": "required"', '"scope": "perhaps"', 1)) != "", "the check can fail"
