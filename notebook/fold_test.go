package notebook_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// A message is an iopub message.
type message struct{ kind, content string }

func (m message) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{m.kind, json.RawMessage(m.content)})
}

// made is a message with this content.
func made(kind string, content map[string]any) message {
	return message{kind, string(pyenvtest.Must(json.Marshal(content)))}
}

func printed(name, text string) message {
	return made("stream", map[string]any{"name": name, "text": text})
}

func stdout(text string) message { return printed("stdout", text) }

func stderr(text string) message { return printed("stderr", text) }

// display is a message of the given kind that shows text; id is its
// display_id, if it has one.
func display(kind, text, id string) message {
	content := map[string]any{
		"data": map[string]any{"text/plain": text}, "metadata": map[string]any{"of": text}, "transient": map[string]any{},
	}
	if kind == "execute_result" {
		content["execution_count"] = 3
	}
	if id != "" {
		content["transient"] = map[string]any{"display_id": id}
	}
	return made(kind, content)
}

var (
	clearNow  = message{"clear_output", `{"wait": false}`}
	clearNext = message{"clear_output", `{"wait": true}`}
)

func streamed(name, text string) notebook.Output {
	return notebook.Output{Type: notebook.Stream, Name: name, Text: text}
}

func shown(text string) notebook.Output {
	return notebook.Output{
		Type: notebook.DisplayData, Data: notebook.MIMEBundle{"text/plain": text}, Metadata: map[string]any{"of": text},
	}
}

func failed(name, value string, traceback ...string) notebook.Output {
	return notebook.Output{Type: notebook.ErrorOutput, EName: name, EValue: value, Traceback: traceback}
}

func result(text string) notebook.Output {
	o := shown(text)
	o.Type, o.ExecutionCount = notebook.ExecuteResult, 3
	return o
}

var foldTests = []struct {
	name     string
	messages []message
	want     []notebook.Output
	differs  string // what nbclient does instead; "" where it does the same
}{
	{"neighbouring pieces of a stream", []message{stdout("a"), stdout("b\n"), stdout("c")},
		[]notebook.Output{streamed("stdout", "ab\nc")}, ""},
	{"streams in turn", []message{stdout("a"), stderr("b"), stdout("c")},
		[]notebook.Output{streamed("stdout", "a"), streamed("stderr", "b"), streamed("stdout", "c")}, ""},
	{"error", []message{stdout("a"), {"error", `{"ename": "E", "evalue": "v", "traceback": ["l1", "l2"]}`}},
		[]notebook.Output{streamed("stdout", "a"), failed("E", "v", "l1", "l2")}, ""},

	{"clear", []message{stdout("a"), clearNow, stdout("b")}, []notebook.Output{streamed("stdout", "b")}, ""},
	{"clear without a word on waiting", []message{stdout("a"), {"clear_output", `{}`}}, nil, ""},

	{"numbers keep their digits", []message{{"display_data", `{"metadata": {}, "data": {"application/json": {"id": 12345678901234567890, "x": 1.0}}}`}},
		[]notebook.Output{{Type: notebook.DisplayData, Data: notebook.MIMEBundle{
			"application/json": map[string]any{"id": json.Number("12345678901234567890"), "x": json.Number("1.0")},
		}}}, ""},
	{"comms", []message{{"comm_open", `{"comm_id": "1", "target_name": "t", "data": {}}`}, {"comm_msg", `{"comm_id": "1", "data": {}}`}}, nil, ""},
	{"unknown types", []message{{"iopub_welcome", `{"subscription": ""}`}, {"debug_event", `{}`}, {"from_the_future", `[]`}}, nil,
		"it fails at content that is no object"},
	{"nulls", []message{
		{"display_data", `{"data": null, "metadata": null}`},
		{"execute_result", `{"data": {"text/plain": "x"}, "metadata": null, "execution_count": null, "transient": null}`},
		{"error", `{"ename": "E", "evalue": "v", "traceback": null}`},
	}, []notebook.Output{{Type: notebook.DisplayData},
		{Type: notebook.ExecuteResult, Data: notebook.MIMEBundle{"text/plain": "x"}},
		failed("E", "v")}, "it fails at what its schema does not allow"},
	{"text in lines", []message{{"display_data", `{"metadata": {}, "data": {"text/plain": ["a\n", "b"]}}`}},
		[]notebook.Output{{Type: notebook.DisplayData, Data: notebook.MIMEBundle{"text/plain": "a\nb"}}}, "it keeps the list until it is written"},

	{"progress bar", []message{stderr("\r 0%"), stderr("\r50%"), stderr("\r99%\n"), stderr("done\r")},
		[]notebook.Output{streamed("stderr", "99%\ndone\r")}, ""},
	{"a carriage return before a line break", []message{stdout("a\r\nb\r"), stdout("\nc")}, []notebook.Output{streamed("stdout", "a\r\nb\r\nc")}, ""},
	{"many carriage returns", []message{stdout("a\r\rb\r\r\n"), stdout("\r\rc\r"), stdout("\r\n\r")},
		[]notebook.Output{streamed("stdout", "b\r\nc\r\n\r")}, "it replaces the line, whose end a terminal still shows"},
	{"shorter text after a carriage return", []message{stdout("longer text\rsh"), stdout("ort")},
		[]notebook.Output{streamed("stdout", "shortr text")}, "see above"},
	{"a bar that erases what was longer", []message{stderr("100%\r    \rdone\n"), stderr("50%|#| 1/2\r\x1b[K100%\n")},
		[]notebook.Output{streamed("stderr", "done\n\x1b[K100%\n")}, ""},
	{"backspaces", []message{stdout("12%\b\b\b34%"), stdout("\b\b\b56%\n\b\bé\bend")}, []notebook.Output{streamed("stdout", "56%\nend")},
		"it means to, but its loop never starts (0.11.0)"},
	{"backspaces after a carriage return", []message{stdout("abc\r"), stdout("\b\bd\b\b\be\r\b\n")}, []notebook.Output{streamed("stdout", "ebc\r\n")},
		"see above"},
}

