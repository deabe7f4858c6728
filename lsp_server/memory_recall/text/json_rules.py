"""What a JSON Schema asks of a value, as far as schemas of small records go, and what a value breaks of it.

Known are `type`, `const`, `enum`, `required`, `properties`, `patternProperties`, `additionalProperties`, `items`, the
limits of lengths, sizes and numbers, `pattern`, `allOf`, `anyOf`, `oneOf` (as `anyOf`), `if` and local `$ref`s; all
else counts as satisfied. Foreign schemas are data: none of them can make a check endless, whatever it says.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

_Path = tuple[str, ...]
_NOTHING: Mapping[str, Any] = {}

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (Mapping,),
    "array": (list, tuple),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_LIMITS: tuple[tuple[str, tuple[type[Any], ...], str], ...] = (
    ("maxLength", (str,), "is too long"),
    ("minLength", (str,), "is too short"),
    ("maxItems", (list, tuple), "has too many items"),
    ("minItems", (list, tuple), "has too few items"),
    ("maximum", (int, float), "is too large"),
    ("minimum", (int, float), "is too small"),
)

_LONGEST_TEXT = 1 << 31
_LONGEST_PATTERN, _LONGEST_MATCHED = 1_000, 256
_MOST_REPEATS = 2
_REPEAT = re.compile(r"(?<!\\)(?:[*+]|\{[0-9]*,[0-9]*\})")
# What is tried at all: characters and classes, repeated or not, anchors, alternatives side by side. No groups, no `?`:
# with either, a short pattern can be made to go back and forth for ever.
_ATOM = r"(?:\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\()\[\]{}?*+|^$])"
_BRANCH = rf"\^?(?:{_ATOM}(?:[*+]|\{{[0-9]+(?:,[0-9]*)?\}})?)*\$?"
_TRIED = re.compile(rf"{_BRANCH}(?:\|{_BRANCH})*", re.DOTALL)
# `(-[a-z0-9]+)*`: repeated, but each turn begins with a character that no turn goes on with. Of names in many schemas.
_SEPARATED_GROUP = re.compile(r"\((?:\?:)?\\?([-._/:])(\[[A-Za-z0-9_-]+\])\+\)[*+]")


class Rules:
    """The rules for one value: a (sub)schema, with all that it refers to within its document."""

    def __init__(self, document: Any, here: Any = None) -> None:
        self._document = document
        self._here = document if here is None else here
        self._parts = list(_parts(document, self._here))

    @property
    def names(self) -> frozenset[str]:
        """The members that an object is said to have or to need."""
        return frozenset(
            name
            for part in self._parts
            for name in (*_mapping(part, "properties"), *_list(part, "required"))
            if isinstance(name, str)
        )

    @property
    def longest(self) -> int | None:
        """The most characters that a text may have; None where there is no limit."""
        limits = [part["maxLength"] for part in self._parts if _is_number(part.get("maxLength"))]
        return max(0, int(min(*limits, _LONGEST_TEXT))) if limits else None

    def allows(self, name: str) -> bool:
        """Whether an object may have a member of that name: always, unless it is closed and the name not foreseen."""
        return all(_allows(part, name) for part in self._parts)

    def of(self, name: str) -> Rules:
        """The rules for a member of an object."""
        found = [_mapping(part, "properties")[name] for part in self._parts if name in _mapping(part, "properties")]
        return Rules(self._document, {"allOf": found})

    @property
    def items(self) -> Rules:
        """The rules for each item of a list."""
        found = [part["items"] for part in self._parts if isinstance(part.get("items"), Mapping | bool)]
        return Rules(self._document, {"allOf": found})

    def breaches(self, value: Any) -> tuple[str, ...]:
        """What the value breaks, as phrases such as "`type` is required"; none where all is well."""
        try:
            found = _Check(self._document).breaches(value, self._here, ())
        except RecursionError:
            return ("the schema is nested too deeply to be checked",)
        return tuple(dict.fromkeys(f"{_spelt(path)} {phrase}" for path, phrase in found))


class _Check:
    """One walk along a value. Each rule looks at each place once: rules may refer to each other, or to themselves."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._seen: dict[tuple[int, _Path], list[tuple[_Path, str]]] = {}

    def breaches(self, value: Any, rules: Any, path: _Path) -> list[tuple[_Path, str]]:
        if rules is False:
            return [(path, "is not allowed")]
        if not isinstance(rules, Mapping):
            return []
        known = self._seen.get((id(rules), path))
        if known is None:
            found = self._seen[id(rules), path] = []
            found.extend(self._of_value(value, rules, path))
            return found
        return known

    def _of_value(self, value: Any, rules: Mapping[str, Any], path: _Path) -> Iterator[tuple[_Path, str]]:
        if isinstance(rules.get("$ref"), str):
            yield from self.breaches(value, _referred(self._document, rules["$ref"]), path)
        yield from ((path, phrase) for phrase in _own_breaches(value, rules))
        for part in _list(rules, "allOf"):
            yield from self.breaches(value, part, path)
        for choices in (_list(rules, "anyOf"), _list(rules, "oneOf")):
            if choices and all(self.breaches(value, choice, path) for choice in choices):
                yield path, "fits none of the alternatives"
        if "if" in rules:
            branch = "else" if self.breaches(value, rules["if"], path) else "then"
            yield from self.breaches(value, rules.get(branch), path)
        if isinstance(value, Mapping):
            yield from self._of_members(value, rules, path)
        elif isinstance(value, list | tuple):
            for number, item in enumerate(value):
                yield from self.breaches(item, rules.get("items"), (*path, str(number)))

    def _of_members(
        self, value: Mapping[str, Any], rules: Mapping[str, Any], path: _Path
    ) -> Iterator[tuple[_Path, str]]:
        for name in _list(rules, "required"):
            if isinstance(name, str) and name not in value:
                yield (*path, name), "is required"
        named, patterns = _mapping(rules, "properties"), _mapping(rules, "patternProperties")
        for name, item in value.items():
            fitting = [named[name]] if name in named else []
            fitting += [found for pattern, found in patterns.items() if matches(pattern, name)]
            for found in fitting or [rules.get("additionalProperties")]:
                yield from self.breaches(item, found, (*path, name))


