package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// fakeBot answers on the socket of a state folder, and keeps what it was asked to do.
type fakeBot struct {
	folder string
	status operator.Status
	held   operator.Positions
	curve  profit.Curve
	profit profit.ProfitReport
	mu     sync.Mutex
	acts   []string // "halt maker by BY from FROM"
}

func newFakeBot(t *testing.T) *fakeBot {
	b := &fakeBot{folder: t.TempDir(), status: operator.Status{State: operator.Trading, Mode: "paper",
		Exchange: "https://example.com", Currency: "EUR", Equity: "1000", Exposure: "250",
		Strategies: []operator.StrategyStatus{{Name: "maker", State: operator.Trading, OpenOrders: 2},
			{Name: "trend", State: operator.Halted, Reason: "too much lost"}}},
		held: operator.Positions{Positions: []operator.Position{{Strategy: "maker", Market: "BTC-EUR", Amount: "0.5",
			Cost: "24000", Last: "50000", Value: "25000"}, {Strategy: "trend", Market: "BTC-EUR", Amount: "0"}}}}
	socket, err := operator.SocketIn(b.folder)
	require.NoError(t, err)
	listener, err := operator.Listen(socket.Path)
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(b.serve)}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() { _ = server.Close(); serving.Wait(); _ = socket.Close() })
	return b
}

func (b *fakeBot) serve(w http.ResponseWriter, r *http.Request) {
	var ask operator.Request
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		operator.WriteAnswer(w, http.StatusBadRequest, operator.Failure{Error: err.Error()})
		return
	}
	switch r.URL.Path {
	case operator.PathStatus:
		operator.WriteAnswer(w, http.StatusOK, b.status)
	case operator.PathPositions:
		operator.WriteAnswer(w, http.StatusOK, b.held)
	case operator.PathEquity:
		operator.WriteAnswer(w, http.StatusOK, b.curve)
	case operator.PathProfit:
		operator.WriteAnswer(w, http.StatusOK, b.profit)
	case operator.PathHalt, operator.PathResume, operator.PathFlatten:
		b.mu.Lock()
		b.acts = append(b.acts, strings.Join([]string{r.URL.Path[1:], ask.Strategy, ask.By, ask.From}, "|"))
		b.mu.Unlock()
		report := operator.NewReport([]string{ask.Strategy})
		report.Done = ask.Strategy != "trend"
		operator.WriteAnswer(w, http.StatusOK, report)
	default:
		operator.WriteAnswer(w, http.StatusInternalServerError, operator.Failure{Error: "not in this test"})
	}
}

// done lists what the bot was asked to do.
func (b *fakeBot) done() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.acts...)
}

// talk is a Server whose messages are handed over one by one.
type talk struct {
	*testing.T
	*Server
	now time.Time
	log bytes.Buffer
	id  int
}

func newTalk(t *testing.T, folder string) *talk {
	k := &talk{T: t, now: time.Unix(1_700_000_000, 0)}
	line := Line{Name: "telegram", Chats: []string{"42", "-100"}, Users: []string{"7", "8"}, Act: true}
	k.Server = New(Config{Line: line, Of: operator.Target{Folder: folder}, Bot: "mybot", Log: zerolog.New(&k.log),
		Now: func() time.Time { return k.now }})
	return k
}

// hears hands over a message and returns the text of the reply; empty: there was none.
func (k *talk) hears(m Message) (text string, reply *Reply) {
	k.Helper()
	k.take(k.Context(), &m)
	select {
	case reply = <-k.replies:
		require.Equal(k, m, reply.To)
		return reply.Text, reply
	default:
		return "", nil
	}
}

// says hands over a text of the user 7 in the chat 42.
func (k *talk) says(text string) string {
	k.Helper()
	k.id++
	said, _ := k.hears(Message{ID: fmt.Sprint(k.id), Chat: "42", User: "7", Name: "Ann\n", At: k.now, Text: text})
	return said
}

