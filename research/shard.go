package research

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Shard is one part of a sweep's groups: every Of-th group, from the Part-th on. Processes that
// know nothing of each other run one shard each, and Merge joins their files.
type Shard struct {
	Part int `json:"part"` // from 1
	Of   int `json:"of"`

	// Groups is the number of groups of the whole sweep. RunShard fills it in.
	Groups int `json:"groups"`
}

// maxShards is the largest number of shards.
const maxShards = 10_000

// ParseShard reads PART/OF, such as 3/8.
func ParseShard(text string) (s Shard, err error) {
	part, of, _ := strings.Cut(text, "/")
	s.Part, err = strconv.Atoi(part)
	if err == nil {
		s.Of, err = strconv.Atoi(of)
	}
	if err != nil || s.Part < 1 || s.Of < s.Part || s.Of > maxShards {
		return s, fmt.Errorf("%q is no shard; want PART/OF, such as 3/8, with at most %d shards", text, maxShards)
	}
	return s, nil
}

// String is PART/OF.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Part, s.Of) }

// file is what a sweep's own file name has in the place of *.
func (s *Shard) file(hash string) string {
	if s == nil {
		return hash
	}
	return fmt.Sprintf("%s-%dof%d", hash, s.Part, s.Of)
}

// own are the groups of a shard; nil is the whole.
func (s *Shard) own(groups [][]int) (own [][]int) {
	if s == nil {
		return groups
	}
	for i := s.Part - 1; i < len(groups); i += s.Of {
		own = append(own, groups[i])
	}
	return own
}

// size is the number of its groups.
func (s *Shard) size() int { return max(s.Groups-s.Part+s.Of, 0) / s.Of }

// Sharded is a shard that has run, or a sweep whose shards are joined.
type Sharded struct {
	Shard  *Shard `json:"shard"` // null: the whole
	Groups int    `json:"groups"`
	Sets   int    `json:"sets"`
	File   string `json:"file"`
}

// RunShard tries the sets of one shard of a sweep, and judges none. The file of the shard goes on
// after a kill, as that of Sweep does. The error wraps ErrAdaptive where the method is adaptive.
func RunShard(ctx context.Context, job Job, shard Shard) (*Sharded, error) {
	if job.Method.Adaptive() {
		return nil, fmt.Errorf("%s: %w", job.Method, ErrAdaptive)
	}
	s, err := newSweep(job)
	if err != nil {
		return nil, err
	}
	first, err := s.begin()
	if err != nil {
		return nil, err
	}
	s.cut(&shard, first)
	closing, err := s.open()
	if err != nil {
		return nil, err
	}
	if err = errors.Join(s.run(ctx, first), closing()); err != nil {
		return nil, err
	}
	return &Sharded{Shard: s.job.Identity.Shard, Groups: s.groups, Sets: s.done, File: s.job.File}, nil
}

// cut leaves the sets of a shard.
func (s *sweep) cut(shard *Shard, first []trial) {
	groups := s.groupsOf(first)
	shard.Groups, s.total = len(groups), 0
	for _, group := range shard.own(groups) {
		s.total += len(group)
	}
	s.job.Identity.Shard = shard
}

// Merge joins the files of all shards of a sweep to the file that the sweep would have written in
// one process, byte for byte. Empty, out is the name of the first file without its shard. A file
// that is there with the same content is left as it is; any other is an error.
func Merge(out string, paths []string) (*Sharded, error) {
	m := &merge{out: out}
	defer m.close()
	for _, path := range paths {
		if err := m.add(path); err != nil {
			return nil, err
		}
	}
	if err := m.complete(); err != nil {
		return nil, err
	}
	if m.out == "" {
		first := m.shards[0]
		extension := filepath.Ext(first.path)
		base, is := strings.CutSuffix(strings.TrimSuffix(first.path, extension), first.id.Shard.file(""))
		if !is {
			return nil, errors.New("no name for the whole sweep's file follows from those of its shards; " +
				"want --out FILE")
		}
		m.out = base + extension
	}
	return m.write()
}

// merge joins shards.
type merge struct {
	out    string
	shards []*shardFile // by part, once complete
	sets   int
}

// shardFile is a file of a shard, open for reading.
type shardFile struct {
	*file
	id Identity
}

// add opens a shard's file and checks that it belongs to those before.
func (m *merge) add(path string) error {
	f, err := openShard(path)
	if err != nil {
		return err
	}
	m.shards = append(m.shards, f)
	first := m.shards[0]
	others := first.id.differences(&f.id)
	if first.id.Shard.Of != f.id.Shard.Of || first.id.Shard.Groups != f.id.Shard.Groups {
		others = append(others, "the number of shards")
	}
	if len(others) > 0 {
		return fmt.Errorf("%s and %s belong to different sweeps, which differ in %s", first.path, path,
			strings.Join(others, ", "))
	}
	for _, other := range m.shards[:len(m.shards)-1] {
		if other.id.Shard.Part == f.id.Shard.Part {
			return fmt.Errorf("%s and %s are both shard %s; leave one of them out", other.path, path, f.id.Shard)
		}
	}
	if have, want := f.groups(), f.id.Shard.size(); have < want {
		return fmt.Errorf("%s is not finished: it has %d of the %d groups of shard %s; run that shard again",
			path, have, want, f.id.Shard)
	}
	return nil
}

