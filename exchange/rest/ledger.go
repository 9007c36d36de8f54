package rest

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// LedgerConfig is what a Ledger is told. Now and After must be set.
type LedgerConfig struct {
	Now func() market.Time // the exchange's time
	// calls f once in a goroutine of its own, as time.AfterFunc does
	After func(d market.Duration, f func()) (stop func() bool)

	Prefix        string // brand of the headers; "": Service
	PerKey, PerIP int    // points a minute until an answer says otherwise; 0: 1000
	// where a ban's answer does not say when it ends; 0: 1 and 15 minutes, both after the minute
	KeyBan, IPBan market.Duration
	Margin        market.Duration // how wrong Now may be; 0: 250 ms
	// called without a lock held, in the goroutine of whoever came upon it; nil: nobody hears
	Warn func(Warning)
}

// Ledger is the budget of weight points: one of the key and one of the IP address of those who show
// no key (specification 8). It lets requests go while the exchange's minute has points left: the
// more urgent lane first, within a lane in the order in which they came, and each lane only down to
// what is kept for those before it. A 429 stops everything of the key or the address until the ban
// ends. It is safe for concurrent use and starts no goroutine but through After.
//
// Known limitation: what others spend with the same key or from the same address is known only from
// the next answer on.
type Ledger struct {
	config LedgerConfig
	names  rateHeaders

	mu       sync.Mutex // guards everything below
	key, ip  allowance
	weights  weights
	warnings []Warning
	alarm    market.Time // when the timer rings; 0: there is none
	stop     func() bool
}

// NewLedger returns a ledger that has spent nothing.
func NewLedger(config LedgerConfig) *Ledger {
	setDefault(&config.Prefix, "Service")
	setDefault(&config.PerKey, 1000)
	setDefault(&config.PerIP, 1000)
	setDefault(&config.KeyBan, time.Minute)
	setDefault(&config.IPBan, 15*time.Minute)
	setDefault(&config.Margin, 250*time.Millisecond)
	l := &Ledger{config: config, names: rateHeadersOf(config.Prefix),
		weights: weights{known: map[priced]int{}, doubts: map[priced]doubt{}, told: map[priced]bool{}}}
	l.key = allowance{payer: PaidByKey, margin: config.Margin, limit: config.PerKey}
	l.ip = allowance{margin: config.Margin, limit: config.PerIP}
	return l
}

func setDefault[T comparable](field *T, value T) {
	if *field == *new(T) {
		*field = value
	}
}

func (l *Ledger) allowance(of Payer) *allowance {
	if of == PaidByKey {
		return &l.key
	}
	return &l.ip
}

// unlock lets go of the mutex, then of the warnings.
func (l *Ledger) unlock() {
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

// SetOpenOrders tells how many orders are open: so many points are kept for their cancels, and as
// many to confirm these.
func (l *Ledger) SetOpenOrders(orders int) {
	l.mu.Lock()
	defer l.unlock()
	l.key.orders = max(0, orders)
	l.dispatch(&l.key)
}

// Begin returns when a request may be sent, or an error: ctx's, or one that says that the lane may
// never spend so much. endpoint names what is asked for where its weight is to be learnt ("GET
// /ordersOpen"), else it is empty; weight is what the table says, and a weight that was learnt
// comes before it. Each call without an error must be followed by one of done, with the answer's
// headers, status and body, or with nil and 0 where there was none.
func (l *Ledger) Begin(ctx context.Context, lane Lane, endpoint string, weight int,
	payer Payer) (done func(h http.Header, status int, body []byte), err error) {
	t, err := l.enter(ctx, lane, endpoint, weight, payer)
	if err != nil {
		return nil, err
	}
	return func(h http.Header, status int, body []byte) { l.leave(t, h, status, body) }, nil
}

// ticket is one request that was let go.
type ticket struct {
	priced
	of     *allowance
	weight int
	alone  bool        // nothing else was under way when it went
	sent   uint64      // of the allowance when it went, itself included
	used   int         // of the allowance when it went
	told   market.Time // likewise
}

func (l *Ledger) enter(ctx context.Context, lane Lane, endpoint string, weight int, payer Payer) (*ticket, error) {
	if lane < LastCancel || lane > MarketData || weight < 0 {
		panic(fmt.Sprintf("rest: lane %d, weight %d: no such request", lane, weight))
	}
	if err := ctx.Err(); err != nil {
		return nil, waitError(lane, err)
	}
	a := l.allowance(payer)
	l.mu.Lock()
	kind := priced{endpoint, weight}
	w := &waiter{priced: kind, lane: lane, weight: l.weights.of(kind), ready: make(chan struct{})}
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
func (l *Ledger) leave(t *ticket, h http.Header, status int, body []byte) {
	l.mu.Lock()
	defer l.unlock()
	now, a := l.config.Now(), t.of
	a.open -= t.weight
	a.roll(now)
	switch r, told := l.names.read(h, now); {
	case banned(status, body):
		l.ban(a, h, status, body, now)
	case told:
		a.observe(r, now)
		l.doubt(a, r, now)
		if t.alone && t.sent == a.sent && t.told == r.reset && a.told == r.reset {
			l.learn(t, r.limit-r.remaining-t.used, now)
		}
	default:
		a.addStray(t.weight, now)
	}
	l.dispatch(a)
}

// Left returns the points that the key, or the IP address, has left in the minute, and when it
// ends.
func (l *Ledger) Left(of Payer) (points int, reset market.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.allowance(of)
	a.roll(l.config.Now())
	return max(0, a.limit-a.spent()), a.reset
}

// BannedUntil returns when a ban ends; 0 where there is none.
func (l *Ledger) BannedUntil(of Payer) market.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.allowance(of); l.config.Now() < a.banned {
		return a.banned
	}
	return 0
}

// Forecast returns when the points of the minute end if they go on being spent as in the last sixty
// seconds; false where they last.
func (l *Ledger) Forecast(of Payer) (end market.Time, ends bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, a := l.config.Now(), l.allowance(of)
	a.roll(now)
	return a.forecast(now)
}
