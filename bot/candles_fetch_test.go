package bot_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// marketTown is an exchange on loopback whose clock stands at 2026-01-10T12:34:56Z, with five days
// of candles. before may answer a request itself.
type marketTown struct {
	*httptest.Server
	ex *sandbox.Exchange

	mu     sync.Mutex // guards what follows, and is held while before is called
	before func(w http.ResponseWriter, r *http.Request) (answered bool)
	pages  []string // queries of candles that were let through
}

// between sets what happens before a request, and forgets the pages.
func (m *marketTown) between(before func(w http.ResponseWriter, r *http.Request) (answered bool)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before, m.pages = before, nil
}

// asked is which pages were asked for.
func (m *marketTown) asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pages
}

var townTime = market.Time(time.Date(2026, 1, 10, 12, 34, 56, 0, time.UTC).UnixNano())

func openMarketTown(t testing.TB) *marketTown {
	config := sandbox.Default()
	config.Clock, config.History = sandbox.ManualClock(townTime), 5*24*time.Hour
	config.Budget.PerIP = -1 // on a clock that stands, points would never be back
	config.Markets = config.Markets[:1]
	config.Markets[0].Source = prices.Synthetic{Price: "95000", Step: 20 * time.Second}
	ex, err := sandbox.New(config)
	require.NoError(t, err)
	town := &marketTown{ex: ex}
	town.Server = httptest.NewServer(town)
	t.Cleanup(town.Close)
	return town
}

// ServeHTTP notes which pages are asked for.
func (m *marketTown) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !m.note(w, r) {
		m.ex.ServeHTTP(w, r)
	}
}

func (m *marketTown) note(w http.ResponseWriter, r *http.Request) (answered bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.before != nil && m.before(w, r) {
		return true
	}
	if strings.HasSuffix(r.URL.Path, "/candles") {
		m.pages = append(m.pages, r.URL.RawQuery)
	}
	return false
}

// fetch runs the command in this process.
func (m *marketTown) fetch(t testing.TB, store string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	args = append([]string{"candles", "fetch", "--db", store, "--base-url", m.URL, "--market", "BTC-EUR", "--interval",
		"1m"}, args...)
	code = bot.Run(t.Context(), bot.Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: os.Getenv})
	return code, out.String(), errs.String()
}

// stored is everything that a store holds of the series, as text.
func stored(t testing.TB, path string) string {
	store, err := candles.Read(path)
	require.NoError(t, err)
	defer store.Close()
	report, err := store.Verify()
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	hash, err := store.DataHash("BTC-EUR", market.Interval1m, 0, 0)
	require.NoError(t, err)
	complete, err := store.Complete("BTC-EUR", market.Interval1m)
	require.NoError(t, err)
	series, err := store.Series("BTC-EUR", market.Interval1m)
	require.NoError(t, err)
	return fmt.Sprintf("%s %v %+v", hash, complete, series)
}

func TestTheTranscriptOfAFetchHolds(t *testing.T) {
	bottest.Unraced(t)
	town := openMarketTown(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/fetch", RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXCHANGE", town.URL)
			return nil
		},
	})
}

func TestAFetchStoresWhatTheExchangeHas(t *testing.T) {
	town := openMarketTown(t)
	store := filepath.Join(t.TempDir(), "candles.db")
	code, stdout, stderr := town.fetch(t, store, "--from", "2026-01-07")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "BTC-EUR 1m from 2026-01-07T00:00:00Z to 2026-01-10T12:34:00Z:",
		"the minute that runs is left out")
	require.Contains(t, town.asked()[0], "end=1768048440000", "newest first")

	file := filepath.Join(t.TempDir(), "out.csv")
	require.Zero(t, bot.Run(t.Context(),
		bot.Process{Args: []string{"candles", "export", "--db", store, "--market", "BTC-EUR", "--interval", "1m",
			"--out", file},
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: os.Getenv}))
	csv, err := os.ReadFile(file)
	require.NoError(t, err)
	have := strings.Split(strings.TrimSpace(string(csv)), "\n")[1:]
	require.Equal(t, town.all(t), have)
}

