package bot

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/placebo"
)

// placeboScreen says how a placebo goes, on standard error. The search on the data shows itself as
// a sweep does.
type placeboScreen struct {
	*sweepScreen
	searched float64   // the part of the search on the data that is not in its file yet
	started  time.Time // when the surrogates did
	kept     int       // surrogates in the file by then
	sets     int       // of all windows of a walk-forward
	done     int       // of those, in files already
}

// begin says what is tested, before anything runs.
func (s *placeboScreen) begin(base *plan.Backtest, job *research.Job, test *placebo.Test) {
	s.sweepScreen.begin(base, job)
	lines := test.Identity.Procedure
	what := "the search"
	if last := lines[len(lines)-1]; strings.HasPrefix(last, "walk-forward") {
		what = "the walk-forward"
		s.line("%s", last)
	}
	s.line("%s runs on the data first, then on %d surrogates that have nothing to find", what, test.Surrogates)
	s.sweepScreen.began = time.Now()
}

// windows is called before a walk-forward, or a window of it, searches the data.
func (s *placeboScreen) windows(b research.Start) {
	s.sets, s.done = s.sets+b.Sets, s.done+b.Done
	s.searched = float64(s.sets-s.done) / float64(max(s.sets, 1))
}

// search is called before the search on the data runs.
func (s *placeboScreen) search(b research.Start) {
	s.searched = float64(b.Sets-b.Done) / float64(max(b.Sets, 1))
	s.sweepScreen.start(b)
}

// start is called when the search has run on the data: the time that it took tells how long the
// rest will take, unless its sets were in the file.
func (s *placeboScreen) start(b placebo.Start) {
	s.end()
	took := time.Since(s.began)
	if b.Torn != "" {
		s.line("the placebo's file was torn: %s", b.Torn)
	}
	if b.Done > 0 {
		s.line("%d surrogates are in the file already", b.Done)
	}
	if rest := b.Surrogates - b.Done; rest > 0 && s.searched > 0.1 {
		left, about := time.Duration(float64(rest)*float64(took)/s.searched), ""
		if left >= time.Second {
			about = "about "
		}
		s.line("%d surrogates of %d candles: %s%s", rest, b.Candles, about, short(left))
	}
	s.started, s.kept, s.shown = time.Now(), b.Done, time.Time{}
	if s.searched > 0.1 {
		s.shown = s.started
	}
}

// progress shows how far the placebo has come.
func (s *placeboScreen) progress(p placebo.Progress) {
	now, due := s.due()
	if !due {
		return
	}
	each := now.Sub(s.started) / time.Duration(p.Done-s.kept)
	s.draw(now, fmt.Sprintf("%d of %d surrogates, %s left; as good as the data or better: %d", p.Done, p.Surrogates,
		short(each*time.Duration(p.Surrogates-p.Done)), p.Better))
}
