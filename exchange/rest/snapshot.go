package rest

import "github.com/tidemark-trading/tidemark/market"

// WeightBudgetState is the saved state of a weight budget, so that the next process does not spend
// points again. It is plain data.
type WeightBudgetState struct {
	Key     AllowanceState `json:"key"`
	IP      AllowanceState `json:"ip"`
	Weights []WeightState  `json:"weights,omitempty"`
}

// WeightState is a learnt weight that differs from the table.
type WeightState struct {
	Endpoint string `json:"endpoint"` // as in Begin
	Table    int    `json:"table"`
	Real     int    `json:"real"`
}

// AllowanceState is the saved budget of the key or the IP address. Times are Unix milliseconds of
// the exchange, 0 for none.
type AllowanceState struct {
	AtMS          int64 `json:"at_ms"` // when it was saved
	Limit         int   `json:"limit"`
	ResetMS       int64 `json:"reset_ms"` // end of the minute
	Used          int   `json:"used"`     // in it
	Open          int   `json:"open"`     // points of requests without an answer yet
	BannedUntilMS int64 `json:"banned_until_ms"`
}

// Snapshot returns the current state, which the caller owns.
func (l *WeightBudget) Snapshot() WeightBudgetState {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.config.Now()
	return WeightBudgetState{Key: l.key.state(now), IP: l.ip.state(now), Weights: l.weights.states()}
}

func (a *allowance) state(now market.Time) AllowanceState {
	a.roll(now)
	return AllowanceState{AtMS: now.Millis(), Limit: a.limit, ResetMS: a.reset.Millis(), Used: a.used + a.unseenTotal,
		Open: a.open + a.strayTotal, BannedUntilMS: a.banned.Millis()}
}

// Restore loads a saved state. Call it before the first request; expired and impossible values are
// dropped.
func (l *WeightBudget) Restore(s WeightBudgetState) {
	l.mu.Lock()
	defer l.unlock()
	now := l.config.Now()
	l.key.restore(&s.Key, now, now.Add(maxReset))
	l.ip.restore(&s.IP, now, minuteEnd(now).Add(l.config.IPBan))
	for _, w := range s.Weights {
		if w.Real >= 0 && w.Endpoint != "" {
			l.weights.known[weightKey{w.Endpoint, w.Table}] = w.Real
		}
	}
}

// restore loads a saved state; a ban ends at longest at the latest.
func (a *allowance) restore(s *AllowanceState, now, longest market.Time) {
	if s.Limit > 0 {
		a.limit = min(s.Limit, maxLimit)
	}
	a.roll(now)
	if reset, ok := parseSavedTime(s.ResetMS, now); ok && now < reset.Add(a.margin) && s.Used > 0 {
		a.reset, a.used = min(reset, now.Add(maxReset)), s.Used
	}
	if at, ok := parseSavedTime(s.AtMS, now); ok && now < at.Add(strayTTL) {
		a.addStray(s.Open, now)
	}
	if until, ok := parseSavedTime(s.BannedUntilMS, now); ok && until > now {
		a.banned = min(until, longest.Add(a.margin))
	}
}

// parseSavedTime reads a time in milliseconds within maxStateAge of now; false: it is not.
func parseSavedTime(ms int64, now market.Time) (market.Time, bool) {
	at, err := market.TimeOfMillis(ms)
	if err != nil || at.Sub(now).Abs() >= maxStateAge {
		return 0, false
	}
	return at, true
}
