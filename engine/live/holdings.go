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

// Agreement is how the exchange's balance of an asset stood beside the books when it was last
// compared and every difference was explained. It outlives restarts, so that what happened to the
// account meanwhile can be told.
type Agreement struct {
	At      market.Time  // before the balances were asked for; 0: they never were
	Surplus market.Money // what the account has beyond what this bot's books have
}

// holdings is the comparison of the exchange's balances with the books.
type holdings struct {
	regular
	agreed map[market.AssetID]Agreement
	// surpluses that differed from the agreement at the last comparison: they count when seen twice
	differ map[market.AssetID]market.Money
	moves  map[market.AssetID]int          // of the books, counted
	said   map[market.AssetID]market.Money // shortfalls that halted already
}

// mostMoney is the largest balance that is believed, in an asset's units: sums of it stay within
// what can be counted.
const mostMoney = market.Money(1) << 60

// askHoldings asks for the balances when they are due. They speak only while nothing is in flight.
func (l *Loop) askHoldings(work context.Context) {
	if h := &l.holdings; h.asking || h.next > l.now || !l.quiet() {
		return
	}
	asked, books := l.now, l.books()
	l.holdings.next, l.holdings.asking = l.now.Add(l.HoldingsEvery), true
	l.workers.Go(func() {
		held, err := l.Trading.Holdings(work)
		l.replies <- func() {
			l.holdings.asking = false
			switch {
			case err != nil:
				l.Log.Warn().Err(err).Msg("balances could not be asked for")
			case l.quiet():
				l.compareHoldings(work, asked, books, held)
			}
		}
	})
}

// books says of each asset how often the account's books of it have moved. A total that is as it
// was does not say that nothing has: a buy and a sale of one size leave it.
func (l *Loop) books() map[market.AssetID]int { return maps.Clone(l.holdings.moves) }

// count counts what an event moves in the books.
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

// compareHoldings compares the exchange's balances with the account's books. A difference that is
// seen twice in a row, with nothing in flight, is inquired into, and so it takes two comparisons to
// know with what an account begins. Nothing can be said of an asset whose books have moved since
// the question, nor of one in which own fees are not settled yet.
func (l *Loop) compareHoldings(work context.Context, asked market.Time, books map[market.AssetID]int,
	held []exchange.Holding) {
	there := map[market.AssetID]market.Money{}
	for _, h := range held {
		total, err := market.Add(h.Available, h.Orders)
		if err != nil || h.Available < 0 || h.Orders < 0 || total > mostMoney {
			symbol := l.Account.Catalog().Asset(h.Asset).Symbol
			l.Log.Error().Str("asset", symbol).Int64("available", int64(h.Available)).
				Int64("in_order", int64(h.Orders)).
				Msg("a balance of the exchange cannot be true: none of this answer is compared")
			l.Findings.Remark("false balance", symbol)
			return
		}
		there[h.Asset] = total
	}
	h := &l.holdings
	q, differ := inquiry{asked: asked, books: books,
		surplus: map[market.AssetID]market.Money{}}, map[market.AssetID]market.Money{}
	for _, a := range l.Account.Catalog().Assets() {
		asset, now := a.ID, l.Account.Total(a.ID).Total
		surplus := there[asset] - now
		last, known := h.agreed[asset]
		before, seen := h.differ[asset]
		twice := seen && before == surplus
		switch {
		case h.moves[asset] != books[asset] || l.Account.Unsettled(asset):
		case known && surplus == last.Surplus, !known && twice && surplus >= 0:
			l.agree(asset, Agreement{At: asked, Surplus: surplus})
		default:
			differ[asset] = surplus
			if twice {
				q.surplus[asset] = surplus
			}
		}
	}
	h.differ = differ
	if len(q.surplus) > 0 {
		l.lookInto(work, &q)
	}
}

// agree notes that the balance of an asset fits.
func (l *Loop) agree(asset market.AssetID, now Agreement) {
	l.holdings.agreed[asset] = now
	delete(l.holdings.said, asset)
	l.Findings.Agreed(asset, now)
}

// inquiry is what the exchange says of the time since the last agreement.
type inquiry struct {
	asked   market.Time            // before the balances were asked for that are to be explained
	books   map[market.AssetID]int // how often they had moved then
	surplus map[market.AssetID]market.Money
	moved   []exchange.Movement
	trades  []exchange.Trade // of everybody on the account, in the markets of the assets
	markets []market.ID      // of the trades
}

