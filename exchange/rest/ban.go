package rest

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// rateHeaders are the names of the three rate headers as net/http spells them.
type rateHeaders struct{ limit, remaining, resetAt string }

func rateHeadersOf(prefix string) rateHeaders {
	name := func(what string) string { return http.CanonicalHeaderKey(prefix + "-ratelimit-" + what) }
	return rateHeaders{name("limit"), name("remaining"), name("resetat")}
}

// maxStateAge is how far from now a time saved by an earlier process may lie.
const maxStateAge = 24 * time.Hour

// maxReset is the latest believable reset or end of a ban, from now: a minute's budget is back in a
// minute, and a ban of a key lasts another (venue-facts 2.4). The next answer repeats a longer ban.
const maxReset = 2 * time.Minute

// warnResetEvery is the time between two warnings about false resets.
const warnResetEvery = 10 * time.Minute

// read parses the headers; false where one is missing or breaks the specification.
func (n *rateHeaders) read(h http.Header, now market.Time) (r rate, ok bool) {
	limit, wrong1 := strconv.Atoi(h.Get(n.limit))
	remaining, wrong2 := strconv.Atoi(h.Get(n.remaining))
	reset, doubted, known := n.resetOf(h, now)
	if wrong1 != nil || wrong2 != nil || !known || limit <= 0 || remaining < 0 || remaining > limit {
		return rate{}, false
	}
	return rate{limit, remaining, reset, doubted}, true
}

// resetOf parses the reset header, in Unix milliseconds. A reset later than maxReset from now is
// capped, and claimed is its text. ok is false where there is none, or it is long over.
func (n *rateHeaders) resetOf(h http.Header, now market.Time) (reset market.Time, claimed string, ok bool) {
	ms, err := strconv.ParseInt(h.Get(n.resetAt), 10, 64)
	if err != nil || ms < now.Add(-maxReset).Millis() {
		return 0, "", false
	}
	if most := now.Add(maxReset); ms > most.Millis() {
		return most, dateOf(ms), true
	}
	reset, err = market.TimeOfMillis(ms)
	return reset, "", err == nil
}

// dateOf formats a time in Unix milliseconds; the number itself where it is out of range.
func dateOf(ms int64) string {
	at, err := market.TimeOfMillis(ms)
	if err != nil {
		return strconv.FormatInt(ms, 10) + " ms"
	}
	return at.Std().Format("2006-01-02 15:04:05 UTC")
}

// banned reports whether an answer is a ban: the exchange's error with code 105. An HTTP status
// alone is none: a proxy sends it, too.
func banned(status int, body []byte) bool {
	return status >= 400 && len(body) > 0 && exchange.ParseError(status, body).Code == exchange.CodeBanned
}

// foreignPage reports whether something before the exchange refuses: an answer with a status of
// refused access or too many requests that is not the exchange's error.
func foreignPage(status int, body []byte) bool {
	switch status {
	case http.StatusForbidden, http.StatusTeapot, http.StatusTooManyRequests:
		return exchange.ParseError(status, body).Code == 0
	}
	return false
}

// longestPause is how long nothing is sent after a foreign page that names no time.
const longestPause = 10 * time.Second

// hold lets all requests wait after a foreign page: until its Retry-After, maxReset at most, or for
// 1, 2, 4, 8, then 10 seconds. Pages that come meanwhile were asked for before.
func (l *WeightBudget) hold(a *allowance, h http.Header, status int, now market.Time) {
	pause := min(time.Second<<min(a.holds, 4), longestPause)
	if after, stated := RetryAfter(h); stated {
		pause = max(after, time.Second)
	}
	until := now.Add(pause)
	if a.held <= now {
		a.holds++
		l.warn(Warning{Kind: WarnHeld, Payer: a.payer, At: now, Until: until, Status: status})
	}
	a.held = max(a.held, until)
}

// RetryAfter reads the header Retry-After, of seconds or a date beside the header Date: how long to
// wait, two minutes at most. The next answer repeats a longer time.
func RetryAfter(h http.Header) (after market.Duration, stated bool) {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxReset), true
	}
	at, err := http.ParseTime(text)
	sent, failed := http.ParseTime(h.Get("Date"))
	return max(0, min(at.Sub(sent), maxReset)), err == nil && failed == nil
}

// banEnd parses the end in "The ban expires at 1772452800000.", in Unix milliseconds: the text
// between the last " at " and the full stop. 0: there is none.
func banEnd(text string) (ms int64) {
	at := strings.LastIndex(text, " at ")
	if at < 0 {
		return 0
	}
	ms, _ = strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(text[at+len(" at "):]), "."), 10, 64)
	return ms
}

// ban stops the budget until the later of the ends in text and header, or for the usual time where
// neither has one.
func (l *WeightBudget) ban(a *allowance, h http.Header, status int, body []byte, now market.Time) {
	usual := minuteEnd(now).Add(l.banOf(a.payer))
	most := max(usual, now.Add(maxReset)) // the next answer repeats a longer ban
	until, _ := market.TimeOfMillis(banEnd(exchange.ParseError(status, body).Message))
	reset, doubted, _ := l.names.resetOf(h, now)
	if stated := banEnd(exchange.ParseError(status, body).Message); stated > most.Millis() {
		until, doubted = most, dateOf(stated)
		if stated >= now.Add(maxStateAge).Millis() {
			until = usual // it cannot mean this ban
		}
	}
	if until = max(until, reset); until <= now {
		until = usual
	}
	if until = until.Add(a.margin); until > a.banned {
		a.banned = until
		l.warn(Warning{Kind: WarnBan, Payer: a.payer, At: now, Until: until, Doubted: doubted})
	}
}

// banOf is how long a ban lasts after the minute where the exchange names no end.
func (l *WeightBudget) banOf(p Payer) market.Duration {
	if p == PaidByKey {
		return l.config.KeyBan
	}
	return l.config.IPBan
}

// warnReset warns of a false reset, at most once in warnResetEvery.
func (l *WeightBudget) warnReset(a *allowance, r rate, now market.Time) {
	a.resetCapped = r.claimed != ""
	if a.resetCapped && (a.resetWarned == 0 || now.Sub(a.resetWarned) >= warnResetEvery) {
		a.resetWarned = now
		l.warn(Warning{Kind: WarnReset, Payer: a.payer, At: now, Until: r.reset, Doubted: r.claimed})
	}
}

// endBan ends a ban that is over. The first minute after it has all points.
func (l *WeightBudget) endBan(a *allowance, now market.Time) {
	if a.banned == 0 || now < a.banned {
		return
	}
	a.banned = 0
	a.begin(minuteEnd(now), 0)
	l.warn(Warning{Kind: WarnBanOver, Payer: a.payer, At: now})
}
