# --- predictions --------------------------------------------------------------------------------

KINDS = ["binary classification", "multi classification", "cluster", "regression"]
LABELS = ["label", "labels", "class", "classes", "results", "result"]


def nearest(query, choices):
    """(choice, score) of fuzzywuzzy's extractOne if the score is over 90.

    Only texts of similar length reach that.
    """
    def plain(s):
        return re.sub(r"\W", " ", str(s).encode("ascii", "ignore").decode()).lower().strip()

    def score(a, b):
        if not a or not b or max(len(a), len(b)) / min(len(a), len(b)) >= 1.5:
            return 0
        x, y = " ".join(sorted(a.split())), " ".join(sorted(b.split()))
        s, t = set(a.split()), set(b.split())
        both = " ".join(sorted(s & t))
        left, right = ((both + " " + " ".join(sorted(d))).strip() for d in (s - t, t - s))
        sets = max(fuzz_ratio(both, left), fuzz_ratio(both, right), fuzz_ratio(left, right))
        return int(round(max(fuzz_ratio(a, b), fuzz_ratio(x, y) * 0.95, sets * 0.95)))
    query = plain(query)
    scored = [(c, score(query, plain(c))) for c in choices]
    return max(scored, key=lambda x: x[1])


def id_and_target(df, kind, wanted):
    if len(df.columns) == 1:
        return [], df.columns[0]
    target = wanted if wanted and wanted in df.columns else ""

    def incremental(column):
        values = column.sort_values().values
        return all(values[i] - values[i - 1] == 1 for i in range(1, len(values)))

    def could_be(column):
        n = df[column].nunique()
        if kind == "binary":
            return n == 2
        if kind == "multi":
            return 2 < n < 10
        if kind == "cluster":
            return 1 <= n < max(0.01 * len(df), 10)
        return (kind == "regression" and str(df[column].dtype) in ("int64", "float64")
                and not incremental(df[column]) and n > max(3, 0.1 * len(df)))
    ids, targets = [], []
    for column in df.columns:
        if ("id" in column.lower() or "unnamed" in column.lower()) and df[
            column
        ].nunique() > 0.8 * len(df):
            ids.append(column)
        elif not target and could_be(column):
            targets.append(column)
    if not target:
        target = (
            targets[0]
            if len(targets) == 1
            else next((c for c in targets if c.lower() in LABELS), "")
        )
    return ids, target


def prepare(df, kind, wanted):
    """The table without its id columns, these columns, and the name of the predicted column."""
    wanted = "Cluster" if kind == "cluster" else wanted
    target = ""
    if wanted:
        best, score = nearest(wanted, list(df.columns))
        target = best if score > 90 else ""
    ids, found = id_and_target(df, kind, wanted)
    ids = [c for c in ids if "pca" not in c.lower() and "feature" not in c.lower()]
    return df.drop(columns=ids), ids, target or found


def kind_of(config):
    best, score = nearest(config.get("type", ""), KINDS)
    if score <= 90:
        raise ValueError(f"no type of task {config.get('type')}")
    return best.split(" ")[0]


