"""The page that was opened from a disk, walked through as people would."""

import json
import re
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet, NearestAccepted
from robust_recourse.result import Status

pytestmark = pytest.mark.slow


def choose(page, label):
    page.get_by_label("Search by name, number or value").fill(str(label))
    page.locator(".people button").filter(has=page.locator(f"strong bdi:text-is('{label}')")).click()
    page.locator(".card").first.wait_for()


def cards(page):
    return page.locator(".card").all()


def plans_of(found, label):
    return [found[int(i)] for i in np.flatnonzero(found.labels == label)]


def several(found):
    """A person with several plans, one of which has several changes."""
    for label in found.labels.unique():
        plans = plans_of(found, label)
        if len(plans) > 1 and (plans[0].column_costs > 0).sum() > 1:
            return label
    raise AssertionError("Nobody has several plans.")


def test_people_are_found_by_their_label_and_by_their_values(opened, explorer, counter):
    page = opened(explorer)
    page.locator(".people button").first.wait_for()
    assert page.locator(".people button").count() == len(counter.refused)
    page.get_by_label("Search by name").fill("official")
    n = int((counter.refused == "official").any(axis=1).sum())
    page.get_by_text(f"{n} {'person' if n == 1 else 'people'}.", exact=True).wait_for()


def test_cards_tell_from_what_to_what_the_cost_and_who_accepts(opened, explorer, found, counter):
    label = several(found)
    page = opened(explorer)
    choose(page, label)
    plans = plans_of(found, label)
    assert len(cards(page)) == len(plans)
    for card, plan in zip(cards(page), plans, strict=True):
        told = card.inner_text()
        for column in counter.rows.columns:
            if plan.x0[column] != plan.x[column]:
                sign = "€" if column in ("income", "savings", "debt") else ""
                new = plan.x[column]
                assert (f"{sign}{new:,}" if not isinstance(new, str) else new) in told
        assert f"{sum(plan.column_costs > 0)}" in card.locator(".facts dd").nth(1).inner_text()
        assert float(card.locator(".facts dd").nth(0).inner_text()) == pytest.approx(plan.cost, rel=0.01)
        k = round(plan.jury_share * len(counter.jury))
        assert f"{k} of {len(counter.jury)} retrained models accept" in told
        assert card.locator(".bar .full").count() == k
    costs, shares = [plan.cost for plan in plans], [plan.jury_share for plan in plans]
    marks = ("Cheapest", "Most models accept")
    marked = {mark: [mark in card.inner_text() for card in cards(page)] for mark in marks}
    assert marked["Cheapest"].index(True) == int(np.argmin(costs))
    assert shares[marked["Most models accept"].index(True)] == max(shares)
    assert [sum(marked[mark]) for mark in marks] == [1, 1]


def test_the_picture_names_every_plan(opened, explorer, found):
    label = several(found)
    page = opened(explorer)
    choose(page, label)
    told = page.locator(".picture svg").get_attribute("aria-label")
    assert re.findall(r"Plan (\d)", told) == [str(k + 1) for k in range(len(plans_of(found, label)))]
    assert page.locator(".picture .point").count() == len(plans_of(found, label))


def test_wishes_leave_the_plans_that_fit(opened, explorer, found):
    label = several(found)
    page = opened(explorer)
    choose(page, label)
    plans = plans_of(found, label)
    column = next(name for name in found.x0.columns if plans[0].x0[name] != plans[0].x[name])
    fit = [plan for plan in plans if plan.x0[column] == plan.x[column]]
    group = page.get_by_role("group", name=re.compile(rf"^{column} "))
    group.get_by_role("radio", name="Cannot").check()
    if fit:
        page.wait_for_function("n => document.querySelectorAll('.card').length === n", arg=len(fit))
    else:
        page.get_by_text("None of the plans that were found keeps to all of these wishes.").wait_for()
    group.get_by_role("radio", name="Hard").check()
    page.wait_for_function("n => document.querySelectorAll('.card').length === n", arg=len(plans))
    place = list(found.x0.columns).index(column)
    costs = sorted(plan.cost + 2.0 * plan.column_costs[place] for plan in plans)
    shown = [float(card.locator(".facts dd").nth(0).inner_text()) for card in cards(page)]
    np.testing.assert_allclose(shown, costs, rtol=0.01)
    page.get_by_role("button", name="Reset").click()
    page.wait_for_function(f"() => document.querySelector('.facts dd').innerText === '{plans[0].cost:.3g}'")


