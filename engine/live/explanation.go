package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// explanation lists the movements of an asset since the last checkpoint.
type explanation struct {
	asset           *market.Asset
	from, to        market.Time
	books           market.Money // what the account has
	surplus, before market.Money // of the exchange over the account: now, and at the checkpoint
	compared        bool         // there is a checkpoint; without one, before is unknown
	moved           market.Money // by all movements found
	count           int
	kinds           []movedKind
	refusal         error                           // the exchange's error, where it does not give the history
	doubted         bool                            // of an inquiry
	untold          map[market.AssetID]market.Money // of an inquiry
}

// movedKind is the sum of the movements of one kind.
type movedKind struct {
	kind  string
	money market.Money
	count int
}

// add counts the movements of the asset.
func (x *explanation) add(moved []exchange.Movement) {
	for i := range moved {
		m := &moved[i]
		if m.Asset != x.asset.ID || m.At < x.from || m.At >= x.to {
			continue
		}
		x.moved += m.Money
		x.count++
		at := slices.IndexFunc(x.kinds, func(k movedKind) bool { return k.kind == m.Kind })
		if at < 0 {
			at = len(x.kinds)
			x.kinds = append(x.kinds, movedKind{kind: m.Kind})
		}
		x.kinds[at].money += m.Money
		x.kinds[at].count++
	}
}

// rounding is how far the movements may be off together: one unit each.
func (x *explanation) rounding() market.Money { return market.Money(x.count) }

// explained reports whether the movements found cover the shortfall.
func (x *explanation) explained() bool {
	return x.count > 0 && x.surplus >= x.before+x.moved-x.rounding()
}

func (x *explanation) format(m market.Money) string {
	return market.FormatFixed(int64(m), x.asset.Digits)
}

// text says what was found.
func (x *explanation) text() string {
	switch {
	case x.refusal != nil:
		return "not explained: the exchange does not tell the account's history: " + x.refusal.Error()
	case x.count == 0:
		return "not explained: the account's history has no movement, and no other program has traded"
	}
	var parts []string
	for _, k := range x.kinds {
		part := k.kind + ", " + x.format(k.money)
		if k.count > 1 {
			part += fmt.Sprintf(" in %d parts", k.count)
		}
		parts = append(parts, part)
	}
	text := strings.Join(parts, "; ")
	if rest := x.surplus - x.before - x.moved; max(rest, -rest) > x.rounding() && (x.compared || rest < 0) {
		return fmt.Sprintf("explained in part by %s: %s is not", text, x.format(rest))
	}
	return "explained by " + text
}

// conclude acts on an explanation.
func (h *holdings) conclude(x *explanation) {
	said, short := h.reported[x.asset.ID]
	switch {
	case x.surplus >= 0 && !x.compared: // what the account had before this bot
	case x.surplus >= 0:
		h.logDiscrepancy(x, x.text()+"; the surplus is unallocated, and is not traded")
	case x.explained() && h.canCorrect(x.asset.ID, -x.surplus):
		h.logDiscrepancy(x, x.text()+"; taken out of the books: "+h.correct(x.asset, -x.surplus, nil))
		x.surplus = 0
	case short && said == x.surplus:
		return
	case x.doubted || h.untold(x.asset.ID):
		h.postpone(x, x.text())
		return
	case len(h.boughtIn(x)) > 0:
		h.haltBuyers(x)
		return
	default:
		h.halt(x)
		return
	}
	delete(h.differ, x.asset.ID)
	h.checkpoint(x.asset.ID, BalanceCheckpoint{At: x.to, Surplus: x.surplus})
}

// postpone tells, once, of a shortfall that is not booked yet. The regular comparison books what is
// explained by then, or halts. It comes at once after a doubt, and else in its time.
func (h *holdings) postpone(x *explanation, why string) {
	if x.doubted {
		h.next = min(h.next, h.now)
	}
	if said, any := h.postponed[x.asset.ID]; !any || said != x.surplus {
		h.postponed[x.asset.ID] = x.surplus
		h.logDiscrepancy(x, why+"; not booked yet, the balances are compared again")
	}
}

// canCorrect reports whether the books can lack money that has left the exchange's account. Money
// held by orders cannot have left.
func (h *holdings) canCorrect(asset market.AssetID, lack market.Money) bool {
	return h.Account.Total(asset).Available() >= lack
}

// correct books money that has left the exchange's account: of a base asset from the positions of
// its holders first; then from the first strategies, from the shared money, and from the
// strategies' own in their order. It returns whose money it was.
func (h *holdings) correct(asset *market.Asset, lack market.Money, first []market.StrategyID) string {
	owners := h.Account.Strategies() + 1
	taken := make([]market.Money, owners)
	take := func(owner market.StrategyID, m market.ID, most market.Money) {
		available, _ := h.Account.Balance(owner, asset.ID)
		if money := min(lack, most, available); money > 0 {
			lack -= money
			taken[owner] += money
			h.loop.step(&market.Event{Kind: market.KindTransfer, Asset: asset.ID, Money: -money, Owner: owner,
				Market: m})
		}
	}
	for owner := range market.StrategyID(owners) {
		for _, m := range h.Account.Catalog().Markets() {
			if m.Base == asset.ID {
				take(owner, m.ID, market.Money(h.unheld(owner, m.ID)))
			}
		}
	}
	for _, owner := range first {
		take(owner, 0, lack)
	}
	for owner := range market.StrategyID(owners) {
		take(owner, 0, lack)
	}
	var parts []string
	names := append([]string{"shared"}, h.Engine.Names()...)
	for owner, money := range taken {
		if money > 0 {
			parts = append(parts, names[owner]+" "+market.FormatFixed(int64(money), asset.Digits))
		}
	}
	return strings.Join(parts, ", ")
}