def compare_ml(result, expected, options, fixed):
    config = options["config"]
    kind = kind_of(config)
    gold_path = next((f for f in as_list(expected) if f.endswith(".csv")), "")
    path = next((f for f in as_list(result) if f.endswith(".csv")), "")
    if kind != "cluster" and not os.path.exists(gold_path):
        raise FileNotFoundError(2, "no such file", gold_path)
    if not os.path.exists(path):
        return 0.0, f"no file {os.path.basename(path)}", {}
    mine = pd.read_csv(path)
    if kind == "cluster":
        mine, _, target = prepare(mine, kind, "")
        if not target:
            return 0.0, "no column Cluster", {}
        said, gold = mine[target], pd.Series(dtype="float64")
    else:
        theirs = pd.read_csv(gold_path)
        if len(theirs) != len(mine):
            return 0.0, f"{len(mine)} rows, not {len(theirs)}", {}
        raw_mine, raw_theirs = mine, theirs
        theirs, ids, gold_target = prepare(theirs, kind, options.get("target_column", ""))
        mine, _, target = prepare(mine, kind, gold_target)
        if not target:
            return 0.0, f"no column like {gold_target}", {}
        if fixed and ids and ids[0] in raw_mine.columns:  # by id, not by position
            order = [
                raw.sort_values(by=ids[0], kind="stable").index for raw in (raw_mine, raw_theirs)
            ]
            mine, theirs = mine.loc[order[0]].reset_index(drop=True), theirs.loc[
                order[1]
            ].reset_index(drop=True)
        said, gold = mine[target], theirs[gold_target]
    metric = config.get("metric", "")
    if metric == "silhouette":
        return scaled(metric, silhouette(mine, said), config, options, fixed)
    return scaled(metric, measure(metric, said, gold, kind, "", fixed), config, options, fixed)


def compare_competition_ml(result, expected, options, fixed):
    config = options["config"]
    kind = kind_of(config)
    results, golds = as_list(result), as_list(expected)
    if len(results) != 1 or len(golds) != 1:
        raise ValueError("one file is compared with one")
    if not os.path.exists(golds[0]):
        raise FileNotFoundError(2, "no such file", golds[0])
    if not os.path.exists(results[0]):
        return 0.0, f"no file {os.path.basename(results[0])}", {}
    gold, mine = pd.read_csv(golds[0]), pd.read_csv(results[0])
    if len(gold) != len(mine):
        return 0.0, f"{len(mine)} rows, not {len(gold)}", {}
    if set(gold.columns) != set(mine.columns):
        return (
            0.0,
            f"other columns: {sorted(map(str, set(gold.columns) ^ set(mine.columns)))}"[:300],
            {},
        )
    key = next((c for c in gold.columns if "id" in c.lower()), "")
    if key and gold[key].nunique() > max(0.6 * len(gold), 2):
        if set(gold[key]) != set(mine[key]):
            return 0.0, f"other values of {key}", {}
        gold = gold.sort_values(by=key).drop(columns=[key])
        mine = mine.sort_values(by=key).drop(columns=[key])
    gold, mine = gold.sort_index(axis=1), mine.sort_index(axis=1)
    metric = config.get("metric", "").lower().strip().replace(" ", "_")
    return scaled(
        metric,
        measure(metric, mine, gold, kind, options.get("average", ""), fixed),
        config,
        options,
        fixed,
    )


def scaled(metric, measured, config, options, fixed):
    score, error = measured
    if error and score == 0.0:
        return 0.0, error, {}
    parts = {metric: float(score)} if math.isfinite(score) else {}
    if options.get("scale", True):
        low, high = config.get("lower_bound", 0.0), config.get("upper_bound", 0.9)
        if fixed and metric in LOSSES:  # lower is better, whatever the order of the bounds
            low, high = max(low, high), min(low, high)
        score = min(max((score - low) / (high - low), 0), 1)
    return score, f"{metric} {parts.get(metric, math.nan):.6g}", parts


def measure(metric, said, gold, kind, average, fixed):
    """(score, error) of a metric. Raises what upstream raises."""
    if metric in ("accuracy", "f1"):
        return labels(metric, said, gold, average, fixed)
    if metric == "roc_auc_score":
        return roc_auc(said, gold, kind, fixed)
    if metric == "quadratic_weighted_kappa":
        return kappa(said, gold, fixed)
    if metric in ("logloss_class", "logloss_total"):
        return logloss(metric, said, gold, fixed)
    if metric == "crps":
        return guarded(crps, said.to_numpy(), gold.to_numpy())
    from sklearn import metrics
    x, y = said.to_numpy(), gold.to_numpy()
    if metric == "r2":
        if not np.issubdtype(x.dtype, np.number):
            return 0.0, "an answer that is no number"
        return guarded(metrics.r2_score, y, x)
    if metric == "rmsle":
        def rmsle(y, x):
            score = metrics.mean_squared_log_error(y, np.clip(x, 0, None))
            return math.sqrt(score) if fixed else score
        return guarded(rmsle, y, x)
    if metric == "smape":
        return guarded(smape, x, y)
    func = {
        "rmse": lambda y, x: math.sqrt(metrics.mean_squared_error(y, x)),
        "mse": metrics.mean_squared_error,
        "mae": metrics.mean_absolute_error,
        "medae": metrics.median_absolute_error,
    }
    if metric not in func:
        raise AttributeError(f"no metric {metric}")
    return guarded(func[metric], y, x)


