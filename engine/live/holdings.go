package live

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// BalanceCheckpoint is an asset's balance at the exchange beside the account's when the two were
// last compared and every difference was explained. It outlives restarts, so that the next run can
// explain what happened meanwhile.
type BalanceCheckpoint struct {
	At      market.Time  // before the balances were queried; 0: never
	Surplus market.Money // of the exchange's balance over this bot's account
}

// holdings compares the exchange's balances with the account: no money that has left stays in the
// books, and no shortfall without an explanation leaves a strategy trading.
type holdings struct {
	base
	regular
	checkpoints map[market.AssetID]BalanceCheckpoint
	// differ are surpluses that differed from the checkpoint at the last comparison: a difference
	// counts when it is seen twice.
	differ   map[market.AssetID]market.Money
	moves    map[market.AssetID]int          // number of changes in the account
	reported map[market.AssetID]market.Money // shortfalls that have halted already
	// postponed are shortfalls that were told, and are neither booked nor halted for yet.
	postponed map[market.AssetID]market.Money
	bought    map[market.AssetID]*explanation // shortfalls that purchases in markets that have gone explain
	newer     *newer
	open      *openList
	doubted   bool // the exchange has refused a sale for lack of base: asked at once
}

// maxBalance is the largest plausible balance, in an asset's units: sums of such balances do not
// overflow.
const maxBalance = market.Money(1) << 60

// query queries the balances when they are due. A comparison counts while nothing is in flight.
func (h *holdings) query(work context.Context) {
	if h.pending || h.next > h.now && !h.doubted || !h.loop.quiet() {
		return
	}
	asked, books, doubted := h.now, h.books(), h.next > h.now
	if h.pending, h.doubted = true, false; !doubted {
		h.next = h.now.Add(h.channel.pace(h.HoldingsEvery))
	}
	h.ask(func() func() {
		held, err := h.Trading.Holdings(work)
		return func() {
			h.pending = false
			if err != nil {
				h.Log.Warn().Err(err).Msg("balances could not be asked for")
			} else if h.loop.quiet() {
				h.inquire(work, h.differences(asked, books, held, doubted))
			}
		}
	})
}

// books is how often each asset has moved in the account. An equal total does not show that nothing
// moved: a buy and a sale of one size leave it.
func (h *holdings) books() map[market.AssetID]int { return maps.Clone(h.moves) }

// count counts the assets that an event moves.
func (h *holdings) count(ev *market.Event, catalog *market.Catalog) {
	switch {
	case len(ev.Fills) > 0:
		m := catalog.Market(ev.Market)
		h.moves[m.Base]++
		h.moves[m.Quote]++
	case ev.Kind == market.KindTransfer:
		h.moves[ev.Asset]++
	}
}

// differences compares the exchange's balances with the account's. A difference that is seen twice
// in a row, with nothing in flight, is inquired into; so is the first surplus of an account,
// because two own fills of one size, each not yet booked, show one difference twice. An asset is
// left out while it has moved since the query, or own fees in it are not settled yet. Of doubted
// balances a shortfall is inquired into at once, and counts where it is explained.
func (h *holdings) differences(asked market.Time, books map[market.AssetID]int, held []exchange.Holding,
	doubted bool) *inquiry {
	q, differ := &inquiry{asked: asked, books: books, doubted: doubted, surplus: map[market.AssetID]market.Money{},
		untold: map[market.AssetID]market.Money{}}, map[market.AssetID]market.Money{}
	there := map[market.AssetID]market.Money{}
	for _, one := range held {
		total, err := market.Add(one.Available, one.Orders)
		if err != nil || one.Available < 0 || one.Orders < 0 || total > maxBalance {
			symbol := h.Account.Catalog().Asset(one.Asset).Symbol
			h.Log.Error().Str("asset", symbol).Int64("available", int64(one.Available)).
				Int64("in_order", int64(one.Orders)).
				Msg("a balance of the exchange cannot be true: none of this answer is compared")
			h.ReconcileLog.Note(h.stamp(), "false balance", symbol)
			return q
		}
		there[one.Asset] = total
	}
	for _, a := range h.Account.Catalog().Assets() {
		asset, now := a.ID, h.Account.Total(a.ID).Total
		surplus := there[asset] - now
		last := h.checkpoints[asset] // none: the two are to be equal
		before, seen := h.differ[asset]
		switch {
		case h.moves[asset] != books[asset] || h.Account.Unsettled(asset):
			q.differs = q.differs || doubted
		case surplus == last.Surplus:
			q.fits = append(q.fits, asset)
		case doubted:
			if q.differs = true; surplus < 0 {
				q.surplus[asset] = surplus
			}
		case surplus >= 0 && h.untold(asset): // fills of own orders may be missing
			q.untold[asset] = surplus - last.Surplus
		default:
			if differ[asset] = surplus; seen && before == surplus {
				q.surplus[asset] = surplus
			}
		}
	}
	if !doubted {
		h.fitted(q)
		if h.differ = differ; len(differ) > 0 { // it counts when it is seen again
			h.next = min(h.next, h.now.Add(h.HoldingsEvery))
		}
	}
	return q
}

