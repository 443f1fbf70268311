"""The page that the service serves, walked through as an adviser would with an applicant beside them."""

import json
import re

import pytest

pytestmark = pytest.mark.slow


def choose(page, label):
    page.get_by_label("Search by name, number or value").fill(str(label))
    page.locator(".people button").filter(has=page.locator(f"strong bdi:text-is('{label}')")).click()
    page.locator(".card").first.wait_for()


def finished(page):
    """Wait until all plans are there."""
    page.locator(".plans .status").filter(has_not_text="Looking for").wait_for()


def posted(page, address):
    """What the page sends to an address, as it comes."""
    bodies = []
    page.on("request", lambda request: bodies.append(request.post_data_json) if address in request.url else None)
    return bodies


def whatif(page):
    return page.locator(".whatif .answer [role=status]")


def said(page):
    page.locator(".whatif [data-state=said]").wait_for()
    return whatif(page).inner_text()


def test_a_person_is_entered_and_gets_plans(opened, service, counter):
    page = opened(service)
    person = counter.refused.iloc[0]
    page.get_by_label("Name or number (optional)").fill("Ms <b>Example</b>")
    for column in ("income", "savings", "debt", "months", "age"):
        page.get_by_label(re.compile(rf"^{column}\b")).fill(str(person[column]))
    for column in ("job", "housing"):
        page.get_by_label(column, exact=True).select_option(label=person[column])
    bodies = posted(page, "/v1/recourse")
    page.get_by_role("button", name="Find plans").click()
    page.locator(".card").first.wait_for()
    finished(page)
    assert page.get_by_role("heading", level=1).inner_text() == "Ms <b>Example</b>"
    assert bodies[0]["rows"] == [json.loads(person.to_json())]
    assert 1 <= page.locator(".card").count() <= 4
    assert "refused" in page.locator(".who").inner_text()


def test_an_empty_field_is_named(opened, service):
    page = opened(service)
    page.get_by_label(re.compile("^income")).fill("")
    page.get_by_role("button", name="Find plans").click()
    assert page.get_by_role("alert").inner_text() == "Please fill in: income."


def test_plans_follow_what_a_person_says(opened, service, counter):
    label = counter.refused.index[0]
    page = opened(service)
    choose(page, label)
    finished(page)
    changed = page.locator(".card").first.locator(".what strong").first.inner_text()
    bodies = posted(page, "/v1/recourse")
    page.get_by_role("group", name=re.compile(rf"^{changed} ")).get_by_role("radio", name="Cannot").check()
    other = next(name for name in ("income", "debt", "months") if name != changed)
    group = page.get_by_role("group", name=re.compile(rf"^{other} "))
    group.get_by_role("radio", name="Hard").check()
    group.get_by_text("Acceptable values").click()
    # Beyond what the lender allows is no limit at all.
    group.get_by_label(f"{other}: At least").fill("-1000000000")
    most = int(counter.rows[other].quantile(0.9))
    group.get_by_label(f"{other}: At most").fill(str(most))
    group.get_by_label(f"{other}: At most").press("Enter")
    group.get_by_text("The lender allows nothing beyond that anyway.").wait_for()
    page.wait_for_function("() => document.querySelector('.plans').ariaBusy === 'true'")
    page.wait_for_function("() => document.querySelector('.plans').ariaBusy === 'false'")
    finished(page)
    body = bodies[-1]
    assert body["fixed"] == [changed]
    assert body["difficulty"] == {other: 3}
    assert body["ranges"] == {other: [None, most]}
    assert changed not in page.locator(".plans .what strong").all_inner_texts()


def test_the_verdict_follows_a_moved_value(opened, service, counter):
    label = counter.refused.index[0]
    page = opened(service)
    choose(page, label)
    assert "refused" in said(page)
    row = counter.refused.loc[label].copy()
    page.locator(".whatif").get_by_label(re.compile(r"^income\b")).last.fill("9000")
    page.keyboard.press("Tab")
    row["income"] = 9000
    page.locator(".whatif .answer").get_by_text("1 value moved").wait_for()
    told = said(page)
    assert ("accepted" in told) == counter.accepts(row)
    assert f"{round(counter.share(row) * 10)} of 10 retrained models accept" in told
    page.get_by_role("button", name="Back to today").click()
    page.locator(".whatif .answer").get_by_text("1 value moved").wait_for(state="detached")
    assert "refused" in said(page)
    page.get_by_role("button", name="Begin with the chosen plan").click()
    whatif(page).get_by_text("accepted", exact=True).wait_for()


