package recording

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/filetest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// writeGolden is set after a change of the format: go test ./state/recording -run
// TheRecordingOfThisFormat -golden
var writeGolden = flag.Bool("golden", false,
	"write the missing files of testdata and their texts anew; read the difference before you keep it")

// someOrder has every field that a recording keeps.
func someOrder(random *rand.Rand) *market.Order {
	name := func() (id uuid.UUID) {
		for i := range id {
			id[i] = byte(random.Uint32())
		}
		return id
	}
	return &market.Order{ID: 7, ExchangeID: name(), ClientOrderID: name(), OperatorID: 9, Market: 2, Strategy: 2,
		CodGroupID: 3, Side: market.Sell, Type: market.TypeTakeProfitLimit, TriggerType: market.TriggerPrice,
		TriggerReference: market.MidPrice, Visible: true, FeeCurrency: 3, OnHoldCurrency: 2,
		OrderState: someState(random),
		Created:    5, Bracket: market.Bracket{Stop: 11, Target: 12, Keep: market.KeepTarget}, Tag: "entry"}
}

func someState(random *rand.Rand) market.OrderState {
	return market.OrderState{Status: market.StatusUnresolved, TimeInForce: market.FOK,
		SelfTradePrevention: market.CancelBoth, RestatementReason: market.CancelPostOnly, PostOnly: true,
		Triggered: true,
		Price:     market.Price(random.Int64N(1e6)), TriggerAmount: 2, Amount: 3, AmountRemaining: 4, AmountQuote: 5,
		AmountQuoteRemaining: 6, OnHold: 7, FilledAmount: 8, FilledAmountQuote: market.ValueOf(-9),
		FeePaid: market.ValueOf(random.Int64N(1e9)), Updated: 10}
}

// everyRecord has each kind of record, event and input.
func everyRecord(random *rand.Rand) (all []Record) {
	fills := []market.Fill{{ID: uuid.UUID{1}, Order: 7, Market: 1, Strategy: 1, Side: market.Buy, Taker: true,
		FeeCurrency: 3, Price: 100, Amount: 5, Fee: market.ValueOf(-3), Time: 4}, {ID: uuid.UUID{2}, Settled: true}}
	rules := market.Market{Status: market.Auction, Rules: market.Rules{TickSize: 5, QuantityDecimals: 3,
		NotionalDecimals: 2, MinOrderInBase: 1, MinOrderInQuote: 2, MaxOrderInBase: 3, MaxOrderInQuote: 4,
		MaxOpenOrders: 5,
		FeeCategory:   "A"}}
	at := market.Time(1_700_000_000_000_000_000)
	events := []market.Event{
		{Kind: market.KindTransfer, Market: 2, Asset: 3, Money: -5, Owner: 2, Price: 7},
		{Kind: market.KindMarketStatus, Market: 1, Status: market.CancelOnly, Price: 8},
		{Kind: market.KindMarketStatus, Market: 2, Status: market.Trading, Rules: &rules},
		{Kind: market.KindReport, Market: 2, Report: &market.Report{Order: 7, ExchangeID: uuid.UUID{3}, Market: 2,
			Exec: market.ExecUnknown, Command: market.CommandUpdate, Code: 217, OrderState: someState(random)},
			Fills: fills},
		{Kind: market.KindFill, Market: 1, Fills: fills[:1]},
		{Kind: market.KindTimer},
	}
	for _, ev := range marketDay(300, random) {
		events = append(events, ev)
	}
	for i := range events {
		ev := &events[i]
		if at += market.Time(random.Int64N(1e9)); !MarketData(ev.Kind) || ev.At == 0 {
			ev.At = at
		}
		kind := market.InputEvent
		if random.IntN(4) == 0 {
			kind = market.InputBooking
		}
		all = append(all, Record{Kind: KindInput, Input: market.Input{Kind: kind, Event: ev}})
	}
	for kind := market.InputStart; kind <= market.LastInput; kind++ {
		in := market.Input{Kind: kind, At: at}
		switch kind {
		case market.InputHalt, market.InputFlatten, market.InputWithhold:
			in.Strategy, in.Reason = 1, "because"
		case market.InputResume:
			in.Strategy = 2
		case market.InputCancel, market.InputDissolve, market.InputCancelling:
			in.Orders = []market.OrderID{3, 1, 1 << 40}
		case market.InputAdopt, market.InputCancelEnded:
			in.Order = someOrder(random)
		case market.InputMembers:
			in.Strategy, in.Members, in.From = 1, []market.ID{2, 1}, at
		case market.InputDelisted, market.InputUnreliable:
			in.Market = 2
		case market.InputReopen:
			in.Saved = []byte("{}")
		case market.InputSignal:
			in.Signal = &market.Signal{Source: "model", Market: 2, Number: 7, Time: at - 9, Known: at, Arrived: at + 5,
				Until: at + 99, Action: market.ActSell, Stance: market.StanceFlat, Value: -0.30000000000000004,
				Target: 0.25, HasValue: true, HasTarget: true, Text: "why"}
		}
		all = append(all, Record{Kind: KindInput, Input: in})
	}
	parts := map[string][]byte{"account": []byte("books"), "engine": {}}
	return append(all, Record{Kind: KindStart, At: at, Manifest: []byte("made of"), Parts: parts},
		Record{Kind: KindHistory, At: at, Candles: marketCandles(random)}, Record{Kind: KindOpen, At: at},
		Record{Kind: KindWaiting, At: at}, Record{Kind: KindBegun, At: at},
		Record{Kind: KindWithheld, At: at, Order: 5, Command: market.CommandPlace},
		Record{Kind: KindTurn, At: at, From: 1 << 40, To: 1<<40 + 7}, Record{Kind: KindSnapshot, At: at, Parts: parts},
		Record{Kind: KindReload, At: at, Manifest: []byte("made of"), Parts: parts, Until: at - 5, Size: 1,
			Candles: marketCandles(random)})
}

