package version

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
)

var update = flag.Bool("update", false, "write licences.txt anew")

// linked is a module with the texts of its licence.
type linked struct {
	name, version, dir string
	texts              []string
}

// After a change of go.mod, write the texts anew with: go test ./bot -run Tidy -update && go test
// ./bot/version -update
func TestTheLicencesAreThoseOfTheModules(t *testing.T) {
	modules := linkedModules(t)
	if *update {
		text, err := written(modules)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile("licences.txt", []byte(text), 0o644))
		return
	}
	for _, m := range modules {
		require.Contains(t, Licences, fmt.Sprintf("%s %s: ", m.name, m.version), "go test ./bot/version -update")
		for _, text := range m.texts {
			require.Contains(t, Licences, text, "%s: go test ./bot/version -update", m.name)
		}
	}
	head, _, _ := strings.Cut(Licences, "\n\n")
	require.Len(t, strings.Split(head, "\n"), len(modules), "a module is not linked any more")
}

// linkedModules are those of a new module, those of bot-farm, and Go's own packages. A module that
// is not on this machine has no texts.
func linkedModules(t *testing.T) []linked {
	t.Helper()
	template, err := os.ReadFile("../template/go.mod.tmpl")
	require.NoError(t, err)
	root, err := bottest.Short(t, "go", "env", "GOROOT").Output()
	require.NoError(t, err)
	list := []linked{{name: "Go", version: "standard library", dir: strings.TrimSpace(string(root))}}
	args := []string{"list", "-m", "-f", "{{.Path}}|{{.Version}}|{{.Dir}}"}
	for _, m := range regexp.MustCompile(`\t(\S+) v\S+`).FindAllStringSubmatch(string(template), -1) {
		args = append(args, m[1])
	}
	for _, system := range []string{"linux", "darwin", "windows"} {
		deps := bottest.Short(t, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}",
			"../../cmd/bot-farm")
		deps.Env = append(os.Environ(), "GOOS="+system)
		paths, err := deps.Output()
		require.NoError(t, err)
		args = append(args, strings.Fields(string(paths))...)
	}
	slices.Sort(args[4:])
	args = append(args[:4:4], slices.Compact(args[4:])...)
	out, err := bottest.Short(t, "go", args...).Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		part := strings.Split(strings.TrimSpace(line), "|")
		list = append(list, linked{name: part[0], version: part[1], dir: part[2]})
	}
	require.Greater(t, len(list), 20)
	for i := range list {
		list[i].texts = licenceTexts(t, list[i].dir)
	}
	return list
}

// licenceTexts are the files of a folder that state a licence.
func licenceTexts(t *testing.T, dir string) (texts []string) {
	t.Helper()
	if dir == "" {
		return nil
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	named := regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|ftl)`)
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		switch {
		case f.Name() == "licenses":
			texts = append(texts, licenceTexts(t, path)...)
		case named.MatchString(f.Name()) && !f.IsDir():
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			texts = append(texts, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
		}
	}
	require.NotEmpty(t, texts, dir)
	return texts
}

// written is licences.txt: a line for each module, then each text once.
func written(modules []linked) (string, error) {
	var head, body strings.Builder
	var texts []string
	for _, m := range modules {
		if m.texts == nil {
			return "", fmt.Errorf("%s is not on this machine: go mod download all", m.name)
		}
		var kinds []string
		for _, text := range m.texts {
			kinds = append(kinds, kindsOf(text)...)
			if !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
		fmt.Fprintf(&head, "%s %s: %s\n", m.name, m.version, strings.Join(slices.Compact(kinds), ", "))
	}
	for _, text := range texts {
		var of []string
		for _, m := range modules {
			if slices.Contains(m.texts, text) {
				of = append(of, m.name)
			}
		}
		fmt.Fprintf(&body, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(of, "\n"), text)
	}
	return head.String() + body.String(), nil
}

// kindsOf are the SPDX names of the licences in a text.
func kindsOf(text string) (kinds []string) {
	for _, k := range [][2]string{{"SIL OPEN FONT LICENSE", "OFL-1.1"}, {"FreeType Project LICENSE", "FTL"},
		{"FreeType License", "FTL"}, {"Apache License", "Apache-2.0"},
		{"Permission is hereby granted, free of charge", "MIT"}, {"Neither the name", "BSD-3-Clause"}} {
		if strings.Contains(text, k[0]) {
			kinds = append(kinds, k[1])
		}
	}
	if kinds == nil && strings.Contains(text, "Redistribution and use") {
		kinds = []string{"BSD-2-Clause"}
	}
	return kinds
}
