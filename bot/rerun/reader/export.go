package reader

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// Choice chooses what is exported. An empty list chooses all.
type Choice struct {
	Range
	Markets []string
	Kinds   []string // of Kinds
}

// Kinds are the kinds of records that an export knows. "other" is all that is no market data: what
// else entered a bot, its turns and its starts.
var Kinds = []string{"ticker", "book", "trade", "candle", "status", "signal", "other"}

// Exported counts the records that an export has written, and lists the holes.
type Exported struct {
	Records int64  `json:"records"`
	Holes   []Hole `json:"holes"`
}

// line is a record as JSON. Prices and amounts are decimals in text.
type line struct {
	Number   uint64      `json:"number"`
	At       string      `json:"at"`
	AtNS     market.Time `json:"at_ns"`
	Kind     string      `json:"kind"`
	What     string      `json:"what,omitempty"` // of an other
	Market   string      `json:"market,omitempty"`
	Strategy string      `json:"strategy,omitempty"`
	Reason   string      `json:"reason,omitempty"`

	Last      string `json:"last,omitempty"`
	Bid       string `json:"bid,omitempty"`
	BidSize   string `json:"bid_size,omitempty"`
	Ask       string `json:"ask,omitempty"`
	AskSize   string `json:"ask_size,omitempty"`
	Synthetic bool   `json:"synthetic,omitempty"`

	Price  string      `json:"price,omitempty"`
	Amount string      `json:"amount,omitempty"`
	Side   string      `json:"side,omitempty"`
	TimeNS market.Time `json:"time_ns,omitempty"` // of the data itself: a trade, a book, the start of a candle

	Nonce int64       `json:"nonce,omitempty"`
	Bids  [][2]string `json:"bids,omitempty"`
	Asks  [][2]string `json:"asks,omitempty"`

	Interval string `json:"interval,omitempty"`
	Open     string `json:"open,omitempty"`
	High     string `json:"high,omitempty"`
	Low      string `json:"low,omitempty"`
	Close    string `json:"close,omitempty"`
	Volume   string `json:"volume,omitempty"`
	Late     bool   `json:"late,omitempty"`

	Source    string      `json:"source,omitempty"` // of a signal, with what it says
	KnownNS   market.Time `json:"known_ns,omitempty"`
	ArrivedNS market.Time `json:"arrived_ns,omitempty"`
	Action    string      `json:"action,omitempty"`
	Position  string      `json:"position,omitempty"`
	Target    string      `json:"target,omitempty"`
	Value     string      `json:"value,omitempty"`
	Text      string      `json:"text,omitempty"`

	Status   string `json:"status,omitempty"`
	TickSize string `json:"tick_size,omitempty"`
}

// lines calls each with the lines of the chosen records. A group of candles is a line for each.
func lines(ctx context.Context, path string, c *Choice, each func(*line) error) (x Exported, err error) {
	visit := func(l *line) error {
		if len(c.Markets) > 0 && !slices.Contains(c.Markets, l.Market) ||
			len(c.Kinds) > 0 && !slices.Contains(c.Kinds, l.Kind) {
			return nil
		}
		x.Records++
		return each(l)
	}
	x.Holes, err = Walk(ctx, path, c.Range, func(r *Item) error {
		if r.At < c.From {
			return nil
		}
		l := line{Number: r.Number, At: r.At.String(), AtNS: r.At, Kind: "other", What: r.Kind.String()}
		switch ev := r.Data(); {
		case r.Kind != recording.KindInput:
		case r.Input.Kind == market.InputSignal:
			l.signal(r.Catalog, r.Input.Signal)
		case ev == nil:
			l.other(r)
		case ev.Kind == market.KindCandles:
			for i := range ev.Candles {
				l.candle(r.Catalog, &ev.Candles[i])
				if err := visit(&l); err != nil {
					return err
				}
			}
			return nil
		default:
			l.data(r.Catalog.Market(ev.Market), ev)
		}
		return visit(&l)
	})
	return x, err
}

