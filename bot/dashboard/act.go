package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/view"
)

// actPages are the pages of those with the act token. The first has a link in the navigation.
var actPages = []entry{
	{path: "act", title: "Act", view: (*botPages).actions},
	{path: "confirm", title: "Confirm", body: "bot_confirm", inside: true, view: (*botPages).confirm},
	{path: "acted", title: "Result", body: "bot_acted", inside: true, alone: true, view: (*botPages).acted},
}

// onlyActors is a handler for those with the act token.
func onlyActors(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !callerOf(r).acts {
			http.Error(w, onlyLooks, http.StatusForbidden)
			return
		}
		next(w, r)
	}
}

func (d *botPages) actions(r *http.Request, docs *Documents) (any, error) {
	if docs.Status.State == operator.Stopped {
		return nil, d.notRunning()
	}
	open, err := operator.AskOrders(false).Of(r.Context(), d.Of)
	if err != nil {
		return nil, err
	}
	return Parts{view.Note("Each action asks for a confirmation. The journal of the bot has it, with the address of " +
		"this browser."), actTable(docs.Status, d.Name), cancelTable(docs, open.Value.Orders)}, nil
}

func (d *botPages) notRunning() error {
	return fmt.Errorf("%s does not run, so nothing can be done. bot cancel-all --direct cancels its orders without it",
		d.Name)
}

// confirm asks for the confirmation of an action. The form that it makes can be sent once.
func (d *botPages) confirm(r *http.Request, docs *Documents) (any, error) {
	do := actionOf(r.FormValue("do"))
	if do == nil {
		return nil, config.Usagef("no action %q", config.Clip(r.FormValue("do")))
	}
	if docs.Status.State == operator.Stopped {
		return nil, d.notRunning()
	}
	on, err := d.subjectOf(r.Context(), do, r.FormValue("strategy"), r.FormValue("order"), docs.Status)
	if err != nil {
		return nil, err
	}
	return d.confirmation(r, d.confirmations.add(callerOf(r).session, d.s.Now(), do, on), docs)
}

func (d *botPages) confirmation(r *http.Request, one *confirmation, docs *Documents) (*ConfirmView, error) {
	open, err := operator.AskOrders(false).Of(r.Context(), d.Of)
	if err != nil {
		return nil, err
	}
	return d.confirmOf(one, docs, open.Value.Orders), nil
}

// act takes a confirmation and leads to its result, which can be loaded again.
func (d *botPages) act(w http.ResponseWriter, r *http.Request) {
	v := callerOf(r)
	one, err := d.confirmations.find(r.PostFormValue("confirmation"), v.session)
	if err == nil && d.mistyped(w, r, one) {
		return
	}
	if err == nil {
		err = one.sendAction(r.Context(), d.Of, d.s.Now(), v, r.PostFormValue("reason"))
	}
	if err != nil {
		d.s.refuse(w, err)
		return
	}
	w.Header().Set("Location", "./acted?confirmation="+one.id)
	w.WriteHeader(http.StatusSeeOther)
}

// mistyped shows the form once more if a word in it is wrong.
func (d *botPages) mistyped(w http.ResponseWriter, r *http.Request, one *confirmation) bool {
	for _, ask := range d.asks(one.on) {
		if r.PostFormValue(ask.Name) == ask.Word {
			continue
		}
		d.write(w, r, &actPages[1], http.StatusUnprocessableEntity, func(docs *Documents) (any, error) {
			view, err := d.confirmation(r, one, docs)
			if err == nil {
				view.Wrong = "Nothing was done: " + ask.What + " is " + ask.Word + "."
				view.Reason = r.PostFormValue("reason")
			}
			return view, err
		})
		return true
	}
	return false
}

// acted shows what became of an action.
func (d *botPages) acted(r *http.Request, _ *Documents) (any, error) {
	one, err := d.confirmations.find(r.FormValue("confirmation"), callerOf(r).session)
	if err != nil {
		return nil, err
	}
	begun, report, err := one.outcome()
	return actedOf(one, begun, report, err), nil
}

// command is the body of an action of a program.
type command struct {
	Strategy string `json:"strategy,omitempty"`
	Order    string `json:"order,omitempty"`
	Confirm  string `json:"confirm"`       // name of the strategy, number of the order, or name of the bot
	Bot      string `json:"bot,omitempty"` // its name, on a site of several bots
	Reason   string `json:"reason,omitempty"`
	WaitMS   int64  `json:"wait_ms,omitempty"` // for the exchange's confirmation; 0: 30 s
}

func (d *botPages) programActs(r *http.Request, do *action) (*operator.ActResult, error) {
	if r.Header.Get("Content-Type") != "application/json" {
		return nil, config.Usagef("want a body of JSON and the header Content-Type: application/json")
	}
	ask, decoder := command{WaitMS: actTime.Milliseconds()}, json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&ask); err != nil {
		return nil, config.Usagef("body: %w", err)
	}
	docs, err := d.from.latest(r.Context())
	if err != nil {
		return nil, err
	}
	on, err := d.subjectOf(r.Context(), do, ask.Strategy, ask.Order, docs.Status)
	if err != nil {
		return nil, err
	}
	for _, want := range d.asks(on) {
		if typed := map[string]string{"word": ask.Confirm, "bot": ask.Bot}[want.Name]; typed != want.Word {
			return nil, config.Usagef("nothing was done: %s has to be %s, which is %s",
				map[string]string{"word": "confirm", "bot": "bot"}[want.Name], want.What, want.Word)
		}
	}
	wait := time.Duration(ask.WaitMS) * time.Millisecond
	return act(r.Context(), d.Of, do, on, callerOf(r), ask.Reason, wait)
}
