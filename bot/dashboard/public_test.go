package dashboard

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStrangersSeePercentagesOfFinishedDaysAlone(t *testing.T) {
	b := newMadeUpBot(t, shortFolder(t))
	v, _ := serveBot(t, b, func(c *Config) { c.Public = true })
	page := v.sees("/public")
	require.Contains(t, page, "2026-11-17")
	require.Contains(t, page, "1.18 %")
	require.NotContains(t, page, "2026-11-18", "today is not finished") // madeUpNow is on that day
	require.NotContains(t, page, "2026-11-19")
	figures := page[strings.Index(page, "<body"):]
	for _, secret := range []string{"EUR", "BTC", "trend", "maker", "demo", "4812.2", "10118", "Trips", "token",
		b.folder} {
		require.NotContains(t, figures, secret)
	}
	require.Contains(t, v.sees("/dashboard.css"), ".dashboard")
	for _, path := range []string{"/", "/dashboard.js", "/public/", "/public/orders", "/api/v1/status", "/events"} {
		status, _, _ := v.do(http.MethodGet, path, nil, nil)
		require.Equal(t, http.StatusUnauthorized, status, path)
	}
	status, _, _ := v.do(http.MethodPost, "/public", nil, nil)
	require.Equal(t, http.StatusMethodNotAllowed, status)
	asked := b.profitsAsked()
	v.sees("/public")
	require.Equal(t, asked, b.profitsAsked(), "the page is kept: strangers do not ask the bot")

	named, _ := serveBot(t, b, func(c *Config) { c.Public, c.PublicNames = true, true })
	require.Contains(t, named.sees("/public"), "trend, maker")
	closed, _ := serveBot(t, b, nil)
	status, _, _ = closed.do(http.MethodGet, "/public", nil, nil)
	require.Equal(t, http.StatusUnauthorized, status)
	b.die()
	fresh, _ := serveBot(t, b, func(c *Config) { c.Public = true })
	status, body, _ := fresh.do(http.MethodGet, "/public", nil, nil)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "no figures at the moment\n", body, "the error would name the folder")
}

// The figures are those of a naive reckoning on rounded returns.
func TestThePublicFiguresAreMadeOfRoundedReturns(t *testing.T) {
	view, err := publicView([]publicDay{{"2026-10-31", 100}, {"2026-11-01", -200}, {"2026-11-02", 0}})
	require.NoError(t, err)
	require.Equal(t, "-1.02 %", view.Parts[0].(Cards)[0].Value.Text) // 1.01 × 0.98 − 1
	require.Equal(t, "2.00 %", view.Parts[0].(Cards)[1].Value.Text)
	months := view.Parts[2].(Table).Rows // behind the curve
	require.Equal(t, []string{"2026-11", "2026-10"}, []string{months[0].Cells[0].Text, months[1].Cells[0].Text})
	require.Equal(t, "+1.00 %", months[1].Cells[1].Text)
	empty, err := publicView(nil)
	require.NoError(t, err)
	require.Len(t, empty.Parts, 3, "without a curve")
}
