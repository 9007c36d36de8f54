package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/internal/lives"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/strategy"
)

// player plays a life of lives.Life on a stage. It acts through public doors alone: the exchange's
// requests with the keys of the bot's owner and of the exchange's operator, and the requests of the
// bot's socket. Its looks are at the exchange's ledger, and at what the bot tells.
type player struct {
	*stage
	life   *lives.Life
	guard  *lives.Guard
	around *around
	begun  time.Time
	first  market.Time // the same, on the exchange's clock

	sleeps atomic.Int64            // nanoseconds
	steps  atomic.Int64            // the same, of the clock that is set
	lens   *falsifier              // between the exchange and the bot; nil: nothing
	begins *process                // the latest that has begun
	gone   map[string]*atomic.Bool // markets that the exchange lists no more

	simulated paperRecord // of a life on paper

	mu      turn // of what follows
	ledger  ledgerOfLife
	bot     body // nil: none trades
	grow    func() (body, error)
	calm    time.Duration  // before the end is judged
	asks    sync.WaitGroup // of the process's operator
	busy    bool           // the machine is at work: it stops, kills or starts the process
	stopped bool           // see lives.Look
	killed  bool           // no process has begun since one was killed
	lonely  []market.Time  // looks at which no bot was up, or the exchange did not answer it
	halted  bool           // the operator has halted the strategies, and not resumed them
	resumed time.Time      // when the operator has last resumed them
	newer   int64          // AtMS of the holdings beside a restored file, which they are newer than
	done    sync.WaitGroup
}

// ledgerOfLife is the exchange's record so far. Several goroutines read it.
type ledgerOfLife struct {
	mu     sync.Mutex
	from   map[string]market.Time
	trades map[uuid.UUID]bool
	sums   map[string][2]int64 // bought, sold, by market
	owner  map[uuid.UUID]bool  // the owner's orders
}

const lifeHead = `
[bot]
stop_within = "30s"
keep_orders = %t
[exchange]
base_url = "https://exchange.test/v2"
key_env = "KEY"
secret_env = "SECRET"
[poll]
tickers = "4s"
balances = "10s"
orders = "20s"
[stream]
lists = "20s"
[risk]
orders_per_minute = 40
max_data_age = "30s"
`

const lifeStrategy = `
[strategies.%s]
kind = %q
markets = [%s]
interval = "1m"
allocation = "4000"
operator_id = %d
params.seed = %d
`

// turn is a mutex for which a bubble's time goes on: a look has it while it waits for the bot.
type turn chan struct{}

func (m turn) Lock()   { m <- struct{}{} }
func (m turn) Unlock() { <-m }

// newPlayer sets the stage of a life.
func newPlayer(t *testing.T, l *lives.Life) *player {
	time.Sleep(l.Setup.Start)
	s := newStage(t, l.Seed, func(c *sandbox.Config) {
		c.Admin, c.History = "open", 10*time.Minute
		c.Accounts[0].Keys[1].Withdraw = true
		c.Assets = append(c.Assets, sandbox.Asset{Symbol: "ETH", Decimals: 8})
		c.Accounts[0].Balances["BTC"], c.Accounts[0].Balances["ETH"] = "0", "0"
		if l.Setup.Own != "" {
			c.Accounts[0].Balances["BTC"] = l.Setup.Own
		}
		c.Markets[0].Source = prices.Fixed("30000")
		c.Markets[0].Liquidity = sandbox.Liquidity{Levels: 1, HalfSpread: 5_000, Endless: true}
		second := c.Markets[0]
		second.Name, second.Source = "ETH-EUR", prices.Fixed("2000")
		c.Markets = append(c.Markets, second)
	})
	p := &player{stage: s, life: l, around: newAround(),
		mu: make(turn, 1), simulated: paperRecord{turn: make(turn, 1)}, gone: map[string]*atomic.Bool{},
		guard: lives.NewGuard(&l.Setup), begun: time.Now(), first: s.ex.Clock().Now(),
		ledger: ledgerOfLife{from: map[string]market.Time{},
			trades: map[uuid.UUID]bool{}, sums: map[string][2]int64{}, owner: map[uuid.UUID]bool{}}}
	s.hears = l.Setup.Feed
	if s.hears == "orders" {
		s.hears = overOrders
	}
	s.kinds, s.traffic.limits = append(s.kinds, holderKind, quitterKind, requoterKind), limits{}
	s.config = fmt.Sprintf(lifeHead, l.Setup.Keep)
	if l.Setup.Takes {
		s.edit("[bot]", "[bot]\nkeep_exits = false")
	}
	if l.Setup.Paper {
		s.onPaper()
	}
	for i, one := range l.Setup.Strategies {
		style, where, _ := strings.Cut(one, "@")
		kind, params := style, ""
		switch style {
		case "quitter", "requoter", "restless":
		case "saver":
			kind, s.kinds[0] = "restless", savingKind
		default:
			kind, params = "holder", fmt.Sprintf("params.style = %d\n", slices.Index(holderStyles, style))
		}
		s.config += fmt.Sprintf(lifeStrategy, fmt.Sprintf("s%d", i+1), kind,
			`"`+strings.ReplaceAll(where, "+", `","`)+`"`, 7+i, l.Seed+uint64(i))
		if l.Setup.Groups > 0 {
			s.config += fmt.Sprintf("cod_group_id = %d\n", 1+i%l.Setup.Groups)
		}
		s.config += params
	}
	p.grow, p.calm = p.growInside, 15*time.Minute
	s.now = func() time.Time { return time.Now().Add(-time.Duration(p.sleeps.Load())) }
	s.slept = func() time.Duration { return time.Duration(p.sleeps.Load() + p.steps.Load()) }
	if p.meets("candles") || p.meets("lie") {
		p.looksThrough()
	}
	if p.meets("delist") {
		p.canDelist()
	}
	return p
}

