"""What the product costs and how well it answers, beside its peers.

Run from the repository: `python -m benchmarks.NAME`.
"""
