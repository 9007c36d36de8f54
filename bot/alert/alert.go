// Package alert sends alerts to webhooks; each webhook has its own queue. It never decides what is
// worth an alert, never blocks the caller, and never shows an address: addresses are secrets. Start
// at Sender.
package alert

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/config"
)

// The kinds of alerts.
const (
	Start       = "start"
	Stop        = "stop"
	Halt        = "halt"
	Resume      = "resume"
	Fill        = "fill"
	Refusals    = "refusals"
	Difference  = "difference"
	Ban         = "ban"
	Stale       = "stale"
	Unprotected = "unprotected"
	Blocked     = "blocked"
	Tracking    = "tracking" // of bot gap --every: a strategy is far from its backtest
	Seal        = "seal"
	Summary     = "summary" // what was earned in a day or a week
	Daily       = "daily"   // how the money stands, once a day
	// SignalLost: a sender of signals names another position before than the one that was heard;
	// SourceSilent: a source has said nothing for longer than its every.
	SignalLost   = "signal lost"
	SourceSilent = "source silent"
	// Silent: bot watch has no answer of a bot; Heard: it answers again.
	Silent = "silent"
	Heard  = "heard"
	Test   = "test" // of bot doctor; no filter drops it
)

// kinds are the kinds that a running bot and bot watch send.
var kinds = []string{Start, Stop, Halt, Resume, Fill, Refusals, Difference, Ban, Stale, Unprotected, Blocked, Tracking,
	Seal, Summary, Daily, SignalLost, SourceSilent, Silent, Heard}

// Alert is one message to a person.
type Alert struct {
	Kind    string    `json:"kind"`
	At      time.Time `json:"at"`
	Bot     string    `json:"bot,omitempty"` // its name
	Run     string    `json:"run"`
	Text    string    `json:"text"`
	Money   *Money    `json:"money,omitempty"`   // nil: not known, or not wanted
	Dropped int       `json:"dropped,omitempty"` // earlier alerts that were never sent
}

// maxQueued bounds the alerts that wait for one receiver.
const maxQueued = 64

// Receiver is a webhook with its queue of at most maxQueued alerts. A full queue drops its oldest
// alert; the next alert that is sent says how many were dropped.
type Receiver struct {
	config.AlertSection
	Name string
	url  string
	log  zerolog.Logger
	http *http.Client

	pace pace

	mu      sync.Mutex // guards everything below
	waiting []Alert
	dropped int
	closing bool
	wake    chan struct{} // of size 1: the queue or closing has changed
}

// Sender sends alerts to their receivers. A nil Sender sends nothing.
type Sender struct {
	places  []*Receiver
	heart   *Heartbeat // nil: none
	end     chan struct{}
	cancel  context.CancelFunc
	workers sync.WaitGroup
	log     zerolog.Logger
}

// NewReceivers checks the receivers of a config.
func NewReceivers(c *config.AlertsSection, getenv func(string) string) (places []*Receiver, err error) {
	keys := config.Secrets{Getenv: getenv}
	for _, name := range slices.Sorted(maps.Keys(c.To)) {
		section, path := c.To[name], []string{"alerts", "to", name}
		if err := config.OneOf(config.Join(path, "template"), section.Template, templates...); err != nil {
			return nil, err
		}
		for _, kind := range section.Skip {
			if err := config.OneOf(config.Join(path, "skip"), kind, kinds...); err != nil {
				return nil, err
			}
		}
		if (section.Template == "telegram") != (section.Chat != "") {
			return nil, config.Keyf(config.Join(path, "chat"), "belongs to telegram, which needs it: the chat_id")
		}
		words, err := keys.Read(path, "url", section.URL, section.URLFile, section.URLEnv)
		if err != nil {
			return nil, err
		}
		if err := checkURL(words.Text); err != nil {
			return nil, config.At(config.Join(path, "url"), err)
		}
		places = append(places, &Receiver{AlertSection: section, Name: name, url: words.Text,
			wake: make(chan struct{}, 1), pace: defaultPace()})
	}
	return places, nil
}

// checkURL refuses a URL over which a secret would go in clear. Its errors do not repeat the URL.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return errors.New("is missing; name it by url_env or url_file")
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("is no address; want https://…")
	case u.Scheme == "http" && !config.LoopbackHost(u.Hostname()):
		return errors.New("would be sent in clear; want https, or http to this machine")
	}
	return nil
}

