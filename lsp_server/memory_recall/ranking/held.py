"""Documents that are held in memory and stand in no index: cut into terms once, when a question first needs it.

Owns what is made of them and kept. Knows no store and no question; loads numpy only where terms are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from memory_recall.text.names import Names

if TYPE_CHECKING:
    from memory_recall.ranking.lexical import Document
    from memory_recall.ranking.parts import Part
    from memory_recall.ranking.segment import Segment


class HeldDocuments:
    """Documents by number, ready to be searched. Everything holds as long as they are these very documents."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents

    @cached_property
    def titles(self) -> Names:
        """Their titles."""
        return Names([document.title for document in self.documents])

    @cached_property
    def segment(self) -> Segment:
        """Their terms. 25,000 documents of 0.6 KB take about a second."""
        from memory_recall.ranking.segment import Segment

        return Segment.build(self.documents)

    @cached_property
    def parts(self) -> Sequence[Part]:
        """All of them as what `hybrid.rank_parts` takes."""
        from memory_recall.ranking.parts import Part

        return [Part(self.segment)] if self.documents else []

    @property
    def is_cut(self) -> bool:
        """Whether the terms are there already."""
        return "segment" in self.__dict__
