package runner

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/bot/alert"
)

// recorder keeps the alerts that it is told.
type recorder struct {
	mu   sync.Mutex
	told []alert.Alert
}

func (r *recorder) Tell(one alert.Alert) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, one)
}

// Begin is of alerts.
func (r *recorder) Begin() {}

// Beat is of alerts.
func (r *recorder) Beat(time.Time) {}

// Fail is of alerts.
func (r *recorder) Fail(string) {}

func (r *recorder) Stop(time.Duration) {}

// got are the alerts as a receiver reads them.
func (r *recorder) got() (bodies []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.told {
		body, _ := json.Marshal(one) // texts and a time
		bodies = append(bodies, string(body))
	}
	return bodies
}
