"""Methods and models on their way to workers: as bytes that each process reads once, without pickle where that can be.

What was written here is trusted there, because its checksum travels with the task.
"""

from __future__ import annotations

import hashlib
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robust_recourse.cluster.places import Place
from robust_recourse.saving import UntrustedModelError, load, save
from robust_recourse.saving.models import pack, unpack

__all__ = ["Packed", "Sent", "packed_method", "packed_models", "sent"]

_READ: dict[str, Any] = {}  # what this process has read last, by its checksum


@dataclass(frozen=True)
class Packed:
    """A method, or a list of models, as bytes.

    Attributes
    ----------
    content : bytes
        The bytes.
    kind : {"method", "models", "pickle"}
        How they are read.
    trusted : tuple
        Types that the models have.
    """

    content: bytes
    kind: str
    trusted: tuple[Any, ...] = ()

    @property
    def checksum(self) -> str:
        """The same for the same bytes."""
        return _checksum(self.content)

    def value(self) -> Any:
        """Return what was packed."""
        return _once(self.checksum, self.kind, self.trusted, lambda: self.content)

    def __dask_tokenize__(self) -> str:
        return self.checksum


@dataclass(frozen=True)
class Sent:
    """The same in a file that all workers see.

    Attributes
    ----------
    place, name
        The folder, and the name of the file in it.
    checksum, kind, trusted
        As of :class:`Packed`.
    """

    place: Place
    name: str
    checksum: str
    kind: str
    trusted: tuple[Any, ...]

    def value(self) -> Any:
        """Return what was sent.

        Raises
        ------
        ValueError
            If the file is not that which was sent.
        """
        return _once(self.checksum, self.kind, self.trusted, self._content)

    def _content(self) -> bytes:
        content = self.place.read(self.name)
        if content is None or _checksum(content) != self.checksum:
            raise ValueError(
                f"{self.place.path(self.name)} is not what was sent. Workers must see the folder of the results under "
                "the same name as you do."
            )
        return content


@contextmanager
def sent(packed: Packed, place: Place) -> Iterator[Sent]:
    """Put something into a folder that all workers see, for as long as it is needed."""
    name = f"_sent-{packed.checksum[:16]}"
    place.write(name, packed.content)
    try:
        yield Sent(place, name, packed.checksum, packed.kind, packed.trusted)
    finally:
        place.remove(name)


def packed_method(method: Any) -> Packed:
    """Pack a method; warns if it can only be done with pickle."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "method")
        try:
            save(method, path)
        except (TypeError, ImportError) as error:
            return _pickled(method, "The method", error)
        return Packed(path.read_bytes(), "method", _types(lambda trusted: load(path, trusted=trusted), type(method)))


def packed_models(models: list[Any]) -> Packed:
    """Pack models; warns if it can only be done with pickle."""
    try:
        content = pack(models, "models")
    except (TypeError, ImportError) as error:
        return _pickled(models, "The models", error)
    return Packed(content, "models", _types(lambda trusted: unpack(content, "models", list(trusted))))


def _types(read: Callable[[tuple[Any, ...]], Any], *known: type) -> tuple[Any, ...]:
    """Return the types that something needs to be trusted with."""
    trusted: tuple[Any, ...] = known
    for _ in range(2):  # for the model, and for the jury
        try:
            read(trusted)
        except UntrustedModelError as error:
            trusted = (*trusted, *error.types)
    return trusted


def _pickled(value: Any, what: str, error: Exception) -> Packed:
    import cloudpickle

    warnings.warn(f"{what} must be sent to the workers as a pickle: {error}", stacklevel=5)
    return Packed(cloudpickle.dumps(value), "pickle")


def _once(checksum: str, kind: str, trusted: tuple[Any, ...], content: Callable[[], bytes]) -> Any:
    if checksum not in _READ:
        value = _read(content(), kind, trusted)
        if hasattr(value, "n_jobs"):
            value.n_jobs = None  # workers are what runs in parallel
        _READ.clear()
        _READ[checksum] = value
    return _READ[checksum]


def _read(content: bytes, kind: str, trusted: tuple[Any, ...]) -> Any:
    if kind == "pickle":
        import cloudpickle

        return cloudpickle.loads(content)
    if kind == "models":
        return unpack(content, "models", list(trusted))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "method")
        path.write_bytes(content)
        return load(path, trusted=trusted)


def _checksum(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
