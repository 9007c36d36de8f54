package api

import (
	"cmp"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// Budget is how many weight points a minute has, and how long exceeding it is punished (venue-facts
// 2.4).
type Budget struct {
	PerKey, PerIP int             // points a minute; 0: 1000 for a key, 500 for an IP address; below 0: no limit
	KeyBan, IPBan market.Duration // 0: 1 and 15 minutes
	PerAccount    bool            // the keys of an account share the budget of its first
}

// The budgets and bans where Budget says nothing.
const (
	defaultBudget   = 1000
	defaultIPBudget = 500 // specification 8: lower than with a key; the number is not known
	defaultKeyBan   = time.Minute
	defaultIPBan    = 15 * time.Minute
)

// limiter counts the weight points of keys, and of IP addresses for requests without a key
// (specification 8, venue-facts 2.4). A minute is one of the exchange's clock, not the last sixty
// seconds. A key or an address that exceeds its budget is banned for the rest of the minute and
// then for the length of the ban; meanwhile every request is refused and costs nothing. It is safe
// for concurrent use.
type limiter struct {
	perIP         int
	keyBan, ipBan market.Duration
	ipLimit       []string // value of the header

	mu    sync.Mutex // guards peers, and the meters of all keys
	peers map[netip.Addr]*Usage
	swept int64  // the minute in which idle peers were last forgotten
	noted *noted // nil: changes are not noted
}

// noted holds the changes since the store's last write.
type noted struct {
	keys  map[*activeKey]struct{}
	peers map[netip.Addr]struct{}
	ban   bool // a key or an address has been banned
}

// Usage is the used weight of one key or IP address. The zero value has used nothing.
type Usage struct {
	Minute int64 // since 1970
	Used   int   // points in that minute
	Banned market.Time
}

// charge is the cost of a request, for the headers of its answer.
type charge struct {
	limit     []string // value of the header
	remaining int
	resetAt   int64 // Unix ms, in the future: when remaining is the limit again
}

func newLimiter(b Budget) *limiter {
	l := &limiter{perIP: points(b.PerIP, defaultIPBudget), keyBan: cmp.Or(b.KeyBan, defaultKeyBan),
		ipBan: cmp.Or(b.IPBan, defaultIPBan), peers: map[netip.Addr]*Usage{}}
	l.ipLimit = []string{strconv.Itoa(l.perIP)}
	return l
}

// points returns a budget as it counts: otherwise where it is 0, and more than any minute can use
// where it is below.
func points(budget, otherwise int) int {
	switch {
	case budget == 0:
		return otherwise
	case budget < 0:
		return math.MaxInt32
	}
	return budget
}

// chargeKey charges a request to a key, or to the key that pays for it. It reports false if that
// key is banned, by this request or already.
func (l *limiter) chargeKey(k *activeKey, weight int, now market.Time) (charge, bool) {
	k = k.payer
	l.mu.Lock()
	defer l.mu.Unlock()
	banned := k.meter.Banned
	b, ok := k.meter.charge(weight, k.budget, l.keyBan, now)
	b.limit = k.limit
	if l.noted != nil {
		l.noted.keys[k] = struct{}{}
		l.noted.ban = l.noted.ban || banned != k.meter.Banned
	}
	return b, ok
}

// chargePeer charges a request to an IP address.
func (l *limiter) chargePeer(peer netip.Addr, weight int, now market.Time) (charge, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(now)
	m := l.peers[peer]
	if m == nil {
		m = new(Usage)
		l.peers[peer] = m
	}
	banned := m.Banned
	b, ok := m.charge(weight, l.perIP, l.ipBan, now)
	b.limit = l.ipLimit
	if l.noted != nil {
		l.noted.peers[peer] = struct{}{}
		l.noted.ban = l.noted.ban || banned != m.Banned
	}
	return b, ok
}

// forget drops the peers whose minute and ban are over, once a minute.
func (l *limiter) forget(now market.Time) {
	minute := minuteOf(now)
	if minute == l.swept {
		return
	}
	l.swept = minute
	for peer, m := range l.peers {
		if m.Minute < minute && m.Banned <= now {
			delete(l.peers, peer)
			if l.noted != nil {
				l.noted.peers[peer] = struct{}{}
			}
		}
	}
}

// charge takes weight from the budget, or bans. During a ban the charge has the time of the ban's
// end: then the budget is back.
func (m *Usage) charge(weight, limit int, ban market.Duration, now market.Time) (charge, bool) {
	if now < m.Banned {
		return charge{resetAt: m.Banned.Millis()}, false
	}
	minute := minuteOf(now)
	if m.Minute != minute {
		m.Minute, m.Used = minute, 0
	}
	next := market.Time((minute + 1) * int64(time.Minute))
	if m.Used+weight > limit {
		m.Banned = next.Add(ban)
		return charge{resetAt: m.Banned.Millis()}, false
	}
	m.Used += weight
	return charge{remaining: limit - m.Used, resetAt: next.Millis()}, true
}

func minuteOf(now market.Time) int64 {
	return int64(market.FloorTo(now, market.Time(time.Minute))) / int64(time.Minute)
}

// KeepUsage lets the door note changed usage for FlushUsage.
func (d *Door) KeepUsage() {
	d.limiter.noted = &noted{keys: map[*activeKey]struct{}{}, peers: map[netip.Addr]struct{}{}}
}

// FlushUsage calls each for every key and IP address whose usage has changed since the last flush:
// it has to be stored, so that bans outlive a restart. A forgotten address has the zero usage.
func (d *Door) FlushUsage(each func(subject string, m Usage) error) error {
	l := d.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := range l.noted.keys {
		if err := each(k.Key.Key, k.meter); err != nil {
			return err
		}
	}
	for peer := range l.noted.peers {
		m := l.peers[peer]
		if m == nil {
			m = &Usage{}
		}
		if err := each(peer.String(), *m); err != nil {
			return err
		}
	}
	clear(l.noted.keys)
	clear(l.noted.peers)
	l.noted.ban = false
	return nil
}

// HasNewBan reports whether a key or an address has been banned since the last flush.
func (d *Door) HasNewBan() bool {
	l := d.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.noted.ban
}

// SetUsage sets the usage of a key or an IP address, as FlushUsage reported it. It ignores unknown
// keys.
func (d *Door) SetUsage(subject string, m Usage) {
	d.limiter.mu.Lock()
	defer d.limiter.mu.Unlock()
	if k := d.keys[subject]; k != nil {
		k.meter = m
	} else if peer, err := netip.ParseAddr(subject); err == nil {
		d.limiter.peers[peer] = &m
	}
}

// budgetHeaders are the names of the headers of an answer that tell the budget. They are written in
// small letters, as the exchange writes them: net/http's Header.Get finds them in an answer that
// came over a connection, not in the map that a handler writes to.
type budgetHeaders struct{ limit, remaining, resetAt string }

func budgetHeadersOf(prefix string) budgetHeaders {
	prefix = strings.ToLower(prefix)
	return budgetHeaders{prefix + "-ratelimit-limit", prefix + "-ratelimit-remaining", prefix + "-ratelimit-resetat"}
}

// write sets the three headers. The server reads the values after the handler has returned, so they
// are the answer's own.
func (n *budgetHeaders) write(h http.Header, b charge) {
	var digits [40]byte
	text := strconv.AppendInt(digits[:0], int64(b.remaining), 10)
	end := len(text)
	both := string(strconv.AppendInt(text, b.resetAt, 10))
	values := &[2]string{both[:end], both[end:]}
	h[n.limit], h[n.remaining], h[n.resetAt] = b.limit, values[:1:1], values[1:]
}