// fitted moves the checkpoints of the balances that fit. Doubted ones fit only when no newer order
// is found: it may have bought what had left the account.
func (h *holdings) fitted(q *inquiry) {
	for _, asset := range q.fits {
		h.checkpoint(asset, BalanceCheckpoint{At: q.asked, Surplus: h.checkpoints[asset].Surplus})
	}
}

// untold reports whether the exchange lists none of the markets of a base any more. It tells of no
// trade there, so that a difference can be a fill of an own order: it stays one until a market is
// back, and the trades of all the time explain it.
func (h *holdings) untold(asset market.AssetID) bool {
	any := false
	for _, m := range h.Account.Catalog().Markets() {
		if m.Base == asset && m.Status != market.Delisted {
			return false
		}
		any = any || m.Base == asset
	}
	return any
}

// reconcile takes out of the books, before a strategy or a bracket acts, what has left the
// account while no bot ran, as far as movements or trades of others explain it. The regular
// comparison settles the rest.
func (h *holdings) reconcile(ctx context.Context) {
	if !h.loop.quiet() { // as after a kill, or in a copy that was made while an order was on its way
		h.newer.adoptDiffering(ctx, h.stamp())
	}
	for again := true; again && h.loop.quiet() && (h.holds() || len(h.Newer.Runs) > 0); {
		asked, books := h.stamp(), h.books()
		held, err := h.Trading.Holdings(ctx)
		if err != nil {
			h.Log.Warn().Err(err).Msg("balances could not be asked for")
			return
		}
		q := h.differences(asked, books, held, true)
		since, markets := h.extent(q)
		if again = q.differs && h.newer.adoptDiffering(ctx, since); again {
			continue
		}
		if h.fitted(q); len(q.surplus) == 0 {
			continue
		}
		h.fetched(q, q.fetch(ctx, h.Trading, since, markets))
	}
}

// holds reports whether a strategy holds a position.
func (h *holdings) holds() bool {
	for _, m := range h.Account.Catalog().Markets() {
		for owner := range market.StrategyID(h.Account.Strategies() + 1) {
			if h.Account.Position(owner, m.ID).Amount > 0 {
				return true
			}
		}
	}
	return false
}

// checkpoint notes that the balance of an asset fits.
func (h *holdings) checkpoint(asset market.AssetID, now BalanceCheckpoint) {
	h.checkpoints[asset] = now
	delete(h.reported, asset)
	delete(h.postponed, asset)
	delete(h.bought, asset)
	h.ReconcileLog.Checkpoint(asset, now)
}

// Unallocate notes that money has left the books and not the account, so that the next comparison
// expects it beyond the books. Call it within Do.
func (l *Loop) Unallocate(asset market.AssetID, money market.Money) {
	if now, compared := l.holdings.checkpoints[asset]; compared {
		now.Surplus += money
		l.holdings.checkpoint(asset, now)
	}
}

