"""Numbers that are typed, sign by sign: they stay as they were typed, and what was understood is what is sent."""

import re

import pytest

pytestmark = pytest.mark.slow


ENGLISH = {"locale": "en-GB"}
GERMAN = {"locale": "de-DE"}
TYPED = [
    (ENGLISH, {"15000.5": 15000.5, "0.5": 0.5, "1200.75": 1200.75, "20,000.50": 20000.5, "€3'000": 3000, " 1e3": 1000}),
    (GERMAN, {"15000,5": 15000.5, "0,5": 0.5, "20.000,50": 20000.5, "15000.5": 15000.5, "1.500": 1500, "9 €": 9}),
]
UNDERSTOOD = {"en-GB": "Understood: €{}.", "de-DE": "Verstanden: {} €."}
SEARCH = {"en-GB": "Find plans", "de-DE": "Pläne suchen"}


def told(value, locale):
    """A number as the language writes it."""
    text = f"{value:,.2f}".rstrip("0").rstrip(".")
    return text if locale == "en-GB" else text.translate(str.maketrans(",.", ".,"))


def write(field, text):
    """Type over what is in a field."""
    field.press("Control+a")
    field.press("Delete")
    field.press_sequentially(text)


def said_at(field):
    """What is said at a field, as those hear it who do not see it."""
    ids = field.get_attribute("aria-describedby").split()
    return " ".join(field.page.locator(f"[id='{each}']").inner_text().replace("\xa0", " ") for each in ids)


def sent(page, address):
    """What the page sends to an address, which answers with nothing."""
    bodies = []
    answer = {"verdicts": [{"accepted": True, "jury_share": None}], "columns": [], "rows": []}

    def note(route):
        bodies.append(route.request.post_data_json)
        route.fulfill(json=answer)

    page.route(f"**/v1/{address}", note)
    return bodies


def rows_but(today, bodies):
    """The rows that models were asked about, but for the person as they are."""
    return [row for body in bodies for row in body["rows"] if row != today]


def entered(page, name):
    return page.get_by_label(re.compile(rf"^{name}\b")).and_(page.locator("input:not([type=range])"))


def moved(page, name):
    return page.locator(".whatif").locator(entered(page, name))


@pytest.mark.parametrize(("options", "texts"), TYPED)
def test_what_is_typed_into_the_form_stays_and_is_sent_as_it_was_meant(opened, amounts, options, texts):
    page = opened(amounts, **options)
    locale = options["locale"]
    bodies = sent(page, "recourse")
    field = entered(page, "income")
    for text, value in texts.items():
        write(field, text)
        assert field.input_value() == text
        field.press("Tab")
        assert field.input_value() == text
        assert UNDERSTOOD[locale].format(told(value, locale)) in said_at(field)
        assert field.get_attribute("aria-invalid") is None
    # Without leaving the field, with Enter; a press of the button is another way to go on.
    write(entered(page, "savings"), next(iter(texts)))
    entered(page, "savings").press("Enter")
    page.locator(".plans").wait_for()
    page.wait_for_function("() => document.querySelector('.plans').ariaBusy === 'false'")
    assert (bodies[0]["rows"][0]["income"], bodies[0]["rows"][0]["savings"]) == (list(texts.values())[-1], 15000.5)
    page.get_by_role("button", name=re.compile("^(Another person|Andere Person)$")).click()
    write(entered(page, "income"), next(iter(texts)))
    # As a reader's software presses it: the focus stays where it is.
    page.get_by_role("button", name=SEARCH[locale]).dispatch_event("click")
    page.locator(".plans").wait_for()
    page.wait_for_function("() => document.querySelector('.plans').ariaBusy === 'false'")
    assert bodies[-1]["rows"][0]["income"] == 15000.5


