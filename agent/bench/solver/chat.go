package solver

import (
	"cmp"
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

// A chat is a conversation with the model: the task and the role's own part, which are always sent,
// and what was said since.
type chat struct {
	*desk
	role   string
	words  []prompts.Part
	talk   []llm.Message // replies, each with the message after it
	window int           // replies to send; 0: all
}

// newChat returns a chat whose first message has the task and the role's own part.
func (d *desk) newChat(role string, window int, own prompts.Part) *chat {
	return &chat{desk: d, role: role, words: []prompts.Part{d.known, own}, window: window}
}

// ask returns the next reply without the model's thoughts. problem says why it is unusable: it stays in
// the conversation, but its actions are not carried out.
func (c *chat) ask(ctx context.Context, subject string) (text, problem string, err error) {
	from := 0
	if c.window > 0 {
		from = max(0, len(c.talk)/2-c.window)
	}
	text, err = ask.Role(ctx, c.at.Asker(), ask.Request{Role: c.role, Subject: subject,
		Words: func() []prompts.Part { return c.words }, Talk: c.talk[2*from:]}, ask.AnyText)
	if unread, ok := errors.AsType[*ask.Error](err); ok {
		return cmp.Or(unread.Reply, "(nothing)"), unread.Problem, nil
	}
	return text, "", err
}

// A move is what a reply asks for, or what is wrong with it.
type move struct {
	problem, rule string // why it cannot be carried out, and what the next reply must be
	cell          string // to run
	told          prompts.Observation
	failed        string // the note of told if the cell fails; "": no other one
	shown         string // the next message, if there is nothing to run
	ends          bool   // the conversation
	answer        string
	finished      bool // by the agent's own rule
}

// talkOn asks up to most times, and carries out the replies as read reads them, which may have a
// problem already. It ends with a move or with a cell that hands over the answer.
func (c *chat) talkOn(ctx context.Context, what string, most int,
	read func(text, problem string) move) (answer string, finished bool, err error) {
	for c.rounds < most {
		c.rounds++
		text, problem, err := c.ask(ctx, fmt.Sprintf("%s %d", what, c.rounds))
		if err != nil {
			return "", false, err
		}
		m := read(text, problem)
		if m.problem != "" {
			m.cell, m.shown = "", prompts.Text(prompts.Reask{Problem: m.problem, Rule: m.rule})
		}
		if m.cell == "" {
			err = c.at.Note(text, m.shown)
		} else {
			var e notebook.Execution
			if e, m.told.Output, err = c.run(ctx, rest(text), m.cell); e.Status != notebook.OK {
				m.told.Note = m.failed
			} else if answer, over := handedOver(e); over {
				return answer, true, err
			}
			m.shown = prompts.Text(m.told)
		}
		if err != nil || m.ends {
			return m.answer, m.finished, err
		}
		c.talk = append(c.talk, llm.Message{Role: "assistant", Text: text},
			llm.Message{Role: "user", Text: m.shown})
	}
	return "", false, nil
}

// rest returns a text without its code blocks.
func rest(text string) string { return strings.TrimSpace(ask.Prose(text)) }

// answers reads a reply whose last line is the answer.
var answers = ask.Format[string]{
	Rule: "The last line of the reply is `Answer:` and the answer, which may go on in lines below.",
	Parse: func(text string) (string, error) {
		if answerIn(text) == "" {
			return "", errors.New("it has no line that begins with Answer")
		}
		return text, nil
	},
}

var answerLine = regexp.MustCompile(`(?i)^[\s*_#>]*(?:final\s+)?answer[*_]*\s*:[*_]*(.*)$`)

// answerIn returns what follows the last "Answer:" at the beginning of a line, or "".
func answerIn(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if m := answerLine.FindStringSubmatch(lines[i]); m != nil {
			answer := strings.Join(append([]string{m[1]}, lines[i+1:]...), "\n")
			if answer = strings.Trim(answer, "*` \t\n"); answer != "" { // also marks around it
				return answer
			}
		}
	}
	return ""
}

// handedOver returns the answer that a cell passed to final_answer.
func handedOver(e notebook.Execution) (answer string, ok bool) {
	for _, o := range e.Outputs {
		data, is := o.Data["application/vnd.dsstar.answer+json"].(map[string]any)
		if is {
			answer, ok = data["answer"].(string)
		}
	}
	return answer, ok
}
