package reader

import (
	"context"
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// Range bounds what is read of a recording.
type Range struct {
	From, To market.Time // To is exclusive; 0: no bound
}

// Hole is a part of a recording that is missing.
type Hole struct {
	First   uint64      `json:"first"` // numbers of records; 0: nothing was recorded, because no process did
	Last    uint64      `json:"last"`
	From    market.Time `json:"from_ns"` // of the records beside it
	To      market.Time `json:"to_ns"`
	Unknown bool        `json:"unknown"` // the records are there, but not the start that they need
}

// String is the line for a person.
func (h *Hole) String() string {
	switch {
	case h.Unknown:
		return fmt.Sprintf("events %d to %d cannot be read: the start before them was deleted", h.First, h.Last)
	case h.First == 0:
		return fmt.Sprintf("nothing was recorded from %s to %s (%s)", h.From, h.To, h.To.Sub(h.From))
	}
	return fmt.Sprintf("events %d to %d are lost, from %s to %s", h.First, h.Last, h.From, h.To)
}

// Walk visits the records of a range in their order, and returns the holes in it. Where the range
// begins after the first start, the start before it is visited first. Records are valid until visit
// returns. A folder without a recording wraps bolt.ErrNotFound.
func Walk(ctx context.Context, path string, of Range, visit func(*Item) error) (holes []Hole, err error) {
	starts, err := Starts(path)
	if err != nil {
		return nil, err
	}
	first := &starts[0]
	if x, err := recording.Describe(Dir(path)); err == nil && x.First < first.First && of.From < first.From {
		holes = append(holes, Hole{First: x.First, Last: first.First - 1, From: x.From, To: first.From, Unknown: true})
	}
	for i := range starts {
		if starts[i].From <= of.From {
			first = &starts[i]
		}
	}
	for item, err := range Items(ctx, Source{Dir: path, From: first.First, Since: of.From}) {
		switch {
		case err != nil:
			return holes, err
		case item.Gap != nil:
			holes = append(holes, item.Gap.holes(of.To)...)
			continue
		case of.To != 0 && item.At >= of.To:
			return holes, nil
		}
		if err := visit(item); err != nil {
			return holes, fmt.Errorf("record %d: %w", item.Number, err)
		}
	}
	return holes, nil
}

// pause is the shortest time between the latest record of a process and the start of the next one
// that is a hole. A recorder that begins a new start without a stop has none.
const pause = market.Duration(2e9)

// holes are those of a gap before a record; none where the range ends before that. 0: it has no
// end.
func (g *Gap) holes(end market.Time) (all []Hole) {
	if g.To == 0 || end != 0 && g.To >= end {
		return nil
	}
	for _, l := range g.Lost {
		all = append(all, Hole{First: l.From, Last: l.To, From: g.From, To: g.To})
	}
	if len(all) == 0 && g.To.Sub(g.From) > pause {
		all = append(all, Hole{From: g.From, To: g.To})
	}
	return all
}
