package market

// Signal is a decision or a number from outside: of a model, an alert, an index. It says something
// about a market, or about all. A field that it does not have is zero.
type Signal struct {
	Source string // the name of its section in the config
	Market ID     // 0: all markets
	Number int64  // of the row in its file, the header not counted, from 1
	// Time is the moment that it is about; Known the one from which it could be known, and the only
	// one that delivers it; Arrived the one at which a live bot got it.
	Time, Known, Arrived Time
	Until                Time // from then on it holds no more; 0: it holds until the next one

	Action    Action
	Stance    Stance // a state, so that the next one mends a lost one
	Value     float64
	Target    float64 // part of the equity that the position is to have
	HasValue  bool
	HasTarget bool
	Text      string
}

// Due is when it reaches strategies: at its arrival, where it has one, else once it is known.
func (s *Signal) Due() Time { return max(s.Known, s.Arrived) }

// Age is the time since it could be known.
func (s *Signal) Age(now Time) Duration { return Duration(now - s.Known) }

// Holds reports whether it still holds.
func (s *Signal) Holds(now Time) bool { return s.Until == 0 || now < s.Until }

// Action is what a Signal tells to do.
type Action uint8

// The actions.
const (
	ActBuy Action = iota + 1
	ActSell
	ActExit
)

var actionNames = table[Action]{"action", []string{"", "buy", "sell", "exit"}}

// String returns the action's name.
func (a Action) String() string { return actionNames.text(a) }

// ParseAction is the inverse of String.
func ParseAction(text string) (Action, error) { return actionNames.parse(text) }

// Stance is the position that a Signal wants from now on.
type Stance uint8

// The stances.
const (
	StanceLong Stance = iota + 1
	StanceFlat
)

var stanceNames = table[Stance]{"position", []string{"", "long", "flat"}}

// String returns the stance's name.
func (s Stance) String() string { return stanceNames.text(s) }

// ParseStance is the inverse of String.
func ParseStance(text string) (Stance, error) { return stanceNames.parse(text) }