func (l *line) signal(of *market.Catalog, s *market.Signal) {
	l.Kind, l.What, l.Source = "signal", "", s.Source
	l.TimeNS, l.KnownNS, l.ArrivedNS = s.Time, s.Known, s.Arrived
	l.Action, l.Position, l.Text = s.Action.String(), s.Stance.String(), s.Text
	if s.Market != 0 {
		l.Market = of.Market(s.Market).Name
	}
	if s.HasValue {
		l.Value = strconv.FormatFloat(s.Value, 'g', -1, 64)
	}
	if s.HasTarget {
		l.Target = strconv.FormatFloat(s.Target, 'g', -1, 64)
	}
}

func (l *line) candle(of *market.Catalog, c *market.Candle) {
	m := of.Market(c.Market)
	l.Kind, l.What, l.Market, l.Interval, l.TimeNS, l.Late = "candle", "", m.Name, c.Interval.String(), c.Start, c.Late
	l.Open, l.High, l.Low, l.Close = m.FormatPrice(c.Open), m.FormatPrice(c.High), m.FormatPrice(c.Low),
		m.FormatPrice(c.Close)
	l.Volume = market.FormatFixed(int64(c.Volume), m.VolumeDigits)
}

// data fills in market data of one market.
func (l *line) data(m *market.Market, ev *market.Event) {
	l.What, l.Market = "", m.Name
	switch ev.Kind {
	case market.KindTicker:
		t := ev.Ticker
		l.Kind, l.Synthetic = "ticker", t.Synthetic
		l.Last, l.Bid, l.Ask = m.FormatPrice(t.Last), m.FormatPrice(t.Bid), m.FormatPrice(t.Ask)
		l.BidSize, l.AskSize = m.FormatQty(t.BidSize), m.FormatQty(t.AskSize)
	case market.KindTrade:
		t := ev.Trade
		l.Kind, l.Side, l.TimeNS = "trade", t.Side.String(), t.Time
		l.Price, l.Amount = m.FormatPrice(t.Price), m.FormatQty(t.Amount)
	case market.KindBook:
		b := ev.Book
		l.Kind, l.Nonce, l.TimeNS, l.Synthetic = "book", b.Nonce, b.Time, b.Synthetic
		l.Bids, l.Asks = levels(m, b.Bids), levels(m, b.Asks)
	case market.KindMarketStatus:
		l.Kind, l.Status = "status", ev.Status.String()
		if ev.Rules != nil {
			l.TickSize = m.FormatPrice(ev.Rules.TickSize)
		}
	}
}

func levels(m *market.Market, side []market.Level) (all [][2]string) {
	for _, level := range side {
		all = append(all, [2]string{m.FormatPrice(level.Price), m.FormatQty(level.Amount)})
	}
	return all
}

// other fills in an input that is no market data.
func (l *line) other(r *Item) {
	in := &r.Input
	l.What = in.Kind.String()
	if ev := in.Event; ev != nil {
		l.What += " " + ev.Kind.String()
		if ev.Market != 0 {
			l.Market = r.Catalog.Market(ev.Market).Name
		}
	}
	if in.Market != 0 {
		l.Market = r.Catalog.Market(in.Market).Name
	}
	if names := r.Manifest.Names(); in.Strategy != 0 && int(in.Strategy) <= len(names) {
		l.Strategy = names[in.Strategy-1]
	}
	l.Reason = in.Reason
}

// JSONLines writes the chosen records, a JSON object in each line.
func JSONLines(ctx context.Context, out io.Writer, path string, c Choice) (Exported, error) {
	buffered := bufio.NewWriterSize(out, 1<<16)
	encoder := json.NewEncoder(buffered)
	encoder.SetEscapeHTML(false)
	x, err := lines(ctx, path, &c, func(l *line) error { return encoder.Encode(l) })
	return x, errors.Join(err, buffered.Flush())
}

// The tables of CSV: a file of each kind, with these columns.
var tables = map[string][]string{
	"ticker": {"number", "at_ns", "market", "last", "bid", "bid_size", "ask", "ask_size"},
	"trade":  {"number", "at_ns", "market", "time_ns", "side", "price", "amount"},
	"book":   {"number", "at_ns", "market", "time_ns", "nonce", "side", "level", "price", "amount"},
	"candle": {"number", "at_ns", "market", "interval", "start_ms", "open", "high", "low", "close", "volume", "late"},
	"status": {"number", "at_ns", "market", "status", "tick_size"},
	"signal": {"time", "known_at", "market", "action", "position", "target", "value", "text"}, // of a backtest
	"other":  {"number", "at_ns", "what", "market", "strategy", "reason"},
}

