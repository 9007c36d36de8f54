package bottest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// OddCandles is a way in which an exchange's lists of the candles of a minute may be odd.
type OddCandles struct {
	Name   string
	Said   string // what a reader of them says; empty: nothing
	None   bool   // there is no list
	False  bool   // rows cannot be: a fetch refuses the list, for it would leave a hole
	Late   bool   // two rows in three come 40 s after their end
	change func(rows []any, now time.Time) []any
	lacks  func(start time.Time) bool
}

// Lacks reports whether no list has the candle that begins at a time as it was.
func (o *OddCandles) Lacks(start time.Time) bool { return o.None || o.lacks != nil && o.lacks(start) }

// startOf is the start of a row.
func startOf(row any) time.Time {
	ms, _ := row.([]any)[0].(json.Number).Int64()
	return time.UnixMilli(ms).UTC()
}

func millis(t time.Time) json.Number { return json.Number(strconv.FormatInt(t.UnixMilli(), 10)) }

// with returns a row with other values: from its start on.
func with(row any, values ...any) any {
	changed := slices.Clone(row.([]any))
	copy(changed, values)
	return changed
}

func everyTenth(start time.Time) bool { return start.Minute()%10 == 3 }

// OddLists are the ways that every reader of candles has to bear: polls, the stream beside them, a
// warm-up, a recorder, a fetch, the doctor.
func OddLists() []OddCandles {
	each := func(change func(row any) any) func([]any, time.Time) []any {
		return func(rows []any, _ time.Time) (all []any) {
			for _, row := range rows {
				all = append(all, change(row))
			}
			return all
		}
	}
	return []OddCandles{
		{Name: "plain", change: func(rows []any, _ time.Time) []any { return rows }},
		{Name: "oldest first", change: func(rows []any, _ time.Time) []any {
			slices.Reverse(rows)
			return rows
		}},
		{Name: "each row twice", Said: "it comes twice", change: func(rows []any, _ time.Time) []any {
			return slices.Concat(rows, rows)
		}},
		{Name: "ahead of the exchange's clock", Said: "it has not closed yet by the exchange's clock",
			change: func(rows []any, now time.Time) []any {
				for _, ahead := range []time.Duration{0, time.Minute, 1000 * time.Hour} {
					start := millis(now.Truncate(time.Minute).Add(ahead))
					rows = append([]any{[]any{start, "1", "2", "1", "2", "1"}}, rows...)
				}
				return rows
			}},
		{Name: "another interval", None: true, Said: "no 1m candle starts then", change: each(func(row any) any {
			return with(row, millis(startOf(row).Add(20*time.Second)))
		})},
		{Name: "another range", None: true, Said: "which was asked for", change: each(func(row any) any {
			return with(row, millis(startOf(row).Add(-9000*time.Hour)))
		})},
		{Name: "a high below the low", False: true, lacks: everyTenth, Said: "high 1 is below low",
			change: each(func(row any) any {
				if everyTenth(startOf(row)) {
					return with(row, row.([]any)[0], row.([]any)[1], "0.01")
				}
				return row
			})},
		{Name: "two states of a row", False: true, Said: "another row with other values has the same start",
			change: func(rows []any, _ time.Time) (all []any) {
				for _, row := range rows {
					if everyTenth(startOf(row)) {
						all = append(all, with(row, row.([]any)[0], "1", "2", "1", "2", "0.00000001"))
					}
					all = append(all, row)
				}
				return all
			}},
		{Name: "late", Late: true, change: lateRows},
		{Name: "late and twice", Late: true, Said: "it comes twice", change: func(rows []any, now time.Time) []any {
			rows = lateRows(rows, now)
			return slices.Concat(rows, rows)
		}},
	}
}

// IsLate reports whether the candle of a minute comes 40 s after its end in lists that are late.
func IsLate(start time.Time) bool { return start.Minute()%3 != 0 }

func lateRows(rows []any, now time.Time) []any {
	return slices.DeleteFunc(rows, func(row any) bool {
		start := startOf(row)
		return IsLate(start) && now.Sub(start.Add(time.Minute)) <= 40*time.Second
	})
}

// Alter changes an answer of the exchange, if it is a list of candles.
func (o *OddCandles) Alter(path string, answer *http.Response, now time.Time) error {
	if !strings.HasSuffix(path, "/candles") || answer.StatusCode != http.StatusOK {
		return nil
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if err := answer.Body.Close(); err != nil {
		return err
	}
	var rows []any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&rows); err != nil {
		return err
	}
	if rows = o.change(rows, now); rows == nil {
		rows = []any{}
	}
	if body, err = json.Marshal(rows); err != nil {
		return err
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// Through returns a way to an exchange whose lists are odd; now is its time.
func (o *OddCandles) Through(next http.RoundTripper, now func() time.Time) http.RoundTripper {
	return &oddWay{next, o, now}
}

type oddWay struct {
	http.RoundTripper
	odd *OddCandles
	now func() time.Time
}

// RoundTrip asks the exchange, and alters its answer.
func (w *oddWay) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.RoundTripper.RoundTrip(r)
	if err == nil {
		err = w.odd.Alter(r.URL.Path, answer, w.now())
	}
	return answer, err
}
