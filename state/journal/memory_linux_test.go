package journal

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

func TestAStateFileThatGrowsTakesNoMoreMemory(t *testing.T) {
	s, id := botStore(t), market.OrderID(0)
	grow := func(commits int) (size, mapped int64) {
		b := s.NewBatch()
		for range commits {
			for range 60 {
				id++
				o := ownOrder(id)
				b.Journal(market.Time(id), intentOf(o))
				o.State = state.Filled
				b.Order(o)
			}
			require.NoError(t, s.Commit(b))
		}
		info, err := os.Stat(s.Path())
		require.NoError(t, err)
		return info.Size(), mappedOf(t, s.Path())
	}
	const rounds = 5
	for range rounds {
		size, mapped := grow(releaseEvery)
		require.Less(t, mapped, int64(1<<20), "of a file of %d bytes", size)
	}
	size, mapped := grow(releaseEvery / 2)
	require.Greater(t, size, int64(4<<20))
	require.Positive(t, mapped, "what the commits since touched is there, or nothing is measured here")
}

// mappedOf is how much of a file is in this process's memory (proc(5), smaps).
func mappedOf(t *testing.T, path string) (sum int64) {
	maps, err := os.Open("/proc/self/smaps")
	require.NoError(t, err)
	defer maps.Close()
	of := false
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		line := lines.Text()
		switch fields := strings.Fields(line); {
		case strings.Contains(fields[0], "-"):
			of = strings.HasSuffix(line, path)
		case of && fields[0] == "Rss:":
			kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
			require.NoError(t, err)
			sum += kilobytes << 10
		}
	}
	return sum
}
