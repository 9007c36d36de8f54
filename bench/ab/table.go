package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// sections are the sub-benchmarks of BenchmarkRows: the rows of the bench table that
// need no other process.
var sections = []string{"loop", "resting", "store", "live", "sweep", "rules", "rulesSweep", "dense"}

// newSections is how many of the last sections olderRows does not have.
const newSections = 4

// olderRows is BenchmarkRows for revisions that have the bench table and not yet that benchmark.
//
//go:embed rows_test.go.txt
var olderRows []byte

func tableSources() (all []*source) {
	for _, section := range sections {
		all = append(all, &source{
			name: "table, " + section, prepare: prepareTable,
			measure: func(ctx context.Context, t *tree) ([]figure, error) {
				folder, _, err := rowsFolder(t)
				if err != nil {
					return nil, err
				}
				text, err := t.benchmark(ctx, folder, "^BenchmarkRows$/^"+section+"$", "1x")
				return parseTable(text), err
			},
		})
	}
	return all
}

// rowsFolder is the package folder of the bench table. older says that it has no BenchmarkRows.
func rowsFolder(t *tree) (folder string, older bool, err error) {
	rows, table := packageBenchmark{function: "Rows"}, packageBenchmark{function: "Table"}
	if folder, err = rows.find(t); errors.Is(err, errAbsent) {
		folder, err = table.find(t)
		older = true
	}
	return folder, older, err
}

// prepareTable builds the bench table, with BenchmarkRows added where the tree has none.
func prepareTable(ctx context.Context, t *tree) error {
	folder, older, err := rowsFolder(t)
	if err != nil {
		return err
	}
	var flags []string
	if older {
		overlay, err := t.overlay("rows_ab_test.go", olderRows)
		if err != nil {
			return err
		}
		flags = []string{"-overlay", overlay}
	}
	_, err = t.buildTests(ctx, folder, flags...)
	return err
}

// overlay writes a list for go's -overlay that adds a file to the tree, or replaces one, without
// touching the tree. name is its path below the root.
func (t *tree) overlay(name string, text []byte) (list string, err error) {
	file := filepath.Join(t.out, "overlay-"+strings.ReplaceAll(filepath.ToSlash(name), "/", "-"))
	list = file + ".json"
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return "", fmt.Errorf("write the added file: %w", err)
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(t.dir, name): file}})
	if err != nil {
		return "", fmt.Errorf("write the list of added files: %w", err)
	}
	if err := os.WriteFile(list, replace, 0o644); err != nil {
		return "", fmt.Errorf("write the list of added files: %w", err)
	}
	return list, nil
}

// parseTable returns a figure for each row of a bench table: | what | floor | ours | ratio | goal
// |. A row whose third cell begins with no number has none.
func parseTable(text string) (figures []figure) {
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 7 || cells[0] != "" {
			continue
		}
		number, unit, _ := strings.Cut(strings.TrimSpace(cells[3]), " ")
		if value, err := strconv.ParseFloat(number, 64); err == nil {
			figures = append(figures, figure{row: strings.TrimSpace(cells[1]), unit: unit, value: value})
		}
	}
	return figures
}
