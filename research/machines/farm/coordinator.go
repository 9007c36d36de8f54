package farm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/machines"
)

// Coordinate returns the Runner of a sweep whose groups workers run.
func (f Farm) Coordinate(c machines.Coordination) (research.Runner, error) {
	if err := check(&c.Door, true); err != nil {
		return nil, err
	}
	return &coordinator{Coordination: c, farm: f, seen: map[string]*machines.Worker{},
		waiting: map[int]research.Group{},
		early:   map[int][]byte{}}, nil
}

// coordinator is a research.Runner. Its own goroutine, that of Run, has all fields but those behind
// the mutex.
type coordinator struct {
	machines.Coordination
	farm   Farm
	server *server.Server // nil: there is a URL
	conn   *nats.Conn
	stream jetstream.JetStream
	kept   jetstream.Stream // of results
	cargo  *machines.Cargo
	parts  []machines.Hash // of the plan
	byHash map[machines.Hash][]byte

	waiting map[int]research.Group // sent to workers, without a result
	early   map[int][]byte         // results of an earlier start, by group that was not asked for yet
	asked   int                    // groups so far: the number of the last one and 1
	failed  chan error             // of an order that could not be published

	mutex sync.Mutex
	seen  map[string]*machines.Worker // by name, also those that have left
	over  bool                        // nothing is said of workers any more
}

// Ahead is how many groups may be with workers, or wait for their turn to be kept.
func (c *coordinator) Ahead() int { return ahead }

// Run gives groups to workers and takes their results. It opens nothing before there is a group,
// and removes the folder of a killed start where there is none.
func (c *coordinator) Run(ctx context.Context, todo <-chan research.Group, done chan<- research.Done) (err error) {
	var first research.Group
	var more bool
	select {
	case first, more = <-todo:
	case <-ctx.Done():
	}
	switch {
	case more:
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return c.clear()
	}
	if c.cargo, err = c.Load(); err != nil {
		return err
	}
	c.cutPlan()
	if err := c.open(ctx); err != nil {
		return errors.Join(err, c.close(false))
	}
	arrived := make(chan arrival, ahead)
	ctx, cancel := context.WithCancel(ctx)
	var receiving sync.WaitGroup
	receiving.Go(func() { c.receive(ctx, arrived) })
	receiving.Go(func() { c.watch(ctx) })
	receiving.Go(func() { c.record(ctx) })
	if err = c.ask(ctx, first); err == nil {
		err = c.loop(ctx, todo, done, arrived)
	}
	cancel()
	receiving.Wait()
	return errors.Join(err, c.close(len(c.waiting) == 0))
}

// clear removes the folder of an earlier start that was killed after the last row of the sweep.
func (c *coordinator) clear() error {
	cargo, err := c.Load()
	if err == nil {
		err = os.RemoveAll(cargo.Folder)
	}
	return err
}

// cutPlan cuts the plan into blobs that fit into messages.
func (c *coordinator) cutPlan() {
	c.byHash = map[machines.Hash][]byte{}
	for plan := c.cargo.Plan; len(plan) > 0; {
		part := plan[:min(partSize, len(plan))]
		plan = plan[len(part):]
		h := machines.HashOf(part)
		c.parts, c.byHash[h] = append(c.parts, h), part
	}
}

// open starts or finds the server, and makes the streams of the sweep.
func (c *coordinator) open(ctx context.Context) (err error) {
	var options []nats.Option
	if c.URL == "" {
		if c.server, err = startServer(&c.Door, c.cargo.Folder, c.farm.store, c.Notice); err != nil {
			return err
		}
		options = append(options, nats.InProcessServer(c.server))
	}
	if c.conn, err = c.connect(options); err != nil {
		return fmt.Errorf("connect to the server for workers: %w", explain(&c.Door, err))
	}
	if c.stream, err = jetstream.New(c.conn, jetstream.WithPublishAsyncMaxPending(4*ahead),
		jetstream.WithPublishAsyncErrHandler(c.unpublished)); err != nil {
		return err
	}
	c.failed = make(chan error, 1)
	if err := c.openStreams(ctx); err != nil {
		return fmt.Errorf("make the streams of the sweep: %w", err)
	}
	if err := c.answer(); err != nil {
		return err
	}
	if c.server != nil {
		c.Notice("workers join with: bot worker --join " + c.server.Addr().String())
	}
	return nil
}

