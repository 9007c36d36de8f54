package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// events sends the texts that have changed, once a second, until the viewer goes.
func (d *desk) events(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	if err := out.SetReadDeadline(time.Time{}); err != nil {
		d.s.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	again := time.NewTicker(eventTime)
	defer again.Stop()
	told, quiet := map[string]string{}, d.s.Now()
	for first := true; ; first = false {
		event, data := d.event(r.Context(), told)
		if out.SetWriteDeadline(time.Now().Add(stuckTime)) != nil {
			return
		}
		switch {
		case data != "":
			_, _ = fmt.Fprintf(w, "retry: 1000\nevent: %s\ndata: %s\n\n", event, data)
			quiet = d.s.Now()
		case first || d.s.Now().Sub(quiet) >= aliveTime:
			_, _ = fmt.Fprint(w, ": alive\n\n")
			quiet = d.s.Now()
		}
		if out.Flush() != nil {
			return
		}
		select {
		case <-again.C:
		case <-r.Context().Done():
			return
		case <-d.s.ended:
			return
		}
	}
}

// event is the next event of a stream: the texts that differ from those told, or that the bot does
// not answer. data is empty where nothing has changed.
func (d *desk) event(ctx context.Context, told map[string]string) (event, data string) {
	docs, err := d.from.latest(ctx)
	if err != nil {
		clear(told)
		return "lost", "{}"
	}
	top := TopOf(docs.Status, docs.NowMS)
	texts := top.Live()
	if view, err := OverviewOf(docs); err == nil {
		for id, text := range view.Live() {
			texts[id] = text
		}
	}
	changed := map[string]string{}
	for id, text := range texts {
		if was, known := told[id]; !known || was != text {
			changed[id], told[id] = text, text
		}
	}
	if len(changed) == 0 {
		return "", ""
	}
	text, err := json.Marshal(changed)
	if err != nil {
		return "lost", "{}"
	}
	return "cells", string(text)
}