def guarded(func, *args):
    try:
        return func(*args), ""
    except Exception as e:
        return 0.0, f"{type(e).__name__}: {e}".split("\n")[0][:300]


def labels(metric, said, gold, average, fixed):
    from sklearn import metrics, preprocessing
    encoder = preprocessing.LabelEncoder()
    if metric == "f1" or fixed:
        said, gold = [c.iloc[:, 0] if isinstance(c, pd.DataFrame) else c for c in (said, gold)]
    if isinstance(
        gold, pd.DataFrame
    ):  # upstream passes a dict of columns, which scikit-learn refuses
        return 0.0, "accuracy of a table"

    def whole(column):
        if any(t in str(column.dtype).lower() for t in ("float", "bool")):
            return list(column.astype(int))
        return list(column) if "int" in str(column.dtype) else None

    def encoded(column):
        names = [x.lower().strip() for x in column]
        return (
            encoder.transform(names)
            if hasattr(encoder, "classes_")
            else encoder.fit_transform(names)
        )
    try:
        y, x = whole(gold), whole(said)
        if fixed and (x is None or y is None):
            names = [[str(v).lower().strip() for v in c] for c in (gold, said)]
            encoder.fit(names[0] + names[1])
            y, x = (encoder.transform(n) for n in names)
        y = encoded(gold) if y is None else y
        x = encoded(said) if x is None else x
    except Exception as e:
        return 0.0, f"labels: {e}"[:300]
    if metric == "f1":
        return guarded(lambda: metrics.f1_score(y, x, average=average or "weighted"))
    if not fixed and isinstance(y, np.ndarray):
        y = x  # upstream compares text labels with themselves
    return guarded(lambda: metrics.accuracy_score(y, x))


def roc_auc(said, gold, kind, fixed):
    from sklearn import metrics
    x, y = said.to_numpy(), gold.to_numpy()
    if kind == "binary":
        x, y = (a.reshape(-1, 1) if a.ndim == 1 else a for a in (x, y))
        return guarded(
            lambda: float(
                sum(metrics.roc_auc_score(y[:, i], x[:, i]) for i in range(y.shape[1])) / y.shape[1]
            )
        )
    if kind != "multi":
        raise TypeError(f"roc_auc_score of a {kind}")
    if len(np.argwhere(np.sum(y == 1, axis=1) == 1)) != y.shape[0]:
        raise ValueError("each right row needs one 1")
    if x.ndim != 2 or x.shape[-1] < 3 or not np.allclose(np.sum(x, axis=1), 1):
        raise ValueError("rows of three or more probabilities that add up to 1 are needed")
    classes = np.argmax(y == 1, axis=1)
    if fixed:
        return guarded(
            lambda: metrics.roc_auc_score(
                classes, x, multi_class="ovr", labels=np.arange(x.shape[1])
            )
        )
    return guarded(
        lambda: metrics.roc_auc_score(classes, x)
    )  # fails for several classes: multi_class is not given


