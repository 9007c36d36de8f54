package bot_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// Prices of more than 2^53 units: text, JSON, pages with charts, tables in CSV and Parquet, and the
// export of the candles hold them, and the run earns what rounded prices earn.
func TestPricesOfVeryManyUnitsHaveEveryView(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	dir := t.TempDir()
	say := func(args ...string) string {
		text, err := command(t, dir, args...)
		require.NoError(t, err, text)
		return text
	}
	var rows strings.Builder
	rows.WriteString("timestamp_ms,open,high,low,close,volume\n")
	price := func(i int) float64 { return 123.45678900999999 * (1 + 0.2*math.Sin(float64(i)/9)) }
	for i := range 500 {
		open, close := price(i), price(i+1)
		fmt.Fprintf(&rows, "%d,%.14f,%.14f,%.14f,%.14f,5000\n", 1709251200000+3600000*i, open, 1.0107*max(open, close),
			0.9893*min(open, close), close)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.csv"), []byte(rows.String()), 0o644))
	text := "assets.ACME.decimals = 6\n[account.start]\nEUR = \"1000000\"\n[report]\nparquet = true\n"
	for _, d := range shipped.Definitions() {
		switch d.Name {
		case "smacross", "breakout", "rsirevert", "grid", "dca", "bandrevert", "accumulate":
			text += fmt.Sprintf("[strategies.%[1]s]\nkind = %[1]q\nmarkets = [\"ACME-EUR\"]\ninterval = \"1h\"\n",
				d.Name)
		}
	}
	final := map[string]float64{}
	for db, flags := range map[string][]string{"fine.db": nil, "rounded.db": {"--price-digits", "9"}} {
		said := say(append([]string{"candles", "import", "--db", db, "--market", "ACME-EUR", "--interval", "1h",
			"in.csv"}, flags...)...)
		require.Equal(t, flags == nil, strings.Contains(said, "--price-digits 12 rounds them"), said)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "c.toml"),
			[]byte(fmt.Sprintf("data.candles = %q\n", db)+text), 0o644))
		require.Contains(t, say("backtest", "-c", "c.toml", "--out", db+".out"), "Written to "+db+".out")
		for _, file := range []string{"report.html", "result.json", "fills.csv", "fills.parquet", "trades.parquet",
			"equity.parquet", "plots.csv"} {
			made, err := os.ReadFile(filepath.Join(dir, db+".out", file))
			require.NoError(t, err)
			require.NotEmpty(t, made, file)
		}
		var r backtest.Result
		require.NoError(t, json.Unmarshal([]byte(say("backtest", "-c", "c.toml", "--json")), &r))
		require.Empty(t, r.Warnings)
		require.Greater(t, r.Orders.Fills, int64(100))
		var err error
		final[db], err = strconv.ParseFloat(r.Performance.Final.String(), 64)
		require.NoError(t, err)
	}
	say("compare", "fine.db.out", "rounded.db.out")
	require.InEpsilon(t, final["rounded.db"], final["fine.db"], 1e-6)
	export := []string{"candles", "export", "--db", "fine.db", "--market", "ACME-EUR", "--interval", "1h"}
	require.Equal(t, regexp.MustCompile(`0+,`).ReplaceAllString(rows.String(), ","),
		regexp.MustCompile(`0+,`).ReplaceAllString(say(export...), ","))
	say(append(export, "--format", "parquet", "--out", "out.parquet")...)
}
