package kerneltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-zeromq/zmq4"
)

// A cell is an execute_request in progress.
type cell struct {
	k       *fakeKernel
	request request

	Code   string `json:"code"`
	Silent bool   `json:"silent"`
}

// execute runs a cell with the kernel's fault.
func (k *fakeKernel) execute(r request) {
	switch k.fault {
	case Forgets:
		return
	case Stranded:
		for len(k.knocks) > 0 { // earlier ones
			<-k.knocks
		}
		<-k.knocks
	case Aborts:
		if k.aborted = !k.aborted; k.aborted {
			k.state(r, "busy")
			k.send(k.shell, r, "execute_reply", map[string]any{"status": "aborted"})
			k.state(r, "idle")
			return
		}
	}
	c := &cell{k: k, request: r}
	_ = json.Unmarshal(r.Content, c) // an invalid request has no code
	if !c.Silent {
		k.count++
	}
	select { // an interrupt of an earlier cell
	case <-k.interrupts:
	default:
	}
	k.state(r, "busy")
	if !c.Silent {
		k.send(k.iopub, r, "execute_input", map[string]any{"code": c.Code, "execution_count": k.count})
	}
	if k.fault == ReplyFirst {
		k.send(k.shell, r, "execute_reply", map[string]any{"status": "ok", "execution_count": k.count})
		time.Sleep(long)
	}
	c.finish(c.run())
}

// long is how much later something comes than it should.
const long = 300 * time.Millisecond

// finish sends the messages that end a cell, which has raised the exception, if any.
func (c *cell) finish(exception map[string]any) {
	k, reply := c.k, map[string]any{"status": "ok", "execution_count": c.k.count}
	if exception != nil {
		c.publish("error", exception)
		reply["status"] = "error"
		maps.Copy(reply, exception)
	}
	switch k.fault {
	case IdleFirst:
		k.state(c.request, "idle")
		time.Sleep(long)
		k.send(k.shell, c.request, "execute_reply", reply)
	case LostReply, ReplyFirst:
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

// publish publishes an output of the cell.
func (c *cell) publish(msgType string, content map[string]any) {
	c.k.send(c.k.iopub, c.request, msgType, content)
}

func (c *cell) stream(text string) {
	c.publish("stream", map[string]any{"name": "stdout", "text": text})
}

// raised returns the content of an error message.
func raised(name, value string) map[string]any {
	return map[string]any{"ename": name, "evalue": value, "traceback": []string{name + ": " + value}}
}

// run runs the cell's lines until one of them raises an exception, which it returns.
func (c *cell) run() map[string]any {
	switch k := c.k; k.fault {
	case Garbage:
		for _, frames := range [][][]byte{
			{{}}, {[]byte("x"), []byte("y")}, {[]byte("<IDS|MSG>")},
			{[]byte("t"), []byte("<IDS|MSG>"), []byte("0"), []byte("{}")},
			{[]byte("<IDS|MSG>"), []byte("00"), []byte("{}"), []byte("{}"), []byte("{}"), []byte("{}")},
		} {
			_ = k.iopub.SendMulti(zmq4.NewMsgFrom(frames...))
		}
		k.forge(c.request, "stream", map[string]any{"name": "stdout", "text": "forged"})
	case Strange:
		k.state(c.request, "zombie")
		c.publish("news_of_the_world", map[string]any{"x": nil})
		c.publish("status", map[string]any{"execution_state": 7})
		c.publish("stream", map[string]any{"name": "stdout", "text": []int{1}})
	}
	for line := range strings.Lines(c.Code) {
		if exception := c.statement(strings.TrimSuffix(line, "\n")); exception != nil {
			return exception
		}
	}
	return nil
}

// statement runs a line; [Main] lists them. A number that cannot be read counts as 0.
func (c *cell) statement(line string) map[string]any {
	if text, ok := strings.CutPrefix(line, `print("`); ok {
		c.stream(strings.TrimSuffix(text, `")`) + "\n")
	}
	word, rest, _ := strings.Cut(line, " ")
	number, _ := strconv.ParseFloat(rest, 64)
	switch word {
	case "raise":
		return raised("E", "v")
	case "sleep":
		select {
		case <-time.After(time.Duration(cmp.Or(number, 60) * float64(time.Second))):
		case <-c.k.interrupts:
			return raised("KeyboardInterrupt", "")
		}
	case "die", "kill":
		c.stream("dying\n")
		time.Sleep(50 * time.Millisecond) // iopub sends in the background
		if word == "kill" {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		os.Exit(7)
	case "flood":
		for i := range int(number) {
			c.publish("display_data", map[string]any{"data": map[string]any{"text/plain": fmt.Sprint(i)},
				"metadata": map[string]any{}})
		}
	}
	return nil
}
