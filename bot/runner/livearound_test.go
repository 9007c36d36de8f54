package runner

import (
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// around is what a life does around its bot, and until when. Several goroutines act in a life.
type around struct {
	mu       sync.Mutex
	last     map[string]market.Price // of the markets
	rules    map[string]time.Time    // of a market's change: when it ends
	blind    time.Time               // until when the exchange does not answer the bot
	struck   time.Time               // until when faults befall its requests
	lasting  time.Time               // until when a room is at work
	handed   time.Time               // the latest act of another hand than the bot's
	uncover  bool                    // the operator has cancelled exits
	unread   bool                    // orders may have filled in a market that has gone since
	restored bool                    // an older state file was put in place: orders are foreign to it
}

func newAround() *around {
	return &around{rules: map[string]time.Time{},
		last: map[string]market.Price{"BTC-EUR": 30_000_00, "ETH-EUR": 2_000_00}}
}

// with calls do under the lock.
func (a *around) with(do func(a *around)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	do(a)
}

// blinds notes that the exchange does not answer the bot for so long, and the time that the bot
// takes to see everything again.
func (a *around) blinds(long time.Duration) {
	a.with(func(a *around) { a.blind = later(a.blind, time.Now().Add(long+45*time.Second)) })
}

func (a *around) isBlind() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Now().Before(a.blind)
}

// lasts notes that a room is at work for so long.
func (a *around) lasts(long time.Duration) {
	a.with(func(a *around) { a.lasting = later(a.lasting, time.Now().Add(long)) })
}

// until is when all that was begun has passed, and at least a moment.
func (a *around) until(moment time.Time) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, at := range a.rules {
		moment = later(moment, at)
	}
	return later(moment, a.lasting)
}

// over takes the changes of rules and statuses whose time is over, or all.
func (a *around) over(all bool) (keys []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, at := range a.rules {
		if all || !time.Now().Before(at) {
			delete(a.rules, key)
			keys = append(keys, key)
		}
	}
	return keys
}

// usual reports whether the markets trade by their rules, and no operator has cancelled exits.
func (a *around) usual() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.rules) == 0 && !a.uncover
}

// covered reports whether no operator has cancelled exits.
func (a *around) covered() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.uncover
}

// isStruck reports whether faults befall requests of the bot, or did so long ago.
func (a *around) isStruck(ago time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Now().Before(a.struck.Add(ago))
}

// untouched reports whether no other hand has acted since a moment.
func (a *around) untouched(since time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.handed.Before(since)
}

func (a *around) lastOf(name string) market.Price {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last[name]
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
