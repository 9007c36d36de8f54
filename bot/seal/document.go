package seal

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// Scope is the scope of the seals of this package in the journal: all strategies of a bot together.
const Scope = "account"

// documentVersion is the version of the documents of seals and verdicts.
const documentVersion = 1

// Document is the content of a seal. Its bytes stand in the journal.
type Document struct {
	Version    int           `json:"version"`
	Currency   string        `json:"currency"`
	Program    Program       `json:"program"`
	Strategies []Strategy    `json:"strategies"`
	Backtest   Backtest      `json:"backtest"`
	Search     Search        `json:"search"`
	Promise    stats.Promise `json:"promise"`
	PublicKey  []byte        `json:"public_key,omitempty"` // of those who may sign exports; nil: anyone
}

// Program is the binary that was sealed.
type Program struct {
	Version string `json:"version"`
	SHA256  string `json:"sha256"` // of the executable file
}

// Strategy is a strategy with its parameters.
type Strategy struct {
	Name     string           `json:"name"`
	Kind     string           `json:"kind"`
	Markets  []string         `json:"markets"`
	Interval string           `json:"interval"`
	Params   []backtest.Param `json:"params"`
}

// Backtest is where the promise comes from.
type Backtest struct {
	Title           string `json:"title"`
	Run             string `json:"run"`
	CodeVersion     string `json:"code_version"`
	ConfigHash      string `json:"config_hash"`
	DataHash        string `json:"data_hash"`
	From            string `json:"from"` // dates
	To              string `json:"to"`
	OutOfSample     string `json:"out_of_sample"` // the first day that no choice has seen; empty: there is none
	Days            int    `json:"days"`
	OutOfSampleDays int    `json:"out_of_sample_days"` // that the promise rests on
	Synthetic       bool   `json:"synthetic_data,omitempty"`
	Walk            bool   `json:"walk_forward,omitempty"` // the stitched run of a walk-forward
	ResultSHA256    string `json:"result_sha256"`          // of result.json
	DaysSHA256      string `json:"days_sha256"`            // of days.csv
}

// Search is the tries that were made over the same candles.
type Search struct {
	Counted bool  `json:"counted"` // a ledger of tries was there
	Tries   int64 `json:"tries"`
	Series  int64 `json:"series"` // of different returns
}

// StrategiesOf are the strategies of a plan as a seal has them.
func StrategiesOf(plans []backtest.StrategyPlan) []Strategy {
	list := make([]Strategy, len(plans))
	for i := range plans {
		info := plans[i].Info()
		list[i] = Strategy{info.Name, info.Kind, info.Markets, info.Interval, info.Params}
	}
	return list
}

// Encode is the document as bytes for the journal.
func (d *Document) Encode() ([]byte, error) {
	if err := d.Promise.Check(); err != nil {
		return nil, err
	}
	d.Version = documentVersion
	return json.Marshal(d)
}

// decode reads the document of a seal.
func decode(text []byte) (*Document, error) {
	d := &Document{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("%w: document of the seal: %w", bolt.ErrCorrupt, err)
	}
	if err := checkVersion(d.Version); err != nil {
		return nil, err
	}
	if err := d.Promise.Check(); err != nil {
		return nil, fmt.Errorf("%w: document of the seal: %w", bolt.ErrCorrupt, err)
	}
	return d, nil
}

// Check refuses the document of a seal that this program cannot hold days against.
func Check(text []byte) error {
	_, err := decode(text)
	return err
}

func checkVersion(version int) error {
	switch {
	case version > documentVersion:
		return fmt.Errorf("%w: a seal of version %d, this program reads %d; update the program", bolt.ErrNewer,
			version, documentVersion)
	case version < 1:
		return fmt.Errorf("%w: a seal of version %d", bolt.ErrCorrupt, version)
	}
	return nil
}

// hashOf is the SHA-256 of bytes in hexadecimal.
func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Changes lists what differs between the sealed strategies and others, one line each.
func Changes(sealed, now []Strategy) (lines []string) {
	byName := func(list []Strategy, name string) *Strategy {
		if i := slices.IndexFunc(list, func(s Strategy) bool { return s.Name == name }); i >= 0 {
			return &list[i]
		}
		return nil
	}
	for i := range sealed {
		s := &sealed[i]
		other := byName(now, s.Name)
		if other == nil {
			lines = append(lines, fmt.Sprintf("strategy %s was sealed and is missing", s.Name))
			continue
		}
		lines = append(lines, s.changes(other)...)
	}
	for i := range now {
		if byName(sealed, now[i].Name) == nil {
			lines = append(lines, fmt.Sprintf("strategy %s was not sealed", now[i].Name))
		}
	}
	return lines
}

// OtherStrategies lists what differs between the strategies of a backtest and those of a bot. The
// parameters of a walk-forward are those of its windows, so they are not compared.
func (d *Document) OtherStrategies(now []Strategy) []string {
	if !d.Backtest.Walk {
		return Changes(d.Strategies, now)
	}
	bare := func(list []Strategy) []Strategy {
		list = slices.Clone(list)
		for i := range list {
			list[i].Params = nil
		}
		return list
	}
	return Changes(bare(d.Strategies), bare(now))
}

func (s *Strategy) changes(now *Strategy) (lines []string) {
	differ := func(what, before, after string) {
		if before != after {
			lines = append(lines, fmt.Sprintf("%s.%s: %s was sealed, it is %s", s.Name, what, before, after))
		}
	}
	differ("kind", s.Kind, now.Kind)
	differ("interval", s.Interval, now.Interval)
	if len(now.Markets) > 0 && len(s.Markets) > 0 { // a universe has none before it is ranked
		differ("markets", fmt.Sprint(s.Markets), fmt.Sprint(now.Markets))
	}
	values := map[string]string{}
	for _, p := range now.Params {
		values[p.Name] = p.Value
	}
	for _, p := range s.Params {
		differ(p.Name, p.Value, values[p.Name])
	}
	return lines
}

// keyText is a public key for people.
func keyText(key ed25519.PublicKey) string { return base64.StdEncoding.EncodeToString(key) }
