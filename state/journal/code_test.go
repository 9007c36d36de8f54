package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// twoMarkets is a catalog with prices of 2 and of 5 decimals.
func twoMarkets(t testing.TB) *market.Catalog {
	c := &market.Catalog{}
	for _, a := range []market.Asset{{Symbol: "BTC", Digits: 8}, {Symbol: "ETH", Digits: 6},
		{Symbol: "EUR", Digits: 2}} {
		_, err := c.AddAsset(a.Symbol, a.Digits)
		require.NoError(t, err)
	}
	require.NoError(t, c.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2, Rules: market.Rules{TickSize: 1}}))
	require.NoError(t, c.AddMarket(&market.Market{Name: "ETH-EUR", PriceDigits: 5, Rules: market.Rules{TickSize: 10}}))
	return c
}

func rowKey(id market.OrderID) []byte { return part(orderKey(id), partRow, nil) }

var twoStrategies = []string{"grid", "trend"}

// scatter sets every field under v to something that is allowed and not zero. A type that it does
// not know fails the test, so that a new field of an order cannot be forgotten here, nor then in
// its encoding.
func scatter(t testing.TB, v reflect.Value, random *rand.Rand) {
	switch v.Interface().(type) {
	case market.ID, market.StrategyID, market.Side, market.CommandKind, market.SelfTradePrevention, market.TimeInForce,
		market.TriggerReference, Answer:
		v.SetUint(1 + random.Uint64N(2))
	case market.AssetID:
		v.SetUint(1 + random.Uint64N(3))
	case market.OrderType, market.Status, market.ExecutionType, market.RestatementReason, market.EventKind, state.State:
		v.SetUint(1 + random.Uint64N(6))
	case market.TriggerType, market.Leg:
		v.SetUint(1)
	case uuid.UUID:
		id := uuid.UUID{}
		for i := range id {
			id[i] = byte(random.Uint32())
		}
		v.Set(reflect.ValueOf(id))
	case market.Value:
		value, err := market.ValueOfHalves(random.Int64()>>random.UintN(64), random.Uint64())
		require.NoError(t, err)
		if random.UintN(2) == 0 {
			value = value.Neg()
		}
		v.Set(reflect.ValueOf(value))
	case []byte:
		v.SetBytes([]byte{byte(random.Uint32()), 0})
	case string:
		v.SetString(string(rune('a' + random.IntN(26))))
	default:
		scatterKind(t, v, random)
	}
}

func scatterKind(t testing.TB, v reflect.Value, random *rand.Rand) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() { // the account keeps its tally of an order for itself
				scatter(t, v.Field(i), random)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			scatter(t, v.Index(i), random)
		}
	case reflect.Array:
		for i := range v.Len() {
			scatter(t, v.Index(i), random)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(random.Int64() >> random.UintN(63) * (1 - 2*random.Int64N(2)))
	case reflect.Uint8, reflect.Uint16, reflect.Uint64:
		v.SetUint(1 + random.Uint64N(250))
	default:
		t.Fatalf("scatter does not know %s", v.Type())
	}
}

func allRecords() []Payload {
	return []Payload{&Start{}, &Intent{}, &SentCommand{}, &AnswerEntry{}, &ReportEntry{}, &Fills{}, &Transfer{},
		&Timer{},
		&Cursor{}, &Refusal{}, &Difference{}, &Halt{}, &Resume{}, &Stop{}, &Seal{}, &Verdict{}, &Promotion{},
		&Reload{}, &Act{}, &Adoption{}, &Signal{}}
}

