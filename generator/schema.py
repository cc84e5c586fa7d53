"""Reads what a person wrote (params.yaml, the model registry) into dataclasses, strictly: a fault is one line that names its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from analysis.errors import DataError

Record = TypeVar("Record")

NAMES: Mapping[type, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false", NoneType: "nothing"}


def record(kind: type[Record], given: object, where: str, **fixed: Any) -> Record:
    """A dataclass from a mapping; `fixed` fields are the caller's and may not be given.

    `where` names the place in the file. Raises DataError for an unknown, missing or ill-typed field, and for a ValueError of the
    dataclass's own `__post_init__`.
    """
    table = mapping(given, where)
    declared = {field.name: field for field in fields(cast(Any, kind)) if field.name not in fixed}
    for name in table:
        if name not in declared:
            raise DataError(f"{where}: unknown key {name!r}{nearest(name, declared)}")
    hints = get_type_hints(kind)
    values = {name: _value(hints[name], value, f"{where}.{name}") for name, value in table.items()}
    for name, field in declared.items():
        if name not in values and field.default is MISSING and field.default_factory is MISSING:
            raise DataError(f"{where}: the key {name!r} is missing")
    try:
        return kind(**fixed, **values)
    except ValueError as fault:
        raise DataError(f"{where}: {fault}") from None


def mapping(given: object, where: str) -> Mapping[str, Any]:
    """The mapping of text keys that stands at a place; DataError where something else does."""
    if not isinstance(given, Mapping):
        raise DataError(f"{where} must be a table of keys and values, not {given!r}")
    for key in given:
        if not isinstance(key, str):
            raise DataError(f"{where}: the key {key!r} must be text: put it in quotes")
        if not key.isprintable():
            raise DataError(f"{where}: the key {key!r} holds a line break or a control character")
    return given


def nearest(name: str, known: Iterable[str]) -> str:
    """How an error about an unknown name goes on: the name that was probably meant, else all there are."""
    near = get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}"


def _value(kind: Any, value: Any, where: str) -> Any:
    """The value as the declared type has it: lists become tuples, tables records, whole numbers floats where a float is declared."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if value is None and NoneType in inner:
            return None
        options = [option for option in inner if option is not NoneType]
        listed = [option for option in options if get_origin(option) is tuple and isinstance(value, list)]
        return _value((listed or options)[0], value, where)
    if origin is Literal:
        if not any(value == option and type(value) is type(option) for option in inner):
            raise DataError(f"{where} must be one of {', '.join(inner)}, not {value!r}")
        return value
    if origin is tuple:
        return _sequence(inner[0], value, where)
    if is_dataclass(kind):
        return record(cast(Any, kind), value, where)
    if origin is not None:  # Mapping[str, X]
        return {name: _value(inner[1], each, f"{where}.{name}") for name, each in mapping(value, where).items()}
    if kind is float and type(value) is int:
        return float(value)
    if kind is not Any and type(value) is not kind:
        raise DataError(f"{where} must be {NAMES[kind]}, not {value!r}")
    return value


def _sequence(kind: Any, value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise DataError(f"{where} must be a list, not {value!r}")
    found = tuple(_value(kind, each, f"{where}[{place}]") for place, each in enumerate(value))
    if not found:
        raise DataError(f"{where} is empty: name at least one, or leave the key out")
    for place, each in enumerate(found):
        if each in found[:place]:
            raise DataError(f"{where} lists {each!r} twice")
    return found