// unheld is the part of a strategy's position in a market that no sell holds: that has not left.
func (h *holdings) unheld(owner market.StrategyID, m market.ID) market.Qty {
	free := h.Account.Position(owner, m).Amount
	for _, o := range h.Account.Open(nil, owner, m) {
		if o.Side == market.Sell && owner != 0 {
			free -= market.Qty(o.OnHold)
		}
	}
	return free
}

// boughtIn are the markets that have gone in which a purchase explains a shortfall: what it has
// bought is in the account, and cost about what is missing. The exchange tells no trade of them.
func (h *holdings) boughtIn(x *explanation) (in []*market.Market) {
	worth := market.Money(0)
	for _, m := range h.Account.Catalog().Markets() {
		amount := market.Qty(x.untold[m.Base])
		if m.Quote != x.asset.ID || amount <= 0 || !h.untold(m.Base) {
			continue
		}
		in = append(in, m)
		if value, err := m.Notional(h.Account.Last(m.ID), amount); err == nil {
			worth += value
		}
	}
	if short := x.before + x.moved - x.surplus; short > worth+worth/4 {
		return nil
	}
	return in
}

// buyers are the strategies that trade one of some markets.
func (h *holdings) buyers(in []*market.Market) (list []market.StrategyID) {
	for id := range market.StrategyID(len(h.Engine.Names())) {
		if slices.ContainsFunc(in, func(m *market.Market) bool { return h.Engine.Trades(id+1, m.ID) }) {
			list = append(list, id+1)
		}
	}
	return list
}

// haltBuyers halts the strategies of markets in which a purchase explains a shortfall: their books
// have money that they have spent. The others go on.
func (h *holdings) haltBuyers(x *explanation) {
	h.reported[x.asset.ID], h.bought[x.asset.ID] = x.surplus, x
	in := h.boughtIn(x)
	var more, names, cures []string
	for _, m := range in {
		more = append(more, m.FormatQty(market.Qty(x.untold[m.Base]))+" "+h.Account.Catalog().Asset(m.Base).Symbol)
		names, cures = append(names, m.Name), append(cures, "bot resolve --gone "+m.Name)
	}
	text := fmt.Sprintf("the exchange has %s %s less and %s more than the books: a purchase in %s as it went would "+
		"explain it, and the exchange tells no trade there", x.format(-x.surplus), x.asset.Symbol,
		strings.Join(more, ", "), strings.Join(names, ", "))
	h.logDiscrepancy(x, text+"; its strategies are halted")
	h.Log.Error().Str("asset", x.asset.Symbol).Msg(text + ": its strategies are halted")
	for _, id := range h.buyers(in) {
		h.loop.halt(id, text+". It is booked when the market is back, then bot resume; "+strings.Join(cures, ", ")+
			" writes it off")
	}
}

// WriteOff takes out of the books what purchases in a market that has gone seem to have cost, and
// returns whose money that was; what they have bought is unallocated then. Call it within Do.
func (l *Loop) WriteOff(m *market.Market) (whose string) {
	h := &l.holdings
	x := h.bought[m.Quote]
	if x == nil {
		return ""
	}
	in := h.boughtIn(x)
	if !slices.Contains(in, m) || !h.canCorrect(m.Quote, -x.surplus) {
		return ""
	}
	for _, m := range in {
		h.checkpoint(m.Base, BalanceCheckpoint{At: x.to, Surplus: h.checkpoints[m.Base].Surplus + x.untold[m.Base]})
	}
	whose = h.correct(x.asset, -x.surplus, h.buyers(in))
	h.logDiscrepancy(x, "written off by the operator with "+m.Name+": "+whose)
	h.checkpoint(m.Quote, BalanceCheckpoint{At: x.to})
	return whose
}

// halt halts all strategies: money is missing, and no movement explains it.
func (h *holdings) halt(x *explanation) {
	h.reported[x.asset.ID] = x.surplus
	text := x.format(-x.surplus) + " " + x.asset.Symbol
	h.logDiscrepancy(x, x.text()+"; halted")
	h.ReconcileLog.Note(h.stamp(), "reconcile difference", text)
	h.Log.Error().Str("missing", text).Msg("the exchange has less than this bot's books: all strategies are halted")
	h.loop.halt(0, "the exchange has "+text+" less than this bot's books")
}

// logDiscrepancy records a difference and its conclusion.
func (h *holdings) logDiscrepancy(x *explanation, conclusion string) {
	d := state.Discrepancy{What: "balance " + x.asset.Symbol, Ours: x.format(x.books),
		Theirs: x.format(x.books + x.surplus), Conclusion: conclusion}
	h.ReconcileLog.Discrepancy(h.stamp(), &d)
	h.Log.Warn().Str("asset", x.asset.Symbol).Str("books", d.Ours).Str("exchange", d.Theirs).
		Str("conclusion", conclusion).Msg("a balance has changed beside the bot's own trades")
}
