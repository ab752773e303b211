"""The daemon: small and long-running. It follows transcripts, closes batches, starts workers, shows notices.

It does not import litellm (tests/unit/test_imports.py); work that needs it runs in a worker.
"""
