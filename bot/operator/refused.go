package operator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// Refused lists the sent orders and the refusals of strategies since a time, as a program reads it.
type Refused struct {
	profit.Answer
	SinceMS    int64       `json:"since_ms"`
	Strategies []RefusedBy `json:"strategies"`
}

// RefusedBy lists the sent orders and the refusals of one strategy.
type RefusedBy struct {
	Strategy string        `json:"strategy"`
	Orders   int           `json:"orders"`           // sent
	Changes  int           `json:"changes"`          // sent
	Halted   string        `json:"halted,omitempty"` // why; empty: it is not halted
	HaltedMS int64         `json:"halted_ms,omitempty"`
	Refused  []RefusedKind `json:"refused"` // the latest first
	// Notes are what the strategy tells of the time since its start or reload, a sentence each.
	Notes []string `json:"notes,omitempty"`
}

// RefusedKind counts the refusals of one command, market and side for one reason.
type RefusedKind struct {
	By      string `json:"by"` // "gate" or "exchange"
	Command string `json:"command"`
	Market  string `json:"market,omitempty"`
	Side    string `json:"side,omitempty"`
	Reason  string `json:"reason"`
	Times   int64  `json:"times"`
	FirstMS int64  `json:"first_ms"`
	LastMS  int64  `json:"last_ms"`

	Order   int64  `json:"order,omitempty"`   // of the last one, where it had a number
	Asked   string `json:"asked"`             // by the last one
	Rounded string `json:"rounded,omitempty"` // the numbers that the gate rounded
	Value   string `json:"value,omitempty"`
	Limit   string `json:"limit,omitempty"`
	Detail  string `json:"detail"`
	Cause   string `json:"cause,omitempty"` // the event in whose callback it was asked for
}

// RefusedOf reads the refusals since a time, of one strategy or of all. counted are the refusals
// that the journal does not have yet.
func RefusedOf(store *journal.Store, strategy string, since market.Time, counted []journal.Refusal) (*Refused, error) {
	c := refusalCollector{store: store, since: since, only: strategy,
		info: &Refused{SinceMS: since.Millis(), Strategies: []RefusedBy{}}}
	if err := c.addStrategies(); err != nil {
		return nil, err
	}
	for i := range counted {
		if counted[i].Command.At >= since {
			c.gate(&counted[i])
		}
	}
	err := store.EntriesBack(since, c.entry, journal.EntryRefusal, journal.EntryOutcome, journal.EntryIntent)
	if err != nil {
		return nil, err
	}
	for i := range c.info.Strategies {
		slices.SortStableFunc(c.info.Strategies[i].Refused,
			func(a, b RefusedKind) int { return cmp.Compare(b.LastMS, a.LastMS) })
	}
	return c.info, nil
}

type refusalCollector struct {
	store *journal.Store
	since market.Time
	only  string
	info  *Refused
}

// addStrategies adds the strategies of the last run, with their halts.
func (c *refusalCollector) addStrategies() error {
	runs, err := c.store.Runs()
	if err != nil {
		return err
	}
	halts, err := c.store.Halts()
	if err != nil {
		return err
	}
	if len(runs) > 0 {
		names := runs[len(runs)-1].Strategies
		if c.only != "" && !slices.Contains(names, c.only) {
			return config.Usagef("no strategy %q; there are %v", c.only, names)
		}
		for _, name := range names {
			c.strategy(name)
		}
	}
	for _, s := range c.info.Strategies {
		for _, h := range halts {
			if h.Scope == "strategy "+s.Strategy {
				halted := c.strategy(s.Strategy)
				halted.Halted, halted.HaltedMS = h.Reason, h.At.Millis()
			}
		}
	}
	return nil
}

// strategy returns the list of a strategy and adds it if it is missing; nil: the request is about
// another strategy.
func (c *refusalCollector) strategy(name string) *RefusedBy {
	if c.only != "" && name != c.only {
		return nil
	}
	at := slices.IndexFunc(c.info.Strategies, func(s RefusedBy) bool { return s.Strategy == name })
	if at < 0 {
		at = len(c.info.Strategies)
		c.info.Strategies = append(c.info.Strategies, RefusedBy{Strategy: name, Refused: []RefusedKind{}})
	}
	return &c.info.Strategies[at]
}

func (c *refusalCollector) entry(e *journal.Entry) error {
	switch r := e.Record.(type) {
	case *journal.Refusal:
		c.gate(r)
	case *journal.Intent:
		if s := c.strategy(r.Strategy); s != nil && r.Command.Kind == market.CommandPlace {
			s.Orders++
		} else if s != nil && r.Command.Kind == market.CommandUpdate {
			s.Changes++
		}
	case *journal.AnswerEntry:
		if r.Answer == journal.AnswerRejected && r.Command != market.CommandCancel {
			return c.exchange(e.At, r)
		}
	}
	return nil
}

// gate adds a refusal of the gate. Entries come the latest first.
func (c *refusalCollector) gate(r *journal.Refusal) {
	o := &r.Command.Order
	k := RefusedKind{By: "gate", Command: r.Command.Kind.String(), Reason: r.Reason, Times: max(1, r.Count),
		FirstMS: r.First.Millis(), LastMS: r.Command.At.Millis(), Order: int64(o.ID),
		Asked: commandText(c.store.Catalog(), &r.Command), Rounded: termsText(c.store.Catalog(), o.Market,
			r.Rounded.Beside(o)), Value: r.Have, Limit: r.Limit, Detail: r.Detail,
		Cause: causeText(c.store.Catalog(), &r.Cause)}
	if o.Market != 0 {
		k.Market = c.store.Catalog().Market(o.Market).Name
	}
	if o.Side != 0 {
		k.Side = o.Side.String()
	}
	c.add(r.Strategy, &k)
}

// exchange adds a refusal of the exchange.
func (c *refusalCollector) exchange(at market.Time, r *journal.AnswerEntry) error {
	row, err := c.store.Order(r.Order)
	if errors.Is(err, bolt.ErrNotFound) {
		return nil // compacted away
	}
	if err != nil {
		return err
	}
	command := market.Command{Kind: r.Command, Order: row.Order}
	c.add(row.StrategyName, &RefusedKind{
		By: "exchange", Command: r.Command.String(), Market: c.store.Catalog().Market(row.Market).Name,
		Side: row.Side.String(), Reason: fmt.Sprintf("exchange %d", r.Code), Times: 1, FirstMS: at.Millis(),
		LastMS: at.Millis(), Order: int64(r.Order), Asked: commandText(c.store.Catalog(), &command), Detail: r.Message,
	})
	return nil
}

// add counts a refusal with those of its kind.
func (c *refusalCollector) add(strategy string, k *RefusedKind) {
	s := c.strategy(strategy)
	if s == nil {
		return
	}
	for i := range s.Refused {
		if have := &s.Refused[i]; have.By == k.By && have.Command == k.Command && have.Market == k.Market &&
			have.Side == k.Side && have.Reason == k.Reason {
			have.Times += k.Times
			have.FirstMS = min(have.FirstMS, k.FirstMS)
			return
		}
	}
	s.Refused = append(s.Refused, *k)
}

// storedRefusals reads the refusals of a stopped bot. since counts back from the last entry of its
// state file.
func storedRefusals(store *journal.Store, strategy string, since time.Duration) (*Refused, error) {
	last, err := store.LastEntries(1)
	if err != nil || len(last) == 0 {
		return &Refused{Strategies: []RefusedBy{}}, err
	}
	return RefusedOf(store, strategy, last[0].At.Add(-market.Duration(since)), nil)
}
