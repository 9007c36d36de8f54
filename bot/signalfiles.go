package bot

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/machines"
)

// signalFile is a file of signals on its way to other machines, in pieces by their content.
type signalFile struct {
	Source string          `json:"source"`
	Pieces []machines.Hash `json:"pieces"`
}

// pieceSize is the size of a piece: one message has it.
const pieceSize = 4 << 20

// shipSignals reads the files of signals of a config, and puts their pieces into blobs.
func shipSignals(c *config.Backtest, space *research.Space, blobs map[machines.Hash][]byte) (list []signalFile,
	err error) {
	for _, d := range space.Dimensions() {
		if strings.HasPrefix(d.Key, "signals.") && strings.HasSuffix(d.Key, ".file") {
			return nil, config.Usagef("--vary %s: other machines have the file of the config alone; search it on this "+
				"machine", d.Key)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Signals.Sources)) {
		content, err := os.ReadFile(c.Signals.Sources[name].File)
		if err != nil {
			return nil, err
		}
		f := signalFile{Source: name}
		for piece := range slices.Chunk(content, pieceSize) {
			h := machines.HashOf(piece)
			blobs[h], f.Pieces = piece, append(f.Pieces, h)
		}
		list = append(list, f)
	}
	return list, nil
}

// place writes the file into the cache, and returns the setting that names it there.
func (f *signalFile) place(cache *machines.Cache, fetch func(machines.Hash) ([]byte, error)) (config.Override, error) {
	var all strings.Builder
	for _, h := range f.Pieces {
		all.WriteString(h.String())
	}
	path := cache.Path("signals-" + machines.HashOf([]byte(all.String())).String()[:32])
	set := config.Override{Flag: "--cache", Path: []string{"signals", f.Source, "file"}, Text: path, Word: true}
	if _, err := os.Stat(path); err == nil {
		return set, nil
	}
	err := console.WriteTo(nil, path, func(w io.Writer) error {
		for _, h := range f.Pieces {
			content, _, err := cache.Get(h, fetch)
			if err == nil {
				_, err = w.Write(content)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return set, fmt.Errorf("get the file of signals %s: %w", f.Source, err)
	}
	return set, nil
}
