package dashboard

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
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
	slowFor    = 30 * time.Second // curve, days and refusals, which read the journal
	exitsFor   = 5 * time.Second  // orders and watched exits of what is held
)

// source asks one bot, for all pages.
type source struct {
	of  operator.Target
	now func() time.Time

	mu    sync.Mutex // held while the bot is asked: the others wait for the same answer
	docs  *Documents
	err   error
	next  time.Time // when it is asked again
	slow  Documents // curve, days, refusals and zone
	later time.Time // when those are asked for again
	exits exits
	soon  time.Time // when the exits are asked for again
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
	d.Curve, d.Days, d.Refused, d.Zone = s.slow.Curve, s.slow.Days, s.slow.Refused, s.slow.Zone
	if !now.Before(s.soon) {
		if s.exits, err = s.askExits(ctx, d); err != nil {
			return nil, err
		}
		s.soon = s.now().Add(exitsFor)
	}
	d.Exits = s.exits
	return d, nil
}

// exits are the prices at which positions are sold, by strategy and market.
type exits map[[2]string]*exit

// exit are the prices of stops and of targets of a position.
type exit struct{ stops, targets []string }

// exitOf are the exits of a position; without any, none.
func (e exits) exitOf(p *operator.Position) exit {
	if one := e[[2]string{p.Strategy, p.Market}]; one != nil {
		return *one
	}
	return exit{}
}

// add adds a price, each once.
func (e exits) add(strategy, market, price string, stop bool) {
	one := e[[2]string{strategy, market}]
	if one == nil {
		one = &exit{}
		e[[2]string{strategy, market}] = one
	}
	to := &one.targets
	if stop {
		to = &one.stops
	}
	if !slices.Contains(*to, price) {
		*to = append(*to, price)
	}
}

// askExits asks for the orders that sell what is held, and of a running bot for the exits that it
// watches for.
func (s *source) askExits(ctx context.Context, d *Documents) (exits, error) {
	found := exits{}
	var held []string
	for i := range d.Positions.Positions {
		if p := &d.Positions.Positions[i]; !flat(p.Amount) && !slices.Contains(held, p.Market) {
			held = append(held, p.Market)
		}
	}
	if len(held) == 0 {
		return found, nil
	}
	open, err := operator.AskOrders(false).Of(ctx, s.of)
	if err != nil {
		return nil, err
	}
	for i := range open.Value.Orders {
		if o := &open.Value.Orders[i]; o.Side == "sell" {
			found.add(o.Strategy, o.Market, cmp.Or(o.Trigger, o.Price), strings.HasPrefix(o.Type, "stop"))
		}
	}
	for _, market := range held {
		if d.Status.State == operator.Stopped {
			break // a stopped bot watches no exit
		}
		query := operator.MarketQuery{Market: market, LongMS: leastRange, Columns: 1}
		one, err := operator.AskMarket(&query).Of(ctx, s.of)
		if err != nil {
			return nil, err
		}
		for i := range one.Value.Watched {
			w := &one.Value.Watched[i]
			found.add(w.Strategy, market, w.Price, w.Kind == "stop")
		}
	}
	return found, nil
}

func (s *source) askSlow(ctx context.Context) error {
	curve, days, err := askShown(ctx, s.of, &shownSpans[0])
	if err != nil {
		return err
	}
	refused, err := operator.AskRefused("", 24*time.Hour).Of(ctx, s.of)
	if err != nil {
		return err
	}
	s.slow.Curve, s.slow.Days, s.slow.Refused = curve, days, refused.Value
	s.slow.Zone, err = profit.Zone(curve.Zone)
	return err
}

// shownSpan is a time that the first page can show.
type shownSpan struct{ name, since, every string }

// shownSpans are these times, that of the page first.
var shownSpans = [...]shownSpan{{"week", "7d", "15m"}, {"month", "30d", "1h"}, {"all", "", "6h"}}

// askShown asks for the curve and the days of a time.
func askShown(ctx context.Context, of operator.Target, span *shownSpan) (*profit.Curve, *profit.ProfitReport, error) {
	curve, err := operator.AskEquity(&profit.Query{Since: span.since, Every: span.every}).Of(ctx, of)
	if err != nil {
		return nil, nil, err
	}
	days, err := operator.AskProfit(&profit.Query{Since: span.since, By: profit.ByDay}).Of(ctx, of)
	return curve.Value, days.Value, err
}

// queryOf is the query of the books in an address.
func queryOf(q url.Values) *profit.Query {
	return &profit.Query{Since: q.Get("since"), Until: q.Get("until"), Strategy: q.Get("strategy"),
		Market: q.Get("market"), By: q.Get("by"), Zone: q.Get("zone"), Every: q.Get("every")}
}
