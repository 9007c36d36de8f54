package operator

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// The states of a bot.
const (
	Trading  = "trading"
	Halted   = "halted" // every strategy is
	Stopping = "stopping"
	Blocked  = "blocked" // a strategy does not return from a callback
	Stopped  = "stopped"
)

// WarmingUp is the state of a strategy that does not trade yet.
const WarmingUp = "warming up"

// Status is the status of a bot, as a program reads it. Money is in Currency. The status of a
// stopped bot lacks the figures that only a running bot knows.
type Status struct {
	Protocol int    `json:"protocol"`          // see protocolVersion
	State    string `json:"state"`             // trading, halted, stopping, blocked, stopped
	Blocked  string `json:"blocked,omitempty"` // by which strategy, in which callback, since when
	Folder   string `json:"folder"`
	PID      int    `json:"pid,omitempty"`
	Exchange string `json:"exchange,omitempty"`
	Mode     string `json:"mode,omitempty"` // live, paper
	Version  string `json:"version"`
	Run      string `json:"run"`
	SinceMS  int64  `json:"since_ms"`
	// ConfigHash is of the settings that decide what is traded, as of the last reload.
	ConfigHash string `json:"config_hash,omitempty"`
	ReloadedMS int64  `json:"reloaded_ms,omitempty"` // the last reload of the last run; 0: it had none
	ReloadedBy string `json:"reloaded_by,omitempty"`
	// AtMS is the time of the figures, on the exchange's clock; of a stopped bot: of Equity and
	// Exposure.
	AtMS       int64            `json:"at_ms,omitempty"`
	AsOfMS     int64            `json:"as_of_ms,omitempty"`  // of a stopped bot: when its file was last written
	OrdersMS   int64            `json:"orders_ms,omitempty"` // of a stopped bot: the last report on an open order
	Strategies []StrategyStatus `json:"strategies"`
	Currency   string           `json:"currency"`
	Equity     string           `json:"equity,omitempty"`
	Exposure   string           `json:"exposure,omitempty"` // positions and open buys
	DayResult  string           `json:"day_result,omitempty"`
	Drawdown   string           `json:"drawdown,omitempty"` // from the high-water mark, as a fraction of it
	Opening    string           `json:"opening,omitempty"`  // why the account's limits let nothing be opened
	// Canary is nil where the bot has none.
	Canary        *Canary       `json:"canary,omitempty"`
	OpenOrders    int           `json:"open_orders"`
	ForeignOrders int           `json:"foreign_orders"`        // open orders of the account that are not this bot's
	Unprotected   []Unprotected `json:"unprotected,omitempty"` // positions without an exit that were to have one
	// ChangedByOthers are the open orders that someone else has changed, in words.
	ChangedByOthers []string `json:"changed_by_others,omitempty"`
	// StreamAside says why the account's events are not believed; empty: they are.
	StreamAside    string         `json:"stream_aside,omitempty"`
	NotGuarded     []NotGuarded   `json:"not_guarded,omitempty"` // cancel-on-disconnect groups without a timer of their own
	Balances       []Balance      `json:"balances,omitempty"`    // of a running bot's account, by symbol
	Unallocated    []Amount       `json:"unallocated,omitempty"` // what the account has beyond the strategies' books
	Signals        []SignalSource `json:"signals,omitempty"`     // by the names of their sources
	Markets        []MarketStatus `json:"markets,omitempty"`     // those that do not trade
	Weight         []Weight       `json:"weight,omitempty"`
	Feeds          []Feed         `json:"feeds,omitempty"`
	ClockOffsetMS  int64          `json:"clock_offset_ms"` // of the exchange's clock ahead of this machine's
	RoundTripMS    float64        `json:"round_trip_ms,omitempty"`
	JournalEntries uint64         `json:"journal_entries"`            // ever written
	JournalSinceMS int64          `json:"journal_since_ms,omitempty"` // oldest entry that bot.keep and compact left; 0: none
	StateBytes     int64          `json:"state_bytes,omitempty"`      // of the state file
}

// StrategyStatus is the status of a strategy.
type StrategyStatus struct {
	Name       string `json:"name"`
	Kind       string `json:"kind,omitempty"`
	State      string `json:"state"`            // trading, warming up, halted
	Reason     string `json:"reason,omitempty"` // of a halt
	HaltedMS   int64  `json:"halted_ms,omitempty"`
	OpenOrders int    `json:"open_orders"`
	Waiting    int    `json:"waiting"` // commands that wait to be sent, of a running bot

	Warming  []string  `json:"warming,omitempty"`  // markets in which candles of the warm-up are missing, in words
	Universe *Universe `json:"universe,omitempty"` // of a running bot
}

// Universe is the universe of a strategy on a UTC day.
type Universe struct {
	Date    string   `json:"date"`
	Rule    string   `json:"rule"`    // by what the markets were ranked, in words
	Members []string `json:"members"` // the best ranked first
	Missing []string `json:"missing"` // ranked as high, but traded only after a restart
	Hint    string   `json:"hint,omitempty"`
}

