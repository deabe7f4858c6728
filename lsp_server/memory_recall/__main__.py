"""`python -m memory_recall`: the terminal, where no script was installed."""

from memory_recall.faces.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