@pytest.mark.parametrize(("options", "texts"), TYPED)
def test_what_is_typed_into_what_if_stays_and_is_asked_about_once(opened, amounts, options, texts):
    page = opened(amounts, **options)
    locale = options["locale"]
    first = sent(page, "recourse")
    page.get_by_role("button", name=SEARCH[locale]).click()
    page.locator(".whatif [data-state=said]").wait_for()
    bodies = sent(page, "verdict")
    today = first[0]["rows"][0]
    field = moved(page, "income")
    for k, (text, value) in enumerate(texts.items()):
        write(field, text)
        with page.expect_request("**/v1/verdict"):
            field.press("Enter" if k % 2 else "Tab")
        assert field.input_value() == text
        assert UNDERSTOOD[locale].format(told(value, locale)) in said_at(field)
    assert [row["income"] for row in rows_but(today, bodies)] == list(texts.values())
    # What was typed goes when another value comes from elsewhere.
    page.locator(".whatif .answer button").first.click()
    assert field.input_value() not in texts
    assert "Understood" not in said_at(field)


@pytest.mark.parametrize(("options", "texts"), TYPED)
def test_what_is_typed_as_a_limit_stays_and_is_what_limits(opened, amounts, options, texts):
    page = opened(amounts, **options)
    locale = options["locale"]
    bodies = sent(page, "recourse")
    sent(page, "verdict")
    page.get_by_role("button", name=SEARCH[locale]).click()
    page.locator(".shape summary").first.click()
    low, high = page.locator(".shape .range").first.locator("input").all()
    for k, (text, value) in enumerate(texts.items()):
        write(high, text)
        with page.expect_request("**/v1/recourse"):
            high.press("Enter" if k % 2 else "Tab")
        assert high.input_value() == text
        assert UNDERSTOOD[locale].format(told(value, locale)) in said_at(high)
        assert bodies[-1]["ranges"] == {"income": [None, value]}
    # The other end depends on this one, and is judged anew when that one changes.
    write(low, next(iter(texts)))
    n = len(bodies)
    low.press("Tab")
    page.locator(".plans .failed").wait_for()
    assert low.get_attribute("aria-invalid") == "true"
    assert len(bodies) == n
    write(high, "30000")
    with page.expect_request("**/v1/recourse"):
        high.press("Tab")
    assert low.get_attribute("aria-invalid") is None
    assert bodies[-1]["ranges"] == {"income": [15000.5, 30000]}


WRONG = [
    ("en-GB", "income", "20.000,50", "This cannot be read as a number. Write it like this: 1234.5."),
    ("en-GB", "income", "1,5", "This cannot be read as a number."),
    ("en-GB", "income", "plenty", "This cannot be read as a number."),
    ("en-GB", "income", "-1", "Understood: -€1. Enter €0 or more."),
    ("en-GB", "age", "33.5", "Understood: 33.5. Enter a whole number."),
    ("en-GB", "age", "-5", "Understood: -5. Enter 0 or more."),
    ("en-GB", "age", "500", r"Understood: 500\. Enter 2\d\d or less\."),
    ("en-GB", "owner", "2", "Enter one of these: 0, 1."),
    ("en-GB", "age", "", "Please fill in."),
    ("de-DE", "income", "20,000.50", "Das lässt sich nicht als Zahl lesen. Schreiben Sie es so: 1234,5."),
    ("de-DE", "age", "-5", "Verstanden: -5. Geben Sie 0 oder mehr ein."),
]


