package runner

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

func TestALogLineForAPersonFitsTheTerminal(t *testing.T) {
	bottest.Unraced(t)
	colour := regexp.MustCompile("\x1b\\[[0-9;]*m")
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 3, nil)
		p := s.start()
		time.Sleep(10 * time.Minute)
		_, err := s.flatten(p)
		require.NoError(t, err)
		require.NoError(t, p.end())
		log := s.log.String() + strings.Repeat(`{"level":"error","error":"`+strings.Repeat("no end ",
			60)+strings.Repeat("x", 300)+`","message":"alert"}`+"\n", 1)
		require.Greater(t, strings.Count(log, "\n"), 30)
		for _, width := range []int{80, 100, 120} {
			folds := 0
			for line := range strings.Lines(log) {
				var out bytes.Buffer
				_, err := console.Writer(&out, true, width).Write([]byte(line))
				require.NoError(t, err)
				for shown := range strings.Lines(out.String()) {
					require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(shown, "\n")), width, shown)
				}
				folds += strings.Count(out.String(), "\n") - 1
				requireNothingLost(t, line, out.String())
				var coloured bytes.Buffer
				_, err = console.Writer(&coloured, false, width).Write([]byte(line))
				require.NoError(t, err)
				require.Equal(t, out.String(), colour.ReplaceAllString(coloured.String(), ""),
					"colours have no columns")
			}
			require.Positive(t, folds)
		}
	})
}

// requireNothingLost looks for every value of a JSON line in what a person sees.
func requireNothingLost(t *testing.T, line, shown string) {
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(line), &fields))
	words := strings.Join(strings.Fields(shown), "")
	for name, value := range fields {
		text, isText := value.(string)
		switch {
		case !isText || name == zerolog.LevelFieldName:
			continue
		case name == "client_order_id":
			text = text[:8]
			require.Contains(t, shown, name+"="+text)
		}
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		require.Contains(t, words, strings.Join(strings.Fields(strings.Trim(string(quoted), `"`)), ""), name)
	}
}
