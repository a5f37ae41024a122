package configs

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
)

// nest returns value in nested maps, one for each part of a flat key.
func nest(key string, value any) map[string]any {
	head, rest, ok := strings.Cut(key, separator)
	if !ok {
		return map[string]any{head: value}
	}
	return map[string]any{head: nest(rest, value)}
}

// decode fills s, and reports whether a value has no place there. It converts strings to other types
// only if text is set: in a file, a number in quotes is a mistake.
func decode(won map[string]setting, s *Settings, text bool) (unused bool, err error) {
	v := viper.NewWithOptions(viper.KeyDelimiter(separator))
	for key, set := range won {
		if err := v.MergeConfigMap(nest(key, set.value)); err != nil {
			return false, err
		}
	}
	var found mapstructure.Metadata
	err = v.Unmarshal(s, decoder(text), func(c *mapstructure.DecoderConfig) { c.Metadata = &found })
	for name, p := range s.Providers {
		p.Name = name
		s.Providers[name] = p
	}
	return len(found.Unused) > 0, err
}

func decoder(text bool) viper.DecoderConfigOption {
	return func(c *mapstructure.DecoderConfig) {
		c.TagName, c.WeaklyTypedInput = "key", text
		c.DecodeHook = mapstructure.ComposeDecodeHookFunc(exactNumber, duration, amount, list)
	}
}

// exactNumber rejects fractions for integers; the decoder would truncate 2.7 to 2.
func exactNumber(_, to reflect.Type, value any) (any, error) {
	if f, ok := value.(float64); ok && to.Kind() == reflect.Int && f != math.Trunc(f) {
		return nil, fmt.Errorf("%v is not a whole number", value)
	}
	return value, nil
}

// duration parses a string, and rejects a bare number, which would become nanoseconds.
func duration(_, to reflect.Type, value any) (any, error) {
	if to != reflect.TypeFor[time.Duration]() {
		return value, nil
	}
	switch v := value.(type) {
	case time.Duration:
		return v, nil
	case string:
		if d, err := time.ParseDuration(v); err == nil {
			return d, nil
		}
	}
	return nil, fmt.Errorf("is %s, should be a duration with its unit: 90s, 5m or 1h30m", show(value))
}

var amountOf = regexp.MustCompile(`(?i)^([0-9]+(?:\.[0-9]+)?) *([kmgt])(i?)b?$`)

// amount parses a string, and rejects a bare number, whose unit would be unclear.
func amount(_, to reflect.Type, value any) (any, error) {
	if to != reflect.TypeFor[Bytes]() {
		return value, nil
	}
	switch v := value.(type) {
	case Bytes:
		return v, nil
	case int:
		if v == 0 {
			return Bytes(0), nil
		}
	case string:
		if v == "0" {
			return Bytes(0), nil
		}
		if m := amountOf.FindStringSubmatch(strings.TrimSpace(v)); m != nil {
			n, _ := strconv.ParseFloat(m[1], 64) // digits
			base := 1000.0
			if m[3] != "" {
				base = 1024
			}
			n *= math.Pow(base, float64(1+strings.Index("kmgt", strings.ToLower(m[2]))))
			if n < math.MaxInt64 {
				return Bytes(n), nil
			}
		}
	}
	return nil, fmt.Errorf(
		"is %s, should be an amount of memory with its unit: 500MB, 4GB or 4GiB",
		show(value),
	)
}

// list accepts one name, or names separated by commas, for a list.
func list(_, to reflect.Type, value any) (any, error) {
	if to.Kind() != reflect.Slice || reflect.TypeOf(value).Kind() == reflect.Slice {
		return value, nil
	}
	text, ok := value.(string)
	if !ok {
		return nil, fmt.Errorf("is %s, should be a list", show(value))
	}
	items := []string{}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items, nil
}

// plain rewords a decoder's error without the key, which the caller names.
func plain(err error) error {
	var typed *mapstructure.UnconvertibleTypeError
	if errors.As(err, &typed) {
		return fmt.Errorf("is %s, should be %s", show(typed.Value), kindName(typed.Expected.Type()))
	}
	var parse *mapstructure.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("is %s, should be %s", show(parse.Value), kindName(parse.Expected.Type()))
	}
	text := err.Error()
	if i := strings.LastIndex(text, "\n"); i >= 0 {
		text = strings.TrimSpace(text[i+1:])
	}
	if _, rest, ok := strings.Cut(text, "' "); ok && strings.HasPrefix(text, "'") {
		text = rest
	}
	return errors.New(text)
}

func kindName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Int:
		return "a whole number"
	case t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Slice:
		return "a list"
	case t.Kind() == reflect.String:
		return "text"
	}
	return "a table of keys"
}