// all is every candle of the range as the exchange gives it, oldest first.
func (m *marketTown) all(t testing.TB) (rows []string) {
	start := time.Date(2026, 1, 7, 0, 0, 0, 0, time.UTC)
	for at := start; at.Before(townTime.Std().Truncate(time.Minute)); at = at.Add(24 * time.Hour) {
		end := min(at.Add(24*time.Hour).UnixMilli(), market.Interval1m.Floor(townTime).Millis())
		recorder := httptest.NewRecorder()
		m.ex.ServeHTTP(recorder,
			httptest.NewRequest("GET", fmt.Sprintf("/v2/BTC-EUR/candles?interval=1m&start=%d&end=%d", at.UnixMilli(),
				end), nil))
		require.Equal(t, 200, recorder.Code, recorder.Body)
		body := strings.TrimSuffix(strings.TrimPrefix(recorder.Body.String(), "["), "]")
		day := strings.SplitAfter(body, "],")
		for i := range day {
			rows = append(rows, strings.NewReplacer("[", "", "]", "", `"`,
				"").Replace(strings.TrimSuffix(day[len(day)-1-i], ",")))
		}
		if at.Equal(start) {
			require.Greater(t, len(rows), 1000)
		}
	}
	return rows
}

func TestAFetchThatIsKilledGoesOnWhereItStopped(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	town := openMarketTown(t)
	dir := t.TempDir()
	whole, store := filepath.Join(dir, "whole.db"), filepath.Join(dir, "candles.db")
	code, _, stderr := town.fetch(t, whole, "--from", "2026-01-05T13:00:00Z")
	require.Zero(t, code, stderr)
	pages := len(town.asked())

	town.between(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/candles") {
			time.Sleep(30 * time.Millisecond)
		}
		return false
	})
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	args := []string{"candles", "fetch", "--db", store, "--base-url", town.URL, "--market", "BTC-EUR", "--interval",
		"1m", "--from", "2026-01-05T13:00:00Z"}
	deaths, life := 0, 60*time.Millisecond
	for !killed(t, dir, life+time.Duration(random.Int64N(int64(life))), args...) {
		deaths++
		life += life / 16 // or a slow machine would never get through
		require.Less(t, deaths, 100, "seed %d: it never gets anywhere", seed)
	}
	require.Positive(t, deaths, "seed %d: nothing was killed", seed)
	require.Equal(t, stored(t, whole), stored(t, store), "seed %d, %d deaths", seed, deaths)
	require.LessOrEqual(t, len(town.asked()), pages+deaths,
		"seed %d: only what came in the moment of a death is asked for again", seed)

	before := len(town.asked())
	require.True(t, killed(t, dir, time.Hour, args...))
	require.Len(t, town.asked(), before, "nothing is left to ask for")
}

func TestAFetchSitsOutABan(t *testing.T) {
	t.Parallel()
	for length := 1500 * time.Millisecond; ; length *= 4 {
		if fetchBanned(t, length) {
			return
		}
		require.Less(t, length, bottest.Patience, "the machine stands still for longer than any ban")
	}
}

// fetchBanned fetches from an exchange that bans its client until a moment of its clock, which
// stands. The client reads that clock once and lets it go on, so the ban is over for it no earlier
// than its length after the start. It reports whether the client heard of the ban while it lasted:
// a machine may have stood still.
func fetchBanned(t *testing.T, length time.Duration) (heard bool) {
	town, began := openMarketTown(t), time.Now()
	end := townTime.Add(length)
	banned := false
	early, asked := 0, 0
	town.between(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/candles") {
			asked++
		}
		switch {
		case asked == 2 && !banned:
			banned = true
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprintf(w, `{"errorCode":105,"error":"Your IP or API key has been banned for not respecting the rate limit. The ban expires at %d."}`, end.Millis())
			return true
		case banned && time.Since(began) < length:
			early++
		}
		return false
	})
	code, stdout, stderr := town.fetch(t, filepath.Join(t.TempDir(), "candles.db"), "--from", "2026-01-07")
	require.Zero(t, code, stderr)
	require.Zero(t, early, "nothing is sent while the ban lasts")
	require.NotContains(t, stdout, "missing")
	if !strings.Contains(stderr,
		"the exchange has banned the IP address for spending too much: nothing is sent until "+end.Std().
			Format("15:04:05")) {
		return false
	}
	require.Contains(t, stderr, "the ban of the IP address is over")
	return true
}

