package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/seal"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/bot/version"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/view"
)

const sealHelp = `Seal, at go-live, what a bot promises: its program, its parameters, the tries
that were made, and the expected return, round trips, slippage and drawdown. The seal is an entry of
the bot's journal. From the first whole UTC day behind it on, a running bot holds each day against
it, and bot verify says whether the promise is kept.

The promise comes from the folder of a backtest, best from days that no choice of parameters has
seen: name the first of them with --out-of-sample, or seal the result of bot walkforward. The
strategies and parameters of the backtest must be those of the config.

A new seal begins anew. docs/seal.md says how soon which change is noticed.`

const sealExample = `  bot seal -c live.toml --result out/backtest --out-of-sample 2024-01-01
  bot seal -c live.toml --result out/backtest --dry-run
  bot verify -c live.toml`

// sealFlags are the flags of the command.
type sealFlags struct {
	runFlags
	result, outOfSample, slippage, by, key string
	dryRun, json                           bool
}

func sealCommand(a *app) *cobra.Command {
	f := &sealFlags{}
	c := &cobra.Command{
		Use: "seal", Short: "Seal what a bot promises at its go-live",
		Long: sealHelp, Example: sealExample, Args: onlyFlags,
		RunE: a.enter(func(ctx context.Context, _ []string) error { return a.seal(ctx, f) }),
	}
	f.register(c, "config `FILE` of bot run")
	flags := c.Flags()
	flags.StringVar(&f.result, "result", "", "result `FOLDER` of the backtest that promises")
	flags.StringVar(&f.outOfSample, "out-of-sample", "", "first `DAY` that no choice of parameters has seen")
	flags.StringVar(&f.slippage, "slippage", "5bps", "promise at most this `PART` on average")
	flags.StringVar(&f.by, "by", "", "`NAME` of the person who seals; without it the user of this machine")
	flags.StringVar(&f.key, "key", "", "only the key in this `FILE` may sign exports; see bot seal key")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show the seal and write nothing")
	flags.BoolVar(&f.json, "json", false, "print the seal as JSON, and nothing else")
	c.AddCommand(sealKeyCommand(a), sealExportCommand(a), sealCheckCommand(a))
	return c
}

// seal runs the command.
func (a *app) seal(ctx context.Context, f *sealFlags) error {
	p, err := a.runPlanOf(&f.runFlags)
	if err != nil {
		return err
	}
	d, warnings, err := a.sealDocument(f, p)
	if err != nil {
		return err
	}
	text, err := d.Encode()
	if err != nil {
		return err
	}
	var standing *seal.SealStatus
	if !f.dryRun {
		by := f.by
		if by == "" {
			by = userName()
		}
		if standing, err = writeSeal(ctx, p.Config.Bot.State, text, by); err != nil {
			return err
		}
	}
	if f.json {
		return console.PrintJSON(a.Stdout, d)
	}
	a.warn(warnings)
	return printSeal(a.Stdout, d, standing)
}

// sealDocument makes the document of the flags.
func (a *app) sealDocument(f *sealFlags, p *plan.Live) (*seal.Document, []string, error) {
	if f.result == "" {
		return nil, nil, config.Usagef("want the folder of a backtest: --result out/backtest")
	}
	o := seal.DefaultOptions()
	slippage, err := market.ParseRate(f.slippage)
	if err != nil || slippage < 0 || slippage >= config.WholeRate/250 {
		return nil, nil, config.Usagef("--slippage %s: want a part from 0 to 40bps, like 5bps", config.Clip(f.slippage))
	}
	o.Slippage = float64(slippage) / float64(config.WholeRate) * 1e4
	if f.outOfSample != "" {
		if o.OutOfSample, err = config.ParseMoment(f.outOfSample); err != nil {
			return nil, nil, config.Usagef("--out-of-sample: %w", err)
		}
	}
	d, warnings, err := seal.FromBacktest(f.result, o)
	if err != nil {
		return nil, nil, err
	}
	running := seal.StrategiesOf(p.Strategies)
	if lines := d.OtherStrategies(running); len(lines) > 0 {
		return nil, nil, config.Usagef("%s was made with other strategies than %s has: %s", f.result, f.config,
			lines[0])
	}
	d.Strategies = running
	if d.Currency != p.Config.Account.Currency {
		return nil, nil, config.Usagef("%s counts in %s, the bot in %s", f.result, d.Currency,
			p.Config.Account.Currency)
	}
	if f.key != "" {
		key, err := seal.ReadKey(f.key)
		if err != nil {
			return nil, nil, err
		}
		d.PublicKey = seal.PublicKey(key)
	}
	if d.Search, err = a.searchOf(f.result, p.Config.Source); err != nil {
		warnings = append(warnings, fmt.Sprintf("the tries are not known: %v", err))
	}
	d.Program, err = thisProgram()
	return d, warnings, err
}

