"""What the page says about survival: nothing that was not measured, and first the plan that was asked for."""

import json
import re
from copy import deepcopy

import numpy as np
import pytest

from robust_recourse import Jury, NearestAccepted

pytestmark = pytest.mark.slow

ROWS = np.array([[-1.0, 0.5], [-2.0, 1.0], [0.0, 0.25], [3.0, 1.0], [4.0, 0.0], [5.0, 2.0]])
UNMEASURED = {
    "en-GB": "Survival was not measured.",
    "de-DE": "Ob ein Plan auch nach einem neuen Modell noch gilt, wurde nicht gemessen.",
}
CLAIMS = r"[Ss]urviv|[Ll]ater models|[Ss]afest|lasts?\b|[Bb]estand|spätere|neuen Modell|[Ss]icher|hält"
SURVIVAL = re.compile(rf"[^.\n]*(?:{CLAIMS})[^.\n]*\.?")


def accepts(least):
    return lambda rows: np.asarray(rows).sum(axis=1) > least


PRESENT, LATER = accepts(2.0), [accepts(2.0 + k / 4) for k in range(5)]


def explained(jury=None):
    return NearestAccepted(PRESENT, jury=jury, random_state=0).fit(ROWS).explain(ROWS[:3], n_recourses=2)


def about_survival(page):
    """Every sentence of the page that is about survival, however it is called."""
    return {each.strip() for each in SURVIVAL.findall(page.locator("body").inner_text())}


def look(page, view):
    """Open a view with everything on it that tells of plans."""
    if view == "everybody":
        page.evaluate("location.hash = 'everybody'")
        page.locator("#filter-group").select_option(index=1)
        page.locator(".groups").wait_for()
        return
    page.locator(".people button").first.click()
    page.locator(".card").first.wait_for()
    for button in page.locator(".card .actions button:last-child").all():
        button.click()
    page.locator(".compare").wait_for()


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
@pytest.mark.parametrize("jury", [None, Jury(LATER)])
def test_survival_that_was_not_measured_is_called_so_and_nothing_else(opened, tmp_path, locale, jury):
    # Those who guided the search are asked again by the page, and are no better witnesses for it.
    asked = {} if jury is None else {"model": PRESENT, "jury": jury}
    found = explained(jury)
    page = opened(found.to_explorer(tmp_path / "page", **asked, with_notices=False).as_uri(), locale=locale)
    look(page, "person")
    assert about_survival(page) == {UNMEASURED[locale]}
    if jury:
        words = {"en-GB": "They guided the search and cannot judge", "de-DE": "Sie haben die Suche gelenkt und können"}
        assert page.get_by_text(words[locale]).count() == 2 * page.locator(".card").count()  # cards, and side by side
    look(page, "everybody")
    assert about_survival(page) == {UNMEASURED[locale]}


def test_models_apart_from_the_search_measure_survival(opened, tmp_path):
    folder = explained().to_explorer(tmp_path / "asked", model=PRESENT, jury=LATER, with_notices=False)
    page = opened(folder.as_uri())
    look(page, "person")
    assert UNMEASURED["en-GB"] not in page.locator("main").inner_text()
    assert "guided" not in page.locator("main").inner_text()
    look(page, "everybody")
    assert UNMEASURED["en-GB"] not in page.locator("main").inner_text()
    page.get_by_role("columnheader", name="Survival", exact=True).wait_for()


def test_a_check_gives_a_bound_and_the_share_of_the_search_is_not_mixed_with_it(opened, tmp_path):
    check = [accepts(2.0 - k) for k in range(20)]
    found = explained(Jury(LATER, quorum=0.5, check=check))
    page = opened(found.to_explorer(tmp_path / "checked", with_notices=False).as_uri())
    look(page, "person")
    bound = int(100 * found.survival_bound[0])
    assert bound < 100 * found.jury_share[0]
    card = page.locator(".card").first.inner_text()
    assert f"At least {bound}% of later models accept this plan" in card
    assert "They guided the search and cannot judge its plans." in card
    assert UNMEASURED["en-GB"] not in card
    look(page, "everybody")
    page.get_by_role("columnheader", name="Survival at least").wait_for()
    assert page.locator(".list tbody td.number:last-child").first.inner_text() == f"{bound}%"


