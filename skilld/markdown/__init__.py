"""A SKILL.md as text: lines byte for byte, headings, sections, lists, code. Pure."""
