package doctor

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/door"
	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

func TestTheDoctorLooksAtTheDoorOfSignals(t *testing.T) {
	found := func(section config.SignalsSection, sources ...door.Source) (texts []string) {
		d := &doctor{plan: &plan.Live{Access: plan.Access{Config: &config.Run{Signals: section}},
			Door: plan.Door{Sources: sources}}}
		d.signals(t.Context(), time.Now())
		for _, one := range d.findings {
			texts = append(texts, one.Level+" "+one.Check+": "+one.Text)
		}
		return texts
	}
	at := func(listen string) config.SignalsSection {
		return config.SignalsSection{Door: config.DoorSection{Listen: listen}}
	}
	require.Empty(t, found(at("")))
	require.Equal(t, []string{"ok signals.door: 127.0.0.1:0, on this machine",
		"ok signals: model: signatures with a secret of 24 bytes, in a file that only its owner may read",
		"ok signals: tv: a secret path of 32 characters, in a file that only its owner may read"},
		found(at("127.0.0.1:0"), door.Source{Name: "model", Secret: host.Fixed(door.Secret{Key: make([]byte, 24)})},
			door.Source{Name: "tv", Secret: host.Fixed(door.Secret{Path: strings.Repeat("x", 32)})}))
	running := httptest.NewServer(door.New(door.Config{}))
	defer running.Close()
	require.Equal(t, []string{"ok signals.door: " + running.Listener.Addr().String() +
		", on this machine; it answers: the bot runs"}, found(at(running.Listener.Addr().String())))
	other := httptest.NewServer(nil)
	defer other.Close()
	require.Contains(t, found(at(other.Listener.Addr().String()))[0], "what listens there is no door")
	dir := t.TempDir()
	cert, key, _ := bottest.Certificate(t, dir, 1, time.Now().Add(time.Hour))
	tls := config.SignalsSection{Door: config.DoorSection{Listen: "127.0.0.1:0", TLSCert: cert, TLSKey: key}}
	require.Contains(t, found(tls)[0], "warn signals.door: the certificate")
	proxied := config.SignalsSection{Door: config.DoorSection{Listen: "127.0.0.1:0", BehindProxy: true}}
	require.Contains(t, found(proxied)[1], "turn its log off for /signal/")

	file := filepath.Join(dir, "model.csv")
	grows := config.SignalsSection{Sources: map[string]config.SignalSection{
		"model": {File: file, Live: config.LiveFile}}}
	require.Contains(t, found(grows)[0], "warn signals: model: stat ")
	require.NoError(t, os.WriteFile(file, []byte("time,value\n"), 0o600))
	require.Equal(t, []string{"ok signals: model: new rows of " + file + ", which has 11 bytes"}, found(grows))
}

// The latest signal of a source is compared with how often it is to come.
func TestTheDoctorLooksAtTheLatestSignal(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	found := func(last time.Time, every time.Duration) string {
		d := &doctor{plan: &plan.Live{}, known: &knownState{signals: map[string]statedir.HeardSource{
			"model": {Received: 7, Refused: 2, Lost: 1, Last: market.Time(last.UnixNano())}}}}
		s := config.SignalSection{Live: config.LiveDoor, Every: config.Span(every)}
		d.lastSignal("other", &s, market.Time(now.UnixNano()))
		d.lastSignal("model", &s, market.Time(now.UnixNano()))
		require.Len(t, d.findings, 1)
		return d.findings[0].Level + " " + d.findings[0].Text
	}
	want := "model: 7 counted, 2 refused, 1 lost; the latest came at 2023-11-14T21:13:20Z"
	require.Equal(t, "ok "+want, found(now.Add(-time.Hour), time.Hour))
	require.Equal(t, "ok "+want, found(now.Add(-time.Hour), 0))
	require.Equal(t, "warn "+want+", and every is 59m0s", found(now.Add(-time.Hour), 59*time.Minute))
}

// The times that senders write show their clocks.
func TestTheDoctorComparesTheClocksOfSenders(t *testing.T) {
	store, err := journal.Open(filepath.Join(t.TempDir(), "bot.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	require.NoError(t, store.Bind(&market.Catalog{}, nil))
	now := market.Time(1_700_000_000_000_000_000)
	b := store.NewBatch()
	add := func(source string, ago, lag time.Duration, verdict string) {
		came := now.Add(-ago)
		b.Journal(came, &journal.Signal{Source: source, Came: came, Sent: came.Add(-lag), Verdict: verdict})
	}
	add("fast", 8*24*time.Hour, -time.Minute, "future") // too old to tell anything
	for i, lag := range []time.Duration{300, 100, 900, 200, 400} {
		ago := time.Duration(9-i) * time.Hour
		add("good", ago, lag*time.Millisecond, "")
		add("fast", ago, (lag-6_500)*time.Millisecond, "future")
		add("slow", ago, lag*time.Second, "")
	}
	b.Journal(now, &journal.Signal{Source: "mute", Came: now})
	require.NoError(t, store.Commit(b))
	k := &knownState{signals: map[string]statedir.HeardSource{}}
	for _, name := range []string{"good", "fast", "slow", "mute"} {
		k.signals[name] = statedir.HeardSource{Last: now}
	}
	require.NoError(t, k.readLags(store))
	found := func(name string, maxAge time.Duration) string {
		d := &doctor{plan: &plan.Live{}, known: k}
		d.senderClock(name, maxAge)
		texts := ""
		for _, f := range d.findings {
			texts += f.Level + " " + f.Text
		}
		return texts
	}
	require.Equal(t, "ok good: the latest 5 signals came 300ms after their senders' times in the median, 100ms at "+
		"least", found("good", time.Minute))
	require.Equal(t, "warn fast: the latest 5 signals came -6.2s after their senders' times in the median, -6.4s at "+
		"least: the sender's clock is ahead of the exchange's", found("fast", 0))
	require.Equal(t, "warn slow: the latest 5 signals came 5m0s after their senders' times in the median, 1m40s at "+
		"least, and max_age is 9m0s", found("slow", 9*time.Minute))
	require.Contains(t, found("slow", 0), "ok slow: ")
	require.Empty(t, found("mute", 0))
}
