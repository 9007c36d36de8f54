package candles

import "errors"

// ErrNoData is wrapped when nothing is stored for a market and interval, or there is no store.
var ErrNoData = errors.New("no candles stored")
