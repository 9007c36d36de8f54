package rest

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// rateHeaders are the names of the three headers in the form that net/http keeps them in.
type rateHeaders struct{ limit, remaining, resetAt string }

func rateHeadersOf(prefix string) rateHeaders {
	name := func(what string) string { return http.CanonicalHeaderKey(prefix + "-ratelimit-" + what) }
	return rateHeaders{name("limit"), name("remaining"), name("resetat")}
}

// believable is how far from now a time of an earlier process may lie.
const believable = 24 * time.Hour

// longestReset is how long a reset or the end of a ban that the exchange tells is believed: a minute's budget is back in a minute, and a ban of a
// key lasts another (venue-facts 2.4). A ban that lasts longer is told again by the next answer.
const longestReset = 2 * time.Minute

// read reads the headers; false where one is missing or cannot be what the specification says.
func (n *rateHeaders) read(h http.Header, now market.Time) (r rate, ok bool) {
	limit, wrong1 := strconv.Atoi(h.Get(n.limit))
	remaining, wrong2 := strconv.Atoi(h.Get(n.remaining))
	reset, known := n.resetOf(h, now)
	if wrong1 != nil || wrong2 != nil || !known || limit <= 0 || remaining < 0 || remaining > limit {
		return rate{}, false
	}
	return rate{limit, remaining, reset}, true
}

// resetOf reads the header of the time at which the points are back, in Unix milliseconds.
func (n *rateHeaders) resetOf(h http.Header, now market.Time) (market.Time, bool) {
	reset, known := timeNear(h.Get(n.resetAt), now)
	return min(reset, now.Add(longestReset)), known
}

func timeNear(text string, now market.Time) (market.Time, bool) {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, false
	}
	return near(ms, now)
}

// banned reports whether an answer says that nothing more is to be sent: HTTP status 429, or code 105. Code 429 is about decimals.
func banned(status int, body []byte) bool {
	return status == http.StatusTooManyRequests || status >= 400 && exchange.ParseError(status, body).Code == exchange.CodeBanned
}

// banEnd reads "The ban expires at 1772452800000." as clients of the exchange do: what stands between " at " and the last full stop.
func banEnd(text string, now market.Time) (market.Time, bool) {
	at := strings.LastIndex(text, " at ")
	if at < 0 {
		return 0, false
	}
	return timeNear(strings.TrimSuffix(strings.TrimSpace(text[at+len(" at "):]), "."), now)
}

// ban stops the budget until the later of what the text and the header say, or for the usual time where neither says anything.
func (l *Ledger) ban(a *allowance, h http.Header, status int, body []byte, now market.Time) {
	length := l.config.IPBan
	if a.payer == PaidByKey {
		length = l.config.KeyBan
	}
	usual := minuteEnd(now).Add(length)
	until, _ := banEnd(exchange.ParseError(status, body).Message, now)
	until = min(until, max(usual, now.Add(longestReset))) // the next answer tells of one that lasts longer
	if reset, ok := l.names.resetOf(h, now); ok {
		until = max(until, reset)
	}
	if until <= now {
		until = usual
	}
	if until = until.Add(a.margin); until > a.banned {
		a.banned = until
		l.warn(Warning{Kind: WarnBan, Payer: a.payer, At: now, Until: until})
	}
}

// endBan says that a ban is over. The first minute after it has all points.
func (l *Ledger) endBan(a *allowance, now market.Time) {
	if a.banned == 0 || now < a.banned {
		return
	}
	a.banned = 0
	a.begin(minuteEnd(now), 0)
	l.warn(Warning{Kind: WarnBanOver, Payer: a.payer, At: now})
}
