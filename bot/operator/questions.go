package operator

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/bot/seal"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// AskStatus asks for the status of a bot.
func AskStatus() Question[Status] {
	return Question[Status]{path: PathStatus, read: func(store *journal.Store) (*Status, error) {
		return StoppedStatus(store, filepath.Dir(store.Path()))
	}}
}

// AskOrders asks for the open orders of a bot, or for all.
func AskOrders(all bool) Question[Orders] {
	return Question[Orders]{path: PathOrders, ask: Request{All: all},
		read: func(store *journal.Store) (*Orders, error) { return stoppedOrders(store, all) }}
}

// AskPositions asks for the positions of a bot.
func AskPositions() Question[Positions] {
	return Question[Positions]{path: PathPositions, read: StoppedPositions}
}

// AskStory asks for the story of an order. order is a name as in journal.Store.FindOrder.
func AskStory(order string) Question[Story] {
	return Question[Story]{path: PathExplain, ask: Request{Order: order},
		read: func(store *journal.Store) (*Story, error) { return StoryOf(store, order) }}
}

// AskRefused asks for the refusals of the time since, of one strategy or, if the name is empty, of
// all.
func AskRefused(strategy string, since time.Duration) Question[Refused] {
	return Question[Refused]{path: PathExplain, ask: Request{Strategy: strategy, SinceMS: since.Milliseconds()},
		read: func(store *journal.Store) (*Refused, error) { return storedRefusals(store, strategy, since) }}
}

// AskVerify asks how a bot stands to its seal.
func AskVerify() Question[seal.SealStatus] {
	return Question[seal.SealStatus]{path: PathVerify, read: seal.StatusOf}
}

// Seal lets the running bot of a folder journal the document of a seal. The error wraps ErrNoBot if
// none runs.
func Seal(ctx context.Context, folder string, document []byte, by string) (*seal.SealStatus, error) {
	answer := &seal.SealStatus{}
	_, err := Call(ctx, folder, PathSeal, &Request{Document: document, By: by}, 2*AnswerTimeout, answer)
	return answer, err
}

// Act sends a command to a running bot. It waits for Request.WaitMS and the time that the bot may
// take to answer. If no bot answers, the error says whether one runs that does not trade yet.
func Act(ctx context.Context, of Target, path string, ask *Request) (answer Answer[ActResult], err error) {
	answer.Value = new(ActResult)
	wait := time.Duration(ask.WaitMS) * time.Millisecond
	answer.Raw, err = Call(ctx, of.Folder, path, ask, wait+2*AnswerTimeout, answer.Value)
	switch {
	case errors.Is(err, ErrNoBot) && of.Beside:
		err = of.notYet()
	case errors.Is(err, ErrNoBot):
		err = explainNoBot(ctx, of.Folder, err)
	}
	return answer, err
}

// Backup lets the running bot of a folder write a copy of its state file to an absolute path. One
// that is passing, because the caller removes it, is not noted as the latest backup. The error
// wraps ErrNoBot if none runs.
func Backup(ctx context.Context, folder, file string, passing bool) error {
	_, err := Call(ctx, folder, PathBackup, &Request{File: file, Passing: passing}, MaxWait, &struct{}{})
	return err
}

// AskTrades asks for round trips.
func AskTrades(q *profit.Query) Question[profit.TradeList] {
	return askBooks(PathTrades, q, func(store *journal.Store, now market.Time) (*profit.TradeList, error) {
		list, err := profit.Trades(store, q, now)
		if err == nil {
			list.AsOfMS = now.Millis()
		}
		return list, err
	})
}

// AskProfit asks what the bot has earned.
func AskProfit(q *profit.Query) Question[profit.ProfitReport] {
	return askBooks(PathProfit, q, func(store *journal.Store, now market.Time) (*profit.ProfitReport, error) {
		report, err := ProfitOf(store, q, now)
		if err == nil {
			report.AsOfMS = now.Millis()
		}
		return report, err
	})
}

// ProfitOf says what a bot has earned, at the prices that its state file has: they are at most a
// minute old while it runs.
func ProfitOf(store *journal.Store, q *profit.Query, now market.Time) (*profit.ProfitReport, error) {
	prices, err := statedir.Prices(store)
	if err != nil {
		return nil, err
	}
	return profit.Profit(store, q, prices.Last, now)
}

