package bot_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// The account's timer is another program's. The group of the bot is named everywhere until the
// exchange takes its timer.
func TestAGroupThatTheExchangeRefusesIsToldEverywhere(t *testing.T) {
	t.Parallel()
	p := newPractice(t)
	k := p.ex.facts.Accounts[0].Keys[1]
	client, err := rest.New(rest.Config{BaseURL: p.ex.facts.BaseURL, Key: rest.NewSecret(k.Key),
		Secret: rest.NewSecret(k.Secret)})
	require.NoError(t, err)
	defer client.Close()
	require.NoError(t, client.Sync(t.Context()))
	require.NoError(t, client.CancelAfter(t.Context(), 9, 300*time.Second))
	w := watchBot(t, p, "--set", "strategies.trend.cod_group_id=4")
	w.eventually(func() bool {
		_, page := w.get("/metrics")
		return value(t, page, `tidemark_orders_total{command="place",outcome="accepted"}`) > 0 &&
			value(t, page, "tidemark_not_guarded_groups") == 1
	})
	status := func(args ...string) string {
		var out, failed bytes.Buffer
		code := bot.Run(t.Context(), bot.Process{Args: append([]string{"status", "-c", p.config}, args...),
			Stdin: bytes.NewReader(nil), Stdout: &out, Stderr: &failed,
			Getenv: func(name string) string { return p.env[name] }, Definitions: append(shipped.Definitions(),
				busyKind())})
		require.Zero(t, code, failed.String())
		return out.String()
	}
	require.Regexp(t, `timer +not guarded: group 4 \(trend\): its orders outlive this bot: the exchange refuses its timer`,
		status())
	require.Contains(t, status("--json"), `"not_guarded"`)
	require.Equal(t, 1, strings.Count(w.out.String(), "refuses cancel on disconnect"), w.out.String())
	require.Contains(t, w.alerts.String(), "group 4 is not guarded")
	require.Zero(t, w.stop(), w.out.String())
}

func TestTheDoctorCountsTheGroupsOfTimers(t *testing.T) {
	t.Parallel()
	p := newPractice(t)
	text, err := os.ReadFile(p.config)
	require.NoError(t, err)
	second := strings.Replace(string(text[strings.Index(string(text), "[strategies.trend]"):]), "trend", "second", 1)
	second = strings.Replace(second, "operator_id = 7", "operator_id = 8\ncod_group_id = 2", 1)
	text = append(bytes.Replace(text, []byte(`"5000"`), []byte(`"2000"`), 1), "cod_group_id = 1\n"...)
	require.NoError(t, os.WriteFile(p.config, append(text, second...), 0o600))
	p.wants("timers", "warn", "cancel on disconnect: 2 groups (group 2 of second, group 1 of trend), and an account "+
		"has one timer")
	p.wants("timers", "ok", "cancel on disconnect: group 1 of second and trend", "--set",
		"strategies.second.cod_group_id=1")
}
