package kerneltest

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// info is the content of kernel_info_reply.
var info = map[string]any{
	"status": "ok", "protocol_version": "5.4", "implementation": "fake",
	"implementation_version": "1.0",
	"language_info": map[string]any{"name": "fake", "version": "1.0", "mimetype": "text/plain",
		"file_extension": ".txt"},
	"banner": "A fake kernel", "help_links": []any{}, "supported_features": []string{},
}

// words can be completed and inspected.
var words = map[string]string{
	"print": `print("text") prints text`, "raise": "raise raises E", "sleep": "sleep [seconds] waits",
	"display": "display MIME displays", "result": "result TEXT is the result",
}

// wordAt returns the word before a request's cursor, and the cursor position, in Unicode code
// points.
func wordAt(r request) (word string, cursor int) {
	var content struct {
		Code   string
		Cursor *int `json:"cursor_pos"`
	}
	_ = json.Unmarshal(r.Content, &content) // invalid content has no word
	code := []rune(content.Code)
	cursor = len(code)
	if content.Cursor != nil && *content.Cursor >= 0 && *content.Cursor < cursor {
		cursor = *content.Cursor
	}
	start := cursor
	for start > 0 && unicode.IsLetter(code[start-1]) {
		start--
	}
	return string(code[start:cursor]), cursor
}

func complete(r request) map[string]any {
	word, cursor := wordAt(r)
	matches := []string{}
	for _, known := range slices.Sorted(maps.Keys(words)) {
		if strings.HasPrefix(known, word) {
			matches = append(matches, known)
		}
	}
	return map[string]any{
		"status": "ok", "matches": matches, "metadata": map[string]any{},
		"cursor_start": cursor - len([]rune(word)), "cursor_end": cursor,
	}
}

func inspect(r request) map[string]any {
	word, _ := wordAt(r)
	data := map[string]any{}
	text, found := words[word]
	if found {
		data["text/plain"] = text
	}
	return map[string]any{"status": "ok", "found": found, "data": data, "metadata": map[string]any{}}
}

// isComplete treats an unterminated string as incomplete, and ")" as invalid code.
func isComplete(r request) map[string]any {
	var content struct{ Code string }
	_ = json.Unmarshal(r.Content, &content) // invalid content has no code
	status := "complete"
	for line := range strings.Lines(content.Code) {
		if strings.HasPrefix(line, ")") {
			return map[string]any{"status": "invalid"}
		}
		if strings.Contains(line, `print("`) && !strings.HasSuffix(strings.TrimSuffix(line, "\n"), `")`) {
			status = "incomplete"
		}
	}
	if status == "incomplete" {
		return map[string]any{"status": status, "indent": ""}
	}
	return map[string]any{"status": status}
}

// A past is an executed cell.
type past struct {
	count       int
	code, value string
}

// recall returns the content of a history_reply. There is one session, number 1.
func (k *fakeKernel) recall(r request) map[string]any {
	var q struct {
		Output  bool
		Access  string `json:"hist_access_type"`
		Session int
		Start   int
		Stop    *int
		N       int
		Pattern *string
		Unique  bool
	}
	_ = json.Unmarshal(r.Content, &q) // an invalid request finds nothing
	pattern := regexp.MustCompile("(?s)^.*$")
	if q.Pattern != nil {
		glob := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(*q.Pattern))
		pattern = regexp.MustCompile("(?s)^" + glob + "$")
	}
	found := []past{}
	for _, p := range k.history {
		switch q.Access {
		case "range":
			if (q.Session == 0 || q.Session == 1) && p.count >= q.Start &&
				(q.Stop == nil || p.count < *q.Stop) {
				found = append(found, p)
			}
		case "search":
			if q.Unique {
				found = slices.DeleteFunc(found, func(other past) bool { return other.code == p.code })
			}
			if pattern.MatchString(p.code) {
				found = append(found, p)
			}
		case "tail":
			found = append(found, p)
		}
	}
	if q.Access != "range" && q.N > 0 && len(found) > q.N {
		found = found[len(found)-q.N:]
	}
	history := []any{}
	for _, p := range found {
		var what any = p.code
		if q.Output {
			what = []any{p.code, p.value}
		}
		history = append(history, []any{1, p.count, what})
	}
	return map[string]any{"status": "ok", "history": history}
}
