"""A nemp store held as its bytes and its outline: the entry of a key is had without reading the others.

Answers what `nemp_shapes.StoreText` answers, in the same words. What an outline cannot tell, the whole is read for, and
so it is where outline and bytes turn out not to belong together. Once it was read it answers, and the outline is only
carried on: it says where entries begin after an edit. Offsets count bytes, without byte order mark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from memory_recall.records import NamedTuple
from memory_recall.stores.nemp_entry import NempEntry
from memory_recall.stores.nemp_outline import Astray, Cut, Outline
from memory_recall.stores.nemp_shapes import Oddity, Shape, StoreText
from memory_recall.text.positions import ByteLines, LineIndex

if TYPE_CHECKING:
    from memory_recall.stores.nemp_bytes import StoreBytes

Whole: TypeAlias = "StoreText | StoreBytes"
"""A store that was read."""


class OutlineLines(NamedTuple):
    """Where an entry's key stands, as people count."""

    outline: Outline
    data: bytes

    def line_column(self, offset: int) -> tuple[int, int]:
        """The one-based line and column of an offset within the entries."""
        return self.outline.line_column(self.data, offset)


class StoreOutlined:
    """A store of which every byte was checked: when its outline was made, or now, and then it is given as a `whole`
    without any fault. `read` reads the whole of such bytes.
    """

    def __init__(
        self, data: bytes, outline: Outline | None, read: Callable[[bytes], Whole], *, whole: Whole | None = None
    ) -> None:
        self.data = data
        self._outline = outline
        self._read = read
        self._whole = whole
        self._is_outlined = outline is not None or whole is not None

    @property
    def outline(self) -> Outline | None:
        """The outline, made if need be; None of a store without entries, or that does not fit its own."""
        if self._outline is None and self._is_outlined and self._whole is not None:
            from memory_recall.stores.nemp_outlining import outline_of

            self._outline = outline_of(self._whole, self.data)
            self._is_outlined = self._outline is not None
        return self._outline

    @property
    def whole(self) -> Whole:
        """All of the store."""
        if self._whole is None:
            self._whole = self._read(self.data)
        return self._whole

    @property
    def _answering(self) -> Outline | None:
        """The outline, as long as nothing better is known."""
        return self._outline if self._whole is None else None

    @property
    def text(self) -> str:
        """The text of the file, made anew each time."""
        return self.data.decode("utf-8")

    @property
    def shape(self) -> Shape:
        """How the file holds its entries."""
        outline = self._answering
        return self.whole.shape if outline is None else outline.shape

    @property
    def entries(self) -> Sequence[NempEntry]:
        """All memories, in order."""
        return self.whole.entries

    @property
    def keys(self) -> Sequence[str]:
        """The key of each entry, in order."""
        return self.whole.keys

    @property
    def oddities(self) -> Sequence[Oddity]:
        """What is wrong with the text: nothing, if there is an outline of it."""
        return self.whole.oddities if self._answering is None else ()

    def named(self, key: str) -> tuple[NempEntry, ...]:
        """The entries of exactly that name."""
        outline = self._answering
        if outline is not None:
            try:
                for number in outline.named(self.data, key):
                    cut = outline.cut(self.data, number)
                    if cut.key == key:
                        return (self._entry(cut, number),)
            except Astray:
                self._go_astray()
            else:
                if outline.spelt_plainly:
                    return ()
        return self.whole.named(key)

    def repeated(self) -> Iterator[tuple[NempEntry, ...]]:
        """The entries that share their names with others, a name at a time."""
        return self.whole.repeated() if self._answering is None else iter(())

    def linked(self) -> Iterator[NempEntry]:
        """The entries that may say in `links.supersedes` what they replace, in order; all that do, and few more."""
        outline = self._answering
        return self.whole.linked() if outline is None else map(self.entry, outline.linked)

    def entry(self, number: int) -> NempEntry:
        """One entry."""
        cut = self._cut(number)
        return self.whole.entry(number) if cut is None else self._entry(cut, number)

    def lines(self) -> LineIndex | ByteLines | OutlineLines:
        """The lines of the text."""
        outline = self._answering
        return self.whole.lines() if outline is None else OutlineLines(outline, self.data)

    def key_place(self, entry: NempEntry) -> int:
        """Where an entry's key stands, as `lines` counts."""
        outline = self._answering
        if outline is None:
            return self.whole.key_place(entry)
        return outline.begins[entry.number] + (0 if outline.is_map else entry.bytes_before_key)

    def span_of(self, number: int) -> tuple[int, int]:
        """Where an entry's value begins and ends."""
        cut = self._cut(number)
        return self.whole.span_of(number) if cut is None else (cut.start, cut.end)

    def offsets_of(self, number: int) -> tuple[int, int]:
        """Where in the text an entry's value begins, and its name in a map (else -1), in code points."""
        outline, (start, _) = self.outline, self.span_of(number)
        name = -1 if outline is None or not outline.is_map else len(self.data[: outline.begins[number]].decode("utf-8"))
        return len(self.data[:start].decode("utf-8")), name

    def edited(self, values: Mapping[int, str]) -> StoreOutlined:
        """The store in which the values of some entries, by number, are replaced; their keys stay as they are."""
        pieces: list[bytes | memoryview] = []
        longer: dict[int, tuple[str, int]] = {}
        before, position = memoryview(self.data), 0
        for number, value in sorted(values.items()):
            start, end = self.span_of(number)
            written = value.encode("utf-8")
            pieces += (before[position:start], written)
            longer[number] = value, len(written) - (end - start)
            position = end
        data = b"".join((*pieces, before[position:]))
        outline = self.outline
        return StoreOutlined(data, None if outline is None else outline.edited(longer, data), self._read)

    def _cut(self, number: int) -> Cut | None:
        outline = self._answering
        try:
            return None if outline is None else outline.cut(self.data, number)
        except Astray:
            self._go_astray()
            return None

    def _go_astray(self) -> None:
        self._outline, self._is_outlined = None, False

    def _entry(self, cut: Cut, number: int) -> NempEntry:
        return NempEntry(cut.text, cut.key, (0, len(cut.text)), number, plain=cut.plain, home=self)
