"""`sql/` as data: each file is a view, read into its header, what it reads, and its fingerprint.

`sql/<schema>/<view>.sql` is the view `<schema>.<view>`; `sql/raw/*.sql` is the numbered DDL of the raw tables.
"""

from __future__ import annotations

import hashlib
import io
import re
import subprocess
import tarfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from analysis import syntax
from analysis.errors import DataError, UsageError
from analysis.syntax import Syntax

if TYPE_CHECKING:
    from sqlglot import exp

T = TypeVar("T")
RAW = "raw"
PARAMETER = "stat.parameter"
ERROR, WARNING = "error", "warning"


def sql_root() -> Path:
    """The folder `sql/`: beside the packages in a checkout, inside this one when installed from a wheel."""
    here = Path(__file__).resolve().parent
    installed = here / "sql"
    return installed if installed.is_dir() else here.parent / "sql"


@dataclass(frozen=True)
class View:
    """One view: its address, the text of its file, and the raw schema its fingerprint covers."""

    name: str
    text: str
    raw_schema: str

    @cached_property
    def header(self) -> Mapping[str, str]:
        """The directives `-- key: value` at the head of the file; a directive goes on over the comment lines that follow it."""
        found: dict[str, str] = {}
        key = ""
        for line in self.text.splitlines():
            if not line.startswith("--"):
                break
            comment = line.lstrip("-").strip()
            if match := re.match(r"([a-z]+): *(.*)", comment):
                key = match[1]
                found[key] = f"{found[key]} {match[2]}" if key in found else match[2]
            elif key:
                found[key] = f"{found[key]} {comment}"
        return found

    @property
    def grain(self) -> str:
        """What one row is."""
        return self.header.get("grain", "")

    @property
    def cache(self) -> str | None:
        """`whole` or `incremental by <column>`: how the view is kept; None where it is expanded at each mention."""
        match = re.match(r"whole|incremental by \w+", self.header.get("cache", ""))
        return match[0] if match else None

    @property
    def severity(self) -> str:
        """Of an audit: `error` where a row breaks a promise that results rest on, `warning` where a reader should only know of it."""
        return self.header.get("severity", ERROR)

    @property
    def scans(self) -> Mapping[str, int]:
        """How often the view's own text may scan each raw table, cached views it reads not counted."""
        return {table: int(times) for table, times in re.findall(r"(\w+) (\d+)", self.header.get("scans", ""))}

    @property
    def tree(self) -> exp.Query:
        """The view's query as a syntax tree; DataError where the file holds no single query."""
        return self._named(syntax.tree)

    @cached_property
    def syntax(self) -> Syntax:
        """What the view's query mentions and computes; DataError where the file holds no single query."""
        return self._named(syntax.read)

    def _named(self, reading: Callable[[str], T]) -> T:
        """What is read of the text; a fault names the file."""
        try:
            return reading(self.text)
        except ValueError as fault:
            raise DataError(f"sql/{self.name.replace('.', '/')}.sql {fault}") from None

    @property
    def mentions(self) -> tuple[str, ...]:
        """Every `schema.name` in the query, as often as it stands there: views, and raw tables as `raw.<table>`."""
        return self.syntax.mentions

    @property
    def reads(self) -> frozenset[str]:
        """Every view and raw table that the query reads."""
        return frozenset(self.mentions)

    @property
    def normal_form(self) -> str:
        """The query without comments, layout, letter case and the names of its CTEs and table aliases: what a fingerprint covers."""
        return self.syntax.normal_form


class Catalog(Mapping[str, View]):
    """The views of one version of `sql/`, by name."""

    def __init__(self, views: Mapping[str, str], raw_schema: str) -> None:
        self.raw_schema = raw_schema
        self._views = {name: View(name, text, raw_schema) for name, text in sorted(views.items())}
        self._fingerprints: dict[str, str] = {}

    def __getitem__(self, name: str) -> View:
        return self._views[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)

    def require(self, name: str) -> View:
        """The view of that name; UsageError names the ones that are near it."""
        if name in self._views:
            return self._views[name]
        from difflib import get_close_matches

        near = get_close_matches(name, self._views, n=3)
        hint = f"; did you mean {', '.join(near)}?" if near else "; `vlmaudit views` lists them"
        raise UsageError(f"there is no view {name!r}{hint}")

    def dependencies(self, name: str) -> frozenset[str]:
        """The views that a view reads directly; DataError where it reads one that does not exist."""
        reads = {read for read in self[name].reads if not read.startswith(f"{RAW}.")}
        if unknown := sorted(reads - self._views.keys()):
            raise DataError(f"sql/{name.replace('.', '/')}.sql reads {', '.join(unknown)}, which no file in sql/ defines")
        return frozenset(reads)

    def closure(self, names: Iterable[str]) -> list[str]:
        """These views and all that they read, each after what it reads."""
        graph: dict[str, frozenset[str]] = {}
        todo = list(names)
        while todo:
            name = todo.pop()
            if name not in graph:
                graph[name] = self.dependencies(name)
                todo.extend(graph[name])
        try:
            return list(TopologicalSorter({name: sorted(graph[name]) for name in sorted(graph)}).static_order())
        except CycleError as fault:
            raise DataError(f"views in sql/ read each other in a circle: {' -> '.join(fault.args[1])}") from None

    def fingerprint(self, name: str) -> str:
        """Hash of the view's normal form, the fingerprints of all it reads, the raw schema and sqlglot's version.

        Comments, layout, letter case and the names of CTEs and table aliases do not count; parameters are not in it, nor are their
        defaults. 16 hexadecimal digits.
        """
        for view in self.closure([name]):
            if view not in self._fingerprints:
                parts = [syntax.engine(), self.raw_schema, "" if view == PARAMETER else self[view].normal_form]
                parts += [f"{read}={self._fingerprints[read]}" for read in sorted(self.dependencies(view))]
                self._fingerprints[view] = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
        return self._fingerprints[name]

    def cost(self, name: str, computed: Iterable[str] = ()) -> dict[str, int]:
        """How often each raw table is scanned to compute a view: a cached view is read once, any other at each mention.

        Views in `computed` are there already and cost nothing.
        """
        total: Counter[str] = Counter()
        todo, kept = self.closure([name])[-1:], set(computed) - {name}
        while todo:
            view = self[todo.pop()]
            if view.name in kept:
                continue
            if view.cache:
                kept.add(view.name)
            total.update(view.scans)
            todo += [read for read in view.mentions if not read.startswith(f"{RAW}.")]
        return dict(sorted(total.items()))

    def parameters(self, name: str, known: Iterable[str]) -> list[str]:
        """The parameters, of those known, that the view's closure reads; all of them where it reads any without naming it."""
        known, found = set(known), set[str]()
        for view in self.closure([name]):
            if PARAMETER in self[view].reads:
                named = known.intersection(self[view].syntax.strings)
                found |= named or known
        return sorted(found)


