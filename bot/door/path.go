package door

import (
	"errors"
	"strings"
)

// The bounds of a secret path, in characters.
const (
	leastPath     = 32
	mostPath      = 256
	leastVariety  = 8 // different ones
	pathCharacter = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
)

// ParsePath checks the secret path of a source that cannot sign. Its error does not show it.
func ParsePath(text string) (string, error) {
	different := map[rune]bool{}
	for _, c := range text {
		different[c] = true
	}
	if len(text) < leastPath || len(text) > mostPath || len(different) < leastVariety ||
		strings.Trim(text, pathCharacter) != "" {
		return "", errors.New("want 32 to 256 random letters, digits, - and _; make some: openssl rand -hex 32")
	}
	return text, nil
}
