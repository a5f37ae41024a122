package configs

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/viper"
)

// A Price is the price of a model, in US dollars per million tokens.
type Price struct {
	Input  *float64 `key:"input"`  // never nil
	Cached *float64 `key:"cached"` // nil: as Input
	Output *float64 `key:"output"` // never nil

	// Listed is when this was the list price, as year and month; "": it is from the settings, or
	// the model is local.
	Listed string `key:"-"`
}

// Price returns the price of a model, by its name as provider/name: that of the settings, or else
// the list price. List prices are those of the providers' own servers, not of another base_url.
func (s *Settings) Price(model string) (Price, bool) {
	model = strings.ToLower(model)
	if p, ok := s.Prices[model]; ok {
		return p, true
	}
	provider, name, ok := strings.Cut(model, "/")
	if !ok || s.BaseURL != "" {
		return Price{}, false
	}
	return listPrice(provider, name)
}

// A priceList has the list prices of a provider: prices.yaml.
type priceList struct {
	Date   string            `key:"date"`
	Source string            `key:"source"`
	Models map[string]Price  `key:"models"`
	Local  bool              `key:"local"`
	Sells  map[string]string `key:"sells"` // the provider of each prefix of a name
}

var priceLists = sync.OnceValue(func() map[string]priceList {
	v := viper.NewWithOptions(viper.KeyDelimiter(separator))
	v.SetConfigType("yaml")
	lists := map[string]priceList{}
	err := v.ReadConfig(bytes.NewReader(pricesYAML))
	if err == nil {
		err = v.UnmarshalExact(&lists, decoder(false))
	}
	if err != nil {
		panic(fmt.Sprintf("prices.yaml: %v", err)) // it is embedded
	}
	return lists
})

// ListDate returns the month of the oldest list prices, for instance 2026-11.
func ListDate() string {
	var dates []string
	for _, list := range priceLists() {
		if list.Date != "" {
			dates = append(dates, list.Date)
		}
	}
	return slices.Min(dates)
}

// listPrice returns the list price of a provider's model, both in lower case.
func listPrice(provider, name string) (Price, bool) {
	list := priceLists()[provider]
	if list.Local && !strings.HasSuffix(name, "cloud") { // ollama/gpt-oss:120b-cloud is not local
		free := 0.0
		return Price{Input: &free, Output: &free}, true
	}
	if maker, rest, ok := strings.Cut(name, "/"); ok && list.Sells[maker] != "" {
		return listPrice(list.Sells[maker], rest)
	}
	longest := ""
	for known := range list.Models {
		if len(known) > len(longest) && isVersionOf(known, name) {
			longest = known
		}
	}
	p, ok := list.Models[longest]
	p.Listed = list.Date
	return p, ok
}

// version matches what may follow the name of a model: -latest, -001, -20251001, -2025-08-07,
// -preview-09-2025. It does not match -5, because claude-opus-5-5 is another model than
// claude-opus-5.
var version = regexp.MustCompile(`^(-latest|-preview|-\d{3,8}|-\d{2,4}-\d{2,4}(-\d{2})?)*$`)

// isVersionOf reports whether name is the known model, or a version of it.
func isVersionOf(known, name string) bool {
	hyphens := strings.NewReplacer(".", "-")
	rest, ok := strings.CutPrefix(hyphens.Replace(name), hyphens.Replace(known))
	return ok && version.MatchString(rest)
}
