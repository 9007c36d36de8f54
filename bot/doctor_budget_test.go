package bot_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// A bot that trades with the same key would be banned with the doctor, and could not even cancel.
func TestTheDoctorWaitsWhereItWouldSpendTheLastPointsOfTheKey(t *testing.T) {
	for length := 2 * time.Second; !doctorWaits(t, length); length *= 4 {
		require.Less(t, length, bottest.Patience, "the machine stands still for longer than any minute of the budget")
	}
}

// doctorWaits runs the doctor with a key that has one point too few until a moment. It reports
// whether the doctor heard so before that moment: a machine may have stood still.
func doctorWaits(t *testing.T, length time.Duration) (heard bool) {
	p := newPractice(t)
	behind, err := url.Parse(strings.TrimSuffix(p.ex.facts.BaseURL, "/v2"))
	require.NoError(t, err)
	const listing = 100 // points of GET /ordersOpen without a market
	anew := time.Now().Add(length)
	var early, listed atomic.Int64
	proxy := httputil.NewSingleHostReverseProxy(behind)
	proxy.ModifyResponse = func(r *http.Response) error {
		if time.Now().Before(anew) {
			r.Header.Set("Service-Ratelimit-Remaining", fmt.Sprint(listing-1))
			r.Header.Set("Service-Ratelimit-Resetat", fmt.Sprint(anew.UnixMilli()))
		}
		return nil
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/ordersOpen") {
			listed.Add(1)
			if time.Now().Before(anew) {
				early.Add(1)
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	code, _, failed := p.call("--set", "exchange.base_url="+front.URL+"/v2")
	require.Zero(t, code, failed)
	require.EqualValues(t, 1, listed.Load())
	require.Zero(t, early.Load())
	return strings.Contains(failed, "weight budget of the key")
}

func TestARunWhoseKeyIsRefusedSaysWhatToDoAboutIt(t *testing.T) {
	p := newPractice(t)
	p.env["BOT_KEY"] = strings.Repeat("0", 64)
	var failed bytes.Buffer
	code := bot.Run(t.Context(), bot.Process{Args: []string{"run", "-c", p.config}, Stdin: bytes.NewReader(nil),
		Stdout: io.Discard, Stderr: &failed,
		Getenv: func(name string) string { return p.env[name] }, Definitions: shipped.Definitions()})
	require.Equal(t, 1, code)
	require.Contains(t, failed.String(),
		"(code 305, HTTP 403); the exchange has no such key, or it is not active: copy it again, or make a new one; "+
			"bot doctor looks at everything else\n")
}
