package statedir

import "encoding/binary"

// nextVersion is the first byte of RecordingBlob.
const nextVersion = 1

// AppendNextRecord appends the content of RecordingBlob: the number of the next record, as of the
// commit that writes it.
func AppendNextRecord(dst []byte, next uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, nextVersion), next)
}

// NextRecord reads RecordingBlob. It returns 0 where nothing was recorded.
func NextRecord(blob []byte) (next uint64) {
	if len(blob) == 9 && blob[0] == nextVersion {
		return binary.BigEndian.Uint64(blob[1:])
	}
	return 0
}
