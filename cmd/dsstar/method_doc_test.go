package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/configs"
)

var (
	docFile = regexp.MustCompile("`([a-z]+(?:/[A-Za-z0-9_.-]+)+\\.(?:go|tmpl|yaml))`")
	docFlag = regexp.MustCompile(`--[a-z][a-z-]*`)
	docKey  = regexp.MustCompile("`([a-z]+_[a-z_]+)`")
	docYAML = regexp.MustCompile("(?s)```yaml\n(.*?)```")
)

// TestMethodPage: what docs/method.md names is there: files, flags, settings, and
// an example that can be pasted. Every flag of the method is on the page.
func TestMethodPage(t *testing.T) {
	root := filepath.Join("..", "..")
	b, err := os.ReadFile(filepath.Join(root, "docs", "method.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	files := docFile.FindAllStringSubmatch(page, -1)
	for _, m := range files {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil {
			t.Error(err)
		}
	}
	flags := flagsOfAll()
	said := docFlag.FindAllString(page, -1)
	for _, name := range said {
		if !slices.Contains(flags, name) {
			t.Errorf("there is no flag %s", name)
		}
	}
	if len(files) < 20 || len(said) < 20 {
		t.Errorf("only %d files and %d flags are found on the page", len(files), len(said))
	}
	method := pflag.NewFlagSet("", pflag.ContinueOnError)
	methodFlags(method)
	method.VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(page, "--"+f.Name) {
			t.Errorf("--%s is not explained", f.Name)
		}
	})
	defaults, err := configs.Load(configs.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range docKey.FindAllStringSubmatch(page, -1) {
		if m[1] != "cost_usd" && !slices.ContainsFunc(defaults.Explain(), func(e configs.Entry) bool { return e.Key == m[1] }) {
			t.Errorf("there is no setting %s", m[1])
		}
	}
	for _, m := range docYAML.FindAllStringSubmatch(page, -1) {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(m[1]), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := configs.Load(configs.Sources{UserFile: path})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := s.Price("openai/some-model"); !ok || s.MaxCost == 0 {
			t.Errorf("the example sets %+v", s.Prices)
		}
	}
}

// flagsOfAll are the flags of all commands.
func flagsOfAll() []string {
	var all []string
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, "--"+f.Name) })
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit((&app{}).rootCommand())
	return all
}
