package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// normalised says what a comparison of results leaves out.
const normalised = `Files are compared byte for byte. Where they differ, they are compared again without: in
result.json the run's id, the code's version and the hash of the config, and with rates of
parameters as fractions ("99%" is 0.99); in orders.csv the client order ids, which derive
from them; what came later: in trades.csv strategy, return, mae, mfe and part, in result.json
drawdowns, trips.partial, when the markets of a strategy began, definitions, and buy_and_hold,
which begins later now. plots.csv counts where both sides have it. Where the schemas of result.json
differ, also without: schema, definitions, assumptions, and what schema 2 has added or redefined
(unprotected_by, unprotected_seconds; fees and rounding count as one sum). report.html has
the same numbers and other words: it is named and not compared again.
`

// normalise returns both texts of a result file without what differs by intent.
func normalise(name string, was, is []byte) (before, after []byte, err error) {
	switch name {
	case "orders.csv":
		if before, err = withoutColumn(was, "client_order_id"); err == nil {
			after, err = withoutColumn(is, "client_order_id")
		}
	case "trades.csv":
		before, after = was, is
		for _, name := range [...]string{"strategy", "return", "mae", "mfe", "part"} {
			if before, err = withoutColumn(before, name); err == nil {
				after, err = withoutColumn(after, name)
			}
			if err != nil {
				break
			}
		}
	case "result.json":
		before, after, err = normaliseResults(was, is)
	default:
		return was, is, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("normalise %s: %w", name, err)
	}
	return before, after, nil
}

// withoutColumn returns a CSV file without one of its columns.
func withoutColumn(text []byte, name string) ([]byte, error) {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) == 0 {
		return text, err
	}
	var out strings.Builder
	column := slices.Index(rows[0], name)
	for _, row := range rows {
		if column >= 0 {
			row = slices.Delete(row, column, column+1)
		}
		out.WriteString(strings.Join(row, ",") + "\n")
	}
	return []byte(out.String()), nil
}

func normaliseResults(was, is []byte) (before, after []byte, err error) {
	var old, now map[string]any
	if err = json.Unmarshal(was, &old); err != nil {
		return nil, nil, err
	}
	if err = json.Unmarshal(is, &now); err != nil {
		return nil, nil, err
	}
	schemas := [...]any{old["schema"], now["schema"]}
	for _, result := range [...]map[string]any{old, now} {
		run, _ := result["run"].(map[string]any)
		delete(run, "id")
		delete(run, "config_hash")
		delete(run, "code_version")
		ratesAsFractions(result)
		withoutPlots(result)
		withoutLater(result)
		withoutBeginnings(result)
		if schemas[0] != schemas[1] {
			acrossSchemas(result)
		}
	}
	if before, err = json.MarshalIndent(old, "", " "); err != nil {
		return nil, nil, err
	}
	after, err = json.MarshalIndent(now, "", " ")
	return before, after, err
}

// ratesAsFractions writes every percentage as revisions up to e84bb56 wrote a rate: as a fraction.
func ratesAsFractions(part any) {
	switch part := part.(type) {
	case []any:
		for i := range part {
			ratesAsFractions(part[i])
		}
	case map[string]any:
		for key, value := range part {
			text, _ := value.(string)
			if percent, found := strings.CutSuffix(text, "%"); found {
				if rate, err := decimal.NewFromString(percent); err == nil {
					part[key] = rate.Shift(-2).String()
				}
			}
			ratesAsFractions(value)
		}
	}
}

// withoutPlots takes plots.csv, which older revisions do not write, from the list of files.
func withoutPlots(result map[string]any) {
	if files, is := result["files"].([]any); is {
		result["files"] = slices.DeleteFunc(files, func(name any) bool { return name == "plots.csv" })
	}
}

// withoutLater takes from a result what older revisions do not have, or define otherwise.
func withoutLater(result map[string]any) {
	for _, key := range [...]string{"drawdowns", "definitions", "buy_and_hold"} {
		delete(result, key)
	}
	trips, _ := result["trips"].(map[string]any)
	delete(trips, "partial")
}

// withoutBeginnings takes from the strategies of a result when each of their markets began, which
// older revisions do not write.
func withoutBeginnings(result map[string]any) {
	strategies, _ := result["strategies"].([]any)
	for _, s := range strategies {
		if fields, is := s.(map[string]any); is {
			delete(fields, "began")
		}
	}
}

// acrossSchemas takes from a result what schemas 1 and 2 do not share.
func acrossSchemas(result map[string]any) {
	for _, key := range [...]string{"schema", "definitions", "assumptions", "unprotected_by", "unprotected_seconds"} {
		delete(result, key)
	}
	performance, _ := result["performance"].(map[string]any)
	sum := new(big.Rat)
	for _, key := range [...]string{"fees", "rounding"} {
		if text, found := performance[key].(string); found {
			if amount, valid := new(big.Rat).SetString(text); valid {
				sum.Add(sum, amount)
			}
		}
		delete(performance, key)
	}
	if performance != nil {
		performance["fees and rounding"] = sum.FloatString(8)
	}
}

// firstDifference is the first line that differs between two texts, with its number, or empty.
func firstDifference(was, is []byte) string {
	old, now := strings.Split(string(was), "\n"), strings.Split(string(is), "\n")
	for i := range max(len(old), len(now)) {
		a, b := lineAt(old, i), lineAt(now, i)
		if a != b {
			return fmt.Sprintf("line %d:\n  old: %s\n  new: %s", i+1, a, b)
		}
	}
	return ""
}

// lineAt is a line without the spaces around it, or "(end)" after the last.
func lineAt(lines []string, i int) string {
	if i >= len(lines) {
		return "(end)"
	}
	return strings.TrimSpace(lines[i])
}
