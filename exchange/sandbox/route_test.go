package sandbox

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
)

// listed are the endpoints of the table, as an exchange has them.
var listed = (&Exchange{}).bind(endpoints)

func route(method, path string) (*api.Endpoint, string) { return listed.Route(method, path) }

func TestEveryRowOfTheTableIsReached(t *testing.T) {
	for i := range listed {
		path, want := listed[i].Path, ""
		if before, after, found := strings.Cut(path, "{market}"); found {
			path, want = before+"BTC-EUR"+after, "BTC-EUR"
		}
		e, name := route(listed[i].Method, path)
		require.Same(t, &listed[i], e, "%s %s", listed[i].Method, path)
		require.Equal(t, want, name)
	}
}

func TestUnknownPathsAndMethodsAre404With110(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"", "/", "/orde", "/order/", "//order", "/Order", "/markets/BTC-EUR", "//book",
		"/a/b/book", "/report/a/b/book", "/book", "/ticker/24H", "/v2/time"} {
		r.get(path).refused(t, 404, 110)
	}
	for _, method := range []string{http.MethodHead, http.MethodOptions, http.MethodPatch, http.MethodConnect,
		http.MethodTrace, "get", http.MethodPost} {
		r.send("", method, "/time", "").refused(t, 404, 110)
	}
	// /admin is not there unless asked for
	for _, path := range []string{"/", "/v1/time", "/time", "/v20/time", "/openapi.yaml", "/admin/clock"} {
		r.do(httptestGet(path)).refused(t, 404, 110)
	}
}

func TestAPathIsReadWithItsEscapesUndone(t *testing.T) {
	e, name := route("GET", newRig(t).request("", "GET", "/BTC%2DEUR/book", "").URL.Path[len(api.Version):])
	require.Equal(t, "/{market}/book", e.Path)
	require.Equal(t, "BTC-EUR", name)
}

func TestTheWeightOfAllMarketsIsForRequestsThatNameNone(t *testing.T) {
	e, _ := route("GET", "/ordersOpen")
	for query, want := range map[string]int{"": 100, "market=BTC-EUR": 5, "base=BTC&market=BTC-EUR": 5, "base=BTC": 100,
		"markets=1": 100, "market": 5, "&market=": 5} {
		require.Equal(t, want, e.Cost(query), query)
	}
	e, _ = route("GET", "/orders")
	require.Equal(t, 5, e.Cost(""))
}
