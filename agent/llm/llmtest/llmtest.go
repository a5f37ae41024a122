// Package llmtest provides a scripted endpoint for tests, which speaks the OpenAI protocol and
// misbehaves on request.
package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"dsstar/agent/llm"
)

// A Request is one received HTTP call. A retry is a call of its own.
type Request struct {
	N        int // from 1, in order of arrival
	Model    string
	Messages []llm.Message
	Images   []string // their URLs
	Input    []string // texts of an embeddings request
	Stream   bool
	Schema   string // name of the JSON schema of the reply; "": none
	Query    string // of the URL
	Header   http.Header
	Body     string // whole
}

// Last returns the text of the last message.
func (r Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Text
}

// A Response is what the server does. The zero value is an empty reply.
type Response struct {
	Text   string    // the reply, sent a few bytes at a time if the request asks for a stream
	Finish string    // "": "stop"
	Usage  llm.Usage // token counts; not sent if zero

	Vectors [][]float64 // of an embeddings request, in the order of its texts; nil: by their words

	Status int               // 0: 200
	Header map[string]string // set last
	Body   string            // sent verbatim instead of Text

	Delay    time.Duration // before anything is sent
	Pace     time.Duration // before each chunk of text
	Plain    bool          // do not stream
	CutAfter int           // end the stream, without an error, after this many chunks
	Stall    bool          // send nothing (more, after CutAfter) until the client disconnects
}

// A Server is a running endpoint. It stops when its test ends.
type Server struct {
	URL    string       // the base URL, "http://127.0.0.1:port/v1"
	Client *http.Client // of [NewPiped]; nil: any reaches it

	t        testing.TB
	reply    func(Request) Response
	stopping chan struct{}
	mu       sync.Mutex
	requests []Request
}

// New starts a server. Concurrent requests call reply concurrently.
func New(t testing.TB, reply func(Request) Response) *Server {
	s := &Server{t: t, reply: reply, stopping: make(chan struct{})}
	web := httptest.NewServer(s)
	s.URL = web.URL + "/v1"
	t.Cleanup(func() {
		close(s.stopping)
		web.Close()
	})
	return s
}

// NewPiped is New without a network, for tests with a fake clock.
func NewPiped(t testing.TB, reply func(Request) Response) *Server {
	s := &Server{URL: "http://llmtest/v1", t: t, reply: reply, stopping: make(chan struct{})}
	p, web := make(pipes), http.Server{Handler: s}
	s.Client = &http.Client{Transport: &http.Transport{DialContext: p.dial}}
	go web.Serve(p)
	t.Cleanup(func() {
		close(s.stopping)
		web.Close()
	})
	return s
}

// pipes is a listener in memory.
type pipes chan net.Conn

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p <- server
	return client, nil
}

func (p pipes) Accept() (net.Conn, error) {
	if c, open := <-p; open {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) Close() error {
	close(p)
	return nil
}

// Each sends the responses in order and repeats the last one.
func Each(responses ...Response) func(Request) Response {
	return func(r Request) Response { return responses[min(r.N, len(responses))-1] }
}

// Refuse returns an error in OpenAI's form.
func Refuse(status int, code, message string) Response {
	body, _ := json.Marshal(map[string]any{"error": map[string]any{"code": code, "message": message,
		"type": "error"}})
	return Response{Status: status, Body: string(body),
		Header: map[string]string{"Content-Type": "application/json"}}
}

// RefuseSchemas refuses requests with a JSON schema, as endpoints without support for them do.
func RefuseSchemas(reply func(Request) Response) func(Request) Response {
	return func(r Request) Response {
		if r.Schema != "" {
			return Refuse(http.StatusBadRequest, "invalid_request_error",
				"This response_format type is unavailable now")
		}
		return reply(r)
	}
}

// Requests returns the calls so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// embed returns a vector for a text. Texts that share words have similar vectors.
func embed(text string) []float64 {
	v := make([]float64, 256)
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		h := fnv.New32a()
		h.Write([]byte(word))
		v[h.Sum32()%256]++
	}
	return v
}

