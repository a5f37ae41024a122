package notebook

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"

	"dsstar/notebook/human"
)

// Widgets tracks the widgets of a kernel (ipywidgets) through their comm messages, as a front end
// does, so that the notebook can keep their state and a reader sees them without a kernel. Outputs
// captured by an Output widget belong to the widget and not to the cell. The result is the same as
// nbclient's.
//
// The zero value is ready to use. Widgets is not safe for concurrent use.
type Widgets struct {
	models   map[string]*model   // by comm id
	captures map[string][]*model // by the request whose output they capture; the last has priority
	changed  bool                // since the last call of State
	bytes    int                 // size of all states and captured outputs
	lost     bool                // some of them did not fit
	limit    int                 // maximum of bytes; 0: maxWidgets
}

// maxWidgets is the maximum size of the states of all widgets of a kernel together, in bytes.
const maxWidgets = 64 << 20

func (w *Widgets) most() int { return cmp.Or(w.limit, maxWidgets) }

// Incomplete says in one line which states are missing; "" if none are.
func (w *Widgets) Incomplete() string {
	if !w.lost {
		return ""
	}
	return "widgets' states of more than " + human.Bytes(int64(w.most())) + " are left out"
}

// room reserves n more bytes and reports whether they fit.
func (w *Widgets) room(n int) bool {
	if n > 0 && w.bytes+n > w.most() {
		w.lost = true
		return false
	}
	w.bytes += n
	return true
}

// A model is the kernel's side of a widget.
type model struct {
	id      string
	state   map[string]json.RawMessage
	buffers []widgetBuffer

	output    bool            // it is an Output widget
	request   string          // the request whose output it captures; "": none
	set       json.RawMessage // outputs that the kernel set itself
	clear     bool            // the next output clears the earlier ones
	captured  Fold            // outputs captured since
	unsettled bool            // the kernel does not yet know the captured outputs
}

// A widgetBuffer is binary data of a state, as notebooks store it.
type widgetBuffer struct {
	Data     string          `json:"data"`
	Encoding string          `json:"encoding"`
	Path     json.RawMessage `json:"path"`
}

// Add adds one iopub message of the request with the given id. It reports whether a widget captured
// the message. A captured message is not an output of the cell.
func (w *Widgets) Add(request, msgType string, content json.RawMessage, buffers [][]byte) bool {
	switch msgType {
	case "comm_open", "comm_msg":
		w.comm(msgType == "comm_open", content, buffers)
		return true
	case "stream", "display_data", "execute_result", "error", "clear_output":
	default:
		return false
	}
	capturing := w.captures[request]
	if len(capturing) == 0 {
		return false
	}
	w.changed = true
	if m := capturing[len(capturing)-1]; msgType == "clear_output" ||
		w.bytes+len(content) <= w.most() {
		before := m.captured.used
		m.capture(msgType, content)
		w.bytes += m.captured.used - before
	} else {
		w.lost = true
	}
	return true
}

// comm handles a message that opens a comm or updates its state. It ignores unreadable and custom
// messages.
func (w *Widgets) comm(opens bool, content json.RawMessage, buffers [][]byte) {
	var c struct {
		ID     string `json:"comm_id"`
		Target string `json:"target_name"`
		Data   struct {
			State       map[string]json.RawMessage `json:"state"`
			BufferPaths []json.RawMessage          `json:"buffer_paths"`
		} `json:"data"`
	}
	if unmarshal(content, &c) != nil || c.Data.State == nil {
		return
	}
	m := w.models[c.ID]
	if !w.room(m.growth(c.ID, c.Data.State, c.Data.BufferPaths, buffers)) {
		return
	}
	if m == nil {
		m = &model{id: c.ID, state: map[string]json.RawMessage{}}
		if w.models == nil {
			w.models, w.captures = map[string]*model{}, map[string][]*model{}
		}
		w.models[c.ID] = m
	}
	w.changed = true
	maps.Copy(m.state, c.Data.State)
	for i, path := range c.Data.BufferPaths[:min(len(buffers), len(c.Data.BufferPaths))] {
		m.buffer(path, buffers[i])
	}
	if opens && c.Target == "jupyter.widget" {
		m.output = m.text("_model_module") == "@jupyter-widgets/output" &&
			m.text("_model_name") == "OutputModel"
	}
	if _, ok := c.Data.State["outputs"]; ok && m.output {
		w.bytes -= m.captured.used
		m.set, m.clear, m.captured, m.unsettled = m.state["outputs"], false, Fold{}, false
	}
	if _, ok := c.Data.State["msg_id"]; ok && m.output {
		w.follow(m, m.text("msg_id"))
	}
}

