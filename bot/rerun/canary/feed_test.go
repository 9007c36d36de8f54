package canary

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/rerun/replay"
	"github.com/tidemark-trading/tidemark/market"
)

// A child gets each frame whole and in order, and its answers arrive.
func TestAChildGetsWhatItIsGivenInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		records, to := io.Pipe()
		from, answers := io.Pipe()
		p := Over(to, from)
		read := make(chan struct{})
		go func() {
			_ = json.NewEncoder(answers).Encode(Hello{Canary: protocol, Program: "v2"})
			<-read
			_ = json.NewEncoder(answers).Encode(Progress{Verdict: &replay.Verdict{Equal: 4}})
			_ = answers.Close()
			_, _ = io.Copy(io.Discard, records)
		}()
		given := []replay.Command{{Entry: 3, Kind: market.CommandPlace, Order: 1, Terms: []replay.Term{{Name: "side",
			Text: "buy"}}}}
		p.Turn(7, given)
		p.Blocks([]byte("blocks"))
		p.Turn(9, nil)
		p.Blocks([]byte("more"))
		got := &frames{in: newReader(records)}
		for _, want := range []string{"blocks", "more"} {
			blocks, err := got.blocks()
			require.NoError(t, err)
			require.Equal(t, want, string(blocks))
		}
		require.Equal(t, []replay.Turn{{To: 7, Commands: given}, {To: 9}}, got.taken())
		require.Empty(t, got.taken())
		close(read)
		p.Wait()
		require.NoError(t, p.State().Ended)
		require.Equal(t, 4, p.State().Equal)
		require.Equal(t, "v2", p.State().Program)
		require.NoError(t, p.State().Ended)
	})
}

// What a child does not take in time is dropped and counted. The loop does not wait for it.
func TestAChildThatDoesNotKeepUpLosesFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		records, to := io.Pipe()
		from, answers := io.Pipe()
		p := Over(to, from)
		block := make([]byte, 1<<20)
		for range 40 {
			p.Blocks(block)
		}
		require.GreaterOrEqual(t, p.State().Dropped, 10, "of 40: 15 wait, and 15 are being written")
		require.LessOrEqual(t, len(p.waiting), maxWaiting)
		require.NoError(t, errors.Join(records.Close(), answers.Close()))
		p.Wait()
		require.ErrorContains(t, p.State().Ended, "the canary")
		p.Blocks(block)
		require.Empty(t, p.waiting, "nothing waits for a child that has ended")
	})
}

// FuzzPlay holds that no bytes of the pipe crash a child, and that its last answer says what was
// wrong.
func FuzzPlay(f *testing.F) {
	frame := func(kind byte, content string) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(content))), content...)
	}
	f.Add(append(frame(frameTurn, "12345678[]"), frame(frameBlocks, "TMR1")...))
	f.Add(frame(frameTurn, "12345678{"))
	f.Add(frame('x', ""))
	f.Add([]byte{frameBlocks, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		p := Player{Hello: Hello{Program: "v2"}}
		err := p.Play(context.Background(), bytes.NewReader(data), &out)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		var last Progress
		require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &last))
		require.Equal(t, err != nil, last.Error != "")
	})
}

// BenchmarkTurn is what a canary costs the loop: the commands of a turn and the block with its
// records, beside the copy of the block alone.
func BenchmarkTurn(b *testing.B) {
	terms := make([]replay.Term, 18)
	for i := range terms {
		terms[i] = replay.Term{Name: "self-trade prevention", Text: "decrementAndCancel"}
	}
	commands := []replay.Command{{Entry: 3, Kind: market.CommandPlace, Order: 1, Strategy: "trend", Terms: terms,
		Record: 812, Cause: "ticker BTC-EUR of 2026-11-23T06:28:27.915168466Z"}}
	block, f := make([]byte, 4<<10), newFeed()
	for name, give := range map[string]func(){
		"copy":  func() { f.Blocks(block) },
		"empty": func() { f.Turn(7, nil); f.Blocks(block) },
		"order": func() { f.Turn(7, commands); f.Blocks(block) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				give()
				f.waiting = f.waiting[:0]
			}
		})
	}
}
