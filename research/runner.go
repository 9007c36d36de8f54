package research

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
)

// Group is sets of one dataset that run together.
type Group struct {
	Number int         // from 0, in the order in which groups are kept
	Sets   []uint64    // see Space.Settings
	Rung   uint8       // as in Row
	From   market.Time // each set trades and counts from here
	To     market.Time // the end of a part of the range; 0: the plans' own
}

// Done is a group that ran, or runs.
type Done struct {
	Number int
	Rows   []Row   // by place in the group's Sets
	Err    error   // nil: Rows are whole
	Part   float64 // above 0: the group is under way, and so much of it is done; there are no Rows yet
}

// Runner runs groups, on this machine or on others. A row depends on its group alone, so every
// Runner gives the same rows.
type Runner interface {
	// Run runs the groups that come from todo until todo is closed, and sends each to done once, in
	// any order; before that it may say how much of the group is done. The error is of the whole,
	// such as ctx's; that of a group is in its Done. Run sends nothing after it has returned.
	Run(ctx context.Context, todo <-chan Group, done chan<- Done) error
	// Ahead is how many groups may be in todo, under way, or done before their turn to be kept.
	Ahead() int
}

// RunGroup runs the sets of a group together.
func RunGroup(ctx context.Context, space *Space, make Make, g Group) ([]Row, error) {
	return runGroup(ctx, space, make, g, backtest.LockstepOptions{})
}

// runGroup is RunGroup with Progress and Watch of o.
func runGroup(ctx context.Context, space *Space, make Make, g Group, o backtest.LockstepOptions) ([]Row, error) {
	var plans []*backtest.Plan
	for _, set := range g.Sets {
		p, err := make(space.Settings(set))
		if err != nil {
			return nil, g.failed(space, set, err)
		}
		if g.To != 0 {
			part := *p
			part.To, p = g.To, &part
		}
		plans = append(plans, p)
	}
	o.From = g.From
	runs, err := backtest.RunTogether(ctx, plans, o)
	if err != nil {
		return nil, err
	}
	rows, excess := []Row(nil), []float64(nil)
	for i := range runs {
		if runs[i].Err != nil {
			return nil, g.failed(space, g.Sets[i], runs[i].Err)
		}
		excess = runs[i].Track.Excess(excess[:0])
		rows = append(rows, rowOf(&g, i, &runs[i], excess))
	}
	return rows, nil
}

// failed names the set of an error.
func (g *Group) failed(space *Space, set uint64, err error) error {
	if errors.Is(err, backtest.ErrNoCandles) && g.From != 0 {
		return fmt.Errorf("%w: the longest warm-up of the space ends on %s, and there are no candles behind it; vary "+
			"less far, or get more candles", err, g.From)
	}
	return fmt.Errorf("%s: %w", SettingsText(space.Settings(set)), err)
}

// rowOf is the record of a run, with its returns in excess of a hold.
func rowOf(g *Group, place int, r *backtest.RunEnd, excess []float64) Row {
	row := Row{Set: g.Sets[place], Rung: g.Rung, Figures: FiguresOf(r.Result), Halted: len(r.Halts) > 0,
		First: int32(r.Track.First / day), Daily: narrow(r.Track.Returns)}
	row.Excess = narrow(excess)
	return row
}

func narrow(list []float64) []float32 {
	to := make([]float32, len(list))
	for i, x := range list {
		to[i] = float32(x)
	}
	return to
}

// pool is a Runner that runs groups side by side in this process.
type pool struct {
	space   *Space
	worker  func() (Make, error)
	workers int
	to      market.Time // end of the range; 0: not known
	watch   func(goroutine int, set string, w *backtest.Watched)
}

// Ahead lets each worker be a few groups ahead of the file: so much is lost where the process is
// killed.
func (p *pool) Ahead() int { return 4 * p.workers }

func (p *pool) Run(ctx context.Context, todo <-chan Group, done chan<- Done) error {
	var workers sync.WaitGroup
	for i := range p.workers {
		workers.Go(func() { p.work(ctx, i, todo, done) })
	}
	workers.Wait()
	return ctx.Err()
}

// work runs groups until there are no more.
func (p *pool) work(ctx context.Context, number int, todo <-chan Group, done chan<- Done) {
	var make Make
	var memory backtest.Memory
	for g := range todo {
		d := Done{Number: g.Number}
		if d.Err = ctx.Err(); d.Err == nil && make == nil { // not earlier: there may be fewer groups than workers
			make, d.Err = p.worker()
		}
		if d.Err == nil {
			o := backtest.LockstepOptions{Progress: p.reached(&g, done), Watch: p.watched(number, &g), Memory: &memory}
			d.Rows, d.Err = runGroup(ctx, p.space, make, g, o)
		}
		select {
		case done <- d:
		case <-ctx.Done():
			return
		}
	}
}

// watched shows the runs of a group to the job's Watch.
func (p *pool) watched(number int, g *Group) func(int, backtest.Watched) {
	if p.watch == nil {
		return nil
	}
	p.watch(number, "", nil)
	return func(plan int, w backtest.Watched) {
		p.watch(number, SettingsText(p.space.Settings(g.Sets[plan])), &w)
	}
}

// partsOfGroup is how often the progress of a group is told.
const partsOfGroup = 16

// reached sends how much of a group is done, unless others wait to be read already.
func (p *pool) reached(g *Group, done chan<- Done) func(market.Time) {
	end := cmp.Or(g.To, p.to)
	step := (end - g.From) / partsOfGroup
	if step <= 0 || g.From == 0 {
		return nil
	}
	next := g.From + step
	return func(at market.Time) {
		if at < next {
			return
		}
		next = at + step
		if len(done) < cap(done)/2 {
			select {
			case done <- Done{Number: g.Number, Part: float64(at-g.From) / float64(end-g.From)}:
			default:
			}
		}
	}
}
