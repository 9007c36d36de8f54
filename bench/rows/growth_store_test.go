package rows

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// stores are candle stores of growing size, with what commands of the bot cost on them as whole
// processes: CPU time in ms, peak memory in MB.
type stores struct {
	bot, dir               string
	rows                   [4]float64
	imports, verify, slice [4]cost
	start                  cost // of bot version: the start of any command
}

type cost struct{ cpu, memory float64 }

// stores makes the stores and measures the commands.
func (g *growth) stores() *stores {
	s := &stores{dir: g.b.TempDir()}
	s.bot = g.program()
	s.start = g.costs(s.dir, []string{s.bot, "version"})[0]
	for i := range s.rows {
		n := 10 * million / 8 << i / g.scale
		s.rows[i] = float64(n)
		s.imports[i] = g.importAt(s, i, n)
	}
	g.slices(s)
	rounds := g.rounds
	g.rounds = min(rounds, 2) // peak memory differs little
	for i := range s.verify {
		s.verify[i] = g.costs(s.dir, []string{s.bot, "candles", "verify", "--db", s.file(i)})[0]
	}
	g.rounds = rounds
	g.curve(fmt.Sprintf("rows, bot candles import (1×: %.0f); a row", s.rows[0]), s.rows,
		perRow(s.imports, s.start))
	g.curve(fmt.Sprintf("candles, bot candles verify (1×: %.0f); a candle", s.rows[0]), s.rows,
		perRow(s.verify, s.start))
	return s
}

// perRow is the CPU time without that of the start, in ns.
func perRow(costs [4]cost, start cost) (cpu [4]float64) {
	for i := range costs {
		cpu[i] = (costs[i].cpu - start.cpu) * 1e6
	}
	return cpu
}

func (s *stores) file(i int) string { return filepath.Join(s.dir, fmt.Sprint(i, ".db")) }

// importAt measures the import that makes store i.
func (g *growth) importAt(s *stores, i, n int) (best cost) {
	path := g.csv(s.dir, n)
	rounds := g.rounds
	g.rounds = 1
	for try := range min(rounds, 2) {
		require.NoError(g.b, os.RemoveAll(s.file(i)))
		c := g.costs(s.dir, []string{s.bot, "candles", "import", "--market", "BTC-EUR", "--interval", "1m", path,
			"--db",
			s.file(i)})[0]
		if try == 0 || c.cpu < best.cpu {
			best = c
		}
	}
	g.rounds = rounds
	require.NoError(g.b, os.Remove(path))
	return best
}

// slices measures a backtest of the last two days of each store.
func (g *growth) slices(s *stores) {
	config, err := filepath.Abs("configs/bench.toml")
	require.NoError(g.b, err)
	var lines [][]string
	for i, n := range s.rows {
		from := benchStart.Add(market.Duration(n-2880) * time.Minute)
		lines = append(lines, []string{s.bot, "backtest", "-c", config, "--json", "--db", s.file(i), "--from",
			fmt.Sprint(from.Millis())})
	}
	copy(s.slice[:], g.costs(s.dir, lines...))
}

// costs is children as a list.
func (g *growth) costs(dir string, lines ...[]string) (all []cost) {
	cpu, memory := g.children(dir, lines...)
	for i := range cpu {
		all = append(all, cost{cpu[i], memory[i]})
	}
	return all
}

// disk prints the rows of the candle store that should be flat.
func (g *growth) disk(s *stores) {
	few, many := fmt.Sprintf("%.3g M", s.rows[0]/million), fmt.Sprintf("%.3g M", s.rows[3]/million)
	g.more("backtest of two days out of "+many+" stored, CPU", few+" stored", s.slice[0].cpu, s.slice[3].cpu, "ms", 2)
	g.line("start of any command (bot version), CPU", "", fmt.Sprintf("%.4g ms", s.start.cpu), "", "")
	g.atMost("import of "+many+" rows, peak memory", few+" rows", s.imports[0].memory, s.imports[3].memory, "MB", 48)
	g.atMost("verify of "+many+" candles, peak memory", few+" candles", s.verify[0].memory, s.verify[3].memory, "MB",
		48)
}

// more prints a row whose goal is a largest difference.
func (g *growth) more(what, floorName string, floor, ours float64, unit string, goal float64) {
	mark := ""
	if ours-floor > goal {
		mark = " missed"
	}
	g.line(what, fmt.Sprintf("%s %.4g %s", floorName, floor, unit), fmt.Sprintf("%.4g %s", ours, unit),
		fmt.Sprintf("%+.2g %s", ours-floor, unit), fmt.Sprintf("≤ +%g %s%s", goal, unit, mark))
}
