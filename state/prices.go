package state

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// Prices are the latest prices of the markets, as candles, tickers, trades and books tell them. An
// account values what it holds at them.
type Prices struct {
	catalog *market.Catalog
	marks   []mark      // by market
	quotes  []quote     // by market
	stale   []market.ID // markets with a price or a base that has changed since they were valued
}

func newPrices(catalog *market.Catalog) Prices {
	markets := len(catalog.Markets()) + 1
	return Prices{catalog: catalog, marks: make([]mark, markets), quotes: make([]quote, markets)}
}

// mark is the latest price of a market.
type mark struct {
	price market.Price
	at    market.Time // its arrival
	late  bool        // from a candle that arrived late

	held       bool // there was some of the base asset when the market was valued last
	stale      bool // the market is listed in Prices.stale
	unreliable bool // the exchange's later data cannot be true
}

// quote is the latest best bid and ask of a ticker or a book, 0 for none.
type quote struct {
	bid, ask market.Price
}

// Mark takes the close of a candle that arrived at a time, as Apply does for each candle of an
// event.
func (p *Prices) Mark(c *market.Candle, at market.Time) {
	p.setMark(c.Market, c.Close, at, c.Late)
}

// Quote takes a ticker that arrived at a time, as Apply does.
func (p *Prices) Quote(t *market.Ticker, at market.Time) {
	if t.Last != 0 {
		p.setMark(t.Market, t.Last, at, false)
	}
	p.marks[t.Market].unreliable = false
	p.quotes[t.Market] = quote{t.Bid, t.Ask}
}

// setMark sets the latest price of a market. The value of a base asset that is not held does not
// change with it.
func (p *Prices) setMark(m market.ID, price market.Price, at market.Time, late bool) {
	k := &p.marks[m]
	k.price, k.at, k.late, k.unreliable = price, at, late, false
	if k.held && !k.stale {
		k.stale = true
		p.stale = append(p.stale, m)
	}
}

// Last is the latest price of a market, 0 before the first.
func (p *Prices) Last(m market.ID) market.Price { return p.marks[m].price }

func quoteOf(b *market.OrderBook) (q quote) {
	if len(b.Bids) > 0 {
		q.bid = b.Bids[0].Price
	}
	if len(b.Asks) > 0 {
		q.ask = b.Asks[0].Price
	}
	return q
}

// Touch is the price at which an order of that side would trade now: the best ask for a buy, the
// best bid for a sell, the latest price where neither is known.
func (p *Prices) Touch(m market.ID, side market.Side) market.Price {
	if best, known := p.BestPrice(m, side); known {
		return best
	}
	return p.marks[m].price
}

// BestPrice is the best price on the other side for an order of that side; known: a ticker or a
// book has shown one.
func (p *Prices) BestPrice(m market.ID, side market.Side) (best market.Price, known bool) {
	best = p.quotes[m].ask
	if side == market.Sell {
		best = p.quotes[m].bid
	}
	return best, best != 0
}

// PriceArrived is when the latest price of a market arrived, and whether it was late.
func (p *Prices) PriceArrived(m market.ID) (at market.Time, late bool) {
	return p.marks[m].at, p.marks[m].late
}

// MarkUnreliable notes that the exchange's data of a market cannot be true. The next applied price
// ends that.
func (p *Prices) MarkUnreliable(m market.ID) { p.marks[m].unreliable = true }

// Unreliable reports whether the exchange's latest data of a market cannot be true.
func (p *Prices) Unreliable(m market.ID) bool { return p.marks[m].unreliable }

// takeBook takes the best prices of an order book.
func (p *Prices) takeBook(b *market.OrderBook) {
	p.marks[b.Market].unreliable = false
	p.quotes[b.Market] = quoteOf(b)
}

// markCandles takes the closes of the candles of an event.
//
//go:noinline
func (p *Prices) markCandles(ev *market.Event) {
	for i := range ev.Candles {
		p.Mark(&ev.Candles[i], ev.At)
	}
}

// pricesVersion is the version of SavedPrices.
const pricesVersion = 1

// SavedPrices are the latest prices of the markets that have one, by name.
type SavedPrices struct {
	Markets map[string]SavedPrice `json:"markets,omitempty"`
}

// SavedPrice is the latest price data of a market, in its units.
type SavedPrice struct {
	Units market.Units `json:"units"`
	Last  market.Price `json:"last,omitzero"`
	At    market.Time  `json:"at,omitzero"` // arrival of Last
	Late  bool         `json:"late,omitzero"`
	Bid   market.Price `json:"bid,omitzero"`
	Ask   market.Price `json:"ask,omitzero"`
}

// SavePrices appends the latest prices, which Save leaves out: they change with nearly every event.
func (p *Prices) SavePrices(dst []byte) ([]byte, error) {
	s := SavedPrices{Markets: make(map[string]SavedPrice)}
	for _, m := range p.catalog.Markets() {
		mark, quote := p.marks[m.ID], p.quotes[m.ID]
		if mark.price != 0 || quote.bid != 0 || quote.ask != 0 {
			s.Markets[m.Name] = SavedPrice{Units: m.Units(), Last: mark.price, At: mark.at, Late: mark.late,
				Bid: quote.bid, Ask: quote.ask}
		}
	}
	return market.AppendSaved(dst, pricesVersion, &s)
}

// RestorePrices restores saved prices. Markets that are no longer listed are left out; other units
// are an error.
func (p *Prices) RestorePrices(data []byte) error {
	var s SavedPrices
	if err := market.ParseSaved(data, pricesVersion, &s); err != nil {
		return fmt.Errorf("prices: %w", err)
	}
	units := make(map[string]market.Units)
	for name, price := range s.Markets {
		units[name] = price.Units
	}
	if err := p.catalog.CheckUnits(units); err != nil {
		return fmt.Errorf("prices: %w", err)
	}
	for name, price := range s.Markets {
		m := p.catalog.MarketNamed(name)
		if m == nil {
			continue
		}
		p.setMark(m.ID, price.Last, price.At, price.Late)
		p.quotes[m.ID] = quote{price.Bid, price.Ask}
	}
	return nil
}

// Priced is the number of markets with a known price.
func (p *Prices) Priced() (n int) {
	for i := range p.marks {
		if p.marks[i].price != 0 {
			n++
		}
	}
	return n
}
