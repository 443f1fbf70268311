from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit

from robust_recourse import ActionSet, NearestAccepted, Recourses, Status
from robust_recourse.audits import audit
from robust_recourse.math.intervals import mean_interval, median_interval

MEASURES = ["no_recourse", "current_validity", "future_validity", "median_cost", "mean_cost"]


def recourses(cost, valid=None, *, x0=None, status=None, person=None, rank=None):
    """Put a result together as `explain` does; a cost of NaN is that of a row without a recourse.

    The only column of `x` is the number of the entry, so that models can answer anything.
    """
    cost = np.asarray(cost, dtype=float)
    n, exists = len(cost), np.isfinite(cost)
    words = np.empty(n, dtype=object)
    words[:] = [Status.OK if found else Status.NOT_FOUND for found in exists] if status is None else status
    x = np.where(exists, np.arange(n, dtype=float), np.nan)[:, None]
    return Recourses(
        x=x,
        boundary=x,
        cost=cost,
        budget=cost,
        valid=exists if valid is None else np.asarray(valid) & exists,
        status=words,
        reason=np.full(n, "Because.", dtype=object),
        log_worst_case_odds=np.full(n, np.nan),
        n_queries=np.ones(n, dtype=int),
        x0=np.zeros((n, 1)) if x0 is None else x0,
        person=np.arange(n) if person is None else np.array(person),
        rank=np.ones(n, dtype=int) if rank is None else np.array(rank),
        column_costs=np.zeros((n, 1)),
        kinds=("number",),
    )


def answering(answers):
    """Models that answer for entry k with the k-th row of a matrix."""
    return [lambda X, column=column: column[np.asarray(X)[:, 0].astype(int)] for column in np.asarray(answers).T]


def draw(rng, n, *, none=0.1, valid=0.9, scale=1.0):
    """People of a group: costs, NaN where there is no recourse, and validity."""
    cost = scale * rng.exponential(size=n)
    cost[rng.random(n) < none] = np.nan
    return cost, rng.random(n) < valid


@pytest.fixture
def two():
    """Women pay more, have no recourse more often, and the models refuse them more often."""
    rng = np.random.default_rng(0)
    parts = [draw(rng, 150, none=0.3, valid=0.6, scale=3.0), draw(rng, 200, none=0.02, valid=0.98)]
    cost, valid = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    group = np.repeat(["women", "men"], [150, 200])
    answers = rng.random((350, 30)) < np.where(group == "women", 0.6, 0.95)[:, None]
    return recourses(cost, valid), group, answering(answers), answers


# -------------------------------------------------------------------------------------------------------------- table


def test_the_numbers_are_those_of_each_group(two):
    found, group, models, answers = two
    table = audit(found, group, models, level=0.9).to_frame()
    assert list(table.index) == ["men", "women"]
    for name, line in table.iterrows():
        mine = group == name
        cost, exists = found.cost[mine], np.isfinite(found.cost[mine])
        assert line["people"] == mine.sum()
        for measure, count in (("no_recourse", (~exists).sum()), ("current_validity", found.valid[mine].sum())):
            known = stats.binomtest(int(count), int(mine.sum())).proportion_ci(0.9, method="exact")
            assert line[measure] == pytest.approx(count / mine.sum())
            assert tuple(line[[f"{measure}_low", f"{measure}_high"]]) == pytest.approx((known.low, known.high))
        assert line["future_validity"] == pytest.approx((answers[mine] & exists[:, None]).mean())
        assert line["future_validity_low"] < line["future_validity"] < line["future_validity_high"]
        assert line["median_cost"] == np.median(cost[exists])
        assert tuple(line[["median_cost_low", "median_cost_high"]]) == median_interval(cost[exists], 0.9)
        assert line["mean_cost"] == pytest.approx(cost[exists].mean())
        assert tuple(line[["mean_cost_low", "mean_cost_high"]]) == pytest.approx(mean_interval(cost[exists], 0.9))


def test_everyone_is_a_group_of_all(two):
    found, group, models, _ = two
    alone = audit(found, np.full(len(group), "all"), models)
    pd.testing.assert_series_equal(
        audit(found, group, models).everyone, alone.groups.iloc[0], check_names=False, check_dtype=False
    )


