package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// mutant is one change of a source file: text instead of the bytes from start to end.
type mutant struct {
	file       string // absolute
	line       int
	start, end int
	text       string
	kind       string
	before     string // an excerpt of the source
	after      string // the same, changed
}

// apply returns the changed source.
func (m mutant) apply(src []byte) []byte {
	return slices.Concat(src[:m.start], []byte(m.text), src[m.end:])
}

// site is a place in the source with all the mutants of it.
type site []mutant

// The operators that replace each other. An operator between two strings has a mutant that does not
// compile.
var swaps = map[token.Token][]token.Token{
	token.LSS:  {token.LEQ, token.GEQ},
	token.LEQ:  {token.LSS, token.GTR},
	token.GTR:  {token.GEQ, token.LEQ},
	token.GEQ:  {token.GTR, token.LSS},
	token.EQL:  {token.NEQ},
	token.NEQ:  {token.EQL},
	token.LAND: {token.LOR},
	token.LOR:  {token.LAND},
	token.ADD:  {token.SUB},
	token.SUB:  {token.ADD},

	token.INC:        {token.DEC},
	token.DEC:        {token.INC},
	token.ADD_ASSIGN: {token.SUB_ASSIGN},
	token.SUB_ASSIGN: {token.ADD_ASSIGN},
}

var otherBoolean = map[string]string{"true": "false", "false": "true"}

// finder collects the sites of one file.
type finder struct {
	path  string
	src   []byte
	file  *token.File
	sites []site
}

// findSites returns the sites of a Go file in the order of the source. A generated file has none.
func findSites(path string, src []byte) ([]site, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(parsed) {
		return nil, nil
	}
	f := &finder{path: path, src: src, file: set.File(parsed.Pos())}
	ast.PreorderStack(parsed, nil, func(n ast.Node, above []ast.Node) bool {
		f.visit(n, above)
		return true
	})
	return f.sites, nil
}

func (f *finder) visit(n ast.Node, above []ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.swap(n.OpPos, n.Op)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			f.replace("condition", n.OpPos, n.X.Pos(), "")
		}
	case *ast.IfStmt:
		f.negate(n.Cond)
	case *ast.ForStmt:
		f.negate(n.Cond)
	case *ast.BasicLit:
		if !besideError(n, above) {
			f.integer(n)
		}
	case *ast.Ident:
		if other := otherBoolean[n.Name]; other != "" && !besideError(n, above) {
			f.replace("boolean", n.Pos(), n.End(), other)
		}
	case *ast.ReturnStmt:
		if err := returnedError(n, above); err != nil {
			f.replace("error", err.Pos(), err.End(), "nil")
		}
	case *ast.IncDecStmt:
		f.swap(n.TokPos, n.Tok)
	case *ast.AssignStmt:
		f.swap(n.TokPos, n.Tok)
	}
	if s, ok := n.(ast.Stmt); ok && removable(s) && inList(s, above) {
		f.replace("statement", s.Pos(), s.End(), "")
	}
}

func (f *finder) swap(at token.Pos, op token.Token) {
	var texts []string
	for _, other := range swaps[op] {
		texts = append(texts, other.String())
	}
	f.replace("operator", at, at+token.Pos(len(op.String())), texts...)
}

// negate leaves out what has a site of its own with the same effect: a comparison and a negation.
func (f *finder) negate(cond ast.Expr) {
	switch c := cond.(type) {
	case nil:
		return
	case *ast.UnaryExpr:
		if c.Op == token.NOT {
			return
		}
	case *ast.BinaryExpr:
		if c.Op != token.LAND && c.Op != token.LOR {
			return
		}
	}
	f.replace("condition", cond.Pos(), cond.End(), "!("+f.text(cond)+")")
}

