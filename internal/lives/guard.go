package lives

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Ledger is a market as the exchange's own record has it. Amounts are in units of the base.
type Ledger struct {
	Bought, Sold int64 // by the bot's orders
	Resting      int64 // of the bot's open orders to sell
	Buys, Sells  int   // the bot's open orders
	Held         int64 // the account's base, in orders too
	Dust         int64 // the largest amount that cannot be sold under the rules of the start
	Trading      bool
}

// Told is a bot's own account of itself, by market: its status and its positions.
type Told struct {
	Unprotected, Positions map[string]int64
	Unknown                map[string]int64 // of Unprotected: which exit it is to have is not known
	Open                   int              // orders, of its status
	Orders                 []string         // the same, each by its client order id, of its list
	NotGuarded             int              // groups whose orders outlive it
}

// Look is one look at the exchange and the bot.
type Look struct {
	At      time.Duration
	Up      bool // the bot trades
	Blind   bool // the exchange does not answer the bot
	Dead    bool // the bot was killed
	Grouped int  // the bot's open orders that a timer may end
	Strange int  // others with the number of a group, such as those from after a copy that was restored
	Stopped bool // the bot ended in good order with every position covered, and no other hand acted since
	Ledger  map[string]Ledger
	Orders  []string // the bot's open orders in the ledger, by client order id
	Told    *Told    // nil: it was not asked, or did not answer
}

// Finding is a broken promise: its number in the matrix of pairs, and what was seen.
type Finding struct {
	Promise string
	Text    string
}

// String is the promise and what was seen.
func (f Finding) String() string { return f.Promise + ": " + f.Text }

// The times that a bot has.
const (
	// Soon is how long a position may have no exit without a word: a list of orders is due every
	// 20 s, and the bot has 10 s from then on.
	Soon = 35 * time.Second
	// Late is how long books and words may differ from the ledger.
	Late = 75 * time.Second
	// Expiry is that of the timers of groups.
	Expiry = 150 * time.Second
)

// Guard holds each look against the promises. The coins of the owner are those that the account
// has beyond what the bot's orders bought and did not sell.
type Guard struct {
	Setup *Setup

	mu sync.Mutex // of what follows
	// sure and most are what left the account of the bot's base without an order of the bot, by
	// market: at least and at most. Between the two the bot may or may not have heard of it.
	sure, most map[string]int64
	since      map[string]time.Duration
	restored   bool // what was bought since the backup may have lost its bracket
	// Findings has the first finding of each promise.
	Findings []Finding
	// Held counts, by promise, the looks at which it had something to hold.
	Held map[string]int
}

// NewGuard returns a guard over a life.
func NewGuard(s *Setup) *Guard {
	return &Guard{Setup: s, sure: map[string]int64{}, most: map[string]int64{}, since: map[string]time.Duration{},
		Held: map[string]int{}}
}

// Fail notes a broken promise, the first time.
func (g *Guard) Fail(promise, format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fail(promise, format, args...)
}

func (g *Guard) fail(promise, format string, args ...any) {
	if slices.ContainsFunc(g.Findings, func(f Finding) bool { return f.Promise == promise }) {
		return
	}
	g.Findings = append(g.Findings, Finding{promise, fmt.Sprintf(format, args...)})
}

// Holds notes that a promise had something to hold, and a finding where it is broken.
func (g *Guard) Holds(promise string, kept bool, format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holds(promise, kept, format, args...)
}

func (g *Guard) holds(promise string, kept bool, format string, args ...any) {
	g.Held[promise]++
	if !kept {
		g.fail(promise, format, args...)
	}
}

// lasts reports whether a condition has held at every look for longer than so long.
func (g *Guard) lasts(key string, broken bool, at, longer time.Duration) bool {
	begun, running := g.since[key]
	switch {
	case !broken:
		delete(g.since, key)
	case !running:
		g.since[key] = at
	default:
		return at-begun > longer
	}
	return false
}

// Position is what the bot holds in a market at least and at most.
func (g *Guard) Position(name string, l *Ledger) (least, most int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.position(name, l)
}

func (g *Guard) position(name string, l *Ledger) (least, most int64) {
	return l.Bought - l.Sold - g.most[name], l.Bought - l.Sold - g.sure[name]
}