// ServeHTTP answers POST /v1/chat/completions and /v1/embeddings.
func (s *Server) ServeHTTP(w http.ResponseWriter, h *http.Request) {
	if h.Method != http.MethodPost ||
		(h.URL.Path != "/v1/chat/completions" && h.URL.Path != "/v1/embeddings") {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	r, err := s.receive(h)
	if errors.Is(err, io.ErrUnexpectedEOF) || h.Context().Err() != nil {
		return // the client disconnected
	}
	if err != nil {
		s.t.Errorf("llmtest: %v", err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	response := s.reply(r)
	if !s.pause(h, response.Delay) {
		return
	}
	if response.Stall && response.CutAfter == 0 {
		s.pause(h, forever)
		return
	}
	s.send(w, h, r, response)
}

func (s *Server) receive(h *http.Request) (Request, error) {
	body, err := io.ReadAll(h.Body)
	if err != nil {
		return Request{}, err
	}
	var asked struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role    string
			Content content
		}
		Input []string

		ResponseFormat struct {
			JSONSchema struct {
				Name   string
				Strict bool
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return Request{}, fmt.Errorf("request body: %w", err)
	}
	r := Request{Model: asked.Model, Input: asked.Input, Stream: asked.Stream,
		Query: h.URL.RawQuery, Header: h.Header.Clone(), Body: string(body)}
	schema := asked.ResponseFormat.JSONSchema
	objects, closed := strings.Count(r.Body, `"properties":{`), strings.Count(r.Body, `"additionalProperties":false`)
	if r.Schema = schema.Name; r.Schema != "" && !(schema.Strict && objects == closed) {
		return Request{}, fmt.Errorf("the schema %s is not strict", r.Schema)
	}
	for _, m := range asked.Messages {
		r.Messages = append(r.Messages, llm.Message{Role: m.Role, Text: m.Content.text})
		r.Images = append(r.Images, m.Content.images...)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.N = len(s.requests) + 1
	s.requests = append(s.requests, r)
	return r, nil
}

const forever = time.Duration(math.MaxInt64)

// pause waits and reports false if the client or the test ended first.
func (s *Server) pause(h *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	select {
	case <-h.Context().Done():
		return false
	case <-s.stopping:
		return false
	case <-time.After(d):
		return true
	}
}

func (s *Server) send(w http.ResponseWriter, h *http.Request, r Request, response Response) {
	stream := r.Stream && !response.Plain && response.Body == ""
	w.Header().Set("Content-Type", "application/json")
	if stream {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	for name, value := range response.Header {
		w.Header().Set(name, value)
	}
	if response.Finish == "" {
		response.Finish = "stop"
	}
	w.WriteHeader(max(response.Status, http.StatusOK))
	switch {
	case response.Body != "":
		io.WriteString(w, response.Body)
	case r.Input != nil:
		json.NewEncoder(w).Encode(list(r, response))
	case stream:
		s.stream(w, h, r, response)
	default:
		message := map[string]any{"role": "assistant", "content": response.Text}
		json.NewEncoder(w).Encode(completion(r, "message", message, response.Finish, response.Usage))
	}
}

// stream sends the reply with valid elements that trip clients: comments, a chunk without
// choices, "error":null, the usage in a separate chunk.
func (s *Server) stream(w http.ResponseWriter, h *http.Request, r Request, response Response) {
	event := func(v any) {
		data, _ := json.Marshal(v)
		fmt.Fprintf(w, "data: %s\n\n", data)
		w.(http.Flusher).Flush()
	}
	io.WriteString(w, ": PROCESSING\n\n")
	event(map[string]any{"choices": []any{}, "model": r.Model, "error": nil})
	for i, piece := range slices.Collect(slices.Chunk([]rune(response.Text), 7)) {
		if response.CutAfter > 0 && i == response.CutAfter {
			if response.Stall {
				s.pause(h, forever)
			}
			return
		}
		if !s.pause(h, response.Pace) {
			return
		}
		event(completion(r, "delta", map[string]any{"content": string(piece)}, nil, llm.Usage{}))
	}
	event(completion(r, "delta", map[string]any{}, response.Finish, llm.Usage{}))
	if response.Usage != (llm.Usage{}) {
		last := completion(r, "delta", nil, nil, response.Usage)
		last["choices"] = []any{}
		event(last)
	}
	io.WriteString(w, "data: [DONE]\n\n")
}

// list is a response to an embeddings request, in reverse order, which is allowed.
func list(r Request, response Response) map[string]any {
	vectors := response.Vectors
	if vectors == nil {
		for _, text := range r.Input {
			vectors = append(vectors, embed(text))
		}
	}
	data := []any{}
	for i, v := range slices.Backward(vectors) {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
	}
	l := map[string]any{"object": "list", "model": r.Model, "data": data, "error": nil}
	if u := response.Usage; u != (llm.Usage{}) {
		l["usage"] = map[string]any{"prompt_tokens": u.InputTokens, "total_tokens": u.InputTokens}
	}
	return l
}

// completion returns a completion, or a chunk of one; key is the key of its message.
func completion(r Request, key string, message map[string]any, finish any,
	u llm.Usage) map[string]any {
	c := map[string]any{
		"id": fmt.Sprintf("llmtest-%d", r.N), "model": r.Model, "error": nil,
		"choices": []any{map[string]any{"index": 0, key: message, "finish_reason": finish}},
	}
	if u != (llm.Usage{}) {
		c["usage"] = map[string]any{
			"prompt_tokens": u.InputTokens, "completion_tokens": u.OutputTokens,
			"total_tokens":              u.InputTokens + u.OutputTokens,
			"prompt_tokens_details":     map[string]any{"cached_tokens": u.CachedTokens},
			"completion_tokens_details": map[string]any{"reasoning_tokens": u.ReasoningTokens},
		}
	}
	return c
}

// content is a message's content: a string, or parts that are text and images.
type content struct {
	text   string
	images []string
}

func (c *content) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.text) == nil {
		return nil
	}
	var parts []struct {
		Type, Text string
		ImageURL   struct{ URL string } `json:"image_url"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Type == "text" {
			c.text += p.Text
		} else {
			c.images = append(c.images, p.ImageURL.URL)
		}
	}
	return nil
}
