package version

import _ "embed"

// Licences are the licences of all modules that a binary of this program may be built from, on any
// system, with their texts. They must go with every copy of a binary.
//
//go:embed licences.txt
var Licences string
