package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/tidemark-trading/tidemark/market"
)

// faultText is a fault as a script writes it: in TOML a table [[faults]], in JSON an object of the
// list faults. Durations are texts: "1m30s".
type faultText struct {
	Kind        string   `json:"kind"`
	Endpoints   []string `json:"endpoints,omitempty"`
	Account     string   `json:"account,omitempty"`
	Key         string   `json:"key,omitempty"`
	Market      string   `json:"market,omitempty"`
	Channel     string   `json:"channel,omitempty"`
	Nth         *int     `json:"nth,omitempty"`
	Count       *int     `json:"count,omitempty"`
	Probability *float64 `json:"probability,omitempty"`
	After       string   `json:"after,omitempty"`
	Until       string   `json:"until,omitempty"`
	Delay       string   `json:"delay,omitempty"`
	Skew        string   `json:"skew,omitempty"`
	Code        int      `json:"code,omitempty"`
	Work        bool     `json:"work,omitempty"`
	Status      string   `json:"status,omitempty"`
	Price       string   `json:"price,omitempty"`
	Tick        string   `json:"tickSize,omitempty"`
	Reason      string   `json:"reason,omitempty"`
}

// Parse reads a script of faults in TOML: one table [[faults]] for each, in the order in which they
// are asked. An error names the fault by its number, from 1, and the key. Markets, accounts and
// keys are looked up by New.
func Parse(text []byte, isEndpoint func(name string) bool) ([]Fault, error) {
	var script struct {
		Faults []map[string]any `toml:"faults"`
	}
	read, err := toml.Decode(string(text), &script)
	if err != nil {
		return nil, fmt.Errorf("faults: %w", err)
	}
	for _, key := range read.Undecoded() {
		if len(key) == 1 {
			return nil, fmt.Errorf("faults: unknown key %q; a script has nothing but tables [[faults]]", key)
		}
	}
	faults := make([]Fault, len(script.Faults))
	for i, table := range script.Faults {
		row, err := json.Marshal(table)
		if err == nil {
			faults[i], err = readFault(row, isEndpoint)
		}
		if err != nil {
			return nil, fmt.Errorf("fault %d: %w", i+1, err)
		}
	}
	return faults, nil
}

// ParseJSON reads a script of faults as a JSON array.
func ParseJSON(text string, isEndpoint func(name string) bool) ([]Fault, error) {
	var rows []json.RawMessage
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		return nil, fmt.Errorf("faults: want a list of objects, one for each fault")
	}
	faults := make([]Fault, len(rows))
	for i, row := range rows {
		var err error
		if faults[i], err = readFault(row, isEndpoint); err != nil {
			return nil, fmt.Errorf("fault %d: %w", i+1, err)
		}
	}
	return faults, nil
}

// readFault reads one fault written in JSON.
func readFault(row []byte, isEndpoint func(name string) bool) (f Fault, err error) {
	var text faultText
	decoder := json.NewDecoder(bytes.NewReader(row))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&text); err == nil {
		_, err = decoder.Token()
	}
	if err != io.EOF {
		return f, wrongKey(err)
	}
	if f, err = text.fault(); err != nil {
		return f, err
	}
	return f, f.Check(isEndpoint)
}

// wrongKey words an error of encoding/json about a key.
func wrongKey(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("want an object, not %s", kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("%s: want %s, not %s", kind.Field, kinds[kind.Type.Kind().String()], kind.Value)
	}
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return fmt.Errorf("unknown key %s; the keys are kind, %s, channel, delay, skew, code, work, status, price, "+
			"tickSize and reason", name, strings.Join(selectors, ", "))
	}
	return err
}

// kinds are the names of Go's types in error texts.
var kinds = map[string]string{"string": "a text", "int": "a whole number", "float64": "a number",
	"bool": "true or false", "slice": "a list of texts"}

// fault reads the texts.
func (t *faultText) fault() (f Fault, err error) {
	f = Fault{Endpoints: t.Endpoints, Account: t.Account, Key: t.Key, Market: t.Market, Channel: t.Channel,
		Code: t.Code, Work: t.Work, Price: t.Price, Tick: t.Tick}
	if t.Kind == "" {
		return f, errors.New("kind is missing")
	}
	for _, number := range [...]struct {
		name string
		text *int
		to   *int
	}{{"nth", t.Nth, &f.Nth}, {"count", t.Count, &f.Count}} {
		if number.text == nil {
			continue
		}
		if *number.to = *number.text; *number.to < 1 {
			return f, fmt.Errorf("%s: %d is below 1", number.name, *number.to)
		}
	}
	if t.Probability != nil {
		if f.Probability = *t.Probability; !(f.Probability > 0) {
			return f, fmt.Errorf("probability: %v is not above 0 and at most 1", f.Probability)
		}
	}
	for _, value := range [...]struct {
		name, text string
		read       func(string) error
	}{
		{"kind", t.Kind, func(text string) error { f.Kind, err = parseKind(text); return err }},
		{"after", t.After, func(text string) error { f.After, err = time.ParseDuration(text); return err }},
		{"until", t.Until, func(text string) error { f.Until, err = time.ParseDuration(text); return err }},
		{"delay", t.Delay, func(text string) error { f.Delay, err = time.ParseDuration(text); return err }},
		{"skew", t.Skew, func(text string) error { f.Skew, err = time.ParseDuration(text); return err }},
		{"status", t.Status, func(text string) error { f.Status, err = market.ParseMarketStatus(text); return err }},
		{"reason", t.Reason, func(text string) error {
			f.Reason,
				err = market.ParseRestatementReason(text)
			return err
		}},
	} {
		if value.text == "" {
			continue
		}
		if err := value.read(value.text); err != nil {
			return f, fmt.Errorf("%s: %w", value.name, err)
		}
	}
	return f, nil
}

// text writes a fault as a script does.
func (f *Fault) text() faultText {
	t := faultText{Kind: f.Kind.String(), Endpoints: f.Endpoints, Account: f.Account, Key: f.Key, Market: f.Market,
		Channel: f.Channel, Code: f.Code, Work: f.Work, Price: f.Price, Tick: f.Tick, Reason: f.Reason.String()}
	if f.Nth != 0 {
		t.Nth = &f.Nth
	}
	if f.Count != 0 {
		t.Count = &f.Count
	}
	if f.Probability != 0 {
		t.Probability = &f.Probability
	}
	for _, span := range [...]struct {
		from market.Duration
		to   *string
	}{{f.After, &t.After}, {f.Until, &t.Until}, {f.Delay, &t.Delay}, {f.Skew, &t.Skew}} {
		if span.from != 0 {
			*span.to = span.from.String()
		}
	}
	if f.Status != 0 {
		t.Status = f.Status.String()
	}
	return t
}
