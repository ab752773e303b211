"""Cases grown from corrections, and what they say about a skill with and without an edit. Run only on command."""