def test_without_models_there_is_no_future_validity(two):
    found, group, models, _ = two
    without = audit(found, group)
    assert not [name for name in without.groups if name.startswith("future")]
    assert set(without.comparisons["measure"]) == {"no_recourse", "current_validity", "median_cost"}
    assert "future" not in repr(without)
    assert (without.n_models, audit(found, group, models).n_models) == (0, 30)


def test_a_future_validity_that_is_known_is_not_measured_again(two):
    found, group, models, _ = two
    known = found.future_validity(models)
    assert repr(audit(found, group, known)) == repr(audit(found, group, models))
    with pytest.raises(ValueError, match="future validity of other recourses"):
        audit(recourses(found.cost[:-1]), group[:-1], known)
    with pytest.raises(ValueError, match="future validity of other recourses"):
        audit(recourses(found.cost[::-1]), group, known)


def test_only_the_first_recourse_of_a_person_counts():
    rng = np.random.default_rng(0)
    cost = rng.exponential(size=60)
    group = np.repeat(["a", "b"], 30)
    once = recourses(cost)
    answers = rng.random((60, 4)) < 0.5
    both = recourses(
        np.column_stack([cost, cost + 100.0]).ravel(), person=np.repeat(np.arange(60), 2), rank=np.tile([1, 2], 60)
    )
    double = np.zeros((120, 4), dtype=bool)
    double[::2] = answers
    expected = audit(once, group, answering(answers))
    pd.testing.assert_frame_equal(audit(both, group, answering(double)).groups, expected.groups)


def test_people_who_need_no_recourse_are_left_out():
    cost = np.r_[np.ones(30), np.zeros(10)]
    status = [Status.OK] * 30 + [Status.ALREADY_FAVOURABLE] * 10
    group = np.array(["a", "b"] * 15 + ["a"] * 9 + ["c"])
    result = audit(recourses(cost, status=status), group, answering(np.ones((40, 3), dtype=bool)))
    assert result.groups["people"].tolist() == [15, 15, 0]
    assert result.n_accepted == 10
    assert result.groups["median_cost"].tolist()[:2] == [1.0, 1.0]
    assert result.groups.loc["c", MEASURES].isna().all()
    assert "10 people are accepted without a recourse and left out." in repr(result)
    assert "nan" not in repr(result)


# ------------------------------------------------------------------------------------------------------------- groups


def test_groups_may_be_any_labels(two):
    found, group, models, _ = two
    expected = audit(found, group, models)
    for given in (list(group), tuple(group), pd.Series(group), pd.Categorical(group), pd.array(group, dtype="string")):
        result = audit(found, given, models)
        pd.testing.assert_frame_equal(result.groups, expected.groups)
        assert result.flags == expected.flags


def test_groups_of_polars(two):
    polars = pytest.importorskip("polars")
    found, group, _, _ = two
    pd.testing.assert_frame_equal(audit(found, polars.Series(list(group))).groups, audit(found, group).groups)


def test_groups_are_in_order_and_the_missing_last():
    found = recourses(np.ones(8))
    labels = [None, "b", "a", np.nan, "c", "a", pd.NA, "b"]
    table = audit(found, labels).groups
    assert list(table.index) == ["a", "b", "c", "(missing)"]
    assert table["people"].tolist() == [2, 2, 1, 3]
    ages = pd.cut(pd.Series([70, 20, 45, 20, 70, 45, 20, 99]), [0, 30, 60, 80])
    table = audit(found, ages).groups
    assert [str(label) for label in table.index] == ["(0, 30]", "(30, 60]", "(60, 80]", "(missing)"]
    levels = pd.Categorical(list("lhlhmmhl"), categories=["l", "m", "h", "unused"], ordered=True)
    assert list(audit(found, levels).groups.index) == ["l", "m", "h"]
    mixed = audit(found, [1, "a", 1, True, None, "a", 2, 2]).groups
    assert mixed["people"].sum() == 8


