package poll

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/market"
)

// silence logs that a repeated query gets no answer: once after a while, then every ten minutes,
// and once when it is over. Each feed has its own.
type silence struct {
	log    zerolog.Logger
	after  market.Duration // the silence before the first warning
	since  market.Time     // of the first query without an answer; 0: the last one had an answer
	warned market.Time     // time of the latest warning; 0: none
}

// remind is the time between two warnings of the same silence.
const remind = 10 * time.Minute

func (f *Feed) silence(what string) *silence {
	return &silence{log: f.Log.With().Str("feed", what).Logger(), after: f.StaleAfter}
}

// note takes the result of a query. A query that ended with the feed does not count.
func (s *silence) note(ctx context.Context, now market.Time, err error) {
	switch {
	case ctx.Err() != nil:
	case err == nil && s.warned != 0:
		s.log.Info().Stringer("silent_for", now.Sub(s.since)).Msg("the exchange answers again")
		fallthrough
	case err == nil:
		s.since, s.warned = 0, 0
	case s.since == 0:
		s.since = now
		s.log.Debug().Err(err).Msg("the exchange did not answer")
	case now.Sub(s.since) >= s.after && (s.warned == 0 || now.Sub(s.warned) >= remind):
		s.warned = now
		s.log.Warn().Err(err).Stringer("silent_for", now.Sub(s.since)).
			Msg("the exchange does not answer: strategies that need this wait for it")
	}
}