// sessions are cells that run one after the other in one session.
var sessions = []struct {
	name  string
	cells [][]message
	want  [][]notebook.Output
}{
	{"update from a later cell", [][]message{
		{display("display_data", "x", "1"), display("execute_result", "x", "1"), display("display_data", "other", "2")},
		{display("update_display_data", "y", "1"), stdout("a"), display("update_display_data", "z", "1")},
	}, [][]notebook.Output{{shown("z"), result("z"), shown("other")}, {streamed("stdout", "a")}}},
	{"update after clear", [][]message{
		{display("display_data", "x", "1")}, {display("display_data", "y", "1"), clearNext, stdout("a"), display("update_display_data", "z", "1")},
	}, [][]notebook.Output{{shown("z")}, {streamed("stdout", "a")}}},
}

// sameOutputs compares outputs as they are in files.
var sameOutputs = cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreFields(notebook.Output{}, "DisplayID")}

func add(t testing.TB, f *notebook.Fold, messages ...message) {
	t.Helper()
	for _, m := range messages {
		if err := f.Add(m.kind, json.RawMessage(m.content)); err != nil {
			t.Fatalf("%s %.200s: %v", m.kind, m.content, err)
		}
	}
}

func fold(t testing.TB, messages []message) []notebook.Output {
	t.Helper()
	return session(t, [][]message{messages})[0]
}

// session folds the messages of one cell after the other.
func session(t testing.TB, cells [][]message) [][]notebook.Output {
	t.Helper()
	var outputs [][]notebook.Output
	for _, messages := range cells {
		var f notebook.Fold
		add(t, &f, messages...)
		for _, update := range f.Updates() {
			for _, earlier := range outputs {
				notebook.Redisplay(earlier, update)
			}
		}
		outputs = append(outputs, f.Outputs())
	}
	return outputs
}

func TestFold(t *testing.T) {
	for _, test := range foldTests {
		same(t, test.name, test.want, fold(t, test.messages), sameOutputs)
	}
	for _, test := range sessions {
		same(t, test.name, test.want, session(t, test.cells), sameOutputs)
	}
}

// TestFoldIsNbclients folds the tables above, and random sequences, with nbclient.
func TestFoldIsNbclients(t *testing.T) {
	alike := map[string][][]message{}
	for _, test := range foldTests {
		if test.differs == "" {
			alike[test.name] = [][]message{append([]message{}, test.messages...)}
		}
	}
	for _, test := range sessions {
		alike[test.name] = test.cells
	}
	for seed := range 300 {
		alike[fmt.Sprintf("random %d", seed)] = anySession.Example(seed)
	}
	theirs := map[string][][]notebook.Output{}
	python(t, "testdata/fold.py", alike, &theirs)
	for name, cells := range alike {
		same(t, name, theirs[name], session(t, cells), sameOutputs)
	}
}

// anySession generates what nbclient and Fold are to take alike: a few streams,
// ids and clears that get in each other's way, and no carriage returns or backspaces.
var anySession = rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) message {
	text := rapid.StringMatching(`[ab\n]{0,5}`).Draw(t, "text")
	id := rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "id")
	return rapid.SampledFrom([]message{
		stdout(text), stdout(text), stderr(text), clearNow, clearNext,
		display("display_data", text, id), display("execute_result", text, id), display("update_display_data", text, id),
		{"error", `{"ename": "E", "evalue": "v", "traceback": ["t"]}`},
	}).Draw(t, "message")
}), 0, 8), 1, 3)

