# --- JSON text ----------------------------------------------------------------------------------

class JSON5:
    """Reads JSON5 (json5.org).

    That is JSON with comments, single quotes, bare keys, trailing commas, hexadecimal numbers,
    Infinity and NaN.
    """
    NUMBER = re.compile(
        r"[+-]?(?:0[xX][0-9a-fA-F]+|Infinity|NaN|(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    )
    NAME = re.compile(r"[^\W\d][\w$\u200c\u200d]*|\$[\w$\u200c\u200d]*")
    SPACE = re.compile(r"(?:[\s\ufeff]|//[^\n\r\u2028\u2029]*|/\*[\s\S]*?\*/)*")

    def __init__(self, text):
        self.text, self.at = text, 0

    def load(self):
        value = self.value()
        self.space()
        if self.at != len(self.text):
            raise ValueError(f"unexpected {self.text[self.at:self.at + 20]!r}")
        return value

    def space(self):
        self.at = self.SPACE.match(self.text, self.at).end()

    def peek(self):
        self.space()
        return self.text[self.at:self.at + 1]

    def take(self, pattern):
        m = pattern.match(self.text, self.at)
        if not m:
            raise ValueError(f"unexpected {self.text[self.at:self.at + 20]!r}")
        self.at = m.end()
        return m.group()

    def value(self):
        c = self.peek()
        if c == "{":
            return dict(self.items("}", self.member))
        if c == "[":
            return list(self.items("]", self.value))
        if c in ('"', "'") and c:
            return self.string()
        for word, value in (("null", None), ("true", True), ("false", False)):
            if self.text.startswith(word, self.at) and not re.match(
                r"[\w$]", self.text[self.at + len(word) : self.at + len(word) + 1]
            ):
                self.at += len(word)
                return value
        text = self.take(self.NUMBER)
        if re.match(r"[\w$]", self.text[self.at:self.at + 1]):
            raise ValueError("a name after a number")
        if "x" in text.lower():
            return int(text, 16)
        if text.endswith(("Infinity", "NaN")):
            return float(text.replace("Infinity", "inf"))
        return float(text) if any(c in text for c in ".eE") else int(text)

    def items(self, end, one):
        self.at += 1
        while self.peek() != end:
            yield one()
            if self.peek() == ",":
                self.at += 1
            elif self.peek() != end:
                raise ValueError(f"unexpected {self.text[self.at:self.at + 20]!r}")
        self.at += 1

    def member(self):
        key = self.string() if self.peek() in ('"', "'") else self.take(self.NAME)
        if self.peek() != ":":
            raise ValueError("a key without a value")
        self.at += 1
        return key, self.value()

    def string(self):
        quote, out = self.text[self.at], []
        self.at += 1
        simple = {
            "b": "\b",
            "f": "\f",
            "n": "\n",
            "r": "\r",
            "t": "\t",
            "v": "\v",
            "0": "\0",
            "\n": "",
            "\u2028": "",
            "\u2029": "",
        }
        while True:
            c = self.text[self.at:self.at + 1]
            self.at += 1
            if c == quote:
                return "".join(out)
            if c == "" or c in "\n\r":
                raise ValueError("text that does not end")
            if c != "\\":
                out.append(c)
                continue
            c = self.text[self.at:self.at + 1]
            self.at += 1
            if c in ("x", "u"):
                digits = self.take(re.compile(r"[0-9a-fA-F]{%d}" % (2 if c == "x" else 4)))
                out.append(chr(int(digits, 16)))
            elif c == "\r":
                self.at += self.text.startswith("\n", self.at)
            else:
                out.append(simple.get(c, c))


def read_text_answer(x):
    if isinstance(x, dict):
        return x
    if not isinstance(x, str):
        return None
    if x.endswith(".json"):
        try:
            with open(x) as f:
                text = f.read()
        except FileNotFoundError:
            return None
        for form in (text, text.replace("'", '"')):
            try:
                return json.loads(form)
            except ValueError:
                continue
        return None
    found = re.search(r"\{.*\}", x, re.DOTALL)
    if not found:
        return None
    try:
        return JSON5(found.group()).load()
    except ValueError:
        return None


def same_value(gold, said, ignore_order):
    kind = type(gold)
    if kind is float:
        return abs(gold - said) <= TOLERANCE
    if kind is int:
        return gold == said
    if kind is str:
        return gold.lower().strip() == said.lower().strip()
    if kind is list:
        if len(gold) != len(said) or len(gold) == 0:
            return False
        if ignore_order:
            key = lambda x: (x is None, str(x), isinstance(x, (int, float)))
            gold, said = sorted(gold, key=key), sorted(said, key=key)
        return all(
            type(g) is type(s) and same_value(g, s, ignore_order) for g, s in zip(gold, said)
        )
    if kind is dict:
        return (
            gold.keys() == said.keys()
            and len(gold) > 0
            and all(
                type(g) is type(said[k]) and same_value(g, said[k], ignore_order)
                for k, g in gold.items()
            )
        )
    raise AttributeError(f"no way to compare a {kind.__name__}")


def text_field(gold, said, ignore_order):
    def single(x):
        return x[0] if isinstance(x, list) and len(x) == 1 else x

    if type(single(gold)) is type(single(said)):
        gold, said = single(gold), single(said)
    elif isinstance(gold, list) and not isinstance(said, list):
        said = [said]
    elif isinstance(said, list) and not isinstance(gold, list):
        gold = [gold]
    try:
        said = type(gold)(said)
    except Exception:
        return False
    return same_value(gold, said, ignore_order)


def text_score(gold, said, rule, ignore_order, fixed):
    gold = {k.lower().strip(): v for k, v in gold.items()}
    said = {k.lower().strip(): v for k, v in said.items()}
    fields = {}
    for key, value in gold.items():
        mine = key
        if fixed and key not in said:  # a misspelt key in the right answer
            near = difflib.get_close_matches(
                key, [k for k in said if k not in gold], n=1, cutoff=0.9
            )
            mine = near[0] if near else key
        fields[key] = mine in said and text_field(value, said[mine], ignore_order)
    if rule == "all":
        return float(all(fields.values())), fields
    if rule == "devide" or fixed and rule == "divide":
        return sum(fields.values()) / len(fields), fields
    raise ValueError(f"no score rule {rule}")


def compare_text(result, expected, options, fixed):
    golds = [g for g in map(read_text_answer, as_list(expected)) if g is not None]
    saids = [s for s in map(read_text_answer, as_list(result)) if s is not None]
    if len(saids) == 1 and isinstance(saids[0], list):
        saids = [s for s in saids[0] if isinstance(s, dict)][:1]
    if not saids:
        return 0.0, "no JSON object in the answer", {}
    rule = options.get("score_rule", ["all"] * len(golds))
    ignore_order = options.get("ignore_order", False)
    ignore_order = (
        ignore_order[0] if isinstance(ignore_order, list) and ignore_order else bool(ignore_order)
    )
    best, fields = max(
        (
            text_score(g, s, rule[i], ignore_order, fixed)
            for i, g in enumerate(golds)
            for s in saids
        ),
        key=lambda x: x[0],
    )
    return best, "", {k: float(v) for k, v in fields.items()}
