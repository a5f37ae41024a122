package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func (s *Server) addTools() {
	add(s, answerTool("ask", "Ask about data", `Answers a question about data files or databases with a
proved number, table, text or chart, and leaves a notebook that the user can review and re-run. Use
it instead of writing analysis code yourself. It takes minutes; if the call is cut off, continue_run
goes on without repeating anything.`), s.ask, answerInWords)
	add(s, answerTool("follow_up", "Ask a follow-up question", `Asks another question in the session of
a finished run, which has its data, variables and notebook. Faster than ask.`), s.followUp,
		answerInWords)
	add(s, answerTool("continue_run", "Continue a run", `Continues a run that was interrupted, timed out
or spent its budget, whose notebook the user has edited, or whose answer depends on a reading that the
user chooses. Nothing that the model has answered is
asked again.`), s.continueRun, answerInWords)
	add(s, answerTool("go_back", "Go back in a run", `Goes back to before a step of a run whose answer
or approach is wrong: drops that step and all after it, and works on from there to a new answer. The
notebook keeps what was dropped, folded.`), s.goBack, answerInWords)
	add(s, readTool("describe_data", "Describe data", `Describes data files: tables with columns, types,
ranges, missing values and keys; and documents. No model sees the data for this, as a rule.`), s.describe, descriptionsInWords)
	add(s, readTool("list_kernels", "List kernels", `Lists the running Jupyter kernels and servers of
this machine, and the kernelspecs.`), func(context.Context, struct{}) (command, error) {
		return command{args: []string{"kernels", "--json"}}, nil
	}, nil)
	add(s, readTool("list_runs", "List runs", `Lists earlier questions with their answers, the newest
first: whether each is verified, what it cost, its run folder and notebook. What is claimed is only
said by the notebook, because another dsstar made it: continue_run checks it.`),
		func(_ context.Context, in runsArgs) (command, error) { return s.runsList(in.Words), nil }, nil)
	add(s, &sdk.Tool{Name: "rerun_notebook", Title: "Re-run a notebook",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: new(bool), IdempotentHint: true,
			OpenWorldHint: new(bool)},
		Description: oneLine(`Runs any notebook from top to bottom in a fresh kernel in a sandbox, and
says which of its outputs, and which answers of dsstar's, are still the same.`)},
		s.rerun, nil)
}

// answerTool is a tool that answers a question.
func answerTool(name, title, text string) *sdk.Tool {
	return &sdk.Tool{Name: name, Title: title, Description: oneLine(text),
		Annotations: &sdk.ToolAnnotations{DestructiveHint: new(bool)}}
}

// readTool is a tool that changes nothing.
func readTool(name, title, text string) *sdk.Tool {
	return &sdk.Tool{Name: name, Title: title, Description: oneLine(text),
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// add adds a tool, which runs the command that made returns.
func add[In any](s *Server, tool *sdk.Tool, made func(context.Context, In) (command, error),
	inWords func(json.RawMessage) string) {
	schema := schemaOf[In](tool.Name)
	tool.InputSchema, tool.OutputSchema = schema, &jsonschema.Schema{Type: "object"}
	if !tool.Annotations.ReadOnlyHint && tool.Name != "rerun_notebook" {
		tool.OutputSchema = s.Answer
	}
	s.sdk.AddTool(tool, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.calls.Add(1)
		defer s.calls.Done()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.ctx, cancel)()
		var in In
		var c command
		var result *sdk.CallToolResult
		err := readArguments(r.Params.Arguments, schema, &in)
		if err == nil {
			c, err = made(ctx, in)
		}
		if err == nil {
			result, err = s.carryOut(ctx, r, c, inWords)
		}
		if err != nil {
			result = &sdk.CallToolResult{}
			result.SetError(err)
		}
		return result, nil
	})
}

// toAnswer are the flags of commands that answer a question.
var toAnswer = []string{"--json", "--progress=json"}

func (s *Server) ask(_ context.Context, in askArgs) (command, error) {
	c := command{args: append([]string{"nb"}, toAnswer...), input: in.Question}
	if strings.TrimSpace(in.Question) == "" {
		return c, errNoQuestion
	}
	if in.Kernel != "" {
		if !s.Kernels {
			return c, errors.New("running kernels are not in the sandbox, and this server may not use " +
				"them: the user can start it with dsstar mcp --allow-kernels")
		}
		c.args = append(c.args, "--yes", "--kernel="+in.Kernel)
	} else if len(in.Data) == 0 {
		in.Data = s.Data
	}
	err := s.addData(&c, in.Data)
	c.args = append(c.args, form(in.Guidelines)...)
	return c, err
}

var errNoQuestion = errors.New("question: no question is given")

// form is the flag for the form of an answer. A text that begins with @ does not name a file here.
func form(guidelines string) []string {
	if guidelines == "" {
		return nil
	}
	return []string{"--guidelines= " + guidelines}
}

// resume is the command that works on in a run.
func (s *Server) resume(ctx context.Context, run string, flags ...string) (command, error) {
	folder, err := s.folderOf(ctx, run)
	args := append(append([]string{"resume"}, toAnswer...), flags...)
	return command{args: append(args, "--", folder)}, err
}

func (s *Server) followUp(ctx context.Context, in followUpArgs) (command, error) {
	if strings.TrimSpace(in.Question) == "" {
		return command{}, errNoQuestion
	}
	return s.resume(ctx, in.Run, append(form(in.Guidelines), "--ask= "+in.Question)...)
}

func (s *Server) continueRun(ctx context.Context, in continueArgs) (command, error) {
	if in.Choose != "" {
		return s.resume(ctx, in.Run, "--choose="+in.Choose)
	}
	return s.resume(ctx, in.Run)
}

func (s *Server) goBack(ctx context.Context, in goBackArgs) (command, error) {
	return s.resume(ctx, in.Run, "--drop="+strconv.Itoa(in.Step), "--note="+in.Note)
}

func (s *Server) describe(_ context.Context, in describeArgs) (command, error) {
	c := command{args: []string{"describe", "--json", "--quiet", "--question=" + in.Question}}
	if len(in.Data) == 0 {
		in.Data = s.Data
	}
	for _, one := range in.Data {
		if err := s.MayRead(one); err != nil {
			return c, err
		}
	}
	c.args = append(append(c.args, "--"), in.Data...)
	return c, nil
}

// addData adds data to a command, if they may be read.
func (s *Server) addData(c *command, data []string) error {
	for _, one := range data {
		if err := s.MayRead(one); err != nil {
			return err
		}
		c.args = append(c.args, "--data="+one)
	}
	return nil
}

func (s *Server) rerun(ctx context.Context, in rerunArgs) (command, error) {
	path, err := s.folderOf(ctx, in.Notebook)
	c := command{args: []string{"rerun", "--json", "--quiet"}}
	if !in.Write {
		c.args = append(c.args, "--check")
	}
	if in.Data != "" && err == nil {
		err = s.addData(&c, []string{in.Data})
	}
	c.args = append(c.args, "--", path)
	return c, err
}
