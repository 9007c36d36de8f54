package trials

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// NewTry is the try of a plan with its daily returns, the first of which ends at a time. excess are
// the returns less those of a hold at the plan's own exposure. Both count as float32. trips are its
// round trips. Two plans have one key if nothing that decides their result differs; how a config
// writes it does not count.
func NewTry[F float32 | float64](p *backtest.Plan, o *Origin, end market.Time, daily, excess []F,
	trips int64) (Try, error) {
	first := int32(end / market.Time(24*time.Hour))
	key, err := keyOf(p, o)
	return Try{Key: key, Series: seriesOf(first, daily), Sharpe: sharpeOf(excess), Days: uint32(len(daily)),
		Trips: uint32(min(trips, math.MaxUint32))}, err
}

// OriginOf fills in the strategies and markets of a plan.
func OriginOf(p *backtest.Plan, o Origin) Origin {
	var kinds []string
	o.Markets = nil
	for i := range p.Strategies {
		kinds = append(kinds, p.Strategies[i].Kind.Name)
		for _, m := range p.Strategies[i].Markets {
			o.Markets = append(o.Markets, m.Name)
		}
	}
	slices.Sort(kinds)
	slices.Sort(o.Markets)
	o.Strategy, o.Markets = strings.Join(slices.Compact(kinds), ","), slices.Compact(o.Markets)
	return o
}

// keyOf is a hash of what decides the result of a plan: strategies with parameters, settings,
// candles, range, program. The warm-up counts by where it lies. Runs with borders or absences are
// no tries.
func keyOf(p *backtest.Plan, o *Origin) (uint64, error) {
	b := fmt.Appendf(nil, "%s %s %d %d %t %d %d %t %v %v %v %v\n", o.Code, o.Data, o.From, o.To, p.ColdStart,
		p.DataLatency, p.Haircut, p.SyntheticBook, p.Currency.Symbol, p.Fees, p.Account, p.Deposits)
	v := &p.Venue
	b = fmt.Appendf(b, "%v %v %v %v %v %v %v %v %v %v %v\n", v.Path, v.LimitFill, v.LimitGap, v.FeeRounding,
		v.HalfSpread, v.Slippage, v.Latency, v.VolumeShare, v.PlacementLimit, v.MissProbability, v.MissSeed)
	for _, f := range p.Feeds {
		b = fmt.Appendf(b, "%v %v %t %t\n", *f.Market, f.Interval, f.Drive, f.Deliver)
	}
	for i := range p.Strategies {
		s := &p.Strategies[i]
		settings, err := s.Kind.Resolve(s.Values)
		if err != nil {
			return 0, fmt.Errorf("strategy %s: %w", s.Name, err)
		}
		b = fmt.Appendf(b, "%s %s %v %v %t %v", s.Name, s.Kind.Name, s.Interval, s.Limits, s.Own, settings)
		for _, m := range s.Markets {
			b = fmt.Appendf(b, " %s", m.Name)
		}
		b = fmt.Appendf(b, " %v\n", s.Universe)
	}
	if len(p.Changes) > 0 {
		text, err := json.Marshal(p.Changes)
		if err != nil {
			return 0, err
		}
		b = append(b, text...)
	}
	hash := fnv.New64a()
	hash.Write(b)
	return hash.Sum64(), nil
}

// seriesOf is a hash of daily returns and their first day.
func seriesOf[F float32 | float64](first int32, daily []F) uint64 {
	hash := fnv.New64a()
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+4*len(daily)), uint32(first))
	for _, x := range daily {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)+0)) // -0 is 0
	}
	hash.Write(b)
	return hash.Sum64()
}

// sharpeOf is the Sharpe ratio of returns, per day.
func sharpeOf[F float32 | float64](list []F) float64 {
	wide := make([]float64, len(list))
	for i, x := range list {
		wide[i] = float64(float32(x))
	}
	return stats.Sharpe(wide)
}
