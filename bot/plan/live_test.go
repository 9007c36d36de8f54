package plan

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

var sampleRuns = []string{"sandbox", "paper", "live"}

// samplePlan checks one of configs/ with settings over it, as far as that goes without an exchange.
func samplePlan(t *testing.T, name string, environment map[string]string, sets ...string) (*Live, error) {
	overrides, err := config.ParseSets(sets)
	require.NoError(t, err)
	source, err := config.ReadSource("../../configs/"+name+".toml", overrides)
	require.NoError(t, err)
	c, err := config.LoadRun(source)
	if err != nil {
		return nil, err
	}
	return NewLive(c, []strategy.Definition{shipped.Maker, shipped.SMACross},
		func(name string) string { return environment[name] })
}

// liveKeys is the environment that configs/live.toml asks for.
func liveKeys() map[string]string {
	return map[string]string{"TIDEMARK_KEY": strings.Repeat("a", 64), "TIDEMARK_SECRET": strings.Repeat("b", 128)}
}

func TestTheSampleRunsAreValid(t *testing.T) {
	for _, name := range sampleRuns {
		p, err := samplePlan(t, name, liveKeys())
		require.NoError(t, err, name)
		require.Empty(t, p.Unlimited(), name)
		top, _, _ := strings.Cut(p.Config.Bot.State, "/")
		code, err := filepath.Glob("../../" + top + "/*.go")
		require.NoError(t, err)
		require.Empty(t, code, "who removes what a bot has left would remove source, too")
	}
}

func TestLiveDoesNotStartWithoutKeys(t *testing.T) {
	for missing := range liveKeys() {
		environment := liveKeys()
		delete(environment, missing)
		_, err := samplePlan(t, "live", environment)
		setting := map[string]string{"TIDEMARK_KEY": "exchange.key_env",
			"TIDEMARK_SECRET": "exchange.secret_env"}[missing]
		require.ErrorContains(t, err, setting+": the environment has no variable of that name")
		_, err = samplePlan(t, "live", environment, "bot.mode=paper", "paper.start.EUR=1000", "exchange.key_env=",
			"exchange.secret_env=")
		require.NoError(t, err, "paper mode asks for public data alone")
	}
	_, err := samplePlan(t, "live", nil, "exchange.key_env=", "exchange.secret_env=")
	require.ErrorContains(t, err, "key and secret are missing")
}

func TestLiveDoesNotStartWhileALimitIsMissing(t *testing.T) {
	limits := []string{"max_exposure", "max_daily_loss", "max_drawdown", "max_order_value", "max_position",
		"price_collar", "orders_per_minute", "max_data_age"}
	for _, limit := range limits {
		_, err := samplePlan(t, "live", liveKeys(), "risk."+limit+"=0")
		require.ErrorContains(t, err, "configs/live.toml", limit)
		require.ErrorContains(t, err, limit)
	}
	_, err := samplePlan(t, "live", liveKeys(), "strategies.trend.risk.max_open_orders=0")
	require.ErrorContains(t, err, "strategy trend: max_open_orders")
	_, err = samplePlan(t, "live", liveKeys(), "risk.cool_down=0s", "risk.cool_down_losses=0")
	require.ErrorContains(t, err, "cool_down")
}

