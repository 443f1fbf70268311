"""What-if: the present model's answer and the share of the jury, for rows as they are."""

from __future__ import annotations

import numpy as np


def test_verdicts_are_what_the_models_say(client, method, table, rows_of):
    told = client.post("/v1/verdict", json={"rows": rows_of(table)}).json()["verdicts"]
    assert [one["accepted"] for one in told] == method.model(table).tolist()
    shares = np.mean([model(table) for model in method.jury.models], axis=0)
    assert [one["jury_share"] for one in told] == shares.tolist()


def test_a_row_alone_has_the_verdict_that_it_has_among_others(client, table, rows_of):
    rows = rows_of(table.head(5))
    together = client.post("/v1/verdict", json={"rows": rows}).json()["verdicts"]
    alone = [client.post("/v1/verdict", json={"rows": [row]}).json()["verdicts"][0] for row in rows]
    assert alone == together


def test_what_nobody_had_has_a_verdict_too(client, table, rows_of):
    [row] = rows_of(table.head(1))
    town = next(name for name in row if "town" in name)
    rows = [{**row, "income": 10**7}, {**row, "school": "doctor"}, {**row, town: None}, {**row, town: "Atlantis"}]
    answer = client.post("/v1/verdict", json={"rows": rows})
    assert answer.status_code == 200, answer.text
    assert answer.json()["verdicts"][0] == {"accepted": True, "jury_share": 1.0}