def kappa(said, gold, fixed):
    from sklearn import metrics
    x, y = said.to_numpy().flatten(), gold.to_numpy().flatten()

    def upstream():
        a = x.astype(y.dtype) if x.dtype != y.dtype else x
        n = len(np.unique(y))
        observed = metrics.confusion_matrix(y, a, labels=np.arange(n))
        place = np.arange(n)
        weights = (place[:, None] - place[None, :]) ** 2 / (n - 1) ** 2
        if min(y) != min(a) or max(y) != max(a):
            raise ValueError("other range of labels")
        least = min(y)
        counts = [np.bincount(v - least, minlength=n) for v in (y, a)]
        chance = np.outer(*counts)
        chance = chance / chance.sum() * observed.sum()
        return 1 - np.sum(weights * observed) / np.sum(weights * chance)
    if fixed:
        return guarded(
            lambda: metrics.cohen_kappa_score(
                y,
                x.astype(y.dtype),
                weights="quadratic",
                labels=np.arange(min(y.min(), x.min()), max(y.max(), x.max()) + 1),
            )
        )
    with np.errstate(all="ignore"):
        return guarded(upstream)


def logloss(metric, said, gold, fixed):
    x, y = said.to_numpy(), gold.to_numpy()
    with np.errstate(all="ignore"):
        if metric == "logloss_class":
            x = x / x.sum(axis=0 if x.ndim == 1 else 1, keepdims=True)
        else:
            x = x / (x.sum(axis=1, keepdims=True) + 1e-15)
    x = np.clip(x, 1e-15, 1 - 1e-15)
    if x.shape != y.shape:
        return 0.0, "other shape"

    def loss():
        hit = np.multiply(y, x) != 0
        logs = np.zeros_like(x, dtype=float)
        logs[hit] = np.log(x[hit]) if fixed else np.log2(x[hit])
        sums = np.sum(logs, axis=0)
        per = np.count_nonzero(y, axis=0) if metric == "logloss_class" else y.shape[0]
        total = -float(np.sum(sums / per))
        if fixed:
            return total / (y.shape[1] if metric == "logloss_class" and y.ndim > 1 else 1)
        return total / 2
    with np.errstate(all="ignore"):
        return guarded(loss)


def smape(x, y):
    x, y = (a.reshape(-1, 1) if a.ndim == 1 else a for a in (x, y))
    half = (np.abs(x) + np.abs(y)) / 2.0
    half[half == 0] = np.nan
    with np.errstate(all="ignore"):
        return float(np.nanmean(np.where(np.isnan(half), 0, np.abs(x - y) / half))) * 100


def crps(x, y):
    x, y = (a.reshape(-1, 1) if a.ndim == 1 else a for a in (x, y))
    total = 0.0
    for col in range(y.shape[-1]):
        values, counts = np.unique(x[:, col], return_counts=True)
        share = dict(zip(values, np.cumsum(counts) / len(x)))
        share[-math.inf], share[math.inf] = 0.0, 1.0
        for right in y[:, col]:
            total += sum(q ** 2 if v < right else (q - 1) ** 2 for v, q in share.items())
    return float(total / y.shape[1])


def silhouette(table, clusters):
    from sklearn.metrics.pairwise import pairwise_distances
    from sklearn.preprocessing import LabelEncoder
    from sklearn.utils import resample
    clusters = np.array(clusters)
    table = table.copy()
    for column in table.columns:
        try:
            pd.to_numeric(table[column])
        except ValueError:
            try:
                table[column] = LabelEncoder().fit_transform(table[column])
            except Exception:
                return 0.0, f"a column {column} that is no number"
    if len(np.unique(clusters)) == 1:
        return 0.0, "one cluster only"

    def score():
        data, names = table, clusters
        if len(names) > 6000:
            data, names = resample(data, names, n_samples=6000, random_state=42, stratify=names)
        distances = pairwise_distances(data, metric="euclidean")
        kinds = np.unique(names)
        to = np.stack([distances[:, names == k].mean(axis=1) for k in kinds], axis=1)
        own = names[:, None] == kinds[None, :]
        a = to[own]
        b = np.where(own, np.inf, to).min(axis=1)
        mean = float(np.mean((b - a) / np.maximum(a, b)))
        return 0.0 if mean < 0 else mean
    with np.errstate(all="ignore"):
        return guarded(score)
