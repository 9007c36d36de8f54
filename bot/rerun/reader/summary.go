package reader

import (
	"context"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// Summary describes a recording.
type Summary struct {
	Folder   string           `json:"folder"`
	Bytes    int64            `json:"bytes"`
	From     market.Time      `json:"from_ns"`
	To       market.Time      `json:"to_ns"`
	Records  uint64           `json:"records"`
	Starts   int              `json:"starts"`
	Programs []string         `json:"programs"` // versions that wrote it
	Markets  map[string]Count `json:"markets"`
	Holes    []Hole           `json:"holes"`
}

// Count is how many events a recording has of a market.
type Count struct {
	Tickers int64            `json:"tickers"`
	Books   int64            `json:"books"`
	Trades  int64            `json:"trades"`
	Candles map[string]int64 `json:"candles"` // by interval
}

// Summarise reads a range of a recording and describes it.
func Summarise(ctx context.Context, path string, of Range) (*Summary, error) {
	s := &Summary{Folder: path, Programs: []string{}, Markets: map[string]Count{}, Holes: []Hole{}}
	x, err := recording.Describe(Dir(path))
	if err != nil {
		return nil, err
	}
	s.Bytes = x.Bytes
	holes, err := Walk(ctx, path, of, func(r *Item) error { s.add(r, of); return nil })
	s.Holes = append(s.Holes, holes...)
	return s, err
}

func (s *Summary) add(r *Item, of Range) {
	if r.Kind == recording.KindStart {
		s.Starts++
		if !slices.Contains(s.Programs, r.Manifest.Program) {
			s.Programs = append(s.Programs, r.Manifest.Program)
		}
	}
	if r.At < of.From {
		return
	}
	if s.Records++; s.From == 0 {
		s.From = r.At
	}
	s.To = r.At
	ev := r.Data()
	if ev == nil {
		return
	}
	if ev.Kind == market.KindCandles {
		for i := range ev.Candles {
			c := &ev.Candles[i]
			s.count(r.Catalog, c.Market, func(n *Count) { n.Candles[c.Interval.String()]++ })
		}
		return
	}
	s.count(r.Catalog, ev.Market, func(n *Count) {
		switch ev.Kind {
		case market.KindTicker:
			n.Tickers++
		case market.KindBook:
			n.Books++
		case market.KindTrade:
			n.Trades++
		}
	})
}

func (s *Summary) count(of *market.Catalog, id market.ID, add func(*Count)) {
	name := of.Market(id).Name
	n, known := s.Markets[name]
	if !known {
		n.Candles = map[string]int64{}
	}
	add(&n)
	s.Markets[name] = n
}
