package dashboard

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/chart"
)

const (
	publicPath = "/public"
	publicFor  = 10 * time.Minute // for which a public page is kept: strangers do not ask the bot
	publicDays = "400d"           // that it reaches back
)

// PublicView is the page of a bot for strangers: returns of finished days as percentages with two
// decimals, and figures that are made of those rounded percentages alone.
type PublicView struct {
	Parts Parts
	Bot   string // name, or a number
}

// PublicPage is the page for strangers.
type PublicPage struct{ Bots []*PublicView }

// public keeps the page for strangers.
type public struct {
	desks func() ([]*botPages, error)
	names bool // bots and strategies are named
	pages *Pages
	now   func() time.Time

	mu   sync.Mutex // held while the page is made: the others wait for it
	text []byte     // nil: a bot has not answered
	next time.Time
}

// ServeHTTP answers strangers.
func (p *public) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
		return
	}
	text := p.latest(r.Context())
	if text == nil {
		http.Error(w, "no figures at the moment", http.StatusServiceUnavailable) // the error may name folders
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(text)
}

func (p *public) latest(ctx context.Context) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if now.Before(p.next) {
		return p.text
	}
	p.next = now.Add(publicFor)
	text, err := p.draw(context.WithoutCancel(ctx), now) // for the others, too
	if p.text = text; err != nil {
		p.text, p.next = nil, now.Add(stoppedFor)
	}
	return p.text
}

func (p *public) draw(ctx context.Context, now time.Time) ([]byte, error) {
	desks, err := p.desks()
	if err != nil {
		return nil, err
	}
	made := &PublicPage{}
	for i, d := range desks {
		name := "Bot"
		if len(desks) > 1 {
			name = fmt.Sprintf("Bot %d", i+1)
		}
		view, err := publicOf(ctx, d, now)
		if err != nil {
			return nil, err
		}
		if view.Bot = name; p.names {
			if err := view.name(ctx, d); err != nil {
				return nil, err
			}
		}
		made.Bots = append(made.Bots, view)
	}
	var text bytes.Buffer
	err = p.pages.WritePublic(&text, made)
	return text.Bytes(), err
}

// name adds the names of the bot and of its strategies.
func (v *PublicView) name(ctx context.Context, d *botPages) error {
	status, err := operator.AskStatus().Of(ctx, d.Of)
	if err != nil {
		return err
	}
	var names []string
	for _, s := range status.Value.Strategies {
		names = append(names, s.Name)
	}
	v.Bot = d.Name
	v.Parts[0] = append(v.Parts[0].(Cards), Card{"Strategies", text(strings.Join(names, ", ")), text("")})
	return nil
}

// publicOf asks a bot for its days and leaves out the one that has not ended: it would show what is
// held now.
func publicOf(ctx context.Context, d *botPages, now time.Time) (*PublicView, error) {
	report, err := operator.AskProfit(&profit.Query{By: profit.ByDay, Since: publicDays}).Of(ctx, d.Of)
	if err != nil {
		return nil, err
	}
	zone, err := profit.Zone(report.Value.Zone)
	if err != nil {
		return nil, err
	}
	today := now.In(zone).Format(time.DateOnly)
	var days []publicDay
	for i := range report.Value.Groups {
		g := &report.Value.Groups[i]
		if g.Return != nil && g.Name < today && len(g.Name) == len(today) {
			days = append(days, publicDay{g.Name, math.Round(*g.Return * 10_000)})
		}
	}
	return publicView(days)
}

// publicDay is the return of a day, rounded to hundredths of a per cent.
type publicDay struct {
	date string
	part float64 // in hundredths of a per cent
}

// publicView makes the page of rounded returns.
func publicView(days []publicDay) (*PublicView, error) {
	byDay := Table{Title: "Days", Head: []string{"Day", "Return"}, Empty: "No day has ended yet."}
	byMonth := Table{Title: "Months", Head: []string{"Month", "Return"}, Empty: "No day has ended yet."}
	index, peak, fall, month, monthly := 100.0, 100.0, 0.0, "", 1.0
	var points []chart.Point
	for i, day := range days {
		at, err := time.Parse(time.DateOnly, day.date)
		if err != nil {
			return nil, err
		}
		factor := 1 + day.part/10_000
		if day.date[:7] != month {
			month, monthly = day.date[:7], 1
			byMonth.Rows = append([]Row{{}}, byMonth.Rows...)
		}
		index, monthly = index*factor, monthly*factor
		peak = max(peak, index)
		fall = max(fall, 1-index/peak)
		points = append(points, chart.Point{X: float64(at.Unix()), Y: math.Round(index*100) / 100})
		byMonth.Rows[0] = row(left(month), signed("", hundredths(monthly-1)))
		if i >= len(days)-60 {
			byDay.Rows = append([]Row{row(left(day.date), signed("", hundredths(factor-1)))}, byDay.Rows...)
		}
	}
	made := &PublicView{Parts: Parts{Cards{
		{"Return", signed("", hundredths(index/100-1)), text(fmt.Sprintf("of %d days", len(days)))},
		{"Largest drawdown", text(hundredths(fall)), text("at the end of a day")}}}}
	if len(points) > 1 {
		made.Parts = append(made.Parts, view.Figure{Chart: chart.Chart{Label: "Value of 100 over time", Times: true,
			Panels: []chart.Panel{{Height: 200, Layers: []chart.Layer{
				chart.Line{Name: "Value of 100", Points: points}}}}}})
	}
	made.Parts = append(made.Parts, byMonth, byDay)
	return made, nil
}

func hundredths(part float64) string { return fmt.Sprintf("%.2f %%", part*100) }
