package lives

import (
	"fmt"
	"slices"
	"strings"
)

// Promises are those that a guard holds, by their column in the matrix of pairs. "A bot" is left
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

// together are promises that nearly every life holds: the matrix has one column of them, with the
// least of their figures.
var together = []string{"P8", "P9", "P31", "P41", "P44"}

// columns are the columns of the matrix.
func columns() [][]string {
	list := [][]string{together}
	for _, promise := range Promises {
		if !slices.Contains(together, promise.Name) {
			list = append(list, []string{promise.Name})
		}
	}
	return list
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

// Page is the matrix as a page of the documentation.
func (p Pairs) Page(lives int) string {
	text := "# Pairs: what is promised, and what may happen\n\n" +
		"A generator draws lives of a bot: a config and events by time. A guard that sees only the exchange's\n" +
		"ledger and what the bot tells holds these promises all along. The figures are the numbers of lives, of\n" +
		fmt.Sprint(lives) + ", in which the event happened and the promise had something to hold. A pair without\n" +
		"a figure is open. The rows that begin with setup are lives with that setup.\n" +
		"To play more, and to write this page anew:\n\n" +
		"```sh\ngo test ./bot/runner -run PromisesHold -lives 20000 -timeout 4h\n" +
		"go test ./bot/runner -run PromisesHold -lives 1000 -update\n```\n\n" +
		"A life that breaks a promise is shrunk to its fewest events and printed. Saved to a file, it runs again\n" +
		"with `-life FILE`. Those that once failed are in bot/runner/testdata/lives, and each run plays them.\n\n"
	for _, promise := range Promises {
		text += "- **" + promise.Name + "** " + promise.Text + "\n"
	}
	head, line := "| event |", "|---|"
	for _, column := range columns() {
		head, line = head+" "+strings.Join(column, ", ")+" |", line+"---|"
	}
	text += "\n" + head + "\n" + line + "\n"
	for _, event := range EventNames() {
		row := "| " + event + " |"
		for _, column := range columns() {
			n := p[event][column[0]]
			for _, promise := range column {
				n = min(n, p[event][promise])
			}
			if n > 0 {
				row += fmt.Sprintf(" %d |", n)
			} else {
				row += " |"
			}
		}
		text += row + "\n"
	}
	return text
}

// Frame is a page without its figures: two pages of the same events and promises have the same.
func Frame(page string) string {
	lines := strings.Split(page, "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasSuffix(line, "A pair without") })
	for i, line := range lines {
		if cells := strings.Split(line, "|"); len(cells) > 3 && cells[1] != " event " {
			lines[i] = cells[1]
		}
	}
	return strings.Join(lines, "\n")
}
