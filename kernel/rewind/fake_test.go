package rewind

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"dsstar/kernel"
	"dsstar/notebook"
)

// A fake is a kernel whose state is the cells that it has run. Some cells do more:
//
//	fail               raises
//	die                ends the process that runs cells
//	end                ends the kernel
//	refuse             is refused by freeze from then on
type fake struct {
	state  []string
	dead   bool
	ended  bool
	silent bool
	count  int // execution_count
	serial int // all cells ever: a cell that runs again gives another output
	resets int
	frozen map[string]fake
	made   int
	lose   func(id string) bool // copies that cannot be resumed
}

var errFake = errors.New("the kernel ended")

func (f *fake) Hold(ctx context.Context) (context.Context, func(), error) {
	return ctx, func() {}, nil
}

func (f *fake) Alive() bool { return !f.dead && !f.ended }

func (f *fake) ExecuteCell(_ context.Context, c kernel.Cell) (notebook.Execution, error) {
	if !f.Alive() {
		return notebook.Execution{Status: notebook.Died}, nil
	}
	f.count++
	f.serial++
	f.state = append(slices.Clone(f.state), c.Code)
	x := notebook.Execution{Status: notebook.OK, Count: f.count}
	x.Outputs = []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: fmt.Sprint(f.serial)}}
	switch c.Code {
	case "fail":
		x.Status = notebook.Raised
	case "die", "end":
		x.Status, f.dead, f.ended = notebook.Died, true, c.Code == "end"
	}
	return x, nil
}

func (f *fake) Reset(context.Context) error {
	f.resets++
	f.state, f.count, f.dead, f.ended, f.silent = nil, 0, false, false, false
	f.frozen = map[string]fake{}
	return nil
}

func (f *fake) asked() error {
	switch {
	case f.ended:
		return errFake
	case f.silent:
		return fmt.Errorf("%w a request", errSilent)
	}
	return nil
}

func (f *fake) freeze(context.Context) (string, int, error) {
	if err := f.asked(); err != nil {
		return "", 0, err
	}
	if slices.Contains(f.state, "refuse") {
		return "", 0, errors.New("refused for a reason")
	}
	f.made++
	id := fmt.Sprint(f.made)
	if f.frozen == nil {
		f.frozen = map[string]fake{}
	}
	f.frozen[id] = fake{state: slices.Clone(f.state), count: f.count}
	return id, f.count, nil
}

func (f *fake) resume(_ context.Context, id string) (int, error) {
	if err := f.asked(); err != nil {
		return 0, err
	}
	copied, ok := f.frozen[id]
	if !ok || f.lose != nil && f.lose(id) {
		return 0, errors.New("no such copy")
	}
	f.state, f.count, f.dead = slices.Clone(copied.state), copied.count, false
	return f.count, nil
}

func (f *fake) drop(_ context.Context, id string) error {
	if err := f.asked(); err != nil {
		return err
	}
	delete(f.frozen, id)
	return nil
}