// Bare is the base in a market that has no exit at the exchange.
func (g *Guard) Bare(name string, l *Ledger) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.bare(name, l)
}

func (g *Guard) bare(name string, l *Ledger) int64 {
	least, _ := g.position(name, l)
	return max(0, least-l.Resting)
}

// Look judges one look.
func (g *Guard) Look(look *Look) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(look.Ledger)) {
		l := look.Ledger[name]
		g.takes(name, &l, look)
		g.sold(name, &l, look)
		if !g.Setup.Bare(name) {
			g.covered(name, &l, look)
		}
		g.told(name, &l, look)
	}
	g.orders(look)
	g.timers(look)
}

// timers wants the end of orders whose bot is dead, and a word of a group without a timer: the
// exchange has one for an account.
func (g *Guard) timers(look *Look) {
	groups := min(g.Setup.Groups, len(g.Setup.Strategies))
	if groups == 0 {
		return
	}
	if groups == 1 && look.Dead && look.Grouped > 0 {
		g.Held["P29"]++
	}
	if g.lasts("timer", groups == 1 && look.Dead && look.Grouped > 0, look.At, Expiry+5*time.Second) {
		g.fail("P29", "%s: the bot is dead, and %d orders of its group are open", look.At, look.Grouped)
	}
	ask := look.Up && !look.Blind && look.Told != nil
	if ask && groups > 1 {
		g.Held["P29"]++
	}
	told := ask && look.Told.NotGuarded == groups-1
	if look.Strange > 0 { // they may carry the number of the group that has the timer
		told = told || ask && look.Told.NotGuarded == groups
	}
	if g.lasts("groups", ask && !told, look.At, Late) {
		g.fail("P29", "%s: %d of %d groups are told to have no timer", look.At, look.Told.NotGuarded, groups)
	}
}

// Restored notes that the bot goes on from an older state file: the orders that it does not know
// are no longer its own, and what has left the account may not have left its books.
func (g *Guard) Restored() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.since)
	clear(g.sure)
	g.restored = true
}

// WrittenOff notes that what the bot holds in a market is no longer in its books: the rest is the
// owner's.
func (g *Guard) WrittenOff(name string, l *Ledger) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.most[name], g.sure[name] = l.Bought-l.Sold, l.Bought-l.Sold
}

// Knows notes that the holdings which a kill switch reads are newer than the state file that was
// restored, and have an amount in a market: what of it the state file does not know is the bot's.
func (g *Guard) Knows(name string, amount int64, l *Ledger) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, most := g.position(name, l); amount > most {
		g.most[name] -= amount - most
		g.sure[name] -= amount - most
	}
}

// takes follows what leaves the account without an order of the bot.
func (g *Guard) takes(name string, l *Ledger, look *Look) {
	free := l.Held - (l.Bought - l.Sold - g.most[name])
	if free < 0 { // the bot may hear of it at once
		g.most[name] -= free
	}
	short := l.Bought - l.Sold - g.sure[name] - l.Held
	if g.lasts(name+" sure", short > 0 && look.Up && !look.Blind, look.At, Late) {
		g.sure[name] += short
	}
}

// sold holds what the bot sells against what it bought.
func (g *Guard) sold(name string, l *Ledger, look *Look) {
	_, most := g.position(name, l)
	if l.Sold > 0 {
		g.holds("P35", most >= 0, "%s %s: sold %d more than it bought and has", look.At, name, -most)
	}
	over := g.lasts(name+" over", look.Up && !look.Blind && l.Resting > max(0, most), look.At, Late)
	promise := "P15"
	if most <= l.Dust && l.Bought > 0 {
		promise = "P16"
	}
	if l.Resting > 0 || promise == "P16" {
		g.holds(promise, !over, "%s %s: orders to sell %d rest, and %d is held", look.At, name, l.Resting, most)
	}
}

