package sim

import "testing"

// TestOrdersQueueInARecordedBook plays testdata/queue/*.txt: LimitFill is Queue.
func TestOrdersQueueInARecordedBook(t *testing.T) {
	playFiles(t, "testdata/queue/*.txt", func(t *testing.T, script string) string {
		s := newStage(t)
		s.config.LimitFill = Queue
		return playOver(t, s, script)
	})
}
