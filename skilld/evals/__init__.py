"""Cases grown from corrections, and what they say of a skill with and without an edit. Only a command runs any."""
