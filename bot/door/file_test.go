package door

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/state/signals"
)

// growing is a file of signals that grows while a bot reads it.
type growing struct {
	*testing.T
	ear       *ear
	log       *lockedBuffer
	path, dir string
	end       func()
}

// grow plays a file in a bubble, where a look at it takes no time.
func grow(t *testing.T, play func(g *growing)) {
	synctest.Test(t, func(t *testing.T) {
		g := &growing{T: t, ear: &ear{}, log: &lockedBuffer{}, dir: t.TempDir()}
		g.path = filepath.Join(g.dir, "model.csv")
		play(g)
		if g.end != nil {
			g.stop()
		}
	})
}

// start begins to read.
func (g *growing) start() {
	f := &File{Lines: Lines{Source: "model", Sender: signals.NewSender("model", signals.Options{}), Ear: g.ear,
		Proof: signals.ProofFile, Log: zerolog.New(g.log)}, Path: g.path, Place: filepath.Join(g.dir, "place")}
	ctx, cancel := context.WithCancel(g.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	g.end = func() {
		cancel()
		require.NoError(g, <-ended)
	}
	g.look()
}

func (g *growing) stop() {
	g.end()
	g.end = nil
}

// look waits until the file was looked at.
func (g *growing) look() {
	time.Sleep(2 * lookTime)
	synctest.Wait()
}

// write writes a file anew.
func (g *growing) write(text string) {
	require.NoError(g, os.WriteFile(g.path, []byte(text), 0o600))
	g.look()
}

// add appends to the file.
func (g *growing) add(text string) {
	file, err := os.OpenFile(g.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(g, err)
	_, err = file.WriteString(text)
	require.NoError(g, err)
	require.NoError(g, file.Close())
	g.look()
}

// heard wants these signals, in their order.
func (g *growing) heard(want ...string) {
	g.Helper()
	require.Equal(g, want, g.ear.all())
}

const growingHead = "time,market,value\n"

// row is a row of a minute of an hour.
func row(minute int, market string, value any) string {
	return fmt.Sprintf("2024-03-01T12:%02d:00Z,%s,%v\n", minute, market, value)
}

func TestRowsThatAreAppendedAreSignals(t *testing.T) {
	grow(t, func(g *growing) {
		g.write(growingHead + row(0, "BTC-EUR", 1) + row(1, "BTC-EUR", 2) + row(1, "ETH-EUR", 3))
		g.start()
		g.heard("BTC-EUR 2", "ETH-EUR 3") // the states at the start
		g.add(row(2, "BTC-EUR", 4))
		half := row(3, "BTC-EUR", 55)
		g.add(half[:len(half)-2]) // would be 5
		g.heard("BTC-EUR 2", "ETH-EUR 3", "BTC-EUR 4")
		g.add(half[len(half)-2:] + row(4, "BTC-EUR", 6) + row(2, "ETH-EUR", 7)) // a late one
		g.heard("BTC-EUR 2", "ETH-EUR 3", "BTC-EUR 4", "BTC-EUR 55", "BTC-EUR 6", "ETH-EUR 7")
		require.Equal(t, signals.ProofFile, g.ear.heard[5].Proof)
	})
}

func TestActionsOfThePastAreHistory(t *testing.T) {
	grow(t, func(g *growing) {
		g.write("time,market,action\n" + row(0, "BTC-EUR", "buy"))
		g.start()
		require.Empty(t, g.ear.all())
		g.add(row(1, "BTC-EUR", "sell"))
		g.heard("BTC-EUR sell")
	})
}

func TestAFileThatComesLaterIsAllSignals(t *testing.T) {
	grow(t, func(g *growing) {
		g.start()
		require.Contains(t, g.log.String(), "the file of signals is not there")
		g.stop()
		g.add("time,mark")
		g.start()
		g.add("et,action\n" + row(0, "BTC-EUR", "buy"))
		g.heard("BTC-EUR buy")
	})
}

func TestAFileSurvivesRotationCutsAndRestarts(t *testing.T) {
	grow(t, func(g *growing) {
		g.add(growingHead)
		g.start()
		g.add(row(1, "BTC-EUR", 1))
		g.stop()
		g.add(row(2, "BTC-EUR", 2)) // while the bot is down
		g.start()
		g.heard("BTC-EUR 1", "BTC-EUR 2")
		file, err := os.OpenFile(g.path, os.O_APPEND|os.O_WRONLY, 0) // a writer that holds it over the rotation
		require.NoError(t, err)
		require.NoError(t, os.Rename(g.path, g.path+".1"))
		_, err = file.WriteString(row(3, "BTC-EUR", 3))
		require.NoError(t, err)
		require.NoError(t, file.Close())
		g.write(growingHead + row(4, "BTC-EUR", 4))
		g.heard("BTC-EUR 1", "BTC-EUR 2", "BTC-EUR 3", "BTC-EUR 4")
		g.write("market,time,value\nBTC-EUR,2024-03-01T12:05:00Z,5\n") // cut, and with other columns
		g.heard("BTC-EUR 1", "BTC-EUR 2", "BTC-EUR 3", "BTC-EUR 4", "BTC-EUR 5")
		require.NoError(t, os.Remove(g.path))
		g.look()
		g.stop()
		g.start()
		g.write(growingHead + row(6, "BTC-EUR", 6))
		g.heard("BTC-EUR 1", "BTC-EUR 2", "BTC-EUR 3", "BTC-EUR 4", "BTC-EUR 5", "BTC-EUR 6")
	})
}

// to_csv of pandas writes the whole file each time: it is cut, half there, and there again.
func TestAFileThatIsWrittenWholeEachTimeCountsItsNewRows(t *testing.T) {
	grow(t, func(g *growing) {
		text := growingHead + row(0, "BTC-EUR", 0) + row(0, "ETH-EUR", 0)
		g.write(text)
		g.start()
		want := []string{"BTC-EUR 0", "ETH-EUR 0"}
		for i := 1; i < 8; i++ {
			text += row(i, "BTC-EUR", i)
			g.write(text[:len(text)/3])
			g.write(text)
			text += row(i, "ETH-EUR", i) // of the same time, and later
			g.write(text)
			if i == 4 {
				g.stop()
				g.start()
			}
			want = append(want, fmt.Sprint("BTC-EUR ", i), fmt.Sprint("ETH-EUR ", i))
			g.heard(want...)
			require.Len(t, want, g.ear.calls, "the bot is not asked about rows that it has heard")
		}
	})
}

// Whatever happens to the file and to the bot, no row counts twice, and none is lost.
func TestNoRowCountsTwiceWhateverHappens(t *testing.T) {
	for seed := range uint64(12) {
		grow(t, func(g *growing) {
			draw := rand.New(rand.NewPCG(seed, 1))
			g.add(growingHead)
			g.start()
			text, told := growingHead, 0
			var want []string
			add := func() string {
				told++
				want = append(want, fmt.Sprint("BTC-EUR ", told))
				return row(told, "BTC-EUR", told)
			}
			for range 30 {
				switch n := draw.IntN(8); n {
				case 0:
					if g.end == nil {
						g.start()
					} else {
						g.stop()
					}
				case 1: // rotate
					if g.end != nil {
						g.look() // a bot that is down reads no file that has lost its name
						require.NoError(t, os.Rename(g.path, g.path+".1"))
						text = growingHead + add()
						g.write(text)
					}
				case 2: // write again, whole or its end, in two steps
					from := len(growingHead)
					if g.end != nil && draw.IntN(2) == 0 { // a bot that is down loses the rows
						from = strings.LastIndex(text[:len(text)-1], "\n") + 1
					}
					text = growingHead + text[max(from, len(growingHead)):] + add()
					g.write(text[:draw.IntN(len(text))])
					g.write(text)
				case 3: // a row in two steps
					line := add()
					at := draw.IntN(len(line))
					g.add(line[:at])
					g.add(line[at:])
					text += line
				case 4: // a bot that does not hear, and is killed
					if g.end != nil {
						g.ear.set(fmt.Errorf("no"))
						text += add()
						g.write(text)
						g.stop()
						g.ear.set(nil)
						g.start()
					}
				default:
					line := add()
					g.add(line)
					text += line
				}
			}
			if g.end == nil {
				g.start()
			}
			g.look()
			require.Equal(t, want, g.ear.all(), "seed %d", seed)
			g.ear.mu.Lock()
			defer g.ear.mu.Unlock()
			for i := range g.ear.heard {
				require.Len(t, g.ear.heard[i].ID, 32)
			}
		})
	}
}

// set makes each call fail.
func (e *ear) set(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
}

// A kill between a signal and its place repeats the signal with its id.
func TestAKillBeforeThePlaceIsKeptRepeatsARowWithItsID(t *testing.T) {
	grow(t, func(g *growing) {
		g.add("time,BTC-EUR,ETH-EUR\n")
		g.start()
		before, err := os.ReadFile(filepath.Join(g.dir, "place"))
		require.NoError(t, err)
		g.add("2024-03-01T12:01:00Z,1,2\n")
		g.stop()
		require.NoError(t, os.WriteFile(filepath.Join(g.dir, "place"), before, 0o600))
		g.start()
		g.heard("BTC-EUR 1", "ETH-EUR 2")
		require.NotEqual(t, g.ear.heard[0].ID, g.ear.heard[1].ID)
	})
}

func TestWrongRowsAreToldAndTheNextOnesCount(t *testing.T) {
	grow(t, func(g *growing) {
		g.add(growingHead)
		g.start()
		g.add(row(1, "BTC-EUR", "much") + strings.Repeat("x", 3*signals.MaxBody) + "\n\n" + row(2, "BTC-EUR", 2))
		g.heard(`wrong: column "value": "much" is no number`, "BTC-EUR 2")
		require.Contains(t, g.log.String(), "a line is longer than a signal may be")
		g.write("value,market\n1,BTC-EUR\n")
		g.heard(`wrong: column "value": "much" is no number`, "BTC-EUR 2",
			"wrong: a row of a file needs a time: name a column time")
	})
	grow(t, func(g *growing) {
		g.add("no header at all\n" + row(1, "BTC-EUR", 1))
		g.start()
		g.add(row(2, "BTC-EUR", 1))
		g.heard("wrong: there is no header with the names of the columns")
		require.Equal(t, 1, strings.Count(g.log.String(), "the first line"), g.log.String())
	})
}

func TestAPlaceThatCannotBeReadIsNamed(t *testing.T) {
	for _, text := range []string{"", "{", `{"version":2}`} {
		place := filepath.Join(t.TempDir(), "place")
		require.NoError(t, os.WriteFile(place, []byte(text), 0o600))
		err := (&File{Place: place}).Run(t.Context())
		require.ErrorContains(t, err, place)
	}
}
