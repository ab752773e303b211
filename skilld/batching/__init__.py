"""Window: which turns of a session are judged together, and whether they are worth a question at all."""
