package dashboard

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shortFolder is a folder whose path leaves room for a socket.
func shortFolder(t *testing.T) string { return filepath.Join(t.TempDir(), "b") }

func TestTheTokenOfLookingDoesNotAct(t *testing.T) {
	b := newMadeUpBot(t, shortFolder(t))
	v, _ := serveBot(t, b, nil)
	require.Equal(t, http.StatusSeeOther, v.enter(lookToken))
	require.NotContains(t, v.sees("/"), "./act")
	bearer := func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+lookToken)
		r.Header.Set("Content-Type", "application/json")
	}
	for _, path := range []string{"/act", "/confirm?do=halt", "/acted?confirmation=1"} {
		status, body, _ := v.do(http.MethodGet, path, nil, nil)
		require.Equal(t, http.StatusForbidden, status, path)
		require.Contains(t, body, "only looks")
	}
	for _, path := range []string{"/act", "/orders", "/api/v1/halt", "/api/v1/status", "/nothing"} {
		status, _, _ := v.do(http.MethodPost, path, url.Values{"word": {"demo"}}, nil)
		require.Equal(t, http.StatusForbidden, status, path)
		status, _, _ = v.do(http.MethodPost, path, nil, bearer)
		require.Equal(t, http.StatusForbidden, status, path)
	}
	require.Equal(t, http.StatusSeeOther, v.enter(actToken))
	require.Contains(t, v.sees("/"), "./act")
	require.Empty(t, b.actions())
}

func TestAnActionIsConfirmedAndDoneOnce(t *testing.T) {
	b := newMadeUpBot(t, shortFolder(t))
	v, c := serveBot(t, b, nil)
	v.enter(actToken)
	page := v.sees("/confirm?do=halt&strategy=maker")
	require.Contains(t, page, "The strategy maker stops at once")
	require.NotContains(t, page, "<script>hacked", "the tag of an order is text")
	confirmation := v.opens("/confirm?do=halt&strategy=maker")
	send := func(confirmation, word string) (int, string) {
		status, body, head := v.do(http.MethodPost, "/act",
			url.Values{"confirmation": {confirmation}, "word": {word},
				"reason": {" too wild "}}, nil)
		return status, head.Get("Location") + body
	}
	for _, wrong := range []string{"", "Maker", "maker ", "demo"} {
		status, body := send(confirmation, wrong)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, body, "Nothing was done: the name of the strategy is maker")
	}
	require.Contains(t, v.sees("/acted?confirmation="+confirmation), "has not been confirmed")
	require.Empty(t, b.actions())
	for range 3 { // a double click, and a form that is sent again by going back
		status, where := send(confirmation, "maker")
		require.Equal(t, http.StatusSeeOther, status)
		require.Equal(t, "./acted?confirmation="+confirmation, where)
	}
	for range 2 { // a reload
		require.Contains(t, v.sees("/acted?confirmation="+confirmation), "halted: maker")
	}
	require.Len(t, b.actions(), 1)
	require.Regexp(t, `^/halt\|maker\|\|dashboard act token\|dashboard 127\.0\.0\.1:\d+\|too wild$`, b.actions()[0])

	old := v.opens("/confirm?do=resume")
	c.move(formTime)
	status, body := send(old, "demo")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, body, "older than 10m0s")
	mine := v.opens("/confirm?do=resume")
	v.forget()
	v.enter(actToken)
	status, body = send(mine, "demo")
	require.Equal(t, http.StatusBadRequest, status, "of another session")
	require.Contains(t, body, "not valid any more")
	require.Len(t, b.actions(), 1)
}