// play plays the life. The guard has the promises that were broken.
func (p *player) play() {
	defer p.abandon()
	p.begin()
	for i := range p.life.Events {
		e := &p.life.Events[i]
		p.looksUntil(p.begun.Add(e.At))
		p.happens(e)
	}
	p.looksUntil(p.around.until(time.Now().Add(45 * time.Second)))
	p.mend()
	calm := p.calm
	if !slices.ContainsFunc(p.life.Setup.Markets(), func(name string) bool { return !p.life.Setup.Bare(name) }) {
		calm /= 5 // no exit is awaited
	}
	p.rests(calm)
	p.end()
}

// rests looks for a while: until nothing has been amiss for quietFor, and in every eighth life as
// long as the bot has time.
func (p *player) rests(calm time.Duration) {
	for until, quiet := time.Now().Add(calm), time.Now(); time.Now().Before(until); {
		time.Sleep(20 * time.Second)
		p.restore(false)
		if look := p.look(); !look.Up || !p.guard.Quiet(look) {
			quiet = time.Now()
		}
		if p.seed%8 != 0 && time.Since(quiet) >= quietFor {
			return
		}
	}
}

const quietFor = 4 * time.Minute

// abandon ends what a failed check of the stage has left.
func (p *player) abandon() {
	if p.T.Failed() {
		p.traffic.on(nil)
		p.ex.Close()
		if b, is := p.bot.(*inside); is {
			p.traffic.cut(true)
			b.wire.die()
			_ = b.store.Close()
			b.stop()
		}
	}
}

// happens lets an event happen.
func (p *player) happens(e *lives.Event) {
	if room := rooms[e.Actor+" "+e.Verb]; room != nil {
		room(p, e)
		return
	}
	switch e.Actor {
	case "machine":
		p.machine(e)
	case "operator":
		p.operate(e)
	case "owner":
		p.touches(e)
	case "exchange":
		p.exchanges(e)
	case "time":
		p.moves(e)
	default:
		panic("unknown actor: " + e.String())
	}
}

// looksUntil looks again and again until a time. Changes of rules and statuses end on the way.
func (p *player) looksUntil(until time.Time) {
	for {
		p.restore(false)
		p.look()
		left := time.Until(until)
		if left <= 0 {
			return
		}
		time.Sleep(min(3*time.Second, left))
	}
}

// look is one look.
func (p *player) look() *lives.Look {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.died()
	open, ledger := p.record()
	look := &lives.Look{At: time.Since(p.begun), Up: p.bot != nil && !p.busy, Blind: p.around.isBlind(),
		Dead: p.bot == nil && p.killed, Stopped: p.stopped && p.bot == nil, Ledger: ledger}
	for i := range open {
		o := &open[i].Order
		grouped := 0
		if o.CodGroupID != 0 {
			grouped = 1
		}
		if p.ledger.owns(o.ClientOrderID) {
			look.Strange += grouped
			continue
		}
		look.Grouped += grouped
		look.Orders = append(look.Orders, o.ClientOrderID.String())
	}
	if p.life.Setup.Groups > 0 && (!look.Up || look.Blind) {
		p.lonely = append(p.lonely, p.ex.Clock().Now())
	}
	if look.Up {
		look.Told = p.tells()
	}
	p.guard.Look(look)
	return look
}

