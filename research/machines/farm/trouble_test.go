package farm

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/machines"
)

var (
	manyGroups = flag.Int("farm-groups", 600, "groups of the test that kills workers")
	killEach   = flag.Int("farm-kill", 100, "kill a worker each time when so many groups have come")
)

// TestMain lets this program be a worker, too.
func TestMain(m *testing.M) {
	address := os.Getenv("FARM_WORKER")
	if address == "" {
		os.Exit(m.Run())
	}
	err := Farm{}.Work(context.Background(), machines.Membership{Door: machines.Door{Address: address}, Cores: 2,
		Name: fmt.Sprint("child ", os.Getpid()), Program: program(), Notice: func(text string) { fmt.Println(text) },
		Prepare: func(context.Context, []byte, func(machines.Hash) ([]byte, error)) (machines.Hand, error) {
			return hand(honest), nil
		}})
	fmt.Println(err)
	os.Exit(1)
}

// child starts a worker that is a process of its own; it has joined when ready is closed.
func child(t *testing.T, address string) (kill func(), ready <-chan struct{}) {
	cmd := bottest.Child(os.Args[0])
	cmd.Env = append(os.Environ(), "FARM_WORKER="+address)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	joined := make(chan struct{})
	go func() {
		if bufio.NewScanner(out).Scan() {
			close(joined)
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Cleanup(kill)
	return kill, joined
}

func TestKilledWorkersLoseNothing(t *testing.T) {
	t.Parallel()
	p := coordinate(t, quick(), filepath.Join(t.TempDir(), "f"), nil)
	p.todo <- research.Group{Number: 0, Sets: []uint64{0, 1}}
	address := p.join(t)
	w := work(t, quick(), address, honest, nil) // so that something always works
	require.Equal(t, 0, (<-p.done).Number)
	for from := 1; from < *manyGroups; from += *killEach {
		kill, ready := child(t, address)
		<-ready
		to := min(from+*killEach, *manyGroups)
		half := make(chan struct{})
		go func() {
			<-half
			kill()
		}()
		p.killing(t, from, to, half)
	}
	p.end(t)
	w.stop(t)
}

// killing is give that closes half in the midst.
func (p *play) killing(t *testing.T, from, to int, half chan struct{}) {
	for n := from; n < to; n++ {
		p.todo <- research.Group{Number: n, Sets: []uint64{uint64(2 * n), uint64(2*n + 1)}}
	}
	got, late := map[int]bool{}, time.After(patience)
	for len(got) < to-from {
		if len(got) == (to-from)/3 && half != nil {
			close(half)
			half = nil
		}
		select {
		case d := <-p.done:
			require.NoError(t, d.Err)
			require.False(t, got[d.Number], "group %d twice", d.Number)
			got[d.Number] = true
		case <-late:
			require.Failf(t, "late", "%d of %d", len(got), to-from)
		}
	}
}

func TestACoordinatorThatStartsAgainGoesOn(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "f")
	p := coordinate(t, quick(), folder, nil)
	p.todo <- research.Group{Number: 0, Sets: []uint64{0, 1}}
	address := p.join(t)
	started, held := make(chan struct{}, 100), make(chan struct{})
	w := work(t, quick(), address, func(_ context.Context, g research.Group) ([]research.Row, error) {
		if g.Number > 0 {
			started <- struct{}{}
			<-held
		}
		return rows(&g), nil
	}, nil)
	require.Equal(t, 0, (<-p.done).Number)
	for n := 1; n < 20; n++ {
		p.todo <- research.Group{Number: n, Sets: []uint64{uint64(2 * n), uint64(2*n + 1)}}
	}
	<-started
	p.cancel()
	require.ErrorIs(t, <-p.ended, context.Canceled)
	require.DirExists(t, folder, "the next start finds the results")
	close(held)

	p = coordinate(t, quick(), folder, func(c *machines.Coordination) { c.Address = address })
	p.give(t, 1, 60)
	p.end(t)
	w.stop(t)
	require.NoDirExists(t, folder)
}

// A result that no coordinator kept is taken by the next one, without a run; an error is no result.
func TestAResultOfAnEarlierStartCounts(t *testing.T) {
	t.Parallel()
	folder, held := filepath.Join(t.TempDir(), "f"), make(chan struct{})
	p := coordinate(t, quick(), folder, nil)
	p.todo <- research.Group{Number: 5, Sets: []uint64{10, 11}}
	p.todo <- research.Group{Number: 6, Sets: []uint64{12, 13}}
	address := p.join(t)
	w := work(t, quick(), address, func(_ context.Context, g research.Group) ([]research.Row, error) {
		switch g.Number {
		case 6:
			return nil, errors.New("the sixth group breaks")
		case 7:
			<-held
		}
		return rows(&g), nil
	}, nil)
	for range 2 {
		if d := <-p.done; d.Number == 6 {
			require.EqualError(t, d.Err, "the sixth group breaks")
		}
	}
	p.todo <- research.Group{Number: 7, Sets: []uint64{14}}
	p.await(t, "joined")
	p.cancel()
	<-p.ended
	close(held)
	w.stop(t)

	p = coordinate(t, quick(), folder, func(c *machines.Coordination) { c.Address = address })
	var ran [8]atomic.Int32
	w = work(t, quick(), address, func(_ context.Context, g research.Group) ([]research.Row, error) {
		ran[g.Number].Add(1)
		return rows(&g), nil
	}, nil)
	for n := 4; n < 7; n++ { // when the result of 4 has come, those of before have
		p.todo <- research.Group{Number: n, Sets: []uint64{uint64(2 * n), uint64(2*n + 1)}}
		d := <-p.done
		require.NoError(t, d.Err)
		require.Equal(t, n, d.Number)
	}
	require.EqualValues(t, 0, ran[5].Load())
	require.EqualValues(t, 1, ran[6].Load())
	p.end(t)
	w.stop(t)
}

// gate passes connections on until it is shut.
type gate struct {
	net.Listener
	mutex sync.Mutex
	open  []net.Conn
}

func newGate(t *testing.T, to string) *gate {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := &gate{Listener: l}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			g.mutex.Lock()
			g.open = append(g.open, in, out)
			g.mutex.Unlock()
			for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
				go func() {
					_, _ = io.Copy(pair[0], pair[1])
					_ = pair[0].Close()
				}()
			}
		}
	}()
	t.Cleanup(func() { g.shut() })
	return g
}

