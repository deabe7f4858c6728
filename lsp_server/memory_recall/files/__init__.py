"""The only two doors to the disk: `reading` (never hangs, never writes) and `writing` (locks, re-reads, replaces)."""
