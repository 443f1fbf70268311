"""Nothing looks like more than it is: wherever a person reads a result, it says whether survival was measured."""

from __future__ import annotations

import html
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from robust_recourse import Jury, NearestAccepted, Recourses, future_models
from robust_recourse.audits import audit

NOT_MEASURED = "Survival was not measured"
GUIDES = "the models that guided the search"
APART = "models that took no part in the search"
KINDS = ("alone", "guided", "checked")


@pytest.fixture(scope="module")
def models():
    """People, a model, and models retrained on the same people."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.normal(30, 8, 200).round(1), "debt": rng.normal(10, 3, 200).round(1)})
    y = (X["income"] - 1.5 * X["debt"] + rng.normal(0, 3, 200) > 18).astype(int)
    estimator = LogisticRegression()
    later = list(future_models(estimator, X, y, n_models=30, random_state=0))
    model = LogisticRegression().fit(X, y)
    return X, model, later, X[model.predict(X) == 0].head(4)


@pytest.fixture(scope="module")
def results(models):
    """The same people without a jury, with one, and with one and models that check it."""
    X, model, later, people = models
    juries = {"alone": None, "guided": Jury(later[:10], 0.8), "checked": Jury(later[:10], 0.8, check=later[10:])}
    return {name: NearestAccepted(model, jury=jury).fit(X).explain(people) for name, jury in juries.items()}


def letters(found, folder):
    return "".join(path.read_text() for path in found.to_html_files(folder))


def overview(found, folder):
    found.to_html_files(folder)
    return (folder / "index.html").read_text()


# What each place says, and of which people; whether it also says what the guides accept.
PLACES = {
    "repr": (lambda found, _: repr(found), False),
    "str": (lambda found, _: str(found), False),
    "notebook": (lambda found, _: found._repr_html_(), False),
    "one": (lambda found, _: repr(found[0]), False),
    "of one person": (lambda found, _: found[0].describe(), True),
    "described": (lambda found, _: found.describe(), True),
    "first described": (lambda found, _: found.describe(0), True),
    "in German signs": (lambda found, _: pytest.importorskip("babel") and found.describe(0, locale="de_DE"), True),
    "page": (lambda found, _: found.to_html(), True),
    "letter": (lambda found, _: found[:1].to_html(audience="applicant"), True),
    "for analysts": (lambda found, _: found.to_html(audience="analyst"), True),
    "letters": (letters, True),
    "overview": (overview, True),
    "read back": (lambda found, _: repr(Recourses.from_json(found.to_json())), False),
    "audit": (lambda found, _: repr(audit(found, ["a", "a", "b", "b"])), False),
    "audit in a notebook": (lambda found, _: audit(found, ["a", "a", "b", "b"])._repr_html_(), False),
}
LETTERS = ("letter", "letters")  # only what applicants need to know


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", PLACES)
def test_it_says_whether_survival_was_measured(results, tmp_path, place, kind):
    read, shares = PLACES[place]
    found = results[kind]
    said = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", read(found, tmp_path))).split())
    if kind == "checked":
        assert NOT_MEASURED not in said
        assert APART in said or "Survival at least" in said
        bounds = {int(100 * bound) for bound in found.survival_bound}
        assert bounds & {int(share) for share in re.findall(r"at least (\d+)\s%", said)}
    else:
        assert NOT_MEASURED in said
        assert not re.search(r"[Ss]urvival:? (of|at|is)|as far as the check", said)
        assert APART not in said
    assert (GUIDES in said) == (shares and kind != "alone" and not (place in LETTERS and kind == "checked"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_share_of_the_guides_is_never_called_survival(results, kind):
    page = html.unescape(results[kind].to_html() + results[kind].describe())
    for sentence in re.split(r"[.<>\n]", page):
        if GUIDES in sentence:
            assert "urviv" not in sentence


def test_part_of_the_results_may_have_been_measured(results):
    some = Recourses.concat([results["alone"][:1], results["checked"][1:]])
    assert f"{NOT_MEASURED} for 1 of 4 results. For the others, with 95 % confidence for each, at least " in repr(some)
    assert NOT_MEASURED not in repr(some[1:])
    assert f"{NOT_MEASURED}.)" in repr(some[:1])


def test_nothing_survives_where_nothing_was_found(models):
    X, model, _, people = models
    nobody = NearestAccepted(model).fit(X).explain(people.head(0))
    assert "urviv" not in repr(nobody)


def test_what_later_models_say_is_a_measurement(results, models):
    measured = results["guided"].future_validity(models[2][10:])
    assert NOT_MEASURED not in repr(measured)
    assert "95 %" in repr(measured)
    assert NOT_MEASURED not in repr(audit(results["guided"], ["a", "a", "b", "b"], measured))


def test_who_needs_nothing_is_promised_no_more(models):
    X, model, _, _ = models
    found = NearestAccepted(model).fit(X).explain(X[model.predict(X) == 1].head(1))
    for said in (repr(found), found.describe(0), found.to_html(audience="applicant")):
        assert NOT_MEASURED in said
