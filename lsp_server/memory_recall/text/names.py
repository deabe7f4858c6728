"""Many names as one text, so that those which contain something are found at the speed of one search.

Owns what is found in the names of a store without regard to case. Knows no store.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence


def without_case(text: str) -> str:
    """A text as it is compared where case does not count, nor whether accents are characters of their own."""
    return text.casefold() if text.isascii() else unicodedata.normalize("NFC", text.casefold())


class Names:
    """Names by number. They are folded once; a question then costs as much as a search in a text of their length."""

    def __init__(self, names: Sequence[str]) -> None:
        text = "\n".join(names)
        text = text.casefold() if text.isascii() else "\n".join(map(without_case, names))
        broken = len(names) > 0 and text.count("\n") != len(names) - 1  # some name has a line break of its own
        self._count = len(names)
        self._broken = [without_case(name) for name in names] if broken else None
        self._lines = "" if broken else f"{text}\n"

    def __len__(self) -> int:
        return self._count

    def containing(self, text: str) -> Iterator[tuple[int, str]]:
        """The numbers of the names that contain a text, whatever the case, each with the name in that case.

        The empty text is in none.
        """
        wanted = without_case(text)
        if self._broken is not None:
            yield from ((number, name) for number, name in enumerate(self._broken) if wanted and wanted in name)
            return
        if not wanted or "\n" in wanted:
            return
        number, counted = 0, 0
        found = self._lines.find(wanted)
        while found >= 0:
            number += self._lines.count("\n", counted, found)
            begin = self._lines.rfind("\n", 0, found) + 1
            counted = end = self._lines.find("\n", found)
            yield number, self._lines[begin:end]
            found = self._lines.find(wanted, end)
