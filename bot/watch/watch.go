// Package watch asks bots through their dashboards how they stand, and tells a person when one is
// silent, with what it held and had open last. It never trades: what acts is handed in. Start at
// Watcher.
package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/operator"
)

// Alerts sends alerts to persons, and a heartbeat.
type Alerts interface {
	Tell(alert.Alert)
	Beat(now time.Time)
}

// Config says which bots a Watcher watches.
type Config struct {
	*config.WatchConfig
	Alerts Alerts
	Pages  string // address of the page of a bot up to its name; empty: there are no pages
	Now    func() time.Time
	Log    zerolog.Logger
}

// Watcher watches bots. Run asks them; the pages read what it has found.
type Watcher struct {
	Config
	http *http.Client
	bots []*watched
}

// watched is a bot with what was last heard of it.
type watched struct {
	name, token string
	config.WatchedBot
	folder string // with its holdings, for the kill switch

	mu    sync.Mutex
	last  *known    // nil: it has not answered since the start
	heard time.Time // its last answer; before the first one: the start
	why   string    // why it does not answer; empty: it does
	told  bool      // that it is silent
}

// known is what a bot has answered.
type known struct {
	status    operator.Status
	positions operator.Positions
	orders    operator.Orders
	holdings  *killswitch.Holdings // nil: none, as in paper mode
}

// The bounds of an answer.
const (
	answerTime = 5 * time.Second
	maxAnswer  = 16 << 20
)

// New returns a watcher. It makes the folders of the bots.
func New(c Config) (*Watcher, error) {
	w := &Watcher{Config: c, http: &http.Client{Timeout: answerTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	for _, name := range c.Names() {
		one := c.Bots[name]
		b := &watched{name: name, token: c.Token(name), WatchedBot: one, folder: one.State, heard: c.Now()}
		if one.State == "" {
			b.folder = filepath.Join(c.Watch.Folder, name)
			if err := os.MkdirAll(b.folder, 0o700); err != nil {
				return nil, fmt.Errorf("watch: %w", err)
			}
		}
		w.bots = append(w.bots, b)
	}
	return w, nil
}

// Run asks the bots again and again, until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	rounds := time.NewTicker(time.Duration(w.Watch.Every))
	defer rounds.Stop()
	for {
		var asking sync.WaitGroup
		for _, b := range w.bots {
			asking.Go(func() { w.look(ctx, b) })
		}
		asking.Wait()
		w.Alerts.Beat(w.Now())
		select {
		case <-rounds.C:
		case <-ctx.Done():
			w.http.CloseIdleConnections()
			return
		}
	}
}

// look asks a bot, and tells of its silence and of its return.
func (w *Watcher) look(ctx context.Context, b *watched) {
	next, err := w.ask(ctx, b)
	if ctx.Err() != nil {
		return
	}
	now := w.Now()
	if err == nil {
		err = b.keep(next, now)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		if b.told {
			w.tell(b, alert.Heard, fmt.Sprintf("%s answers again: %s", b.name, next.status.State), next)
		}
		b.last, b.heard, b.why, b.told = next, now, "", false
		return
	}
	if text := err.Error(); text != b.why {
		b.why = text
		w.Log.Warn().Str("bot", b.name).Str("reason", b.why).Msg("the bot does not answer")
	}
	if silent := now.Sub(b.heard); !b.told && silent >= time.Duration(w.Watch.Silent) {
		b.told = true
		w.tell(b, alert.Silent, fmt.Sprintf("%s is silent since %s (%s)%s%s", b.name,
			silent.Round(time.Second), b.why, b.left(), w.way(b)), b.last)
	}
}

// way is where a person acts on a bot.
func (w *Watcher) way(b *watched) string {
	if w.Pages == "" || b.Config == "" {
		return ""
	}
	return "\nto cancel and sell: " + w.Pages + b.name
}

// tell raises an alert, with the money that is known.
func (w *Watcher) tell(b *watched, kind, text string, k *known) {
	one := alert.Alert{Kind: kind, At: w.Now().UTC(), Text: text}
	if k != nil {
		one.Run, one.Money = k.status.Run, k.money()
	}
	w.Log.Warn().Str("bot", b.name).Str("kind", kind).Msg(text)
	w.Alerts.Tell(one)
}

// left are the open orders that a bot had when it was last heard.
func (b *watched) left() string {
	if b.last == nil {
		return "; it has not answered since bot watch runs"
	}
	text := fmt.Sprintf("; last known, %s UTC:", operator.ClockOf(b.heard.UnixMilli()))
	for i := range b.last.orders.Orders {
		o := &b.last.orders.Orders[i]
		text += fmt.Sprintf("\norder %s %s %s", o.Strategy, o.Market, o.Terms())
	}
	return text
}

// money is how the money stood.
func (k *known) money() *alert.Money {
	s := &k.status
	m := &alert.Money{Currency: s.Currency, Equity: s.Equity, DayResult: s.DayResult, OpenOrders: s.OpenOrders,
		Positions: []alert.Holding{}}
	for i := range k.positions.Positions {
		p := &k.positions.Positions[i]
		if strings.Trim(p.Amount, "0.") == "" {
			continue // closed
		}
		h := alert.Holding{Strategy: p.Strategy, Market: p.Market, Amount: p.Amount, Value: p.Value}
		for _, u := range s.Unprotected {
			if u.Strategy == p.Strategy && u.Market == p.Market {
				h.Unprotected = u.Amount
			}
		}
		m.Positions = append(m.Positions, h)
	}
	return m
}

// keep writes the holdings of a bot on another machine to its folder. The time of the file is that
// of the bot's last answer: the kill switch waits from there until nothing of the bot can arrive
// any more.
func (b *watched) keep(next *known, now time.Time) error {
	if b.State != "" || next.holdings == nil {
		return nil
	}
	path := filepath.Join(b.folder, killswitch.HoldingsFile)
	if b.last != nil && b.last.holdings != nil && b.last.holdings.AtMS == next.holdings.AtMS {
		if err := os.Chtimes(path, now, now); err == nil {
			return nil
		}
	}
	return next.holdings.Write(b.folder)
}

// ask asks a bot how it stands. A bot that does not trade in good order is an error.
func (w *Watcher) ask(ctx context.Context, b *watched) (*known, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	k := &known{}
	for _, question := range []struct {
		path string
		into any
	}{{"status", &k.status}, {"holdings", &k.holdings}, {"positions", &k.positions}, {"orders", &k.orders}} {
		if err := w.get(ctx, b, question.path, question.into); err != nil {
			return nil, err
		}
	}
	switch k.status.State {
	case operator.Trading, operator.Halted, operator.Stopping:
		return k, nil
	case operator.Blocked:
		return nil, errors.New(k.status.Blocked)
	}
	return nil, errors.New("the bot is " + k.status.State)
}

// get asks a question of a bot's dashboard.
func (w *Watcher) get(ctx context.Context, b *watched, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(b.URL, "/")+"/api/v1/"+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+b.token)
	answer, err := w.http.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch {
	case err != nil:
		return err
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("its dashboard answered %d: %s", answer.StatusCode,
			config.Clip(strings.TrimSpace(string(body))))
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("the answer to %s: %w", path, err)
	}
	return nil
}
