// Package version names the code that a binary was built from. It never reads files and knows no
// release but its own. Start at Of.
package version

import "runtime/debug"

// Module is this project's.
const Module = "github.com/tidemark-trading/tidemark"

// Of names the code that this binary was built from: the revision of its checkout, or the release,
// or "devel" where the build knows neither.
func Of(info *debug.BuildInfo, known bool) string {
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
