package recording

import (
	"os"

	"github.com/tidemark-trading/tidemark/market"
)

// Thin deletes the segments of the recording in a folder that only have records from before a time,
// with their snapshots, and returns their bytes. The last segment stays. A missing folder has none.
// No Writer may have the recording open.
func Thin(dir string, before market.Time) (removed int64, err error) {
	segments, err := listSegments(dir)
	if os.IsNotExist(err) {
		return 0, nil
	}
	for i := 0; i+1 < len(segments) && err == nil; i++ {
		next, err := appendIndex(nil, segments[i+1].path, 0)
		if err != nil || len(next) == 0 || next[0].From >= before {
			return removed, err
		}
		if err := os.Remove(segments[i].path); err != nil {
			return removed, err
		}
		removed += segments[i].size
	}
	return removed, err
}