// died notes a process that ended by itself, and starts it again.
func (p *player) died() {
	if p.bot == nil || p.busy {
		return
	}
	dead := p.bot
	if err, ended := dead.ended(); ended {
		p.guard.Fail("P8", "%s: the process ended by itself: %v", time.Since(p.begun), err)
		p.busy, p.bot = true, nil
		p.done.Go(func() {
			_ = dead.end()
			p.begin()
			p.free()
		})
	}
}

// reads reads the exchange's ledger.
func (p *player) reads() map[string]lives.Ledger {
	_, ledger := p.record()
	return ledger
}

func (p *player) readsOf(from *bottest.Books, open []exchange.WireOrder) map[string]lives.Ledger {
	all, held := map[string]lives.Ledger{}, from.Holdings()
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	for _, m := range from.Units.Markets() {
		p.ledger.read(p, from, m)
		sums := p.ledger.sums[m.Name]
		l := lives.Ledger{Bought: sums[0], Sold: sums[1], Held: int64(held[m.Base]),
			Dust: dustOf(p.around.lastOf(m.Name))}
		for i := range open {
			o := &open[i].Order
			switch {
			case o.Market != m.ID || p.ledger.owner[o.ClientOrderID]:
			case o.Side == market.Sell:
				l.Sells, l.Resting = l.Sells+1, l.Resting+int64(o.AmountRemaining)
			default:
				l.Buys++
			}
		}
		all[m.Name] = l
	}
	return all
}

// dustOf is what cannot be sold for its value or its size.
func dustOf(last market.Price) int64 { return max(10_000, 5_50*100_000_000/int64(last)) }

// owns reports whether an order is the owner's.
func (l *ledgerOfLife) owns(id uuid.UUID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owner[id]
}

// read adds the new trades of a market. mu is held.
func (l *ledgerOfLife) read(p *player, from *bottest.Books, m *market.Market) {
	page, _, err := from.Auditor.Trades(context.Background(), m.ID, max(p.first, l.from[m.Name]))
	require.NoError(p.T, err)
	for i := range page {
		t := &page[i]
		l.from[m.Name] = max(l.from[m.Name], t.Time)
		if l.trades[t.ID] {
			continue
		}
		l.trades[t.ID] = true
		sums := l.sums[m.Name]
		if !l.owner[t.ClientOrderID] {
			sums[t.Side-market.Buy] += int64(t.Amount)
			l.sums[m.Name] = sums
		}
	}
}

// tells asks the bot for its status and its positions; nil: it does not answer.
func (p *player) tells() *lives.Told {
	var status operator.Status
	var positions operator.Positions
	var orders operator.Orders
	if p.bot.ask(operator.PathStatus, &operator.Request{}, &status) != nil ||
		p.bot.ask(operator.PathPositions, &operator.Request{}, &positions) != nil ||
		p.bot.ask(operator.PathOrders, &operator.Request{}, &orders) != nil {
		return nil
	}
	told := &lives.Told{Unprotected: map[string]int64{}, Unknown: map[string]int64{}, Positions: map[string]int64{},
		Open: status.OpenOrders, NotGuarded: len(status.NotGuarded)}
	for i := range orders.Orders {
		told.Orders = append(told.Orders, orders.Orders[i].ClientOrderID)
	}
	for _, u := range status.Unprotected {
		told.Unprotected[u.Market] += p.units(u.Market, u.Amount)
		if u.Cause == strategy.CauseUnknown.String() {
			told.Unknown[u.Market] += p.units(u.Market, u.Amount)
		}
	}
	for i := range positions.Positions {
		held := &positions.Positions[i]
		told.Positions[held.Market] += p.units(held.Market, held.Amount)
	}
	return told
}

func (p *player) units(name, amount string) int64 {
	q, err := p.Units.MarketNamed(name).ParseQty(amount)
	require.NoError(p.T, err)
	return int64(q)
}

// mend ends the faults, opens the markets, and gives back the rules; the owner's orders go, and
// after a restored backup the operator looks and resumes.
func (p *player) mend() {
	p.admin(http.MethodDelete, "faults", nil)
	p.restore(true)
	p.traffic.cut(false)
	p.traffic.on(nil)
	for _, o := range p.orders() {
		if p.ledger.owns(o.Order.ClientOrderID) {
			p.cancels(&o)
		}
	}
	p.writesOff()
	restored := false
	p.around.with(func(a *around) { a.blind, restored = time.Now().Add(30*time.Second), a.restored })
	if restored {
		p.operate(&lives.Event{Actor: "operator", Verb: "resume"})
	}
}