func (f *finder) integer(lit *ast.BasicLit) {
	if lit.Kind != token.INT {
		return
	}
	n, err := strconv.ParseInt(lit.Value, 0, 64)
	if err != nil {
		return
	}
	below := strconv.FormatInt(n-1, 10)
	if n == 0 {
		below = "(-1)" // x-0 would become x--1
	}
	f.replace("integer", lit.Pos(), lit.End(), strconv.FormatInt(n+1, 10), below)
}

// returnedError returns the last result of a return statement if it is an error and not nil.
func returnedError(s *ast.ReturnStmt, above []ast.Node) ast.Expr {
	var results *ast.FieldList
	for _, n := range slices.Backward(above) {
		if fn, ok := n.(*ast.FuncDecl); ok {
			results = fn.Type.Results
			break
		}
		if fn, ok := n.(*ast.FuncLit); ok {
			results = fn.Type.Results
			break
		}
	}
	if len(s.Results) == 0 || len(s.Results) != results.NumFields() {
		return nil
	}
	last := s.Results[len(s.Results)-1]
	if named(results.List[len(results.List)-1].Type, "error") && !named(last, "nil") {
		return last
	}
	return nil
}

func named(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}

// besideError reports whether a value is returned together with an error: callers do not read it.
func besideError(value ast.Expr, above []ast.Node) bool {
	s, ok := above[len(above)-1].(*ast.ReturnStmt)
	return ok && value != s.Results[len(s.Results)-1] && returnedError(s, above) != nil
}

// removable reports whether a program may compile and differ without the statement.
func removable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt, *ast.IncDecStmt, *ast.BranchStmt:
		return true
	case *ast.ReturnStmt:
		return len(s.Results) == 0
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	}
	return false
}

// inList reports whether the statement is one of a block, not a part of another statement's head.
func inList(s ast.Stmt, above []ast.Node) bool {
	switch parent := above[len(above)-1].(type) {
	case *ast.BlockStmt:
		return true
	case *ast.CaseClause:
		return true
	case *ast.CommClause:
		return parent.Comm != s
	}
	return false
}

// replace adds a site with a mutant for each text.
func (f *finder) replace(kind string, from, to token.Pos, texts ...string) {
	var s site
	for _, text := range texts {
		m := mutant{
			file: f.path, line: f.file.Line(from), start: f.file.Offset(from), end: f.file.Offset(to), text: text, kind: kind,
		}
		m.before, m.after = excerpts(f.src, m)
		s = append(s, m)
	}
	if s != nil {
		f.sites = append(f.sites, s)
	}
}

func (f *finder) text(n ast.Node) string {
	return string(f.src[f.file.Offset(n.Pos()):f.file.Offset(n.End())])
}

// around is how many bytes an excerpt has on each side of a change, and of the change itself.
const around = 50

// excerpts returns the line of the change before and after it, cut where it is long.
func excerpts(src []byte, m mutant) (before, after string) {
	head := src[bytes.LastIndexByte(src[:m.start], '\n')+1 : m.start]
	tail := src[m.end:]
	if i := bytes.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[:i]
	}
	left, right := squeeze(head), squeeze(tail)
	if len(left) > around {
		left = "…" + left[len(left)-around:]
	}
	if len(right) > around {
		right = right[:around] + "…"
	}
	wrap := func(changed string) string {
		if changed = squeeze([]byte(changed)); len(changed) > 2*around {
			changed = changed[:2*around] + "…"
		}
		return strings.ToValidUTF8(strings.TrimSpace(left+changed+right), "")
	}
	before, after = wrap(string(src[m.start:m.end])), wrap(m.text)
	if m.kind == "statement" {
		after = fmt.Sprintf("(%s removed)", m.kind)
	}
	return before, after
}

// squeeze makes one space of each stretch of white space.
func squeeze(text []byte) string {
	var b strings.Builder
	space := false
	for _, r := range string(text) {
		switch r {
		case ' ', '\t', '\n', '\r':
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(r)
	}
	if space {
		b.WriteByte(' ')
	}
	return b.String()
}
