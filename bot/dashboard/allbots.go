package dashboard

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/bot/operator"
)

const (
	glanceTime = 2 * time.Second  // that a bot has for its status on the page of all bots
	hungFor    = 15 * time.Second // until a bot that did not answer in this time is asked again
)

// allBots is a site of several bots: a page of all of them, and below /bots/NAME/ the pages of
// each.
type allBots struct {
	s    *Server
	find func() ([]Bot, error) // the bots that there are now

	mu      sync.Mutex
	members map[string]*member // by the name of the bot; bots that are gone stay
}

// member is a bot of a fleet, with its pages.
type member struct {
	desk *botPages
	mux  http.Handler

	mu     sync.Mutex // held while the bot is asked
	status *operator.Status
	err    error
	next   time.Time // when it is asked again
}

// Glance is a bot of a fleet as a program reads it.
type Glance struct {
	Name   string           `json:"name"`
	Error  string           `json:"error,omitempty"` // why the bot does not answer
	Status *operator.Status `json:"status,omitempty"`
}

// all are the bots that there are now, in the order of find.
func (f *allBots) all() ([]*member, error) {
	bots, err := f.find()
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]*member, 0, len(bots))
	for _, bot := range bots {
		b := f.members[bot.Name]
		if b == nil {
			d := f.s.newDesk(bot, "/")
			b = &member{desk: d, mux: d.handler()}
			f.members[bot.Name] = b
		}
		list = append(list, b)
	}
	return list, nil
}

// desks are the bots of the fleet.
func (f *allBots) desks() (desks []*botPages, err error) {
	members, err := f.all()
	for _, b := range members {
		desks = append(desks, b.desk)
	}
	return desks, err
}

// glance asks all bots side by side. A bot that is down, or hangs, holds the others for glanceTime
// at most, and not again for hungFor.
func (f *allBots) glance(ctx context.Context) ([]Glance, error) {
	members, err := f.all()
	if err != nil {
		return nil, err
	}
	list := make([]Glance, len(members))
	var asking sync.WaitGroup
	for i, b := range members {
		asking.Go(func() { list[i] = b.glance(ctx, f.s.Now) })
	}
	asking.Wait()
	return list, nil
}

// glance is the status of a bot, at most a second old.
func (b *member) glance(ctx context.Context, now func() time.Time) Glance {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !now().Before(b.next) {
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), glanceTime) // for the others, too
		answer, err := operator.AskStatus().Of(asking, b.desk.Of)
		late := asking.Err() != nil
		cancel()
		b.status, b.err, b.next = answer.Value, err, now().Add(freshFor)
		switch {
		case late:
			b.err, b.next = errors.New("it does not answer"), now().Add(hungFor)
		case err == nil && b.status.State == operator.Stopped:
			b.next = now().Add(stoppedFor)
		}
	}
	if b.err != nil {
		return Glance{Name: b.desk.Name, Error: b.err.Error()}
	}
	return Glance{Name: b.desk.Name, Status: b.status}
}

// register lets a mux answer for the page of all bots, and for the pages of each.
func (f *allBots) register(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", f.page)
	mux.HandleFunc("GET /events", f.events)
	all := f.questions()
	if f.s.rack != nil {
		all = append(all, f.s.rack.questions()...)
	}
	f.s.register(mux, all, false)
	mux.HandleFunc("/bots/{bot}/{page...}", f.bot)
}

// bot answers for a page of a bot.
func (f *allBots) bot(w http.ResponseWriter, r *http.Request) {
	if _, err := f.all(); err != nil {
		f.s.refuse(w, err)
		return
	}
	f.mu.Lock()
	b := f.members[r.PathValue("bot")]
	f.mu.Unlock()
	if b == nil {
		http.NotFound(w, r)
		return
	}
	inner := r.Clone(r.Context())
	inner.URL.Path, inner.URL.RawPath = "/"+r.PathValue("page"), ""
	b.mux.ServeHTTP(w, inner)
}

// page is the page of all bots.
func (f *allBots) page(w http.ResponseWriter, r *http.Request) {
	list, err := f.glance(r.Context())
	f.s.write(w, "fleet", &Page{Title: "Bots", Here: "/", Navigation: f.s.links(callerOf(r)),
		Top: Top{Alarm: alarmOf(list)}, View: FleetOf(list, f.s.Now().UnixMilli())}, http.StatusOK, err)
}

// events sends the texts of the page of all bots that have changed.
func (f *allBots) events(w http.ResponseWriter, r *http.Request) {
	told := map[string]string{}
	f.s.stream(w, r, func(ctx context.Context) (event, data string) {
		list, err := f.glance(ctx)
		if err != nil {
			clear(told)
			return "lost", "{}"
		}
		changed := map[string]string{}
		for id, text := range FleetOf(list, f.s.Now().UnixMilli()).Live() {
			if was, known := told[id]; !known || was != text {
				changed[id], told[id] = text, text
			}
		}
		if len(changed) == 0 {
			return "", ""
		}
		return "cells", encoded(changed)
	})
}

// alarmOf names the bots with a halt; empty: there are none.
func alarmOf(list []Glance) string {
	var names []string
	for i := range list {
		if s := list[i].Status; s != nil && haltedText(s) != "none" {
			names = append(names, list[i].Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "HALT " + strings.Join(names, ", ")
}

// folderOf is the folder of a bot's pages.
func folderOf(bot string) string { return "/bots/" + url.PathEscape(bot) + "/" }
