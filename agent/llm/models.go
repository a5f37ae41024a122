package llm

import (
	"context"
	"encoding/json"
	"io"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// Models returns the names of the models that the endpoint lists. It fails as Ask does, also for an
// answer that is no list.
func (e Endpoint) Models(ctx context.Context) ([]string, error) {
	m, err := e.open("models", "a list of models")
	if err != nil {
		return nil, err
	}
	service := openai.NewModelService(m.options()...)
	names, _, err := repeat(ctx, m, call[[]string]{
		send: func(ctx context.Context, o ...option.RequestOption) error {
			_, err := service.List(ctx, o...)
			return err
		},
		read: m.readModels,
	})
	return names, err
}

// modelList is a list of OpenAI's form, of Ollama's and Gemini's own, or one without a name.
type modelList []struct{ ID, Name string }

func (l *modelList) UnmarshalJSON(data []byte) error {
	type plain modelList // without this method
	var named struct{ Data, Models plain }
	if data[0] == '[' {
		return json.Unmarshal(data, (*plain)(l))
	}
	err := json.Unmarshal(data, &named)
	if named.Data != nil || named.Models != nil {
		*l = append(append(modelList{}, named.Data...), named.Models...)
	}
	return err
}

func (m *endpoint) readModels(body io.ReadCloser, contentType string) (names []string, err error) {
	all, err := readWhole(m, body, contentType, func(l modelList) bool { return l != nil })
	for _, model := range all {
		names = append(names, either(model.ID, model.Name))
	}
	return names, err
}
