package backtest

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/market"
)

// signalFeed is the signals of a run that are to come.
type signalFeed struct {
	signals   []market.Signal
	signalAt  market.Time // of the first of them; never: there is none
	signalDue bool        // it arrives with the next group of candles, or before
	awaits    market.Time // the end of the path that stops at signals; 0: none does
}

// setSignals sets the signals that are to come.
func (d *driver) setSignals(list []market.Signal) {
	d.signals, d.signalAt = list, never
	if len(list) > 0 {
		d.signalAt = list[0].Due()
	}
}

// hearBefore lets the signals arrive that are due before the end of a candle, ahead of its path. A
// path in which a tactic works stops at each instead, where the path stands then: it reports
// whether this one does.
func (d *driver) hearBefore(end market.Time) (inPath bool) {
	for inPath = d.engine.Watches()[0].Tactic; !inPath && d.signalAt < end; inPath = d.engine.Watches()[0].Tactic {
		d.hear(d.signalAt)
	}
	if inPath {
		d.await(end)
	}
	return inPath
}

// await lets the path that ends at a time stop at the signals before; 0: there is no such path.
func (d *driver) await(end market.Time) {
	d.awaits = end
	if d.signalAt < end {
		d.engine.Await(d.signalAt)
	} else {
		d.engine.Await(0)
	}
}

// hear lets the signals arrive that are due until a time, each at its own, with the timers before
// them.
func (d *driver) hear(until market.Time) {
	for d.signalAt <= until {
		s := d.signals[0]
		d.setSignals(d.signals[1:])
		d.await(d.awaits)
		if at, waiting := d.engine.NextTimer(); waiting && at < s.Due() {
			d.fireTimers(s.Due() - 1)
		}
		d.advise(&s)
	}
}

// advise lets a signal arrive.
func (d *driver) advise(s *market.Signal) {
	at := max(s.Due(), d.engine.Now())
	d.knows = max(d.knows, s.Due())
	d.sendInPath(d.engine.Enter(&market.Input{Kind: market.InputSignal, At: at, Signal: s}).Commands)
}

// hearOld lets the latest of the signals before the first candle arrive, of each source and market:
// they hold at its start.
func (d *driver) hearOld(first market.Time) {
	type place struct {
		source string
		market market.ID
	}
	last := map[place]int{}
	n := 0
	for ; n < len(d.signals) && d.signals[n].Due() <= first; n++ {
		last[place{d.signals[n].Source, d.signals[n].Market}] = n
	}
	old := d.signals[:n]
	d.setSignals(d.signals[n:])
	for i := range old {
		if last[place{old[i].Source, old[i].Market}] == i {
			d.advise(&old[i])
		}
	}
}

// shortHorizon is how many altered signals a fork has at most: it ends soon after its cut.
const shortHorizon = horizon

// hear is the signals of a run with the alteration: those due after the cut are gone, or others;
// most is how many others there are at most. The list stays as it is.
func (a alteration) hear(list []market.Signal, most int) []market.Signal {
	if !a.noise && !a.ends {
		return list
	}
	n := 0
	for n < len(list) && list[n].Due() <= a.cut {
		n++
	}
	if a.ends {
		return list[:n:n]
	}
	chance := randomSequence(a.seed)
	changed := append([]market.Signal(nil), list[:min(len(list), n+most)]...)
	for i := n; i < len(changed); i++ {
		s := &changed[i]
		if s.Action != 0 {
			s.Action = market.Action(1 + chance.below(int64(market.ActExit)))
		}
		if s.Stance != 0 {
			s.Stance = market.Stance(1 + chance.below(int64(market.StanceFlat)))
		}
		s.Value *= float64(chance.below(400)-200) / 100
		s.Target *= float64(chance.below(100)) / 100
		s.Text = ""
	}
	return changed
}

// Late is the end of a run whose signals arrive later than they are known.
type Late struct {
	Delay  string `json:"delay"`
	Final  Amount `json:"final_equity"`
	Return Figure `json:"return"`
}

// lateRows are the hindsight table for a person.
func (res *Result) lateRows() (rows [][]string) {
	for _, l := range res.Hindsight {
		rows = append(rows, []string{l.Delay, l.Final.Short(), l.Return.Percent(2)})
	}
	return rows
}

// late returns the run's own end first, then those with later signals.
func (r *recorder) late(info finishInfo) (all []Late) {
	if len(info.Late) == 0 {
		return nil
	}
	for _, e := range append([]pathEquity{{"0 (this run)", r.last.equity}}, info.Late...) {
		o := r.outcome(e)
		all = append(all, Late{o.Path, o.Final, o.Return})
	}
	return all
}

// lateness is the delays of the hindsight table, and their names; 0: a candle of the strategies.
var lateness = [...]struct {
	name  string
	delay market.Duration
}{{"1 minute", time.Minute}, {"1 hour", time.Hour}, {"1 candle", 0}, {"1 day", 24 * time.Hour}}

// hindsight runs the plan again with signals that arrive later: what is worth much at once, and
// nothing a little later, may have known the future.
func (d *driver) hindsight(ctx context.Context, o Options) (ends []pathEquity, err error) {
	for _, l := range lateness {
		delay := l.delay
		if delay == 0 {
			delay = d.plan.shortest()
		}
		late := *d.plan
		late.Log, late.Signals = zerolog.Nop(), delayed(d.plan.Signals, delay)
		run, err := drive(ctx, &late, runOptions{progress: o.Progress, watch: o.Watch})
		if err != nil {
			return nil, fmt.Errorf("signals %s later: %w", l.name, err)
		}
		equity, err := run.account.Equity(d.plan.Currency.ID)
		if err != nil {
			return nil, fmt.Errorf("signals %s later: %w", l.name, err)
		}
		ends = append(ends, pathEquity{l.name, equity})
	}
	return ends, nil
}

// shortest is the shortest main interval of the strategies.
func (p *Plan) shortest() market.Duration {
	of := p.Strategies[0].Interval
	for i := range p.Strategies {
		of = min(of, p.Strategies[i].Interval)
	}
	return market.Duration(of.End(0))
}

// delayed is signals that are known later, and hold as much longer.
func delayed(list []market.Signal, by market.Duration) []market.Signal {
	late := append([]market.Signal(nil), list...)
	for i := range late {
		if late[i].Known = late[i].Known.Add(by); late[i].Until != 0 {
			late[i].Until = late[i].Until.Add(by)
		}
		if late[i].Arrived != 0 {
			late[i].Arrived = late[i].Arrived.Add(by)
		}
	}
	return late
}
