"""memory-recall: what a coding agent's memory says, who claimed it, and whether it still holds."""

__version__ = "0.1.0"
