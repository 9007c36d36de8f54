package bot

import (
	"context"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/version"
)

func (a *app) versionCommand() *cobra.Command {
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