def _own_breaches(value: Any, rules: Mapping[str, Any]) -> Iterator[str]:
    """What a value breaks by itself, its members and items aside."""
    wanted = rules.get("type")
    types = [wanted] if isinstance(wanted, str) else _list(rules, "type")
    if types and not any(_is_of_type(value, name) for name in types):
        yield f"is not of the type {' or '.join(map(str, types))}"
    if ("const" in rules and not _equal(value, rules["const"])) or (
        isinstance(rules.get("enum"), list) and not any(_equal(value, allowed) for allowed in rules["enum"])
    ):
        yield "has a value that is not allowed"
    for keyword, kinds, phrase in _LIMITS:
        limit: Any = rules.get(keyword)
        if _is_number(limit) and isinstance(value, kinds) and not isinstance(value, bool):
            size: Any = value if isinstance(value, int | float) else len(value)
            if size > limit if keyword.startswith("max") else size < limit:
                yield phrase
    if isinstance(value, str) and isinstance(rules.get("pattern"), str):
        matched = matches(rules["pattern"], value)
        if not matched:
            yield "has a pattern that cannot be checked" if matched is None else "does not match its pattern"


def matches(pattern: str, text: str) -> bool | None:
    """Whether a foreign pattern is found in a text; None where to find out could take for ever, or nobody knows how.

    `re` has no time limit and lets nothing else run meanwhile, so only patterns are tried that cannot go back and forth
    for long: of few forms, with few repeats.
    """
    simple = _SEPARATED_GROUP.sub(lambda group: group.group() if re.match(group[2], group[1]) else "x*", pattern)
    repeats = len(_REPEAT.findall(simple)) - pattern.startswith("^")
    if len(pattern) > _LONGEST_PATTERN or len(text) > _LONGEST_MATCHED or repeats > _MOST_REPEATS:
        return None
    if _TRIED.fullmatch(simple) is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on what a pattern may mean in later versions of Python
            return re.search(pattern, text) is not None
    except (re.error, OverflowError, RecursionError):
        return None


def _parts(document: Any, rules: Any) -> Iterator[Mapping[str, Any]]:
    """A schema and all those that hold as well: what it refers to, and what stands in `allOf`."""
    seen: set[int] = set()
    pending = [rules]
    while pending:
        part = pending.pop(0)
        if not isinstance(part, Mapping) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part.get("$ref"), str):
            pending.append(_referred(document, part["$ref"]))
        pending.extend(_list(part, "allOf"))


def _referred(document: Any, reference: str) -> Any:
    """What a reference within the document names; nothing for any other."""
    if not reference.startswith("#"):
        return None
    found = document
    for name in reference[1:].split("/")[1:]:
        found = _mapping({"": found}, "").get(name.replace("~1", "/").replace("~0", "~"))
    return found


def _allows(rules: Mapping[str, Any], name: str) -> bool:
    if rules.get("additionalProperties") is not False or name in _mapping(rules, "properties"):
        return True
    return any(matches(pattern, name) for pattern in _mapping(rules, "patternProperties"))


def _is_of_type(value: Any, name: Any) -> bool:
    known = _TYPES.get(name) if isinstance(name, str) else None
    if known is None or (isinstance(value, bool) and name != "boolean"):
        return known is None
    return isinstance(value, known)


def _equal(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) is isinstance(other, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _mapping(rules: Mapping[str, Any], keyword: str) -> Mapping[str, Any]:
    found = rules.get(keyword)
    return found if isinstance(found, Mapping) else _NOTHING


def _list(rules: Mapping[str, Any], keyword: str) -> list[Any]:
    found = rules.get(keyword)
    return found if isinstance(found, list) else []


def _spelt(path: _Path) -> str:
    return f"`{'.'.join(path)}`" if path else "it"
