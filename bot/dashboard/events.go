package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"
)

// events sends the texts of the bot's pages that have changed.
func (d *botPages) events(w http.ResponseWriter, r *http.Request) {
	told := uint64(0)
	d.s.stream(w, r, func(ctx context.Context) (event, data string) { return d.beats.next(ctx, d, &told) })
}

// stream sends an event once a second, unless its data is empty, until the viewer goes.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, next func(context.Context) (event, data string)) {
	out := http.NewResponseController(w)
	if err := out.SetReadDeadline(time.Time{}); err != nil {
		s.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	again := time.NewTicker(eventTime)
	defer again.Stop()
	quiet := s.Now()
	for first := true; ; first = false {
		event, data := next(r.Context())
		if out.SetWriteDeadline(time.Now().Add(stuckTime)) != nil {
			return
		}
		switch {
		case data != "":
			_, _ = fmt.Fprintf(w, "retry: 1000\nevent: %s\ndata: %s\n\n", event, data)
			quiet = s.Now()
		case first || s.Now().Sub(quiet) >= aliveTime:
			_, _ = fmt.Fprint(w, ": alive\n\n")
			quiet = s.Now()
		}
		if out.Flush() != nil {
			return
		}
		select {
		case <-again.C:
		case <-r.Context().Done():
			return
		case <-s.ended:
			return
		}
	}
}

// beats are the values of a bot's pages, second by second. All viewers share them, so that they are
// made and written down once, for however many.
type beats struct {
	mu     sync.Mutex
	docs   *Documents        // that texts are of
	texts  map[string]string // by the ID of a cell
	number uint64            // of this beat; it rises with each change
	last   string            // the texts that this beat changed
	whole  string            // all texts; empty: not written down yet
}

// next is the next event for a viewer that was told a beat, 0 for none: the texts that have changed
// since, or that the bot does not answer. data is empty where nothing has changed.
func (b *beats) next(ctx context.Context, d *botPages, told *uint64) (event, data string) {
	docs, err := d.from.latest(ctx)
	if err != nil {
		*told = 0
		return "lost", "{}"
	}
	return b.tell(docs, told)
}

// tell is next with the latest answers.
func (b *beats) tell(docs *Documents, told *uint64) (event, data string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if docs != b.docs {
		b.take(docs)
	}
	was := *told
	*told = b.number
	switch was {
	case b.number:
		return "", ""
	case b.number - 1:
		if was != 0 {
			return "cells", b.last
		}
	}
	if b.whole == "" {
		b.whole = encoded(b.texts)
	}
	return "cells", b.whole
}

// take makes the texts of new answers.
func (b *beats) take(docs *Documents) {
	b.docs = docs
	texts, changed := textsOf(docs), map[string]string{}
	for id, text := range texts {
		if was, known := b.texts[id]; !known || was != text {
			changed[id] = text
		}
	}
	if len(changed) == 0 && b.number > 0 {
		return
	}
	b.number++
	b.texts, b.last, b.whole = texts, encoded(changed), ""
}

// textsOf are the texts of the cells that move, of all pages.
func textsOf(docs *Documents) map[string]string {
	top := TopOf(docs.Status, docs.NowMS)
	texts := top.Live()
	if view, err := OverviewOf(docs, ""); err == nil {
		maps.Copy(texts, view.Live())
	}
	if docs.Risk != nil {
		maps.Copy(texts, RiskOf(docs.Risk, docs.Zone).Live())
	}
	return texts
}

func encoded(texts map[string]string) string {
	text, err := json.Marshal(texts)
	if err != nil {
		return "{}" // maps of texts can always be written
	}
	return string(text)
}
