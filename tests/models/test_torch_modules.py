"""Torch is optional: without it these tests are skipped."""

import copy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse import NearestAccepted, RobustBayesianRecourse
from robust_recourse.models.gradients import Scores
from robust_recourse.models.predictor import Acceptance, ModelError, Predictor, Probabilities
from robust_recourse.models.torch_modules import is_module

torch = pytest.importorskip("torch")
nn = torch.nn

X = np.random.default_rng(0).uniform(-2, 2, (50, 3))
ROWS = np.arange(50)
ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "elu": nn.ELU}


def module(seed, hidden=(8, 5), activation="tanh", columns=1, dtype=torch.float64, p=3):
    generator = torch.Generator().manual_seed(seed)
    layers, width = [], p
    for h in hidden:
        layers += [nn.Linear(width, h), ACTIVATIONS[activation]()]
        width = h
    layers += [nn.Linear(width, columns), nn.Sigmoid() if columns == 1 else nn.Softmax(dim=1)]
    made = nn.Sequential(*layers).to(dtype)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=dtype))
    return made


def asked(made, Z, dtype=torch.float64):
    with torch.no_grad():
        answer = made(torch.tensor(Z, dtype=dtype)).double().numpy()
    return answer[:, -1]


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10_000),
    st.lists(st.integers(1, 8), max_size=3),
    st.sampled_from(sorted(ACTIVATIONS)),
    st.sampled_from([1, 2]),
)
def test_automatic_gradients_agree_with_differences(seed, hidden, activation, columns):
    made = module(seed, hidden, activation, columns)
    scores = Scores(made)
    assert scores.kind == "autograd"
    value, gradient = scores(X, ROWS)
    assert scores.n_queries == 50
    favourable = asked(made, X)
    np.testing.assert_array_equal(value > 0, favourable > 0.5)
    clear = (favourable > 1e-6) & (favourable < 1 - 1e-6)
    odds = favourable[clear] / (1 - favourable[clear])
    np.testing.assert_allclose(value[clear], np.log(odds), rtol=1e-6, atol=1e-9)
    coarse, fine = (Scores(lambda Z: asked(made, Z), step=step)(X, ROWS).gradient for step in (1e-4, 2e-5))
    # Differences across a kink do not settle, and those of saturated probabilities are noise.
    settled = clear & np.isclose(coarse, fine, rtol=1e-3, atol=1e-3).all(axis=1)
    np.testing.assert_allclose(gradient[settled], fine[settled], rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize(
    ("dtype", "columns"),
    [(torch.float32, 1), (torch.float32, 2), (torch.float64, 1), (torch.float64, 2), (torch.bfloat16, 1)],
)
def test_labels_and_probabilities_of_a_module(dtype, columns):
    made = module(1, columns=columns, dtype=dtype)
    favourable = asked(made, X, dtype)
    np.testing.assert_array_equal(Predictor(made)(X, ROWS), favourable > 0.5)
    np.testing.assert_array_equal(Probabilities(made)(X, ROWS), favourable)
    value, gradient = Scores(made)(X, ROWS)
    np.testing.assert_array_equal(value > 0, favourable > 0.5)
    assert value.dtype == gradient.dtype == np.float64


def test_frames_go_in_as_tensors():
    made = module(1)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    decode = lambda Z, _: pd.DataFrame(Z, columns=frame.columns)  # noqa: E731
    np.testing.assert_array_equal(Predictor(made, decode)(X, ROWS), Predictor(made)(X, ROWS))
    np.testing.assert_array_equal(Scores(made, decode)(X, ROWS).value, Scores(made)(X, ROWS).value)


class Odd(nn.Module):
    """A module in the middle of training: one part frozen, dropout, a batch norm, gradients accumulated."""

    def __init__(self):
        super().__init__()
        self.frozen = nn.BatchNorm1d(3)
        self.rest = nn.Sequential(nn.Linear(3, 30), nn.Dropout(0.5), nn.Linear(30, 1), nn.Sigmoid())
        self.train()
        self.frozen.eval()

    def forward(self, rows):
        assert rows.dtype == torch.float32
        rows *= 1.0  # works in place unless the rows are a leaf that needs gradients
        return self.rest(self.frozen(rows))[:, 0]


class Copying(Odd):
    def forward(self, rows):
        return super().forward(rows.clone())


def test_training_goes_on_as_if_nothing_had_been_asked():
    made = Copying()
    state = copy.deepcopy(made.state_dict())
    first = Predictor(made)(X, ROWS)
    value, _ = Scores(made)(X, ROWS)
    np.testing.assert_array_equal(first, Predictor(made)(X, ROWS))  # no dropout
    np.testing.assert_array_equal(value > 0, first)
    assert made.training
    assert made.rest[1].training
    assert not made.frozen.training
    assert all(parameter.grad is None for parameter in made.parameters())
    for name, tensor in made.state_dict().items():
        assert torch.equal(tensor, state[name])


def test_a_module_that_fails_is_still_put_back_into_training():
    made = nn.Sequential(nn.Linear(4, 1), nn.Sigmoid()).train()
    for ask in (Predictor(made), Scores(made)):
        with pytest.raises(ModelError, match="RuntimeError for"):
            ask(X, ROWS)
        assert made.training
        assert made[1].training


def test_a_module_that_works_in_place_changes_nothing_of_ours():
    before = X.copy()
    Predictor(Odd())(X, ROWS)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("columns", [1, 2])
def test_logits_are_refused_with_advice(columns):
    made = module(1, columns=columns)[:-1]
    for ask in (Predictor(made), Probabilities(made), Scores(made)):
        with pytest.raises(ModelError, match=r"(probabilities in \[0, 1\]|add up to 1).*row.*add a sigmoid.*wrap"):
            ask(X, ROWS)
    sound = nn.Sequential(made, nn.Sigmoid() if columns == 1 else nn.Softmax(dim=1))
    np.testing.assert_array_equal(Predictor(sound)(X, ROWS), Predictor(module(1, columns=columns))(X, ROWS))


def test_other_models_get_no_advice_about_sigmoids():
    with pytest.raises(ModelError, match="probabilities in") as caught:
        Predictor(lambda Z: Z[:, 0] * 9)(X, ROWS)
    assert "sigmoid" not in str(caught.value)


def test_saturated_probabilities_have_a_score_and_no_gradient():
    made = nn.Sequential(nn.Linear(1, 1), nn.Sigmoid())
    with torch.no_grad():
        made[0].weight.fill_(1.0)
        made[0].bias.fill_(0.0)
    Z = np.array([[-1000.0], [-80.0], [-3.0], [1000.0]])
    value, gradient = Scores(made)(Z, np.arange(4))
    assert np.isfinite(value).all()
    np.testing.assert_array_equal(value > 0, [False, False, False, True])
    np.testing.assert_allclose(gradient[:, 0], [0.0, 1.0, 1.0, 0.0], rtol=1e-4)
    np.testing.assert_allclose(value[1:3], [-80.0, -3.0], rtol=1e-4)


class Steps(nn.Module):
    def forward(self, rows):
        return rows[:, 0] > 0


def test_a_module_without_parameters_or_gradients_is_flat():
    assert is_module(Steps())
    np.testing.assert_array_equal(Predictor(Steps())(X, ROWS), X[:, 0] > 0)
    value, gradient = Scores(Steps())(X, ROWS)
    np.testing.assert_array_equal(value > 0, X[:, 0] > 0)
    np.testing.assert_array_equal(gradient, 0.0)


def derivative(made, **decides):
    """Central differences of what the module itself answers."""
    answers = lambda Z: made(torch.tensor(Z)).detach().numpy()  # noqa: E731
    return Scores(answers, step=2e-5, **decides)(X, ROWS)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.sampled_from([None, 0.2, 0.7]), st.data())