func TestEachActionConcernsWhatItsConfirmationNames(t *testing.T) {
	b := newMadeUpBot(t, shortFolder(t))
	v, _ := serveBot(t, b, nil)
	v.enter(actToken)
	for _, row := range []struct{ query, word, asked, says string }{
		{"do=halt", "demo", "/halt||", "Every strategy of demo stops at once"},
		{"do=resume&strategy=maker", "maker", "/resume|maker|", "trades again at once"},
		{"do=cancel&order=4", "4", "/cancel||4", "buy limit 0.02501 @ 91500"},
		{"do=cancel-all", "demo", "/cancel-all||", "Every open order of the bot demo is cancelled"},
		{"do=flatten&strategy=trend", "trend", "/flatten|trend|", "are sold at market"},
	} {
		page := v.sees("/confirm?" + row.query)
		require.Contains(t, page, row.says, row.query)
		status, _, head := v.do(http.MethodPost, "/act",
			url.Values{"confirmation": {confirmationIn.FindStringSubmatch(page)[1]},
				"word": {row.word}}, nil)
		require.Equal(t, http.StatusSeeOther, status, row.query)
		require.Contains(t, v.sees(head.Get("Location")[1:]), "Done.")
		require.True(t, strings.HasPrefix(b.actions()[len(b.actions())-1], row.asked+"|"), b.actions())
	}
	for _, query := range []string{"", "do=settings", "do=halt&strategy=other", "do=cancel", "do=cancel&order=99",
		"do=cancel&order=x", "do=halt&order=4", "do=cancel-all&strategy=maker"} {
		status, _, _ := v.do(http.MethodGet, "/confirm?"+query, nil, nil)
		require.Equal(t, http.StatusBadRequest, status, query)
	}
}

func TestAnActionOnABotThatDiesSaysWhatIsKnown(t *testing.T) {
	b := newMadeUpBot(t, shortFolder(t))
	v, c := serveBot(t, b, nil)
	v.enter(actToken)
	send := func(confirmation string) string {
		status, _, head := v.do(http.MethodPost, "/act",
			url.Values{"confirmation": {confirmation}, "word": {"maker"}}, nil)
		require.Equal(t, http.StatusSeeOther, status)
		return v.sees(head.Get("Location")[1:])
	}
	first, second := v.opens("/confirm?do=flatten&strategy=maker"), v.opens("/confirm?do=flatten&strategy=maker")
	b.cutOff()
	require.Contains(t, send(first), "It is not known how far the bot came")
	require.Contains(t, send(first), "It is not known how far the bot came")
	require.Len(t, b.actions(), 1, "it is not sent again")
	b.die()
	c.move(time.Minute)
	require.Contains(t, send(second), "Nothing was done: no bot is running")
	status, _, _ := v.do(http.MethodGet, "/act", nil, nil)
	require.Equal(t, http.StatusServiceUnavailable, status)
}

func TestAProgramActsWithTheTypedName(t *testing.T) {
	b := newMadeUpBot(t, shortFolder(t))
	v, _ := serveBot(t, b, nil)
	send := func(verb, kind, body string) (int, string) {
		status, text, _ := v.do(http.MethodPost, "/api/v1/"+verb, nil, func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+actToken)
			r.Header.Set("Content-Type", kind)
			r.Body = http.NoBody
			if body != "" {
				r.Body = readCloser{strings.NewReader(body)}
			}
			r.ContentLength = int64(len(body))
		})
		return status, text
	}
	const kind = "application/json"
	for _, row := range []struct {
		verb, kind, body, says string
	}{
		{"halt", "text/plain", `{"confirm":"demo"}`, "want a body of JSON"},
		{"halt", kind, ``, "body: EOF"},
		{"halt", kind, `{"strategy":"maker"}`, "confirm has to be the name of the strategy, which is maker"},
		{"halt", kind, `{"confirm":"maker"}`, "confirm has to be the name of the bot, which is demo"},
		{"halt", kind, `{"confirm":"demo","force":true}`, `unknown field \"force\"`},
		{"cancel", kind, `{"order":"99","confirm":"99"}`, "order 99 is not open"},
	} {
		status, body := send(row.verb, row.kind, row.body)
		require.Equal(t, http.StatusBadRequest, status, row.body)
		require.Contains(t, body, row.says)
	}
	status, _ := send("reload", kind, `{"confirm":"demo"}`)
	require.Equal(t, http.StatusNotFound, status)
	require.Empty(t, b.actions())
	status, body := send("flatten", kind, `{"strategy":"maker","confirm":"maker","reason":"too wild"}`)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `"done":true`)
	fitsDescription(t, v, "/flatten", body)
	require.Len(t, b.actions(), 1)
	require.Contains(t, b.actions()[0], "/flatten|maker||dashboard act token|dashboard 127.0.0.1:")
}

// fitsDescription holds the answer to an action against the description of the API. The race lane
// of .ci/run compiles no reader of descriptions.
var fitsDescription = func(t *testing.T, v *visitor, path, body string) {}

// fitsFleet holds the answer of a list of bots against the description of the API.
var fitsFleet = func(v *visitor) {}

// readCloser is a body of a request.
type readCloser struct{ *strings.Reader }

// Close closes nothing.
func (readCloser) Close() error { return nil }
