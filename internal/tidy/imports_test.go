package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const module = "github.com/tidemark-trading/tidemark/"

// mayImport has, for each package, the packages of ours that it may import. Test files may import
// anything. A path that is missing is looked up by its folder with a star: cmd/bot as cmd/*.
var mayImport = map[string][]string{
	"market":                   nil,
	"market/synthetic":         {"market"},
	"strategy":                 {"market"},
	"strategy/indicator":       {"market"},
	"strategy/strategytest":    {"market", "strategy"},
	"strategy/shipped":         {"market", "strategy", "strategy/indicator", "strategy/rules"},
	"strategy/rules":           {"market", "strategy", "strategy/rules/lang"},
	"strategy/rules/lang":      {"market", "strategy", "strategy/indicator"},
	"strategy/rules/rulestest": nil,
	"exchange":                 {"market", "exchange/wire"},
	"exchange/wire":            {"market"},
	"exchange/footprint":       {"market"},
	"exchange/sim":             {"market", "exchange"},
	"exchange/rest":            {"market", "exchange", "exchange/wire"},
	"exchange/poll":            {"market", "exchange"},
	"exchange/stream":          {"market", "exchange", "exchange/rest", "exchange/wire"},
	"exchange/sandbox": {"market", "exchange", "exchange/sandbox/api", "exchange/sandbox/fault",
		"exchange/sandbox/prices", "exchange/sandbox/ws", "exchange/sim", "exchange/wire", "state/bolt"},
	"exchange/sandbox/api": {"market", "exchange", "exchange/wire"},
	"exchange/sandbox/ws": {"market", "exchange", "exchange/sandbox/api", "exchange/sandbox/fault",
		"exchange/wire"},
	"exchange/sandbox/fault":  {"market", "exchange", "exchange/sandbox/api", "exchange/sandbox/prices"},
	"exchange/sandbox/prices": {"market", "market/synthetic", "exchange", "exchange/sim"},
	"state":                   {"market"},
	"state/bolt":              {"state/osfile"},
	"state/osfile":            nil,
	"state/codec":             {"market", "state/bolt"},
	"state/candles":           {"market", "state/bolt"},
	"state/signals":           {"market", "strategy", "state/candles"},
	"state/journal":           {"market", "state", "state/bolt", "state/codec"},
	"state/recording":         {"market", "state/bolt", "state/codec"},
	"internal/filetest":       nil,
	"risk":                    {"market", "state", "exchange"},
	"engine": {"market", "strategy", "risk", "state", "exchange", "engine/bracket", "internal/goroutine",
		"engine/group",
		"engine/port", "engine/rebalance", "engine/refusal", "engine/replace", "engine/tactic",
		"engine/signal", "engine/timer", "engine/universe", "engine/warmup"},
	"internal/goroutine": nil,
	"engine/bracket":     {"market", "strategy", "risk", "state", "exchange"},
	"engine/group":       {"market", "strategy", "engine/port"},
	"engine/signal":      {"market", "engine/port"},
	"engine/timer":       {"market", "engine/port"},
	"engine/universe":    {"market", "strategy"},
	"engine/warmup":      {"market", "risk", "engine/port"},
	"engine/port":        {"market", "strategy", "state"},
	"engine/rebalance":   {"market", "strategy", "risk", "state", "exchange", "engine/port"},
	"engine/refusal":     {"market", "strategy", "risk", "state", "exchange", "engine/port"},
	"engine/replace":     {"market", "strategy", "risk", "state", "exchange", "engine/port"},
	"engine/tactic":      {"market", "strategy", "risk", "state", "exchange", "engine/port"},
	"engine/verify":      {"market", "exchange"},
	"engine/live":        {"market", "engine", "engine/verify", "state", "exchange"},
	"bot/killswitch":     {"market", "exchange", "state/osfile"},
	"view/chart":         nil,
	"view/page":          {"view/chart"},
	"view":               {"view/chart", "view/page"},
	"backtest/report":    {"market", "view/chart", "view/page"},
	"backtest": {"market", "strategy", "risk", "state", "state/osfile", "engine", "internal/goroutine", "engine/warmup",
		"exchange",
		"exchange/footprint", "exchange/sim", "backtest/replica", "backtest/report"},
	"backtest/replica":       nil,
	"research":               {"market", "strategy", "backtest", "research/stats", "state/osfile"},
	"research/trials":        {"market", "backtest", "research/stats", "state/osfile"},
	"research/stats":         nil,
	"research/placebo":       {"market", "backtest", "research", "research/stats", "research/walkforward"},
	"research/machines":      {"research"},
	"research/machines/farm": {"market", "research", "research/machines"},
	"research/compare":       {"market", "backtest", "research/stats"},
	"research/stress":        {"market", "risk", "state", "exchange/sim", "backtest", "research/stats"},
	"research/report": {"market", "view", "view/chart", "view/page", "backtest", "research", "research/compare",
		"research/placebo", "research/stats", "research/stress", "research/walkforward"},
	"research/walkforward": {"market", "backtest", "research", "research/stats"},
	"bot/config":           {"market", "strategy", "exchange/rest"},
	"bot/alert":            {"exchange/rest", "bot/config"},
	"bot/plan": {"market", "market/synthetic", "strategy", "risk", "state/candles", "state/signals", "engine/live",
		"exchange", "exchange/poll", "exchange/rest", "exchange/sandbox", "exchange/sandbox/api", "exchange/sim",
		"exchange/stream", "backtest", "bot/alert", "bot/config", "bot/door", "bot/host", "bot/parquet",
		"bot/universe",
		"bot/version"},
	"bot/universe": {"market", "state/candles"},
	"bot/statedir": {"market", "state", "state/bolt", "state/journal", "engine", "engine/live",
		"bot/config"},
	"bot/operator": {"market", "state", "risk", "state/bolt", "state/journal", "state/recording", "bot/profit",
		"bot/config", "bot/rerun/reader", "bot/statedir", "bot/seal"},
	"bot/profit": {"market", "state", "state/journal", "view/chart"},
	"bot/dashboard": {"market", "view", "view/chart", "view/page", "backtest", "research", "research/compare",
		"research/report", "bot/profit", "bot/config", "bot/results", "bot/statedir", "bot/host", "bot/operator",
		"bot/seal", "bot/killswitch", "bot/schema"},
	"bot/schema":  {"backtest"},
	"bot/mcp":     {},
	"bot/mcp/sdk": {"bot/mcp"},
	"bot/watch":   {"bot/alert", "bot/config", "bot/dashboard", "bot/host", "bot/killswitch", "bot/operator"},
	"bot/results": {"market", "backtest", "research", "research/compare", "research/machines", "research/trials",
		"research/placebo", "research/report", "research/stats", "view"},
	"bot/chat":          {"view/chart", "bot/profit", "bot/operator"},
	"bot/chat/telegram": {"exchange/rest", "bot/chat"},
	"bot/tax":           {"market", "exchange", "exchange/rest"},
	"bot/runner": {"market", "strategy", "risk", "state", "state/bolt", "state/journal", "state/recording",
		"state/signals",
		"engine", "engine/bracket", "internal/goroutine", "engine/live", "exchange", "exchange/poll", "exchange/rest",
		"exchange/sandbox", "exchange/stream", "bot/killswitch", "backtest", "bot/alert", "bot/profit",
		"bot/config", "bot/statedir", "bot/host", "bot/operator", "bot/plan", "bot/rerun/canary", "bot/rerun/core",
		"bot/rerun/replay", "bot/version", "bot/seal"},
	"bot/rerun/core": {"market", "strategy", "risk", "state", "state/bolt", "state/recording", "engine", "exchange",
		"backtest", "bot/config"},
	"bot/rerun/reader": {"market", "state/bolt", "state/recording", "bot/rerun/core", "bot/statedir"},
	"bot/rerun/replay": {"market", "strategy", "risk", "state", "state/bolt", "state/journal", "state/recording",
		"engine", "internal/goroutine", "backtest", "bot/rerun/core", "bot/rerun/reader", "bot/statedir"},
	"bot/rerun/canary": {"strategy", "bot/rerun/replay", "bot/rerun/core"},
	"bot/rerun/simulate": {"market", "state/recording", "engine", "internal/goroutine", "exchange/footprint",
		"backtest", "bot/config", "bot/plan", "bot/rerun/core", "bot/rerun/reader"},
	"bot/rerun/orders": {"market", "exchange/footprint", "exchange/sim", "state", "state/bolt", "state/journal",
		"state/recording", "bot/config", "bot/rerun/core", "bot/rerun/reader", "bot/statedir"},
	"bot/rerun/gap": {"market", "strategy", "risk", "state", "state/candles", "state/journal", "state/recording",
		"state/signals", "engine", "exchange", "exchange/footprint", "exchange/sim", "backtest", "bot/config",
		"bot/statedir", "bot/operator", "bot/rerun/core", "bot/rerun/reader"},
	"bot/rerun/gap/rounds": {"bot/alert", "bot/rerun/gap"},
	"bot/rerun/gap/bridge": {"market", "view", "view/chart", "view/page", "bot/rerun/gap"},
	"bot/seal": {"market", "state", "state/bolt", "state/journal", "backtest", "research/compare",
		"research/stats", "bot/config"},
	"bot/record": {"market", "state/osfile", "state/recording", "exchange/poll", "exchange/rest", "exchange/stream",
		"bot/config",
		"bot/statedir", "bot/plan", "bot/rerun/core"},
	"bot/doctor": {"market", "strategy", "risk", "state", "state/bolt", "state/journal", "exchange",
		"exchange/poll", "exchange/rest", "exchange/stream", "backtest", "bot/chat/telegram", "bot/config",
		"bot/statedir", "bot/plan"},
	"bot/adopt": {"market", "state", "state/bolt", "state/journal", "engine", "bot/killswitch", "bot/config",
		"bot/statedir"},
	"bot/server": {"market", "state/candles", "exchange", "exchange/sandbox", "exchange/sandbox/api",
		"exchange/sandbox/prices",
		"bot/config", "bot/host", "bot/plan"},
	"bot/candles": {"market", "state/bolt", "state/candles", "exchange", "exchange/rest", "bot/config",
		"bot/console", "bot/parquet", "bot/plan"},
	"bot/parquet": {"market", "bot/console"},
	"bot/console": {"market", "state/osfile"},
	"bot/host":    nil,
	"bot/door":    {"market", "state/osfile", "state/signals", "bot/host"},
	"bot/version": nil,
	"internal/bottest": {"market", "market/synthetic", "strategy/shipped", "state", "state/journal", "backtest",
		"research", "research/report", "bot/profit", "bot/tax", "exchange", "exchange/rest",
		"exchange/sandbox", "exchange/sandbox/api", "exchange/sandbox/prices", "bot/statedir"},
	"internal/clutter": {"market", "state/candles"},
	"internal/lives":   nil,
	"internal/tidy":    nil,

	"configs":    nil,
	"docs":       {"configs"},
	"bot":        {"*"},
	"bench/ab":   {"market", "market/synthetic"},
	"bench/rows": nil,
	"cmd/*":      {"bot", "strategy/shipped"},

	"cmd/bot-farm": {"bot", "bot/mcp/sdk", "research/machines/farm", "strategy/shipped"},
}

