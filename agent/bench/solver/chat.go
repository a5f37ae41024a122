package solver

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/llm"
	"dsstar/notebook"
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
	system, err := d.Prompts.Text(d.workplace(), d.context(), own)
	return &chat{desk: d, role: role, system: system, pending: first, window: window}, err
}

// ask sends the pending message and returns the reply without the model's thoughts. problem
// tells the model why a reply is unusable: one that was cut off stays in the conversation, but its
// actions are not carried out. While the request exceeds the model's context, the oldest exchange is
// dropped for good.
func (c *chat) ask(ctx context.Context, subject string) (text, problem string, err error) {
	messages := []llm.Message{{Role: "system", Text: c.system}}
	for _, e := range c.past {
		messages = append(messages, llm.Message{Role: "user", Text: e[0]},
			llm.Message{Role: "assistant", Text: e[1]})
	}
	said, err := c.Call(ctx, llm.Request{Role: c.role, Subject: subject, MaxTokens: c.MaxTokens,
		RestsOn:  []any{c.task.Question, c.task.Guidelines, c.pending},
		Messages: append(messages, llm.Message{Role: "user", Text: c.pending})})
	if errors.Is(err, llm.ErrContextLength) && len(c.past) > 0 {
		c.past = c.past[1:]
		return c.ask(ctx, subject)
	}
	if err != nil {
		return "", "", err
	}
	text, unread := ask.Visible(said.Text)
	if unread != nil {
		text = "(nothing)"
	} else {
		_, unread = anything.Read(said)
	}
	if unread != nil {
		problem = unread.Error()
	}
	c.past = append(c.past, [2]string{c.pending, text})
	if c.window > 0 && len(c.past) > c.window {
		c.past = c.past[len(c.past)-c.window:]
	}
	c.pending = ""
	return text, problem, nil
}

// A move is what a reply asks for, or what is wrong with it.
type move struct {
	problem, rule string // why it cannot be carried out, and what the next reply must be
	said          string
	shown         string   // the next message, if there is nothing to run
	cells         []string // to run, up to the first that fails
	told          prompts.Observation
	failed        string // the note of told if a cell fails; "": no other one
	ends          bool   // the conversation
	answer        string
	finished      bool // by the agent's own rule
}

// talk asks up to most times, and carries out the replies as read reads them, which may have a problem
// already. It ends with a move or with a cell that hands over the answer.
func (c *chat) talk(ctx context.Context, what string, most int,
	read func(text, problem string) move) (answer string, finished bool, err error) {
	for c.rounds < most {
		c.rounds++
		title := fmt.Sprintf("%s %d", what, c.rounds)
		text, problem, err := c.ask(ctx, strings.ToLower(title))
		if err != nil {
			return "", false, err
		}
		m := read(text, problem)
		if m.problem != "" {
			m.said = text
			m.shown, err = c.Prompts.Text(prompts.Reask{Problem: m.problem, Rule: m.rule})
		}
		if err == nil && len(m.cells) == 0 {
			c.pending = m.shown
			err = c.add(turn{title: title, said: m.said, shown: m.shown})
		} else if err == nil {
			answer, finished, err = c.runAll(ctx, title, m)
		}
		if err != nil || finished {
			return answer, finished, err
		}
		if m.ends {
			return m.answer, m.finished, nil
		}
	}
	return "", false, nil
}

// runAll runs the cells of a move and sets the next message.
func (c *chat) runAll(ctx context.Context, title string, m move) (answer string, finished bool, err error) {
	var output []string
	for _, cell := range m.cells {
		t, err := c.run(ctx, turn{title: title, said: m.said, cell: cell})
		if err != nil {
			return "", false, err
		}
		if answer, finished = handedOver(t.ran); finished {
			return answer, true, nil
		}
		output = append(output, t.shown)
		m.said, title = "", title+", next block"
		if t.ran.Status != notebook.OK {
			m.told.Note = m.failed
			break
		}
	}
	m.told.Output = strings.Join(output, "\n")
	c.pending, err = c.Prompts.Text(m.told)
	return "", false, err
}

// rest returns a text without its code blocks.
func rest(text string) string { return strings.TrimSpace(ask.Prose(text)) }

// anything reads any reply that is whole.
var anything = ask.Format[string]{Rule: "Reply with the lesson alone.",
	Parse: func(text string) (string, error) { return text, nil }}

// answers reads a reply whose last line is the answer.
var answers = ask.Format[said]{
	Rule:  "The last line of the reply is `Answer:` and the answer, which may go on in lines below.",
	Parse: parseAnswer,
}

// said is a reply with the answer in it.
type said struct{ text, answer string }

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
	return said{}, errors.New("it has no line that begins with Answer")
}

// unmarked removes bold or code marks, or a fence, around an answer.
func unmarked(text string) string {
	text = strings.TrimSpace(text)
	if blocks := ask.Blocks(text); len(blocks) == 1 && strings.HasPrefix(text, "```") {
		return strings.TrimSpace(blocks[0].Code)
	}
	for _, mark := range []string{"**", "`"} {
		if inner, ok := strings.CutPrefix(text, mark); ok && strings.HasSuffix(inner, mark) {
			text = strings.TrimSpace(strings.TrimSuffix(inner, mark))
		}
	}
	if strings.Count(text, "**") == 1 { // the bold began before "Answer"
		text = strings.TrimSpace(strings.TrimSuffix(text, "**"))
	}
	return text
}

// handedOver returns the answer that a cell passed to final_answer.
func handedOver(e notebook.Execution) (answer string, ok bool) {
	for _, o := range e.Outputs {
		data, is := o.Data["application/vnd.dsstar.answer+json"].(map[string]any)
		if is && e.Status == notebook.OK {
			answer, ok = data["answer"].(string)
		}
	}
	return answer, ok
}
