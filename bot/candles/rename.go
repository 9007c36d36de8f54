package candles

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// rename is a line of a file of renamed and swapped markets.
type rename struct {
	old, present string
	swap         candles.Swap
}

// readRename finds a market in a file of renamed markets. Its lines are
// OLD,NEW[,UNTIL[,OLD UNITS:NEW UNITS]]; empty lines and those that begin with # are ignored. It
// returns nil if the file does not name the market.
func readRename(path, name string) (*rename, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--rename: %w", err)
	}
	defer file.Close()
	rows := csv.NewReader(file)
	rows.Comment, rows.FieldsPerRecord, rows.TrimLeadingSpace = '#', -1, true
	var found *rename
	for {
		fields, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		var line rename
		if err == nil {
			line, err = parseRename(fields)
		}
		if err != nil {
			at, _ := rows.FieldPos(0)
			return nil, fmt.Errorf("%s line %d: %w; want lines like MATIC-EUR,POL-EUR,2024-09-04 or "+
				"LEND-EUR,AAVE-EUR,2020-10-03,100:1", path, at, err)
		}
		if line.old != name {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s names %s twice", path, name)
		}
		found = &line
	}
}

func parseRename(fields []string) (line rename, err error) {
	if len(fields) < 2 || len(fields) > 4 {
		return line, fmt.Errorf("%d fields", len(fields))
	}
	line.old = market.UsualName(strings.TrimSpace(fields[0]))
	line.present = market.UsualName(strings.TrimSpace(fields[1]))
	for _, name := range []string{line.old, line.present} {
		if err := candles.CheckMarketName(name); err != nil {
			return line, err
		}
	}
	if len(fields) > 2 && fields[2] != "" {
		if line.swap.Until, err = config.ParseMoment(strings.TrimSpace(fields[2])); err != nil {
			return line, err
		}
	}
	line.swap.Market, line.swap.Old, line.swap.New = line.old, 1, 1
	if len(fields) == 4 {
		old, present, _ := strings.Cut(strings.TrimSpace(fields[3]), ":")
		line.swap.Old, err = strconv.ParseInt(old, 10, 64)
		if err == nil {
			line.swap.New, err = strconv.ParseInt(present, 10, 64)
		}
		if err != nil {
			return line, fmt.Errorf("%q is no ratio", fields[3])
		}
	}
	return line, nil
}
