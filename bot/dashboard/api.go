package dashboard

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/bot/seal"
)

// apiPath is the folder of the API.
const apiPath = "/api/v1/"

// question is a document of the API: a row of the table by which requests are answered and the API
// is described.
type question struct {
	name, summary string
	parameters    []parameter
	answer        reflect.Type
	ask           func(ctx context.Context, q url.Values) (any, error)
}

// parameter is a parameter in the address of a question.
type parameter struct {
	name, doc string
	words     []string // that it may have; nil: any text
	many      bool     // it may be repeated
}

func booksParameters() []parameter {
	return []parameter{{name: "since", doc: "a date, a time, or how long ago, as 2026-11-01 or 90d"},
		{name: "until", doc: "likewise, exclusive"}, aName("strategy"), aName("market"),
		{name: "zone", doc: "time zone of days; left out: the bot's"}}
}

func aName(what string) parameter { return parameter{name: what, doc: "name of a " + what} }

func yesOrNo(name, doc string) parameter {
	return parameter{name: name, doc: doc, words: []string{"true", "false"}}
}

// asked makes a question to a bot, whose document has the type T.
func asked[T any](d *botPages, name, summary string, parameters []parameter,
	of func(url.Values) operator.Question[T]) question {
	return question{name, summary, parameters, reflect.TypeFor[T](),
		func(ctx context.Context, q url.Values) (any, error) {
			answer, err := of(q).Of(ctx, d.Of)
			return answer.Value, err
		}}
}

// questions are the documents of a bot: those that commands of their name print with --json.
func (d *botPages) questions() []question {
	return append([]question{
		asked(d, "status", "how the bot stands", nil,
			func(url.Values) operator.Question[operator.Status] { return operator.AskStatus() }),
		asked(d, "orders", "its open orders, or all", []parameter{yesOrNo("all", "closed ones too")},
			func(q url.Values) operator.Question[operator.Orders] {
				return operator.AskOrders(q.Get("all") == "true")
			}),
		asked(d, "positions", "what its strategies hold and have earned", nil,
			func(url.Values) operator.Question[operator.Positions] { return operator.AskPositions() }),
		{name: "holdings", summary: "what the kill switch would cancel and sell; null: nothing, as in paper mode",
			answer: reflect.TypeFor[*killswitch.Holdings](), ask: func(context.Context, url.Values) (any, error) {
				return killswitch.ReadHoldings(d.Of.Folder)
			}},
		asked(d, "explain", "the story of an order", []parameter{{name: "order", doc: "its number or an id"}},
			func(q url.Values) operator.Question[operator.Story] { return operator.AskStory(q.Get("order")) }),
		asked(d, "refused", "refusals of the last 24 hours", []parameter{aName("strategy")},
			func(q url.Values) operator.Question[operator.Refused] {
				return operator.AskRefused(q.Get("strategy"), 24*time.Hour)
			}),
		asked(d, "verify", "how it stands to its seal", nil,
			func(url.Values) operator.Question[seal.SealStatus] { return operator.AskVerify() }),
	}, append(d.booksQuestions(), d.stateQuestions()...)...)
}

// booksQuestions are the documents of the books.
func (d *botPages) booksQuestions() []question {
	shared := booksParameters()
	return []question{
		asked(d, "trades", "round trips", shared,
			func(q url.Values) operator.Question[profit.TradeList] { return operator.AskTrades(queryOf(q)) }),
		asked(d, "profit", "what was earned", append(slices.Clone(shared), parameter{name: "by",
			doc: "groups", words: profit.Groups()}),
			func(q url.Values) operator.Question[profit.ProfitReport] { return operator.AskProfit(queryOf(q)) }),
		asked(d, "equity", "the curve of equity", append(slices.Clone(shared), parameter{name: "every",
			doc: "span of a sample, as 1h; left out: all samples"}),
			func(q url.Values) operator.Question[profit.Curve] { return operator.AskEquity(queryOf(q)) }),
	}
}

// stateQuestions are the documents of limits, journal, markets and machine.
func (d *botPages) stateQuestions() []question {
	return []question{
		asked(d, "risk", "limits with their use", nil,
			func(url.Values) operator.Question[operator.Risk] { return operator.AskRisk() }),
		asked(d, "journal", "entries of the journal", append(booksParameters(),
			parameter{name: "kind", doc: "kind of entry"}, parameter{name: "order", doc: "number or id of an order"},
			parameter{name: "before", doc: "number of an entry; older ones are listed"},
			parameter{name: "latest", doc: "how many"}),
			func(q url.Values) operator.Question[operator.Journal] {
				wanted, err := journalQueryOf(q)
				if err != nil {
					return operator.Mistaken[operator.Journal](err)
				}
				return operator.AskJournal(wanted)
			}),
		asked(d, "market", "candles, fills and resting orders of a market", []parameter{aName("market"),
			{name: "interval", doc: "of the candles, as 1m"}, {name: "from", doc: "Unix ms"},
			{name: "to", doc: "Unix ms"}, {name: "long", doc: "ms up to now, in place of from and to"},
			{name: "columns", doc: "most candles of the answer"}},
			func(q url.Values) operator.Question[operator.Market] {
				wanted, err := marketQueryOf(q)
				if err != nil {
					return operator.Mistaken[operator.Market](err)
				}
				return operator.AskMarket(wanted)
			}),
		asked(d, "system", "program, disk and files", nil,
			func(url.Values) operator.Question[operator.System] { return operator.AskSystem() }),
	}
}

// questions are the documents of files.
func (r *filePages) questions() (all []question) {
	for _, s := range sheets() {
		all = append(all, question{s.path[1:], s.summary, s.parameters, s.answer,
			func(_ context.Context, q url.Values) (any, error) { return s.ask(r.files, q) }})
	}
	return all
}

// questions are the documents of the site of several bots.
func (f *allBots) questions() []question {
	return []question{{name: "bots", summary: "all bots with their status", answer: reflect.TypeFor[[]Glance](),
		ask: func(ctx context.Context, _ url.Values) (any, error) { return f.glance(ctx) }}}
}

// register lets a mux answer questions, and describe them and actions.
func (s *Server) register(mux *http.ServeMux, all []question, acting bool) {
	for _, one := range all {
		mux.HandleFunc("GET "+apiPath+one.name, func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			err := one.check(q)
			var value any
			if err == nil {
				value, err = one.ask(r.Context(), q)
			}
			s.answer(w, value, err)
		})
	}
	text := describe(all, acting)
	mux.HandleFunc("GET "+apiPath+"openapi.json", file("application/json", string(text)))
}

// check refuses parameters that the question does not have.
func (one *question) check(q url.Values) error {
	for name, values := range q {
		i := slices.IndexFunc(one.parameters, func(p parameter) bool { return p.name == name })
		switch {
		case i < 0:
			return config.Usagef("no parameter %q; %s has %q", config.Clip(name), one.name, names(one.parameters))
		case len(values) > 1 && !one.parameters[i].many:
			return config.Usagef("%s is given twice", name)
		case one.parameters[i].words != nil && !slices.Contains(one.parameters[i].words, values[0]):
			return config.Usagef("%s %q: want one of %q", name, config.Clip(values[0]), one.parameters[i].words)
		}
	}
	return nil
}

func names(parameters []parameter) (list []string) {
	for _, p := range parameters {
		list = append(list, p.name)
	}
	return list
}
