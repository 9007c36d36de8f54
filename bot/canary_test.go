package bot

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

func TestACanaryIsToldInWords(t *testing.T) {
	for want, c := range map[string]operator.Canary{
		"the canary has not answered yet\n": {},
		"v2: 1,204 of 2,000 commands equal, 3 unchecked, 99,000 events\nevents 8 to 9 are lost, 3 commands " +
			"unchecked\n": {
			Program: "v2", Equal: 1204, Wanted: 2000, Unchecked: 3, Events: 99000,
			Notes: []string{"events 8 to 9 are lost, 3 commands unchecked"}},
		"v2: 4 of 9 commands equal, 0 unchecked, 7 events\ndiffers: event 8\nrefused\n": {Program: "v2", Equal: 4,
			Wanted: 9, Events: 7, Difference: "event 8", Decided: "refused"},
		"v2: 0 of 9 commands equal, 0 unchecked, 0 events\nit has crashed\n2 parts of the records were dropped: it " +
			"does " +
			"not keep up\n": {Program: "v2", Wanted: 9, Ended: "it has crashed", Dropped: 2},
	} {
		var text bytes.Buffer
		require.NoError(t, printCanary(&text, &c))
		require.Equal(t, want, text.String())
	}
}

// A canary with another config gets what the bot records: its strategies may need no more.
func TestACanaryThatNeedsMoreThanTheBotIsRefused(t *testing.T) {
	btc := []*market.Market{{ID: 1, Name: "BTC-EUR"}}
	trend := func(slow int64) backtest.StrategyPlan {
		return backtest.StrategyPlan{Name: "trend", Kind: shipped.SMACross, Interval: market.Interval1h,
			Markets: btc, Values: map[string]any{"fast": int64(2), "slow": slow}}
	}
	bot := []backtest.StrategyPlan{trend(20)}
	require.NoError(t, followable(bot, []backtest.StrategyPlan{trend(10)}))
	longer, other, renamed, elsewhere, more := trend(30), trend(20), trend(20), trend(20), trend(20)
	other.Interval, renamed.Name = market.Interval1d, "other"
	elsewhere.Markets = []*market.Market{{ID: 1, Name: "ETH-EUR"}}
	for _, kind := range shipped.Definitions() {
		if kind.Name == "maker" {
			more.Kind, more.Values = kind, map[string]any{}
		}
	}
	for _, c := range []struct {
		now  []backtest.StrategyPlan
		want string
	}{
		{nil, "the bot runs 1 strategies, the canary's config has 0"},
		{[]backtest.StrategyPlan{longer}, "strategy trend: the canary needs 31 1h candles for its warm-up"},
		{[]backtest.StrategyPlan{other}, "name, markets, interval"},
		{[]backtest.StrategyPlan{renamed}, "strategy trend of the bot, other of the canary's config"},
		{[]backtest.StrategyPlan{elsewhere}, "have to be the same"},
		{[]backtest.StrategyPlan{more}, "the canary needs tickers or books that the bot does not ask for"},
	} {
		err := followable(bot, c.now)
		require.ErrorContains(t, err, c.want)
		require.ErrorAs(t, err, new(config.UsageError))
	}
}
