// Package bot owns the command line: the commands of the program, their flags and output, and the
// files of a new project. It never decides what to trade and holds no state between two runs: the
// packages below it do the work. Start at Main, which an own program calls with its own strategies,
// then at backtest.go or run.go; package config lists every setting.
package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	_ "time/tzdata" // zones, where the machine has no files of them: Windows, an image FROM scratch

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/candles"
	"github.com/tidemark-trading/tidemark/bot/chat"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/mcp"
	"github.com/tidemark-trading/tidemark/bot/runner"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/bot/version"
	"github.com/tidemark-trading/tidemark/research/machines"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/strategy"
)

// The exit codes. Those from 64 on are of sysexits.h; 2 is left to Go, which ends a process that
// crashes with it.
const (
	exitDone    = 0
	exitFailed  = 1
	exitRefused = 3
)

// Process is the environment of a run of the program. Every field but Definitions, Chats, Farm,
// Assistant, Again and Hangup must be set. For a program whose environment is the process's own,
// Main sets them.
type Process struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(name string) string
	Definitions    []strategy.Definition // the strategies that configs may name

	// Chats are messengers of the program's own. bot run and bot chat answer their messages, and
	// those of Telegram where the config has a token.
	Chats []chat.Line

	// Farm joins other machines for a search; nil: the program bot-farm does it.
	Farm machines.Farm

	// Assistant serves documents to an assistant that is a program; nil: the program bot-farm does
	// it.
	Assistant mcp.Server

	// Again returns a context that ends with the next signal to stop, from the time of the call on;
	// nil: there is no such signal.
	Again func() (context.Context, context.CancelFunc)

	// Hangup gets SIGHUP for bot run, which reloads its settings then; nil: there is none.
	Hangup <-chan os.Signal

	// faults is for tests: it is called between two steps of the kill switch and of its booking.
	faults func(point string)
}

// Main runs the program with these strategies on the process's own arguments and ends the process:
// 0 done, 1 failed, 3 refused by a limit, 64 bad usage, 78 bad config. The first Ctrl-C ends the
// run in good order, the second at once (`bot run` cancels its orders first). SIGTERM counts as
// Ctrl-C, and so does SIGHUP unless it is ignored (nohup). A `bot run` without a terminal, as under
// systemd, reloads its settings at SIGHUP instead.
func Main(kinds ...strategy.Definition) { Process{Definitions: kinds}.Main() }

// MainWithFarm is Main for a program that joins other machines for a search by itself: a program
// with research/machines/farm.Farm takes longer to start, so bot hands such commands over to
// bot-farm.
func MainWithFarm(farm machines.Farm, kinds ...strategy.Definition) {
	Process{Definitions: kinds, Farm: farm}.Main()
}

// Main is the function Main for a program that has more of its own than strategies: it sets the
// arguments, streams, environment and signals of the process, runs the program and ends the
// process.
func (p Process) Main() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	switch {
	case signal.Ignored(syscall.SIGHUP):
	case runs(os.Args[1:]) && !onTerminal():
		hangup := make(chan os.Signal, 1)
		signal.Notify(hangup, syscall.SIGHUP)
		p.Hangup = hangup
	default:
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, stop)
	again := func() (context.Context, context.CancelFunc) {
		next, stop := signal.NotifyContext(context.Background(), ends...)
		context.AfterFunc(next, stop)
		return next, stop
	}
	p.Args, p.Stdin, p.Stdout, p.Stderr = os.Args[1:], os.Stdin, os.Stdout, os.Stderr
	p.Getenv, p.Again = os.Getenv, again
	os.Exit(Run(ctx, p))
}

// runs reports whether the arguments are those of bot run.
func runs(args []string) bool {
	first := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	return first >= 0 && args[first] == "run"
}

// onTerminal reports whether the process belongs to a terminal: a SIGHUP says then that it is gone.
func onTerminal() bool {
	terminal, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err == nil {
		_ = terminal.Close()
	}
	return err == nil
}

// Run is Main without a process around it: it returns the exit code. An error is written to Stderr
// in one line.
func Run(ctx context.Context, p Process) int {
	a := &app{Process: p}
	root := a.root()
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	switch {
	case errors.As(err, new(stuckError)):
	case errors.As(err, new(searchInterrupted)):
		err = errors.New("interrupted; what has run is in the file: the same command goes on from there")
	case ctx.Err() != nil && errors.As(err, new(candles.ResumableError)):
		err = errors.New("interrupted; what came before is stored: the same command goes on from there")
	case ctx.Err() != nil && !errors.As(err, new(runner.Error)):
		err = errors.New("interrupted; nothing half-written is left behind")
	case errors.Is(err, bolt.ErrCorrupt) && !errors.As(err, new(statedir.Error)):
		err = fmt.Errorf("%w; take the file from a copy, or move it away and import again", err)
	case !a.entered && !errors.As(err, new(wrongCommand)):
		err = fmt.Errorf("%w; see %s --help", err, command.CommandPath())
	}
	fmt.Fprintf(p.Stderr, "bot: %v\n", err)
	return a.exitCode(err)
}

// Command is the tree of all commands, for programs that describe them. Run runs them.
func Command(kinds ...strategy.Definition) *cobra.Command {
	return (&app{Process: Process{Definitions: kinds}}).root()
}

