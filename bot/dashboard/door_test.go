package dashboard

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/host"
)

func TestForeignPagesAndNamesAreRefused(t *testing.T) {
	b := newMadeUpBot(t, shortFolder(t))
	v, _ := serveBot(t, b, nil)
	v.enter(actToken)
	confirmation := v.opens("/confirm?do=halt")
	form := url.Values{"confirmation": {confirmation}, "word": {"demo"}}
	for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
		status, _, _ := v.do(http.MethodPost, "/act", form, func(r *http.Request) { r.Header.Set(name, value) })
		require.Equal(t, http.StatusForbidden, status, name)
	}
	status, _, _ := v.do(http.MethodPost, "/act", form, func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", "same-site")
	})
	require.Equal(t, http.StatusForbidden, status, "another port of this machine")
	status, _, _ = v.do(http.MethodPost, "/act", form, func(r *http.Request) { r.Host = "evil.example" })
	require.Equal(t, http.StatusMisdirectedRequest, status)
	require.Empty(t, b.actions())
}

func TestASessionEndsAndActingEndsBeforeLooking(t *testing.T) {
	b := newMadeUpBot(t, shortFolder(t))
	v, c := serveBot(t, b, nil)
	v.enter(actToken)
	v.sees("/act")
	c.move(13 * time.Hour)
	status, _, _ := v.do(http.MethodGet, "/act", nil, nil)
	require.Equal(t, http.StatusForbidden, status)
	v.sees("/")
	c.move(30 * 24 * time.Hour)
	status, _, _ = v.do(http.MethodGet, "/", nil, nil)
	require.Equal(t, http.StatusUnauthorized, status)
}

func TestTenWrongTokensCloseTheDoorForTheirAddress(t *testing.T) {
	b := newMadeUpBot(t, shortFolder(t))
	v, c := serveBot(t, b, nil)
	for range host.MaxTries {
		require.Equal(t, http.StatusUnauthorized, v.enter("x"))
	}
	require.Equal(t, http.StatusTooManyRequests, v.enter(lookToken))
	c.move(host.TriesFor)
	require.Equal(t, http.StatusSeeOther, v.enter(lookToken))
}

// Another token in its file counts at once, and ends the sessions of the one before.
func TestAChangedTokenCountsAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dashboard.token")
	token, made, err := Token(file)
	require.NoError(t, err)
	d := &access{look: looks(token), act: acts(host.Fixed(actToken)), now: time.Now}
	begun := d.look.cookie("session", time.Now(), false)
	asks := func(c *http.Cookie, token string) (status int) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if c != nil {
			r.AddCookie(c)
		} else {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		_, _, status = d.caller(r)
		return status
	}
	require.Zero(t, asks(nil, made))
	require.Zero(t, asks(begun, ""))
	require.NoError(t, os.WriteFile(file, []byte(lookToken+"\n"), 0o600))
	later := time.Now().Add(time.Second)
	require.NoError(t, os.Chtimes(file, later, later))
	require.Zero(t, asks(nil, lookToken))
	require.Equal(t, http.StatusUnauthorized, asks(nil, made))
	require.Equal(t, http.StatusUnauthorized, asks(begun, ""))
}
