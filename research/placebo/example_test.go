package placebo_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/placebo"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// ExampleRun asks whether a search over eight pairs of averages would find as good a winner where
// there is nothing to find.
func ExampleRun() {
	hours, err := synthetic.BTCEUR(&market.Market{ID: 1, Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "placebo")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	fast, _ := research.ParseDimension("fast=10:40:10")
	slow, _ := research.ParseDimension("slow=60,80")
	space, _ := research.NewSpace(fast, slow)
	sharpe, _ := research.Objective("sharpe")
	job := research.Job{Space: space, Method: research.Grid, Objective: sharpe, Worker: maker(hours[:3000]),
		Look: func(settings []research.Setting) (string, error) {
			_, err := shipped.SMACross.Resolve(map[string]any{"fast": settings[0].Value, "slow": settings[1].Value})
			return "", err
		}}
	o, err := placebo.Run(context.Background(), placebo.Test{Procedure: placebo.Search(job), Surrogates: 39,
		File: filepath.Join(dir, "example.placebo")})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("winner: %s\n", research.SettingsText(o.Winner))
	fmt.Printf("as good or better: %d of %d surrogates, p %.3f\n", o.Better, o.Surrogates, o.P)
	// Output:
	// winner: fast=40 slow=80
	// as good or better: 35 of 39 surrogates, p 0.900
}
