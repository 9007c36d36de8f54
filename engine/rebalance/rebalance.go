package rebalance

import (
	"slices"

	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
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

// Core is the engine as its rebalancing sees it.
type Core interface {
	port.Orders
	port.Strategies
	// Costs are the gate's assumptions about the costs of orders in a market.
	Costs(m market.ID) strategy.Costs
	// Free is the part of a strategy's position in a market that no open sell holds.
	Free(id market.StrategyID, m market.ID) market.Qty
	// ClosePart sells base that exits of brackets hold, or tells the strategy why not.
	ClosePart(id market.StrategyID, m market.ID, amount market.Qty, tag string)
	// RefusedPlan logs why the buys of a portfolio are not sent.
	RefusedPlan(id market.StrategyID, err error)
}

// Exits are the brackets and the Closes of positions.
type Exits interface {
	// Closing reports whether a Close is under way, or is about to begin.
	Closing(id market.StrategyID, m market.ID) bool
	// Closable is the base that a Close may sell.
	Closable(id market.StrategyID, m market.ID) market.Qty
	// Unsent is the base that Closes have not begun to sell.
	Unsent(id market.StrategyID, m market.ID) market.Qty
	// IsExit reports whether an order is an exit of a bracket.
	IsExit(id market.OrderID) bool
	// Watches are the prices and opens that the engine waits for, by market.
	Watches() []market.Watch
}

// Set is the rebalancing of all strategies of an engine. It is a plain value owned by the engine's
// goroutine.
type Set struct {
	core    Core
	exits   Exits
	catalog *market.Catalog
	clock   *market.Time // arrival of the current event
	account *state.Account
	gate    *risk.Gate
	kept    []*rebalance // by strategy; nil: none
	waiting int          // of kept, those that are not nil
	inStep  bool         // events have all candles of their instant
	command market.Command
}

// New is the rebalancing of an engine's strategies, of which there are a number. clock is the
// engine's. whole: each event has all candles that closed at its instant.
func New(core Core, exits Exits, catalog *market.Catalog, clock *market.Time, account *state.Account,
	gate *risk.Gate, strategies int, whole bool) *Set {
	return &Set{core: core, exits: exits, catalog: catalog, clock: clock, account: account, gate: gate,
		kept: make([]*rebalance, strategies), inStep: whole}
}

// Len is the number of strategies with buys that wait.
func (s *Set) Len() int { return s.waiting }

// Begin sells what a portfolio has too much of, and keeps the buys until these sells have ended. It
// returns why the portfolio is not traded at all.
func (s *Set) Begin(id market.StrategyID, p *strategy.Portfolio) error {
	plan, err := s.planned(id, p)
	if err == nil {
		err = s.gate.CheckRebalance(s.account, id, *s.clock, len(plan.sells), len(plan.buys))
	}
	if err != nil {
		return err
	}
	for _, m := range plan.kept {
		s.tellKept(id, m)
	}
	s.Drop(id)
	for _, sell := range plan.sells {
		if sell.closes {
			s.core.ClosePart(id, sell.market, sell.amount, strategy.TagRebalance)
		} else {
			s.placeLeg(id, sell, 0, false)
		}
	}
	s.keepBuys(id, &plan)
	return nil
}

// tellKept logs a market that a portfolio leaves as it is. That of a warm-up is a debug line.
func (s *Set) tellKept(id market.StrategyID, m market.ID) {
	log := s.core.Log(id)
	line, why := log.Info(), "it is halted, its price is late or unknown, or a Close is under way"
	if s.core.Cold(id, m) {
		line, why = log.Debug(), "warm-up: "+s.core.Lacks(id, m)
	}
	line.Str("market", s.catalog.Market(m).Name).
		Msg("rebalance: the market keeps its units: " + why)
}

// keepBuys keeps the buys of a plan, or sends them where nothing is left to wait for.
func (s *Set) keepBuys(id market.StrategyID, plan *legs) {
	if len(plan.buys) == 0 {
		return
	}
	r := &rebalance{at: *s.clock, buys: plan.buys, quote: plan.quote, reserve: plan.reserve,
		closes: s.closesOf(id, plan.quote)}
	for _, o := range s.account.Open(nil, id, 0) {
		if o.Type == market.TypeMarket && o.Side == market.Sell && s.catalog.Market(o.Market).Quote == r.quote {
			r.sells = append(r.sells, o.ID)
		}
	}
	if len(r.sells)+len(r.closes) == 0 {
		s.buy(id, r, false)
		return
	}
	s.set(id, r)
}

// set sets what a strategy keeps, nil for nothing, and the opens that it waits for.
func (s *Set) set(id market.StrategyID, r *rebalance) {
	if s.kept[id-1] != nil {
		s.waiting--
	}
	if s.kept[id-1] = r; r != nil {
		s.waiting++
	}
	s.core.Changed()
	watches := s.exits.Watches()
	for m := range watches {
		watches[m].Open = false
	}
	for _, r := range s.kept {
		if r == nil {
			continue
		}
		for _, b := range r.buys {
			watches[b.market].Open = true
		}
	}
}

// Drop drops the buys that a strategy keeps.
func (s *Set) Drop(id market.StrategyID) {
	if s.kept[id-1] != nil {
		s.set(id, nil)
	}
}

// Outdate drops the buys for which the next candle of the main interval has come.
func (s *Set) Outdate(candles []market.Candle) {
	for i, r := range s.kept {
		id := market.StrategyID(i + 1)
		if r != nil && slices.ContainsFunc(candles, func(c market.Candle) bool {
			return c.Interval == s.core.Main(id) && c.End() > r.at && slices.Contains(s.core.Markets(id), c.Market)
		}) {
			s.outdate(id)
		}
	}
}

// outdate drops the buys that a strategy keeps, and logs it.
func (s *Set) outdate(id market.StrategyID) {
	r := s.kept[id-1]
	s.core.Log(id).Warn().Int("sells", len(r.sells)+len(r.closes)).Int("buys", len(r.buys)).
		Msg("rebalance: the buys are dropped: the next candle has come, and some sells have not ended")
	s.Drop(id)
}

// Follow sends the buys that a strategy keeps once its sells have ended. Live, that may be after
// the end of the candle, before the next one has come.
//
//go:noinline
func (s *Set) Follow(id market.StrategyID) {
	r := s.kept[id-1]
	if r == nil {
		return
	}
	main := s.core.Main(id)
	switch {
	case s.buysWait(id, r):
	case !s.inStep && *s.clock >= main.End(main.Floor(r.at)):
		s.outdate(id)
	default:
		s.Drop(id)
		s.buy(id, r, true)
	}
}

// hasEnded reports whether an order has ended and all of its fills are known.
func (s *Set) hasEnded(id market.OrderID) bool { return s.account.Known(id).Over() }

// buy sends buys for the cash beyond the reserve, all smaller in proportion where it does not
// suffice. inPath lets them act where the path of a backtest's candles stands.
func (s *Set) buy(id market.StrategyID, r *rebalance, inPath bool) {
	cash, _ := s.account.Balance(id, r.quote)
	budget, total := max(0, cash-r.reserve), market.Money(0)
	costs := make([]market.Money, len(r.buys))
	for i, b := range r.buys {
		cost, err := s.cost(b)
		if err == nil {
			total, err = market.Add(total, cost)
		}
		if err != nil {
			s.core.RefusedPlan(id, err)
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
			s.placeLeg(id, b, money, inPath)
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
func (s *Set) placeLeg(id market.StrategyID, l leg, money market.Money, inPath bool) {
	c := &s.command
	*c = market.Command{Kind: market.CommandPlace, At: *s.clock}
	o := &c.Order
	o.Strategy, o.Market, o.Type, o.Tag = id, l.market, market.TypeMarket, strategy.TagRebalance
	o.TimeInForce, o.SelfTradePrevention = market.GTC, market.DecrementAndCancel
	if o.Side = market.Sell; money > 0 {
		o.Side, o.AmountQuote = market.Buy, money
	} else {
		o.Amount = l.amount
	}
	if _, err := s.core.Place(c, nil, inPath); err != nil {
		s.core.Refused(id, c, err)
	}
}

// cost is the price of a buy in money at the worst price, fee included.
func (s *Set) cost(b leg) (market.Money, error) {
	costs := s.core.Costs(b.market)
	return exchange.Cost(s.catalog.Market(b.market), costs.Buy, b.amount, costs.Taker)
}

// proceeds is the money from a sell at the worst price, less the fee.
func (s *Set) proceeds(l leg) (market.Money, error) {
	fees, spread := s.gate.Costs(l.market)
	offered, _ := s.account.BestPrice(l.market, market.Sell)
	m := s.catalog.Market(l.market)
	value, err := m.Value(spread.Met(market.Sell, offered, s.account.Last(l.market), m.TickSize), l.amount)
	if err == nil {
		value, err = value.MulRate(market.Whole - fees.Taker)
	}
	if err != nil {
		return 0, err
	}
	return value.FloorMoney(m.MoneyDrop() + market.RateDigits)
}
