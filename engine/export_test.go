package engine

// CheckBrackets is bracket.Set.Check of the engine's brackets.
func (e *Engine) CheckBrackets() error { return e.brackets.Check() }
