package gap

// Fact is a kind of record that takes the place of the model in a run.
type Fact uint8

// The facts, in the order of the ladder. Prices and Fees come after the others: they need recorded
// fills.
const (
	Data   Fact = iota // recorded market data with its times of arrival, and timers
	People             // halts, restarts, reloads, transfers, allocations, and whatever else a person did
	Orders             // when an order reached the exchange, and whether the exchange took it
	Fills              // which orders filled, when, and how much
	Prices             // the prices of those fills
	Fees               // their fees
	facts
)

// rung describes a step of the ladder: a fact, or nothing yet.
type rung struct{ name, about string }

var rungs = [facts]rung{
	{"data", "recorded data, with its times of arrival"},
	{"people", "halts, restarts, reloads, transfers, allocations"},
	{"orders", "latency and outcomes of orders"},
	{"fills", "which orders filled, and how much"},
	{"prices", "at which prices"},
	{"fees", "at which fees: the live books"},
}

// String is the fact's name in reports.
func (f Fact) String() string { return rungs[f].name }

// Set is a set of facts: a run takes these from the record, and the rest from the model.
type Set uint8

// Has reports whether a fact is in the set.
func (s Set) Has(f Fact) bool { return s>>f&1 == 1 }

// With is the set with one more fact.
func (s Set) With(f Fact) Set { return s | 1<<f }

// Ladder are the sets of the rungs S0 to S6: each has one fact more than the one before.
func Ladder() (sets []Set) {
	sets = append(sets, 0)
	for f := range facts {
		sets = append(sets, sets[f].With(f))
	}
	return sets
}

// whole has all facts.
const whole = Set(1<<facts - 1)

// String lists the facts of the set.
func (s Set) String() string {
	text := ""
	for f := range facts {
		if s.Has(f) {
			text += ", " + f.String()
		}
	}
	if text == "" {
		return "nothing"
	}
	return text[2:]
}
