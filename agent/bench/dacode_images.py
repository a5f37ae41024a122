# --- charts -------------------------------------------------------------------------------------

def fuzz_ratio(a, b):
    """fuzzywuzzy's fuzz.ratio, with difflib."""
    if a == b:
        return 100
    if not a or not b:
        return 0
    return int(round(100 * difflib.SequenceMatcher(None, a, b).ratio()))


def same_setting(key, result, gold, fixed):
    key = key.lower()
    if key == "figsize":
        return list(result.get(key, [])) == list(gold.get(key, []))
    if key == "color":
        def rgb(c):
            c = c.lstrip("#")
            return np.array([int(c[i:i + 2], 16) for i in (0, 2, 4)])

        def near(xs, ys):
            return all(any(np.sqrt(np.sum((x - y) ** 2)) <= 15 for y in ys) for x in xs)
        mine, theirs = [list(map(rgb, side.get(key, []))) for side in (result, gold)]
        return near(mine, theirs) and (not fixed or near(theirs, mine))
    if key == "type":
        return result.get(key, "").lower() == gold.get(key, "").lower()
    if key in ("graph_title", "x_label", "y_label", "legend_title"):
        mine, theirs = result.get(key, ""), gold.get(key, "")
        return not (theirs and not mine) and fuzz_ratio(mine.lower(), theirs.lower()) >= 90
    if key in ("labels", "xtick_labels", "ytick_labels"):
        mine, theirs = result.get(key, []), gold.get(key, [])
        return len(mine) == len(theirs) and all(
            any(fuzz_ratio(x.lower(), y.lower()) > 95 for y in theirs) for x in mine
        )
    raise ValueError(f"no key {key} of a plot")


def same_arrays(result, gold):
    if not os.path.exists(result):
        return False
    mine, theirs = np.load(result), np.load(gold)  # allows no pickles, which can run code
    mine = mine.reshape(-1, 1) if mine.ndim == 1 else mine
    theirs = theirs.reshape(-1, 1) if theirs.ndim == 1 else theirs
    if mine.shape != theirs.shape:
        return False

    def close(a, b):
        return np.allclose(np.sort(a, axis=0), np.sort(b, axis=0), atol=TOLERANCE, equal_nan=True)
    with np.errstate(all="ignore"):
        return bool(close(mine, theirs) or close(mine / np.sum(mine), theirs / np.sum(theirs)))


def same_images(results, golds, color, size):
    from PIL import Image
    for gold in golds:
        if not os.path.exists(gold):
            raise AssertionError(f"gold path {gold} does not exist")
        mine = next((f for f in results if os.path.basename(gold) in f), "")
        if not mine or not os.path.exists(mine):
            return False
        a, b = Image.open(mine), Image.open(gold)
        if not color:
            a, b = a.convert("L"), b.convert("L")
        a, b = np.array(a), np.array(b)
        if a.shape != b.shape:
            if size or a.shape[2:] != b.shape[2:]:
                return False
            a = np.array(
                Image.fromarray(a).resize((b.shape[1], b.shape[0]), Image.Resampling.BILINEAR)
            )
        if not np.allclose(a, b, atol=TOLERANCE):
            return False
    return True


def compare_image(results, expected, options, fixed):
    keys = options.get("keys", [])

    def kind(files, *ends):
        return [f for f in files if f.endswith(ends)]
    golds, npy = kind(expected, ".png", "jpg"), kind(expected, ".npy")
    if not golds or not npy:
        raise ValueError("the right answer needs an image and an array")
    if same_images(kind(results, ".png", "jpg"), golds, "color" in keys, "figsize" in keys):
        return 1.0, "", {"image": 1.0}
    data = same_arrays(kind(results, ".npy")[0], npy[0])
    parts = {"image": 0.0, "data": float(data)}
    mine, theirs = kind(results, ".json"), kind(expected, ".json")
    settings = True
    if mine and theirs:
        if os.path.exists(mine[0]):
            with open(mine[0]) as f, open(theirs[0]) as g:
                mine, theirs = json.load(f), json.load(g)
            same = {k: bool(same_setting(k, mine, theirs, fixed)) for k in (keys or theirs.keys())}
            parts.update({k: float(v) for k, v in same.items()})
            settings = all(same.values())
        else:
            settings = False
    return float(data and settings), "" if data else "other data", parts
