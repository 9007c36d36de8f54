package seal

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// A signed export is
//
//	4   magic: exportMagic
//	8   length of the excerpt, big-endian
//	…   an excerpt of the journal, from the latest seal on: see package journal
//	…   the signature as JSON
const exportMagic = "TMS1"

// Signature is the end of an export.
type Signature struct {
	Version   int    `json:"version"`
	AtMS      int64  `json:"at_ms"`   // when it was made, as its maker says
	Program   string `json:"program"` // version of the program that made it
	SHA256    string `json:"sha256"`  // of the excerpt
	PublicKey []byte `json:"public_key"`
	Signature []byte `json:"signature"` // of message
}

// message is the signed text.
func (s *Signature) message() []byte {
	return fmt.Appendf(nil, "tidemark seal export %d\n%d\n%s\n%s\n", s.Version, s.AtMS, s.Program, s.SHA256)
}

// Export writes the journal from the latest seal on, signed with a key. It is an error if nothing
// is sealed.
func Export(w io.Writer, store *journal.Store, key ed25519.PrivateKey, at market.Time, program string) error {
	rows, err := store.Kept()
	if err != nil {
		return err
	}
	sealed, err := watchedIn(rows)
	if err != nil {
		return err
	}
	if sealed == nil {
		return errors.New("nothing is sealed: there is nothing to export")
	}
	var excerpt bytes.Buffer
	if _, err := store.WriteExcerpt(&excerpt, sealed.number); err != nil {
		return err
	}
	s := Signature{Version: documentVersion, AtMS: at.Millis(), Program: program, SHA256: hashOf(excerpt.Bytes()),
		PublicKey: PublicKey(key)}
	s.Signature = ed25519.Sign(key, s.message())
	text, err := json.Marshal(&s)
	if err != nil {
		return err
	}
	head := binary.BigEndian.AppendUint64([]byte(exportMagic), uint64(excerpt.Len()))
	for _, part := range [][]byte{head, excerpt.Bytes(), append(text, '\n')} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// Proof is the result of a check of an export, without the bot.
type Proof struct {
	Signature Signature   `json:"signature"`
	Key       string      `json:"public_key"` // as text
	From      uint64      `json:"from"`       // entries of the journal
	To        uint64      `json:"to"`
	Last      string      `json:"last_hash"`
	Runs      []string    `json:"runs"` // starts of the bot: time, version, hash of the config
	Fills     int         `json:"fills"`
	Sums      int         `json:"sums"` // verdicts whose money, positions and trips follow from the fills
	Standing  *SealStatus `json:"standing"`
	Flaws     []string    `json:"flaws"`
	SealKey   string      `json:"sealed_key"` // the key that the seal names; empty: none
	Unproven  []string    `json:"does_not_prove"`
}

// unproven lists the claims that no export proves.
var unproven = []string{
	"that the exchange saw these orders: the journal is the bot's own record, and only the exchange can confirm it",
	"that this is the only journal: another one may have been kept beside it, and the better one shown",
	"when the entries were written: the times are those of the machine; publish the last hash to fix a date",
	"what happened before the first entry, and behind the last one",
}

// ReadExport checks an export: signature, chain, seal, evidence and sums. Flaws are in the proof;
// the error is about a file that cannot be read at all.
func ReadExport(r io.Reader) (*Proof, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	excerpt, tail, err := split(text)
	if err != nil {
		return nil, err
	}
	p := &Proof{Runs: []string{}, Flaws: []string{}, Unproven: unproven}
	if err := json.Unmarshal(tail, &p.Signature); err != nil {
		return nil, fmt.Errorf("%w: signature: %w", bolt.ErrCorrupt, err)
	}
	if err := checkVersion(p.Signature.Version); err != nil {
		return nil, err
	}
	p.checkSignature(excerpt)
	f := &recount{balances: map[string]int64{}, counted: map[fillKey]counted{}, sides: map[market.OrderID]market.Side{},
		ended: map[market.OrderID]bool{}}
	x, err := journal.ReadExcerpt(bytes.NewReader(excerpt), f.add)
	if err != nil {
		if errors.Is(err, bolt.ErrNewer) {
			return nil, err
		}
		p.flaw("%v", err)
	}
	p.From, p.To, p.Last = x.From, x.To, hex.EncodeToString(x.Last)
	p.Runs, p.Fills, p.Sums = append(p.Runs, f.runs...), f.fills, f.sums
	p.Flaws = append(p.Flaws, f.flaws...)
	p.Standing = f.sealed.standing()
	if f.sealed == nil {
		p.flaw("the seal is not in it: it lies before the first entry, %d; an earlier export shows it", x.From)
	} else if key := f.sealed.document.PublicKey; key != nil {
		if p.SealKey = keyText(key); !bytes.Equal(key, p.Signature.PublicKey) {
			p.flaw("it is signed with another key than the seal names")
		}
	}
	return p, nil
}

// split separates the parts of an export.
func split(text []byte) (excerpt, signature []byte, err error) {
	head := len(exportMagic) + 8
	switch {
	case len(text) < head || string(text[:3]) != exportMagic[:3]:
		return nil, nil, fmt.Errorf("%w: it is no signed export of bot seal", bolt.ErrCorrupt)
	case string(text[:len(exportMagic)]) != exportMagic:
		return nil, nil, fmt.Errorf("%w: export %q, this program reads %s; update the program", bolt.ErrNewer, text[:4],
			exportMagic)
	}
	length := binary.BigEndian.Uint64(text[len(exportMagic):])
	if length > uint64(len(text)-head) {
		return nil, nil, fmt.Errorf("%w: the export is cut off", bolt.ErrCorrupt)
	}
	return text[head : head+int(length)], text[head+int(length):], nil
}

func (p *Proof) checkSignature(excerpt []byte) {
	s := &p.Signature
	p.Key = keyText(s.PublicKey)
	sum := sha256.Sum256(excerpt)
	switch {
	case len(s.PublicKey) != ed25519.PublicKeySize:
		p.flaw("the public key has %d bytes", len(s.PublicKey))
	case !ed25519.Verify(s.PublicKey, s.message(), s.Signature):
		p.flaw("the signature is not one of the key %s", p.Key)
	case hex.EncodeToString(sum[:]) != s.SHA256:
		p.flaw("the journal is not the one that was signed")
	}
}

func (p *Proof) flaw(format string, args ...any) {
	p.Flaws = append(p.Flaws, fmt.Sprintf(format, args...))
}

// Text is the proof for a terminal.
func (p *Proof) Text() string {
	var b strings.Builder
	if len(p.Flaws) == 0 {
		fmt.Fprintln(&b, "The export holds: signature, chain, seal, evidence and sums fit.")
	} else {
		fmt.Fprintln(&b, "The export does not hold:")
	}
	for _, flaw := range p.Flaws {
		fmt.Fprintf(&b, "  %s\n", flaw)
	}
	fmt.Fprintf(&b, "\nsigned     %s with the key %s\n", market.Time(p.Signature.AtMS*1e6), p.Key)
	if p.SealKey != "" {
		fmt.Fprintf(&b, "           the seal names the key %s\n", p.SealKey)
	}
	fmt.Fprintf(&b, "entries    %d to %d, last hash %s\n", p.From, p.To, p.Last)
	fmt.Fprintf(&b, "sums       %d verdicts follow from %d fills\n", p.Sums, p.Fills)
	for _, run := range p.Runs {
		fmt.Fprintf(&b, "start      %s\n", run)
	}
	if d := p.Standing.Document; d != nil {
		fmt.Fprintf(&b, "sealed     program %s, sha256 %s; %d tries\n", d.Program.Version, d.Program.SHA256,
			d.Search.Tries)
	}
	fmt.Fprintf(&b, "\n%s\nThis export does not prove\n", p.Standing.Text())
	for _, line := range p.Unproven {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	return b.String()
}