// core is what must give the same output for the same input: no clock, no chance, no goroutine, and
// no exception.
var core = []string{"market", "strategy", "risk", "state", "state/codec", "state/candles", "state/journal",
	"state/recording",
	"engine", "engine/verify", "engine/bracket", "engine/group", "engine/port", "engine/rebalance", "engine/replace",
	"engine/tactic", "engine/warmup", "exchange", "exchange/wire", "exchange/sim", "view/chart", "backtest",
	"backtest/replica"}

// exceptions are the files outside the core that may do what is forbidden elsewhere: file → what →
// why.
var exceptions = map[string]map[string]string{
	"market/synthetic/synthetic.go": {"math/rand/v2": "the made-up market is drawn from a PCG with a seed of its " +
		"own: the same seed gives the same candles"},
	"internal/goroutine/call.go": {"go": "a callback that may end its goroutine gets one of its own, and is waited " +
		"for"},
	"engine/live/loop.go": {"time.NewTimer": "the loop wakes when something is due; the time comes from the " +
		"exchange's clock",
		"time.Now": "Config.Stepped measures how long a step takes; nothing depends on it", "time.Since": "the same"},
	"engine/live/retry.go": {"time.After": "an exchange that cannot be reached is tried again after a while"},
	"exchange/poll/feed.go": {"math/rand/v2": "the periods of polling vary a little, so that many feeds do " +
		"not beat in time", "time.After": "the wait between two rounds"},
	"exchange/stream/tickers.go": {"time.After": "the wait until unchanged prices are sent again"},
	"exchange/stream/books.go":   {"time.After": "the wait until the next snapshot of a book"},
	"exchange/stream/trades.go":  {"time.After": "the wait until missing trades are asked for again"},
	"exchange/poll/candles.go":   {"time.After": "the wait until a candle has closed on the exchange's clock"},
	"exchange/stream/connection.go": {"math/rand/v2": "the pauses between two connections vary, so that many bots do " +
		"not come back in step", "time.Now": "how long a connection lasted, and the age of a channel's latest event",
		"time.Since": "the same", "time.After": "the pause before the next connection"},
	"exchange/stream/session.go": {"time.After": "the wait between two pings, and until a refused subscription is " +
		"tried again"},
	"exchange/stream/unasked.go": {"time.Now": "one line a minute of what the exchange refuses again and again"},
	"exchange/stream/channel.go": {"time.Since": "the age of the latest event, by which a silent channel is found"},
	"strategy/rules/rulestest/author.go": {"math/rand/v2": "random rules are drawn from the caller's source, in " +
		"tests alone"},
	"internal/filetest/powercut.go": {"math/rand/v2": "what of a file is left by a power cut is drawn from the " +
		"caller's source, in tests alone"},
	"exchange/rest/client.go": {"time.Now": "requests are signed with the time; the default of Config.Now"},
	"exchange/sandbox/clock.go": {"time.Now": "the exchange's clock follows the machine's where it is told to; " +
		"everything else asks the Clock", "time.NewTimer": "a request that a fault delays waits on that clock"},
	"exchange/sandbox/streampump.go": {"go": "while sockets are open, due events are carried out without a request"},
	"exchange/sandbox/ws/backlog.go": {"go": "what waits for a client that reads slowly is made shorter beside " +
		"its connection: publishing does not wait for that"},
	"exchange/sandbox/ws/conn.go": {"go": "the connection of a client that reads too slowly is closed beside a " +
		"write that may be under way; the delay of a fault ends with the connection",
		"time.NewTicker": "clients are pinged by the machine's clock",
		"time.Now":       "the messages of a second are counted by the machine's clock"},
	"exchange/sandbox/prices/walk.go": {"math/rand/v2": "how a candle is walked is drawn from a PCG seeded by the " +
		"source's seed and the candle's start"},
	"research/machines/farm/farm.go": {"time.After": "a worker that finds no coordinator tries again after a while"},
	"research/machines/farm/coordinator.go": {"time.Now": "when a worker was last heard of; no result depends on it",
		"time.Since": "the same"},
	"research/machines/farm/worker.go": {"time.Now": "how long a group runs decides how many orders a worker " +
		"takes at once",
		"time.Since": "the same"},
	"bot/rerun/orders/draw.go": {"math/rand/v2": "orders are drawn again from the caller's source; that of the " +
		"intervals has a seed of its own"},
	"bot/runner/stop.go": {"time.Now": "stop_within counts from the signal on, whatever the exchange's " +
		"clock says", "time.Since": "the same", "time.NewTimer": "the same"},
	"bot/runner/rescue.go": {"time.NewTicker": "the state file's place is looked at again and again; " +
		"nothing is traded by it",
		"crypto/rand": "room on the disk that a file system cannot compress away"},
	"bot/server/accounts.go": {"crypto/rand": "the token of /admin is made up at each start"},
	"bot/chat/server.go": {"time.Now": "the default of Config.Now, for the age of messages and confirmations",
		"time.NewTimer": "the pause before a messenger is tried again",
		"time.After":    "a messenger that does not end is left behind"},
	"bot/chat/confirm.go":     {"crypto/rand": "the code of a confirmation is of this process alone"},
	"bot/dashboard/server.go": {"time.Now": "the default of Config.Now, for the age of answers and of wrong tokens"},
	"bot/door/server.go":      {"time.Now": "the default of Config.Now, for the age of signatures and wrong secrets"},
	"bot/door/lines.go":       {"time.After": "a row is given again to a bot that does not hear"},
	"bot/door/file.go":        {"time.After": "the pause between two looks at a file"},
	"bot/door/stdin.go":       {"go": "a read of the standard input does not end with ctx: it is left behind"},
	"bot/dashboard/events.go": {"time.NewTicker": "pages hear once a second what has changed",
		"time.Now": "a viewer that takes no event is given up"},
	"bot/dashboard/token.go": {"crypto/rand": "a token is a secret"},
	"bot/server/log.go": {"time.Now": "a request is logged with how long it took",
		"time.Since": "the same"},
	"bot/server/server.go": {"go": "the server serves beside the signal to stop, and is waited for",
		"time.NewTicker": "an exchange that nobody asks goes on each second"},
	"exchange/sandbox/fault/script.go": {"math/rand/v2": "whether a fault with a probability strikes is drawn from a " +
		"PCG of its own, by the seed of the script and its place in it"},
	"bot/runner/build.go": {"uuid.New": "the run id of a live start: a fresh one, journalled before " +
		"anything is sent"},
	"bot/runner/watch.go": {"time.Now": "how old the loop's last turn and the feeds' last answers are; " +
		"nothing is traded by it"},
	"bot/runner/hooks.go": {"time.Now": "how long a commit takes is measured for the metrics",
		"time.Since": "the same"},
	"bot/runner/pulse.go": {"time.NewTicker": "a person reads a line each minute; nothing is traded by it"},
	"bot/runner/clock.go": {"time.Now": "the machine's clock and its uptime are held against each other, " +
		"which shows that it slept", "time.Since": "how long ago the clock was measured",
		"time.After": "the exchange's clock is measured again and again"},
	"bot/candles/import.go": {"time.Now": "candles of the future are refused"},
	"research/random.go":    {"math/rand/v2": "random and cma-es draw sets from a PCG seeded by the sweep's seed"},
	"bot/ledger.go":         {"time.Now": "a try says when it was made; nothing depends on it"},
	"bot/within.go": {"time.Now": "how fast this machine is decides the method and the number of sets of --within; " +
		"both are then as if they had been given, and the result names them", "time.Since": "the same"},
	"bot/sweepscreen.go": {"time.Now": "a person reads how fast a sweep is and how long it will take; nothing " +
		"depends on it"},
	"bot/stress.go": {"time.Now": "a person reads how long the runs will take; nothing depends on it",
		"time.Since": "the same"},
	"bot/placebo.go": {"time.Now": "a person reads how long a placebo will take; nothing depends on it",
		"time.Since": "the same"},
	"bot/hang.go": {"go": "a backtest runs beside the eye on it; a callback that never returns " +
		"can only be left behind, with the process", "time.NewTicker": "a callback that lasts a second is named",
		"time.Now": "the same", "time.Since": "the same", "time.After": "the same, after an interrupt"},
	"bot/runner/notify.go":      {"time.Now": "a message to systemd has a deadline"},
	"bot/rerun/canary/start.go": {"time.AfterFunc": "a child has so long for its last answers"},
	"bot/alert/alert.go":        {"time.AfterFunc": "a stop waits for alerts only so long"},
	"bot/alert/send.go": {"time.Now": "a message that is tried says when",
		"time.NewTimer": "the wait that a receiver asks for"},
	"bot/record/recorder.go": {"time.NewTicker": "what is recorded is written, and said, again and again; the " +
		"exchange's " +
		"clock is measured again"},
	"bot/runner/act.go": {"time.NewTicker": "a command of the operator looks again and again whether " +
		"the exchange has confirmed it"},
	"bot/runner/foreign.go": {"time.NewTicker": "the same, of orders that are not this bot's"},
	"bot/runner/watchdog.go": {"time.Now": "how long a callback has lasted",
		"time.NewTicker": "it looks again and again"},
	"bot/runner/reload.go": {"go": "new strategies are warmed up beside the loop; one that does not " +
		"return is left behind"},
	"bot/rerun/gap/rounds/rounds.go": {"time.NewTicker": "a person reads a line each round; nothing is traded by it",
		"time.Now": "a round says when it began"},
	"bot/runner/stuck.go": {"go": "a stop does not depend on the loop, which a strategy may hold",
		"time.Now": "the same", "time.NewTimer": "the same"},
	"bot/runner/serve.go": {"time.Now": "stop_within counts from the signal on, whatever the exchange's " +
		"clock says"},
	"bot/direct.go": {"time.Until": "what the bot has sent last may be on its way",
		"time.NewTimer": "the same"},
	"bot/runner/follow.go": {"time.NewTicker": "the kill switch's log is looked for again and again",
		"time.Now": "the kill switch waits for a bot that books its log", "time.Since": "the same",
		"time.Sleep": "the same"},
	"bot/runner/universe.go": {"time.NewTicker": "the next UTC day of the exchange's clock is looked for again and " +
		"again"},
	"bot/runner/summary.go": {"time.NewTicker": "the end of a day on the exchange's clock is looked for again " +
		"and again"},
	"bot/runner/warmup.go": {"time.NewTimer": "a start waits until the candles that have closed are " +
		"settled"},
	"internal/lives/draw.go":          {"math/rand/v2": "a life is drawn from the PCG of its seed, in tests alone"},
	"internal/bottest/certificate.go": {"crypto/rand": "a key for tests"},
	"bot/doctor/doctor.go":            {"time.Now": "a certificate ends by the machine's clock"},
	"internal/bottest/child.go":       {"time.AfterFunc": "a child of a test that hangs is killed"},
	"internal/bottest/cable.go": {"go": "a connection in memory has two ends; it is for tests alone",
		"time.Now": "a frame arrives after its time on the way", "time.Until": "the same", "time.Sleep": "the same"},
	"internal/bottest/patience.go": {"time.Now": "a test waits only so long", "time.Since": "the same",
		"time.Sleep": "the same"},
	"bot/watch/watch.go": {"time.NewTicker": "bots are asked again and again"},
	"bot/watch.go": {"time.Now": "the silence of a bot, and the age of tokens, by the machine's clock",
		"go": "the pages are served beside the watch; the command waits for them"},
	"bot/killswitch/switch.go": {"time.NewTimer": "the wait between two questions"},
	"bot/killswitch/log.go":    {"uuid.New": "a log has an id of its own, by which its lines are booked once"},
	"bot/killswitch/sell.go": {"uuid.New": "a sale without a run has a name of its own, which is on disk " +
		"before it is sent"},
	"bot/plan/access.go": {"time.AfterFunc": "the timer of the weight budget, which has no clock"},
}