func TestAFetchThatFailsKeepsWhatCameBefore(t *testing.T) {
	for _, row := range []struct{ name, answer, want string }{
		{"another market's interval", `[[1767950050000,"1","1","1","1","1"]]`,
			"row 1 of 1, which starts at 2026-01-09T09:14:10Z: no 1m candle starts then"},
		{"a candle twice", `[[1767950040000,"1","1","1","1","1"],[1767950040000,"1","1","1","1","2"]]`,
			"candles of BTC-EUR 1m: row 1 of 2, which starts at 2026-01-09T09:14:00Z: another row with other values"},
		{"out of the range", `[[1767200040000,"1","1","1","1","1"],[1767200100000,"1","1","1","1","1"]]`,
			"2 of 2 rows are not from 2026-01-08T12:34:00Z"},
		{"impossible", `[[1767985980000,"2","1","1","2","1"]]`, "candle"},
		{"a refusal", `{"errorCode":205,"error":"start parameter is invalid."}`, "start parameter is invalid"},
	} {
		t.Run(row.name, func(t *testing.T) {
			town := openMarketTown(t)
			asked := 0
			town.between(func(w http.ResponseWriter, r *http.Request) bool {
				if strings.HasSuffix(r.URL.Path, "/candles") {
					asked++
				}
				if asked != 2 {
					return false
				}
				if row.answer[0] == '{' {
					w.WriteHeader(http.StatusBadRequest)
				}
				fmt.Fprint(w, row.answer)
				return true
			})
			store := filepath.Join(t.TempDir(), "candles.db")
			code, _, stderr := town.fetch(t, store, "--from", "2026-01-07")
			require.Equal(t, 1, code)
			require.Contains(t, stderr, row.want)
			require.Contains(t, stderr, "the same command goes on from there")
			require.Contains(t, stored(t, store), "2026-01-09T12:34:00Z", "the first page is stored")
			town.between(nil)
			code, _, stderr = town.fetch(t, store, "--from", "2026-01-07")
			require.Zero(t, code, stderr)
		})
	}
}

// Each answer has every row twice, and one row of the minute that runs: the store is the same.
func TestAFetchReadsRowsTwiceOnceAndLeavesOutTheCandleThatRuns(t *testing.T) {
	town := openMarketTown(t)
	whole, store := filepath.Join(t.TempDir(), "whole.db"), filepath.Join(t.TempDir(), "candles.db")
	code, _, stderr := town.fetch(t, whole, "--from", "2026-01-07")
	require.Zero(t, code, stderr)
	town.between(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/candles") {
			return false
		}
		answer := httptest.NewRecorder()
		town.ex.ServeHTTP(answer, r)
		rows := strings.TrimSuffix(strings.TrimPrefix(answer.Body.String(), "["), "]")
		fmt.Fprintf(w, `[[%d,"1","1","1","1","1"],%s,%s]`, market.Interval1m.Floor(townTime).Millis(), rows, rows)
		return true
	})
	code, _, stderr = town.fetch(t, store, "--from", "2026-01-07")
	require.Zero(t, code, stderr)
	require.Equal(t, 1, strings.Count(stderr, "which starts at 2026-01-10T12:34:00Z: "+
		"it has not closed yet by the exchange's clock; and 1438 more rows: left out"), stderr)
	require.Equal(t, stored(t, whole), stored(t, store))
}

