"""Query and documents in, scores out. Knows no store."""