// Unprotected is a position whose exit at the exchange is missing or too small.
type Unprotected struct {
	Strategy string `json:"strategy"`
	Market   string `json:"market"`
	Amount   string `json:"amount"` // without an exit
	Cause    string `json:"cause"`
	SinceMS  int64  `json:"since_ms"`
}

// NotGuarded is a cancel-on-disconnect group whose orders outlive the bot, should it die.
type NotGuarded struct {
	Group      uint16   `json:"group"`
	Strategies []string `json:"strategies"`
	Cause      string   `json:"cause"`
	SinceMS    int64    `json:"since_ms"`
}

// Text is a line about the group for a person.
func (x *NotGuarded) Text() string {
	return fmt.Sprintf("not guarded: group %d (%s): its orders outlive this bot: %s", x.Group,
		strings.Join(x.Strategies, ", "), x.Cause)
}

// SignalSource is a source of signals. Its counts are those of the state file.
type SignalSource struct {
	Source   string `json:"source"`
	Live     string `json:"live,omitempty"` // door, file or stdin, of a running bot
	Received int64  `json:"received"`       // that counted
	Refused  int64  `json:"refused"`
	Repeated int64  `json:"repeated"`
	Lost     int64  `json:"lost"`
	LastMS   int64  `json:"last_ms,omitempty"`
	Silent   bool   `json:"silent,omitempty"` // nothing came for longer than its every
}

// Text is a line about the source for a person.
func (x *SignalSource) Text() string {
	text := x.Source
	if x.Live != "" {
		text += " by " + x.Live
	}
	text += fmt.Sprintf(": %d received, %d refused, %d repeated", x.Received, x.Refused, x.Repeated)
	if x.Lost > 0 {
		text += fmt.Sprintf(", %d lost", x.Lost)
	}
	if x.LastMS == 0 {
		return text + ", never heard"
	}
	if text += ", last " + ClockOf(x.LastMS); x.Silent {
		text += ", silent"
	}
	return text
}

// SignalSources lists what was heard of each source.
func SignalSources(heard map[string]statedir.HeardSource) (list []SignalSource) {
	for _, name := range slices.Sorted(maps.Keys(heard)) {
		h := heard[name]
		x := SignalSource{Source: name, Received: h.Received, Refused: h.Refused, Repeated: h.Repeated, Lost: h.Lost}
		if h.Last != 0 {
			x.LastMS = h.Last.Millis()
		}
		list = append(list, x)
	}
	return list
}

// MarketStatus is a market that does not trade, with its last known status.
type MarketStatus struct {
	Market string `json:"market"`
	Status string `json:"status"`
}

// Words say what follows from the status.
func (m *MarketStatus) Words() string {
	if m.Status == market.Delisted.String() {
		return m.Market + ": gone; bot resolve --gone " + m.Market + " writes off what is held there"
	}
	return m.Market + ": " + m.Status + "; what it would refuse is not sent"
}

// Weight is the rest of a weight budget.
type Weight struct {
	Of            string `json:"of"` // key, ip
	Left          int    `json:"left"`
	ResetMS       int64  `json:"reset_ms"`
	BannedUntilMS int64  `json:"banned_until_ms,omitempty"`
	HeldUntilMS   int64  `json:"held_until_ms,omitempty"` // because of a page that is no answer of the exchange
}

// Feed is a feed with the time of its last event.
type Feed struct {
	Feed   string `json:"feed"`
	LastMS int64  `json:"last_ms"`
}

// Amount is an amount of an asset as a program reads it.
type Amount struct {
	Asset  string `json:"asset"`
	Amount string `json:"amount"`
	AtMS   int64  `json:"at_ms,omitempty"` // when the balances were last compared
}

// Balance is an asset of the account: what the bot has booked, and what it has not.
type Balance struct {
	Asset    string `json:"asset"`
	Bot      string `json:"bot"`       // of the strategies, orders included
	InOrders string `json:"in_orders"` // of it, held by open orders
	Others   string `json:"others"`    // on the account beside it, as of the last look at its balances
	Whole    string `json:"whole"`
}

// BalanceOf is the balance of an asset with what the account has beside it.
func BalanceOf(asset *market.Asset, total, held, others market.Money) Balance {
	text := func(amount market.Money) string { return market.FormatFixed(int64(amount), asset.Digits) }
	return Balance{asset.Symbol, text(total), text(held), text(others), text(total + others)}
}

// Unallocated is the balance of an account beyond the books, by symbol, as of the last look at its
// balances.
func Unallocated(catalog *market.Catalog, agreed map[string]statedir.BalanceCheckpoint) (list []Amount) {
	for _, symbol := range slices.Sorted(maps.Keys(agreed)) {
		if asset := catalog.AssetNamed(symbol); asset != nil && agreed[symbol].Surplus > 0 {
			list = append(list, Amount{symbol, market.FormatFixed(int64(agreed[symbol].Surplus), asset.Digits),
				agreed[symbol].At.Millis()})
		}
	}
	return list
}

