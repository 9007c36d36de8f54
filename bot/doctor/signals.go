package doctor

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// doorTime is how long the door of a running bot may take to answer.
const doorTime = 3 * time.Second

// signals checks how signals from outside come: the door and its secrets, and files.
func (d *doctor) signals(ctx context.Context, now time.Time) {
	const check = "signals.door"
	c := &d.plan.Config.Signals.Door
	way, free := d.listens(check, c.Listen, c.TLSCert, c.TLSKey, c.BehindProxy, now)
	switch {
	case way == "":
	case !free && !doorAnswers(ctx, c):
		d.fail(check, c.Listen+" is in use, and what listens there is no door", "choose another signals.door.listen")
	case !free:
		d.ok(check, "%s, %s; it answers: the bot runs", c.Listen, way)
	default:
		d.ok(check, "%s, %s", c.Listen, way)
	}
	if way != "" && c.BehindProxy {
		d.ok(check, "a proxy writes paths into its log, and a path is a secret here: turn its log off for /signal/")
	}
	for i := range d.plan.Door.Sources {
		one := &d.plan.Door.Sources[i]
		secret, _, _ := one.Secret.Latest()
		text := fmt.Sprintf("a secret path of %d characters", len(secret.Path))
		if secret.Key != nil {
			text = fmt.Sprintf("signatures with a secret of %d bytes", len(secret.Key))
		}
		d.ok("signals", "%s: %s, in a file that only its owner may read", one.Name, text)
	}
	for _, name := range slices.Sorted(maps.Keys(d.plan.Config.Signals.Sources)) {
		s := d.plan.Config.Signals.Sources[name]
		d.lastSignal(name, &s, market.Time(now.UnixNano()))
		if s.Live != config.LiveFile {
			continue
		}
		if info, err := os.Stat(s.File); err != nil {
			d.warn("signals", name+": "+err.Error(), "its rows count as soon as the file is there")
		} else {
			d.ok("signals", "%s: new rows of %s, which has %d bytes", name, s.File, info.Size())
		}
	}
}

// lastSignal compares the latest signal of a source with how often it is to come.
func (d *doctor) lastSignal(name string, s *config.SignalSection, now market.Time) {
	if d.known == nil || s.Live == "" {
		return
	}
	h, came := d.known.signals[name]
	if !came {
		return
	}
	d.senderClock(name, time.Duration(s.MaxAge))
	text := fmt.Sprintf("%s: %d counted, %d refused, %d lost; the latest came at %s", name, h.Received, h.Refused,
		h.Lost, market.FloorTo(h.Last, market.Time(time.Second)))
	if every := time.Duration(s.Every); every > 0 && now.Sub(h.Last) > every {
		d.warn("signals", fmt.Sprintf("%s, and every is %s", text, every),
			"look whether its sender still sends; after a long stop it is as it should be")
		return
	}
	d.ok("signals", "%s", text)
}

// lagsOf is how many signals of a source show its sender's clock, of the last lagDays.
const (
	lagsOf  = 50
	lagDays = 7
)

// readLags reads how long after their senders' times the latest signals came. Signals that were
// refused count too: those of the future are refused.
func (k *knownState) readLags(store *journal.Store) error {
	k.lags = map[string][]market.Duration{}
	var last market.Time
	for _, h := range k.signals {
		last = max(last, h.Last)
	}
	return store.EntriesBack(last.Add(-lagDays*24*time.Hour), func(e *journal.Entry) error {
		if r, is := e.Record.(*journal.Signal); is && r.Sent != 0 && len(k.lags[r.Source]) < lagsOf {
			k.lags[r.Source] = append(k.lags[r.Source], r.Came.Sub(r.Sent))
		}
		return nil
	}, journal.EntrySignal)
}

// aheadTime is how far a sender's clock may be ahead before it is worth a word.
const aheadTime = time.Second

// senderClock compares the times that a sender writes with those at which its signals came, by the
// exchange's clock.
func (d *doctor) senderClock(name string, maxAge time.Duration) {
	lags := slices.Sorted(slices.Values(d.known.lags[name]))
	if len(lags) == 0 {
		return
	}
	least, middle := lags[0], lags[(len(lags)-1)/2]
	text := fmt.Sprintf("%s: the latest %d signals came %s after their senders' times in the median, %s at least",
		name, len(lags), middle.Round(time.Millisecond), least.Round(time.Millisecond))
	switch {
	case least < -aheadTime:
		d.warn("signals", text+": the sender's clock is ahead of the exchange's",
			"set it by NTP; a signal that is 5 s ahead is refused")
	case maxAge > 0 && middle > maxAge/2:
		d.warn("signals", fmt.Sprintf("%s, and max_age is %s", text, maxAge),
			"set the sender's clock by NTP, find out what holds its signals up, or raise max_age")
	default:
		d.ok("signals", "%s", text)
	}
}

// doorAnswers reports whether a door of signals answers at an address. It asks without a secret.
func doorAnswers(ctx context.Context, c *config.DoorSection) bool {
	ctx, cancel := context.WithTimeout(ctx, doorTime)
	defer cancel()
	scheme := "http"
	transport := &http.Transport{DisableKeepAlives: true}
	if c.TLSCert != "" {
		// the name in the certificate need not be this address
		scheme, transport.TLSClientConfig = "https", &tls.Config{InsecureSkipVerify: true}
	}
	at := c.Listen
	if strings.HasPrefix(at, ":") {
		at = "127.0.0.1" + at
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+at+"/signal", nil)
	if err != nil {
		return false
	}
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusMethodNotAllowed && answer.Header.Get("Allow") == http.MethodPost
}
