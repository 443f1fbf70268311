"""The notice that a person gets: what to change, and what is promised."""

from __future__ import annotations

import numbers
from collections.abc import Sequence

from robust_recourse.notices._markup import Markup, element, table, value
from robust_recourse.notices.notice import Notice
from robust_recourse.notices.sentences import NO_RECOURSE, how, phrases
from robust_recourse.notices.values import column_text, label_text, printable, text

__all__ = ["anchor", "applicant"]


def anchor(notice: Notice) -> str:
    """Return the name to link to a person's notice."""
    return f"person-{notice.person}"


def applicant(options: Sequence[Notice], when: str, note: str = "", *, title: str = "", level: int = 2) -> Markup:
    """Return the notice of one person.

    Parameters
    ----------
    options : sequence of Notice
        The recourses of the person, cheapest first; one without recourse if there is none.
    when : str
        The date.
    note : str
        A last paragraph, such as whom to ask.
    title : str
        What stands above the heading.
    level : int
        Level of the heading.
    """
    first = options[0]
    chosen = [option for option in options if option.recommended]
    parts: list[Markup] = []
    if first.needs_nothing:
        heading = "Nothing needs to change for "
        parts += [_verdict(("Today", "accepted", True)), _accepted()]
    elif not chosen:
        heading = "No change to recommend for "
        parts += [_verdict(("Today", "refused", False)), *_nothing_found(first)]
    else:
        heading = "What would change the decision for "
        parts.append(_verdict(("Today", "refused", False), ("With the changes below", "accepted", True)))
        for number, option in enumerate(chosen, start=1):
            parts += _option(option, number, len(chosen), level)
        parts += _promises(len(chosen), when, level)
    parts += _details(first, level)
    if note:
        parts.append(element("p", printable(note), class_="note"))
    top = [element("p", printable(title), class_="from")] if title else []
    heading += "number " * isinstance(first.label, numbers.Integral)
    top.append(element(f"h{level}", heading, value(label_text(first.label)), id=anchor(first), class_="head"))
    return element("article", *top, element("p", when, class_="when"), *parts, aria_labelledby=anchor(first))


def _part(heading: str, level: int) -> Markup:
    return element(f"h{level + 1}", heading, class_="part")


def _verdict(*answers: tuple[str, str, bool]) -> Markup:
    items = [
        element("li", element("span", asked), element("b", answer), class_="yes" if favourable else "no")
        for asked, answer, favourable in answers
    ]
    return element("ul", *items, class_="verdict", aria_label="The model's answers")


def _accepted() -> Markup:
    return element("p", "The present model accepts these details as they are.", class_="say")


def _nothing_found(notice: Notice) -> list[Markup]:
    words = NO_RECOURSE.get(notice.status)
    said = f"No change can be recommended: {words}." if words else "No change can be recommended."
    return [
        element("p", said, class_="say"),
        element(
            "p",
            "This does not mean that the answer can never change. Another model, other details or other limits on what "
            "may change can lead to another answer.",
        ),
    ]


def _option(notice: Notice, number: int, of: int, level: int) -> list[Markup]:
    heading = f"Option {number} of {of}" if of > 1 else "What to change"
    rows = [
        (value(column_text(change.column)), value(text(change.before)), value(text(change.after)), how(change))
        for change in notice.changes
    ]
    caption = f"Option {number}: today and after the change" if of > 1 else "Today and after the change"
    return [
        _part(heading, level),
        element("p", *_sentence(notice), class_="say"),
        table(caption, ("Detail", "Today", "Needed", "How"), rows, kind="before-after"),
    ]


def _sentence(notice: Notice) -> list[str]:
    """Return the sentence that says what to change, with names and values kept apart from ours."""
    words: list[str] = []
    for phrase in phrases(notice):
        words += ["; "] * bool(words)
        words += [value(word) if k % 2 else word for k, word in enumerate(phrase)]
    return [words[0][:1].upper() + words[0][1:], *words[1:], "."]


def _promises(n_options: int, when: str, level: int) -> list[Markup]:
    limits = [
        "A later model may decide differently; models are replaced from time to time.",
        "Other values were not checked, not even those that go further.",
        "A decision may depend on more than the model's answer.",
    ]
    if n_options > 1:
        limits.insert(0, "Choose one option. A mixture of several was not checked.")
    checked = (
        f"The model in use on {when} was asked about exactly these values, with everything else as it is, and "
        f"{'accepts each option' if n_options > 1 else 'accepts them'}."
    )
    return [
        _part("What is promised", level),
        element("ul", element("li", checked)),
        _part("What is not promised", level),
        element("ul", *(element("li", limit) for limit in limits)),
    ]


def _details(notice: Notice, level: int) -> list[Markup]:
    items = [
        element("div", element("dt", value(column_text(column))), element("dd", value(text(held))))
        for column, held in notice.before.items()
    ]
    if not items:
        return []
    return [
        element(
            "div",
            _part("The details that were used", level),
            element("p", "If one of them is wrong, have it corrected first: the answer may then be different."),
            element("dl", *items),
            class_="details",
        )
    ]
