"""Scores answers that are texts or JSON values, by the public rules of DABStep, KramaBench and
InfiAgent-DABench. It uses only the standard library.

A function scores what was SAID (None: nothing) beside what is right, GOLD; TEXTS are both as texts.

With FIXED, the faults of the public code are corrected.
"""
import ast
import difflib
import json
import math
import re
import sys


# --- DABStep ----------------------------------------------------------------------------------

GROUPED = re.compile(r"\$?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+[.,]\d+)")
FIRST_NUMBER = re.compile(r"\d*\.\d+|\d+\.?\d*")
SIGNED_NUMBER = re.compile(r"[+-]?(?:\d*\.\d+|\d+\.?\d*)(?:e[+-]?\d+)?")
DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d+)")
MANY_ITEMS = 100  # longer lists are not compared pairwise


def dabstep(texts, fixed, **_):
    """Compares texts by the rules of the leaderboard
    (dabstep_benchmark/evaluation/scorer.py in its space; the paper's appendix has others).
    Fixed corrects these faults, shown with upstream's verdict:

      -0.94 ~ 0.94            right   the minus sign is ignored (with Fixed, -12.34 ~ -12.3
                                      are rounded like 12.34 ~ 12.3)
      1e5 ~ 100000            wrong   exponents are ignored
      E:13.57 ~ F:13.57       right   words beside a number are ignored
      2023-01-05 ~ 2023-09-30 right   only the first number is compared
      0,99 ~ 0.99             wrong   a comma between digits always groups thousands …
      1,2 ~ 1, 2              wrong   … and never separates decimals or items
      a: 2, a: 1.0 ~ …        varies  items are sorted as text, then paired by position
      NexPay ~ any with it    right   a single word matches any text that contains it

    A missing answer is wrong; upstream's code fails on it.
    """
    return {"metric": "accuracy", "score": float(same_answer(*texts, fixed))}


def same_answer(a, b, fixed):
    a, b = a.strip().lower(), b.strip().lower()
    if GROUPED.fullmatch(a) or GROUPED.fullmatch(b):
        same, both = same_number(a, b, fixed)
        if same or not fixed:
            return same and both
        # The comma may separate decimals, or items.
        x, y = (DECIMAL_COMMA.fullmatch(s) for s in (a, b))
        if (x or y) and same_number(
            x.expand(r"\1.\2") if x else a, y.expand(r"\1.\2") if y else b, fixed
        )[0]:
            return True
        return "," in a and "," in b and same_list(a, b, fixed)
    if any(c in s for c in ",;" for s in (a, b)):
        return same_list(a, b, fixed)
    same, both = same_number(a, b, fixed)
    return same if both else same_text(a, b, fixed)


def same_number(a, b, fixed):
    """Whether the first numbers of two texts are the same, and whether both have one."""
    x, y = numbers(a, fixed), numbers(b, fixed)
    if not x or not y:
        return False, False
    if not close_numbers(x[0], y[0]):
        return False, True
    if not fixed:
        return True, True
    if len(x) > 1 and len(y) > 1 and not (len(x) == len(y) and all(map(close_numbers, x, y))):
        return False, True
    p, q = (set(re.findall(r"\w+", SIGNED_NUMBER.sub(" ", s))) for s in (a, b))
    return not p or not q or p <= q or q <= p, True


def numbers(s, fixed):
    """The numbers in a text; upstream, the first one without its sign."""
    s = s.replace(",", "").replace("$", "")
    if not fixed:
        m = FIRST_NUMBER.search(s)
        return [float(m.group())] if m else []
    found = []
    for m in SIGNED_NUMBER.finditer(s):
        text = m.group()
        if m.start() > 0 and text[0] in "+-" and s[m.start() - 1] not in " \t(:=[":
            text = text[1:]  # a hyphen, not a sign
        found.append(float(text))
    return found