// inquiry is the exchange's history since the last checkpoint.
type inquiry struct {
	work    context.Context        // of questions that follow from it; nil before the strategies start
	asked   market.Time            // before the balances to be explained were queried
	books   map[market.AssetID]int // number of moves by then
	surplus map[market.AssetID]market.Money
	untold  map[market.AssetID]market.Money // by how much balances of which no trade is told have risen
	fits    []market.AssetID                // their balances are as the checkpoints say
	moved   []exchange.Movement
	trades  []exchange.Trade // of the whole account, in the markets of the assets
	markets []market.ID      // of each of the trades
	doubted bool             // only what is explained counts
	differs bool             // doubted: a balance is another than by the checkpoints, or cannot be compared
}

// inquire fetches what has moved the balances since they last fitted: deposits, withdrawals, and
// trades.
func (h *holdings) inquire(work context.Context, q *inquiry) {
	if len(q.surplus) == 0 {
		return
	}
	since, markets := h.extent(q)
	h.pending, q.work = true, work
	h.ask(func() func() {
		err := q.fetch(work, h.Trading, since, markets)
		return func() {
			h.pending = false
			h.fetched(q, err)
		}
	})
}

// fetched receives what an inquiry has fetched, or the error with which that ended.
func (h *holdings) fetched(q *inquiry, err error) {
	switch {
	case err != nil && (!refuses(err) || codeOf(err) == exchange.CodeInvalid): // or a market has just gone
		h.Log.Warn().Err(err).Msg("what moved the balances could not be asked for")
		h.postponeAll(q, "what moved it could not be asked for: "+err.Error())
	case h.loop.quiet():
		h.explain(q, err)
	}
}

// postponeAll postpones the shortfalls of an inquiry.
func (h *holdings) postponeAll(q *inquiry, why string) {
	for _, asset := range slices.Sorted(maps.Keys(q.surplus)) {
		if x := h.explanationOf(q, asset, nil); x.surplus < 0 && h.moves[asset] == q.books[asset] {
			h.postpone(x, why)
		}
	}
}

// extent is from when on, and in which markets, an inquiry asks for trades.
func (h *holdings) extent(q *inquiry) (since market.Time, markets []market.ID) {
	since = q.asked
	for asset := range q.surplus {
		since = min(since, h.since(asset))
	}
	for _, m := range h.Account.Catalog().Markets() {
		_, base := q.surplus[m.Base]
		if _, quote := q.surplus[m.Quote]; base || quote {
			markets = append(markets, m.ID)
		}
	}
	return since, markets
}

// since is when the balance of an asset fitted last. Without a checkpoint it is when the run began,
// or when the oldest position was opened: an earlier run has ended before two comparisons.
func (h *holdings) since(asset market.AssetID) market.Time {
	if last := h.checkpoints[asset]; last.At != 0 {
		return last.At
	}
	since := h.began
	for i := range h.Engine.Names() {
		for _, m := range h.Account.Catalog().Markets() {
			if p := h.Account.Position(market.StrategyID(i+1), m.ID); p.Amount > 0 && p.Opened != 0 {
				since = min(since, p.Opened)
			}
		}
	}
	return since
}

