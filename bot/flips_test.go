package bot_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

var (
	flips = flag.Int("flips", 60,
		"how many single bits TestAFlippedBitIsNamedOrMeansNothing flips in a state file, each tried by every reader "+
			"of it")
	flipSeed = flag.Uint64("flip-seed", 1, "the seed of -flips; a failure prints it")
)

// flipPatience is how long a child may be busy with one reader of one flipped file: hundreds of
// times what it takes.
const flipPatience = 2 * time.Minute

// flipFile writes the state file that is damaged: branches, leaves, inline buckets, a value of
// several pages, and a list of free pages.
func flipFile(t *testing.T, dir string) string {
	makeHistory(t, dir, 150)
	path := filepath.Join(dir, "bot.db")
	for range 2 {
		store, err := journal.Open(path)
		require.NoError(t, err)
		require.NoError(t, store.Bind(store.Catalog(), []string{"trend"}))
		b := store.NewBatch()
		b.Blob("engine/engine", bytes.Repeat([]byte("where the engine stands "), 700))
		b.Cursor(1, "candles BTC-EUR 1h", []byte("17"))
		require.NoError(t, store.Commit(b))
		require.NoError(t, store.Compact(path)) // compact files have a list of free pages
		require.NoError(t, store.Close())
	}
	db, err := bbolt.Open(path, 0o600, nil) // and a commit with such a list leaves free pages
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte("journal"))
		key, value := b.Cursor().First()
		return b.Put(key, value)
	}))
	require.NoError(t, db.Close())
	return path
}

// place is a stretch of bytes of a class of pages.
type place struct{ from, to int }

// flipPlaces finds what every class of pages has in a file.
type flipPlaces struct {
	data  []byte
	class map[string][]place
}

var flipClasses = []string{"head", "branch", "leaf", "inline", "freelist", "overflow", "anywhere"}

const flipPage = 4096

func placesOf(data []byte) *flipPlaces {
	p := &flipPlaces{data: data, class: map[string][]place{"head": {{0, 80}, {flipPage, flipPage + 80}},
		"anywhere": {{0, len(data)}}}}
	head := 16
	if binary.NativeEndian.Uint64(data[flipPage+64:]) > binary.NativeEndian.Uint64(data[64:]) {
		head += flipPage
	}
	p.follow(binary.NativeEndian.Uint64(data[head+16:]))
	if free := binary.NativeEndian.Uint64(data[head+32:]); free != ^uint64(0) {
		at := int(free) * flipPage
		p.add("freelist", at, at+16+8*int(binary.NativeEndian.Uint16(data[at+10:])))
	}
	return p
}

func (p *flipPlaces) add(class string, from, to int) {
	p.class[class] = append(p.class[class], place{from, to})
}

// follow sorts a page in use, and those below it, into classes.
func (p *flipPlaces) follow(number uint64) {
	at := int(number) * flipPage
	page := p.data[at:]
	end, count := 0, int(binary.NativeEndian.Uint16(page[10:]))
	for i := range count {
		element := page[16+16*i:]
		if binary.NativeEndian.Uint16(page[8:]) == 1 {
			p.follow(binary.NativeEndian.Uint64(element[8:]))
			end = 16 + 16*i + int(binary.NativeEndian.Uint32(element)+binary.NativeEndian.Uint32(element[4:]))
			continue
		}
		value := 16 + 16*i + int(binary.NativeEndian.Uint32(element[4:])+binary.NativeEndian.Uint32(element[8:]))
		end = value + int(binary.NativeEndian.Uint32(element[12:]))
		if element[0] == 0 {
			continue
		}
		if root := binary.NativeEndian.Uint64(page[value:]); root != 0 {
			p.follow(root)
		} else {
			p.add("inline", at+value, at+end)
		}
	}
	class := map[uint16]string{1: "branch", 2: "leaf"}[binary.NativeEndian.Uint16(page[8:])]
	p.add(class, at, at+end)
	p.add(class, at, at+16+16*count) // what bbolt follows is flipped more often than what it hands on
	if end > flipPage {
		p.add("overflow", at+flipPage, at+end)
		p.add("overflow", at+12, at+16)
	}
}

