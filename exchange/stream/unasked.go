package stream

import (
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/exchange"
)

// How often a refusal that answers no request is logged, and of how many codes.
const (
	unaskedEvery = time.Minute
	unaskedCodes = 32  // all other codes count as one
	unaskedText  = 200 // bytes of the exchange's words
)

// unasked are refusals on a stream that answer no request. Of each code one is logged at once, and
// then one a minute with the number of those since. It is safe for concurrent use.
type unasked struct {
	mu    sync.Mutex // guards everything below
	codes map[int]*repeated
}

// repeated is what came of one code.
type repeated struct {
	said time.Time // when it was last logged
	last exchange.Error
	more int // since then
}

// note counts a refusal, and logs it where its code is new.
func (u *unasked) note(log *zerolog.Logger, refusal *exchange.Error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	r := u.codes[refusal.Code]
	if r == nil {
		code := refusal.Code
		if len(u.codes) >= unaskedCodes {
			code = -1
		}
		if r = u.codes[code]; r == nil {
			r = &repeated{}
			if u.codes == nil {
				u.codes = map[int]*repeated{}
			}
			u.codes[code] = r
		}
	}
	r.more++
	r.last = *refusal
	if len(r.last.Message) > unaskedText {
		r.last.Message = strings.ToValidUTF8(strings.Clone(r.last.Message[:unaskedText]), "") + "…"
	}
	r.say(log)
}

// say logs what came, a minute or more after the last line.
func (r *repeated) say(log *zerolog.Logger) {
	now := time.Now()
	if r.more == 0 || !r.said.IsZero() && now.Sub(r.said) < unaskedEvery {
		return
	}
	log.Warn().Err(&r.last).Int("times", r.more).Msg("the exchange refuses something on the stream")
	r.said, r.more = now, 0
}

// due logs what has come since the last lines.
func (u *unasked) due(log *zerolog.Logger) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, r := range u.codes {
		r.say(log)
	}
}
