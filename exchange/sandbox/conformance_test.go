package sandbox

import (
	"encoding/json"
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

// rule is one rule of the specification: where it stands there, what it says in our words, and how the exchange shows that it keeps it. Its
// test is TestTheExchangeKeepsTheRule/<section>: <says>. Sections of venue-facts, which fills what the specification leaves open, begin with its name.
type rule struct {
	section, says string
	show          func(*stage)
}

func (r *rule) name() string { return r.section + ": " + r.says }

// conformance are all rules, in the order of the specification.
func conformance() []rule {
	return slices.Concat(serviceRules, endpointRules, orderRecordRules, recordRules, stateRules, createRules, readRules, updateRules,
		accessRules, errorRules, versionRules, factPublicRules, factTradingRules, factAccountRules, factErrorRules, factOrderRules)
}

func TestTheExchangeKeepsTheRule(t *testing.T) {
	for _, r := range conformance() {
		t.Run(r.name(), func(t *testing.T) { r.show(newStage(t)) })
	}
}

func TestEveryRuleHasANameOfItsOwn(t *testing.T) {
	section := regexp.MustCompile(`^(venue-facts )?[1-9](\.[1-9])?( |$)`)
	seen := map[string]bool{}
	for _, r := range conformance() {
		require.Regexp(t, section, r.section)
		require.False(t, seen[r.name()], "two rules are called %q", r.name())
		require.NotContains(t, r.name(), "|", "it stands in a table of docs/conformance.md")
		seen[r.name()] = true
	}
}

// TestThePageOfRulesIsTheListOfTests compares the table of docs/conformance.md with the rules, in both directions. A row is a section, a rule and,
// maybe, further tests that show it.
func TestThePageOfRulesIsTheListOfTests(t *testing.T) {
	page, err := os.ReadFile("../../docs/conformance.md")
	require.NoError(t, err)
	tests := testsOf(t, ".", "..")
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| ((?:venue-facts )?[1-9][^|]*) \| ([^|]+) \| ([^|]*)\|$`).FindAllStringSubmatch(string(page), -1) {
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
			for _, match := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`).FindAllStringSubmatch(string(text), -1) {
				found[match[1]] = true
			}
		}
	}
	return found
}

