"""A SKILL.md as text: its lines byte for byte, headings and sections, lists, code. Pure, for readers and editors."""
