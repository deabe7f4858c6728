"""Pure functions over text: tokens, snippets, JSON spans, positions, dates. Knows no store and opens no file."""
