"""How the values of one column are written for people: its unit, its digits, and a locale."""

from __future__ import annotations

import numbers
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Context, Decimal
from types import ModuleType
from typing import Any

import numpy as np

from robust_recourse.notices.values import plain, text

__all__ = ["FRACTION", "PERCENT", "SINCE", "Writer", "check_locale", "check_unit"]

PERCENT, FRACTION = "%", "fraction"
_DATE = "date"
SINCE = "days since "
_CODE = re.compile(r"[A-Z]{3}")
_POINTS = "percentage points"
_LONGEST = 40  # characters of a unit
_SMALL, _LARGE = Decimal("1e-6"), Decimal("1e16")  # beyond these, numbers are written with exponents
_WIDE = Context(prec=400)  # more than a number of a table has
_SINGLE = Decimal("1e-7")  # relative: what a number loses in single precision, which is no rounding of ours
_NO_CURRENCY = "XXX"  # the code whose sign is that of any currency


def check_unit(unit: Any, name: str) -> None:
    """Raise if a text names no unit; `name` is what messages call it."""
    if not isinstance(unit, str) or not unit.strip() or not unit.isprintable() or len(unit) > _LONGEST:
        raise ValueError(
            f"{name} must be a short text, such as 'EUR', '$', '%', 'fraction', 'years' or 'days since 1970-01-01', "
            f"got {unit!r}."
        )
    if unit.startswith(SINCE):
        try:
            _first_day(unit)
        except ValueError as error:
            raise ValueError(f"{name} must name a day, as in 'days since 1970-01-01', got {unit!r}.") from error


def check_locale(locale: str) -> None:
    """Raise if nobody knows a locale, or nothing is installed that does."""
    _babel("numbers")
    _known(locale)


@dataclass(frozen=True)
class Writer:
    """Writes the values of one column.

    Attributes
    ----------
    unit : str
        What its numbers count: a currency by its code or sign (``"EUR"``, ``"€"``), ``"%"``, ``"fraction"`` (0.07 is
        told as 7 %), ``"days since 1970-01-01"`` for dates that are numbers, or any other word (``"years"``).
        ``"date"`` tells moments without the time of day.
    digits : int or None
        Digits behind the point; a number that has more is rounded, and told as being about that, unless it is that in
        single precision. None: all.
    locale : str or None
        Whose signs are used, such as ``"de_DE"``; needs Babel. None: commas between thousands, and dates as 2026-01-31.

    Examples
    --------
    >>> Writer("EUR").text(2050.0), Writer("$").text(-2050.0), Writer("fraction").text(0.075), Writer("years").text(3)
    ('2,050 EUR', '-$2,050', '7.5 %', '3 years')
    >>> Writer(digits=4).text(0.07882504445115511), Writer("days since 2000-01-01").text(366)
    ('about 0.0788', '2001-01-01')
    """

    unit: str = ""
    digits: int | None = None
    locale: str | None = None

    @property
    def dates(self) -> bool:
        """Whether its values are dates, which are neither raised nor lowered."""
        return self.unit == _DATE or self.unit.startswith(SINCE)

    def text(self, value: Any, *, quoted: bool = False) -> str:
        """Write a value; `quoted` text stands in quotes, as in a sentence."""
        value = plain(value)
        if isinstance(value, date):
            return self._date(value)
        exact = _exact(value)
        if exact is None or (not self.unit and self.locale is None and self._rounded(exact) == exact):
            return text(value, quoted=quoted)
        if self.unit.startswith(SINCE):
            day = _day(self.unit, exact)
            return self._number(exact, self.unit) if day is None else self._date(day)
        rounded = self._rounded(exact)
        return f"{_about(rounded, exact)}{self._number(rounded, self.unit)}"

    def pair(self, before: Any, after: Any, *, quoted: bool = True) -> tuple[str, str]:
        """Write two values that differ; rounding does not make them look the same."""
        old, new = _exact(plain(before)), _exact(plain(after))
        alike = old is not None and new is not None and self._rounded(old) == self._rounded(new)
        writer = Writer(self.unit, None, self.locale) if alike else self
        return writer.text(before, quoted=quoted), writer.text(after, quoted=quoted)

    def apart(self, before: Any, after: Any) -> str:
        """Write how far apart two numbers are; empty if that cannot be said in plain digits.

        >>> Writer().apart(0.1, 0.3), Writer("EUR").apart(2050, 1200), Writer().apart(1e30, 2.0)
        ('0.2', '850 EUR', '')
        """
        old, new = _exact(plain(before)), _exact(plain(after))
        if self.dates or old is None or new is None or not (_is_plain(old) and _is_plain(new)):
            return ""
        exact = _short(_WIDE.subtract(new, old).copy_abs())
        rounded = self._rounded(exact) or exact
        about = _about(rounded, exact, max(old.copy_abs(), new.copy_abs()))
        if self.unit == FRACTION:
            rounded = _times(100, rounded)
        return f"{about}{self._number(rounded, _POINTS if self.unit in (PERCENT, FRACTION) else self.unit)}"

    def _rounded(self, exact: Decimal) -> Decimal:
        exponent = exact.as_tuple().exponent
        if self.digits is None or not isinstance(exponent, int) or -exponent <= self.digits:
            return exact
        return _short(exact.quantize(Decimal(1).scaleb(-self.digits), context=_WIDE))

    def _number(self, number: Decimal, unit: str) -> str:
        if unit == FRACTION:
            number, unit = _times(100, number), PERCENT
        if self.locale is not None:
            return self._local_number(number, unit)
        return _with(unit, number, _plain)

    def _local_number(self, number: Decimal, unit: str) -> str:
        # Whatever a locale's patterns say about digits, all of them are told.
        local: Any = _babel("numbers")
        options = {"locale": _known(self.locale), "decimal_quantization": False}
        if unit == PERCENT:
            return str(local.format_percent(_times(Decimal("0.01"), number), **options))
        if _is_sign(unit):
            return self._local_money(number, _NO_CURRENCY, options).replace("\N{CURRENCY SIGN}", unit)
        if _CODE.fullmatch(unit) and local.is_currency(unit):
            return self._local_money(number, unit, options)
        return _with(unit, number, lambda size: str(local.format_decimal(size, **options)))

    def _local_money(self, number: Decimal, code: str, options: dict[str, Any]) -> str:
        local: Any = _babel("numbers")
        if self.digits != 0:
            return str(local.format_currency(number, code, **options))
        # Nobody recorded cents.
        pattern = local.parse_pattern(options["locale"].currency_formats["standard"].pattern.replace(".00", ""))
        return str(pattern.apply(number, currency=code, currency_digits=False, **options))

    def _date(self, value: date) -> str:
        if self.unit == _DATE and isinstance(value, datetime):
            value = value.date()
        if self.locale is None:
            return text(value)
        local: Any = _babel("dates")
        if isinstance(value, datetime) and not (value.time() == time() and value.tzinfo is None):
            # The long form names a time zone, also where nobody gave one.
            form = "medium" if value.tzinfo is None else "long"
            return str(local.format_datetime(value, form, locale=_known(self.locale)))
        return str(local.format_date(value, "long", locale=_known(self.locale)))


