package runner

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/lives"
)

// How many lives are played, and which:
//
//	go test ./bot/runner -run PromisesHold -lives 20000 -timeout 4h
//	go test ./bot/runner -run PromisesHold -life testdata/lives/stop.txt -v
var (
	manyLives = flag.Int("lives", 200, "how many random lives of a bot are played, and a quarter of "+
		"that from lives.Wide on; every 40th is replayed, too")
	firstLife  = flag.Uint64("first-life", 0, "seed of the first of them, less one")
	tries      = flag.Int("shrink", 60, "how many lives are played to shrink one that broke a promise")
	wholeLives = flag.Int("whole", 0, "how many lives are played with bots that are processes of their own")
	lifeFile   = flag.String("life", "", "play the life in this `FILE` alone")
	newPage    = flag.Bool("update", false, "write docs/pairs.md anew, from the lives that are played")
)

// pairsPage is the page of the documentation that has the matrix.
const pairsPage = "../../docs/pairs.md"

// Whatever happens to a bot in a life, its promises hold. The lives that once failed come first,
// then drawn ones.
func TestThePromisesHoldInAnyLife(t *testing.T) {
	if *lifeFile != "" {
		for _, f := range lived(t, readLife(t, *lifeFile), nil, true) {
			t.Error(f)
		}
		return
	}
	files, err := filepath.Glob("testdata/lives/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	many := uint64(*manyLives)
	if testing.Short() { // the race detector sees the same goroutines in a few
		few := []string{}
		for some := range slices.Chunk(files, 16) {
			few = append(few, some[0])
		}
		files, many = few, many/20
	}
	met := lives.Pairs{}
	for _, file := range files {
		for _, f := range lived(t, readLife(t, file), met, false) {
			t.Errorf("%s: %s", file, f)
		}
	}
	seeds := []uint64{}
	for seed := range many {
		seeds = append(seeds, seed+1+*firstLife)
	}
	for seed := range many / 4 {
		seeds = append(seeds, lives.Wide+seed+1+*firstLife)
	}
	for _, seed := range seeds {
		l := lives.Draw(seed)
		if found := lived(t, l, met, false); len(found) > 0 {
			shrunk(t, l, found[0])
		}
	}
	page := met.Page(len(files) + len(seeds))
	if *newPage {
		require.NoError(t, os.WriteFile(pairsPage, []byte(page), 0o600))
	}
	written, err := os.ReadFile(pairsPage)
	require.NoError(t, err)
	require.Equal(t, lives.Frame(page), lives.Frame(string(written)),
		"events or promises have changed: go test ./bot/runner -run PromisesHold -lives 1000 -update")
}

func readLife(t *testing.T, file string) *lives.Life {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	l, err := lives.Parse(string(text))
	require.NoError(t, err, file)
	return l
}

// lived plays a life in a bubble of its own and returns the promises that were broken.
func lived(t *testing.T, l *lives.Life, met lives.Pairs, tell bool) (found []lives.Finding) {
	t.Run(fmt.Sprint(l.Seed), func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := newPlayer(t, l)
			defer func() {
				if found = p.guard.Findings; t.Failed() {
					found = append(found, lives.Finding{Promise: "P4", Text: "a check of the stage has failed"})
				}
				if tell {
					t.Logf("%s", p.log.Tail(400))
				}
			}()
			p.play()
			if met != nil {
				met.Add(l, p.guard)
			}
		})
	})
	return found
}

// shrunk shrinks a life that broke a promise, and prints it as it runs again. With LIVES it is
// written to a file of that folder, too.
func shrunk(t *testing.T, l *lives.Life, f lives.Finding) {
	folder, tries := os.Getenv("LIVES"), *tries
	small := lives.Shrink(l, tries, func(smaller *lives.Life) bool {
		for _, found := range lived(t, smaller, nil, false) {
			if found.Promise == f.Promise {
				f = found
				return true
			}
		}
		return false
	})
	t.Errorf("a life breaks a promise (seed %d)\n# %s\n%s", l.Seed, f, small)
	if folder != "" {
		name := f.Promise
		for i := range small.Events {
			name += "-" + strings.ReplaceAll(small.Events[i].Name(), " ", ".")
		}
		_ = os.WriteFile(filepath.Join(folder, name+".txt"), []byte("# "+f.String()+"\n"+small.String()), 0o600)
	}
}