def changed(tmp_path, *plans):
    """A result file in which the first person has these plans."""
    document = json.loads(explained(Jury(LATER)).to_json())
    first = next(row for row in document["rows"] if row["changes"])
    rows = []
    for k, plan in enumerate(plans):
        row = deepcopy(first) | {"person": 0, "rank": k + 1, **plan}
        row["changes"][0]["to"] += k  # plans that are not the same
        rows.append(row)
    document["rows"] = rows
    path = tmp_path / "result.json"
    path.write_text(json.dumps(document))
    return path


def marks(page):
    """The number of the plan that bears each mark, and of the chosen one."""
    cards = page.locator(".card").all()
    found = {mark: k + 1 for k, card in enumerate(cards) for mark in card.locator(".chip").all_inner_texts()}
    chosen = [k + 1 for k, card in enumerate(cards) if card.get_by_role("button", name="Chosen").count()]
    return found, *chosen


def open_file(page, path):
    page.get_by_label("Open a result file").set_input_files(path)
    page.locator(".list tbody button").first.click()
    page.locator(".card").first.wait_for()


def test_the_safest_plan_has_the_highest_bound_and_then_the_largest_share(opened, explorer, tmp_path):
    page = opened(explorer)
    plans = [
        {"cost": 1.0, "jury_share": 1.0, "survival_bound": 0.80},
        {"cost": 2.0, "jury_share": 0.9, "survival_bound": 0.94},
        {"cost": 3.0, "jury_share": 1.0, "survival_bound": 0.94},
        {"cost": 4.0, "jury_share": 1.0, "survival_bound": 0.92},
    ]
    open_file(page, changed(tmp_path, *plans))
    assert marks(page) == ({"Cheapest": 1, "Safest": 3}, 1)


def test_the_plan_that_is_chosen_first_is_the_cheapest_that_is_what_was_asked_for(opened, explorer, tmp_path):
    page = opened(explorer)
    plans = [
        {"cost": 1.0, "jury_share": 0.5, "status": "quorum out of reach", "reason": "Too few."},
        {"cost": 3.0, "jury_share": 1.0},
        {"cost": 2.0, "jury_share": 0.9},
    ]
    open_file(page, changed(tmp_path, *plans))
    assert page.locator(".card .facts div:first-child dd").all_inner_texts() == ["2", "3", "1"]
    assert marks(page) == ({"Cheapest": 3, "Most models accept": 2}, 1)
    page.get_by_role("link", name="Everybody").click()
    assert "plan found" in page.locator(".list tbody").inner_text()


def plan_of(body, k, cost, share):
    row = body["rows"][0]
    after = row | {"income": row["income"] + 100 * k}
    change = {"column": "income", "from": row["income"], "to": after["income"], "cost": cost}
    told = {"person": 0, "label": 0, "status": "ok", "reason": "", "valid": True, "before": row, "after": after}
    return told | {"rank": 1, "cost": cost, "jury_share": share, "survival_bound": None, "changes": [change]}


@pytest.mark.parametrize("picked", [False, True])
def test_a_plan_that_comes_later_is_chosen_if_it_is_cheaper_and_nobody_chose_yet(opened, service, picked):
    page = opened(service)
    waiting = []

    def answer(route):
        body = route.request.post_data_json
        if body["alternatives"] == 1:
            route.fulfill(json={"columns": [], "rows": [plan_of(body, 9, 2.0, 0.9)]})
        else:
            waiting.append((route, body))

    page.route("**/v1/recourse", answer)
    with page.expect_request(lambda request: "recourse" in request.url and '"alternatives":4' in request.post_data):
        page.locator(".people button").first.click()
    while not waiting:
        page.wait_for_timeout(20)
    if picked:
        page.get_by_role("button", name="Chosen Plan 1").click()
    for route, body in waiting:
        # The second is dearer and no better; the third costs less, and so few accept that the first one stays.
        more = [plan_of(body, 9, 2.0, 0.9), plan_of(body, 12, 2.5, 0.9), plan_of(body, 3, 1.0, 0.4)]
        route.fulfill(json={"columns": [], "rows": more})
    page.locator(".plans .status").filter(has_not_text="Looking for").wait_for()
    assert page.locator(".card .facts div:first-child dd").all_inner_texts() == ["1", "2"]
    assert marks(page)[1] == (2 if picked else 1)