// drop ends all connections; new ones may come.
func (g *gate) drop() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, c := range g.open {
		_ = c.Close()
	}
	g.open = nil
}

func (g *gate) shut() {
	_ = g.Listener.Close()
	g.drop()
}

func TestAWorkerThatIsCutOffComesBack(t *testing.T) {
	t.Parallel()
	p := coordinate(t, quick(), filepath.Join(t.TempDir(), "f"), nil)
	p.todo <- research.Group{Number: 0, Sets: []uint64{0, 1}}
	g := newGate(t, p.join(t))
	w := work(t, quick(), g.Addr().String(), honest, nil)
	require.Equal(t, 0, (<-p.done).Number)
	for cut := range 3 {
		half := make(chan struct{})
		go func() {
			<-half
			g.drop()
		}()
		p.killing(t, 1+100*cut, 101+100*cut, half)
	}
	p.end(t)
	w.stop(t)
}

func TestTheGroupsOfASilentWorkerGoToOthers(t *testing.T) {
	t.Parallel()
	p := coordinate(t, quick(), filepath.Join(t.TempDir(), "f"), nil)
	p.todo <- research.Group{Number: 0, Sets: []uint64{0, 1}}
	address := p.join(t)
	g := newGate(t, address)
	began, held := make(chan struct{}, 9), make(chan struct{})
	slow := work(t, quick(), g.Addr().String(), func(_ context.Context, g research.Group) ([]research.Row, error) {
		began <- struct{}{}
		<-held
		return rows(&g), nil
	}, nil)
	<-began
	g.shut()
	other := work(t, quick(), address, honest, nil)
	require.Equal(t, 0, (<-p.done).Number)
	p.give(t, 1, 50)
	close(held)
	p.end(t)
	slow.stop(t)
	other.stop(t)
}