// code asks for an action and returns the code of its confirmation.
func (k *talk) code(text string) string {
	k.Helper()
	said := k.says(text)
	_, code, found := strings.Cut(said, "/yes ")
	require.True(k, found, said)
	return strings.Fields(code)[0]
}

func TestALookAtABotIsShort(t *testing.T) {
	k := newTalk(t, newFakeBot(t).folder)
	require.Equal(t, "mybot: trading, paper, https://example.com\n"+
		"maker: trading, 2 orders open\n"+
		"trend: halted, 0 orders open (since 1970-01-01 00:00:00.000: too much lost)\n"+
		"equity 1000 EUR, exposed 250\n", k.says("/status"))
	require.Equal(t, "maker: 0.5 BTC-EUR, worth 25000 at 50000, cost 24000\n", k.says("/POSITIONS"))
	require.Contains(t, k.says("/help"), "/flatten [STRATEGY] – halt it")
	require.Contains(t, k.says("/start"), "/status – how")
	require.Contains(t, k.says("status"), "begins with a slash")
	require.Contains(t, k.says("/fly"), "there is no /fly")
	require.Contains(t, k.says("/halt maker now"), "want /halt [STRATEGY], without more words")
	require.Contains(t, k.says("/explain"), "want an order")
	require.Contains(t, k.says("/chart 5m"), "an hour or more")
	require.Contains(t, k.says("/profit by colour"), "without more words")
	require.Contains(t, k.says("/profit colour"), "want one of day, week")
	require.Equal(t, "not in this test", k.says("/orders"))
	none := newTalk(t, t.TempDir())
	require.Contains(t, none.says("/status"), "bot.db")
	require.Contains(t, none.says("/halt"), "no bot is running with its state in")
	none.Of.Beside = true // as a bot that starts: its file is left alone
	require.Equal(t, "no bot is running yet: it begins to trade once it has reached the exchange; or it is ending",
		none.says("/status"))
	require.Equal(t, "order 1 abc\nat event place\nnext", narrow("order 1  abc\nat   event     place\n      next"))
}

func TestAChartIsAPictureWithItsFigures(t *testing.T) {
	b := newFakeBot(t)
	k := newTalk(t, b.folder)
	require.Equal(t, "there are fewer than two samples of the last 48h: the bot writes one a minute", k.says("/chart"))
	growth, fall := 0.01, 0.02
	b.curve = profit.Curve{Currency: "EUR", TimeWeighted: &growth, Drawdown: &fall, Samples: []profit.Sample{
		{AtMS: 1_700_000_000_000, Equity: "1000", Index: 1}, {AtMS: 1_700_000_060_000, Equity: "980", Index: 0.98},
		{AtMS: 1_700_000_120_000, Equity: "1010", Index: 1.01}}}
	said, reply := k.hears(Message{Chat: "42", User: "7", Text: "/chart 30d"})
	require.Equal(t, "mybot, 30d: equity 1010 EUR, return +1.00%, drawdown 2.00%", said)
	picture, err := png.DecodeConfig(bytes.NewReader(reply.Picture))
	require.NoError(t, err)
	require.Equal(t, 2*chartWidth, picture.Width)
}

func TestAProfitShowsTheLatestGroupsFirst(t *testing.T) {
	b := newFakeBot(t)
	k := newTalk(t, b.folder)
	require.Equal(t, "the bot has never run", k.says("/profit"))
	gain := 0.005
	b.profit = profit.ProfitReport{Currency: "EUR", Zone: "UTC", Total: profit.Earned{Name: "total",
		Realised: "12.34567",
		Fees:     "1", Trips: 3, Fall: "2"}}
	for day := 1; day <= latestGroups+2; day++ {
		b.profit.Groups = append(b.profit.Groups, profit.Earned{Name: fmt.Sprintf("2026-11-%02d", day), Realised: "-1",
			Unrealised: "0.5", Fees: "0.1", Trips: day, Return: &gain})
	}
	said := k.says("/profit day")
	require.True(t, strings.HasPrefix(said,
		"2026-11-10: realised -1, unrealised +0.5, return +0.50%, fees 0.1, 10 trips\n"), said)
	require.True(t, strings.HasSuffix(said, "\n… and 2 before\ntotal: realised +12.3457, fees 1, 3 trips\n"+
		"drawdown 2; money in EUR, days of UTC\n"), said)
}

