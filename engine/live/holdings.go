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

// holdings is the comparison of the exchange's balances with the account.
type holdings struct {
	regular
	checkpoints map[market.AssetID]BalanceCheckpoint
	// differ are surpluses that differed from the checkpoint at the last comparison: a difference
	// counts when it is seen twice.
	differ   map[market.AssetID]market.Money
	moves    map[market.AssetID]int          // number of changes in the account
	reported map[market.AssetID]market.Money // shortfalls that have halted already
	// postponed are shortfalls that were told, and are neither booked nor halted for yet.
	postponed map[market.AssetID]market.Money
	doubted   bool // the exchange has refused a sale for lack of base: asked at once
}

// maxBalance is the largest plausible balance, in an asset's units: sums of such balances do not
// overflow.
const maxBalance = market.Money(1) << 60

// queryHoldings queries the balances when they are due. A comparison counts only while nothing is
// in flight.
func (l *Loop) queryHoldings(work context.Context) {
	h := &l.holdings
	if h.pending || h.next > l.now && !h.doubted || !l.quiet() {
		return
	}
	asked, books, doubted := l.now, l.books(), h.next > l.now
	if h.pending, h.doubted = true, false; !doubted {
		h.next = l.now.Add(l.pace(l.HoldingsEvery))
	}
	l.workers.Go(func() {
		held, err := l.Trading.Holdings(work)
		l.replies <- func() {
			l.holdings.pending = false
			switch {
			case err != nil:
				l.Log.Warn().Err(err).Msg("balances could not be asked for")
			case l.quiet():
				l.compareHoldings(work, asked, books, held, doubted)
			}
		}
	})
}

// books is how often each asset has moved in the account. An equal total does not show that nothing
// moved: a buy and a sale of one size leave it.
func (l *Loop) books() map[market.AssetID]int { return maps.Clone(l.holdings.moves) }

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

// compareHoldings compares the exchange's balances with the account's. A difference that is seen
// twice in a row, with nothing in flight, is inquired into; so is the first surplus of an account,
// because two own fills of one size, each not yet booked, show one difference twice. An asset is
// left out while it has moved since the query, or own fees in it are not settled yet. Of doubted
// balances a shortfall is inquired into at once, and counts where it is explained.
func (l *Loop) compareHoldings(work context.Context, asked market.Time, books map[market.AssetID]int,
	held []exchange.Holding, doubted bool) {
	if q := l.differences(asked, books, held, doubted); len(q.surplus) > 0 {
		l.inquire(work, q)
	}
}

// differences are what compareHoldings is to inquire into.
func (l *Loop) differences(asked market.Time, books map[market.AssetID]int, held []exchange.Holding,
	doubted bool) *inquiry {
	q, differ := &inquiry{asked: asked, books: books, doubted: doubted,
		surplus: map[market.AssetID]market.Money{}}, map[market.AssetID]market.Money{}
	there := map[market.AssetID]market.Money{}
	for _, h := range held {
		total, err := market.Add(h.Available, h.Orders)
		if err != nil || h.Available < 0 || h.Orders < 0 || total > maxBalance {
			symbol := l.Account.Catalog().Asset(h.Asset).Symbol
			l.Log.Error().Str("asset", symbol).Int64("available", int64(h.Available)).
				Int64("in_order", int64(h.Orders)).
				Msg("a balance of the exchange cannot be true: none of this answer is compared")
			l.ReconcileLog.Note("false balance", symbol)
			return q
		}
		there[h.Asset] = total
	}
	h := &l.holdings
	for _, a := range l.Account.Catalog().Assets() {
		asset, now := a.ID, l.Account.Total(a.ID).Total
		surplus := there[asset] - now
		last := h.checkpoints[asset] // none: the two are to be equal
		before, seen := h.differ[asset]
		twice := seen && before == surplus
		switch {
		case h.moves[asset] != books[asset] || l.Account.Unsettled(asset):
			q.differs = q.differs || doubted
		case surplus == last.Surplus:
			l.checkpoint(asset, BalanceCheckpoint{At: asked, Surplus: surplus})
		case doubted:
			if q.differs = true; surplus < 0 {
				q.surplus[asset] = surplus
			}
		default:
			differ[asset] = surplus
			if twice {
				q.surplus[asset] = surplus
			}
		}
	}
	if !doubted {
		if h.differ = differ; len(differ) > 0 { // it counts when it is seen again
			h.next = min(h.next, l.now.Add(l.HoldingsEvery))
		}
	}
	return q
}

