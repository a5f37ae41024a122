"""Makes tasks in DA-Code's layout, with right answers and answers near to them, for every metric."""
import json
import os
import random
import sqlite3

import numpy as np
import pandas as pd


def main(args):
    folder, n, seed = args
    rng = random.Random(seed)
    np.random.seed(seed)
    configs = os.path.join(folder, "da_code", "configs")
    for name in ("task", "eval"):
        os.makedirs(os.path.join(configs, name))
    makers = [table, table, table, several, database, text, text, text, chart, chart, predictions, competition]
    with open(os.path.join(configs, "task", "all.jsonl"), "w") as tasks, open(os.path.join(configs, "eval", "eval_all.jsonl"), "w") as evals:
        for i in range(n):
            maker = makers[i % len(makers)]
            name = f"{maker.__name__}-{i:05d}"
            out, gold = os.path.join(folder, "output", name), os.path.join(folder, "da_code", "gold", name)
            os.makedirs(os.path.join(out, "dabench"))
            os.makedirs(gold)
            config = {"id": name, "config": {"task": "data insight", "type": "csv", "hardness": "Easy"}, "options": [{}]}
            result = maker(rng, config, out, gold)
            tasks.write(json.dumps({"id": name, "type": "x", "instruction": "do it", "hardness": "Easy", "post_process": []}) + "\n")
            evals.write(json.dumps(config) + "\n")
            with open(os.path.join(out, "dabench", "result.json"), "w") as f:
                json.dump({"finished": rng.random() > 0.02, "steps": 3, "result": result, "trajectory": [],
                           "result_files": {"added_files": [], "changed_files": []}}, f)
    return json.dumps(n)


WORDS = ["Rome", "rome ", "NL", "", "nan", "x y", "Ünï", "1.50", "True", "a,b", "12%", "N/A"]


def column(rng, n):
    kind = rng.randrange(8)
    make = {0: lambda: rng.randrange(20), 1: lambda: round(rng.uniform(-5, 5), 3), 2: lambda: rng.choice(WORDS),
            3: lambda: rng.choice([None, rng.randrange(5)]), 4: lambda: rng.random() < 0.5, 5: lambda: rng.choice([rng.choice(WORDS), rng.randrange(9)]),
            6: lambda: rng.uniform(-1, 1) * 10 ** rng.randrange(-3, 12), 7: lambda: rng.choice([None, round(rng.random(), 2)])}[kind]
    return [make() for _ in range(n)]


def frame(rng):
    n = rng.choice([0, 1, 2, 3, 5, 8, 20])
    return pd.DataFrame({f"c{i}": column(rng, n) for i in range(rng.randrange(1, 6))})


def nudge(rng, v):
    if isinstance(v, bool) or v is None:
        return v if rng.random() < 0.9 else None
    if isinstance(v, str):
        return rng.choice([v, v.upper(), v + " ", v, "other" if rng.random() < 0.1 else v])
    if isinstance(v, (int, float)):
        return v + rng.choice([0, 0, 0, 0.004, 0.0099, -0.006, 0.0101 if rng.random() < 0.2 else 0, 1 if rng.random() < 0.05 else 0])
    return v


def changed(rng, df):
    df = df.copy()
    for c in df.columns:
        if rng.random() < 0.5:
            df[c] = pd.Series([nudge(rng, v) for v in df[c].tolist()], dtype=object, index=df.index)
    if rng.random() < 0.35:
        df = df.sample(frac=1, random_state=rng.randrange(9999))
    if rng.random() < 0.2 and len(df.columns) > 1:
        df = df.drop(columns=[rng.choice(list(df.columns))])
    if rng.random() < 0.3:
        df = df[rng.sample(list(df.columns), len(df.columns))]
    if rng.random() < 0.3:
        df["extra"] = column(rng, len(df))
    if rng.random() < 0.1:
        df = df.iloc[:-1]
    return df


def table_options(rng, df):
    options = {}
    if rng.random() < 0.4:
        options[rng.choice(["condition_cols", "condition_cols", "conditon_cols"])] = sorted(
            rng.sample(range(len(df.columns) + (rng.random() < 0.03)), rng.randrange(0, len(df.columns) + 1)))
    if rng.random() < 0.5:
        options["ignore_order"] = rng.random() < 0.9
    if rng.random() < 0.15:
        options["score_rule"] = rng.choice(["all", "divide"])
    return options


