package bot

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/version"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of the program's code", Example: "  bot version", Args: cobra.NoArgs,
		RunE: a.enter(func(context.Context, []string) error {
			_, err := fmt.Fprintln(a.Stdout, version.Of(debug.ReadBuildInfo()))
			return err
		}),
	}
}