def test_groups_may_be_a_column_of_a_frame():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"income": rng.integers(-9, 9, 80), "sex": rng.choice(["f", "m"], 80)})
    people.loc[3, "sex"] = None
    people.index = [f"p{k}" for k in range(80)]

    def model(table):
        return table["income"].to_numpy() > 0

    refused = people[~model(people)]
    found = NearestAccepted(model, ActionSet(people, immutable=["sex"])).fit(people).explain(refused)
    result = audit(found, "sex", [model])
    pd.testing.assert_frame_equal(result.groups, audit(found, refused["sex"], [model]).groups)
    assert list(result.groups.index) == ["f", "m", "(missing)"]
    assert result.groups["people"].tolist() == [
        *refused["sex"].value_counts().loc[["f", "m"]].tolist(),
        refused["sex"].isna().sum(),
    ]
    assert result.groups.index.name == "sex"
    assert "by sex" in repr(result)
    with pytest.raises(ValueError, match=r"no column 'gender' in found.x0. Its columns are 'income', 'sex'"):
        audit(found, "gender")
    with pytest.raises(ValueError, match=r"another order. Pass groups.loc\[found.x0.index\]"):
        audit(found, refused["sex"].iloc[::-1])
    shuffled = refused["sex"].iloc[::-1].loc[found.x0.index]
    pd.testing.assert_frame_equal(audit(found, shuffled).groups, audit(found, "sex").groups)


def test_groups_may_be_a_column_of_an_array():
    x0 = np.column_stack([np.zeros(6), [1, 2, 1, 2, 2, np.nan]])
    result = audit(recourses(np.ones(6), x0=x0), 1)
    assert result.groups["people"].to_dict() == {1.0: 2, 2.0: 3, "(missing)": 1}
    assert "by column 1" in repr(result)
    with pytest.raises(ValueError, match=r"no column 2 in found.x0. Its columns are 0, 1"):
        audit(recourses(np.ones(6), x0=x0), 2)


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        (["a"] * 5, ValueError, "one label for each of the 6 people who were explained, got 5"),
        ([], ValueError, "one label for each of the 6 people"),
        (np.zeros((6, 2)), ValueError, "groups must be one-dimensional"),
        (pd.DataFrame({"a": range(6)}), ValueError, "groups must be one-dimensional"),
        ([["a"], ["b"], ["a"], ["b"], ["a"], ["b"]], ValueError, "groups must be one-dimensional"),
        ([{"a"}] * 6, TypeError, "groups must be labels that can be compared"),
        ("sex", ValueError, "there is no column 'sex'"),
        (None, ValueError, "there is no column None"),
    ],
)
def test_what_are_no_groups_is_said(groups, error, message):
    with pytest.raises(error, match=message):
        audit(recourses(np.ones(6)), groups)


def test_other_arguments_are_checked(two):
    found, group, _, _ = two
    with pytest.raises(TypeError, match="found must be the recourses that explain returned, got list"):
        audit(list(found), group)
    with pytest.raises(ValueError, match="level must be less than 1"):
        audit(found, group, level=95)
    with pytest.raises(ValueError, match="reference must be the label of a group, one of 'men', 'women'; got 'other'"):
        audit(found, group, reference="other")
    with pytest.raises(ValueError, match="models is empty"):
        audit(found, group, [])


def test_one_group_is_described_and_not_compared(two):
    found, _, models, _ = two
    result = audit(found, ["all"] * len(found), models)
    assert result.flags == ()
    assert result.comparisons.empty
    assert "There is only one group." in repr(result)
    assert "flagged" not in repr(result)


# -------------------------------------------------------------------------------------------------------------- flags


def test_planted_differences_are_flagged(two):
    found, group, models, _ = two
    result = audit(found, group, models)
    assert result.comparisons["flagged"].all()
    assert (result.comparisons["group"] == "women").all()
    assert (result.comparisons["against"] == "men").all()
    starts = [
        "People in group 'women' are left without a recourse more often: no-recourse rate 0.",
        "People in group 'women' have a recourse that the present model accepts less often: current validity 0.",
        "People in group 'women' have a recourse that the models of the future accept less often: future validity 0.",
        "People in group 'women' pay more: median cost ",
    ]
    assert len(result.flags) == 4
    for flag, start in zip(result.flags, starts, strict=True):
        assert flag.startswith(start)
        assert flag.endswith(" for group 'men'.")
        assert flag in repr(result)


