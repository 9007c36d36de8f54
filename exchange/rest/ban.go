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

// longestReset is how long a reset or the end of a ban that the exchange tells is believed: a
// minute's budget is back in a minute, and a ban of a key lasts another (venue-facts 2.4). A ban
// that lasts longer is told again by the next answer.
const longestReset = 2 * time.Minute

// sayDoubtAgain is how long a ledger says nothing more of resets that it does not believe.
const sayDoubtAgain = 10 * time.Minute

// read reads the headers; false where one is missing or cannot be what the specification says.
func (n *rateHeaders) read(h http.Header, now market.Time) (r rate, ok bool) {
	limit, wrong1 := strconv.Atoi(h.Get(n.limit))
	remaining, wrong2 := strconv.Atoi(h.Get(n.remaining))
	reset, doubted, known := n.resetOf(h, now)
	if wrong1 != nil || wrong2 != nil || !known || limit <= 0 || remaining < 0 || remaining > limit {
		return rate{}, false
	}
	return rate{limit, remaining, reset, doubted}, true
}

// resetOf reads the header of the time at which the points are back, in Unix milliseconds: at most
// longestReset from now, doubted being what it says where that is later. false where there is none,
// or one that is over.
func (n *rateHeaders) resetOf(h http.Header, now market.Time) (reset market.Time, doubted string, ok bool) {
	ms, err := strconv.ParseInt(h.Get(n.resetAt), 10, 64)
	if err != nil || ms < now.Add(-longestReset).Millis() {
		return 0, "", false
	}
	if most := now.Add(longestReset); ms > most.Millis() {
		return most, dateOf(ms), true
	}
	reset, err = market.TimeOfMillis(ms)
	return reset, "", err == nil
}

// dateOf is a time in Unix milliseconds for a person, the number itself where no calendar has it.
func dateOf(ms int64) string {
	at, err := market.TimeOfMillis(ms)
	if err != nil {
		return strconv.FormatInt(ms, 10) + " ms"
	}
	return at.Std().Format("2006-01-02 15:04:05 UTC")
}

// banned reports whether an answer says that nothing more is to be sent: HTTP status 429, or code
// 105. Code 429 is about decimals.
func banned(status int, body []byte) bool {
	return status == http.StatusTooManyRequests || status >= 400 &&
		exchange.ParseError(status, body).Code == exchange.CodeBanned
}

// banEnd reads "The ban expires at 1772452800000." as clients of the exchange do: what stands
// between " at " and the last full stop, in Unix milliseconds; 0 where there is none.
func banEnd(text string) (ms int64) {
	at := strings.LastIndex(text, " at ")
	if at < 0 {
		return 0
	}
	ms, _ = strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(text[at+len(" at "):]), "."), 10, 64)
	return ms
}

// ban stops the budget until the later of what the text and the header say, or for the usual time
// where neither says anything.
func (l *Ledger) ban(a *allowance, h http.Header, status int, body []byte, now market.Time) {
	usual := minuteEnd(now).Add(l.banOf(a.payer))
	most := max(usual, now.Add(longestReset)) // the next answer tells of one that lasts longer
	until, _ := market.TimeOfMillis(banEnd(exchange.ParseError(status, body).Message))
	reset, doubted, _ := l.names.resetOf(h, now)
	if told := banEnd(exchange.ParseError(status, body).Message); told > most.Millis() {
		until, doubted = most, dateOf(told)
		if told >= now.Add(believable).Millis() {
			until = usual // it says nothing of this ban
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

// banOf is how long a ban lasts behind the minute where the exchange says nothing of it.
func (l *Ledger) banOf(p Payer) market.Duration {
	if p == PaidByKey {
		return l.config.KeyBan
	}
	return l.config.IPBan
}

// doubt says that a reset is not believed, now and then.
func (l *Ledger) doubt(a *allowance, r rate, now market.Time) {
	if a.doubted = r.doubted != ""; a.doubted && (a.saidDoubt == 0 || now.Sub(a.saidDoubt) >= sayDoubtAgain) {
		a.saidDoubt = now
		l.warn(Warning{Kind: WarnReset, Payer: a.payer, At: now, Until: r.reset, Doubted: r.doubted})
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
