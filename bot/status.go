package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// The states of a bot.
const (
	botTrading  = "trading"
	botHalted   = "halted" // every strategy is
	botStopping = "stopping"
	botBlocked  = "blocked" // a strategy does not return from a callback
	botStopped  = "stopped"
)

// statusInfo is how a bot stands, as a program reads it. Money is in Currency. Of a stopped bot what only a running one knows is missing.
type statusInfo struct {
	Protocol       int              `json:"protocol"`          // version of these answers, and of what is asked: see protocolVersion
	State          string           `json:"state"`             // trading, halted, stopping, blocked, stopped
	Blocked        string           `json:"blocked,omitempty"` // by which strategy, in which callback, since when
	Folder         string           `json:"folder"`
	PID            int              `json:"pid,omitempty"`
	Exchange       string           `json:"exchange,omitempty"`
	Mode           string           `json:"mode,omitempty"` // live, paper
	Version        string           `json:"version"`
	Run            string           `json:"run"`
	SinceMS        int64            `json:"since_ms"`
	AtMS           int64            `json:"at_ms,omitempty"`     // of the figures, on the exchange's clock; of a stopped bot, of equity and exposure
	AsOfMS         int64            `json:"as_of_ms,omitempty"`  // of a stopped bot: when its file was last written
	OrdersMS       int64            `json:"orders_ms,omitempty"` // of a stopped bot: when the exchange last told of an open order
	Strategies     []strategyStatus `json:"strategies"`
	Currency       string           `json:"currency"`
	Equity         string           `json:"equity,omitempty"`
	Exposure       string           `json:"exposure,omitempty"` // positions and open buys
	DayResult      string           `json:"day_result,omitempty"`
	Drawdown       string           `json:"drawdown,omitempty"` // from the high-water mark, as a fraction of it
	Opening        string           `json:"opening,omitempty"`  // why the account's limits let nothing be opened
	OpenOrders     int              `json:"open_orders"`
	ForeignOrders  int              `json:"foreign_orders"`        // open orders of the account that are not this bot's
	Unprotected    []bareInfo       `json:"unprotected,omitempty"` // positions without an exit that were to have one
	Nobodys        []amountInfo     `json:"nobodys,omitempty"`     // what the account has beyond the strategies' books
	Markets        []marketStatus   `json:"markets,omitempty"`     // those that do not trade
	Weight         []weightInfo     `json:"weight,omitempty"`
	Feeds          []feedInfo       `json:"feeds,omitempty"`
	ClockOffsetMS  int64            `json:"clock_offset_ms"` // of the exchange's clock ahead of this machine's
	RoundTripMS    float64          `json:"round_trip_ms,omitempty"`
	JournalEntries uint64           `json:"journal_entries"`
}

// strategyStatus is how a strategy stands.
type strategyStatus struct {
	Name       string `json:"name"`
	Kind       string `json:"kind,omitempty"`
	State      string `json:"state"`            // trading, warming up, halted
	Reason     string `json:"reason,omitempty"` // of a halt
	HaltedMS   int64  `json:"halted_ms,omitempty"`
	OpenOrders int    `json:"open_orders"`
	Waiting    int    `json:"waiting"` // commands that wait to be sent, of a running bot
}

// bareInfo is a position that was to have an exit at the exchange and has none, or one that is too small.
type bareInfo struct {
	Strategy string `json:"strategy"`
	Market   string `json:"market"`
	Amount   string `json:"amount"` // without an exit
	Cause    string `json:"cause"`
	SinceMS  int64  `json:"since_ms"`
}

// marketStatus is a market that does not trade, as the exchange last told.
type marketStatus struct {
	Market string `json:"market"`
	Status string `json:"status"`
}

// weightInfo is what is left of a weight budget.
type weightInfo struct {
	Of            string `json:"of"` // key, ip
	Left          int    `json:"left"`
	ResetMS       int64  `json:"reset_ms"`
	BannedUntilMS int64  `json:"banned_until_ms,omitempty"`
}

// feedInfo is when a feed was heard last.
type feedInfo struct {
	Feed   string `json:"feed"`
	LastMS int64  `json:"last_ms"`
}

// status answers `bot status`.
func (c *control) status(ctx context.Context, _ *operatorAsk) (any, error) {
	r := c.r
	s := &statusInfo{State: botTrading, Folder: r.plan.config.Bot.State, PID: os.Getpid(), Exchange: r.plan.config.Exchange.BaseURL, Mode: r.plan.config.Bot.Mode, Run: r.run.String(), Currency: r.plan.Currency.Symbol,
		ClockOffsetMS: time.Duration(r.client.Offset()).Milliseconds(), RoundTripMS: float64(r.client.RoundTrip()) / float64(time.Millisecond)}
	var failed error
	err := c.look(ctx, func(at market.Time) {
		s.AtMS = at.Millis()
		failed = c.statusOfLoop(s)
		switch {
		case r.loop.Stopping():
			s.State = botStopping
		case !slices.ContainsFunc(s.Strategies, func(x strategyStatus) bool { return x.State != botHalted }):
			s.State = botHalted
		}
	})
	if errors.As(err, new(blockedError)) {
		return c.blockedStatus(s)
	}
	if err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, failed
	}
	for _, payer := range [...]rest.Payer{rest.PaidByKey, rest.PaidByIP} {
		left, reset := r.ledger.Left(payer)
		s.Weight = append(s.Weight, weightInfo{Of: payer.String(), Left: left, ResetMS: reset.Millis(), BannedUntilMS: r.ledger.BannedUntil(payer).Millis()})
	}
	return s, s.fromStore(r.store)
}

