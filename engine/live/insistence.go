package live

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/engine/verify"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

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