// growth returns how many bytes a new state adds to m, which is nil for a new widget.
func (m *model) growth(id string, state map[string]json.RawMessage, paths []json.RawMessage,
	buffers [][]byte) int {
	n := 0
	if m == nil {
		m = &model{}
		n = len(id) + 1<<10
	}
	for key, value := range state {
		if old, had := m.state[key]; had {
			n -= len(old)
		} else {
			n += len(key)
		}
		n += len(value)
	}
	for i, path := range paths[:min(len(buffers), len(paths))] {
		n += base64.StdEncoding.EncodedLen(len(buffers[i]))
		for _, old := range m.buffers {
			if bytes.Equal(old.Path, path) {
				n -= len(old.Data)
			}
		}
	}
	return n
}

// follow makes m capture the outputs of a request from now on; "": of none. Output widgets may be
// nested.
func (w *Widgets) follow(m *model, request string) {
	if old := w.captures[m.request]; m.request != "" {
		if i := slices.Index(old, m); i >= 0 {
			w.captures[m.request] = slices.Delete(old, i, i+1)
		}
		if len(w.captures[m.request]) == 0 {
			delete(w.captures, m.request)
		}
	}
	if m.request = request; request != "" {
		w.captures[request] = append(w.captures[request], m)
	}
}

// text returns the string with that name in the state, or "".
func (m *model) text(name string) string {
	var s string
	_ = json.Unmarshal(m.state[name], &s) // anything but a string counts as missing
	return s
}

func (m *model) buffer(path json.RawMessage, data []byte) {
	b := widgetBuffer{base64.StdEncoding.EncodeToString(data), "base64", path}
	same := func(old widgetBuffer) bool { return bytes.Equal(old.Path, path) }
	if i := slices.IndexFunc(m.buffers, same); i >= 0 {
		m.buffers[i] = b
		return
	}
	m.buffers = append(m.buffers, b)
}

func (m *model) capture(msgType string, content json.RawMessage) {
	if m.captured.Add(msgType, content) != nil {
		return // the message is not an output
	}
	m.unsettled = true
	switch {
	case msgType != "clear_output":
		if m.clear {
			m.set, m.clear = nil, false
		}
	case m.captured.clear:
		m.clear = true
	default:
		m.set, m.clear = nil, false
	}
}

// outputs returns the outputs of an Output widget, as its state stores them.
func (m *model) outputs() []any {
	all := []any{}
	_ = unmarshal(m.set, &all) // unreadable outputs are not shown
	for _, o := range m.captured.Outputs() {
		all = append(all, o.message())
	}
	return all
}

// message returns the output as messages contain it, with text not split into lines.
func (o Output) message() map[string]any {
	j := o.json()
	switch o.Type {
	case Stream:
		j["text"] = o.Text
	case DisplayData, ExecuteResult:
		j["data"] = map[string]any(o.Data)
	}
	return j
}

// Unsettled returns the comm_msg contents that tell the kernel about outputs captured by its Output
// widgets since the last call.
func (w *Widgets) Unsettled() []json.RawMessage {
	var all []json.RawMessage
	for _, id := range slices.Sorted(maps.Keys(w.models)) {
		m := w.models[id]
		if !m.unsettled {
			continue
		}
		m.unsettled = false
		content, err := json.Marshal(map[string]any{"comm_id": id, "data": map[string]any{
			"method": "update", "state": map[string]any{"outputs": m.outputs()}, "buffer_paths": []any{}}})
		if err == nil { // else it is not what messages are made of
			all = append(all, content)
		}
	}
	return all
}

// State returns the notebook's metadata.widgets, or nil and false if it has not changed since the
// last call.
func (w *Widgets) State() (state map[string]any, changed bool) {
	if !w.changed {
		return nil, false
	}
	w.changed = false
	states := map[string]any{}
	for id, m := range w.models {
		if _, ok := m.state["_model_name"]; !ok {
			continue // a comm of another kind
		}
		state := make(map[string]any, len(m.state))
		for key, value := range m.state {
			state[key] = value
		}
		if m.output {
			state["outputs"] = m.outputs()
		}
		s := map[string]any{"state": state}
		for _, key := range []string{"model_name", "model_module", "model_module_version"} {
			s[key] = m.state["_"+key]
		}
		if len(m.buffers) > 0 {
			s["buffers"] = slices.Clone(m.buffers)
		}
		states[id] = s
	}
	return map[string]any{"application/vnd.jupyter.widget-state+json": map[string]any{
		"state": states, "version_major": 2, "version_minor": 0}}, true
}
