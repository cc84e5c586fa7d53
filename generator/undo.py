"""Guards a DuckDB file against a writer that is killed while it writes.

DuckDB writes a new version of a file beside the one that counts, and its header last. But the blocks of its metadata it fills up in
place, and a write that SIGKILL cuts short leaves such a block torn: the file no longer opens, whichever version its header names. So the
headers and those blocks are kept in a file beside it, `<file>.undo`, for as long as it is open for writing.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path

import duckdb

HEADERS = 3 * 4096  # the file's own header and the two, written by turns, that name the version that counts; blocks follow
_PIECE = struct.Struct("<QQ")  # where in the file, how many bytes

Piece = tuple[int, bytes]


def place(path: Path) -> Path:
    """Where the undo of a file is kept while it is written."""
    return path.with_name(f"{path.name}.undo")


def metadata(connection: duckdb.DuckDBPyConnection, alias: str) -> list[tuple[int, int]]:
    """The blocks of metadata of an attached database file, as places and lengths in bytes."""
    (size,) = connection.execute("SELECT block_size FROM pragma_database_size() WHERE database_name = ?", [alias]).fetchall()[0]
    blocks = connection.execute(f"SELECT DISTINCT block_id FROM pragma_metadata_info('{alias}') ORDER BY block_id").fetchall()
    return [(HEADERS + block * size, size) for (block,) in blocks]


def save(path: Path, blocks: list[tuple[int, int]]) -> None:
    """Keep a file's headers and these blocks, durably, before they may be written. The file must be as its last writer left it."""
    new = place(path).with_name(f"{path.name}.undo.new")
    with path.open("rb") as source, new.open("wb") as kept:
        for begin, length in [(0, HEADERS), *blocks]:
            source.seek(begin)
            content = source.read(length)
            kept.write(_PIECE.pack(begin, len(content)) + content)
        kept.flush()
        os.fsync(kept.fileno())
    os.replace(new, place(path))


def forget(path: Path) -> None:
    """Drop what was kept: the file is whole."""
    place(path).unlink(missing_ok=True)


def torn(path: Path) -> list[Piece]:
    """What a writer that was killed has changed of the version that counts, as it was before; nothing where the file is whole.

    Where the headers are no longer those that were kept, the new version was complete: its header is written last.
    """
    if not (path.exists() and place(path).exists()):
        return []
    (begin, headers), *blocks = _pieces(place(path))
    with path.open("rb") as file:
        return [piece for piece in blocks if not _holds(file.fileno(), piece)] if _holds(file.fileno(), (begin, headers)) else []


def restore(path: Path, pieces: list[Piece]) -> None:
    """Write back what `torn` found. Killed meanwhile, it begins again."""
    with path.open("r+b") as file:
        for begin, content in pieces:
            file.seek(begin)
            file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _holds(file: int, piece: Piece) -> bool:
    begin, content = piece
    return os.pread(file, len(content), begin) == content


def _pieces(kept: Path) -> Iterator[Piece]:
    with kept.open("rb") as file:
        while head := file.read(_PIECE.size):
            begin, length = _PIECE.unpack(head)
            yield begin, file.read(length)
