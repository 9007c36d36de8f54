package bot_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// A scene is a folder, and what runs beside it, in which a documented command is played.
type scene int

const (
	sceneAlone   scene = iota + 1 // a folder with configs/, live.toml and FILE.csv, and an exchange on this machine
	sceneServing                  // the same; the command serves until its address is printed
	sceneTrading                  // the same; the command trades until it says so
	sceneBeside                   // the same, while the bot of live.toml trades
	sceneAfter                    // the folder of beside when that bot has stopped
	sceneCanary                   // a folder as alone; the bot of live.toml trades with a canary
)

// plays says in which scene a command is played: the row with the longest beginning of it counts.
// The commands of a scene are played in this order.
var plays = []struct {
	begins string
	scene  scene
}{
	{"bot version", sceneAlone},
	{"bot completion", sceneAlone},
	{"bot --help", sceneAlone},
	{"bot help", sceneAlone},
	{"bot strategies", sceneAlone},
	{"bot rules check", sceneAlone},
	{"bot rules eject", sceneAlone},
	{"bot init", sceneAlone},
	{"bot candles export", sceneAlone},
	{"bot candles import", sceneAlone},
	{"bot candles list", sceneAlone},
	{"bot candles verify", sceneAlone},
	{"bot candles fetch", sceneAlone},
	{"bot backtest", sceneAlone},
	{"bot sweep", sceneAlone},
	{"bot trials", sceneAlone},
	{"bot walkforward", sceneAlone},
	{"bot placebo", sceneAlone},
	{"bot compare", sceneAlone},
	{"bot stress", sceneAlone},
	{"bot doctor", sceneAlone},
	{"bot run --help", sceneAlone},
	{"bot exchange", sceneServing},
	{"bot run", sceneTrading},
	{"bot status", sceneBeside},
	{"bot risk", sceneBeside},
	{"bot journal", sceneBeside},
	{"bot orders", sceneBeside},
	{"bot positions", sceneBeside},
	{"bot trades", sceneBeside},
	{"bot profit", sceneBeside},
	{"bot equity", sceneBeside},
	{"bot export", sceneBeside},
	{"bot explain", sceneBeside},
	{"bot reload", sceneBeside},
	{"bot halt", sceneBeside},
	{"bot resume", sceneBeside},
	{"bot cancel", sceneBeside},
	{"bot cancel-all", sceneBeside},
	{"bot flatten", sceneBeside},
	{"bot state backup", sceneBeside},
	{"bot replay", sceneAfter},
	{"bot gap", sceneAfter},
	{"bot cancel-all --direct", sceneAfter},
	{"bot state check", sceneAfter},
	{"bot state export", sceneAfter},
	{"bot state compact", sceneAfter},
	{"bot explain 1 --state", sceneAfter},
	{"bot run -c live.toml --canary", sceneCanary},
	{"bot canary", sceneCanary},
}

// whole completes a name that stands in a sentence to a command that can be typed.
var whole = map[string]string{
	"bot run --canary": "bot run -c live.toml --canary new.toml",
	"bot run":          "bot run -c configs/sandbox.toml",
	"bot doctor":       "bot doctor -c configs/sandbox.toml",
	"bot init":         "bot init own",
	"bot explain":      "bot explain 1",

	"bot export --tax": "bot export --tax taxes.csv -c live.toml",
	"bot sweep": "bot sweep --vary strategies.trend.params.fast=20,50 " +
		"--vary strategies.trend.params.slow=200,300",
	"bot walkforward": "bot walkforward --vary strategies.trend.params.fast=20,50",

	"bot placebo": littlePlacebo,
	"bot placebo --vary strategies.trend.params.fast=5:100:5 " +
		"--vary strategies.trend.params.slow=20:500:20": littlePlacebo,
	"bot replay --state state -c configs/sandbox.toml --out out/new": "bot replay --state state -c live.toml " +
		"--out out/new",
	"bot gap --write-assumptions": "bot gap --write-assumptions measured.toml --state state",

	"bot compare A B":   "bot compare out/slow out/fast",
	"bot stress RESULT": "bot stress out/slow",

	"bot candles export":              "bot candles export --synthetic --market BTC-EUR --interval 1h --out sample.csv",
	"bot candles import":              "bot candles import --market BTC-EUR --interval 1h FILE.csv",
	"bot candles fetch --markets":     "bot candles fetch --markets -c live.toml",
	"bot candles fetch":               "bot candles fetch -c live.toml --market ETH-EUR --interval 1h --from YESTERDAY",
	"bot cancel-all --direct":         "bot cancel-all --direct -c live.toml",
	"bot cancel-all --direct FLATTEN": "bot cancel-all --direct --flatten -c live.toml",
}

