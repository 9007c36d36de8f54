package results

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path"
	"slices"
)

// Gap is a result of bot gap --out: the way from the backtest to live.
type Gap struct {
	Name      string `json:"name"` // its folder below the folder of results
	ChangedMS int64  `json:"changed_ms"`
	Error     string `json:"error,omitempty"` // why it cannot be read
	Backtest  string `json:"backtest"`        // profit of the account
	Live      string `json:"live"`
	Gap       string `json:"gap"`   // live less backtest
	Steps     []Step `json:"steps"` // of the account, in their order

	Files []string `json:"files"` // that can be fetched, by their paths
}

// Step is the change by one kind of fact, on the way from the backtest to live.
type Step struct {
	Fact   string `json:"fact"`
	Profit string `json:"profit"` // with this fact and those before it
	Step   string `json:"step"`   // the change
}

// Gaps is the list of gaps: the answer of /api/v1/gaps, the newest first.
type Gaps struct {
	Standing
	Gaps []Gap `json:"gaps"`
}

// Gaps lists the gaps.
func (s *Folder) Gaps() (*Gaps, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, err := s.look()
	if err != nil {
		return nil, err
	}
	list := &Gaps{Standing: seen.Standing, Gaps: []Gap{}}
	for _, p := range seen.gaps {
		list.Gaps = append(list.Gaps, s.gaps[p.path].value)
	}
	slices.SortStableFunc(list.Gaps, func(a, b Gap) int { return int(b.ChangedMS - a.ChangedMS) })
	return list, nil
}

// The ends of the way in gap.csv.
const (
	wayBegins = "backtest"
	wayEnds   = "live"
)

// maxWay is the most steps of a way: there are six facts, and what is unexplained.
const maxWay = 20

// readGap reads the way of the account.
func readGap(root *os.Root, p place) Gap {
	g := Gap{Name: p.path, ChangedMS: p.changed.UnixMilli(), Steps: []Step{}}
	text, err := readFile(root, path.Join(p.path, "gap.csv"), maxGap)
	if err == nil {
		err = g.fill(text)
	}
	if err != nil {
		g.Error = plain(err)
	}
	return g
}

// fill reads gap.csv. The rows of the account have no strategy.
func (g *Gap) fill(text []byte) error {
	rows := csv.NewReader(bytes.NewReader(text))
	all, err := rows.ReadAll()
	if err != nil {
		return fmt.Errorf("gap.csv: %w", err)
	}
	head := []string{"strategy", "fact", "profit", "step"}
	if len(all) == 0 || len(all[0]) < len(head) || !slices.Equal(all[0][:len(head)], head) {
		return fmt.Errorf("gap.csv does not begin with %v; another program made it", head)
	}
	for _, row := range all[1:] {
		switch fact := row[1]; {
		case row[0] != "":
		case fact == wayBegins:
			g.Backtest = row[2]
		case fact == wayEnds:
			g.Live, g.Gap = row[2], row[3]
		case len(g.Steps) < maxWay:
			g.Steps = append(g.Steps, Step{Fact: fact, Profit: row[2], Step: row[3]})
		}
	}
	return nil
}