// searchOf counts the tries over the candles of a backtest, or, where it keeps no config, of the
// bot's own config.
func (a *app) searchOf(result string, own *config.Source) (s seal.Search, err error) {
	source, err := readSettings(result)
	if err != nil {
		source = own
	}
	c, err := config.LoadBacktest(source)
	if err != nil {
		return s, err
	}
	t := a.trials(c)
	if t == nil {
		return s, errors.New("made-up candles have no ledger of tries")
	}
	candles, err := plan.OpenLibrary(c)
	if err != nil {
		return s, err
	}
	defer candles.Close()
	p, err := a.stressPlan(c, plan.Shared(candles))
	if err != nil {
		return s, err
	}
	span, err := spanOf(p)
	if err != nil {
		return s, err
	}
	st, err := t.Standing(span, nil)
	return seal.Search{Counted: err == nil, Tries: st.Tries, Series: st.Series}, err
}

// thisProgram is the running binary.
func thisProgram() (p seal.Program, err error) {
	p.Version = version.Of(debug.ReadBuildInfo())
	path, err := os.Executable()
	if err != nil {
		return p, fmt.Errorf("hash of this program: %w", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return p, fmt.Errorf("hash of this program: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return p, fmt.Errorf("hash of this program: %w", err)
	}
	p.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return p, nil
}

// userName is the user of this machine.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}

// thisMoment is the time at which a person seals or signs.
func thisMoment() market.Time { return market.Time(nowMS()) * market.Time(time.Millisecond) }

// writeSeal lets the running bot of a folder journal the seal, or writes it into the state file of
// a stopped one.
func writeSeal(ctx context.Context, dir string, document []byte, by string) (*seal.SealStatus, error) {
	standing, err := operator.Seal(ctx, dir, document, by)
	if !errors.Is(err, operator.ErrNoBot) {
		return standing, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the state folder: %w", err)
	}
	store, err := journal.OpenUntil(ctx, filepath.Join(dir, statedir.StateFile))
	if err != nil {
		return nil, statedir.Error{Err: err}
	}
	batch := store.NewBatch()
	batch.Seal(thisMoment(), &journal.Seal{Scope: seal.Scope, By: by, Document: document})
	if err = store.Commit(batch); err == nil {
		standing, err = seal.StatusOf(store)
	}
	if err := errors.Join(err, store.Close()); err != nil {
		return nil, statedir.Error{Err: err}
	}
	return standing, nil
}

// printSeal shows a seal to a person; without a standing nothing was written.
func printSeal(w io.Writer, d *seal.Document, standing *seal.SealStatus) error {
	b := view.NewWriter(0)
	if standing != nil {
		b.Line("Sealed by %s, journal entry %d, sha256 %s", standing.By, standing.Entry, standing.Hash)
	} else {
		b.Line("Nothing was written: this is what would be sealed.")
	}
	b.Line("")
	b.Line("program     %s, sha256 %s", d.Program.Version, d.Program.SHA256)
	for _, s := range d.Strategies {
		params := ""
		for _, p := range s.Params {
			params += fmt.Sprintf(" %s=%s", p.Name, p.Value)
		}
		b.Line("strategy    %s: %s%s", s.Name, s.Kind, params)
	}
	from := d.Backtest.OutOfSample
	if from == "" {
		from = "none"
	}
	b.Line("backtest    %s, %s to %s, %d days, %d of them make the promise, out of sample from: %s", d.Backtest.Title,
		d.Backtest.From, d.Backtest.To, d.Backtest.Days, d.Backtest.OutOfSampleDays, from)
	if d.Search.Counted {
		b.Line("tries       %s over these candles, of %s different series of returns", thousands(d.Search.Tries),
			thousands(d.Search.Series))
	} else {
		b.Line("tries       not known")
	}
	for q, line := range d.PromiseLines() {
		b.Line("%-11s %s", sealQuantities[q], line)
	}
	if text := d.Delay(); text != "" {
		b.Line("")
		b.Text("", text)
	}
	if d.Search.Counted && d.Search.Series > 1 {
		b.Text("", "The winner of a search seldom keeps its promise, and a seal is slow to notice: docs/seal.md has "+
			"the table.")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sealQuantities are the names of the promises, by stats.Quantity.
var sealQuantities = [...]string{"return", "round trips", "slippage", "drawdown"}
