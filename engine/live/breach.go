package live

import (
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/engine/verify"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Breach is a rule that an answer of the exchange about an own order broke. The answer was not
// booked.
type Breach struct {
	At           market.Time    `json:"at"` // of the first one
	Order        market.OrderID `json:"order"`
	Rule         string         `json:"rule"`
	Wanted, Seen string         // formatted for a person
	Counts       bool           `json:"counts"` // towards a halt
}

// breachTTL is how long a breach counts. Of the pairs of order and rule within that time the second
// halts the order's strategy, the third halts all.
const breachTTL = 24 * time.Hour

// breach records an answer that breaks rules. Only the first of its rules counts: the others follow
// from it.
func (j *auditor) breach(own *state.Order, broken []verify.Broken) {
	first := broken[0]
	if at := slices.IndexFunc(broken, func(b verify.Broken) bool { return b.Rule.Counts() }); at >= 0 {
		first = broken[at]
	}
	j.breaches = slices.DeleteFunc(j.breaches, func(b Breach) bool { return b.At.Add(breachTTL) < j.now })
	b := Breach{At: j.now, Order: own.ID, Rule: string(first.Rule), Wanted: first.Wanted, Seen: first.Seen,
		Counts: first.Rule.Counts()}
	again := slices.ContainsFunc(j.breaches, func(o Breach) bool { return o.Order == b.Order && o.Rule == b.Rule })
	line := j.Log.Error()
	if again {
		line = j.Log.Debug()
	}
	line.Int64("order", int64(own.ID)).Str("rule", b.Rule).Str("want", b.Wanted).Str("got", b.Seen).
		Strs("also", also(broken, first.Rule)).
		Msg("an answer of the exchange about an own order cannot be true: nothing of it is booked")
	if again {
		j.ReconcileLog.Breached(j.now, &b, nil)
		return
	}
	j.breaches = append(j.breaches, b)
	j.ReconcileLog.Breached(j.now, &b, j.breaches)
	if b.Counts {
		j.haltBreached(own, &b)
	}
}

// also are the other rules that an answer breaks.
func also(broken []verify.Broken, but verify.Rule) (rules []string) {
	for i := range broken {
		if broken[i].Rule != but {
			rules = append(rules, string(broken[i].Rule))
		}
	}
	return rules
}

// haltBreached halts the strategy at the second breach of a day, and all at the third. Exits of
// brackets stay.
func (j *auditor) haltBreached(own *state.Order, b *Breach) {
	counted := 0
	for i := range j.breaches {
		if j.breaches[i].Counts {
			counted++
		}
	}
	reason := fmt.Sprintf("answers of the exchange cannot be true, %d within 24 h; the latest: order %d, %s: want %s, "+
		"got %s; see bot explain %d, then bot resolve",
		counted, b.Order, b.Rule, b.Wanted, b.Seen, b.Order)
	switch {
	case counted >= 3:
		j.loop.halt(0, reason)
	case counted == 2 && own.Strategy != 0:
		j.loop.halt(own.Strategy, reason)
	}
}

// Breaches are the breaches of the last day. The slice belongs to the loop; call it within Look.
func (l *Loop) Breaches() []Breach { return l.auditor.breaches }

// insistence is an answer about an order that cannot be true, by what the bot knows, and that the
// exchange repeats.
type insistence struct {
	rule  verify.Rule
	seen  string
	asked market.Time // the latest answer
	times int         // in a row
}

// insistences are the latest of each order.
type insistences map[market.OrderID]insistence

// insistedTimes in a row the same answer is no slip: what the bot knows may be wrong.
const insistedTimes = 3

// counts counts the answers to queries of an order that break the same rule in the same way, and
// reports whether there are enough of them.
func (i insistences) counts(own *state.Order, r *reply, broken []verify.Broken) bool {
	was := i[own.ID]
	if r.from != fromQuery || r.asked <= was.asked {
		return false
	}
	if was.rule != broken[0].Rule || was.seen != broken[0].Seen {
		was = insistence{rule: broken[0].Rule, seen: broken[0].Seen}
	}
	was.asked = r.asked
	was.times++
	i[own.ID] = was
	return was.times >= insistedTimes
}

// believe tells of an answer that is booked because the exchange repeats it, and other rules of the
// market explain it.
func (j *auditor) believe(own *state.Order, broken []verify.Broken) {
	j.Log.Warn().Int64("order", int64(own.ID)).Str("rule", string(broken[0].Rule)).Str("want", broken[0].Wanted).
		Str("got", broken[0].Seen).Msg("the exchange repeats its answer, and fewer decimals of amounts explain it: " +
		"it is booked")
	j.ReconcileLog.Discrepancy(j.now, &state.Discrepancy{What: string(broken[0].Rule), Ours: broken[0].Wanted,
		Theirs: broken[0].Seen, Conclusion: "booked: repeated, and fewer decimals explain it", Order: own.ID})
}

// haltInsisted halts the strategy of an order about which the exchange repeats an answer that
// cannot be true: what the order has done stays unknown until a person decides.
func (j *auditor) haltInsisted(own *state.Order, broken []verify.Broken) {
	if j.insistences[own.ID].times < insistedTimes || own.Strategy == 0 || !broken[0].Rule.Counts() {
		return
	}
	if _, halted := j.Engine.Halted(own.Strategy); halted {
		return
	}
	j.loop.halt(own.Strategy,
		fmt.Sprintf("the exchange repeats an answer about order %d that cannot be true, and nothing of it is "+
			"booked: %s; see bot explain %d, then bot resolve %d", own.ID, broken[0].String(), own.ID, own.ID))
}
