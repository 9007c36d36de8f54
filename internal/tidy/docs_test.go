package tidy

import (
	"go/ast"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// page is a document of the repository.
type page struct{ path, text string }

func pages(t *testing.T) (all []page) {
	atRoot()
	files, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	for _, file := range append(files, "README.md", "ARCHITECTURE.md") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all = append(all, page{filepath.ToSlash(file), string(text)})
	}
	return all
}

// quoted are the words of a page that stand in backticks, of one line each, outside of blocks.
func (p *page) quoted() (words []string) {
	blocks := regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(p.text, "")
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(blocks, -1) {
		words = append(words, m[1])
	}
	return words
}

// vocabulary is every name that a package declares: functions, methods, types, fields, constants
// and variables.
func vocabulary(files []*source) map[string]map[string]bool {
	names := map[string]map[string]bool{}
	for _, s := range files {
		if names[s.Name.Name] == nil {
			names[s.Name.Name] = map[string]bool{}
		}
		ast.Inspect(s.File, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.FuncDecl:
				names[s.Name.Name][n.Name.Name] = true
				return false
			case *ast.TypeSpec:
				names[s.Name.Name][n.Name.Name] = true
			case *ast.Field:
				for _, name := range n.Names {
					names[s.Name.Name][name.Name] = true
				}
			case *ast.ValueSpec:
				for _, name := range n.Names {
					names[s.Name.Name][name.Name] = true
				}
			}
			return true
		})
	}
	return names
}

func TestTheDocumentsNameCodeThatExists(t *testing.T) {
	packages := vocabulary(sources(t))
	known := func(pkg, name string) bool {
		if pkg != "" {
			return packages[pkg][name]
		}
		return slices.ContainsFunc(slices.Collect(maps.Values(packages)),
			func(names map[string]bool) bool { return names[name] })
	}
	qualified := regexp.MustCompile(`^([a-z]+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?(?:\(|$)`)
	method := regexp.MustCompile(`^([A-Z]\w*)\.([A-Z]\w*)(?:\(|$)`)
	single := regexp.MustCompile(`^(?:Test|Benchmark|Fuzz|Example)[A-Z]\w*$`)
	found := 0
	for _, p := range pages(t) {
		for _, word := range p.quoted() {
			switch m := qualified.FindStringSubmatch(word); {
			case m != nil && packages[m[1]] != nil:
				found++
				if !known(m[1], m[2]) || m[3] != "" && !known(m[1], m[3]) {
					t.Errorf("%s: `%s` does not exist in package %s", p.path, word, m[1])
				}
			case method.MatchString(word):
				found++
				if m := method.FindStringSubmatch(word); !known("", m[1]) || !known("", m[2]) {
					t.Errorf("%s: `%s` does not exist", p.path, word)
				}
			case single.MatchString(word):
				found++
				if !known("", word) {
					t.Errorf("%s: there is no %s", p.path, word)
				}
			}
		}
	}
	require.Greater(t, found, 80, "the search found too few names to be right")
}

func TestTheDocumentsPointToWhatIsThere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]*)(#[^)]*)?\)`)
	file := regexp.MustCompile(`^[\w./-]+\.(?:go|md|toml)$|^(?:[a-z]+/)+$`)
	all := pages(t)
	var code []string
	for _, s := range sources(t) {
		code = append(code, path.Base(s.path), s.path, s.dir+"/")
	}
	for _, p := range all {
		for _, m := range link.FindAllStringSubmatch(p.text, -1) {
			if _, err := os.Stat(path.Join(path.Dir(p.path), m[1])); err != nil && m[1] != "" &&
				!strings.Contains(m[1], "://") {
				t.Errorf("%s: the link to %s leads nowhere", p.path, m[1])
			}
			if to, found := linked(all, p, m[1]); found && m[2] != "" && !headed(to.text, m[2][1:]) {
				t.Errorf("%s: no heading %s in %s", p.path, m[2], to.path)
			}
		}
		for _, word := range p.quoted() {
			if !file.MatchString(word) || slices.Contains(code, word) || slices.Contains(made, word) {
				continue
			}
			if _, err := os.Stat(word); err != nil {
				t.Errorf("%s: there is no %s", p.path, word)
			}
		}
	}
}

func TestTheIndexHasEveryPage(t *testing.T) {
	all := pages(t)
	i := slices.IndexFunc(all, func(p page) bool { return p.path == "docs/index.md" })
	require.GreaterOrEqual(t, i, 0)
	for _, p := range all {
		if name := path.Base(p.path); path.Dir(p.path) == "docs" && name != "index.md" {
			require.True(t, strings.Contains(all[i].text, "]("+name+")"), "docs/index.md has no line for %s", p.path)
		}
	}
}

