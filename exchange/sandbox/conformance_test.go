package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rule is one rule of the specification: where it stands there, what it says in our words, and how
// the exchange shows that it keeps it. Its test is TestTheExchangeKeepsTheRule/<section>: <says>.
// Sections of venue-facts, which fills what the specification leaves open, begin with its name.
type rule struct {
	section, says string
	show          func(*stage)
}

func (r *rule) name() string { return r.section + ": " + r.says }

// conformance are all rules, in the order of the specification.
func conformance() []rule {
	return slices.Concat(serviceRules, endpointRules, orderRecordRules, recordRules, stateRules, createRules, readRules,
		updateRules,
		accessRules, errorRules, versionRules, factPublicRules, factTradingRules, factAccountRules, factErrorRules,
		factOrderRules, socketRules, channelRules, actionRules)
}

func TestTheExchangeKeepsTheRule(t *testing.T) {
	for _, r := range conformance() {
		t.Run(r.name(), func(t *testing.T) { r.show(newStage(t)) })
	}
}

func TestEveryRuleHasANameOfItsOwn(t *testing.T) {
	section := regexp.MustCompile(`^((venue|websocket)-facts )?[1-9](\.[1-9])?( |$)`)
	seen := map[string]bool{}
	for _, r := range conformance() {
		require.Regexp(t, section, r.section)
		require.False(t, seen[r.name()], "two rules are called %q", r.name())
		require.NotContains(t, r.name(), "|", "it stands in a table of docs/conformance.md")
		seen[r.name()] = true
	}
}

// TestThePageOfRulesIsTheListOfTests compares the table of docs/conformance.md with the rules, in
// both directions. A row is a section, a rule and, maybe, further tests that show it.
func TestThePageOfRulesIsTheListOfTests(t *testing.T) {
	page, err := os.ReadFile("../../docs/conformance.md")
	require.NoError(t, err)
	tests := testsOf(t, ".", "door", "fault", "socket", "..")
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile(
		`(?m)^\| ((?:(?:venue|websocket)-facts )?[1-9][^|]*) \| ([^|]+) \| ([^|]*)\|$`).
		FindAllStringSubmatch(string(page), -1) {
		name := row[1] + ": " + row[2]
		require.False(t, listed[name], "docs/conformance.md has two rows for %q", name)
		listed[name] = true
		for _, also := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[3], -1) {
			require.True(t, tests[also[1]], "docs/conformance.md names %s, which is no test", also[1])
		}
	}
	for _, r := range conformance() {
		require.True(t, listed[r.name()], "docs/conformance.md has no row for the rule %q", r.name())
		delete(listed, r.name())
	}
	require.Empty(t, listed, "docs/conformance.md has rows without a rule in conformance()")
}

// testsOf returns the names of all tests of some folders.
func testsOf(t *testing.T, folders ...string) map[string]bool {
	found := map[string]bool{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, match := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`).
				FindAllStringSubmatch(string(text), -1) {
				found[match[1]] = true
			}
		}
	}
	return found
}

// TestEveryRowOfTheSpecificationHasItsRule reads the tables of the specification where it lies
// beside the project: each row, known by its first cell, and each numbered rule must have a rule
// here. What a row of section 1 names is method and path.
func TestEveryRowOfTheSpecificationHasItsRule(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "spec", "exchange-api.md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the specification is not beside the project: ", err)
	}
	require.NoError(t, err)
	have := map[string]bool{}
	for _, r := range conformance() {
		have[r.section] = true
	}
	section, header := "", false
	for _, line := range strings.Split(string(text), "\n") {
		if title := regexp.MustCompile(`^##+ ([0-9]+(?:\.[0-9]+)?)`).FindStringSubmatch(line); title != nil {
			section = title[1]
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			if numbered := regexp.MustCompile(`^([0-9])\. `).FindStringSubmatch(line); numbered != nil &&
				section != "" {
				require.True(t, have[section+" rule "+numbered[1]], "no rule for %s rule %s: %s", section, numbered[1],
					line)
			}
			header = true
			continue
		}
		if header || strings.HasPrefix(cells[1], "---") {
			header = false
			continue
		}
		key := rowKey(section, cells)
		require.True(t, have[key], "no rule for %q: %s", key, line)
	}
}

// rowKey is the section of the rule that a row of the specification must have. Events are of the
// WebSocket alone; the changes of section 9 are rules under their own words; the statuses of
// section 7 and the codes are the first column.
func rowKey(section string, cells []string) string {
	first := strings.Trim(cells[1], " `")
	switch section {
	case "1":
		return "1 " + strings.ReplaceAll(strings.TrimSpace(cells[2]), "`", "")
	case "6":
		return "6"
	case "4.3":
		return "4.3 " + first
	case "9":
		return "9 " + first
	}
	return section + " " + first
}