def _exact(value: Any) -> Decimal | None:
    """Return a number with the digits that it is written with; None for what is no finite number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral | float | np.floating | Decimal):
        return None
    if isinstance(value, Decimal):
        return value if value.is_finite() else None
    if isinstance(value, numbers.Integral):
        return Decimal(int(value))
    return _short(Decimal(str(value))) if np.isfinite(value) else None


def _short(number: Decimal) -> Decimal:
    """Return the same number without zeros at its end, behind the point."""
    if not number:
        return Decimal(0)
    short = number.normalize(_WIDE)
    return (
        short.quantize(Decimal(1), context=_WIDE)
        if short.copy_abs() < _LARGE and int(short.as_tuple().exponent) > 0
        else short
    )


def _times(factor: int | Decimal, number: Decimal) -> Decimal:
    return _short(_WIDE.multiply(Decimal(factor), number))


def _is_plain(number: Decimal) -> bool:
    """Whether a number is written without an exponent."""
    return number.as_tuple().exponent == 0 or _SMALL <= number.copy_abs() < _LARGE


def _plain(number: Decimal) -> str:
    return f"{number:,f}" if _is_plain(number) else f"{number.normalize(_WIDE):e}"


def _with(unit: str, number: Decimal, write: Callable[[Decimal], str]) -> str:
    """Write a number with its unit behind it, or the sign of a currency before it."""
    if _is_sign(unit):
        return f"{'-' if number < 0 else ''}{unit}{write(number.copy_abs())}"
    return f"{write(number)} {unit}".rstrip()


def _is_sign(unit: str) -> bool:
    """Whether a unit is the sign of a currency."""
    return len(unit) == 1 and unicodedata.category(unit) == "Sc"


def _about(rounded: Decimal, exact: Decimal, size: Decimal = Decimal(0)) -> str:
    """Return the word that stands before a number that was rounded; `size` is that of what it was calculated from."""
    lost = _WIDE.subtract(rounded, exact).copy_abs()
    return "about " if lost > _WIDE.multiply(_SINGLE, max(size, exact.copy_abs())) else ""


def _first_day(unit: str) -> date:
    return date.fromisoformat(unit.removeprefix(SINCE))


def _day(unit: str, number: Decimal) -> date | None:
    """Return the day that a number stands for; None if it is no whole one, or beyond the calendar."""
    if number != number.to_integral_value():
        return None
    try:
        return _first_day(unit) + timedelta(days=int(number))
    except OverflowError:
        return None


def _babel(part: str) -> ModuleType:
    try:
        import babel.dates
        import babel.numbers
    except ImportError as error:
        raise ImportError("locale needs Babel: pip install 'robust-recourse[locale]'") from error
    return babel.numbers if part == "numbers" else babel.dates


def _known(locale: str | None) -> Any:
    """Return the locale, or raise if nobody knows it."""
    import babel

    try:
        return babel.Locale.parse(str(locale).replace("-", "_"))
    except (ValueError, babel.UnknownLocaleError) as error:
        why = f": {error}" if locale else ""  # of no name at all Babel says where it looks for one
        raise ValueError(f"locale must be one like 'en_GB' or 'de_DE', got {locale!r}{why}.") from error
