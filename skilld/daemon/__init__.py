"""The daemon: long-lived and small. It follows transcripts, closes batches, hands them to workers, shows notices.

It imports neither litellm nor GitPython (tests/unit/test_imports.py); what needs them runs in a worker.
"""
