package folder

import "encoding/binary"

// nextVersion is the first byte of RecordingBlob. Without it, in a blob of 8 bytes, the number is
// that of the last minute: programs before version 2 of the recording wrote it.
const nextVersion = 2

// AppendNextRecord appends the content of RecordingBlob: the number of the next record, as of the
// commit that writes it.
func AppendNextRecord(dst []byte, next uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, nextVersion), next)
}

// NextRecord reads RecordingBlob. exact is false where the recording may have gone on since.
func NextRecord(blob []byte) (next uint64, exact bool) {
	switch {
	case len(blob) == 8:
		return binary.BigEndian.Uint64(blob), false
	case len(blob) == 9 && blob[0] == nextVersion:
		return binary.BigEndian.Uint64(blob[1:]), true
	}
	return 0, false
}
