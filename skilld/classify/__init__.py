"""From a batch and the skills in use to a verdict: what, if anything, a skill should remember.

Pure except for `backends/`, which call models. A model's answer is only a suggestion: the reply is parsed by a closed
schema, and its quote must occur in what the person typed and support the change.
"""
