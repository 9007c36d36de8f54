package sandbox

// Unfinished returns how many orders are open, and how many deposits and withdrawals are on their way: what an exchange without a
// State loses when its process ends.
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
	return orders, len(ex.inFlight)
}
