"""Commands for the pin of the commands: right ones, mistakes of newcomers, and the files that they are about."""

from __future__ import annotations

ACTIONS = '[columns.sex]\nimmutable = true\n[columns.income]\ndirection = "up"\n'
EXPERIMENT = (
    'title = "small"\ndatasets = ["synthetic"]\nclassifier = "logistic regression"\nfuture_models = 1\ninstances = 2\n'
    'options = { synthetic = { n_samples = 300 } }\n[[methods]]\nmethod = "NearestAccepted"\nname = "nearest"\n'
)
HEAD = "person,income,months,job,sex\n"
FILES = {
    "actions.toml": ACTIONS,
    "experiment.toml": EXPERIMENT,
    "text.txt": "hello",
    "text.skops": "hello",
    "text.db": "hello",
    "text.onnx": "hello",
    "text.json": "hello",
    "text.zip": "hello",
    "text.parquet": "hello",
    "empty.csv": "",
    "header.csv": HEAD,
    "semicolons.csv": HEAD.replace(",", ";") + "a;15;20;full;f\n",
    "cut.csv": HEAD + 'a,15,20,full,f\nb,15,20,"fu',
    "long.csv": HEAD + "a,15,20,full,f\nb,15,000,20,full,f\n",
    "twice.csv": HEAD.replace("sex", "income") + "a,15,20,full,f\n",
    "nameless.csv": HEAD.replace("person", "") + "0,15,20,full,f\n",
    "gap.csv": HEAD + "a,15,20,full,f\nb,,20,full,f\n",
    "word.csv": HEAD + "a,15,20,full,f\nb,fifteen,20,full,f\n",
    "category.csv": HEAD + "a,15,20,full,f\nb,15,20,retired,f\n",
    "lacking.csv": "person,income,months,job\na,15,20,full\n",
    "more.csv": HEAD.replace("sex", "sex,age") + "a,15,20,full,f,30\n",
    "namesakes.csv": HEAD + "a,15,20,full,f\na,16,20,full,f\n",
    "syntax.toml": "[columns.sex\nimmutable = true\n",
    "column.toml": ACTIONS.replace("income", "incom"),
    "key.toml": ACTIONS.replace("direction", "directon"),
    "value.toml": ACTIONS.replace('"up"', '"upwards"'),
    "bounds.toml": "[columns.income]\nmin = 30\nmax = 20\n",
    "order.toml": '[columns.job]\ncategories = ["none", "full", "chief"]\n',
    "settings.toml": 'method = "robust"\n',
    "methods.toml": EXPERIMENT.replace("NearestAccepted", "Nearest"),
    "short.txt": "secret\n",
}
NEEDED = {"model": "model.skops", "train": "train.csv", "actions": "actions.toml"}
EXPLAIN = NEEDED | {"refused": "refused.csv", "label": "outcome", "id": "person", "favourable": "yes"}
EXPLAIN |= {"method": "nearest", "out": "out.csv"}
TUNE = NEEDED | {"outcome": "outcome", "favourable": "yes", "out": "tuned.toml"}
CHECK = {"ledger": "promises.db", "model": "model.skops", "at-least": "0.9"}
PROMISE = {"ledger": "promises.db", "until": "2099-12-31"}


def words(command, *more, base=None, **changed):
    """Return the words of a command: options of its base, and others in their place; None leaves one out."""
    options = (base or {}) | {name.replace("_", "-"): value for name, value in changed.items()}
    return [*command.split(), *more, *(word for k, v in options.items() if v is not None for word in (f"--{k}", v))]


def explain(*more, **changed):
    return words("explain", *more, base=EXPLAIN, **changed)


def tune(*more, **changed):
    return words("tune", *more, base=TUNE, **changed)


def check(*more, **changed):
    return words("check", *more, base=CHECK, **changed)


