package files

import (
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A node is the structure of a JSON value, down to a maximum depth.
type node struct {
	kind   byte // '{', '[' or 0 for a scalar
	keys   []string
	values []node // the first values of keys, or the first elements of an array
	closed bool   // its end was seen
}

const (
	jsonDepth  = 3   // levels that are kept
	jsonValues = 200 // keys or elements of one value that are kept
)

// json looks at text that may be JSON or JSON lines.
func (s source) json(text, ext string) (Look, bool) {
	if !s.whole() {
		if b, err := readStart(s.r, s.size, mostBytes); err == nil {
			if more, _, ok := decode(b, int64(len(b)) >= s.size); ok {
				text = more
			}
		}
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var values []node
	var err error
	for err == nil && len(values) < jsonValues {
		var v node
		if v, err = readNode(dec, jsonDepth); err == nil || v.kind != 0 {
			values = append(values, v)
		}
	}
	if len(values) == 0 || err != nil && !errors.Is(err, io.EOF) && !told(values) && ext != ".json" {
		return Look{}, false
	}
	var look Look
	if len(values) > 1 && values[0].kind != 0 || ext == ".jsonl" || ext == ".ndjson" {
		keys := fields(values)
		look = Look{Kind: "JSON lines" + naming(keys), Format: "jsonl",
			Shape: shape(append([]string{"jsonl"}, keys...)...)}
	} else {
		look = values[0].look()
	}
	if broken := (*json.SyntaxError)(nil); errors.As(err, &broken) {
		look.Kind += ", not valid JSON after byte " + strconv.FormatInt(dec.InputOffset(), 10)
	} else if s.size <= mostBytes && !values[len(values)-1].closed {
		look.Kind += ", cut off"
	}
	return look, true
}

// told reports whether a key has been read. Only JSON has keys.
func told(values []node) bool {
	return slices.ContainsFunc(values, func(v node) bool { return len(v.keys) > 0 || told(v.values) })
}

// readNode reads a value. If it fails, it also returns what was read so far.
func readNode(dec *json.Decoder, depth int) (node, error) {
	token, err := dec.Token()
	if err != nil {
		return node{}, err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return node{closed: true}, nil
	}
	v := node{kind: byte(open)}
	if depth == 0 {
		err := skip(dec)
		v.closed = err == nil
		return v, err
	}
	for dec.More() {
		if len(v.values) == jsonValues && depth < jsonDepth {
			err := skip(dec)
			v.closed = err == nil
			return v, err
		}
		key := ""
		if v.kind == '{' {
			if token, err = dec.Token(); err != nil {
				return v, err
			}
			key, _ = token.(string)
		}
		child, err := readNode(dec, depth-1)
		if err == nil || child.kind != 0 || v.kind == '{' { // a truncated value: the key is known
			if v.values = append(v.values, child); v.kind == '{' {
				v.keys = append(v.keys, key)
			}
		}
		if err != nil {
			return v, err
		}
	}
	_, err = dec.Token()
	v.closed = err == nil
	return v, err
}

// skip reads to the end of the current value.
func skip(dec *json.Decoder) error {
	for depth := 1; depth > 0; {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}

func (v node) look() Look {
	switch {
	case v.kind == '[':
		kind, of := "JSON array", ""
		if v.closed {
			kind += " of " + count(len(v.values), "element")
		}
		keys := fields(v.values)
		if len(keys) == 0 && len(v.values) > 0 && v.values[0].kind == '[' {
			of = strconv.Itoa(len(v.values[0].values))
		}
		return Look{Kind: kind + naming(keys), Format: "json",
			Shape: shape(append([]string{"json", "array", of}, keys...)...)}
	case v.kind != '{':
		return Look{Kind: "JSON value", Format: "json"}
	case v.isMap():
		keys := fields(v.values)
		return Look{Kind: "JSON object by key (such as " + strconv.Quote(cut(v.keys[0], 60)) + ")" +
			naming(keys), Format: "json",
			Shape: shape(append([]string{"json", "map"}, keys...)...)}
	}
	kind := "JSON object with "
	if !v.closed {
		kind += "at least " // only a part was read
	}
	kind += count(len(v.keys), "key")
	if len(v.keys) > 0 {
		kind += ": " + list(v.keys)
	}
	return Look{Kind: kind, Format: "json",
		Shape: shape(append([]string{"json", "object"}, distinct(v.keys)...)...)}
}

var dataKey = regexp.MustCompile(`^[0-9]+$|^[0-9]{1,4}[-/.][0-9]|[0-9].*[0-9].*[0-9].*[0-9]`)

// isMap reports whether the keys of an object are data, such as identifiers, rather than names
// of fields.
func (v node) isMap() bool {
	data := 0
	for _, k := range v.keys {
		if dataKey.MatchString(k) {
			data++
		}
	}
	n := len(v.keys)
	if n > 50 || n > 0 && data*2 > n {
		return true
	}
	if n < 3 {
		return false
	}
	for _, value := range v.values { // they must be uniform records
		if value.kind != '{' || len(value.keys) < 2 || dataKey.MatchString(value.keys[0]) ||
			!slices.Equal(value.keys, v.values[0].keys) && value.closed {
			return false
		}
	}
	return true
}

// fields returns the keys of the records among values.
func fields(values []node) []string {
	var keys []string
	for _, v := range values {
		if v.kind == '{' && !v.isMap() {
			keys = append(keys, v.keys...)
		}
	}
	return distinct(keys)
}

// distinct returns the sorted names with their numbers collapsed: the order of keys is
// irrelevant.
func distinct(keys []string) []string {
	var names []string
	for _, k := range keys {
		names = append(names, collapse(k))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func naming(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return ", keys of a record: " + list(keys)
}
