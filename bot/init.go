package bot

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/version"
)

//go:embed template
var templates embed.FS

const initHelp = `Start an own Go module in DIR: a strategy, a test that backtests it, a main with every command, and
configs for a backtest and for the simulated exchange. The strategy, its package and its section in the configs have
the name of DIR.

The module uses the checkout of Tidemark that --replace names, or the checkout around the current folder, or the
released version of this program. The command never overwrites a file.`

func initCommand(a *app) *cobra.Command {
	var module, replace string
	c := &cobra.Command{
		Use: "init DIR", Short: "Start an own strategy in a module of its own", Long: initHelp,
		Args:    cobra.ExactArgs(1),
		Example: "  bot init ../mybot\n  cd ../mybot && go test ./... && go run . backtest",
		RunE: a.enter(func(_ context.Context, args []string) error {
			return a.initModule(args[0], module, replace)
		}),
	}
	c.Flags().StringVar(&module, "module", "", "`NAME` of the module; without it that of DIR")
	c.Flags().StringVar(&replace, "replace", "", "checkout of Tidemark at `PATH` to build with")
	return c
}

// project holds the values for the templates.
type project struct {
	Name, Package, Module, Tidemark, Go string
	dependency
	dir string
}

func (a *app) initModule(dir, module, replace string) error {
	p, err := newProject(dir, module, replace)
	if err != nil {
		return err
	}
	files, err := p.files()
	if err != nil {
		return err
	}
	if err := writeNew(p.dir, files); err != nil {
		return err
	}
	return a.printNext(dir, files, p, "  go run . backtest\n  go run . backtest -c config.toml\n  go run . run -c "+
		"sandbox.toml     # while another terminal has: go run . exchange\n")
}

// newProject is a module in a folder.
func newProject(dir, module, replace string) (*project, error) {
	if dir == "" {
		return nil, config.Usagef("the name of the folder is empty; name one, like ../mybot")
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if module == "" {
		module = filepath.Base(absolute)
	}
	if !validModule(module) {
		return nil, config.Usagef("%q is no name for a module; name one with --module, like example.com/mybot",
			config.Clip(module))
	}
	from, err := findDependency(replace)
	if err != nil {
		return nil, err
	}
	from.Replace = modPath(from.Replace)
	name := module[strings.LastIndex(module, "/")+1:]
	return &project{Name: name, Package: packageOf(name), Module: module, Tidemark: version.Module, Go: from.goVersion,
		dependency: *from, dir: absolute}, nil
}

// modPath is a path for go.mod: in quotes if it has other than plain characters.
func modPath(path string) string {
	if regexp.MustCompile(`^[A-Za-z0-9/._~+=@%-]*$`).MatchString(path) {
		return path
	}
	return strconv.Quote(path)
}

// standardLibrary are the first parts of the names of Go's own packages: a module under one of them
// cannot import its own packages.
const standardLibrary = " archive bufio bytes cmd cmp compress container context crypto database debug embed " +
	"encoding errors expvar flag fmt go hash html image index internal io iter log maps " +
	"math mime net os path plugin reflect regexp runtime slices " +
	"sort strconv strings structs sync syscall testing text time toolchain unicode unique unsafe vendor weak "

// validModule accepts the names that Go accepts for a module: letters, digits and -._~ between
// slashes. No part begins or ends with a dot or is a device of Windows, and the first part is no
// package of the standard library.
func validModule(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	if strings.Contains(standardLibrary, " "+first+" ") ||
		regexp.MustCompile(`(?i)(^|/)(con|prn|aux|nul|com[1-9]|lpt[1-9])([./]|$)`).MatchString(name) {
		return false
	}
	return regexp.MustCompile(
		`^[A-Za-z0-9_~-]([A-Za-z0-9._~-]*[A-Za-z0-9_~-])?(/[A-Za-z0-9_~-]([A-Za-z0-9._~-]*[A-Za-z0-9_~-])?)*$`).
		MatchString(name) && !strings.HasPrefix(name, "-")
}

// taken are words that the written package uses, or that Go knows: a package and a type of such a
// name would hide them.
const taken = " any append bool bot byte cap clear close complex copy delete error falling false flag float32 " +
	"float64 imag init int int16 int32 int64 int8 iota len main make market max min new nil panic print println real " +
	"recover rune strategy strategytest string t test testdata testing true uint uint16 uint32 uint64 uint8 uintptr "

// packageOf is the name of the package, the strategy and its type: the letters and digits of the
// module's name. It is also that of the package's folder: Go ignores folders called testdata.
func packageOf(name string) string {
	letters := regexp.MustCompile(`[^a-z0-9]`).ReplaceAllString(strings.ToLower(name), "")
	hides := token.IsKeyword(letters) || strings.Contains(taken, " "+letters+" ")
	if hides || letters == "" || letters[0] <= '9' {
		return "my" + letters
	}
	return letters
}

// newFile is a file to write, with its path inside the module.
type newFile struct {
	path string
	text []byte
}

// files fills the templates.
func (p *project) files() (files []newFile, err error) {
	err = fs.WalkDir(templates, "template", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := templates.ReadFile(path)
		if err != nil {
			return err
		}
		filled, err := filledWith(string(text), p)
		name := strings.TrimSuffix(strings.TrimPrefix(path, "template/"), ".tmpl")
		if name == "gitignore" {
			name = ".gitignore" // which go:embed leaves out
		}
		name = strings.Replace(name, "mine/", p.Package+"/", 1)
		files = append(files, newFile{path: name, text: filled})
		return err
	})
	return files, err
}

// filledWith is a template with its values.
func filledWith(text string, values any) ([]byte, error) {
	t, err := template.New("").Parse(text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, values)
	return out.Bytes(), err
}

// writeNew writes all files, or none where one of them is there already.
func writeNew(dir string, files []newFile) error {
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(dir, f.path)); err == nil {
			return fmt.Errorf("%s is there already; nothing was written", filepath.Join(dir, f.path))
		}
	}
	for _, f := range files {
		path := filepath.Join(dir, f.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		_, err = file.Write(f.text)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// printNext lists the files, and what to type next.
func (a *app) printNext(dir string, files []newFile, p *project, more string) error {
	fmt.Fprintf(a.Stdout, "Written to %s:\n", dir)
	for _, f := range files {
		fmt.Fprintf(a.Stdout, "  %s\n", f.path)
	}
	tidy := ""
	if p.Replace == "" { // its own sum is missing
		tidy = "  go mod tidy\n"
	}
	_, err := fmt.Fprintf(a.Stdout, "Next:\n  cd %s\n%s  go test ./...\n%s", shellWord(dir), tidy, more)
	return err
}

// shellWord is a path that can be pasted after cd.
func shellWord(path string) string {
	if modPath(path) == path {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
