package mcp

import (
	"bytes"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dsstar/cmd/dsstar/internal/ui"
)

// cleaned returns a result without what terminals obey: its texts come from models, files and cells,
// and clients print them on terminals.
func cleaned(r *sdk.CallToolResult) *sdk.CallToolResult {
	for _, c := range r.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			text.Text = clean(text.Text).(string)
		}
	}
	if object, ok := r.StructuredContent.(json.RawMessage); ok {
		in := json.NewDecoder(bytes.NewReader(object))
		in.UseNumber()
		var value any
		if in.Decode(&value) == nil { // it is valid: see carryOut
			r.StructuredContent = clean(value)
		}
	}
	return r
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
