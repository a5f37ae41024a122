# Reads definitions of other formats than Markdown: a data-dict.yaml, metrics of dbt and MetricFlow,
# measures of Cube, and glossaries in CSV and Excel. What it reads may be anybody's: it keeps to limits
# of its own, runs nothing, and what it cannot read is a problem that names the file.
import base64, collections, csv, io, json, re, signal, zipfile, zlib

SECONDS, LEVELS, ROWS, COLUMNS = 30, 60, 100_000, 64
MODELS = ("models", "seeds", "snapshots")  # of dbt, which have tables
UNZIPPED, PRINTED, KEPT = 64 << 20, 32 << 20, 3500


class Problem(Exception):
    """What is wrong with a file, with its place in there if there is one."""

    def __init__(self, what, place=""):
        super().__init__(what)
        self.place = place


def main(packed):
    def late(*_):
        raise Problem(f"cannot be read in {SECONDS} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        said = {"definitions": Reader().read(json.loads(zlib.decompress(base64.b64decode(packed))))}
    except Problem as e:
        said = {"problem": str(e)}
    signal.alarm(0)
    print(base64.b64encode(zlib.compress(json.dumps(said).encode())).decode())


class Reader:
    def __init__(self):
        self.name = ""  # of the file that is read
        self.found, self.labels, self.said = [], [], set()
        self.printed = 0
        self.measures = {}  # of semantic models, by name: in words
        self.shown = set()  # those that a metric shows
        self.dimensions = {}  # by name: how they are computed

    def read(self, files):
        documents = []
        for file in files:
            self.name, data = file["Name"], base64.b64decode(file["Text"])
            end = self.name.lower().rpartition(".")[2]
            with Guard(self.name):
                if end == "xlsx":
                    self.sheets(data)
                elif end in ("csv", "tsv"):
                    self.glossary(csv_rows(text_of(data), end), "")
                else:
                    read = read_json if end == "json" else read_yaml
                    documents.append((self.name, read(text_of(data))))
        for turn in (self.collect, self.document):  # metrics name measures of other files
            for self.name, document in documents:
                with Guard(self.name):
                    turn(document)
        self.label()
        return self.found

    def define(self, term, place, lines, also=(), labels=()):
        lines = [line for line in map(plain, lines) if line]
        term = " ".join(plain(term).split())
        if not term or not lines:
            return
        also = list(filter(None, map(plain, also)))
        text = "\n".join(lines)
        if len(text.encode()) > KEPT:  # as some descriptions of tables have
            kept = text.encode()[:KEPT].decode(errors="ignore")
            text = f"{kept.rpartition(' ')[0]} … (more in {self.name})"
        if (term, text) in self.said:  # in another manifest
            return
        self.said.add((term, text))
        place = f"{self.name}, {place}"
        self.found.append({"term": term, "also": also, "text": text, "place": place})
        self.labels.append(list(filter(None, map(plain, labels))))
        self.printed += len(term) + len(text)
        if self.printed > PRINTED:
            raise Problem(f"has more than {PRINTED >> 20} MB of definitions, all aliases expanded")


    def label(self):
        """Adds labels, which projects give twice, to the names of what they name alone."""
        times = collections.Counter()
        for one, labels in zip(self.found, self.labels):
            times.update({folded(name) for name in (one["term"], *one["also"], *labels)})
        for one, labels in zip(self.found, self.labels):
            known = {folded(name) for name in (one["term"], *one["also"])}
            one["also"] += [name for name in dict.fromkeys(labels)
                            if times[folded(name)] == 1 and folded(name) not in known]

    def collect(self, document):
        """Finds what metrics refer to."""
        if not isinstance(document, dict):
            raise Problem("has no keys, so it is none of the formats that are known")
        for model in items(document.get("semantic_models")):
            for measure in items(model.get("measures")):
                said = aggregate(measure, table_of(model))
                self.measures.setdefault(plain(measure.get("name")), said)
            for one in items(model.get("dimensions")):
                name, expr = plain(one.get("name")), plain(one.get("expr"))
                if expr and expr != name:
                    self.dimensions.setdefault(name, expr)

    def document(self, document):
        keys = set(document)
        if keys & {"metrics", "semantic_models", "sources", "nodes", *MODELS}:
            self.dbt(document)
        elif keys & {"tables", "glossary", "relationships"}:
            self.dictionary(document)
        elif "cubes" in keys:
            self.cubes(document)
        else:
            raise Problem("is none of the formats that are known: a data dictionary (tables, glossary), "
                          "dbt or MetricFlow (metrics, semantic_models, models, nodes), Cube (cubes)")

    def dictionary(self, d):
        """The form of https://data-dict.tidyverse.org."""
        title = plain(d.get("label") or d.get("name")) or self.name
        self.define(f"data set {title}", "description", [d.get("description"), d.get("details")])
        for table in items(d.get("tables")):
            name, columns = plain(table.get("name")), items(table.get("columns"))
            key = [c.get("name") for c in columns if "primary_key" in plain(c.get("constraints"))]
            said = [table.get("description"), table.get("details"), labelled("Key", key)]
            self.define(f"table {name}", f"table {name}", said)
            for column in columns:
                self.column(name, column)
            for one in items(table.get("definitions")):
                own, expr = plain(one.get("name")), one.get("expr")
                said = [one.get("description"), one.get("details"),
                        expr and f"It is {quoted(expr)} of the table {name}."]
                self.define(f"{name}.{own}", f"definition {name}.{own}", said,
                            labels=(own, one.get("label")))
        for one in items(d.get("relationships")):
            join = plain(one.get("join"))
            self.define(f"join {join}", f"relationship {join}", [
                one.get("description"), labelled("Cardinality", one.get("cardinality")),
                labelled("These columns differ in meaning", one.get("conflicts"))])
        for term, said in dict_of(d.get("glossary")).items():
            said = said if isinstance(said, dict) else {"description": said}
            texts = [said.get(key) for key in ("definition", "description", "details")]
            self.define(term, f"glossary {term}", texts + [labelled("Unit", unit_of(said))],
                        names(said.get("also"), said.get("synonyms"), said.get("aliases")))

    def column(self, table, c):
        """Defines a column, unless nothing but its type is said of it."""
        name, values = plain(c.get("name")), c.get("values")
        said = [c.get("description"), c.get("details"), labelled("Unit", unit_of(c))]
        if any(map(plain, said)) or isinstance(values, dict):
            more = {"Label": c.get("label"), "Values": values, "Range": c.get("range"),
                    "Time zone": c.get("time_zone"),
                    "Type": c.get("type") or c.get("data_type")}
            said += [labelled(label, value) for label, value in more.items()]
            said.append(f"It is the column `{name}` of the table {table}.")
            self.define(f"{table}.{name}", f"column {table}.{name}", said)

    def dbt(self, d):
        models = [n for n in items(d.get("nodes")) if f"{n.get('resource_type')}s" in MODELS]
        for model in models + [m for kind in MODELS for m in items(d.get(kind))]:
            self.model(model, own_name(model))
            for metric in items(model.get("metrics")):
                self.metric(metric, model)
        for source in items(d.get("sources")):
            if "tables" not in source:  # a manifest has one for each table
                self.model(source, own_name(source))
            for table in items(source.get("tables")):
                self.model(table, f"{plain(source.get('name'))}.{plain(table.get('name'))}")
        for metric in items(d.get("metrics")):
            self.metric(metric, {})
        for model in items(d.get("semantic_models")):
            self.semantic_model(model)

    def model(self, model, name):
        self.define(f"table {name}", f"table {name}", [model.get("description")])
        for column in items(model.get("columns")):
            self.column(name, column)

    def semantic_model(self, model):
        name, table = plain(model.get("name")), table_of(model)
        self.define(f"semantic model {name}", f"semantic model {name}", [model.get("description")])
        for one in items(model.get("dimensions")):
            own, expr = plain(one.get("name")), plain(one.get("expr"))
            said = expr and expr != own and f"It is {quoted(expr)} of the table {table}."
            self.define(f"dimension {name}.{own}", f"dimension {name}.{own}",
                        [one.get("description"), said])
        for one in items(model.get("measures")):
            own = plain(one.get("name"))
            if own not in self.shown:
                said = [one.get("description"), sentence(aggregate(one, table))]
                self.define(f"measure {name}.{own}", f"measure {name}.{own}", said,
                            labels=[one.get("label")])

    def metric(self, m, model):
        """Says how a metric is computed. Its parameters are in type_params, or beside its name."""
        p = {**m, **dict_of(m.get("type_params"))}
        for more in ("cumulative_type_params", "conversion_type_params"):
            p.update({k: v for k, v in dict_of(p.get(more)).items() if v})
        meta = {**dict_of(dict_of(m.get("config")).get("meta")), **dict_of(m.get("meta"))}
        said = [m.get("description"), *self.computed(p, model)]
        if plain(p.get("fill_nulls_with")):
            said.append(f"Where there is nothing, it is {plain(p['fill_nulls_with'])}.")
        said += [f"Filter: {f}" for f in self.filters(p.get("filter") or p.get("filters"))]
        said.append(labelled("Unit", unit_of(m) or unit_of(meta)))
        name = plain(m.get("name"))
        self.define(name, f"metric {name}", said, names(meta.get("synonyms"), meta.get("aliases")),
                    [m.get("label")])

    def computed(self, p, model):
        own = dict_of(p.get("metric_aggregation_params"))
        agg = own.get("agg") or p.get("agg") or p.get("calculation_method")
        if agg:
            table = own.get("semantic_model") or model.get("name") or reference(p.get("model"))
            one = {"agg_time_dimension": model.get("agg_time_dimension")}
            for said in (p, own):
                one.update({key: v for key, v in said.items() if v})
            return [sentence(aggregate({**one, "agg": agg}, plain(table)))]
        if p.get("numerator"):
            parts = [self.input(p["numerator"]), self.input(p.get("denominator"))]
            return ["It is the first of these, divided by the second:", *(f"- {i}" for i in parts)]
        of = p.get("input_metric") or p.get("metric")
        of = self.input(of) if of else self.input(p.get("measure"), True)
        if p.get("entity"):
            base = self.input(p.get("base_metric") or p.get("base_measure"), "base_measure" in p)
            goal = self.input(p.get("conversion_metric") or p.get("conversion_measure"),
                              "conversion_measure" in p)
            what = "number" if plain(p.get("calculation")) == "conversions" else "share"
            within = f" within {span(p['window'])}" if p.get("window") else ""
            return [f"It is the {what} of the first of these that the second follows{within}, for the "
                    f"same {plain(p['entity'])}:", f"- {base}", f"- {goal}"]
        if plain(p.get("type")) == "cumulative":
            over = "over all time so far"
            if p.get("window"):
                over = f"over the last {span(p['window'])}"
            elif p.get("grain_to_date"):
                over = f"since the beginning of the {plain(p['grain_to_date'])}"
            return [f"Accumulated {over}: {of}."]
        parts = inputs(p.get("metrics") or p.get("input_metrics"))
        if p.get("expr") and parts:
            listed = [f"- {plain(i.get('alias') or i.get('name'))} is {self.input(i)}" for i in parts]
            return [f"It is {plain(p['expr'])}, where", *listed]
        return [sentence(of)]

    def input(self, one, is_measure=False):
        """A measure or metric that a metric is computed from, with its own filter."""
        one = one if isinstance(one, dict) else {"name": one}
        name = plain(one.get("name"))
        said = f"the metric {name}"
        if is_measure:
            self.shown.add(name)
            said = self.measures.get(name, f"the measure {name}")
        for condition in self.filters(one.get("filter")):
            said += f", only where {condition}"
        if plain(one.get("fill_nulls_with")):
            said += f", and {plain(one['fill_nulls_with'])} where there is nothing"
        if one.get("offset_window"):
            said += f", of {span(one['offset_window'])} before"
        if one.get("offset_to_grain"):
            said += f", as of the beginning of the {plain(one['offset_to_grain'])}"
        return said

    def filters(self, said):
        """The conditions of a filter in code, each with what its dimensions are."""
        for condition in filters(said):
            computed = [f"`{name}` is {quoted(self.dimensions[name])}"
                        for name in re.findall(r"\w+", condition) if name in self.dimensions]
            yield quoted(condition) + (f" ({', '.join(computed)})" if computed else "")

    def cubes(self, d):
        for cube in items(d.get("cubes")):
            table = plain(cube.get("name"))
            self.define(f"table {table}", f"cube {table}", [cube.get("description")])
            for kind in ("measure", "dimension", "segment"):
                for one in items(cube.get(kind + "s")):
                    name, sql = f"{table}.{plain(one.get('name'))}", of_cube(one.get("sql"))
                    how = sql and f"It is {quoted(sql)}."
                    if kind == "measure":
                        how = sentence(aggregate({"agg": one.get("type"), "expr": sql or "1"}, table))
                    only = [f"Filter: {quoted(of_cube(f.get('sql')))}"
                            for f in items(one.get("filters"))]
                    self.define(name, f"{kind} {name}", [one.get("description"), how, *only],
                                labels=[one.get("title")])

    # tables

    def sheets(self, data):
        import openpyxl

        try:
            if sum(i.file_size for i in zipfile.ZipFile(io.BytesIO(data)).infolist()) > UNZIPPED:
                raise Problem(f"has more than {UNZIPPED >> 20} MB unpacked")
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        except (zipfile.BadZipFile, KeyError, ValueError) as e:
            raise Problem(f"is no workbook of Excel: {e}")
        before = len(self.found)
        problem = Problem("has no sheet")
        for sheet in book.worksheets:
            sheet.reset_dimensions()
            rows = enumerate(sheet.iter_rows(values_only=True, max_col=COLUMNS, max_row=ROWS + 1), 1)
            try:
                self.glossary(rows, f"sheet {sheet.title}, ", "row")
            except NoHeader as e:
                problem = e
        if len(self.found) == before:
            raise problem

    def glossary(self, rows, place, unit="line"):
        """Definitions of rows below a header. What no column is known for is said as it is."""
        head = None
        for n, row in rows:
            cells = [plain(c) for c in row]
            if n > ROWS:
                raise Problem(f"has more than {ROWS} rows")
            if head is None:
                head = header(cells)
                if head is None and n > 20:
                    break
                continue
            term, text, also, titles = head
            cells += [""] * (len(titles) - len(cells))
            said = [cells[text]]
            for i, title in enumerate(titles):
                if i not in (term, text) and i not in also and cells[i]:
                    is_filter = title.lower().startswith("filter") and "`" not in cells[i]
                    said.append(f"{title or 'Note'}: {quoted(cells[i]) if is_filter else cells[i]}")
            if cells[text] and not cells[term]:
                raise Problem(f"this meaning has no term: {cells[text][:60]}", f"{place}{unit} {n}")
            if any(said):
                self.define(cells[term], f"{place}{unit} {n}", said, names(*(cells[i] for i in also)))
        if head is None:
            raise NoHeader("has no header with a column such as term, name or metric and one such as "
                           "definition, description or meaning")


class NoHeader(Problem):
    pass


class Guard:
    """Turns what goes wrong with a file into a problem that names it."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        pass

    def __exit__(self, kind, e, _):
        if isinstance(e, Problem):
            place = f", {e.place}:" if e.place else ""
            raise Problem(f"{self.name}{place} {e}") from None
        if isinstance(e, Exception):
            raise Problem(f"{self.name} cannot be read: {kind.__name__}: {str(e)[:200]}") from None


TERM = ("term", "business term", "name", "metric", "metric name", "measure", "concept", "kpi", "word",
        "field", "column", "variable")
TEXT = ("definition", "business definition", "meaning", "description", "explanation")
ALSO = ("also", "also known as", "synonym", "synonyms", "alias", "aliases", "abbreviation", "acronym",
        "other names")


def header(cells):
    """Where a header has term and text, its other names, and all titles; None if it is no header."""
    titles = [" ".join(c.lower().replace("_", " ").split()) for c in cells]
    term = next((titles.index(t) for t in TERM if t in titles), None)
    text = next((titles.index(t) for t in TEXT if t in titles), None)
    if term is None or text is None:
        return None
    return term, text, [i for i, t in enumerate(titles) if t in ALSO], cells


def csv_rows(text, end):
    first = text.lstrip("\n").partition("\n")[0]
    delimiter = "\t" if end == "tsv" else max(",;\t|", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            yield line, row[:COLUMNS]
            line = reader.line_num + 1
    except csv.Error as e:
        raise Problem(f"is no table of CSV: {e}", f"line {reader.line_num}")


def text_of(data):
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Problem("is no text in UTF-8")
    if "\0" in text:
        raise Problem("is no text in UTF-8")
    return text


def read_json(text):
    try:
        return json.loads(text)
    except RecursionError:
        raise Problem("is nested too deeply")
    except ValueError as e:
        raise Problem(f"is no JSON: {getattr(e, 'msg', e)}", f"line {getattr(e, 'lineno', 1)}")


def read_yaml(text):
    """Builds values of events: a loader would expand aliases, and nested lists would break it."""
    import yaml

    loader, anchors = getattr(yaml, "CBaseLoader", yaml.BaseLoader), {}

    def line_of(e):
        return f"line {e.start_mark.line + 1}"

    def value(e, level):
        line = line_of(e)
        if level > LEVELS:
            raise Problem(f"is nested in more than {LEVELS} levels", line)
        if isinstance(e, yaml.AliasEvent):
            if e.anchor not in anchors:
                raise Problem(f"*{e.anchor} stands for nothing", line)
            return anchors[e.anchor]
        if isinstance(e, yaml.ScalarEvent):
            made = None if not e.style and e.value in ("", "~", "null") else e.value
        elif isinstance(e, yaml.SequenceStartEvent):
            made = []
            while not isinstance(one := next(events), yaml.SequenceEndEvent):
                made.append(value(one, level + 1))
        else:
            made, lines, merged = {}, {}, []
            while not isinstance(one := next(events), yaml.MappingEndEvent):
                key, line = value(one, level + 1), line_of(one)
                if not isinstance(key, str):
                    raise Problem("a key is no text", line)
                if key in lines and key != "<<":
                    raise Problem(f"{key[:60]} is there already, in {lines[key]}", line)
                lines[key], said = line, value(next(events), level + 1)
                if key == "<<":
                    merged += said if isinstance(said, list) else [said]
                else:
                    made[key] = said
            for other in merged:
                made = {**dict_of(other), **made}
        if e.anchor:
            anchors[e.anchor] = made
        return made

    try:
        events = yaml.parse(text, Loader=loader)
        made = None
        for e in events:
            if isinstance(e, yaml.NodeEvent):
                if made is not None:
                    raise Problem("is more than one document", line_of(e))
                made = value(e, 0)
        return made
    except yaml.MarkedYAMLError as e:
        mark = e.problem_mark or e.context_mark
        raise Problem(f"is no YAML: {e.problem or e.context}", f"line {mark.line + 1}" if mark else "")
    except yaml.YAMLError as e:
        raise Problem(f"is no YAML: {str(e).splitlines()[0]}")


# words

def plain(value):
    """A value as text; of lists and dictionaries only what they hold themselves."""
    if value is None or value is False:
        return ""
    if isinstance(value, list):
        return ", ".join(plain(v) for v in value if not isinstance(v, (list, dict)))
    if isinstance(value, dict):
        return ", ".join(f"{key} ({plain(v)})" if plain(v) else key for key, v in value.items()
                         if not isinstance(v, (list, dict)))
    if value is True:
        return "true"
    return re.sub(r"[^\S\n]+\n", "\n", str(value).replace("\r\n", "\n")).strip()


def labelled(label, value):
    return f"{label}: {plain(value)}" if plain(value) else ""


def quoted(code):
    code = " ".join(plain(code).split())
    return f"`` {code} ``" if "`" in code else f"`{code}`"


def sentence(text):
    return text[:1].upper() + text[1:] + "."


def folded(name):
    return re.sub(r"[\W_]", "", name.lower())


def of_cube(sql):
    return re.sub(r"\$?\{CUBE\}\.", "", plain(sql))


def names(*lists):
    return [name for said in lists for name in re.split(r"[,;\n]", plain(said))]


def dict_of(value):
    return value if isinstance(value, dict) else {}


def items(value):
    """The dictionaries of a list, or of a dictionary by their names."""
    if isinstance(value, dict):
        value = [{"name": name, **v} if isinstance(v, dict) else v for name, v in value.items()]
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def inputs(value):
    return [v if isinstance(v, dict) else {"name": v} for v in value] if isinstance(value, list) else []


def unit_of(said):
    return said.get("unit") or said.get("units") or dict_of(said.get("meta")).get("unit")


def own_name(node):
    """The name of a node of a manifest, in which a source and a version have more parts than a model."""
    return plain(node.get("unique_id")).split(".", 2)[-1] or plain(node.get("name"))


def reference(said):
    found = re.findall(r"""ref\(.*?['"]([^'"]+)['"]\s*[,)]""", plain(said))
    return found[-1] if found else plain(said)


def table_of(model):
    alias = plain(dict_of(model.get("node_relation")).get("alias"))
    return alias or reference(model.get("model")) or plain(model.get("name"))


def span(said):
    if isinstance(said, dict):
        said = f"{plain(said.get('count'))} {plain(said.get('granularity'))}"
    return plain(said)


DIFFERENT = "the number of different values of"
WORDS = {"sum": "the sum of", "average": "the mean of", "avg": "the mean of", "min": "the smallest",
         "max": "the largest", "count": "the number of rows with a value of", "number": "the value of",
         "count_distinct": DIFFERENT, "countdistinct": DIFFERENT, "count_distinct_approx": DIFFERENT,
         "sum_boolean": "the number of rows with true"}


def aggregate(m, table):
    """A measure in words."""
    agg = plain(m.get("agg")).lower()
    expr = plain(m.get("expr") or m.get("expression") or m.get("name"))
    how = WORDS.get(agg, f"the {agg} of")
    if agg == "percentile":
        params = {**m, **dict_of(m.get("agg_params"))}
        how = f"the percentile {plain(params.get('percentile'))} of"
    said = f"{how} {quoted(expr)}"
    if agg in ("sum", "count") and expr in ("1", "*"):
        said = "the number of rows"
    if table:
        said += f" over the table {table}"
    if plain(m.get("agg_time_dimension")):
        said += f", by the time {plain(m['agg_time_dimension'])}"
    last = dict_of(m.get("non_additive_dimension"))
    if last:
        kept = f"{plain(last.get('window_choice')) or 'min'} of {plain(last.get('name'))}"
        said += f", only of the rows with the {kept}"
        if last.get("window_groupings"):
            said += f" for each {plain(last['window_groupings'])}"
    return said


def filters(said):
    """The conditions of a filter, in all forms that dbt has had."""
    if isinstance(said, dict) and "where_filters" in said:
        return filters(said["where_filters"])
    if isinstance(said, list):
        return [f for one in said if not isinstance(one, list) for f in filters(one)]
    if isinstance(said, dict) and "field" in said:
        return [f"{plain(said.get('field'))} {plain(said.get('operator'))} {plain(said.get('value'))}"]
    said = plain(said.get("where_sql_template") if isinstance(said, dict) else said)
    return [CALL.sub(column_of, said)] if said else []


CALL = re.compile(r"""\{\{\s*(\w+)\(\s*['"]([^'"]*)['"]\s*(?:,[\s\w=]*['"](\w*)['"])?[^}]*\}\}""")


def column_of(found):
    """{{ TimeDimension('order__ordered_at', 'month') }} is the month of ordered_at."""
    kind, name, grain = found.groups()
    parts = name.split("__")
    name = parts[-1] if len(parts) < 3 else ".".join(parts[1:])
    return f"{grain} of {name}" if kind == "TimeDimension" and grain and grain != "day" else name
