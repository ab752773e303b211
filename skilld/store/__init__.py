"""The store: one SQLite database, and the only SQL in the program.

It holds keys, spans, counts and states; of people's words only the redacted quotes of proposals and learnings. The
daemon is its main writer; the command line writes decisions. `Store` opens it; each group of tables has a module.
"""

from __future__ import annotations

from skilld.store.database import Store

__all__ = ["Store"]
