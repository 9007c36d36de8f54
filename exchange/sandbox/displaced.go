package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Path returns where the exchange keeps its state, empty where it keeps none.
func (ex *Exchange) Path() string { return ex.config.State }

// Displaced reports whether the state file was deleted or replaced; nil: it was not. Writes then
// still go to the open file, which is lost with the process; Backup saves it. Any goroutine may
// call it.
func (ex *Exchange) Displaced() error {
	if ex.store == nil {
		return nil
	}
	switch now, err := os.Stat(ex.store.path); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s, the state of the exchange, was deleted or renamed", ex.store.path)
	case err == nil && !ex.store.file.Is(now):
		return fmt.Errorf("another file stands at %s, the state of the exchange", ex.store.path)
	}
	return nil
}

// Backup writes a copy of the exchange's state file as of the last write: whole or not at all, and
// synced. A file of that name is replaced. It fails where the exchange is closed or keeps no state.
func (ex *Exchange) Backup(path string) error {
	if ex.store == nil {
		return errors.New("the exchange keeps no state")
	}
	return ex.store.file.Backup(path)
}

// Unfinished returns the number of open orders, and of deposits and withdrawals under way. An
// exchange without a State loses them when its process ends.
func (ex *Exchange) Unfinished() (orders, transfers int) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	for _, a := range ex.accounts {
		for _, r := range a.orders {
			if r != nil {
				orders += r.open.length
			}
		}
	}
	return orders, len(ex.bank.inFlight)
}
