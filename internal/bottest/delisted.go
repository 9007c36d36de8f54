package bottest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// refused is the answer to a request that names a market that has gone.
const refused = `{"errorCode":205,"error":"market parameter is invalid."}`

// Delisted is an exchange that lists a market no more from some moment on: it is in no list, and a
// request that names it is refused with 205.
type Delisted struct {
	Next   http.RoundTripper
	Market string
	Gone   *atomic.Bool
}

// RoundTrip is of http.RoundTripper.
func (w Delisted) RoundTrip(r *http.Request) (*http.Response, error) {
	if !w.Gone.Load() {
		return w.Next.RoundTrip(r)
	}
	var asked []byte
	if r.Body != nil {
		asked, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(asked))
	}
	named := strings.Contains(r.URL.String()+string(asked), w.Market)
	if named && r.Method != http.MethodGet { // what is refused must not happen
		return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Request: r,
			Body: io.NopCloser(strings.NewReader(refused))}, nil
	}
	answer, err := w.Next.RoundTrip(r)
	if err != nil || answer.StatusCode == http.StatusSwitchingProtocols {
		return answer, err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	var list []map[string]any
	switch {
	case named:
		answer.StatusCode = http.StatusBadRequest
		body = []byte(refused)
	case json.Unmarshal(body, &list) == nil:
		list = slices.DeleteFunc(list, func(row map[string]any) bool { return row["market"] == w.Market })
		body, _ = json.Marshal(list)
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), -1
	answer.Header.Del("Content-Length")
	return answer, nil
}
