package runner

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/internal/lives"
)

// looksThrough puts a falsifier between the exchange and the bot, which tells the truth at first.
func (p *player) looksThrough() {
	lens := &falsifier{chance: rand.New(rand.NewPCG(p.seed, 23)), quiet: true}
	p.lens = lens
	p.wrap = func(next http.RoundTripper) http.RoundTripper {
		lens.next = next
		return lens
	}
	p.traffic.sockets.lie = func(text []byte) []byte { return lens.message(text) }
}

// falsifies lets the answers of the exchange be changed for so long.
func (p *player) falsifies(long time.Duration, change func(path string, answer any) any) {
	p.around.lasts(long + time.Second)
	p.lens.tell(change)
	p.done.Go(func() {
		time.Sleep(long)
		p.lens.hush()
	})
}

// lies lets the exchange say of open orders that they have ended, in an answer or an event, or
// leave them out of a list.
func (p *player) lies(e *lives.Event) {
	p.around.blinds(e.Span(1) + time.Minute)
	chance := p.lens.chance // guarded by its lock
	ended := func(order map[string]any) {
		if status := order["status"]; (status == "new" || status == "awaitingTrigger") && chance.IntN(2) == 0 {
			order["status"] = "canceled"
		}
	}
	p.falsifies(e.Span(1), func(path string, answer any) any {
		switch answer := answer.(type) {
		case map[string]any:
			if e.Arg(0) == "end" && (path == "GET /v2/order" || path == "SOCKET order") {
				ended(answer)
			}
		case []any:
			if e.Arg(0) == "list" && path == "GET /v2/ordersOpen" && len(answer) > 0 && chance.IntN(2) == 0 {
				return answer[1:]
			}
		}
		return answer
	})
}

// misreports lets the lists of candles have rows twice, or each row 40 s late.
func (p *player) misreports(e *lives.Event) {
	p.falsifies(e.Span(2), func(path string, answer any) any {
		rows, is := answer.([]any)
		if !is || !strings.HasSuffix(path, "/"+e.Arg(1)+"/candles") || len(rows) == 0 {
			return answer
		}
		if e.Arg(0) == "twice" {
			return append(rows[:1:1], rows...)
		}
		kept := []any{}
		for _, row := range rows {
			number, _ := row.([]any)[0].(json.Number)
			start, _ := number.Int64()
			if time.Since(time.UnixMilli(start).Add(time.Minute)) > 40*time.Second {
				kept = append(kept, row)
			}
		}
		return kept
	})
}
