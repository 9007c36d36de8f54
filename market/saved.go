package market

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// saved is the envelope in which a part of the core outlives the process.
type saved[T any] struct {
	Version int `json:"version"`
	State   T   `json:"state"`
}

// AppendSaved appends the JSON of a part's state with the version of its shape. The same state
// gives the same bytes.
func AppendSaved(dst []byte, version int, state any) ([]byte, error) {
	text, err := json.Marshal(saved[any]{Version: version, State: state})
	if err != nil {
		return dst, fmt.Errorf("save: %w", err)
	}
	return append(dst, text...), nil
}

// ParseSaved reads the JSON of AppendSaved into state, a pointer. version is the newest that the
// caller knows: a new version adds fields, which an older text leaves empty. A newer version,
// unknown fields, and text that is cut off or goes on behind its end are errors.
func ParseSaved(data []byte, version int, state any) error {
	var envelope saved[json.RawMessage]
	if err := parseOne(data, &envelope); err != nil {
		return err
	}
	switch {
	case envelope.Version < 1 || envelope.Version > version:
		return fmt.Errorf("saved in version %d, this program knows versions 1 to %d; start it with the program that "+
			"saved it",
			envelope.Version, version)
	case len(envelope.State) == 0:
		return errors.New("saved without a state")
	}
	return parseOne(envelope.State, state)
}

func parseOne(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("saved text of %d bytes: %w", len(data), err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("saved text of %d bytes goes on behind its end", len(data))
	}
	return nil
}

// Units are the decimals of a market's numbers. Two runs can share numbers only if their Units are
// equal.
type Units struct {
	Price  uint8 `json:"price"`
	Amount uint8 `json:"amount"`
	Quote  uint8 `json:"quote"`
}

// Units are m's decimals of Price, Qty and Money.
func (m *Market) Units() Units { return Units{m.PriceDigits, m.AmountDigits, m.QuoteDigits} }

// CheckUnits compares the units of saved numbers, by market name, with those of c. Different units
// are an error that names the market. A market that c does not have is no error here.
func (c *Catalog) CheckUnits(units map[string]Units) error {
	for _, name := range slices.Sorted(maps.Keys(units)) {
		m := c.MarketNamed(name)
		if m == nil {
			continue
		}
		if have := m.Units(); have != units[name] {
			return fmt.Errorf("market %s was saved with decimals of price %d, amount %d, quote %d and now has %d, %d, "+
				"%d",
				name, units[name].Price, units[name].Amount, units[name].Quote, have.Price, have.Amount, have.Quote)
		}
	}
	return nil
}
