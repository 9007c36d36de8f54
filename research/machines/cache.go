package machines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Cache is a folder of blobs by their hash. Several processes may use one.
type Cache struct{ dir string }

// NewCache opens a cache, and makes its folder.
func NewCache(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the cache: %w", err)
	}
	return &Cache{dir}, nil
}

// Path is the place of a file of the cache that is no blob.
func (c *Cache) Path(name string) string { return filepath.Join(c.dir, name) }

// Get returns a blob, and fetches it where the cache lacks it or holds a damaged one. fetched
// reports whether it did.
func (c *Cache) Get(h Hash, fetch func(Hash) ([]byte, error)) (content []byte, fetched bool, err error) {
	path := filepath.Join(c.dir, "blobs", h.String()[:2], h.String()[2:])
	if content, err = os.ReadFile(path); err == nil && HashOf(content) == h {
		return content, false, nil
	}
	if content, err = fetch(h); err != nil {
		return nil, true, err
	}
	if HashOf(content) != h {
		return nil, true, fmt.Errorf("candles arrived damaged: %d bytes do not have the hash %s", len(content), h)
	}
	if err = put(path, content); err != nil {
		err = fmt.Errorf("write the cache: %w", err)
	}
	return content, true, err
}

// put writes a file whole, or not at all.
func put(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	to, err := os.CreateTemp(dir, ".*.tmp")
	if err != nil {
		return err
	}
	_, err = to.Write(content)
	if err = errors.Join(err, to.Close()); err == nil {
		err = os.Rename(to.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(to.Name()))
	}
	return nil
}
