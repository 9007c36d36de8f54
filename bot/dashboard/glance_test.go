package dashboard

import (
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
		view, err := OverviewOf(d)
		require.NoError(t, err)
		for _, c := range view[0].(Cards) {
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
	view, err := OverviewOf(d)
	require.NoError(t, err)
	var page strings.Builder
	pages, err := NewPages()
	require.NoError(t, err)
	require.NoError(t, pages.Write(&page, partsPage, &Page{View: view}))
	require.Contains(t, strings.Split(page.String(), "\n"), `<div class="warning"><ul>`+
		"<li>not guarded: group 4 (trend): its orders outlive this bot: the exchange refuses its timer</li></ul></div>")
}
