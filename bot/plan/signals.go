package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/parquet"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/signals"
	"github.com/tidemark-trading/tidemark/strategy"
)

// maxSources is the largest number of sources of signals.
const maxSources = 64

// checkSources checks that the sources which a strategy hears have a section.
func (p *Plan) checkSources(path []string, kind strategy.Definition, values map[string]any) error {
	needs, err := kind.Needs(values)
	if err == nil {
		err = p.checkHeard(needs.Signals)
	}
	return config.At(path, err)
}

// checkHeard checks that some sources have a section.
func (p *Plan) checkHeard(sources []string) error {
	for _, name := range sources {
		if _, is := p.sections.Signals[name]; is {
			continue
		}
		names := slices.Sorted(maps.Keys(p.sections.Signals))
		if len(names) == 0 {
			return fmt.Errorf("hears signals of %q, which have no section; write [signals.%s], for a backtest with "+
				"file = \"model.csv\", for a live bot with live = \"door\"", config.Clip(name), config.Clip(name))
		}
		return fmt.Errorf("hears signals of %q, which have no section; the nearest is [signals.%s]", config.Clip(name),
			strategy.Nearest(name, names))
	}
	return nil
}

// checkSignals checks the sections of signals, without their files: checks of rules need none.
func (p *Backtest) checkSignals() error {
	return checkSignals(p.Config.Signals.Sources, func([]string, *config.SignalSection) error { return nil })
}

// checkSignals checks the sections of signals, and how each of them comes.
func (p *Live) checkSignals() error {
	reads := ""
	return checkSignals(p.Config.Signals.Sources, func(path []string, s *config.SignalSection) error {
		at := config.Join(path, "live")
		if s.Live == "" {
			return config.Keyf(at, "is missing; say how the bot hears them: live = \"door\" by HTTP, \"file\" as new "+
				"lines of file, or \"stdin\"")
		}
		if err := config.OneOf(at, s.Live, config.LiveDoor, config.LiveFile, config.LiveStdin); err != nil {
			return err
		}
		switch {
		case s.Live == config.LiveFile && s.File == "":
			return config.Keyf(config.Join(path, "file"), "is missing; want the file that grows, like \"model.csv\"")
		case s.Live == config.LiveFile && slices.Contains([]string{".gz", ".parquet"}, filepath.Ext(s.File)):
			return config.Keyf(config.Join(path, "file"), "%q does not grow by lines; want a CSV", config.Clip(s.File))
		case s.Live == config.LiveDoor && p.Config.Signals.Door.Listen == "":
			return config.Keyf([]string{"signals", "door", "listen"}, "is missing, and %s comes by the door; want an "+
				"address like \"127.0.0.1:8790\"", path[1])
		case s.Live == config.LiveStdin && reads != "":
			return config.Keyf(at, "%s reads the standard input already; there is only one", reads)
		case s.Live == config.LiveStdin:
			reads = path[1]
		}
		return nil
	})
}

// checkSignals checks what sections of signals have in common, and each of them by also.
func checkSignals(sources map[string]config.SignalSection, also func([]string, *config.SignalSection) error) error {
	if n := len(sources); n > maxSources {
		return config.Keyf([]string{"signals"}, "%d sources; at most %d", n, maxSources)
	}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		path, s := []string{"signals", name}, sources[name]
		if err := also(path, &s); err != nil {
			return err
		}
		if _, err := time.LoadLocation(s.Zone); err != nil || s.Zone == "Local" {
			return config.Keyf(config.Join(path, "zone"), "%q is no time zone that this machine knows; want UTC, or a "+
				"name like Europe/Amsterdam", config.Clip(s.Zone))
		}
		if s.Stamped != "" {
			err := config.OneOf(config.Join(path, "stamped"), s.Stamped, signals.StampedOpen, signals.StampedClose)
			if err != nil {
				return err
			}
		}
		for _, from := range slices.Sorted(maps.Keys(s.Markets)) {
			if _, _, err := market.SplitName(s.Markets[from]); err != nil {
				return config.At(config.Join(path, "markets", from), err)
			}
		}
	}
	return nil
}

// readSignals reads the files of signals, and gives the run what of them is about its markets.
func (p *Backtest) readSignals() error {
	if p.heard = map[string]*signals.File{}; len(p.Config.Signals.Sources) == 0 {
		return nil
	}
	end, err := p.End()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(p.Config.Signals.Sources)) {
		path := []string{"signals", name, "file"}
		if p.Config.Signals.Sources[name].File == "" {
			return config.Keyf(path, "is missing; want a CSV of signals, like \"model.csv\"")
		}
		f, err := p.readSource(name)
		if err != nil {
			return config.At(path, err)
		}
		p.heard[name] = f
		others, late := 0, 0
		for i := range f.Rows {
			row := &f.Rows[i]
			m := p.Catalog.MarketNamed(row.On)
			switch {
			case row.On != "" && m == nil:
				others++
			case row.Known > end.Add(p.Run.DataLatency):
				late++
			default:
				if m != nil {
					row.Market = m.ID
				}
				p.Run.Signals = append(p.Run.Signals, row.Signal)
			}
		}
		p.describeSignals(name, f, others, late)
	}
	slices.SortStableFunc(p.Run.Signals, func(a, b market.Signal) int { return cmp.Compare(a.Known, b.Known) })
	p.warnOfCoarsePaths()
	hash := sha256.New()
	for i := range p.Run.Signals {
		fmt.Fprintln(hash, p.Run.Signals[i])
	}
	p.advice = "signals " + hex.EncodeToString(hash.Sum(nil)) + "\n"
	return nil
}

