// Package llmtest provides for tests a scripted endpoint, which speaks the OpenAI protocol and
// misbehaves on request, and a model without one.
package llmtest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"dsstar/agent/llm"
)

// A Model sends its replies in turn, and the last one again and again.
type Model struct {
	Replies []string

	mu    sync.Mutex
	Asked []llm.Request // in order
}

// Ask counts ten tokens of input and one of output.
func (m *Model) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Asked = append(m.Asked, r)
	return llm.Reply{Text: m.Replies[min(len(m.Asked), len(m.Replies))-1], Model: "m1", Finish: "stop",
		Usage: llm.Usage{InputTokens: 10, OutputTokens: 1}}, ctx.Err()
}

// A Request is one received HTTP call. A retry is a call of its own.
type Request struct {
	N        int // from 1, in order of arrival
	Model    string
	Messages []llm.Message
	Query    string // of the URL
	Header   http.Header
	Body     string // whole
}

// Last returns the text of the last message.
func (r Request) Last() string {
	return slices.Concat([]llm.Message{{}}, r.Messages)[len(r.Messages)].Text
}

// A Response is what the server does. The zero value is an empty reply.
type Response struct {
	Text   string    // the reply, sent a few bytes at a time
	Finish string    // "": "stop"
	Usage  llm.Usage // token counts; not sent if zero

	Status int               // 0: 200
	Header map[string]string // set last
	Body   string            // sent verbatim instead of Text

	Delay    time.Duration // before anything is sent
	Pace     time.Duration // before each chunk of text
	CutAfter int           // end the stream, without an error, after this many chunks
	Stall    bool          // send nothing (more, after CutAfter) until the client disconnects
}

// A Server is a running endpoint. It stops when its test ends.
type Server struct {
	URL    string       // the base URL, "http://127.0.0.1:port/v1"
	Client *http.Client // of [NewPiped]; nil: any reaches it

	reply    func(Request) Response
	stopping chan struct{}
	mu       sync.Mutex
	requests []Request
}

// New starts a server. Concurrent requests call reply concurrently.
func New(t testing.TB, reply func(Request) Response) *Server {
	s := &Server{reply: reply, stopping: make(chan struct{})}
	web := httptest.NewServer(s)
	s.URL = web.URL + "/v1"
	t.Cleanup(web.Close)
	t.Cleanup(func() { close(s.stopping) })
	return s
}

// NewPiped is New without a network, for tests with a fake clock.
func NewPiped(t testing.TB, reply func(Request) Response) *Server {
	s := &Server{URL: "http://llmtest/v1", reply: reply, stopping: make(chan struct{})}
	p, web := make(pipes), http.Server{Handler: s}
	s.Client = &http.Client{Transport: &http.Transport{DialContext: p.dial}}
	go web.Serve(p)
	t.Cleanup(func() { web.Close() })
	t.Cleanup(func() { close(s.stopping) })
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
func (p pipes) Close() error   { close(p); return nil }

// Each sends the responses in order and repeats the last one.
func Each(responses ...Response) func(Request) Response {
	return func(r Request) Response { return responses[min(r.N, len(responses))-1] }
}

// Refuse returns an error in OpenAI's form.
func Refuse(status int, code, message string) Response {
	body, _ := json.Marshal(object{"error": object{"code": code, "message": message, "type": "error"}})
	return Response{Status: status, Body: string(body)}
}

// Requests returns the calls so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP answers POST /v1/chat/completions.
func (s *Server) ServeHTTP(w http.ResponseWriter, h *http.Request) {
	if h.Method != http.MethodPost || h.URL.Path != "/v1/chat/completions" {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(h.Body)
	if err != nil || h.Context().Err() != nil {
		return // the client disconnected
	}
	r := s.receive(h, gjson.ParseBytes(body))
	response := s.reply(r)
	if !s.pause(h, response.Delay) || response.Stall && response.CutAfter == 0 && !s.pause(h, forever) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	for name, value := range response.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(max(response.Status, http.StatusOK))
	if response.Body == "" {
		s.stream(w, h, r.Model, response)
	}
	io.WriteString(w, response.Body)
}

func (s *Server) receive(h *http.Request, body gjson.Result) Request {
	r := Request{Model: body.Get("model").Str, Query: h.URL.RawQuery, Header: h.Header.Clone(), Body: body.Raw}
	for _, m := range body.Get("messages").Array() {
		r.Messages = append(r.Messages, llm.Message{Role: m.Get("role").Str, Text: m.Get("content").Str})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.N = len(s.requests) + 1
	s.requests = append(s.requests, r)
	return r
}

const forever = time.Duration(math.MaxInt64)

// pause waits and reports false if the client or the test ended first.
func (s *Server) pause(h *http.Request, d time.Duration) bool {
	select {
	case <-h.Context().Done():
	case <-s.stopping:
	case <-time.After(d):
		return true
	}
	return false
}

// stream sends the reply with valid elements that trip clients: comments, a chunk without
// choices, "error":null, the usage in a separate chunk.
func (s *Server) stream(w http.ResponseWriter, h *http.Request, model string, response Response) {
	event := func(u llm.Usage, choices ...any) {
		chunk := object{"model": model, "error": nil, "choices": choices}
		if u != (llm.Usage{}) {
			chunk["usage"] = object{
				"prompt_tokens": u.InputTokens, "completion_tokens": u.OutputTokens,
				"total_tokens":              u.InputTokens + u.OutputTokens,
				"prompt_tokens_details":     object{"cached_tokens": u.CachedTokens},
				"completion_tokens_details": object{"reasoning_tokens": u.ReasoningTokens},
			}
		}
		data, _ := json.Marshal(chunk)
		fmt.Fprintf(w, "data: %s\n\n", data)
		w.(http.Flusher).Flush()
	}
	io.WriteString(w, ": PROCESSING\n\n")
	event(llm.Usage{})
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
		event(llm.Usage{}, object{"index": 0, "delta": object{"content": string(piece)}})
	}
	finish := cmp.Or(response.Finish, "stop")
	event(llm.Usage{}, object{"index": 0, "delta": object{}, "finish_reason": finish})
	event(response.Usage)
	io.WriteString(w, "data: [DONE]\n\n")
}

type object = map[string]any
