package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/config"
)

// unitFolders are where systemd finds units, unless SYSTEMD_UNIT_PATH names others.
var unitFolders = []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
	"/usr/lib/systemd/system", "/lib/systemd/system"}

// unit is an installed service, with its settings for exit codes.
type unit struct {
	path    string
	starts  bool // it starts a bot
	restart bool // after a failure too
	prevent []string
	success []string
}

// units checks the installed services that start a bot. Exit code 2 is a crash; 64 and 78 are
// mistakes of usage and config. A unit for the older codes does not restart a bot that crashed.
func (d *doctor) units(folders []string) {
	for _, file := range unitFiles(folders) {
		u := unit{path: file}
		for _, part := range append([]string{file}, dropIns(file, folders)...) {
			u.read(part)
		}
		if !u.starts {
			continue
		}
		if hint := u.hint(); hint != "" {
			d.warn("unit", u.path+" has the exit codes of an older version", hint)
		} else {
			d.ok("unit", "%s fits the exit codes", u.path)
		}
	}
}

// foldersOfUnits are the folders with services of the system and of the user.
func foldersOfUnits(getenv func(string) string) []string {
	own := filepath.Join(getenv("HOME"), ".config/systemd/user")
	if base := getenv("XDG_CONFIG_HOME"); base != "" {
		own = filepath.Join(base, "systemd/user")
	}
	if path := getenv("SYSTEMD_UNIT_PATH"); path != "" {
		return slices.DeleteFunc(filepath.SplitList(path), func(folder string) bool { return folder == "" })
	}
	return append([]string{own}, unitFolders...)
}

// unitFiles lists the services, each once. Of several files of one service it takes the file that
// systemd reads.
func unitFiles(folders []string) (files []string) {
	known := map[string]bool{}
	for _, folder := range folders {
		found, _ := filepath.Glob(filepath.Join(folder, "*.service")) // a missing folder has none
		for _, file := range found {
			if name := filepath.Base(file); !known[name] {
				known[name] = true
				files = append(files, file)
			}
		}
	}
	return files
}

// dropIns lists the files that systemd reads after a service's file, by name; it reads each name
// once, from the first folder that has it.
func dropIns(file string, folders []string) (parts []string) {
	byName := map[string]string{}
	for _, folder := range folders {
		found, _ := filepath.Glob(filepath.Join(folder, filepath.Base(file)+".d", "*.conf"))
		for _, part := range found {
			if name := filepath.Base(part); byName[name] == "" {
				byName[name] = part
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		parts = append(parts, byName[name])
	}
	return parts
}

// read adds the settings of a file. An unreadable file has none.
func (u *unit) read(file string) {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "ExecStart":
			u.starts = u.starts && value != "" || startsBot(value)
		case "Restart":
			u.restart = value == "on-failure" || value == "always"
		case "RestartPreventExitStatus":
			u.prevent = statuses(u.prevent, value)
		case "SuccessExitStatus":
			u.success = statuses(u.success, value)
		}
	}
}

// startsBot reports whether a command line runs `bot run`: by a program with bot in its name, or by
// one of another name with -c and a .toml file.
func startsBot(line string) bool {
	words := strings.Fields(line)
	if len(words) < 3 || !slices.Contains(words, "run") {
		return false
	}
	named := strings.Contains(filepath.Base(words[0]), "bot")
	hasConfig := slices.ContainsFunc(words, func(word string) bool { return strings.HasSuffix(word, ".toml") })
	return named || slices.Contains(words, "-c") && hasConfig
}

// statuses appends exit codes; an empty list begins anew.
func statuses(have []string, value string) []string {
	if value == "" {
		return nil
	}
	for _, word := range strings.Fields(value) {
		have = append(have, cmp.Or(statusNames[word], word))
	}
	return have
}

// statusNames are systemd's words for the codes that matter here.
var statusNames = map[string]string{"INVALIDARGUMENT": "2", "USAGE": "64", "CONFIG": "78"}

// hint says how to mend a unit; empty: it needs no change.
func (u *unit) hint() string {
	switch {
	case slices.Contains(u.prevent, "2") || slices.Contains(u.success, "2"):
		return fmt.Sprintf("2 is a crash, after which systemd has to start the bot again: write "+
			"RestartPreventExitStatus=%d %d instead, then systemctl daemon-reload", config.ExitUsage, config.ExitConfig)
	case u.restart && !(slices.Contains(u.prevent, strconv.Itoa(config.ExitUsage)) &&
		slices.Contains(u.prevent, strconv.Itoa(config.ExitConfig))):
		return fmt.Sprintf("a mistake in the config is not corrected by a restart: add "+
			"RestartPreventExitStatus=%d %d, then systemctl daemon-reload", config.ExitUsage, config.ExitConfig)
	}
	return ""
}
