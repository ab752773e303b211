"""The worker: one JSON job in, its result out as the last line of standard output, then it exits.

The heavy and leaky libraries (litellm, GitPython, the redactor) live only here. It keeps nothing and reads no settings:
what it needs is in the job.
"""
