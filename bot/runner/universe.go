package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/market"
)

const (
	// rankAhead is how long before midnight UTC the next day is ranked: its members come in with
	// its first event, before the candles that close at midnight.
	rankAhead = market.Duration(time.Minute)
	// rankEvery is how often keepRanking looks at the clock, and tries again.
	rankEvery = 20 * time.Second
)

// rankings are those of the universes, by strategy, oldest first: that of the present day and
// perhaps that of the next. They belong to the loop's goroutine.
type rankings map[string][]plan.Ranking

// at is the ranking of a strategy at a time; nil: it has no universe.
func (all rankings) at(name string, now market.Time) *plan.Ranking {
	list := all[name]
	for i := range slices.Backward(list) {
		if list[i].From() <= now || i == 0 {
			return &list[i]
		}
	}
	return nil
}

// restoreRankings gives the plan the rankings of an earlier run.
func (r *runner) restoreRankings() error {
	text, err := r.store.Blob(statedir.UniverseBlob)
	if err != nil || text == nil {
		return err
	}
	if err := json.Unmarshal(text, &r.plan.Ranked); err != nil {
		return fmt.Errorf("universes in the state file: %w", err)
	}
	return nil
}

// setRankings makes rankings those of their day, in the loop's goroutine or before it begins. The
// next commit writes them.
func (r *runner) setRankings(next map[string]plan.Ranking) error {
	text, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("universes for the state file: %w", err)
	}
	r.journal.batch.Blob(statedir.UniverseBlob, text)
	for name, ranking := range next {
		list := r.ranked[name]
		r.ranked[name] = append(list[max(0, len(list)-1):], ranking)
	}
	return nil
}

// keepRanking ranks the markets of the universes for each UTC day until ctx ends. After a failure
// the members stay, and it tries again.
func (r *runner) keepRanking(ctx context.Context) {
	done, failed := int64(0), false
	for _, ranking := range r.plan.Rankings {
		done = ranking.Day
	}
	again := time.NewTicker(rankEvery)
	defer again.Stop()
	for {
		if day := r.client.Now().Add(rankAhead).Day(); day > done {
			err := r.rankFor(ctx, day)
			switch {
			case err == nil:
				done = day
			case ctx.Err() != nil || errors.Is(err, live.ErrStopping):
				return
			case !failed:
				r.log.Warn().Err(err).Msg(
					"the markets of the universes could not be ranked: the members stay as they are; it is tried again")
			}
			failed = err != nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// rankFor ranks the markets of the universes for a UTC day, and gives them to the engine.
func (r *runner) rankFor(ctx context.Context, day int64) error {
	offered, err := r.plan.Volumes(ctx, r.client)
	if err != nil {
		return err
	}
	next, err := r.plan.Rank(&offered, day)
	if err != nil {
		return err
	}
	var failed error
	err = r.loop.Do(ctx, func(at market.Time) []market.Command {
		for _, name := range slices.Sorted(maps.Keys(next)) {
			ranking := next[name]
			r.logRanking(name, r.ranked.at(name, at), &ranking)
			id := strategyID(slices.Index(r.plan.Names(), name) + 1)
			of := ranking.Membership(r.plan.Strategies[id-1].Markets)
			r.door.Enter(&market.Input{Kind: market.InputMembers, At: at, Strategy: id, From: of.From,
				Members: of.Markets})
		}
		failed = r.setRankings(next)
		return nil
	})
	return errors.Join(err, failed)
}

// logRanking logs how a universe changes.
func (r *runner) logRanking(name string, before, next *plan.Ranking) {
	traded := r.plan.Strategies[slices.Index(r.plan.Names(), name)].Markets
	was, _ := before.Split(traded)
	members, missing := next.Split(traded)
	r.log.Info().Str("strategy", name).Str("date", next.Date()).Str("rule", next.Rule).
		Strs("in", namesWithout(members, was)).Strs("out", namesWithout(was, members)).Msg("universe: ranked")
	if len(missing) > 0 {
		r.log.Warn().Str("strategy", name).Msg(missingText(next, missing))
	}
}

// namesWithout are the names of the markets that others lacks.
func namesWithout(markets, others []*market.Market) []string {
	names := []string{}
	for _, m := range markets {
		if !slices.Contains(others, m) {
			names = append(names, m.Name)
		}
	}
	return names
}

// missingText names the markets of a universe that the bot does not trade.
func missingText(of *plan.Ranking, missing []string) string {
	return fmt.Sprintf("universe of %s: %d of %d markets are not traded (%s); restart to trade them", of.Date(),
		len(missing), of.Top, strings.Join(missing, " "))
}

// universeStatus is the universe of a strategy for the operator; nil: it has none.
func (r *runner) universeStatus(id market.StrategyID, at market.Time) *operator.Universe {
	of := r.ranked.at(r.nameOf(id), at)
	if of == nil {
		return nil
	}
	u := &operator.Universe{Date: of.Date(), Rule: of.Rule, Members: []string{}, Missing: []string{}}
	for _, m := range r.engine.Members(id) {
		u.Members = append(u.Members, r.plan.Catalog.Market(m).Name)
	}
	if _, missing := of.Split(r.plan.Strategies[id-1].Markets); len(missing) > 0 {
		u.Missing, u.Hint = missing, missingText(of, missing)
	}
	return u
}
