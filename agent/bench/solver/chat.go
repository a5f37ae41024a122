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
	past    [][2]string // user messages and their replies
	pending string      // the next user message
	window  int         // exchanges to send; 0: all
}

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
		messages := []llm.Message{{Role: "system", Text: c.system}}
		for _, e := range c.past {
			messages = append(messages, llm.Message{Role: "user", Text: e[0]},
				llm.Message{Role: "assistant", Text: e[1]})
		}
		said, err := c.Call(ctx, c.request(c.role, subject, c.pending,
			append(messages, llm.Message{Role: "user", Text: c.pending})...))
		if errors.Is(err, llm.ErrContextLength) && len(c.past) > 0 {
			c.past = c.past[1:]
			continue
		}
		if err != nil {
			return "", "", err
		}
		text, problem = readable(said)
		c.past = append(c.past, [2]string{c.pending, text})
		if c.window > 0 && len(c.past) > c.window {
			c.past = c.past[len(c.past)-c.window:]
		}
		c.pending = ""
		return text, problem, nil
	}
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

// each asks up to most times, and has take carry out each reply, which it may be unable to read for
// a problem that is known. take returns what to tell the model of a reply that it cannot carry out,
// and whether the work is done.
func (c *chat) each(ctx context.Context, most int, what string,
	take func(title, text, problem string) (again prompts.Reask, done bool, err error)) error {
	for c.rounds < most {
		c.rounds++
		title := fmt.Sprintf("%s %d", what, c.rounds)
		text, problem, err := c.ask(ctx, strings.ToLower(title))
		if err != nil {
			return err
		}
		again, done, err := take(title, text, problem)
		if err == nil && again.Problem != "" {
			if err = c.tell(again); err == nil {
				_, err = c.add(turn{title: title, said: text, shown: c.pending})
			}
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

// answers reads a reply whose last line is the answer.
var answers = reply.Format[said]{
	Rule:  "The last line of the reply is `Answer:` and the answer, which may go on in lines below.",
	Parse: parseAnswer,
}

// said is a reply with the answer in it.
type said struct{ text, answer string }

var errNoAnswer = errors.New("it has no line that begins with Answer")

var answerLine = regexp.MustCompile(`(?i)^[\s*_#>]*(?:final\s+)?answer[*_]*\s*:[*_]*(.*)$`)

// parseAnswer reads what follows the last "Answer:" at the beginning of a line.
func parseAnswer(text string) (said, error) {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if m := answerLine.FindStringSubmatch(lines[i]); m != nil {
			if answer := unmarked(strings.Join(append([]string{m[1]}, lines[i+1:]...), "\n")); answer != "" {
				return said{text, answer}, nil
			}
		}
	}
	return said{}, errNoAnswer
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
