// Package prompts holds the text of requests to models: one template and one typed struct for each
// part of a request, after the prompts in DS-STAR's Appendix H.
//
// A request consists of parts. [System] and [Context] are byte-for-byte the same in most requests
// of a conversation, and [Earlier] and [Notebook] only grow at their ends, so that providers can
// cache the long common prefix. The [Question] comes behind [Earlier], the part that asks comes last.
package prompts

import (
	"embed"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"text/template"
)

//go:embed *.md.tmpl
var files embed.FS

// A Part is the data of one template: a struct of this package. The template of PaperCoder is
// paper_coder.md.tmpl.
type Part any

// beginOfWord matches where a word begins in the name of a type.
var beginOfWord = regexp.MustCompile(`(.)([A-Z][a-z])`)

func templateOf(p Part) string {
	return strings.ToLower(beginOfWord.ReplaceAllString(reflect.TypeOf(p).Name(), "${1}_$2"))
}

// The parts that requests share.
type (
	// System says who the model is and what it works with.
	System struct {
		Environment string
		Today       string // the day on which the run began; "": it cannot matter
		Sources     Sources
		Variables   bool // the session is the user's and already has variables
		NoFiles     bool // there is no data folder
	}
	// Sources says how cells read what is not a file that fits into memory.
	Sources struct {
		Databases, Buckets bool   // there are some
		Spark, Dask, Ray   bool   // there is such a cluster
		Large              bool   // the data are large for the session
		Memory             string // the session's limit, where it is said
	}
	// Context describes the files, and the variables that the session already had. It begins with
	// the question, if that does not follow as a part of its own.
	Context struct {
		Question, Guidelines string
		Files                []File
		LeftOut              string // names of files that are not described
		NamesOnly            bool   // no file is described
		NoFiles              bool   // there is no data folder
		Variables            []Variable
		OtherVariables       string // names of variables that are not described
		Definitions          string `json:",omitempty"` // that bind, with the heads of functions
		Facts                string // that earlier questions about the data left, a line each
		Functions            string // signatures and docstrings of the memory's functions
	}
	// Question is the task.
	Question struct{ Question, Guidelines string }
	// Notebook is the accepted steps with their cells and outputs, after the source of the
	// functions of memory that the cells use.
	Notebook struct {
		Functions string
		Steps     []Step
	}
	// Earlier holds the earlier questions and answers of the session.
	Earlier struct {
		Parts []Answered
		Apart bool // the request is about no plan
		Open  bool // an answer depends on a reading
	}
	// Notes holds what a person has written in the notebook for the agent.
	Notes struct{ Texts []string }
)

// A File is a data file as the model sees it. Path is a Python string literal. Alike names files of
// the same structure, with what each has that is not in the description.
type File struct {
	Path, Size, Kind, Description string
	Whole                         bool // Description is the content itself
	Alike                         string
}

// Answered is a question with its steps and answer.
type Answered struct {
	Number               int
	Question, Guidelines string
	Steps                []Step
	Code, Answer         string // the last cell, and what it printed
	Worth                string // its standing and readings; "": it is verified, and takes none
}

// Size returns about how many bytes the questions take.
func (e Earlier) Size() int { return len(fmt.Sprint(e.Parts)) }

// A Variable is a variable of the session, as the model sees it.
type Variable struct{ Name, Type, Description string }

// A Step is a step of the plan with its cell and the cell's output.
type Step struct {
	Number             int
	Text, Code, Output string
	Hand               bool // the user wrote the cell
}

// An Example is a verified question about the same data, with the form of its answer and its cells.
type Example struct{ Question, Form, Cells string }

// A Point leaves open what is meant; Taken is the option that the cells take.
type Point struct {
	Number, Option int // its own, and that of the option taken; 0: not known
	Text, Taken    string
	Quoted         string   // words of a source that settle it, or an output that decides it; "": none do
	Others         []Option // whose cells are asked for
	Earlier        bool     // an earlier question leaves it open: it may be none of this one
}

// An Option is another way to take a [Point].
type Option struct {
	Number int
	Text   string
}

// A Dropped step is one that the router or a failed cell removed from the plan.
// Output is what it printed, given for those of the last round only.
type Dropped struct{ Text, Reason, Output string }