RIGHT = {
    "version": ["--version"],
    "help": ["explain", "--help"],
    "actions": words("actions train.csv --label outcome --out new.toml"),
    "explain": explain(),
    "explain into a new folder": explain(out="new/folder/out.csv"),
    "explain nobody": explain(refused="header.csv"),
    "explain everything": explain(html="notices", explorer="explorer", json="out.json"),
    "explain a folder": explain(refused="people", out="recourses/"),
    "explain a folder with a file that is damaged": explain(refused="damaged", out="others/"),
    "explain with a category that nobody had": explain(refused="category.csv"),
    "explain with a pickle": explain("--trust-pickle", model="model.pkl"),
    "explain with a jury": explain(jury="3", outcome="outcome"),
    "explain and promise": explain(**PROMISE),
    "check a model that passes": check("--dry-run"),
    "check a model that does not pass": check("--dry-run", model="stricter.skops"),
    "check an empty ledger": check(ledger="empty.db"),
    "list": words("ledger list --ledger promises.db"),
    "show": words("ledger show a --ledger promises.db"),
    "verify": words("ledger verify --ledger promises.db"),
    "export": words("ledger export --ledger promises.db --out all.csv"),
    "timeline": words("ledger timeline --ledger promises.db --out timeline.svg"),
    "forget": words("ledger forget b --ledger promises.db"),
    "datasets": ["datasets"],
    "experiment": words("experiment experiment.toml --jobs 1 --out experiment"),
}
WRONG = {
    "no command": [],
    "unknown command": ["explian"],
    "misspelt option": explain("--margn", "0.5"),
    "option without a value": explain("--seed"),
    "no number": explain(margin="high"),
    "impossible margin": explain(margin="1.5"),
    "no recourses at all": explain(n_recourses="0"),
    "negative time limit": explain(time_limit="-5"),
    "unknown method": explain(method="cheapest"),
    "missing table": explain(refused="refusd.csv"),
    "folder that is called as a table": explain(train="folder.csv"),
    "folder without tables": explain(refused="nothing", out="recourses/"),
    "folder of people into one file": explain(refused="people"),
    "no table that is called one": explain(refused="text.parquet"),
    "empty table": explain(refused="empty.csv"),
    "training rows without rows": explain(train="header.csv", label=None, id=None),
    "other separator": explain(refused="semicolons.csv"),
    "table that ends in the middle": explain(refused="cut.csv"),
    "too many fields": explain(refused="long.csv"),
    "column twice": explain(refused="twice.csv"),
    "column without a name": explain(refused="nameless.csv"),
    "word among numbers": explain(refused="word.csv"),
    "gap where the model takes none": explain(refused="gap.csv"),
    "category that nobody had": explain(refused="category.csv", unseen="error"),
    "column is lacking": explain(refused="lacking.csv"),
    "column too many": explain(refused="more.csv"),
    "two people of one name": explain(refused="namesakes.csv"),
    "label left in the table": explain(label=None),
    "label that is no column": explain(label="outcom"),
    "name that is no column": explain(id="persn"),
    "bytes that are no text": explain(refused="latin.csv"),
    "missing model": explain(model="missing.skops"),
    "no model that is called one": explain(model="text.skops"),
    "no network that is called one": explain(model="text.onnx"),
    "file of something else": explain(model="list.skops"),
    "pickle that is not trusted": explain(model="model.pkl"),
    "pickle that is cut": explain("--trust-pickle", model="cut.pkl"),
    "model of other columns": explain(model="other.skops"),
    "unknown favourable class": explain(favourable="approved"),
    "threshold without probabilities": explain(model="svm.skops", threshold="0.7"),
    "margin without probabilities": explain(model="svm.skops", margin="0.7"),
    "threshold that is no probability": explain(threshold="70"),
    "missing actions": explain(actions="missing.toml"),
    "actions that are a table": explain(actions="train.csv"),
    "syntax of the actions": explain(actions="syntax.toml"),
    "unknown column in the actions": explain(actions="column.toml"),
    "unknown key in the actions": explain(actions="key.toml"),
    "impossible value in the actions": explain(actions="value.toml"),
    "bounds the wrong way round": explain(actions="bounds.toml"),
    "category that nobody had in the actions": explain(actions="order.toml"),
    "unknown parameter": explain("--set", "margins=0.5"),
    "parameter that is no TOML": explain("--set", "sigma"),
    "settings without parameters": explain(settings="settings.toml", method=None),
    "jury without outcomes": explain(jury="3"),
    "quorum without a jury": explain(quorum="0.9"),
    "earlier results that are none": explain(earlier="text.json"),
    "unknown locale": explain(html="notices", locale="Klingon"),
    "output in place of input": explain(out="refused.csv"),
    "output of another kind": explain(out="out.xlsx"),
    "output below a file": explain(out="train.csv/out.csv"),
    "output twice in one file": explain(out="out.csv", json="out.csv"),
    "JSON that is a folder": explain(json="people"),
    "notices in place of other files": explain(html="page"),
    "scheduler that does not answer": explain(scheduler="127.0.0.1", refused="people", out="recourses/"),
    "actions that were edited": words("actions train.csv --out actions.toml"),
    "promise without a day": explain(ledger="promises.db"),
    "promise for the past": explain(ledger="promises.db", until="2020-01-01"),
    "promise for no day": explain(ledger="promises.db", until="31.12.2099"),
    "promise to nobody": explain(**PROMISE, id=None),
    "promise in no ledger": explain(ledger="text.db", until="2099-12-31"),
    "promise that contradicts another": explain(ledger="promises.db", until="2099-11-30"),
    "check without a ledger": check(ledger=None),
    "check of a missing ledger": check(ledger="missing.db"),
    "check of no ledger": check(ledger="text.db"),
    "check of a model of other columns": check(model="other.skops"),
    "check for an impossible share": check(at_least="98"),
    "check into a file that is read": check(json="model.skops"),
    "nobody to forget": words("ledger forget nobody --ledger promises.db"),
    "head that is none": words("ledger verify --ledger promises.db --head abc"),
    "export of another kind": words("ledger export --ledger promises.db --out all.xlsx"),
    "database of another kind": words("ledger list --ledger mysql://localhost/promises"),
    "database that does not answer": words("ledger list --ledger postgresql+psycopg://me:secret@127.0.0.1:1/a"),
    "tune without outcomes": tune(outcome=None),
    "tune a network": tune(model="text.onnx"),
    "tune with too few people": tune(refused="refused.csv", id="person"),
    "serve no method": ["serve", "text.zip"],
    "serve at a port that is taken": ["serve", "method.zip", "--port", "PORT"],
    "serve everybody without tokens": ["serve", "method.zip", "--host", "0.0.0.0"],
    "serve with tokens for all to read": ["serve", "method.zip", "--tokens", "text.txt"],
    "serve with a token that is too short": ["serve", "method.zip", "--tokens", "short.txt"],
    "demo into a file": ["demo", "--out", "train.csv"],
    "unknown data set": ["datasets", "fetch", "creditcards"],
    "experiment that is none": ["experiment", "train.csv"],
    "unknown method in an experiment": ["experiment", "methods.toml"],
    "unknown target": ["reproduce", "table2"],
}
# In processes of their own: what tests cannot do to the process that they are in.
PROCESSES = {
    "interrupted": explain("--trust-pickle", model="interrupts.pkl"),
    "terminated": explain("--trust-pickle", model="terminates.pkl"),
    "nobody who reads what is printed": ["datasets"],
}
