"""Intake: from bytes of transcript files to turns."""