def close_numbers(a, b):
    """Compares to the decimal places of the less precise number."""
    if a == b:
        return True
    if (abs(a) >= 1 or abs(b) >= 1) and not math.isinf(a) and not math.isinf(b):
        n = min(len(repr(f).partition(".")[2]) for f in (a, b))
        if round(a, n) == round(b, n):
            return True
    return math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-4)


def same_list(a, b, fixed):
    x, y = items(a), items(b)
    if x == y:
        return True
    if len(x) != len(y):
        return False
    if not fixed or len(x) > MANY_ITEMS:
        return all(same_answer(p, q, fixed) for p, q in zip(x, y))
    for item in x:
        i = next((i for i, other in enumerate(y) if same_answer(item, other, fixed)), None)
        if i is None:
            return False
        del y[i]
    return True


def items(s):
    """The items of a list in a text, sorted as strings."""
    s = s.strip().removeprefix("[").removesuffix("]")
    return sorted(filter(None, (item.strip() for item in re.split("[,;]", s))))


def same_text(a, b, fixed):
    if re.sub(r"\W", "", a) == re.sub(r"\W", "", b):
        return True
    x, y = re.findall(r"\w+", a), re.findall(r"\w+", b)
    if x and y and 1 in (len(x), len(y)):
        if fixed and len(x) != len(y):
            return only_letters_more(x, y) or only_letters_more(y, x)
        return set(x) <= set(y) or set(y) <= set(x)
    return alike(a, b, 0.95)


def only_letters_more(shorter, longer):
    """Whether longer only adds single letters, like the option letter in "B. BE"."""
    return set(shorter) <= set(longer) and all(len(w) == 1 for w in set(longer) - set(shorter))


def alike(a, b, bound):
    """Whether the similarity is over bound. It is not computed if the lengths rule that out."""
    if 2 * min(len(a), len(b)) <= bound * (len(a) + len(b)) * (1 - 1e-9):
        return False
    return difflib.SequenceMatcher(None, a, b).ratio() > bound


# --- KramaBench -------------------------------------------------------------------------------

# Right answers before and after they were corrected in November 2025.
CORRECTED = {
    "archeology-easy-8": ("55", 52),
    "archeology-hard-12": ("422", 409),
    "environment-easy-3": ("267", 268),
    "legal-hard-1": ("13427.5676", 12964.8727),
    "legal-hard-2": ("Atlanta-Sandy Springs-Roswell GA Metropolitan Statistical Area",
                     "Miami-Fort Lauderdale-West Palm Beach FL Metropolitan Statistical Area"),
    "legal-hard-15": ("593524", 243377),
}


METRICS = {
    "numeric_exact": "success",
    "string_exact": "success",
    "numeric_approximate": "rae_score",
    "string_approximate": "llm_paraphrase",
    "list_exact": "f1",
    "list_approximate": "f1_approximate",
}
# The first version computes the second, and leaves it out of its total.
JUNE_METRICS = {
    "string_approximate": "string_bootstrap",
    "list_approximate": "f1_approximate (not in the total)",
}


class Unjudged(Exception):
    """The judge has not yet compared two texts."""


