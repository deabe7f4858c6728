"""The rebuildable cache: where it lies, how arrays are kept in it, and which of them still count. Knows no system."""
