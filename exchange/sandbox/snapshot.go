package sandbox

// snapshot is a list of rows that a handler copies under the lock of the exchange. The answer is
// made of them later, part by part, without the lock: it shows one instant, and a client that reads
// slowly keeps no other waiting.
type snapshot[T any] struct{ slabs [][]T }

const (
	slabRows = 64      // rows that are copied into one piece of memory
	partSize = 1 << 16 // bytes from which on a part of an answer is sent
)

// add adds a row and returns it, for the caller to fill.
func (s *snapshot[T]) add() *T {
	last := len(s.slabs) - 1
	if last < 0 || len(s.slabs[last]) == slabRows {
		s.slabs = append(s.slabs, make([]T, 0, slabRows))
		last++
	}
	slab := s.slabs[last]
	s.slabs[last] = slab[:len(slab)+1]
	return &s.slabs[last][len(slab)]
}

// list returns a function for Call.More that writes the rows as a JSON array: each call appends
// whole slabs until partSize bytes are appended, and lets go of them. write appends one row.
func (s *snapshot[T]) list(write func(dst []byte, row *T) []byte) func(dst []byte) ([]byte, bool) {
	rest, opened := s.slabs, false
	return func(dst []byte) ([]byte, bool) {
		start := len(dst)
		if !opened {
			dst = append(dst, '[')
		}
		for len(rest) > 0 && len(dst)-start < partSize {
			for i := range rest[0] {
				if opened {
					dst = append(dst, ',')
				}
				opened = true
				dst = write(dst, &rest[0][i])
			}
			rest[0] = nil
			rest = rest[1:]
		}
		if len(rest) > 0 {
			return dst, true
		}
		return append(dst, ']'), false
	}
}
