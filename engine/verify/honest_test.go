package verify_test

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine/verify"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// seeds is how many lives of an exchange the tests of this package try: go test ./engine/verify
// -honest 5000
var seeds = flag.Int("honest", 150, "lives of an honest exchange, and of one that lies in one field")

func TestHonestAnswersBreakNoRule(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(*seeds) {
		w := newHonest(t, seed)
		w.live(200)
		require.Greater(t, w.checked, 20, "seed %d", seed)
		for kind, n := range w.seen {
			seen[kind] += n
		}
	}
	for _, kind := range []string{"filled", "canceled", "expired", "new", "partiallyFilled", "awaitingTrigger",
		"market", "limit", "stopLoss", "stopLossLimit", "takeProfit",
		"takeProfitLimit", "by quote", "change", "decremented", "unsettled", "settled late", "several fills", "short"} {
		require.Greater(t, seen[kind], 3, "%s: the honest exchange does not show all that it can: %v", kind, seen)
	}
}

// see counts what an answer shows.
func (w *honest) see(o *verify.OwnOrder, r *exchange.WireOrder) {
	w.seen[r.Order.Status.String()]++
	for kind, is := range map[string]bool{
		"by quote": r.Order.ByQuote() &&
			len(r.Fills) > 0, "change": o.Change != nil,
		"decremented":   r.Order.RestatementReason == market.DecrementOnSelfTradePrevention,
		"several fills": len(r.Fills) > 2, r.Order.Type.String(): len(r.Fills) > 0,
	} {
		if is {
			w.seen[kind]++
		}
	}
	for i := range r.Fills {
		if !r.Fills[i].Settled {
			w.seen["unsettled"]++
		} else if w.owner[r.Fills[i].ID] != 0 && !w.settled(r.Fills[i].ID) {
			w.seen["settled late"]++
		}
	}
}

// honest is a venue with one account that is ours and one that trades against it. Its answers go
// over the wire to the check and into the books, as the live loop lets them.
type honest struct {
	t       *testing.T
	seed    uint64
	chance  *rand.Rand
	catalog *market.Catalog
	market  *market.Market
	venue   *sim.Venue
	fees    exchange.Fees
	now     market.Time
	price   market.Price
	low     market.Price
	high    market.Price
	next    market.OrderID
	theirs  []market.OrderID
	records map[market.OrderID]*exchange.WireOrder // as the exchange has them
	account *state.Account
	booked  map[market.OrderID][]market.Fill
	owner   map[uuid.UUID]market.OrderID
	changes map[market.OrderID]*verify.PendingUpdate
	checked int
	seen    map[string]int
	mutate  func(o *verify.OwnOrder, r *exchange.WireOrder) // before the check; nil: nothing lies
	settle  bool                                            // fees come late
}

func newHonest(t *testing.T, seed uint64) *honest {
	w := &honest{t: t, seed: seed, chance: rand.New(rand.NewPCG(seed, 8)), catalog: &market.Catalog{},
		now: market.Time(1e18), records: map[market.OrderID]*exchange.WireOrder{},
		booked: map[market.OrderID][]market.Fill{}, owner: map[uuid.UUID]market.OrderID{},
		changes: map[market.OrderID]*verify.PendingUpdate{}, seen: map[string]int{}}
	_, err := w.catalog.AddAsset("EUR", uint8([]int{0, 2, 2, 6}[w.chance.IntN(4)]))
	require.NoError(t, err)
	_, err = w.catalog.AddAsset("BTC", 8)
	require.NoError(t, err)
	w.market = &market.Market{Name: "BTC-EUR", PriceDigits: 2,
		Rules: market.Rules{QuantityDecimals: uint8(4 + w.chance.IntN(5)), NotionalDecimals: 2, TickSize: 1,
			MaxOpenOrders: 100}}
	require.NoError(t, w.catalog.AddMarket(w.market))
	w.fees = exchange.Fees{Maker: market.Rate(w.chance.IntN(400_000) - 50_000),
		Taker: market.Rate(w.chance.IntN(300_000))}
	w.settle = w.chance.IntN(2) == 0
	step := market.Price(1 + w.chance.IntN(50))
	config := sim.Config{Book: true, Fees: func(*market.Market) exchange.Fees { return w.fees },
		FeeRounding: exchange.FeeRounding(w.chance.IntN(3)), HoldLater: w.chance.IntN(2) == 0,
		Liquidity: func(*market.Market) sim.Liquidity {
			return sim.Liquidity{Levels: 20, Size: 10_000_000, HalfSpread: 100_000, Step: step}
		}}
	if w.chance.IntN(2) == 0 {
		config.ExecutionLimit = 500_000
	}
	w.venue = sim.New(w.catalog, config, w.hear)
	w.venue.OpenAccount(config.Fees)
	for account := range sim.AccountID(2) {
		require.NoError(t, w.venue.Transfer(account, 1, 5000*market.Money(market.Pow10(w.market.QuoteDigits))))
		require.NoError(t, w.venue.Transfer(account, 2, 5_00000000))
	}
	w.account = state.NewAccount(w.catalog, 1, nil)
	w.move(100_00)
	return w
}