def test_any_column_with_any_threshold(seed, columns, threshold, data):
    made = module(seed, (6,), columns=columns)
    favourable = data.draw(st.integers(0, max(columns - 1, 1)))
    decides = {"favourable": favourable, "threshold": threshold}
    answer = made(torch.tensor(X)).detach().numpy()
    share = answer[:, favourable] if columns > 1 else (answer[:, 0] if favourable else 1.0 - answer[:, 0])
    if threshold is not None:
        expected = share >= threshold
    else:
        expected = answer.argmax(axis=1) == favourable if columns > 2 else share > 0.5
    np.testing.assert_array_equal(Predictor(made, **decides)(X, ROWS), expected)
    np.testing.assert_array_equal(Probabilities(made, **decides)(X, ROWS), share)
    np.testing.assert_array_equal(Acceptance(made, **decides)(X, ROWS) >= 0.5, expected)
    scores = Scores(made, **decides)
    assert scores.kind == "autograd"
    value, gradient = scores(X, ROWS)
    np.testing.assert_array_equal(value > 0, expected)
    naive = derivative(made, **decides)
    clear = (share > 1e-4) & (share < 1 - 1e-4)
    np.testing.assert_allclose(value[clear], naive.value[clear], rtol=1e-6, atol=1e-6)
    if columns > 2 and threshold is None:
        second = np.sort(np.delete(answer, favourable, axis=1), axis=1)
        clear &= second[:, -1] > 1.01 * second[:, -2] if columns > 2 else True  # no kink nearby
    np.testing.assert_allclose(gradient[clear], naive.gradient[clear], rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize(("favourable", "sign"), [(None, 1.0), ("above", 1.0), ("below", -1.0)])
def test_scores_of_a_module_beside_a_threshold(favourable, sign):
    made = module(1)[:-1]
    decides = {"favourable": favourable, "threshold": 1.0}
    score = made(torch.tensor(X)).detach().numpy()[:, 0]
    assert 0.1 < (score > 1.0).mean() < 0.9
    np.testing.assert_array_equal(Predictor(made, **decides)(X, ROWS), sign * score >= sign * 1.0)
    scores = Scores(made, **decides)
    value, gradient = scores(X, ROWS)
    assert scores.kind == "autograd"
    np.testing.assert_allclose(value, sign * (score - 1.0))
    np.testing.assert_allclose(gradient, derivative(made, **decides).gradient, rtol=1e-3, atol=1e-3)


def test_rows_in_other_units_have_other_gradients():
    made, unit = module(1), np.array([100.0, 0.5, 3.0])
    plain = Scores(made)(X, ROWS)
    for numbers in (True, False):
        scores = Scores(
            made, lambda Z, _: pd.DataFrame(Z * unit), unit=unit, numbers=numbers, scale=1 / unit, step=1e-5
        )
        assert scores.kind == ("autograd" if numbers else "differences")
        value, gradient = scores(X / unit, ROWS)
        clear = np.abs(plain.value) < 10.0
        np.testing.assert_allclose(value[clear], plain.value[clear], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose((gradient / unit)[clear], plain.gradient[clear], rtol=1e-3, atol=1e-3)


def test_a_module_that_fails_for_a_row_names_it():
    class Picky(nn.Module):
        def forward(self, rows):
            if (rows[:, 0] > 50.0).any():
                raise ZeroDivisionError("no such branch")
            return torch.sigmoid(rows[:, 0])

    Z = X.copy()
    Z[17, 0] = 60.0
    for ask in (Predictor(Picky()), Scores(Picky())):
        with pytest.raises(ModelError, match="ZeroDivisionError for row 17 of X: no such branch"):
            ask(Z, ROWS)


class Predicts(nn.Module):
    def predict(self, Z):
        return Z[:, 0] > 0


def test_a_module_with_predict_is_asked_by_predict():
    assert not is_module(Predicts())
    np.testing.assert_array_equal(Predictor(Predicts())(X, ROWS), X[:, 0] > 0)


def test_a_derivative_that_is_no_number_points_nowhere():
    class Root(nn.Module):
        def forward(self, rows):
            return torch.sigmoid(torch.sqrt((rows**2).sum(dim=1)) + rows[:, 0] - 1.0)

    Z = np.array([[0.0, 0.0], [0.5, 0.2]])
    assert np.isfinite(Scores(Root())(Z, np.arange(2)).gradient).all()


@pytest.mark.parametrize("method", [RobustBayesianRecourse, NearestAccepted])
def test_modules_are_models_of_every_method(method):
    made = module(3, (6,), dtype=torch.float32)
    training = np.random.default_rng(1).uniform(-2, 2, (300, 3))
    found = method(made, random_state=0).fit(training).explain(X)
    assert found.valid.all()
    np.testing.assert_array_equal(asked(made, found.x, torch.float32) > 0.5, True)