def test_the_intervals_of_a_flag_are_in_it_and_apart(two):
    found, group, models, _ = two
    result = audit(found, group, models)
    for (_, line), flag in zip(result.comparisons.iterrows(), result.flags, strict=True):
        assert line["low"] <= line["value"] <= line["high"]
        assert line["high"] < line["against_low"] or line["against_high"] < line["low"]
        if line["measure"] != "median_cost":
            mine = "{value:.3f} ({low:.3f} to {high:.3f})".format(**line)
            theirs = "{against_value:.3f} ({against_low:.3f} to {against_high:.3f})".format(**line)
            assert f"{mine} against {theirs}" in flag


def test_the_level_of_the_flags_counts_all_intervals(two):
    found, group, models, _ = two
    assert audit(found, group).flag_level == pytest.approx(1.0 - 0.05 / 6.0)
    # Two for each of four measures, and one for the models.
    assert audit(found, group, models, level=0.9).flag_level == pytest.approx(1.0 - 0.1 / 9.0)
    three = np.where(np.arange(len(group)) % 3, group, "other")
    assert audit(found, three).flag_level == pytest.approx(1.0 - 0.05 / 18.0)
    assert audit(found, three, reference="men").flag_level == pytest.approx(1.0 - 0.05 / 12.0)
    line = audit(found, group).comparisons.iloc[0]
    known = stats.binomtest(int(np.isnan(found.cost[:150]).sum()), 150).proportion_ci(1.0 - 0.05 / 6.0, method="exact")
    assert (line["low"], line["high"]) == pytest.approx((known.low, known.high))


def test_groups_are_compared_with_the_reference(two):
    found, group, models, _ = two
    result = audit(found, group, models, reference="women")
    assert (result.comparisons["group"] == "men").all()
    assert result.flags[0].startswith("People in group 'men' are left without a recourse less often")
    assert result.flags[-1].startswith("People in group 'men' pay less")
    assert result.flags[-1].endswith("for group 'women'.")
    three = np.where(np.arange(len(group)) % 3, group, "other")
    pairs = audit(found, three, reference="other").comparisons[["group", "against"]].drop_duplicates()
    assert pairs.to_numpy().tolist() == [["men", "other"], ["women", "other"]]


def test_each_of_many_groups_is_compared_with_all_others():
    rng = np.random.default_rng(0)
    cost = rng.uniform(1.0, 2.0, 400) + np.repeat([0.0, 0.0, 0.0, 2.0], 100)
    group = pd.Series(np.repeat([1, 2, 3, 4], 100), name="branch")
    result = audit(recourses(cost), group)
    assert (result.comparisons["against"] == "(all others)").all()
    assert result.comparisons["group"].drop_duplicates().tolist() == [1, 2, 3, 4]
    line = result.comparisons.query("measure == 'median_cost' and group == 4").iloc[0]
    assert line["against_value"] == np.median(cost[:300])
    assert result.flags[-1].startswith("People with branch 4 pay more: median cost ")
    assert result.flags[-1].endswith(" for all others.")


def equal_groups(rng, sizes, n_models, spread_of_groups=0.0):
    """Groups that have the same chances; models may happen to favour one group or the other."""
    codes = np.repeat(np.arange(len(sizes)), sizes)
    cost, valid = draw(rng, len(codes))
    favour = spread_of_groups * rng.normal(size=(len(sizes), n_models))
    chance = expit(1.5 + rng.normal(size=(len(codes), 1)) + rng.normal(size=(1, n_models)) + favour[codes])
    return recourses(cost, valid), codes, answering(rng.random(chance.shape) < chance)


@pytest.mark.parametrize(("sizes", "n_models", "spread"), [((80, 80), 20, 0.0), ((3, 10, 60, 200), 12, 0.5)])
def test_equal_groups_are_hardly_ever_flagged(sizes, n_models, spread):
    rng = np.random.default_rng(0)
    flagged = sum(bool(audit(*equal_groups(rng, sizes, n_models, spread)).flags) for _ in range(40))
    assert flagged <= 2