// NewSender starts a worker for each receiver, and for the heartbeat unless it is nil. Call Stop.
func NewSender(places []*Receiver, heart *Heartbeat, log zerolog.Logger) *Sender {
	if len(places) == 0 && heart == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &Sender{places: places, heart: heart, end: make(chan struct{}), cancel: cancel, log: log}
	if heart != nil {
		heart.place.log = log
		a.workers.Go(func() { heart.work(ctx, a.end) })
	}
	for _, p := range places {
		p.log = log
		p.http = p.client()
		a.workers.Go(func() { p.work(ctx) })
	}
	return a
}

// client is the HTTP client of a receiver. It follows no redirect.
func (p *Receiver) client() *http.Client {
	return &http.Client{
		Timeout: p.pace.answer,
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment,
			DialContext: (&net.Dialer{Timeout: p.pace.answer}).DialContext, MaxIdleConnsPerHost: 1,
			IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Tell hands an alert to the receivers that want it. It never waits for them.
func (a *Sender) Tell(one Alert) {
	if a == nil {
		return
	}
	for _, p := range a.places {
		if !slices.Contains(p.Skip, one.Kind) {
			p.add(one)
		}
	}
}

// Begin tells the watchdog service that a run begins. It never waits.
func (a *Sender) Begin() {
	if a != nil {
		a.heart.begin()
	}
}

// Beat tells the watchdog service, once a minute, that the caller's loop has turned. Only one
// goroutine may call it. It never waits.
func (a *Sender) Beat(now time.Time) {
	if a != nil {
		a.heart.beat(now)
	}
}

// Fail tells the watchdog service why a run has failed. It never waits.
func (a *Sender) Fail(why string) {
	if a != nil {
		a.heart.fail(why)
	}
}

// add queues an alert. A full queue drops its oldest.
func (p *Receiver) add(one Alert) {
	p.mu.Lock()
	if len(p.waiting) >= maxQueued {
		p.waiting = p.waiting[1:]
		p.dropped++
	}
	p.waiting = append(p.waiting, one)
	p.mu.Unlock()
	p.nudge()
}

func (p *Receiver) nudge() {
	select {
	case p.wake <- struct{}{}:
	default: // it is awake
	}
}

// next takes the oldest alert. done: the queue is empty and closed.
func (p *Receiver) next() (one Alert, found, done bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		return one, false, p.closing
	}
	one = p.waiting[0]
	p.waiting = p.waiting[1:]
	one.Dropped, p.dropped = p.dropped, 0
	return one, true, false
}

// work sends the queued alerts, one after the other, until the queue is empty and closed, or ctx
// ends.
func (p *Receiver) work(ctx context.Context) {
	defer p.http.CloseIdleConnections()
	for ctx.Err() == nil {
		one, found, done := p.next()
		switch {
		case done:
			return
		case found:
			p.deliver(ctx, &one)
			continue
		}
		select {
		case <-p.wake:
		case <-ctx.Done():
		}
	}
}

// Stop sends the queued alerts, for at most the given time, and logs how many are left. It returns
// once every worker has ended.
func (a *Sender) Stop(within time.Duration) {
	if a == nil {
		return
	}
	for _, p := range a.places {
		p.mu.Lock()
		p.closing = true
		p.mu.Unlock()
		p.nudge()
	}
	close(a.end)
	late := time.AfterFunc(within, a.cancel)
	a.workers.Wait()
	late.Stop()
	a.cancel()
	for _, p := range a.places {
		if left := len(p.waiting) + p.dropped; left > 0 {
			a.log.Warn().Str("to", p.Name).Int("alerts", left).Msg("alerts were not sent")
		}
	}
}

// line is the alert as text: its own, and a line about the money.
func (a *Alert) line() string {
	text := fmt.Sprintf("[%s] %s", a.Kind, a.Text)
	if a.Bot != "" {
		text = fmt.Sprintf("[%s] %s: %s", a.Kind, a.Bot, a.Text)
	}
	if a.Money != nil {
		text += "\n" + a.Money.Text()
	}
	if a.Dropped > 0 {
		text += fmt.Sprintf(" (%d alerts before this one were not sent)", a.Dropped)
	}
	return strings.ToValidUTF8(text, "?")
}
