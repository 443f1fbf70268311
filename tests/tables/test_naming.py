import numpy as np
import pandas as pd
import pytest

from robust_recourse.actions import ActionSet
from robust_recourse.tables import Schema

ROWS = np.arange(6.0).reshape(3, 2) ** 1.5


@pytest.mark.parametrize("name", [True, np.False_, None, np.nan, pd.NA, pd.NaT])
def test_columns_without_a_name_are_refused(name):
    frame = pd.DataFrame(ROWS).set_axis(pd.Index(["a", name], dtype=object), axis=1)
    with pytest.raises(ValueError, match=f"X has a column that is called {name!r}. Give it a text or a number"):
        Schema.learn(frame)
    with pytest.raises(ValueError, match="X_train has a column that is called"):
        ActionSet(frame)
    with pytest.raises(ValueError, match="before has a column that is called"):
        ActionSet().check(frame, frame)


def test_complex_columns_are_refused():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [1j, 2.0]})
    with pytest.raises(TypeError, match="X: column 'b' must hold numbers or categories, got complex numbers"):
        Schema.learn(frame)
    with pytest.raises(TypeError, match="after: column 'b' must hold numbers or categories, got complex"):
        ActionSet().check(frame.assign(b=0.0), frame)
    with pytest.raises(TypeError, match="after: column 0 must hold numbers or categories, got complex"):
        ActionSet().check(ROWS, ROWS + 1j)