// FromStore sets the fields that come from the state file of a running or stopped bot.
func (s *Status) FromStore(store *journal.Store) (err error) {
	s.Protocol = protocolVersion
	runs, err := store.Runs()
	if err != nil {
		return err
	}
	if len(runs) > 0 {
		last := &runs[len(runs)-1]
		s.Run, s.Version, s.SinceMS, s.Currency = last.Run.String(), last.Version, last.At.Millis(), last.Currency
		s.ConfigHash = last.ConfigHash
		kept, err := store.Kept()
		if err != nil {
			return err
		}
		for i := range kept {
			if r, is := kept[i].Record.(*journal.Reload); is && kept[i].Number > last.First {
				s.ConfigHash, s.ReloadedMS, s.ReloadedBy = r.ConfigHash, kept[i].At.Millis(), r.By
			}
		}
	}
	if s.JournalEntries, err = store.LastNumber(); err != nil {
		return err
	}
	reach, err := store.Reach()
	s.StateBytes = reach.Bytes
	if reach.First > 0 {
		s.JournalSinceMS = reach.Since.Millis()
	}
	return err
}

// StoppedStatus is the status of a stopped bot, from its state file.
func StoppedStatus(store *journal.Store, dir string) (*Status, error) {
	s := &Status{State: Stopped, Folder: dir, Strategies: []StrategyStatus{}}
	if err := s.FromStore(store); err != nil {
		return nil, err
	}
	runs, err := store.Runs()
	if err != nil {
		return nil, err
	}
	halts, err := store.Halts()
	if err != nil {
		return nil, err
	}
	open, err := store.OpenOrders()
	if err != nil {
		return nil, err
	}
	s.OpenOrders = len(open)
	for i := range open {
		s.OrdersMS = max(s.OrdersMS, open[i].Updated.Millis(), open[i].Created.Millis())
	}
	if s.AsOfMS, err = lastEntryMS(store); err != nil {
		return nil, err
	}
	agreed, err := statedir.ReadCheckpoints(store)
	if err != nil {
		return nil, err
	}
	s.Unallocated = Unallocated(store.Catalog(), agreed)
	heard, err := statedir.ReadHeard(store)
	if err != nil {
		return nil, err
	}
	s.Signals = SignalSources(heard)
	if len(runs) > 0 {
		for _, name := range runs[len(runs)-1].Strategies {
			s.Strategies = append(s.Strategies, stoppedStrategy(name, halts, open))
		}
	}
	curve, err := store.Equity("", 0, 0)
	if err == nil && len(curve) > 0 {
		if currency := store.Catalog().AssetNamed(s.Currency); currency != nil {
			last := curve[len(curve)-1]
			s.AtMS, s.Equity = last.At.Millis(), market.FormatFixed(int64(last.Equity), currency.Digits)
			s.Exposure = market.FormatFixed(int64(last.Exposure), currency.Digits)
		}
	}
	return s, err
}

func stoppedStrategy(name string, halts []journal.HaltRow, open []journal.OrderRow) StrategyStatus {
	info := StrategyStatus{Name: name, State: Stopped}
	for i := range open {
		if open[i].StrategyName == name {
			info.OpenOrders++
		}
	}
	for i := range halts {
		if halts[i].Scope == HaltScope(name) {
			info.State, info.Reason, info.HaltedMS = Halted, halts[i].Reason, halts[i].At.Millis()
		}
	}
	return info
}

// lastEntryMS is the time of the journal's last entry; 0: there is none.
func lastEntryMS(store *journal.Store) (int64, error) {
	entries, err := store.LastEntries(1)
	if err != nil || len(entries) == 0 {
		return 0, err
	}
	return entries[0].At.Millis(), nil
}

// HaltScope is a strategy's name in the journal's halts.
func HaltScope(name string) string { return "strategy " + name }

// ResultsText is the result of the day and the drawdown for a person; empty: unknown.
func (s *Status) ResultsText() string {
	if s.DayResult == "" {
		return ""
	}
	return fmt.Sprintf(", today %s, drawdown %s", s.DayResult, s.Drawdown)
}

// Text is a line about the strategy for a person.
func (x *StrategyStatus) Text() string {
	text := fmt.Sprintf("%s: %s, %s open", x.Name, x.State, OrdersText(x.OpenOrders))
	if x.Waiting > 0 {
		text += fmt.Sprintf(", %d commands wait to be sent", x.Waiting)
	}
	if len(x.Warming) > 0 {
		text += ", warm-up: " + strings.Join(x.Warming, ", ")
	}
	if x.Reason != "" {
		text += fmt.Sprintf(" (since %s: %s)", ClockOf(x.HaltedMS), x.Reason)
	}
	return text
}
