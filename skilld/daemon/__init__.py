"""The daemon: small and long-running. It follows transcripts, closes batches, starts workers, shows notices.

It imports neither litellm nor GitPython (tests/unit/test_imports.py); what needs them runs in a worker.
"""
