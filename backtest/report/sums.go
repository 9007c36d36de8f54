package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/view/page"
)

// kind is the group of a table of sums: by strategy, market and so on.
type kind int

const (
	byReason kind = iota
	byMarket
	byStrategy
	byDuration
	byWeekday
	byHour // the longest
	kinds
)

// titles of the tables.
var titles = [kinds]string{"reason of the exit", "market", "strategy", "duration",
	"weekday of the entry, UTC", "hour of the entry, UTC"}

// A Sum is a row of a table of sums over round trips.
type Sum struct {
	Name   string
	Count  int
	Won    int
	Profit float64
	growth float64 // sum of the returns
	held   int64
}

// named are empty sums with names.
func named(names []string) []Sum {
	list := make([]Sum, len(names))
	for i, name := range names {
		list[i].Name = name
	}
	return list
}

func weekdays() []string {
	return []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
}

func hours() []string {
	list := make([]string, 24)
	for i := range list {
		list[i] = fmt.Sprintf("%02d:00", i)
	}
	return list
}

// limits are the ends of the classes of durations, in seconds.
var limits = [...]int64{3600, 4 * 3600, 24 * 3600, 3 * 86400, 7 * 86400, 30 * 86400}

func durations() []string {
	return []string{"under 1 h", "1 to 4 h", "4 to 24 h", "1 to 3 d", "3 to 7 d", "7 to 30 d", "over 30 d"}
}

// count adds a trip to its sums.
func (t *Trips) count(k *kept) {
	held, class := k.held(), len(limits)
	for i, limit := range limits {
		if held < limit {
			class = i
			break
		}
	}
	day, hour := (int(k.Entered.Weekday())+6)%7, k.Entered.Std().Hour() // from Monday
	for kind, place := range [kinds]int{k.reason, k.Market, k.Strategy, class, day, hour} {
		s := &t.sums[kind][place]
		s.Count++
		if k.Profit > 0 {
			s.Won++
		}
		s.Profit += k.Profit
		s.growth += float64(bounded(k.Return))
		s.held += held
	}
}

// A breakdown is one of the tables.
type breakdown struct {
	Title string
	Rows  [][]page.Cell
}

// breakdowns are the tables with more than one row; that of reasons is always there.
func (t *Trips) breakdowns() (list []breakdown) {
	digits := readable(t.highestProfit, t.MoneyDigits)
	for kind := range kinds {
		sums := slices.DeleteFunc(slices.Clone(t.sums[kind]), func(s Sum) bool { return s.Count == 0 })
		if len(sums) == 0 || len(sums) == 1 && kind != byReason {
			continue
		}
		if kind <= byStrategy {
			slices.SortStableFunc(sums, func(a, b Sum) int {
				return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
			})
		}
		table := breakdown{Title: titles[kind]}
		for i := range sums {
			table.Rows = append(table.Rows, sums[i].cells(digits))
		}
		list = append(list, table)
	}
	return list
}

// cells are the row as text.
func (s *Sum) cells(digits int) []page.Cell {
	n := float64(s.Count)
	return []page.Cell{
		{Title: "", Text: s.Name}, {Title: "trips", Text: whole(s.Count)},
		{Title: "won, %", Text: decimal(100*float64(s.Won)/n, 1)},
		{Title: "profit", Text: decimal(s.Profit, digits), Class: sign(s.Profit)},
		{Title: "return, %", Text: decimal(100*s.growth/n, 2), Class: sign(s.growth)},
		{Title: "held", Text: span(s.held / int64(s.Count))},
	}
}
