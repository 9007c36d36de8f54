package gap

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// profitMeter adds up the profit of a run over its starts: equity at the end, less that at the
// beginning, less what was paid in and out.
type profitMeter struct {
	made     *core.Config
	account  *state.Account
	opened   bool
	began    market.Money // equity at the beginning
	paid     market.Money // in, less out, at the prices of the moment
	profit   market.Money
	byBegan  []market.Money // by StrategyID − 1
	byProfit []market.Money
	equity   market.Money   // once the money of the beginning has come, before anything else enters
	byEquity []market.Money // likewise, of each strategy
}

func newLedger(made *core.Config) *profitMeter {
	n := len(made.Strategies)
	return &profitMeter{made: made, byBegan: make([]market.Money, n), byProfit: make([]market.Money, n),
		byEquity: make([]market.Money, n)}
}

// open begins with the books of the first start; those of later ones only go on.
func (l *profitMeter) open(a *state.Account) {
	l.account = a
	if l.opened {
		return
	}
	l.opened = true
	l.began, _ = a.Equity(l.made.Limits.Currency) // an overflow shows at close
	for i := range l.byBegan {
		l.byBegan[i], _ = profitOf(a, market.StrategyID(i+1), l.made.Limits.Currency)
	}
}

// fund notes the money at the beginning: the first bookings bring that of a new bot.
func (l *profitMeter) fund() {
	if l.equity != 0 {
		return
	}
	l.equity, _ = l.account.Equity(l.made.Limits.Currency) // an overflow shows at close
	for i := range l.byEquity {
		if l.byEquity[i] == 0 {
			l.byEquity[i], _ = l.account.EquityOf(market.StrategyID(i+1), l.made.Limits.Currency)
		}
	}
}

// note notes money that is paid in or out, before the engine gets it.
func (l *profitMeter) note(in *market.Input) {
	if in.Kind != market.InputBooking {
		l.fund()
	}
	ev := in.Event
	if ev == nil || ev.Kind != market.KindTransfer || in.Kind != market.InputEvent && in.Kind != market.InputBooking {
		return
	}
	if ev.Asset == l.made.Limits.Currency {
		l.paid += ev.Money
		return
	}
	for _, m := range l.made.Catalog.Markets() {
		if m.Base != ev.Asset || m.Quote != l.made.Limits.Currency {
			continue
		}
		price := l.account.Last(m.ID)
		if price == 0 {
			price = ev.Price
		}
		if worth, err := m.Notional(price, market.Qty(max(ev.Money, -ev.Money))); err == nil && ev.Money < 0 {
			l.paid -= worth
		} else if err == nil {
			l.paid += worth
		}
	}
}

// close reads the books at the end of a start.
func (l *profitMeter) close(a *state.Account) error {
	equity, err := a.Equity(l.made.Limits.Currency)
	if err != nil {
		return err
	}
	l.profit = equity - l.began - l.paid
	for i := range l.byProfit {
		profit, err := profitOf(a, market.StrategyID(i+1), l.made.Limits.Currency)
		if err != nil {
			return fmt.Errorf("profit of %s: %w", l.made.Strategies[i].Name, err)
		}
		if l.byProfit[i] = profit - l.byBegan[i]; l.byEquity[i] == 0 { // its money came later
			money, err := a.EquityOf(market.StrategyID(i+1), l.made.Limits.Currency)
			if err != nil {
				return err
			}
			l.byEquity[i] = money - l.byProfit[i]
		}
	}
	return nil
}

// profitOf is what a strategy has earned in the markets of a currency: realised, and of what it
// holds, at the latest prices. It is rounded down by market.
func profitOf(a *state.Account, s market.StrategyID, currency market.AssetID) (sum market.Money, err error) {
	for _, m := range a.Catalog().Markets() {
		if m.Quote != currency {
			continue
		}
		p := a.Position(s, m.ID)
		worth, err := m.Value(a.Last(m.ID), p.Amount)
		if err == nil {
			worth, err = worth.Sub(p.Cost)
		}
		if err == nil {
			worth, err = worth.Add(p.Realised)
		}
		if err != nil {
			return 0, err
		}
		money, err := worth.FloorMoney(m.MoneyDrop())
		if err != nil {
			return 0, err
		}
		sum += money
	}
	return sum, nil
}
