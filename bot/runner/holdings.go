package runner

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/direct"
	"github.com/tidemark-trading/tidemark/market"
)

// holdingsKeeper leaves the holdings in the state folder for the kill switch, in a goroutine of its
// own: the loop never waits for it.
//
// Queue: the latest holdings alone.
type holdingsKeeper struct {
	latest atomic.Pointer[direct.Holdings]
	wake   chan struct{} // has room for one
}

func newHoldingsKeeper() *holdingsKeeper { return &holdingsKeeper{wake: make(chan struct{}, 1)} }

// take takes what is to be left. A nil keeper leaves nothing.
func (k *holdingsKeeper) take(h *direct.Holdings) {
	if k == nil {
		return
	}
	k.latest.Store(h)
	select {
	case k.wake <- struct{}{}:
	default: // it is awake
	}
}

// keepHoldings writes what is taken until ctx ends, and the last of it then.
func (r *runner) keepHoldings(ctx context.Context) {
	failed := false
	for open := true; open; {
		select {
		case <-r.keeper.wake:
		case <-ctx.Done():
			open = false
		}
		if h := r.keeper.latest.Swap(nil); h != nil {
			err := r.leaveHoldings(h)
			if err != nil && !failed {
				r.log.Error().Err(err).Msg("bot cancel-all --direct --flatten would not know what to sell")
			}
			failed = err != nil
		}
	}
}

// leaveHoldings writes the holdings to disk. In paper mode there is nothing outside that the kill
// switch could sell.
func (r *runner) leaveHoldings(h *direct.Holdings) error {
	if r.plan.Config.Bot.Mode != config.ModeLive {
		return nil
	}
	return h.Write(r.plan.Config.Bot.State)
}

// holdings is what the strategies have. Call it where the account may be touched.
func (r *runner) holdings(at market.Time) *direct.Holdings {
	h := &direct.Holdings{AtMS: at.Millis(), Exchange: config.OriginOf(r.plan.Config.Exchange.BaseURL),
		Mode: r.plan.Config.Bot.Mode, Run: r.run, LastOrder: int64(r.engine.LastOrder()),
		Positions: []direct.Position{}, Orders: []direct.HeldOrder{}}
	for i, name := range r.plan.Names() {
		for _, m := range r.plan.Catalog.Markets() {
			if held := r.account.Position(strategyID(i+1), m.ID); held.Amount != 0 {
				h.Positions = append(h.Positions,
					direct.Position{Strategy: name, Market: m.Name, Amount: m.FormatQty(held.Amount)})
			}
		}
	}
	for _, o := range r.account.Pending(nil) {
		m := r.plan.Catalog.Market(o.Market)
		held := direct.HeldOrder{Client: o.ClientOrderID, Order: o.ExchangeID, Strategy: r.nameOf(o.Strategy),
			Market: m.Name, Side: o.Side.String(), Filled: m.FormatQty(o.Booked())}
		if o.InFlight == market.CommandPlace {
			held.SentMS, held.WindowMS = o.Created.Millis(), time.Duration(r.plan.Config.Exchange.Window).Milliseconds()
		}
		h.Orders = append(h.Orders, held)
	}
	return h
}
