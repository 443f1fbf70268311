"""A model that the samplers ask, without anything of the search around it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest


@dataclass
class Ahead:
    """Answers that are counted when they are needed."""

    accepted: np.ndarray
    people: np.ndarray
    asked: Asked

    def count(self, which):
        assert (which >= 0).all(), "a question that was not asked is needed"
        np.add.at(self.asked.counts, self.people[which], 1)


class Asked:
    """Counts what is needed of each person, and remembers what was asked in every call."""

    def __init__(self, model, n_people, by_person=False):
        self.model, self.people = model if by_person else lambda points, _: model(points), np.arange(n_people)
        self.counts, self.calls = np.zeros(n_people, dtype=int), []

    def __call__(self, points, people):
        answers = self.ahead(points, people)
        answers.count(np.arange(len(points)))
        return answers.accepted

    def ahead(self, points, people):
        people = self.people[people]
        assert len(points) == len(people)
        if len(points):
            self.calls.append((points.copy(), people))
        accepted = self.model(points.copy(), people) if len(points) else []
        return Ahead(np.asarray(accepted, dtype=bool), people, self)

    def rows(self, points, people, rounding="nearest"):  # noqa: ARG002
        return points.copy()

    def keeps_rules(self, points, people):  # noqa: ARG002
        return np.ones(len(points), dtype=bool)

    def take(self, people):
        some = object.__new__(Asked)
        some.__dict__.update(self.__dict__)
        some.people = self.people[people]
        return some

    @property
    def n_queries(self):
        return self.counts[self.people]

    @property
    def n_rows(self):
        return sum(len(points) for points, _ in self.calls)

    def leaves(self, room):
        """Whether any point that was asked about is beyond the limits of its person."""
        return any(not within(room, points, people).all() for points, people in self.calls)


def within(room, points, people):
    """Whether points are where their people may go: column by column, from the limits alone."""
    limits, inside = room.limits, np.ones(len(points), dtype=bool)
    for k in range(points.shape[1]):
        own, new, free = room.x0[people, k], points[:, k], room.free[people, k]
        if limits.categories[k]:
            inside &= (new == own) | (free & limits.may_switch(k, own, new))
            continue
        moved = new != own
        inside &= ~moved | free
        inside &= ~moved | np.where(new > own, limits.rises[k], limits.falls[k])
        # A person beyond the bounds may stay, or come back part of the way.
        inside &= ~moved | (np.minimum(limits.lower[k], own) <= new) & (new <= np.maximum(limits.upper[k], own))
    return inside


@pytest.fixture(scope="session")
def asked():
    return Asked


@pytest.fixture(scope="session")
def keeps_within():
    return within
