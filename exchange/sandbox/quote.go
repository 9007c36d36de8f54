package sandbox

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// SetQuote gives a market the quote of another exchange, now: its last price, best bid and best
// ask, in units of the market as it was configured. The liquidity quotes that bid and ask until the
// next SetQuote, and fills resting orders that they reach. The liquidity keeps its own spread if
// bid or ask is 0 or the bid is above the ask; without endless liquidity also if the two are equal.
// No public trade is printed. A market that is not trading takes the quote when it trades again.
// Use it for markets without a Source. It returns the error that has stopped the exchange, or an
// error for an unknown market.
func (ex *Exchange) SetQuote(name string, last, bid, ask market.Price) error {
	return ex.direct(name, func(l *listing, now market.Time) {
		l.price, l.quote = last, [2]market.Price{bid, ask}
		ex.requote(l, now)
	})
}

// requote brings the latest quote of a market to the venue.
func (ex *Exchange) requote(l *listing, now market.Time) {
	if l.Status != market.Trading || l.price == 0 {
		return
	}
	ex.touch(l)
	ticker := market.Ticker{Market: l.ID, Last: l.price, Bid: l.quote[0], Ask: l.quote[1]}
	if err := ex.venue.Advance(&market.Event{At: now, Kind: market.KindTicker, Market: l.ID,
		Ticker: &ticker}); err != nil {
		ex.fail(err)
	}
}

// SetRules gives a market the status and the rules of another exchange's, now: the tick, smallest
// and largest orders, decimals of amounts, open orders. Orders that rest stay, but in a market that
// the other exchange lists no more they end. rules must be in the units of the market as it was
// configured. The error is as Quote's.
func (ex *Exchange) SetRules(name string, rules *market.Market) error {
	return ex.direct(name, func(l *listing, now market.Time) {
		ex.applyRules(l, &rules.Rules)
		if rules.Status == market.Delisted {
			ex.cancelAll(l, nil, market.CancelOnDelisting, now, nil)
		}
		if rules.Status != l.Status {
			ex.setStatus(l, rules.Status, 0, now)
			ex.requote(l, now)
		}
		ex.store.markUrgent()
	})
}

// direct carries out all due events, lets the owner of the exchange act on a market, and writes the
// changes.
func (ex *Exchange) direct(name string, act func(*listing, market.Time)) error {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	m := ex.catalog.MarketNamed(name)
	if m == nil {
		return fmt.Errorf("sandbox: %w: %s", exchange.Invalid("market"), name)
	}
	if ex.stopped() != nil {
		return ex.store.err
	}
	now := max(ex.clock.Now(), ex.reached)
	ex.advance(now)
	act(ex.listings[m.ID], now)
	if err := ex.saveAndTell(false); err != nil {
		return err
	}
	return ex.failed
}
