package solver

import (
	"cmp"
	"context"
	"regexp"
	"strings"

	"dsstar/agent/reply"
	"dsstar/notebook"
	"dsstar/prompts"
)

// autoGen is the two-agent chat of AutoGen (Wu et al. 2023, figure 1; AssistantAgent and
// UserProxyAgent of version 0.2): an assistant writes code blocks, and a proxy runs them and
// replies with their output, until the assistant says TERMINATE or the proxy has replied 100
// times, the library's default. All code blocks of a message run in order, up to the first
// failure. Python runs in one session; the library's default executor starts a process for
// each block.
func autoGen(o Options) Solver {
	o.Steps = cmp.Or(o.Steps, 100)
	return job{agent: "autogen", options: o, most: 20_000, code: true, setup: actions,
		work: autoGenWork}
}

const (
	assistantRule = "Send a code block to be run, or the answer and TERMINATE."
	goOn          = "There is no code block in your message, and no TERMINATE. Go on, or end with " +
		"the answer and TERMINATE."
)

var terminates = regexp.MustCompile("[\\s*_]*`?" + `\bTERMINATE[\s.!*_"'` + "`" + `]*$`)

func autoGenWork(ctx context.Context, d *desk) (answer string, ended bool, err error) {
	c, err := d.newChat("assistant", "Begin.", 0, prompts.AutoGen{})
	if err != nil {
		return "", false, err
	}
	last := "" // the last message that says more than TERMINATE
	steps := d.options.Steps
	err = c.each(ctx, steps+1, "Message", func(title, text, problem string) (prompts.Reask, bool, error) {
		if problem != "" {
			return prompts.Reask{Problem: problem, Rule: assistantRule}, false, nil
		}
		if bare := strings.TrimSpace(terminates.ReplaceAllString(text, "")); bare != "" {
			last = bare
		}
		none := prompts.Reask{}
		switch {
		case terminates.MatchString(text):
			_, err := d.add(turn{title: title, said: rest(text)})
			ended = err == nil
			return none, true, err
		case c.rounds > steps:
			_, err := d.add(turn{title: title, said: text, shown: "The proxy has no reply left."})
			return none, true, err
		}
		return none, false, c.proxy(ctx, title, text)
	})
	if found, unread := parseAnswer(last); unread == nil {
		return found.answer, ended, err
	}
	return rest(last), ended, err // all but code
}

// proxy runs the blocks of a message and prepares the reply.
func (c *chat) proxy(ctx context.Context, title, text string) error {
	said := rest(text)
	var output []string
	note := "The code ran without an error."
	for _, b := range reply.Blocks(text) {
		t := turn{title: title, said: said, cell: b.Code}
		switch b.Language {
		case "python", "":
		case "sh", "bash", "shell":
			t.cell = "bash(" + literal(b.Code) + ")"
		default:
			note = "A block in the language " + b.Language + " cannot be run: use python or sh."
			continue
		}
		if b.Code == "" {
			continue
		}
		ran, err := c.run(ctx, t)
		if err != nil {
			return err
		}
		output = append(output, ran.shown)
		said, title = "", title+", next block"
		if ran.ran.Status != notebook.OK {
			note = "The code failed."
			break
		}
	}
	if len(output) == 0 {
		c.pending = goOn
		_, err := c.add(turn{title: title, said: text, shown: goOn})
		return err
	}
	return c.tell(prompts.Observation{Output: strings.Join(output, "\n"), Note: note})
}