def kramabench(task, kind, said, gold, fixed, verdicts, **_):
    """Scores by the answer's type. There are two incompatible
    versions of its public code. Upstream is the one of June 2025 (mitdbg @96b8253),
    behind the published numbers of its authors and of DS-STAR:

      both sides are converted to text    3.0 is not 3; lists are compared by character
      a non-numeric answer                counts one half (numeric_approximate)
      list_approximate                    matches relative errors over 9; not in the total
      string_approximate                  a paraphrase, else ROUGE-1 if BLEU is over 0.2

    One difference: a response without an answer scores 0 here, where that code gives 1 for
    approximate numbers. Fixed is the later version (November and December 2025, and the fork
    of January 2026, bobbai00 @cead5ec), which compares values by their type. It also

      compares a list as a list if the type says string_exact (environment-hard-20)
      replaces right answers that were corrected in November 2025, in an older copy

    verdicts are the judge's about paraphrases, as [answer, gold, same]; "ask" in the result is the
    first pair without one.
    """
    if fixed and kind == "string_exact" and isinstance(gold, list):
        kind = "list_exact"
    if kind not in METRICS:
        return {"problem": f"there is no answer type {kind!r}; there are {', '.join(sorted(METRICS))}"}
    metric = METRICS[kind] if fixed else JUNE_METRICS.get(kind, METRICS[kind])
    result = {"metric": metric, "uncounted": metric == JUNE_METRICS["list_approximate"]}
    if said is None:
        return result
    known = {(a, g): same for a, g, same in verdicts}

    def judge(answer, gold):
        if (answer, gold) not in known:
            raise Unjudged(answer, gold)
        return known[answer, gold]
    if fixed:
        before, after = CORRECTED.get(task, (None, None))
        if str(gold) == before:
            result["detail"] = f"the right answer is {after} since November 2025, not {before}"
            gold = after
    try:
        score, parts = (LATER if fixed else JUNE)[kind](said, gold, judge)
    except Unjudged as e:
        return {"ask": e.args}
    parts = {
        name: part for name, part in parts.items() if math.isfinite(part)
    }  # JSON has no NaN or infinity
    return result | {"score": 0.0 if math.isnan(score) else float(score), "parts": parts}


def number(v):
    """A number as a float, or None."""
    try:
        return float(v) if isinstance(v, (bool, int, float)) else None
    except OverflowError:
        return math.copysign(math.inf, v)


def number_in(v):
    """A number, or a text that reads as one; "12%" is 0.12."""
    if not isinstance(v, str):
        return number(v)
    try:
        return float(v.strip("%")) / 100 if v.endswith("%") else float(v)
    except ValueError:
        return None


def same_words(a, b):
    return a.strip().lower() == b.strip().lower()


def relative(said, gold, zero):
    """1/(1+e) for the relative error e, or zero if e is undefined; and the errors."""
    if said is None or gold is None:
        return zero, {}
    off = abs(said - gold)
    parts = {"mean_absolute_error": off, "mean_squared_error": off * off}
    if gold == 0:
        return zero, parts
    parts["mean_relative_absolute_error"] = off / abs(gold)
    return 1 / (1 + off / abs(gold)), parts


def later_approximate(said, gold, judge):
    return relative(number_in(said), number_in(gold), 0)


def later_success(said, gold, judge):
    """Rounds the answer to the decimals of the right one; ignores case and blanks of texts."""
    if isinstance(gold, (bool, int, float)):
        x = number_in(said)
        if x is None or math.isnan(x):
            return 0, {}
        if isinstance(said, int) and not isinstance(said, bool):
            x = said  # an int stays exact over 2**53
        if isinstance(gold, float):
            mantissa, _, exponent = repr(gold).partition("e")
            n = len(mantissa.partition(".")[2]) - int(exponent or 0)
            return round(x, n) == round(gold, n), {}
        return not (isinstance(x, float) and math.isinf(x)) and round(x) == int(gold), {}
    if isinstance(gold, str):
        return isinstance(said, str) and same_words(said, gold), {}
    return said == gold, {}


def later_exact_list(said, gold, judge):
    return later_list(said, gold, None)


def later_list(said, gold, judge):
    """Compares lists in any order. Numbers may differ by 1e-6 and texts by case and blanks. With
    a judge, numbers may differ by one per cent, and the judge compares texts. One item of the
    answer may match two equal right items."""
    if judge is None and isinstance(said, str) and isinstance(gold, str):
        return same_words(said, gold), {}
    try:
        if isinstance(gold, str) and (judge or isinstance(said, list)):
            gold = json.loads(gold)  # otherwise its characters are the items
        if isinstance(said, str):
            said = json_or_literal(said)
        golds, saids = each(gold), each(said)
    except Exception:
        return 0, {}
    if not golds:
        return not saids, {}
    met, found = set(), 0
    for right in golds:
        i = next((i for i, item in enumerate(saids) if same_item(item, right, judge)), None)
        if i is not None:
            met.add(i)
            found += 1
    return f_one(found, len(golds), len(met), len(saids))


