package dashboard

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/operator"
)

// Limit is a limit of the risk gate with its use. Amounts are plain decimals.
type Limit struct {
	Name, Scope, Used, Limit, Headroom string
	Part                               float64 // used, as a part of the limit; negative: unknown
}

// RiskOf makes the page of limits and halts.
func RiskOf(s *operator.Status, limits []Limit, zone *time.Location) *Sections {
	use := Table{Title: "Limits", Empty: "The bot does not run: the use of its limits is not known.",
		Head: []string{"Limit", "Scope", "Used", "Limit", "Headroom", "Use"}}
	for _, l := range limits {
		id := "limit/" + l.Scope + "/" + l.Name + "/"
		part := Cell{ID: id + "part", Text: "–"}
		if l.Part >= 0 {
			part.Text, part.Part, part.Bar = fmt.Sprintf("%.0f %%", l.Part*100), int(min(l.Part, 1)*100), true
		}
		if l.Part >= 0.9 {
			part.Class = "bad"
		}
		use.Rows = append(use.Rows, row(left(l.Name), left(l.Scope), live(id+"used", l.Used), text(l.Limit),
			live(id+"headroom", l.Headroom), part))
	}
	view := &Sections{acts: allActs()[:1]}
	halts := Table{Title: "Halts", Empty: "Nothing is halted.", Head: []string{"Strategy", "Since", "Reason"}}
	for _, one := range s.Strategies {
		if one.State == operator.Halted {
			halts.Rows = append(halts.Rows, row(left(one.Name), text(moment(one.HaltedMS, zone)), left(one.Reason)))
			view.acts = append(view.acts, resumeOf(one.Name,
				"The strategy trades again. The reason of the halt was: "+cmp.Or(one.Reason, "none")))
		}
	}
	view.Tables = []Table{halts, use}
	return view
}

// JournalRow is an entry of the journal.
type JournalRow struct {
	Number                 uint64
	AtMS                   int64
	Kind, Strategy, Market string
	Order                  int64 // 0: none
	Lines                  []string
}

// JournalFilter narrows the journal. Empty fields ask for everything.
type JournalFilter struct{ Kind, Strategy, Market, Order string }

// JournalView is the page of the journal.
type JournalView struct {
	Sections
	JournalFilter
	Older string // query of the older entries; empty: there are none
}

// JournalOf makes the page of entries, the latest first. more says that there are older ones.
func JournalOf(rows []JournalRow, f JournalFilter, more bool, zone *time.Location) *JournalView {
	view := &JournalView{JournalFilter: f}
	t := Table{Title: "Entries", Empty: "No entry fits the filter.",
		Head: []string{"Entry", "Time", "Kind", "Strategy", "Market", "Order", "What"}}
	for _, r := range rows {
		order := text("–")
		if r.Order != 0 {
			order = Cell{Text: fmt.Sprint(r.Order), Path: fmt.Sprintf("/order?order=%d", r.Order)}
		}
		t.Rows = append(t.Rows, row(left(fmt.Sprint(r.Number)), text(moment(r.AtMS, zone)), text(r.Kind),
			text(cmp.Or(r.Strategy, "–")), text(cmp.Or(r.Market, "–")), order, left(strings.Join(r.Lines, "; "))))
	}
	if more && len(rows) > 0 {
		q := url.Values{"before": {fmt.Sprint(rows[len(rows)-1].Number)}}
		for name, value := range map[string]string{"kind": f.Kind, "strategy": f.Strategy, "market": f.Market,
			"order": f.Order} {
			if value != "" {
				q.Set(name, value)
			}
		}
		view.Older = q.Encode()
	}
	view.Tables = []Table{t}
	return view
}

// Check is a finding of the doctor.
type Check struct{ Name, Result, Detail, Mend string }

// System is what the page of the system shows.
type System struct {
	Status   *operator.Status
	Checks   []Check
	FreeDisk string // empty: unknown
	FileSize string
	BackupMS int64 // of the last backup; 0: none is known
	NowMS    int64
	Zone     *time.Location
}

// SystemOf makes the page of the machine and the program.
func SystemOf(y *System) *Sections {
	s := y.Status
	view := &Sections{Cards: []Card{
		{"Version", text(s.Version), text("run " + s.Run)},
		{"Runs since", text(moment(s.SinceMS, y.Zone)), text(age(s.SinceMS, y.NowMS))},
		{"Process", text(fmt.Sprint(s.PID)), live("state", s.State)},
		{"State file", live("file-size", cmp.Or(y.FileSize, "–")),
			live("entries", fmt.Sprintf("%d entries", s.JournalEntries))},
		{"Free disk", live("free-disk", cmp.Or(y.FreeDisk, "–")), Cell{}},
		{"Last backup", live("backup", age(y.BackupMS, y.NowMS)), text(moment(y.BackupMS, y.Zone))},
	}}
	t := Table{Title: "Checks of the doctor", Empty: "The doctor has not been asked.",
		Head: []string{"Check", "Result", "Detail", "What to do"}}
	for _, c := range y.Checks {
		result := text(c.Result)
		if c.Result != "ok" {
			result.Class = "bad"
		}
		t.Rows = append(t.Rows, row(left(c.Name), result, left(c.Detail), left(c.Mend)))
	}
	view.Tables = []Table{t}
	return view
}
