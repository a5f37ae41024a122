package solver

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"dsstar/agent/llm"
	"dsstar/agent/reply"
	"dsstar/prompts"
)

// A chat is a conversation with the model: a system message with the task, which is always
// sent, and the latest exchanges, up to the window.
type chat struct {
	*desk
	role    string
	system  string
	past    []exchange
	pending string // the next user message
	window  int    // exchanges to send; 0: all
}

// An exchange is a user message and the reply.
type exchange struct{ told, reply string }

// newChat returns a chat whose system message has the task and the role's own part.
func (d *desk) newChat(role, first string, window int, own prompts.Part) (*chat, error) {
	system, err := d.cfg.Prompts.Text(d.workplace(), d.context(), own)
	return &chat{desk: d, role: role, system: system, pending: first, window: window}, err
}

// ask sends the pending message and returns the reply without the model's thoughts. problem
// tells the model why a reply is unusable. While the request exceeds the model's context, the
// oldest exchange is dropped for good.
func (c *chat) ask(ctx context.Context, subject string) (text, problem string, err error) {
	for {
		var reply llm.Reply
		reply, err = c.Call(ctx, c.request(subject))
		if errors.Is(err, llm.ErrContextLength) && len(c.past) > 0 {
			c.past = c.past[1:]
			continue
		}
		if err != nil {
			return "", "", err
		}
		text, problem = readable(reply)
		c.past = append(c.past, exchange{c.pending, text})
		if c.window > 0 && len(c.past) > c.window {
			c.past = c.past[len(c.past)-c.window:]
		}
		c.pending = ""
		return text, problem, nil
	}
}

func (c *chat) request(subject string) llm.Request {
	r := llm.Request{Role: c.role, Subject: subject, RestsOn: c.restsOn(c.pending),
		MaxTokens: c.cfg.MaxTokens,
		Messages:  []llm.Message{{Role: "system", Text: c.system}}}
	for _, e := range c.past {
		r.Messages = append(r.Messages, llm.Message{Role: "user", Text: e.told},
			llm.Message{Role: "assistant", Text: e.reply})
	}
	r.Messages = append(r.Messages, llm.Message{Role: "user", Text: c.pending})
	return r
}

// readable returns the usable text of a reply, or why there is none. A truncated reply stays
// in the conversation, but its actions are not carried out.
func readable(said llm.Reply) (text, problem string) {
	text, err := reply.Visible(said.Text)
	switch {
	case err != nil:
		return "(nothing)", err.Error()
	case said.Finish == "length":
		return text, "it was cut off by the limit on its length"
	case said.Finish == "content_filter":
		return text, "it was withheld"
	}
	return text, ""
}

// each asks up to most times, and has take carry out each reply that can be read. take returns why
// it cannot, and whether the work is done.
func (c *chat) each(ctx context.Context, most int, what, rule string,
	take func(n int, title, text string) (problem string, done bool, err error)) error {
	for n := 1; n <= most; n++ {
		c.rounds = n
		subject := fmt.Sprintf("%s %d", what, n)
		title := strings.ToUpper(subject[:1]) + subject[1:]
		text, problem, err := c.ask(ctx, subject)
		done := false
		if err == nil && problem == "" {
			problem, done, err = take(n, title, text)
		}
		if err == nil && problem != "" {
			err = c.unreadable(title, text, problem, rule)
		}
		if err != nil || done {
			return err
		}
	}
	return nil
}

// tell sets the next user message.
func (c *chat) tell(parts ...prompts.Part) (err error) {
	c.pending, err = c.cfg.Prompts.Text(parts...)
	return err
}

// unreadable adds a turn for an unusable reply, and tells the model so.
func (c *chat) unreadable(title, said, problem, rule string) error {
	if err := c.tell(prompts.Reask{Problem: problem, Rule: rule}); err != nil {
		return err
	}
	_, err := c.add(turn{title: title, said: said, shown: c.pending})
	return err
}

// rest returns a text without its code blocks.
func rest(text string) string {
	var b strings.Builder
	inCode := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			inCode = !inCode
		} else if !inCode {
			b.WriteString(line)
		}
	}
	return strings.TrimSpace(b.String())
}

const answerRule = "The last line of the reply is `Answer:` and the answer, which may go on in lines below."

var errNoAnswer = errors.New("it has no line that begins with Answer")

var answerLine = regexp.MustCompile(`(?i)^[\s*_#>]*(?:final\s+)?answer[*_]*\s*:[*_]*(.*)$`)

// parseAnswer returns what follows the last "Answer:" at the beginning of a line.
func parseAnswer(text string) (string, error) {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if m := answerLine.FindStringSubmatch(lines[i]); m != nil {
			if answer := unmarked(strings.Join(append([]string{m[1]}, lines[i+1:]...), "\n")); answer != "" {
				return answer, nil
			}
		}
	}
	return "", errNoAnswer
}

// unmarked removes bold or code marks, or a fence, around an answer.
func unmarked(text string) string {
	text = strings.TrimSpace(text)
	if blocks := reply.Blocks(text); len(blocks) == 1 && strings.HasPrefix(text, "```") {
		return strings.TrimSpace(blocks[0].Code)
	}
	for _, mark := range []string{"**", "`"} {
		if inner, ok := strings.CutPrefix(text, mark); ok && strings.HasSuffix(inner, mark) {
			text = strings.TrimSpace(strings.TrimSuffix(inner, mark))
		}
	}
	if strings.Count(text, "**") == 1 {
		text = strings.TrimSpace(strings.TrimSuffix(text, "**")) // the bold began before "Answer"
	}
	return text
}