// littlePlacebo is a placebo of a moment.
const littlePlacebo = "bot placebo --vary strategies.trend.params.fast=20,50 --surrogates 19"

// filled has a word for each placeholder of the documents.
var filled = strings.NewReplacer(
	"-c FILE", "-c live.toml", "--state FOLDER", "--state state", "--state bots/live", "--state state",
	"--state bots/sandbox", "--state state",
	"--archive FILE", "--archive archive.db", "--state FILE", "--state archive.db",
	"[--flatten]", "FLATTEN", "[--since 24h]", "--since 24h", "[STRATEGY]", "maker", "[NAME]", "smacross", "ORDER", "1",
	"DIR", "mine", "SHELL", "bash", "bot help WORDS", "bot help fees",
)

// unplayed says why a command of the documents cannot be played here.
var unplayed = map[string]string{
	"bot gap --every": "runs until Ctrl-C: gaprounds_test.go plays it",
	"bot gap -c live.toml --every 1h --listen 127.0.0.1:9091": "the same",
	"bot gap --every 1h --listen 127.0.0.1:9091":              "the same",
	"bot gap --state state --backtest configs/backtest.toml":  "needs stored candles: bot/runner/plants_test.go",
	"bot cancel 1":                "its order may have ended: control_test.go plays it",
	"bot resolve 1":               "needs an exchange that answers falsely; testdata/script/resolve.txtar plays it",
	"bot resolve 1 --as-exchange": "the same",
	"bot resolve 1 --as-absent":   "the same",
	"bot resolve --gone MARKET":   "needs a market that has gone: bot/runner/gone_test.go",

	"bot sweep --listen 4222 --vary strategies.trend.params.fast=5:100:5": "waits for workers: farm_test.go",
	"bot worker --join 4222":                "the same",
	"bot worker":                            "the same",
	"bot dashboard -c configs/sandbox.toml": "goes on until Ctrl-C: dashboard_test.go plays it",
	"bot dashboard":                         "the same",
	"bot dashboard --state state --listen :8787 --tls-cert cert.pem " +
		"--tls-key key.pem --host bot.example.com": "the same",
	"bot dashboard --bots 'bots/*'": "the same",
	"bot dashboard --state state " +
		"--behind-proxy --host bot.example.com": "the same",
	"bot chat -c live.toml":                      "goes on until Ctrl-C: chat_test.go plays it",
	"bot watch -c watch.toml":                    "goes on until Ctrl-C: silent_test.go plays it",
	"bot mcp":                                    "goes on until its client leaves: mcp_test.go plays it",
	"bot watch -c watch.toml --act":              "the same",
	"bot watch -c configs/watch.toml":            "the same",
	"bot record -c configs/record.toml":          "goes on until Ctrl-C: record_test.go plays it",
	"bot record":                                 "the same",
	"bot recording list --folder recordings/btc": "needs a recording: the same",
	"bot recording list":                         "the same",
	"bot recording export --folder recordings/btc --from 2026-11-23 --kind trade": "the same",
	"bot recording export --folder recordings/btc --csv tables":                   "the same",
	"bot recording export --folder bots/sandbox --kind signal --csv tables":       "needs signals: bot/runner plays it",
	"bot trials unseal":         "needs a seal; testdata/script/trials.txtar plays it",
	"bot sweep --lock-last 20%": "a seal would end the other runs; the same",

	"bot adopt dip swing -c live.toml": "needs a stopped bot that held something: adopt_test.go",
	"bot adopt":                        "the same",

	"bot seal":              "needs a backtest of the bot's strategies; testdata/script/seal.txtar plays it",
	"bot verify":            "needs a seal; the same",
	"bot seal check":        "the same",
	"bot seal key seal.key": "the same",
	"bot seal -c live.toml --result out/backtest --key seal.key":             "the same",
	"bot seal export -c live.toml --key seal.key --out live.proof":           "the same",
	"bot seal check live.proof --public-key KEY":                             "the same",
	"bot verify --state state --json":                                        "the same",
	"bot verify -c live.toml":                                                "the same",
	"bot seal -c live.toml --result out/backtest --out-of-sample 2024-01-01": "the same",
}

