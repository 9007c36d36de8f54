package live

import (
	"time"

	"github.com/tidemark-trading/tidemark/engine/verify"
	"github.com/tidemark-trading/tidemark/market"
)

// priceMinutes is for how many minutes the prices of a market are kept.
const priceMinutes = 64

// priceLog is a market's price range by the minute of arrival.
type priceLog struct {
	ring [priceMinutes]span
}

// span is a market's price range in a minute.
type span struct {
	minute    int64 // since 1970; 0: empty
	low, high market.Price
}

func minuteOf(at market.Time) int64 { return int64(at) / int64(time.Minute) }

// add notes prices; 0 is none.
func (p *priceLog) add(at market.Time, prices ...market.Price) {
	minute := minuteOf(at)
	s := &p.ring[minute%priceMinutes]
	if s.minute != minute {
		*s = span{minute: minute}
	}
	for _, price := range prices {
		if price > 0 {
			s.low, s.high = lowest(s.low, price), max(s.high, price)
		}
	}
}

// about is the price range of a market around a moment: in its minute, the one before and the one
// after. Where none of these is known, it is the whole known range, last included.
func (p *priceLog) about(at market.Time, last market.Price) (about verify.Prices) {
	all := verify.Prices{Low: last, High: last, Approximate: true}
	for i := range p.ring {
		s := &p.ring[i]
		if s.low == 0 {
			continue
		}
		all.Low, all.High = lowest(all.Low, s.low), max(all.High, s.high)
		if away := s.minute - minuteOf(at); -1 <= away && away <= 1 {
			about.Low, about.High = lowest(about.Low, s.low), max(about.High, s.high)
		}
	}
	if about.Low == 0 {
		return all
	}
	return about
}

// addPrices notes the prices of a market event.
func (j *auditor) addPrices(ev *market.Event, now market.Time) {
	switch ev.Kind {
	case market.KindTicker:
		j.prices[ev.Ticker.Market].add(now, ev.Ticker.Last, ev.Ticker.Bid, ev.Ticker.Ask)
	case market.KindTrade:
		j.prices[ev.Trade.Market].add(now, ev.Trade.Price)
	case market.KindBook:
		if b := ev.Book; len(b.Bids) > 0 && len(b.Asks) > 0 {
			j.prices[b.Market].add(now, b.Bids[0].Price, b.Asks[0].Price)
		}
	case market.KindCandles:
		for i := range ev.Candles {
			c := &ev.Candles[i]
			j.prices[c.Market].add(c.End()-1, c.Low, c.High)
		}
	}
}
