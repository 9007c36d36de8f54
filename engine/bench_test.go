package engine_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

const (
	btc    = market.Qty(100_000_000)
	eur    = market.Money(100)
	at1    = market.Price(100)
	minute = market.Time(60_000_000_000)
	start  = 1000 * minute
)

// script is a strategy made of functions; those left out do nothing.
type script struct {
	ticker func(d *strategy.Desk, t market.Ticker)
	book   func(d *strategy.Desk, b strategy.OrderBook)
	candle func(d *strategy.Desk, c market.Candle)
	order  func(d *strategy.Desk, o market.Order, r market.Report)
	fill   func(d *strategy.Desk, f market.Fill)
	timer  func(d *strategy.Desk, name int64)
	start  func(d *strategy.Desk)
	stop   func(d *strategy.Desk)
}

func (s *script) OnTicker(d *strategy.Desk, t market.Ticker) {
	if s.ticker != nil {
		s.ticker(d, t)
	}
}

func (s *script) OnBook(d *strategy.Desk, b strategy.OrderBook) {
	if s.book != nil {
		s.book(d, b)
	}
}

func (s *script) OnCandle(d *strategy.Desk, c market.Candle) {
	if s.candle != nil {
		s.candle(d, c)
	}
}

func (s *script) OnOrder(d *strategy.Desk, o market.Order, r market.Report) {
	if s.order != nil {
		s.order(d, o, r)
	}
}

func (s *script) OnFill(d *strategy.Desk, f market.Fill) {
	if s.fill != nil {
		s.fill(d, f)
	}
}

func (s *script) OnTimer(d *strategy.Desk, name int64) {
	if s.timer != nil {
		s.timer(d, name)
	}
}

func (s *script) OnStart(d *strategy.Desk) {
	if s.start != nil {
		s.start(d)
	}
}

func (s *script) OnStop(d *strategy.Desk) {
	if s.stop != nil {
		s.stop(d)
	}
}

// setup is what a bench is made of. Without markets there is BTC-EUR, without venue the plain one.
type setup struct {
	venue     sim.Config
	apart     engine.Apart
	limits    []risk.Limits
	account   risk.AccountLimits
	markets   int
	from      market.Time
	observer  engine.Observer
	slots     []engine.StrategyConfig
	noDeposit bool
	own       []bool // the allocations, as NewAccount takes them
	run       uuid.UUID
	plots     strategy.Plotter
}

// bench joins an engine with a real venue the way the drivers do, and checks after every step that
// account and venue have the same and that at most one sell holds the base.
type bench struct {
	t       testing.TB
	catalog *market.Catalog
	account *state.Account
	engine  *engine.Engine
	venue   *sim.Venue
	now     market.Time // close of the latest candle
	sent    []string    // every command, in words
	told    []string    // every report, in words
	log     bytes.Buffer
	remake  func(strategies ...strategy.Strategy) (*state.Account, *engine.Engine) // the same with other strategies
	before  func(ev *market.Event)                                                 // the engine sees it
	after   func(commands []market.Command)
	done    func() // after a step and its checks
	oneSell bool
}

