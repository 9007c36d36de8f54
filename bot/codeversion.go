package bot

import "runtime/debug"

// modulePath is this project's.
const modulePath = "github.com/tidemark-trading/tidemark"

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
