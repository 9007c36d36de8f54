package simulate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/internal/goroutine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// Plan completes a plan with the recorded candles, markets and rules: instead of
// plan.Backtest.Finish. Settle the plan's config before the plan is made.
func (h *Hours) Plan(p *plan.Backtest) error {
	if err := h.check(p); err != nil {
		return err
	}
	library, err := h.Library()
	if err != nil {
		return fmt.Errorf("recorded candles: %w", err)
	}
	if err := p.Finish(library); err != nil {
		return err
	}
	for _, m := range p.Run.Catalog.Markets() {
		at := slices.IndexFunc(h.manifest.Markets, func(f core.MarketFacts) bool { return f.Name == m.Name })
		f := &h.manifest.Markets[at]
		if m.PriceDigits != f.PriceDigits || m.VolumeDigits != f.VolumeDigits {
			return config.Usagef("the config gives %s %d decimals of price, and %d are recorded: leave out its "+
				"section in [markets]", m.Name, m.PriceDigits, f.PriceDigits)
		}
		m.Rules, m.Status = f.Rules, market.MarketStatus(f.Status)
	}
	p.Run.Rules = "Market rules are those that were recorded, with their changes."
	p.Options.Title += ", over the recorded hours of " + h.Dir
	p.Options.Warnings = append(h.describe(), p.Options.Warnings...)
	return nil
}

// describe says what the run stands on, and what is missing.
func (h *Hours) describe() []string {
	lines := []string{fmt.Sprintf("Simulated over what was recorded in %s from %s to %s: %d inputs of market data, "+
		"%d starts, recorded by %s. Orders are filled by the venue's model, not by the exchange; halts and orders of "+
		"that time have no part.", h.Dir, h.From, h.To, h.Inputs, h.Starts, strings.Join(h.Programs, ", "))}
	if h.Own != "" {
		lines = append(lines, h.Own)
	}
	for _, name := range slices.Sorted(maps.Keys(h.quotes)) {
		if q := h.quotes[name]; q.books > 0 {
			lines = append(lines, fmt.Sprintf("Order books of %s are the %d recorded ones, not made of candles.", name,
				q.books))
		}
	}
	for _, l := range h.Lost {
		lines = append(lines, fmt.Sprintf("Events %d to %d of the recording are lost.", l.From, l.To))
	}
	const most = 5
	for i, p := range h.Pauses {
		if i == most {
			lines = append(lines, fmt.Sprintf("There are %d more times without records.", len(h.Pauses)-most))
			break
		}
		lines = append(lines, "In the recording, "+p.String()+".")
	}
	return lines
}

// Run runs a plan of Plan over the hours. A strategy that ends its goroutine is called on
// goroutines of its own the second time.
func (h *Hours) Run(ctx context.Context, p *plan.Backtest) (r *backtest.Result, err error) {
	for _, apart := range []engine.Apart{nil, goroutine.Call} {
		if goroutine.Call(func() { r, err = h.runWith(ctx, p, apart) }) {
			return r, err
		}
	}
	return nil, errors.New("the run ended its goroutine twice")
}

func (h *Hours) runWith(ctx context.Context, p *plan.Backtest, apart engine.Apart) (*backtest.Result, error) {
	o := backtest.SessionOptions{Options: p.Options, Apart: apart}
	if h.Others != nil {
		o.Others = h.Others(p.Run.Catalog)
	}
	session, err := backtest.NewSession(p.Run, o)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	s := &simulation{hours: h, plan: p, session: session, latest: map[place]market.Time{}}
	for item, err := range h.items(ctx) {
		if err != nil {
			return nil, err
		}
		ev := item.Data()
		if to := p.Run.To; to != 0 && ev != nil && ev.At >= to {
			break
		}
		if item.Gap == nil {
			if err := s.record(item, ev); err != nil {
				return nil, fmt.Errorf("record %d: %w", item.Number, err)
			}
		}
	}
	return session.End(ctx)
}

// simulation feeds a session with a recording.
type simulation struct {
	hours   *Hours
	plan    *plan.Backtest
	session *backtest.Session
	ids     []market.ID // by the ID of the present start: that of the plan; 0: it does not trade the market
	opened  bool
	latest  map[place]market.Time // start of the latest candle that has entered
}

// place is a series.
type place struct {
	market   market.ID
	interval market.Interval
}

// record plays a record; ev is its market data, nil: it has none.
func (s *simulation) record(r *reader.Item, ev *market.Event) error {
	switch r.Kind {
	case recording.KindStart:
		s.ids = make([]market.ID, len(r.Catalog.Markets())+1)
		for _, m := range r.Catalog.Markets() {
			if own := s.plan.Run.Catalog.MarketNamed(m.Name); own != nil {
				s.ids[m.ID] = own.ID
			}
		}
	case recording.KindOpen:
		return s.open(r.At, s.own(r.History))
	}
	if ev == nil || !s.opened {
		return nil
	}
	return s.enter(ev)
}

// own are candles with the plan's markets, without those of others.
func (s *simulation) own(candles []market.Candle) []market.Candle {
	kept := candles[:0]
	for _, c := range candles {
		if c.Market = s.ids[c.Market]; c.Market != 0 {
			kept = append(kept, c)
		}
	}
	return kept
}

// open begins the session with the first start in the range. At a later start, candles that were
// not received meanwhile arrive late.
func (s *simulation) open(at market.Time, history []market.Candle) error {
	if !s.opened {
		s.opened = true
		for i := range history {
			s.note(&history[i])
		}
		return s.session.Open(at, history)
	}
	for _, c := range history {
		if c.Start > s.latest[place{c.Market, c.Interval}] {
			c.Late = true
			ev := market.Event{Kind: market.KindCandles, At: at, Candles: []market.Candle{c}}
			s.note(&c)
			if err := s.session.Enter(&market.Input{Kind: market.InputEvent, Event: &ev}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *simulation) note(c *market.Candle) { s.latest[place{c.Market, c.Interval}] = c.Start }

// enter lets market data enter, with the plan's markets.
func (s *simulation) enter(ev *market.Event) error {
	id := &ev.Market
	switch ev.Kind {
	case market.KindCandles:
		if ev.Candles = s.own(ev.Candles); len(ev.Candles) == 0 {
			return nil
		}
		for i := range ev.Candles {
			s.note(&ev.Candles[i])
		}
		return s.session.Enter(&market.Input{Kind: market.InputEvent, Event: ev})
	case market.KindTicker:
		id = &ev.Ticker.Market
	case market.KindBook:
		id = &ev.Book.Market
	case market.KindTrade:
		id = &ev.Trade.Market
	}
	if *id = s.ids[*id]; *id == 0 {
		return nil
	}
	ev.Market = *id
	return s.session.Enter(&market.Input{Kind: market.InputEvent, Event: ev})
}
