package engine

import "github.com/tidemark-trading/tidemark/market"

// Reopen opens an own order again that had ended in the account, because the exchange shows it. An
// exit goes back to its bracket. A sell over more than its strategy holds beside what brackets want
// is cancelled: its bracket has another exit or level by now, or has ended.
func (e acts) Reopen(at market.Time, saved []byte) ([]market.Command, error) {
	names, err := e.names()
	if err != nil {
		return nil, err
	}
	e.begin(at)
	o, err := e.account.ReopenSaved(saved, names)
	if err != nil || o.Side != market.Sell || e.brackets.Retake(o) {
		return e.out, err
	}
	held := e.account.Position(o.Strategy, o.Market).Amount - e.brackets.Wanted(o.Strategy, o.Market)
	for _, sell := range e.account.Open(nil, o.Strategy, o.Market) {
		if sell.Side == market.Sell {
			held -= sell.AmountRemaining
		}
	}
	if held < 0 {
		e.cancel(o.ID, nil, false)
	}
	return e.out, nil
}