// outcomes are what the commands of a canary lead to. A bot trades with the canary of the first
// one, the others are typed beside it.
var outcomes = []struct {
	commands []string
	want     string // at the end, in the bot's log
}{
	{[]string{"bot run -c live.toml --canary ./bot-new --canary-commands 500", "bot canary -c live.toml"},
		`"equal":[1-9]\d*,"unchecked":0,"differs":false,.*"the canary has ended"`},
	{[]string{"bot run -c live.toml --canary new.toml", "bot canary --accept", "bot canary"},
		`"differs":true,.*"the canary has ended"`},
	{[]string{"bot run -c live.toml --canary new.toml", "bot canary --refuse"}, `the canary is refused`},
}

// A typed command is one that the documents show, ready to be typed.
type typed struct {
	page, shown, text string
	output            []string // that the document shows
	rank              int      // in plays
}

// words are the arguments of the program.
func (c *typed) words() []string { return strings.Fields(c.text)[1:] }

func TestEveryCommandOfTheDocumentsRuns(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	commands := documented(t)
	require.Greater(t, len(commands), 40, "the search found too few commands to be right")
	t.Run("alone", func(t *testing.T) {
		t.Parallel()
		s := newShell(t)
		defer s.exchange(t).stop(t)
		for _, c := range in(commands, sceneAlone) {
			s.play(t, c)
		}
	})
	for _, c := range in(commands, sceneServing) {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			s.start(t, "http://127.0.0.1:", append(c.words(), "--listen", "127.0.0.1:0")...).stop(t)
		})
	}
	for _, c := range in(commands, sceneTrading) {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			defer s.exchange(t).stop(t)
			s.start(t, "trading begins", c.words()...).stop(t)
		})
	}
	t.Run("with a canary", func(t *testing.T) {
		t.Parallel()
		s := newShell(t)
		defer s.exchange(t).stop(t)
		s.write(t, "new.toml", strings.Replace(s.read(t, "live.toml"), `half_spread_bps = "2"`,
			`half_spread_bps = "3"`, 1))
		var played []string
		for _, o := range outcomes {
			bot := s.start(t, "order accepted", append(strings.Fields(o.commands[0])[1:], "--set", "bot.log=debug")...)
			for _, command := range o.commands[1:] {
				s.answered(t, strings.Fields(command)[1:]...)
			}
			bot.stop(t)
			require.Regexp(t, o.want, bot.said.String())
			played = append(played, o.commands...)
		}
		for _, c := range in(commands, sceneCanary) {
			require.Contains(t, played, c.text, "%s shows `%s`: outcomes does not play it", c.page, c.shown)
		}
	})
	t.Run("beside a bot", func(t *testing.T) {
		t.Parallel()
		s := newShell(t)
		defer s.exchange(t).stop(t)
		// A fill first: of an account without a history, bot export asks for each day of the year.
		trader := s.start(t, `"message":"fill"`, "run", "-c", "live.toml", "--set", "bot.log=debug")
		for _, c := range in(commands, sceneBeside) {
			s.play(t, c)
		}
		trader.stop(t)
		for _, c := range in(commands, sceneAfter) {
			c.requireOutput(t, s.play(t, c))
		}
	})
}

// requireOutput requires of a command's output what its document shows below it, in a block with
// the word console: in that order, whatever the numbers, times, sides and breaks of lines. A line
// with … alone stands for any others.
func (c *typed) requireOutput(t *testing.T, output string) {
	t.Helper()
	rest := masked(output)
	for part := range strings.SplitSeq(strings.Join(c.output, "\n")+"\n", "…\n") {
		want := masked(part)
		at := strings.Index(rest, want)
		require.GreaterOrEqual(t, at, 0, "%s shows below `%s`\n%s\nand `%s` printed\n%s\nas\n%s", c.page, c.shown, want,
			c.text, output, rest)
		rest = rest[at+len(want):]
	}
}

// masked is a text in one line without what is different in each run.
func masked(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, mask := range [...]struct{ pattern, by string }{{`bots/sandbox`, "state"}, {`\b(buy|sell)\b`, "side"},
		{`\d{4}-\d\d-\d\d(T[\d:.]+Z)?`, "time"}, {`[-+]?\d[\d,]*(\.\d+)?`, "0"}, {`( [-–])+ `, " 0 "}} {
		text = regexp.MustCompile(mask.pattern).ReplaceAllString(text, mask.by)
	}
	return text
}