// blockedStatus is the status of a bot whose loop a strategy holds: what the last commit knows.
func (c *control) blockedStatus(running *statusInfo) (*statusInfo, error) {
	s, err := stoppedStatus(c.r.store, running.Folder)
	if err != nil {
		return nil, err
	}
	s.State, s.PID, s.Exchange, s.Mode, s.ClockOffsetMS, s.RoundTripMS = botBlocked, running.PID, running.Exchange, running.Mode, running.ClockOffsetMS, running.RoundTripMS
	if b := c.r.dog.blockage(); b != nil {
		s.Blocked = b.text(c.r.dog.now())
	}
	for i := range s.Strategies {
		if s.Strategies[i].State == botStopped {
			s.Strategies[i].State = botBlocked
		}
	}
	return s, nil
}

// statusOfLoop fills in what belongs to the loop.
func (c *control) statusOfLoop(s *statusInfo) error {
	r, digits := c.r, c.r.plan.Currency.Digits
	for i, name := range r.plan.names() {
		id := strategyID(i + 1)
		info := strategyStatus{Name: name, Kind: r.plan.Strategies[i].Kind.Name, State: botTrading, OpenOrders: r.account.OpenBy(id), Waiting: r.loop.Waiting(id)}
		if r.engine.Warming(id) {
			info.State = "warming up"
		}
		if halt, halted := r.engine.Halted(id); halted {
			info.State, info.Reason, info.HaltedMS = botHalted, halt.Reason, halt.At.Millis()
		}
		s.Strategies = append(s.Strategies, info)
	}
	equity, err := r.account.Equity(r.plan.Currency.ID)
	if err != nil {
		return err
	}
	exposure, err := r.account.Exposure(r.plan.Currency.ID)
	if err != nil {
		return err
	}
	s.Equity, s.Exposure = market.FormatFixed(int64(equity), digits), market.FormatFixed(int64(exposure), digits)
	if stand, followed := r.gate.Standing(); followed {
		s.DayResult, s.Drawdown = market.FormatFixed(int64(equity-stand.DayStart), digits), market.FormatFixed(int64(stand.Drawdown()), market.RateDigits)
	}
	s.Opening = c.opening()
	s.OpenOrders, s.ForeignOrders = len(r.account.Open(nil, 0, 0)), r.loop.Foreign()
	for _, u := range r.engine.Bare() {
		m := r.plan.Catalog.Market(u.Market)
		s.Unprotected = append(s.Unprotected, bareInfo{r.nameOf(u.Strategy), m.Name, m.FormatQty(u.Amount), u.Cause.String(), u.Since.Millis()})
	}
	s.Nobodys = nobodys(r.plan.Catalog, r.journal.agreed)
	for _, m := range r.journal.notes.rules {
		if m.Status != market.Trading {
			s.Markets = append(s.Markets, marketStatus{m.Name, m.Status.String()})
		}
	}
	slices.SortFunc(s.Markets, func(a, b marketStatus) int { return strings.Compare(a.Market, b.Market) })
	for feed, at := range r.journal.heard {
		s.Feeds = append(s.Feeds, feedInfo{Feed: feed.name(r.plan.Catalog), LastMS: at.Millis()})
	}
	slices.SortFunc(s.Feeds, func(a, b feedInfo) int { return strings.Compare(a.Feed, b.Feed) })
	return nil
}

// opening says why the account's limits let nothing be opened; empty: they do. A resume does not change it.
func (c *control) opening() string {
	stand, _ := c.r.gate.Standing()
	switch {
	case stand.Drawn:
		return "max_drawdown was reached: nothing is opened until bot halt and bot resume"
	case stand.Lost:
		return "max_daily_loss is used up: nothing is opened until tomorrow, UTC"
	}
	return ""
}

// Name is a feed's name for a person.
func (k feedKey) name(c *market.Catalog) string {
	text := k.kind.String()
	if k.market != 0 {
		text += " " + c.Market(k.market).Name
	}
	if k.kind == market.KindCandles {
		text += " " + k.interval.String()
	}
	return text
}

// fromStore fills in what the state file knows alone.
func (s *statusInfo) fromStore(store *state.BotStore) (err error) {
	s.Protocol = protocolVersion
	runs, err := store.Runs()
	if err != nil {
		return err
	}
	if len(runs) > 0 {
		last := &runs[len(runs)-1]
		s.Run, s.Version, s.SinceMS, s.Currency = last.Run.String(), last.Version, last.At.Millis(), last.Currency
	}
	s.JournalEntries, err = store.LastNumber()
	return err
}

