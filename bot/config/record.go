package config

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

// RecordConfig holds every setting of `bot record`. configs/record.toml shows every key.
type RecordConfig struct {
	Record   RecordSection         `toml:"record"`
	Exchange RecordExchangeSection `toml:"exchange"`
	Poll     RecordPollSection     `toml:"poll"`
	Stream   RecordStreamSection   `toml:"stream"`

	Source *Source // where it was read
}

// RecordSection says what is recorded, and how much of it is kept.
type RecordSection struct {
	Folder  string   `toml:"folder"`  // of the recording; made where it is missing
	Markets []string `toml:"markets"` // at least one
	Candles []string `toml:"candles"` // intervals whose candles are recorded; none: no candles
	// History is how many candles of each series come from before a start, for warm-ups, and so
	// that a pause leaves no hole in the candles.
	History    int64  `toml:"history"`
	LimitMB    int64  `toml:"limit_mb"`     // largest recording; beyond it the oldest part is deleted
	KeepFreeMB int64  `toml:"keep_free_mb"` // the recording ends where the disk has less room than this
	Flush      Span   `toml:"flush"`        // a kill loses at most so much
	Pulse      Span   `toml:"pulse"`        // between two lines on how the recording stands; 0: none
	Log        string `toml:"log"`          // on the standard error: off, error, warn, info, debug
}

// RecordExchangeSection is the exchange that is recorded. Its data is public: no key is needed.
type RecordExchangeSection struct {
	BaseURL string           `toml:"base_url"`      // https, or http to this machine
	Prefix  string           `toml:"prefix"`        // brand of the headers, without the dash
	PerIP   int64            `toml:"weight_per_ip"` // points a minute, until the exchange's headers name the budget
	Weights map[string]int64 `toml:"weights"`       // points of endpoints that differ, as for bot run
}

// RecordPollSection holds the intervals between requests. Zero: it is not recorded.
type RecordPollSection struct {
	Tickers Span  `toml:"tickers"`
	Books   Span  `toml:"books"`
	Trades  Span  `toml:"trades"`
	Rules   Span  `toml:"rules"`  // status and rules of the markets
	Settle  Span  `toml:"settle"` // from a candle's close to the request for it
	Depth   int64 `toml:"depth"`  // levels of each side of a book
}

// RecordStreamSection says which data comes over the exchange's WebSocket. Each field is FeedStream
// or FeedPoll.
type RecordStreamSection struct {
	Feed    string `toml:"feed"` // of every channel below that is empty
	Tickers string `toml:"tickers"`
	Books   string `toml:"books"`
	Trades  string `toml:"trades"`
	Candles string `toml:"candles"`
}

// Section is the same without trades as a section of `bot run`.
func (s *RecordStreamSection) Section() *StreamSection {
	return &StreamSection{Feed: s.Feed, Tickers: s.Tickers, Books: s.Books, Candles: s.Candles}
}

// Any reports whether anything comes over the WebSocket.
func (s *RecordStreamSection) Any() bool { return s.Section().Any(false) || s.StreamsTrades() }

// StreamsTrades reports whether trades come over the WebSocket.
func (s *RecordStreamSection) StreamsTrades() bool { return cmp.Or(s.Trades, s.Feed) == FeedStream }

// check refuses words that are not known.
func (s *RecordStreamSection) check() error {
	for key, word := range map[string]string{"feed": s.Feed, "tickers": s.Tickers, "books": s.Books, "trades": s.Trades,
		"candles": s.Candles} {
		if !slices.Contains(Feeds, cmp.Or(word, s.Feed)) {
			return Keyf([]string{"stream", key}, "%q is not one of %s", Clip(word), strings.Join(Feeds, ", "))
		}
	}
	return nil
}

// DefaultRecord returns the config of an empty file. It has no markets.
func DefaultRecord() *RecordConfig {
	run := DefaultRun()
	return &RecordConfig{
		Record: RecordSection{Folder: "recordings", Candles: []string{market.Interval1m.String()}, History: 500,
			LimitMB: 10 << 10, KeepFreeMB: 1 << 10, Flush: Span(10 * time.Second), Pulse: Span(time.Minute),
			Log: "info"},
		Exchange: RecordExchangeSection{BaseURL: run.Exchange.BaseURL, Prefix: run.Exchange.Prefix,
			PerIP: run.Exchange.PerIP},
		Poll: RecordPollSection{Tickers: run.Poll.Tickers, Books: run.Poll.Books, Trades: Span(10 * time.Second),
			Rules: run.Poll.Rules, Settle: run.Poll.Settle, Depth: run.Poll.Depth},
		Stream: RecordStreamSection{Feed: FeedPoll},
	}
}

// LoadRecord reads a config of `bot record`. Its errors are Error or KeyError.
func LoadRecord(source *Source) (*RecordConfig, error) {
	c := DefaultRecord()
	c.Source = source
	if err := source.decode(&binder{}, c); err != nil {
		return nil, err
	}
	return c, source.Place(c.check())
}

// check refuses settings with which nothing would be recorded, or not for long.
func (c *RecordConfig) check() error {
	if _, err := rest.Origin(c.Exchange.BaseURL); err != nil {
		return At([]string{"exchange", "base_url"}, err)
	}
	if len(c.Record.Markets) == 0 {
		return Keyf([]string{"record", "markets"}, "is missing; want markets, like [\"BTC-EUR\"]")
	}
	for _, name := range c.Record.Markets {
		if _, _, err := market.SplitName(name); err != nil {
			return At([]string{"record", "markets"}, err)
		}
	}
	if _, err := c.Record.Intervals(); err != nil {
		return err
	}
	if c.Record.Folder == "" {
		return Keyf([]string{"record", "folder"}, "is empty; want a folder, like \"recordings\"")
	}
	for key, n := range map[string]int64{"limit_mb": c.Record.LimitMB - 1, "history": c.Record.History,
		"keep_free_mb": c.Record.KeepFreeMB} {
		if n < 0 {
			return Keyf([]string{"record", key}, "is too small")
		}
	}
	if d := time.Duration(c.Record.Flush); d < time.Second || d > time.Hour {
		return Keyf([]string{"record", "flush"}, "%s is not in 1s to 1h", d)
	}
	if c.Poll.Depth < 1 {
		return Keyf([]string{"poll", "depth"}, "want 1 level at least")
	}
	return c.Stream.check()
}

// Intervals are those whose candles are recorded, each once.
func (s *RecordSection) Intervals() (all []market.Interval, err error) {
	for _, text := range s.Candles {
		interval, err := market.ParseInterval(text)
		if err != nil {
			return nil, At([]string{"record", "candles"}, err)
		}
		if !slices.Contains(all, interval) {
			all = append(all, interval)
		}
	}
	return all, nil
}

// Run is the part of a config of `bot run` that leads to the same exchange.
func (c *RecordConfig) Run() *Run {
	r := DefaultRun()
	r.Source, r.Bot.Mode = c.Source, ModePaper // which needs no key
	r.Exchange.BaseURL, r.Exchange.Prefix, r.Exchange.PerIP = c.Exchange.BaseURL, c.Exchange.Prefix, c.Exchange.PerIP
	r.Exchange.Weights = c.Exchange.Weights
	return r
}