// connect connects to the own server without a network, or to that of the URL.
func (c *coordinator) connect(options []nats.Option) (*nats.Conn, error) {
	if c.server == nil {
		return connect(&c.Door, "coordinator", options...)
	}
	return nats.Connect("", append(options, nats.Name("tidemark coordinator"), nats.Token(c.Token),
		nats.ErrorHandler(silent))...)
}

// openStreams makes the streams, or finds those of an earlier start. Orders are given anew, since
// the sweep's file says which groups are missing.
func (c *coordinator) openStreams(ctx context.Context) error {
	id := c.cargo.ID
	queue, err := c.stream.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: jobs(id),
		Subjects: []string{subject(id, "job", "*")}, Retention: jetstream.WorkQueuePolicy, MaxMsgsPerSubject: 1,
		Discard: jetstream.DiscardNew, DiscardNewPerSubject: true})
	if err != nil {
		return err
	}
	if err := queue.Purge(ctx); err != nil {
		return err
	}
	if _, err = queue.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{Durable: workers,
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: c.farm.patience(), MaxDeliver: c.farm.tries(),
		MaxAckPending: -1}); err != nil {
		return err
	}
	c.kept, err = c.stream.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: results(id),
		Subjects: []string{subject(id, "result", "*", "*")}, MaxMsgsPerSubject: 1, MaxMsgSize: maxPayload,
		Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, AllowDirect: true})
	return err
}

// workers is the consumer that hands out orders.
const workers = "workers"

// answer answers greetings, requests for blobs, and signs of life.
func (c *coordinator) answer() error {
	id := c.cargo.ID
	for _, s := range [...]struct {
		subject string
		handle  nats.MsgHandler
	}{
		{hello, c.greet}, {subject(id, "blob"), c.blob}, {subject(id, "beat"), c.beat},
		{"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES." + jobs(id) + "." + workers, c.poisoned},
	} {
		if _, err := c.conn.Subscribe(s.subject, s.handle); err != nil {
			return err
		}
	}
	return c.conn.Flush()
}

// greet answers a worker's greeting.
func (c *coordinator) greet(m *nats.Msg) {
	var g greeting
	a := answer{ID: c.cargo.ID, Parts: c.parts, Wait: int64(c.farm.patience())}
	if err := json.Unmarshal(m.Data, &g); err != nil {
		a = answer{Refused: "its greeting cannot be read; take the coordinator's program"}
	} else if why := machines.Refuse(&c.Program, &g.Program); why != "" {
		a = answer{Refused: why}
	}
	c.mutex.Lock()
	if c.over && a.Refused == "" {
		a = answer{Waiting: true}
	}
	c.mutex.Unlock()
	if a.Refused != "" {
		c.Notice(fmt.Sprintf("worker %s is refused: %s", g.Name, a.Refused))
	}
	text, _ := json.Marshal(a) // of texts and numbers
	_ = m.Respond(text)        // a worker without an answer asks again
}

// blob answers with a content.
func (c *coordinator) blob(m *nats.Msg) {
	reply := nats.NewMsg(m.Reply)
	var h machines.Hash
	content, err := []byte(nil), error(machines.ErrNoBlob)
	if copy(h[:], m.Data) == len(h) {
		if part, is := c.byHash[h]; is {
			content, err = part, nil
		} else {
			content, err = c.cargo.Blob(h)
		}
	}
	if reply.Data = content; err != nil {
		reply.Header.Set("Error", err.Error())
	}
	_ = m.RespondMsg(reply)
}

// beat notes that a worker lives, or leaves.
func (c *coordinator) beat(m *nats.Msg) {
	var b beat
	if err := json.Unmarshal(m.Data, &b); err != nil {
		return // no worker of this program
	}
	if b.Leaves {
		c.left(b.Name, "left")
		return
	}
	now := time.Now().UnixMilli()
	c.mutex.Lock()
	w, over := c.seen[b.Name], c.over
	joins := w == nil || w.Left != ""
	if joins {
		w = &machines.Worker{Name: b.Name, JoinedMS: now}
		c.seen[b.Name] = w
	}
	w.Cores, w.Groups, w.HeardMS = b.Cores, b.Groups, now
	c.mutex.Unlock()
	if joins && !over {
		c.Notice("worker " + b.Name + " joined")
	}
	_ = m.Respond(nil)
}