def each(v):
    if not isinstance(v, (list, str, dict)):
        raise TypeError("it has no items")
    return list(v)


def same_item(said, gold, judge):
    if isinstance(gold, str):
        return judge(str(said), gold) if judge else same_words(str(said), gold)
    y = number(gold)
    if y is None:
        return judge is None and said == gold
    x = number_in(said)
    if x is None:
        return False
    off = abs(x - y) / max(abs(y), 1e-12)
    return off <= 0.01 if judge else off < 1e-6


def f_one(found, right, met, said):
    recall, precision = found / right, met / said if said else 0.0
    parts = {"precision": precision, "recall": recall}
    if precision + recall == 0:
        return 0, parts
    return 2 * precision * recall / (precision + recall), parts


def json_or_literal(text):
    """The value of JSON or of a Python literal; tuples and sets are lists."""
    try:
        return json.loads(text)
    except ValueError:
        pass

    class Lists(ast.NodeTransformer):
        def visit_Set(self, node):
            return ast.List([self.visit(e) for e in node.elts], ast.Load())
        visit_Tuple = visit_Set
    return ast.literal_eval(Lists().visit(ast.parse(text.lstrip(" \t"), mode="eval")).body)


LATER = {"numeric_exact": later_success, "string_exact": later_success,
         "numeric_approximate": later_approximate, "list_exact": later_exact_list,
         "list_approximate": later_list,
         "string_approximate": lambda said, gold, judge: (judge(str(said), str(gold)), {})}


# --- KramaBench, June 2025: compares texts only --------------------------------------------------

def june(metric):
    return lambda said, gold, judge: metric(str(said).strip(), str(gold).strip(), judge)


def june_success(said, gold, judge):
    return same_words(said, gold), {}


def june_number(said, gold, judge):
    return relative(
        number_in(said), number_in(gold), 0.5
    )  # an error counts as a relative error of 1


def june_text(said, gold, judge):
    b, r = bleu(said, gold), rouge(said, gold)[2]
    parts = {"bleu": b, "rouge": r}
    if judge(said, gold):
        return 1, parts
    return r if b > 0.2 else 0, parts


def june_list(said, gold, judge):
    """Compares the characters of two texts."""
    precision, recall, _ = rouge(said, gold)
    parts = {"precision": precision, "recall": recall}
    saids, golds = ([c.strip().lower() for c in s] for s in (said, gold))
    if not golds:
        return not saids, parts
    met = [saids.index(c) for c in golds if c in saids]
    return f_one(len(met), len(golds), len(set(met)), len(saids))[0], parts


def june_close_list(said, gold, judge):
    """Works only if str() of the right list is JSON, as it is for numbers. Matching numbers do not
    count for precision."""
    try:
        golds = each(json.loads(gold))
        saids = each(json_or_literal(said))
    except Exception:
        return 0, {}
    met, found = set(), 0
    for g in golds:
        for i, s in enumerate(saids):
            if isinstance(g, str):
                if judge(str(s), g):
                    met.add(i)
                    found += 1
                    break
                continue
            x, y = number_in(s), number(g)
            if x is None or not y:
                return 0, {}  # an exception
            if 1 / (1 + abs(x - y) / abs(y)) < 0.1:
                found += 1
                break
    if not golds:
        return 0, {}
    return f_one(found, len(golds), len(met), len(saids))


