package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// knownState is the content of the state file, as far as the checks need it.
type knownState struct {
	readable bool
	resumed  bool                   // an earlier run has booked its deposits
	orders   map[uuid.UUID]struct{} // open orders, by client id
	left     map[string][]leftover  // what strategies have that the config lacks, by name
	signals  map[string]statedir.HeardSource
	lags     map[string][]market.Duration // of the latest signals, from the sender's time to the arrival
}

// leftover is the position and the orders of a strategy in a market.
type leftover struct {
	market string
	amount market.Qty
	units  *market.Market // of amount
	orders int            // that are open
}

// missed reports whether an order is certainly missing from the state file.
func (k *knownState) missed(client uuid.UUID) bool {
	_, there := k.orders[client]
	return k.readable && !there
}

// stateFile checks the state file as `bot state check` does.
func (d *doctor) stateFile(ctx context.Context) {
	d.known = &knownState{orders: map[uuid.UUID]struct{}{}}
	path := filepath.Join(d.plan.Config.Bot.State, statedir.StateFile)
	store, err := journal.ReadUntil(ctx, path)
	switch {
	case errors.Is(err, bolt.ErrNotFound):
		d.known.readable = true
		d.ok("state file", "%s is not there yet; the first start makes it", path)
		return
	case errors.Is(err, bolt.ErrLocked):
		d.known.resumed = true
		d.warn("state file", path+" is held by a running bot and was not checked",
			"ask that bot, or stop it and repeat the check")
		return
	case err != nil:
		d.fail("state file", err.Error(), "take it from a backup, or use the program that wrote it")
		return
	}
	defer store.Close()
	if err := d.examine(path, store); err != nil {
		d.fail("state file", fmt.Sprintf("%s: %v", path, err), "take it from a backup")
	}
}

// examine reads a state file.
func (d *doctor) examine(path string, store *journal.Store) error {
	report, err := store.Check()
	if err != nil {
		return err
	}
	if len(report.Flaws) > 0 {
		var lines []string
		for _, flaw := range report.Flaws[:min(10, len(report.Flaws))] {
			lines = append(lines, flaw.String())
		}
		d.add("state file", Fail, fmt.Sprintf("%s has %d flaws", path, len(report.Flaws)), "take it from a backup",
			lines...)
		return nil
	}
	d.ok("state file", "%s is whole: %d journal entries, %d orders (%d open), %d fills", path, report.Entries,
		report.Orders, report.Open, report.Fills)
	if _, d.known.resumed, err = statedir.Parts(store); err != nil {
		return err
	}
	if err := d.account(store); err != nil {
		return err
	}
	d.plan.Known = store.Catalog() // a market of it that the exchange lists no more has gone
	if d.plan.Held, err = statedir.Held(store); err != nil {
		return err
	}
	open, err := store.OpenOrders()
	if err != nil {
		return err
	}
	for i := range open {
		d.known.orders[open[i].ClientOrderID] = struct{}{}
	}
	d.known.readable = true
	if err := d.leftovers(store, open); err != nil {
		return err
	}
	if d.known.signals, err = statedir.ReadHeard(store); err != nil {
		return err
	}
	if len(d.known.signals) > 0 {
		if err := d.known.readLags(store); err != nil {
			return err
		}
	}
	halts, err := store.Halts()
	for i := range halts {
		d.warn("halt", fmt.Sprintf("%s has been halted since %s: %s", halts[i].Scope, halts[i].At, halts[i].Reason),
			"find out why, then: bot resume")
	}
	return err
}

// leftovers notes what strategies have that are not in the config.
func (d *doctor) leftovers(store *journal.Store, open []journal.OrderRow) error {
	all := map[string][]leftover{}
	add := func(strategy, in string, more leftover) {
		if slices.Contains(d.plan.Names(), strategy) || strategy == "" {
			return
		}
		at := slices.IndexFunc(all[strategy], func(l leftover) bool { return l.market == in })
		if at < 0 {
			at = len(all[strategy])
			all[strategy] = append(all[strategy], leftover{market: in, units: more.units})
		}
		all[strategy][at].amount += more.amount
		all[strategy][at].orders += more.orders
	}
	positions, err := store.Positions()
	for i := range positions {
		if p, m := &positions[i], store.Catalog().Market(positions[i].Market); p.Amount != 0 {
			add(p.StrategyName, m.Name, leftover{amount: p.Amount, units: m})
		}
	}
	for i := range open {
		m := store.Catalog().Market(open[i].Market)
		add(open[i].StrategyName, m.Name, leftover{orders: 1, units: m})
	}
	d.known.left = all
	return err
}

