package tax

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

// Transaction is one transaction of an account. An amount without an asset is none.
type Transaction struct {
	ID       string
	At       time.Time
	Type     string // the exchange's: buy, sell, deposit, withdrawal, staking, …; opening: of a file of lots
	Sent     Amount // what left, fees included
	Received Amount // what came, fees taken off
	Fee      Amount
	Price    Amount
	Order    string   // of a trade that Join has found: the number of the order
	Trade    string   // likewise: that of the trade
	Notes    []string // differences between the history and the trades

	cost  decimal.Decimal // of an opening lot
	known bool
}

// Amount is an amount of an asset.
type Amount struct {
	Asset  string
	Number decimal.Decimal
}

// Historian gives pages of an account's history: a *rest.Client.
type Historian interface {
	AccountHistory(context.Context, rest.HistoryPage) (rest.History, error)
}

// pageSize is the largest page of a history.
const pageSize = 100

// History reads the history of an account before a time, the oldest change first; the zero time is
// no bound. Pages that do not fit together are an error: a history is never shorter than it is.
func History(ctx context.Context, from Historian, until time.Time) (changes []Transaction, err error) {
	bound := market.Time(0)
	if !until.IsZero() {
		if bound, err = market.TimeOf(until); err != nil {
			return nil, err
		}
	}
	seen := map[string]bool{} // a new row moves the older ones to the next page
	moved, nameless := false, false
	for page, pages := 1, 1; page <= pages; page++ {
		h, err := from.AccountHistory(ctx, rest.HistoryPage{To: bound, Page: page, MaxItems: pageSize})
		if err != nil {
			return nil, err
		}
		if h.CurrentPage != page || h.TotalPages < pages && page > 1 || len(h.Items) == 0 && page < h.TotalPages {
			return nil, fmt.Errorf("the account's history: page %d of %d came as page %d of %d with %d rows: ask again",
				page, pages, h.CurrentPage, h.TotalPages, len(h.Items))
		}
		pages = h.TotalPages
		for i := range h.Items {
			t := &h.Items[i]
			if t.TransactionID != "" && seen[t.TransactionID] {
				moved = true
				continue
			}
			seen[t.TransactionID], nameless = true, nameless || t.TransactionID == ""
			change, err := changeOf(t)
			if err != nil {
				return nil, fmt.Errorf("transaction %.60q of the account's history: %w", t.TransactionID, err)
			}
			if until.IsZero() || change.At.Before(until) {
				changes = append(changes, change)
			}
		}
	}
	if moved && nameless {
		return nil, errors.New("the account's history changed while it was read, and some of its rows have no " +
			"number: ask again")
	}
	slices.Reverse(changes)
	slices.SortStableFunc(changes, func(a, b Transaction) int { return a.At.Compare(b.At) })
	return changes, nil
}

// changeOf reads a transaction.
func changeOf(t *rest.Transaction) (c Transaction, err error) {
	c = Transaction{ID: t.TransactionID, Type: t.Type}
	if c.At, err = time.Parse(time.RFC3339, t.ExecutedAt); err != nil {
		return c, fmt.Errorf("executedAt %.40q is no time", t.ExecutedAt)
	}
	for _, one := range [...]struct {
		into   *Amount
		asset  string
		number rest.Number
	}{{&c.Sent, t.SentCurrency, t.SentAmount}, {&c.Received, t.ReceivedCurrency, t.ReceivedAmount},
		{&c.Fee, t.FeesCurrency, t.FeesAmount}, {&c.Price, t.PriceCurrency, t.PriceAmount}} {
		if one.asset == "" || one.number == "" {
			continue
		}
		number, err := decimal.NewFromString(string(one.number))
		if err != nil || number.IsNegative() && one.into != &c.Fee {
			return c, fmt.Errorf("amount %.40q of %.20q is no amount", one.number, one.asset)
		}
		*one.into = Amount{one.asset, number}
	}
	return c, nil
}

// Date reads a date like 2026-11-01: the beginning of that day in a zone.
func Date(text string, zone *time.Location) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return day, err
	}
	return market.Midnight(day.Year(), day.Month(), day.Day(), zone), nil
}

// openingHead is the first line of a file of opening lots.
var openingHead = []string{"asset", "amount", "cost", "acquired"}

// Opening reads lots that were held before the history begins: CSV with the columns asset, amount,
// cost (in the account's currency, fees included; empty: not known) and acquired (a date of the
// zone).
func Opening(r io.Reader, zone *time.Location) (changes []Transaction, err error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))) // a spreadsheet marks UTF-8 so
	in.TrimLeadingSpace = true
	rows, err := in.ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !slices.Equal(rows[0], openingHead) {
		return nil, fmt.Errorf("its first line: want %s", strings.Join(openingHead, ","))
	}
	for i, row := range rows[1:] {
		c := Transaction{ID: fmt.Sprintf("opening line %d", i+2), Type: "opening", known: row[2] != ""}
		amount, err := decimal.NewFromString(row[1])
		if err != nil || !amount.IsPositive() {
			return nil, fmt.Errorf("line %d: amount %.40q: want a number above 0", i+2, row[1])
		}
		if c.Received = (Amount{row[0], amount}); c.known {
			if c.cost, err = decimal.NewFromString(row[2]); err != nil || c.cost.IsNegative() {
				return nil, fmt.Errorf("line %d: cost %.40q: want a number, or nothing where it is not known", i+2,
					row[2])
			}
		}
		if c.At, err = Date(row[3], zone); err != nil {
			return nil, fmt.Errorf("line %d: acquired %.40q: want a date like 2024-05-01", i+2, row[3])
		}
		changes = append(changes, c)
	}
	return changes, nil
}
