package bot_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A bot that trades with the same key would be banned with the doctor, and could not even cancel.
func TestTheDoctorWaitsWhereItWouldSpendTheLastPointsOfTheKey(t *testing.T) {
	p := newPractice(t)
	behind, err := url.Parse(strings.TrimSuffix(p.ex.facts.BaseURL, "/v2"))
	require.NoError(t, err)
	const listing = 100 // points of GET /ordersOpen without a market
	anew := time.Now().Add(2 * time.Second)
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
	require.Contains(t, failed, "weight budget of the key")
}
