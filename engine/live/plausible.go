package live

import (
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Limits of plausible market data. A price far from the last one is dropped until the market has
// stayed there for a while: then the market has moved.
const (
	farFactor      = 2                // times, or a part, of the last price
	farAccepted    = 10 * time.Second // how long a far price has to last
	farLogInterval = time.Minute      // between two log lines about a market
	maxPriceAge    = 10 * time.Minute // an older last price is not compared with
)

// farProblem is the problem of prices that may be true, because the market may have moved.
const farProblem = "far from the last price"

// suspension marks a market whose latest data is not accepted.
type suspension struct {
	since market.Time // time of the first implausible price; 0: none
	said  market.Time
}

// plausibility says which market data can be true. Of other data it says so once a minute.
type plausibility struct {
	account  *state.Account
	log      zerolog.Logger
	markets  []suspension      // by market
	distrust func(m market.ID) // marks a market as unreliable
}

// event reports whether a market event can be true: its prices are above 0, bid is not above
// ask, and it is not far from the last known price. Other events are not delivered: the account
// marks the market as unreliable, and the gate refuses what depends on its prices, until the next
// plausible price. Meanwhile the strategies' prices grow old, and max_data_age refuses new
// positions on them.
func (p *plausibility) event(ev *market.Event, now market.Time) bool {
	var m market.ID
	var problem string
	var price market.Price
	switch ev.Kind {
	case market.KindTicker:
		t := ev.Ticker
		m, price, problem = t.Market, t.Last, p.tickerProblem(t, now)
	case market.KindTrade:
		m, price = ev.Trade.Market, ev.Trade.Price
		if price <= 0 || ev.Trade.Amount < 0 {
			problem = "a trade at 0 or below"
		}
	case market.KindBook:
		m, price, problem = bookProblem(ev.Book)
	case market.KindCandles:
		ev.Candles = slices.DeleteFunc(ev.Candles, func(c market.Candle) bool { return !p.candle(&c, now) })
		return len(ev.Candles) > 0
	default:
		return true
	}
	return p.accepts(m, price, problem, now)
}

// tickerProblem describes the fault of a ticker, in itself or compared with earlier prices.
func (p *plausibility) tickerProblem(t *market.Ticker, now market.Time) string {
	known := p.account.Last(t.Market) > 0
	bid, bids := p.account.BestPrice(t.Market, market.Sell)
	ask, asks := p.account.BestPrice(t.Market, market.Buy)
	recent := p.recent(t.Market, now)
	switch {
	case t.Bid < 0 || t.Ask < 0 || t.Last < 0:
		return "a price below 0"
	case t.Last == 0 && (known || t.Bid == 0 && t.Ask == 0):
		return "a price of 0"
	case t.Bid > t.Ask && t.Ask != 0:
		return "the bid is above the ask"
	case recent && (bids && t.Bid != 0 && far(t.Bid, bid) && far(t.Bid, t.Last) || asks && t.Ask != 0 &&
		far(t.Ask, ask) && far(t.Ask, t.Last)):
		return farProblem
	}
	return ""
}

// candle reports whether a candle can be true: prices above 0 with high and low around
// them, and, of a recent candle, a close not far from the last known price.
func (p *plausibility) candle(c *market.Candle, now market.Time) bool {
	problem := ""
	if c.Low <= 0 || c.Low > min(c.Open, c.Close) || c.High < max(c.Open, c.Close) || c.Volume < 0 {
		problem = "a candle that cannot be"
	}
	if problem == "" && (c.Late || now.Sub(c.End()) >= maxPriceAge) {
		return true // no price of its time is known
	}
	return p.accepts(c.Market, c.Close, problem, now)
}

// far reports whether a price is more than twice, or less than half of another. 0 is far from
// nothing.
func far(price, from market.Price) bool {
	return from > 0 && price > 0 && (price/farFactor > from || from/farFactor > price)
}

// recent reports whether a market's last price is young enough to compare with.
func (p *plausibility) recent(m market.ID, now market.Time) bool {
	at, _ := p.account.PriceArrived(m)
	return now.Sub(at) < maxPriceAge
}

// bookProblem describes the fault of a book, and returns its price: the middle of the best bid and
// ask.
func bookProblem(b *market.OrderBook) (m market.ID, price market.Price, problem string) {
	for _, levels := range [...][]market.Level{b.Bids, b.Asks} {
		if len(levels) > 0 && (levels[0].Price <= 0 || levels[0].Amount <= 0) {
			return b.Market, 0, "a level of 0 or below"
		}
	}
	if len(b.Bids) == 0 || len(b.Asks) == 0 {
		return b.Market, 0, ""
	}
	bid, ask := b.Bids[0].Price, b.Asks[0].Price
	if bid >= ask {
		return b.Market, 0, "the bid is not below the ask"
	}
	return b.Market, bid + (ask-bid)/2, ""
}

// accepts notes whether data of a market is accepted.
func (p *plausibility) accepts(m market.ID, price market.Price, problem string, now market.Time) bool {
	mark := &p.markets[m]
	last := p.account.Last(m)
	if problem == "" && far(price, last) && p.recent(m, now) {
		problem = farProblem
	}
	if problem == "" {
		*mark = suspension{}
		return true
	}
	if mark.since == 0 {
		mark.since = now
	}
	if problem == farProblem && now.Sub(mark.since) >= farAccepted {
		*mark = suspension{}
		return true
	}
	if !p.account.Unreliable(m) {
		p.distrust(m)
	}
	if mark.said == 0 || now.Sub(mark.said) >= farLogInterval {
		mark.said = now
		known := p.account.Catalog().Market(m)
		p.log.Warn().Str("market", known.Name).Str("price", known.FormatPrice(price)).
			Str("last", known.FormatPrice(last)).Str("problem", problem).
			Msg("prices of the exchange cannot be true: they are not delivered")
	}
	return false
}