// app is one run of the program.
type app struct {
	Process
	entered bool // the arguments are valid and a command has begun
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "bot", Short: "Tidemark: backtest trading strategies, serve a simulated exchange, trade",
		Long: "Tidemark runs trading strategies. `bot COMMAND --help` has the flags of a command. `bot help WORDS` " +
			"finds words in the documents, like `bot help stop loss`.\n\nExit codes: 0 done, 1 failed, 3 refused by " +
			"a limit, 64 bad usage, 78 bad config.",
		Example:      firstCommands,
		Args:         cobra.NoArgs,
		RunE:         func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceUsage: true, SilenceErrors: true, Version: version.Of(debug.ReadBuildInfo()),
	}
	root.SetArgs(a.Args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetVersionTemplate("{{.Version}}\n")
	narrow(root)
	root.SetFlagErrorFunc(a.suggest)
	for _, g := range a.asked(groups()) {
		for _, b := range g.branches {
			root.AddCommand(b.grow(a))
		}
	}
	root.SetHelpCommand(helpCommand(a))
	answerWrongCommands(root)
	return root
}

// branch is a command right below the root.
type branch struct {
	name string
	grow func(*app) *cobra.Command
}

// group is a part of the list of commands.
type group struct {
	title    string
	branches []branch
}

// groups are all commands, in the order of the life of a strategy.
func groups() []group {
	return []group{
		{"Try a strategy", []branch{{"backtest", backtestCommand}, {"init", initCommand}, {"rules", rulesCommand},
			{"strategies", strategiesCommand}, {"compare", compareCommand}}},
		{"Data", []branch{{"candles", candlesCommand}, {"record", recordCommand}, {"recording", recordingCommand}}},
		{"Search", []branch{{"sweep", sweepCommand}, {"walkforward", walkforwardCommand}, {"placebo", placeboCommand},
			{"stress", stressCommand}, {"trials", trialsCommand}, {"worker", workerCommand}}},
		{"Trade", []branch{{"exchange", exchangeCommand}, {"doctor", doctorCommand}, {"run", runCommand},
			{"reload", reloadCommand}, {"canary", canaryCommand}, {"seal", sealCommand}, {"verify", verifyCommand}}},
		{"Look", []branch{{"status", statusCommand}, {"orders", ordersCommand}, {"positions", positionsCommand},
			{"trades", tradesCommand}, {"profit", profitCommand}, {"equity", equityCommand}, {"risk", riskCommand},
			{"explain", explainCommand}, {"journal", journalCommand}, {"dashboard", dashboardCommand},
			{"watch", watchCommand}, {"mcp", mcpCommand}, {"chat", chatCommand}, {"gap", gapCommand},
			{"replay", replayCommand}}},
		{"Act", []branch{{"halt", haltCommand}, {"resume", resumeCommand}, {"flatten", flattenCommand},
			{"cancel", cancelCommand}, {"cancel-all", cancelAllCommand}, {"resolve", resolveCommand},
			{"adopt", adoptCommand}}},
		{"Keep", []branch{{"state", stateCommand}, {"export", exportCommand}, {"version", versionCommand}}},
	}
}

// asked is the branch that the first argument names alone, so that a start does not make the flags
// of all others; all branches where it names none, as for help and a mistyped name.
func (a *app) asked(all []group) []group {
	for _, g := range all {
		for i := range g.branches {
			if len(a.Args) > 0 && a.Args[0] == g.branches[i].name {
				return []group{{g.title, g.branches[i : i+1]}}
			}
		}
	}
	return all
}

func candlesCommand(a *app) *cobra.Command {
	return candles.Command(candles.Streams{Stdin: a.Stdin, Stdout: a.Stdout, Stderr: a.Stderr, Getenv: a.Getenv},
		a.enter)
}

// enter marks the arguments as valid: later errors are the command's own.
func (a *app) enter(run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		a.entered = true
		return run(c.Context(), args)
	}
}

// exitCode is 64 for a mistake in the arguments and 78 for one in the config: a service manager
// restarts the program after neither.
func (a *app) exitCode(err error) int {
	var refusal *risk.Refusal
	var key *config.KeyError
	switch {
	case !a.entered || errors.As(err, new(config.UsageError)) || errors.As(err, &key) && key.Flagged():
		return config.ExitUsage
	case key != nil || errors.As(err, new(config.Error)):
		return config.ExitConfig
	case errors.As(err, &refusal), errors.As(err, new(sealedError)):
		return exitRefused
	}
	return exitFailed
}

func versionCommand(a *app) *cobra.Command {
	var licences bool
	c := &cobra.Command{
		Use: "version", Short: "Print the version of the program's code",
		Example: "  bot version\n  bot version --licences > LICENCES.txt", Args: cobra.NoArgs,
		RunE: a.enter(func(context.Context, []string) error {
			text := version.Of(debug.ReadBuildInfo()) + "\n"
			if licences {
				text = version.Licences
			}
			_, err := io.WriteString(a.Stdout, text)
			return err
		}),
	}
	c.Flags().BoolVar(&licences, "licences", false,
		"print the licences of the modules in it, which go with every copy of the program")
	return c
}
