"""The file: a zip archive with the plain data as JSON, the arrays as NumPy writes them, and the model of skops."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from typing import Any, NamedTuple

import numpy as np

from robust_recourse._archives import check_size

__all__ = ["Archive", "damaged", "pack", "unpack"]

_DATA, _ARRAYS, _MODEL, _JURY = "method.json", "arrays/", "model.skops", "jury.skops"
_PICKLE = "is a pickle, as pickle and joblib write them. Such files run code when they are opened, so it was not opened"
_COMPRESSED = (b"\x78", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x5d\x00\x00", b"\x04\x22\x4d\x18")


class Archive(NamedTuple):
    """What a file holds.

    Attributes
    ----------
    data : dict
        The plain data.
    arrays : list of ndarray
        The arrays that they refer to.
    model : bytes or None
        The model as skops wrote it, which nobody has looked into yet; None if it was left out.
    jury : bytes or None
        The models of the jury in the same way; None if there is none, or if they were left out.
    """

    data: dict[str, Any]
    arrays: list[Any]
    model: bytes | None
    jury: bytes | None = None


def pack(archive: Archive) -> bytes:
    """Return the content of a file."""
    content = _zipped(archive, zipfile.ZIP_DEFLATED)
    try:
        check_size(content)
    except ValueError:
        # What shrinks so well looks like a bomb to whoever reads it.
        return _zipped(archive, zipfile.ZIP_STORED)
    return content


def _zipped(archive: Archive, compression: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        file.writestr(_DATA, json.dumps(archive.data, indent=1))
        for number, array in enumerate(archive.arrays):
            content = io.BytesIO()
            np.save(content, array, allow_pickle=False)
            file.writestr(f"{_ARRAYS}{number}.npy", content.getvalue())
        for name, packed in ((_MODEL, archive.model), (_JURY, archive.jury)):
            if packed is not None:
                file.writestr(name, packed)
    return buffer.getvalue()


def unpack(content: bytes, path: str | os.PathLike[str]) -> Archive:
    """Read the content of a file; nothing in it is run.

    Raises
    ------
    ValueError
        If it is another kind of file, which the message names, or a damaged one, or one that claims to be much larger
        than it is.
    """
    if not content.startswith(b"PK\x03\x04"):
        raise ValueError(f"{os.fspath(path)} {_what(content)}. Give a file that robust_recourse.save wrote.")
    try:
        check_size(content)
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            names = file.namelist()
            if _DATA in names:
                return _contents(file, names)
    except Exception as error:  # damage has many faces
        raise damaged(path, error) from error
    kind = "is a zip archive of something else"
    if "schema.json" in names:
        kind = "is a file of skops but no method of recourse: a model, perhaps, to be given to a method"
    elif any(name.endswith("data.pkl") for name in names):
        kind = "is a file of torch, which holds a pickle"
    raise ValueError(f"{os.fspath(path)} {kind}. Give a file that robust_recourse.save wrote.")


def damaged(path: str | os.PathLike[str], error: Exception) -> ValueError:
    """Say that a file cannot be read to its end."""
    why = f"{type(error).__name__}: {error}".rstrip(": .")
    return ValueError(f"{os.fspath(path)} is damaged or incomplete ({why}). Save the method again.")


def _contents(file: zipfile.ZipFile, names: list[str]) -> Archive:
    data = json.loads(file.read(_DATA))
    count = sum(name.startswith(_ARRAYS) for name in names)
    arrays = [_array(file.read(f"{_ARRAYS}{k}.npy")) for k in range(count)]
    return Archive(data, arrays, *(file.read(name) if name in names else None for name in (_MODEL, _JURY)))


def _array(content: bytes) -> Any:
    """Read an array, after a look at how large it claims to be: room for all of it would be made at once."""
    file = io.BytesIO(content)
    form = np.lib.format
    header = form.read_array_header_1_0 if form.read_magic(file) == (1, 0) else form.read_array_header_2_0
    shape, _, dtype = header(file)
    if math.prod(shape) * dtype.itemsize > len(content):
        raise ValueError(f"an array claims to have the shape {shape}, which is more than there is")
    return np.load(io.BytesIO(content), allow_pickle=False)


def _what(content: bytes) -> str:
    if not content:
        return "is empty"
    if content[0] == 0x80 or (content[:1] in b"(c]}IFVS" and content.rstrip().endswith(b".")):
        return _PICKLE
    if content.startswith(_COMPRESSED):
        return "is a compressed file, as joblib writes them, and no method of recourse"
    return "is no method of recourse"