// AskEquity asks for a curve.
func AskEquity(q *profit.Query) Question[profit.Curve] {
	return askBooks(PathEquity, q, func(store *journal.Store, now market.Time) (*profit.Curve, error) {
		curve, err := profit.Equity(store, q, now)
		if err == nil {
			curve.AsOfMS = now.Millis()
		}
		return curve, err
	})
}

// askBooks asks a running bot a question of its books, or reads them from a state file. Ages then
// end with the file's last entry.
func askBooks[T any](path string, q *profit.Query, read func(*journal.Store, market.Time) (*T, error)) Question[T] {
	all := Question[T]{path: path, ask: Request{Books: q}, read: func(store *journal.Store) (*T, error) {
		entries, err := store.LastEntries(1)
		if err != nil {
			return nil, err
		}
		var now market.Time
		if len(entries) > 0 {
			now = entries[0].At
		}
		return read(store, now)
	}}
	if err := q.Check(); err != nil {
		all.wrong = config.Usagef("%w", err)
	}
	return all
}

// Glance is status, positions and limits of a bot at one moment: what a dashboard asks for again
// and again.
type Glance struct {
	Status    *Status    `json:"status"`
	Positions *Positions `json:"positions"`
	Risk      *Risk      `json:"risk"`
}

// ByBot notes that the running bot gave the answer.
func (g *Glance) ByBot() { g.Positions.Running, g.Risk.Running = true, true }

// AskGlance asks for a glance. A running bot takes one look at its loop for it.
func AskGlance() Question[Glance] {
	return Question[Glance]{path: PathGlance, read: func(store *journal.Store) (*Glance, error) {
		g, err := &Glance{}, error(nil)
		if g.Status, err = StoppedStatus(store, filepath.Dir(store.Path())); err != nil {
			return nil, err
		}
		var failed error
		g.Positions, err = StoppedPositions(store)
		g.Risk, failed = StoppedRisk(store)
		return g, errors.Join(err, failed)
	}}
}

// Canary is the answer to `bot canary`: another program or config that decides in shadow.
type Canary struct {
	Program    string   `json:"program"`             // its version; empty: it has not answered yet
	Config     string   `json:"config,omitempty"`    // hash of its settings; empty: those of the bot
	Equal      int      `json:"equal"`               // commands
	Wanted     int      `json:"wanted"`              // equal commands for its promotion
	Unchecked  int      `json:"unchecked"`           // commands whose events it did not get
	Events     uint64   `json:"events"`              // that it has replayed
	Dropped    int      `json:"dropped,omitempty"`   // parts of the records that it did not get: it did not keep up
	Difference string   `json:"different,omitempty"` // the first command that differs
	Ended      string   `json:"ended,omitempty"`     // why it has ended, where no command differs
	Decided    string   `json:"decided,omitempty"`   // accepted or refused
	Notes      []string `json:"notes"`               // what it could not check
}

// What a person decides about a canary: Request.As.
const (
	CanaryAccept = "accept"
	CanaryRefuse = "refuse"
)

// AskCanary asks a running bot how far its canary is. decide is what a person decides about it;
// empty: nothing.
func AskCanary(ctx context.Context, folder, decide, reason string) (*Canary, error) {
	c := &Canary{}
	_, err := Call(ctx, folder, PathCanary, &Request{As: decide, Reason: reason}, AnswerTimeout, c)
	return c, err
}

// Reload is the answer to a reload: what has changed, or with a check, what would.
type Reload struct {
	Done       bool     `json:"done"`       // the settings hold now; false: nothing has changed, or it was a check
	Check      bool     `json:"check"`      // nothing was to be applied
	Changed    []string `json:"changed"`    // a line for each setting, without secrets
	Strategies []string `json:"strategies"` // that were warmed up with other parameters
	// WarmedUpToMS is the time up to which they saw candles before they took over; 0: there are
	// none.
	WarmedUpToMS int64  `json:"warmed_up_to_ms,omitempty"`
	Cancelled    int    `json:"cancelled"`   // resting entries of these strategies, whose cancels are sent
	ConfigHash   string `json:"config_hash"` // of the settings that decide what is traded
}

// AskReload asks the running bot of a folder to take over the settings that its config has now.
func AskReload(ctx context.Context, dir string, ask *Request) (Answer[Reload], error) {
	answer := Answer[Reload]{Value: &Reload{}}
	raw, err := Call(ctx, dir, PathReload, ask, time.Duration(ask.WaitMS)*time.Millisecond+AnswerTimeout, answer.Value)
	answer.Raw = raw
	if errors.Is(err, ErrNoBot) {
		err = explainNoBot(ctx, dir, err)
	}
	return answer, err
}
