package engine

// CheckBrackets is bracket.Set.Check of the engine's brackets.
func (e *Engine) CheckBrackets() error { return e.brackets.Check() }

// CheckTacticLevels is tactic.Set.CheckLevels of the engine's tactics.
func (e *Engine) CheckTacticLevels() (waiting int, err error) { return e.tactics.CheckLevels() }
