package sim

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

var update = flag.Bool("update", false,
	"write what the scenarios did into testdata; read the difference before you keep it")

// TestVenueDoesWhatTheScenariosSay plays testdata/*.txt. A scenario is a title ("# …"), commands, a
// line "----" and what happened. The script's words are explained in script_test.go, the answers in
// account_test.go; after every line the venue is checked.
func TestVenueDoesWhatTheScenariosSay(t *testing.T) {
	playFiles(t, "testdata/*.txt", play)
}

// playFiles plays the scenarios of all files that a pattern names; with -update it writes down what
// happened.
func playFiles(t *testing.T, pattern string, play func(*testing.T, string) string) {
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { playFile(t, file, play) })
	}
}

func playFile(t *testing.T, file string, play func(*testing.T, string) string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var played []string
	for _, scenario := range split(string(text)) {
		title, _, _ := strings.Cut(scenario, "\n")
		t.Run(strings.TrimPrefix(title, "# "), func(t *testing.T) {
			script, want, _ := strings.Cut(scenario, "----\n")
			got := play(t, strings.TrimSpace(script))
			played = append(played, strings.TrimSpace(script)+"\n----\n"+got)
			if !*update {
				require.Equal(t, want, got)
			}
		})
	}
	if *update && !t.Failed() {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(played, "\n")), 0o644))
	}
}

// split cuts a file into scenarios, each from its title to the next.
func split(text string) (scenarios []string) {
	for i, part := range strings.Split("\n"+text, "\n# ") {
		if i > 0 {
			scenarios = append(scenarios, "# "+strings.TrimSpace(part)+"\n")
		}
	}
	return scenarios
}

// play runs a script and returns what happened, one line an event, and what the account has at the
// end.
func play(t *testing.T, script string) string { return playOver(t, newStage(t), script) }

func playOver(t *testing.T, s *stage, script string) string {
	for number, line := range strings.Split(script, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" || words[0] == "//" {
			continue
		}
		require.NotPanics(t, func() { s.perform(words) }, "line %d: %s", number+1, line)
		if s.venue != nil {
			check(t, s.venue)
		}
	}
	s.end()
	return s.heard.String()
}

// stage is a venue in the making, then the venue, with the script's clock.
type stage struct {
	t         *testing.T
	catalog   *market.Catalog
	config    Config
	fees      exchange.Fees
	watches   []market.Watch
	venue     *Venue
	now       market.Time
	deposits  []func()
	reactions []reaction
	heard     strings.Builder
	onTheWay  map[market.OrderID]market.ExecutionType // merged: reports that a Path would have kept; nil: all are told
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, catalog: &market.Catalog{}}
	for _, symbol := range [...]string{"EUR", "BTC", "ETH"} {
		digits := uint8(8)
		if symbol == "EUR" {
			digits = 2
		}
		_, err := s.catalog.AddAsset(symbol, digits)
		require.NoError(t, err)
	}
	for _, name := range [...]string{"BTC-EUR", "ETH-EUR"} {
		m := &market.Market{Name: name, PriceDigits: 2, VolumeDigits: 4,
			Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 2, MaxOpenOrders: 100}}
		require.NoError(t, s.catalog.AddMarket(m))
	}
	s.watches = make([]market.Watch, 3)
	s.config.Watches = s.watches
	s.config.Fees = func(*market.Market) exchange.Fees { return s.fees }
	return s
}

// open makes the venue: the first command that is no setting does.
func (s *stage) open() *Venue {
	if s.venue == nil {
		s.venue = New(s.catalog, s.config, s.hear)
		for _, deposit := range s.deposits {
			deposit()
		}
	}
	return s.venue
}

// advance moves the market and the clock.
func (s *stage) advance(ev *market.Event) {
	ev.At = max(ev.At, s.now)
	s.now = ev.At
	if s.config.LimitFill == Queue {
		s.arrive(ev.At - 1)
	}
	require.NoError(s.t, s.open().Advance(ev))
}

// arrive lets what is due up to a time arrive at the prices that stand.
func (s *stage) arrive(until market.Time) {
	for {
		at, any := s.open().NextArrival()
		if !any || at > until {
			return
		}
		require.NoError(s.t, s.venue.Arrive(at))
	}
}

// fail stops the scenario and shows the words that it does not understand.
func (s *stage) fail(words ...any) { panic(fmt.Sprint(words...)) }
