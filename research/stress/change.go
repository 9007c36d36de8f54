package stress

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// kind is a kind of change. The zero value is the first.
type kind int

// The kinds, in the order of a report.
const (
	costs kind = iota
	spread
	slippage
	latency
	fills
	starts
	without
	noisy
	lost
	doubled
	late
	disordered
	kinds
)

// kindTable names the kinds.
var kindTable = [kinds]struct{ name, title, says string }{
	costs:    {"costs", "all costs", "fees, half spread and slippage times the factor; a rebate stays as it is"},
	spread:   {"spread", "half spread", "half the distance of bid and ask, which takers pay"},
	slippage: {"slippage", "slippage", "what takers pay beyond the spread"},
	latency:  {"latency", "latency of orders", "from a decision to its arrival at the exchange"},
	fills:    {"fills", "missed fills", "the chance that a price which only touches a resting order fills it"},
	starts:   {"start", "another day of start", "the run begins up to 27 days later"},
	without: {"entries", "best entries left out",
		"the strategy may not open in that market from the decision to the exit: the cash goes elsewhere"},
	noisy: {"noise", "noise on the prices",
		"each price moves by a random part of a usual move of the finest candle, in all markets together"},
	lost:    {"signals_lost", "signals lost", "some signals never come"},
	doubled: {"signals_doubled", "signals doubled", "some signals come once more, five seconds later"},
	late: {"signals_late", "signals late", "all signals arrive later than they were known; those that are too old " +
		"then, by max_age, do not come"},
	disordered: {"signals_disordered", "signals out of order",
		"some signals come behind the next one of their source and market"},
}

// level is one size of a change.
type level struct {
	label string
	grade int // how far from what one should expect anyway: 0 none, 1 small, 2 large, 3 extreme
	runs  int
	apply func(p *backtest.Plan, number int)
	alone bool // the plans of a number read candles of their own
}

// oneCase is one run.
type oneCase struct {
	kind   kind
	level  int // place in levels
	number int
	change level
	ran    Figures
	halted bool
}

const (
	basisPoint = market.Rate(10_000)
	whole      = market.Rate(100_000_000)
	day        = market.Time(24 * time.Hour)
)

// addCases lists all runs.
func (s *stressed) addCases() error {
	for k, make := range [kinds]func() ([]level, error){costs: s.costLevels, spread: s.spreadLevels,
		slippage: s.slippageLevels, latency: s.latencyLevels, fills: s.fillLevels, starts: s.startLevels,
		without: s.entryLevels, noisy: s.noiseLevels, lost: s.lostLevels, doubled: s.doubledLevels,
		late: s.lateLevels, disordered: s.disorderedLevels} {
		if kind(k) >= lost && len(s.signals) == 0 {
			continue
		}
		levels, err := make()
		if err != nil {
			return err
		}
		for i, l := range levels {
			for number := range max(l.runs, 1) {
				s.cases = append(s.cases, oneCase{kind: kind(k), level: i, number: number, change: l})
			}
		}
	}
	return nil
}

// costLevels raise all costs. The first one changes nothing: it has to end as the plain run.
func (s *stressed) costLevels() (levels []level, _ error) {
	for i, percent := range [...]int64{100, 150, 200} {
		label := strings.TrimSuffix(fmt.Sprintf("×%.1f", float64(percent)/100), ".0")
		levels = append(levels, level{label: label, grade: []int{0, 2, 3}[i], alone: len(s.plan.Changes) > 0,
			apply: func(p *backtest.Plan, _ int) { raiseCosts(p, percent) }})
	}
	return levels, nil
}

// raiseCosts multiplies the costs of a plan.
func raiseCosts(p *backtest.Plan, percent int64) {
	times := func(r market.Rate) market.Rate {
		if r <= 0 { // a rebate is no cost
			return r
		}
		return min((r*market.Rate(percent)+99)/100, whole)
	}
	p.Fees = backtest.Fees{Maker: times(p.Fees.Maker), Taker: times(p.Fees.Taker)}
	p.Venue.HalfSpread, p.Venue.Slippage = min(times(p.Venue.HalfSpread), whole/2), times(p.Venue.Slippage)
	p.Changes = slices.Clone(p.Changes)
	for i := range p.Changes {
		if f := p.Changes[i].Fees; f != nil {
			p.Changes[i].Fees = &backtest.Fees{Maker: times(f.Maker), Taker: times(f.Taker)}
		}
	}
}

// points are the steps of spread and slippage, in basis points, and their grades.
var points = [...]struct {
	bps   int64
	grade int
}{{1, 1}, {2, 1}, {5, 2}, {10, 2}, {20, 3}, {50, 3}}

func pointLevels(now market.Rate, set func(p *backtest.Plan, r market.Rate)) (levels []level) {
	for _, at := range points {
		if rate := market.Rate(at.bps) * basisPoint; rate > now {
			levels = append(levels, level{label: fmt.Sprintf("%d bps", at.bps), grade: at.grade,
				apply: func(p *backtest.Plan, _ int) { set(p, rate) }})
		}
	}
	return levels
}

