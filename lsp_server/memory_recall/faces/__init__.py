"""Adapters: parse, call the core, present. No logic of their own."""
