"""Generating skills step by step, of `skilld mine --interactive`: sessions, what they come to, names.

`generating` is the steps without a screen; `app` with `sessions`, `review` and `save` is them on one, `plain` by
questions and answers.
"""
