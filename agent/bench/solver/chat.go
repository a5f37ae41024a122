package solver

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
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
	text, err := ask.Visible(said.Text)
	if err != nil {
		return "(nothing)", err.Error()
	}
	if _, err = anything.Read(said); err != nil {
		problem = err.Error()
	}
	return text, problem
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
			m.shown, err = c.cfg.Prompts.Text(prompts.Reask{Problem: m.problem, Rule: m.rule})
		}
		if err == nil && len(m.cells) == 0 {
			c.pending = m.shown
			_, err = c.add(turn{title: title, said: m.said, shown: m.shown})
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
	return "", false, c.tell(m.told)
}

// tell sets the next user message.
func (c *chat) tell(parts ...prompts.Part) (err error) {
	c.pending, err = c.cfg.Prompts.Text(parts...)
	return err
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
	if blocks := ask.Blocks(text); len(blocks) == 1 && strings.HasPrefix(text, "```") {
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

// react is DABStep's baseline (section 4.1): at most 10 steps (table 1), each a thought and a
// Python cell in one session, until the code calls final_answer. Two settings are those of its
// library, smolagents: an observation has at most 20,000 characters, and one more call asks for
// the answer when no step is left. Reasoning models get a prompt of four stages.
func react(ctx context.Context, d *desk) (answer string, finished bool, err error) {
	steps := d.options.Steps
	c, err := d.newChat("react", "Begin.", 0, prompts.React{Steps: steps,
		Reasoning: d.options.Reasoning})
	if err != nil {
		return "", false, err
	}
	answer, finished, err = c.talk(ctx, "Step", steps, func(text, problem string) move {
		code := pythonOf(text)
		if problem == "" && code == "" {
			problem = "it has no code block"
		}
		if problem != "" {
			return move{problem: problem, rule: "Reply with a thought and one ```python code block."}
		}
		return move{said: rest(text), cells: []string{code}, told: prompts.Observation{Left: steps - c.rounds}}
	})
	if err == nil && !finished {
		answer, err = c.lastWord(ctx)
	}
	return answer, finished, err
}

// pythonOf returns the code of a step: its Python blocks, in order.
func pythonOf(text string) string {
	var code []string
	for _, b := range ask.Blocks(text) {
		if b.Language == "python" || b.Language == "" {
			code = append(code, b.Code)
		}
	}
	return strings.Join(code, "\n\n")
}

// handedOver returns the answer that a cell passed to final_answer.
func handedOver(e notebook.Execution) (answer string, ok bool) {
	if e.Status != notebook.OK {
		return "", false
	}
	for _, o := range e.Outputs {
		data, is := o.Data["application/vnd.dsstar.answer+json"].(map[string]any)
		if is {
			answer, ok = data["answer"].(string)
		}
	}
	return answer, ok
}

// lastWord asks for the answer when no step is left.
func (c *chat) lastWord(ctx context.Context) (string, error) {
	shown := c.pending
	if err := c.tell(prompts.Answer{}); err != nil {
		return "", err
	}
	c.pending = strings.TrimPrefix(shown+"\n\n"+c.pending, "\n\n")
	text, problem, err := c.ask(ctx, "the answer")
	if errors.Is(err, llm.ErrContextLength) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	t := turn{title: "The answer, as no step is left", said: text}
	found, unread := parseAnswer(text)
	if problem != "" || unread != nil {
		found, t.shown = said{}, "There is no answer in the reply."
	}
	_, err = c.add(t)
	return found.answer, err
}

const (
	assistantRule = "Send a code block to be run, or the answer and TERMINATE."
	goOn          = "There is no code block in your message, and no TERMINATE. Go on, or end with " +
		"the answer and TERMINATE."
)

var terminates = regexp.MustCompile("[\\s*_]*`?" + `\bTERMINATE[\s.!*_"'` + "`" + `]*$`)

// autoGen is the two-agent chat of AutoGen (Wu et al. 2023, figure 1; AssistantAgent and
// UserProxyAgent of version 0.2): an assistant writes code blocks, and a proxy runs them and
// replies with their output, until the assistant says TERMINATE or the proxy has replied 100
// times, the library's default. All code blocks of a message run in order, up to the first
// failure. Python runs in one session; the library's default executor starts a process for
// each block.
func autoGen(ctx context.Context, d *desk) (answer string, ended bool, err error) {
	c, err := d.newChat("assistant", "Begin.", 0, prompts.AutoGen{})
	if err != nil {
		return "", false, err
	}
	last := "" // the last message that says more than TERMINATE
	steps := d.options.Steps
	_, ended, err = c.talk(ctx, "Message", steps+1, func(text, problem string) move {
		if problem != "" {
			return move{problem: problem, rule: assistantRule}
		}
		if bare := strings.TrimSpace(terminates.ReplaceAllString(text, "")); bare != "" {
			last = bare
		}
		switch {
		case terminates.MatchString(text):
			return move{said: rest(text), ends: true, finished: true}
		case c.rounds > steps:
			return move{said: text, shown: "The proxy has no reply left.", ends: true}
		}
		return blocksOf(text)
	})
	if found, unread := parseAnswer(last); unread == nil {
		return found.answer, ended, err
	}
	return rest(last), ended, err // all but code
}

// blocksOf returns the move that runs the blocks of a message.
func blocksOf(text string) move {
	m := move{said: rest(text), failed: "The code failed.",
		told: prompts.Observation{Note: "The code ran without an error."}}
	for _, b := range ask.Blocks(text) {
		switch {
		case b.Code == "":
		case b.Language == "python" || b.Language == "":
			m.cells = append(m.cells, b.Code)
		case slices.Contains([]string{"sh", "bash", "shell"}, b.Language):
			m.cells = append(m.cells, "bash("+literal(b.Code)+")")
		default:
			m.told.Note = "A block in the language " + b.Language + " cannot be run: use python or sh."
		}
	}
	if m.cells == nil {
		m.said, m.shown = text, goOn
	}
	return m
}
