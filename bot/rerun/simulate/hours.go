package simulate

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/exchange/footprint"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// pauseLength is the shortest time without any input that counts as a hole of a recording: a bot
// receives prices each second.
const pauseLength = market.Time(60e9)

// Hours are what a recording has for a run with other settings: markets, candles, and what is
// missing.
type Hours struct {
	Dir      string
	From, To market.Time // from the first start's beginning to the last input
	Starts   int
	Inputs   uint64 // of market data
	Programs []string
	Lost     []reader.Lost
	Pauses   []Pause
	// Others takes what the bot itself did out of the recorded markets, for a run in the units of a
	// catalog; nil: the markets stay as they were recorded. Own is a sentence about it.
	Others func(*market.Catalog) *footprint.Markets
	Own    string

	manifest *core.Manifest // of the first start, with the markets of later ones
	series   []plan.Series
	quotes   map[string]quoted // by market
}

// quoted is how often a market was quoted.
type quoted struct{ tickers, books int64 }

// Pause is a time in which nothing was recorded.
type Pause struct{ From, To market.Time }

// String is the line for a person.
func (p *Pause) String() string {
	return fmt.Sprintf("nothing was recorded from %s to %s (%s)", p.From, p.To, p.To.Sub(p.From))
}

// ReadHours reads a recording once: that in a state folder, or the one in the folder of bot record.
// Its writer may run. A recording that is missing, or without a start, wraps bolt.ErrNotFound.
func ReadHours(ctx context.Context, dir string) (*Hours, error) {
	h := &hoursReader{Hours: &Hours{Dir: dir, quotes: map[string]quoted{}},
		known: map[string]map[market.Interval]map[market.Time]bool{}}
	for item, err := range h.items(ctx) {
		if err == nil {
			err = h.item(item)
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range h.series {
		slices.SortFunc(h.series[i].Candles, func(a, b market.Candle) int { return cmp.Compare(a.Start, b.Start) })
	}
	return h.Hours, nil
}

// items yields the records from the first start on, and what is missing between them.
func (h *Hours) items(ctx context.Context) iter.Seq2[*reader.Item, error] {
	starts, err := reader.Starts(h.Dir)
	if err != nil {
		return func(yield func(*reader.Item, error) bool) { yield(nil, err) }
	}
	return reader.Items(ctx, reader.Source{Dir: h.Dir, From: starts[0].First})
}

// hoursReader reads Hours.
type hoursReader struct {
	*Hours
	known map[string]map[market.Interval]map[market.Time]bool // candles, by start
}

// item reads a record, or notes what is missing.
func (h *hoursReader) item(r *reader.Item) error {
	if r.Gap != nil {
		h.Lost = append(h.Lost, r.Gap.Lost...)
		return nil
	}
	of := r.Catalog
	switch r.Kind {
	case recording.KindStart:
		h.Starts++
		if m := r.Manifest; !slices.Contains(h.Programs, m.Program) {
			h.Programs = append(h.Programs, m.Program)
		}
		if err := h.merge(r.Manifest); err != nil {
			return fmt.Errorf("record %d: %w", r.Number, err)
		}
	case recording.KindHistory:
		h.keep(r.Candles, of)
	case recording.KindOpen:
		h.pass(r.At)
	}
	ev := r.Data()
	if ev == nil {
		return nil
	}
	h.pass(ev.At)
	h.Inputs++
	switch q := h.quotes[nameOf(of, ev.Market)]; ev.Kind {
	case market.KindCandles:
		h.keep(ev.Candles, of)
	case market.KindTicker:
		q.tickers++
		h.quotes[nameOf(of, ev.Market)] = q
	case market.KindBook:
		q.books++
		h.quotes[nameOf(of, ev.Market)] = q
	}
	return nil
}

// nameOf is the name of a market; empty for none.
func nameOf(of *market.Catalog, id market.ID) string {
	if id == 0 {
		return ""
	}
	return of.Market(id).Name
}

// pass extends the hours to the time of an event. A long time without events is a pause.
func (h *hoursReader) pass(at market.Time) {
	if h.From == 0 {
		h.From = at
	} else if at-h.To > pauseLength {
		h.Pauses = append(h.Pauses, Pause{h.To, at})
	}
	h.To = max(h.To, at)
}

// merge adds the markets of a start. One that has other units than before cannot be read together
// with the hours before.
func (h *hoursReader) merge(m *core.Manifest) error {
	if h.manifest == nil {
		own := *m
		h.manifest = &own
		return nil
	}
	for _, a := range m.Assets {
		at := slices.IndexFunc(h.manifest.Assets, func(b core.AssetFacts) bool { return b.Symbol == a.Symbol })
		if at < 0 {
			h.manifest.Assets = append(slices.Clip(h.manifest.Assets), a)
		} else if h.manifest.Assets[at] != a {
			return fmt.Errorf("asset %s has %d decimals and had %d: simulate the hours before and after apart",
				a.Symbol, a.Digits, h.manifest.Assets[at].Digits)
		}
	}
	for _, f := range m.Markets {
		at := slices.IndexFunc(h.manifest.Markets, func(g core.MarketFacts) bool { return g.Name == f.Name })
		if at < 0 {
			h.manifest.Markets = append(slices.Clip(h.manifest.Markets), f)
			continue
		}
		if g := &h.manifest.Markets[at]; g.PriceDigits != f.PriceDigits || g.VolumeDigits != f.VolumeDigits {
			return fmt.Errorf("market %s has other units than at the start before: simulate the hours apart", f.Name)
		}
	}
	return nil
}

// keep keeps the candles that it does not have yet.
func (h *hoursReader) keep(candles []market.Candle, of *market.Catalog) {
	for i := range candles {
		c := &candles[i]
		m := of.Market(c.Market)
		if h.known[m.Name] == nil {
			h.known[m.Name] = map[market.Interval]map[market.Time]bool{}
		}
		if h.known[m.Name][c.Interval] == nil {
			h.known[m.Name][c.Interval] = map[market.Time]bool{}
			h.series = append(h.series, plan.Series{Market: m.Name, Interval: c.Interval, PriceDigits: m.PriceDigits,
				VolumeDigits: m.VolumeDigits})
		}
		if seen := h.known[m.Name][c.Interval]; !seen[c.Start] {
			seen[c.Start] = true
			own := *c
			own.Late = false
			s := h.of(m.Name, c.Interval)
			s.Candles = append(s.Candles, own)
		}
	}
}

// of is a recorded series, or nil.
func (h *Hours) of(name string, interval market.Interval) *plan.Series {
	for i := range h.series {
		if s := &h.series[i]; s.Market == name && s.Interval == interval {
			return s
		}
	}
	return nil
}

// Settle completes a config for these hours: the units of the recorded assets, the range, and,
// where account.start is not set, the money: the sum of the allocations, and as much for the
// strategies without one as a backtest begins with.
func (h *Hours) Settle(c *config.Backtest) error {
	if c.Assets == nil {
		c.Assets = map[string]config.AssetSection{}
	}
	for _, a := range h.manifest.Assets {
		c.Assets[a.Symbol] = config.AssetSection{Decimals: int64(a.Digits)}
	}
	c.Backtest.From = max(c.Backtest.From, config.Moment(h.From))
	if len(c.Account.Start) > 0 {
		return nil
	}
	currency, err := new(market.Catalog).AddAsset(c.Account.Currency, uint8(c.Assets[c.Account.Currency].Decimals))
	if err != nil {
		return err
	}
	sum, shared := market.Money(0), false
	for _, s := range c.Strategies {
		money, err := s.Allocation.Money(currency)
		if err != nil {
			return nil // the plan says where it stands
		}
		sum, shared = sum+money, shared || money == 0
	}
	if shared {
		sum += defaultPool * market.Money(market.Pow10(currency.Digits))
	}
	c.Account.Start = map[string]config.Decimal{
		c.Account.Currency: config.Decimal(market.FormatFixed(int64(sum), currency.Digits))}
	return nil
}

// defaultPool is what strategies without an allocation begin with, as in a backtest.
const defaultPool = 10_000

// Library are the recorded candles.
func (h *Hours) Library() (plan.Library, error) { return plan.NewGiven(h.series) }

// check refuses a plan that wants what is not recorded.
func (h *Hours) check(p *plan.Backtest) error {
	for i := range p.Strategies {
		s := &p.Strategies[i]
		section := p.Config.Strategies[s.Name]
		if section.Universe != nil {
			return config.Usagef("strategy %s trades a universe, which a recording cannot rank; name its markets",
				s.Name)
		}
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			return err
		}
		for _, name := range slices.Concat(section.Markets, needs.Reads) {
			for _, c := range needs.Of(s.Interval) {
				if h.of(name, c.Interval) == nil {
					return config.Usagef("strategy %s wants %s candles of %s, which are not recorded; there are %s",
						s.Name, c.Interval, name, h.recorded())
				}
			}
			if needs.Book && slices.Contains(section.Markets, name) && h.quotes[name].books == 0 {
				return config.Usagef("strategy %s wants order books of %s, and none were recorded", s.Name, name)
			}
		}
	}
	return nil
}

// recorded lists the recorded series.
func (h *Hours) recorded() string {
	text := ""
	for i := range h.series {
		if i > 0 {
			text += ", "
		}
		text += h.series[i].Market + " " + h.series[i].Interval.String()
	}
	return cmp.Or(text, "no candles")
}
