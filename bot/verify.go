package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/seal"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/bot/version"
	"github.com/tidemark-trading/tidemark/state/journal"
)

const verifyHelp = `Say whether a bot keeps the promise that bot seal sealed: "within its promise", or
"broken, probably since" a day. A running bot judges each UTC day when it is over; this command reads
the verdicts of a running or a stopped bot. It may be asked every day, for ever: a kept promise is
called broken in 5 of 100 cases at most.

A promise that was called broken stays broken until a new seal. "Probably since" is an estimate. The
exit code is 1 if the promise is broken, or if nothing is sealed.`

func verifyCommand(a *app) *cobra.Command {
	f := &callerFlags{}
	c := &cobra.Command{
		Use: "verify", Short: "Say whether a bot keeps its sealed promise", Long: verifyHelp, Args: onlyFlags,
		Example: "  bot verify -c live.toml\n  bot verify --state bots/live --json",
		RunE: a.enter(func(ctx context.Context, _ []string) error {
			s, err := askAndShow(ctx, a, f, operator.AskVerify(), func(w io.Writer, s *seal.SealStatus) error {
				_, err := io.WriteString(w, s.Text())
				return err
			})
			switch {
			case err != nil:
				return err
			case !s.Sealed:
				return errNotSealed
			case s.Broken:
				return errBroken
			}
			return nil
		}),
	}
	f.register(c)
	return c
}

// The ends of bot verify with exit code 1.
var (
	errBroken    = errors.New("the promise is broken")
	errNotSealed = errors.New("nothing is sealed")
)

func sealKeyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "key FILE", Short: "Make a key that signs exports", Example: "  bot seal key seal.key",
		Long: "Writes a new ed25519 key to a FILE that only you may read, and prints its public half. Give the " +
			"public half to those who will check your exports.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return config.Usagef("want one file for the key: bot seal key seal.key")
			}
			return nil
		},
		RunE: a.enter(func(_ context.Context, args []string) error {
			public, err := seal.NewKey(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Stdout, "%s has the key; its public half is\n%s\n", args[0], public)
			return err
		}),
	}
}

// sealExportFlags are the flags of bot seal export.
type sealExportFlags struct {
	stateFlags
	key, out string
}

func sealExportCommand(a *app) *cobra.Command {
	f := &sealExportFlags{}
	c := &cobra.Command{
		Use: "export", Short: "Write a signed proof that others check offline", Args: onlyFlags,
		Example: "  bot seal export -c live.toml --key seal.key --out live.proof\n  bot seal check live.proof",
		Long: "Writes the journal from the latest seal on, signed with a key: orders, fills, fees, transfers and " +
			"verdicts. It has no key of the exchange and no strategy code, but it shows how the bot trades.",
		RunE: a.enter(func(ctx context.Context, _ []string) error { return a.sealExport(ctx, f) }),
	}
	c.Flags().StringVarP(&f.config, "config", "c", "", "take the state folder from this config `FILE`")
	c.Flags().StringVar(&f.path, "state", "", "state `FOLDER`, or a FILE with a copy; without it that of -c, or state")
	c.Flags().StringVar(&f.key, "key", "", "`FILE` with the key: see bot seal key")
	c.Flags().StringVar(&f.out, "out", "", "`FILE` of the export")
	return c
}

// sealExport runs the command. A running bot writes a copy of its state file first.
func (a *app) sealExport(ctx context.Context, f *sealExportFlags) error {
	if f.key == "" || f.out == "" {
		return config.Usagef("want --key FILE and --out FILE")
	}
	key, err := seal.ReadKey(f.key)
	if err != nil {
		return err
	}
	path, err := f.file()
	if err != nil {
		return err
	}
	store, err := copied(ctx, path)
	if err != nil {
		return err
	}
	err = console.WriteTo(nil, f.out, func(w io.Writer) error {
		return seal.Export(w, store, key, thisMoment(), version.Of(debug.ReadBuildInfo()))
	})
	if err := errors.Join(err, store.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s is written; others check it with: bot seal check %s\n", f.out, f.out)
	return err
}

// copied opens a state file, or the copy of it that a running bot writes.
func copied(ctx context.Context, path string) (*journal.Store, error) {
	if filepath.Base(path) == statedir.StateFile {
		store, err := operator.OpenCopy(ctx, filepath.Dir(path), true)
		if !errors.Is(err, operator.ErrNoBot) {
			return store, err
		}
	}
	store, err := journal.ReadUntil(ctx, path)
	if err != nil {
		return nil, statedir.Error{Err: err}
	}
	return store, nil
}

func sealCheckCommand(a *app) *cobra.Command {
	var asJSON bool
	var public string
	c := &cobra.Command{
		Use: "check FILE", Short: "Check a signed proof, offline",
		Example: "  bot seal check live.proof\n  bot seal check live.proof --public-key 'MCow…' --json",
		Long: "Checks an export of bot seal export without the bot and without the network: the signature, the " +
			"chain of the journal, the seal, the evidence of each day, and that money, positions and round trips " +
			"follow from the fills. It says what the export does not prove. The exit code is 1 if something does " +
			"not fit, or if the promise is broken.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return config.Usagef("want one export: bot seal check live.proof")
			}
			return nil
		},
		RunE: a.enter(func(_ context.Context, args []string) error { return a.sealCheck(args[0], public, asJSON) }),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringVar(&public, "public-key", "",
		"the export must be signed with this `KEY`, as bot seal key printed it")
	return c
}

// sealCheck runs the command.
func (a *app) sealCheck(path, public string, asJSON bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	proof, err := seal.ReadExport(file)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if public != "" && public != proof.Key {
		proof.Flaws = append(proof.Flaws, "it is not signed with the key of --public-key")
	}
	if asJSON {
		err = console.PrintJSON(a.Stdout, proof)
	} else {
		_, err = io.WriteString(a.Stdout, proof.Text())
	}
	switch {
	case err != nil:
		return err
	case len(proof.Flaws) > 0:
		return fmt.Errorf("%s does not hold: %s", path, proof.Flaws[0])
	case proof.Standing.Broken:
		return errBroken
	}
	return nil
}
