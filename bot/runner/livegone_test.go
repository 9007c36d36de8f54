package runner

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/internal/lives"
	"github.com/tidemark-trading/tidemark/market"
)

// canDelist puts what hides a market between the exchange and the bot.
func (p *player) canDelist() {
	inner := p.wrap
	for _, m := range p.Units.Markets() {
		p.gone[m.Name] = &atomic.Bool{}
	}
	p.wrap = func(next http.RoundTripper) http.RoundTripper {
		if inner != nil {
			next = inner(next)
		}
		for name, gone := range p.gone {
			next = bottest.Delisted{Next: next, Market: name, Gone: gone}
		}
		return next
	}
}

// movedAt reports whether a price has moved since a moment, so that an order may have filled.
func (p *player) movedAt(since time.Time) bool {
	return slices.ContainsFunc(p.life.Events, func(e lives.Event) bool {
		at := p.begun.Add(e.At)
		return e.Actor == "time" && at.After(since) && !at.After(time.Now())
	})
}

// isGone reports whether the exchange lists a market no more.
func (p *player) isGone(name string) bool { return p.gone[name] != nil && p.gone[name].Load() }

// delists lets the exchange list a market no more, for so long or forever. Its orders end. The bot
// hears of it with the next list of markets. What filled there just before, or what the owner
// did, it cannot ask for while the market is gone.
func (p *player) delists(e *lives.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := e.Arg(0)
	if p.isLast(name) {
		return
	}
	unread := !p.around.untouched(time.Now().Add(-time.Minute)) || p.bot == nil || p.busy || p.around.isBlind() ||
		p.around.isStruck(time.Minute) || p.movedAt(time.Now().Add(-time.Minute))
	p.around.blinds(0)
	p.handOn()
	p.admin(http.MethodPost, "status", map[string]any{"market": name, "status": "halted"})
	p.admin(http.MethodPost, "cancelOrders", map[string]any{"market": name, "reason": "cancelOnDelisting"})
	p.gone[name].Store(true)
	if e.Arg(1) != "forever" {
		p.around.with(func(a *around) { a.rules["gone "+name] = time.Now().Add(e.Span(1)) })
	}
	if unread {
		p.cannotRead()
	}
}

// cannotRead blinds the bot while a market is gone: it has not heard of all trades there.
func (p *player) cannotRead() {
	for name := range p.gone {
		if !p.isGone(name) {
			continue
		}
		blind := 20 * time.Minute
		p.around.with(func(a *around) {
			if back, is := a.rules["gone "+name]; is {
				blind = time.Until(back)
			}
			a.unread = true
		})
		p.around.blinds(blind)
	}
}

// isLast reports whether the exchange lists no other market: a bot waits for one that lists none.
func (p *player) isLast(name string) bool {
	for other, gone := range p.gone {
		if other != name && !gone.Load() {
			return false
		}
	}
	return true
}

// lists lets the exchange list a market again.
func (p *player) lists(name string) {
	p.gone[name].Store(false)
	p.around.blinds(0)
	p.admin(http.MethodPost, "status", map[string]any{"market": name, "status": "trading"})
}

// writesOff lets the operator write off what the bot holds in markets that have gone for good.
func (p *player) writesOff() {
	for name := range p.gone {
		if !p.isGone(name) {
			continue
		}
		code, text := 1, "no bot trades"
		for range 20 {
			time.Sleep(10 * time.Second)
			p.mu.Lock()
			if of := p.bot; of != nil && !p.busy {
				code, text = of.command(operator.PathResolve, &operator.Request{Gone: name, WaitMS: 30_000})
			}
			p.mu.Unlock()
			p.says("bot resolve --gone %s: %d: %s", name, code, text)
			if code == 0 || strings.Contains(text, "the bot knows no market") {
				break
			}
		}
		known := slices.Contains(p.life.Setup.Markets(), name)
		p.guard.Holds("P54", code == 0 || !known, "%s: bot resolve --gone: %s", name, text)
		if ledger := p.reads(); code == 0 {
			l := ledger[name]
			p.guard.WrittenOff(name, &l)
		}
	}
}

// leavesDust sells by hand all but what is too small to sell.
func (p *player) leavesDust(e *lives.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handOn()
	m := p.Units.MarketNamed(e.Arg(0))
	l := p.reads()[m.Name]
	if p.isGone(m.Name) {
		return
	}
	if amount := market.Qty(l.Bought - l.Sold - l.Dust/2); amount > market.Qty(l.Dust) {
		p.takesAmount(m, amount, "sell")
	}
}