func newBench(t testing.TB, s setup) *bench {
	b := &bench{t: t, catalog: &market.Catalog{}, now: start}
	_, err := b.catalog.AddAsset("EUR", 2)
	require.NoError(t, err)
	for _, symbol := range []string{"BTC", "ETH", "ADA"}[:max(1, s.markets)] {
		_, err := b.catalog.AddAsset(symbol, 8)
		require.NoError(t, err)
		require.NoError(t, b.catalog.AddMarket(&market.Market{Name: symbol + "-EUR", PriceDigits: 2,
			Status: market.Trading, Rules: market.Rules{TickSize: 1,
				QuantityDecimals: 8, NotionalDecimals: 2, MaxOpenOrders: 100}}))
	}
	slots := make([]engine.StrategyConfig, len(s.slots))
	for i, slot := range s.slots {
		if slot.Name == "" {
			slot.Name = fmt.Sprint("s", i+1)
		}
		if slot.Markets == nil {
			slot.Markets = []market.ID{1}
		}
		if slot.Intervals == nil {
			slot.Intervals = []market.Interval{market.Interval1m}
		}
		slot.Log = zerolog.New(&b.log)
		slots[i] = slot
	}
	s.account.Currency = 1
	fees := s.venue.Fees
	if fees == nil {
		fees = func(*market.Market) exchange.Fees { return exchange.Fees{} }
	}
	b.remake = func(strategies ...strategy.Strategy) (*state.Account, *engine.Engine) {
		slots := slices.Clone(slots)
		for i := range strategies {
			slots[i].Strategy = strategies[i]
		}
		account := state.NewAccount(b.catalog, len(slots), s.own)
		gate := risk.New(b.catalog,
			risk.Config{Account: s.account,
				Strategies: append(s.limits, make([]risk.Limits, len(slots)-len(s.limits))...), Fees: fees})
		return account, engine.New(engine.Config{Catalog: b.catalog, Account: account, Gate: gate, Slots: slots,
			TradeFrom: s.from, Observer: s.observer, Run: s.run, Apart: s.apart, Plots: s.plots})
	}
	b.account, b.engine = b.remake()
	s.venue.Watches = b.engine.Watches()
	b.venue = sim.New(b.catalog, s.venue, b.hear)
	if !s.noDeposit {
		b.deposit(1, 10_000*eur)
	}
	return b
}

// one is a bench with one strategy on BTC-EUR.
func one(t testing.TB, s *script) *bench {
	return newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}})
}

func (b *bench) deposit(asset market.AssetID, money market.Money) {
	require.NoError(b.t, b.venue.Deposit(asset, money))
	b.step(&market.Event{Kind: market.KindTransfer, At: b.now, Asset: asset, Money: money})
}

// step lets the engine see an event, hands its commands to the venue, and checks the account.
func (b *bench) step(ev *market.Event) {
	b.t.Helper()
	if b.before != nil {
		b.before(ev)
	}
	commands := b.engine.Step(ev)
	if b.after != nil {
		b.after(commands)
	}
	b.send(commands)
	require.NoError(b.t, b.engine.Err())
	require.NoError(b.t, b.account.Check())
	b.checkSells()
	if b.done != nil {
		b.done()
	}
}

func (b *bench) send(commands []market.Command) {
	for i := range commands {
		b.sent = append(b.sent, describe(&commands[i]))
		b.venue.Do(&commands[i])
	}
}

func (b *bench) hear(ev *market.Event) {
	if ev.Kind == market.KindTimer {
		b.ring(ev.At + 1)
		return
	}
	ev.At = max(ev.At, b.engine.Now())
	if ev.Report != nil {
		b.told = append(b.told, describeReport(ev))
	}
	b.step(ev)
}

// ring steps the timers that are due before a time, each at its own.
func (b *bench) ring(before market.Time) {
	for at, waiting := b.engine.NextTimer(); waiting && at < before; at, waiting = b.engine.NextTimer() {
		b.step(&market.Event{Kind: market.KindTimer, At: max(at, b.engine.Now())})
	}
}

// checkSells requires that open sells never hold more base than there is, and with oneSell that no
// two are open at once.
func (b *bench) checkSells() {
	selling, sells := map[market.ID]market.Money{}, 0
	for _, o := range b.account.Open(nil, 0, 0) {
		if o.Side == market.Sell {
			selling[o.Market] += o.OnHold
			sells++
		}
	}
	require.True(b.t, sells <= 1 || !b.oneSell, "%d sells at once", sells)
	for m, held := range selling {
		require.LessOrEqual(b.t, held, b.account.Total(b.catalog.Market(m).Base).Total)
	}
}

func candleOf(m market.ID, open, high, low, close market.Price) market.Candle {
	return market.Candle{Market: m, Interval: market.Interval1m, Open: open * at1, High: high * at1, Low: low * at1,
		Close: close * at1, Volume: 1000}
}

// candle lets one minute of BTC-EUR happen: first at the venue, then the engine sees it.
func (b *bench) candle(open, high, low, close market.Price) {
	b.t.Helper()
	b.group(candleOf(1, open, high, low, close))
}

