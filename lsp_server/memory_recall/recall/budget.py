"""How much of an answer is given where a caller has room for so many tokens, and what is said of the rest.

One rule for every recall and every face: the answer as it is shown is estimated, and is never larger than the budget,
but for what an answer without any memory needs. Memories come in their ranked order; one that fits whole is whole, the
first that does not ends after a sentence, and every other one is named or counted. Who shows the answer says how
(`Budget.shown`); who recalls says what an answer is made of (`Answer`). Knows no system and no face.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from memory_recall.errors import UsageError
from memory_recall.text.json_values import dumps

LEAST, MOST = 20, 1_000_000
"""The smallest and the largest budget, in tokens. With less not even a heading fits."""

_SHARE_OF_PROBLEMS = 4
"""Problems may take a quarter of the room before the memories are served, and what is left afterwards."""
_ROUNDS = 4
"""So often a figure with fewer or more digits may change its own size."""
_LETTERS_OF_A_WORD = 4
_LETTERS_OF_A_TOKEN = 40
"""No text of so many code points a token is within an estimate."""


class Budget(NamedTuple):
    """`limit` tokens for an answer, which `shown` turns into the very text that the caller will see."""

    limit: int
    shown: Callable[[Mapping[str, Any]], str] = dumps

    def check(self) -> None:
        """Raise `UsageError` for a limit that is none."""
        if type(self.limit) is not int or not LEAST <= self.limit <= MOST:
            raise UsageError(f"The budget is a whole number of tokens from {LEAST} to {MOST:,}.")


class Trimmed(NamedTuple):
    """The beginning of a memory's text, which ends after a sentence. `of` is the length of the whole (code points)."""

    text: str
    of: int

    def as_json(self) -> dict[str, int]:
        """`{shown, of}`, in code points."""
        return {"shown": len(self.text), "of": self.of}


class Spent(NamedTuple):
    """What became of a budget: `used` is the estimate of the answer as shown, `trimmed` how many memories end early.

    `omitted` memories were left out; the first of them are `named`. `problems_omitted` counts problems left out.
    """

    limit: int
    used: int
    trimmed: int = 0
    omitted: int = 0
    named: tuple[str, ...] = ()
    problems_omitted: int = 0

    def as_json(self) -> dict[str, Any]:
        """`{limit, used, trimmed, omitted, named, problems_omitted}`."""
        return {**self._asdict(), "named": list(self.named)}


class Item(NamedTuple):
    """One memory of an answer: its name, and its text where that may end early. `trimmed` says that it does already."""

    name: str
    text: str | None
    trimmed: bool = False


class Portion(NamedTuple):
    """What is given of one memory, by its number: `text` where only so much of it."""

    number: int
    text: str | None = None


class Share(NamedTuple):
    """What is given of an answer: these memories, the first so many problems, and the account of it."""

    portions: tuple[Portion, ...]
    problems: int
    spent: Spent


if TYPE_CHECKING:  # to make a Protocol takes as long as all else here
    from typing import Protocol, Self, TypeVar

    class Answer(Protocol):
        """What a recall returns, as far as a budget is concerned."""

        @property
        def problems(self) -> Sequence[object]:
            """What is wrong beside the answer; told in this order."""

        @property
        def budget(self) -> Spent | None:
            """The account of a budget that it was fitted into before."""

        def items(self) -> Sequence[Item]:
            """Its memories, best first."""

        def within(self, share: Share) -> Self:
            """The answer with no more than this. A face shows the whole of what it is given then, and no preview."""

        def as_json(self) -> dict[str, Any]:
            """What a face shows."""

    A = TypeVar("A", bound=Answer)


def fitted(answer: A, budget: Budget | None) -> A:
    """As much of an answer as the budget has room for, with the account of it; the answer itself without a budget."""
    share = share_of(answer, budget)
    return answer if share is None else answer.within(share)


def share_of(answer: Answer, budget: Budget | None) -> Share | None:
    """What of an answer fits into a budget; None without a budget."""
    return None if budget is None else _Fitting(answer, budget).best()


def settled(answer: A, budget: Budget | None) -> A:
    """A fitted answer that grew a little since: every memory stays, for it has been recorded as returned by now.

    Names go first, then problems, then sentences from the last memory up.
    """
    return answer if budget is None else answer.within(_Fitting(answer, budget).with_all())


def trimmed_to(text: str, portion: Portion, earlier: Trimmed | None) -> Trimmed | None:
    """How a text ends once a portion of it was chosen: as before where that is all of what was left."""
    if portion.text is None:
        return earlier
    return Trimmed(portion.text, len(text) if earlier is None else earlier.of)


