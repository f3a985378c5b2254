"""Digests of a Python target: its code, the values in its closures, its object's state.

Two targets with the same digest give the same answers, as far as their code and state show. An interrupted run is
resumed only if the digest is the same, so it must not change without a relevant change: the rest of a script is not
part of a function, and libraries count by their names.
"""

from __future__ import annotations

import collections
import dis
import functools
import hashlib
import inspect
import re
import site
import sys
import sysconfig
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Types whose repr has the whole value.
_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, slice, type(Ellipsis), type(NotImplemented))
_PLAIN_MODULES = frozenset(
    {"datetime", "decimal", "enum", "fractions", "ipaddress", "pathlib", "re", "uuid", "zoneinfo"}
)
#: Modules whose objects have no effect on answers.
_IGNORED_MODULES = frozenset(
    {"_thread", "threading", "logging", "asyncio", "queue", "weakref", "contextvars", "multiprocessing"}
)
#: Members of classes that have no effect, or contain memory addresses.
_IGNORED_MEMBERS = frozenset(
    {"__dict__", "__weakref__", "__module__", "__firstlineno__", "__dataclass_fields__", "__dataclass_params__",
     "__pydantic_core_schema__", "_abc_impl"}
)  # fmt: skip
_MOST_VALUES, _DEEPEST, _MOST_BYTES = 200_000, 60, 1 << 30


@dataclass(frozen=True)
class Fingerprint:
    """Digests of a target's code and of its state. `certain`: everything that was reached could be read."""

    source: str
    state: str
    certain: bool


def fingerprint(target: Any) -> Fingerprint:
    """The fingerprint of a function, a method, or any other callable."""
    walk = _Walk()
    walk.add(target)
    return Fingerprint(walk.code.hexdigest()[:16], walk.state.hexdigest()[:16], walk.certain)


class _Walk:
    """Visits everything that a target refers to, each object once."""

    def __init__(self) -> None:
        self.code, self.state = hashlib.sha256(), hashlib.sha256()
        self.certain = True
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # keeps visited objects alive, so that no id is used twice
        self._count = self._depth = 0

    def add(self, value: Any) -> None:
        """Add a value to the digests."""
        self._count += 1
        if self._count > _MOST_VALUES or self._depth >= _DEEPEST:
            self.certain = False
            return
        if type(value) in _PLAIN:  # not isinstance, which would call a proxy's __class__
            self._note(self.state, f"{type(value).__name__} {value!r}")
            return
        if id(value) in self._numbers:
            self._note(self.state, f"again {self._numbers[id(value)]}")
            return
        self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)
        self._depth += 1
        try:
            self._add_object(value)
        except Exception:  # for example an unbound proxy: its state can't be read
            self.certain = False
        finally:
            self._depth -= 1

    def _add_object(self, value: Any) -> None:
        if isinstance(value, Mapping) and type(value).__module__ in ("builtins", "collections", "types"):
            self._note(self.state, f"mapping of {len(value)}")
            for key, item in value.items():
                self.add(key)
                self.add(item)
        elif type(value) in (list, tuple):
            self._note(self.state, f"{type(value).__name__} of {len(value)}")
            for item in value:
                self.add(item)
        elif isinstance(value, set | frozenset):
            self._add_set(value)
        elif isinstance(value, types.MethodType):
            self.add(value.__self__)
            self.add(value.__func__)
        elif isinstance(value, functools.partial):
            for part in (value.func, value.args, value.keywords):
                self.add(part)
        elif isinstance(value, types.FunctionType):
            self._add_function(value)
        elif isinstance(value, types.ModuleType):
            self._add_module(value)
        elif isinstance(value, type):
            self._add_class(value)
        elif isinstance(value, types.BuiltinFunctionType):
            self._note(self.code, f"builtin {value.__module__}:{value.__qualname__}")
            if value.__self__ is not None and not isinstance(value.__self__, types.ModuleType):
                self.add(value.__self__)
        else:
            self._add_instance(value)

    def _add_set(self, members: Any) -> None:
        """Sets are sorted first: their order differs between processes."""
        self._note(self.state, f"set of {len(members)}")
        for member in sorted(members, key=_order):
            self.add(member)

    def _add_function(self, function: types.FunctionType) -> None:
        self._note(self.code, f"function {function.__qualname__}")
        library = _is_library(function.__module__) and _is_library(function.__globals__.get("__name__"))
        if not library:
            for code in _codes(function.__code__):
                jumps = code.co_exceptiontable.hex()
                self._note(self.code, f"{code.co_code.hex()} {jumps} {code.co_names} {code.co_varnames}")
                constants = [constant for constant in code.co_consts if not isinstance(constant, types.CodeType)]
                self._note(self.code, fingerprint(constants).state)
        self.add(function.__defaults__)
        self.add(function.__kwdefaults__)
        for cell in function.__closure__ or ():  # a library's decorator keeps the user's function here
            try:
                self.add(cell.cell_contents)
            except ValueError:  # a variable that has no value yet
                self._note(self.state, "empty cell")
        self.add(function.__dict__)  # __wrapped__ of a decorator, and other attributes
        if not library:
            self._add_names(function)

    def _add_names(self, function: types.FunctionType) -> None:
        """The values of a function's names: globals, attributes of the user's modules, imports inside the function."""
        names = sorted({name for code in _codes(function.__code__) for name in code.co_names})
        for name in names:
            if name in function.__globals__:
                value = function.__globals__[name]
                self._note(self.state, f"global {name}")
                self.add(value)
                if isinstance(value, types.ModuleType) and not _is_library(value.__name__):
                    for attribute in names:
                        if attribute in vars(value):
                            self._note(self.state, f"{name}.{attribute}")
                            self.add(vars(value)[attribute])
        for name in _imported(function.__code__):
            if name in sys.modules:
                self.add(sys.modules[name])
            else:  # not imported yet, so unknown
                self.certain = False
        if {"environ", "getenv"} & set(names):
            self.certain = False

    def _add_class(self, kind: type) -> None:
        self._note(self.code, f"class {kind.__module__}:{kind.__qualname__}")
        for base in kind.__mro__:
            if _is_library(base.__module__):
                continue
            for name, member in sorted(vars(base).items()):
                if name not in _IGNORED_MEMBERS:
                    self._note(self.code, f"member {name}")
                    self.add(_unwrapped(member))

    def _add_instance(self, value: Any) -> None:
        kind = type(value)
        module = kind.__module__.partition(".")[0]
        if module in _IGNORED_MODULES:
            return
        if isinstance(value, re.Pattern):  # its repr is truncated
            self._note(self.state, f"pattern {value.pattern!r} {value.flags}")
        elif module in _PLAIN_MODULES:
            self._note(self.state, f"{kind.__qualname__} {value!r}")
        elif module == "numpy" and hasattr(value, "tobytes"):
            self._note(self.state, f"{value.dtype} {value.shape}")
            self.certain &= value.nbytes <= _MOST_BYTES and not value.dtype.hasobject
            if value.dtype.hasobject:
                self.add(value.tolist())  # the bytes would be addresses
            elif value.nbytes <= _MOST_BYTES:
                self.state.update(hashlib.sha256(value.tobytes()).digest())
        else:
            self.add(kind)
            self._add_content(value)
            library = _is_library(kind.__module__)
            # a library's object may keep state anywhere; its private attributes are often caches
            self.certain &= not library
            for name, member in _attributes(value):
                if not (library and name.startswith("_")) or name == "__wrapped__":  # the function behind a cache
                    self._note(self.state, f"attribute {name}")
                    self.add(member)

    def _add_content(self, value: Any) -> None:
        """The content of an instance of a subclass of a builtin, besides its attributes."""
        if isinstance(value, dict):
            self.add(dict(value))
        elif isinstance(value, list | tuple | collections.deque):
            self.add(list(value))
        else:
            for plain in (str, bytes, bytearray, int, float, complex):
                if isinstance(value, plain):
                    self._note(self.state, plain.__repr__(value))

    def _add_module(self, module: types.ModuleType) -> None:
        """A module by its file, and by the files of the modules that it uses."""
        self._note(self.code, f"module {module.__name__}")
        if _is_library(module.__name__):
            return
        try:
            self.code.update(hashlib.sha256(Path(module.__file__ or "").read_bytes()).digest())
        except OSError:
            self.certain = False
        for member in list(vars(module).values()):
            home = member if isinstance(member, types.ModuleType) else sys.modules.get(_home(member))
            if home is not None and not _is_library(home.__name__):
                self.add(home)

    def _note(self, digest: Any, text: str) -> None:
        digest.update(text.encode("utf-8", "backslashreplace") + b"\0")


