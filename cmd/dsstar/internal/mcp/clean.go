package mcp

import (
	"bytes"
	"encoding/json"
	"io"

	"dsstar/cmd/dsstar/internal/ui"
)

// A cleaner writes messages, each in one Write, without what terminals obey: their texts come from
// models, files and cells, and clients print them on terminals. All that a client gets is so written.
type cleaner struct{ io.WriteCloser }

func (c cleaner) Write(text []byte) (int, error) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	var message any
	if err := in.Decode(&message); err != nil {
		return 0, err
	}
	if err := json.NewEncoder(c.WriteCloser).Encode(clean(message)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// clean returns a JSON value with clean texts.
func clean(value any) any {
	switch value := value.(type) {
	case string:
		return new(ui.Cleaner{Still: true}).Text(value)
	case []any:
		for i := range value {
			value[i] = clean(value[i])
		}
	case map[string]any:
		named := map[string]any{}
		for name, v := range value {
			named[clean(name).(string)] = clean(v)
		}
		return named
	}
	return value
}
