"""The token formats skilld knows, by area. To add one: a line in the file of its area, and one in the test's table."""

from __future__ import annotations

from skilld.redact.formats import business, cloud, code, models
from skilld.redact.formats.base import Format

FORMATS: tuple[Format, ...] = (*models.FORMATS, *cloud.FORMATS, *code.FORMATS, *business.FORMATS)

__all__ = ["FORMATS", "Format"]
