package live

import (
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/market"
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

// plausible reports whether a market event can be true: its prices are above 0, bid is not above
// ask, and it is not far from the last known price. Other events are not delivered: the account
// marks the market as unreliable, and the gate refuses what depends on its prices, until the next
// plausible price. Meanwhile the strategies' prices grow old, and max_data_age refuses new
// positions on them.
func (l *Loop) plausible(ev *market.Event) bool {
	var m market.ID
	var problem string
	var price market.Price
	switch ev.Kind {
	case market.KindTicker:
		t := ev.Ticker
		m, price, problem = t.Market, t.Last, l.tickerProblem(t)
	case market.KindTrade:
		m, price = ev.Trade.Market, ev.Trade.Price
		if price <= 0 || ev.Trade.Amount < 0 {
			problem = "a trade at 0 or below"
		}
	case market.KindBook:
		m, price, problem = bookProblem(ev.Book)
	case market.KindCandles:
		ev.Candles = slices.DeleteFunc(ev.Candles, func(c market.Candle) bool { return !l.plausibleCandle(&c) })
		return len(ev.Candles) > 0
	default:
		return true
	}
	return l.accepts(m, price, problem)
}

// tickerProblem is what is wrong with a ticker, in itself or compared with earlier prices.
func (l *Loop) tickerProblem(t *market.Ticker) string {
	known := l.Account.Last(t.Market) > 0
	bid, bids := l.Account.BestPrice(t.Market, market.Sell)
	ask, asks := l.Account.BestPrice(t.Market, market.Buy)
	recent := l.recent(t.Market)
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

// plausibleCandle reports whether a candle can be true: prices above 0 with high and low around
// them, and, of a recent candle, a close not far from the last known price.
func (l *Loop) plausibleCandle(c *market.Candle) bool {
	problem := ""
	if c.Low <= 0 || c.Low > min(c.Open, c.Close) || c.High < max(c.Open, c.Close) || c.Volume < 0 {
		problem = "a candle that cannot be"
	}
	if problem == "" && (c.Late || l.now.Sub(c.End()) >= maxPriceAge) {
		return true // no price of its time is known
	}
	return l.accepts(c.Market, c.Close, problem)
}

// far reports whether a price is more than twice, or less than half of another. 0 is far from
// nothing.
func far(price, from market.Price) bool {
	return from > 0 && price > 0 && (price/farFactor > from || from/farFactor > price)
}

// recent reports whether a market's last price is young enough to compare with.
func (l *Loop) recent(m market.ID) bool {
	at, _ := l.Account.PriceArrived(m)
	return l.now.Sub(at) < maxPriceAge
}

// bookProblem is what is wrong with a book, and its price: the middle of the best bid and ask.
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
func (l *Loop) accepts(m market.ID, price market.Price, problem string) bool {
	mark := &l.suspended[m]
	last := l.Account.Last(m)
	if problem == "" && far(price, last) && l.recent(m) {
		problem = farProblem
	}
	if problem == "" {
		*mark = suspension{}
		return true
	}
	if mark.since == 0 {
		mark.since = l.now
	}
	if problem == farProblem && l.now.Sub(mark.since) >= farAccepted {
		*mark = suspension{}
		return true
	}
	if !l.Account.Unreliable(m) {
		l.input(&market.Input{Kind: market.InputUnreliable, Market: m})
	}
	if mark.said == 0 || l.now.Sub(mark.said) >= farLogInterval {
		mark.said = l.now
		known := l.Account.Catalog().Market(m)
		l.Log.Warn().Str("market", known.Name).Str("price", known.FormatPrice(price)).
			Str("last", known.FormatPrice(last)).Str("problem", problem).
			Msg("prices of the exchange cannot be true: they are not delivered")
	}
	return false
}