def test_an_acceptable_range_leaves_out_what_goes_beyond(opened, explorer, found):
    label = several(found)
    page = opened(explorer)
    choose(page, label)
    plans = plans_of(found, label)
    column = next(n for n in ("income", "savings", "debt", "months") if any(p.x0[n] != p.x[n] for p in plans))
    new = [plan.x[column] for plan in plans if plan.x0[column] != plan.x[column]]
    group = page.get_by_role("group", name=re.compile(rf"^{column} "))
    group.get_by_text("Acceptable values").click()
    group.get_by_label(f"{column}: At most").fill(str(min(new) - 1))
    page.keyboard.press("Enter")
    page.wait_for_function("n => document.querySelectorAll('.card').length === n", arg=len(plans) - len(new))


def test_steps_tell_what_the_models_say_in_any_order(opened, explorer, found, counter):
    label = several(found)
    page = opened(explorer)
    choose(page, label)
    plan = plans_of(found, label)[0]
    order = [name for name in found.x0.columns if plan.x0[name] != plan.x[name]]

    def expected():
        row, told = plan.x0.copy(), []
        for column in order:
            row[column] = plan.x[column]
            told.append((counter.accepts(row), counter.share(row)))
        return told

    def shown():
        page.wait_for_function("() => document.querySelectorAll('.step .then .chip').length > 0")
        lines = page.locator(".step .then").all_inner_texts()
        return [("accepted" in line, int(re.search(r"(\d+)%", line)[1]) / 100) for line in lines]

    assert [order.index(name) for name in page.locator(".step .what strong").all_inner_texts()] == list(
        range(len(order))
    )
    np.testing.assert_allclose(shown(), expected(), atol=0.011)
    moved = order[0]
    page.get_by_role("button", name=f"{moved} one step later").press("Enter")
    order[0], order[1] = order[1], order[0]
    page.wait_for_function(f"() => document.querySelector('.step .what strong').innerText === '{order[0]}'")
    np.testing.assert_allclose(shown(), expected(), atol=0.011)
    # The focus is still on a button of the step that was moved, and a reader is told.
    assert moved in page.evaluate("document.activeElement.ariaLabel")
    page.get_by_text(f"{moved} is now step 2.").wait_for(state="attached")


def test_bookmarks_stand_side_by_side(opened, explorer, found):
    label = several(found)
    page = opened(explorer)
    choose(page, label)
    for number in (1, 2):
        page.get_by_role("button", name=f"Bookmark Plan {number}").click()
    table = page.get_by_role("region", name="Bookmarks side by side")
    assert table.get_by_role("columnheader").count() == 2
    costs = table.get_by_role("row").filter(has_text="Cost").get_by_role("cell").all_inner_texts()
    np.testing.assert_allclose(
        [float(cost) for cost in costs], [plan.cost for plan in plans_of(found, label)[:2]], rtol=0.01
    )
    table.get_by_role("button", name="Remove Plan 1").click()
    assert table.get_by_role("columnheader").count() == 1
    # Bookmarks of one person stay while another is looked at.
    page.get_by_role("button", name="Another person").click()
    choose(page, found.labels[-1] if found.labels[-1] != label else found.labels[0])
    assert table.get_by_role("columnheader").count() == 1


def test_the_notice_is_the_page_that_exists(opened, explorer, found):
    label = found.labels[0]
    page = opened(explorer)
    choose(page, label)
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Print a notice").click()
    notice = popup.value
    notice.wait_for_load_state()
    assert f"What would change the decision for number {label}" in notice.locator("h1").inner_text()
    assert "Ask at the counter." in notice.locator("body").inner_text()


def lines(page):
    return page.locator(".list tbody tr:not(.gap)")


