"""`NamedTuple` as `typing` has it, for the classes that every command of a terminal defines when it starts.

`typing.NamedTuple` compiles each annotation and, for each class, a constructor: 34 classes took 9 of 68 ms. Here all
share one constructor and nothing is compiled. Type checkers see the original. Knows nothing of what records mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["NamedTuple"]

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from _collections import _tuplegetter  # with which the classes of `collections.namedtuple` read their fields

    _new = tuple.__new__

    class _RecordClass(type):
        """Makes a record of each class that has fields: an annotation is one, a value in the class its default."""

        def __new__(cls, name, bases, namespace):
            fields = tuple(namespace.get("__annotations__", ()))
            if bases and fields:
                defaults = {field: namespace.pop(field) for field in fields if field in namespace}
                if tuple(defaults) != fields[len(fields) - len(defaults) :]:
                    raise TypeError(f"{name}: a field without a default follows one that has one")
                getters = {field: _tuplegetter(number, "") for number, field in enumerate(fields)}
                described = {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
                namespace = {**namespace, **getters, **described, "_defaults": tuple(defaults.values())}
            return super().__new__(cls, name, bases, {"__slots__": (), **namespace})

    class NamedTuple(tuple, metaclass=_RecordClass):
        """A tuple whose items have names, too; what `typing.NamedTuple` documents."""

        _fields = ()
        _field_defaults = {}  # noqa: RUF012 - as it is called in the original
        _defaults = ()

        def __new__(cls, /, *values, **named):
            missing = len(cls._fields) - len(values)
            if named or missing:
                defaults = cls._defaults
                if named or not 0 < missing <= len(defaults):
                    return _new(cls, cls._completed(values, named))
                values += defaults[-missing:]
            return _new(cls, values)

        @classmethod
        def _completed(cls, values, named):
            missing = cls._fields[len(values) :]
            given = {**cls._field_defaults, **named}
            lacking = [field for field in missing if field not in given]
            if len(values) > len(cls._fields) or lacking or not named.keys() <= set(missing):
                raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}: each once, and no more")
            return (*values, *[given[field] for field in missing])

        @classmethod
        def _make(cls, iterable):
            return cls(*iterable)

        def _replace(self, /, **changes):
            values = [changes.pop(field, value) for field, value in zip(self._fields, self, strict=True)]
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return _new(type(self), values)

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            fields = ", ".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({fields})"

        def __getnewargs__(self):
            return tuple(self)
