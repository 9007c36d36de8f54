package docs

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// An Answer is what the pages say about some words.
type Answer struct {
	// Topic is the row of docs/index.md that has the words: the first cell lists them, the second
	// answers. It is nil where the words are no topic.
	Topic []string

	// Found are the sections: those that the topic links to, then those with the words, the best
	// first.
	Found []Section
}

// Topics returns the rows of docs/index.md.
func Topics() (rows [][]string) {
	for _, s := range sections(index, indexText()) {
		for i := range s.Blocks {
			if b := &s.Blocks[i]; len(b.Row) == 2 && b.Head[0] == topicHead {
				rows = append(rows, b.Row)
			}
		}
	}
	return rows
}

// topicHead is the title of the first column of topics.
const topicHead = "about"

func indexText() string {
	text, _ := pages.ReadFile(index) // it is in the program
	return string(text)
}

// Find looks words up: the name of a page or section, a topic, or any words of the pages.
func Find(words string) Answer {
	all := Sections()
	if named := named(all, words); named != nil {
		return Answer{Found: named}
	}
	asked := asked(words)
	if len(asked) == 0 {
		return Answer{}
	}
	topic := topicOf(asked)
	var found []Section
	if topic != nil {
		for _, target := range targets(topic[1]) {
			found = append(found, named(all, target)[:1]...) // a test holds that each link leads to a section
		}
		whole := func(s Section) int { return min(1, len(s.Above)) } // a whole page comes after sections
		slices.SortStableFunc(found, func(a, b Section) int { return whole(b) - whole(a) })
	}
	for _, s := range ranked(all, asked) {
		if !slices.ContainsFunc(found, func(f Section) bool { return f.Name() == s.Name() }) {
			found = append(found, s)
		}
	}
	return Answer{Topic: topic, Found: found}
}

// targets are the targets of the links in Markdown.
func targets(text string) (list []string) {
	for _, rest := range strings.Split(text, "](")[1:] {
		target, _, _ := strings.Cut(rest, ")")
		list = append(list, target)
	}
	return list
}

// Unlinked is Markdown with the texts of its links alone.
func Unlinked(text string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "](")
		open := strings.LastIndexByte(before, '[')
		if !found || open < 0 {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(before[:open] + before[open+1:])
		_, text, _ = strings.Cut(rest, ")")
	}
}

// named are the sections with this name: a page has all of its.
func named(all []Section, name string) (found []Section) {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "../"), "docs/")
	for i := range all {
		if all[i].Name() == name || all[i].Page == name {
			found = append(found, all[i])
		}
	}
	return found
}

// topicOf is the row of the index with a phrase of exactly these stems, or else with the longest
// phrase that is a part of them.
func topicOf(question []string) (best []string) {
	most := 0
	for _, row := range Topics() {
		for phrase := range strings.SplitSeq(row[0], ",") {
			have := asked(phrase)
			outside := func(s string) bool { return !slices.Contains(question, s) }
			if len(have) > most && !slices.ContainsFunc(have, outside) {
				most, best = len(have), row
			}
		}
	}
	return best
}

// aside are pages of figures and of words of others: they answer what no other page does.
var aside = [...]string{"coming-from.md", "conformance.md", "pairs.md", "performance.md", "testing.md"}

// ranked are the sections with some of the stems. A stem counts the more the fewer sections have
// it, and more in a title than below it.
func ranked(all []Section, asked []string) (found []Section) {
	counts, scores := map[string]int{}, map[string]float64{}
	texts := make([][][]string, len(all)) // stems of each section: its titles, then each block
	for i := range all {
		s := &all[i]
		texts[i] = [][]string{stems(strings.Join(append(s.Above, s.Title), " "))}
		seen := slices.Clone(texts[i][0])
		for k := range s.Blocks {
			block := stems(s.Blocks[k].all())
			texts[i], seen = append(texts[i], block), append(seen, block...)
		}
		for _, stem := range asked {
			if slices.Contains(seen, stem) {
				counts[stem]++
			}
		}
	}
	for i := range all {
		best, inAll := 0.0, 0.0
		for k, block := range texts[i][1:] {
			one := weight(block, asked, counts, len(all)) / (1 + float64(len(block))/200)
			if one > 0 {
				one += weight(stems(all[i].Blocks[k].subject()), asked, counts, len(all))
			}
			best, inAll = max(best, one), inAll+one
		}
		score := best + inAll/20 + 3*weight(texts[i][0], asked, counts, len(all))
		if slices.Contains(aside[:], all[i].Page) {
			score /= 2
		} else if strings.HasSuffix(all[i].Page, ".toml") { // a page says more about a setting
			score *= 0.7
		}
		if score > 0 && all[i].Page != index { // a topic has been asked for already
			found = append(found, all[i])
			scores[all[i].Name()] = score
		}
	}
	slices.SortStableFunc(found, func(a, b Section) int {
		return cmp.Compare(scores[b.Name()], scores[a.Name()])
	})
	return found
}

// weight says how much of the asked stems a text has; all of them count twice.
func weight(text, asked []string, counts map[string]int, sections int) (sum float64) {
	met := 0
	for _, stem := range asked {
		if slices.Contains(text, stem) {
			met++
			sum += math.Log(1 + float64(sections)/float64(counts[stem]))
		}
	}
	if met == len(asked) {
		sum *= 2
	}
	return sum
}

// subject is what a block is about: the first cell of a row, or the key of a setting.
func (b *Block) subject() string {
	if len(b.Row) > 0 {
		return b.Row[0]
	}
	key, _, setting := strings.Cut(b.Text, " = ")
	if !b.Code || !setting {
		return ""
	}
	return key
}

// Has is how many of the words a block has.
func (b *Block) Has(words string) (n int) {
	have := stems(b.all())
	for _, w := range asked(words) {
		if slices.Contains(have, w) {
			n++
		}
	}
	return n
}

// idle are words of questions that say nothing about their answers.
const idle = " a an and are at be bot can do does for from how i if in is it me my of on or so that the there " +
	"this to use what when where which why will with you your "

// asked are the stems of a question, each once.
func asked(words string) (list []string) {
	for _, w := range split(words) {
		if s := stem(w); !strings.Contains(idle, " "+w+" ") && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// stems are the words of a text without their endings, and the parts of keys like max_position.
func stems(text string) (list []string) {
	for _, w := range split(text) {
		list = append(list, stem(w))
		if strings.Contains(w, "_") {
			for part := range strings.SplitSeq(w, "_") {
				list = append(list, stem(part))
			}
		}
	}
	return list
}

// split are the words of a text in small letters, and keys with their underscores.
func split(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// stem is a word without the ending of a plural or a form of a verb.
func stem(w string) string {
	for _, ending := range [...]string{"ing", "ed", "es", "s", "e"} {
		if cut := strings.TrimSuffix(w, ending); cut != w && len(cut) >= 3 && !strings.HasSuffix(w, "ss") {
			w = cut
			break
		}
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && !strings.ContainsAny(w[n-1:], "ls") { // stopped
		w = w[:n-1]
	}
	return w
}