// SignalOptions are the settings of a source of signals. Its markets are those of the catalog.
func (p *Plan) SignalOptions(name string) (o signals.Options, err error) {
	s := p.sections.Signals[name]
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return o, err
	}
	o = signals.Options{Delay: market.Duration(s.Delay), Zone: zone, Stamped: s.Stamped,
		MaxAge: market.Duration(s.MaxAge), Every: market.Duration(s.Every), Value: s.Value, Markets: s.Markets,
		Parquet: parquet.CSV}
	for i := range p.Strategies {
		needs, err := p.Strategies[i].Kind.Needs(p.Strategies[i].Values)
		if err == nil && slices.Contains(needs.Signals, name) &&
			(o.Interval == 0 || p.Strategies[i].Interval < o.Interval) {
			o.Interval = p.Strategies[i].Interval
		}
	}
	if p.Catalog == nil { // the exchange has not told of it yet
		return o, nil
	}
	for _, m := range p.Catalog.Markets() {
		o.Known = append(o.Known, m.Name)
	}
	return o, nil
}

// readSource reads the file of a source.
func (p *Backtest) readSource(name string) (*signals.File, error) {
	o, err := p.SignalOptions(name)
	if err != nil {
		return nil, err
	}
	if o.Interval == 0 {
		p.Options.Warnings = append(p.Options.Warnings, fmt.Sprintf("signals %s: no strategy hears them.", name))
	}
	return signals.Read(p.Config.Signals.Sources[name].File, name, o)
}

// describeSignals says in the assumptions what was read.
func (p *Backtest) describeSignals(name string, f *signals.File, others, late int) {
	s := p.Config.Signals.Sources[name]
	text := fmt.Sprintf("Signals %s: %s (SHA-256 %s…), %d rows, known at %s", name, s.File, f.Hash[:12], len(f.Rows),
		f.Stamp)
	if s.Delay > 0 {
		text += fmt.Sprintf(" and %s later", time.Duration(s.Delay))
	}
	text += fmt.Sprintf(", from %s to %s.", f.Rows[0].Known, f.Rows[len(f.Rows)-1].Known)
	var counts []string
	for _, c := range [...]struct {
		n    int64
		text string
	}{{int64(others), "of markets that are not traded, never used"}, {int64(late), "after the last candle, never used"},
		{f.Empty, "without a value"}, {f.Doubles, "repeated"}, {f.Shorts, "short, which a spot market takes as flat"},
		{f.Silent, "after a silence longer than every"}} {
		if c.n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", c.n, c.text))
		}
	}
	if len(counts) > 0 {
		text += " Of its rows: " + strings.Join(counts, "; ") + "."
	}
	p.Options.Assumptions = append(p.Options.Assumptions, text)
}

// warnOfCoarsePaths warns of signals that arrive inside long candles.
func (p *Backtest) warnOfCoarsePaths() {
	for _, f := range p.Run.Feeds {
		if !f.Drive || f.Interval <= market.Interval5m {
			continue
		}
		inside := slices.ContainsFunc(p.Run.Signals, func(s market.Signal) bool {
			return (s.Market == 0 || s.Market == f.Market.ID) && !f.Interval.Aligned(s.Known)
		})
		if inside {
			p.Options.Warnings = append(p.Options.Warnings, fmt.Sprintf("Signals arrive inside the %s candles that "+
				"move %s: an order that follows one fills at the next of a candle's four points; store finer candles "+
				"for their prices.", f.Interval, f.Market.Name))
			return
		}
	}
}

// withSignals are settings with the content of the files of signals in the place of their names:
// both decide the outcome, but a hash wants the content.
func (p *Backtest) withSignals(c config.Backtest) config.Backtest {
	c.Signals.Sources = maps.Clone(c.Signals.Sources)
	for name, s := range c.Signals.Sources {
		s.File = p.heard[name].Hash
		c.Signals.Sources[name] = s
	}
	return c
}

// withoutFiles are sections without the names of their files, which decide nothing live.
func withoutFiles(sources map[string]config.SignalSection) map[string]config.SignalSection {
	sources = maps.Clone(sources)
	for name, s := range sources {
		s.File = ""
		sources[name] = s
	}
	return sources
}
