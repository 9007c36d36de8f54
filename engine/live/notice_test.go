package live

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// teller is the account channel of a box. It may drop, double and delay each event, fall silent,
// and go down and up again. The lock of the box guards it.
type teller struct {
	box     *box
	chance  *rand.Rand
	faults  int // in a hundred events, of each kind
	to      chan exchange.Notice
	down    bool
	silent  bool
	told    int
	keep    []exchange.Notice // instead of telling them; nil: they are told
	keeping bool
}

// tell tells of a report as the exchange does: what entered first, then fills, then the order.
func (c *teller) tell(name uuid.UUID, ev *market.Event, entered bool) {
	order := *c.box.venue.Order(ev.Report.Order)
	order.ID, order.Strategy, order.FeePaid, order.ClientOrderID = 0, 0, market.Value{}, name
	if entered && ev.Report.Exec == market.ExecTrade {
		before := order
		before.Status, before.FilledAmount, before.FilledAmountQuote = market.StatusNew, 0, market.Value{}
		before.AmountRemaining = before.Amount
		c.event(exchange.Notice{Kind: exchange.NoticeOrder, Order: before, Exec: market.ExecNew})
	}
	for i := range ev.Fills {
		t := exchange.Trade{Fill: ev.Fills[i], ExchangeID: order.ExchangeID, ClientOrderID: name}
		t.Order, t.Strategy = 0, 0
		c.event(exchange.Notice{Kind: exchange.NoticeFill, Trade: t})
	}
	if !c.keeping && c.chance.IntN(4) == 0 {
		order.OnHold *= 2 // of another moment
	}
	c.event(exchange.Notice{Kind: exchange.NoticeOrder, Order: order, Exec: ev.Report.Exec})
}

