package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/tidemark-trading/tidemark/bot/books"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
)

func (d *desk) market(r *http.Request, docs *Documents) (any, error) {
	m, err := d.askMarket(r)
	if err != nil {
		return nil, err
	}
	return MarketOf(m, docs.Zone)
}

func (d *desk) askMarket(r *http.Request) (*operator.Market, error) {
	q, err := marketQueryOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	q.Columns = columnsWide
	answer, err := operator.AskMarket(r.Context(), d.Of, q)
	return answer.Value, err
}

// chart answers with the picture of a market alone: the script fetches it anew for another time.
func (d *desk) chart(w http.ResponseWriter, r *http.Request) {
	width := widthWide
	if r.FormValue("width") == strconv.Itoa(widthNarrow) {
		width = widthNarrow
	}
	m, err := d.askMarket(r)
	if err == nil {
		var picture []byte
		if picture, err = chartOf(m, width); err == nil {
			w.Header().Set("Content-Type", "image/svg+xml")
			_, _ = w.Write(picture)
			return
		}
	}
	http.Error(w, err.Error(), statusOf(err))
}

// chartOf is the picture of a market; where there is nothing to draw, one that says so.
func chartOf(m *operator.Market, width int) ([]byte, error) {
	c, err := marketChart(m, width)
	if err != nil {
		return nil, err
	}
	if len(c.Panels) == 0 {
		return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d 40" role="img" `+
			`fill="currentColor" font-size="14"><text x="8" y="25">There is nothing to draw in this time.</text></svg>`,
			width), nil
	}
	element, err := c.Element()
	return []byte(element), err
}

func (d *desk) risk(_ *http.Request, docs *Documents) (any, error) {
	return RiskOf(docs.Risk, docs.Zone), nil
}

func (d *desk) journal(r *http.Request, docs *Documents) (any, error) {
	q, err := journalQueryOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	answer, err := operator.AskJournal(r.Context(), d.Of, q)
	if err != nil {
		return nil, err
	}
	return JournalOf(answer.Value, q, operator.JournalKinds(), docs.Zone), nil
}

func (d *desk) system(r *http.Request, docs *Documents) (any, error) {
	answer, err := operator.AskSystem(r.Context(), d.Of)
	if err != nil {
		return nil, err
	}
	return SystemPage(docs, answer.Value), nil
}

// marketQueryOf is the question for a market in an address.
func marketQueryOf(v url.Values) (q *operator.MarketQuery, err error) {
	q = &operator.MarketQuery{Market: v.Get("market"), Interval: v.Get("interval")}
	if q.FromMS, err = numberOf(v, "from"); err != nil {
		return nil, err
	}
	if q.ToMS, err = numberOf(v, "to"); err != nil {
		return nil, err
	}
	columns, err := numberOf(v, "columns")
	q.Columns = int(min(columns, operator.MaxColumns))
	return q, err
}

// journalQueryOf is the question for the journal in an address.
func journalQueryOf(v url.Values) (*operator.JournalQuery, error) {
	before, err := numberOf(v, "before")
	if err != nil {
		return nil, err
	}
	latest, err := numberOf(v, "latest")
	if err != nil {
		return nil, err
	}
	return &operator.JournalQuery{Query: books.Query{Since: v.Get("since"), Until: v.Get("until"),
		Strategy: v.Get("strategy"), Market: v.Get("market"), Zone: v.Get("zone"),
		Latest: int(min(latest, operator.MaxEntries))}, Kind: v.Get("kind"), Order: v.Get("order"),
		Before: uint64(before)}, nil
}

// numberOf is a number in an address, 0 where it is missing.
func numberOf(v url.Values, name string) (int64, error) {
	if v.Get(name) == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(v.Get(name), 10, 64)
	if err != nil || n < 0 {
		return 0, config.Usagef("%s %q: want a number", name, config.Clip(v.Get(name)))
	}
	return n, nil
}
