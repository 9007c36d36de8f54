package runner

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/market"
)

// summaryEvery is how often keepSummaries looks at the clock, and summaryAfter how long after
// midnight it sums up: the last minute of the day is on disk by then.
const (
	summaryEvery = 20 * time.Second
	summaryAfter = market.Duration(2 * time.Minute)
)

// summaries sums up each day or week once it is over.
type summaries struct {
	by    string // profit.ByDay or profit.ByWeek
	zone  *time.Location
	began market.Time // of the day or week that is not summed up yet
}

// newSummaries begins with the day or week in which a bot was alive last.
func newSummaries(c *config.Run, alive market.Time) (*summaries, error) {
	s := &summaries{by: profit.ByDay}
	if c.Alerts.Summary == config.SummaryWeekly {
		s.by = profit.ByWeek
	}
	var err error
	if s.zone, err = profit.Zone(c.Bot.Zone); err != nil {
		return nil, err
	}
	s.began, _, _ = profit.PeriodOf(alive.Add(-summaryAfter), s.by, s.zone)
	return s, nil
}

// aliveBefore is when the bot took its last sample of equity before a start: the start itself where
// it took none.
func aliveBefore(store profit.Source, start market.Time) (market.Time, error) {
	curve, err := store.Equity("", 0, start)
	if err != nil || len(curve) == 0 {
		return start, err
	}
	return curve[len(curve)-1].At, nil
}

// due returns the query of the day or week that is over, nil where none is.
func (s *summaries) due(now market.Time) *profit.Query {
	from, _, _ := profit.PeriodOf(now.Add(-summaryAfter), s.by, s.zone)
	if from == s.began {
		return nil
	}
	_, until, _ := profit.PeriodOf(s.began, s.by, s.zone)
	q := &profit.Query{By: s.by, Since: s.began.String(), Until: until.String()}
	s.began = from
	return q
}

// keepSummaries raises an alert with what was earned in each day or week of the bot's time zone,
// until ctx ends. The first one is that of the day or week in which the last run ended, if that is
// over. The books are read in this goroutine; the loop takes no part.
func (r *runner) keepSummaries(ctx context.Context) {
	alive, err := aliveBefore(r.store, r.began)
	if err != nil {
		r.log.Error().Err(err).Msg("there will be no summaries")
		return
	}
	var s *summaries // nil: none is wanted
	by := config.SummaryOff
	again := time.NewTicker(summaryEvery)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
		now := r.client.Now()
		if c := r.config(); c.Alerts.Summary != by { // of the start, or of a reload
			if by, s = c.Alerts.Summary, nil; by != config.SummaryOff {
				if s, err = newSummaries(c, alive); err != nil {
					r.log.Error().Err(err).Msg("there will be no summaries")
				}
			}
		}
		if alive = now; s == nil || len(r.settings.Load().plan.Receivers) == 0 {
			continue
		}
		q := s.due(now)
		if q == nil {
			continue
		}
		report, err := operator.ProfitOf(r.store, q, now)
		if err != nil {
			r.log.Error().Err(err).Msg("the summary of what was earned")
			continue
		}
		r.watch.raise(alert.Summary, "%s", summaryText(report))
	}
}

// summaryText is the summary of a day or a week.
func summaryText(r *profit.ProfitReport) string {
	t := &r.Total
	name := "nothing was traded"
	if len(r.Groups) > 0 {
		name = r.By + " " + r.Groups[0].Name
	}
	lines := []string{fmt.Sprintf("%s (%s): realised %s, unrealised %s, fees %s %s", name, r.Zone,
		profit.Brief(t.Realised),
		cmp.Or(profit.Brief(t.Unrealised), "unknown"), profit.Brief(t.Fees), r.Currency),
		fmt.Sprintf("%d round trips, %d won, turnover %s", t.Trips, t.Won, profit.Brief(t.Turnover))}
	if t.Equity != "" {
		lines = append(lines, fmt.Sprintf("equity %s %s", t.Equity, r.Currency))
	}
	if t.Return != nil && t.Drawdown != nil {
		lines = append(lines, fmt.Sprintf("return %s, drawdown %s", profit.Part(t.Return, "%+.2f%%"), t.DrawdownText()))
	}
	if t.Flows != "" && t.Flows != "0" {
		lines = append(lines, fmt.Sprintf("came or left %s %s", t.Flows, r.Currency))
	}
	return strings.Join(lines, "\n")
}

// fillsEvery is how long fills are collected for one alert, from the first on.
const fillsEvery = time.Minute

// fillsShown is how many fills an alert lists; more are counted.
const fillsShown = 20

// fillSummary collects fills for the next alert.
type fillSummary struct {
	lines []string
	more  int
	since time.Time
}

func (n *fillSummary) add(now time.Time, line string) {
	switch {
	case len(n.lines) == 0:
		n.since, n.lines = now, append(n.lines, line)
	case len(n.lines) < fillsShown:
		n.lines = append(n.lines, line)
	default:
		n.more++
	}
}

// text returns the text of the alert and empties the list.
func (n *fillSummary) text() string {
	text := strings.Join(n.lines, "\n")
	if count := len(n.lines) + n.more; count > 1 {
		text = fmt.Sprintf("%d fills\n%s", count, text)
	}
	if n.more > 0 {
		text += fmt.Sprintf("\nand %d more", n.more)
	}
	*n = fillSummary{lines: n.lines[:0]}
	return text
}

// alertFills raises one alert for the fills of a minute, at once where last is set.
func (w *watch) alertFills(last bool) {
	if len(w.fills.lines) > 0 && (last || w.now().Sub(w.fills.since) >= fillsEvery) {
		w.raise(alert.Fill, "%s%s", w.fills.text(), w.earned.text(w.r))
	}
}
