"""The terminal: `memory-recall <verb>`."""
