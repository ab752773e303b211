"""The demo: a session written for it, played into a throw-away home and repository through the real daemon."""