func TestEveryRecordComesBackWithoutLoss(t *testing.T) {
	n := codec.NewNames(twoMarkets(t), twoStrategies)
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		for i, record := range allRecords() {
			scatter(t, reflect.ValueOf(record).Elem(), random)
			switch r := record.(type) { // Earlier is between the backtester and its venue: no journal keeps it
			case *Intent:
				r.Strategy = twoStrategies[r.Command.Order.Strategy-1]
				r.Command.Earlier = false
			case *Refusal:
				r.Command.Earlier = false
			case *Adoption: // which leaves the equity as it is
				for k := range r.Positions {
					r.Positions[k].Worth.Equity = 0
				}
				for k := range r.Money {
					r.Money[k].Worth.Equity = 0
				}
			}
			e := recordEncoder{Encoder: codec.Encoder{Names: n}}
			e.record(record)
			require.NoError(t, e.Err())
			require.Equal(t, byte(i+1), e.Buf[0], "kinds are numbered as they are listed")
			var d recordDecoder
			d.Open(n, e.Buf)
			back := d.record()
			require.NoError(t, d.End(), "seed %d: %T", seed, record)
			require.Equal(t, record, back, "seed %d", seed)
			zero := reflect.New(reflect.TypeOf(record).Elem()).Interface().(Payload)
			e.Cut(0)
			e.record(zero)
			d.Open(n, e.Buf)
			require.Equal(t, zero, d.record())
			require.NoError(t, d.End())
		}
	}
}

func TestEveryRowComesBackWithoutLoss(t *testing.T) {
	n := codec.NewNames(twoMarkets(t), twoStrategies)
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 2))
		var o state.Order
		scatter(t, reflect.ValueOf(&o.Order).Elem(), random)
		o.State, o.InFlight, o.CancelWanted, o.Reported, o.Code = state.Canceled, market.CommandUpdate, true, true, -3
		e := recordEncoder{Encoder: codec.Encoder{Names: n}}
		e.orderRow(&o)
		row, err := readOrder(n, rowKey(o.ID), sealRow(e.Buf, rowKey(o.ID), 0))
		require.NoError(t, err)
		require.Equal(t, OrderRow{o.Order, twoStrategies[o.Strategy-1], o.State, o.InFlight, true, true, -3}, row)

		var f market.Fill
		scatter(t, reflect.ValueOf(&f).Elem(), random)
		e.Buf = append(e.Buf[:0], recordVersion)
		e.fill(&f)
		fill, err := readFill(n, appendFillKey(nil, &f), sealRow(e.Buf, appendFillKey(nil, &f), 0))
		require.NoError(t, err)
		require.Equal(t, FillRow{f, twoStrategies[f.Strategy-1]}, fill)
	}
}

func TestARecordIsReadInFinerUnitsAndOtherNumbers(t *testing.T) {
	n := codec.NewNames(twoMarkets(t), twoStrategies)
	e := recordEncoder{Encoder: codec.Encoder{Names: n}}
	o := state.Order{State: state.Open, Order: market.Order{ID: 1, Market: 1, Strategy: 1, Side: market.Buy,
		OrderState: market.OrderState{Price: 12345,
			FilledAmountQuote: market.ValueOf(-7)}, Bracket: market.Bracket{Stop: -1}}}
	e.orderRow(&o)
	e.Buf = sealRow(e.Buf, rowKey(1), 0)

	finer := &market.Catalog{}
	for symbol, digits := range map[string]uint8{"ETH": 6, "BTC": 8, "EUR": 2} {
		_, err := finer.AddAsset(symbol, digits)
		require.NoError(t, err)
	}
	require.NoError(t, finer.AddMarket(&market.Market{Name: "ETH-EUR", PriceDigits: 5}))
	require.NoError(t, finer.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 4}))
	row, err := readOrder(codec.NewNames(finer, []string{"trend", "other", "grid"}), rowKey(1), e.Buf)
	require.NoError(t, err)
	require.EqualValues(t, 2, row.Market)
	require.EqualValues(t, 3, row.Strategy)
	require.EqualValues(t, 1234500, row.Price)
	require.EqualValues(t, -100, row.Bracket.Stop)
	require.Equal(t, market.ValueOf(-700), row.FilledAmountQuote)

	row, err = readOrder(codec.NewNames(finer, nil), rowKey(1), e.Buf)
	require.NoError(t, err)
	require.Zero(t, row.Strategy, "the engine does not have it")
	require.Equal(t, "grid", row.StrategyName)

	_, err = readOrder(codec.NewNames(&market.Catalog{}, nil), rowKey(1), e.Buf)
	require.ErrorIs(t, err, bolt.ErrCorrupt)
	require.ErrorContains(t, err, `market "BTC-EUR" is not of this catalog`)
	e.order(&market.Order{Market: 3})
	require.ErrorContains(t, e.Err(), "market 3 is not of this catalog")
}