def test_an_analyst_sorts_filters_groups_and_goes_into_one_person(opened, explorer, found, counter):
    page = opened(explorer)
    page.get_by_role("link", name="Everybody").click()
    first = found[found.rank == 1]
    assert lines(page).count() == len(first)
    for times, order in ((1, "ascending"), (2, "descending")):
        page.get_by_role("button", name="Cost", exact=True).click()
        assert page.get_by_role("columnheader", name="Cost").get_attribute("aria-sort") == order
        wanted = first.labels[np.argsort(first.cost if times == 1 else -first.cost)]
        shown = lines(page).get_by_role("rowheader").all_inner_texts()
        costs = dict(zip(map(str, first.labels), first.cost, strict=True))
        assert [costs[name] for name in shown] == [costs[str(name)] for name in wanted]
    page.get_by_label("Group by").select_option(label="job")
    groups = page.get_by_role("group", name="By job").get_by_role("row")
    for job, count in counter.refused["job"].value_counts().items():
        mine = first[(first.x0["job"] == job).to_numpy()]
        told = groups.filter(has=page.get_by_role("button", name=job, exact=True)).get_by_role("cell").all_inner_texts()
        assert int(told[0]) == count
        assert float(told[2]) == pytest.approx(float(np.median(mine.cost)), rel=0.01)
        assert int(told[3].rstrip("%")) == pytest.approx(100 * mine.jury_share.mean(), abs=1)
    job = counter.refused["job"].iloc[0]
    groups.get_by_role("button", name=job, exact=True).click()
    assert lines(page).count() == (counter.refused["job"] == job).sum()
    name = lines(page).get_by_role("rowheader").first.inner_text()
    lines(page).get_by_role("button").first.click()
    assert page.get_by_role("heading", level=1).inner_text() == f"Person {name}"
    page.go_back()
    assert lines(page).count() == (counter.refused["job"] == job).sum()


def test_ten_thousand_people_are_no_more_elements_than_a_few(opened, tmp_path):
    n = 10_000
    X = np.column_stack([-1.0 - np.arange(n) % 3, np.arange(n) % 7])
    method = NearestAccepted(lambda x: x[:, 0] > 0.0, random_state=0).fit(np.array([[0.5, 1.0], [-1.0, 2.0]]))
    page = opened(method.explain(X).to_explorer(tmp_path / "many", with_notices=False).as_uri() + "#everybody")
    page.get_by_text("10,000 of 10,000 shown.").wait_for()
    assert 5 < lines(page).count() < 60
    assert page.get_by_role("table").last.get_attribute("aria-rowcount") == "10001"
    box = page.get_by_role("group", name="All people")
    box.evaluate("box => box.scrollTo(0, box.scrollHeight)")
    page.get_by_role("rowheader", name="9999").wait_for()
    assert 5 < lines(page).count() < 60
    # Every line is there once one scrolls to it: no gap between what is drawn and where it stands.
    for place in (0, 1234, 5000, 9000):
        box.evaluate("(box, top) => box.scrollTo(0, top)", place * 48)
        page.get_by_role("rowheader", name=str(place + 3), exact=True).wait_for()
        assert page.get_by_role("rowheader", name=str(place + 3), exact=True).is_visible()
    page.get_by_role("button", name="Cost", exact=True).click()
    page.get_by_label("Search by name").fill("9998")
    page.get_by_text("1 of 10,000 shown.").wait_for()


def press_until(page, key, wanted, most=200):
    """Press a key until the focus is on something whose text or name begins so."""
    for _ in range(most):
        page.keyboard.press(key)
        named = "(document.activeElement.ariaLabel || document.activeElement.innerText || '').trim()"
        if page.evaluate(named).startswith(wanted):
            return
    raise AssertionError(f"{wanted!r} cannot be reached with {key}.")


def test_everything_can_be_done_with_the_keyboard(opened, explorer, found):
    label = several(found)
    page = opened(explorer)
    page.locator(".people button").first.wait_for()
    press_until(page, "Tab", "Skip to the content", 1)
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type(str(label))
    page.wait_for_function(f"() => document.querySelector('.people strong').innerText === '{label}'")
    press_until(page, "Tab", str(label))
    page.keyboard.press("Enter")
    page.locator(".card").first.wait_for()
    assert page.evaluate("document.activeElement.tagName") == "H1"
    press_until(page, "Tab", "Choose")
    page.keyboard.press("Space")
    page.get_by_role("button", name="Chosen Plan 2").wait_for()
    press_until(page, "Tab", "Bookmark")
    page.keyboard.press("Enter")
    page.get_by_role("region", name="Bookmarks side by side").wait_for()
    # A group of radio buttons is one stop; arrows choose.
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.type") == "radio":
            break
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.value") == "easy"
    assert page.get_by_role("button", name="Reset").is_enabled()
    press_until(page, "Tab", "Print a notice")
    press_until(page, "Shift+Tab", "Everybody")
    page.keyboard.press("Enter")
    press_until(page, "Tab", "Cost")
    page.keyboard.press("Enter")
    assert page.get_by_role("columnheader", name="Cost").get_attribute("aria-sort") == "ascending"