// stoppedStatus is the status of a bot that does not run, from its state file.
func stoppedStatus(store *state.BotStore, folder string) (*statusInfo, error) {
	s := &statusInfo{State: botStopped, Folder: folder, Strategies: []strategyStatus{}}
	if err := s.fromStore(store); err != nil {
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
	agreed, err := readAgreed(store)
	if err != nil {
		return nil, err
	}
	s.Nobodys = nobodys(store.Catalog(), agreed)
	if len(runs) > 0 {
		for _, name := range runs[len(runs)-1].Strategies {
			s.Strategies = append(s.Strategies, stoppedStrategy(name, halts, open))
		}
	}
	curve, err := store.Equity("", 0, 0)
	if err == nil && len(curve) > 0 {
		if currency := store.Catalog().AssetNamed(s.Currency); currency != nil {
			last := curve[len(curve)-1]
			s.AtMS, s.Equity, s.Exposure = last.At.Millis(), market.FormatFixed(int64(last.Equity), currency.Digits), market.FormatFixed(int64(last.Exposure), currency.Digits)
		}
	}
	return s, err
}

func stoppedStrategy(name string, halts []state.HaltRow, open []state.OrderRow) strategyStatus {
	info := strategyStatus{Name: name, State: botStopped}
	for i := range open {
		if open[i].StrategyName == name {
			info.OpenOrders++
		}
	}
	for i := range halts {
		if halts[i].Scope == haltScope(name) {
			info.State, info.Reason, info.HaltedMS = botHalted, halts[i].Reason, halts[i].At.Millis()
		}
	}
	return info
}

// print writes the status for a person.
func (s *statusInfo) print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	line("state", "%s%s", s.State, s.process())
	if s.Blocked != "" {
		line("blocked", "%s; bot cancel-all --direct -c CONFIG cancels without the loop", s.Blocked)
	}
	if s.Exchange != "" {
		line("exchange", "%s, %s", s.Exchange, s.Mode)
	}
	line("run", "%s since %s UTC, version %s", s.Run, clockOf(s.SinceMS), s.Version)
	for _, x := range s.Strategies {
		line("strategy", "%s", x.text())
	}
	if s.Equity != "" {
		line("equity", "%s %s, exposed %s%s%s", s.Equity, s.Currency, s.Exposure, s.results(), s.stamp(s.AtMS))
	}
	if s.Opening != "" {
		line("limit", "%s", s.Opening)
	}
	if s.AsOfMS != 0 {
		line("open orders", "%d%s", s.OpenOrders, s.stamp(s.OrdersMS))
	} else {
		line("open orders", "%d, of others on the account %d", s.OpenOrders, s.ForeignOrders)
	}
	for _, x := range s.Unprotected {
		line("unprotected", "%s: %s %s since %s (%s)", x.Strategy, x.Amount, x.Market, clockOf(x.SinceMS), x.Cause)
	}
	for _, x := range s.Nobodys {
		line("nobody's", "%s %s on the account beyond the strategies' books%s", x.Amount, x.Asset, s.stamp(x.AtMS))
	}
	for _, x := range s.Markets {
		line("market", "%s: %s; what it would refuse is not sent", x.Market, x.Status)
	}
	for _, x := range s.Weight {
		line("weight "+x.Of, "%d points left until %s%s", x.Left, clockOf(x.ResetMS), x.ban())
	}
	for _, x := range s.Feeds {
		if strings.HasPrefix(x.Feed, market.KindMarketStatus.String()) {
			continue // of that the exchange tells when it changes: how old it is says nothing
		}
		line("heard", "%s, %s", x.Feed, clockOf(x.LastMS))
	}
	if s.State != botStopped {
		line("clock", "the exchange's is %d ms ahead; %.1f ms there and back", s.ClockOffsetMS, s.RoundTripMS)
	}
	line("journal", "%d entries%s", s.JournalEntries, s.stamp(s.AsOfMS))
	return table.Flush()
}

// stamp is the time of a figure behind it, where the figure is not of now.
func (s *statusInfo) stamp(ms int64) string {
	if s.AsOfMS == 0 {
		return ""
	}
	return saidAt(ms)
}

func (s *statusInfo) process() string {
	if s.PID == 0 {
		return ", this is what its state file says"
	}
	return fmt.Sprintf(", process %d", s.PID)
}

func (s *statusInfo) results() string {
	if s.DayResult == "" {
		return ""
	}
	return fmt.Sprintf(", today %s, drawdown %s", s.DayResult, s.Drawdown)
}

func (x *strategyStatus) text() string {
	text := fmt.Sprintf("%s: %s, %s open", x.Name, x.State, ordersText(x.OpenOrders))
	if x.Waiting > 0 {
		text += fmt.Sprintf(", %d commands wait to be sent", x.Waiting)
	}
	if x.Reason != "" {
		text += fmt.Sprintf(" (since %s: %s)", clockOf(x.HaltedMS), x.Reason)
	}
	return text
}

func (x *weightInfo) ban() string {
	if x.BannedUntilMS == 0 {
		return ""
	}
	return "; banned until " + clockOf(x.BannedUntilMS)
}

// clockOf is a time of Unix milliseconds for a person.
func clockOf(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000")
}