// end judges the end of the life and stops the bot.
func (p *player) end() {
	p.done.Wait()
	look, cancelled := p.look(), !p.around.covered()
	for range lives.Soon / (3 * time.Second) { // a purchase of this moment gets its exit in the next one
		if !look.Up || p.guard.Rests(look, cancelled) {
			break
		}
		time.Sleep(3 * time.Second)
		look = p.look()
	}
	if look.Up {
		p.guard.End(look, cancelled)
	} else {
		p.guard.Fail("P44", "%s: at the end no bot trades", look.At)
		return
	}
	p.timed()
	p.stops()
	for range 3 {
		p.look()
		time.Sleep(2 * time.Second)
	}
	require.NoError(p.T, p.Stored().Entries(0, func(e *journal.Entry) error {
		p.guard.Holds("P4", e.At > 0, "entry %d has no time: %+v", e.Number, e.Record)
		return nil
	}))
	if !p.around.restored && !p.around.unread && !slices.ContainsFunc(p.life.Events, touching) {
		if p.life.Setup.Paper {
			p.agreesOnPaper()
		} else {
			p.AgreeOnFile()
		}
		p.guard.Holds("P4", true, "")
	}
}

// timed wants each order that a timer has ended to be one of a bot that was not there.
func (p *player) timed() {
	if p.life.Setup.Groups == 0 {
		return
	}
	for id, o := range p.OrdersAtTheExchange() {
		if o.Order.RestatementReason == market.CancelOnDisconnect {
			at := o.Order.Updated
			p.guard.Holds("P29", slices.ContainsFunc(p.lonely, func(look market.Time) bool {
				return look > at.Add(-lives.Expiry-20*time.Second) && look <= at.Add(20*time.Second)
			}), "order %s: its timer has ended it at %s under a living bot", id, at)
		}
	}
}

// touching reports whether an event makes orders or moves that the bot's books do not name, or ends
// that were none, after which one strategy may have sold what another holds.
func touching(e lives.Event) bool {
	return e.Actor == "owner" && e.Verb != "cancel" || e.Verb == "direct" || e.Verb == "sell" || e.Verb == "lie"
}

// admin sends a request of the exchange's operator.
func (s *stage) admin(method, path string, members map[string]any) {
	body, err := json.Marshal(members)
	require.NoError(s.T, err)
	request := httptest.NewRequest(method, "/admin/"+path, bytes.NewReader(body))
	if members == nil {
		request = httptest.NewRequest(method, "/admin/"+path, nil)
	}
	request.RemoteAddr = "127.0.0.1:5000"
	request.Header.Set("Authorization", "Bearer open")
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	s.ex.ServeHTTP(answer, request)
	require.Equal(s.T, http.StatusOK, answer.Code, "%s %v: %s", path, members, answer.Body)
}

// byOwner sends a request with the owner's key. Its refusal is the owner's own affair.
func (p *player) byOwner(method, path string, members map[string]any) {
	var body []byte
	if method == http.MethodDelete {
		query := url.Values{}
		for name, value := range members {
			query.Set(name, fmt.Sprint(value))
		}
		path += "?" + query.Encode()
	} else {
		body, _ = json.Marshal(members)
	}
	now := p.ex.Clock().Now().Millis()
	request := httptest.NewRequest(method, "/v2"+path, bytes.NewReader(body))
	signer := rest.NewSigner(rest.NewSecret("secret of the auditor"))
	for name, value := range map[string]string{"Content-Type": "application/json",
		"Service-Access-Key": bottest.AuditorKey, "Service-Access-Timestamp": strconv.FormatInt(now, 10),
		"Service-Access-Signature": string(signer.AppendSignature(nil, now, method, "/v2"+path, body))} {
		request.Header.Set(name, value)
	}
	answer := httptest.NewRecorder()
	p.ex.ServeHTTP(answer, request)
	p.says("owner: %s %s %v: %d %s", method, path, members, answer.Code, answer.Body)
}

// says writes a line into the bot's log, among its own.
func (p *player) says(format string, args ...any) {
	text, _ := json.Marshal(fmt.Sprintf(format, args...))
	fmt.Fprintf(&p.log, "{\"time\":%q,\"life\":%s}\n", time.Since(p.begun), text)
}

// machine

// begin starts the bot and insists. Every third start has another allocation.
func (p *player) begin() {
	if p.starts%3 == 1 {
		p.reallocate()
	}
	for try := 1; ; try++ {
		began, err := p.grow()
		if err == nil {
			p.guard.Holds("P44", true, "")
			p.mu.Lock()
			p.bot, p.stopped, p.killed = began, false, false
			p.mu.Unlock()
			return
		}
		p.says("the bot does not start: %v", err)
		if strings.Contains(err.Error(), "EUR less than before") { // its money is in a position
			p.reallocate()
		}
		if try == 24 && !p.around.isBlind() {
			p.guard.Fail("P44", "%s: the bot does not start: %v", time.Since(p.begun), err)
		}
		if try == 24 {
			return
		}
		time.Sleep(5 * time.Second)
	}
}

