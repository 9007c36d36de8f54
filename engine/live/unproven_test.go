package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// overSocket lets the answers to writes come over a socket, changed by lie.
func (p *play) overSocket(lie func(*exchange.WireOrder)) {
	p.box.mu.Lock()
	defer p.box.mu.Unlock()
	p.box.bySocket = func(r *exchange.WireOrder) {
		r.BySocket = true
		if lie != nil {
			lie(r)
		}
	}
}

func buyAtMarket(d *strategy.Desk) { _, _ = d.In(1).Buy(strategy.Amount(12500000)) }

// The fills in the answer to a buy over a socket wait for REST, as those of an event do: until then
// the order is open, counts against every limit and holds its money.
func TestFillsInASocketsAnswerAreBookedWhenTheExchangeConfirmsThem(t *testing.T) {
	for name, act := range map[string]func(*strategy.Desk){"at market": buyAtMarket, "crossing limit": bid(102_00),
		"for money": func(d *strategy.Desk) { _, _ = d.In(1).Buy(strategy.Money(90_00)) }} {
		synctest.Test(t, func(t *testing.T) {
			p := playing(t, nil, act)
			p.overSocket(nil)
			p.box.deafen("order")
			p.run()
			p.tick(5)
			own, open := p.own(1)
			require.True(t, open, name)
			require.Equal(t, state.Open, own.State, name)
			require.Zero(t, p.books().position, "%s: REST has not said so", name)
			require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) {
				require.Equal(t, 1, p.account.OpenBy(1), "max_open_orders counts it")
				require.Positive(t, p.account.Total(1).Held, "its money is held")
				require.False(t, p.loop.quiet(), "no balance is compared meanwhile")
				require.NoError(t, p.account.Check())
			}))
			p.box.deafen("")
			p.tick(8)
			require.Equal(t, p.naive(), p.books(), name)
			require.Equal(t, 1, p.s.fills, name)
			require.NotContains(t, p.s.heard, "unknown place", name)
			p.end()
			p.agree()
		})
	}
}

// A false end or fill in such an answer is not booked, and sets the stream aside; the third within
// a minute halts the strategy.
func TestAFalseEndOrFillInASocketsAnswerIsNotBookedAndSetsTheStreamAside(t *testing.T) {
	for name, lie := range map[string]func(r *exchange.WireOrder){
		"canceled": func(r *exchange.WireOrder) { r.Order.Status, r.Order.OnHold = market.StatusCanceled, 0 },
		"expired":  func(r *exchange.WireOrder) { r.Order.Status, r.Order.OnHold = market.StatusExpired, 0 },
		"filled": func(r *exchange.WireOrder) {
			o := &r.Order
			f := market.Fill{ID: uuid.New(), Order: o.ID, Market: 1, Side: o.Side, Price: o.Price, Amount: o.Amount,
				Settled: true, FeeCurrency: 1, Time: boxNow()}
			r.Fills = []market.Fill{f}
			o.Status, o.FilledAmount, o.AmountRemaining, o.OnHold = market.StatusFilled, o.Amount, 0, 0
			o.FilledAmountQuote = market.ValueOf(int64(f.Price) * int64(f.Amount))
		},
	} {
		for _, update := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				acts := []func(*strategy.Desk){bid(80_00), nil, nil, bid(80_00), nil, nil, bid(80_00)}
				if update {
					acts = []func(*strategy.Desk){bid(80_00), nil, nil, move(79_00), nil, nil, move(78_00), nil, nil,
						move(77_00)}
				}
				p := playing(t, nil, acts...)
				var aside []time.Duration
				p.loop.SetAside = func(long time.Duration) { aside = append(aside, long) }
				if !update {
					p.overSocket(lie)
				}
				p.run()
				if update {
					p.tick(3)
					p.overSocket(lie)
				}
				times := 0
				for range falseTillHalt {
					require.Empty(t, p.haltedNow(), name)
					p.tick(3)
					times++
					require.Len(t, aside, times, "%s: REST has denied it", name)
					require.Zero(t, p.books().position, name)
					require.Zero(t, p.s.fills, name)
					if times == falseTillHalt {
						break // the halt cancels
					}
					require.NotContains(t, p.s.heard, "canceled", name)
					_, open := p.own(1)
					require.True(t, open, name)
				}
				require.Equal(t, []market.StrategyID{1}, p.haltedNow(), "%s: the third within a minute", name)
				p.overSocket(nil)
				p.end()
				p.agree()
			})
		}
	}
}