def table(rng, config, out, gold):
    df = frame(rng)
    df.to_csv(os.path.join(gold, "result.csv"), index=False)
    config.update(func=["compare_csv"], result=[{"file": ["result.csv"] if rng.random() < 0.5 else "result.csv"}], options=[table_options(rng, df)])
    where = rng.choice(["result.csv", "result.csv", "answer.csv"])
    if rng.random() < 0.97:
        if rng.random() < 0.03:
            open(os.path.join(out, where), "w").close()
        else:
            changed(rng, df).to_csv(os.path.join(out, where), index=False)
    return rng.choice([where, f"/workspace/{where}", f"I wrote {where}.", "done", f"see {where} and notes.txt", where])


def several(rng, config, out, gold):
    names, options = [f"r{i}.csv" for i in range(rng.randrange(2, 4))], []
    for name in names:
        df = frame(rng)
        df.to_csv(os.path.join(gold, name), index=False)
        options.append(table_options(rng, df))
        if rng.random() < 0.95:
            changed(rng, df).to_csv(os.path.join(out, name), index=False)
    config.update(func=["compare_csv"] * rng.choice([1, len(names)]), options=options if rng.random() < 0.7 else options[:1])
    if rng.random() < 0.3:  # one answer, several right ones
        config.update(func=["compare_csv"], result=[{"multi": True, "file": names}], options=[{}])
        return names[0]
    config["result"] = [{"file": [n]} for n in names]
    if rng.random() < 0.2:
        config["conj"] = rng.choice(["max", "min", "and", "or", "avg"])
    return rng.choice([", ".join(names), "done", names[0]])


def database(rng, config, out, gold):
    tables = {f"t{i}": frame(rng) for i in range(rng.randrange(1, 4))}
    for where, change in ((gold, lambda d: d), (out, lambda d: changed(rng, d))):
        db = sqlite3.connect(os.path.join(where, "data.db"))
        for name, df in tables.items():
            if where == gold or rng.random() < 0.93:
                df = change(df)
                if len(df.columns):
                    df.astype(object).where(df.notna(), None).to_sql(name, db, index=False)
        db.close()
    options = {}
    if rng.random() < 0.7:
        chosen = rng.sample(list(tables), rng.randrange(1, len(tables) + 1))
        options = {"condition_tabs": chosen, "condition_cols": [[] if rng.random() < 0.5 else [0] for _ in chosen],
                   "ignore_order": [rng.random() < 0.5 for _ in chosen]}
    config.update(func=["compare_sqlite"], result=[{"file": ["data.db"]}], options=[options])
    return "data.db"


def value(rng, depth=0):
    kind = rng.randrange(9 if depth < 2 else 4)
    if kind == 0:
        return rng.randrange(100)
    if kind == 1:
        return round(rng.uniform(0, 10), 3)
    if kind < 4:
        return rng.choice(["Rome", "no", "12", "3.5", "The trend, it's up", ""])
    if kind == 4:
        return {rng.choice("abc"): value(rng, depth + 1)}
    return [value(rng, depth + 1) for _ in range(rng.randrange(0, 4))]


def near(rng, v):
    if isinstance(v, dict):
        return {k: near(rng, x) for k, x in v.items()}
    if isinstance(v, list):
        v = [near(rng, x) for x in v]
        if rng.random() < 0.3:
            rng.shuffle(v)
        return v[0] if len(v) == 1 and rng.random() < 0.5 else v
    if rng.random() < 0.6:
        return v
    if isinstance(v, str):
        return rng.choice([v.upper(), v + " ", [v], "other"])
    return rng.choice([v, v + 0.005, str(v), [v], float(v), int(v), v + 1, True, None])


def json5(rng, v):
    """Text of v, now and then with what only JSON5 allows."""
    t = json.dumps(v)
    for before, after in (('"', "'"), ("]", ",]"), (", ", ", /* and */ "), ("}", " // end\n}")):
        if rng.random() < 0.2:
            t = t.replace(before, after)
    if rng.random() < 0.05:
        t = t.replace('"', "", 2)
    if rng.random() < 0.05:
        t = t[:-2] + "}"
    return t


def text(rng, config, out, gold):
    keys = rng.sample(["Highest country", "lowest", "P-value", " Mean ", "Conclusion", "a b"], rng.randrange(1, 4))
    golds = [{k: ([value(rng)] if rng.random() < 0.6 else value(rng)) for k in keys} for _ in range(rng.choice([1, 1, 1, 2]))]
    said = {rng.choice([k, k.upper(), k.strip(), k]): near(rng, v) for k, v in rng.choice(golds).items() if rng.random() < 0.93}
    options = {"ignore_order": True} if rng.random() < 0.4 else {}
    config["config"]["type"] = "text"
    if rng.random() < 0.25:
        with open(os.path.join(gold, "result.json"), "w") as f:
            json.dump(golds[0], f)
        with open(os.path.join(out, "result.json"), "w") as f:
            f.write(json.dumps(said) if rng.random() < 0.7 else str(said))
        config.update(func=["compare_text"], result=[{"file": ["result.json"]}], options=[options])
        return "result.json"
    config.update(func=["compare_text"], result=[{"number": golds}], options=[options])
    return rng.choice(["", "The answer: ", "```json\n"]) + json5(rng, said) + rng.choice(["", "\n```", " {as asked}"])