// bitFlip is one bit of a file.
type bitFlip struct {
	class   string
	at, bit int
}

func (p *flipPlaces) flip(seed uint64, n int) bitFlip {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	class := flipClasses[n%len(flipClasses)]
	places := p.class[class]
	where := places[r.IntN(len(places))]
	return bitFlip{class, where.from + r.IntN(where.to-where.from), r.IntN(8)}
}

func (f bitFlip) String() string {
	return fmt.Sprintf("%s, page %d, byte %d of it, bit %d", f.class, f.at/flipPage, f.at%flipPage, f.bit)
}

// TestAFlippedBitIsNamedOrMeansNothing damages one bit of a state file after another, by chance in
// each class of its pages. Children try each file with bot state check, bot status, bot explain and
// what the start of bot run reads: none may panic, hang, or fail where the check finds nothing; and
// where the check finds nothing, everything in the file is what it was. All ten thousand flips:
//
//	go test ./bot -run TestAFlippedBitIsNamedOrMeansNothing -flips 10000 -timeout 2h
func TestAFlippedBitIsNamedOrMeansNothing(t *testing.T) {
	bottest.Unraced(t)
	if testing.Short() {
		*flips = min(*flips, 14)
	}
	sound := flipFile(t, t.TempDir())
	data, err := os.ReadFile(sound)
	require.NoError(t, err)
	places := placesOf(data)
	for _, class := range flipClasses {
		require.NotEmpty(t, places.class[class], class)
	}
	named, next := 0, 0
	for next < *flips {
		seen := runFlips(t, sound, next, *flips)
		named += seen.named
		if seen.failed != "" {
			t.Errorf("-flip-seed %d, flip %d (%s): %s", *flipSeed, seen.at, places.flip(*flipSeed, seen.at),
				seen.failed)
		}
		next = seen.at + 1
	}
	t.Logf("%d flips, %d named, the others mean nothing", *flips, named)
	require.Greater(t, named, *flips/3)
}

// flipsSeen is how far a child came.
type flipsSeen struct {
	at     int
	named  int
	failed string
}

// runFlips lets a child try flips until one fails, or all are done.
func runFlips(t *testing.T, sound string, from, to int) (seen flipsSeen) {
	cmd := exec.Command("flipper", sound, t.TempDir(), strconv.FormatUint(*flipSeed, 10), strconv.Itoa(from),
		strconv.Itoa(to))
	cmd.WaitDelay = time.Minute
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	hung := false
	watchdog := time.AfterFunc(flipPatience, func() {
		hung = true
		_ = cmd.Process.Kill()
	})
	seen.at = from
	doing := "nothing yet"
	for lines := bufio.NewScanner(out); lines.Scan(); {
		watchdog.Reset(flipPatience)
		switch word, rest, _ := strings.Cut(lines.Text(), " "); word {
		case "flip":
			seen.at, err = strconv.Atoi(rest)
			require.NoError(t, err)
		case "try":
			doing = rest
		case "named":
			seen.named++
		case "fail":
			seen.failed = rest
		}
	}
	watchdog.Stop()
	err = cmd.Wait()
	switch {
	case hung:
		seen.failed = fmt.Sprintf("%s was not done after %s", doing, flipPatience)
	case err != nil && seen.failed == "":
		seen.failed = fmt.Sprintf("%s ended the process: %v\n%.2000s", doing, err, stderr.String())
	}
	return seen
}

