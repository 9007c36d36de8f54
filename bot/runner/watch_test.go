package runner

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

func TestAStormOfRefusalsIsToldOnceAMinute(t *testing.T) {
	s, start := refusalBurst{limit: 10}, time.Unix(0, 0)
	for _, row := range []struct {
		at, n, sum int64
		begins     bool
	}{
		{0, 4, 4, false}, {1, 0, 4, false}, {30, 5, 9, false},
		{59, 1, 10, true},                       // ten within a minute
		{60, 50, 56, false},                     // the same storm; the four at 0 are a minute ago
		{118, 1, 52, false}, {119, 0, 51, true}, // a minute after it was told, it still blows
		{185, 9, 9, false}, {186, 1, 10, true},
		{300, 0, 0, false},
	} {
		sum, begins := s.add(start.Add(time.Duration(row.at)*time.Second), row.n)
		require.Equal(t, row.sum, sum, "%+v", row)
		require.Equal(t, row.begins, begins, "%+v", row)
	}
	off := refusalBurst{}
	_, begins := off.add(start, 1000)
	require.False(t, begins)
}

func TestBansAndSilenceAreToldFromAnyGoroutine(t *testing.T) {
	m := &recorder{}
	w := &watch{r: &runner{books: books{run: uuid.UUID{1}}}, now: time.Now, alerts: m}
	w.warned(rest.Warning{Kind: rest.WarnSlow})
	w.warned(rest.Warning{Kind: rest.WarnBan, Payer: rest.PaidByKey, Until: market.Time(12 * time.Hour)})
	w.warned(rest.Warning{Kind: rest.WarnBanOver, Payer: rest.PaidByKey})
	w.stale(15 * market.Duration(time.Second))
	got := m.got()
	require.Len(t, got, 3)
	require.Contains(t, got[0], "banned the key")
	require.Contains(t, got[0], "12:00:00")
	require.Contains(t, got[1], "the ban of the key is over")
	require.Contains(t, got[2], "no prices from the exchange for 15s")
	var none *watch // no alerts are set
	none.warned(rest.Warning{Kind: rest.WarnBan})
	none.stale(1)
	none.stopped("", 0, "")
	none.close()
}

func TestALoopThatStandsStillIsNotHealthyAndGivesNoSignOfLife(t *testing.T) {
	now := time.Unix(1000, 0)
	w := &watch{now: func() time.Time { return now }, began: now}
	now = now.Add(time.Hour)
	require.NoError(t, w.healthy(), "it has not begun to turn: it waits for the exchange")
	w.turned.Store(w.since())
	now = now.Add(maxTurnTime)
	require.NoError(t, w.healthy())
	now = now.Add(time.Second)
	require.ErrorContains(t, w.healthy(), "stood still for 31s")
	require.ErrorContains(t, w.ready(), "has not reconciled")
}

func TestSystemdHearsOnlyWhatIsMeantForIt(t *testing.T) {
	require.Nil(t, newNotifier(func(string) string { return "" }))
	socket := filepath.Join(t.TempDir(), "s")
	ear, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	require.NoError(t, err)
	defer ear.Close()
	env := map[string]string{"NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "30000000",
		"WATCHDOG_PID": strconv.Itoa(os.Getpid())}
	n := newNotifier(func(name string) string { return env[name] })
	require.Equal(t, 10*time.Second, n.every)
	start := time.Unix(1000, 0)
	n.ping(start)
	n.ping(start.Add(9 * time.Second)) // too early
	n.ping(start.Add(10 * time.Second))
	n.send("STOPPING=1")
	buffer := make([]byte, 64)
	for _, want := range []string{"WATCHDOG=1", "WATCHDOG=1", "STOPPING=1"} {
		got, err := ear.Read(buffer)
		require.NoError(t, err)
		require.Equal(t, want, string(buffer[:got]))
	}
	env["WATCHDOG_PID"] = "1"
	require.Zero(t, newNotifier(func(name string) string { return env[name] }).every,
		"the watchdog waits for another process")
	ear.Close()
	began := time.Now()
	n.send("nobody listens")
	require.Less(t, time.Since(began), bottest.Patience)
}

func TestHaltsAndResumesAreToldAsTheyCome(t *testing.T) {
	m, catalog := &recorder{}, &market.Catalog{}
	gate := risk.New(catalog, risk.Config{Strategies: []risk.Limits{{}}})
	seats := engine.New(engine.Config{Catalog: catalog, Account: state.NewAccount(catalog, 1, nil), Gate: gate,
		Slots: []engine.StrategyConfig{{Name: "trend", Strategy: strategy.Base{}}}})
	w := &watch{now: time.Now, halted: make([]bool, 2), alerts: m,
		r: &runner{books: books{plan: &plan.Live{Plan: plan.Plan{
			Strategies: []backtest.StrategyPlan{{Name: "trend"}}}}, engine: seats, gate: gate}}}
	w.checkHalts()
	seats.Enter(&market.Input{Kind: market.InputHalt, At: 1, Strategy: 1, Reason: "by hand"})
	w.checkHalts()
	w.checkHalts() // once
	seats.Enter(&market.Input{Kind: market.InputResume, At: 2, Strategy: 1})
	w.checkHalts()
	got := m.got()
	require.Len(t, got, 2)
	require.Contains(t, got[0], `"kind":"halt"`)
	require.Contains(t, got[0], "trend is halted: by hand")
	require.Contains(t, got[1], `"kind":"resume"`)
	require.Contains(t, got[1], "trend trades again")
}