def test_what_is_wrong_is_said_at_the_field_and_nothing_is_sent(opened, amounts, violations):
    for locale in ("en-GB", "de-DE"):
        page = opened(amounts, locale=locale)
        bodies = sent(page, "recourse")
        for _, name, text, words in (case for case in WRONG if case[0] == locale):
            field = entered(page, name)
            usual = field.input_value()
            write(field, text)
            field.press("Tab")
            assert field.input_value() == text
            assert field.get_attribute("aria-invalid") == "true"
            assert re.search(words, said_at(field)), said_at(field)
            write(field, usual)
            field.press("Tab")
            assert field.get_attribute("aria-invalid") is None
        write(entered(page, "owner"), "x")
        write(entered(page, "rate"), "1..5")
        entered(page, "rate").press("Enter")
        page.get_by_role("alert").get_by_text("rate, owner").wait_for()
        page.wait_for_function("() => document.activeElement.value === '1..5'")
        assert violations(page) == []
        assert bodies == []
        # An unusual number is none that is wrong.
        write(entered(page, "rate"), told(-10.25, locale))
        write(entered(page, "owner"), "1")
        entered(page, "owner").press("Tab")
        assert ("nusual" if locale == "en-GB" else "Ungewöhnlich") in said_at(entered(page, "rate"))
        page.get_by_role("button", name=SEARCH[locale]).click()
        page.locator(".plans").wait_for()
        page.wait_for_function("() => document.querySelector('.plans').ariaBusy === 'false'")
        assert [body["rows"][0]["rate"] for body in bodies] == [-10.25]


def test_no_model_is_asked_about_a_value_that_was_not_understood(opened, amounts):
    page = opened(amounts)
    first = sent(page, "recourse")
    page.get_by_role("button", name="Find plans").click()
    page.locator(".whatif [data-state=said]").wait_for()
    bodies = sent(page, "verdict")
    today = first[0]["rows"][0]
    write(moved(page, "income"), "1,5")
    moved(page, "income").press("Enter")
    page.locator(".whatif .answer").get_by_text("Please correct: income.", exact=True).wait_for()
    # Nor while another value is moved.
    write(moved(page, "age"), "40")
    moved(page, "age").press("Tab")
    assert moved(page, "income").input_value() == "1,5"
    assert rows_but(today, bodies) == []
    write(moved(page, "income"), "1.5")
    moved(page, "income").press("Tab")
    page.locator(".whatif [data-state=said]").wait_for()
    assert [(row["income"], row["age"]) for row in rows_but(today, bodies)] == [(1.5, 40)]


@pytest.mark.parametrize(
    ("options", "text", "value", "others"),
    [
        (ENGLISH, "1.5", 1.5, "1,5"),
        (ENGLISH, "1,500", 1500, "1500"),
        (GERMAN, "1.500", 1500, "1500"),
        (GERMAN, "1500,5", 1500.5, "1500.5"),
    ],
)
def test_another_language_writes_what_was_understood_in_its_signs(opened, amounts, options, text, value, others):
    page = opened(amounts, **options)
    other, locale = ("de", "de-DE") if options == ENGLISH else ("en", "en-GB")
    bodies = sent(page, "recourse")
    write(entered(page, "income"), text)
    entered(page, "income").press("Tab")
    page.get_by_role("combobox").first.select_option(other)
    page.get_by_role("button", name=SEARCH[locale]).wait_for()
    field = entered(page, "income")
    assert field.input_value() == others
    assert field.get_attribute("aria-invalid") is None
    page.get_by_role("button", name=SEARCH[locale]).click()
    page.locator(".plans").wait_for()
    page.wait_for_function("() => document.querySelector('.plans').ariaBusy === 'false'")
    assert bodies[0]["rows"][0]["income"] == value


def test_another_language_reads_again_what_was_not_understood(opened, amounts):
    page = opened(amounts, **ENGLISH)
    bodies = sent(page, "recourse")
    write(entered(page, "income"), "1500,5")
    entered(page, "income").press("Tab")
    assert entered(page, "income").get_attribute("aria-invalid") == "true"
    page.get_by_role("combobox").first.select_option("de")
    page.get_by_role("button", name=SEARCH["de-DE"]).wait_for()
    field = entered(page, "income")
    assert field.input_value() == "1500,5"
    assert "Verstanden: 1.500,5 €." in said_at(field)
    page.get_by_role("button", name=SEARCH["de-DE"]).click()
    page.locator(".plans").wait_for()
    page.wait_for_function("() => document.querySelector('.plans').ariaBusy === 'false'")
    assert bodies[0]["rows"][0]["income"] == 1500.5
