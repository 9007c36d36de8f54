package strategy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// PartAt attaches a partial target: when the price rises to p, a share of what the entry bought is
// sold, and the exits keep the rest. It needs a stop or a target beside it. Several are allowed,
// together below 100 %; TargetAt sells the rest. In Update, the parts replace all that the price
// has not reached yet.
//
// At p the resting exit is reduced to the rest. When the exchange has confirmed that, the part is
// sold at market, so it pays the taker's fee and fills at the price of that moment: in a backtest
// without latency at p, or at the open after a gap. What the entry may still buy is cancelled
// before. A price that has reached TargetAt too sells all by that target. A part that is below the
// market's minimum, or that would leave the exits a rest below it, is not sold by itself: it stays
// with the rest and is sold with the next part or by an exit.
func PartAt(p market.Price, share market.Rate) Option {
	return Option{field: fieldPart, number: int64(p), second: int64(share)}
}

// TagPart is the tag of the sale of a partial target.
const TagPart = "partial target"

// Part is a partial target.
type Part struct {
	Price market.Price `json:"price"`
	Share market.Rate  `json:"share"` // of what the entry bought
}

// Parts are the partial targets of a bracket, by rising price.
type Parts []Part

// with returns the parts and one more.
func (p *Parts) with(more Part) *Parts {
	var all Parts
	if p != nil {
		all = *p
	}
	at := len(all)
	for at > 0 && all[at-1].Price > more.Price {
		at--
	}
	all = slices.Insert(all, at, more)
	return &all
}

// Len is the number of parts.
func (p *Parts) Len() int {
	if p == nil {
		return 0
	}
	return len(*p)
}

// Reached counts the parts that a price has reached, and sums their shares.
func (p *Parts) Reached(price market.Price) (count int, share market.Rate) {
	if p == nil {
		return 0, 0
	}
	for count < len(*p) && (*p)[count].Price <= price {
		share += (*p)[count].Share
		count++
	}
	return count, share
}

// Check returns an error that wraps ErrMeaningless where the parts do not fit the exits beside
// them. An engine calls it.
func (p *Parts) Check(levels *market.Bracket, m *market.Market) error {
	sum := market.Rate(0)
	for _, part := range *p {
		sum += part.Share
		if levels.Target != 0 && part.Price >= levels.Target {
			return fmt.Errorf("%w: PartAt(%s) is not below the target of %s", ErrMeaningless,
				m.FormatPrice(part.Price), m.FormatPrice(levels.Target))
		}
		if sum >= market.Whole {
			return fmt.Errorf("%w: the shares of PartAt are %s together: they are below 100%%, and TargetAt sells the "+
				"rest",
				ErrMeaningless, sum)
		}
	}
	return nil
}

// words describe the parts: "50% at 103, 25% at 105".
func (p *Parts) words(m *market.Market) string {
	texts := make([]string, len(*p))
	for i, part := range *p {
		texts[i] = part.Share.String() + " at " + m.FormatPrice(part.Price)
	}
	return strings.Join(texts, ", ")
}

// PartReached is a partial target that the price has reached.
type PartReached struct {
	Bracket  market.OrderID // the entry's id, or the one that Protect returned
	Strategy market.StrategyID
	Market   market.ID
	Price    market.Price // the lowest level that was not passed before
	Stop     market.Price // of the bracket at this time; 0: none
	Amount   market.Qty   // that is to be sold
	Why      string       // Amount stays with the rest: in words; else empty
}
