// Package llm asks a language model one question at a time.
//
// [Endpoint.Open] gives a [Model] for any endpoint that speaks the OpenAI protocol. Models
// compose: [ByRole] sends each role to its own model, [Traced] records every exchange, and
// [Replay] answers from such a record, so that the agent runs again without a model:
//
//	m, err := llm.Endpoint{Provider: "ollama", BaseURL: "http://127.0.0.1:11434/v1", Model: "qwen3"}.Open()
//	trace, err := llm.OpenTrace("trace.jsonl")
//	reply, err := llm.Traced(m, trace).Ask(ctx, request)
//
// [Endpoint.OpenRanker] gives a [Ranker], which tells by embeddings how near texts are to a
// question; [TracedRanker] and [ReplayRanker] are its record. [Price] and [Cacheable] tell what
// exchanges cost and what a cache could save.
//
// The package reads no environment variable and prints nothing. Keys never appear in an error, a
// reply or a trace, also where an endpoint repeats them.
package llm

import "context"

// A Model answers requests. Every Model of this package may be used by several
// goroutines at once. Ask returns ctx.Err() soon after ctx is done.
type Model interface {
	Ask(ctx context.Context, r Request) (Reply, error)
}

// A Message is one turn of a conversation.
type Message struct {
	Role string `json:"role"` // "system", "user" or "assistant"
	Text string `json:"text"`
}

// A Request is one question to a model.
type Request struct {
	// dsstar's role, "planner", "coder", ...: chooses the model and labels the trace
	Role     string
	Subject  string    // which one of its kind, readable: "orders.csv", "round 3, try 2"
	Messages []Message //
	// full texts by name ("plan", "results", ...) whose change makes a recorded reply unfit
	Inputs    map[string]string
	MaxTokens int // of the reply; 0: the endpoint's default

	// OnText, if set, is told of the reply while it comes: all of its text so far.
	// It begins again from little when a try is repeated, and is told once of a
	// reply that comes whole. Ask waits for it, and calls it from one goroutine.
	// It is not recorded.
	OnText func(soFar string)
}

// A Reply is a model's answer. An empty Text is no error, nor is an answer that
// stopped at a limit: Finish then says "length".
type Reply struct {
	Text    string
	Model   string // as the endpoint names it
	Finish  string // "stop", "length", "content_filter", ...
	Usage   Usage
	Seconds float64 // from Ask to reply, with retries and waits
	Retries int

	Remembered bool // it was given before, and counted then: see [Remember]
}

// Usage counts tokens. CachedTokens are part of InputTokens, ReasoningTokens of
// OutputTokens.
type Usage struct {
	InputTokens     int `json:"input_tokens"`
	CachedTokens    int `json:"cached_tokens"`
	OutputTokens    int `json:"output_tokens"`
	ReasoningTokens int `json:"reasoning_tokens"`
	// the endpoint gave no counts: four bytes a token
	Estimated bool `json:"estimated,omitempty"`
}

// Add adds v to u. A sum is estimated when a part of it is.
func (u *Usage) Add(v Usage) {
	u.InputTokens += v.InputTokens
	u.CachedTokens += v.CachedTokens
	u.OutputTokens += v.OutputTokens
	u.ReasoningTokens += v.ReasoningTokens
	u.Estimated = u.Estimated || v.Estimated
}

// estimate counts the tokens of an exchange whose endpoint did not.
func estimate(asked []Message, answer string) Usage {
	u := Usage{OutputTokens: (len(answer) + 3) / 4, Estimated: true}
	for _, m := range asked {
		u.InputTokens += (len(m.Text) + 3) / 4
	}
	return u
}

// ByRole sends a request to the model of its role, or to def when roles has none.
// The caller must not change roles afterwards.
func ByRole(def Model, roles map[string]Model) Model {
	return byRole{def, roles}
}

type byRole struct {
	def   Model
	roles map[string]Model
}

func (m byRole) Ask(ctx context.Context, r Request) (Reply, error) {
	if own, ok := m.roles[r.Role]; ok {
		return own.Ask(ctx, r)
	}
	return m.def.Ask(ctx, r)
}
