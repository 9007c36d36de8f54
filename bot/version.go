package bot

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// modulePath is this project's.
const modulePath = "github.com/tidemark-trading/tidemark"

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of the program's code", Example: "  bot version", Args: cobra.NoArgs,
		RunE: a.enter(func(context.Context, []string) error {
			_, err := fmt.Fprintln(a.Stdout, codeVersion(debug.ReadBuildInfo()))
			return err
		}),
	}
}

// codeVersion names the code that this binary was built from: the revision of its checkout, or the release, or "devel" where
// the build knows neither.
func codeVersion(info *debug.BuildInfo, known bool) string {
	if !known {
		return "devel"
	}
	revision, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+changes"
		}
	}
	switch {
	case revision != "":
		return revision + changed
	case info.Main.Version != "" && info.Main.Version != "(devel)":
		return info.Main.Version
	}
	return "devel"
}