// flipper is the child: it tries the flips from one number to another, and stops at the first that
// is not dealt with.
func flipper() {
	sound, dir := os.Args[1], os.Args[2]
	seed, _ := strconv.ParseUint(os.Args[3], 10, 64)
	from, _ := strconv.Atoi(os.Args[4])
	to, _ := strconv.Atoi(os.Args[5])
	data, err := os.ReadFile(sound)
	if err != nil {
		panic(err)
	}
	places, want, path := placesOf(data), allOf(sound), filepath.Join(dir, "bot.db")
	for n := from; n < to; n++ {
		fmt.Println("flip", n)
		f := places.flip(seed, n)
		damaged := bytes.Clone(data)
		damaged[f.at] ^= 1 << f.bit
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			panic(err)
		}
		if err := tryFlip(path, dir, want); err != nil {
			fmt.Println("fail", strings.ReplaceAll(err.Error(), "\n", "; "))
			return
		}
	}
}

// tryFlip lets every reader look at a file, of which want is the content when it is sound.
func tryFlip(path, dir string, want [32]byte) error {
	found, named := try("state", "check", "--state", path)
	if named {
		fmt.Println("named")
	} else {
		fmt.Println("try reading what was in it")
		if !strings.Contains(found, "; 0 problems") || allOf(path) != want {
			return fmt.Errorf("state check says %q of a file that says other things than before", found)
		}
	}
	for _, args := range [][]string{{"status", "--state", dir}, {"explain", "7", "--state", dir}} {
		if text, failed := try(args...); failed && !named {
			return fmt.Errorf("%s fails, and state check finds nothing: %s", args[0], text)
		} else if raw.MatchString(text) && failed {
			return fmt.Errorf("%s speaks in bytes: %s", args[0], text)
		}
	}
	fmt.Println("try the opening of bot run")
	switch err := openFlipped(path); {
	case err == nil:
	case !named:
		return fmt.Errorf("bot run would not start, and state check finds nothing: %w", err)
	case !errors.Is(err, bolt.ErrCorrupt) &&
		!errors.Is(err, bolt.ErrNewer), raw.MatchString(err.Error()), !strings.Contains(err.Error(), path):
		return fmt.Errorf("the start of bot run does not say in words what is wrong: %w", err)
	}
	return nil
}

// raw is more bytes in a row than a person reads.
var raw = regexp.MustCompile(`[0-9a-f]{33,}`)

// try runs a command in this process.
func try(args ...string) (text string, failed bool) {
	fmt.Println("try", strings.Join(args, " "))
	var out, said bytes.Buffer
	code := bot.Run(context.Background(), bot.Process{Args: args, Stdout: &out, Stderr: &said, Stdin: &bytes.Buffer{},
		Getenv: func(string) string { return "" }, Definitions: shipped.Definitions()})
	return out.String() + said.String(), code != 0
}

// openFlipped opens a file as a start of the bot does, reads what it reads, and commits.
func openFlipped(path string) (err error) {
	store, err := journal.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	_, failed := store.OpenOrders()
	_, runs := store.Runs()
	_, halts := store.Halts()
	_, positions := store.Positions()
	_, blob := store.Blob("engine/engine")
	orders := store.Orders(0, func(*journal.OrderRow) error { return nil })
	if err := errors.Join(failed, runs, halts, positions, blob, orders,
		store.Bind(store.Catalog(), []string{"trend"})); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	b := store.NewBatch()
	b.Start(1, &journal.Start{Run: uuid.UUID{15: 9}, Currency: "EUR", Strategies: []string{"trend"}})
	b.Equity(journal.EquitySample{At: market.Time(1_800_000_000_000_000_000), Equity: 1})
	if err := store.Commit(b); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// allOf is everything in a file.
func allOf(path string) [32]byte {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Minute})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	hash := sha256.New()
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(key, value []byte) error {
				_, err := fmt.Fprintf(hash, "%q %q %q\n", name, key, value)
				return err
			})
		})
	})
	if err != nil {
		panic(err)
	}
	return [32]byte(hash.Sum(nil))
}
