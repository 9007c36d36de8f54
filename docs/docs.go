// Package docs has the pages of this folder in the program, and finds the passage that answers a
// question. A config with comments is a page too, a setting is a block of it. The package never
// prints and knows no command. Start at Find, then at Section.
package docs

import (
	"embed"
	"io/fs"
	"strings"
	"unicode"

	"github.com/tidemark-trading/tidemark/configs"
)

//go:embed *.md
var pages embed.FS

// index is the page with the table of questions: its rows come before all other passages.
const index = "index.md"

// Section is a heading of a page with its text up to the next heading.
type Section struct {
	Page   string // the file, like "limits.md" or "live.toml"
	Title  string
	Above  []string // the titles of the sections that it stands in, the page's first
	Blocks []Block
}

// Block is a paragraph, an item of a list, a row of a table, a code block, or a setting with its
// comment.
type Block struct {
	Text string   // Markdown, in one line unless it is code
	Head []string // of a row: the titles of the columns
	Row  []string // its cells
	Code bool
	Item bool // of a list
}

// Name is the address of a section, as links have it: "limits.md#other-refusals".
func (s *Section) Name() string {
	if len(s.Above) == 0 {
		return s.Page
	}
	return s.Page + "#" + anchor(s.Title)
}

// anchor is the end of a link to a heading.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return r
		}
		return -1
	}, strings.ToLower(title))
}

// Sections returns the sections of all pages, in the order of the names of the pages, then those of
// the configs.
func Sections() (all []Section) {
	names, _ := fs.Glob(pages, "*.md") // the pattern is right
	for _, name := range names {
		text, _ := pages.ReadFile(name) // its name is of the list
		all = append(all, sections(name, string(text))...)
	}
	for _, name := range [...]string{"backtest.toml", "live.toml"} {
		text, _ := configs.Files.ReadFile(name) // it is in the program
		all = append(all, tables(name, string(text))...)
	}
	return all
}

// tables splits a config at its tables.
func tables(name, text string) (list []Section) {
	now := Section{Page: name, Title: "Settings, with their defaults"}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		bare := strings.TrimPrefix(line, "# ")
		last := len(now.Blocks) - 1
		switch title, _, _ := strings.Cut(strings.TrimPrefix(bare, "["), "]"); {
		case strings.HasPrefix(bare, "["):
			list = append(list, now)
			now = Section{Page: name, Title: title, Above: []string{"Settings"}, Blocks: []Block{{Text: line,
				Code: true}}}
		case line == "":
		case strings.HasPrefix(line, " ") && last >= 0: // the comment goes on
			now.Blocks[last].Text += "\n" + line
		default:
			now.Blocks = append(now.Blocks, Block{Text: line, Code: true})
		}
	}
	return append(list, now)
}

// sections splits a page at its headings.
func sections(name, text string) (list []Section) {
	var path []string // titles from the page's down to the present one
	now, block, code := Section{Page: name}, Block{}, false
	var head []string
	end := func() {
		if block.Text != "" || len(block.Row) > 0 {
			now.Blocks = append(now.Blocks, block)
		}
		block = Block{}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if fence := strings.HasPrefix(line, "```"); fence || code {
			if fence {
				end()
				code = !code
				continue
			}
			block.Code, block.Text = true, block.Text+line+"\n"
			continue
		}
		depth := len(line) - len(strings.TrimLeft(line, "#"))
		switch {
		case depth > 0:
			if end(); now.Title != "" {
				list = append(list, now)
			}
			path = append(path[:min(depth-1, len(path))], strings.TrimSpace(line[depth:]))
			now, head = Section{Page: name, Title: path[len(path)-1], Above: path[: len(path)-1 : len(path)-1]}, nil
		case strings.TrimSpace(line) == "":
			end()
			head = nil
		case strings.HasPrefix(line, "|---"):
		case strings.HasPrefix(line, "|"):
			end()
			if cells := cellsOf(line); head == nil {
				head = cells
			} else {
				block = Block{Head: head, Row: cells}
			}
		case strings.HasPrefix(line, "!["):
		default:
			item := strings.HasPrefix(line, "- ")
			if item {
				end()
				block.Item, line = true, line[2:]
			}
			block.Text = strings.TrimSpace(block.Text + " " + strings.TrimSpace(line))
		}
	}
	end()
	return append(list, now)
}

// cellsOf are the cells of a table's line; a bar behind a backslash stays.
func cellsOf(line string) (cells []string) {
	line = strings.ReplaceAll(strings.Trim(strings.TrimSpace(line), "|"), `\|`, "\x00")
	for cell := range strings.SplitSeq(line, "|") {
		cells = append(cells, strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|"))
	}
	return cells
}

// all is the Markdown of a block.
func (b *Block) all() string { return b.Text + strings.Join(b.Row, " ") }
