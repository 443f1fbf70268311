"""What pins have in common: how records are written, read and compared.

A pin is a module ``pin_NAME.py`` of this folder. Its docstring says what it pins and what may change it; its function
``observe(folder)`` returns what the code does today, as values that JSON can hold. ``records/NAME.json`` is what it
returned when it was recorded. ``make pins`` records all again, ``make pins WHICH="paper tables"`` these.

Numbers are compared to the last bit, and so are digests, under the versions and on the kind of machine that recorded
them. Elsewhere models learn other trees and sums round otherwise: there numbers may differ in the ninth digit, and
digests say nothing, so that the test compares the rest and is then skipped, with the reason.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import platform
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
NEARLY = 1e-9
"""Relative difference that other versions and machines may make."""
SHOWN = 12
"""Differences that a failing test shows: enough to see a pattern."""


def names() -> list[str]:
    """Return the names of all pins."""
    return sorted(file.stem.removeprefix("pin_") for file in FOLDER.glob("pin_*.py"))


def observe(name: str, folder: Path) -> Any:
    """Return what the pin sees now, as it would be read back from its record."""
    spec = importlib.util.spec_from_file_location(f"pin_{name}", FOLDER / f"pin_{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return json.loads(json.dumps(module.observe(folder)))


def recorded(name: str) -> dict[str, Any]:
    """Return the record of a pin: what was seen, and with what."""
    return json.loads((FOLDER / "records" / f"{name}.json").read_text(encoding="utf-8"))


def record(name: str) -> Path:
    """Write what the pin sees now as its record."""
    with tempfile.TemporaryDirectory() as folder:
        seen = observe(name, Path(folder))
    file = FOLDER / "records" / f"{name}.json"
    file.write_text(json.dumps({"made_with": made_with(), "seen": seen}, indent=0) + "\n", encoding="utf-8")
    return file


def made_with() -> dict[str, str]:
    """Return what bits depend on: versions, and the instructions that the processor has."""
    import numpy as np

    packages = ("numpy", "scipy", "scikit-learn", "pandas")
    features = np._core._multiarray_umath.__cpu_features__
    return {
        **{package: version(package) for package in packages},
        "python": ".".join(platform.python_version_tuple()[:2]),
        "machine": platform.machine(),
        "instructions": " ".join(name for name in ("X86_V3", "X86_V4", "AVX512_SPR", "ASIMD") if features.get(name)),
    }


def digest(*parts: Any) -> str:
    """Return a digest of texts, bytes and arrays, which is compared only where bits can be expected to agree."""
    import numpy as np

    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype != object:
            part = np.ascontiguousarray(part)
            total.update(f"{part.dtype.str}{part.shape}".encode() + part.tobytes())
        else:
            total.update(part if isinstance(part, bytes) else str(part).encode())
    return "digest:" + total.hexdigest()[:20]


def differences(before: Any, now: Any, *, exact: bool, place: str = "") -> list[str]:
    """Return what differs, one line each."""
    if isinstance(before, dict) and isinstance(now, dict):
        lines = [f"{place}{key}: {'gone' if key in before else 'new'}" for key in sorted(before.keys() ^ now.keys())]
        for key in sorted(before.keys() & now.keys()):
            lines += differences(before[key], now[key], exact=exact, place=f"{place}{key} > ")
        return lines
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        return [
            line
            for number, pair in enumerate(zip(before, now, strict=True))
            for line in differences(*pair, exact=exact, place=f"{place}{number} > ")
        ]
    return (
        [] if same(before, now, exact=exact) else [f"{place.removesuffix(' > ')}: {before!r} was recorded, now {now!r}"]
    )


def same(before: Any, now: Any, *, exact: bool) -> bool:
    """Say whether two values agree: to the last bit, or as far as they can elsewhere."""
    if not exact and is_digest(before) and is_digest(now):
        return True
    if isinstance(before, float) and isinstance(now, float):
        if math.isnan(before) or math.isnan(now):
            return math.isnan(before) and math.isnan(now)
        return before == now or (not exact and math.isclose(before, now, rel_tol=NEARLY, abs_tol=NEARLY))
    return type(before) is type(now) and before == now


def is_digest(value: Any) -> bool:
    """Say whether a value is a digest."""
    return isinstance(value, str) and value.startswith("digest:")


def has_digests(value: Any) -> bool:
    """Say whether there are digests anywhere in a record."""
    if isinstance(value, dict):
        return any(map(has_digests, value.values()))
    return any(map(has_digests, value)) if isinstance(value, list) else is_digest(value)


if __name__ == "__main__":
    for chosen in sys.argv[1:] or names():
        sys.stdout.write(f"{record(chosen)}\n")