// documented finds the commands of the program in README.md, docs/ and the comments of configs/:
// lines of code blocks, and words in backticks that begin with the program's name. Each is filled
// in and has a place in plays.
func documented(t *testing.T) (all []typed) {
	t.Helper()
	used, seen := map[string]bool{}, map[string]int{}
	for page, shown := range commandsOf(t) {
		for _, one := range shown {
			text := filled.Replace(
				regexp.MustCompile(`^(?:bin/bot|go run \./cmd/bot)`).ReplaceAllString(one.command, "bot"))
			if unplayed[text] != "" {
				used[text] = true
				continue
			}
			if w, found := whole[text]; found {
				used[text], text = true, w
			}
			rank := -1
			for i, p := range plays {
				if strings.HasPrefix(text+" ", p.begins+" ") && (rank < 0 || len(p.begins) > len(plays[rank].begins)) {
					rank = i
				}
			}
			require.GreaterOrEqual(t, rank, 0,
				"%s shows `%s`, which no test plays: give plays its scene, or unplayed the reason", page, one.command)
			require.NotRegexp(t, `\[|…|\b(?:ORDER|FOLDER|NAME|STRATEGY|DIR)\b| FILE\b[^.]`, text+" ",
				"%s shows `%s`: filled has no word for its placeholder", page, one.command)
			c := typed{page, one.command, text, one.output, rank}
			if at, known := seen[text]; !known {
				seen[text] = len(all)
				all = append(all, c)
			} else if len(one.output) > 0 {
				all[at] = c
			}
		}
	}
	for _, table := range [][]string{slices.Collect(maps.Keys(whole)), slices.Collect(maps.Keys(unplayed))} {
		for _, text := range table {
			require.True(t, used[text], "no document shows `%s` any more: take it out of the table", text)
		}
	}
	slices.SortFunc(all, func(a, b typed) int { return 1000*(a.rank-b.rank) + strings.Compare(a.text, b.text) })
	return all
}

// A shownCommand is a command of a document, with the output that a console below it has.
type shownCommand struct {
	command string
	output  []string
}

// commandsOf returns the commands that each page shows.
func commandsOf(t *testing.T) map[string][]shownCommand {
	t.Helper()
	block, inline := regexp.MustCompile("(?ms)^```.*?^```"), regexp.MustCompile("`([^`\n]+)`")
	command := regexp.MustCompile(`^(?:bin/bot|bot|go run \./cmd/bot) .`)
	pages := map[string][]shownCommand{}
	for _, pattern := range []string{"../README.md", "../docs/*.md", "../configs/*.toml"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			lines := strings.Split(strings.Join(block.FindAllString(string(text), -1), "\n"), "\n")
			if filepath.Ext(file) == ".toml" {
				lines = regexp.MustCompile(`(?m)^#   (.*)$`).FindAllString(string(text), -1)
			}
			for _, m := range inline.FindAllStringSubmatch(block.ReplaceAllString(string(text), ""), -1) {
				lines = append(lines, m[1])
			}
			console := false
			for _, line := range lines {
				shown := pages[file]
				line, prompt := strings.CutPrefix(line, "$ ")
				if strings.HasPrefix(line, "```") {
					console = line == "```console"
				} else if console && !prompt {
					last := &shown[len(shown)-1]
					last.output = append(last.output, line)
				}
				line, _, _ = strings.Cut(strings.TrimPrefix(line, "#   "), "  #")
				if line = strings.TrimSpace(line); (prompt || !console) && command.MatchString(line) {
					pages[file] = append(shown, shownCommand{command: line})
				}
			}
		}
	}
	return pages
}

// in returns the commands of a scene.
func in(commands []typed, where scene) (some []typed) {
	for _, c := range commands {
		if plays[c.rank].scene == where {
			some = append(some, c)
		}
	}
	return some
}

// A shell is a folder in which commands are typed.
type shell struct {
	dir, program string
	env          []string // beside that of the test
}

// candlesToo is a strategy whose warm-up has candles: what a bot records then is enough for a
// backtest.
const candlesToo = `
[strategies.trend]
kind = "smacross"
markets = ["BTC-EUR"]
interval = "1m"
allocation = "5000"
operator_id = 2
params.fast = 2
params.slow = 5
params.share = "10%"
`

