// Package boltfile opens bbolt files whole or not at all: it makes them, locks them, checks their structure on raw bytes before bbolt
// follows it, turns damage into errors and gives read pages back. It does not know what keys and values mean. Start at Open.
//
// bbolt trusts its file: where a page is damaged it panics, in a goroutine of its own too, reads beyond its mapping, or walks round and round. After
// Check none of that can happen: each page is reached once, every element lies in its page where bbolt writes it, keys rise within pages and
// across them, inline buckets fill their value, and no page is in the list of free pages that is in use.
package boltfile

import (
	"context"
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

// Damage is something in a file that bbolt does not write.
type Damage struct {
	Page uint64 // its number; the heads are 0 and 1
	What string
}

// Error names the page and what is wrong with it.
func (d *Damage) Error() string { return fmt.Sprintf("page %d: %s", d.Page, d.What) }

// Options say how a file is opened, and what Check may find in it.
type Options struct {
	Levels int // how deep buckets lie in each other: 1 where a file has buckets of keys alone
	Bolt   bbolt.Options
}

// Open opens a file for bbolt, which waits for its lock as Bolt.Timeout says, and checks it first. Only a missing or empty file that is opened for
// writing is left to bbolt, which begins it. A *Damage in the error is a file that must not be used; an error of ctx says that the check was given
// up. The errors of bbolt stay what they are.
func Open(ctx context.Context, path string, mode os.FileMode, options Options) (*bbolt.DB, *os.File, error) {
	bolt := options.Bolt
	if !bolt.ReadOnly {
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			return open(path, mode, bolt)
		}
		bolt.ReadOnly, bolt.InitialMmapSize = true, 0
	}
	db, file, err := open(path, mode, bolt) // for reading bbolt follows nothing but the two heads
	if err != nil {
		return nil, nil, err
	}
	if err := checkFile(ctx, file, options.Levels); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	if options.Bolt.ReadOnly {
		return db, file, nil
	}
	if err := db.Close(); err != nil {
		return nil, nil, err
	}
	return open(path, mode, options.Bolt)
}

// open is bbolt's, with the file that it opened.
func open(path string, mode os.FileMode, options bbolt.Options) (db *bbolt.DB, file *os.File, err error) {
	options.OpenFile = func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
		file, err = os.OpenFile(name, flag, mode)
		return file, err
	}
	db, err = bbolt.Open(path, mode, &options)
	return db, file, err
}

func checkFile(ctx context.Context, file *os.File, levels int) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return Check(ctx, file, info.Size(), levels)
}