// left notes that a worker has ended.
func (c *coordinator) left(name, how string) {
	c.mutex.Lock()
	w := c.seen[name]
	known := w != nil && w.Left == ""
	if known {
		w.Left = how
	}
	alone, over := c.present() == 0, c.over
	c.mutex.Unlock()
	if !known || over {
		return
	}
	text := "worker " + name + " " + how + "; others get its groups"
	if alone {
		text += "; there is no worker left"
	}
	c.Notice(text)
}

// present counts the workers that have not left. The mutex is held.
func (c *coordinator) present() (n int) {
	for _, w := range c.seen {
		if w.Left == "" {
			n++
		}
	}
	return n
}

// record keeps RosterFile up to date.
func (c *coordinator) record(ctx context.Context) {
	var written []machines.Worker
	told := false
	for {
		r := machines.Roster{Sweep: c.cargo.Sweep, Workers: []machines.Worker{}}
		c.mutex.Lock()
		for _, name := range slices.Sorted(maps.Keys(c.seen)) {
			r.Workers = append(r.Workers, *c.seen[name])
		}
		c.mutex.Unlock()
		if written == nil || !slices.Equal(r.Workers, written) {
			if err := r.Write(c.cargo.Folder); err == nil {
				written = r.Workers
			} else if !told {
				told = true
				c.Notice(fmt.Sprintf("bot dashboard does not see the workers: %v", err))
			}
		}
		if !sleep(ctx, min(recordEvery, c.farm.patience()/4)) {
			return
		}
	}
}

// recordEvery is how often RosterFile changes, at most.
const recordEvery = 2 * time.Second

// watch says that no worker joins, and which one is gone.
func (c *coordinator) watch(ctx context.Context) {
	if !sleep(ctx, cmp.Or(c.farm.lonely, usualLonely)) {
		return
	}
	c.mutex.Lock()
	alone := len(c.seen) == 0 // since it began
	c.mutex.Unlock()
	if alone {
		c.Notice("no worker has joined yet: nothing runs")
	}
	for sleep(ctx, c.farm.patience()/4) {
		var gone []string
		c.mutex.Lock()
		for name, w := range c.seen {
			if w.Left == "" && time.Since(time.UnixMilli(w.HeardMS)) > 2*c.farm.patience() {
				gone = append(gone, name)
			}
		}
		c.mutex.Unlock()
		for _, name := range gone {
			c.left(name, "is not heard of any more")
		}
	}
}

// poisoned ends the sweep at a group that has ended too many workers.
func (c *coordinator) poisoned(m *nats.Msg) {
	var event struct {
		Sequence uint64 `json:"stream_seq"`
	}
	_ = json.Unmarshal(m.Data, &event)
	c.fail(fmt.Errorf("a group was given to %d workers, and none finished it (order %d)",
		c.farm.tries(), event.Sequence))
}

// fail ends Run with an error.
func (c *coordinator) fail(err error) {
	select {
	case c.failed <- err:
	default:
	}
}

// unpublished hears of an order that was not taken. One that waits in the queue already is as good.
func (c *coordinator) unpublished(_ jetstream.JetStream, m *nats.Msg, err error) {
	if errors.Is(err, nats.ErrDisconnected) { // perhaps it was taken: then it is a double
		_, err = c.stream.PublishAsync(m.Subject, m.Data)
	}
	if err != nil && !isDouble(err) {
		c.fail(fmt.Errorf("give a group to the workers (%s): %w", m.Subject, err))
	}
}

// isDouble reports whether a message was refused because its subject has one.
func isDouble(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && strings.Contains(api.Description, "maximum messages per subject")
}

// arrival is a result as it came.
type arrival struct {
	number int
	result []byte
	err    error // no more will come
}

// receive brings all results, those of earlier starts first.
func (c *coordinator) receive(ctx context.Context, to chan<- arrival) {
	end := func(err error) {
		select {
		case to <- arrival{err: fmt.Errorf("receive results: %w", err)}:
		case <-ctx.Done():
		}
	}
	consumer, err := c.kept.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		end(err)
		return
	}
	all, err := consumer.Messages(jetstream.PullMaxMessages(256))
	if err != nil {
		end(err)
		return
	}
	defer context.AfterFunc(ctx, all.Stop)()
	for {
		m, err := all.Next()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			end(err)
			return
		}
		number, err := numberOf(m.Subject())
		if err != nil {
			continue // no worker of ours sent it
		}
		select {
		case to <- arrival{number: number, result: m.Data()}:
		case <-ctx.Done():
			return
		}
	}
}

