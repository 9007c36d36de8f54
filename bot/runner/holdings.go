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
// the loop never waits for it. In paper mode it writes nothing, for the kill switch sells nothing
// there.
//
// Queue: only the latest holdings.
type holdingsKeeper struct {
	*books
	latest atomic.Pointer[killswitch.Holdings]
	wake   chan struct{} // has room for one
	mu     sync.Mutex    // goroutines write the file one after the other
	at     int64         // AtMS of the holdings in the file
}

// put hands the holdings of now to the writer. Call it where the account may be touched.
func (k *holdingsKeeper) put(at market.Time) {
	k.latest.Store(k.now(at))
	select {
	case k.wake <- struct{}{}:
	default: // it is awake
	}
}

// keep writes the latest holdings until ctx ends, then once more.
func (k *holdingsKeeper) keep(ctx context.Context) {
	failed := false
	for open := true; open; {
		select {
		case <-k.wake:
		case <-ctx.Done():
			open = false
		}
		if h := k.latest.Swap(nil); h != nil {
			err := k.write(h)
			if err != nil && !failed {
				k.log.Error().Err(err).Msg("bot cancel-all --direct --flatten would not know what to sell")
			}
			failed = err != nil
		}
	}
}

// write replaces the holdings on disk, unless the file has newer ones.
func (k *holdingsKeeper) write(h *killswitch.Holdings) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if h.AtMS < k.at || k.plan.Config.Bot.Paper() {
		return nil
	}
	err := h.Write(k.plan.Config.Bot.State)
	if err == nil {
		k.at = h.AtMS
	}
	return err
}

// now are the strategies' positions and orders. Call it where the account may be touched.
func (k *holdingsKeeper) now(at market.Time) *killswitch.Holdings {
	h := &killswitch.Holdings{AtMS: at.Millis(), Exchange: config.OriginOf(k.plan.Config.Exchange.BaseURL),
		Mode: k.plan.Config.Bot.FolderMode(), Run: k.run, LastOrder: int64(k.engine.LastOrder()),
		Positions: []killswitch.Position{}, Orders: []killswitch.HeldOrder{}}
	for i, name := range k.plan.Names() {
		for _, m := range k.plan.Catalog.Markets() {
			if held := k.account.Position(strategyID(i+1), m.ID); held.Amount != 0 {
				h.Positions = append(h.Positions, killswitch.Position{Strategy: name, Market: m.Name,
					Amount: m.FormatQty(held.Amount), OpenedMS: held.Opened.Millis()})
			}
		}
	}
	for _, o := range k.account.Pending(nil) {
		m := k.plan.Catalog.Market(o.Market)
		held := killswitch.HeldOrder{Client: o.ClientOrderID, Order: o.ExchangeID, Strategy: k.nameOf(o.Strategy),
			Market: m.Name, Side: o.Side.String(), Filled: m.FormatQty(o.BookedAmount())}
		if o.InFlight == market.CommandPlace {
			held.SentMS, held.WindowMS = o.Created.Millis(), time.Duration(k.plan.Config.Exchange.Window).Milliseconds()
		}
		h.Orders = append(h.Orders, held)
	}
	return h
}
