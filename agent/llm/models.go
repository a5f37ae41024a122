package llm

import (
	"bufio"
	"context"
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

// readModels reads the lists of OpenAI's form, of Ollama's and Gemini's own, and one without a name.
func (m *endpoint) readModels(body io.ReadCloser, contentType string) (names []string, err error) {
	type models []struct{ ID, Name string }
	var named struct{ Data, Models models }
	r := bufio.NewReader(body)
	first, err := firstByte(r)
	var raw []byte
	switch {
	case err != nil:
		return nil, m.cut(err)
	case first == '[':
		raw, err = m.decode(r, &named.Data)
	case first == '{':
		raw, err = m.decode(r, &named)
	default:
		return nil, m.page(r, contentType)
	}
	if err == nil && named.Data == nil && named.Models == nil {
		err = m.failure(raw)
	}
	if err != nil {
		return nil, err
	}
	for _, model := range append(named.Data, named.Models...) {
		names = append(names, either(model.ID, model.Name))
	}
	return names, nil
}
