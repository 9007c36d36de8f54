package backtest

import (
	"math"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// tally sums trips, fills and orders in the account's currency. Its Values have digits decimals.
type tally struct {
	digits       uint8 // the most decimals that a Value of a market in the account's currency has
	money        uint8 // decimals of the account's currency
	trips        TripFigures
	run          int64
	wins, losses market.Value
	profits      spread
	best, worst  market.Value
	fees, traded market.Value // fees with all rounding
	rated        market.Value // fees by the rates, in units finer by RateDigits
	orders       OrderFigures
}

// newTally chooses the decimals that hold the values of every market quoted in the currency.
func newTally(c *market.Catalog, currency *market.Asset) tally {
	t := tally{digits: currency.Digits, money: currency.Digits}
	for _, m := range c.Markets() {
		if m.Quote == currency.ID {
			t.digits = max(t.digits, m.ValueDigits)
		}
	}
	return t
}

// trip counts a round trip of the market.
func (t *tally) trip(m *market.Market, pnl market.Value) error {
	pnl, err := pnl.ScaleUp(t.digits - m.ValueDigits)
	if err != nil {
		return figureError("profits", m, err)
	}
	t.trips.Count++
	t.profits.add(pnl.Float(t.digits))
	switch pnl.Sign() {
	case 1:
		t.trips.Won, t.run = t.trips.Won+1, 0
		if pnl.Cmp(t.best) > 0 {
			t.best = pnl
		}
		return addTo(&t.wins, pnl, nil)
	case -1:
		t.trips.Lost, t.run = t.trips.Lost+1, t.run+1
		t.trips.LosingRun = max(t.trips.LosingRun, t.run)
		if pnl.Cmp(t.worst) < 0 {
			t.worst = pnl
		}
		return addTo(&t.losses, pnl, nil)
	}
	t.run = 0
	return nil
}

// fill counts a fill. Its fee is rate × value, and the rounding to the currency's unit.
func (t *tally) fill(m *market.Market, f *market.Fill, value market.Value, rates exchange.Fees) error {
	t.orders.Fills++
	rate := rates.Maker
	if f.Taker {
		rate = rates.Taker
		t.orders.Taker++
	}
	value, err := value.ScaleUp(t.digits - m.ValueDigits)
	if err != nil {
		return figureError("turnover", m, err)
	}
	fee, err := f.Fee.ScaleUp(t.digits - m.ValueDigits)
	if err != nil {
		return figureError("fees", m, err)
	}
	rated, err := value.MulRate(rate)
	if err != nil {
		return figureError("fees", m, err)
	}
	err = addTo(&t.traded, value, nil)
	err = addTo(&t.fees, fee, err)
	return addTo(&t.rated, rated, err)
}

// charged splits the fees into those by the rates and the rounding, which may be negative.
func (t *tally) charged() (fees, rounding Amount) {
	all := t.amount(t.fees)
	fees = t.amount(t.rated.QuoInt(market.Pow10(market.RateDigits)))
	return fees, Amount{all.Units - fees.Units, all.Digits}
}

// order counts an order by its final status.
func (t *tally) order(o *market.Order) {
	t.orders.Orders++
	switch o.Status {
	case market.StatusFilled:
		t.orders.Filled++
	case market.StatusCanceled:
		t.orders.Canceled++
	case market.StatusExpired:
		t.orders.Expired++
	default:
		t.orders.Open++
	}
}

// rejected counts an order that the exchange refused.
func (t *tally) rejected() {
	t.orders.Orders++
	t.orders.Rejected++
}

// figures completes the trips' figures.
func (t *tally) figures(open int64) TripFigures {
	f := t.trips
	f.Open = open
	f.WinRate = Figure(float64(f.Won) / float64(f.Count))
	f.PositionRate = Figure(float64(f.PositionsWon) / float64(f.Positions))
	f.ProfitFactor = Figure(math.Abs(t.wins.Float(t.digits) / t.losses.Float(t.digits)))
	f.SQN = Figure(math.Sqrt(float64(f.Count)) * t.profits.mean / math.Sqrt(t.profits.m2/float64(f.Count-1)))
	ratio := t.wins.Float(t.digits) / float64(f.Won) / -(t.losses.Float(t.digits) / float64(f.Lost))
	f.Kelly = Figure(float64(f.WinRate) - float64((1-f.WinRate)/Figure(ratio)))
	net, _ := t.wins.Add(t.losses) // of different signs, so within the range
	f.Net, f.Expectancy = t.amount(net), t.average(net, f.Count)
	f.AverageWin, f.AverageLoss = t.average(t.wins, f.Won), t.average(t.losses, f.Lost)
	f.LargestWin, f.LargestLoss = t.amount(t.best), t.amount(t.worst)
	return f
}

// amount rounds a sum to the account's currency; at most the largest amount, which no account can
// hold.
func (t *tally) amount(v market.Value) Amount {
	units, err := v.NearestMoney(t.digits - t.money)
	if err != nil {
		units = math.MaxInt64 * market.Money(v.Sign())
	}
	return Amount{units, t.money}
}

// average returns v÷n, rounded towards zero before it is rounded to the account's currency.
func (t *tally) average(v market.Value, n int64) Amount {
	if n == 0 {
		return Amount{0, t.money}
	}
	return t.amount(v.Part(1, n))
}