func TestAHaltActsAtOnceAndTheRestAsksFirst(t *testing.T) {
	b := newFakeBot(t)
	k := newTalk(t, b.folder)
	require.Equal(t, "halted: maker; 0 orders cancelled\nTo undo it: /resume maker\n", k.says("/halt maker"))
	const who = "|telegram user Ann (7)|telegram chat 42"
	require.Equal(t, []string{"halt|maker" + who}, b.done())

	said := k.says("/flatten")
	require.Contains(t, said, "Flatten halts maker, trend, cancels 2 orders, and sells at market:\n"+
		"maker: 0.5 BTC-EUR, worth 25000 at 50000, cost 24000\nIt sells what is held at your confirmation.\n"+
		"To do it, within 1m0s: /yes ")
	require.Contains(t, k.says("/flatten trend"), "nothing is held now")
	require.Contains(t, k.says("/flatten tend"), "there is no strategy tend; there are: maker, trend")
	require.Equal(t, "Nothing is halted.\n", k.says("/resume maker"))
	require.Len(t, b.done(), 1)

	code := k.code("/resume trend")
	require.Contains(t, k.says("/yes "+strings.ToLower(code)), "trading: trend\nNot everything was confirmed in time")
	require.Contains(t, k.says("/yes "+k.code("/flatten maker")), "halted: maker; 0 orders cancelled, 0 orders to sell")
	require.Equal(t, []string{"halt|maker" + who, "resume|trend" + who, "flatten|maker" + who}, b.done())
}

func TestAConfirmationIsForOneRequestOfOneUserOnceAndForAMinute(t *testing.T) {
	b := newFakeBot(t)
	k := newTalk(t, b.folder)
	from := func(chat, user, text string) string {
		said, _ := k.hears(Message{Chat: chat, User: user, At: k.now, Text: text})
		return said
	}
	nothing := func(said string) {
		t.Helper()
		require.Contains(t, said, "nothing waits for this confirmation")
		require.Empty(t, b.done())
	}
	code := k.code("/flatten maker")
	nothing(from("42", "8", "/yes "+code))
	nothing(from("-100", "7", "/yes "+code))
	nothing(k.says("/yes"))
	nothing(k.says("/yes ABCDEFGH"))
	nothing(newTalk(t, b.folder).says("/yes " + code)) // as after a restart
	k.now = k.now.Add(time.Minute + time.Nanosecond)
	nothing(k.says("/yes " + code))

	code = k.code("/flatten maker")
	newer := k.code("/flatten trend")
	nothing(k.says("/yes " + code))
	require.Equal(t, "Dropped: flatten trend.\n", k.says("/no "+newer))
	nothing(k.says("/yes " + newer))

	code = k.code("/flatten maker")
	k.now = k.now.Add(time.Minute)
	require.Contains(t, from("42", "7", "/yes "+code), "halted: maker")
	require.Len(t, b.done(), 1)
	require.Contains(t, k.says("/yes "+code), "nothing waits")
	require.Len(t, b.done(), 1)
}

func TestAMessageThatComesTwiceActsOnce(t *testing.T) {
	b := newFakeBot(t)
	k := newTalk(t, b.folder)
	m := Message{ID: "1000", Chat: "42", User: "7", At: k.now, Text: "/halt"}
	for range 3 {
		k.hears(m)
		k.now = k.now.Add(maxAge / 3)
	}
	require.Len(t, b.done(), 1)
	k.now = k.now.Add(time.Hour)
	said, _ := k.hears(m)
	require.Contains(t, said, "This message is 1h2m0s old", "by then its id is forgotten, and its age counts")
	k.hears(Message{ID: "1001", Chat: "42", User: "7", At: k.now, Text: "/halt"})
	require.Len(t, b.done(), 2)
	require.LessOrEqual(t, len(k.seen.at), 2)
}