func TestAGroupThatEndsEachWorkerEndsTheSweep(t *testing.T) {
	t.Parallel()
	f := quick()
	f.attempts = 3
	p := coordinate(t, f, filepath.Join(t.TempDir(), "f"), nil)
	p.todo <- research.Group{Number: 0, Sets: []uint64{0, 1}}
	address := p.join(t)
	broken := errors.New("no memory for a core")
	var err error
	for err == nil {
		w := work(t, f, address, nil, func(m *machines.Membership) {
			m.Prepare = func(context.Context, []byte, func(machines.Hash) ([]byte, error)) (machines.Hand, error) {
				return brokenHand{broken}, nil
			}
		})
		select {
		case err = <-p.ended:
			w.cancel()
			<-w.result
		case failed := <-w.result:
			require.ErrorIs(t, failed, broken)
			w.cancel()
		}
	}
	require.ErrorContains(t, err, "a group was given to 3 workers, and none finished it")
}

type brokenHand struct{ err error }

func (h brokenHand) Core() (func(context.Context, research.Group) ([]research.Row, error), error) {
	return nil, h.err
}
func (h brokenHand) Close() error { return nil }

// certificate writes a self-signed certificate of this machine, and its key.
func certificate(t *testing.T) (cert, key string) {
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	made := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.ParseIP("127.0.0.1")}}
	text, err := x509.CreateCertificate(rand.Reader, made, made, secret.Public(), secret)
	require.NoError(t, err)
	hidden, err := x509.MarshalECPrivateKey(secret)
	require.NoError(t, err)
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: text}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: hidden}), 0o600))
	return cert, key
}

func TestATokenAndACertificateKeepOthersOut(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t)
	p := coordinate(t, quick(), filepath.Join(t.TempDir(), "f"), func(c *machines.Coordination) {
		c.Token, c.Cert, c.Key = "open sesame", cert, key
	})
	p.todo <- research.Group{Number: 0, Sets: []uint64{0, 1}}
	address := p.join(t)
	for _, c := range []struct {
		door machines.Door
		want string
	}{
		{machines.Door{Address: address, Token: "open barley", Cert: cert}, "the token is not that of the coordinator"},
		{machines.Door{Address: address, Cert: cert}, "the token is not that of the coordinator"},
		{machines.Door{Address: address, Token: "open sesame"}, "want --tls-cert with the coordinator's certificate"},
		{machines.Door{Address: address, Token: "open sesame", Cert: key}, "holds none in PEM"},
		{machines.Door{Address: address, Token: "open sesame", Cert: key + "x"}, "read the certificate: open"},
	} {
		w := work(t, quick(), "", honest, func(m *machines.Membership) { m.Door = c.door })
		err := w.end(t)
		require.ErrorContains(t, err, c.want)
		require.NotContains(t, err.Error(), "sesame")
		require.Empty(t, w.lines)
	}
	p.await(t, "a worker with a wrong token was refused")
	w := work(t, quick(), address, honest, func(m *machines.Membership) { m.Token, m.Cert = "open sesame", cert })
	require.Equal(t, 0, (<-p.done).Number)
	p.end(t)
	w.stop(t)

	// a server without encryption is not told the token
	p = coordinate(t, quick(), filepath.Join(t.TempDir(), "f"), nil)
	p.todo <- research.Group{Number: 0, Sets: []uint64{0, 1}}
	address = p.join(t)
	w = work(t, quick(), address, honest, func(m *machines.Membership) { m.Token, m.Cert = "open sesame", cert })
	require.ErrorContains(t, w.end(t), "does not encrypt: it is not told the token")
	p.cancel()
	<-p.ended
}
