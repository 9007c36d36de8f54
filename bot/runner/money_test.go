package runner

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
)

// calmStrategy is a strategy for a config, which does nothing in a short run.
func calmStrategy(name, allocation string) string {
	text := "\n[strategies." + name +
		"]\nkind = \"smacross\"\nmarkets = [\"BTC-EUR\"]\ninterval = \"1d\"\noperator_id = 9\n"
	if allocation != "" {
		text += "allocation = \"" + allocation + "\"\n"
	}
	return text
}

// moneyOf is what each strategy of a bot has, by name.
func (p *process) moneyOf() map[string]string {
	all := map[string]string{}
	p.look(func() {
		for i, name := range p.plan.Names() {
			has, _ := p.account.Balance(strategyID(i+1), p.plan.Currency.ID)
			all[name] = p.inCurrency(has)
		}
	})
	return all
}

// TestAllocationsFollowTheConfigFromRunToRun adds, raises, cuts and removes strategies, with
// a limit on the drawdown that would latch if money that comes or goes counted as won or lost.
func TestAllocationsFollowTheConfigFromRunToRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, nil)
		limits := strings.Replace(s.config[:strings.Index(s.config, "[strategies.")], "max_daily_loss",
			"max_drawdown = \"0.01\"\nmax_daily_loss", 1)
		run := func(strategies ...string) map[string]string {
			s.config = limits + strings.Join(strategies, "")
			p := s.start()
			time.Sleep(2 * time.Second)
			got := p.moneyOf()
			require.NoError(t, p.end())
			stand, followed := p.gate.Standing()
			require.True(t, followed)
			require.False(t, stand.Drawn || stand.Lost, "money that comes or goes is neither won nor lost")
			return got
		}
		all := market.FormatFixed(int64(s.Before[s.Market().Quote]), 2)
		require.Equal(t, map[string]string{"a": "1000 EUR"}, run(calmStrategy("a", "1000")))
		require.Equal(t, map[string]string{"a": "1000 EUR", "b": "300 EUR"},
			run(calmStrategy("a", "1000"), calmStrategy("b", "300")), "one that is new is given its money")
		require.Equal(t, map[string]string{"a": "500 EUR", "b": "800 EUR"},
			run(calmStrategy("a", "500"), calmStrategy("b", "800")), "allocations follow the config")
		require.Equal(t, map[string]string{"b": "800 EUR"}, run(calmStrategy("b", "800")),
			"one that is gone leaves its money")
		require.Equal(t, map[string]string{"b": "800 EUR", "c": "19200 EUR"},
			run(calmStrategy("b", "800"), calmStrategy("c", "")), "a new pool gets the rest of %s", all)
		s.config = limits + calmStrategy("b", "800000") + calmStrategy("c", "")
		_, err := s.open()
		require.ErrorContains(t, err, "strategy b: its allocation is more than the account has left: 0 EUR")
		s.config = limits + calmStrategy("b", "") + calmStrategy("c", "")
		_, err = s.open()
		require.ErrorContains(t, err, `strategy "b" had an allocation of its own and now has none`)
		require.ErrorAs(t, err, new(config.UsageError), "a restart does not mend it")
		require.Contains(t, s.log.String(), "strategies that are gone from the config have left money")
	})
}
