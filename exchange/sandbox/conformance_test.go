package sandbox

import (
	"errors"
	"fmt"
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
	shown := 0
	for _, r := range conformance() {
		t.Run(r.name(), func(t *testing.T) {
			r.show(newStage(t))
			shown++
		})
	}
	for i := range listed {
		if shown < len(conformance()) { // -run has chosen some
			break
		}
		_, done := succeeded.Load(&listed[i])
		require.True(t, done, "no answer of %s %s was held against the description", listed[i].Method, listed[i].Path)
	}
}

func TestEveryRuleHasANameOfItsOwn(t *testing.T) {
	section := regexp.MustCompile(`^((venue|websocket)-facts )?[1-9](\.[1-9])?( |$)`)
	seen := map[string]bool{}
	for _, r := range conformance() {
		require.Regexp(t, section, r.section)
		require.False(t, seen[r.name()], "two rules are called %q", r.name())
		require.NotContains(t, r.section, "|", "it stands in a table of docs/conformance.md")
		seen[r.name()] = true
	}
}

// chapters are the chapters of the specification and of venue-facts that have rules, and
// websocket-facts, in the order of conformance.
var chapters = []struct{ chapter, about string }{
	{"1", "the service"}, {"2", "records: orders, fills, markets, client order ids"},
	{"3", "statuses of orders and markets"}, {"4", "create, get, list, update and cancel orders"},
	{"5", "authentication"}, {"6", "events"}, {"7", "errors"}, {"8", "limits"}, {"9", "changes of the API"},
	{"venue-facts 1", "requests: weights, public data, trading, account"},
	{"venue-facts 2", "errors, credentials, signatures, budgets, bans"},
	{"venue-facts 3", "triggers, market orders, price protections, fees, holds, self-trades"},
	{"websocket-facts", "connection, messages, subscriptions, channels, actions"},
}

// TestThePageOfRulesIsTheListOfTests requires the table of chapters in docs/conformance.md. With -v
// it prints every rule.
func TestThePageOfRulesIsTheListOfTests(t *testing.T) {
	page, err := os.ReadFile("../../docs/conformance.md")
	require.NoError(t, err)
	chapter := regexp.MustCompile(`^(?:websocket-facts|(?:venue-facts )?[1-9])`)
	count := map[string]int{}
	for _, r := range conformance() {
		t.Log(r.name())
		count[chapter.FindString(r.section)]++
	}
	table, all := "| chapter | about | rules |\n|---|---|---|\n", 0
	for _, c := range chapters {
		table += fmt.Sprintf("| %s | %s | %d |\n", c.chapter, c.about, count[c.chapter])
		all += count[c.chapter]
	}
	require.Equal(t, len(conformance()), all, "chapters lacks the chapter of a rule")
	require.Contains(t, string(page)+"\n", table+"\n", "docs/conformance.md must have this table:\n\n%s", table)
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
