package live

import (
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// What is believed of market data. A price that is farther from the last one is let go by until the
// market has stood there for a while: then the market has moved.
const (
	farFold      = 2                // times, or a part, of the last price
	farBelieved  = 10 * time.Second // how long a far price has to stand
	sayFarAgain  = time.Minute      // between two lines of the log about a market
	longestDoubt = 10 * time.Minute // a last price that is older is none to compare with
)

// farAway is the problem of prices that may be true: the market may have moved.
const farAway = "far from the last price"

// marked is a market whose latest data is not believed.
type marked struct {
	since market.Time // of the first price that was not; 0: all is believed
	said  market.Time
}

// believes reports whether a market event can be true: its prices are above 0, bid is not above
// ask, and it is not far from the last known price. What is not believed is not delivered: the
// market is doubted in the account, where the gate refuses what depends on its prices, until the
// next price that is believed. Meanwhile the strategies' prices grow old, and max_data_age refuses
// what would open on them.
func (l *Loop) believes(ev *market.Event) bool {
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
		ev.Candles = slices.DeleteFunc(ev.Candles, func(c market.Candle) bool { return !l.believesCandle(&c) })
		return len(ev.Candles) > 0
	default:
		return true
	}
	return l.marks(m, price, problem)
}

// tickerProblem is what is wrong with a ticker in itself and beside what it said before.
func (l *Loop) tickerProblem(t *market.Ticker) string {
	known := l.Account.Last(t.Market) > 0
	bid, bids := l.Account.Quote(t.Market, market.Sell)
	ask, asks := l.Account.Quote(t.Market, market.Buy)
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
		return farAway
	}
	return ""
}

// believesCandle reports whether a candle can be true: prices above 0 with high and low around
// them, and a close of just now not far from the last known price.
func (l *Loop) believesCandle(c *market.Candle) bool {
	problem := ""
	if c.Low <= 0 || c.Low > min(c.Open, c.Close) || c.High < max(c.Open, c.Close) || c.Volume < 0 {
		problem = "a candle that cannot be"
	}
	if problem == "" && (c.Late || l.now.Sub(c.End()) >= longestDoubt) {
		return true // of a time of which no price is known
	}
	return l.marks(c.Market, c.Close, problem)
}

// far reports whether a price is more than twice, or less than half of another. 0 is far from
// nothing.
func far(price, from market.Price) bool {
	return from > 0 && price > 0 && (price/farFold > from || from/farFold > price)
}

// recent reports whether a market's last price is one to compare with.
func (l *Loop) recent(m market.ID) bool {
	at, _ := l.Account.Seen(m)
	return l.now.Sub(at) < longestDoubt
}

// bookProblem is what is wrong with a book, and its price: between the best bid and ask.
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

// marks notes whether data of a market is believed.
func (l *Loop) marks(m market.ID, price market.Price, problem string) bool {
	mark := &l.marked[m]
	last := l.Account.Last(m)
	if problem == "" && far(price, last) && l.recent(m) {
		problem = farAway
	}
	if problem == "" {
		*mark = marked{}
		return true
	}
	if mark.since == 0 {
		mark.since = l.now
	}
	if problem == farAway && l.now.Sub(mark.since) >= farBelieved {
		*mark = marked{}
		return true
	}
	l.Account.Doubt(m)
	if mark.said == 0 || l.now.Sub(mark.said) >= sayFarAgain {
		mark.said = l.now
		known := l.Account.Catalog().Market(m)
		l.Log.Warn().Str("market", known.Name).Str("price", known.FormatPrice(price)).
			Str("last", known.FormatPrice(last)).Str("problem", problem).
			Msg("prices of the exchange cannot be true: they are not delivered")
	}
	return false
}
