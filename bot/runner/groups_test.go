package runner

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// The exchange takes one timer an account. A bot dies, and the next run has another group: the
// timer of the old one is stopped, so its orders stay, and the new one is guarded.
func TestATimerWhoseGroupTheConfigHasNoMoreIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 7, nil)
		s.kinds = append(s.kinds, sitterKind)
		s.config = strings.NewReplacer("strategies.restless", "strategies.sitter", `"restless"`, `"sitter"`,
			"params.seed = 7\n", "").Replace(s.config)
		p := s.start()
		time.Sleep(time.Minute)
		p.kill()
		p.bury()
		open := s.OpenAtTheExchange()
		require.Len(t, open, 1)
		require.Contains(t, s.config, "cod_group_id = 3")
		s.config = strings.Replace(s.config, "cod_group_id = 3", "cod_group_id = 2", 1)
		p = s.start()
		time.Sleep(10 * time.Minute)
		require.Equal(t, open, s.OpenAtTheExchange())
		require.NotContains(t, s.log.String(), "refuses cancel on disconnect")
		s.config = strings.Replace(s.config, "cod_group_id = 2", "", 1)
		p.kill()
		p.bury()
		p = s.start()
		time.Sleep(10 * time.Minute)
		require.Equal(t, open, s.OpenAtTheExchange(), "no group, no timer")
		require.NoError(t, p.end())
		s.agree(p)
	})
}