// heirless fails for what a start would refuse: positions, except for dust, and orders of
// strategies that the config lacks.
func (d *doctor) heirless() {
	for _, name := range slices.Sorted(maps.Keys(d.known.left)) {
		var has []string
		for _, l := range d.known.left[name] {
			now := d.plan.Catalog.MarketNamed(l.market)
			if dust := now != nil && l.amount < now.MinOrderInBase; l.amount > 0 && !dust {
				has = append(has, l.units.FormatQty(l.amount)+" of "+l.market)
			}
			if l.orders > 0 {
				has = append(has, fmt.Sprintf("%d open orders in %s", l.orders, l.market))
			}
		}
		if len(has) > 0 {
			text := fmt.Sprintf("%s is not in the config, and the state file has %s of it", name,
				strings.Join(has, " and "))
			d.fail("strategies", text, fmt.Sprintf("take it back into the config, or let another strategy take over: "+
				"bot adopt %s NEW -c %s", name, config.InQuotes(d.plan.Config.Source.File)))
		}
	}
}

// account checks that the state file belongs to the exchange and the account of the config.
func (d *doctor) account(store *journal.Store) error {
	if d.plan.Config.Bot.Paper() || !d.known.resumed {
		return nil
	}
	before, err := statedir.OtherExchange(store, d.plan.Config.Exchange.Origin(), d.plan.Config.Exchange.MovedFrom)
	if err != nil {
		return err
	}
	if before != "" {
		d.fail("account", fmt.Sprintf("the orders and money in %s are at %s", d.plan.Config.Bot.State, before),
			"name another bot.state or, where the exchange has moved, the old address in exchange.moved_from")
	}
	other, err := statedir.KeyChanged(store, d.plan.Key)
	if other {
		d.warn("account", "the key is another than in the last run",
			"it has to belong to the same account: the start asks for the last order with it")
	}
	return err
}

// Free bytes of the state folder's disk.
const (
	warnBelow = 1 << 30
	failBelow = 100 << 20
)

// disk checks the state folder: free space and permissions.
func (d *doctor) disk() {
	dir := d.plan.Config.Bot.State
	info, err := os.Stat(dir)
	there := existing(dir)
	switch {
	case err == nil && !info.IsDir():
		d.fail("folder", dir+" is a file", "name another folder as bot.state")
		return
	case err == nil && statedir.OpenToOthers(info):
		d.fail("folder", "others may read "+dir, "do: chmod 700 "+config.InQuotes(dir))
	}
	room, writable := statedir.FreeSpace(there)
	switch {
	case !writable:
		d.fail("folder", there+" cannot be written to", "give it to the user that the bot runs as")
	case room < failBelow:
		d.fail("disk", fmt.Sprintf("%d MB free for %s", room>>20, dir),
			"make room: a bot that cannot write its journal stops")
	case room < warnBelow:
		d.warn("disk", fmt.Sprintf("%d MB free for %s", room>>20, dir),
			"make room: the journal grows for as long as the bot trades")
	default:
		d.ok("disk", "%d GB free for %s", room>>30, dir)
	}
}

// existing is the folder, or the nearest one above it that exists.
func existing(folder string) string {
	folder, err := filepath.Abs(folder)
	for err == nil {
		if _, missing := os.Stat(folder); missing == nil || filepath.Dir(folder) == folder {
			break
		}
		folder = filepath.Dir(folder)
	}
	return folder
}

// secrets reports where key and secret stand, and whether others may read that place. The plan has
// already refused a key_file or secret_file that others may read.
func (d *doctor) secrets() {
	e, file := &d.plan.Config.Exchange, d.plan.Config.Source.File
	var places []string
	if d.plan.Config.Bot.Paper() && d.plan.Key == "" {
		d.ok("secrets", "there are none")
		return
	}
	for _, place := range [...]struct{ inline, file, env string }{{e.Key, e.KeyFile, e.KeyEnv},
		{e.Secret, e.SecretFile, e.SecretEnv}} {
		switch {
		case place.file != "":
			places = append(places, place.file+", which only its owner may read")
		case place.env != "":
			places = append(places, "the environment ("+place.env+")")
		case place.inline != "":
			places = append(places, file)
		}
	}
	text := "key and secret come from " + strings.Join(slices.Compact(places), " and ")
	others, err := config.ReadableByOthers(file)
	switch {
	case !slices.Contains(places, file):
		d.ok("secrets", "%s", text)
	case strings.HasPrefix(e.BaseURL, "http:"):
		d.ok("secrets", "%s, for an exchange on this machine", text)
	case err != nil || others:
		d.fail("secrets", text+", and others may read it",
			"use key_env and secret_env, or key_file and secret_file; at least do: chmod 600 "+config.InQuotes(file))
	default:
		d.warn("secrets", text, "use key_env and secret_env, or key_file and secret_file, so that the config can be "+
			"shown to others")
	}
}

// limits reports limits without a value.
func (d *doctor) limits(needed bool) {
	missing := d.plan.Unlimited()
	if len(missing) == 0 {
		d.ok("limits", "every limit of account and strategies is set")
		return
	}
	for _, line := range missing {
		line = strings.TrimPrefix(line, "no limit: ")
		if needed {
			d.fail("limits", line+": not set, and bot.need_limits is", "set them in [risk]")
			continue
		}
		d.warn("limits", line+": not set", "set them in [risk] before real money is at stake")
	}
}