func (s *stressed) spreadLevels() ([]level, error) {
	return pointLevels(s.plan.Venue.HalfSpread, func(p *backtest.Plan, r market.Rate) { p.Venue.HalfSpread = r }), nil
}

func (s *stressed) slippageLevels() ([]level, error) {
	return pointLevels(s.plan.Venue.Slippage, func(p *backtest.Plan, r market.Rate) { p.Venue.Slippage = r }), nil
}

// delay is a step of what comes later.
type delay struct {
	late  market.Duration
	text  string
	grade int
}

// delays are the steps of orders and of signals.
var delays = []delay{{time.Second, "1 s", 1}, {10 * time.Second, "10 s", 1}, {time.Minute, "1 min", 2},
	{5 * time.Minute, "5 min", 2}, {30 * time.Minute, "30 min", 3}}

func (s *stressed) latencyLevels() (levels []level, _ error) {
	for _, at := range delays {
		if at.late > s.plan.Venue.Latency {
			levels = append(levels, level{label: at.text, grade: at.grade,
				apply: func(p *backtest.Plan, _ int) { p.Venue.Latency = at.late }})
		}
	}
	return levels, nil
}

// draws is how many runs a change by chance has at each level.
const draws = 5

func (s *stressed) fillLevels() (levels []level, _ error) {
	if fill := s.plan.Venue.LimitFill; fill != sim.Touch {
		s.missing[fills] = fmt.Sprintf("limit_fill is %q, so that a touch fills nothing as it is", fill)
		return nil, nil
	}
	if o := &s.result.Orders; o.Fills == o.Taker {
		s.missing[fills] = "no resting order was filled, so that there is nothing to miss"
		return nil, nil
	}
	for _, at := range [...]struct {
		percent int64
		grade   int
		runs    int
	}{{75, 1, draws}, {50, 2, draws}, {25, 3, draws}, {0, 3, 1}} {
		missed := whole - market.Rate(at.percent)*(whole/100)
		if missed > s.plan.Venue.MissProbability {
			levels = append(levels, level{label: fmt.Sprintf("%d %%", at.percent), grade: at.grade, runs: at.runs,
				apply: func(p *backtest.Plan, number int) {
					p.Venue.MissProbability, p.Venue.MissSeed = missed, hash(s.job.Seed, uint64(number))
				}})
		}
	}
	return levels, nil
}

const startDays = 28

func (s *stressed) startLevels() ([]level, error) {
	if len(s.returns) < 2*startDays {
		s.missing[starts] = fmt.Sprintf("it needs %d daily returns, and the run has %d", 2*startDays, len(s.returns))
		return nil, nil
	}
	from := market.Time(s.result.From)
	return []level{{label: fmt.Sprintf("%d days", startDays), grade: 1, runs: startDays,
		apply: func(p *backtest.Plan, number int) { p.From = from + day*market.Time(number) }}}, nil
}

func (s *stressed) entryLevels() (levels []level, _ error) {
	if len(s.entries) == 0 {
		s.missing[without] = "no position has ended"
		return nil, nil
	}
	for i, n := range [...]int{1, 2, 3, 5, 10} {
		if n > len(s.entries) {
			break
		}
		levels = append(levels, level{label: fmt.Sprintf("%d of %d", n, len(s.entries)), grade: []int{1, 1, 2, 2, 3}[i],
			apply: func(p *backtest.Plan, _ int) { leaveOut(p, s.entries[:n]) }})
	}
	return levels, nil
}

func (s *stressed) noiseLevels() (levels []level, err error) {
	if s.missing[noisy], err = needsBooks(s.plan); err != nil || s.missing[noisy] != "" {
		return nil, err
	}
	moves, err := usualMoves(s.plan)
	if err != nil {
		return nil, err
	}
	for i, percent := range [...]int{10, 25, 50} {
		levels = append(levels, level{label: fmt.Sprintf("%d %% of a move", percent), grade: i + 1, runs: draws,
			alone: true,
			apply: func(p *backtest.Plan, number int) {
				(&noise{seed: hash(s.job.Seed, math.MaxUint64-uint64(number)), part: float64(percent) / 100,
					moves: moves}).over(p)
			}})
	}
	return levels, nil
}

// needsBooks says which strategy reads order books; empty: none does.
func needsBooks(p *backtest.Plan) (string, error) {
	for i := range p.Strategies {
		s := &p.Strategies[i]
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			return "", err
		}
		if needs.Book {
			return fmt.Sprintf("strategy %s reads order books, and noise is made for candles alone", s.Name), nil
		}
	}
	return "", nil
}

// hash mixes numbers, as the generator SplitMix64 does (Steele, Lea & Flood 2014).
func hash(numbers ...uint64) (mixed uint64) {
	for _, n := range numbers {
		mixed = (mixed ^ n) + 0x9e3779b97f4a7c15
		mixed = (mixed ^ mixed>>30) * 0xbf58476d1ce4e5b9
		mixed = (mixed ^ mixed>>27) * 0x94d049bb133111eb
		mixed ^= mixed >> 31
	}
	return mixed
}