// linked is the page that a link of p leads to, if it is one of all; no path is p itself.
func linked(all []page, p page, to string) (page, bool) {
	if to == "" {
		return p, true
	}
	i := slices.IndexFunc(all, func(one page) bool { return one.path == path.Join(path.Dir(p.path), to) })
	if i < 0 {
		return page{}, false
	}
	return all[i], true
}

// TestTheLinesOfDocumentsFitAPage leaves tables, pictures and blocks out: their lines cannot be
// broken.
func TestTheLinesOfDocumentsFitAPage(t *testing.T) {
	blocks := regexp.MustCompile("(?ms)^```.*?^```")
	for _, p := range pages(t) {
		for _, line := range strings.Split(blocks.ReplaceAllString(p.text, ""), "\n") {
			if len([]rune(line)) > 120 && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "![") {
				t.Errorf("%s: more than 120 columns: %s", p.path, line)
			}
		}
	}
}

// documentBytes is the most that all Markdown documents together may have.
const documentBytes = 300_000

func TestTheDocumentsAreShort(t *testing.T) {
	atRoot()
	all, sizes := 0, map[string]int{}
	require.NoError(t, filepath.WalkDir(".", func(name string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && entry.Name()[0] == '.':
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(name)
		sizes[name] = len(text)
		all += len(text)
		return err
	}))
	require.Greater(t, len(sizes), 20, "the search found too few documents to be right")
	if all <= documentBytes {
		return
	}
	names := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return sizes[b] - sizes[a] })
	for _, name := range names[:10] {
		t.Logf("%6d  %s", sizes[name], name)
	}
	t.Errorf("the documents have %d bytes, %d too many: say something shorter, or once", all, all-documentBytes)
}

// made are files and folders that the documents name but the repository lacks: a run makes them, or
// the reader has them.
var made = []string{"live.toml", "config.toml", "sandbox.toml", "mine/strategy.go", "mine/fall_test.go",
	"mine/strategy_test.go", "recording/",
	"out/smacross-synthetic/",
	"exchange-api.md", "venue-facts.md"}

// headed reports whether a page has a heading with this anchor, which has no punctuation.
func headed(text, anchor string) bool {
	punctuation := regexp.MustCompile(`[^\pL\pN _-]`)
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		if strings.ReplaceAll(strings.ToLower(punctuation.ReplaceAllString(m[1], "")), " ", "-") == anchor {
			return true
		}
	}
	return false
}

func TestTheCommandsOfTheDocumentsFindTheirTests(t *testing.T) {
	call := regexp.MustCompile("go test [^`\n]*")
	asked := regexp.MustCompile(`-(?:run|bench) (?:'([^']*)'|(\S+))`)
	inside := regexp.MustCompile(` (\.\S*)`)
	runs := regexp.MustCompile(`^(?:Test|Benchmark|Fuzz|Example)`)
	functions := map[string][]string{}
	for _, s := range sources(t) {
		for name := range vocabulary([]*source{s})[s.Name.Name] {
			if s.test && runs.MatchString(name) {
				functions[path.Clean(s.dir)] = append(functions[path.Clean(s.dir)], name)
			}
		}
	}
	found := 0
	for _, p := range pages(t) {
		for _, command := range call.FindAllString(p.text, -1) {
			for _, m := range asked.FindAllStringSubmatch(command, -1) {
				pattern, _, _ := strings.Cut(m[1]+m[2], "/")
				if pattern == "^$" || pattern == "." {
					continue
				}
				found++
				dir := inside.FindStringSubmatch(command)
				require.NotNil(t, dir, "%s: %s names no package", p.path, command)
				for _, part := range strings.Split(pattern, "|") {
					if !slices.ContainsFunc(functions[path.Clean(dir[1])], regexp.MustCompile(part).MatchString) {
						t.Errorf("%s: %s finds no %s", p.path, command, part)
					}
				}
			}
		}
	}
	require.Greater(t, found, 15, "the search found too few commands to be right")
}

func TestTheTableOfPackagesNamesEach(t *testing.T) {
	atRoot()
	text, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	told := map[string]bool{"cmd/*": true} // the row of bot speaks for them
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z/-]+)/`(?:, `cmd/\\*/`)? \\| [^|]+ \\|$").
		FindAllStringSubmatch(string(text), -1) {
		_, known := mayImport[m[1]]
		require.True(t, known, "ARCHITECTURE.md: %s is no package", m[1])
		told[m[1]] = true
	}
	for dir := range mayImport {
		require.True(t, told[dir], "ARCHITECTURE.md has no row for %s", dir)
	}
}