func (w *honest) hear(ev *market.Event) {
	r := w.records[0]
	if ev.Kind == market.KindReport {
		r = w.records[ev.Report.Order]
	}
	if r == nil {
		return
	}
	r.Order = *w.venue.Order(ev.Report.Order)
	r.Order.ClientOrderID, r.Order.ExchangeID = name(r.Order.ID, 1), name(r.Order.ID, 2)
	r.Fills = append(r.Fills, ev.Fills...)
}

func name(id market.OrderID, kind byte) (n uuid.UUID) {
	n[0], n[14], n[15] = kind, byte(id>>8), byte(id)
	return n
}

func (w *honest) move(price market.Price) {
	w.price = price
	if w.low == 0 {
		w.low, w.high = price, price
	}
	w.low, w.high = min(w.low, price), max(w.high, price)
	require.NoError(w.t, w.venue.Advance(&market.Event{At: w.now, Kind: market.KindTrade,
		Trade: &market.Trade{Market: 1, Price: price}}))
}

// live lets things happen: orders of both accounts, changes, cancels, prices, queries.
func (w *honest) live(steps int) {
	for range steps {
		w.now = w.now.Add(time.Duration(w.chance.IntN(2000)) * time.Millisecond)
		switch draw := w.chance.IntN(12); {
		case draw < 2:
			w.move(max(10, w.price+market.Price(w.chance.IntN(201)-100)))
		case draw < 5:
			w.place(0)
		case draw < 7:
			w.place(1)
		case draw == 7:
			w.change()
		case draw == 8:
			w.cancel()
		default:
			w.query(w.some())
		}
	}
}

// some is an own order of which something is expected, 0 for none.
func (w *honest) some() market.OrderID {
	if own := w.account.Pending(nil); len(own) > 0 {
		return own[w.chance.IntN(len(own))].ID
	}
	return 0
}

func (w *honest) draw() (o market.Order) {
	o = market.Order{Market: 1, Side: market.Side(1 + w.chance.IntN(2)), Type: market.OrderType(1 + w.chance.IntN(6)),
		OrderState: market.OrderState{TimeInForce: market.GTC,
			SelfTradePrevention: market.SelfTradePrevention(1 + w.chance.IntN(4))}}
	step := market.Qty(market.Pow10(8 - w.market.QuantityDecimals))
	o.Amount = step * market.Qty(1+w.chance.Int64N(40_000_000/int64(step)))
	if w.chance.IntN(5) == 0 {
		o.Amount = step * market.Qty(1+w.chance.IntN(20))
	}
	if o.Type.HasPrice() {
		o.Price = max(1, w.price+market.Price(w.chance.IntN(301)-150))
		o.PostOnly = w.chance.IntN(6) == 0
		o.TimeInForce = market.TimeInForce(max(1, w.chance.IntN(8)-4))
	} else if w.chance.IntN(2) == 0 {
		o.AmountQuote, o.Amount = market.Money(1+w.chance.Int64N(60))*market.Money(market.Pow10(w.market.QuoteDigits)),
			0
	}
	if o.Type.HasTrigger() {
		o.TriggerType, o.TriggerReference = market.TriggerPrice, market.LastTrade
		o.TriggerAmount = max(1, w.price+market.Price(w.chance.IntN(301)-150))
	}
	if o.PostOnly {
		o.TimeInForce = market.GTC
	}
	return o
}

func (w *honest) place(account sim.AccountID) {
	w.next++
	c := market.Command{Kind: market.CommandPlace, At: w.now, Order: w.draw()}
	o := &c.Order
	o.ID, o.ClientOrderID, o.Created = w.next, name(w.next, 1), w.now
	if account == 0 {
		o.Strategy = 1
		w.account.Send(o, 0)
		w.records[o.ID] = &exchange.WireOrder{}
	}
	refused, err := w.venue.Submit(account, w.now, &c)
	require.NoError(w.t, err)
	if account == 1 {
		w.theirs = append(w.theirs, o.ID)
		return
	}
	if refused != nil {
		delete(w.records, o.ID)
		w.apply(&market.Event{Kind: market.KindReport, Market: 1,
			Report: &market.Report{Exec: market.ExecRejected, Command: market.CommandPlace, Order: o.ID, Market: 1}})
		return
	}
	if w.chance.IntN(4) > 0 { // else the answer is lost
		w.answer(o.ID, market.CommandPlace, 0)
	}
}

func (w *honest) apply(ev *market.Event) {
	ev.At = w.now
	_, err := w.account.Apply(ev)
	require.NoError(w.t, err)
}

// answer lets the record of an order be told, without the first fills for an update.
func (w *honest) answer(id market.OrderID, kind market.CommandKind, skip int) {
	r := w.records[id]
	own := w.account.Known(id)
	if r == nil || own == nil {
		return
	}
	told := w.tell(r, skip)
	o := &verify.OwnOrder{Order: &own.Order, Ended: own.State.Terminal(), Fills: w.booked[id], Counted: w.counted(id),
		Change: w.changes[id]}
	if w.mutate != nil {
		w.mutate(o, &told)
		return
	}
	w.see(o, &told)
	v := w.check().Record(o, kind, &told)
	w.checked++
	require.Empty(w.t, v.Broken, "seed %d, order %+v\nanswer %+v", w.seed, own.Order, told)
	require.True(w.t, !v.Short || kind == market.CommandUpdate, "seed %d: %+v", w.seed, told)
	if v.Short {
		w.seen["short"]++
		return
	}
	w.book(id, &told)
	if o.Change != nil && (kind == market.CommandUpdate || told.Order.Status.Terminal()) {
		delete(w.changes, id)
	}
}

