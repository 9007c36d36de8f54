package tidy

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// longest is the number of lines a function may have, its own first and last included.
const longest = 60

// functions calls visit for every function and method of the shipped files.
func functions(t *testing.T, visit func(s *source, f *ast.FuncDecl)) {
	for _, s := range shipped(t) {
		for _, declaration := range s.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok {
				visit(s, f)
			}
		}
	}
}

func TestFunctionsFitOnAScreen(t *testing.T) {
	functions(t, func(s *source, f *ast.FuncDecl) {
		if lines := linesIn(s, f); lines > longest {
			t.Errorf("%s: %s has %d lines, more than %d; give its parts names", s.at(f), f.Name, lines, longest)
		}
	})
}

// linesIn is the number of lines of a function.
func linesIn(s *source, f *ast.FuncDecl) int {
	return s.set.Position(f.End()).Line - s.set.Position(f.Pos()).Line + 1
}

// The most methods and fields of a type. Fields of a document, which has a key for each, are not
// counted.
const (
	mostMethods = 120
	mostFields  = 25
)

func TestATypeIsNoHouse(t *testing.T) {
	methods := map[string]int{}
	functions(t, func(s *source, f *ast.FuncDecl) {
		if f.Recv != nil {
			of := path.Dir(s.path) + "." + strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*")
			if methods[of]++; methods[of] == mostMethods+1 {
				t.Errorf("%s: %s has more than %d methods; carve a part that has state of its own", s.at(f), of,
					mostMethods)
			}
		}
	})
	for _, s := range shipped(t) {
		ast.Inspect(s.File, func(n ast.Node) bool {
			spec, is := n.(*ast.TypeSpec)
			if !is {
				return true
			}
			fields := 0
			if structure, is := spec.Type.(*ast.StructType); is {
				for _, f := range structure.Fields.List {
					if f.Tag == nil {
						fields += max(1, len(f.Names))
					}
				}
			}
			if fields > mostFields {
				t.Errorf("%s: %s has %d fields, more than %d; carve a part that has state of its own", s.at(spec),
					spec.Name, fields, mostFields)
			}
			return true
		})
	}
}

func TestNothingRunsBeforeMain(t *testing.T) {
	functions(t, func(s *source, f *ast.FuncDecl) {
		if f.Name.Name == "init" && f.Recv == nil {
			t.Errorf("%s: init() runs unasked; call it from the place that needs it", s.at(f))
		}
	})
}

func TestPackageVariablesAreSentinelsOrTables(t *testing.T) {
	for _, s := range shipped(t) {
		for _, declaration := range s.Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok || group.Tok != token.VAR {
				continue
			}
			for _, spec := range group.Specs {
				checkVariable(t, s, group, spec.(*ast.ValueSpec))
			}
		}
	}
}

func checkVariable(t *testing.T, s *source, group *ast.GenDecl, spec *ast.ValueSpec) {
	if embedded(group.Doc) || embedded(spec.Doc) || spec.Names[0].Name == "_" {
		return // a file of the repository; a check that a type has its methods
	}
	for i, name := range spec.Names {
		if i >= len(spec.Values) || !constant(spec.Values[i]) {
			t.Errorf("%s: package variable %s is neither a sentinel error nor a literal table; make it a field of the "+
				"struct that uses it", s.at(name), name)
		}
	}
}

func embedded(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	for _, line := range doc.List {
		if strings.HasPrefix(line.Text, "//go:embed ") {
			return true
		}
	}
	return false
}

// makers are the calls whose result never changes: a sentinel, a strategy's entry in the list of
// strategies, a table.
var makers = []string{"errors.New", "strategy.Define", "strategy.DefineWritten", "crc32.MakeTable"}

// constant reports whether an initial value is made by one of makers, a literal, or a literal
// converted to a slice.
func constant(value ast.Expr) bool {
	switch v := value.(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		switch called := v.Fun.(type) {
		case *ast.SelectorExpr:
			return slices.Contains(makers, selector(called))
		case *ast.ArrayType:
			_, literal := v.Args[0].(*ast.BasicLit) // a conversion has one operand
			return literal
		}
	}
	return false
}

func TestEveryExportHasItsContract(t *testing.T) {
	functions(t, func(s *source, f *ast.FuncDecl) {
		if f.Name.IsExported() && exportedReceiver(f) && f.Doc.Text() == "" {
			t.Errorf("%s: %s has no doc comment; say shape, units, ownership and errors", s.at(f), f.Name)
		}
	})
	for _, s := range shipped(t) {
		for _, declaration := range s.Decls {
			if group, ok := declaration.(*ast.GenDecl); ok {
				checkGroup(t, s, group)
			}
		}
	}
}