// openShard opens a file that no process writes to.
func openShard(path string) (f *shardFile, err error) {
	on, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open a shard: %w", err)
	}
	f = &shardFile{file: &file{path: path, on: on}}
	defer func() {
		if err != nil {
			err = errors.Join(err, on.Close())
		}
	}()
	if err := lockFile(on); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	size, err := on.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	head := make([]byte, len(shardMagic))
	if n, _ := on.ReadAt(head, 0); string(head[:n]) == fileMagic {
		return nil, fmt.Errorf("%s is the file of a whole sweep, not of a shard", path)
	} else if string(head[:n]) != shardMagic {
		return nil, fmt.Errorf("%s is no file of a shard", path)
	}
	text, err := f.frame(int64(len(head)), size)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged at its beginning, or has hardly begun: run its shard again", path)
	}
	if err := json.Unmarshal(text, &f.id); err != nil {
		return nil, fmt.Errorf("%s: its identity is no JSON: %w", path, err)
	}
	if err := f.known(f.id.Version); err != nil {
		return nil, err
	}
	if f.id.Shard == nil || f.id.Shard.Part < 1 || f.id.Shard.Of < f.id.Shard.Part {
		return nil, fmt.Errorf("%s does not say which shard it is", path)
	}
	return f, f.frames(int64(len(head)+frameHead+len(text)), size)
}

// complete checks that there are all shards, and sorts them.
func (m *merge) complete() error {
	if len(m.shards) == 0 {
		return errors.New("there is no file to merge; want those of all shards of a sweep")
	}
	of := m.shards[0].id.Shard.Of
	there := make([]bool, of+1)
	for _, f := range m.shards {
		there[f.id.Shard.Part] = true
	}
	var absent []string
	for part := 1; part <= of; part++ {
		if !there[part] {
			absent = append(absent, Shard{Part: part, Of: of}.String())
		}
	}
	if n := len(absent); n > 12 {
		absent = append(absent[:12], fmt.Sprintf("and %d more", n-12))
	}
	if len(absent) > 0 {
		return fmt.Errorf("missing: %s; run them, or name their files too", strings.Join(absent, ", "))
	}
	slices.SortFunc(m.shards, func(a, b *shardFile) int { return cmp.Compare(a.id.Shard.Part, b.id.Shard.Part) })
	return nil
}

// write writes the whole sweep's file: beside its place at first, so that a kill leaves none.
func (m *merge) write() (done *Sharded, err error) {
	to, err := os.CreateTemp(filepath.Dir(m.out), "."+filepath.Base(m.out)+".*.tmp")
	if err != nil {
		return nil, fmt.Errorf("write the whole sweep's file: %w", err)
	}
	defer func() {
		if gone := os.Remove(to.Name()); err == nil && !os.IsNotExist(gone) {
			err = gone
		}
	}()
	if err := errors.Join(m.copy(to), to.Chmod(0o644), to.Sync(), to.Close()); err != nil {
		return nil, fmt.Errorf("write %s: %w", m.out, err)
	}
	done = &Sharded{Groups: m.shards[0].id.Shard.Groups, Sets: m.sets, File: m.out}
	switch same, err := sameContent(to.Name(), m.out); {
	case os.IsNotExist(err):
		if err = os.Rename(to.Name(), m.out); err != nil {
			return nil, fmt.Errorf("write %s: %w", m.out, err)
		}
		return done, syncFolder(filepath.Dir(m.out))
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", m.out, err)
	case !same:
		return nil, fmt.Errorf("%s is there already, with other content; move it away, or use --out", m.out)
	}
	return done, nil
}

// copy writes the identity of the whole sweep and all groups in their order.
func (m *merge) copy(to io.Writer) error {
	id := m.shards[0].id
	groups := id.Shard.Groups
	id.Shard = nil
	text, err := json.Marshal(&id)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(to, 1<<20)
	b.WriteString(fileMagic) // a bufio.Writer keeps its error
	b.Write(framed(text))
	for g := range groups {
		f := m.shards[g%len(m.shards)]
		at := g / len(m.shards)
		payload, err := f.frame(f.ends[at], f.ends[at+1])
		if err != nil {
			return fmt.Errorf("read group %d of %s: %w", at+1, f.path, err)
		}
		if len(payload) >= 4 {
			m.sets += int(binary.LittleEndian.Uint32(payload))
		}
		b.Write(framed(payload))
	}
	return b.Flush()
}

// sameContent compares two files.
func sameContent(a, b string) (bool, error) {
	there, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer there.Close()
	own, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer own.Close()
	var left, right [64 << 10]byte
	for {
		n, err := io.ReadFull(own, left[:])
		m, other := io.ReadFull(there, right[:])
		if !bytes.Equal(left[:n], right[:m]) {
			return false, nil
		}
		if err != nil || other != nil { // both are at their ends, or one cannot be read
			for _, e := range [...]error{err, other} {
				if !errors.Is(e, io.EOF) && !errors.Is(e, io.ErrUnexpectedEOF) {
					return false, e
				}
			}
			return true, nil
		}
	}
}

// syncFolder makes a new name durable, where the system can.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	_ = folder.Sync() // some systems cannot
	return folder.Close()
}

// close closes the shards.
func (m *merge) close() {
	for _, f := range m.shards {
		_ = f.Close() // it was read only
	}
}
