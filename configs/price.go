package configs

import (
	"regexp"
	"strings"
	"sync"

	"github.com/go-viper/mapstructure/v2"
)

// A Price is the price of a model, in US dollars per million tokens.
type Price struct {
	Input  float64 `key:"input" is:"at least 0"`
	Cached float64 `key:"cached" is:"at least 0"` // if the settings have none, as Input
	Output float64 `key:"output" is:"at least 0"`
}

// priceList is prices.yaml.
var priceList = sync.OnceValue(func() (list struct {
	Date   string
	Models map[string]Price
}) {
	err := embedded(pricesYAML).UnmarshalExact(&list,
		func(c *mapstructure.DecoderConfig) { c.TagName = "key" })
	if err != nil {
		panic(err) // it is embedded
	}
	return list
})

// ListDate returns the month of the list prices, for instance 2026-11.
func ListDate() string { return priceList().Date }

// makers lead from models that openrouter sells to those of their makers, at the same prices.
var makers = strings.NewReplacer("openrouter/openai/", "openai/", "openrouter/anthropic/",
	"anthropic/", "openrouter/google/", "gemini/", ".", "-")

// version matches what may follow the name of a model: -latest, -001, -20251001, -2025-08-07,
// -preview-09-2025. It does not match -5, because claude-opus-5-5 is another model than
// claude-opus-5.
var version = regexp.MustCompile(`(-latest|-preview|-\d{3,8}|-\d{2,4}-\d{2,4}(-\d{2})?)+$`)

// Price returns the price of a model, by its name as provider/name: that of the settings, or else
// the list price. List prices are those of the providers' own servers, not of another base_url.
func (s *Settings) Price(model string) (Price, bool) {
	model = strings.ToLower(model)
	if p, ok := s.Prices[model]; ok || s.BaseURL != "" {
		return p, ok
	}
	if strings.HasPrefix(model, "ollama/") && !strings.HasSuffix(model, "cloud") {
		return Price{}, true // on the user's machine, as ollama/gpt-oss:120b-cloud is not
	}
	model = makers.Replace(model)
	p, ok := priceList().Models[model]
	if !ok {
		p, ok = priceList().Models[version.ReplaceAllString(model, "")]
	}
	return p, ok
}
