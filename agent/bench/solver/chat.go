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
// sent, the first message, and the turns.
type chat struct {
	*desk
	role, system, first string
	window              int // turns to send; 0: all
	from                int // the first turn that is still sent
}

// newChat returns a chat whose system message has the task and the role's own part.
func (d *desk) newChat(role, first string, window int, own prompts.Part) *chat {
	system := prompts.Text(d.workplace(), d.context(), own)
	return &chat{desk: d, role: role, system: system, first: first, window: window}
}

// ask sends the next message and returns the reply without the model's thoughts. problem
// tells the model why a reply is unusable: one that was cut off stays in the conversation, but its
// actions are not carried out. While the request exceeds the model's context, the oldest turn is
// dropped for good.
func (c *chat) ask(ctx context.Context, subject string) (text, problem string, err error) {
	if c.window > 0 {
		c.from = max(c.from, len(c.turns)-c.window)
	}
	messages, next := []llm.Message{{Role: "system", Text: c.system}}, c.first
	for i, t := range c.turns {
		if i >= c.from {
			messages = append(messages, llm.Message{Role: "user", Text: next},
				llm.Message{Role: "assistant", Text: t.reply})
		}
		next = t.shown
	}
	said, err := c.Call(ctx, llm.Request{Role: c.role, Subject: subject, MaxTokens: c.MaxTokens,
		RestsOn:  []any{c.task.Question, c.task.Guidelines, next},
		Messages: append(messages, llm.Message{Role: "user", Text: next})})
	if errors.Is(err, llm.ErrContextLength) && c.from < len(c.turns) {
		c.from++
		return c.ask(ctx, subject)
	}
	if err != nil {
		return "", "", err
	}
	text, unread := ask.Visible(said.Text)
	if unread != nil {
		return "(nothing)", unread.Error(), nil
	}
	if _, err := anything.Read(said); err != nil {
		problem = err.Error()
	}
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

// talk asks up to most times, and carries out the replies as read reads them, which may have a
// problem already. It ends with a move or with a cell that hands over the answer.
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
			m.shown = prompts.Text(prompts.Reask{Problem: m.problem, Rule: m.rule})
		}
		err = c.add(turn{title: title, reply: text, said: m.said, shown: m.shown})
		if err == nil && m.cells != nil {
			answer, finished, err = c.carryOut(ctx, m)
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

// carryOut runs the cells of a move and sets the next message.
func (c *chat) carryOut(ctx context.Context, m move) (answer string, finished bool, err error) {
	var output []string
	for _, code := range m.cells {
		ran, err := c.run(ctx, code)
		if err != nil {
			return "", false, err
		}
		if answer, finished = handedOver(ran.Execution); finished {
			return answer, true, nil
		}
		if output = append(output, ran.shown); ran.Status != notebook.OK {
			m.told.Note = m.failed
			break
		}
	}
	m.told.Output = strings.Join(output, "\n")
	c.last().shown = prompts.Text(m.told)
	return "", false, nil
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
			answer := strings.Join(append([]string{m[1]}, lines[i+1:]...), "\n")
			if answer = strings.Trim(answer, "*` \t\n"); answer != "" { // also marks around it
				return said{text, answer}, nil
			}
		}
	}
	return said{}, errors.New("it has no line that begins with Answer")
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
