package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"dsstar/agent/record"
	"dsstar/kernel"
)

// TestKeepHanging: a server that no longer answers delays the end of a run only briefly, and the
// user still learns how to connect.
func TestKeepHanging(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}))
	defer server.Close()
	folder, err := record.CreateFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	saver := newSaver(folder, nil)
	if _, err := saver.save(&record.Trajectory{}); err != nil {
		t.Fatal(err)
	}
	k := &keeper{
		saver: saver, server: kernel.Server{URL: server.URL + "/"}, patience: 100 * time.Millisecond,
		info: kernel.Info{ID: "0123", Server: server.URL + "/"},
	}
	r, err := k.result(t.Context())
	if err == nil || r == nil || r.Notebook != "" {
		t.Errorf("%+v %v", r, err)
	}
	a, _, stderr := testApp(t)
	p := a.newProgress(false)
	k.tell(p, r, err, nil)
	p.Stop()
	wantText(t, "stderr", stderr.String(), "0123 stays on "+server.URL, "Change Kernel")
}