func TestAFetchCanBeInterrupted(t *testing.T) {
	town := openMarketTown(t)
	ctx, cancel := context.WithCancel(t.Context())
	town.between(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/candles") {
			cancel()
		}
		return false
	})
	var errs bytes.Buffer
	code := bot.Run(ctx, bot.Process{Args: []string{"candles", "fetch", "--db",
		filepath.Join(t.TempDir(), "candles.db"), "--base-url", town.URL, "--market", "BTC-EUR", "--interval", "1m",
		"--from", "2026-01-07"},
		Stdin: strings.NewReader(""), Stdout: &errs, Stderr: &errs, Getenv: os.Getenv})
	require.Equal(t, 1, code)
	require.Contains(t, errs.String(), "interrupted; what came before is stored: the same command goes on from there")
}

func TestAStoreCanBeReadBetweenThePagesOfAFetch(t *testing.T) {
	t.Parallel()
	town, path := openMarketTown(t), filepath.Join(t.TempDir(), "candles.db")
	var errs output
	var reading sync.WaitGroup
	asked := 0
	town.between(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/candles") {
			asked++
		}
		if asked != 2 {
			return false
		}
		asked++
		reader, err := candles.Read(path)
		require.NoError(t, err, "the fetch does not hold the store while it asks")
		reading.Go(func() {
			assert.Eventually(t, func() bool { return strings.Contains(errs.String(), "in use by another process") },
				bottest.Patience, 10*time.Millisecond, "and waits for who reads")
			list, err := reader.List()
			require.NoError(t, err)
			require.Equal(t, market.Interval1m.Floor(townTime), list[0].End(), "the first page is there")
			require.NoError(t, reader.Close())
		})
		return false
	})
	code := bot.Run(t.Context(),
		bot.Process{Args: []string{"candles", "fetch", "--db", path, "--base-url", town.URL, "--market", "BTC-EUR",
			"--interval", "1m", "--from", "2026-01-07"},
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &errs, Getenv: os.Getenv})
	require.Zero(t, code, &errs)
	reading.Wait()
	require.Equal(t, 1, strings.Count(errs.String(), "in use"), "it is said once")
	require.Contains(t, stored(t, path), "First:2026-01-07T00:00:00Z")
}

func TestAFetchTakesTheExchangeFromAConfig(t *testing.T) {
	town, dir := openMarketTown(t), t.TempDir()
	ofRun, ofBacktest := filepath.Join(dir, "live.toml"), filepath.Join(dir, "backtest.toml")
	require.NoError(t, os.WriteFile(ofRun, fmt.Appendf(nil, doctorRun, dir, town.URL), 0o600))
	require.NoError(t, os.WriteFile(ofBacktest,
		fmt.Appendf(nil, "[data]\ncandles = %q\n", filepath.Join(dir, "own.db")), 0o600))
	fetch := func(args ...string) (int, string) {
		var errs bytes.Buffer
		code := bot.Run(t.Context(),
			bot.Process{Args: append([]string{"candles", "fetch", "--market", "BTC-EUR", "--interval", "1h", "--from",
				"2026-01-10"}, args...),
				Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &errs, Getenv: os.Getenv})
		return code, errs.String()
	}
	code, failed := fetch("-c", ofRun, "--db", filepath.Join(dir, "candles.db"))
	require.Zero(t, code, failed)
	code, failed = fetch("-c", ofBacktest, "--base-url", town.URL)
	require.Zero(t, code, failed)
	require.FileExists(t, filepath.Join(dir, "own.db"))
	code, failed = fetch("-c", ofRun, "--db", filepath.Join(dir, "candles.db"), "--base-url", "http://api.example.com")
	require.Equal(t, 64, code, "a flag stands over the config")
	require.Contains(t, failed, "use https://api.example.com")
	require.NoError(t, os.WriteFile(ofRun, []byte("[exchange]\nbase_ur = \"x\"\n"), 0o600))
	code, failed = fetch("-c", ofRun)
	require.Equal(t, 78, code)
	require.Contains(t, failed, `live.toml:2: exchange.base_ur: unknown key`)
}