// newShell returns a folder that looks like a checkout, with configs/, CSV and live.toml. That
// is configs/sandbox.toml with another state folder, with a shorter window, for which the kill
// switch waits, and with a second strategy.
func newShell(t *testing.T) *shell {
	t.Helper()
	program, err := exec.LookPath("bot")
	require.NoError(t, err, "testscript.Main puts it on the path")
	s := &shell{dir: filepath.Join(t.TempDir(), "checkout"), program: program}
	require.NoError(t, os.MkdirAll(filepath.Join(s.dir, "bot"), 0o755))
	for _, file := range []string{"go.mod", "go.sum", "bot/bot.go"} {
		text, err := os.ReadFile(filepath.Join("..", file))
		require.NoError(t, err)
		s.write(t, file, string(text))
	}
	require.NoError(t, os.CopyFS(filepath.Join(s.dir, "configs"), os.DirFS("../configs")))
	var csv strings.Builder
	for i := range 24 * 365 * 2 {
		at, price := time.Date(2021, 1, 1, i, 0, 0, 0, time.UTC), 30_000+5_000*math.Sin(float64(i)/50)
		fmt.Fprintf(&csv, "%d,%.2f,%.2f,%.2f,%.2f,1\n", at.Unix(), price, price+10, price-10, price)
	}
	s.write(t, "FILE.csv", csv.String())
	s.write(t, "MINUTES.csv", "1609459200,10,12,9,11,1\n1609459260,11,12,9,11,1\n1609459320,11,12,9,11,1\n")
	live := strings.NewReplacer(`"../bots/sandbox"`, `"state"`, `window = "10s"`, `window = "5s"`)
	s.write(t, "live.toml", live.Replace(s.read(t, "configs/sandbox.toml"))+candlesToo)
	for name, key := range map[string]string{"TIDEMARK_KEY": "key", "TIDEMARK_SECRET": "secret"} {
		value := regexp.MustCompile(`(?m)^` + key + ` = "(\w+)"`).FindStringSubmatch(s.read(t, "live.toml"))
		s.env = append(s.env, name+"="+value[1])
	}
	return s
}

func (s *shell) read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, file))
	require.NoError(t, err)
	return string(text)
}

func (s *shell) write(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, file), []byte(text), 0o600))
}

// exchange starts an exchange and puts its address into the configs.
func (s *shell) exchange(t *testing.T) *process {
	t.Helper()
	e := s.start(t, "http://127.0.0.1:", "exchange", "--listen", "127.0.0.1:0", "--json")
	address := regexp.MustCompile(`http://127.0.0.1:\d+/v2`).FindString(e.said.String())
	for _, config := range []string{"live.toml", "configs/live.toml", "configs/paper.toml", "configs/sandbox.toml"} {
		old := regexp.MustCompile(`(?m)^base_url = "[^"]*"`)
		s.write(t, config, old.ReplaceAllString(s.read(t, config), `base_url = "`+address+`"`))
	}
	return e
}

// command returns a command that is killed after three minutes.
func (s *shell) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	for i, word := range args {
		args[i] = strings.NewReplacer("YESTERDAY", time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly),
			"./bot-new", s.program).Replace(word)
	}
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Dir, cmd.WaitDelay, cmd.Env = s.dir, time.Second, append(os.Environ(), s.env...)
	return cmd
}

// play types a command, which has to end with 0.
func (s *shell) play(t *testing.T, c typed) (output string) {
	t.Helper()
	out, err := s.command(t, c.words()...).CombinedOutput()
	require.NoError(t, err, "%s shows `%s`; `%s` failed: %s", c.page, c.shown, c.text, out)
	return string(out)
}

// answered types a command about a canary until that has answered enough for it.
func (s *shell) answered(t *testing.T, args ...string) {
	t.Helper()
	for {
		out, err := s.command(t, args...).CombinedOutput()
		if t.Context().Err() != nil || !regexp.MustCompile(`has not answered yet|has not compared anything yet|`+
			`it is accepted after`).Match(out) {
			require.NoError(t, err, "bot %v: %s", args, out)
			return
		}
	}
}

// A process is a command that goes on until it is interrupted.
type process struct {
	cmd   *exec.Cmd
	said  *heard
	ended chan error
}

// start types a command and waits until it has said something.
func (s *shell) start(t *testing.T, want string, args ...string) *process {
	t.Helper()
	p := &process{s.command(t, args...), &heard{want: want, came: make(chan struct{})}, make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = p.said, p.said
	require.NoError(t, p.cmd.Start())
	go func() { p.ended <- p.cmd.Wait() }()
	select {
	case <-p.said.came:
	case err := <-p.ended:
		require.Fail(t, "it ended", "bot %v: %v: %s", args, err, p.said)
	}
	return p
}

// stop is Ctrl-C, after which the exit code has to be 0.
func (p *process) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, <-p.ended, p.said.String())
}

// heard keeps a process's output and notices a text in it.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
	want string
	came chan struct{} // closed when want is there
}

// Write never fails.
func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(b)
	select {
	case <-h.came:
	default:
		if strings.Contains(h.text.String(), h.want) {
			close(h.came)
		}
	}
	return len(b), nil
}

// String is the output up to now.
func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}