// A strategy may place an order of one market because of a candle of another.
func TestAnIntentIsReadInTheUnitsOfItsOrderNotOfItsCause(t *testing.T) {
	coarse, finer := twoMarkets(t), twoMarkets(t)
	for _, m := range finer.Markets() {
		m.PriceDigits += 1 + uint8(m.ID)
		m.ValueDigits = m.PriceDigits + m.AmountDigits
	}
	intent := &Intent{Command: market.Command{Kind: market.CommandPlace,
		Order: market.Order{ID: 1, Market: 1, OrderState: market.OrderState{Price: 12345}}},
		Cause: Cause{Kind: market.KindCandles, Market: 2}, Asked: state.Terms{Price: 12346}}
	e := recordEncoder{Encoder: codec.Encoder{Names: codec.NewNames(coarse, nil)}}
	e.record(intent)
	require.NoError(t, e.Err())
	var d recordDecoder
	d.Open(codec.NewNames(finer, nil), e.Buf)
	back := d.record().(*Intent)
	require.NoError(t, d.End())
	require.EqualValues(t, 2, back.Cause.Market)
	require.EqualValues(t, 1234500, back.Command.Order.Price)
	require.EqualValues(t, 1234600, back.Asked.Price)
}

// A record of version 1 has no signals in its cause.
func TestARecordOfVersion1ReadsAsBefore(t *testing.T) {
	n := codec.NewNames(twoMarkets(t), twoStrategies)
	want := &Refusal{Strategy: "grid", Cause: Cause{Kind: market.KindCandles, Market: 2, At: 7, Recorded: 3}, Count: 9}
	e := recordEncoder{Encoder: codec.Encoder{Names: n}}
	e.record(want)
	end := len(e.Buf) - 2 // Count and First
	require.Zero(t, e.Buf[end-1], "so many signals")
	old := append(e.Buf[:end-1:end-1], e.Buf[end:]...)
	old[1] = 1
	var d recordDecoder
	d.Open(n, old)
	require.Equal(t, want, d.record())
	require.NoError(t, d.End())
}

// A list of a damaged record ends behind the thing that is damaged, not where its count says.
func TestADamagedRecordMakesNoLongList(t *testing.T) {
	n := codec.NewNames(twoMarkets(t), twoStrategies)
	var d recordDecoder
	d.Open(n, append(binary.AppendUvarint(nil, 1<<20), bytes.Repeat([]byte{0xff}, 1<<20)...))
	require.Less(t, len(d.fills()), 2)
	require.ErrorIs(t, d.Err(), bolt.ErrCorrupt)
}

// FuzzRecordsNeverPanic reads any bytes as an entry; what can be read is written again and read as
// the same.
func FuzzRecordsNeverPanic(f *testing.F) {
	n := codec.NewNames(twoMarkets(f), twoStrategies)
	random := rand.New(rand.NewPCG(1, 3))
	for _, record := range allRecords() {
		scatter(f, reflect.ValueOf(record).Elem(), random)
		e := recordEncoder{Encoder: codec.Encoder{Names: n}}
		e.record(record)
		f.Add(e.Buf)
		f.Add(bytes.ReplaceAll(e.Buf, []byte("grid"), []byte("gone")))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var d recordDecoder
		d.Open(n, data)
		record := d.record()
		if d.End() != nil {
			require.True(t, errors.Is(d.Err(), bolt.ErrCorrupt) || errors.Is(d.Err(), bolt.ErrNewer), "%v",
				d.Err())
			return
		}
		if intent, is := record.(*Intent); is && intent.Command.Order.Strategy == 0 {
			intent.Strategy = "" // one that the engine does not have any more is read by name and written by number
		}
		e := recordEncoder{Encoder: codec.Encoder{Names: n}}
		e.record(record)
		require.NoError(t, e.Err())
		d.Open(n, e.Buf)
		require.Equal(t, record, d.record())
		require.NoError(t, d.End())
	})
}