def test_a_value_that_cannot_be_asked_about_is_told_once(opened, service, counter):
    page = opened(service, complaints=True)
    choose(page, counter.refused.index[0])
    said(page)
    bodies = posted(page, "/v1/verdict")
    income = page.locator(".whatif").get_by_label(re.compile(r"^income\b")).last
    income.fill("")
    income.press("Tab")
    whatif(page).get_by_text("Please fill in: income.", exact=True).wait_for()
    # What the page can see is said at the field, and not asked; the rest is said by the service.
    income.fill("1.5")
    income.press("Tab")
    whatif(page).get_by_text("Please correct: income.", exact=True).wait_for()
    assert bodies == []
    page.route("**/v1/verdict", lambda route: route.fulfill(status=422, json={"detail": "Not that one.", "errors": []}))
    income.fill("9000")
    income.press("Tab")
    whatif(page).get_by_text("The service says: Not that one.", exact=True).wait_for()
    assert [body["rows"][0]["income"] for body in bodies] == [9000]


def test_a_slider_asks_seldom_and_the_last_answer_wins(opened, service, counter):
    page = opened(service)
    choose(page, counter.refused.index[0])
    finished(page)
    said(page)
    waiting, answered = [], []

    def late(route):
        # The first answer is held back until the second has been given.
        row = route.request.post_data_json["rows"][0]
        waiting.append((route, row))
        if len(waiting) > 1:
            for each, its in reversed(waiting):
                yes = its is row
                answered.append(its["months"])
                try:
                    each.fulfill(json={"verdicts": [{"accepted": yes, "jury_share": 1.0 if yes else 0.0}]})
                except Exception:  # the page gave this one up
                    answered.append("given up")

    page.route("**/v1/verdict", late)
    slider = page.locator(".whatif").get_by_role("slider", name="months")
    # All at once, as a hand moves it; keys that a busy machine presses slowly are questions of their own.
    moves = """(slider, values) => values.forEach((value) => {
        slider.value = value;
        slider.dispatchEvent(new Event("input", { bubbles: true }));
    })"""
    months = [value for value in (6, 12, 18, 24, 30) if value != counter.refused["months"].iloc[0]]
    with page.expect_request("**/v1/verdict"):
        slider.evaluate(moves, months)
    page.wait_for_timeout(300)  # in which others would be asked
    assert [row["months"] for _, row in waiting] == months[-1:]  # many moves are one question
    slider.evaluate(moves, [36, 42, 54])
    whatif(page).get_by_text("accepted", exact=True).wait_for()
    page.wait_for_timeout(300)
    assert "10 of 10 retrained models accept" in said(page)
    assert [row["months"] for _, row in waiting] == [months[-1], 54]


def test_steps_bookmarks_and_the_picture_are_there(opened, service, counter):
    page = opened(service)
    choose(page, counter.refused.index[0])
    finished(page)
    page.wait_for_function("() => document.querySelectorAll('.step .chip').length > 0")
    assert "accepted" in page.locator(".step .then").last.inner_text()
    page.get_by_role("button", name="Bookmark Plan 1").click()
    page.get_by_role("region", name="Bookmarks side by side").wait_for()
    assert page.locator(".picture .point").count() == page.locator(".card").count()


def test_the_notice_is_opened_in_a_tab_of_its_own(opened, service, counter):
    label = counter.refused.index[0]
    page = opened(service)
    page.context.add_init_script("window.print = () => { window.printed = true; }")
    page.reload()
    choose(page, label)
    finished(page)
    bodies = posted(page, "/v1/notice")
    with page.expect_popup() as popup:
        page.get_by_role("button", name="Print a notice").click()
    notice = popup.value
    notice.get_by_role("heading", level=1).wait_for()
    assert bodies[0]["locale"] == "en-GB"
    assert "What would change the decision" in notice.locator("h1").inner_text()
    assert notice.evaluate("getComputedStyle(document.querySelector('article')).borderTopLeftRadius") == "10px"


def test_a_notice_is_printed_also_for_a_locale_that_the_service_does_not_know(opened, service, counter):
    page = opened(service, complaints=True)

    def unknown(route):
        known = "locale" not in route.request.post_data_json
        route.continue_() if known else route.fulfill(status=422, json={"detail": "Unknown locale.", "errors": []})

    page.route("**/v1/notice", unknown)
    page.context.add_init_script("window.print = () => { window.printed = true; }")
    page.reload()
    choose(page, counter.refused.index[0])
    bodies = posted(page, "/v1/notice")
    with page.expect_popup() as popup:
        page.get_by_role("button", name="Print a notice").click()
    popup.value.get_by_role("heading", level=1).wait_for()
    assert [body.get("locale") for body in bodies] == ["en-GB", None]


