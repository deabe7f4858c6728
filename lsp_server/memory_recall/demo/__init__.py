"""A sample world, a stand-in for Coven's binary, and an editor of a few lines: all that `memory-recall demo` needs."""
