package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

const liveUniverse = `
[bot]
mode = "paper"
[paper.start]
EUR = "1000"
[strategies.every]
kind = "smacross"
universe = {rank = "volume30d", top = 2, min_days = 10, records = %q}
interval = "1d"
operator_id = 1
`

// liveOver plans a live bot that ranks by a store; sets are as --set.
func liveOver(t *testing.T, path string, sets ...string) *Live {
	source := &config.Source{Text: fmt.Sprintf(liveUniverse, path)}
	var err error
	source.Overrides, err = config.ParseSets(sets)
	require.NoError(t, err)
	c, err := config.LoadRun(source)
	require.NoError(t, err)
	p, err := NewLive(c, smaCross(), func(string) string { return "" })
	require.NoError(t, err)
	return p
}

// offered is an exchange with the markets of lives, all of which trade.
func offered(at market.Time) Listing {
	l := Listing{At: at, Assets: []rest.Asset{{Symbol: "EUR", Decimals: 2}}}
	for i, life := range lives() {
		base, quote, _ := strings.Cut(life.name, "-")
		l.Markets = append(l.Markets, rest.Market{Name: life.name, Base: base, Quote: quote, Status: "trading",
			TickSize: "0.01", QuantityDecimals: 8, NotionalDecimals: 2})
		l.Assets = append(l.Assets, rest.Asset{Symbol: base, Decimals: 8})
		l.Volumes = append(l.Volumes, rest.Ticker24h{Market: life.name, VolumeQuote: rest.Number(fmt.Sprint(100 - i))})
	}
	return l
}

// A live bot ranks each day as a backtest over the same store does, whenever on that day.
func TestALiveBotRanksADayAsABacktestDoes(t *testing.T) {
	path := market24(t, lives())
	addRecord(t, path, 60, "5", "OLD-EUR", "DEAD-EUR", "NEW-EUR", "SMALL-EUR", "USD-USDC")
	tested := planProbe(t, path, &[]string{}, false, false).universes["every"].changes
	require.Len(t, tested, 4)
	p := liveOver(t, path, "strategies.every.universe.standby=0")
	var changes []rankedDay
	for day := firstDay + 40; day < firstDay+120; day++ {
		for _, late := range []market.Time{-60e9, 0, 86_399e9} {
			l := offered(candles.DayStart(day) + late)
			r, err := p.rank(&l, "every", p.Config.Strategies["every"].Universe, day)
			require.NoError(t, err)
			if n := len(changes); n == 0 || strings.Join(changes[n-1].members, " ") != strings.Join(r.Markets, " ") {
				require.LessOrEqual(t, late, market.Time(0), "%d: it changes within the day", day)
				changes = append(changes, rankedDay{candles.DayStart(day), r.Markets})
			}
		}
	}
	require.Equal(t, tested, changes)
}

func TestARankingOfTheDayIsUsedAgain(t *testing.T) {
	path := market24(t, lives())
	l := offered(candles.DayStart(firstDay+100) + 5e9)
	p := liveOver(t, path)
	require.NoError(t, p.Finish(l))
	require.Equal(t, []string{"NEW-EUR", "SMALL-EUR", "OLD-EUR"}, p.Rankings["every"].Markets,
		"two and one at the ready")
	require.Len(t, p.Strategies[0].Universe[0].Markets, 2)
	kept := p.Rankings["every"]
	kept.Markets = []string{"OLD-EUR", "NEW-EUR"}
	for _, row := range []struct {
		what   string
		change func(r *Ranking)
		set    string
		first  string
	}{
		{"as it is", func(*Ranking) {}, "bot.name=x", "OLD-EUR"},
		{"with a market that is gone", func(r *Ranking) { r.Markets = []string{"GONE-EUR", "OLD-EUR", "NEW-EUR"} },
			"bot.name=x",
			"OLD-EUR"},
		{"of another day", func(r *Ranking) { r.Day-- }, "bot.name=x", "NEW-EUR"},
		{"of another rule", func(*Ranking) {}, "strategies.every.universe.top=1", "NEW-EUR"},
	} {
		again, old := liveOver(t, path, row.set), kept
		row.change(&old)
		again.Ranked = map[string]Ranking{"every": old}
		require.NoError(t, again.Finish(l))
		require.Equal(t, row.first, again.Rankings["every"].Markets[0], row.what)
	}
}

func TestMembersAreTheBestThatAreTraded(t *testing.T) {
	r := Ranking{Top: 3, Markets: []string{"A", "B", "C", "D", "E"}}
	for _, row := range []struct{ traded, members, missing string }{
		{"A B C D E", "A B C", ""},
		{"E D C B A X", "A B C", ""},
		{"A C D E", "A C D", "B"},
		{"X E", "E", "A B C"},
		{"", "", "A B C"},
	} {
		var traded []*market.Market
		for _, name := range strings.Fields(row.traded) {
			traded = append(traded, &market.Market{Name: name})
		}
		members, missing := r.Split(traded)
		var names []string
		for _, m := range members {
			names = append(names, m.Name)
		}
		require.Equal(t, []string{row.members, row.missing},
			[]string{strings.Join(names, " "), strings.Join(missing, " ")}, row.traded)
	}
}