// event tells of one event, or does not.
func (c *teller) event(n exchange.Notice) {
	switch {
	case c.keeping:
		c.keep = append(c.keep, n)
		return
	case c.down || c.silent || c.chance.IntN(100) < c.faults:
		return
	}
	c.told++
	for range 1 + btoi(c.chance.IntN(100) < c.faults) {
		after := time.Duration(c.chance.IntN(30)) * time.Millisecond
		if c.chance.IntN(100) < c.faults {
			after += time.Duration(c.chance.IntN(2000)) * time.Millisecond
		}
		c.later(after, n)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// later lets a notice arrive.
func (c *teller) later(after time.Duration, n exchange.Notice) {
	to := c.to
	time.AfterFunc(after, func() {
		n.At = boxNow()
		select {
		case to <- n:
		default:
			c.box.t.Error("nothing takes the notices")
		}
	})
}

// set brings the channel up or down.
func (c *teller) set(up bool) {
	c.box.mu.Lock()
	defer c.box.mu.Unlock()
	kind := exchange.NoticeDown
	if up {
		kind = exchange.NoticeUp
	}
	c.down = !up
	c.later(0, exchange.Notice{Kind: kind})
}

// trouble lets the channel go down and up, and fall silent, until a time.
func (c *teller) trouble(seed uint64, until time.Time) {
	chance := rand.New(rand.NewPCG(seed, 18)) // of its own goroutine
	for time.Now().Before(until) {
		time.Sleep(time.Duration(5+chance.IntN(40)) * time.Second)
		switch chance.IntN(3) {
		case 0:
			c.set(false)
			time.Sleep(time.Duration(chance.IntN(20)) * time.Second)
			c.set(true)
		case 1:
			c.hush(true)
			time.Sleep(time.Duration(chance.IntN(30)) * time.Second)
			c.hush(false)
		}
	}
}

func (c *teller) hush(silent bool) {
	c.box.mu.Lock()
	defer c.box.mu.Unlock()
	c.silent = silent
}

// listening gives a rig an account channel with faults.
func (r *rig) listening(seed uint64, faults int) {
	r.box.teller = &teller{box: r.box.box, chance: rand.New(rand.NewPCG(seed, 17)), faults: faults}
	r.begin()
	r.box.teller.set(true)
}

// Each seed is three minutes of a restless strategy whose answers race the events of the account
// channel. Requests, answers and events are lost; events are doubled, late and out of order; the
// channel falls silent, and goes down and up. Thousands of them:
//
//	go test ./engine/live -run Channel -seeds 5000
func TestNothingIsLostOrDoubledWhateverTheAccountChannelDoes(t *testing.T) {
	seeds := *lossySeeds
	if testing.Short() {
		seeds = 4
	}
	orders, told := 0, 0
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) {
			faults := []int{0, 5, 20}[seed%3]
			r := newRigOf(t, seed, newBoxOf(t, seed, []int{15, 0, 15, 5}[seed%4],
				[]market.Qty{1_00000000, 3000000}[seed%2]))
			r.listening(seed, faults)
			if faults > 0 {
				go r.box.teller.trouble(seed, time.Now().Add(2*time.Minute))
			}
			require.NoError(t, r.trade(seed, 3*time.Minute), "seed %d", seed)
			r.agree()
			for id, times := range r.journal.fills {
				require.LessOrEqual(t, times, 2, "fill %s: once, and once more with its fee", id)
			}
			require.Empty(t, r.journal.breached, "seed %d", seed)
			orders, told = orders+len(r.box.records), told+r.box.teller.told
			time.Sleep(time.Minute)
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d orders, %d events", orders, told)
	require.Greater(t, told, orders)
}

// Each seed is a bot that is killed again and again, while events arrive.
func TestABotThatIsKilledAmongEventsOfTheChannelGoesOn(t *testing.T) {
	seeds := *lossySeeds / 2
	if testing.Short() {
		seeds = 2
	}
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, seed, 10)
			r.listening(seed, 5)
			chance := rand.New(rand.NewPCG(seed, 11))
			for range 3 {
				time.AfterFunc(time.Duration(chance.IntN(60_000))*time.Millisecond, r.kill)
				require.ErrorIs(t, r.trade(chance.Uint64(), 2*time.Minute), errKilled, "seed %d", seed)
				r.box.teller.set(false)
				time.Sleep(time.Duration(chance.IntN(90_000)) * time.Millisecond)
				r.begin()
				r.box.teller.set(true)
			}
			require.NoError(t, r.trade(seed, time.Minute), "seed %d", seed)
			r.agree()
			time.Sleep(time.Minute)
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// hearing is a bot at work whose answers of the exchange are all lost: it knows nothing but what
// the account channel tells.
func hearing(t *testing.T, act func(*strategy.Desk)) *play {
	p := playing(t, func(*exchange.Intent) fate { return goesUnheard }, act)
	p.box.teller = &teller{box: p.box.box, chance: rand.New(rand.NewPCG(1, 1)), keeping: true}
	p.box.deafen("order")
	p.begin()
	p.run()
	p.tick(1)
	time.Sleep(20 * time.Millisecond) // the place arrives
	return p
}

// tellAll tells all that was kept, in an order, and clears it.
func (p *play) tellAll(order []int) {
	p.box.mu.Lock()
	kept := p.box.teller.keep
	p.box.teller.keep = nil
	p.box.mu.Unlock()
	for _, i := range order {
		n := kept[i]
		n.At = boxNow()
		p.box.teller.to <- n
	}
	synctest.Wait()
}

// books is what an account says of its order 1 and of its money.
type books struct {
	order    market.OrderState
	position market.Position
	money    [2]market.Money
}

func (p *play) books() (b books) {
	require.NoError(p.t, p.loop.Inspect(p.t.Context(), func(market.Time) {
		if own := p.account.Known(1); own != nil {
			b.order = own.OrderState
		}
		b.position = p.account.Position(1, 1)
		b.money = [2]market.Money{p.account.Total(1).Total, p.account.Total(2).Total}
	}))
	return b
}

// The events of an order's life arrive in any order, some of them twice: the books are those of
// their true order, and of a naive sum of the fills.
func TestEventsFoldToTheSameBooksInAnyOrderOfArrival(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 4
	}
	lives := map[string]struct {
		amount market.Qty
		at     market.Price   // 0: a market order
		moves  []market.Price // of the market
	}{
		"taker of three levels": {2_50000000, 0, nil},
		"filled in part":        {3_00000000, 101_00, nil},
		"filled in two moments": {3_00000000, 101_00, []market.Price{99_00}},
		"filled at once":        {12500000, 80_00, []market.Price{70_00}},
	}
	for name, life := range lives {
		var want books
		for seed := range seeds {
			synctest.Test(t, func(t *testing.T) {
				p := hearing(t, func(d *strategy.Desk) {
					var options []strategy.Option
					if life.at != 0 {
						options = append(options, strategy.At(life.at))
					}
					_, err := d.In(1).Buy(strategy.Amount(life.amount), options...)
					require.NoError(t, err)
				})
				for _, price := range life.moves {
					p.box.move(price)
				}
				chance := rand.New(rand.NewPCG(seed, 5))
				p.box.mu.Lock()
				order := chance.Perm(len(p.box.teller.keep))
				p.box.mu.Unlock()
				require.GreaterOrEqual(t, len(order), 3, name)
				if seed == 0 {
					slices.Sort(order)
				} else {
					order = append(order, order[chance.IntN(len(order))])
				}
				p.tellAll(order)
				p.box.deafen("")
				p.tick(8)
				got := p.books()
				if seed == 0 {
					want = got
					require.Equal(t, p.naive(), got, name)
				}
				require.Equal(t, want, got, "%s: seed %d, %v", name, seed, order)
				require.Empty(t, p.journal.breached, "%s: seed %d, %v", name, seed, order)
				p.end()
				p.agree()
			})
		}
	}
}

// naive is the books that follow from what the exchange has, summed up one by one.
func (p *play) naive() (b books) {
	p.box.mu.Lock()
	defer p.box.mu.Unlock()
	m := p.box.catalog.Market(1)
	for _, r := range p.box.records {
		if b.order = r.Order.OrderState; r.Order.Done() {
			b.order = market.OrderState{} // the account has forgotten it
		}
		for i := range r.Fills {
			f := &r.Fills[i]
			value, err := m.Value(f.Price, f.Amount)
			require.NoError(p.t, err)
			cost, err := value.Add(f.Fee)
			require.NoError(p.t, err)
			b.position.Amount += f.Amount
			b.position.Cost, err = b.position.Cost.Add(cost)
			require.NoError(p.t, err)
			b.position.Fees, err = b.position.Fees.Add(f.Fee)
			require.NoError(p.t, err)
			b.position.Opened = r.Fills[0].Time
		}
	}
	for i, asset := range p.box.catalog.Assets() {
		b.money[i] = p.box.venue.Balance(asset.ID).Total
	}
	return b
}
