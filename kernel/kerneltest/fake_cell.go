package kerneltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-zeromq/zmq4"
)

// A cell is an execute_request in progress.
type cell struct {
	k       *fakeKernel
	request request
	count   int
	held    []func() // outputs that wait for the reply; see ReplyFirst

	Code         string `json:"code"`
	Silent       bool   `json:"silent"`
	StoreHistory bool   `json:"store_history"`
}

// A raised is an exception in a cell.
type raised struct{ name, value string }

func (r raised) Error() string { return r.name + ": " + r.value }

// execute runs a cell with the kernel's fault.
func (k *fakeKernel) execute(r request) {
	switch k.fault {
	case Forgets:
		return
	case Stranded:
		k.knocks.wait()
	case Aborts:
		if k.aborted = !k.aborted; k.aborted {
			k.state(r, "busy")
			k.send(k.shell, r, "execute_reply", map[string]any{"status": "aborted"})
			k.state(r, "idle")
			return
		}
	}
	c := &cell{k: k, request: r, StoreHistory: true}
	_ = json.Unmarshal(r.Content, c) // an invalid request has no code
	c.StoreHistory = c.StoreHistory && !c.Silent
	if c.StoreHistory {
		k.count++
	}
	c.count = k.count
	k.drain()
	k.state(r, "busy")
	if !c.Silent {
		k.send(k.iopub, r, "execute_input", map[string]any{"code": c.Code, "execution_count": c.count})
	}
	if k.fault == HangsUp {
		k.knocks.hangUp()
		time.Sleep(time.Minute)
	}
	c.finish(c.run())
}

// finish sends the messages that end a cell.
func (c *cell) finish(err error) {
	k, reply := c.k, c.reply(err)
	switch k.fault {
	case ReplyFirst:
		k.send(k.shell, c.request, "execute_reply", reply)
		time.Sleep(300 * time.Millisecond)
		for _, publish := range c.held {
			publish()
		}
		k.state(c.request, "idle")
	case IdleFirst:
		k.state(c.request, "idle")
		time.Sleep(300 * time.Millisecond)
		k.send(k.shell, c.request, "execute_reply", reply)
	case LostReply:
		k.state(c.request, "idle")
	case LostIdle:
		k.send(k.shell, c.request, "execute_reply", reply)
	default:
		k.send(k.shell, c.request, "execute_reply", reply)
		k.state(c.request, "idle")
	}
	if k.fault == Late {
		time.AfterFunc(100*time.Millisecond, func() { c.stream("late\n") })
	}
}

// reply publishes err and returns the content of the execute_reply.
func (c *cell) reply(err error) map[string]any {
	reply := map[string]any{"status": "ok", "execution_count": c.count}
	var exception raised
	if errors.As(err, &exception) {
		content := exception.content()
		c.publish("error", content)
		reply["status"] = "error"
		for name, value := range content {
			reply[name] = value
		}
	}
	return reply
}

func (r raised) content() map[string]any {
	return map[string]any{"ename": r.name, "evalue": r.value, "traceback": []string{r.Error()}}
}

// publish publishes an output of the cell.
func (c *cell) publish(msgType string, content map[string]any) {
	publish := func() { c.k.send(c.k.iopub, c.request, msgType, content) }
	if c.k.fault == ReplyFirst {
		c.held = append(c.held, publish)
		return
	}
	publish()
}

func (c *cell) stream(text string) {
	c.publish("stream", map[string]any{"name": "stdout", "text": text})
}

// run runs the cell's lines until one of them raises.
func (c *cell) run() error {
	switch k := c.k; k.fault {
	case Garbage:
		for _, frames := range [][][]byte{
			{{}}, {[]byte("x"), []byte("y")}, {[]byte("<IDS|MSG>")},
			{[]byte("t"), []byte("<IDS|MSG>"), []byte("0"), []byte("{}")},
			{[]byte("<IDS|MSG>"), []byte("00"), []byte("{}"), []byte("{}"), []byte("{}"), []byte("{}")},
		} {
			_ = k.iopub.SendMulti(zmq4.NewMsgFrom(frames...))
		}
		k.sendAs("not the key", c.request, "stream", map[string]any{"name": "stdout", "text": "forged"})
	case Strange:
		k.state(c.request, "zombie")
		c.publish("news_of_the_world", map[string]any{"x": nil})
		c.publish("status", map[string]any{"execution_state": 7})
		c.publish("stream", map[string]any{"name": "stdout", "text": []int{1}})
	}
	for line := range strings.Lines(c.Code) {
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, `print("`); ok {
			c.stream(strings.TrimSuffix(text, `")`) + "\n")
		} else if err := c.statement(line); err != nil {
			return err
		}
	}
	return nil
}

// statement runs a line that begins with a word; [Main] lists them.
func (c *cell) statement(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "raise":
		return raised{"E", "v"}
	case "sleep":
		return c.sleep(rest)
	case "die", "kill":
		c.stream("dying\n")
		time.Sleep(50 * time.Millisecond) // iopub sends in the background
		if word == "die" {
			os.Exit(7)
		}
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			return raised{"OSError", err.Error()}
		}
		time.Sleep(time.Minute)
	case "flood":
		return c.flood(rest)
	case "children":
		c.stream(strings.Trim(fmt.Sprint(c.k.children), "[]") + "\n")
	}
	return nil
}

var interrupted = raised{"KeyboardInterrupt", ""}

func (c *cell) sleep(seconds string) error {
	limit := time.Minute
	if s, err := strconv.ParseFloat(seconds, 64); err == nil {
		limit = time.Duration(s * float64(time.Second))
	}
	select {
	case <-time.After(limit):
		return nil
	case <-c.k.interrupts:
		return interrupted
	}
}

func (c *cell) flood(number string) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return raised{"ValueError", err.Error()}
	}
	for i := range n {
		c.publish("display_data", map[string]any{"data": map[string]any{"text/plain": strconv.Itoa(i)},
			"metadata": map[string]any{}})
	}
	return nil
}
