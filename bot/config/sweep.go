package config

// SweepSection holds the settings of `bot sweep`. The flags of the command go before them. No
// setting in it changes a single backtest.
type SweepSection struct {
	// Vary lists what is varied, as --vary takes it: "strategies.trend.params.fast=5:100:5".
	Vary      []string `toml:"vary"`
	Method    string   `toml:"method"`    // grid, random, sobol, halving or cma-es
	Sets      int64    `toml:"sets"`      // how many to try; 0: all of a grid, else 1000
	Seed      uint64   `toml:"seed"`      // of the methods but the grid, and of the statistics
	Objective string   `toml:"objective"` // a figure or a formula; more is better
	Require   []string `toml:"require"`   // conditions on the figures of the whole sample, as "trips >= 30"
	Workers   int64    `toml:"workers"`   // how many sets run side by side; 0: as many as cores
	Out       string   `toml:"out"`       // file of the sweep; none: out/sweep-NAME-… after the config file
}