// clocks and chances are the functions that make two runs differ.
var (
	clocks = []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc",
		"time.Tick", "time.NewTimer", "time.NewTicker"}
	chances = []string{"uuid.New", "uuid.NewString", "uuid.NewRandom", "uuid.NewUUID", "uuid.NewV6", "uuid.NewV7"}
)

// source is one parsed Go file.
type source struct {
	*ast.File
	set  *token.FileSet
	path string // from the root, with slashes
	dir  string
	test bool
}

func (s *source) at(node ast.Node) string {
	return s.path + ":" + strconv.Itoa(s.set.Position(node.Pos()).Line)
}

// parsed is every Go file of the repository but those in testdata, read once for all tests, which
// leave them as they are.
var parsed = sync.OnceValues(func() (all []*source, err error) {
	atRoot()
	set := token.NewFileSet()
	err = fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (entry.Name()[0] == '.' || entry.Name() == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, &source{File: file, set: set, path: name, dir: path.Dir(name),
			test: strings.HasSuffix(name, "_test.go")})
		return err
	})
	return all, err
})

// sources are all files, in a slice of the caller's own.
func sources(t *testing.T) []*source {
	all, err := parsed()
	require.NoError(t, err)
	require.Greater(t, len(all), 10, "the walk found too few files to be right")
	return slices.Clone(all)
}