func TestFoldRefuses(t *testing.T) {
	for _, m := range []message{
		{"stream", ``}, {"stream", `null`}, {"stream", `[]`}, {"stream", `{} {}`},
		{"display_data", `{"data": "x"}`},
		{"update_display_data", `{"data": [], "transient": {"display_id": "1"}}`},
		{"execute_result", `{"data": {}, "execution_count": "1"}`},
		{"error", `{"ename": 1}`},
		{"clear_output", `{"wait": "yes"}`},
	} {
		var f notebook.Fold
		add(t, &f, stdout("a"), display("display_data", "x", "1"))
		err := f.Add(m.kind, json.RawMessage(m.content))
		if err == nil || !strings.HasPrefix(err.Error(), m.kind+" message: ") {
			t.Errorf("%s %s: error is %v", m.kind, m.content, err)
		}
		same(t, m, []notebook.Output{streamed("stdout", "a"), shown("x")}, f.Outputs(), sameOutputs)
	}
}

func TestSecrets(t *testing.T) {
	f := notebook.Fold{Secrets: []string{`pass"word`, ""}}
	add(t, &f, stdout("it is pass\"word\n"))
	same(t, "secret", []notebook.Output{streamed("stdout", "it is xxxxx\n")}, f.Outputs())
}

func TestStripANSI(t *testing.T) {
	for text, want := range map[string]string{"": "",
		"plain [31m text": "plain [31m text", "\x1b[0;31mred\x1b[0m": "red",
		"\x1b[38;5;28;01mif\x1b[39;00m": "if", "\x1b[38:2:1:2:3mred\x1b[m": "red",
		"a\x1b[2K\x1b[1Ab\x1b[?25l": "ab", "[é]\x1b[1m[é]": "[é][é]",
		"cut off \x1b[": "cut off \x1b["} {
		same(t, text, want, notebook.StripANSI(text))
	}
}

func TestOutputPlainText(t *testing.T) {
	for _, test := range []struct {
		name   string
		output notebook.Output
		want   string
	}{{"stream", streamed("stderr", "\x1b[31ma\x1b[0m\n"), "a\n"},
		{"display", shown("a\nb"), "a\nb"}, {"result with colours", result("\x1b[1m42"), "42"},
		{"picture alone", data("image/png", "iVBORw0KGgo="), ""},
		{"text/plain that is no text", data("text/plain", []any{"a"}), ""},
		{"error", failed("E", "v", "\x1b[31m---", "E: v"), "---\nE: v"},
		{"error without traceback", failed("E", "v"), "E: v"}} {
		same(t, test.name, test.want, test.output.PlainText())
	}
}

func TestExecution(t *testing.T) {
	e := notebook.Execution{Status: notebook.TimedOut, Reason: "it ran for 60 s", Outputs: []notebook.Output{
		streamed("stdout", "a"), failed("E", ""), failed("L", ""), streamed("stderr", "b\n"), streamed("stdout", ""),
		data("image/png", "x"), streamed("stdout", "c"), shown("y")}}
	same(t, "text", "a\nE: \nL: \nb\nc\ny\nit ran for 60 s\n", e.PlainText())
	same(t, "stdout", "ac", e.Stdout())
	if got, ok := e.Error(); got.EName != "L" || !ok {
		t.Errorf("Error is %q, %v", got.EName, ok)
	}
	if _, ok := (notebook.Execution{}).Error(); ok || (notebook.Execution{}).PlainText() != "" {
		t.Error("of nothing there is something")
	}
}

func TestSteady(t *testing.T) {
	const address, steady = "<f at 0x7f9d3c0b5e10>", "<f at 0x…>"
	of := func(text string) []notebook.Output {
		return []notebook.Output{streamed("stdout", text), {Type: notebook.ExecuteResult, Data: notebook.MIMEBundle{
			"text/plain": "[" + text + ", <bound method A.b of " + text + ">]", "image/png": "at 0x7f9d3c0b5e10"}},
			failed("E", "no "+text, "a", text)}
	}
	given := of(address)
	same(t, "rewritten", of(steady), notebook.Rewritten(given, notebook.Steady))
	same(t, "given", of(address), given)
	const text = "text at 0x08048000, at 0xff <b>at 0x08048000</b> <at> 0x7f9d3c0b5e10"
	same(t, "steady", text, notebook.Steady(text))
}
