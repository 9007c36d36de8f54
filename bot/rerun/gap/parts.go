package gap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// parts are the reports of the times between starts with other strategies or markets. Each begins
// with the live books, so that they add up.
type parts struct {
	reports []*Comparison
	whole   *profitMeter   // of the latest part
	moved   []market.Money // by new prices of what the bot held, between a part and the next
	began   []market.Time
}

// add adds the report of the next part.
func (p *parts) add(r *Comparison, v *survey) error {
	p.began = append(p.began, v.from)
	if p.whole != nil {
		moved, err := p.whole.revalued(v.from, v.prices)
		if err != nil {
			return err
		}
		p.moved = append(p.moved, moved)
		if was := p.reports[0]; was.Currency != r.Currency || was.Account.Gap.Digits != r.Account.Gap.Digits {
			return fmt.Errorf("until %s the account's currency was %s, and then %s: money of two currencies does not "+
				"add up; ask for the time before, with --to, or from then on, with --from", v.from, was.Currency,
				r.Currency)
		}
	}
	p.reports, p.whole = append(p.reports, r), v.whole
	return nil
}

// revalued is what the equity of a ledger's account changes at other prices.
func (l *profitMeter) revalued(at market.Time, prices map[string]market.Price) (market.Money, error) {
	a, currency := l.account, l.made.Limits.Currency
	was, err := a.Equity(currency)
	for _, m := range a.Catalog().Markets() {
		if price := prices[m.Name]; price != 0 && price != a.Last(m.ID) && err == nil {
			err = mark(a, m.ID, at, price)
		}
	}
	if err != nil {
		return 0, err
	}
	now, err := a.Equity(currency)
	return now - was, err
}

// join is the report of the only part, or the sum of all.
func (p *parts) join() (*Comparison, error) {
	first, last := p.reports[0], p.reports[len(p.reports)-1]
	if len(p.reports) == 1 {
		return first, nil
	}
	p.align()
	r := &Comparison{From: first.From, To: last.To, Currency: first.Currency, Assumptions: []string{},
		Notes:   []string{},
		Refused: []Refusals{}, Episodes: []Episode{}, Strategies: []Bridge{}, Parts: p.reports, Run: last.Run,
		Account: emptyBridge("", first)}
	for n, part := range p.reports {
		r.take(part)
		if n > 0 {
			moved := p.moved[n-1]
			r.Account.move(moved)
			r.Notes = append(r.Notes, changeText(p.reports[n-1], part, p.began[n], moved))
		}
	}
	r.Rest = r.Account.Live
	for i := range r.Strategies {
		r.Rest.Units -= r.Strategies[i].Live.Units
	}
	slices.SortStableFunc(r.Episodes, func(a, b Episode) int { return cmp.Compare(a.From, b.From) })
	for i := range r.Episodes {
		r.Episodes[i].Number = i + 1
	}
	return r, nil
}

// align gives all parts the step of signals, where one has it.
func (p *parts) align() {
	most := slices.MaxFunc(p.reports, func(a, b *Comparison) int {
		return cmp.Compare(len(a.Account.Terms), len(b.Account.Terms))
	})
	for _, r := range p.reports {
		if len(r.Account.Terms) == len(most.Account.Terms) {
			continue
		}
		r.Account.noSignals(&most.Account.Terms[0])
		for i := range r.Strategies {
			r.Strategies[i].noSignals(&most.Account.Terms[0])
		}
	}
}

// noSignals adds a first step that changes nothing.
func (b *Bridge) noSignals(like *Term) {
	zero := Amount{0, b.Gap.Digits}
	b.Profits = slices.Insert(b.Profits, 0, b.Profits[0])
	b.Terms = slices.Insert(b.Terms, 0, Term{Fact: like.Fact, About: like.About, Step: zero, Mean: zero, Least: zero,
		Most: zero})
}

