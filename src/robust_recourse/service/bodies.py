"""What requests have to say, as FastAPI reads and describes it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from robust_recourse.service.settings import Most

__all__ = ["Chosen", "Fulfilment", "Limits", "NoticeOf", "PromiseOf", "RecourseOf", "VerdictOf"]

_MOST = Most()
_COLUMNS = 1000  # that a request names

Row = Annotated[Any, WithJsonSchema({"title": "Row", "type": "object", "x-row": "Row"})]
AnyRow = Annotated[Any, WithJsonSchema({"title": "AnyRow", "type": "object", "x-row": "AnyRow"})]
"""A row. What it must have depends on the method: :class:`robust_recourse.service.rows.RowReader` checks it."""
Text = Annotated[str, Field(max_length=200)]
End = Annotated[float, Field(allow_inf_nan=False)] | None
Scalar = str | bool | int | float


def _storable(text: str) -> str:
    """Return a text that every database holds; a blank one is none."""
    if "\0" in text:
        raise ValueError("must have no sign of code 0, which no database holds")
    return text if text.strip() else ""


def _identity(text: str) -> str:
    if not _storable(text):
        raise ValueError("must not be blank")
    return text


Note = Annotated[str, Field(max_length=2000, json_schema_extra={"pattern": r"^[^\u0000]*$"}), AfterValidator(_storable)]
Identity = Annotated[
    str,
    Field(min_length=1, max_length=200, json_schema_extra={"pattern": r"^[^\u0000]*[^\s\u0000][^\u0000]*$"}),
    AfterValidator(_identity),
]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Limits(_Body):
    """What a person cannot do, or does not want to. It only narrows what the lender allows."""

    fixed: list[Text] = Field(default=[], max_length=_COLUMNS, description="Columns that this person cannot change.")
    ranges: dict[Text, Annotated[list[End], Field(min_length=2, max_length=2)]] = Field(
        default={},
        max_length=_COLUMNS,
        description="Acceptable values of numbers, [low, high]; null for the lender's.",
    )
    categories: dict[Text, Annotated[list[Scalar], Field(min_length=1, max_length=_COLUMNS)]] = Field(
        default={}, max_length=_COLUMNS, description="Acceptable categories; keeping the own one is always allowed."
    )
    difficulty: dict[Text, Annotated[float, Field(ge=0.01, le=100.0)]] = Field(
        default={}, max_length=_COLUMNS, description="How hard a change is, as a factor on the lender's weight."
    )
    max_changes: Annotated[int, Field(ge=1, le=_COLUMNS)] | None = Field(
        default=None, description="How many columns may change together."
    )


class RecourseOf(Limits):
    """People for whom recourses are asked, and what holds for all of them."""

    rows: Annotated[list[AnyRow], Field(min_length=1, max_length=_MOST.rows)] = Field(description="The people.")
    alternatives: Annotated[int, Field(ge=1, le=_MOST.alternatives)] = Field(
        default=1, description="How many recourses each gets at most; they change different columns."
    )
    time_limit: Annotated[float, Field(gt=0.0, le=_MOST.time_limit)] | None = Field(
        default=None, description="Seconds of the search. What is done by then is returned."
    )
    survival: Annotated[float, Field(gt=0.0, lt=1.0)] | None = Field(
        default=None,
        description="The share of retrained models that a recourse must survive; needs a jury with a check.",
    )
    unseen: Literal["error", "ignore"] = Field(
        default="error", description="What happens to values that no training row has."
    )


class VerdictOf(_Body):
    """Rows about which the present model and the jury are asked."""

    rows: Annotated[list[AnyRow], Field(min_length=1, max_length=_MOST.rows)] = Field(description="The rows.")


class Chosen(_Body):
    """A person, and what they would be after a recourse."""

    row: Row = Field(description="The person today.")
    after: AnyRow = Field(description="The person after the recourse, all columns.")


class NoticeOf(Chosen):
    """A recourse that is to be printed."""

    names: dict[Text, Text] = Field(default={}, max_length=_COLUMNS, description="What the page calls the columns.")
    locale: Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}([_-][A-Za-z0-9]{2,8}){0,3}$")] | None = Field(
        default=None, description="How numbers are written, such as de_DE."
    )
    note: Annotated[str, Field(max_length=2000)] = Field(default="", description="The last paragraph.")


class PromiseOf(Chosen):
    """A recourse that is to be promised."""

    person: Identity = Field(description="The id of the person.")
    until: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", json_schema_extra={"format": "date"})] | None = Field(
        default=None, description="The last day; the latest that the lender allows if null."
    )
    note: Note = Field(default="", description="What else is to be remembered.")
    replace: bool = Field(default=False, description="Whether another open promise to this person is replaced.")


class Fulfilment(_Body):
    """A person as they are now."""

    row: AnyRow = Field(description="The person now, all columns.")