// reconcileHoldings takes out of the books, before a strategy or a bracket acts, what has left the
// account while no bot ran, as far as movements or trades of others explain it. The regular
// comparison settles the rest.
func (l *Loop) reconcileHoldings(ctx context.Context) {
	if !l.quiet() { // as after a kill, or in a copy that was made while an order was on its way
		l.adoptDiffering(ctx)
	}
	for again := true; again && l.quiet() && (l.holds() || len(l.Newer.Runs) > 0); {
		asked, books := l.stamp(), l.books()
		held, err := l.Trading.Holdings(ctx)
		if err != nil {
			l.Log.Warn().Err(err).Msg("balances could not be asked for")
			return
		}
		q := l.differences(asked, books, held, true)
		if again = q.differs && l.adoptDiffering(ctx); again || len(q.surplus) == 0 {
			continue
		}
		since, markets := l.extent(q)
		l.fetched(q, q.fetch(ctx, l.Trading, since, markets))
	}
}

// holds reports whether a strategy holds a position.
func (l *Loop) holds() bool {
	for _, m := range l.Account.Catalog().Markets() {
		for owner := range market.StrategyID(l.Account.Strategies() + 1) {
			if l.Account.Position(owner, m.ID).Amount > 0 {
				return true
			}
		}
	}
	return false
}

// checkpoint notes that the balance of an asset fits.
func (l *Loop) checkpoint(asset market.AssetID, now BalanceCheckpoint) {
	l.holdings.checkpoints[asset] = now
	delete(l.holdings.reported, asset)
	delete(l.holdings.postponed, asset)
	l.ReconcileLog.Checkpoint(asset, now)
}

// Unallocate notes that money has left the books and not the account, so that the next comparison
// expects it beyond the books. Call it within Do.
func (l *Loop) Unallocate(asset market.AssetID, money market.Money) {
	if now, compared := l.holdings.checkpoints[asset]; compared {
		now.Surplus += money
		l.checkpoint(asset, now)
	}
}

// inquiry is what the exchange says of the time since the last checkpoint.
type inquiry struct {
	asked   market.Time            // before the balances to be explained were queried
	books   map[market.AssetID]int // number of moves by then
	surplus map[market.AssetID]market.Money
	moved   []exchange.Movement
	trades  []exchange.Trade // of the whole account, in the markets of the assets
	markets []market.ID      // of each of the trades
	doubted bool             // only what is explained counts
	differs bool             // doubted: a balance is another than by the checkpoints, or cannot be compared
}

// inquire fetches what has moved the balances since they last fitted: deposits, withdrawals, and
// trades.
func (l *Loop) inquire(work context.Context, q *inquiry) {
	since, markets := l.extent(q)
	l.holdings.pending = true
	l.workers.Go(func() {
		err := q.fetch(work, l.Trading, since, markets)
		l.replies <- func() {
			l.holdings.pending = false
			l.fetched(q, err)
		}
	})
}

// fetched receives what an inquiry has fetched, or the error with which that ended.
func (l *Loop) fetched(q *inquiry, err error) {
	switch {
	case err != nil && !refuses(err):
		l.Log.Warn().Err(err).Msg("what moved the balances could not be asked for")
		l.postponeAll(q, "what moved it could not be asked for: "+err.Error())
	case l.quiet():
		l.explain(q, err)
	}
}

// postponeAll postpones the shortfalls of an inquiry.
func (l *Loop) postponeAll(q *inquiry, why string) {
	for _, asset := range slices.Sorted(maps.Keys(q.surplus)) {
		if x := l.explanationOf(q, asset, nil); x.surplus < 0 && l.holdings.moves[asset] == q.books[asset] {
			l.postpone(x, why)
		}
	}
}