// shipped are the files that are no tests.
func shipped(t *testing.T) []*source {
	return slices.DeleteFunc(sources(t), func(s *source) bool { return s.test })
}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	for _, s := range shipped(t) {
		allowed, known := rule(s.dir)
		if !known {
			t.Errorf("%s: package %s has no line in mayImport; add one with its place in the house", s.at(s.Name),
				s.dir)
			continue
		}
		for _, spec := range s.Imports {
			imported, ours := strings.CutPrefix(importPath(spec), module)
			if ours && !permits(allowed, imported) {
				t.Errorf("%s: %s may not import %s, only %v; move the code or declare an interface where it is used",
					s.at(spec), s.dir, imported, allowed)
			}
		}
	}
}

func rule(dir string) (allowed []string, known bool) {
	if allowed, known = mayImport[dir]; known {
		return allowed, true
	}
	allowed, known = mayImport[path.Dir(dir)+"/*"]
	return allowed, known
}

func permits(allowed []string, imported string) bool {
	return slices.ContainsFunc(allowed, func(one string) bool {
		return one == "*" || one == imported || strings.HasSuffix(one, "/*") &&
			path.Dir(imported) == strings.TrimSuffix(one, "/*")
	})
}

func TestStrategiesReachNoVenue(t *testing.T) {
	for dir, allowed := range mayImport {
		if strings.HasPrefix(dir, "strategy") {
			require.False(t, permits(allowed, "exchange") || permits(allowed, "engine") || permits(allowed, "risk"),
				"%s could go round the gate", dir)
		}
	}
}