def test_a_difference_that_models_disagree_about_is_not_flagged():
    rng = np.random.default_rng(0)
    apart = flagged = 0
    for _ in range(20):
        table = audit(*equal_groups(rng, (800, 800), 12, 2.0)).comparisons.set_index("measure")
        line = table.loc["future_validity"]
        apart += line["high"] < line["against_low"] or line["against_high"] < line["low"]
        flagged += line["flagged"]
    assert apart >= 5
    assert flagged <= 1


def test_a_handful_of_models_raises_no_flag(two):
    found, group, models, _ = two
    assert len(audit(found, group, models[:12]).flags) == 4
    few = audit(found, group, models[:5])
    assert len(few.flags) == 3
    assert not [flag for flag in few.flags if "future" in flag]


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("reference", [None, "many"])
def test_tiny_groups_are_never_flagged(n, reference):
    """However different: neither by their rates nor by their costs."""
    cost = np.r_[np.full(n - 1, 1000.0), np.nan, np.full(500, 1.0)]
    valid = np.r_[np.zeros(n, dtype=bool), np.ones(500, dtype=bool)]
    answers = np.repeat(valid[:, None], 50, axis=1)
    group = np.r_[np.full(n, "few"), np.full(500, "many")]
    result = audit(recourses(cost, valid), group, answering(answers), reference=reference)
    assert result.flags == ()
    assert result.comparisons.empty
    assert result.groups.loc["few", "people"] == n
    assert "No two groups are large enough to be compared." in repr(result)
    assert "Groups of fewer than 5 people are not compared." in repr(result)


def test_tiny_groups_do_not_weaken_the_other_comparisons(two):
    found, group, models, _ = two
    some = group.copy()
    some[:4] = "few"
    result = audit(found, some, models, reference="men")
    assert set(result.comparisons["group"]) == {"women"}
    assert result.flag_level == audit(found, group, models, reference="men").flag_level


def test_a_median_of_few_costs_has_no_interval():
    result = audit(recourses(np.r_[np.full(5, 1000.0), np.full(500, 1.0)]), np.r_[np.ones(5), np.zeros(500)])
    assert result.flags == ()
    assert result.summary()["median cost"].tolist() == ["1 (1 to 1)", "1,000 (too few)", "1 (1 to 1)"]


# --------------------------------------------------------------------------------------------------------------- text


def test_text_is_a_table_that_fits(two):
    found, group, models, _ = two
    result = audit(found, group, models)
    lines = repr(result).splitlines()
    assert lines[0] == "Audit of 350 refused people in 2 groups"
    assert lines[2].split()[:2] == ["men", "200"]
    assert max(map(len, lines[:5])) <= 135
    summary = result.summary()
    assert list(summary.index) == ["men", "women", "(everyone)"]
    assert list(summary) == ["people", *(measure.replace("_", " ") for measure in MEASURES)]
    line = result.groups.loc["women"]
    expected = f"{line['no_recourse']:.2f} ({line['no_recourse_low']:.2f} to {line['no_recourse_high']:.2f})"
    assert summary.loc["women", "no recourse"] == expected
    assert "under the 30 models given" in repr(result)
    assert "No difference is flagged." in repr(audit(found, np.arange(350) % 2))


def test_of_many_groups_the_text_shows_some():
    result = audit(recourses(np.ones(60)), np.arange(60) % 30)
    assert "10 more groups are in to_frame()." in repr(result)
    assert len(result.to_frame()) == 30
    assert len(repr(result).splitlines()) < 30


def test_html_escapes_labels(two):
    found, group, models, _ = two
    result = audit(found, np.where(group == "men", "<i>men</i>", "women & co"), models)
    page = result._repr_html_()
    assert "<i>" not in page
    assert "&lt;i&gt;men&lt;/i&gt;" in page
    assert "women &amp; co" in page
    assert page.count("<li>") == len(result.flags) == 4
    assert page.count("<table") == page.count("</table>") == 1


def test_a_result_can_be_stored(two):
    found, group, models, _ = two
    result = audit(found, group, models)
    assert repr(pickle.loads(pickle.dumps(result))) == repr(result)
    frame = result.to_frame()
    frame.iloc[0, 0] = -1
    assert result.groups.iloc[0, 0] == 200