// TestEveryRowOfTheSpecificationHasItsRule reads the tables of the specification where it lies beside the project: each row, known by its first
// cell, and each numbered rule must have a rule here. What a row of section 1 names is method and path.
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
			if numbered := regexp.MustCompile(`^([0-9])\. `).FindStringSubmatch(line); numbered != nil && section != "" {
				require.True(t, have[section+" rule "+numbered[1]], "no rule for %s rule %s: %s", section, numbered[1], line)
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

// rowKey is the section of the rule that a row of the specification must have. Events are of the WebSocket alone; the changes of section 9 are rules
// under their own words; the statuses of section 7 and the codes are the first column.
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

// row is an object of an answer.
type row map[string]any

// stage is a rig with the words in which rules are shown. Nobody but alice and bob trades there.
type stage struct{ *rig }

func newStage(t testing.TB, change ...func(*Config)) *stage {
	quiet := func(c *Config) {
		for i := range c.Markets {
			c.Markets[i].Source = nil
		}
	}
	return &stage{newRig(t, append([]func(*Config){quiet}, change...)...)}
}

// wholes and flags are the parameters that are no text in a body.
var (
	wholes = []string{"operatorId", "codGroupId", "expiryAfterSeconds"}
	flags  = []string{"postOnly", "responseRequired", "disableMarketProtection", "internal", "addWithdrawalFee"}
)

// ask sends "GET /order market=BTC-EUR orderId=…" as an account: method, path and parameters. name:=value gives a body's value as JSON.
func (s *stage) ask(account, line string) answer {
	s.t.Helper()
	words := strings.Fields(line)
	method, path, rest := words[0], words[1], words[2:]
	if method == "POST" || method == "PUT" {
		return s.send(account, method, path, bodyOf(rest))
	}
	if len(rest) > 0 {
		path += "?" + strings.Join(rest, "&")
	}
	return s.send(account, method, path, "")
}

// bodyOf makes a body of name=value.
func bodyOf(words []string) string {
	members := make([]string, 0, len(words))
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		raw := slices.Contains(wholes, name) || slices.Contains(flags, name)
		if rest, ok := strings.CutSuffix(name, ":"); ok {
			name, raw = rest, true
		}
		if !raw {
			value = `"` + value + `"`
		}
		members = append(members, `"`+name+`":`+value)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// one asks for an object.
func (s *stage) one(account, line string) row {
	s.t.Helper()
	return decoded[row](s, s.ask(account, line))
}

// rows asks for a list of objects.
func (s *stage) rows(account, line string) []row {
	s.t.Helper()
	return decoded[[]row](s, s.ask(account, line))
}

// refuse requires a refusal of "POST /order …".
func (s *stage) refuse(account, line string, status, code int) answer {
	s.t.Helper()
	return s.ask(account, line).refused(s.t, status, code)
}

func decoded[T any](s *stage, a answer) (value T) {
	s.t.Helper()
	decoder := json.NewDecoder(strings.NewReader(a.ok(s.t).body))
	decoder.UseNumber()
	require.NoError(s.t, decoder.Decode(&value), a.body)
	return value
}

// orderLine is the line that places "buy limit amount=1 price=100" in BTC-EUR.
func orderLine(text string) string {
	words := strings.Fields(text)
	return "POST /order market=BTC-EUR operatorId=7 side=" + words[0] + " orderType=" + strings.Join(words[1:], " ")
}

// place places an order in BTC-EUR.
func (s *stage) place(account, text string) row {
	s.t.Helper()
	return s.one(account, orderLine(text))
}

// update changes an order of BTC-EUR.
func (s *stage) update(account string, o row, change string) row {
	s.t.Helper()
	return s.one(account, "PUT /order market=BTC-EUR operatorId=7 orderId="+o.id()+" "+change)
}

// again gets an order of BTC-EUR.
func (s *stage) again(account string, o row) row {
	s.t.Helper()
	return s.one(account, "GET /order market=BTC-EUR orderId="+o.id())
}

// trade lets bob sell to alice, so that the market has a last price.
func (s *stage) trade(amount, price string) (bid, ask row) {
	s.t.Helper()
	bid = s.place("alice", "buy limit amount="+amount+" price="+price)
	ask = s.place("bob", "sell limit amount="+amount+" price="+price)
	return s.again("alice", bid), ask
}

func (r row) id() string { return r["orderId"].(string) }

// fills are those of an order.
func (r row) fills() []row {
	var list []row
	for _, one := range r["fills"].([]any) {
		list = append(list, one.(map[string]any))
	}
	return list
}

// has requires members of an object: "status=new" a text, "created:=17" a literal, "-price" absence, "updated#" an integer, "name$" any text.
func (s *stage) has(r row, wants ...string) {
	s.t.Helper()
	for _, want := range wants {
		name, value, exact := strings.Cut(want, "=")
		have, present := r[strings.Trim(name, "-#$:")]
		switch {
		case exact && strings.HasSuffix(name, ":"):
			text, err := json.Marshal(have)
			require.NoError(s.t, err)
			require.True(s.t, present && value == string(text), "want %s in %v", want, r)
		case exact:
			require.Equal(s.t, any(value), have, "want %s in %v", want, r)
		case want[0] == '-':
			require.False(s.t, present, "want no %s in %v", name, r)
		case strings.HasSuffix(want, "#"):
			number, ok := have.(json.Number)
			require.True(s.t, ok && !strings.ContainsAny(number.String(), ".eE"), "want an integer: %s in %v", want, r)
		default:
			require.IsType(s.t, "", have, "want a text: %s in %v", want, r)
		}
	}
}
