package dashboard

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
)

// RiskOf makes the page of limits and halts.
func RiskOf(r *operator.Risk, zone *time.Location) Parts {
	halts := Table{Title: "Halts", Empty: "Nothing is halted.", Head: []string{"Scope", "Since", "By", "Reason"}}
	for _, h := range r.Halts {
		halts.Rows = append(halts.Rows, row(left(h.Scope), text(moment(h.SinceMS, zone)), text(h.By),
			Cell{Text: h.Reason, Class: "left bad"}))
	}
	all := Parts{halts}
	var scopes []string
	for i := range r.Limits {
		if scope := r.Limits[i].Scope; !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	if len(scopes) == 0 {
		all = append(all, Table{Title: "Limits",
			Empty: "The state file has no limits: the bot has not run for a minute yet."})
	}
	for _, scope := range scopes {
		all = append(all, limitTable(r, scope))
	}
	return append(all, unsetLimits(r)...)
}

// limitTable lists the limits of the account or of a strategy.
func limitTable(r *operator.Risk, scope string) Table {
	t := Table{Title: "Limits of the " + scope + ", money in " + r.Currency, Empty: "No limit is set.",
		Head: []string{"Limit", "Market", "Used", "Of", "Left", "Use", "Standing"}}
	for i := range r.Limits {
		if l := &r.Limits[i]; l.Scope == scope && !unset(l) {
			t.Rows = append(t.Rows, limitRow(l))
		}
	}
	return t
}

// unset reports whether a limit says nothing.
func unset(l *operator.Limit) bool { return l.Max == "" && !l.Reached }

// unsetLimits are the names of the limits that are not set, folded.
func unsetLimits(r *operator.Risk) Parts {
	var names List
	for i := range r.Limits {
		if l := &r.Limits[i]; unset(l) {
			name := l.Name + " of the " + l.Scope
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return Parts{Fold{fmt.Sprintf("%d limits are not set", len(names)), Parts{names}}}
}

func limitRow(l *operator.Limit) Row {
	id := "limit/" + l.Scope + "/" + l.Name + "/" + l.Market + "/"
	part := live(id+"part", "–")
	if l.Part != nil {
		part.Text, part.Part, part.Bar = fmt.Sprintf("%.0f %%", *l.Part*100), int(min(*l.Part, 1)*100), true
	}
	standing := Cell{ID: id + "standing", Text: cmp.Or(l.Standing(), "within it"), Class: "left"}
	if l.UsedUp() {
		standing.Class = "left bad"
	}
	return row(left(l.Name), text(cmp.Or(l.Market, "all")), live(id+"used", cmp.Or(l.Words(l.Used), "–")),
		text(cmp.Or(l.Words(l.Max), "–")), live(id+"left", cmp.Or(l.Words(l.Left), "–")), part, standing)
}

// JournalView is the page of the journal.
type JournalView struct {
	Parts Parts
	Query *operator.JournalQuery
	Kinds []string
	Older string // the link to older entries; empty: there are none
}

// JournalOf makes the page of entries, the latest first. kinds are all kinds of entries.
func JournalOf(j *operator.Journal, q *operator.JournalQuery, kinds []string, zone *time.Location) *JournalView {
	view := &JournalView{Query: q, Kinds: kinds}
	t := Table{Title: "Entries", Empty: "No entry fits.",
		Head: []string{"Entry", "Time", "Kind", "Strategy", "Market", "Order", "Content"}}
	if j.Older != 0 {
		t.Empty = "None of the entries that were looked at fits. There are older ones."
	}
	for i := range j.Entries {
		e := &j.Entries[i]
		order := text("–")
		if e.Order != 0 {
			order = Cell{Text: fmt.Sprint(e.Order), Path: fmt.Sprintf("order?order=%d", e.Order)}
		}
		t.Rows = append(t.Rows, row(left(fmt.Sprint(e.Number)), text(moment(e.AtMS, zone)), text(e.Kind),
			text(cmp.Or(e.Strategy, "–")), text(cmp.Or(e.Market, "–")), order, left(e.Text())))
	}
	if j.Older != 0 {
		older := url.Values{"before": {fmt.Sprint(j.Older)}}
		for name, value := range map[string]string{"kind": q.Kind, "strategy": q.Strategy, "market": q.Market,
			"order": q.Order, "since": q.Since, "until": q.Until} {
			if value != "" {
				older.Set(name, value)
			}
		}
		view.Older = "journal?" + older.Encode()
	}
	view.Parts = Parts{t}
	return view
}

// SystemPage makes the page of the program, its files and the machine.
func SystemPage(d *Documents, y *operator.System) Parts {
	s, warnings := d.Status, Warnings(nil)
	if y.ReadOnly {
		warnings = append(warnings, "No file can be made in "+y.Folder)
	}
	if y.Broken {
		warnings = append(warnings, y.Seal)
	}
	files := Table{Title: "Files", Head: []string{"File", "Size", "Reach", "Path"}}
	reach := "–"
	if y.State.SinceMS != 0 {
		reach = fmt.Sprintf("%d entries; whole since %s", y.State.Entries, moment(y.State.SinceMS, d.Zone))
	}
	files.Rows = append(files.Rows, row(left("state"), text(megabytes(y.State.Bytes)), left(reach), left(y.State.Path)))
	if r := y.Recording; r != nil {
		files.Rows = append(files.Rows, row(left("recording"), text(megabytes(r.Bytes)), left(fmt.Sprintf(
			"%d events, %s to %s", r.Events, moment(r.FromMS, d.Zone), moment(r.ToMS, d.Zone))), left("recording")))
	}
	if l := y.Log; l != nil {
		files.Rows = append(files.Rows, row(left("log"), text(megabytes(l.Bytes)), left("–"), left(l.Path)))
	}
	checks := Table{Title: "Promises and checks", Head: []string{"Subject", "Standing"}, Rows: []Row{
		row(left("doctor"), doctorCell(d, y)),
		row(left("seal"), left(cmp.Or(y.Seal, "Nothing is sealed."))), row(left("canary"), left(canaryText(s.Canary)))}}
	all := Parts{systemCards(d, y), warnings, checks}
	if y.Doctor != nil {
		all = append(all, findingTable(y.Doctor))
	}
	return append(append(all, files), feedTables(s, d.NowMS)...)
}

// doctorCell says how the last bot doctor ended, and how long ago.
func doctorCell(d *Documents, y *operator.System) Cell {
	c := y.Doctor
	switch {
	case y.Unread != "":
		return Cell{Text: y.Unread, Class: "left bad"}
	case c == nil:
		return left("It was not run yet. Run: bot doctor -c CONFIG")
	}
	count := map[string]int{}
	for i := range c.Findings {
		count[c.Findings[i].Level]++
	}
	cell := left(fmt.Sprintf("%d ok, %d to be judged, %d fail; %s ago, %s", count["ok"], count["warn"], count["fail"],
		age(c.AtMS, d.NowMS), moment(c.AtMS, d.Zone)))
	if c.Config != d.Status.ConfigHash && d.Status.ConfigHash != "" {
		cell.Text += "; for other settings than the bot has now"
	}
	if count["fail"] > 0 {
		cell.Class = "left bad"
	}
	return cell
}

// findingTable lists the findings of the last bot doctor that fail or are to be judged.
func findingTable(c *statedir.Checkup) Table {
	t := Table{Title: "What the doctor found", Empty: "No check failed, and nothing is to be judged.",
		Head: []string{"Check", "Level", "Finding", "To do"}}
	for _, level := range [...]string{"fail", "warn"} {
		for i := range c.Findings {
			if f := &c.Findings[i]; f.Level == level {
				cell := Cell{Text: f.Level, Class: "left"}
				if level == "fail" {
					cell.Class = "left bad"
				}
				t.Rows = append(t.Rows, row(left(f.Check), cell, left(f.Text), left(cmp.Or(f.Hint, "–"))))
			}
		}
	}
	return t
}

func systemCards(d *Documents, y *operator.System) Cards {
	s, free := d.Status, "–"
	if y.DiskFree != nil {
		free = fmt.Sprintf("%.1f GB", float64(*y.DiskFree)/1e9)
	}
	process, reloaded := "–", ""
	if s.PID != 0 {
		process = fmt.Sprint(s.PID)
	}
	if s.ReloadedMS != 0 {
		reloaded = ", reloaded " + age(s.ReloadedMS, d.NowMS) + " ago"
	}
	backup := "never"
	if y.BackupMS != 0 {
		backup = age(y.BackupMS, d.NowMS) + " ago"
	}
	return Cards{
		{"Version", text(s.Version), text("config " + clipped(s.ConfigHash, 12) + reloaded)},
		{"Runs since", text(moment(s.SinceMS, d.Zone)), text("run " + clipped(s.Run, 8))},
		{"Process", left(process), text(s.State)},
		{"Free disk", text(free), text("of the state folder")},
		{"Backup", text(backup), text("by the running bot")},
		{"Clock", live("clock-offset", fmt.Sprintf("%+d ms", s.ClockOffsetMS)),
			text(fmt.Sprintf("the exchange's ahead; %.0f ms there and back", s.RoundTripMS))},
	}
}

// canaryText says how far a canary is.
func canaryText(c *operator.Canary) string {
	switch {
	case c == nil:
		return "There is none."
	case c.Decided != "":
		return "It was " + c.Decided + "."
	case c.Difference != "":
		return "It decided something else: " + c.Difference
	case c.Ended != "":
		return "It has ended: " + c.Ended
	}
	return fmt.Sprintf("%d of %d commands were equal.", c.Equal, c.Wanted)
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// clipped is a long name's beginning.
func clipped(name string, most int) string {
	return strings.ToValidUTF8(name[:min(len(name), most)], "")
}