// A comment that begins with another name is left from before a rename. Tests are examples of what
// they test, so their comments may begin with anything.
func TestACommentBeginsWithTheNameOfItsFunctionOrType(t *testing.T) {
	check := func(s *source, node ast.Node, name string, doc *ast.CommentGroup) {
		first, _, _ := strings.Cut(doc.Text(), " ")
		first = strings.TrimSuffix(first, ",")
		if first != name && first != "" && !slices.Contains([]string{"A", "An", "The"}, first) {
			t.Errorf("%s: the comment of %s begins with %s", s.at(node), name, first)
		}
	}
	functions(t, func(s *source, f *ast.FuncDecl) {
		if !s.test {
			check(s, f, f.Name.Name, f.Doc)
		}
	})
	for _, s := range shipped(t) {
		for _, declaration := range s.Decls {
			if group, ok := declaration.(*ast.GenDecl); ok && group.Tok == token.TYPE && !group.Lparen.IsValid() {
				check(s, group, group.Specs[0].(*ast.TypeSpec).Name.Name, group.Doc)
			}
		}
	}
}

// exportedReceiver reports whether f is a function, or a method of an exported type.
func exportedReceiver(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	receiver := f.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
		case *ast.IndexExpr:
			receiver = r.X
		case *ast.IndexListExpr:
			receiver = r.X
		case *ast.Ident:
			return r.IsExported()
		default:
			return true
		}
	}
}

// checkGroup requires a doc comment of each exported type, and of each exported constant and
// variable or its group.
func checkGroup(t *testing.T, s *source, group *ast.GenDecl) {
	for _, spec := range group.Specs {
		switch one := spec.(type) {
		case *ast.TypeSpec:
			if one.Name.IsExported() && one.Doc.Text() == "" && group.Doc.Text() == "" {
				t.Errorf("%s: type %s has no doc comment; say what it is and what its zero value means", s.at(one),
					one.Name)
			}
		case *ast.ValueSpec:
			documented := one.Doc.Text()+one.Comment.Text()+group.Doc.Text() != ""
			if one.Names[0].IsExported() && !documented {
				t.Errorf("%s: %s has no doc comment, nor has its group", s.at(one), one.Names[0])
			}
		}
	}
}

func TestEveryPackageIntroducesItself(t *testing.T) {
	comments, first := map[string]int{}, map[string]*source{}
	for _, s := range shipped(t) {
		if first[s.dir] == nil {
			first[s.dir] = s
		}
		if s.Doc == nil {
			continue
		}
		comments[s.dir]++
		start := "Package " + s.Name.Name + " "
		if s.Name.Name == "main" {
			start = "Command " + s.dir[strings.LastIndex(s.dir, "/")+1:] + " "
		}
		if !strings.HasPrefix(s.Doc.Text(), start) {
			t.Errorf("%s: the package comment must begin with %q", s.at(s.Doc), start)
		}
	}
	for dir, s := range first {
		if comments[dir] != 1 {
			t.Errorf("%s: package %s has %d package comments, want one: what it owns and never does, where to start",
				s.at(s.Name), dir, comments[dir])
		}
	}
}

func TestSkippedTestsSayWhy(t *testing.T) {
	for _, s := range sources(t) {
		ast.Inspect(s.File, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			called, ok := call.Fun.(*ast.SelectorExpr)
			if ok && s.test && (called.Sel.Name == "SkipNow" || strings.HasPrefix(called.Sel.Name, "Skip") &&
				silent(call.Args)) {
				t.Errorf("%s: a test is skipped without a reason; give %s one", s.at(call), called.Sel.Name)
			}
			return true
		})
	}
}

// silent reports whether the arguments of a Skip say nothing.
func silent(args []ast.Expr) bool {
	if len(args) == 0 {
		return true
	}
	text, ok := args[0].(*ast.BasicLit)
	return ok && len(args) == 1 && strings.Trim(text.Value, "\"` ") == ""
}

// A child that hangs, or a grandchild that holds a pipe open, would otherwise keep a test waiting
// until go test ends.
func TestEveryChildOfATestHasAWaitDelay(t *testing.T) {
	for _, s := range sources(t) {
		for _, declaration := range s.Decls {
			var started ast.Node
			bounded := false
			ast.Inspect(declaration, func(node ast.Node) bool {
				if n, ok := node.(*ast.SelectorExpr); ok {
					if name := selector(n); name == "exec.Command" || name == "exec.CommandContext" {
						started = n
					}
					bounded = bounded || n.Sel.Name == "WaitDelay"
				}
				return true
			})
			if s.test && started != nil && !bounded {
				t.Errorf("%s: a child is made without a WaitDelay; set one where it is made, or use Child or Short of "+
					"package bottest", s.at(started))
			}
		}
	}
}

func TestTestsAreNamedAsSentences(t *testing.T) {
	for _, s := range sources(t) {
		for _, declaration := range s.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || !s.test || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") || f.Name.Name == "TestMain" {
				continue
			}
			if words(f.Name.Name) < 4 || strings.Contains(f.Name.Name, "_") {
				t.Errorf("%s: %s is no sentence; say what holds, as in TestStopGapsFillAtOpen", s.at(f), f.Name)
			}
		}
	}
}

// words counts the capitals that begin a word, that of Test included.
func words(name string) int {
	count, before := 0, 'a'
	for _, r := range name {
		if unicode.IsUpper(r) && !unicode.IsUpper(before) || unicode.IsDigit(r) && !unicode.IsDigit(before) {
			count++
		}
		before = r
	}
	return count
}