func TestOldMessagesAreAnsweredOnceAMinuteAndNotCarriedOut(t *testing.T) {
	b := newFakeBot(t)
	k := newTalk(t, b.folder)
	at := func(age time.Duration) string {
		said, _ := k.hears(Message{Chat: "42", User: "7", At: k.now.Add(-age), Text: "/halt"})
		return said
	}
	require.Equal(t, "This message is 2m1s old, so it was not carried out. Send it again. The same goes for others as "+
		"old.", at(maxAge+time.Second))
	require.Empty(t, at(time.Hour), "one of a pile")
	k.now = k.now.Add(time.Minute)
	require.Contains(t, at(time.Hour), "1h0m0s old")
	k.now = k.now.Add(time.Minute)
	require.Contains(t, at(-maxAge-time.Second), "2m1s ahead of the clock")
	require.Empty(t, b.done())
	require.Contains(t, at(maxAge), "halted")
	require.Contains(t, at(-maxAge), "halted")
}

func TestOthersGetNoAnswerAndOneLineInTheLog(t *testing.T) {
	b := newFakeBot(t)
	k := newTalk(t, b.folder)
	lines := func() int { return strings.Count(k.log.String(), "not allowed") }
	from := func(chat, user string) {
		said, _ := k.hears(Message{Chat: chat, User: user, At: k.now, Text: "/halt"})
		require.Empty(t, said)
	}
	from("43", "7")
	require.Contains(t, k.log.String(), `"chat":"43","user":"7"`)
	from("43", "7")
	require.Equal(t, 1, lines())
	from("42", "9") // a user who is not allowed, in a chat that is
	require.Equal(t, 2, lines())
	for i := range 3 * maxStrangers {
		from(fmt.Sprint(1000+i), strings.Repeat("9", 1000))
	}
	require.Equal(t, maxStrangers, lines())
	require.Less(t, k.log.Len(), maxStrangers*300)
	k.now = k.now.Add(strangerEvery)
	from("43", "7")
	require.Equal(t, maxStrangers+1, lines())
	require.Empty(t, b.done())
	k.Users = nil
	said, _ := k.hears(Message{Chat: "42", User: "9", At: k.now, Text: "/halt"})
	require.Contains(t, said, "halted")
}

func TestALineThatLooksDoesNotAct(t *testing.T) {
	b := newFakeBot(t)
	k := newTalk(t, b.folder)
	k.Act = false
	for _, text := range []string{"/halt", "/resume", "/flatten maker"} {
		require.Contains(t, k.says(text), "this chat only looks")
	}
	require.Contains(t, k.says("/help"), "This chat only looks.")
	require.NotContains(t, k.says("/help"), "/halt")
	require.Empty(t, b.done())
}

// post is a messenger in memory. Each of its functions may be nil.
type post struct {
	receive func() (Message, error)
	send    func(*Reply) error
}

func (p *post) Receive(ctx context.Context) (Message, error) {
	if p.receive == nil {
		<-ctx.Done()
		return Message{}, ctx.Err()
	}
	return p.receive()
}

func (p *post) Send(_ context.Context, r *Reply) error { return p.send(r) }

func TestAMessengerThatFailsOrPanicsIsAskedAgainLater(t *testing.T) {
	var log bottest.Log
	var waits []time.Duration
	tries := 0
	p := &post{receive: func() (Message, error) {
		switch tries++; {
		case tries <= 8:
			return Message{}, errors.New("no network")
		case tries == 9:
			panic("of the messenger")
		case tries == 10:
			return Message{}, &BusyError{7 * time.Hour, errors.New("too many requests")}
		case tries == 11:
			return Message{Chat: "42", Text: "/help"}, nil
		case tries == 12:
			return Message{}, errors.New("no network")
		}
		return Message{}, io.EOF
	}}
	var sent []string
	p.send = func(r *Reply) error { sent = append(sent, r.Text); return nil }
	New(Config{Line: Line{Messenger: p, Chats: []string{"42"}}, Log: zerolog.New(&log),
		Pause: func(_ context.Context, wait time.Duration) error { waits = append(waits, wait); return nil }}).
		Serve(t.Context())
	s := time.Second
	require.Equal(t, []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 60 * s, 60 * s, 60 * s, 7 * time.Hour, s},
		waits)
	require.Len(t, sent, 1)
	require.Equal(t, 2, strings.Count(log.String(), "no network"), "one line for each row of the same error")
	require.Contains(t, log.String(), "panic: of the messenger")
	require.Contains(t, log.String(), "answers again")
}

