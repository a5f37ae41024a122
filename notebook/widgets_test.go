package notebook

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// said is a message to Widgets.
type said struct{ request, msgType, content string }

func opened(id, model string) said {
	return said{"r", "comm_open", `{"comm_id": "` + id + `", "target_name": "jupyter.widget", "data": {"state": {"_model_module": "@jupyter-widgets/` +
		model + `", "_model_name": "OutputModel", "_model_module_version": "1", "msg_id": "", "outputs": []}}}`}
}

func captures(id, request string) said {
	return said{"r", "comm_msg", `{"comm_id": "` + id + `", "data": {"method": "update", "state": {"msg_id": "` + request + `"}}}`}
}

func printed(request, text string) said {
	return said{request, "stream", `{"name": "stdout", "text": "` + text + `"}`}
}

// outputsOf returns the outputs of an Output widget from its state, as JSON.
func outputsOf(t *testing.T, w *Widgets, id string) string {
	t.Helper()
	w.changed = true
	state, _ := w.State()
	data, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]struct {
		State map[string]struct {
			State map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return string(file["application/vnd.jupyter.widget-state+json"].State[id].State["outputs"])
}

const streamJSON = `{"name":"stdout","output_type":"stream","text":"`

func TestWidgetsCapture(t *testing.T) {
	clear := func(wait string) said { return said{"r", "clear_output", `{"wait": ` + wait + `}`} }
	for name, c := range map[string]struct {
		messages []said
		want     string // outputs of a
		taken    int    // messages besides those of comms
	}{
		"text":                  {[]said{captures("a", "r"), printed("r", "1"), printed("r", "2"), captures("a", ""), printed("r", "3")}, `[` + streamJSON + `12"}]`, 2},
		"another request":       {[]said{captures("a", "r"), printed("s", "1")}, `[]`, 0},
		"clear":                 {[]said{captures("a", "r"), printed("r", "1"), clear("false")}, `[]`, 2},
		"clear that waits":      {[]said{captures("a", "r"), printed("r", "1"), clear("true")}, `[` + streamJSON + `1"}]`, 2},
		"clear and more":        {[]said{captures("a", "r"), printed("r", "1"), clear("true"), printed("r", "2")}, `[` + streamJSON + `2"}]`, 3},
		"within another":        {[]said{captures("b", "r"), captures("a", "r"), printed("r", "1"), captures("a", ""), printed("r", "2")}, `[` + streamJSON + `1"}]`, 2},
		"around another":        {[]said{captures("a", "r"), captures("b", "r"), printed("r", "1"), captures("b", ""), printed("r", "2")}, `[` + streamJSON + `2"}]`, 2},
		"outputs of the kernel": {[]said{{"r", "comm_msg", `{"comm_id": "a", "data": {"state": {"outputs": [1]}}}`}, captures("a", "r"), printed("r", "2")}, `[1,` + streamJSON + `2"}]`, 1},
		"those cleared":         {[]said{{"r", "comm_msg", `{"comm_id": "a", "data": {"state": {"outputs": [1]}}}`}, captures("a", "r"), clear("true"), printed("r", "2")}, `[` + streamJSON + `2"}]`, 2},
		"no output widget":      {[]said{captures("other", "r"), printed("r", "1")}, `[]`, 0},
		"unreadable":            {[]said{captures("a", "r"), {"r", "comm_msg", "nonsense"}, {"r", "stream", "[]"}, {"r", "comm_msg", `{"comm_id": "a", "data": 7}`}}, `[]`, 1},
		"display": {[]said{captures("a", "r"), {"r", "display_data", `{"data": {"text/html": "a\nb"}, "metadata": {"x": 1}}`}, {"r", "status", `{}`}},
			`[{"data":{"text/html":"a\nb"},"metadata":{"x":1},"output_type":"display_data"}]`, 1},
	} {
		var w Widgets
		taken := 0
		for _, m := range append([]said{opened("a", "output"), opened("b", "output"), opened("other", "base")}, c.messages...) {
			if w.Add(m.request, m.msgType, json.RawMessage(m.content), nil) && m.msgType[:4] != "comm" {
				taken++
			}
		}
		if got := outputsOf(t, &w, "a"); got != c.want || taken != c.taken {
			t.Errorf("%s: %d taken, %s; want %d, %s", name, taken, got, c.taken, c.want)
		}
	}
}

func TestWidgetsState(t *testing.T) {
	var w Widgets
	if state, changed := w.State(); changed || w.Unsettled() != nil {
		t.Errorf("without widgets: %v", state)
	}
	w.Add("r", "comm_open", json.RawMessage(`{"comm_id": "i", "target_name": "jupyter.widget", "data": {"state": {"_model_name": "ImageModel", "n": 1.50}, "buffer_paths": [["value"], ["x", 0]]}}`), [][]byte{{1}, {2}})
	w.Add("r", "comm_msg", json.RawMessage(`{"comm_id": "i", "data": {"state": {"n": 2}, "buffer_paths": [["value"], [["odd"]], ["more"]]}}`), [][]byte{{255}, {3}})
	w.Add("r", "comm_open", json.RawMessage(`{"comm_id": "other", "target_name": "x", "data": {"state": {"a": 1}}}`), nil)
	state, changed := w.State()
	got, err := json.Marshal(state)
	want := `{"application/vnd.jupyter.widget-state+json":{"state":{"i":{"buffers":[{"data":"/w==","encoding":"base64","path":["value"]},` +
		`{"data":"Ag==","encoding":"base64","path":["x",0]},{"data":"Aw==","encoding":"base64","path":[["odd"]]}],` +
		`"model_module":null,"model_module_version":null,"model_name":"ImageModel","state":{"_model_name":"ImageModel","n":2}}},"version_major":2,"version_minor":0}}`
	if err != nil || !changed || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if _, changed := w.State(); changed {
		t.Error("changed by nothing")
	}

	for _, m := range []said{opened("a", "output"), captures("a", "r"), printed("r", "1")} {
		w.Add(m.request, m.msgType, json.RawMessage(m.content), nil)
	}
	told := w.Unsettled()
	if len(told) != 1 || string(told[0]) != `{"comm_id":"a","data":{"buffer_paths":[],"method":"update","state":{"outputs":[`+streamJSON+`1"}]}}}` {
		t.Errorf("%s", told)
	}
	if w.Unsettled() != nil {
		t.Error("told twice")
	}
}

// TestWidgetsAreBounded: replaced states need no additional room. Added states do, up to a limit,
// which is reported.
func TestWidgetsAreBounded(t *testing.T) {
	var w Widgets
	open := func(id, kind string, size int) {
		text := strings.Repeat("x", size)
		w.Add("r", kind, json.RawMessage(fmt.Sprintf(`{"comm_id": %q, "target_name": "jupyter.widget", "data": {"state": {"_model_name": "M", "value": %q}, "buffer_paths": [["b"]]}}`, id, text)),
			[][]byte{[]byte(text)})
	}
	w.limit = 1 << 20
	open("a", "comm_open", 1<<14)
	for range 100 {
		open("a", "comm_msg", 1<<14)
	}
	if why := w.Incomplete(); why != "" {
		t.Errorf("of one widget that changes: %s", why)
	}
	for i := range 100 {
		open(fmt.Sprint(i), "comm_open", 1<<14)
	}
	state, _ := w.State()
	data, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > 9<<17 || len(data) < 3<<18 || w.Incomplete() == "" {
		t.Errorf("%d bytes of states, %q", len(data), w.Incomplete())
	}
}