def _order(value: Any, depth: int = 3) -> str:
    """A sort key for members of a set: the same in every process, and cheap."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if type(value) in _PLAIN:
        return f"{kind} {value!r}"
    if isinstance(value, type) or inspect.isroutine(value):
        return f"{kind} {value.__module__}.{value.__qualname__}"
    if not depth or isinstance(value, set | frozenset):
        return kind
    if isinstance(value, list | tuple):
        return f"{kind} {[_order(item, depth - 1) for item in value]}"
    return f"{kind} {[(name, _order(member, depth - 1)) for name, member in _attributes(value)]}"


def _imported(code: types.CodeType) -> list[str]:
    """The modules that a function imports when it runs."""
    instructions = (instruction for part in _codes(code) for instruction in dis.get_instructions(part))
    return sorted({str(instruction.argval) for instruction in instructions if instruction.opname == "IMPORT_NAME"})


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A function's code, and that of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _unwrapped(member: Any) -> Any:
    """The functions behind a property, a class method or a static method."""
    if isinstance(member, property):
        return [member.fget, member.fset, member.fdel]
    if isinstance(member, classmethod | staticmethod | functools.cached_property):
        return getattr(member, "__func__", None) or getattr(member, "func", None)
    descriptors = (types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType)
    return None if isinstance(member, descriptors) else member


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """An object's attributes, read without running any code of its class."""
    yield from list(getattr(value, "__dict__", {}).items())
    for base in type(value).__mro__:
        for name, member in vars(base).items():
            if isinstance(member, types.MemberDescriptorType):
                try:
                    yield name, member.__get__(value)
                except AttributeError:  # a slot without a value
                    continue


def _home(member: Any) -> str:
    home = getattr(member, "__module__", None) if inspect.isclass(member) or inspect.isroutine(member) else None
    return home if isinstance(home, str) else ""


@functools.cache
def _library_folders() -> tuple[str, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = [sysconfig.get_path(name) for name in names] + [site.getusersitepackages()]
    return tuple(str(Path(folder).resolve()) for folder in folders if folder)


def _is_library(module: str | None) -> bool:
    """Whether a module is installed, and not part of the user's own code."""
    loaded = sys.modules.get(module or "")
    if loaded is None or module == "__main__":
        return False
    if module == "builtins" or module in sys.builtin_module_names:
        return True
    file = getattr(loaded, "__file__", None)
    if file is None:  # a notebook or an interactive session
        return False
    where = str(Path(file).resolve())
    return where.startswith(_library_folders()) or re.search(r"[/\\](site|dist)-packages[/\\]", where) is not None