// reallocate gives all strategies the other one of two allocations.
func (p *player) reallocate() {
	p.config = allocated.ReplaceAllStringFunc(p.config, func(was string) string {
		return map[string]string{`"4000"`: `"3600"`, `"3600"`: `"4000"`}[was]
	})
}

var allocated = regexp.MustCompile(`"4000"|"3600"`)

// take takes the process away from the operator, for the machine; nil: there is none, or the
// machine is at work.
func (p *player) take() body {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy || p.bot == nil {
		return nil
	}
	p.busy = true
	return p.bot
}

func (p *player) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy = false
}

// machine lets the machine act.
func (p *player) machine(e *lives.Event) {
	switch e.Verb {
	case "stop", "kill":
		if e.Span(0) > time.Minute {
			p.around.lasts(e.Span(0) + time.Minute)
		}
		p.done.Go(func() {
			if e.Verb == "kill" && p.kills() || e.Verb == "stop" && p.stops() {
				time.Sleep(e.Span(0))
				p.begin()
				p.free()
			}
		})
	case "power":
		p.done.Go(func() { p.failsPower(e) })
	case "killwrite":
		p.done.Go(func() { p.killsAt(e) })
	case "cut":
		p.around.blinds(e.Span(0))
		p.traffic.cut(true)
		p.done.Go(func() {
			time.Sleep(e.Span(0))
			p.traffic.cut(false)
		})
	case "sleep":
		p.around.blinds(10 * time.Second)
		p.traffic.cut(true)
		p.done.Go(func() {
			time.Sleep(time.Second)
			p.sleeps.Add(int64(e.Span(0)))
			time.Sleep(9 * time.Second)
			p.traffic.cut(false)
		})
	}
}

// stops stops the process in good order.
func (p *player) stops() bool { return p.partsBy(body.end, true) }

