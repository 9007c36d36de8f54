package rest

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// LedgerConfig configures a Ledger. Now and After are required.
type LedgerConfig struct {
	Now func() market.Time // the exchange's time
	// After calls f once in a goroutine of its own, like time.AfterFunc.
	After func(d market.Duration, f func()) (stop func() bool)

	Prefix        string // brand of the headers; "": Service
	PerKey, PerIP int    // points a minute until an answer says otherwise; 0: 1000
	// KeyBan and IPBan follow the minute of a ban without an end; 0: 1 and 15 minutes.
	KeyBan, IPBan market.Duration
	Margin        market.Duration // how wrong Now may be; 0: 250 ms
	// Warn is called without a lock held, in any goroutine; nil: not called.
	Warn func(Warning)
}

// WeightBudget is the budget of weight points: one of the key and one of the IP address of requests
// without a key (specification 8). It grants requests while the exchange's minute has points left:
// urgent lanes first, within a lane in order of arrival, and each lane only down to the points
// reserved for more urgent ones. A ban, code 105, stops all requests of the key or the address
// until it ends; a page that is no answer of the exchange stops them for seconds. The budget is
// safe for concurrent use and starts no goroutine except through After.
//
// Known limitation: points that others spend with the same key or address show only with the next
// answer.
type WeightBudget struct {
	config LedgerConfig
	names  rateHeaders

	mu        sync.Mutex // guards everything below
	key, ip   allowance
	weights   weights
	warnings  []Warning
	timerAt   market.Time // time of the timer; 0: there is none
	stopTimer func() bool
}

// NewWeightBudget returns a budget with all points.
func NewWeightBudget(config LedgerConfig) *WeightBudget {
	setDefault(&config.Prefix, "Service")
	setDefault(&config.PerKey, 1000)
	setDefault(&config.PerIP, 1000)
	setDefault(&config.KeyBan, time.Minute)
	setDefault(&config.IPBan, 15*time.Minute)
	setDefault(&config.Margin, 250*time.Millisecond)
	l := &WeightBudget{config: config, names: rateHeadersOf(config.Prefix),
		weights: weights{known: map[weightKey]int{}, samples: map[weightKey]weightSample{},
			warned: map[weightKey]bool{}}}
	l.key = allowance{payer: PaidByKey, margin: config.Margin, limit: config.PerKey}
	l.ip = allowance{margin: config.Margin, limit: config.PerIP}
	return l
}

func setDefault[T comparable](field *T, value T) {
	if *field == *new(T) {
		*field = value
	}
}

func (l *WeightBudget) allowance(of Payer) *allowance {
	if of == PaidByKey {
		return &l.key
	}
	return &l.ip
}

// unlock releases the mutex, then calls Warn.
func (l *WeightBudget) unlock() {
	warnings := l.warnings
	l.warnings = nil
	l.mu.Unlock()
	if l.config.Warn == nil {
		return
	}
	for _, w := range warnings {
		l.config.Warn(w)
	}
}

// SetOpenOrders sets the number of open orders: as many points are reserved for their cancels, and
// as many for the confirmations.
func (l *WeightBudget) SetOpenOrders(orders int) {
	l.mu.Lock()
	defer l.unlock()
	l.key.orders = max(0, orders)
	l.dispatch(&l.key)
}

// Begin waits until a request may be sent. Its errors: ctx's, or that the lane may never spend so
// many points. endpoint ("GET /ordersOpen") lets the budget learn a weight; empty: it learns none.
// weight is the table's; a learnt weight replaces it. After each call without an error, call done
// once: with the answer's headers, status and body; with nil, status and body where the answer came
// over a socket, which has no headers; or with nil and 0 where there was none.
func (l *WeightBudget) Begin(ctx context.Context, lane Lane, endpoint string, weight int,
	payer Payer) (done func(h http.Header, status int, body []byte), err error) {
	t, err := l.enter(ctx, lane, endpoint, weight, payer)
	if err != nil {
		return nil, err
	}
	return func(h http.Header, status int, body []byte) { l.leave(t, h, status, body) }, nil
}

// ticket is one granted request.
type ticket struct {
	weightKey
	allowance    *allowance
	weight       int
	alone        bool        // no other request was running when it was granted
	sent         uint64      // of the allowance when granted, itself included
	used         int         // of the allowance when granted
	countedReset market.Time // likewise
}

func (l *WeightBudget) enter(ctx context.Context, lane Lane, endpoint string, weight int, payer Payer) (*ticket,
	error) {
	if lane < LastCancel || lane > MarketData || weight < 0 {
		panic(fmt.Sprintf("rest: lane %d, weight %d: no such request", lane, weight))
	}
	if err := ctx.Err(); err != nil {
		return nil, waitError(lane, err)
	}
	a := l.allowance(payer)
	l.mu.Lock()
	kind := weightKey{endpoint, weight}
	w := &waiter{weightKey: kind, lane: lane, weight: l.weights.of(kind), ready: make(chan struct{})}
	a.queue[lane] = append(a.queue[lane], w)
	l.dispatch(a)
	l.unlock()
	select {
	case <-w.ready:
		return w.ticket, w.err
	case <-ctx.Done():
	}
	l.withdraw(a, w)
	return nil, waitError(lane, ctx.Err())
}

func waitError(lane Lane, err error) error {
	return fmt.Errorf("wait for points of the weight budget (%s): %w", lane, err)
}

// leave books an answer, or that there was none.
func (l *WeightBudget) leave(t *ticket, h http.Header, status int, body []byte) {
	l.mu.Lock()
	defer l.unlock()
	now, a := l.config.Now(), t.allowance
	a.open -= t.weight
	a.roll(now)
	if status == http.StatusOK {
		a.holds = 0
	}
	switch r, ok := l.names.read(h, now); {
	case banned(status, body):
		l.ban(a, h, status, body, now)
	case foreignPage(status, body):
		l.hold(a, h, status, now)
		a.addStray(t.weight, now)
	case h == nil && status != 0:
		a.count(t.weight, now)
	case ok:
		a.observe(r, t.sent, now)
		l.warnReset(a, r, now)
		if t.alone && t.sent == a.sent && t.countedReset == r.reset && a.countedReset == r.reset {
			l.learn(t, r.limit-r.remaining-t.used, now)
		}
	default:
		a.addStray(t.weight, now)
	}
	l.dispatch(a)
}

// Left returns the points left to the key, or the IP address, in the minute, and when it ends.
func (l *WeightBudget) Left(of Payer) (points int, reset market.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.allowance(of)
	a.roll(l.config.Now())
	return max(0, a.limit-a.spent()), a.reset
}

// BannedUntil returns when a ban ends; 0 where there is none.
func (l *WeightBudget) BannedUntil(of Payer) market.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.allowance(of); l.config.Now() < a.banned {
		return a.banned
	}
	return 0
}

// HeldUntil returns until when nothing is sent because of pages that are no answer of the exchange;
// 0 where there is none.
func (l *WeightBudget) HeldUntil(of Payer) market.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.allowance(of); l.config.Now() < a.held {
		return a.held
	}
	return 0
}

// Forecast returns when the minute's points run out at the rate of the last sixty seconds; false
// where they last.
func (l *WeightBudget) Forecast(of Payer) (end market.Time, ends bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, a := l.config.Now(), l.allowance(of)
	a.roll(now)
	return a.forecast(now)
}
