package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// textSearches are the functions of strings and bytes that look for a text.
var textSearches = []string{"Contains", "Count", "HasPrefix", "HasSuffix", "Index", "LastIndex", "EqualFold", "Cut", "CutPrefix", "CutSuffix"}

// looksLikeJSON finds a member with its value, or the beginning of an object or of a list of texts.
var looksLikeJSON = regexp.MustCompile(`"[\w.$/-]+": ?(["\[{\d%-]|true|false|null|$)|[{\[]"`)

// A search in a text hides that the rest of it is broken.
func TestJSONIsParsedInTests(t *testing.T) {
	goFiles(t)
	for _, place := range searchesInJSON(repository) {
		t.Errorf("%s: parse it (internal/testkit/jsontest)", place)
	}
}

// searchesInJSON are the places in tests that search a text for a piece of JSON.
func searchesInJSON(s source) (found []string) {
	for _, file := range s.files {
		if !strings.HasSuffix(file.path, "_test.go") {
			continue
		}
		ast.Inspect(file.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains(textSearches, f.Sel.Name) {
				return true
			}
			if pkg, ok := f.X.(*ast.Ident); !ok || pkg.Name != "strings" && pkg.Name != "bytes" {
				return true
			}
			if text := sample(call.Args[1]); looksLikeJSON.MatchString(text) {
				found = append(found, fmt.Sprintf("%s:%d looks for %s in a text", file.path, s.set.Position(n.Pos()).Line, text))
			}
			return true
		})
	}
	return found
}

// sample is the text of an expression, with 1 for what is not known before it runs.
func sample(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ := strconv.Unquote(e.Value)
			return text
		}
	case *ast.BinaryExpr:
		return sample(e.X) + sample(e.Y)
	case *ast.ParenExpr:
		return sample(e.X)
	case *ast.CallExpr: // []byte("…"), fmt.Sprintf("…", x)
		if len(e.Args) > 0 {
			return sample(e.Args[0])
		}
	}
	return "1"
}

func TestASearchForJSONIsFound(t *testing.T) {
	for text, want := range map[string]bool{
		"strings.Contains(body, `\"a\":1`)":                  true,
		"strings.Contains(body, `\"a\":\"`+x+`\"`)":          true,
		"strings.Contains(body, `\"a\":`+x)":                 true,
		"bytes.Contains(body, []byte(`{\"a\": true}`))":      true,
		"strings.HasPrefix(body, \"data: {\\\"a\\\"\")":      true,
		"strings.Count(body, fmt.Sprintf(`\"a\":%d`, x))":    true,
		"strings.Cut(body, `\"a\":[`)":                       true,
		"strings.Contains(body, `\"a\"`)":                    false,
		"strings.Contains(body, `host \"gw\": want a name`)": false,
		"strings.Contains(body, `total{a=\"b\"} 1`)":         false,
		"strings.Replace(body, `\"a\":1`, x, 1)":             false,
		"ours.Contains(body, `\"a\":1`)":                     false,
	} {
		for path, searched := range map[string]bool{"a/a_test.go": want, "a/a.go": false} {
			found := searchesInJSON(invented(t, map[string]string{path: "var found = " + text}))
			if (len(found) > 0) != searched {
				t.Errorf("%s in %s: %q", text, path, found)
			}
		}
	}
}
