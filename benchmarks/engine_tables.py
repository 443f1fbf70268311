"""The tables of `engine_gate.py`, drawn from a seed: for whom it ends well, and what may change."""

from functools import cache

import numpy as np
import pandas as pd


def lender(rng, n):
    """Eleven columns: amounts in steps, whole numbers, a yes or no, categories."""
    X = pd.DataFrame(
        {
            "income": rng.lognormal(10.3, 0.4, n).round(-2),
            "debt": rng.lognormal(8.5, 1.0, n).round(-2),
            "savings": rng.lognormal(7.5, 1.2, n).round(2),
            "years": rng.integers(0, 30, n).astype(float),
            "months": rng.integers(1, 11, n) * 6,
            "cards": rng.integers(0, 7, n),
            "age": rng.integers(18, 75, n),
            "guarantor": rng.random(n) < 0.2,
            "housing": rng.choice(["rent", "own", "family"], n, p=[0.5, 0.3, 0.2]),
            "job": rng.choice(["none", "clerk", "trade", "manager"], n, p=[0.15, 0.4, 0.3, 0.15]),
            "region": rng.choice(["north", "south", "west"], n),
        }
    )
    score = (
        np.log(X.income / 30_000)
        - 0.4 * np.log(X.debt / 5_000 + 0.1)
        + 0.2 * np.log1p(X.savings / 1_000)
        + 0.03 * X.years
        - X.months / 60
        - 0.1 * (X.cards - 2.0).abs()
        + 1.2 * (X.housing == "own") * (X.income > 25_000)
        + X.guarantor
        + X.job.map({"none": -1.0, "clerk": 0.0, "trade": 0.3, "manager": 1.0})
    )
    actions = {
        "immutable": ["age", "region"],
        "increase": ["guarantor", "years"],
        "decrease": ["debt"],
        "step": {"income": 500, "debt": 500, "months": 6},
        "rules": ["debt <= income"],
    }
    return X, score + rng.normal(0, 0.4, n), actions


def bank(rng, n):
    """Eleven other columns: shares and days without steps, gaps, an order, dear switches."""
    trouble = rng.gamma(2.0, 1.0, n)
    X = pd.DataFrame(
        {
            "used": np.clip(rng.beta(2, 3, n) + 0.05 * trouble, 0, 1).round(4),
            "limit": (rng.pareto(2.5, n) * 3_000 + 500).round(-1),
            "late": rng.poisson(0.5 * trouble),
            "inquiries": rng.poisson(1.0 + 0.4 * trouble),
            "balance": rng.normal(1_500, 900, n).round(1),
            "tenure": rng.exponential(60, n).round(),
            "lines": rng.integers(1, 12, n),
            "salary": rng.lognormal(7.6, 0.5, n).round(),
            "school": rng.choice(["none", "school", "college", "degree"], n, p=[0.2, 0.4, 0.25, 0.15]),
            "account": rng.choice(["basic", "plus", "joint", "gold", "youth"], n, p=[0.4, 0.25, 0.15, 0.1, 0.1]),
            "sex": rng.choice(["f", "m"], n),
        }
    )
    score = (
        -2.0 * X.used
        - 0.6 * np.minimum(X.late, 3)
        - 0.2 * X.inquiries
        + 0.5 * np.tanh(X.balance / 1_000)
        + 0.3 * np.log(X.limit)
        + 0.004 * np.minimum(X.tenure, 120)
        + 0.6 * np.log(X.salary / 2_000) * (X.lines > 3)
        + 0.3 * X.school.map({"none": 0, "school": 1, "college": 2, "degree": 3})
        + X.account.map({"basic": 0.0, "plus": 0.2, "joint": 0.4, "gold": 0.9, "youth": -0.3})
    )
    score += rng.normal(0, 0.4, n)
    for column in ("balance", "tenure"):
        X[column] = X[column].where(rng.random(n) >= 0.1)
    actions = {
        "immutable": ["sex", "tenure"],
        "decrease": ["late", "inquiries"],
        "bounds": {"used": (0.0, 1.0)},
        "ordered": {"school": ["none", "school", "college", "degree"]},
        "increase": ["school"],
        "step": {"limit": 100},
        "weights": {"account": 1.5, "school": 2.0},
    }
    return X, score, actions


def wide24(rng, n):
    """Numbers of two digits, of which two count together."""
    Z = rng.normal(size=(n, 24))
    score = Z @ rng.normal(size=24) / np.sqrt(24) + 0.5 * Z[:, 0] * Z[:, 1] + rng.normal(0, 0.3, n)
    names = [f"c{k}" for k in range(24)]
    return pd.DataFrame(Z.round(2), columns=names), score, {"bounds": dict.fromkeys(names, (-1.5, 1.5))}


def wide30(rng, n):
    """Numbers that hang together, in steps or not, and categories; what counts has thresholds."""
    Z = rng.normal(size=(n, 5)) @ rng.normal(size=(5, 22)) * 0.5 + rng.normal(size=(n, 22))
    Z[:, :6] = np.exp(Z[:, :6])
    X = pd.DataFrame(Z.round(3), columns=[f"n{k}" for k in range(22)])
    for k in range(6, 12):
        X[f"n{k}"] = (3.0 * X[f"n{k}"]).round().astype(int)
    score = 0.6 * (Z[:, 6:] @ rng.normal(size=16)) / 4.0 + np.log(Z[:, 0] + 0.2) * (Z[:, 12] > 0.0) - 0.3 * Z[:, 1]
    for k in range(8):
        codes = rng.integers(0, 3 + k % 3, n)
        X[f"k{k}"] = np.array(list("abcde"))[codes]
        score = score + rng.normal(0, 0.4, 5)[codes]
    actions = {"immutable": ["n20", "n21", "k7"], "increase": ["n0", "n7"], "step": {"n2": 0.25, "n3": 0.1}}
    return X, score + rng.normal(0, 0.3, n), actions


def steps(rng, n):
    """Twenty numbers of five values: groups of three help together, so that one step each in three columns is cheap."""
    Z = rng.choice(5, (n, 20), p=[0.08, 0.7, 0.14, 0.05, 0.03])
    score = 0.25 * Z[:, 12:18].sum(axis=1) + rng.normal(0, 0.3, n)
    for k in range(0, 12, 3):
        score += 2.0 * (Z[:, k : k + 3] >= 2).all(axis=1)
    names = [f"s{k}" for k in range(20)]
    return pd.DataFrame(Z, columns=names), score, {"bounds": dict.fromkeys(names, (0, 4))}


def array10(rng, n):
    """An array of ten numbers, without grids."""
    Z = rng.standard_normal((n, 10))
    score = Z[:, 0] + Z[:, 1] ** 2 + 0.5 * np.sin(3.0 * Z[:, 2]) - 0.3 * Z[:, 3] * Z[:, 4] + 0.3 * Z[:, 5:].sum(axis=1)
    return Z, score, {}


TABLES = {
    "lender": (lender, 1, 2500, 0.6),  # seed, training rows, the share that it ends badly for
    "bank": (bank, 102, 2500, 0.6),
    "wide24": (wide24, 3, 2000, 0.6),
    "wide30": (wide30, 104, 2000, 0.6),
    "steps": (steps, 105, 6000, 0.95),
    "array10": (array10, 106, 3000, 0.6),
}


@cache
def table(name):
    """Return training rows, for whom it ended well, more rows, and what may change."""
    make, seed, n, bad = TABLES[name]
    X, score, actions = make(np.random.default_rng(seed), 2 * n)
    good = (score > np.quantile(score[:n], bad)).astype(int)
    return X[:n], np.asarray(good[:n]), X[n:], actions