// The answer to a query says that a resting order was cancelled, and the bot has not cancelled it.
// Where a list shows it, it stays in the books; where none does, it has ended.
func TestAnEndThatNothingAsksForIsProvenByAList(t *testing.T) {
	for _, ended := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := playing(t, nil, bid(80_00))
			p.run()
			p.tick(3)
			p.box.mu.Lock()
			p.box.tamper = func(r *exchange.WireOrder) {
				r.Order.Status, r.Order.OnHold, r.Order.Updated = market.StatusCanceled, 0, boxNow()
			}
			p.box.mu.Unlock()
			if ended {
				p.box.hide("open")
			}
			require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) { p.loop.queryOf(1).soon(p.loop.now) }))
			p.tick(5)
			_, open := p.own(1)
			require.Equal(t, !ended, open)
			p.box.mu.Lock()
			p.box.tamper = nil
			p.box.mu.Unlock()
			p.box.hide()
			if ended {
				p.stop()
				require.Error(t, <-p.done, "both were false")
				return
			}
			p.tick(120)
			require.NotContains(t, p.s.heard, "canceled")
			require.Empty(t, p.journal.remarks)
			p.end()
			p.agree()
		})
	}
}

// Queries say on and on that an order was cancelled, and lists show it: what is true stays unknown,
// and not in silence. Where one query agrees with the lists, the five minutes begin anew.
func TestAnEndThatListsDenyOnAndOnHaltsTheStrategy(t *testing.T) {
	canceled := func(r *exchange.WireOrder) {
		r.Order.Status, r.Order.OnHold, r.Order.Updated = market.StatusCanceled, 0, boxNow()
	}
	synctest.Test(t, func(t *testing.T) {
		p := playing(t, nil, bid(80_00))
		lie := func(lie func(*exchange.WireOrder)) {
			p.box.mu.Lock()
			p.box.tamper = lie
			p.box.mu.Unlock()
			require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) { p.loop.queryOf(1).soon(p.loop.now) }))
		}
		p.run()
		p.tick(3)
		lie(canceled)
		p.tick(4 * 60)
		lie(nil)
		p.tick(3)
		lie(canceled)
		p.tick(4*60 + 30)
		require.Empty(t, p.haltedNow())
		p.tick(100)
		require.Equal(t, []market.StrategyID{1}, p.haltedNow())
		why, _ := p.loop.Engine.Halted(1)
		require.Equal(t, "for five minutes the exchange has said that order 1 is canceled, and has listed it as open: "+
			"it counts as open; look at the exchange, then bot resolve 1", why.Reason)
		require.Contains(t, p.journal.concluded, "not booked; halted")
		lie(nil)
		p.end()
		p.agree()
	})
}

// A place has no answer, no query finds its order, and its trades are there: the exchange keeps
// trades longer than orders. Its fill moves the position at once, and the order does not stay
// `sent` for good.
func TestAnOrderOfWhichTheExchangeKeepsTheTradesAloneEndsWithThem(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := playing(t, first(market.CommandPlace, goesUnheard), buyAtMarket)
			p.box.hide("order")
			if restarted {
				time.AfterFunc(1500*time.Millisecond, p.kill)
				require.ErrorIs(t, p.trade(1, 20*time.Second), errKilled)
				p.s = &actor{}
				p.player = p.s
				p.begin()
			}
			p.run()
			p.tick(80)
			require.Equal(t, 1, p.s.fills, "restarted: %t", restarted)
			p.tick(5 * 60)
			_, known := p.known(1)
			require.False(t, known, "restarted: %t", restarted)
			require.Equal(t, 1, p.s.fills)
			require.Contains(t, p.journal.remarks, "gone: order 1")
			p.end()
			p.agree()
		})
	}
}

