package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// TestABookWithAnEndlessHouseDoesTheSame plays the scenarios of candle filling over a Book whose
// house offers without end: an order lives the same life over both. Those that begin with "only
// path" say why they do not.
func TestABookWithAnEndlessHouseDoesTheSame(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	played := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, scenario := range split(string(text)) {
			title, _, _ := strings.Cut(scenario, "\n")
			script, want, _ := strings.Cut(scenario, "----\n")
			if strings.Contains(script, "\nonly path: ") {
				continue
			}
			played++
			require.Equal(t, want, playOver(t, bookStage(t), strings.TrimSpace(script)), "%s: %s", file, title)
		}
	}
	require.Greater(t, played, 100)
}

func bookStage(t *testing.T) *stage {
	s := newStage(t)
	s.config.Book, s.onTheWay = true, map[market.OrderID]market.ExecutionType{}
	s.config.Liquidity = func(*market.Market) Liquidity { return Liquidity{Levels: 1} }
	return s
}

// TestABookBetweenAccounts plays testdata/book/*.txt. Beside the words of script_test.go there are
//
//	accounts N                          so many accounts, from 0, each with the balances of the lines before
//	house LEVELS SIZE [STEP]            what the house offers around the price; nothing without this line
//	as N COMMAND                        account N places, updates or cancels: at once
//	late N COMMAND                      the same, but what would come to the book stands aside
//	release ID                          and now it comes
//	tick PRICE                          the market's tickSize is another
//	book                                writes the book down
//
// and "ticker" and "trade" move the source's price. Lines about an order of another account than 0
// do not name it: ids do.
func TestABookBetweenAccounts(t *testing.T) {
	playFiles(t, "testdata/book/*.txt",
		func(t *testing.T, script string) string { return playOver(t, accountStage(t), script) })
}

func accountStage(t *testing.T) *stage {
	s := newStage(t)
	s.config.Book = true
	return s
}

// among carries out the lines that are about a book between accounts.
func (s *stage) among(words []string) {
	switch words[0] {
	case "accounts":
		s.openAccounts(int(s.id(words[1])))
	case "house":
		h := Liquidity{Levels: int(s.id(words[1]))}
		h.Size = parsed(s.catalog.Market(1).ParseQty(words[2]))
		if len(words) > 3 {
			h.Step = s.price(words[3])
		}
		s.config.Liquidity = func(*market.Market) Liquidity { return h }
	case "as", "late":
		s.now = s.now.Add(time.Second)
		c := s.command(s.now, words[2:])
		if c.Order.Market == 0 {
			c.Order.Market = 1
		}
		perform := s.open().Submit
		if words[0] == "late" {
			perform = s.open().SubmitLate
		}
		refused, err := perform(AccountID(s.id(words[1])), s.now, &c)
		require.NoError(s.t, err)
		if refused != nil {
			fmt.Fprintf(&s.heard, "%02d:%02d  order %d refused: %s, %d\n", s.now/60e9, s.now%60e9/1e9, c.Order.ID,
				c.Kind, refused.Code)
		}
	case "release":
		s.now = s.now.Add(time.Second)
		stood, err := s.open().Release(market.OrderID(s.id(words[1])), s.now)
		require.NoError(s.t, err)
		fmt.Fprintf(&s.heard, "%02d:%02d  order %s stood aside: %t\n", s.now/60e9, s.now%60e9/1e9, words[1], stood)
	case "tick":
		s.catalog.Market(1).TickSize = s.price(words[1])
		s.open().Requote(1)
	case "book":
		s.writeBook()
	default:
		s.fail("unknown word ", words[0])
	}
}

func (s *stage) openAccounts(n int) {
	v := s.open()
	for a := range n - 1 {
		v.OpenAccount(s.config.Fees)
		for asset, balance := range v.solo.balances {
			require.NoError(s.t, v.Transfer(AccountID(a+1), market.AssetID(asset), balance.Total))
		}
	}
}

// writeBook writes the levels down, asks above bids.
func (s *stage) writeBook() {
	m := s.catalog.Market(1)
	bids, asks := s.open().AppendDepth(1, 10, nil, nil)
	slices.Reverse(asks)
	for _, l := range asks {
		fmt.Fprintf(&s.heard, "       ask %s @ %s\n", m.FormatQty(l.Amount), m.FormatPrice(l.Price))
	}
	for _, l := range bids {
		fmt.Fprintf(&s.heard, "       bid %s @ %s\n", m.FormatQty(l.Amount), m.FormatPrice(l.Price))
	}
}

// endAll writes down what each account has.
func (s *stage) endAll() {
	for _, a := range s.venue.accounts.list {
		fmt.Fprintf(&s.heard, "account %d:", a.id)
		for _, asset := range s.catalog.Assets() {
			balance := a.balances[asset.ID]
			if balance == (Balance{}) {
				continue
			}
			fmt.Fprintf(&s.heard, " %s %s", asset.Symbol, market.FormatFixed(int64(balance.Total), asset.Digits))
			if balance.Held != 0 {
				fmt.Fprintf(&s.heard, " (held %s)", market.FormatFixed(int64(balance.Held), asset.Digits))
			}
		}
		s.heard.WriteByte('\n')
	}
}