func TestARefusedReplyIsDroppedAndAnUnsentOneIsTriedAgain(t *testing.T) {
	var log bottest.Log
	fails := map[string]error{"a": ErrRefused, "b": errors.New("no network"),
		"c": &BusyError{3 * time.Second, errors.New("busy")}}
	tries := map[string]int{}
	var waits []time.Duration
	k := New(Config{Log: zerolog.New(&log), Line: Line{Messenger: &post{send: func(r *Reply) error {
		if tries[r.Text]++; r.Text == "c" && tries["c"] == 2 {
			return nil
		}
		return fails[r.Text]
	}}}, Pause: func(_ context.Context, wait time.Duration) error { waits = append(waits, wait); return nil }})
	for _, text := range []string{"a", "b", "c", "d"} {
		k.reply(&Reply{Text: text})
	}
	close(k.replies)
	k.sendReplies(t.Context())
	require.Equal(t, map[string]int{"a": 1, "b": maxTries, "c": 2, "d": 1}, tries)
	require.Equal(t, 3*time.Second, waits[maxTries-1])
	require.Equal(t, 2, strings.Count(log.String(), "a reply was not sent"))
}

func TestRepliesThatPileUpAreDropped(t *testing.T) {
	var log bottest.Log
	k := New(Config{Log: zerolog.New(&log)})
	for range maxReplies + 5 {
		k.reply(&Reply{})
	}
	require.Len(t, k.replies, maxReplies)
	require.Equal(t, 5, strings.Count(log.String(), "was dropped"))
}

func TestAServerEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan struct{})
	p := &post{receive: func() (Message, error) {
		close(asked)
		<-ctx.Done()
		return Message{}, ctx.Err()
	}}
	var serving sync.WaitGroup
	serving.Go(func() { New(Config{Line: Line{Messenger: p}}).Serve(ctx) })
	<-asked
	cancel()
	serving.Wait()
}

func TestAMessengerThatDoesNotEndIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bottest.Log
		release := make(chan struct{})
		p := &post{receive: func() (Message, error) { <-release; return Message{}, io.EOF }}
		ctx, cancel := context.WithCancel(t.Context())
		var serving sync.WaitGroup
		serving.Go(func() { New(Config{Line: Line{Messenger: p}, Log: zerolog.New(&log)}).Serve(ctx) })
		synctest.Wait()
		cancel()
		serving.Wait()
		require.Contains(t, log.String(), "it is left behind")
		close(release)
	})
}

func TestALongTextIsCutAndTheRestIsCounted(t *testing.T) {
	require.Equal(t, "short", Clip("short", 5))
	text := strings.Repeat("12345678\n", 20)
	require.Equal(t, "12345678\n12345678\n12345678\n… and 154 more characters", Clip(text, 55))
	for _, one := range []string{strings.Repeat("😀", 100), strings.Repeat("é\xff", 100),
		strings.Repeat("a", 100) + "\xf0\x9f", strings.Repeat("x\n", 60)} {
		for limit := 40; limit < 110; limit++ {
			one, got := strings.ToValidUTF8(one, "\uFFFD"), Clip(one, limit)
			require.LessOrEqual(t, Length(got), limit)
			if got != one {
				kept, rest, found := strings.Cut(got, "… and ")
				require.True(t, found)
				var left int
				_, err := fmt.Sscanf(rest, "%d more characters", &left)
				require.NoError(t, err)
				require.Equal(t, len([]rune(one)), left+len([]rune(kept))-1, "%q at %d", one, limit)
			}
		}
	}
}
