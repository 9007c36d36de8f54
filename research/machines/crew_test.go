package machines_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/research/machines"
)

func TestAWorkerIsRefusedWithTheReason(t *testing.T) {
	own := machines.Program{Code: "v1", Arch: "amd64", Strategies: map[string]string{"a": "1", "b": "2"}}
	for _, c := range []struct {
		want   string
		change func(p *machines.Program)
	}{
		{"", func(*machines.Program) {}},
		{"it has no strategy b; take", func(p *machines.Program) { delete(p.Strategies, "b"); p.Code = "v2" }},
		{"its program is version v2, the coordinator's is v1", func(p *machines.Program) { p.Code = "v2" }},
		{"its strategy a has other parameters", func(p *machines.Program) { p.Strategies["a"] = "9" }},
		{"it has more strategies", func(p *machines.Program) { p.Strategies["c"] = "9" }},
		{"its processor is arm64, the coordinator's is amd64", func(p *machines.Program) { p.Arch = "arm64" }},
	} {
		worker := own
		worker.Strategies = maps.Clone(own.Strategies)
		c.change(&worker)
		why := machines.Refuse(&own, &worker)
		require.Equal(t, c.want == "", why == "", why)
		require.Contains(t, why, c.want)
	}
}

func TestACacheFetchesWhatItLacks(t *testing.T) {
	dir := t.TempDir()
	cache, err := machines.NewCache(filepath.Join(dir, "a", "b"))
	require.NoError(t, err)
	content := []byte("candles")
	h, fetches := machines.HashOf(content), 0
	fetch := func(machines.Hash) ([]byte, error) {
		fetches++
		return content, nil
	}
	for range 3 {
		got, _, err := cache.Get(h, fetch)
		require.NoError(t, err)
		require.Equal(t, content, got)
	}
	require.Equal(t, 1, fetches)
	files, err := filepath.Glob(filepath.Join(dir, "a", "b", "blobs", "*", "*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.NoError(t, os.WriteFile(files[0], []byte("candle5"), 0o644))
	got, fetched, err := cache.Get(h, fetch)
	require.NoError(t, err)
	require.True(t, fetched, "a damaged blob is fetched again")
	require.Equal(t, content, got)

	other := machines.HashOf([]byte("others"))
	_, _, err = cache.Get(other, fetch)
	require.ErrorContains(t, err, "candles arrived damaged")
	_, _, err = cache.Get(other, func(machines.Hash) ([]byte, error) { return nil, machines.ErrNoBlob })
	require.True(t, errors.Is(err, machines.ErrNoBlob))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	_, err = machines.NewCache(filepath.Join(dir, "file"))
	require.ErrorContains(t, err, "make the cache")
}
