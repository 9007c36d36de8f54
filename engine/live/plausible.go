package live

import (
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// What is believed of market data. A price that is farther from the last one is let go by until the market has stood there for a while: then the
// market has moved.
const (
	farFold      = 2                // times, or a part, of the last price
	farBelieved  = 10 * time.Second // how long a far price has to stand
	sayFarAgain  = time.Minute      // between two lines of the log about a market
	longestDoubt = 10 * time.Minute // a last price that is older is none to compare with
)

// marked is a market whose latest data is not believed.
type marked struct {
	since market.Time // of the first price that was not; 0: all is believed
	said  market.Time
}

// believes reports whether a market event can be true: its prices are above 0, bid is not above ask, and it is not far from the last known price.
// What is not believed is not delivered; the strategies' prices grow old meanwhile, and max_data_age refuses what would open on them.
func (l *Loop) believes(ev *market.Event) bool {
	var m market.ID
	var problem string
	var price market.Price
	switch ev.Kind {
	case market.KindTicker:
		t := ev.Ticker
		m, price = t.Market, t.Last
		if t.Bid < 0 || t.Ask < 0 || t.Last < 0 {
			problem = "a price below 0"
		} else if t.Bid > t.Ask && t.Ask != 0 {
			problem = "the bid is above the ask"
		}
	case market.KindTrade:
		m, price = ev.Trade.Market, ev.Trade.Price
		if price <= 0 || ev.Trade.Amount < 0 {
			problem = "a trade at 0 or below"
		}
	case market.KindBook:
		m, price, problem = bookProblem(ev.Book)
	default:
		return true
	}
	return l.marks(m, price, problem)
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
	if at, _ := l.Account.Seen(m); problem == "" && last > 0 && price > 0 && l.now.Sub(at) < longestDoubt && (price/farFold > last || last/farFold > price) {
		problem = "far from the last price"
	}
	if problem == "" {
		*mark = marked{}
		return true
	}
	if mark.since == 0 {
		mark.since = l.now
	}
	if problem == "far from the last price" && l.now.Sub(mark.since) >= farBelieved {
		*mark = marked{}
		return true
	}
	if mark.said == 0 || l.now.Sub(mark.said) >= sayFarAgain {
		mark.said = l.now
		known := l.Account.Catalog().Market(m)
		l.Log.Warn().Str("market", known.Name).Str("price", known.FormatPrice(price)).Str("last", known.FormatPrice(last)).Str("problem", problem).
			Msg("prices of the exchange cannot be true: they are not delivered")
	}
	return false
}
