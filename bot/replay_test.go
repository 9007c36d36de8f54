package bot

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/rerun/replay"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// requireReplay replays what a stopped bot has left: no command differs.
func requireReplay(t *testing.T, dir string) {
	t.Helper()
	r, err := replay.Run(t.Context(), dir, append(shipped.Definitions(), holderKind, sleeperKind), nil)
	require.NoError(t, err)
	if r.First != nil {
		var text bytes.Buffer
		require.NoError(t, printReplay(&text, r))
		t.Fatal(text.String())
	}
	require.Positive(t, r.Equal)
}

func TestWhatReplayPrintsSaysWhatWasNotCompared(t *testing.T) {
	var text bytes.Buffer
	r := &replay.Verdict{Equal: 4812, Refused: 93, Records: 1_204_512, Starts: 2, Unwritten: 1,
		Lost: []replay.Lost{{From: 812, To: 840, Unchecked: 3}}, Notes: []string{"a note"}, Programs: []string{"v1"}}
	require.NoError(t, printReplay(&text, r))
	require.Contains(t, text.String(), "4,812 commands, all equal; 93 refusals of the gate are counted, not compared\n"+
		"events 812 to 840 are lost, 3 commands unchecked\n"+
		"1 commands never left: a kill or a power cut came before their commit\na note\n1,204,512 events of 2 starts, ")
	text.Reset()
	r.First = &replay.Difference{Record: 88, Event: "ticker BTC-EUR", Entry: 7, Then: "place order 3", Hint: "why"}
	require.NoError(t, printReplay(&text, r))
	require.Contains(t, text.String(), "4,812 commands, equal, and the next one differs; 93 refusals")
	require.Contains(t, text.String(),
		"event 88: ticker BTC-EUR; journal entry 7\n  then: place order 3\n  now : nothing\n  why\n")
}

func TestReplaySaysWhatItCannotPlay(t *testing.T) {
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"nowhere/bot.db: not found", exitFailed, []string{"--state", "nowhere"}},
		{"stands alone", 64, []string{"bots/live"}},
	} {
		var failed bytes.Buffer
		code := Run(t.Context(), Process{Args: append([]string{"replay"}, c.args...), Stdout: new(bytes.Buffer),
			Stderr: &failed, Getenv: func(string) string { return "" }, Definitions: []strategy.Definition{holderKind}})
		require.Equal(t, c.code, code)
		require.Contains(t, failed.String(), c.want)
	}
}
