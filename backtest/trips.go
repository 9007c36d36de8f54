package backtest

import (
	"cmp"
	"fmt"
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// trip is one round trip: the sale of a part of a position by one closing order.
type trip struct {
	order    market.OrderID
	strategy market.StrategyID
	reason   string      // the closing order's tag
	entered  market.Time // the first fill since the position was flat
	exited   market.Time // the last fill of the closing order
	amount   market.Qty
	cost     market.Value // paid for amount, without fees
	proceeds market.Value // received for amount, without fees
	fees     market.Value // the share of the entry's fees and the exit's own
	reached  reach        // prices while it was held; empty where they are not followed
	part     int          // of a position that was sold in several trips: its number, from 1; 0: sold at once
}

// pnl is the profit of the trip after its fees.
func (t *trip) pnl() (market.Value, error) {
	gross, err := t.proceeds.Sub(t.cost)
	if err != nil {
		return market.Value{}, err
	}
	return gross.Sub(t.fees)
}

// tag is the closing order's tag; an order without one follows a signal.
func (t *trip) tag() string { return cmp.Or(t.reason, "signal") }

// holding is the position of one strategy in one market, with the trips of closing orders that are
// still open.
type holding struct {
	market   *market.Market
	strategy market.StrategyID
	amount   market.Qty
	cost     market.Value // of amount, without fees
	fees     market.Value // paid to buy amount
	entered  market.Time
	flat     bool         // amount is zero, or dust that no order could sell
	parts    int          // trips of the position that have ended in parts
	ended    int          // trips of the position that have ended
	gained   market.Value // by these, after their fees
	closing  []trip
	reached  reach

	next   *holding // among the followed ones of its market
	listed bool
}

// holdings are indexed by strategy, then by market id.
type holdings struct {
	stride int // ids of markets
	by     []*holding
}

// of returns the holding of a strategy in a market, created at the first call.
func (h *holdings) of(strategy market.StrategyID, m *market.Market) *holding {
	at := int(strategy)*h.stride + int(m.ID)
	if at < len(h.by) && h.by[at] != nil {
		return h.by[at]
	}
	return h.begin(at, strategy, m)
}

//go:noinline
func (h *holdings) begin(at int, strategy market.StrategyID, m *market.Market) *holding {
	if more := at + 1 - len(h.by); more > 0 {
		h.by = append(h.by, make([]*holding, more)...)
	}
	h.by[at] = &holding{market: m, strategy: strategy, flat: true}
	return h.by[at]
}

// open counts the holdings that an order could still sell.
func (h *holdings) open() (n int64) {
	for _, one := range h.by {
		if one != nil && !one.flat {
			n++
		}
	}
	return n
}

// buy adds to the holding.
func (h *holding) buy(at market.Time, amount market.Qty, value, fee market.Value) (err error) {
	if h.flat {
		h.entered, h.flat, h.parts, h.reached = at, false, 0, reach{}
	}
	if h.amount, err = market.Add(h.amount, amount); err != nil {
		return figureError("holding", h.market, err)
	}
	if err = addTo(&h.cost, value, nil); err != nil {
		return figureError("cost", h.market, err)
	}
	if err = addTo(&h.fees, fee, nil); err != nil {
		return figureError("fees", h.market, err)
	}
	return nil
}

// figureError says which figure of which market overflowed.
//
//go:noinline
func figureError(figure string, m *market.Market, err error) error {
	return fmt.Errorf("%s of %s: %w", figure, m.Name, err)
}

// sell books a closing fill to the trip of its order. covered is the part that the holding covers;
// the rest belongs to no trip.
func (h *holding) sell(f *market.Fill, reason string, value market.Value) (covered market.Qty, err error) {
	covered = min(f.Amount, h.amount)
	if covered <= 0 {
		return 0, nil
	}
	t := h.trip(f.Order)
	cost, fees, err := h.take(covered)
	t.reason, t.exited, t.amount = reason, f.Time, t.amount+covered
	err = addTo(&t.cost, cost, err)
	err = addTo(&t.proceeds, value.Part(int64(covered), int64(f.Amount)), err)
	err = addTo(&t.fees, fees, err)
	return covered, addTo(&t.fees, f.Fee.Part(int64(covered), int64(f.Amount)), err)
}

// take takes an amount out of the holding, with its part of the cost and of the fees.
func (h *holding) take(amount market.Qty) (cost, fees market.Value, err error) {
	cost, fees = h.cost, h.fees
	if h.amount -= amount; h.amount == 0 {
		h.cost, h.fees = market.Value{}, market.Value{}
		return cost, fees, nil
	}
	all := int64(h.amount + amount)
	cost, fees = cost.Part(int64(amount), all), fees.Part(int64(amount), all)
	err = addTo(&h.cost, cost.Neg(), nil)
	return cost, fees, addTo(&h.fees, fees.Neg(), err)
}

// addTo adds a value to a sum, unless an addition before it has failed with err.
func addTo(sum *market.Value, what market.Value, err error) error {
	if err != nil {
		return err
	}
	*sum, err = sum.Add(what)
	return err
}

// trip returns the trip that the order is closing, begun if there is none.
func (h *holding) trip(order market.OrderID) *trip {
	for i := range h.closing {
		if h.closing[i].order == order {
			return &h.closing[i]
		}
	}
	h.closing = append(h.closing, trip{})
	t := &h.closing[len(h.closing)-1]
	t.order, t.entered, t.strategy = order, h.entered, h.strategy
	return t
}

// settle marks the holding as flat where only dust is left after the closing order o: an amount
// that the market's minimums do not let go at o's average price. Its cost stays with the next
// position.
func (h *holding) settle(o *market.Order) {
	if h.amount == 0 || h.amount < h.market.MinOrderInBase {
		h.flat = true
		return
	}
	worth := o.FilledAmountQuote.Float(h.market.ValueDigits) * float64(h.amount) / float64(o.FilledAmount)
	minimum := float64(h.market.MinOrderInQuote) / math.Pow10(int(h.market.QuoteDigits))
	h.flat = h.flat || worth < minimum
}

// averageOf is value÷amount, rounded to the nearest unit of the market's prices.
func averageOf(m *market.Market, value market.Value, amount market.Qty) Amount {
	price := Amount{Digits: m.PriceDigits}
	if amount == 0 || value.Sign() < 0 {
		return price
	}
	for _, more := range [...]uint8{1, 0} { // a price may be too large for another decimal
		digits := max(m.PriceDigits+more, m.ValueDigits-min(m.AmountDigits, m.ValueDigits))
		units, err := value.FloorQuo(int64(amount), digits+m.AmountDigits-m.ValueDigits)
		if err != nil {
			continue
		}
		unit := market.Pow10(digits - m.PriceDigits)
		price.Units = market.Money(units/unit + units%unit*2/unit)
		break
	}
	return price
}
