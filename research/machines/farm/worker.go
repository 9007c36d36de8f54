package farm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/machines"
)

// Work joins a coordinator, and runs groups until ctx ends.
func (f Farm) Work(ctx context.Context, m machines.Membership) error {
	if err := check(&m.Door, false); err != nil {
		return err
	}
	w := &worker{Membership: m}
	if err := w.connect(ctx); err != nil {
		return err
	}
	defer w.conn.Close()
	for ctx.Err() == nil {
		a, err := w.greet(ctx)
		if err != nil {
			return err
		}
		if err := w.sweep(ctx, a); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return ctx.Err()
}

// worker is one process that runs groups.
type worker struct {
	machines.Membership
	conn *nats.Conn

	saying sync.Mutex
	told   string // the last notice
}

// say gives a notice that is not the last one again.
func (w *worker) say(format string, args ...any) {
	w.saying.Lock()
	defer w.saying.Unlock()
	if text := fmt.Sprintf(format, args...); text != w.told {
		w.told = text
		w.Notice(text)
	}
}

// connect connects, as soon as there is a server.
func (w *worker) connect(ctx context.Context) error {
	place := cmp.Or(w.URL, w.Address)
	for {
		var err error
		if w.conn, err = connect(&w.Door, w.Name); err == nil {
			return nil
		}
		if final(err) {
			return fmt.Errorf("join %s: %w", place, explain(&w.Door, err))
		}
		w.say("there is no coordinator at %s yet; trying again", place)
		if !sleep(ctx, retry) {
			return ctx.Err()
		}
	}
}

// greet offers help until there is a sweep.
func (w *worker) greet(ctx context.Context) (a answer, err error) {
	text, err := json.Marshal(greeting{w.Name, w.Cores, w.Program})
	if err != nil {
		return a, err
	}
	for ctx.Err() == nil {
		if w.conn.IsClosed() { // a coordinator with another token has come
			return a, fmt.Errorf("join %s: %w", cmp.Or(w.URL, w.Address), explain(&w.Door, w.conn.LastError()))
		}
		reply, err := w.conn.RequestWithContext(within(ctx, 2*time.Second), hello, text)
		if err == nil {
			a = answer{}
			if err = json.Unmarshal(reply.Data, &a); err == nil && a.Refused != "" {
				return a, fmt.Errorf("%w: %s", machines.ErrRefused, a.Refused)
			}
			if err == nil && a.ID != "" {
				return a, nil
			}
		}
		w.say("%s has no sweep to work on; waiting", cmp.Or(w.URL, w.Address))
		if !sleep(ctx, retry) {
			break
		}
	}
	return a, ctx.Err()
}

// within is ctx with a limit.
func within(ctx context.Context, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(ctx, d)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// fetch brings a blob.
func (w *worker) fetch(ctx context.Context, id string, h machines.Hash) ([]byte, error) {
	for try := 0; ; try++ {
		reply, err := w.conn.RequestWithContext(within(ctx, 10*time.Second), subject(id, "blob"), h[:])
		switch {
		case err == nil && reply.Header.Get("Error") != "":
			return nil, fmt.Errorf("fetch candles: %s", reply.Header.Get("Error"))
		case err == nil:
			return reply.Data, nil
		case try == 20 || !sleep(ctx, retry):
			return nil, fmt.Errorf("fetch candles: %w", err)
		}
	}
}

// sweep works for one sweep, until it ends or its coordinator is gone.
func (w *worker) sweep(ctx context.Context, a answer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	fetch := func(h machines.Hash) ([]byte, error) { return w.fetch(ctx, a.ID, h) }
	var plan []byte
	for _, h := range a.Parts {
		part, err := fetch(h)
		if err != nil {
			return w.gone(err)
		}
		plan = append(plan, part...)
	}
	hand, err := w.Prepare(ctx, plan, fetch)
	if err != nil {
		return w.gone(err)
	}
	ended, err := w.conn.Subscribe(subject(a.ID, "end"), func(*nats.Msg) { cancel() })
	if err != nil {
		return errors.Join(err, hand.Close())
	}
	w.say("working on sweep %s with %d cores", a.ID[:8], w.Cores)
	s := &shift{worker: w, id: a.ID, wait: time.Duration(a.Wait), held: map[uint64]jetstream.Msg{},
		queue: make(chan jetstream.Msg, maxQueue*w.Cores)}
	err = s.run(ctx, cancel, hand)
	_ = ended.Unsubscribe() // the connection may be gone
	_ = w.conn.Publish(subject(a.ID, "beat"), s.sign(true))
	_ = w.conn.FlushTimeout(time.Second)
	return errors.Join(err, hand.Close())
}

// gone turns the error of a preparation into none where the coordinator has gone meanwhile.
func (w *worker) gone(err error) error {
	if errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrNoResponders) ||
		errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// shift is a worker's work for one sweep.
type shift struct {
	*worker
	id     string
	wait   time.Duration // see Farm.patience
	stream jetstream.JetStream
	queue  chan jetstream.Msg

	making   sync.Mutex // of hand.Core
	mutex    sync.Mutex
	held     map[uint64]jetstream.Msg // orders that are not done, by sequence
	spare    *sync.Cond               // of mutex: an order is done
	length   time.Duration            // of a group's run, on average
	finished int                      // groups whose results have arrived
}

// maxQueue is how many orders wait for a core, at most.
const maxQueue = 32

// run runs orders on all cores.
func (s *shift) run(ctx context.Context, cancel context.CancelFunc, hand machines.Hand) (err error) {
	if s.stream, err = jetstream.New(s.conn, jetstream.WithPublishAsyncMaxPending(1024),
		jetstream.WithPublishAsyncTimeout(10*time.Second)); err != nil {
		return err
	}
	s.spare = sync.NewCond(&s.mutex)
	results := make(chan result, 2*maxQueue*s.Cores)
	failed := make(chan error, s.Cores)
	var cores, others sync.WaitGroup
	for range s.Cores {
		cores.Go(func() {
			if err := s.core(ctx, hand, results); err != nil {
				failed <- err
				cancel()
			}
		})
	}
	others.Go(func() { s.settle(ctx, results) })
	others.Go(func() { s.live(ctx, cancel) })
	others.Go(func() {
		<-ctx.Done()
		s.mutex.Lock()
		s.spare.Broadcast()
		s.mutex.Unlock()
	})
	s.pull(ctx)
	cancel()
	close(s.queue)
	cores.Wait()
	close(results)
	others.Wait()
	s.stream.CleanupPublisher()
	for _, m := range s.held { // others get them at once
		_ = m.Nak()
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// room waits until the queue has room for some orders.
func (s *shift) room(ctx context.Context) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for {
		deep := 1 // so many for each core beside the one that runs: the shorter a group, the more
		if s.length > 0 {
			deep = int(min(max(aheadOf/s.length, 1), maxQueue-1))
		}
		most := s.Cores * (1 + deep)
		if len(s.held) <= most-max(most/4, 1) || ctx.Err() != nil {
			return most - len(s.held)
		}
		s.spare.Wait()
	}
}

// aheadOf is how much work waits for a core.
const aheadOf = 50 * time.Millisecond

// pull takes orders until ctx ends.
func (s *shift) pull(ctx context.Context) {
	var consumer jetstream.Consumer
	for ctx.Err() == nil {
		var err error
		if consumer == nil {
			if consumer, err = s.stream.Consumer(within(ctx, 5*time.Second), jobs(s.id), workers); err != nil {
				consumer = nil
				sleep(ctx, retry)
				continue
			}
		}
		n := s.room(ctx)
		if ctx.Err() != nil {
			return
		}
		batch, err := consumer.Fetch(n, jetstream.FetchContext(within(ctx, 2*time.Second)))
		if err != nil {
			sleep(ctx, retry)
			continue
		}
		for m := range batch.Messages() {
			s.hold(m)
			select {
			case s.queue <- m:
			case <-ctx.Done():
			}
		}
		if batch.Error() != nil && !errors.Is(batch.Error(), nats.ErrTimeout) &&
			!errors.Is(batch.Error(), context.DeadlineExceeded) {
			sleep(ctx, retry/5)
		}
	}
}

// hold keeps an order ours until it is released.
func (s *shift) hold(m jetstream.Msg) {
	if meta, err := m.Metadata(); err == nil {
		s.mutex.Lock()
		s.held[meta.Sequence.Stream] = m
		s.mutex.Unlock()
	}
}

// release ends the hold of an order.
func (s *shift) release(m jetstream.Msg) {
	if meta, err := m.Metadata(); err == nil {
		s.mutex.Lock()
		delete(s.held, meta.Sequence.Stream)
		s.spare.Signal()
		s.mutex.Unlock()
	}
}

// sign is a beat of this worker as a message.
func (s *shift) sign(leaves bool) []byte {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	text, _ := json.Marshal(beat{s.Name, s.Cores, s.finished, leaves}) // of texts and numbers
	return text
}

// live keeps the orders ours, and ends the shift where the coordinator does not answer any more.
func (s *shift) live(ctx context.Context, cancel context.CancelFunc) {
	silent := 0
	for {
		_, err := s.conn.RequestWithContext(within(ctx, s.wait), subject(s.id, "beat"), s.sign(false))
		pause := s.wait / 4
		switch {
		case err == nil:
			silent = 0
		case errors.Is(err, nats.ErrNoResponders): // the server is there, and the sweep is not, or not yet
			silent, pause = silent+2, min(pause, retry)
		default:
			silent++
		}
		if ctx.Err() == nil && silent > 8 {
			s.say("the coordinator does not answer any more")
			cancel()
		}
		s.mutex.Lock()
		for _, m := range s.held {
			_ = m.InProgress() // at worst another worker runs it, too
		}
		s.mutex.Unlock()
		if !sleep(ctx, pause) {
			return
		}
	}
}

// result is a worker's answer to an order.
type result struct {
	order   jetstream.Msg
	subject string
	content []byte
	sent    jetstream.PubAckFuture // nil: it could not be sent yet
}

// core runs orders one after another.
func (s *shift) core(ctx context.Context, hand machines.Hand, results chan<- result) error {
	var run func(context.Context, research.Group) ([]research.Row, error)
	for m := range s.queue {
		if ctx.Err() != nil {
			continue
		}
		if run == nil {
			var err error
			s.making.Lock()
			run, err = hand.Core()
			s.making.Unlock()
			if err != nil {
				return err
			}
		}
		var o order
		if err := json.Unmarshal(m.Data(), &o); err != nil {
			return fmt.Errorf("read an order: %w", err)
		}
		began := time.Now()
		rows, err := run(ctx, o.group())
		if ctx.Err() != nil {
			continue
		}
		s.took(time.Since(began))
		r := result{order: m, subject: resultOf(s.id, o.Number)}
		if err != nil {
			r.content = append([]byte{gaveError}, err.Error()...)
		} else {
			r.content = append([]byte{gaveRows}, research.EncodeRows(rows)...)
		}
		if int64(len(r.content)) > s.conn.MaxPayload() {
			return fmt.Errorf("the result of a group has %d bytes, and the server takes messages of %d; raise "+
				"max_payload "+
				"of the server", len(r.content), s.conn.MaxPayload())
		}
		r.send(s.stream)
		results <- r
	}
	return nil
}

// took notes how long a group ran.
func (s *shift) took(d time.Duration) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.length == 0 {
		s.length = d
	}
	s.length += (d - s.length) / 8
}

// send publishes a result, without waiting for its arrival.
func (r *result) send(stream jetstream.JetStream) {
	var err error
	if r.sent, err = stream.PublishAsync(r.subject, r.content); err != nil {
		r.sent = nil
	}
}

// settle gives orders back whose results have arrived, and sends the others again.
func (s *shift) settle(ctx context.Context, results <-chan result) {
	for r := range results {
		for again := false; !s.arrived(ctx, &r, again); again = true {
			if ctx.Err() != nil || again && !sleep(ctx, retry) {
				break
			}
			r.send(s.stream)
		}
	}
}

// arrived waits for a result's arrival. A result that is there already is as good.
func (s *shift) arrived(ctx context.Context, r *result, again bool) bool {
	if r.sent == nil {
		return false
	}
	select {
	case <-r.sent.Ok():
	case err := <-r.sent.Err():
		if !isDouble(err) {
			if again {
				s.say("a result could not be sent: %v; trying again", err)
			}
			return false
		}
	case <-ctx.Done():
		return false
	}
	s.release(r.order)
	s.mutex.Lock()
	s.finished++
	s.mutex.Unlock()
	_ = r.order.Ack() // at worst another worker runs it, too
	return true
}