// group lets one minute of several markets happen. Timers ring at their own time.
func (b *bench) group(candles ...market.Candle) {
	b.t.Helper()
	end := b.now + minute
	inPath := b.engine.Watches()[0].Tactic // the venue says when
	if !inPath {
		b.ring(end)
	}
	for i := range candles {
		candles[i].Start = b.now
	}
	require.NoError(b.t, b.venue.Advance(&market.Event{Kind: market.KindCandles, At: end, Candles: candles}))
	b.now = end
	if inPath {
		b.ring(end)
	}
	b.step(&market.Event{Kind: market.KindCandles, At: max(end, b.engine.Now()), Candles: candles})
	b.same()
}

// flat lets minutes pass in which the price stands still.
func (b *bench) flat(minutes int, price market.Price) {
	b.t.Helper()
	for range minutes {
		b.candle(price, price, price, price)
	}
}

// same requires that account and venue have the same totals; holds may differ while commands are
// under way.
func (b *bench) same() {
	b.t.Helper()
	for _, asset := range b.catalog.Assets() {
		require.Equal(b.t, b.venue.Balance(asset.ID).Total, b.account.Total(asset.ID).Total, "total of %s",
			asset.Symbol)
	}
}

func (b *bench) position() market.Qty { return b.account.Position(1, 1).Amount }

// realised is the first strategy's profit in BTC-EUR in whole cents.
func (b *bench) realised() market.Money {
	money, err := b.account.Position(1, 1).Realised.ExactMoney(b.catalog.Market(1).MoneyDrop())
	require.NoError(b.t, err)
	return money
}

// describe writes a command as a line: "buy 1", "stop 1 @ 90", "sell 1 @ 110", "update 2", "cancel
// 2".
func describe(c *market.Command) string {
	o, line := &c.Order, ""
	amount := market.FormatFixed(int64(o.Amount), 8)
	switch {
	case c.Kind == market.CommandCancel:
		line = fmt.Sprint("cancel ", o.ID)
	case c.Kind == market.CommandUpdate:
		line = fmt.Sprint("update ", o.ID)
		for _, field := range []struct {
			change market.Change
			text   string
		}{{market.ChangeAmount, amount}, {market.ChangePrice, "@ " + cents(o.Price)}, {market.ChangeTriggerAmount,
			"stop " + cents(o.TriggerAmount)}} {
			if c.Changed.Has(field.change) {
				line += " " + field.text
			}
		}
	case o.AmountQuote != 0:
		line = fmt.Sprint(o.Side, " for ", market.FormatFixed(int64(o.AmountQuote), 2))
	case o.Type == market.TypeMarket:
		line = fmt.Sprint(o.Side, " ", amount)
	case o.Type == market.TypeStopLoss:
		line = fmt.Sprint("stop ", amount, " @ ", cents(o.TriggerAmount))
	default:
		line = fmt.Sprint(o.Side, " ", amount, " @ ", cents(o.Price))
	}
	if c.Attached {
		line += " attached"
	}
	return line
}

func cents(p market.Price) string { return market.FormatFixed(int64(p), 2) }

// describeReport writes a report as a line: "2 trade filled 1 @ 110", "2 rejected cancel 240".
func describeReport(ev *market.Event) string {
	r := ev.Report
	if r.Exec == market.ExecRejected {
		return fmt.Sprint(r.Order, " rejected ", r.Command, " ", r.Code)
	}
	line := fmt.Sprint(r.Order, " ", r.Exec)
	if len(ev.Fills) > 0 {
		line += fmt.Sprint(" ", market.FormatFixed(int64(ev.Fills[0].Amount), 8), " @ ", cents(ev.Fills[0].Price))
	}
	return line
}

// once returns a candle callback that asks a single time.
func once(ask func(d *strategy.Desk)) func(*strategy.Desk, market.Candle) {
	done := false
	return func(d *strategy.Desk, _ market.Candle) {
		if !done {
			done = true
			ask(d)
		}
	}
}