// CSV writes the chosen records into files of a folder, one of each kind: tickers.csv, trades.csv,
// books.csv with a row for each level, candles.csv, statuses.csv, others.csv, and for each source
// of signals a signals-NAME.csv, which a backtest reads. Files of that name are an error. Where it
// fails it leaves none behind.
func CSV(ctx context.Context, dir, path string, c Choice) (x Exported, files []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return x, nil, err
	}
	t := &tableWriter{dir: dir, open: map[string]*table{}}
	x, err = lines(ctx, path, &c, t.line)
	files, failed := t.close()
	if err = errors.Join(err, failed); err != nil {
		for _, file := range files {
			_ = os.Remove(file)
		}
		return x, nil, err
	}
	return x, files, nil
}

// tableWriter writes lines into tables.
type tableWriter struct {
	dir  string
	open map[string]*table // by the names of their files
}

// table is a file of a kind.
type table struct {
	file *os.File
	csv  *csv.Writer
}

func (t *tableWriter) line(l *line) error {
	at, err := t.table(l.Kind, l.Source)
	if err != nil {
		return err
	}
	row := []string{strconv.FormatUint(l.Number, 10), strconv.FormatInt(int64(l.AtNS), 10)}
	switch l.Kind {
	case "ticker":
		row = append(row, l.Market, l.Last, l.Bid, l.BidSize, l.Ask, l.AskSize)
	case "trade":
		row = append(row, l.Market, strconv.FormatInt(int64(l.TimeNS), 10), l.Side, l.Price, l.Amount)
	case "candle":
		row = append(row, l.Market, l.Interval, strconv.FormatInt(int64(l.TimeNS)/1e6, 10), l.Open, l.High, l.Low,
			l.Close, l.Volume, strconv.FormatBool(l.Late))
	case "status":
		row = append(row, l.Market, l.Status, l.TickSize)
	case "signal":
		row = []string{l.TimeNS.String(), l.KnownNS.String(), l.Market, l.Action, l.Position, l.Target, l.Value, l.Text}
	case "other":
		row = append(row, l.What, l.Market, l.Strategy, l.Reason)
	case "book":
		return at.book(l, row)
	}
	return at.csv.Write(row)
}

// book writes a row for each level, the best of each side first.
func (t *table) book(l *line, row []string) error {
	row = append(row, l.Market, strconv.FormatInt(int64(l.TimeNS), 10), strconv.FormatInt(l.Nonce, 10))
	for _, side := range [...]struct {
		name   string
		levels [][2]string
	}{{"bid", l.Bids}, {"ask", l.Asks}} {
		for i, level := range side.levels {
			if err := t.csv.Write(append(row[:len(row):len(row)], side.name, strconv.Itoa(i+1), level[0],
				level[1])); err != nil {
				return err
			}
		}
	}
	return nil
}

// table is the file of a kind, of signals that of their source, made at its first row.
func (t *tableWriter) table(kind, source string) (*table, error) {
	name := kind + "s.csv"
	switch kind {
	case "status":
		name = "statuses.csv"
	case "signal":
		name = "signals-" + url.PathEscape(source) + ".csv"
	}
	if have := t.open[name]; have != nil {
		return have, nil
	}
	file, err := os.OpenFile(filepath.Join(t.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	made := &table{file: file, csv: csv.NewWriter(bufio.NewWriterSize(file, 1<<16))}
	t.open[name] = made
	return made, made.csv.Write(tables[kind])
}

// close ends the files, and returns their names.
func (t *tableWriter) close() (files []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(t.open)) {
		one := t.open[name]
		one.csv.Flush()
		err = errors.Join(err, one.csv.Error(), one.file.Close())
		files = append(files, one.file.Name())
	}
	if err != nil {
		err = fmt.Errorf("write %s: %w", t.dir, err)
	}
	return files, err
}