// The account has forgotten an order that was said to have ended while an update of it was under
// way; the answer to the update tells of a fill. The fill is booked where it moves the position.
func TestAFillInTheAnswerToAWriteOfAForgottenOrderIsBookedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fooled(t)
		p.box.move(70_00)
		p.box.mu.Lock()
		var record exchange.WireOrder
		for _, r := range p.box.records {
			record = *r
		}
		p.box.mu.Unlock()
		require.Len(t, record.Fills, 1)
		require.NoError(t, p.loop.Do(t.Context(), func(market.Time) []market.Command {
			late := record
			late.Order.ID = 1
			late.Fills = append([]market.Fill(nil), record.Fills...)
			late.Fills[0].Order = 1
			update := market.Command{Kind: market.CommandUpdate, Order: late.Order}
			p.loop.answered(&outgoing{command: update}, late, nil)
			require.Empty(t, p.journal.fills, "a fill that moves no position is not booked")
			return nil
		}))
		p.tick(3)
		require.Equal(t, 1, p.s.fills)
		require.Equal(t, market.Qty(12500000), p.books().position.Amount)
		for _, times := range p.journal.fills {
			require.Equal(t, 1, times)
		}
		p.end()
		p.agree()
	})
}

// The refusal of a place over a socket counts when REST does not find the order. Until then the
// order counts against every limit, and the strategy hears nothing.
func TestARefusalOverASocketCountsWhenTheExchangeDoesNotFindTheOrder(t *testing.T) {
	for name, act := range map[string]func(*strategy.Desk){"resting": bid(80_00), "at market": buyAtMarket} {
		synctest.Test(t, func(t *testing.T) {
			p := playing(t, first(market.CommandPlace, isRefused), act)
			p.overSocket(nil)
			p.box.deafen("order")
			p.run()
			p.tick(5)
			own, open := p.own(1)
			require.True(t, open, name)
			require.Equal(t, state.Sent, own.State, name)
			require.Empty(t, p.s.heard, name)
			require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) {
				require.Equal(t, 1, p.account.OpenBy(1))
				require.Positive(t, p.account.Total(1).Held)
			}))
			p.box.deafen("")
			p.tick(8)
			_, open = p.own(1)
			require.False(t, open, name)
			require.Equal(t, []string{"rejected place"}, p.s.heard, name)
			require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) {
				require.Empty(t, p.loop.ChannelAside())
			}))
			p.end()
			p.agree()
		})
	}
}

// The exchange has carried the place out: its order is booked within a second, the strategy is
// never told of a refusal, and the third within a minute halts it.
func TestAFalseRefusalOverASocketIsNotBelieved(t *testing.T) {
	for name, c := range map[string]struct {
		act   func(*strategy.Desk)
		fills int
	}{"resting": {bid(80_00), 0}, "at market": {buyAtMarket, 1}, "crossing limit": {bid(102_00), 1}} {
		synctest.Test(t, func(t *testing.T) {
			p := playing(t, first(market.CommandPlace, isDenied), c.act)
			var aside []time.Duration
			p.loop.SetAside = func(long time.Duration) { aside = append(aside, long) }
			p.overSocket(nil)
			p.run()
			p.tick(3)
			_, open := p.own(1)
			require.Equal(t, c.fills == 0, open, name)
			require.Equal(t, c.fills, p.s.fills, name)
			require.NotContains(t, p.s.heard, "rejected place", name)
			require.Len(t, aside, 1, name)
			require.Equal(t, p.naive(), p.books(), name)
			p.end()
			p.agree()
		})
	}
	synctest.Test(t, func(t *testing.T) {
		deny := func(i *exchange.Intent) fate {
			if i.Command == market.CommandPlace {
				return isDenied
			}
			return arrives
		}
		p := playing(t, deny, bid(80_00), nil, nil, bid(80_00), nil, nil, bid(80_00))
		p.overSocket(nil)
		p.run()
		p.tick(12)
		require.Equal(t, []market.StrategyID{1}, p.haltedNow(), "the third within a minute")
		p.end()
		p.agree()
	})
}

// refusedWrite is a resting buy at 80 whose update to 79, or whose cancel, a socket refuses.
type refusedWrite struct {
	kind    market.CommandKind
	act     func(*strategy.Desk)
	carried func(*state.Order, bool) bool // the write has taken effect
}

var refusedWrites = map[string]refusedWrite{
	"update": {market.CommandUpdate, move(79_00), func(o *state.Order, open bool) bool {
		return open && o.Price == 79_00 && o.InFlight == 0
	}},
	"cancel": {market.CommandCancel, cancel, func(_ *state.Order, open bool) bool { return !open }},
}

var refusals = map[string]error{"halted": exchange.ErrCode(exchange.CodeHalted),
	"order not found": exchange.ErrCode(exchange.CodeNotFound)}

