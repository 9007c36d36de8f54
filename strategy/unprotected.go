package strategy

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// ExitHandler is called for positions that should have an exit at the exchange and cannot have one
// now: too small, refused, cancelled, the market halted. The bracket stays and tries again; the
// strategy may sell, move the levels (Update with Exits), or end the bracket (Cancel). It is called
// once for each Cause until the position has an exit again.
type ExitHandler interface {
	OnUnprotected(d *Desk, u Unprotected)
}

// Unprotected is a position, or a part of one, that should have an exit at the exchange and has
// none.
type Unprotected struct {
	Bracket  market.OrderID // the entry's id, or the one that Protect returned
	Strategy market.StrategyID
	Market   market.ID
	Amount   market.Qty // without an exit; 0: the amount that its entry will buy
	Levels   market.Bracket
	Cause    Cause
	Code     int         // the exchange's code, where it refused or would
	Since    market.Time // begin of this state; 0 in OnUnprotected, which is called at once
	Why      string      // in words and decimals: "stop: 4.67 EUR is below the minimum of 5"
}

// Cause is why a position has no exit.
type Cause uint8

// The causes. The first three and the last two are transient, and OnUnprotected is not called for
// them.
const (
	CauseArriving  Cause = iota + 1 // the exit is on its way
	CauseSwap                       // one exit is gone, the other is on its way
	CauseUnknown                    // the outcome of the exit's order is unknown
	CausePartly                     // the exit is smaller than the position
	CauseTooSmall                   // neither exit could sell the amount at its price
	CauseRefused                    // by the gate or the exchange
	CauseCancelled                  // the exchange ended the exit before it filled
	CauseExpired                    // the exit found no buyers
	CauseHalted                     // the market takes no orders
	CauseClose                      // a Close has taken the exit away and sells
	CauseStopped                    // the bot was stopped without it
	causes
)

var causeNames = [causes]string{"", "arriving", "swap", "unknown", "partly", "too small", "refused", "cancelled",
	"expired", "halted", "close", "stopped"}

// String returns the cause as reports and metrics name it.
func (c Cause) String() string {
	if c < causes {
		return causeNames[c]
	}
	return fmt.Sprintf("cause(%d)", c)
}

// MarshalText writes the name.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the name.
func (c *Cause) UnmarshalText(text []byte) error {
	for i, name := range causeNames {
		if name == string(text) {
			*c = Cause(i)
			return nil
		}
	}
	return fmt.Errorf("unknown cause %q of a position without an exit", text)
}

// Transient reports whether the cause is a usual step of placing exits. OnUnprotected is not called
// for it.
func (c Cause) Transient() bool { return c <= CauseUnknown || c >= CauseClose }

// CauseTime is how long positions were without an exit for one cause.
type CauseTime struct {
	Cause Cause
	Time  market.Duration
}

// Causes are all causes, in their order.
func Causes() []Cause {
	all := make([]Cause, 0, causes-1)
	for c := CauseArriving; c < causes; c++ {
		all = append(all, c)
	}
	return all
}
