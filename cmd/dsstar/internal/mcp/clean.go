package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dsstar/cmd/dsstar/internal/ui"
)

// clean is where all texts for a client go through: they come from models, files and cells, and
// clients print them on terminals.
func clean(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if p, ok := r.GetParams().(*sdk.ProgressNotificationParams); ok {
			p.Message = cleanText(p.Message)
		}
		result, err := next(ctx, method, r)
		if err != nil {
			if text := cleanText(err.Error()); text != err.Error() {
				err = errors.New(text)
			}
			return result, err
		}
		switch result := result.(type) {
		case *sdk.CallToolResult:
			if out, ok := result.StructuredContent.(json.RawMessage); ok {
				result.StructuredContent = cleanJSON(out)
			}
			for _, part := range result.Content {
				if part, ok := part.(*sdk.TextContent); ok {
					part.Text = cleanText(part.Text)
				}
			}
		case *sdk.ReadResourceResult:
			for _, part := range result.Contents {
				if part.URI = cleanText(part.URI); part.MIMEType == notebookType {
					part.Text = ui.EscapeControls(part.Text) // a document, whose values stay as they are
				} else {
					part.Text = cleanText(part.Text)
				}
			}
		}
		return result, nil
	}
}

// cleanText returns a text without what terminals obey.
func cleanText(text string) string { return new(ui.Cleaner{Still: true}).Text(text) }

// cleanJSON returns a JSON value with clean texts.
func cleanJSON(data []byte) json.RawMessage {
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	var value any
	if err := in.Decode(&value); err != nil {
		return json.RawMessage("null")
	}
	out, err := json.Marshal(cleanValue(value))
	if err != nil {
		return json.RawMessage("null")
	}
	return out
}

func cleanValue(value any) any {
	switch value := value.(type) {
	case string:
		return cleanText(value)
	case []any:
		for i := range value {
			value[i] = cleanValue(value[i])
		}
	case map[string]any:
		named := map[string]any{}
		for name, v := range value {
			named[cleanText(name)] = cleanValue(v)
		}
		return named
	}
	return value
}