// eachRefusedWrite plays an update and a cancel with each refusal and with a fate.
func eachRefusedWrite(t *testing.T, becomes fate, play func(name string, w *refusedWrite, code error, p *play)) {
	for name, w := range refusedWrites {
		for said, code := range refusals {
			synctest.Test(t, func(t *testing.T) {
				p := playing(t, first(w.kind, becomes), bid(80_00), nil, nil, w.act)
				p.box.refusal = code
				p.overSocket(nil)
				p.run()
				p.tick(3)
				play(name+", "+said, &w, code, p)
				p.end()
				p.agree()
			})
		}
	}
}

// The refusal of an update or a cancel over a socket counts when REST shows that the order is as it
// was, a second after it at the earliest. Until then its command is under way.
func TestARefusedUpdateOrCancelOverASocketCountsWhenTheExchangeShowsTheOrderUnchanged(t *testing.T) {
	eachRefusedWrite(t, isRefused, func(name string, w *refusedWrite, _ error, p *play) {
		p.box.deafen("order")
		p.tick(5)
		own, open := p.own(1)
		require.True(p.t, open, name)
		require.Equal(p.t, w.kind, own.InFlight, "%s: REST has not answered", name)
		require.NotContains(p.t, p.s.heard, "rejected "+w.kind.String(), name)
		p.box.deafen("")
		p.tick(12)
		own, open = p.own(1)
		require.True(p.t, open, name)
		require.Zero(p.t, own.InFlight, name)
		require.Equal(p.t, market.Price(80_00), own.Price, name)
		require.Contains(p.t, p.s.heard, "rejected "+w.kind.String(), name)
		require.NoError(p.t, p.loop.Inspect(p.t.Context(), func(market.Time) {
			require.Empty(p.t, p.loop.ChannelAside(), name)
		}))
	})
}

// The refusal is false, or another command's: the write has been carried out, or will be in half a
// second. The books have what the exchange has, and the strategy hears of no refusal but that of a
// cancel whose order was not found: someone else may have ended that.
func TestAFalseRefusalOfAnUpdateOrCancelOverASocketIsNotBelieved(t *testing.T) {
	for _, becomes := range []fate{isDenied, isDeniedSoon} {
		eachRefusedWrite(t, becomes, func(name string, w *refusedWrite, code error, p *play) {
			p.tick(4)
			own, open := p.own(1)
			require.True(p.t, w.carried(&own, open), name)
			var aside string
			require.NoError(p.t, p.loop.Inspect(p.t.Context(), func(market.Time) { aside = p.loop.ChannelAside() }))
			if w.kind == market.CommandCancel && isNotFound(code) {
				require.Empty(p.t, aside, name)
				return
			}
			require.NotContains(p.t, p.s.heard, "rejected "+w.kind.String(), name)
			require.NotEmpty(p.t, aside, "%s: REST has denied it", name)
		})
	}
}

// The refusal comes five seconds before the write does: it was believed, and the books have what
// the exchange has all the same.
func TestAWriteThatComesLongAfterItsRefusalIsFound(t *testing.T) {
	eachRefusedWrite(t, isDeniedLate, func(name string, w *refusedWrite, _ error, p *play) {
		p.tick(4)
		own, open := p.own(1)
		require.True(p.t, open, name)
		require.Equal(p.t, market.Price(80_00), own.Price, name)
		p.tick(75)
		own, open = p.own(1)
		require.True(p.t, w.carried(&own, open), name)
	})
}

// A bot dies before REST has decided about a refusal: its next start asks.
func TestARefusalOverASocketThatWasNotDecidedIsAskedForAtTheNextStart(t *testing.T) {
	for _, becomes := range []fate{isRefused, isDenied} {
		eachRefusedWrite(t, becomes, func(name string, w *refusedWrite, _ error, p *play) {
			p.box.deafen("order")
			p.tick(3)
			p.kill()
			p.stop()
			require.ErrorIs(p.t, <-p.done, errKilled, name)
			p.box.deafen("")
			p.s = &actor{}
			p.player = p.s
			p.begin()
			p.run()
			p.tick(80)
			own, open := p.own(1)
			if becomes == isDenied {
				require.True(p.t, w.carried(&own, open), name)
				return
			}
			require.True(p.t, open, name)
			require.Zero(p.t, own.InFlight, name)
			require.Equal(p.t, market.Price(80_00), own.Price, name)
		})
	}
}
