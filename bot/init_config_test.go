package bot

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/strategy"
)

func TestTheSandboxConfigOfANewModuleIsValidAndKnowsTheKey(t *testing.T) {
	text, err := templates.ReadFile("template/sandbox.toml.tmpl")
	require.NoError(t, err)
	c, err := config.LoadRun(&config.Source{Text: strings.ReplaceAll(string(text), "{{.Package}}", "dip")})
	require.NoError(t, err)
	dip := strategy.Define("dip", "as in the template", func(struct {
		After int `toml:"after" default:"8" min:"1" max:"50" doc:"falling closes"`
	}) strategy.Needs {
		return strategy.Needs{}
	}, nil)
	p, err := plan.NewLive(c, []strategy.Definition{dip}, func(string) string { return "" })
	require.NoError(t, err)
	require.Empty(t, p.Unlimited())
	require.Equal(t, sandbox.Default().Accounts[0].Keys[0].Key, p.Key)
}

func TestAStrategyHasTheNameOfItsFolder(t *testing.T) {
	for module, want := range map[string]string{"mine": "mine", "My-Bot": "mybot", "dip_2": "dip2", "2fast": "my2fast",
		"func": "myfunc", "market": "mymarket", "~": "my", "string": "mystring"} {
		require.Equal(t, want, packageOf(module), module)
	}
}
