"""One module a contract: what a recall of that system means, and what it leaves behind."""
