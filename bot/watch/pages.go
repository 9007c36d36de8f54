package watch

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"html/template"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/bot/dashboard"
	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/operator"
)

// Bot is a bot for the function that acts on it.
type Bot struct {
	Name   string
	Config string // file of its config
	Folder string // with holdings.json, and where direct.log is written
	Copied bool   // the folder is not the bot's own state folder
	By     string // author, for the log
}

// Pages are the pages of a Watcher: the bots, and for each the kill switch behind a confirmation.
type Pages struct {
	*Watcher
	// Flatten cancels and sells what a bot has at the exchange, and says what it does.
	Flatten func(ctx context.Context, b Bot, say io.Writer) error

	mu   sync.Mutex
	runs map[string]*flattening // the last of each bot
	acts sync.WaitGroup
}

// flattening is a run of the kill switch.
type flattening struct {
	mu   sync.Mutex
	text bytes.Buffer
	err  error
	done bool
}

// Write adds to what the switch says.
func (f *flattening) Write(text []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text.Write(text)
}

// Handler answers for the pages. It belongs behind a dashboard.Entrance.
func (p *Pages) Handler(ctx context.Context) http.Handler {
	p.runs = map[string]*flattening{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.list)
	mux.HandleFunc("GET /{bot}", p.page)
	mux.HandleFunc("POST /{bot}", func(w http.ResponseWriter, r *http.Request) { p.act(ctx, w, r) })
	return mux
}

// Wait waits for runs of the kill switch that have begun.
func (p *Pages) Wait() { p.acts.Wait() }

// stand is what is known of a bot, in words.
func (b *watched) stand(now time.Time) (state, text string, silent bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	state = "answers"
	if b.why != "" {
		state = fmt.Sprintf("silent since %s: %s", now.Sub(b.heard).Round(time.Second), b.why)
	}
	if b.last == nil {
		return state, b.fromFile(), b.why != ""
	}
	return state, b.last.money().Text() + strings.ReplaceAll(b.left(), "; last", "\nlast"), b.why != ""
}

// fromFile is what the holdings say of a bot that has not answered since the start.
func (b *watched) fromFile() string {
	h, err := killswitch.ReadHoldings(b.folder)
	if err != nil {
		return err.Error()
	}
	if h == nil {
		return "nothing is known of what it holds"
	}
	text := "as of " + operator.ClockOf(h.AtMS) + " UTC:"
	for _, one := range h.Positions {
		text += fmt.Sprintf("\n%s holds %s %s", one.Strategy, one.Amount, one.Market)
	}
	return text + fmt.Sprintf("\nopen orders %d", len(h.Orders))
}

// list is the page of all bots.
func (p *Pages) list(w http.ResponseWriter, _ *http.Request) {
	body := ""
	for _, b := range p.bots {
		state, text, _ := b.stand(p.Now())
		body += fmt.Sprintf("<h2><a href=\"/%s\">%s</a></h2><p>%s</p><pre>%s</pre>", b.name, b.name,
			html.EscapeString(state), html.EscapeString(text))
	}
	dashboard.WritePage(w, http.StatusOK, "Watched bots", template.HTML(body))
}

func (p *Pages) find(w http.ResponseWriter, r *http.Request) *watched {
	for _, b := range p.bots {
		if b.name == r.PathValue("bot") {
			return b
		}
	}
	http.NotFound(w, r)
	return nil
}

// page is the page of a bot, with the form that acts, or with what became of it.
func (p *Pages) page(w http.ResponseWriter, r *http.Request) {
	if b := p.find(w, r); b != nil {
		p.show(w, r, b, http.StatusOK, "")
	}
}

func (p *Pages) show(w http.ResponseWriter, r *http.Request, b *watched, status int, wrong string) {
	state, text, silent := b.stand(p.Now())
	body := fmt.Sprintf("<p>%s</p><pre>%s</pre>", html.EscapeString(state), html.EscapeString(text))
	if wrong != "" {
		body += "<p role=\"alert\"><strong>" + html.EscapeString(wrong) + "</strong></p>"
	}
	if said, under := p.said(b); said != "" {
		body += "<h2>Cancelled and sold at the exchange</h2><pre>" + html.EscapeString(said) + "</pre>"
		if under {
			w.Header().Set("Refresh", "2")
			body += "<p>It goes on …</p>"
		}
	}
	body += p.form(r, b, silent)
	dashboard.WritePage(w, status, b.name, template.HTML(body))
}

