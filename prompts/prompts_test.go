package prompts

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/*.golden anew")

// parts has the zero value of every part.
var parts = []Part{
	System{}, Context{}, Question{}, Notebook{}, Earlier{}, Notes{}, Analyzer{}, Solver{}, Judgement{},
	Second{}, Arbiter{}, Learner{}, Branches{}, Finalizer{}, Summarizer{},
	DebuggerScript{}, Debugger{}, Reask{}, Workplace{}, ModelOnly{}, React{}, DAAgent{}, AutoGen{},
	Observation{}, Answer{}, InterpreterPlan{}, InterpreterCode{}, InterpreterVerify{},
	InterpreterAnswer{}, Grader{}, PaperSystem{}, PaperScript{}, PaperPlanner{}, PaperCoder{},
	PaperVerifier{}, PaperRouter{}, PaperFinalizer{}, PaperDebugger{}, SolutionForm{}, JudgementForm{},
	BranchesForm{}, RulingForm{},
}

// filled returns a part with slices of two elements. It calls set for every leaf, with the names of
// its type and field.
func filled(zero Part, set func(field string, leaf reflect.Value)) Part {
	var fill func(v reflect.Value, field string)
	fill = func(v reflect.Value, field string) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				fill(v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name)
			}
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			fill(v.Index(0), field)
			fill(v.Index(1), field)
		default:
			set(field, v)
		}
	}
	v := reflect.New(reflect.TypeOf(zero)).Elem()
	fill(v, "")
	return v.Interface().(Part)
}

// marked returns a part with a mark in every field, and the marks. Conditions are true if on
// accepts them.
func marked(zero Part, on func(field string) bool) (Part, []string) {
	var marks []string
	part := filled(zero, func(field string, leaf reflect.Value) {
		switch leaf.Kind() {
		case reflect.Bool:
			leaf.SetBool(on(field))
		case reflect.Int:
			leaf.SetInt(int64(17 + len(marks)))
			marks = append(marks, fmt.Sprint(leaf.Int()))
		default:
			leaf.SetString("«" + field + "»")
			marks = append(marks, leaf.String())
		}
	})
	return part, marks
}

// TestGolden renders every part empty, and full with no condition true, with each, and with all.
func TestGolden(t *testing.T) {
	var templates []string
	for _, zero := range parts {
		templates = append(templates, templateOf(zero)+".md.tmpl")
		t.Run(templateOf(zero), func(t *testing.T) {
			golden, seen := "", map[string]bool{}
			add := func(title string, part Part) {
				s := Text(part)
				if title != "empty" && (strings.Contains(s, "\n\n\n") || strings.Contains(s, " \n")) {
					t.Errorf("%s: needless white space:\n%s", title, s)
				}
				if !seen[s] {
					golden += "==== " + title + "\n" + s + "\n"
				}
				seen[s] = true
			}
			full, marks := marked(zero, func(string) bool { return false })
			add("empty", zero)
			add("full", full)
			filled(zero, func(field string, leaf reflect.Value) {
				if leaf.Kind() == reflect.Bool {
					one, _ := marked(zero, func(f string) bool { return f == field })
					add("if "+field, one)
				}
			})
			all, _ := marked(zero, func(string) bool { return true })
			add("if all", all)
			for _, mark := range marks {
				if !strings.Contains(golden, mark) {
					t.Errorf("the template does not show the field with %s", mark)
				}
			}
			file := filepath.Join("testdata", templateOf(zero)+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(golden), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v (go test ./prompts -update writes it)", err)
			}
			if diff := cmp.Diff(string(want), golden); diff != "" {
				t.Errorf("%s\nIf the change is meant: go test ./prompts -update", diff)
			}
		})
	}
	slices.Sort(templates)
	found, err := fs.Glob(files, "*.md.tmpl")
	if diff := cmp.Diff(templates, found); err != nil || diff != "" {
		t.Errorf("parts -, templates +\n%s%v", diff, err)
	}
}
