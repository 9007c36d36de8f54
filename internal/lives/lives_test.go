package lives

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestALifeIsItsText(t *testing.T) {
	for seed := range uint64(300) {
		drawn := Draw(seed)
		read, err := Parse("# a life\n" + drawn.String())
		require.NoError(t, err)
		require.Equal(t, drawn.String(), read.String())
	}
	for text, want := range map[string]string{
		"": "no line", "life seed=x": "invalid syntax", "life weather=x": "unknown key",
		"life strategies=a@B\n3s x": "want", "life strategies=a@B\n3 x y": "missing unit"} {
		_, err := Parse(text)
		require.ErrorContains(t, err, want)
	}
}

func TestALifeIsShrunkToWhatBreaksThePromise(t *testing.T) {
	fewest := 0
	for seed := range uint64(100) {
		l := Draw(seed)
		stops := func(l *Life) bool {
			return slices.ContainsFunc(l.Events, func(e Event) bool { return e.Verb == "stop" })
		}
		if !stops(l) {
			continue
		}
		fewest++
		small := Shrink(l, 200, stops)
		require.Len(t, small.Events, 1, small)
		require.Len(t, small.Setup.Strategies, 1)
		require.Equal(t, "poll", small.Setup.Feed)
	}
	require.Greater(t, fewest, 10)
}

// Each row is the looks at a market, 20 seconds apart: bought, sold, resting, held, and what the
// bot tells of it as unprotected and as its position.
func TestTheGuardSeesWhatTheLedgerShows(t *testing.T) {
	type look [6]int64
	const quiet = 100
	steady := look{1000, 0, 1000, 1000, 0, 1000}
	for _, c := range []struct {
		name  string
		looks []look
		want  string // promise; "": all hold
	}{
		{"covered", []look{steady, steady, steady}, ""},
		{"told", []look{{1000, 0, 0, 1000, 1000, 1000}}, ""},
		{"dust", []look{{1000, 0, 950, 1000, 0, 1000}}, ""},
		{"bare and untold", []look{{1000, 0, 0, 1000, 0, 1000}}, "P12"},
		{"told of too little", []look{{1000, 0, 0, 1000, 500, 1000}}, "P12"},
		{"told and covered", []look{{1000, 0, 1000, 1000, 1000, 1000}}, "P38"},
		{"sold more than bought", []look{{1000, 1200, 0, 300, 0, 0}}, "P35"},
		{"sold what the owner had taken", []look{steady, {1000, 0, 0, 0, 0, 0}, {1000, 1000, 0, 500, 0, 0}}, "P35"},
		{"the owner took a part, and the exit is smaller", []look{steady, {1000, 0, 400, 400, 0, 400}}, ""},
		{"the owner took a part, and the rest is bare", []look{steady, {1000, 0, 0, 400, 0, 400}}, "P12"},
		{"the owner took a part, and the books have it", []look{steady, {1000, 0, 400, 400, 0, 1000}}, "P31"},
		{"an exit outlives its position", []look{{1000, 1000, 1000, 1000, 0, 0}}, "P16"},
		{"orders to sell over more than is held", []look{{1000, 0, 1500, 2000, 0, 1000}}, "P15"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewGuard(&Setup{Strategies: []string{"stop@BTC-EUR"}})
			at := time.Duration(0)
			for _, l := range c.looks {
				for range 10 { // for so long that each time is over
					at += 20 * time.Second
					orders := []string{"exit"}[:min(1, l[2])]
					told := &Told{Orders: orders, Open: len(orders), Unprotected: map[string]int64{"BTC-EUR": l[4]},
						Positions: map[string]int64{"BTC-EUR": l[5]}}
					g.Look(&Look{At: at, Up: true, Orders: orders, Told: told, Ledger: map[string]Ledger{"BTC-EUR": {
						Bought: l[0], Sold: l[1], Resting: l[2], Held: l[3], Sells: len(orders), Dust: quiet}}})
				}
			}
			var broken []string
			for _, f := range g.Findings {
				broken = append(broken, f.Promise)
			}
			if c.want == "" {
				require.Empty(t, g.Findings)
			} else {
				require.Contains(t, broken, c.want, fmt.Sprint(g.Findings))
			}
		})
	}
}

// Requests without an answer follow each other for minutes: each of them may be open for its time.
func TestTheGuardHoldsEachOrder(t *testing.T) {
	for _, c := range []struct {
		name         string
		ledger, told func(look int) []string
		want         string
	}{
		{"all listed", one("a"), one("a"), ""},
		{"another in doubt every minute", one("a"), func(look int) []string {
			return []string{"a", fmt.Sprint(look / 3)}
		}, ""},
		{"one that ended", one(), one("a"), "order a"},
		{"one that it does not know", one("a"), one(), "order a"},
		{"another one", one("a"), one("b"), "order"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewGuard(&Setup{})
			for look := range 20 {
				told := c.told(look)
				g.Look(&Look{At: time.Duration(look) * 20 * time.Second, Up: true, Orders: c.ledger(look),
					Told: &Told{Orders: told, Open: len(told)}})
			}
			if c.want == "" {
				require.Empty(t, g.Findings)
			} else {
				require.Contains(t, fmt.Sprint(g.Findings), "P9: 1m20s: "+c.want)
			}
		})
	}
}

// Each row is a bot with two groups, of which the account's timer guards one.
func TestTheGuardCountsTheGroupsWithoutATimer(t *testing.T) {
	for _, c := range []struct {
		name          string
		told, strange int
		want          string
	}{
		{"one is guarded", 1, 0, ""},
		{"none is told of", 0, 0, "0 of 2"},
		{"all are told of", 2, 0, "2 of 2"},
		{"strange orders carry the guarded one", 2, 1, ""},
		{"strange orders carry the other one", 1, 1, ""},
		{"none is told of beside strange orders", 0, 1, "0 of 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewGuard(&Setup{Groups: 2, Strategies: make([]string, 2)})
			for look := range 10 {
				g.Look(&Look{At: time.Duration(look) * 20 * time.Second, Up: true, Strange: c.strange,
					Told: &Told{NotGuarded: c.told}})
			}
			if c.want == "" {
				require.Empty(t, g.Findings)
			} else {
				require.Contains(t, fmt.Sprint(g.Findings), c.want)
			}
		})
	}
}

func one(orders ...string) func(int) []string { return func(int) []string { return orders } }

func TestThePageHasARowOfEachEvent(t *testing.T) {
	p := Pairs{}
	g := NewGuard(&Setup{})
	g.Held["P12"] = 3
	p.Add(&Life{Events: []Event{{0, "machine", "stop", []string{"3s"}}, {0, "machine", "stop", []string{"4s"}}}}, g)
	page := p.Page(10)
	require.Contains(t, page, "\n| machine stop | 1 | P12 1 |\n")
	require.Contains(t, page, "its process never ends by itself (no life had it to hold)\n")
	p["machine stop"]["P12"] = few + 1
	require.Contains(t, p.Page(10), "\n| machine stop | 5 |  |\n", "enough lives are not listed")
	require.Equal(t, Frame(Pairs{}.Page(20)), Frame(page))
	require.Less(t, len(page), 10_000)
}