def chart(rng, config, out, gold):
    from PIL import Image
    keys = ["figsize", "color", "type", "graph_title", "legend_title", "x_label", "y_label", "labels", "xtick_labels", "ytick_labels"]
    settings = {"type": rng.choice(["bar", "line"]), "color": [f"#{rng.randrange(1 << 24):06x}" for _ in range(rng.randrange(1, 4))],
                "figsize": [8.0, 6.0], "graph_title": "Sales by month of the year", "legend_title": rng.choice(["", "Kind"]), "labels": ["Comedy", "Drama"],
                "x_label": "Month", "y_label": "Total of sales", "xtick_labels": ["Jan", "Feb", "March of the penguins"], "ytick_labels": ["0", "10"]}
    mine = json.loads(json.dumps(settings))
    for k in rng.sample(keys, rng.choice([0, 0, 1, 2])):
        if k == "figsize":
            mine[k] = [8.0, rng.choice([6.0, 6.5])]
        elif k == "color":
            mine[k] = [f"#{min(255, max(0, int(c[1:3], 16) + rng.randrange(-12, 12))):02x}{c[3:]}" for c in mine[k]][:rng.choice([1, 3])]
        elif isinstance(mine[k], list):
            mine[k] = rng.choice([mine[k][::-1], mine[k][:1], [x.upper() for x in mine[k]], [x + "s" for x in mine[k]]])
        else:
            mine[k] = rng.choice([mine[k].upper(), mine[k] + "s", mine[k][:-2], "", "Sales per month of a year"])
        if rng.random() < 0.1:
            del mine[k]
    data = np.random.rand(rng.choice([1, 2, 3]), rng.choice([1, 3, 4])) * 100
    said = data + rng.choice([0, 0, 0.001, 0.02])
    said = rng.choice([said, said[::-1], said / said.sum(), said * 3, said[:, :1], said.reshape(-1), np.sort(said, axis=1)])
    if rng.random() < 0.2:
        data = said = np.full((2, 2), rng.choice([0.0, np.nan, 1.0]))
    image = np.random.randint(0, 255, (6, 8, 3), dtype=np.uint8)
    for where, d, s, img in ((gold, data, settings, image), (os.path.join(out, "dabench"), said, mine, None)):
        np.save(os.path.join(where, "result.npy"), d)
        with open(os.path.join(where, "plot.json"), "w") as f:
            json.dump(s, f)
        if img is not None:
            Image.fromarray(img).save(os.path.join(where, "result.png"))
    if rng.random() < 0.9:
        other = image if rng.random() < 0.2 else np.random.randint(0, 255, (rng.choice([6, 9]), 8, 3), dtype=np.uint8)
        Image.fromarray(other).save(os.path.join(out, "result.png"))
    for name in ("result.npy", "plot.json"):
        if rng.random() < 0.04:
            os.remove(os.path.join(out, "dabench", name))
    config["config"].update(task="data visualization", type=settings["type"])
    config.update(func=["compare_image"], result=[{"multi": True, "file": ["result.png", "dabench/plot.json", "dabench/result.npy"]}],
                  options=[{"keys": rng.sample(keys, rng.randrange(0, 6))}])
    return rng.choice(["result.png", "done", "/workspace/result.png"])


