package dashboard

import (
	"context"
	"net/url"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
)

// How old the shared answers of a bot may be. All pages that are open share them, so that the bot
// is asked as often for ten pages as for one.
const (
	freshFor   = time.Second
	stoppedFor = 10 * time.Second // of a bot that does not run: its file is read as a whole
	slowFor    = 30 * time.Second // curve and refusals, which read the journal
)

// source asks one bot, for all pages.
type source struct {
	of  operator.Target
	now func() time.Time

	mu    sync.Mutex // held while the bot is asked: the others wait for the same answer
	docs  *Documents
	err   error
	next  time.Time // when it is asked again
	slow  Documents // curve, refusals and zone
	later time.Time // when those are asked for again
}

// latest are the answers for the overview, the list of open orders and the line above each page.
// The documents belong to all: do not change them.
func (s *source) latest(ctx context.Context) (*Documents, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if now.Before(s.next) {
		return s.docs, s.err
	}
	s.docs, s.err = s.ask(context.WithoutCancel(ctx), now) // for the others, too
	s.next = s.now().Add(freshFor)
	if s.err == nil && s.docs.Status.State == operator.Stopped {
		s.next = s.now().Add(stoppedFor)
	}
	return s.docs, s.err
}

func (s *source) ask(ctx context.Context, now time.Time) (*Documents, error) {
	d := &Documents{NowMS: now.UnixMilli()}
	glance, err := operator.AskGlance().Of(ctx, s.of)
	if err != nil {
		return nil, err
	}
	if !now.Before(s.later) {
		if err := s.askSlow(ctx); err != nil {
			return nil, err
		}
		s.later = s.now().Add(slowFor)
	}
	d.Status, d.Positions, d.Risk = glance.Value.Status, glance.Value.Positions, glance.Value.Risk
	d.Curve, d.Refused, d.Zone = s.slow.Curve, s.slow.Refused, s.slow.Zone
	return d, nil
}

func (s *source) askSlow(ctx context.Context) error {
	curve, err := operator.AskEquity(&profit.Query{Since: "48h", Every: "2m"}).Of(ctx, s.of)
	if err != nil {
		return err
	}
	refused, err := operator.AskRefused("", 24*time.Hour).Of(ctx, s.of)
	if err != nil {
		return err
	}
	s.slow.Curve, s.slow.Refused = curve.Value, refused.Value
	s.slow.Zone, err = profit.Zone(curve.Value.Zone)
	return err
}

// queryOf is the query of the books in an address.
func queryOf(q url.Values) *profit.Query {
	return &profit.Query{Since: q.Get("since"), Until: q.Get("until"), Strategy: q.Get("strategy"),
		Market: q.Get("market"), By: q.Get("by"), Zone: q.Get("zone"), Every: q.Get("every")}
}
