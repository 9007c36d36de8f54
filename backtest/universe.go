package backtest

import (
	"fmt"
	"strings"
)

// Universe describes the universe of a strategy in a run.
type Universe struct {
	Strategy string `json:"strategy"`
	Rank     string `json:"rank"`
	Top      int    `json:"top"`
	Quote    string `json:"quote"`
	MinDays  int    `json:"min_days"`
	// Members counts the markets that were members at some time, Survivors those of them that still
	// trade: by the newest record of the exchange's markets, or else by their candles.
	Members   int    `json:"members"`
	Survivors int    `json:"survivors"`
	AsOf      Moment `json:"as_of"` // of that record; null: there is none
	// Recorded is the oldest record, null without any: markets that were delisted before it may be
	// missing.
	Recorded  Moment   `json:"recorded_from"`
	ByCandles int64    `json:"ranked_by_candles"` // days of members whose volume came from candles
	ByRecords int64    `json:"ranked_by_records"`
	LeftOut   []string `json:"left_out"` // ranked high enough, but no candles are stored
	Changes   int      `json:"changes"`  // of the members
}

// Lines describe the universe for people.
func (u *Universe) Lines() []string {
	lines := []string{
		fmt.Sprintf("%s: the %d markets in %s with the largest %s, ranked each day at 00:00 UTC by what was known "+
			"then. "+
			"A member needs %d known days. The members changed %d times.", u.Strategy, u.Top, u.Quote, u.Rank,
			u.MinDays, u.Changes),
		u.survivors(),
		fmt.Sprintf("Volumes: %s from candles (volume × close), %s from recorded 24 h volumes.",
			share(u.ByCandles, u.ByCandles+u.ByRecords), share(u.ByRecords, u.ByCandles+u.ByRecords)),
	}
	if u.Recorded == 0 {
		lines = append(lines, "No markets are recorded: the list of markets is today's, so the result has survivor "+
			"bias. "+
			"Record them daily with: bot candles fetch --markets.")
	} else {
		lines = append(lines, fmt.Sprintf("Markets are recorded from %s on. Before, the list has only markets whose "+
			"candles are stored, so the result may have survivor bias.", u.Recorded.Date()))
	}
	if len(u.LeftOut) > 0 {
		lines = append(lines, fmt.Sprintf("Left out, because no candles of the interval are stored: %s.",
			strings.Join(u.LeftOut, ", ")))
	}
	return lines
}

// UniverseLines describe the universes of the run, nil where there are none.
func (res *Result) UniverseLines() (lines []string) {
	for i := range res.Universes {
		lines = append(lines, res.Universes[i].Lines()...)
	}
	return lines
}

// survivors counts them in a sentence.
func (u *Universe) survivors() string {
	text := fmt.Sprintf("%d of %d markets that were members still trade", u.Survivors, u.Members)
	if u.AsOf == 0 {
		return text + ": their candles reach the end of the data."
	}
	return text + ", by the record of " + u.AsOf.Date() + "."
}

// share writes part of whole as a percentage.
func share(part, whole int64) string {
	return Figure(float64(part) / float64(max(whole, 1))).Percent(0)
}