def predictions(rng, config, out, gold):
    metric = rng.choice(["f1", "accuracy", "r2", "silhouette", "f1", "r2"])
    n = rng.choice([30, 60])
    kind = {"r2": "regression", "silhouette": "cluster"}.get(metric) or rng.choice(["binary classification", "multi classification"])
    config["config"].update(task="machine learning", type=kind, metric=metric, upper_bound=0.9, lower_bound=rng.choice([0.0, 0.5]))
    options = {}
    name = rng.choice(["Target", "Response", "price", "Heart_Disease", "class"])
    if kind == "cluster":
        k = rng.choice([1, 2, 3])
        clusters = np.random.randint(0, k, n)
        df = pd.DataFrame({"id": range(n), "Feature_1": np.random.rand(n) + clusters, "Feature_2": np.random.rand(n), rng.choice(["Cluster", "cluster", "group"]): clusters})
        if rng.random() < 0.2:
            df["Feature_3"] = [rng.choice("ab") for _ in range(n)]
        if rng.random() < 0.5:
            df = df.drop(columns="id")
        mine = df
    else:
        if kind == "regression":
            y = np.random.rand(n) * 100
            x = y + np.random.randn(n) * rng.choice([0, 10, 60])
        else:
            names = ["yes", "no"] if kind.startswith("binary") else ["a", "b", "c"]
            if rng.random() < 0.5:
                names = list(range(len(names)))
            y = np.array([rng.choice(names) for _ in range(n)])
            x = np.where(np.random.rand(n) < rng.choice([0.05, 0.3]), np.array([rng.choice(names) for _ in range(n)]), y)
            if rng.random() < 0.1:
                x[0] = "new" if isinstance(names[0], str) else 7
        df = pd.DataFrame({"id": np.random.permutation(n) + 1000, name: y})
        mine = pd.DataFrame({"id": df["id"], rng.choice([name, name, name.lower(), name + " ", "prediction"]): x})
        if rng.random() < 0.3:
            mine = mine.sample(frac=1, random_state=rng.randrange(999))
        if rng.random() < 0.3:
            mine = mine.drop(columns="id")
        if rng.random() < 0.05:
            mine = mine.iloc[:-1]
        df.to_csv(os.path.join(gold, "result.csv"), index=False)
        if rng.random() < 0.6:
            options["target_column"] = name
    mine.to_csv(os.path.join(out, "result.csv"), index=False)
    config.update(func=["compare_ml"], result=[{"file": "result.csv"}], options=[options])
    return "result.csv"


def competition(rng, config, out, gold):
    metric = rng.choice(["roc_auc_score", "quadratic_weighted_kappa", "rmsle", "mae", "smape", "logloss_class", "logloss_total", "r2", "rmse", "medae",
                         "mse", "crps", "accuracy", "f1", "quadratic weighted kappa"])
    n, options = 40, {}
    kind = "binary classification" if metric in ("accuracy", "f1", "logloss_class") else "regression"
    ids = np.random.permutation(n)
    if metric.startswith("quadratic"):
        y = np.random.randint(0, 4, n) + rng.choice([0, 0, 1])
        x = np.where(np.random.rand(n) < 0.3, np.random.randint(0, 4, n) + y.min(), y)
    elif metric in ("accuracy", "f1"):
        names = rng.choice([["yes", "no"], [0, 1], ["a", "b", "c"]])
        y = np.array([rng.choice(names) for _ in range(n)])
        x = np.where(np.random.rand(n) < 0.3, np.array([rng.choice(names) for _ in range(n)]), y)
        if metric == "f1" and rng.random() < 0.3:
            options["average"] = "micro"
    elif metric == "roc_auc_score":
        kind = rng.choice(["binary classification", "multi classification"])
        y = np.random.randint(0, 2, n)
        x = np.clip(y + np.random.randn(n), -3, 3)
    else:
        y = np.random.rand(n) * 10
        x = y + np.random.randn(n) * rng.choice([0, 0.5, 5])
    df, mine = pd.DataFrame({"id": ids, "y": y}), pd.DataFrame({"id": ids, "y": x})
    if metric.startswith("logloss") or kind.startswith("multi"):
        k = 3 if kind.startswith("multi") or rng.random() < 0.5 else 2
        hot = np.eye(k)[np.random.randint(0, k, n)]
        soft = np.abs(hot + np.random.rand(n, k))
        soft = soft / soft.sum(axis=1, keepdims=True)
        df = pd.DataFrame({"id": ids, **{f"class_{i}": hot[:, i].astype(int) for i in range(k)}})
        mine = pd.DataFrame({"id": ids, **{f"class_{i}": soft[:, i] for i in range(k)}})
    if rng.random() < 0.5:
        mine = mine.sample(frac=1, random_state=rng.randrange(999))
    if rng.random() < 0.2:
        df, mine = df.drop(columns="id"), mine.drop(columns="id")
    if rng.random() < 0.04:
        mine = mine.rename(columns={mine.columns[-1]: "other"})
    if rng.random() < 0.04 and "id" in mine.columns:
        mine.iloc[0, 0] = 9999
    low, high = sorted([rng.uniform(0, 1), rng.uniform(0, 2)])
    config["config"].update(task="machine learning competition", type=kind, metric=metric, lower_bound=low, upper_bound=rng.choice([high, low - 0.5]))
    df.to_csv(os.path.join(gold, "submission.csv"), index=False)
    mine.to_csv(os.path.join(out, "submission.csv"), index=False)
    config.update(func=["compare_competition_ml"], result=[{"file": "submission.csv"}], options=[options])
    return "submission.csv"
