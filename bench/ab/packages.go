package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// packageRow is a row of the table and the figure of a benchmark that it shows.
type packageRow struct {
	row, figure, unit string // figure is the unit that the benchmark prints, as in ns/what
}

// packageBenchmark is a benchmark and the rows that it measures at once. Its package is found by
// its name: a revision may have it in any folder.
type packageBenchmark struct {
	function  string // name after Benchmark; no other package may have one of this name
	sub       string // sub-benchmark, or empty
	benchtime string
	rows      []packageRow
}

// packageBenchmarks are those of the bench table, and some of the client, the records and the state
// file.
var packageBenchmarks = []packageBenchmark{
	{"SigningAgainstTheBareHash", "", "500ms", []packageRow{{"signature", "ns/what", "ns"}}},
	{"BookAgainstAByteLoop", "", "500ms", []packageRow{{"book of 1000 × 1000 decoded", "ns/what", "ns"}}},
	{"CandlesAgainstEncodingJSON", "", "500ms", []packageRow{{"page of 1440 candles decoded", "ns/what", "ns"}}},
	{"OrderRecordAgainstItsValidity", "", "500ms", []packageRow{{"record of an order decoded", "ns/what", "ns"}}},
	{"TickToRequestAgainstALoopbackRoundTrip", "", "500ms", []packageRow{
		{"ticker's bytes to signed request, the client alone", "ns/what", "ns"},
	}},
	{"CandlesAgainst", "", "500ms", []packageRow{{"2,000 candles drawn as SVG", "ns/what", "ns"}}},
	{"IntentDurable", "", "500ms", []packageRow{{"intent made durable", "µs/intent", "µs"}}},
	{"IntentsDrained", "", "500ms", []packageRow{{"64 events in one commit, each", "µs/intent", "µs"}}},
	{"Batch", "", "500ms", []packageRow{{"intent and order encoded", "ns/op", "ns"}}},
	{"FileSize", "", "20000x", []packageRow{{"state file of 100,000 orders", "MB/100k-orders", "MB"}}},
	{"SignedOrder", "", "500ms", []packageRow{
		{"signed POST /order over loopback, exchange", "signed-req/s", "req/s"},
		{"signed POST /order over loopback, p99", "signed-p99-µs", "µs"},
	}},
	{"OrderFromAnotherProcess", "clients=1", "500ms", []packageRow{
		{"signed POST /order from another process", "signed-req/s", "req/s"},
		{"signed POST /order from another process, p99", "signed-p99-µs", "µs"},
	}},
	{"Book", "10000", "50x", []packageRow{
		{"matching core, 10 k resting, an operation", "core-ns", "ns"},
		{"whole life of an order at the venue, 10 k", "venue-ns", "ns"},
	}},
	{"Book", "1000000", "10x", []packageRow{
		{"matching core, 1 M resting, an operation", "core-ns", "ns"},
		{"whole life of an order at the venue, 1 M", "venue-ns", "ns"},
	}},
	{"ReplayedEvents", "", "5x", []packageRow{{"replay of a recording, six strategies, an event", "ns/event", "ns"}}},
	{"Month", "", "2x", []packageRow{{"bot replay of a month: 5.3 M events of two markets, 5,182 commands", "s/month",
		"s"}}},
	{"PBO", "", "3x", []packageRow{{"PBO of 10,000 sets × 1,000 days × 12,870 splits, CPU", "cpu-ms", "ms"}}},
	{"SPA", "", "3x", []packageRow{{"SPA of 10,000 sets × 1,000 days × 1,000 resamples, CPU", "cpu-ms", "ms"}}},
}

func packageSources() (all []*source) {
	for i := range packageBenchmarks {
		b := &packageBenchmarks[i]
		s := &source{name: "benchmark " + b.function}
		if b.sub != "" {
			s.name += "/" + b.sub
		}
		for _, r := range b.rows {
			s.rows = append(s.rows, r.row)
		}
		s.prepare = b.prepare
		s.measure = b.measure
		all = append(all, s)
	}
	return all
}

// prepare finds the package of the benchmark and builds its tests.
func (b *packageBenchmark) prepare(ctx context.Context, t *tree) error {
	folder, err := b.find(t)
	if err != nil {
		return err
	}
	_, err = t.buildTests(ctx, folder)
	return err
}

func (b *packageBenchmark) measure(ctx context.Context, t *tree) ([]figure, error) {
	folder, err := b.find(t)
	if err != nil {
		return nil, err
	}
	pattern := "^Benchmark" + b.function + "$"
	if b.sub != "" {
		pattern += "/^" + b.sub + "$"
	}
	text, err := t.benchmark(ctx, folder, pattern, b.benchtime)
	if err != nil {
		return nil, err
	}
	printed := parseBenchmark(text)
	var figures []figure
	for _, r := range b.rows {
		if value, found := printed[r.figure]; found {
			figures = append(figures, figure{row: r.row, unit: r.unit, value: value})
		}
	}
	return figures, nil
}

// find returns the package folder of the benchmark, or errAbsent.
func (b *packageBenchmark) find(t *tree) (folder string, err error) {
	if t.benchmarks == nil {
		if t.benchmarks, err = benchmarksBelow(t.dir); err != nil {
			return "", err
		}
	}
	for _, one := range t.benchmarks {
		switch {
		case one.name != b.function:
		case folder != "":
			return "", fmt.Errorf("%s and %s both have a Benchmark%s", folder, one.folder, b.function)
		default:
			folder = one.folder
		}
	}
	if folder == "" {
		return "", errAbsent
	}
	return folder, nil
}

// declared is a benchmark, by its name after Benchmark, in a package folder below the root of its
// tree.
type declared struct{ folder, name string }

// benchmarksBelow returns the benchmarks of all packages of a tree.
func benchmarksBelow(root string) (all []declared, err error) {
	line := regexp.MustCompile(`(?m)^func Benchmark(\w+)\(`)
	err = fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (entry.Name()[0] == '.' || entry.Name() == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		for _, m := range line.FindAllStringSubmatch(string(text), -1) {
			all = append(all, declared{path.Dir(name), m[1]})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for benchmarks: %w", err)
	}
	return all, nil
}

// parseBenchmark returns the figures of the last line that a benchmark printed, by unit.
func parseBenchmark(text string) map[string]float64 {
	figures := map[string]float64{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		for i := 2; i+1 < len(fields); i += 2 {
			if value, err := strconv.ParseFloat(fields[i], 64); err == nil {
				figures[fields[i+1]] = value
			}
		}
	}
	return figures
}
