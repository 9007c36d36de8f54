package lives

import (
	"fmt"
	"slices"
	"strings"
)

// Promises are those that a guard holds, by their name in the table of pairs. "A bot" is left
// out of the sentences.
var Promises = []struct{ Name, Text string }{
	{"P4", "exchange and books have the same orders, fills, fees and balances at the end of a life"},
	{"P5", "a stop that ends with 0 leaves no order open but those that are to stay"},
	{"P7", "a stop leaves the exits of positions at the exchange"},
	{"P8", "its process never ends by itself"},
	{"P9", "the open orders that it tells of are those of the exchange"},
	{"P12", "each position has its exit at the exchange, or the status says the amount without one"},
	{"P14", "when the cause has gone, each position has its exit again"},
	{"P15", "its orders to sell are never over more than it holds"},
	{"P16", "exits end with their position"},
	{"P18", "flatten that fails leaves no more without an exit than before"},
	{"P22", "cancel says 0 only when the order has ended"},
	{"P23", "halt says 0 only when no order to buy is open"},
	{"P24", "flatten says 0 only when nothing is held and nothing is open, also a minute later"},
	{"P27", "an adoption takes over what a strategy has"},
	{"P29", "a timer ends orders of a dead bot and no others, and a group without one is told"},
	{"P31", "its positions are those of the ledger"},
	{"P35", "it never sells the coins of the owner"},
	{"P38", "what the status calls unprotected has no exit"},
	{"P41", "commands and stops end in their time"},
	{"P44", "it starts"},
	{"P46", "a full disk ends it, and its exits stay"},
	{"P49", "candles come once and in their order"},
	{"P54", "what it holds in a market that has gone can be written off"},
}

// Pairs counts the lives that met an event and held a promise: event → promise → lives.
type Pairs map[string]map[string]int

// Add counts a life.
func (p Pairs) Add(l *Life, g *Guard) {
	met := map[string]bool{}
	names := l.Setup.Names()
	for i := range l.Events {
		names = append(names, l.Events[i].Name())
	}
	for _, name := range names {
		if met[name] {
			continue
		}
		met[name] = true
		if p[name] == nil {
			p[name] = map[string]int{}
		}
		for promise := range g.Held {
			p[name][promise]++
		}
	}
}

// few is the number of lives up to which Page names a pair.
const few = 4

// Page is the page of the documentation about pairs. It names the pairs that few lives had.
func (p Pairs) Page(lives int) string {
	text := "# Pairs: what is promised, and what may happen\n\n" +
		"A generator draws lives of a bot: a config and events by time. A guard that sees only the exchange's\n" +
		"ledger and what the bot tells holds these promises all along. To play more, and to write this page anew:\n\n" +
		"```sh\ngo test ./bot/runner -run PromisesHold -lives 20000 -timeout 4h\n" +
		"go test ./bot/runner -run PromisesHold -lives 1000 -update\n```\n\n" +
		"A life that breaks a promise is shrunk to its fewest events and printed. Saved to a file, it runs again\n" +
		"with `-life FILE`. Those that once failed are in bot/runner/testdata/lives, and each run plays them.\n\n"
	for _, promise := range Promises {
		text += "- **" + promise.Name + "** " + promise.Text
		if !p.held(promise.Name) {
			text += neverHeld
		}
		text += "\n"
	}
	text += "\nThe first figure is the number of lives, of " + fmt.Sprint(lives) + ", in which the event happened.\n" +
		"Behind it stand the promises that had something to hold in " + fmt.Sprint(few) +
		" of these lives or fewer,\n" +
		"with that number. The rows that begin with setup are lives with that setup.\n\n" +
		"| event | lives | promises |\n|---|---|---|\n"
	for _, event := range EventNames() {
		most, thin := 0, []string{}
		for _, promise := range Promises {
			n := p[event][promise.Name]
			if most = max(most, n); n <= few && p.held(promise.Name) {
				thin = append(thin, fmt.Sprintf("%s %d", promise.Name, n))
			}
		}
		text += fmt.Sprintf("| %s | %d | %s |\n", event, most, strings.Join(thin, ", "))
	}
	return text
}

// neverHeld stands behind a promise that no life had to hold.
const neverHeld = " (no life had it to hold)"

// held reports whether some life had a promise to hold.
func (p Pairs) held(promise string) bool {
	for _, lives := range p {
		if lives[promise] > 0 {
			return true
		}
	}
	return false
}

// Frame is a page without its figures: two pages of the same events and promises have the same.
func Frame(page string) string {
	lines := strings.Split(strings.ReplaceAll(page, neverHeld, ""), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "The first figure") })
	for i, line := range lines {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			lines[i] = cells[1]
		}
	}
	return strings.Join(lines, "\n")
}
