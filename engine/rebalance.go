package engine

import (
	"errors"
	"slices"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// rebalance is a strategy's buys that wait for the end of its sells.
type rebalance struct {
	at      market.Time      // of the call
	sells   []market.OrderID // that have not ended, as far as is known
	closes  []market.ID      // markets with a Close that has not ended
	buys    []leg
	quote   market.AssetID
	reserve market.Money // cash that the weights leave
}

// leg is an amount to sell or to buy.
type leg struct {
	market market.ID
	amount market.Qty
	closes bool // a sell of base that exits hold: as ClosePart
}

// legs are the orders of a portfolio.
type legs struct {
	sells, buys []leg
	kept        []market.ID // markets that cannot be traded now
	quote       market.AssetID
	reserve     market.Money
}

// Rebalance sells what a portfolio has too much of, and keeps the buys until these sells have
// ended.
func (e *Engine) Rebalance(id market.StrategyID, p strategy.Portfolio) error {
	if e.replaying || e.stopped {
		e.refusal = risk.Refusal{Reason: risk.ReasonWarmUp}
		if e.stopped {
			e.refusal.Reason = risk.ReasonStopping
		}
		return &e.refusal
	}
	s := &e.slots[id-1]
	plan, err := e.planned(s, &p)
	if err == nil {
		err = e.gate.CheckPlan(e.account, id, e.now, len(plan.sells), len(plan.buys))
	}
	if err != nil {
		e.tellPlan(s, err)
		return err
	}
	for _, m := range plan.kept {
		e.tellKept(s, m)
	}
	e.dropRebalance(s)
	for _, sell := range plan.sells {
		if sell.closes {
			e.unwind(s, sell)
		} else {
			e.placeLeg(s, sell, 0, false)
		}
	}
	e.keepBuys(s, &plan)
	return nil
}

// tellKept logs a market that a portfolio leaves as it is. That of a warm-up is a debug line.
func (e *Engine) tellKept(s *slot, m market.ID) {
	line, why := s.Log.Info(), "it is halted, its price is late or unknown, or a Close is under way"
	if s.cold(m) {
		line, why = s.Log.Debug(), "warm-up: "+e.warmingText(s, m)
	}
	line.Str("market", e.catalog.Market(m).Name).
		Msg("rebalance: the market keeps its units: " + why)
}

// keepBuys keeps the buys of a plan, or sends them where nothing is left to wait for.
func (e *Engine) keepBuys(s *slot, plan *legs) {
	if len(plan.buys) == 0 {
		return
	}
	r := &rebalance{at: e.now, buys: plan.buys, quote: plan.quote, reserve: plan.reserve,
		closes: e.closesOf(s, plan.quote)}
	for _, o := range e.account.Open(nil, s.id, 0) {
		if o.Type == market.TypeMarket && o.Side == market.Sell && e.catalog.Market(o.Market).Quote == r.quote {
			r.sells = append(r.sells, o.ID)
		}
	}
	if len(r.sells)+len(r.closes) == 0 {
		e.buy(s, r, false)
		return
	}
	e.setRebalance(s, r)
}

// setRebalance sets what a strategy keeps, nil for nothing, and the opens that it waits for.
func (e *Engine) setRebalance(s *slot, r *rebalance) {
	if s.rebalance != nil {
		e.rebalances--
	}
	if s.rebalance = r; r != nil {
		e.rebalances++
	}
	e.saves.changed = true
	watches := e.brackets.Watches()
	for m := range watches {
		watches[m].Open = false
	}
	for i := range e.slots {
		if r := e.slots[i].rebalance; r != nil {
			for _, b := range r.buys {
				watches[b.market].Open = true
			}
		}
	}
}

// dropRebalance drops the buys that a strategy keeps.
func (e *Engine) dropRebalance(s *slot) {
	if s.rebalance != nil {
		e.setRebalance(s, nil)
	}
}

// dropOutdated drops the buys for which the next candle of the main interval has come.
func (e *Engine) dropOutdated(candles []market.Candle) {
	for i := range e.slots {
		s := &e.slots[i]
		if s.rebalance != nil && slices.ContainsFunc(candles, func(c market.Candle) bool {
			return c.Interval == s.Intervals[0] && c.End() > s.rebalance.at && slices.Contains(s.Markets, c.Market)
		}) {
			e.outdate(s)
		}
	}
}

// outdate drops the buys that a strategy keeps, and logs it.
func (e *Engine) outdate(s *slot) {
	r := s.rebalance
	s.Log.Warn().Int("sells", len(r.sells)+len(r.closes)).Int("buys", len(r.buys)).
		Msg("rebalance: the buys are dropped: the next candle has come, and some sells have not ended")
	e.dropRebalance(s)
}

// followRebalance sends the buys that a strategy keeps once its sells have ended. Live, that may be
// after the end of the candle, before the next one has come.
//
//go:noinline
func (e *Engine) followRebalance(s *slot) {
	r := s.rebalance
	if r == nil {
		return
	}
	main := s.Intervals[0]
	switch {
	case e.buysWait(s):
	case !e.wholeGroups && e.now >= main.End(main.Floor(r.at)):
		e.outdate(s)
	default:
		e.dropRebalance(s)
		e.buy(s, r, true)
	}
}

// hasEnded reports whether an order has ended and all of its fills are known.
func (e *Engine) hasEnded(id market.OrderID) bool { return e.account.Known(id).Over() }

// buy sends buys for the cash beyond the reserve, all smaller in proportion where it does not
// suffice. inPath lets them act where the path of a backtest's candles stands.
func (e *Engine) buy(s *slot, r *rebalance, inPath bool) {
	cash, _ := e.account.Balance(s.id, r.quote)
	budget, total := max(0, cash-r.reserve), market.Money(0)
	costs := make([]market.Money, len(r.buys))
	for i, b := range r.buys {
		cost, err := e.cost(b)
		if err == nil {
			total, err = market.Add(total, cost)
		}
		if err != nil {
			e.tellPlan(s, err)
			return
		}
		costs[i] = cost
	}
	for i, b := range r.buys {
		money := costs[i]
		if total > budget {
			money = part(money, budget, total)
		}
		if money > 0 {
			e.placeLeg(s, b, money, inPath)
		}
	}
}

// part is money·num/den, rounded down.
func part(money, num, den market.Money) market.Money {
	share, err := market.ValueOf(int64(money)).Part(int64(num), int64(den)).FloorMoney(0)
	if err != nil {
		return 0
	}
	return share
}

// placeLeg sends a sell, or a buy for money.
func (e *Engine) placeLeg(s *slot, l leg, money market.Money, inPath bool) {
	c := &e.command
	*c = market.Command{Kind: market.CommandPlace, At: e.now}
	o := &c.Order
	o.Strategy, o.Market, o.Type, o.Tag = s.id, l.market, market.TypeMarket, strategy.TagRebalance
	o.TimeInForce, o.SelfTradePrevention = market.GTC, market.DecrementAndCancel
	if o.Side = market.Sell; money > 0 {
		o.Side, o.AmountQuote = market.Buy, money
	} else {
		o.Amount = l.amount
	}
	if _, err := e.place(c, nil, inPath); err != nil {
		e.tell(s, c, err)
	}
}

// cost is what a buy costs at the worst price, fee included.
func (e *Engine) cost(b leg) (market.Money, error) {
	costs := e.Costs(b.market)
	return exchange.Cost(e.catalog.Market(b.market), costs.Buy, b.amount, costs.Taker)
}

// proceeds is what a sell brings at the worst price, less the fee.
func (e *Engine) proceeds(l leg) (market.Money, error) {
	fees, spread := e.gate.Costs(l.market)
	offered, _ := e.account.BestPrice(l.market, market.Sell)
	m := e.catalog.Market(l.market)
	value, err := m.Value(spread.Met(market.Sell, offered, e.account.Last(l.market), m.TickSize), l.amount)
	if err == nil {
		value, err = value.MulRate(market.Whole - fees.Taker)
	}
	if err != nil {
		return 0, err
	}
	return value.FloorMoney(m.MoneyDrop() + market.RateDigits)
}

// tellPlan logs why a portfolio is not traded. The same reason as the last one is a debug line; so
// is that of a warm-up.
func (e *Engine) tellPlan(s *slot, err error) {
	var why *risk.Refusal
	if !errors.As(err, &why) {
		e.unseen(s, &market.Command{Kind: market.CommandPlace, At: e.now,
			Order: market.Order{Strategy: s.id, Type: market.TypeMarket, Tag: strategy.TagRebalance}}, err)
		return
	}
	now := toldRefusal{reason: why.Reason}
	level := zerolog.InfoLevel
	if now == s.told || now.reason == risk.ReasonWarmUp {
		level = zerolog.DebugLevel
	}
	s.told = now
	s.Log.WithLevel(level).Str("ask", strategy.TagRebalance).Err(err).Msg(RefusedMessage)
}

func (e *Engine) saveRebalances() (saved []SavedRebalance) {
	for i := range e.slots {
		s := &e.slots[i]
		r := s.rebalance
		if r == nil {
			continue
		}
		buys := make([]SavedBuy, len(r.buys))
		for i, b := range r.buys {
			buys[i] = SavedBuy{e.catalog.Market(b.market).Name, b.amount}
		}
		var closes []string
		for _, m := range r.closes {
			closes = append(closes, e.catalog.Market(m).Name)
		}
		saved = append(saved, SavedRebalance{Strategy: s.Name, At: r.at, Sells: r.sells, Closes: closes, Buys: buys,
			Reserve: r.reserve})
	}
	return saved
}

// restoreRebalances takes over the buys that waited. Those of a strategy that does not trade their
// market any more are dropped.
func (e *Engine) restoreRebalances(saved []SavedRebalance) {
	for i := range saved {
		from, s := &saved[i], e.slotNamed(saved[i].Strategy)
		if s == nil {
			continue
		}
		r := &rebalance{at: from.At, sells: from.Sells, reserve: from.Reserve}
		for _, b := range from.Buys {
			if m := e.catalog.MarketNamed(b.Market); m != nil && slices.Contains(s.Markets, m.ID) {
				r.buys, r.quote = append(r.buys, leg{market: m.ID, amount: b.Amount}), m.Quote
			}
		}
		for _, name := range from.Closes {
			if m := e.catalog.MarketNamed(name); m != nil {
				r.closes = append(r.closes, m.ID)
			}
		}
		if len(r.buys) == len(from.Buys) && len(r.buys) > 0 {
			e.setRebalance(s, r)
		}
	}
}
