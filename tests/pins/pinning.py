"""What pins have in common: how records are written, read and compared.

A pin is a module ``pin_NAME.py`` of this folder. Its docstring says what it pins and what may change it; its function
``observe(folder)`` returns what the code does today, as values that JSON can hold. ``records/NAME.json`` is what it
returned when it was recorded. ``make pins`` records all again, ``make pins WHICH="paper tables"`` these, and
``make pinned`` compares.

Numbers are compared to the last bit, and so are digests, under the versions and on the kind of machine that recorded
them. Elsewhere models learn other trees and sums round otherwise: there numbers may differ in the ninth digit, while
digests, and what stands under a key that begins with "here", say nothing; the test compares the rest and is then
skipped, with the reason. What cannot be seen here, for want of data or of a package, is ``ABSENT``: it is not compared
either, and nothing can be recorded without it.

A pin may say more about itself: in ``PACKAGES``, on which its bits depend beside the usual ones; in ``BY_HAND``, why it
is too dear for the tests. Then ``make pinned WHICH=NAME`` compares it, and only ``make pins WHICH=NAME`` records it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import platform
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).parent
NEARLY = 1e-9
"""Relative difference that other versions and machines may make."""
SHOWN = 12
"""Differences that a failing test shows: enough to see a pattern."""
ABSENT = "absent here"
"""Stands for what cannot be seen without data or a package that are not here."""
HERE = "here: "
"""Begins the keys of what holds only under the same versions: what was learnt, and names of types."""


def names() -> list[str]:
    """Return the names of all pins."""
    return sorted(file.stem.removeprefix("pin_") for file in FOLDER.glob("pin_*.py"))


def module_of(name: str) -> ModuleType:
    """Return the module of a pin."""
    from cloudpickle import register_pickle_by_value

    spec = importlib.util.spec_from_file_location(f"pin_{name}", FOLDER / f"pin_{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # so that what it defines can be pickled
    register_pickle_by_value(module)  # and read where nobody can import it: in workers
    spec.loader.exec_module(module)
    return module


def by_hand(name: str) -> str:
    """Return why a pin is not for the tests; empty if it is."""
    return getattr(module_of(name), "BY_HAND", "")


def observe(name: str, folder: Path) -> Any:
    """Return what the pin sees now, as it would be read back from its record."""
    from threadpoolctl import threadpool_limits

    module = module_of(name)
    with threadpool_limits(1):  # sums of several threads round as they please
        return json.loads(json.dumps(module.observe(folder)))


def recorded(name: str) -> dict[str, Any]:
    """Return the record of a pin: what was seen, and with what."""
    return json.loads((FOLDER / "records" / f"{name}.json").read_text(encoding="utf-8"))


def record(name: str) -> Path:
    """Write what the pin sees now as its record."""
    with tempfile.TemporaryDirectory() as folder:
        seen = observe(name, Path(folder))
    if missing := absent(seen):
        raise SystemExit(f"{name} cannot be recorded here, because it does not see: {', '.join(missing)}.")
    file = FOLDER / "records" / f"{name}.json"
    file.write_text(json.dumps({"made_with": made_with(name), "seen": seen}, indent=0) + "\n", encoding="utf-8")
    return file


def made_with(name: str = "") -> dict[str, str]:
    """Return what bits, those of a pin, depend on: versions, and the instructions that the processor has."""
    import numpy as np

    packages = ("numpy", "scipy", "scikit-learn", "pandas", *(getattr(module_of(name), "PACKAGES", ()) if name else ()))
    features = np._core._multiarray_umath.__cpu_features__
    return {
        **{package: _version(package) for package in packages},
        "python": ".".join(platform.python_version_tuple()[:2]),
        "machine": platform.machine(),
        "instructions": " ".join(name for name in ("X86_V3", "X86_V4", "AVX512_SPR", "ASIMD") if features.get(name)),
    }


def _version(package: str) -> str:
    try:
        return version(package).split("+")[0]  # not where a build comes from
    except PackageNotFoundError:
        return ABSENT


def compare(name: str, folder: Path) -> tuple[list[str], str]:
    """Return what differs from the record, and why not all of it was compared; empty if it was."""
    record, here = recorded(name), made_with(name)
    exact, now = record["made_with"] == here, observe(name, folder)
    lines, reasons = differences(record["seen"], now, exact=exact), []
    if missing := absent(now):
        reasons.append(f"cannot be seen here: {', '.join(missing)}")
    if not exact and has_digests(record["seen"]):
        other = {
            key: (record["made_with"].get(key), here.get(key))
            for key in sorted(record["made_with"].keys() | here.keys())
            if record["made_with"].get(key) != here.get(key)
        }
        reasons.append(f"digests and what holds under other versions, recorded with (here with): {other}")
    return lines, f"not compared: {'; '.join(reasons)}" if reasons else ""


def digest(*parts: Any, prefix: str = "digest:") -> str:
    """Return a digest of texts, bytes and arrays, which is compared only where bits can be expected to agree.

    With another prefix it is a text as any other: for answers that no rounding touches.
    """
    import numpy as np

    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype != object:
            part = np.ascontiguousarray(part)
            total.update(f"{part.dtype.str}{part.shape}".encode() + part.tobytes())
        else:
            total.update(part if isinstance(part, bytes) else str(part).encode())
    return prefix + total.hexdigest()[:20]


def differences(before: Any, now: Any, *, exact: bool, place: str = "") -> list[str]:
    """Return what differs, one line each."""
    if now == ABSENT:
        return []
    if isinstance(before, dict) and isinstance(now, dict):
        lines = [f"{place}{key}: {'gone' if key in before else 'new'}" for key in sorted(before.keys() ^ now.keys())]
        for key in sorted(before.keys() & now.keys()):
            if not exact and key.startswith(HERE):
                continue
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
    """Say whether there are digests, or keys of what holds here, anywhere in a record."""
    if isinstance(value, dict):
        return any(key.startswith(HERE) or has_digests(part) for key, part in value.items())
    return any(map(has_digests, value)) if isinstance(value, list) else is_digest(value)


def absent(value: Any, place: str = "") -> list[str]:
    """Return where something cannot be seen."""
    if isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        return [line for key, part in parts for line in absent(part, f"{place}{key} > ")]
    return [place.removesuffix(" > ")] if value == ABSENT else []


def main(arguments: list[str]) -> int:
    """Record the pins that are named, or all that are not compared by hand; with --compare, compare them."""
    comparing, chosen = "--compare" in arguments, [name for name in arguments if name != "--compare"]
    status = 0
    for name in chosen or [name for name in names() if not by_hand(name)]:
        if not comparing:
            sys.stdout.write(f"{record(name)}\n")
            continue
        with tempfile.TemporaryDirectory() as folder:
            lines, reason = compare(name, Path(folder))
        status = max(status, bool(lines))
        shown = "".join(f"  {line}\n" for line in [*lines[:SHOWN], *[reason] * bool(reason)])
        sys.stdout.write(f"{name}: {len(lines)} differences\n{shown}")
    return int(status)


if __name__ == "__main__":
    sys.path.insert(0, str(FOLDER.parents[1]))  # pins import what they share as the tests do
    raise SystemExit(main(sys.argv[1:]))
