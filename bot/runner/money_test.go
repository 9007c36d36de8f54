package runner

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
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
			all[name] = p.funds.inCurrency(has)
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

// unallocated is what status shows of it.
func (p *process) unallocated() (list []string) {
	c := &control{r: p.runner, ctx: context.Background()}
	answer, err := c.status(context.Background(), &operator.Request{})
	require.NoError(p.stage.T, err)
	for _, x := range answer.(*operator.Status).Unallocated {
		list = append(list, x.Amount+" "+x.Asset)
	}
	return list
}

// What is unallocated is right on status from the start on, over deposits, withdrawals and
// allocations that change between runs; a run that dies soon leaves no difference to the next.
func TestWhatIsUnallocatedFollowsDepositsWithdrawalsAndAllocations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := funds(t, 0)
		limits := s.config[:strings.Index(s.config, "[strategies.")]
		quote := s.Market().Quote
		free := s.Before[quote]
		start := func(allocated market.Money, strategies ...string) *process {
			s.config = limits + strings.Join(strategies, "")
			free -= allocated * 100
			return s.start()
		}
		same := func(p *process, why string) {
			t.Helper()
			require.Equal(t, []string{"1 BTC", market.FormatFixed(int64(free), 2) + " EUR"}, p.unallocated(), why)
		}
		p := start(1000, calmStrategy("a", "1000"))
		time.Sleep(45 * time.Second)
		same(p, "after the first comparison")
		s.deposit("EUR", "500")
		free += 500_00
		time.Sleep(45 * time.Second)
		same(p, "after a deposit")
		s.withdraw("EUR", "700.50", "GB82WEST12345698765432")
		free -= 700_50
		time.Sleep(45 * time.Second)
		same(p, "after a withdrawal")
		require.NoError(t, p.end())

		p = start(300, calmStrategy("a", "1000"), calmStrategy("b", "300"))
		time.Sleep(time.Second)
		same(p, "a new strategy has got its money")
		p.kill()
		p.bury()
		p = start(-200, calmStrategy("a", "800"), calmStrategy("b", "300"))
		time.Sleep(time.Second)
		same(p, "a strategy has given money back")
		time.Sleep(45 * time.Second)
		same(p, "and at the next comparison")
		require.NoError(t, p.end())
		require.Regexp(t, `unallocated +`+market.FormatFixed(int64(free), 2)+` EUR on the account`,
			s.told(nil, "status"))
		p = start(-300, calmStrategy("a", "800"))
		time.Sleep(time.Second)
		same(p, "a strategy is gone")
		time.Sleep(45 * time.Second)
		require.NoError(t, p.end())
		require.Len(t, s.concluded(), 2, "the deposit and the withdrawal")
		require.Contains(t, s.told(nil, "profit"), "800")
	})
}
