// Package configs has the configs of this folder with all settings in the program. It never reads
// one: package bot/config does. Start at Files.
package configs

import "embed"

// Files are the configs that explain every setting: backtest.toml and live.toml.
//
//go:embed backtest.toml live.toml
var Files embed.FS
