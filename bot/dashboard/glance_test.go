package dashboard

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
)

// A bot that does not run says so in red, with the orders that it left; figures that are not known
// have no sign; a figure stands beside its limit; candles, which are minutes old in good order, do
// not make the prices old.
func TestTheFirstPageSaysHowTheBotStands(t *testing.T) {
	text := func(d *Documents, title string) (value, note string) {
		view, err := OverviewOf(d, "week")
		require.NoError(t, err)
		for _, c := range view[1].(Cards) {
			if c.Title == title {
				return c.Value.Text, c.Note.Text
			}
		}
		t.Fatalf("no card %q", title)
		return "", ""
	}
	d := madeUp()
	d.Risk = madeUpRisk()
	value, note := text(d, "Drawdown")
	require.Equal(t, []string{"1.32 %", "of 5 % allowed"}, []string{value, note})
	_, note = text(d, "Exchange answers in")
	require.Equal(t, "its clock is 4 ms behind", note)
	_, note = text(d, "Today, EUR")
	require.Equal(t, "a loss of 50 is allowed", note)
	require.Equal(t, "prices 0 s old", TopOf(d.Status, d.NowMS).Feed.Text)
	require.Equal(t, "HALT maker", TopOf(d.Status, d.NowMS).Alarm)

	d.Status.Feeds = d.Status.Feeds[:1]
	require.Equal(t, "candles 3 s old", TopOf(d.Status, d.NowMS).Feed.Text)
	d.Risk = &operator.Risk{}
	_, note = text(d, "Drawdown")
	require.Equal(t, "no limit is set", note)

	d.Status = &operator.Status{State: operator.Stopped, AsOfMS: madeUpNow - 180_000, OpenOrders: 4, Currency: "EUR"}
	require.Equal(t, "STOPPED 3 min ago, 4 open orders", TopOf(d.Status, d.NowMS).Alarm)
	require.Equal(t, "no prices", TopOf(d.Status, d.NowMS).Feed.Text)
	value, _ = text(d, "Today, EUR")
	require.Equal(t, "–", value)
	value, note = text(d, "Exchange answers in")
	require.Equal(t, []string{"–", "–"}, []string{value, note})
}

// A group whose timer the exchange refuses is on the overview, as drawn.
func TestTheOverviewNamesAGroupThatIsNotGuarded(t *testing.T) {
	d := madeUp()
	d.Status.NotGuarded = []operator.NotGuarded{{Group: 4, Strategies: []string{"trend"},
		Cause: "the exchange refuses its timer", SinceMS: madeUpNow}}
	view, err := OverviewOf(d, "week")
	require.NoError(t, err)
	var page strings.Builder
	pages, err := NewPages()
	require.NoError(t, err)
	require.NoError(t, pages.Write(&page, partsPage, &Page{View: view}))
	require.True(t, strings.Contains(page.String(), "<li>not guarded: group 4 (trend): its orders outlive this bot: "+
		"the exchange refuses its timer</li></ul></div>"))
}

// A position stands on a line with its entry and its exits; without a stop it says so. What halts a
// strategy, and how old the figures of a stopped bot are, stands above all.
func TestTheFirstPageHasWhatMattersOfAPosition(t *testing.T) {
	d := madeUp()
	line := func() (texts []string) {
		for _, c := range positionTable(d).Rows[0].Cells {
			texts = append(texts, strings.ReplaceAll(c.Text, "\u202f", " "))
		}
		return texts
	}
	require.Equal(t, []string{"BTC-EUR", "trend", "0.02501", "92 008", "93 402", "90 100", "97 400", "2 335.98",
		"+34.86"}, line())
	d.Exits.add("trend", "BTC-EUR", "89900", true)
	d.Exits.add("trend", "BTC-EUR", "89900", true)
	require.Equal(t, "90 100, 89 900", line()[5])
	d.Exits = nil
	require.Equal(t, []string{"none", "none"}, line()[5:7])
	require.Contains(t, warnings(d)[0], "maker is halted since ")
	d.Status.State, d.Status.AsOfMS = operator.Stopped, madeUpNow-180_000
	require.Equal(t, "The bot does not run. Its figures are those of "+moment(d.Status.AsOfMS, d.Zone)+", 3 min ago.",
		warnings(d)[0])
}

// The whole account is on the first page: what the bot has, what its orders hold, and what is
// beside it.
func TestTheFirstPageHasTheWholeAccount(t *testing.T) {
	table := balanceTable(madeUp())
	require.Equal(t, "EUR", table.Rows[1].Cells[0].Text)
	require.Equal(t, map[string]string{"balance/EUR/whole": "11\u202f994.34", "balance/EUR/bot": "7\u202f782.44",
		"balance/EUR/orders": "2\u202f288.41", "balance/EUR/others": "4\u202f211.9"}, Live(table.Rows[1].Cells...))
}

// Limits that are not set are names in a fold.
func TestLimitsThatAreNotSetTakeNoRow(t *testing.T) {
	r := &operator.Risk{Limits: []operator.Limit{{Scope: "account", Name: "max_drawdown", Max: "0.05"},
		{Scope: "account", Name: "max_exposure"}, {Scope: "account", Name: "max_daily_loss", Reached: true}}}
	parts := RiskOf(r, nil)
	require.Len(t, parts[1].(Table).Rows, 2)
	require.Equal(t, Fold{"1 limits are not set", Parts{List{"max_exposure of the account"}}}, parts[2])
}

// The first page has the exits that rest and those that the bot watches for, and what stops it for
// those alone who may act. A time that it does not know is a wrong question.
func TestTheFirstPageStopsEverythingForThoseWhoMayAct(t *testing.T) {
	t.Parallel()
	v, _ := serveBot(t, newMadeUpBot(t, t.TempDir()), nil)
	v.enter(lookToken)
	page := v.sees("/")
	require.Contains(t, page, "90\u202f100, 90\u202f050")
	require.NotContains(t, page, "Stop everything")
	require.Contains(t, v.sees("/?show=all"), `href="./?show=all" aria-current="true"`)
	status, body, _ := v.do(http.MethodGet, "/?show=year", nil, nil)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, body, "want week, month or all")
	v.enter(actToken)
	page = v.sees("/orders")
	require.Contains(t, page, `<a class="stop" href="./confirm?do=halt">Stop everything</a>`)
	require.Contains(t, v.sees("/"), `<a href="./confirm?do=flatten">Sell everything</a>`)
	require.Contains(t, v.sees("/confirm?do=flatten"), "Every strategy of ")
}
