"""Our records are those of `typing`, in all but the time that defining them takes."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import typing
from collections.abc import Callable
from typing import Any

import pytest

from memory_recall import records


class Ours(records.NamedTuple):
    """A record with methods."""

    name: str
    count: int = 3
    tags: tuple[str, ...] = ()

    @property
    def doubled(self) -> int:
        return self.count * 2

    @classmethod
    def empty(cls) -> Ours:
        return cls("")


class Theirs(typing.NamedTuple):
    name: str
    count: int = 3
    tags: tuple[str, ...] = ()


class Required(records.NamedTuple):
    left: int
    right: int


@pytest.mark.parametrize(
    ("values", "named"),
    [
        (("a",), {}),
        (("a", 1), {}),
        (("a", 1, ("x",)), {}),
        ((), {"name": "a"}),
        (("a",), {"tags": ("x",)}),
        ((), {"tags": (), "count": 0, "name": "a"}),
        (("a", None, None), {}),
        ((), {}),
        ((1, 2, 3, 4), {}),
        (("a",), {"name": "b"}),
        (("a",), {"other": 1}),
        ((), {"count": 1}),
        (("a", 1, ()), {"tags": ()}),
    ],
)
def test_a_record_is_made_of_what_the_original_is_made_of(values: tuple[Any, ...], named: dict[str, Any]) -> None:
    def made(kind: Callable[..., Any]) -> Any:
        try:
            return kind(*values, **named)
        except TypeError:
            return TypeError

    ours, theirs = made(Ours), made(Theirs)
    assert ours == theirs
    if ours is not TypeError:
        assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
        assert ours._asdict() == theirs._asdict()
        assert hash(ours) == hash(theirs)
        assert ours._replace(count=9) == theirs._replace(count=9)


def test_it_says_of_itself_what_the_original_says() -> None:
    for name in ("_fields", "_field_defaults", "__match_args__", "__slots__"):
        assert getattr(Ours, name) == getattr(Theirs, name, ())
    assert Ours.__doc__ == "A record with methods."


def test_it_is_frozen_and_holds_nothing_but_its_fields() -> None:
    record = Ours("a")
    for name in ("name", "other"):
        with pytest.raises(AttributeError):
            setattr(record, name, 1)
    assert not hasattr(record, "__dict__")


def test_what_a_class_defines_beside_its_fields_stays() -> None:
    assert Ours("a", 4).doubled == 8
    assert Ours.empty() == ("", 3, ())


def test_a_record_is_copied_pickled_made_and_matched() -> None:
    record = Ours("a", 1)
    assert copy.copy(record) == copy.deepcopy(record) == pickle.loads(pickle.dumps(record)) == record
    assert type(copy.copy(record)) is Ours
    assert Ours._make(["a", 1, ()]) == record
    match record:
        case Ours(name, count=1):
            assert name == "a"
        case _:
            pytest.fail("no match")


def test_names_that_are_no_fields_cannot_be_replaced() -> None:
    with pytest.raises(ValueError, match="other"):
        Required(1, 2)._replace(other=3)


def test_a_field_with_a_default_comes_last() -> None:
    with pytest.raises(TypeError, match="default"):
        type(records.NamedTuple)("Wrong", (records.NamedTuple,), {"__annotations__": {"a": "int", "b": "int"}, "a": 1})


def test_the_start_of_a_command_compiles_no_records() -> None:
    probe = (
        "import sys, memory_recall.faces.cli.nemp, memory_recall.faces.cli.main, memory_recall.recall.nemp_accounting\n"
        "import memory_recall.stores.nemp_remembered\n"
        "classes = [thing for name, module in list(sys.modules.items()) if name.startswith('memory_recall')\n"
        "           for thing in vars(module).values() if isinstance(thing, type)]\n"
        "print(sorted({kind.__qualname__ for kind in classes if hasattr(kind, '__orig_bases__')\n"
        "              and issubclass(kind, tuple)}))\n"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.strip() == "[]", "these use typing.NamedTuple; take it from memory_recall.records"
