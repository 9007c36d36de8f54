package sandbox

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// held is a rig whose disk takes nothing until it is let go.
type held struct {
	*rig
	answers chan string
}

// hold makes as if a commit were on its way to the disk.
func (h *held) hold() {
	h.ex.mu.Lock()
	h.ex.store.flight = &batch{}
	h.ex.mu.Unlock()
}

// release lets it arrive.
func (h *held) release() {
	h.ex.mu.Lock()
	h.ex.store.flight.done = true
	h.ex.store.flight = nil
	h.ex.store.landed.Broadcast()
	h.ex.mu.Unlock()
}

// ask sends a request beside others.
func (h *held) ask(name, method, path, body string) {
	request := h.request("alice", method, path, body)
	go func() {
		w := httptest.NewRecorder()
		h.ex.ServeHTTP(w, request)
		h.answers <- fmt.Sprint(name, " ", w.Code)
	}()
}

func TestWritesThatWaitForTheDiskShareACommitAndReadsOfThemWaitToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &held{rig: newRig(t, stateful(filepath.Join(t.TempDir(), "exchange.db"))), answers: make(chan string, 10)}
		h.hold()
		for n := range 3 {
			h.ask("order", "POST", "/order",
				fmt.Sprintf(`{"market":"BTC-EUR","operatorId":1,"side":"buy","orderType":"limit","amount":"0.001","price":"%d"}`, 50_000+n))
		}
		synctest.Wait()
		require.Empty(t, h.answers, "an order that is not in the file is not answered")
		h.ask("list", "GET", "/ordersOpen", "")
		h.ask("book", "GET", "/BTC-EUR/book", "")
		synctest.Wait()
		require.Empty(t, h.answers, "nor is a question by which a client could see it")
		open, _ := h.ex.Unfinished()
		require.Equal(t, 3, open, "though all are carried out")
		waiting := h.ex.store.open
		require.NotNil(t, waiting)
		h.release()
		synctest.Wait()
		require.True(t, waiting.done)
		require.Nil(t, h.ex.store.open, "one commit was that of all three")
		told := map[string]int{}
		for range 5 {
			told[<-h.answers]++
		}
		require.Equal(t, map[string]int{"order 200": 3, "list 200": 1, "book 200": 1}, told)
		require.NoError(t, h.ex.Close())
	})
}

func TestAQuestionWaitsForACommitThatIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &held{rig: newRig(t, stateful(filepath.Join(t.TempDir(), "exchange.db"))), answers: make(chan string, 10)}
		h.hold()
		h.ask("time", "GET", "/balance", "")
		synctest.Wait()
		require.Empty(t, h.answers)
		h.release()
		require.Equal(t, "time 200", <-h.answers)
		require.NoError(t, h.ex.Close())
	})
}

func TestACommitThatFailsAnswersEveryRequestOfItsBatchWithAnOpenOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &held{rig: newRig(t, stateful(filepath.Join(t.TempDir(), "exchange.db"))), answers: make(chan string, 10)}
		h.hold()
		for range 3 {
			h.ask("order", "POST", "/order",
				`{"market":"BTC-EUR","operatorId":1,"side":"buy","orderType":"limit","amount":"0.001","price":"50000"}`)
		}
		synctest.Wait()
		require.NoError(t, h.ex.store.db.Close())
		h.release()
		for range 3 {
			require.Equal(t, "order 500", <-h.answers)
		}
		h.ask("order", "GET", "/balance", "")
		require.Equal(t, "order 503", <-h.answers)
		require.Error(t, h.ex.Close())
	})
}
