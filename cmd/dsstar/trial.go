package main

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/files"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
)

// trialTasks are the tasks of a trial, those without which a model is not fit at all first. A line each has
// the ability that a task shows, the roles on trial, the question, its form, and words of what is right. The
// files are data, the replies of other roles, and the text of many documents that make a request long.
//
//go:embed trial
var trialTasks embed.FS

// trialTime is what a trial may take, if max_time is not less. A task may take a third.
const trialTime = 3 * time.Minute

// A trial is what a model has shown.
type trial struct {
	Model     string    `json:"model"`
	Context   int       `json:"context"` // the setting
	Fit       string    `json:"fit"`     // alone, judged, no
	Abilities []ability `json:"abilities"`
}

type ability struct {
	Name    string  `json:"ability"`
	Verdict string  `json:"verdict"` // yes, no, untried
	Why     string  `json:"why"`
	Seconds float64 `json:"seconds"` // of the model
	Speed   float64 `json:"tokens_per_second"`
}

// A candidate is a model in the roles on trial. The replies of other roles are written.
type candidate struct {
	llm.Model
	roles        string
	written      map[string][]string
	came, again  int // replies, and those that were asked for again
	read, tokens int // of the longest request, and of all replies
	seconds      float64
	cut          bool // its server reads less than is sent
}

// errShown ends a task when the candidate has had its turn.
var errShown = errors.New("the task is done")

func (c *candidate) Ask(ctx context.Context, r llm.Request) (reply llm.Reply, err error) {
	if texts := c.written[r.Role]; len(texts) > 0 {
		c.written[r.Role] = texts[1:]
		return llm.Reply{Text: texts[0]}, nil
	} else if !strings.Contains(c.roles, r.Role) {
		return reply, errShown
	}
	begin, sent, text := time.Now(), 0, func() string { return "" }
	for _, m := range r.Messages {
		if sent += len(m.Text); m.Role == "assistant" {
			c.again++
		}
	}
	r.OnText = func(soFar func() string) { text = soFar }
	if reply, err = c.Model.Ask(ctx, r); err == nil {
		c.came, c.cut = c.came+1, c.cut || reply.Usage.InputTokens < sent/10
	}
	c.read = max(c.read, reply.Usage.InputTokens)
	c.tokens += cmp.Or(reply.Usage.OutputTokens, len(text())/4)
	c.seconds += time.Since(begin).Seconds()
	return reply, err
}

// tryModel carries out doctor --trial. The context is the user's setting, the method that of the defaults.
func (a *app) tryModel(ctx context.Context, own *configs.Settings, name string) (out cli.Output, err error) {
	s, err := demoSettings(own)
	if err != nil {
		return out, err
	}
	dir, err := disk.TempFolder("", "dsstar-trial-")
	if err != nil {
		return out, err
	}
	defer disk.RemoveTemp(dir)
	whole := min(trialTime, cmp.Or(own.MaxTime, trialTime))
	s.Model, s.Context, s.MaxOutputTokens, s.MaxTime = name, own.Context, own.MaxOutputTokens, whole/3
	j := job{settings: s, task: record.Task{Data: disk.RealPath(dir)}, progress: a.newProgress(false)}
	defer j.progress.Stop()
	if j.model, err = a.open(s, name, nil); err == nil {
		err = j.setUpAlone(ctx, a)
	}
	limited, cancel := context.WithTimeout(ctx, whole)
	defer cancel()
	if err == nil {
		_, err = a.checkModel(limited, s, name) // it may have to be loaded
	}
	t, c := trial{Model: name, Context: s.Context}, &candidate{Model: j.model}
	tasks, _ := trialTasks.ReadDir("trial")
	for _, task := range tasks {
		var did ability
		if err == nil {
			did, err = a.try(limited, j, c, task.Name())
		}
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return out, err
		}
		j.progress.Say("%-8s %s: %s", did.Verdict, did.Name, did.Why)
		t.Abilities = append(t.Abilities, did)
	}
	form := fmt.Sprintf("%d of %d replies were asked for again", c.again, c.came)
	t.Abilities = append(t.Abilities, c.did("keeps the form of a reply", c.came > 0 && c.again == 0, form, candidate{}))
	return a.advise(t, c), nil
}

// did says what the candidate has shown since then.
func (c *candidate) did(what string, right bool, why string, since candidate) ability {
	verdict, seconds := "no", c.seconds-since.seconds
	if right {
		verdict = "yes"
	}
	return ability{what, verdict, ui.Fit(why, 200), seconds, float64(c.tokens-since.tokens) / max(seconds, 0.001)}
}

