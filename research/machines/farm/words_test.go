package farm

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/machines"
)

func TestADoorThatIsOpenToOthersIsRefused(t *testing.T) {
	long := strings.Repeat("x", leastToken)
	for _, c := range []struct {
		door    machines.Door
		listens bool
		want    string
	}{
		{machines.Door{Address: "4222"}, true, ""},
		{machines.Door{Address: "localhost:4222"}, true, ""},
		{machines.Door{Address: "[::1]:0"}, false, ""},
		{machines.Door{Address: "0.0.0.0:4222"}, true, "can be reached from other machines: want --tls-cert"},
		{machines.Door{Address: "0.0.0.0:4222", Token: "t"}, true, "can be reached from other machines"},
		{machines.Door{Address: "10.0.0.7:4222", Cert: "c", Key: "k"}, true,
			"want --tls-cert, --tls-key and --token-file"},
		{machines.Door{Address: "10.0.0.7:4222", Cert: "c", Key: "k", Token: long}, true, ""},
		{machines.Door{Address: "10.0.0.7:4222", Cert: "c", Key: "k", Token: "t"}, true, "the token has 1 characters"},
		{machines.Door{Address: "4222", Token: "t"}, true, ""},
		{machines.Door{URL: "tls://nats.example.com:4222", Token: "t"}, false, "want at least 32"},
		{machines.Door{Address: "4222", Cert: "c"}, true, "--tls-cert and --tls-key go together"},
		{machines.Door{Address: "10.0.0.7:4222"}, false, "is another machine: want --token-file"},
		{machines.Door{Address: "10.0.0.7:4222", Token: long}, false, ""},
		{machines.Door{Address: ":4222"}, true, "is no address; want HOST:PORT"},
		{machines.Door{Address: "a:b"}, true, "is no address"},
		{machines.Door{Address: "70000"}, true, "is no address"},
		{machines.Door{URL: "nats.example.com:4222"}, true, "the URL is none of a NATS server"},
		{machines.Door{URL: "tls://me:secret@nats.example.com:4222"}, true, "the URL has a user or a token in it"},
		{machines.Door{URL: "nats://nats.example.com:4222"}, true, "would travel readable to nats.example.com"},
		{machines.Door{URL: "nats://127.0.0.1:4222"}, true, ""},
		{machines.Door{URL: "tls://nats.example.com:4222"}, true, ""},
	} {
		err := check(&c.door, c.listens)
		if c.want == "" {
			require.NoError(t, err, "%+v", c.door)
			continue
		}
		require.ErrorContains(t, err, c.want, "%+v", c.door)
		require.NotContains(t, err.Error(), "secret")
	}
	_, err := Farm{}.Coordinate(machines.Coordination{Door: machines.Door{Address: "0.0.0.0:1"}})
	require.Error(t, err)
	require.Error(t, Farm{}.Work(t.Context(), machines.Membership{Door: machines.Door{Address: "10.0.0.7:1"}}))
}

func TestWorkersThatWouldComputeSomethingElseAreRefused(t *testing.T) {
	t.Parallel()
	f := quick()
	f.lonely = time.Millisecond
	p := coordinate(t, f, filepath.Join(t.TempDir(), "f"), nil)
	p.todo <- research.Group{Number: 0, Sets: []uint64{0, 1}}
	address := p.join(t)
	p.await(t, "no worker has joined yet: nothing runs")
	for _, c := range []struct {
		want   string
		change func(m *machines.Membership)
	}{
		{"its program is version v2, the coordinator's is v1", func(m *machines.Membership) { m.Program.Code = "v2" }},
		{"it has no strategy b", func(m *machines.Membership) { delete(m.Program.Strategies, "b") }},
	} {
		err := work(t, quick(), address, honest, c.change).end(t)
		require.ErrorIs(t, err, machines.ErrRefused)
		require.ErrorContains(t, err, c.want)
		p.await(t, "is refused: "+c.want)
	}
	broken := errors.New("the candles are other ones")
	require.ErrorIs(t, work(t, quick(), address, honest, func(m *machines.Membership) {
		m.Prepare = func(context.Context, []byte, func(machines.Hash) ([]byte, error)) (machines.Hand, error) {
			return nil, broken
		}
	}).end(t), broken)
	require.ErrorContains(t, work(t, quick(), address, honest, func(m *machines.Membership) {
		m.Prepare = func(_ context.Context, _ []byte, fetch func(machines.Hash) ([]byte, error)) (machines.Hand,
			error) {
			_, err := fetch(machines.HashOf([]byte("no such candles")))
			return nil, err
		}
	}).end(t), "fetch candles: the coordinator has no such blob")
	p.cancel()
	<-p.ended
}

func TestAServerThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer busy.Close()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, c := range []struct {
		want   string
		folder string
		change func(c *machines.Coordination)
	}{
		{"listen for workers: listen tcp 127.0.0.1:", t.TempDir(),
			func(c *machines.Coordination) { c.Address = busy.Addr().String() }},
		{"file", filepath.Join(file, "f"), func(*machines.Coordination) {}},
		{"read the certificate and its key: open", t.TempDir(),
			func(c *machines.Coordination) { c.Cert, c.Key = file+"1", file+"2" }},
		{"connect to the server for workers: ", t.TempDir(),
			func(c *machines.Coordination) { c.URL, c.Address = "nats://127.0.0.1:1", "" }},
		{"no plan", t.TempDir(), func(c *machines.Coordination) {
			c.Load = func() (*machines.Cargo, error) { return nil, errors.New("no plan") }
		}},
	} {
		p := coordinate(t, quick(), c.folder, c.change)
		p.todo <- research.Group{Number: 0, Sets: []uint64{0, 1}}
		require.ErrorContains(t, <-p.ended, c.want)
		p.cancel()
	}
}

func TestAFullDiskEndsTheSweep(t *testing.T) {
	t.Parallel()
	f := quick()
	f.store = 20_000
	p := coordinate(t, f, filepath.Join(t.TempDir(), "f"), nil)
	for n := range ahead {
		p.todo <- research.Group{Number: n, Sets: []uint64{uint64(n)}}
	}
	require.ErrorContains(t, <-p.ended, "insufficient")
	p.cancel()
}

// A start that was killed after the last row of a sweep leaves its folder to the next one.
func TestACoordinatorWithoutAGroupOpensNothingAndRemovesTheFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "jetstream"), 0o755))
	p := coordinate(t, quick(), folder, nil)
	p.end(t)
	require.Empty(t, p.lines)
	require.NoDirExists(t, folder)
}

func TestAServerOfOthersServes(t *testing.T) {
	t.Parallel()
	s, err := startServer(&machines.Door{Address: "0", Token: "t"}, t.TempDir(), 0, func(string) {})
	require.NoError(t, err)
	defer func() {
		s.Shutdown()
		s.WaitForShutdown()
	}()
	door := machines.Door{URL: "nats://" + s.Addr().String(), Token: "t"}
	w := work(t, quick(), "", honest, func(m *machines.Membership) { m.Door = door })
	w.await(t, "has no sweep to work on; waiting")
	for range 2 { // one sweep after another
		p := coordinate(t, quick(), t.TempDir(), func(c *machines.Coordination) { c.Door = door })
		p.give(t, 0, 2*ahead+100)
		p.end(t)
	}
	w.stop(t)
}
