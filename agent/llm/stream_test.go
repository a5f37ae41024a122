package llm_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"dsstar/agent/llm"
)

// streaming returns a model whose replies are the key and n pieces of a text, each an event.
func streaming(t testing.TB, n int, piece string) llm.Model {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, chunk(secret, ""))
		for range n {
			_, _ = io.WriteString(w, chunk(piece, ""))
		}
		_, _ = io.WriteString(w, chunk("", "stop"))
	}))
	t.Cleanup(web.Close)
	m, err := llm.Endpoint{Provider: "acme", BaseURL: web.URL, Key: secret, Model: "m1"}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A reply in twice as many pieces takes twice the memory, all in all, and not four times: nothing is
// done to all of the text for each piece, unless somebody looks at it.
func TestStreamIsLinear(t *testing.T) {
	const piece = 1000
	took := func(pieces int) uint64 {
		m := streaming(t, pieces, strings.Repeat("x", piece))
		var told int
		r := question
		r.OnText = func(func() string) { told++ }
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		reply, err := m.Ask(t.Context(), r)
		runtime.ReadMemStats(&after)
		if err != nil || len(reply.Text) != len("[key]")+pieces*piece || told != pieces+1 {
			t.Fatalf("%d bytes, told %d times: %v", len(reply.Text), told, err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	took(10) // what is made once
	if few, many := took(500), took(2000); many > 6*few {
		t.Errorf("500 pieces take %d bytes, 2000 take %d", few, many)
	}
}

// The speed in MB/s of the text is about the same for all lengths, also for tokens of four bytes.
func BenchmarkStream(b *testing.B) {
	for _, c := range []struct{ pieces, size int }{
		{64, 16 << 10}, {640, 16 << 10}, {10_000, 4}, {100_000, 4},
	} {
		b.Run(fmt.Sprintf("%d pieces of %d bytes", c.pieces, c.size), func(b *testing.B) {
			m := streaming(b, c.pieces, strings.Repeat("x", c.size))
			r := question
			r.OnText = func(func() string) {}
			b.SetBytes(int64(c.pieces * c.size))
			for b.Loop() {
				if _, err := m.Ask(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
