package dashboard

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
)

// market is the page of a market. The script asks for it again, with the width of the picture that
// it shows.
func (d *botPages) market(r *http.Request, docs *Documents) (any, error) {
	q, err := marketQueryOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	width, err := numberOf(r.URL.Query(), "width")
	if err != nil {
		return nil, err
	}
	q.Columns = columnsWide
	answer, err := operator.AskMarket(q).Of(r.Context(), d.Of)
	if err != nil {
		return nil, err
	}
	return MarketOf(answer.Value, q, int(width), docs.Zone)
}

func (d *botPages) journal(r *http.Request, docs *Documents) (any, error) {
	q, err := journalQueryOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	answer, err := operator.AskJournal(q).Of(r.Context(), d.Of)
	if err != nil {
		return nil, err
	}
	return JournalOf(answer.Value, q, operator.JournalKinds(), docs.Zone), nil
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
	if q.LongMS, err = numberOf(v, "long"); err != nil {
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
	return &operator.JournalQuery{Query: profit.Query{Since: v.Get("since"), Until: v.Get("until"),
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
