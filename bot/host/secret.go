package host

import (
	"crypto/sha256"
	"crypto/subtle"
)

// Same compares two secrets in a time that does not depend on where they differ.
func Same(have, want string) bool {
	a, b := sha256.Sum256([]byte(have)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