class _Fitting:
    """One answer and one budget. Every question is decided by building the answer and estimating it as it is shown."""

    def __init__(self, answer: Answer, budget: Budget) -> None:
        self._answer = answer
        self._budget = budget
        self._items = answer.items()
        self._problems = len(answer.problems)
        self._before = answer.budget or Spent(budget.limit, 0)

    def best(self) -> Share:
        """The most that fits."""
        everything = [Portion(number) for number in range(len(self._items))]
        if self._fits(everything, self._problems):
            return self._account(everything, self._problems)
        problems = self._problems_first()
        whole = self._most(len(everything), lambda count: self._size(everything[:count], problems))
        portions = everything[:whole]
        for number in range(whole, len(everything)):
            if self._fits([*portions, Portion(number)], problems):
                portions.append(Portion(number))
                continue
            beginning = self._beginning(portions, number, problems)
            if beginning is not None:
                portions.append(beginning)
                break
        left = self._left_out(portions)
        named = self._most(len(left), lambda count: self._size(portions, problems, left[:count]))
        names, told = left[:named], problems
        problems += self._most(self._problems - told, lambda count: self._size(portions, told + count, names))
        return self._account(portions, problems, names)

    def with_all(self) -> Share:
        """All memories, and as little else and as much of each as need be."""
        portions = [Portion(number) for number in range(len(self._items))]
        names, problems = self._before.named, self._problems
        names = names[: self._most(len(names), lambda count: self._size(portions, problems, names[:count]))]
        if not self._fits(portions, problems, names):
            problems = self._most(problems, lambda count: self._size(portions, count))
        for number in range(len(portions) - 1, -1, -1):
            if self._fits(portions, problems, names):
                break
            if self._items[number].text is not None:
                before, after = portions[:number], portions[number + 1 :]
                portions[number] = self._beginning(before, number, problems, after) or Portion(number, "")
        return self._account(portions, problems, names)

    def _problems_first(self) -> int:
        frame = self._size([], 0)
        room = frame + max(0, self._budget.limit - frame) // _SHARE_OF_PROBLEMS
        return _most(self._problems, room, lambda count: self._size([], count))

    def _beginning(
        self, before: Sequence[Portion], number: int, problems: int, after: Sequence[Portion] = ()
    ) -> Portion | None:
        """As many sentences of a memory as fit; None where not even the first does."""
        from memory_recall.text.sentences import ends

        text = self._items[number].text
        if text is None:
            return None
        places = list(ends(text, self._most_letters))

        def ending_at(place: int) -> Portion:
            return Portion(number, text[: places[place]])

        if not places or not self._fits([*before, ending_at(0), *after], problems):
            return None
        more = self._most(len(places) - 1, lambda count: self._size([*before, ending_at(count), *after], problems))
        return ending_at(more)

    def _left_out(self, portions: Sequence[Portion]) -> tuple[str, ...]:
        given = {portion.number for portion in portions}
        return tuple(item.name for number, item in enumerate(self._items) if number not in given)

    def _fits(self, portions: Sequence[Portion], problems: int, named: Sequence[str] = ()) -> bool:
        return self._size(portions, problems, named) <= self._budget.limit

    def _most(self, count: int, size: Callable[[int], int]) -> int:
        return _most(count, self._budget.limit, size)

    def _size(self, portions: Sequence[Portion], problems: int, named: Sequence[str] = ()) -> int:
        """The estimate of an answer; where its texts alone are beyond any doubt too long, a guess."""
        letters = sum(
            len((self._items[given.number].text or "") if given.text is None else given.text) for given in portions
        )
        if letters > self._most_letters:
            return letters // _LETTERS_OF_A_WORD
        return self._estimate(self._share(portions, problems, named, self._budget.limit))

    @property
    def _most_letters(self) -> int:
        return self._budget.limit * _LETTERS_OF_A_TOKEN

    def _estimate(self, share: Share) -> int:
        from memory_recall.text.token_estimate import estimated_tokens

        return estimated_tokens(self._budget.shown(self._answer.within(share).as_json()))

    def _share(self, portions: Sequence[Portion], problems: int, named: Sequence[str], used: int) -> Share:
        trimmed = sum(portion.text is not None or self._items[portion.number].trimmed for portion in portions)
        spent = Spent(
            self._budget.limit,
            used,
            trimmed,
            self._before.omitted + len(self._items) - len(portions),
            tuple(named),
            self._before.problems_omitted + self._problems - problems,
        )
        return Share(tuple(portions), problems, spent)

    def _account(self, portions: Sequence[Portion], problems: int, named: Sequence[str] = ()) -> Share:
        """The share with what it uses: a figure that is part of what it counts."""
        shaped = partial(self._share, portions, problems, named)
        used = self._budget.limit
        size = self._estimate(shaped(used))
        for _ in range(_ROUNDS):
            if size == used:
                break
            used, size = size, self._estimate(shaped(size))
        return shaped(max(used, size))


def _most(count: int, limit: int, size: Callable[[int], int]) -> int:
    """The largest number up to `count` whose size, which grows with it, is within a limit; 0 where none is.

    Sizes cost time. They grow evenly enough for a good guess of where the limit is met; every other guess is the
    middle, in case they do not.
    """
    low, high = 0, count
    if not count or (high_size := size(high)) <= limit:
        return count
    low_size = size(low)
    if low_size > limit:
        return 0
    guesses = True
    while high - low > 1:
        share = (limit - low_size) / (high_size - low_size) if guesses else 0.5
        middle = min(high - 1, low + max(1, round((high - low) * share)))
        guesses = not guesses
        middle_size = size(middle)
        if middle_size <= limit:
            low, low_size = middle, middle_size
        else:
            high, high_size = middle, middle_size
    return low