def load(root: Path | None = None) -> Catalog:
    """Read the views of a folder laid out like `sql/` (by default this installation's)."""
    root = root or sql_root()
    if not root.is_dir():
        raise DataError(f"no folder {root}: the views are missing from this installation")
    return _catalog({path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in sorted(root.glob("*/*.sql"))})


def load_revision(revision: str, root: Path | None = None) -> Catalog:
    """Read the views as they stood at a git revision of the checkout that holds `sql/`; UsageError where there is none."""
    root = root or sql_root()

    def git(*arguments: str) -> bytes:
        command = ["git", "-C", str(root), *arguments]
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - git itself, no shell
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise UsageError(f"git has no views at {revision!r}: {said[-1] if said else 'no such revision'}")
        return done.stdout

    commit = git("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
    with tarfile.open(fileobj=io.BytesIO(git("archive", "--format=tar", commit, "."))) as archive:
        files = {member.name: file.read().decode() for member in archive if (file := archive.extractfile(member))}
    return _catalog({path: text for path, text in files.items() if re.fullmatch(r"[^/]+/[^/]+\.sql", path)})


def _catalog(files: Mapping[str, str]) -> Catalog:
    raw_schema = "\n".join(text for path, text in sorted(files.items()) if path.startswith(f"{RAW}/"))
    views = {path.removesuffix(".sql").replace("/", "."): text for path, text in files.items() if not path.startswith(f"{RAW}/")}
    families = _Families(views)
    return Catalog({name: families.text(name) for name in views}, raw_schema)


class _Families:
    """Carries out the directive `-- over: A is B`: the views that a view reads are put in its place as they stand when A is B.

    So one way to compute (`stat.interval`) is written once, over a named shape (`stat.sums`), and read over each family of that shape.
    """

    _ADDRESS = re.compile(r"\b[a-z_]\w*\.[a-z_]\w*\b")
    _OVER = re.compile(r"^-- over: ([a-z_.]+) is ([a-z_.]+)$", re.MULTILINE)

    def __init__(self, views: Mapping[str, str]) -> None:
        self.views = views
        self._code: dict[str, str] = {}
        self._depends: dict[tuple[str, str], bool] = {}

    def text(self, name: str) -> str:
        """A view's text with its directive carried out."""
        if not self._OVER.search(self.views[name]):
            return self.views[name]
        header = "\n".join(line for line in self.views[name].splitlines() if line.startswith("--"))
        return f"{header}\n{self.code(name)}"

    def code(self, name: str) -> str:
        """The same without comment lines."""
        if name not in self._code:
            code = "\n".join(line for line in self.views[name].splitlines() if not line.lstrip().startswith("--"))
            over = self._OVER.search(self.views[name])
            self._code[name] = self._placed(code, over[1], over[2]) if over else code
        return self._code[name]

    def _placed(self, code: str, shape: str, family: str) -> str:
        def place(found: re.Match[str]) -> str:
            if found[0] == shape:
                return family
            return f"(\n{self._placed(self.code(found[0]), shape, family)}\n)" if self._reads(found[0], shape) else found[0]

        return self._ADDRESS.sub(place, code)

    def _reads(self, name: str, shape: str) -> bool:
        """Whether a view reads the shape, through whatever it reads."""
        if name not in self.views:
            return False
        if (name, shape) not in self._depends:
            self._depends[name, shape] = False  # a view that reads itself in a circle is refused elsewhere
            read = set(self._ADDRESS.findall(self.code(name)))
            self._depends[name, shape] = shape in read or any(self._reads(each, shape) for each in read)
        return self._depends[name, shape]
