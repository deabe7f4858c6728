"""One module a memory system: where its files are, what they say, whether they changed. Reading only."""
