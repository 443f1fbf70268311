"""Results can be sent to other processes, whatever was asked of them before."""

from __future__ import annotations

import copy
import pickle


def ask(thing, model, folder):
    """Use every public property and method."""
    given = {
        "concat": lambda method: method([thing]),
        "equals": lambda method: method(thing),
        "from_json": lambda method: method(thing.to_json()),
        "future_validity": lambda method: method([model, model]),
        "to_explorer": lambda method: method(folder / "explorer"),
        "to_html_files": lambda method: method(folder / "notices"),
    }
    for name in dir(thing):
        if not (name.startswith("_") or "parquet" in name):  # needs an extra
            held = getattr(thing, name)
            if callable(held):
                given.get(name, lambda method: method())(held)
    repr(thing)
    getattr(thing, "_repr_html_", str)()


def test_results_are_pickled_after_all_that_can_be_asked(lender, tmp_path):
    method, people, model = lender
    found = method.explain(people.head(5))
    found.describe(0)
    assert pickle.loads(pickle.dumps(found)).equals(found)
    ask(found, model, tmp_path)
    again = pickle.loads(pickle.dumps(found))
    assert again.equals(found)
    assert copy.deepcopy(found).equals(found)
    assert again.describe() == found.describe()
    assert [str(one) for one in again] == [str(one) for one in found]


def test_so_is_one_recourse(lender, tmp_path):
    method, people, model = lender
    one = next(one for one in method.explain(people.head(5)) if one.trace.neighbourhood is not None)
    ask(one, model, tmp_path)
    again = pickle.loads(pickle.dumps(one))
    assert again.describe() == one.describe()
    assert again.x.equals(one.x)
    assert again.x0.equals(one.x0)
    assert again.cost == one.cost


def test_a_slice_is_pickled_too(lender):
    method, people, _ = lender
    found = method.explain(people.head(5))
    some = found[1:3]
    assert some[0].label == found[1].label
    assert pickle.loads(pickle.dumps(some)).equals(some)
