package universe_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/bot/universe"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

const hour = market.Time(3600 * 1e9)

// fact is one volume that became known at a time.
type fact struct {
	market string
	day    int64
	volume int64 // whole units of quote
	known  market.Time
	record bool
}

// world is all that ever becomes known.
type world struct {
	facts    []fact
	listings []*candles.Listing
}

// known is the world as it is at a time.
func (w *world) known(t market.Time) *world {
	seen := &world{}
	for _, f := range w.facts {
		if f.known <= t {
			seen.facts = append(seen.facts, f)
		}
	}
	for _, l := range w.listings {
		if l.At <= t {
			seen.listings = append(seen.listings, l)
		}
	}
	return seen
}

// book puts a world into a Book.
func (w *world) book(t require.TestingT) *universe.Ranking {
	b := &universe.Ranking{}
	for _, l := range w.listings {
		require.NoError(t, b.AddListing(l))
	}
	for _, f := range w.facts {
		if !f.record {
			require.NoError(t, b.AddCandleDays(f.market, f.day, []market.Value{market.ValueOf(f.volume * 1e8)}))
		}
	}
	return b
}

// draw makes a world: markets that come and go, with candles, records or both.
func draw(t *rapid.T) *world {
	w := &world{}
	names := []string{"A-EUR", "B-EUR", "C-EUR", "D-EUR", "E-USDC"}
	volume := rapid.SampledFrom([]int64{0, 1, 2, 3, 5, 8, 8, 1000})
	for _, name := range names {
		first := rapid.Int64Range(0, 20).Draw(t, "first")
		for day := first; day < first+rapid.Int64Range(0, 40).Draw(t, "life"); day++ {
			w.facts = append(w.facts, fact{name, day, volume.Draw(t, "volume"), candles.DayStart(day + 1), false})
		}
	}
	for day := int64(0); day < 50; day++ {
		if !rapid.Bool().Draw(t, "recorded") {
			continue
		}
		at := candles.DayStart(day) + market.Time(rapid.Int64Range(0, 23).Draw(t, "hour"))*hour + 5
		l := &candles.Listing{At: at}
		for _, name := range names {
			if rapid.IntRange(0, 9).Draw(t, "gone") == 0 {
				continue
			}
			status := rapid.SampledFrom([]string{"trading", "trading", "trading", "halted"}).Draw(t, "status")
			n := volume.Draw(t, "recorded volume")
			l.Markets = append(l.Markets, candles.Listed{Market: name, Status: status, VolumeQuote24h: fmt.Sprint(n)})
			w.facts = append(w.facts, fact{name, candles.DayOf(at - 12*hour), n, at, true})
		}
		w.listings = append(w.listings, l)
	}
	return w
}

// naive ranks a world of which everything is known, from the facts alone.
func (w *world) naive(t market.Time, r universe.Rule) (names []string) {
	type place struct {
		name string
		mean int64
	}
	var places []place
	today := candles.DayOf(t)
	for _, name := range []string{"A-EUR", "B-EUR", "C-EUR", "D-EUR", "E-USDC"} {
		volumes, newest := w.volumes(name, today)
		if !strings.HasSuffix(name, "-"+r.Quote) || newest < today-2 || volumes[newest] == 0 || !w.trades(name, today) {
			continue
		}
		sum, days := int64(0), int64(0)
		for day := newest - int64(r.Window) + 1; day <= newest; day++ {
			if n, found := volumes[day]; found {
				sum, days = sum+n, days+1
			}
		}
		if days >= int64(r.MinDays) {
			places = append(places, place{name, sum * 1e8 / days})
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.mean, a.mean), strings.Compare(a.name, b.name))
	})
	for _, p := range places[:min(len(places), r.Top)] {
		names = append(names, p.name)
	}
	return names
}

// volumes are a market's by day before today: that of candles, else that of the day's first record.
func (w *world) volumes(name string, today int64) (volumes map[int64]int64, newest int64) {
	volumes, newest = map[int64]int64{}, -1000
	for _, records := range []bool{true, false} {
		for _, f := range w.facts {
			_, have := volumes[f.day]
			if f.market != name || f.record != records || f.day >= today || records && have {
				continue
			}
			volumes[f.day], newest = f.volume, max(newest, f.day)
		}
	}
	return volumes, newest
}