def bleu(said, gold):
    """nltk's sentence_bleu([gold], said) of strings: over characters, without smoothing."""
    logs = 0.0
    for n in range(1, 5):
        mine, theirs = counts(said[i : i + n] for i in range(len(said) - n + 1)), counts(
            gold[i : i + n] for i in range(len(gold) - n + 1)
        )
        same = sum(min(count, theirs.get(gram, 0)) for gram, count in mine.items())
        if same == 0 and n == 1:
            return 0.0
        logs += math.log(same / sum(mine.values()) if same else sys.float_info.min) / 4
    if len(said) < len(gold):
        logs += 1 - len(gold) / len(said)
    return math.exp(logs)


def rouge(said, gold):
    """ROUGE-1 of rouge_score without a stemmer: precision, recall, F."""
    mine, theirs = (counts(re.sub(r"[^a-z0-9]+", " ", s.lower()).split()) for s in (said, gold))
    same = sum(min(count, theirs.get(w, 0)) for w, count in mine.items())
    p, r = same / max(sum(mine.values()), 1), same / max(sum(theirs.values()), 1)
    return p, r, 2 * p * r / (p + r) if p + r else 0.0


def counts(things):
    found = {}
    for thing in things:
        found[thing] = found.get(thing, 0) + 1
    return found


JUNE = {"numeric_exact": june(june_success), "string_exact": june(june_success),
        "numeric_approximate": june(june_number), "string_approximate": june(june_text),
        "list_exact": june(june_list), "list_approximate": june(june_close_list)}


# --- DABench ----------------------------------------------------------------------------------

# Labels that do not follow from their question are kept.
DOUBTFUL = {
    "8": "the label has the sample's deviation, the question asks for the population's",
    "674": "the label depends on a random state that the question does not give",
}


def dabench(task, gold, texts, fixed, **_):
    """Compares the fields @name[value] that the label names (eval_closed_form.py).
    Value is the share of correct fields; for ABQ an answer is correct if all its fields are.
    Fixed corrects these faults:

      - a value ends at its first ']', and is not found if it contains a line break
      - case, surrounding blanks and thousands separators make a value wrong
      - if a label has a field twice (id 734), only the last value is required
    """
    if isinstance(gold, dict):  # of a user's own task
        gold = [(k, v if isinstance(v, str) else json.dumps(v)) for k, v in sorted(gold.items())]
    found, parts = fields(said_fields(texts[0], fixed), fixed), {}
    for name, values in fields(gold, fixed).items():
        for i, value in enumerate(values):
            right = i < len(found.get(name, [])) and same_field(found[name][i], value, fixed)
            parts[f"{name}#{i + 1}" if i else name] = float(right)
    score = sum(parts.values()) / len(parts) if parts else 0.0
    detail = DOUBTFUL.get(task, "")
    return {"metric": "fields", "score": score, "parts": parts, "detail": detail}


def said_fields(text, fixed):
    """The fields in a text. With fixed, values may contain balanced brackets and line breaks."""
    if not fixed:
        return re.findall(r"@(\w+)\[(.*?)\]", text)
    found = []
    while m := re.search(r"@(\w+)\[", text):
        text, depth = text[m.end():], 1
        end = -1
        for i, c in enumerate(text):
            depth += (c == "[") - (c == "]")
            if depth == 0:
                end = i
                break
        if end < 0:  # not balanced: up to the first bracket, if any
            end = text.find("]")
        if end < 0:
            break
        found.append((m.group(1), text[:end]))
        text = text[end + 1:]
    return found


def fields(pairs, every):
    """The values by name: all, in order, or only the last of each."""
    found = {}
    for name, value in pairs:
        found[name] = found.get(name, []) + [value] if every else [value]
    return found


def same_field(said, gold, fixed):
    if fixed:
        said, gold = tidy(said), tidy(gold)
    if said == gold:
        return True
    try:
        return abs(float(said) - float(gold)) < 1e-6
    except ValueError:
        return False


def tidy(s):
    s = s.strip().lower().strip("\"'")
    return s.replace(",", "") if re.fullmatch(r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?", s) else s
