package bot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/version"
)

// dependency is the requirement of a new module on this project.
type dependency struct {
	Version   string
	Replace   string // folder of a checkout; empty: none
	goVersion string
}

// findDependency returns the checkout in replace, else the checkout around the current folder, else
// the released version of this program.
func findDependency(replace string) (*dependency, error) {
	if replace != "" {
		root, err := filepath.Abs(replace)
		if err == nil {
			var d *dependency
			if d, err = readCheckout(root); err == nil {
				return d, nil
			}
		}
		return nil, config.Usagef("--replace %s: %w", replace, err)
	}
	if d, err := checkoutAround(); d != nil || err != nil {
		return d, err
	}
	if version := releasedVersion(debug.ReadBuildInfo()); version != "" {
		return &dependency{Version: version, goVersion: "1.26.0"}, nil
	}
	return nil, config.Usagef(
		"this program is no release of Tidemark; name a checkout with --replace PATH, or run inside one")
}

// checkoutAround is the checkout around the current folder; nil: there is none.
func checkoutAround() (*dependency, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for {
		d, err := readCheckout(dir)
		if err == nil {
			return d, nil
		}
		if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, errOtherModule) {
			return nil, err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, nil
		}
		dir = parent
	}
}

// errOtherModule means that a folder holds a module that is not this project.
var errOtherModule = errors.New("it is no checkout of Tidemark")

// readCheckout reads a folder's go.mod.
func readCheckout(dir string) (*dependency, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	d := &dependency{Version: "v0.0.0", Replace: dir}
	ours := false
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		switch fields := strings.Fields(line); {
		case len(fields) != 2:
		case fields[0] == "module":
			ours = fields[1] == version.Module
		case fields[0] == "go":
			d.goVersion = fields[1]
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "bot", "bot.go")); err != nil || !ours {
		return nil, fmt.Errorf("%s: %w", dir, errOtherModule)
	}
	return d, nil
}

// releasedVersion is the version of this project in a build, if others can fetch it.
func releasedVersion(info *debug.BuildInfo, known bool) string {
	if !known {
		return ""
	}
	release := ""
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == version.Module && m.Replace == nil {
			release = m.Version
		}
	}
	if !strings.HasPrefix(release, "v") || strings.Contains(release, "+") || release == "v0.0.0" {
		return ""
	}
	return release
}
