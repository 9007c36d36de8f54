package runner

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/market"
)

// holdingsKeeper writes the holdings to the state folder for the kill switch, in its own goroutine:
// the loop never waits for it.
//
// Queue: only the latest holdings.
type holdingsKeeper struct {
	latest atomic.Pointer[killswitch.Holdings]
	wake   chan struct{} // has room for one
}

func newHoldingsKeeper() *holdingsKeeper { return &holdingsKeeper{wake: make(chan struct{}, 1)} }

// put hands holdings to the writer. On a nil keeper it does nothing.
func (k *holdingsKeeper) put(h *killswitch.Holdings) {
	if k == nil {
		return
	}
	k.latest.Store(h)
	select {
	case k.wake <- struct{}{}:
	default: // it is awake
	}
}

// keepHoldings writes the latest holdings until ctx ends, then once more.
func (r *runner) keepHoldings(ctx context.Context) {
	failed := false
	for open := true; open; {
		select {
		case <-r.keeper.wake:
		case <-ctx.Done():
			open = false
		}
		if h := r.keeper.latest.Swap(nil); h != nil {
			err := r.writeHoldings(h)
			if err != nil && !failed {
				r.log.Error().Err(err).Msg("bot cancel-all --direct --flatten would not know what to sell")
			}
			failed = err != nil
		}
	}
}

// writeHoldings writes the holdings to disk; in paper mode nothing, for the kill switch sells
// nothing there.
func (r *runner) writeHoldings(h *killswitch.Holdings) error {
	if r.plan.Config.Bot.Paper() {
		return nil
	}
	return r.left.write(h, r.plan.Config.Bot.State)
}

// holdingsFile is the file of the holdings. Goroutines write it one after the other.
type holdingsFile struct {
	mu sync.Mutex
	at int64 // AtMS of those that it has
}

// write replaces the holdings, unless the file has newer ones.
func (f *holdingsFile) write(h *killswitch.Holdings, folder string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if h.AtMS < f.at {
		return nil
	}
	err := h.Write(folder)
	if err == nil {
		f.at = h.AtMS
	}
	return err
}

// holdings are the strategies' positions and orders. Call it where the account may be touched.
func (r *runner) holdings(at market.Time) *killswitch.Holdings {
	h := &killswitch.Holdings{AtMS: at.Millis(), Exchange: config.OriginOf(r.plan.Config.Exchange.BaseURL),
		Mode: r.plan.Config.Bot.FolderMode(), Run: r.run, LastOrder: int64(r.engine.LastOrder()),
		Positions: []killswitch.Position{}, Orders: []killswitch.HeldOrder{}}
	for i, name := range r.plan.Names() {
		for _, m := range r.plan.Catalog.Markets() {
			if held := r.account.Position(strategyID(i+1), m.ID); held.Amount != 0 {
				h.Positions = append(h.Positions, killswitch.Position{Strategy: name, Market: m.Name,
					Amount: m.FormatQty(held.Amount), OpenedMS: held.Opened.Millis()})
			}
		}
	}
	for _, o := range r.account.Pending(nil) {
		m := r.plan.Catalog.Market(o.Market)
		held := killswitch.HeldOrder{Client: o.ClientOrderID, Order: o.ExchangeID, Strategy: r.nameOf(o.Strategy),
			Market: m.Name, Side: o.Side.String(), Filled: m.FormatQty(o.Booked())}
		if o.InFlight == market.CommandPlace {
			held.SentMS, held.WindowMS = o.Created.Millis(), time.Duration(r.plan.Config.Exchange.Window).Milliseconds()
		}
		h.Orders = append(h.Orders, held)
	}
	return h
}
