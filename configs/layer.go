package configs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/viper"

	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

// separator joins the parts of a key within this package. A dot will not do: names of providers and
// models may contain dots.
const separator = "::"

// Sources of values: defaultSource is that of those that nobody set; the others begin it.
const (
	defaultSource = "default"
	envSource     = "environment "
	flagSource    = "flag "
)

// A layer holds the settings of one source by key.
type layer map[string]Entry

// add has the settings of a stronger layer replace those of won. Their keys must be known, and
// their values what they can be. A key without a value changes nothing; only temperature can be null.
func (won layer) add(l layer) error {
	for _, key := range slices.Sorted(maps.Keys(l)) {
		f, known := fieldOf(key)
		if !known {
			return fmt.Errorf("%s: unknown key %s%s", l[key].Source, display(key),
				didYouMean(key, slices.Collect(maps.Keys(won))))
		}
		if l[key].Value == nil && key != "temperature" {
			continue
		}
		if err := f.check(l[key]); err != nil {
			return err
		}
		won[key] = l[key]
	}
	return nil
}

// needed are the keys that each table of a list needs.
var needed = map[string][]string{"providers": {"base_url"}, "prices": {"input", "output"}}

// whole reports a table that lacks a key.
func (won layer) whole() error {
	for _, key := range slices.Sorted(maps.Keys(won)) {
		part := strings.Split(key, separator)
		for _, name := range needed[part[0]] {
			part[2] = name
			if value := won[strings.Join(part, separator)].Value; value == nil || value == "" {
				return fmt.Errorf("%s: %s.%s: needs %s", won[key].Source, part[0], part[1], name)
			}
		}
	}
	return nil
}

func readFile(path string) (layer, error) {
	if path == "" {
		return nil, nil
	}
	data, err := disk.ReadFile(path, disk.MaxText)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	l, err := parse(data, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// parse returns the settings of a YAML text that comes from source.
func parse(text []byte, source string) (layer, error) {
	v := viper.NewWithOptions(viper.KeyDelimiter(separator))
	v.SetConfigType("yaml")
	err := v.ReadConfig(bytes.NewReader(text))
	if parse, ok := errors.AsType[viper.ConfigParseError](err); ok {
		err = parse.Unwrap()
	}
	l := layer{}
	for _, key := range v.AllKeys() { // in lower case, including provider names
		l[key] = Entry{display(key), v.Get(key), source}
	}
	return l, err
}

func embedded(text []byte) layer {
	l, err := parse(text, defaultSource)
	if err != nil {
		panic(err)
	}
	return l
}

// defaults are the settings of default.yaml.
var defaults = sync.OnceValue(func() layer { return embedded(DefaultYAML) })

const envPrefix = "DSSTAR_"

// otherEnv are variables that are no settings: addresses of databases, and those of dsstar mcp and tests.
var otherEnv = regexp.MustCompile("^DSSTAR_(DB_|MCP_|TEST_|LONG$)")

// envLayer has what variables set, and warnings about those that set nothing: they are no errors,
// as another version of dsstar may know them. A variable's name does not show where the parts of its
// key end: those of the known keys are looked up. An empty one counts as unset.
func envLayer(env []string, known layer) (l layer, strays []string) {
	l, keys := layer{}, map[string]string{}
	inVariable := strings.NewReplacer(separator, "_", "-", "_", ".", "_")
	for key := range known {
		keys[envPrefix+strings.ToUpper(inVariable.Replace(key))] = key
	}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		key, is := keys[name]
		switch {
		case is && value != "":
			l[key] = Entry{display(key), value, envSource + name}
		case !is && strings.HasPrefix(name, envPrefix) && !otherEnv.MatchString(name):
			strays = append(strays, fmt.Sprintf("the environment variable %s is not a setting%s", name,
				didYouMean(name, slices.Collect(maps.Keys(keys)))))
		}
	}
	slices.Sort(strays)
	return l, strays
}

func flagLayer(flags map[string]Flag) layer {
	l := layer{}
	for key, flag := range flags {
		key = strings.ToLower(strings.ReplaceAll(key, ".", separator))
		l[key] = Entry{display(key), flag.Value, flagSource + flag.Name}
	}
	return l
}

// display returns a key as users write it.
func display(key string) string { return strings.ReplaceAll(key, separator, ".") }

// didYouMean returns the end of a message that suggests the known name most similar to a name; ""
// if none is similar.
func didYouMean(name string, known []string) string {
	if near := human.Near(name, known); len(near) > 0 {
		return "; did you mean " + display(near[0]) + "?"
	}
	return ""
}
