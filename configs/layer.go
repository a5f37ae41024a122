package configs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/viper"

	"dsstar/notebook/disk"
)

// separator joins the parts of a key within this package. A dot will not do: provider names may
// contain dots.
const separator = "::"

// A setting is a value and its source. text is set for values from the environment and from flags,
// whose strings are converted to the setting's type.
type setting struct {
	value  any
	source string
	text   bool
}

// Sources of values: defaultSource is that of those that nobody set; the others begin it.
const (
	defaultSource = "default"
	envSource     = "environment "
	flagSource    = "flag "
)

// A layer holds the settings of one source by key.
type layer map[string]setting

const projectLayer = 2 // index in the result of layers

// layers returns the layers from weakest to strongest. Every key in them is known and every value
// has the key's type.
func (from Sources) layers() ([]layer, error) {
	all := []layer{}
	known := map[string]bool{}
	add := func(l layer) error {
		for _, key := range slices.Sorted(maps.Keys(l)) {
			if err := check(key, l[key], known); err != nil {
				return err
			}
		}
		for key := range l {
			known[key] = true
		}
		all = append(all, l)
		return nil
	}
	for key := range defaults() {
		known[key] = true
	}
	all = append(all, defaults())
	for _, path := range []string{from.UserFile, from.ProjectFile} {
		l, err := readFile(path)
		if err != nil {
			return nil, err
		}
		if err := add(l); err != nil {
			return nil, err
		}
	}
	if err := add(envLayer(from.Env, known)); err != nil {
		return nil, err
	}
	return all, add(flagLayer(from.Flags))
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
	return readYAML(data, path)
}

func readYAML(data []byte, source string) (layer, error) {
	v := viper.NewWithOptions(viper.KeyDelimiter(separator))
	v.SetConfigType("yaml")
	if err := v.ReadConfig(bytes.NewReader(data)); err != nil {
		var parse viper.ConfigParseError
		if errors.As(err, &parse) {
			err = parse.Unwrap()
		}
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	l := layer{}
	for _, key := range v.AllKeys() { // in lower case, including provider names
		l[key] = setting{value: v.Get(key), source: source}
	}
	return l, nil
}

// defaults are the settings of default.yaml.
var defaults = sync.OnceValue(func() layer {
	l, err := readYAML(DefaultYAML, defaultSource)
	if err != nil {
		panic(err) // it is embedded
	}
	return l
})

const envPrefix = "DSSTAR_"

var inVariable = strings.NewReplacer(separator, "_", "-", "_", ".", "_")

// envName returns the name of the environment variable for a key.
func envName(key string) string {
	return envPrefix + strings.ToUpper(inVariable.Replace(key))
}

// envLayer looks up the variable of every known key, because a variable's name does not show where
// the parts of its key end. An empty variable counts as unset.
func envLayer(env []string, known map[string]bool) layer {
	values := environment(env)
	l := layer{}
	for key := range known {
		name := envName(key)
		if value := values[name]; value != "" {
			l[key] = setting{value: value, source: envSource + name, text: true}
		}
	}
	return l
}

func environment(env []string) map[string]string {
	values := map[string]string{}
	for _, kv := range env {
		if name, value, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(name, envPrefix) {
			values[name] = value
		}
	}
	return values
}

func flagLayer(flags map[string]Flag) layer {
	l := layer{}
	for key, flag := range flags {
		key = strings.ToLower(strings.ReplaceAll(key, ".", separator))
		l[key] = setting{value: flag.Value, source: flagSource + flag.Name, text: true}
	}
	return l
}

// strayVariables returns warnings about DSSTAR_* variables that set nothing. They are not errors,
// because another version of dsstar may know them. It ignores DSSTAR_TEST_* and DSSTAR_DB_*, which have
// the addresses of databases.
func strayVariables(env []string, won map[string]setting) []string {
	known := map[string]bool{}
	for key := range won {
		known[envName(key)] = true
	}
	var warnings []string
	for _, name := range slices.Sorted(maps.Keys(environment(env))) {
		if !known[name] && !strings.HasPrefix(name, envPrefix+"TEST_") &&
			!strings.HasPrefix(name, envPrefix+"DB_") {
			warnings = append(warnings, fmt.Sprintf("the environment variable %s is not a setting%s", name,
				didYouMean(name, slices.Sorted(maps.Keys(known)))))
		}
	}
	return warnings
}

func entries(won map[string]setting) []Entry {
	var all []Entry
	for _, key := range slices.Sorted(maps.Keys(won)) {
		all = append(all, Entry{Key: display(key), Value: redact(won[key].value),
			Source: won[key].source})
	}
	return all
}

// display returns a key as users write it.
func display(key string) string { return strings.ReplaceAll(key, separator, ".") }
