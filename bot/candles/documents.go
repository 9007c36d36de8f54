package candles

import "reflect"

// Documents are the types of what the commands print with --json, by their words.
func Documents() map[string]reflect.Type {
	return map[string]reflect.Type{
		"candles fetch": reflect.TypeFor[fetchReport](), "candles fetch +markets": reflect.TypeFor[marketsReport](),
		"candles import": reflect.TypeFor[importInfo](), "candles list": reflect.TypeFor[[]seriesInfo](),
		"candles verify": reflect.TypeFor[verifyInfo](),
	}
}
