package recipes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// played runs a recipe in a backtest over the candles of a scene, and returns the scene with the
// fills and some of the plots that came of it. The lines of a scene are such as "BTC-EUR 100 x5
// 101.5": a market, and the closes of its candles of 1h.
func played(t *testing.T, definition strategy.Definition, scene string) string {
	t.Helper()
	head, _, _ := strings.Cut(scene, "\n\n")
	out := t.TempDir()
	options := []bot.Option{bot.Log(t.Output()), bot.Out(out), bot.Set("assets.EUR.decimals", "2")}
	for line := range strings.SplitSeq(head, "\n") {
		name, closes, _ := strings.Cut(line, " ")
		base, _, err := market.SplitName(name)
		require.NoError(t, err)
		options = append(options, bot.Closes(name, market.Interval1h, repeated(t, closes)),
			bot.Set("assets."+base+".decimals", "4"), bot.Set("markets."+name+".min_order_in_quote", "5"))
	}
	result, err := bot.Backtest(t.Context(), definition, nil, options...)
	require.NoError(t, err)
	require.Empty(t, result.Warnings)
	var text strings.Builder
	for _, f := range result.Fills {
		how := "maker"
		if f.Taker {
			how = "taker"
		}
		fmt.Fprintf(&text, "%s  %-4s %s %s at %s (%s, fee %s)\n", f.Time.Std().Format("Jan _2 15:04"), f.Side, f.Amount,
			f.Market, f.Price, how, f.Fee)
	}
	plots, err := os.ReadFile(filepath.Join(out, "plots.csv"))
	if err == nil {
		rows := strings.SplitAfter(string(plots), "\n")
		text.WriteString("\nplots.csv\n" + strings.Join(rows[:min(3, len(rows))], "") + "…\n" + rows[len(rows)-2])
	}
	return head + "\n\n" + text.String()
}

// repeated writes "100 x3" as "100 100 100".
func repeated(t *testing.T, closes string) string {
	t.Helper()
	var all []string
	for _, word := range strings.Fields(closes) {
		times, more := strings.CutPrefix(word, "x")
		if !more {
			all = append(all, word)
			continue
		}
		n, err := strconv.Atoi(times)
		require.NoError(t, err)
		for range n - 1 {
			all = append(all, all[len(all)-1])
		}
	}
	return strings.Join(all, " ")
}
