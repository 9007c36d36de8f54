package bot

import (
	"reflect"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/adopt"
	"github.com/tidemark-trading/tidemark/bot/candles"
	"github.com/tidemark-trading/tidemark/bot/doctor"
	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/bot/record"
	"github.com/tidemark-trading/tidemark/bot/rerun/gap"
	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/bot/rerun/replay"
	"github.com/tidemark-trading/tidemark/bot/seal"
	"github.com/tidemark-trading/tidemark/bot/server"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/compare"
	"github.com/tidemark-trading/tidemark/research/placebo"
	"github.com/tidemark-trading/tidemark/research/stress"
	"github.com/tidemark-trading/tidemark/research/walkforward"
)

// documents are the types of what commands print with --json, by the words of the command. A word
// after a plus names another document of the same command, by its flag.
func documents() map[string]reflect.Type {
	all := map[string]reflect.Type{
		"adopt": of[adopt.Changes](), "backtest": of[backtest.Result](),
		"backtest +check-lookahead": of[backtest.LookaheadReport](),
		"backtest +check-warmup":    of[backtest.WarmupReport](),
		"canary":                    of[operator.Canary](), "cancel-all +direct": of[killswitch.SwitchResult](),
		"compare": of[compare.Comparison](), "doctor": of[[]doctor.Finding](),
		"exchange": of[server.Facts](),
		"equity":   of[profit.Curve](), "explain": of[operator.Story](), "explain +refused": of[operator.Refused](),
		"gap": of[gap.Comparison](), "journal": of[operator.Journal](), "orders": of[operator.Orders](),
		"placebo": of[placebo.Result](), "positions": of[operator.Positions](), "profit": of[profit.ProfitReport](),
		"record": of[record.Status](), "recording list": of[reader.Summary](), "reload": of[operator.Reload](),
		"replay": of[replay.Verdict](), "risk": of[operator.Risk](), "seal": of[seal.Document](),
		"seal check": of[seal.Proof](), "state backup": of[writtenInfo](), "state check": of[stateInfo](),
		"state compact": of[compactInfo](), "status": of[operator.Status](), "strategies": of[[]strategyInfo](),
		"stress": of[stress.Result](), "sweep": of[research.Outcome](), "trades": of[profit.TradeList](),
		"trials": of[trialList](), "verify": of[seal.SealStatus](), "walkforward": of[walkforward.Result](),
	}
	for _, act := range []string{"halt", "resume", "cancel", "cancel-all", "flatten", "resolve"} {
		all[act] = of[operator.ActResult]()
	}
	for command, document := range candles.Documents() {
		all[command] = document
	}
	return all
}

func of[T any]() reflect.Type { return reflect.TypeFor[T]() }