// advise says what a model is fit for.
func (a *app) advise(t trial, c *candidate) (out cli.Output) {
	unable := slices.IndexFunc(t.Abilities, func(did ability) bool { return did.Verdict != "yes" })
	advice, use := "fit to answer alone", "dsstar nb --data DIR --model %s QUESTION"
	switch {
	case unable < 0 || unable == len(t.Abilities)-1: // to be asked again only takes time
		t.Fit = "alone"
	case unable >= 2:
		t.Fit, advice = "judged", "fit to write the steps, with a stronger judge"
		use += " --role-model judge=PROVIDER/MODEL --role-model second=PROVIDER/MODEL"
	default:
		t.Fit, advice, out.Code = "no", "not fit", exitError
		use = "dsstar doctor --trial PROVIDER/MODEL   # another model"
	}
	hints := []usage.Hint{usage.Shell(use, t.Model)}
	if c.cut {
		hints = append(hints, usage.Again("--context", strconv.Itoa(c.read)).
			Note("its server silently cuts what is longer; better: a larger context there"))
	}
	out.Value, out.Text = t, func(b *strings.Builder) {
		cli.Table(b, lists.Map(t.Abilities, func(did ability) []string {
			return []string{did.Name, did.Verdict, fmt.Sprintf("%.0f s", did.Seconds),
				fmt.Sprintf("%.0f tokens/s", did.Speed), ui.Clean(configs.Redact(did.Why))}
		}))
		fmt.Fprintf(b, "%s is %s\n", t.Model, advice)
		for _, hint := range rendered(hints, a.line) {
			fmt.Fprintf(b, "→ %s\n", configs.Redact(hint))
		}
	}
	return out
}

// try has a model carry out a task.
func (a *app) try(ctx context.Context, j job, c *candidate, name string) (did ability, err error) {
	text, _ := trialTasks.ReadFile("trial/" + name)
	task := txtar.Parse(text)
	lines := strings.Split(string(task.Comment), "\n")
	c.roles, c.written = lines[1], map[string][]string{}
	folder, err := record.CreateFolder(filepath.Join(j.task.Data, name))
	data := filepath.Join(string(folder), record.DataFolder)
	err = cmp.Or(err, os.Mkdir(data, 0o755))
	for _, f := range task.Files {
		switch {
		case strings.HasPrefix(f.Name, record.DataFolder):
			err = cmp.Or(err, os.WriteFile(filepath.Join(string(folder), f.Name), f.Data, 0o644))
		case f.Name == "log":
			for n := range 12 {
				log := fmt.Appendf(nil, "Log %d\n\n%s", n, bytes.Repeat(f.Data, 20))
				err = cmp.Or(err, os.WriteFile(fmt.Sprintf("%s/log-%d.txt", data, n), log, 0o644))
			}
		default:
			c.written[f.Name] = append(c.written[f.Name], string(f.Data))
		}
	}
	j.sources = []files.Source{{Path: data}}
	if err = cmp.Or(err, j.setTask(context.WithoutCancel(ctx), lines[2], lines[3])); err != nil {
		return did, err
	}
	config, place := agentConfig(j.settings), j.site.With(site.Of(folder, data))
	config.Model, config.Dir, config.Alone = c, string(folder), place.About().Alone
	config.Open, config.RunScript = site.Opening(place, nil), place.RunScript
	config.Observe = func(e agent.Event, t *record.Trajectory) error {
		if e.Kind == agent.Proving || e.Kind == agent.Routed && len(c.written["solver"]) == 0 {
			return errShown
		}
		return nil
	}
	before := *c
	t, err := agent.Run(ctx, config, j.task)
	right, what := shown(t, c.roles, lines[4])
	_, unread := errors.AsType[*ask.Error](err)
	_, late := errors.AsType[*ask.BudgetError](err)
	switch {
	case right:
	case ctx.Err() != nil:
		return ability{Name: lines[0], Verdict: "untried", Why: "no time was left"}, nil
	case late:
		what = fmt.Sprintf("not done within %v", j.settings.MaxTime)
	case c.cut:
		what = fmt.Sprintf("its server has read no more than %d tokens", c.read)
	case unread || errors.Is(err, llm.ErrContextLength):
		what = err.Error()
	case !errors.Is(err, errShown):
		return did, err
	}
	return c.did(lines[0], right, what, before), nil
}

// shown reports whether what the roles on trial have done is right, and says what it is.
func shown(t *record.Trajectory, roles, want string) (right bool, what string) {
	what = t.Judged().Reason // also why a step was dropped
	switch of, _, _ := strings.Cut(roles, " "); {
	case len(t.Rounds) == 0:
		return false, "it gave no step"
	case of == "judge" && t.Rounds[0].Dropped == 0:
		return false, "it found a wrong step right"
	case of == "judge":
		what = cmp.Or(t.Answer(), "it found a right step wrong: "+what)
	case of == "second" && t.Second != nil:
		return t.Second.Agrees, cmp.Or(t.Second.Answer, t.Second.Reason)
	case of == "readings":
		what = "no open reading"
		for _, r := range slices.DeleteFunc(t.Readings, func(r record.Reading) bool { return !r.Open() }) {
			options := lists.Map(r.Options, func(o record.Option) string { return o.Text })
			what = r.Point + " / " + strings.Join(options, " / ")
		}
	case t.Steps() > 0:
		what = strings.ReplaceAll(t.Rounds[0].Accepted().Execution.PlainText(), ",", "")
	}
	lacks := func(word string) bool { return !strings.Contains(strings.ToLower(what), word) }
	return !slices.ContainsFunc(strings.Fields(want), lacks), what
}
