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

// asSent is the set of a run that hears signals as their senders sent them. All others hear them as
// the bot did.
const asSent = Set(1 << facts)

// SignalsStep is the name of the step of a bot that hears signals.
const SignalsStep = "signals"

// heardRung is the step from asSent to the run without facts, which only a bot with signals has.
var heardRung = rung{SignalsStep, "signals as the bot heard them: late, lost, refused"}

// ladder are the sets of the rungs, S0 first: each has one fact more than the one before. signals:
// the bot has heard, or could have heard, some.
func ladder(signals bool) (sets []Set) {
	if signals {
		sets = append(sets, asSent)
	}
	have := Set(0)
	sets = append(sets, have)
	for f := range facts {
		have = have.With(f)
		sets = append(sets, have)
	}
	return sets
}

// steps are the rungs between so many runs.
func steps(runs int) (all []rung) {
	if runs > int(facts)+1 {
		all = append(all, heardRung)
	}
	return append(all, rungs[:]...)
}

// whole has all facts.
const whole = Set(1<<facts - 1)

// String lists the facts of the set.
func (s Set) String() string {
	if s == asSent {
		return "signals as they were sent"
	}
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
