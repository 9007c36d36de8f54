package rest

import "github.com/tidemark-trading/tidemark/market"

// LedgerState is what a ledger has to remember over a restart, or the next process would spend what
// this one has spent. It is plain data.
type LedgerState struct {
	Key     AllowanceState `json:"key"`
	IP      AllowanceState `json:"ip"`
	Weights []WeightState  `json:"weights,omitempty"`
}

// WeightState is a weight that the exchange's headers have shown to be another than the table's.
type WeightState struct {
	Endpoint string `json:"endpoint"` // as Begin was told
	Table    int    `json:"table"`
	Real     int    `json:"real"`
}

// AllowanceState is what the key or the IP address has spent. Times are Unix milliseconds of the
// exchange, 0 for none.
type AllowanceState struct {
	AtMS          int64 `json:"at_ms"` // when it was taken
	Limit         int   `json:"limit"`
	ResetMS       int64 `json:"reset_ms"` // end of the minute
	Used          int   `json:"used"`     // in it
	Open          int   `json:"open"`     // points of requests without an answer yet
	BannedUntilMS int64 `json:"banned_until_ms"`
}

// Snapshot returns the state of now. It is the caller's.
func (l *Ledger) Snapshot() LedgerState {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.config.Now()
	return LedgerState{Key: l.key.state(now), IP: l.ip.state(now), Weights: l.weights.states()}
}

func (a *allowance) state(now market.Time) AllowanceState {
	a.roll(now)
	return AllowanceState{AtMS: now.Millis(), Limit: a.limit, ResetMS: a.reset.Millis(), Used: a.used,
		Open: a.open + a.strays, BannedUntilMS: a.banned.Millis()}
}

// Restore takes over what an earlier ledger remembered. It is called before the first request; what
// time has made void is dropped, and so is what cannot be.
func (l *Ledger) Restore(s LedgerState) {
	l.mu.Lock()
	defer l.unlock()
	now := l.config.Now()
	l.key.restore(&s.Key, now, now.Add(longestReset))
	l.ip.restore(&s.IP, now, minuteEnd(now).Add(l.config.IPBan))
	for _, w := range s.Weights {
		if w.Real >= 0 && w.Endpoint != "" {
			l.weights.known[priced{w.Endpoint, w.Table}] = w.Real
		}
	}
}

// restore takes over what an earlier allowance remembered; a ban lasts until a time at most.
func (a *allowance) restore(s *AllowanceState, now, longest market.Time) {
	if s.Limit > 0 {
		a.limit = min(s.Limit, maxLimit)
	}
	a.roll(now)
	if reset, ok := near(s.ResetMS, now); ok && now < reset.Add(a.margin) && s.Used > 0 {
		a.reset, a.used = min(reset, now.Add(longestReset)), s.Used
	}
	if at, ok := near(s.AtMS, now); ok && now < at.Add(linger) {
		a.addStray(s.Open, now)
	}
	if until, ok := near(s.BannedUntilMS, now); ok && until > now {
		a.banned = min(until, longest.Add(a.margin))
	}
}

// near reads a time in milliseconds that lies within a day of now; 0 and false where it does not.
func near(ms int64, now market.Time) (market.Time, bool) {
	at, err := market.TimeOfMillis(ms)
	if err != nil || at.Sub(now).Abs() >= believable {
		return 0, false
	}
	return at, true
}