// lookInto asks what has moved the balances since they last fitted: deposits and withdrawals, and
// trades of others.
func (l *Loop) lookInto(work context.Context, q *inquiry) {
	since := q.asked
	for asset := range q.surplus {
		since = min(since, l.since(asset))
	}
	var markets []market.ID
	for _, m := range l.Account.Catalog().Markets() {
		_, base := q.surplus[m.Base]
		if _, quote := q.surplus[m.Quote]; base || quote {
			markets = append(markets, m.ID)
		}
	}
	l.holdings.asking = true
	l.workers.Go(func() {
		err := q.ask(work, l.Trading, since, markets)
		l.replies <- func() {
			l.holdings.asking = false
			switch {
			case err != nil && !refuses(err):
				l.Log.Warn().Err(err).Msg("what moved the balances could not be asked for")
			case l.quiet():
				l.judge(q, err)
			}
		}
	})
}

// since is when the balance of an asset fitted last, or may have.
func (l *Loop) since(asset market.AssetID) market.Time {
	if last := l.holdings.agreed[asset]; last.At != 0 {
		return last.At
	}
	return l.began
}

func (q *inquiry) ask(ctx context.Context, trading exchange.Trading, since market.Time,
	markets []market.ID) (err error) {
	if q.moved, err = trading.Movements(ctx, since); err != nil {
		return err
	}
	for _, m := range markets {
		if err := q.askTrades(ctx, trading, since, m); err != nil {
			return err
		}
	}
	return nil
}

// askTrades pages through a market's trades. Pages overlap: a trade counts once.
func (q *inquiry) askTrades(ctx context.Context, trading exchange.Trading, from market.Time, m market.ID) error {
	seen := map[uuid.UUID]bool{}
	for more := true; more; {
		var trades []exchange.Trade
		var err error
		if trades, more, err = trading.Trades(ctx, m, from); err != nil {
			return err
		}
		for i := range trades {
			if from = max(from, trades[i].Time); !seen[trades[i].ID] {
				seen[trades[i].ID] = true
				q.trades, q.markets = append(q.trades, trades[i]), append(q.markets, m)
			}
		}
	}
	return nil
}

// judge explains what it can. What came, or went of what is nobody's, is told; what went of the
// strategies' money and is explained is taken out of the books; a shortfall that is not explained
// halts all strategies. A fill of an own order that the books lack explains itself: it is asked
// for.
func (l *Loop) judge(q *inquiry, refusal error) {
	foreign, certain := l.foreignTrades(q)
	if !certain {
		return
	}
	for _, asset := range slices.Sorted(maps.Keys(q.surplus)) {
		if l.holdings.moves[asset] != q.books[asset] {
			// an own fill was booked while the trades were asked for: it explains itself, and two
			// that are alike look like one difference
			continue
		}
		last, compared := l.holdings.agreed[asset]
		x := explanation{compared: compared, asset: l.Account.Catalog().Asset(asset), from: l.since(asset), to: q.asked,
			books:   l.Account.Total(asset).Total,
			surplus: q.surplus[asset], before: last.Surplus, refusal: refusal}
		x.add(q.moved)
		x.add(foreign)
		l.conclude(&x)
	}
}

// foreignTrades are the trades of others on the account, as movements. It is not certain what moved
// while an own fill is not booked, or a fee not settled.
func (l *Loop) foreignTrades(q *inquiry) (moved []exchange.Movement, certain bool) {
	own := map[uuid.UUID]*state.Order{}
	for _, o := range l.Account.Pending(nil) {
		own[o.ClientOrderID] = o
	}
	certain = true
	for i := range q.trades {
		t, m := &q.trades[i], l.Account.Catalog().Market(q.markets[i])
		switch o := own[t.ClientOrderID]; {
		case o != nil && !o.Knows(&t.Fill):
			l.queryOf(o.ID).soon(l.now)
			certain = false
		case o != nil || t.ClientOrderID != uuid.Nil && l.Owns != nil && l.Owns(t.ClientOrderID):
		case !t.Settled:
			certain = false
		default:
			moved = appendTrade(moved, m, &t.Fill)
		}
	}
	return moved, certain
}

// appendTrade appends what a trade moved, fee included. What leaves the range is no trade of an
// exchange and is left out.
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
	kind := f.Side.String() + " in " + m.Name + " by somebody else"
	return append(dst, exchange.Movement{At: f.Time, Kind: kind, Asset: m.Base, Money: base},
		exchange.Movement{At: f.Time, Kind: kind, Asset: m.Quote, Money: quote})
}
