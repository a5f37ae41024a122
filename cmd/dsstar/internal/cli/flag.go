package cli

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
)

// A Flag is a flag of a command.
type Flag struct {
	to                any
	name, group, help string
}

// Opt is a flag: its name and, after a comma, its letter; the title under which long help lists it, or
// ""; and its help. to is a pointer to its value, which holds the default, a [Setting] or a
// pflag.Value.
func Opt(to any, name, group, help string) Flag { return Flag{to, name, group, help} }

// Commas is the value of a flag that may be repeated, or be a list with commas.
type Commas []string

// groups are the titles under which help lists flags, in this order.
var groups = []string{"", "Data", "Model", "Method", "Limits", "Kernel", "Sandbox", "Output"}

// What is known of a flag besides what pflag knows.
const (
	groupOf  = "group"
	turnsOff = "off"
)

func (f Flag) add(to *pflag.FlagSet) {
	name, letter, _ := strings.Cut(f.name, ",")
	switch v := f.to.(type) {
	case *string:
		to.StringVarP(v, name, letter, *v, f.help)
	case *bool:
		to.BoolVarP(v, name, letter, *v, f.help)
	case *int:
		to.IntVarP(v, name, letter, *v, f.help)
	case *uint64:
		to.Uint64VarP(v, name, letter, *v, f.help)
	case *float64:
		to.Float64VarP(v, name, letter, *v, f.help)
	case *time.Duration:
		to.DurationVarP(v, name, letter, *v, f.help)
	case *[]string:
		to.StringArrayVarP(v, name, letter, *v, f.help)
	case *Commas:
		to.StringSliceVarP((*[]string)(v), name, letter, *v, f.help)
	case Setting:
		Flag{v.To, f.name, f.group, f.help}.add(to)
		to.Lookup(name).Annotations[usage.Setting] = []string{v.Key}
		return
	default:
		to.VarP(v.(pflag.Value), name, letter, f.help)
	}
	to.Lookup(name).Annotations = map[string][]string{groupOf: {f.group}}
}

// settings returns the settings that words name: all, those under a title of help, or one by its
// flag. What a word with a - before it names is left out.
func settings(words string) (taken []configs.FlagInfo) {
	for _, f := range configs.Flags() {
		takes := false
		for word := range strings.FieldsSeq(words) {
			name, out := strings.CutPrefix(word, "-")
			if name == "all" || name == f.Group || name == f.Name {
				takes = !out
			}
		}
		if takes {
			taken = append(taken, f)
		}
	}
	return taken
}

// A Setting is the value of a flag that sets a key, and has another help than elsewhere.
type Setting struct {
	Key string
	To  any
}

// addSetting adds the flag of a setting. Its value is read by [Given].
func addSetting(to *pflag.FlagSet, f configs.FlagInfo) {
	value := reflect.New(f.Type).Interface()
	switch value.(type) {
	case *[]string:
		value = new(Commas)
	case *map[string]string:
		value = new([]string)
	case *configs.Bytes:
		value = new(string)
	}
	if f.Words != nil {
		value = Choice(new(string), f.Words...)
	}
	Flag{value, f.Name + "," + f.Letter, f.Group, f.Help}.add(to)
	annotations := to.Lookup(f.Name).Annotations
	annotations[usage.Setting] = []string{f.Key}
	if f.Off {
		annotations[turnsOff] = []string{}
	}
}

// Given returns the settings that flags have set, by key.
func Given(flags *pflag.FlagSet) (given map[string]configs.Flag, err error) {
	given = map[string]configs.Flag{}
	set := func(key, value string, f *pflag.Flag) {
		given[key] = configs.Flag{Name: "--" + f.Name, Value: value}
	}
	flags.Visit(func(f *pflag.Flag) {
		of, off := f.Annotations[usage.Setting], f.Annotations[turnsOff] != nil
		if of == nil {
			return
		}
		text := f.Value.String()
		list, isList := f.Value.(pflag.SliceValue)
		if isList {
			text = strings.Join(list.GetSlice(), ",")
		}
		switch key := of[0]; {
		case key == "models":
			for _, entry := range list.GetSlice() {
				role, name, ok := strings.Cut(entry, "=")
				if !ok {
					err = usage.New("--role-model: "+entry+" is not role=provider/name",
						usage.Instead(entry, "second="+entry))
				}
				set("models."+role, name, f)
			}
		case off:
			set(key, strconv.FormatBool(text != "true"), f)
		default:
			set(key, text, f)
		}
	})
	return given, err
}

// byGroup describes flags under the titles of their groups.
func byGroup(flags *pflag.FlagSet) string {
	of := map[string]*pflag.FlagSet{}
	flags.VisitAll(func(f *pflag.Flag) {
		group := "Output"
		if in := f.Annotations[groupOf]; in != nil {
			group = in[0]
		}
		if of[group] == nil {
			of[group] = pflag.NewFlagSet("", pflag.ContinueOnError)
			of[group].SortFlags = false
		}
		of[group].AddFlag(f)
	})
	var parts []string
	for _, title := range groups {
		if of[title] != nil {
			usages := strings.TrimRight(of[title].FlagUsages(), "\n")
			parts = append(parts, cmp.Or(title, "Flags")+":\n"+usages)
		}
	}
	return strings.Join(parts, "\n\n")
}

// GroupFlags has the help of a command and those below it list long lists of flags by group.
func GroupFlags(root *cobra.Command) {
	cobra.AddTemplateFunc("byGroup", byGroup)
	const all = "Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), all, "{{byGroup .LocalFlags}}", 1))
}

// A choice is the value of a flag that takes one of several words; "" may be the default.
type choice struct {
	value *string
	words []string
}

// Choice is a flag that takes one of several words.
func Choice(value *string, words ...string) pflag.Value { return choice{value, words} }

func (c choice) String() string {
	if c.value == nil { // pflag asks the zero value
		return ""
	}
	return *c.value
}

func (c choice) Type() string { return strings.Join(c.words, "|") }

func (c choice) Set(text string) error {
	if !slices.Contains(c.words, text) {
		last := len(c.words) - 1
		return usage.New(fmt.Sprintf("is %q, should be %s or %s", text,
			strings.Join(c.words[:last], ", "), c.words[last]), usage.Instead(text, c.words[0]))
	}
	*c.value = text
	return nil
}