func TestNothingIsLeftToClockOrChance(t *testing.T) {
	used := map[string]bool{}
	for _, s := range shipped(t) {
		for node, what := range undetermined(s) {
			if exceptions[s.path][what] != "" {
				used[s.path+" "+what] = true
				continue
			}
			t.Errorf("%s: %s is not allowed here: take time from the event, ids from a sequence, and let the caller "+
				"write go; else list the file in exceptions with the reason", s.at(node), what)
		}
	}
	for file, allowed := range exceptions {
		require.NotContains(t, core, path.Dir(file), "the core has no exceptions: %s", file)
		for what := range allowed {
			require.True(t, used[file+" "+what], "%s no longer uses %s: take it off the list of exceptions", file, what)
		}
	}
}

// undetermined finds go statements, clocks and random sources.
func undetermined(s *source) map[ast.Node]string {
	found := map[ast.Node]string{}
	for _, spec := range s.Imports {
		if name := importPath(spec); name == "math/rand" || name == "math/rand/v2" || name == "crypto/rand" {
			found[spec] = name
		}
	}
	ast.Inspect(s.File, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.GoStmt:
			found[n] = "go"
		case *ast.SelectorExpr:
			name := selector(n)
			if slices.Contains(clocks, name) || slices.Contains(chances, name) {
				found[n] = name
			}
		}
		return true
	})
	return found
}

func importPath(spec *ast.ImportSpec) string {
	name, _ := strconv.Unquote(spec.Path.Value) // the parser has seen to the quotes
	return name
}

// selector returns "pkg.Name" for a selector on an identifier, else "".
func selector(n *ast.SelectorExpr) string {
	if from, ok := n.X.(*ast.Ident); ok {
		return from.Name + "." + n.Sel.Name
	}
	return ""
}

// The engine is a fold over events. A database below it would let a strategy's step wait for a
// disk.
func TestTheEngineNeedsNoDatabase(t *testing.T) {
	atRoot()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./engine", "./engine/live")
	list.WaitDelay = time.Second
	out, err := list.Output()
	require.NoError(t, err)
	for name := range strings.Lines(string(out)) {
		for _, database := range []string{"go.etcd.io/bbolt", "github.com/klauspost/compress",
			module + "state/bolt"} {
			require.NotContains(t, name, database, "a package below ./engine imports it: go list -deps ./engine")
		}
	}
}
