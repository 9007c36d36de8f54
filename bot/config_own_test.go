package bot

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

func TestARefusalByALimitHasItsOwnExitCode(t *testing.T) {
	a := &app{entered: true}
	require.Equal(t, exitRefused, a.exitCode(errors.Join(&risk.Refusal{Reason: risk.ReasonDrawdown})))
	require.Equal(t, exitFailed, a.exitCode(errors.New("x")))
	require.Equal(t, config.ExitUsage, a.exitCode(config.Usagef("x")))
}

// FuzzConfig feeds the loader anything: it must end in a config or an error that is about the
// usage, never in a panic.
func FuzzConfig(f *testing.F) {
	f.Add(builtin, "strategies.trend.params.fast=20")
	f.Add("[a\n", "a.b=[1")
	f.Add("account.start = { EUR = nan }\n[strategies.x]\nrisk = 5", "account.start.EUR={}")
	f.Add("[[strategies]]\nkind=\"\"\"", "\"a b\".'c'=\"")
	f.Fuzz(func(t *testing.T, text, set string) {
		source := &config.Source{Text: text}
		if sets, err := config.ParseSets([]string{set}); err == nil {
			source.Overrides = sets
		}
		c, err := config.LoadBacktest(source)
		if err == nil {
			_, err = plan.NewBacktest(c, testKinds())
		}
		if err != nil {
			require.Contains(t, []int{config.ExitUsage, config.ExitConfig}, (&app{entered: true}).exitCode(err), "%v",
				err)
		}
	})
}

func testKinds() []strategy.Definition { return []strategy.Definition{shipped.SMACross} }
