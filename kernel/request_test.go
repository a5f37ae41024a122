package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// Every request of the protocol is answered over every transport, and input() too.
func TestProtocol(t *testing.T) {
	pyenvtest.Long(t)
	var mu sync.Mutex
	var asked []any
	answer := func(ctx context.Context, prompt string, password bool) (string, error) {
		mu.Lock()
		asked = append(asked, prompt, password)
		mu.Unlock()
		switch prompt {
		case "later":
			time.Sleep(2500 * time.Millisecond)
		case "slow":
			<-ctx.Done()
			return "", ctx.Err()
		case "refused":
			return "", errors.New("nobody is there")
		}
		return "ä" + prompt, nil
	}
	for _, w := range ways(t, PythonSpec(testPython(t))) {
		t.Run(w.name, func(t *testing.T) {
			k := w.open(t, Options{Dir: t.TempDir(), Env: os.Environ(), CellTimeout: 5 * time.Second,
				Input: answer})
			defer func() { check(t, k.Close()) }()
			testRequests(t, k)
			// the time-out waits for somebody, also while something is printed
			x, err := k.ExecuteCell(t.Context(), Cell{Timeout: 2 * time.Second, Code: `import threading, time
def tick():
    for n in range(30): print(n); time.sleep(.1)
ticking = threading.Thread(target=tick)
ticking.start(); input('later'); ticking.join()`})
			if err != nil || x.Status != notebook.OK {
				t.Errorf("%v: %s %s", err, x.Status, x.Reason)
			}
			asked = nil
			stdout(t, k, "import getpass\nprint(input('who'), getpass.getpass('secret'), input())",
				"äwho äsecret ä\n")
			equal(t, "asked", fmt.Sprint(asked...), fmt.Sprint("who", false, "secret", true, "", false))
			x = runCell(t, k, "input('refused')", notebook.Raised)
			if o, _ := x.Error(); o.EName != "KeyboardInterrupt" ||
				!strings.Contains(x.PlainText(), "input() was not answered: nobody is there") {
				t.Errorf("%s\n%s", o.EName, x.PlainText())
			}
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err = k.Execute(ctx, "input('slow')")
			fails(t, err, context.DeadlineExceeded)
			stdout(t, k, "print(1)", "1\n")
		})
	}
}

func testRequests(t *testing.T, k *Kernel) {
	runCell(t, k, "number = 41", notebook.OK)
	for _, c := range []struct {
		channel       Channel
		request, body string
		want          string // in the reply
	}{
		{Shell, "complete", `{"code": "numb", "cursor_pos": 4}`, `"number"`},
		{Shell, "inspect", `{"code": "number", "cursor_pos": 6, "detail_level": 0}`, `41`},
		{Shell, "is_complete", `{"code": "for i in x:"}`, `"incomplete"`},
		{Shell, "history", `{"hist_access_type": "tail", "n": 1, "raw": true, "output": false}`,
			`"history"`},
		{Shell, "comm_info", ``, `"comms"`},
		{Shell, "kernel_info", ``, `"implementation"`},
		{Shell, "connect", ``, `"shell_port"`},
		{Control, "kernel_info", ``, `"implementation"`},
		{Control, "usage", ``, `"kernel_cpu"`},
		{Control, "debug", `{"type": "request", "seq": 1, "command": "debugInfo", "arguments": {}}`,
			`"isStarted"`},
	} {
		// jedi is imported for the first completion
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		reply, err := k.Request(ctx, Message{Channel: c.channel,
			Header: Header{MsgType: c.request + "_request"}, Content: json.RawMessage(c.body)})
		cancel()
		if err != nil || reply.Header.MsgType != c.request+"_reply" ||
			!strings.Contains(string(reply.Content), c.want) {
			t.Errorf("%s: %v %s %s", c.request, err, reply.Header.MsgType, reply.Content)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := k.Request(ctx, Message{Channel: Shell, Header: Header{MsgType: "nonsense_request"}})
	fails(t, err, context.DeadlineExceeded)
}
