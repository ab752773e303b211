"""`--over FOLDER|URL`: the options of verbs that read transcripts elsewhere, and reading these in parallel."""

from __future__ import annotations

import argparse
import hashlib
import os
from typing import TYPE_CHECKING

from skilld.cli import common, permissions
from skilld.cli.progress import Progress
from skilld.errors import SkilldError, UsageError

if TYPE_CHECKING:
    from skilld.mining.parallel import FileResult, Job


def check_options(arguments: argparse.Namespace) -> None:
    """Raise UsageError if an option is out of range or lacks the `--over` it belongs to."""
    if (arguments.workers is not None or arguments.cluster) and not arguments.over:
        raise UsageError("Missing option", "--workers and --cluster need --over")
    if (arguments.workers or 0) < 0:
        raise UsageError("Number out of range", "--workers must be 0 or greater")


def read_all(arguments: argparse.Namespace, job: Job) -> list[FileResult]:
    """Return what `job` finds in each transcript there. Raises RefusedError if the person did not give the command."""
    from skilld.ingest.remote import list_files
    from skilld.mining.parallel import run_locally, run_on_cluster

    permissions.require_person("Only you can choose what to mine", arguments.words)
    workers = arguments.workers if arguments.workers is not None else os.cpu_count() or 1
    found = [one.url for url in arguments.over for one in list_files(common.as_text(url))]
    if not found:
        raise SkilldError("No transcripts found", ", ".join(map(common.as_text, arguments.over)))
    with Progress("transcripts") as progress:
        if arguments.cluster:
            results = run_on_cluster(found, _worker_key(), common.as_text(arguments.cluster), job)
        else:
            results = run_locally(found, _worker_key(), workers, job)
        read: list[FileResult] = []
        for one in results:
            read.append(one)
            progress.show(len(read), len(found))
    return read


def _worker_key() -> bytes:
    """Return the redaction key for workers, derived from this installation's key, which stays here."""
    return hashlib.blake2b(b"workers", key=common.redaction_key(), digest_size=32).digest()