func TestSettingsThatCannotBeMeantAreRefusedWithTheirPlace(t *testing.T) {
	for set, want := range map[string]string{
		"poll.depth=1001": "poll.depth: 1001 is not in 1 to 1000",
		"poll.depth=0":    "poll.depth: 0 is not in 1 to 1000",
		"poll.books=0s":   "poll.books: is 0; leave it out for the default",
		`exchange.weights={"GET /orders" = 0}`: "exchange.weights.GET /orders: want 1 to 10000 points of an " +
			"endpoint",
		`exchange.weights={"GET /orders" = 10001}`: "exchange.weights.GET /orders: want 1 to 10000 points of an " +
			"endpoint",
		`exchange.weights={"GET /nothing all" = 1}`: "exchange.weights.GET /nothing all: want 1 to 10000 points of an " +
			"endpoint",
		"exchange.window=0s":           "exchange.window: is 0; leave it out for the default",
		"bot.stop_within=10ms":         "bot.stop_within: 10ms is less than 1s",
		"bot.keep=6d":                  "bot.keep: 144h0m0s is less than 7 days",
		"bot.keep=3x":                  "bot.keep: \"3x\" is no duration",
		"bot.name=All":                 "bot.name: \"All\" is no name for a bot",
		"bot.log_mb=0":                 "bot.log_mb: 0 is not in 1 to",
		"bot.log_keep=0":               "bot.log_keep: 0 is not in 1 to",
		"stream.lists=1s":              "stream.lists: 1s is not in 10s to 1h0m0s",
		"bot.record_mb=20000000000000": "bot.record_mb: 20000000000000 is more than any disk has",
		"risk.max_data_age=500ms":      "max_data_age: 500ms is less than poll.tickers, 1s",
		"poll.tickers=1h":              "max_data_age: 30s is less than poll.tickers, 1h0m0s",
	} {
		_, err := samplePlan(t, "live", liveKeys(), set)
		require.ErrorContains(t, err, want)
	}
}

// A name that a command reads as another word is no name of a strategy.
func TestNoStrategyHasANameThatCommandsTakeForAnotherWord(t *testing.T) {
	for _, name := range []string{"all", "ALL", "All", "account", "Total", "", "-x", "--direct"} {
		p := &Plan{kinds: []strategy.Definition{shipped.Maker}}
		p.sections.Strategies = map[string]config.StrategySection{name: {Kind: shipped.Maker.Name}}
		require.ErrorContains(t, p.addStrategies(), "is no name for a strategy")
	}
	_, err := samplePlan(t, "live", liveKeys(), "strategies.all.kind=maker", "strategies.all.operator_id=9")
	require.ErrorContains(t, err, `strategies.all: "all" is no name for a strategy`)
}

func TestPaperHasToKnowItsMoney(t *testing.T) {
	_, err := samplePlan(t, "paper", nil, "paper.start.EUR=0.00")
	require.ErrorContains(t, err, "paper.start.EUR: is missing")
	_, err = samplePlan(t, "paper", nil, "bot.mode=papier")
	require.ErrorContains(t, err, `bot.mode: "papier" is not one of live, sandbox, paper`)
}

func TestASandboxIsAnExchangeOfThisMachine(t *testing.T) {
	_, err := samplePlan(t, "sandbox", nil)
	require.NoError(t, err)
	_, err = samplePlan(t, "sandbox", nil, "exchange.base_url=https://api.example.com/v2")
	require.ErrorContains(t, err,
		"sandbox is for an exchange on this machine, and https://api.example.com is none; want live")
}

func TestWeightsOfTheConfigCountInThePlanAndInTheBudget(t *testing.T) {
	p, err := samplePlan(t, "live", liveKeys(),
		`exchange.weights={"GET /ordersOpen all" = 25, "GET /ticker/price" = 3}`)
	require.NoError(t, err)
	client, err := p.Client(nil)
	require.NoError(t, err)
	require.Equal(t, rest.Weight{One: 5, All: 25}, client.Weight("GET /ordersOpen"))
	require.Zero(t, client.Weight("GET /nothing"))
	before, err := samplePlan(t, "live", liveKeys())
	require.NoError(t, err)
	other, err := before.Client(nil)
	require.NoError(t, err)
	dear, cheap := before.Polling(other), p.Polling(client)
	require.Equal(t, dear.PerMinute(rest.PaidByKey)-75, cheap.PerMinute(rest.PaidByKey))
	require.Equal(t, dear.PerMinute(rest.PaidByIP)+120, cheap.PerMinute(rest.PaidByIP))
}