// said is what the last run of the switch says.
func (p *Pages) said(b *watched) (text string, under bool) {
	p.mu.Lock()
	run := p.runs[b.name]
	p.mu.Unlock()
	if run == nil {
		return "", false
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	text = "begun\n" + run.text.String()
	switch {
	case !run.done:
	case run.err != nil:
		text += run.err.Error()
	default:
		text += "done: the exchange has confirmed everything"
	}
	return text, !run.done
}

// form asks for the confirmation, or says why nothing can be done.
func (p *Pages) form(r *http.Request, b *watched, silent bool) string {
	switch why := p.refusal(r, b, silent); {
	case why != "":
		return "<p>" + html.EscapeString(why) + "</p>"
	}
	return fmt.Sprintf(`<h2>Cancel all orders and sell everything</h2>
<p>At the exchange, without the bot. If the bot lives, it goes on: stop it.</p>
<form class="confirm" method="post" action="/%s"><label>Type %s to confirm
<input name="confirm" required autocomplete="off"></label> <button>Cancel and sell</button></form>`, b.name, b.name)
}

// refusal is why a request may not act on a bot; empty: it may.
func (p *Pages) refusal(r *http.Request, b *watched, silent bool) string {
	switch {
	case !dashboard.MayAct(r):
		return "This token only looks. Acting wants the token in " + filepath.Join(p.Watch.Folder, ActFile) + "."
	case b.Config == "":
		return "bots." + b.name + ".config names no config: this machine cannot act for the bot."
	case !silent:
		return "The bot answers: act on its own dashboard."
	}
	return ""
}

// The files with the tokens, in WatchSection.Folder.
const (
	LookFile = "watch.token"
	ActFile  = "watch.act.token"
)

// act begins the switch, after the typed confirmation.
func (p *Pages) act(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	b := p.find(w, r)
	if b == nil {
		return
	}
	_, _, silent := b.stand(p.Now())
	if why := p.refusal(r, b, silent); why != "" {
		p.show(w, r, b, http.StatusConflict, why)
		return
	}
	if r.PostFormValue("confirm") != b.name {
		p.show(w, r, b, http.StatusUnprocessableEntity, "Nothing was done: the name is "+b.name+".")
		return
	}
	p.begin(ctx, Bot{Name: b.name, Config: b.Config, Folder: b.folder, Copied: b.State == "",
		By: "bot watch, act token, " + dashboard.From(r)})
	http.Redirect(w, r, "/"+b.name, http.StatusSeeOther)
}

// begin begins a run of the switch, unless one is under way.
func (p *Pages) begin(ctx context.Context, b Bot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := p.runs[b.Name]; last != nil {
		last.mu.Lock()
		under := !last.done
		last.mu.Unlock()
		if under {
			return
		}
	}
	run := &flattening{}
	p.runs[b.Name] = run
	p.Log.Warn().Str("bot", b.Name).Str("by", b.By).Msg("cancelling and selling at the exchange")
	p.acts.Go(func() {
		err := p.Flatten(context.WithoutCancel(ctx), b, run)
		run.mu.Lock()
		defer run.mu.Unlock()
		if run.done, run.err = true, err; err != nil {
			p.Log.Error().Str("bot", b.Name).Err(err).Msg("not everything is cancelled and sold")
			return
		}
		if log := filepath.Join(b.Folder, killswitch.LogFile); b.Copied && exists(log) {
			fmt.Fprintf(&run.text, "before the bot starts again, copy %s into its state folder, as %s\n", log,
				killswitch.LogFile)
		}
		p.Log.Warn().Str("bot", b.Name).Msg("everything is cancelled and sold")
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