func (q *inquiry) fetch(ctx context.Context, trading exchange.Trading, since market.Time,
	markets []market.ID) (err error) {
	if q.moved, err = trading.Movements(ctx, since); err != nil {
		return err
	}
	for _, m := range markets {
		err = eachTrade(ctx, trading, m, since, func(t *exchange.Trade) {
			q.trades, q.markets = append(q.trades, *t), append(q.markets, m)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachTrade pages through a market's trades. Pages overlap: it visits each trade once.
func eachTrade(ctx context.Context, trading exchange.Trading, m market.ID, from market.Time,
	visit func(*exchange.Trade)) error {
	seen := map[uuid.UUID]bool{}
	for more := true; more; {
		var page []exchange.Trade
		var err error
		if page, more, err = trading.Trades(ctx, m, from); err != nil {
			return err
		}
		for i := range page {
			if from = max(from, page[i].Time); !seen[page[i].ID] {
				seen[page[i].ID] = true
				visit(&page[i])
			}
		}
	}
	return nil
}

// explain explains each difference as far as it can. A surplus, or a loss of unallocated money, is
// recorded; an explained loss of the strategies' money is booked; an unexplained shortfall halts
// all strategies. A missing fill of an own order explains itself: the order is queried. A fee of
// someone else's trade is still to come: the balances are compared again.
func (h *holdings) explain(q *inquiry, refusal error) {
	foreign, lacks := h.foreignTrades(q)
	switch lacks {
	case ownFill:
		return
	case foreignFee:
		h.postponeAll(q, "a trade that is not the bot's has no settled fee yet")
		return
	}
	for _, asset := range slices.Sorted(maps.Keys(q.surplus)) {
		if h.moves[asset] != q.books[asset] {
			// An own fill was booked while the trades were fetched. It explains itself, and two
			// equal fills look like one difference.
			continue
		}
		x := h.explanationOf(q, asset, refusal)
		x.add(q.moved)
		x.add(foreign)
		h.conclude(x)
	}
}

// explanationOf is the explanation of an asset's difference, before anything is found.
func (h *holdings) explanationOf(q *inquiry, asset market.AssetID, refusal error) *explanation {
	last, compared := h.checkpoints[asset]
	return &explanation{compared: compared, asset: h.Account.Catalog().Asset(asset), from: h.since(asset), to: q.asked,
		books: h.Account.Total(asset).Total, surplus: q.surplus[asset], before: last.Surplus, refusal: refusal,
		doubted: q.doubted, untold: q.untold}
}

// lack names the fact that is missing to explain a difference by trades.
type lack uint8

const (
	ownFill    lack = iota + 1 // an own fill is not booked: its order is queried
	foreignFee                 // the fee of someone else's trade is not settled
)

// foreignTrades are the account's trades that are not this bot's, as movements; lacks: what is
// still to come before they count; 0: nothing.
func (h *holdings) foreignTrades(q *inquiry) (moved []exchange.Movement, lacks lack) {
	own := map[uuid.UUID]*state.Order{}
	for _, o := range h.Account.Pending(nil) {
		own[o.ClientOrderID] = o
	}
	for i := range q.trades {
		t, m := &q.trades[i], h.Account.Catalog().Market(q.markets[i])
		switch o := own[t.ClientOrderID]; {
		case o != nil && !o.Knows(&t.Fill):
			h.loop.queryOf(o.ID).soon(h.now)
			lacks = ownFill
		case o != nil:
		case h.open.filledAfterEnd(t, q.books[m.Base] != h.moves[m.Base]):
			lacks = ownFill
		case t.ClientOrderID != uuid.Nil && h.Owns != nil && h.Owns(t.ClientOrderID):
		case h.newer.adoptLate(q.work, &market.Order{Market: m.ID, ClientOrderID: t.ClientOrderID,
			ExchangeID: t.ExchangeID}):
			lacks = ownFill
		case t.Settled:
			moved = appendTrade(moved, m, &t.Fill)
		case lacks == 0:
			lacks = foreignFee
		}
	}
	return moved, lacks
}

// appendTrade appends what a trade moved, fee included. A trade whose value overflows cannot be an
// exchange's and is left out.
func appendTrade(dst []exchange.Movement, m *market.Market, f *market.Fill) []exchange.Movement {
	base := market.Money(f.Amount)
	cash, err := m.Value(f.Price, f.Amount)
	if f.Side == market.Buy {
		cash = cash.Neg()
	} else {
		base = -base
	}
	if err == nil {
		cash, err = cash.Sub(f.Fee)
	}
	quote, floored := cash.FloorMoney(m.MoneyDrop())
	if err != nil || floored != nil {
		return dst
	}
	kind := f.Side.String() + " in " + m.Name + " that is not the bot's"
	return append(dst, exchange.Movement{At: f.Time, Kind: kind, Asset: m.Base, Money: base},
		exchange.Movement{At: f.Time, Kind: kind, Asset: m.Quote, Money: quote})
}
