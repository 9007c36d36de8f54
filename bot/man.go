package bot

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual page of each command to a folder",
		Example: "  bot man ~/.local/share/man/man1\n  man bot-backtest", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.enter(func(_ context.Context, args []string) error { return writeManuals(c.Root(), args[0]) })(c, args)
		},
	}
}

// writeManuals writes a manual page for a command and for each one below it.
func writeManuals(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("manual pages: %w", err)
	}
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Tidemark", Manual: "Tidemark"}, dir); err != nil {
		return fmt.Errorf("manual pages: %w", err)
	}
	return nil
}