// loop is the loop of Run: it ends when todo is closed or ctx ends.
func (c *coordinator) loop(ctx context.Context, todo <-chan research.Group, done chan<- research.Done,
	arrived <-chan arrival) error {
	for {
		var d research.Done
		var is bool
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-c.failed:
			return err
		case g, more := <-todo:
			if !more {
				return nil
			}
			if result, early := c.early[g.Number]; early {
				delete(c.early, g.Number)
				c.waiting[g.Number] = g
				d, is = c.take(ctx, arrival{number: g.Number, result: result})
			}
			if is = is && d.Err == nil; is { // an error of an earlier start is no result
				break
			}
			if err := c.ask(ctx, g); err != nil {
				return err
			}
		case a := <-arrived:
			if a.err != nil {
				return a.err
			}
			if d, is = c.take(ctx, a); !is && a.number >= c.asked {
				c.early[a.number] = a.result
			}
		}
		if !is {
			continue
		}
		select {
		case done <- d:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ask gives a group to the workers.
func (c *coordinator) ask(ctx context.Context, g research.Group) error {
	c.asked, c.waiting[g.Number] = g.Number+1, g
	if g.Number%ahead == 0 && g.Number >= 2*ahead { // groups that far behind are kept
		old := subject(c.cargo.ID, "result", strconv.Itoa(g.Number/ahead-2), "*")
		if err := c.kept.Purge(ctx, jetstream.WithPurgeSubject(old)); err != nil {
			return fmt.Errorf("take kept results away: %w", err)
		}
	}
	name := subject(c.cargo.ID, "job", strconv.Itoa(g.Number))
	for {
		_, err := c.stream.PublishAsync(name, orderOf(&g))
		if !errors.Is(err, jetstream.ErrTooManyStalledMsgs) {
			return err
		}
		if !sleep(ctx, retry/50) {
			return ctx.Err()
		}
	}
}

// take takes the result of a group; false: no group waits for it.
func (c *coordinator) take(ctx context.Context, a arrival) (d research.Done, is bool) {
	g, is := c.waiting[a.number]
	if !is {
		return d, false
	}
	delete(c.waiting, a.number)
	d.Number = a.number
	switch {
	case len(a.result) > 0 && a.result[0] == gaveRows:
		d.Rows, d.Err = research.DecodeRows(a.result[1:], &g)
	case len(a.result) > 0 && a.result[0] == gaveError:
		d.Err = errors.New(string(a.result[1:]))
	default:
		d.Err = errors.New("a worker sent an empty result")
	}
	if d.Err != nil { // the next start asks again
		_ = c.kept.Purge(ctx, jetstream.WithPurgeSubject(resultOf(c.cargo.ID, a.number)))
	}
	return d, true
}

// farewell tells the workers that the sweep is over, and waits a moment until they have heard it.
// One that misses it hears no answers any more.
func (c *coordinator) farewell(ctx context.Context) {
	c.mutex.Lock()
	c.over = true
	c.mutex.Unlock()
	_ = c.conn.Publish(subject(c.cargo.ID, "end"), nil)
	for range 20 {
		c.mutex.Lock()
		alone := c.present() == 0
		c.mutex.Unlock()
		if alone || !sleep(ctx, retry/20) {
			return
		}
	}
}

// closing is how long the end of a coordinator may take.
const closing = 5 * time.Second

// close ends the connection and the server. A sweep that is through leaves nothing; another one
// keeps its results for the next start.
func (c *coordinator) close(through bool) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	if c.conn != nil {
		c.farewell(ctx)
		if through {
			for _, name := range [...]string{jobs(c.cargo.ID), results(c.cargo.ID)} {
				err = errors.Join(err, c.stream.DeleteStream(ctx, name))
			}
		}
		_ = c.conn.FlushTimeout(closing)
		c.conn.Close()
	}
	if c.server != nil {
		c.server.Shutdown()
		c.server.WaitForShutdown()
	}
	if through {
		err = errors.Join(err, os.RemoveAll(c.cargo.Folder))
	}
	return err
}
