package dashboard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// tokenBytes is the length of a token; a file has it in hexadecimal digits.
const tokenBytes = 32

// removeIt is what to do about a file that is no token's.
const removeIt = "remove it, and the next start makes a new one"

// Token reads the token in a file, or makes both at the first start. Only the owner of the file may
// read it. made reports whether the token is new.
func Token(path string) (token string, made bool, err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		token, err = readToken(path)
		return token, false, err
	} else if err != nil {
		return "", false, fmt.Errorf("token of the dashboard: %w", err)
	}
	token = secret()
	if _, err = file.WriteString(token + "\n"); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", false, fmt.Errorf("token of the dashboard: %w", errors.Join(err, os.Remove(path)))
	}
	return token, true, nil
}

// secret is a new secret: of a token, of a session, of a form.
func secret() string {
	random := make([]byte, tokenBytes)
	_, _ = rand.Read(random) // it never fails
	return hex.EncodeToString(random)
}

func readToken(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("token of the dashboard: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("token of the dashboard: others may read %s; %s", path, removeIt)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("token of the dashboard: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if random, err := hex.DecodeString(token); err != nil || len(random) != tokenBytes {
		return "", fmt.Errorf("token of the dashboard: %s has none; %s", path, removeIt)
	}
	return token, nil
}

// same compares two secrets in a time that does not depend on where they differ.
func same(have, want string) bool {
	a, b := sha256.Sum256([]byte(have)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
