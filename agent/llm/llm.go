// Package llm asks a language model one question at a time.
//
// [Endpoint.Open] gives a [Model] for any endpoint that speaks the OpenAI protocol. Models compose:
// [ByRole] sends each role to its own model, [Traced] records every exchange, and [Replay] answers
// from such a record, so that the agent runs again without a model. [Price] computes what they cost.
//
// The package reads no environment variable and prints nothing. Keys never appear in an error, a
// reply or a trace, even if the endpoint echoes them.
package llm

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// A Model answers requests, also concurrent ones. Ask returns ctx.Err() soon after ctx is done.
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
	Role      string // dsstar's, such as "planner": selects the model and labels the trace
	Subject   string // distinguishes requests of a role: "orders.csv", "round 3, try 2"
	Question  int    // number of the conversation's question, from 1, for the trace; 0: none
	Messages  []Message
	RestsOn   []any  // plain data, of which whoever sends it makes the ground: see [GroundOf]
	Ground    Ground // of what it rests on: a recorded reply is for the same one
	MaxTokens int    // of the reply; 0: the endpoint's default

	// OnText, if set, is called from one goroutine as the reply comes, and Ask waits for it. soFar
	// returns all of its text up to now, in proportionate time, and may be called later, too. The
	// text starts over when the call is retried. A reply that is not streamed causes one call.
	OnText func(soFar func() string)
}

// A Reply is a model's answer. Text may be empty, and incomplete if Finish is "length".
type Reply struct {
	Text    string
	Model   string // as the endpoint names it
	Finish  string // "stop", "length", "content_filter", ...
	Usage   Usage
	Seconds float64 // including repeats and waits
}

// Usage counts tokens. If the endpoint sends no counts, or impossible ones, they are estimated.
type Usage struct {
	InputTokens     int  `json:"input_tokens"`
	CachedTokens    int  `json:"cached_tokens"` // of InputTokens
	OutputTokens    int  `json:"output_tokens"`
	ReasoningTokens int  `json:"reasoning_tokens"` // of OutputTokens
	Estimated       bool `json:"estimated,omitempty"`
}

// Add adds v to u. The sum is Estimated if either is.
func (u *Usage) Add(v Usage) {
	u.InputTokens += v.InputTokens
	u.CachedTokens += v.CachedTokens
	u.OutputTokens += v.OutputTokens
	u.ReasoningTokens += v.ReasoningTokens
	u.Estimated = u.Estimated || v.Estimated
}

// A Price is what a model costs, in US dollars per million tokens.
type Price struct {
	Input  float64 // uncached input tokens
	Cached float64 // cached input tokens
	Output float64 // output tokens, including reasoning
}

// Cost returns what u costs, in US dollars.
func (p Price) Cost(u Usage) float64 {
	cached := min(u.CachedTokens, u.InputTokens) // some endpoints report more
	dollars := float64(u.InputTokens-cached)*p.Input + float64(cached)*p.Cached +
		float64(u.OutputTokens)*p.Output
	return dollars / 1e6
}

// ByRole sends each request to the model of its role, or to def if the role has none.
func ByRole(def Model, roles map[string]Model) Model {
	return asking(func(ctx context.Context, r Request) (Reply, error) {
		return cmp.Or(roles[r.Role], def).Ask(ctx, r)
	})
}

// asking is a Model that is a function.
type asking func(context.Context, Request) (Reply, error)

func (ask asking) Ask(ctx context.Context, r Request) (Reply, error) { return ask(ctx, r) }

// A Ground is a digest of what a request rests on, words of prompts aside. A recorded reply is for
// requests of the same ground.
type Ground struct {
	All  string `json:"all"`
	Told string `json:"told"` // without what programs have printed, which their versions change
}

// printed matches the fields of a request's parts that hold what a program has printed or measured.
var printed = regexp.MustCompile(
	`"(?:Description|Output|Error|Size|Kind|Written|Result)":"(?:[^"\\]|\\(?s:.))*"`)

// volatile matches what differs between equal runs: object addresses, the temporary files of
// cells, the folder of Python packages, blanks at the end of a line.
var volatile = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b0x[0-9a-fA-F]{6,16}\b`), "0x"},
	{regexp.MustCompile(`[^\s"'<>()]*ipykernel_\d+[/\\]\d+\.py`), "ipykernel.py"},
	{regexp.MustCompile(`[^\s"'<>()]*[/\\](?:site|dist)-packages[/\\]`), "site-packages/"},
	{regexp.MustCompile(`[ \t\r]+(\n)|\s+(")`), "$1$2"},
}

// GroundOf returns the ground of a request that rests on plain data. mask takes out of texts what the
// request must not tell either, as whoever has a digest can try values. Traces contain grounds: a
// change here invalidates recorded traces.
func GroundOf(mask func([]string) []string, data ...any) Ground {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		panic(err) // it is not plain
	}
	all := line.String()
	both := mask([]string{plain(all), plain(printed.ReplaceAllString(all, ""))})
	return Ground{digest(both[0]), digest(both[1])}
}

// plain returns JSON without escapes in its strings, and without what is volatile.
func plain(text string) string {
	text = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\r`, "\r", `\t`, "\t").Replace(text)
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.instead)
	}
	return text
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:16] }
