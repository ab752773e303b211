"""Ingest: from the bytes of transcripts to turns in the store."""