// partsBy stops the process by a call that returns what the process ended with. A process that has
// the time places the exits that are missing.
func (p *player) partsBy(end func(body) error, hasTime bool) bool {
	dead := p.take()
	if dead == nil {
		return false
	}
	_, covered := p.covers()
	asked := time.Now()
	err := end(dead)
	p.asks.Wait()
	took, after := time.Since(asked), p.reads()
	p.guard.Holds("P41", took < 50*time.Second, "%s: the stop took %s", time.Since(p.begun), took)
	wanted := covered && err == nil && !p.life.Setup.Takes && !p.around.isBlind() &&
		p.around.untouched(asked.Add(-time.Second))
	can := wanted && hasTime && p.around.usual() && !p.around.isStruck(0)
	for name, l := range after {
		if bare := p.guard.Bare(name, &l); wanted && !p.guard.Setup.Bare(name) && bare > l.Dust {
			said := p.log.Tail(40) // a process of its own writes elsewhere
			told := said == "" || strings.Contains(said, "no exit until the next start")
			p.guard.Holds("P7", told && !can, "%s %s: the stop left %d without its exit; told: %t",
				time.Since(p.begun), name, bare, told)
		}
		if !p.life.Setup.Keep {
			left := l.Buys
			if p.life.Setup.Takes {
				left += l.Sells
			}
			p.guard.Holds("P5", err != nil || left == 0,
				"%s %s: the stop ended with 0, and %d orders are open", time.Since(p.begun), name, left)
		}
	}
	p.says("stopped in %s: %v", took, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bot, p.stopped = nil, can
	return true
}

// kills kills the process.
func (p *player) kills() bool {
	dead := p.take()
	if dead == nil {
		return false
	}
	dead.kill()
	p.buries(dead)
	return true
}

func (p *player) buries(dead body) {
	dead.bury()
	p.asks.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bot, p.killed = nil, true
}

// failsPower lets the power fail in the next commit.
func (p *player) failsPower(e *lives.Event) {
	dead, _ := p.take().(*inside)
	if dead == nil {
		return
	}
	cut := dead.cut
	cut.mu.Lock()
	cut.armed = true
	cut.mu.Unlock()
	select {
	case <-cut.over:
	case <-time.After(time.Minute): // nothing was written
		cut.mu.Lock()
		if !cut.dead {
			cut.leave(cut.image())
		}
		cut.mu.Unlock()
	}
	p.buries(dead)
	time.Sleep(e.Span(0))
	p.begin()
	p.free()
}

// killsAt kills the process at its next write of a kind, if that comes within half a minute.
func (p *player) killsAt(e *lives.Event) {
	killed := make(chan body, 1)
	p.traffic.on(func(r *http.Request, about bool) {
		if commandOf(r).String() == e.Arg(0) && about == (e.Arg(1) == "before") && len(killed) == 0 {
			if dead := p.take(); dead != nil {
				dead.kill()
				killed <- dead
			}
		}
	})
	select {
	case dead := <-killed:
		p.traffic.on(nil)
		p.buries(dead)
		time.Sleep(e.Span(2))
		p.begin()
		p.free()
	case <-time.After(30 * time.Second):
		p.traffic.on(nil)
		if len(killed) > 0 {
			p.buries(<-killed)
			p.begin()
			p.free()
		}
	}
}

// operate sends a command of the operator, and holds its answer against the ledger.
func (p *player) operate(e *lives.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Verb == "direct" {
		p.around.with(func(a *around) { a.uncover = true })
		p.handOn()
		p.done.Go(p.switches)
		return
	}
	if p.bot == nil || p.busy {
		return
	}
	if of := p.bot; e.Verb == "reload" {
		p.asks.Go(func() { of.reloads(rand.New(rand.NewPCG(p.seed, uint64(e.At)))) })
		return
	}
	ask := &operator.Request{WaitMS: 30_000, By: "life", From: "test"}
	if e.Verb == "cancel" {
		open := p.own("")
		if len(open) == 0 {
			return
		}
		ask.Order = open[0].Order.ClientOrderID.String()
		p.handOn()
	}
	p.around.with(func(a *around) { a.uncover = a.uncover || e.Verb == "cancel-all" })
	p.halted = e.Verb == "halt" || e.Verb == "flatten" || p.halted && e.Verb != "resume"
	if e.Verb == "resume" {
		p.resumed = time.Now()
	}
	p.asks.Add(1)
	p.done.Add(1)
	go p.command(p.bot, "/"+e.Verb, ask)
}

// command waits for the answer of a command.
func (p *player) command(of body, path string, ask *operator.Request) {
	defer p.done.Done()
	before := p.reads()
	asked := time.Now()
	code, text := of.command(path, ask)
	p.asks.Done()
	p.says("bot %s: %d after %s: %s", path[1:], code, time.Since(asked), text)
	if took := time.Since(asked); took > 50*time.Second {
		p.guard.Fail("P41", "%s: bot %s took %s", time.Since(p.begun), path, took)
	}
	p.mu.Lock()
	same := p.bot == of
	p.mu.Unlock()
	if !same {
		return // its process has ended meanwhile
	}
	p.claims(path, ask, code, p.reads())
	time.Sleep(time.Minute + lives.Soon) // a Close that has failed tries again a minute later
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bot == of && !p.busy && path == operator.PathFlatten {
		if p.halted && p.resumed.Before(asked) { // nothing was bought meanwhile
			p.barer(before, asked)
			p.claims(path, ask, code, p.reads())
		}
	}
}

// claims holds what a command with exit code 0 says against the ledger.
func (p *player) claims(path string, ask *operator.Request, code int, ledger map[string]lives.Ledger) {
	if code != 0 {
		return
	}
	at := time.Since(p.begun)
	for name, l := range ledger {
		least, _ := p.guard.Position(name, &l)
		switch path {
		case operator.PathFlatten:
			p.guard.Holds("P24", least <= l.Dust*p.guard.Setup.In(name), "%s %s: flatten said 0, and %d is held", at,
				name, least)
			p.guard.Holds("P24", l.Buys+l.Sells == 0, "%s %s: flatten said 0, and %d orders are open", at, name,
				l.Buys+l.Sells)
		case operator.PathHalt:
			p.guard.Holds("P23", l.Buys == 0, "%s %s: halt said 0, and %d orders to buy are open", at, name, l.Buys)
		}
	}
	for _, o := range p.own("") {
		p.guard.Holds("P22", path != operator.PathCancel || o.Order.ClientOrderID.String() != ask.Order,
			"%s: cancel said 0, and the order is open", at)
	}
}

// barer wants no more without an exit than before a command that failed, if no other hand has taken
// exits away since.
func (p *player) barer(before map[string]lives.Ledger, asked time.Time) {
	if p.around.isBlind() || !p.around.usual() || !p.around.untouched(asked) || p.around.isStruck(time.Minute) {
		return // an exit was not taken, and the wait for the next attempt is a minute at most
	}
	for name, l := range p.reads() {
		was := before[name]
		if p.guard.Setup.Bare(name) {
			continue
		}
		p.guard.Holds("P18", p.guard.Bare(name, &l) <= p.guard.Bare(name, &was)+l.Dust,
			"%s %s: %d is held without an exit a minute after flatten, before it %d", time.Since(p.begun), name,
			p.guard.Bare(name, &l), p.guard.Bare(name, &was))
	}
}

// switches turns the kill switch without selling: bot cancel-all --direct.
func (p *player) switches() {
	log, err := OpenSwitchLog(filepath.Join(p.Folder, killswitch.LogFile))
	if errors.Is(err, killswitch.ErrBusy) {
		return // another switch is at work
	}
	require.NoError(p.T, err)
	s := &killswitch.Switch{Exchange: p.Auditor, Catalog: p.Units, Log: log, Operator: 7, Say: p.says,
		Own: func(o *market.Order) bool { return !p.ledger.owns(o.ClientOrderID) }}
	if err = s.Begin("bot cancel-all --direct", false); err == nil {
		err = s.Cancel(context.Background())
	}
	report, ended := s.End()
	p.says("bot cancel-all --direct: %v %+v", errors.Join(err, ended), report)
	require.NoError(p.T, log.Close())
}

// own lists the bot's open orders in a market; "": in all.
func (p *player) own(name string) []exchange.WireOrder {
	return slices.DeleteFunc(slices.Clone(p.orders()), func(r exchange.WireOrder) bool {
		return p.ledger.owns(r.Order.ClientOrderID) || name != "" && p.Units.Market(r.Order.Market).Name != name
	})
}

// handOn notes that another hand than the bot's acts on its orders or coins. mu is held.
func (p *player) handOn() {
	p.stopped = false
	p.around.with(func(a *around) { a.handed = time.Now() })
}

// touches lets the owner act on the bot's orders and coins, with a key of his own.
func (p *player) touches(e *lives.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Verb != "withdraw" && p.isGone(e.Arg(0)) {
		return // the exchange refuses it
	}
	p.handOn()
	switch e.Verb {
	case "cancel", "move", "resize":
		p.changes(e)
	case "deposit":
		amount := map[string]string{"EUR": "500", "BTC": "0.01"}[e.Arg(0)]
		p.admin(http.MethodPost, "deposit", map[string]any{"account": "bot", "symbol": e.Arg(0), "amount": amount})
	case "buy":
		p.places(e.Arg(0), "buy", e.Arg(1), "")
	default:
		p.takesCoins(e)
	}
}

// changes cancels or changes an exit of the bot.
func (p *player) changes(e *lives.Event) {
	sells := slices.DeleteFunc(p.own(e.Arg(0)), func(r exchange.WireOrder) bool { return r.Order.Side != market.Sell })
	if len(sells) == 0 {
		return
	}
	o, m := &sells[0].Order, p.Units.MarketNamed(e.Arg(0))
	members := map[string]any{"market": m.Name, "orderId": o.ExchangeID.String(), "operatorId": 99}
	percent, _ := strconv.Atoi(e.Arg(1))
	switch {
	case e.Verb == "cancel":
		p.cancels(&sells[0])
		return
	case e.Verb == "resize":
		members["amount"] = m.FormatQty(o.AmountRemaining * market.Qty(percent) / 100)
	case o.TriggerAmount != 0:
		members["triggerAmount"] = m.FormatPrice(moved(o.TriggerAmount, percent))
		if o.Price != 0 {
			members["price"] = m.FormatPrice(moved(o.Price, percent))
		}
	default:
		members["price"] = m.FormatPrice(moved(o.Price, percent))
	}
	p.byOwner(http.MethodPut, "/order", members)
}

// moved is a price so many percent away, on every tick of a life.
func moved(at market.Price, percent int) market.Price {
	return (at + at*market.Price(percent)/100) / 5000 * 5000
}

func (p *player) cancels(r *exchange.WireOrder) {
	if p.life.Setup.Paper {
		p.cancelsOnPaper(r.Order)
		return
	}
	p.byOwner(http.MethodDelete, "/order", map[string]any{"market": p.Units.Market(r.Order.Market).Name,
		"orderId": r.Order.ExchangeID.String(), "operatorId": 99})
}

// places places an order of the owner: at market, or at a price.
func (p *player) places(name, side, amount, at string) {
	p.placed++
	id := market.ClientOrderID(uuid.UUID{9}, p.placed)
	p.ledger.mu.Lock()
	p.ledger.owner[id] = true
	p.ledger.mu.Unlock()
	members := map[string]any{"market": name, "side": side, "orderType": "market", "amount": amount, "operatorId": 99,
		"clientOrderId": id.String()}
	if at != "" {
		members["orderType"], members["price"] = "limit", at
	}
	p.byOwner(http.MethodPost, "/order", members)
}

// takesCoins sells, holds or withdraws a part of what the bot has bought: its exits are cancelled
// first, where they hold that.
func (p *player) takesCoins(e *lives.Event) {
	m := p.Units.MarketNamed(e.Arg(0))
	l := p.reads()[m.Name]
	percent, _ := strconv.ParseInt(e.Arg(1), 10, 64)
	amount := market.Qty((l.Bought - l.Sold) * percent / 100)
	if amount > market.Qty(l.Dust) {
		p.takesAmount(m, amount, e.Verb)
	}
}

func (p *player) takesAmount(m *market.Market, amount market.Qty, verb string) {
	for _, o := range p.own(m.Name) {
		if o.Order.Side == market.Sell {
			p.cancels(&o)
		}
	}
	text := m.FormatQty(amount)
	switch verb {
	case "sell":
		p.places(m.Name, "sell", text, "")
	case "hold":
		p.places(m.Name, "sell", text, m.FormatPrice(moved(p.around.lastOf(m.Name), 40)))
	case "withdraw":
		address := "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"
		p.byOwner(http.MethodPost, "/withdrawal", map[string]any{"symbol": m.Name[:3], "amount": text,
			"address": address})
	}
}

// exchanges lets the exchange act.
func (p *player) exchanges(e *lives.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = false
	switch e.Verb {
	case "status":
		p.admin(http.MethodPost, "status", map[string]any{"market": e.Arg(1), "status": e.Arg(0)})
		p.around.with(func(a *around) { a.rules["status "+e.Arg(1)] = time.Now().Add(e.Span(2)) })
	case "rules":
		rule, value, _ := strings.Cut(e.Arg(0), "=")
		p.rule(e.Arg(1), rule, value)
		p.around.with(func(a *around) { a.rules[rule+" "+e.Arg(1)] = time.Now().Add(e.Span(2)) })
	case "cancel":
		p.handOn()
		p.admin(http.MethodPost, "cancelOrders", map[string]any{"market": e.Arg(0), "account": "bot"})
	case "fault":
		p.strikes(e)
	case "frames":
		p.around.blinds(e.Span(2) + 30*time.Second)
		f := map[string]any{"kind": e.Arg(0), "channel": e.Arg(1), "probability": 0.3, "until": e.Arg(2)}
		if e.Arg(0) == "delayFrame" {
			f["delay"] = "5s"
		}
		p.admin(http.MethodPut, "faults", map[string]any{"faults": []any{f}})
	}
}

// strikes lets a fault befall requests of the bot.
func (p *player) strikes(e *lives.Event) {
	kind, endpoint, long := e.Arg(0), strings.Replace(e.Arg(1), "/", " /", 1), e.Span(2)
	p.around.with(func(a *around) { a.struck = later(a.struck, time.Now().Add(long)) })
	f := map[string]any{"kind": kind, "endpoints": []string{endpoint}, "probability": 0.5, "until": e.Arg(2)}
	if private(endpoint) {
		f["key"] = bottest.BotKey
	}
	switch kind {
	case "error":
		f["code"] = 107
	case "html":
		f["code"] = 502
	case "lateSettlement":
		f["delay"] = "20s"
	case "delayRequest", "lateFill":
		f["delay"] = "4s"
	}
	if strings.HasPrefix(endpoint, http.MethodGet) || kind == "lateFill" || kind == "lateSettlement" {
		p.around.blinds(long)
	}
	p.admin(http.MethodPut, "faults", map[string]any{"faults": []any{f}})
}

// usual are the rules of a life's markets.
var usual = map[string]string{"minOrderInQuoteAsset": "5", "maxOrderInQuoteAsset": "1000000000", "tickSize": "1",
	"quantityDecimals": "8", "maxOpenOrders": "100"}

func (p *player) rule(name, rule, value string) {
	members := map[string]any{"market": name, rule: value}
	if n, err := strconv.Atoi(value); err == nil && (rule == "quantityDecimals" || rule == "maxOpenOrders") {
		members[rule] = n
	}
	p.admin(http.MethodPost, "rules", members)
}

// restore gives back the statuses and rules whose time is over, or all.
func (p *player) restore(all bool) {
	for _, key := range p.around.over(all) {
		rule, name, _ := strings.Cut(key, " ")
		switch {
		case rule == "gone":
			p.lists(name)
		case rule != "status":
			p.rule(name, rule, usual[rule])
		case !p.isGone(name):
			p.admin(http.MethodPost, "status", map[string]any{"market": name, "status": "trading"})
		}
	}
}

// moves moves a market's price, with a trade there.
func (p *player) moves(e *lives.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = false
	percent, _ := strconv.Atoi(e.Arg(1))
	m := p.Units.MarketNamed(e.Arg(0))
	to := moved(p.around.lastOf(m.Name), percent)
	p.around.with(func(a *around) { a.last[m.Name] = to })
	p.admin(http.MethodPost, "price", map[string]any{"market": m.Name, "price": m.FormatPrice(to), "amount": "0.01"})
}
