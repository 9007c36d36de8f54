package seal

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"github.com/tidemark-trading/tidemark/bot/config"
)

// NewKey writes a new ed25519 key to a file that only its owner may read, in PKCS #8 as PEM. It
// never replaces a file. It returns the public half as text.
func NewKey(path string) (public string, err error) {
	half, key, err := ed25519.GenerateKey(nil) // from the system's source
	if err != nil {
		return "", fmt.Errorf("make a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", fmt.Errorf("make a key: %w", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("write a key: %w", err)
	}
	err = pem.Encode(file, &pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return keyText(half), errors.Join(err, file.Sync(), file.Close())
}

// ReadKey reads a key that NewKey or openssl wrote. It refuses a file that others may read.
func ReadKey(path string) (ed25519.PrivateKey, error) {
	others, err := config.ReadableByOthers(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the key: %w; bot seal key makes one", err)
	case others:
		return nil, fmt.Errorf("%s can be read by others: chmod 600 %s", path, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s is no key in PEM; bot seal key makes one", path)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, is := parsed.(ed25519.PrivateKey)
	if err != nil || !is {
		return nil, fmt.Errorf("%s is no ed25519 key in PKCS #8; bot seal key makes one", path)
	}
	return key, nil
}

// PublicKey is the public half of a key.
func PublicKey(key ed25519.PrivateKey) []byte { return key.Public().(ed25519.PublicKey) }
