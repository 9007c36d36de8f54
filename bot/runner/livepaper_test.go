package runner

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/internal/lives"
	"github.com/tidemark-trading/tidemark/market"
)

// paperRecord is the record of the exchange of paper mode, which ends with its bot: what it last
// had stays until the next bot begins it again.
type paperRecord struct {
	turn   turn
	books  *bottest.Books // nil: it is closed
	ledger map[string]lives.Ledger
	open   []exchange.WireOrder
}

// books is what the record is read of; nil: the exchange of paper mode is closed.
func (p *player) books() *bottest.Books {
	if p.life.Setup.Paper {
		return p.simulated.books
	}
	return &p.Books
}

// record reads the open orders of the bot's account and the exchange's ledger.
func (p *player) record() ([]exchange.WireOrder, map[string]lives.Ledger) {
	if !p.life.Setup.Paper {
		open := p.OpenAtTheExchange()
		return open, p.readsOf(&p.Books, open)
	}
	p.simulated.turn.Lock()
	defer p.simulated.turn.Unlock()
	p.simulated.read(p)
	return p.simulated.open, maps.Clone(p.simulated.ledger)
}

// orders are the open orders of the bot's account.
func (p *player) orders() []exchange.WireOrder {
	if !p.life.Setup.Paper {
		return p.OpenAtTheExchange()
	}
	open, _ := p.record()
	return open
}

// every are all orders of the bot's account; on paper none while its exchange is closed.
func (p *player) every() map[uuid.UUID]exchange.WireOrder {
	if p.life.Setup.Paper {
		p.simulated.turn.Lock()
		defer p.simulated.turn.Unlock()
	}
	if of := p.books(); of != nil {
		return of.OrdersAtTheExchange()
	}
	return nil
}

// cancelsOnPaper cancels an order at the exchange of paper mode.
func (p *player) cancelsOnPaper(o market.Order) {
	p.simulated.turn.Lock()
	defer p.simulated.turn.Unlock()
	if of := p.simulated.books; of != nil {
		o.OperatorID = 99
		intent, err := of.Auditor.Prepare(&market.Command{Kind: market.CommandCancel, Order: o})
		require.NoError(p.T, err)
		_, err = of.Auditor.Send(context.Background(), &intent)
		p.says("owner: cancels %s: %v", o.ClientOrderID, err)
	}
}

// read reads the record anew, if the exchange is there. turn is held.
func (s *paperRecord) read(p *player) {
	if s.books != nil {
		s.open = s.books.OpenAtTheExchange()
		s.ledger = p.readsOf(s.books, s.open)
	}
}

// opensPaper reads the record of a bot that has begun.
func (p *player) opensPaper(of *process) {
	p.begins = of
	if of.paper != nil {
		books := p.auditorOf(of.paper.Exchange)
		p.simulated.turn.Lock()
		defer p.simulated.turn.Unlock()
		p.simulated.books = books
	}
}

// closesPaper reads the record for the last time before its exchange ends.
func (p *player) closesPaper() {
	if p.life.Setup.Paper {
		p.simulated.turn.Lock()
		defer p.simulated.turn.Unlock()
		p.simulated.read(p)
		p.simulated.books = nil
	}
}

// auditorOf is a client of an exchange of paper mode.
func (p *player) auditorOf(ex *sandbox.Exchange) *bottest.Books {
	key := sandbox.Default().Accounts[0].Keys[0]
	client, err := rest.New(rest.Config{BaseURL: "http://127.0.0.1", Key: rest.NewSecret(key.Key),
		Secret: rest.NewSecret(key.Secret), Transport: inProcess{ex}})
	require.NoError(p.T, err)
	require.NoError(p.T, client.Sync(context.Background()))
	units, _, err := client.Catalog(context.Background())
	require.NoError(p.T, err)
	client.Use(units)
	return &bottest.Books{T: p.T, Auditor: client, Units: units, Folder: p.Folder}
}

// endPaper ends the exchange of a bot on paper: its file stays as it is.
func (b *inside) endPaper() {
	b.p.closesPaper()
	require.NoError(b.p.T, b.paper.Close())
}

// killPaper is kill for a bot on paper: its exchange's file stays as it is, too.
func (b *inside) killPaper() {
	was := b.p.Folder
	b.endPaper()
	b.process.kill()
	from, err := os.Open(filepath.Join(was, statedir.PaperFile))
	require.NoError(b.p.T, err)
	defer from.Close()
	to, err := os.Create(filepath.Join(b.p.Folder, statedir.PaperFile))
	require.NoError(b.p.T, err)
	defer to.Close()
	_, err = io.Copy(to, from)
	require.NoError(b.p.T, err)
}

// agreesOnPaper compares the files of both sides.
func (p *player) agreesOnPaper() {
	file := filepath.Join(p.Folder, statedir.PaperFile)
	config, err := p.begins.runner.plan.PaperExchange(file, market.Time(p.now().UnixNano()))
	require.NoError(p.T, err)
	ex, err := sandbox.New(config)
	require.NoError(p.T, err)
	p.auditorOf(ex).AgreeOnFile()
	require.NoError(p.T, ex.Close())
}
