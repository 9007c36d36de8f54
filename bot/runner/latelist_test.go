package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
)

// lateLists is an exchange that shows an order, in lists and by itself, seconds after it took it.
type lateLists struct {
	next http.RoundTripper
	now  func() market.Time
}

func (l lateLists) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.next.RoundTrip(r)
	list := strings.HasSuffix(r.URL.Path, "/ordersOpen")
	one := r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/order")
	if err != nil || !list && !one || answer.StatusCode != http.StatusOK {
		return answer, err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if one {
		body = append(append([]byte{'['}, body...), ']')
	}
	var rows []map[string]any
	numbers := json.NewDecoder(bytes.NewReader(body))
	numbers.UseNumber()
	if err := numbers.Decode(&rows); err != nil {
		return nil, err
	}
	young := l.now().Add(-4 * market.Duration(time.Second)).Millis()
	rows = slices.DeleteFunc(rows, func(row map[string]any) bool {
		created, _ := row["created"].(json.Number).Int64()
		return created > young
	})
	body, _ = json.Marshal(rows)
	switch {
	case one && len(rows) == 1:
		body, _ = json.Marshal(rows[0])
	case one:
		answer.StatusCode, body = http.StatusNotFound, []byte(`{"errorCode":240,"error":"no order"}`)
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), -1
	answer.Header.Del("Content-Length")
	return answer, nil
}

// The answer to a purchase is lost, and the exchange shows it four seconds later. A command of that
// moment says that no order is open only when there is none: it waits for the write's window. An
// exchange that is later than the window could deceive it.
func TestNoCommandBelievesAListThatIsLate(t *testing.T) {
	ask := func(path string) func(*stage, *process) bool {
		return func(s *stage, p *process) bool {
			b := &inside{process: p, p: &player{stage: s}}
			c := &control{r: p.runner}
			c.ctx, c.end = context.WithCancel(context.Background())
			defer c.end()
			b.door = c.routes()
			code, text := b.command(path, &operator.Request{WaitMS: 30_000})
			t.Log(text)
			return code == 0
		}
	}
	for name, says := range map[string]func(*stage, *process) (none bool){
		"stop":    func(_ *stage, p *process) bool { return p.end() == nil },
		"halt":    ask(operator.PathHalt),
		"flatten": ask(operator.PathFlatten),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 7, func(c *sandbox.Config) {
					c.Admin = "open"
					c.Markets[0].Source = prices.Fixed("30000")
				})
				s.kinds = append(s.kinds, halfKind)
				s.config = strings.NewReplacer("strategies.restless", "strategies.half", `"restless"`, `"half"`,
					"params.seed = 7\n", "", "keep_exits = false", "keep_exits = true").Replace(s.config)
				s.wrap = func(next http.RoundTripper) http.RoundTripper { return lateLists{next, s.ex.Clock().Now} }
				s.admin(http.MethodPut, "faults", map[string]any{"faults": []any{map[string]any{"kind": "dropAnswer",
					"endpoints": []string{"POST /order"}, "probability": 1, "until": "1m", "key": bottest.BotKey}}})
				p := s.start()
				for range 10_000 {
					if len(s.OpenAtTheExchange()) > 0 {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
				require.NotEmpty(t, s.OpenAtTheExchange())
				if says(s, p) {
					require.Empty(t, s.OpenAtTheExchange())
					time.Sleep(time.Minute)
					require.Empty(t, s.OpenAtTheExchange(), "a minute later")
				} else {
					require.NotEqual(t, "stop", name, "it has the time")
				}
				if name != "stop" {
					require.NoError(t, p.end())
				}
			})
		})
	}
}