def test_a_screen_reader_hears_names_and_roles(opened, explorer, found):
    label = several(found)
    page = opened(explorer)
    choose(page, label)
    tree = page.locator("body").aria_snapshot()
    for part in (
        "banner",
        'navigation "Views"',
        'link "One person"',
        "main",
        f'heading "Person {label}" [level=1]',
        'heading "Plans" [level=2]',
        'article "Plan 1"',
        'list "What to change"',
        'heading "What suits you" [level=2]',
        'radio "No matter" [checked]',
        'heading "Step by step" [level=2]',
        'combobox "Language"',
        "contentinfo",
    ):
        assert part in tree, part
    # Every button has a name.
    assert not re.search(r"^\s*- (button|link|textbox|combobox|radio)( \[\w+(=\w+)?\])*:?$", tree, re.MULTILINE)


VIEWS = ["start", "person", "everybody"]


def show(page, view, found):
    if view == "everybody":
        page.evaluate("location.hash = 'everybody'")
        page.locator("#filter-group").select_option(index=1)
    elif view == "person":
        page.locator(".people button").nth(list(found.labels.unique()).index(several(found))).click()
        page.locator(".card").first.wait_for()
        for button in page.locator(".card .actions button:last-child").all():
            button.click()
        for summary in page.locator("summary").all():
            summary.click()
    else:
        page.locator(".people button").first.wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_no_violation(opened, explorer, found, violations, view, scheme):
    page = opened(explorer, color_scheme=scheme)
    show(page, view, found)
    assert violations(page) == []


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", [320, 768, 1920])
def test_nothing_is_wider_than_the_screen(opened, explorer, found, view, width, direction):
    page = opened(explorer, viewport={"width": width, "height": 700}, locale="de-DE")
    page.evaluate(f"document.documentElement.dir = '{direction}'")
    show(page, view, found)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_it_speaks_german_with_german_numbers(opened, explorer, found):
    label = several(found)
    page = opened(explorer, locale="de-AT")
    page.get_by_label("Suche nach Name").fill(str(label))
    page.locator(".people button").filter(has=page.locator(f"strong bdi:text-is('{label}')")).click()
    page.get_by_role("heading", name="Pläne").wait_for()
    plan = plans_of(found, label)[0]
    cost = page.locator(".facts dd").first.inner_text()
    assert float(cost.replace(",", ".")) == pytest.approx(plan.cost, rel=0.01)
    assert page.locator("html").get_attribute("lang") == "de"
    page.get_by_label("Sprache").select_option("en")
    page.get_by_role("heading", name="Plans").wait_for()
    assert page.locator("html").get_attribute("lang") == "en"


def languages():
    """The words of the page, by their keys: English, German."""
    words = (Path(__file__).parents[2] / "page" / "src" / "words.ts").read_text(encoding="utf-8")
    return [
        dict(re.findall(r'^  (\w+):\s+"((?:[^"\\]|\\.)*)",$', part, re.MULTILINE))
        for part in re.split(r"^const de", words, flags=re.MULTILINE)
    ]


def test_every_status_has_a_name_and_a_meaning_in_both_languages():
    keys = {re.sub(r"[ -]", "_", status) for status in Status}
    plain = {"ok", "already_favourable"}  # of which there is nothing more to say
    for words in languages():
        assert {key.removeprefix("status_") for key in words if key.startswith("status_")} == keys
        assert {key.removeprefix("why_") for key in words if key.startswith("why_")} == keys - plain


