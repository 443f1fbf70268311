"""Functions are recognised by what they do."""

import functools

import numpy as np

from robust_recourse.futures.fingerprint import fingerprint

STRENGTH = 1.0


def helper(y):
    return y + 1


def refit(y):
    return helper(y) * STRENGTH


def make(value):
    def inner(y):
        return y, value

    return inner


def test_a_function_is_the_same_when_it_is_made_again():
    assert fingerprint(make(1)) == fingerprint(make(1))
    assert fingerprint(refit) == fingerprint(refit)
    assert fingerprint(make(np.arange(3))) == fingerprint(make(np.arange(3)))


def test_other_code_values_and_defaults_are_other_functions():
    functions = [
        refit,
        make(1),
        make(2),
        make(np.arange(3)),
        make(make(1)),
        make(make(2)),
        lambda: 1,
        lambda: 2,
        lambda y: y.shape,
        lambda y: y.size,
        lambda y=0: y,
        lambda y=1: y,
        lambda *, y=0: y,
        lambda *, y=1: y,
        lambda y: (lambda z: z + 1)(y),
        lambda y: (lambda z: z + 2)(y),
        functools.partial(refit, 1),
        functools.partial(refit, 2),
        functools.partial(refit, y=2),
        functools.partial(make(1), lambda: 3),
        functools.partial(make(1), lambda: 4),
    ]
    assert len({fingerprint(function) for function in functions}) == len(functions)


def test_globals_and_called_functions_count(monkeypatch):
    seen = {fingerprint(refit)}
    with monkeypatch.context() as patch:
        patch.setitem(globals(), "STRENGTH", 2.0)
        seen.add(fingerprint(refit))
    with monkeypatch.context() as patch:

        def helper(y):
            return y + 2

        patch.setitem(globals(), "helper", helper)
        seen.add(fingerprint(refit))
    assert len(seen) == 3
    assert fingerprint(refit) in seen


class Trainer:
    def __init__(self, strength):
        self.strength = strength

    def __call__(self, y):
        return y * self.strength

    def train(self, y):
        return y * self.strength


def test_objects_and_their_methods_are_known_by_their_state():
    assert fingerprint(Trainer(1)) == fingerprint(Trainer(1)) != fingerprint(Trainer(2))
    assert fingerprint(Trainer(1).train) == fingerprint(Trainer(1).train) != fingerprint(Trainer(2).train)


def test_a_function_that_calls_itself_or_holds_something_strange_has_a_name_too():
    def recursive(seed):
        return recursive(seed - 1) if seed else file

    with open(__file__) as file:
        assert fingerprint(recursive) == fingerprint(recursive)
