"""Batching: which turns of a session are judged together, and whether they are worth judging at all."""