func marketCandles(random *rand.Rand) (all []market.Candle) {
	for _, ev := range marketDay(200, random) {
		all = append(all, ev.Candles...)
	}
	return all
}

// told is a record as text: what is not zero, behind pointers too.
func told(r *Record) string {
	var text bytes.Buffer
	tell(&text, reflect.ValueOf(*r))
	return text.String()
}

func tell(w *bytes.Buffer, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		tell(w, v.Elem())
	case reflect.Struct:
		w.WriteByte('{')
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				fmt.Fprintf(w, " %s:", v.Type().Field(i).Name)
				tell(w, f)
			}
		}
		w.WriteByte('}')
	case reflect.Map:
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()),
			func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) }) {
			fmt.Fprintf(w, " %s=%x", key, v.MapIndex(key).Bytes())
		}
	case reflect.Slice, reflect.Array:
		w.WriteByte('[')
		for i := range v.Len() {
			tell(w, v.Index(i))
			w.WriteByte(' ')
		}
		w.WriteByte(']')
	default:
		switch {
		case v.CanInt():
			fmt.Fprint(w, v.Int())
		case v.CanUint():
			fmt.Fprint(w, v.Uint())
		default:
			fmt.Fprint(w, v)
		}
	}
}

// read reads all records of a folder.
func read(t testing.TB, dir string) (all []string) {
	r, err := Read(dir, bothMarkets(t), twoNames, 0)
	require.NoError(t, err)
	defer r.Close()
	for {
		_, rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, told(rec))
	}
}