// covered wants an exit of every position, or a word.
func (g *Guard) covered(name string, l *Ledger, look *Look) {
	bare := g.bare(name, l)
	word := int64(0)
	if look.Told != nil {
		word = look.Told.Unprotected[name]
	}
	if least, _ := g.position(name, l); least > l.Dust {
		g.Held["P12"]++
	}
	if g.lasts(name+" bare", look.Up && !look.Blind && look.Told != nil && bare-word > l.Dust, look.At, Soon) {
		g.fail("P12", "%s %s: %d has no exit, and the bot tells of %d", look.At, name, bare, word)
	}
	if look.Stopped {
		g.holds("P7", !g.lasts(name+" left", bare > l.Dust, look.At, time.Second),
			"%s %s: the stop left %d without its exit", look.At, name, bare)
	}
}

// told holds what the bot tells against the ledger.
func (g *Guard) told(name string, l *Ledger, look *Look) {
	ask := look.Up && !look.Blind && look.Told != nil
	if !ask {
		delete(g.since, name+" false")
		delete(g.since, name+" position")
		return
	}
	least, most := g.position(name, l)
	word := look.Told.Unprotected[name]
	if word > 0 {
		g.Held["P38"]++
	}
	alone := !g.Setup.Bare(name) // or a plain sell may rest over what a bracket calls unprotected
	if g.lasts(name+" false", alone && word > max(0, most-l.Resting)+l.Dust, look.At, Late) {
		g.fail("P38", "%s %s: the bot tells of %d without an exit, and %d has none", look.At, name, word,
			most-l.Resting)
	}
	have := look.Told.Positions[name]
	g.holds("P31", !g.lasts(name+" position", have < least || have > most, look.At, Late),
		"%s %s: the bot's books have %d, and the ledger %d to %d", look.At, name, have, least, most)
}

// orders holds each open order against the ledger. One whose request has no answer may be open or
// not, until that is proven.
func (g *Guard) orders(look *Look) {
	if look.Up {
		g.Held["P8"]++
		g.Held["P9"]++
	}
	told := &Told{Orders: look.Orders, Open: len(look.Orders)}
	if look.Up && !look.Blind && look.Told != nil {
		told = look.Told
	}
	wrong := map[string]bool{}
	for _, id := range told.Orders {
		wrong["order "+id] = !slices.Contains(look.Orders, id)
	}
	for _, id := range look.Orders {
		wrong["order "+id] = !slices.Contains(told.Orders, id)
	}
	for key := range g.since {
		if strings.HasPrefix(key, "order ") && !wrong[key] {
			delete(g.since, key)
		}
	}
	for key, wrong := range wrong {
		if g.lasts(key, wrong, look.At, Late) {
			g.fail("P9", "%s: %s: the bot lists %d open orders, and the ledger %d", look.At, key, len(told.Orders),
				len(look.Orders))
		}
	}
	if g.lasts("number of orders", told.Open != len(told.Orders), look.At, Late) {
		g.fail("P9", "%s: the status tells of %d open orders, and the list of %d", look.At, told.Open, len(told.Orders))
	}
}

// Rests reports whether each position that wants an exit has one. A word is enough where the
// operator cancelled the exits.
func (g *Guard) Rests(look *Look, cancelled bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rests(look, cancelled)
}

func (g *Guard) rests(look *Look, cancelled bool) bool {
	for name, l := range look.Ledger {
		if g.wants(name, &l, look, cancelled) > l.Dust {
			return false
		}
	}
	return true
}

// wants is the base in a market that is to have an exit, and has none.
func (g *Guard) wants(name string, l *Ledger, look *Look, cancelled bool) int64 {
	switch {
	case g.Setup.Bare(name):
		return 0
	case cancelled && look.Told != nil:
		return g.bare(name, l) - look.Told.Unprotected[name]
	case g.restored && look.Told != nil:
		return g.bare(name, l) - look.Told.Unknown[name]
	}
	return g.bare(name, l)
}

// Quiet reports whether nothing is amiss at a look, not even for a moment.
func (g *Guard) Quiet(look *Look) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rests(look, false) && len(g.since) == 0
}

// End judges the end of a life, when everything is well again: each position has its exit. A word
// is enough where the operator cancelled the exits, or a restored backup does not know them.
func (g *Guard) End(look *Look, cancelled bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(look.Ledger)) {
		l := look.Ledger[name]
		if g.Setup.Bare(name) {
			continue
		}
		bare := g.wants(name, &l, look, cancelled)
		g.holds("P14", bare <= l.Dust, "%s: at the end %d of %d has no exit", name, bare, l.Bought-l.Sold)
	}
}