// changeText says where a part begins and what has changed.
func changeText(was, now *Comparison, at market.Time, moved market.Money) string {
	text := fmt.Sprintf("at %s the bot began with other strategies or markets", at)
	if a, b := namesIn(was), namesIn(now); a != b {
		text += fmt.Sprintf(" (%s, before %s)", b, a)
	}
	return text + fmt.Sprintf(": from then on all runs go on from the live books; prices that changed while it was "+
		"down moved what it held by %s %s, live and in each run", Amount{moved, now.Account.Gap.Digits}, now.Currency)
}

func namesIn(r *Comparison) string {
	var names []string
	for i := range r.Strategies {
		names = append(names, r.Strategies[i].Name)
	}
	return strings.Join(names, ", ")
}

// take adds a part to a joined report.
func (r *Comparison) take(part *Comparison) {
	r.Account.add(&part.Account)
	for i := range part.Strategies {
		b := &part.Strategies[i]
		at := slices.IndexFunc(r.Strategies, func(s Bridge) bool { return s.Name == b.Name })
		if at < 0 {
			at = len(r.Strategies)
			r.Strategies = append(r.Strategies, emptyBridge(b.Name, part))
		}
		r.Strategies[at].add(b)
	}
	for _, refused := range part.Refused {
		at := slices.IndexFunc(r.Refused, func(s Refusals) bool { return s.Reason == refused.Reason })
		if at < 0 {
			at = len(r.Refused)
			r.Refused = append(r.Refused, Refusals{Reason: refused.Reason})
		}
		r.Refused[at].Backtest += refused.Backtest
		r.Refused[at].Live += refused.Live
	}
	for _, line := range part.Assumptions {
		if !slices.Contains(r.Assumptions, line) {
			r.Assumptions = append(r.Assumptions, line)
		}
	}
	r.Notes = append(r.Notes, part.Notes...)
	r.Episodes = append(r.Episodes, part.Episodes...)
	r.Starts += part.Starts
	if part.Short != "" {
		r.Short = part.Short
	}
	if r.Matched.Run == "" || part.Matched.less(&r.Matched) {
		r.Matched = part.Matched
	}
}

// emptyBridge is a bridge without any profit, with the terms of a report.
func emptyBridge(name string, like *Comparison) Bridge {
	zero := Amount{0, like.Account.Gap.Digits}
	b := Bridge{Name: name, Live: zero, Gap: zero, Unexplained: zero, Turnover: zero, Outside: zero, Equity: zero}
	for range like.Account.Profits {
		b.Profits = append(b.Profits, zero)
	}
	for i := range like.Account.Terms {
		t := &like.Account.Terms[i]
		b.Terms = append(b.Terms, Term{Fact: t.Fact, About: t.About, Step: zero, Mean: zero, Least: zero, Most: zero})
	}
	return b
}

// add adds the bridge of a part. The range of a fact is the sum of the ranges. The money is that at
// the beginning of the first part.
func (b *Bridge) add(part *Bridge) {
	if b.Equity.Units == 0 {
		b.Equity = part.Equity
	}
	for i := range b.Profits {
		b.Profits[i].Units += part.Profits[i].Units
	}
	for i := range b.Terms {
		t, of := &b.Terms[i], &part.Terms[i]
		t.Step.Units += of.Step.Units
		t.Mean.Units += of.Mean.Units
		t.Least.Units += of.Least.Units
		t.Most.Units += of.Most.Units
		t.RangeOnly = t.RangeOnly || of.RangeOnly
	}
	b.Live.Units += part.Live.Units
	b.Gap.Units += part.Gap.Units
	b.Unexplained.Units += part.Unexplained.Units
	b.Turnover.Units += part.Turnover.Units
	b.Outside.Units += part.Outside.Units
}

// move adds a profit that live and all runs have.
func (b *Bridge) move(money market.Money) {
	for i := range b.Profits {
		b.Profits[i].Units += money
	}
	b.Live.Units += money
}

// mark tells an account a price.
func mark(a *state.Account, m market.ID, at market.Time, price market.Price) error {
	_, err := a.Apply(&market.Event{Kind: market.KindTrade, At: at, Market: m,
		Trade: &market.Trade{Market: m, Price: price}})
	return err
}
