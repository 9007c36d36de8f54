package runner

import (
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
)

func TestThePageOnRunningNamesEveryMetricAndNoOther(t *testing.T) {
	c := config.DefaultRun()
	w := &watch{now: time.Now, r: &runner{plan: &plan.Live{Access: plan.Access{Config: c}}}}
	m := newMetrics(w)
	m.attach(w.r)
	described := make(chan *prometheus.Desc, 1000)
	m.registry.Describe(described)
	close(described)
	names := map[string]bool{}
	for desc := range described {
		if name := regexp.MustCompile(`fqName: "(tidemark_[a-z_]+)"`).FindStringSubmatch(desc.String()); name != nil {
			names[name[1]] = true
		}
	}
	page, err := os.ReadFile("../../docs/running.md")
	require.NoError(t, err)
	told := map[string]bool{}
	for _, name := range regexp.MustCompile("(?m)^\\| `(tidemark_[a-z_]+)`").FindAllStringSubmatch(string(page), -1) {
		told[name[1]] = true
	}
	require.Greater(t, len(names), 15)
	require.Equal(t, names, told)
}