// extent is from when on, and in which markets, an inquiry asks for trades.
func (l *Loop) extent(q *inquiry) (since market.Time, markets []market.ID) {
	since = q.asked
	for asset := range q.surplus {
		since = min(since, l.since(asset))
	}
	for _, m := range l.Account.Catalog().Markets() {
		_, base := q.surplus[m.Base]
		if _, quote := q.surplus[m.Quote]; base || quote {
			markets = append(markets, m.ID)
		}
	}
	return since, markets
}

// since is when the balance of an asset fitted last. Without a checkpoint it is when the run began,
// or when the oldest position was opened: an earlier run has ended before two comparisons.
func (l *Loop) since(asset market.AssetID) market.Time {
	if last := l.holdings.checkpoints[asset]; last.At != 0 {
		return last.At
	}
	since := l.began
	for i := range l.Engine.Names() {
		for _, m := range l.Account.Catalog().Markets() {
			if p := l.Account.Position(market.StrategyID(i+1), m.ID); p.Amount > 0 && p.Opened != 0 {
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
func (l *Loop) explain(q *inquiry, refusal error) {
	foreign, lacks := l.foreignTrades(q)
	switch lacks {
	case ownFill:
		return
	case foreignFee:
		l.postponeAll(q, "a trade that is not the bot's has no settled fee yet")
		return
	}
	for _, asset := range slices.Sorted(maps.Keys(q.surplus)) {
		if l.holdings.moves[asset] != q.books[asset] {
			// An own fill was booked while the trades were fetched. It explains itself, and two
			// equal fills look like one difference.
			continue
		}
		x := l.explanationOf(q, asset, refusal)
		x.add(q.moved)
		x.add(foreign)
		l.conclude(x)
	}
}

// explanationOf is the explanation of an asset's difference, before anything is found.
func (l *Loop) explanationOf(q *inquiry, asset market.AssetID, refusal error) *explanation {
	last, compared := l.holdings.checkpoints[asset]
	return &explanation{compared: compared, asset: l.Account.Catalog().Asset(asset), from: l.since(asset), to: q.asked,
		books: l.Account.Total(asset).Total, surplus: q.surplus[asset], before: last.Surplus, refusal: refusal,
		doubted: q.doubted}
}

// filledAfterEnd reports whether a trade is a fill of an own order that has ended in the account
// without it: an answer about its end was false. The order is queried, and reopened as its record
// says. While own fills are booked it is not: the trade may be one of them.
func (l *Loop) filledAfterEnd(t *exchange.Trade, booking bool) bool {
	if t.ClientOrderID == uuid.Nil {
		return false
	}
	own := l.endedOrder(t.ClientOrderID)
	if own == nil || own.Strategy == 0 || own.Knows(&t.Fill) {
		return false
	}
	if booking {
		return true
	}
	q := l.queryOf(own.ID)
	if l.Account.Known(own.ID) == nil {
		q.ended = own
	}
	if !q.listed {
		q.listed = true
		l.Log.Error().Int64("order", int64(q.id)).Stringer("client_order_id", own.ClientOrderID).
			Stringer("books", own.State).
			Msg("an order that had ended in the account has filled: it is queried, then reopened")
		l.ReconcileLog.Note("filled after its end", orderText(q.id))
	}
	q.soon(l.now)
	return true
}

// lack is what trades lack to explain a difference.
type lack uint8

const (
	ownFill    lack = iota + 1 // an own fill is not booked: its order is queried
	foreignFee                 // the fee of someone else's trade is not settled
)

// foreignTrades are the account's trades that are not this bot's, as movements; lacks: what is
// still to come before they count; 0: nothing.
func (l *Loop) foreignTrades(q *inquiry) (moved []exchange.Movement, lacks lack) {
	own := map[uuid.UUID]*state.Order{}
	for _, o := range l.Account.Pending(nil) {
		own[o.ClientOrderID] = o
	}
	for i := range q.trades {
		t, m := &q.trades[i], l.Account.Catalog().Market(q.markets[i])
		switch o := own[t.ClientOrderID]; {
		case o != nil && !o.Knows(&t.Fill):
			l.queryOf(o.ID).soon(l.now)
			lacks = ownFill
		case o != nil:
		case l.filledAfterEnd(t, q.books[m.Base] != l.holdings.moves[m.Base]):
			lacks = ownFill
		case t.ClientOrderID != uuid.Nil && l.Owns != nil && l.Owns(t.ClientOrderID):
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