def test_a_german_page_says_in_german_why_there_is_no_plan(opened, tmp_path):
    rows = np.array([[0.0, 1.0], [1.0, 2.0]])
    method = NearestAccepted(lambda x: x[:, 0] > 0.5, ActionSet(immutable=[0]), random_state=0).fit(rows)
    found = method.explain(rows[:1])
    [status] = found.status
    page = opened(found.to_explorer(tmp_path / "none").as_uri(), locale="de-DE")
    page.locator(".people button").click()
    told = page.locator(".plans .status")
    key = re.sub(r"[ -]", "_", status)
    told.get_by_text(languages()[1][f"why_{key}"]).wait_for()
    # What the library says more exactly is marked as English.
    assert told.locator("[lang=en]").inner_text() == found.reason[0]
    page.get_by_role("link", name="Alle").click()
    assert page.locator(".list .chip").inner_text() == languages()[1][f"status_{key}"]


def test_both_languages_have_the_same_places_for_values():
    english, german = languages()
    assert english.keys() == german.keys()
    assert len(english) > 100
    for key, text in english.items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", german[key])), key


ATTACKS = [
    "<img src=x onerror='document.title=1;window.attacked=1'>",
    "</script><script>window.attacked=1</script>",
    '"><svg onload=window.attacked=1>',
    "javascript:window.attacked=1",
    '=HYPERLINK("http://evil.invalid")',
    "a\u202eb\u0000\u001b[31m\u2028c",
    "__proto__",
    "constructor",
    "{n} $& {{x}}",
]


def attacked_table():
    names = [*ATTACKS, "amount"]
    rows = [[ATTACKS[(i + k) % len(ATTACKS)] for k in range(len(ATTACKS))] + [float(i)] for i in range(len(ATTACKS))]
    return pd.DataFrame(rows, columns=names, index=pd.Index(ATTACKS, name="<b>id</b>"))


def test_markup_in_a_table_is_only_ever_text(opened, tmp_path):
    table = attacked_table()
    train = pd.concat([table, table.assign(amount=99.0)])
    actions = ActionSet(immutable=ATTACKS[2:], units={"amount": "<b>kg</b>"})

    def accepts(frame):
        return ((frame["amount"] > 50) & (frame[ATTACKS[0]] == ATTACKS[1])).astype(int)

    method = NearestAccepted(accepts, actions, random_state=0).fit(train)
    found = method.explain(table)
    assert found.valid.any()
    title = "<script>window.attacked=1</script>"
    path = found.to_explorer(tmp_path / "attack", title=title, model=accepts, rows=train, note=title)
    page = opened(path.as_uri())
    assert page.get_by_role("heading", level=1).inner_text() == title
    people = page.locator(".people button strong")
    people.first.wait_for()
    assert people.nth(0).inner_text() == ATTACKS[0]
    for k in range(len(ATTACKS)):
        people.nth(k).click()
        page.locator(".plans .status").wait_for()
        page.get_by_text("The details that were used").click()
        page.get_by_role("button", name="Another person").click()
    people.nth(0).click()
    page.locator(".card").wait_for()
    assert ATTACKS[0] in page.locator(".changes").first.inner_text()
    page.get_by_role("link", name="Everybody").click()
    page.get_by_label("Group by").select_option(label=ATTACKS[0])
    assert page.locator(".list tbody").inner_text().count(ATTACKS[1]) >= 1
    assert page.evaluate(
        "[window.attacked, document.images.length, document.querySelectorAll('main script').length]"
    ) == [
        None,
        0,
        0,
    ]
    # Signs that would turn the text around, or ring a bell, are told as what they are.
    assert not re.search("[\u202e\u0000\u001b\u2028]", page.locator("body").inner_text())


def test_a_result_file_can_be_opened(opened, explorer, found, tmp_path):
    page = opened(explorer)
    path = tmp_path / "result.json"
    found.to_json(path)
    page.get_by_label("Open a result file").set_input_files(path)
    page.get_by_text(f"{len(found.labels.unique())} of {len(found.labels.unique())} shown.").wait_for()
    assert page.get_by_role("rowheader").count() == len(found.labels.unique())
    path.write_text(json.dumps({"rows": "none"}))
    page.get_by_label("Open a result file").set_input_files(path)
    page.get_by_text("result.json is no result that was written by to_json.").wait_for()


def test_the_folder_refers_to_nothing_outside_of_itself(explorer):
    folder = Path(unquote(urlparse(explorer).path)).parent
    html = (folder / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'(?:src|href)="([^"]+)"', html) == ["data:,", "page.css", "data.js", "page.js"]
    assert "unsafe" not in html
    assert "style=" not in html