func TestEveryRecordReadsAsItWasWritten(t *testing.T) {
	for seed := range uint64(20) {
		dir := t.TempDir()
		all := everyRecord(rand.New(rand.NewPCG(seed, 7)))
		rand.New(rand.NewPCG(seed, 8)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		w, err := Open(dir, Options{Catalog: bothMarkets(t), Strategies: twoNames})
		require.NoError(t, err)
		want, starts := []string{}, []uint64{}
		for i := range all {
			number, err := w.Write(&all[i])
			require.NoError(t, err)
			if all[i].Kind == KindStart {
				starts = append(starts, number, uint64(all[i].At))
			}
			if in := &all[i].Input; in.Event != nil { // what the reader adds of the catalog, and of the content
				ev := *in.Event
				switch in.Event = &ev; {
				case ev.Rules != nil:
					rules := *bothMarkets(t).Market(ev.Market)
					rules.Status, rules.Rules = ev.Rules.Status, ev.Rules.Rules
					ev.Rules = &rules
				case ev.Kind == market.KindCandles:
					ev.Market = 0
				}
			}
			want = append(want, told(&all[i]))
		}
		require.NoError(t, w.Close())
		have := read(t, dir)
		require.Equal(t, len(want), len(have))
		for i := range want {
			require.Equal(t, want[i], have[i], "seed %d, record %d", seed, i)
		}
		blocks, err := Index(dir)
		require.NoError(t, err)
		found := []uint64{}
		for i := range blocks {
			if b := &blocks[i]; b.Start {
				found = append(found, b.First, uint64(b.From))
			}
		}
		require.Equal(t, starts, found)
	}
}

// A reader may begin at each start, whatever came before it.
func TestAReaderBeginsAtAStart(t *testing.T) {
	dir := t.TempDir()
	w, err := Open(dir, Options{Catalog: bothMarkets(t)})
	require.NoError(t, err)
	events := marketDay(50, rand.New(rand.NewPCG(1, 9)))
	for i := range events {
		_, err := w.Append(&events[i])
		require.NoError(t, err)
	}
	number, err := w.Write(&Record{Kind: KindStart, At: 5, Manifest: []byte("second")})
	require.NoError(t, err)
	_, err = w.Append(&events[0])
	require.NoError(t, err)
	require.NoError(t, w.Close())
	r, err := Read(dir, &market.Catalog{}, nil, number)
	require.NoError(t, err)
	defer r.Close()
	at, rec, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, number, at)
	require.Equal(t, "second", string(rec.Manifest))
	r.Bind(bothMarkets(t), nil)
	_, rec, err = r.Next()
	require.NoError(t, err)
	require.Equal(t, events[0].Kind, rec.Input.Event.Kind)
}

// The recording of the present format reads as when it was written, and this program goes on with
// it.
func TestTheRecordingOfThisFormatReadsAsBefore(t *testing.T) {
	path := filetest.Golden(t, *writeGolden, "recording-format1", func(path string) {
		w, err := Open(filepath.Dir(path), Options{Catalog: bothMarkets(t), Strategies: twoNames})
		require.NoError(t, err)
		for _, r := range everyRecord(rand.New(rand.NewPCG(1, 9))) {
			_, err := w.Write(&r)
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		require.NoError(t, os.Rename(w.packer.segments[0].path, path))
	})
	dir := t.TempDir()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	first := filepath.Join(dir, "0000000000000001"+segmentExt)
	require.NoError(t, os.WriteFile(first, data, 0o600))
	have := read(t, dir)
	var text bytes.Buffer
	for _, line := range have {
		fmt.Fprintln(&text, line)
	}
	filetest.RequireText(t, *writeGolden, "recording-format1.txt", text.Bytes())
	more := marketDay(20, rand.New(rand.NewPCG(1, 10)))
	recorded(t, dir, Options{}, more)
	require.Len(t, read(t, dir), len(have)+len(more))
	after, err := os.ReadFile(first)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(after, data))
}

func TestARecordingOfAnotherFormatIsRefusedAndStaysAsItIs(t *testing.T) {
	dir := t.TempDir()
	recorded(t, dir, Options{}, marketDay(20, rand.New(rand.NewPCG(1, 9))))
	path := filepath.Join(dir, "0000000000000001"+segmentExt)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for magic, says := range map[string]string{"TMR2": "update the program",
		"TMB4": "an older program wrote it; move the",
		"TMB1": "an older program wrote it"} {
		copy(data, magic)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		_, err = Open(dir, Options{Catalog: &market.Catalog{}})
		require.ErrorContains(t, err, says)
		_, err = Read(dir, &market.Catalog{}, nil, 0)
		require.ErrorContains(t, err, says)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, data, after)
	}
}

// The bytes that are kept for events of a stream are refused in words until a program knows them.
func TestEventsOfAStreamAreOfALaterProgram(t *testing.T) {
	for op := byte(firstStream); op <= lastStream; op++ {
		var d eventDecoder
		d.open(codec.NewNames(bothMarkets(t), nil), [streams][]byte{{op, 0, 0}})
		_, err := d.next(0)
		require.ErrorContains(t, err, "update the program")
	}
	require.Less(t, byte(market.KindTimer), byte(changedBook))
}
