package poll

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/market"
)

// silence says when something that is asked for again and again is not answered any more: once
// after a while, then now and then as long as that lasts, and once when it is over. Each feed has
// one of its own.
type silence struct {
	log   zerolog.Logger
	after market.Duration // how long is too long
	since market.Time     // of the first question without an answer; 0: the last one had one
	told  market.Time     // when it was said last; 0: it was not
}

// remind is between two lines about the same silence.
const remind = 10 * time.Minute

func (f *Feed) silence(what string) *silence {
	return &silence{log: f.Log.With().Str("feed", what).Logger(), after: f.StaleAfter}
}

// note notes what a question came to. What was given up because the feed ends counts for nothing.
func (s *silence) note(ctx context.Context, now market.Time, err error) {
	switch {
	case ctx.Err() != nil:
	case err == nil && s.told != 0:
		s.log.Info().Stringer("silent_for", now.Sub(s.since)).Msg("the exchange answers again")
		fallthrough
	case err == nil:
		s.since, s.told = 0, 0
	case s.since == 0:
		s.since = now
		s.log.Debug().Err(err).Msg("the exchange did not answer")
	case now.Sub(s.since) >= s.after && (s.told == 0 || now.Sub(s.told) >= remind):
		s.told = now
		s.log.Warn().Err(err).Stringer("silent_for", now.Sub(s.since)).
			Msg("the exchange does not answer: strategies that need this wait for it")
	}
}
