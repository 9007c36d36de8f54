package bot_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// A fetch reads an odd list as a bot does. A row that cannot be would be a hole of the store: the
// fetch refuses it.
func TestAFetchReadsOddListsOfCandlesAsOne(t *testing.T) {
	bottest.Unraced(t)
	whole := filepath.Join(t.TempDir(), "whole.db")
	code, _, stderr := openMarketTown(t).fetch(t, whole, "--from", "2026-01-09")
	require.Zero(t, code, stderr)
	for _, odd := range bottest.OddLists() {
		t.Run(odd.Name, func(t *testing.T) {
			town := openMarketTown(t)
			town.between(func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/candles") {
					return false
				}
				answer := httptest.NewRecorder()
				town.ex.ServeHTTP(answer, r)
				altered := answer.Result()
				if err := odd.Alter(r.URL.Path, altered, townTime.Std()); err != nil {
					t.Error(err)
				}
				maps.Copy(w.Header(), altered.Header)
				_, err := io.Copy(w, altered.Body)
				return err == nil
			})
			store := filepath.Join(t.TempDir(), "candles.db")
			code, _, stderr := town.fetch(t, store, "--from", "2026-01-09")
			require.Contains(t, stderr, odd.Said)
			if odd.None || odd.False {
				require.Equal(t, 1, code)
				return
			}
			require.Zero(t, code, stderr)
			require.Equal(t, stored(t, whole), stored(t, store))
		})
	}
}

// The doctor reads them, too, and counts what was odd.
func TestTheDoctorCountsWhatIsOddInListsOfCandles(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	p := newPractice(t, "[budget]\nper_key = 100000\n") // its doctors spend more than that of a minute
	for _, odd := range bottest.OddLists() {
		target, err := url.Parse(p.ex.facts.BaseURL)
		require.NoError(t, err)
		proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: target.Scheme, Host: target.Host})
		proxy.ModifyResponse = func(r *http.Response) error { return odd.Alter(r.Request.URL.Path, r, time.Now()) }
		front := httptest.NewServer(proxy)
		_, all := p.examine("--set", "exchange.base_url="+front.URL+"/v2")
		front.Close()
		want := map[string]string{
			"plain":                         `^BTC-EUR 1m: \d+ candles asked for at \d\d:\d\d:\d\d(; 1 that have|$)`,
			"oldest first":                  `^BTC-EUR 1m: \d+ candles asked for at \d\d:\d\d:\d\d(; 1 that have|$)`,
			"each row twice":                `; \d{3} rows came twice, and count once$`,
			"ahead of the exchange's clock": `; 3 rows had not closed yet, and are left out$`,
			"another interval":              `candles of BTC-EUR 1m: row 1 of \d+, .*: no 1m candle starts then$`,
			"another range":                 `candles of BTC-EUR 1m: \d+ of \d+ rows are not from .*, which was asked for$`,
			"a high below the low":          `; \d+ intervals between them without one; .*\d\d rows cannot be, and are left out$`,
			"two states of a row":           `; \d+ rows cannot be, and are left out$`,
			"late":                          `^BTC-EUR 1m: \d+ candles asked for`,
			"late and twice":                `; \d{3} rows came twice, and count once$`,
		}[odd.Name]
		found := slices.ContainsFunc(all, func(a Answer) bool {
			return (a.Check == "candles" || odd.None) && regexp.MustCompile(want).MatchString(a.Text)
		})
		require.True(t, found, "%s: %+v", odd.Name, all)
		failed := slices.ContainsFunc(all, func(a Answer) bool { return a.Level == "fail" })
		require.Equal(t, odd.None, failed, "%+v", all)
		require.Equal(t, odd.False, slices.ContainsFunc(all, func(a Answer) bool {
			return a.Check == "candles" && a.Level == "warn" && strings.Contains(a.Hint, odd.Said)
		}), "%+v", all)
	}
}