def test_a_promise_has_a_receipt_that_can_be_checked(opened, service, counter):
    label = counter.refused.index[1]
    page = opened(service)
    choose(page, label)
    finished(page)
    page.get_by_role("button", name="Promise this").click()
    page.get_by_role("button", name="Make the promise").click()
    receipt = page.locator(".receipt")
    receipt.wait_for()
    facts = dict(zip(receipt.locator("dt").all_inner_texts(), receipt.locator("dd").all_inner_texts(), strict=True))
    assert facts["Promised to"] == str(label)
    assert re.fullmatch(r"[0-9A-F]{4}(-[0-9A-F]{4})+", facts["Code"])
    assert re.search(r"\b20\d\d\b", facts["Made on"])
    assert re.search(r"\b20\d\d\b", facts["Holds until"])
    page.get_by_role("button", name="Another person").click()
    page.get_by_text("Check a receipt").click()
    page.get_by_label("Number", exact=True).fill(facts["Number"])
    page.get_by_label("Code", exact=True).fill(facts["Code"])
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_text(f"This is the code of the promise to {label}").wait_for()
    page.get_by_label("Code", exact=True).fill("0000-0000-0000-0000")
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_text("This is not the code of that promise.").wait_for()


def test_an_analyst_explains_the_whole_table(opened, service, counter):
    page = opened(f"{service}#everybody")
    page.get_by_role("button", name="Explain all refused people of the table").click()
    page.get_by_text(f"{len(counter.refused)} of {len(counter.refused)} shown.").wait_for()
    names = page.locator(".list").get_by_role("rowheader").all_inner_texts()
    assert sorted(names, key=int) == [str(label) for label in sorted(counter.refused.index)]
    page.locator(".list").get_by_role("button", name=names[0], exact=True).click()
    page.locator(".card").first.wait_for()
    finished(page)


def test_a_busy_service_is_asked_again(opened, service, counter):
    page = opened(service, complaints=True)
    refused = []

    def busy(route):
        if refused:
            route.continue_()
        else:
            refused.append(route)
            route.fulfill(status=503, headers={"Retry-After": "1"}, json={"detail": "Come back later."})

    page.route("**/v1/recourse", busy)
    choose(page, counter.refused.index[0])
    assert refused


def test_the_first_plan_stays_whatever_becomes_of_the_others(opened, service, counter):
    page = opened(service, complaints=True)
    others = []

    def fail(route):
        body = route.request.post_data_json
        if body["alternatives"] == 1:
            return route.continue_()
        others.append(body)
        if len(others) > 1:
            return route.fulfill(json={"rows": []})
        return route.fulfill(status=422, json={"detail": "Not today.", "errors": []})

    page.route("**/v1/recourse", fail)
    choose(page, counter.refused.index[0])
    page.get_by_role("alert").get_by_text("Not today.").wait_for()
    first = page.locator(".card .changes").inner_text()
    page.get_by_role("heading", name="Step by step").wait_for()
    # Others are looked for as long as an adviser has patience.
    assert others[0]["time_limit"] == 10
    page.get_by_role("button", name="Try again").click()
    page.get_by_text("One plan that the present model accepts.").wait_for()
    finished(page)
    assert page.locator(".card .changes").all_inner_texts() == [first]
    assert len(others) == 2


def test_a_problem_is_told_as_text_and_can_be_tried_again(opened, service):
    page = opened(service, complaints=True)
    detail = "rows[0].income <img src=x onerror=alert(1)>"
    page.route("**/v1/recourse", lambda route: route.fulfill(status=422, json={"detail": detail, "errors": []}))
    page.locator(".people button").first.click()
    page.get_by_role("alert").get_by_text(detail).wait_for()
    assert page.locator("main img").count() == 0
    page.unroute("**/v1/recourse")
    page.get_by_role("button", name="Try again").click()
    page.locator(".card").first.wait_for()


def test_a_token_is_asked_for_and_kept_nowhere(opened, service):
    page = opened(service, complaints=True)

    def guard(route):
        if route.request.headers.get("authorization") == "Bearer sesame":
            route.continue_()
        else:
            route.fulfill(status=401, json={"detail": "A token is needed."})

    page.route("**/v1/**", guard)
    page.reload()
    page.get_by_label("Access token").fill("wrong")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("alert").get_by_text("A token is needed.").wait_for()
    page.get_by_label("Access token").fill("sesame")
    page.get_by_role("button", name="Continue").click()
    page.locator(".people button").first.wait_for()
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(opened, service, counter, violations, scheme):
    page = opened(service, color_scheme=scheme)
    page.locator(".people button").first.wait_for()
    assert violations(page) == []
    choose(page, counter.refused.index[0])
    finished(page)
    said(page)
    for summary in page.locator("summary").all():
        summary.click()
    page.get_by_role("button", name="Promise this").click()
    assert violations(page) == []


def test_a_phone_is_wide_enough(opened, service, counter):
    page = opened(service, viewport={"width": 320, "height": 640}, has_touch=True, is_mobile=True)
    page.locator(".people button").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    choose(page, counter.refused.index[0])
    finished(page)
    said(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
