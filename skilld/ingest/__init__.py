"""Intake: bytes of transcript files to turns."""
