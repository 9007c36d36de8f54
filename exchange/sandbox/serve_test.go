package sandbox

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
)

// probe returns an endpoint that answers an empty object, so that what comes before an endpoint can
// be tested by itself.
func probe(method string, needs api.Right) *api.Endpoint {
	return &api.Endpoint{Method: method, Path: "/probe", Weight: 1, Needs: needs,
		Do: func(c *api.Call) *exchange.Error {
			c.Out = append(c.Out, `{}`...)
			return nil
		}}
}

// through lets an endpoint that is not in the table answer a request.
func (r *rig) through(e *api.Endpoint, request *http.Request) answer {
	recorder := httptest.NewRecorder()
	v := r.ex.door.NewRequest()
	v.Endpoint = e
	r.ex.serve(recorder, request, v, "")
	r.ex.door.Release(v)
	a := answer{status: recorder.Code, header: http.Header{}, body: recorder.Body.String()}
	for name, values := range recorder.Header() {
		a.header[http.CanonicalHeaderKey(name)] = values
	}
	return a
}

func TestABodyMustBeDeclaredAsJSON(t *testing.T) {
	r := newRig(t)
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"} {
		request := r.request("alice", "POST", "/order", `{}`)
		request.Header.Set("Content-Type", kind)
		r.do(request).refused(t, 400, 102).says(t, "Content-Type")
	}
	for _, kind := range []string{"application/json; charset=utf-8", "Application/JSON"} {
		request := r.request("alice", "POST", "/order", `{}`)
		request.Header.Set("Content-Type", kind)
		r.do(request).refused(t, 400, 203)
	}
}

func TestABodyOverTheLimitIsRefused(t *testing.T) {
	r := newRig(t)
	fill := func(size int) string { return `{"x":"` + strings.Repeat("y", size-8) + `"}` }
	r.send("alice", "POST", "/order", fill(api.MaxBody)).refused(t, 400, 204)
	r.send("alice", "POST", "/order", fill(api.MaxBody+1)).refused(t, 400, 102).says(t, "more than 65536 bytes")

	endless := r.request("alice", "POST", "/order", "")
	endless.Body, endless.ContentLength = io.NopCloser(iotest.OneByteReader(zeros{})), -1
	r.do(endless).refused(t, 400, 102).says(t, "more than 65536 bytes")
}

// zeros is a body without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestABodyThatEndsEarlyIsRefused(t *testing.T) {
	r := newRig(t)
	request := r.request("alice", "POST", "/order", `{}`)
	request.Body = io.NopCloser(iotest.ErrReader(errors.New("the other side went away")))
	r.do(request).refused(t, 400, 102).says(t, "ended early")
}

func TestAPanicIsAnsweredWith101AndTheNextRequestGoesOn(t *testing.T) {
	r := newRig(t)
	heard := ""
	r.ex.onPanic = func(value any) { heard = value.(string) }
	broken := probe("GET", 0)
	broken.Do = func(c *api.Call) *exchange.Error {
		c.Out = append(c.Out, `{"half":`...)
		panic("a broken invariant")
	}
	request := func() *http.Request { return r.request("", "GET", "/probe", "") }
	a := r.through(broken, request()).refused(t, 500, 101)
	require.Equal(t, "a broken invariant", heard)
	fitsSchema(t, "/components/schemas/Error", a.body)
	r.through(probe("GET", 0), request()).ok(t)
}

func TestTimeAtTheVenueNeverGoesBack(t *testing.T) {
	r := newRig(t)
	r.ex.reached = rigStart + 1000
	e := probe("GET", 0)
	e.Do = func(c *api.Call) *exchange.Error {
		require.Equal(t, rigStart+1000, c.Now)
		return nil
	}
	r.through(e, r.request("", "GET", "/probe", "")).ok(t)
}

func TestAnswersOfRequestsAtOnceDoNotMix(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Budget.PerKey = -1 })
	echo := probe("GET", api.Read)
	echo.Params = []api.Parameter{{Name: "say", Kind: api.Text}}
	echo.Do = func(c *api.Call) *exchange.Error {
		c.Out = append(append(append(c.Out, '"'), c.Text("say")+r.ex.accounts.caller(c).name...), '"')
		return nil
	}
	var clients sync.WaitGroup
	for _, name := range []string{"alice", "bob"} {
		clients.Go(func() {
			for range 200 {
				a := r.through(echo, r.request(name, "GET", "/probe?say="+strings.Repeat(name, 100), ""))
				if a.body != `"`+strings.Repeat(name, 101)+`"` {
					t.Errorf("%s hears %s", name, a.body)
				}
			}
		})
	}
	clients.Wait()
}