// trades is what the newest record of the last days says.
func (w *world) trades(name string, today int64) bool {
	if len(w.listings) == 0 {
		return true
	}
	newest := w.listings[len(w.listings)-1]
	if candles.DayOf(newest.At) < today-2 {
		return true
	}
	l := newest.Named(name)
	return l != nil && l.Trading()
}

func namesOf(members []universe.Member) (names []string) {
	for _, m := range members {
		names = append(names, m.Market)
	}
	return names
}

// A ranking is that of a naive count over what was known at the instant, and what becomes known
// later never changes it.
func TestARankingReadsOnlyWhatWasKnown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		whole := w.book(t)
		for range 8 {
			at := market.Time(rapid.Int64Range(0, 60*24).Draw(t, "at")) * hour
			r := universe.Rule{Window: rapid.SampledFrom([]int{1, 7, 30}).Draw(t, "window"), Quote: "EUR",
				Top: rapid.IntRange(1, 5).Draw(t, "top"), MinDays: rapid.IntRange(1, 9).Draw(t, "days")}
			members, err := whole.At(at, r)
			require.NoError(t, err)
			seen := w.known(at)
			require.Equal(t, seen.naive(at, r), namesOf(members))
			again, err := seen.book(t).At(at, r)
			require.NoError(t, err)
			require.Equal(t, again, members)
		}
	})
}

func TestAYoungMarketWaitsAndOneThatStopsLeavesInTwoDays(t *testing.T) {
	b, volumes := &universe.Ranking{}, make([]market.Value, 40)
	for i := range volumes {
		volumes[i] = market.ValueOf(100e8)
	}
	require.NoError(t, b.AddCandleDays("OLD-EUR", 0, volumes))
	require.NoError(t, b.AddCandleDays("DEAD-EUR", 0, volumes[:20]))
	require.NoError(t, b.AddCandleDays("NEW-EUR", 10, volumes[:30]))
	rule := universe.Rule{Window: 7, Top: 9, Quote: "EUR", MinDays: universe.UsualDays(7)}
	at := func(day int64) []string {
		members, err := b.At(candles.DayStart(day), rule)
		require.NoError(t, err)
		return namesOf(members)
	}
	require.Equal(t, []string{"DEAD-EUR", "OLD-EUR"}, at(15))
	require.Equal(t, []string{"DEAD-EUR", "NEW-EUR", "OLD-EUR"}, at(16), "six days")
	require.Equal(t, []string{"DEAD-EUR", "NEW-EUR", "OLD-EUR"}, at(21))
	require.Equal(t, []string{"NEW-EUR", "OLD-EUR"}, at(22))
	require.Equal(t, 7, universe.Window("volume7d"))
	require.Equal(t, []int{1, 6, 27}, []int{universe.UsualDays(1), universe.UsualDays(7), universe.UsualDays(30)})
}

func TestAVolumeThatIsNoNumberIsNamed(t *testing.T) {
	for text, want := range map[string]string{"x": "A-EUR", "-1": "a volume of -1", "1e99": "A-EUR"} {
		err := new(universe.Ranking).AddListing(&candles.Listing{Markets: []candles.Listed{{Market: "A-EUR",
			VolumeQuote24h: text}}})
		require.ErrorContains(t, err, want)
	}
	b := &universe.Ranking{}
	require.NoError(t, b.AddListing(&candles.Listing{At: 5, Markets: []candles.Listed{
		{Market: "A-EUR", Status: "trading", VolumeQuote24h: "1.123456789123"},
		{Market: "B-EUR", Status: "trading", VolumeQuote24h: "1e3"}, {Market: "C-EUR", Status: "trading"}}}))
	members, err := b.At(5, universe.Rule{Window: 1, Top: 9, Quote: "EUR"})
	require.NoError(t, err)
	require.Equal(t, []string{"B-EUR", "A-EUR"}, namesOf(members))
	require.Equal(t, "1.12345678", members[1].Mean.Format(universe.Digits))
}