// The parts that ask, one for each role, with the listing of Appendix H in brackets.
type (
	// Analyzer asks for a script that describes a file [46].
	Analyzer struct {
		Path, Size string
		Chars      int // limit of the description
	}
	// Solver asks for the next step and its cell.
	Solver struct {
		Missing  string
		Dropped  []Dropped
		First    bool // of the question
		Done     bool // the plan has steps
		Readings bool // the reply also names the points that leave open what is meant
		Points   []Point
		Example  Example // of the first request; zero: there is none
	}
	// Learner asks for facts and functions that a verified answer leaves for other questions.
	Learner struct{ Answer string }
	// Judgement asks for a verdict and, if the plan suffices, the last cell and those of branches
	// that take the other options.
	Judgement struct {
		Rows    string `json:",omitempty"` // what a program counted of the cells' rows, a line each
		Warned  bool   `json:",omitempty"` // some of the lines are warnings
		Written string // files that the cells have written
		// Follows: other questions were answered before, whose cells may have written some.
		Follows  bool `json:",omitempty"`
		Points   []Point
		Branches bool   // some points have other options
		Reread   bool   // the reply names the points anew, which the user may have changed
		Ignored  string `json:",omitempty"` // terms with what the cells have nothing of, a line each
	}
	// Second asks for an answer by somebody who has not seen the notebook.
	Second struct {
		Follows  bool     // other questions were answered before, whose cells have run
		Late     bool     // the reply may name a point that leaves open what is meant
		Mistakes []string // that earlier second derivations were found to have
	}
	// Arbiter asks which of two answers is right.
	Arbiter struct {
		Points                                 []Point
		Code, Answer                           string // the last cell
		SecondCode, SecondOutput, SecondAnswer string
		Rows                                   string `json:",omitempty"` // as in Judgement
		Differs                                string // how, in one line
		Excluded                               bool   // they cannot mean the same
	}
	// Branches asks for the cells that compute the answer under other readings.
	Branches struct {
		Points []Point
		Code   string // the last cell
		Anew   bool   // of some points the option that is taken, too
	}
	// Finalizer asks for the last cell [53].
	Finalizer struct {
		Missing, Reason string
		Guidelines      bool // the task has some
		Inconclusive    bool
	}
	// Summarizer asks for a shorter error report [54].
	Summarizer struct{ Error, Where string }
	// DebuggerScript asks for a repaired description script [55].
	DebuggerScript struct{ Path, Size, Code, Error string }
	// Debugger asks for a repaired cell [56].
	Debugger struct {
		Number            int
		Step, Code, Error string
	}
	// Reask asks once more after a reply that could not be used.
	Reask struct{ Problem, Rule string }

	// The forms of replies in text. Point and Option are those of the first branch whose cell is
	// asked for; 0: none is.
	// SolutionForm names readings, or may name one late; that of a second derivation has no step.
	SolutionForm  struct{ Readings, Late, Second bool }
	JudgementForm struct {
		Readings, Late, Points bool // it names readings, may name one more, or speaks of those of the request
		Quoted                 bool // words are quoted for some of these
		Corrects               bool // there are earlier questions
		Warnings               int  // on rows; each is answered
		Point, Option          int
	}
	BranchesForm struct{ Point, Option int }
	RulingForm   struct{}
)

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"fence": fence, "line": line,
		"item": item, "words": words, "inc": func(i int) int { return i + 1 }}).
		ParseFS(files, "*.md.tmpl"))
})

// Text renders the parts, in order, as one message.
func Text(parts ...Part) string {
	var texts []string
	for _, p := range parts {
		var b strings.Builder
		if err := templates().ExecuteTemplate(&b, templateOf(p)+".md.tmpl", p); err != nil {
			panic(err) // part and template are of this package
		}
		texts = append(texts, strings.TrimSpace(b.String()))
	}
	return strings.Join(texts, "\n\n")
}

// line puts text on one line of the message.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

// block matches Markdown syntax at the beginning of a paragraph. section matches, on any line, the
// syntax that would change how the rest of a message is read.
var (
	block   = regexp.MustCompile("^(?:#|```|~~~|[-+*>=<]|[0-9]+[.)]|\\[)")
	section = regexp.MustCompile("(?im)^[ \t]*(?:#{1,6}(?:[ \t]|$)|```|~~~|[-=]+[ \t]*$|<(?:script|pre|style|textarea|[!?])|\\[[^]]*]:)")
)

// item is line for a list item, with Markdown syntax at its beginning escaped.
func item(text string) string {
	if text = line(text); block.MatchString(text) {
		return `\` + text
	}
	return text
}

// words returns text that may have paragraphs and lists of its own. It escapes syntax that would
// begin a section or a fence.
func words(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n",
		"\u2028", "\n", "\u2029", "\n").Replace(text)
	return section.ReplaceAllStringFunc(text, func(mark string) string {
		at := len(mark) - len(strings.TrimLeft(mark, " \t"))
		return mark[:at] + `\` + mark[at:]
	})
}

// fence is Fence for the templates: it makes empty text visible as "(nothing)".
func fence(text, language string) string {
	if strings.TrimRight(text, "\n") == "" {
		text = "(nothing)"
	}
	return Fence(text, language)
}

// Fence returns a Markdown code block that nothing in the text can close, without a final newline.
func Fence(text, language string) string {
	marks := "```"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	return marks + language + "\n" + strings.TrimRight(text, "\n") + "\n" + marks
}
