package backtest

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// The most that a run keeps of what its strategies plot.
const (
	maxLines    = 32 // of all strategies and markets
	maxMarks    = 2000
	maxMarkText = 60 // bytes
)

// plots are the lines and marks that the strategies of a run plotted. Lines are thinned while they
// grow; of too many marks every second is dropped.
type plots struct {
	catalog *market.Catalog
	lines   []*line // in the order of their first values
	places  map[lineKey]*line
	marks   []mark
	seen    int // marks
	each    int // one mark in each is kept
	dropped map[lineKey]bool
}

// lineKey names a line.
type lineKey struct {
	strategy   market.StrategyID
	market     market.ID
	pane, name string
}

// mark is a mark on a price.
type mark struct {
	lineKey // name is its text
	at      market.Time
	price   market.Price
}

func newPlots(catalog *market.Catalog) *plots {
	return &plots{catalog: catalog, places: make(map[lineKey]*line), each: 1, dropped: make(map[lineKey]bool)}
}

// add adds a value or a mark at a time that never goes back.
func (p *plots) add(at market.Time, s market.StrategyID, one strategy.Plotted, price market.Price) {
	key := lineKey{s, one.Market, one.Pane, one.Name}
	if one.Mark {
		p.mark(mark{lineKey: key, at: at, price: price})
	} else if l := p.line(key, one.Value); l != nil {
		l.add(at, one.Value)
	}
}

// line is the line of a name, which begins with its first value. It is nil where there are too
// many.
func (p *plots) line(key lineKey, value float64) *line {
	l := p.places[key]
	switch {
	case l != nil || !drawable(value):
	case len(p.lines) < maxLines:
		l = newLine(key)
		p.lines, p.places[key] = append(p.lines, l), l
	case len(p.dropped) < maxLines:
		p.dropped[key] = true
	}
	return l
}

func (p *plots) mark(m mark) {
	p.seen++
	if (p.seen-1)%p.each != 0 {
		return
	}
	if len(p.marks) == maxMarks {
		kept := p.marks[:0]
		for i := 0; i < len(p.marks); i += 2 {
			kept = append(kept, p.marks[i])
		}
		p.marks, p.each = kept, 2*p.each
	}
	if len(m.name) > maxMarkText {
		end := maxMarkText
		for !utf8.RuneStart(m.name[end]) {
			end--
		}
		m.name = m.name[:end] + "…"
	}
	p.marks = append(p.marks, m)
}

// empty reports whether nothing was plotted; nil is empty.
func (p *plots) empty() bool { return p == nil || len(p.lines) == 0 && len(p.marks) == 0 }

// warnings says what was dropped.
func (p *plots) warnings() (lines []string) {
	if p == nil {
		return nil
	}
	if n := len(p.dropped); n > 0 {
		lines = append(lines, fmt.Sprintf(
			"The first %d plotted lines are kept; %d or more others are not. The name of "+
				"a line is a constant.", maxLines, n))
	}
	if p.each > 1 {
		lines = append(lines, fmt.Sprintf("One mark in %d is kept.", p.each))
	}
	return lines
}

// scale turns a value of a pane into what is drawn: prices become decimals.
func (p *plots) scale(key *lineKey) float64 {
	if key.pane != "" {
		return 1
	}
	return float64(market.Pow10(p.catalog.Market(key.market).PriceDigits))
}

// label is the name of a line; with the strategy where several plot.
func (p *plots) label(key *lineKey) string {
	for _, l := range p.lines {
		if l.key.strategy != key.strategy {
			return fmt.Sprintf("%s (strategy %d)", key.name, key.strategy)
		}
	}
	return key.name
}

const plotsHeader = "time_ms,market,strategy,kind,pane,name,value\n"

// write writes plots.csv: line by line, then the marks. An empty value breaks its line.
func (p *plots) write(t *table) {
	t.buf = append(t.buf, plotsHeader...)
	for _, l := range p.lines {
		scale := p.scale(&l.key)
		for _, point := range l.points() {
			r := p.begin(t.buf, point.at, &l.key, "line")
			if !math.IsNaN(point.value) {
				r = strconv.AppendFloat(r, point.value/scale, 'g', -1, 64)
			}
			t.buf = append(r, '\n')
			t.flushFull()
		}
	}
	for i := range p.marks {
		m := &p.marks[i]
		digits := p.catalog.Market(m.market).PriceDigits
		t.buf = append(market.AppendFixed(p.begin(t.buf, m.at, &m.lineKey, "mark"), int64(m.price), digits), '\n')
		t.flushFull()
	}
}

// begin appends all cells of a row but the last.
func (p *plots) begin(dst []byte, at market.Time, key *lineKey, kind string) row {
	return row(dst).integer(at.Millis()).text(p.catalog.Market(key.market).Name).integer(int64(key.strategy)).
		text(kind).
		text(key.pane).text(key.name)
}
