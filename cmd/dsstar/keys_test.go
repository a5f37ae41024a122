package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dsstar/agent/llm"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
)

// Without --api-key-env no key goes to --base-url; where one is wanted, that is what is said, and what to do (U6).
func TestNoKeySent(t *testing.T) {
	code, text, hints := explain(&llm.CredentialError{Provider: "base_url", Unsent: true, Err: &llm.StatusError{Status: 401}}, usage.Line{Command: "dsstar nb"})
	if code != exitCredentials || !strings.Contains(text, "no key was sent") || len(hints) == 0 || !strings.Contains(hints[0], "--api-key-env OPENAI_API_KEY") {
		t.Errorf("%d %s %q", code, text, hints)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer right" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	a, _, _ := testApp(t, "OPENAI_API_KEY=right", "WRONG_KEY=wrong")
	for env, want := range map[string][2]string{
		"":               {"none was sent", "--api-key-env OPENAI_API_KEY"},
		"WRONG_KEY":      {"refuses the key", "export WRONG_KEY=KEY"},
		"OPENAI_API_KEY": {"does not list", ""},
	} {
		f := a.checkEndpoint(t.Context(), &configs.Settings{BaseURL: server.URL, APIKeyEnv: env}, "m")
		if !strings.Contains(f.Detail, want[0]) || !strings.Contains(fmt.Sprint(f.hints), want[1]) {
			t.Errorf("%s: %+v", env, f)
		}
	}
}

// The doctor repeats no key that stands in a URL, nor one that the server says.
func TestDoctorHidesKeys(t *testing.T) {
	a, _, _ := testApp(t)
	s := &configs.Settings{BaseURL: "http://127.0.0.1:1/v1?key=secret"}
	if f := a.checkEndpoint(t.Context(), s, "m"); f.Status != "failed" || strings.Contains(f.Detail, "secret") {
		t.Errorf("%+v", f)
	}
}