// tell is a record as it comes over the wire. Where fees are settled late, the latest fills have
// none yet.
func (w *honest) tell(r *exchange.WireOrder, skip int) (told exchange.WireOrder) {
	order, fills := r.Order, append([]market.Fill(nil), r.Fills...)
	if w.settle {
		for i := max(0, len(fills)-w.chance.IntN(3)); i < len(fills); i++ {
			if f := &fills[i]; !w.settled(f.ID) {
				order.FeePaid, _ = order.FeePaid.Sub(f.Fee)
				f.Settled, f.Fee, f.FeeCurrency = false, market.Value{}, 0
			}
		}
	}
	text := exchange.AppendOrder(nil, w.catalog, &order, fills[skip:])
	var err error
	told.Order, told.Fills, err = exchange.ParseOrder(text, w.catalog)
	require.NoError(w.t, err, string(text))
	for i := range told.Fills {
		told.Fills[i].Order, told.Fills[i].Strategy = r.Order.ID, 1
	}
	return told
}

func (w *honest) settled(fill uuid.UUID) bool {
	for _, f := range w.booked[w.owner[fill]] {
		if f.ID == fill {
			return f.Settled
		}
	}
	return false
}

func (w *honest) counted(id market.OrderID) (sum market.Qty) {
	for _, f := range w.booked[id] {
		sum += f.Amount
	}
	return sum
}

func (w *honest) check() *verify.Check {
	return &verify.Check{Catalog: w.catalog, Market: w.market, Fees: w.fees, Now: w.now,
		Prices:  func(market.Time) verify.Prices { return verify.Prices{Low: w.low, High: w.high} },
		FillOf:  func(id uuid.UUID) market.OrderID { return w.owner[id] },
		OrderOf: func(id uuid.UUID) market.OrderID { return 0 }}
}

// book folds what was told.
func (w *honest) book(id market.OrderID, told *exchange.WireOrder) {
	told.Order.ID, told.Order.Strategy = id, 1
	fresh := append([]market.Fill(nil), told.Fills...)
	report := market.ReportOf(&told.Order, market.ExecTrade)
	w.apply(&market.Event{Kind: market.KindReport, Market: 1, Report: &report, Fills: fresh})
	for _, f := range told.Fills {
		known := false
		for i := range w.booked[id] {
			if b := &w.booked[id][i]; b.ID == f.ID {
				known = true
				if f.Settled {
					*b = f
				}
			}
		}
		if !known {
			w.booked[id] = append(w.booked[id], f)
			w.owner[f.ID] = id
		}
	}
}

func (w *honest) query(id market.OrderID) {
	if id != 0 {
		w.answer(id, 0, 0)
	}
}

func (w *honest) cancel() {
	id := w.some()
	if w.chance.IntN(3) == 0 && len(w.theirs) > 0 {
		id = w.theirs[w.chance.IntN(len(w.theirs))]
	}
	account := sim.AccountID(0)
	if w.records[id] == nil {
		account = 1
	}
	if id != 0 {
		_, err := w.venue.Submit(account, w.now,
			&market.Command{Kind: market.CommandCancel, At: w.now, Order: market.Order{ID: id, Market: 1}})
		require.NoError(w.t, err)
	}
}

// change updates an own order; its answer may be lost.
func (w *honest) change() {
	id := w.some()
	own := w.account.Own(id)
	if own == nil || w.changes[id] != nil || !own.Reported || w.records[id] == nil {
		return
	}
	c := market.Command{Kind: market.CommandUpdate, At: w.now, Order: market.Order{ID: id, Market: 1}}
	switch w.chance.IntN(3) {
	case 0:
		c.Changed, c.Order.Price = market.ChangePrice, max(1, w.price+market.Price(w.chance.IntN(301)-150))
	case 1:
		c.Changed, c.Order.Amount = market.ChangeAmount,
			own.Amount+market.Qty(market.Pow10(8-w.market.QuantityDecimals))*market.Qty(w.chance.IntN(100))
	default:
		c.Changed, c.Order.TriggerAmount = market.ChangeTriggerAmount, max(1,
			w.price+market.Price(w.chance.IntN(301)-150))
	}
	whole := own.Order
	exchange.ApplyChange(&whole, &c)
	before := len(w.records[id].Fills)
	refused, err := w.venue.Submit(0, w.now, &c)
	require.NoError(w.t, err)
	if refused != nil {
		return
	}
	w.changes[id] = &verify.PendingUpdate{Order: whole}
	if w.chance.IntN(3) > 0 {
		w.answer(id, market.CommandUpdate, before)
	}
}
