"""The worker process: jobs in, results out, as lines of JSON.

Heavy and leaking libraries (litellm, the redactor) are loaded only here. It stores nothing and reads no settings: all
that it needs is in the job.
"""
