"""The editor: a language server over pygls."""
