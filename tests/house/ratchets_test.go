package house

import (
	"fmt"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// invented is source that a test makes up, by its path; each file is of the package p.
func invented(t *testing.T, files map[string]string) source {
	t.Helper()
	s := source{set: token.NewFileSet()}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := s.parse(path, []byte("package p\n"+files[path])); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestAKnotIsFoundHoweverItsTypesKnowOneAnother(t *testing.T) {
	for text, want := range map[string]string{
		"type A struct{ b *B }; type B struct{ a *A }":                                                     "[[A B]]",
		"type A struct{ b []B }; type B struct{ c map[string]C }; type C struct{ a chan A }":               "[[A B C]]",
		"type A struct{ b [2]B }; type B struct{ of func() map[A]int }":                                    "[[A B]]",
		"type A struct{ B }; type B interface{ Do(a A) }":                                                  "[[A B]]",
		"type A struct{ b *List[B] }; type List[T any] struct{ all []T }; type B struct{ a A }":            "[[A B]]",
		"type A struct{}; func (a *A) do(b B) {}; type B struct{ a *A }":                                   "[[A B]]",
		"type A struct{}; func (a *A) do() { _ = B{a} }; type B struct{ a *A }":                            "[[A B]]",
		"type A struct{}; func (a *A) do() { call(a) }; type B struct{ a *A }; func call(a *A, b ...B) {}": "[[A B]]",
		"type A struct{}; func (a *A) do() { v.do() }; type B struct{ a *A }; func (B) do() {}; var v B":   "[[A B]]",
		"type A struct{ b *B }; type B struct{ c *C }; type C struct{ b *B }":                              "[[B C]]",
		"type A struct{ b B }; type B struct{ c C }; type C struct{}":                                      "[]",
		"type A struct{ next *A }": "[]",
		"type A struct{}; func make(a A) B { return B{} }; type B struct{}; func (B) A() A { return A{} }": "[]",
	} {
		s := invented(t, map[string]string{"a/a.go": text})
		if got := fmt.Sprint(s.units()[0].knots()); got != want {
			t.Errorf("%s\nhas the knots %s, want %s", text, got, want)
		}
	}
}

// sizes are the figures of one type, in the order of the names.
func sizes(all figures, name string) (found []string) {
	for _, what := range []string{"exported methods", "fields", "files", "methods"} {
		if f, ok := all[name+": "+what]; ok {
			found = append(found, fmt.Sprint(f.size, " ", what))
		}
	}
	return found
}

func TestWhatATypeEmbedsIsCounted(t *testing.T) {
	s := invented(t, map[string]string{
		"b/b.go": "type Base struct{ one, two int; Deep }; func (Base) Open() {}; func (*Base) close() {}\n" +
			"type Deep struct{ three int; Named int `json:\"named\"` }; func (Deep) Dive() {}\n" +
			"type Face interface { Look(); blink() }",
		"a/a.go": "import (\"b\"; \"time\"; ours \"" + module + "b\")\n" +
			"type Plain struct{ x, y int }; func (Plain) A() {}; func (Plain) b() {}\n" +
			"type Whole struct { *ours.Base; ours.Face; Plain; b.Unknown; time.Time; x string }\n" +
			"func (Whole) Open() {}; func (w *Whole) own() {}\n" +
			"type Data struct{ A, B int }; func (Data) A1() {}; func (Data) A2() {}\n" +
			"type Silent struct { a, b, c int }; func (Silent) String() string { return \"\" }",
		"a/more.go":   "func (Whole) More() {}",
		"a/a_test.go": "type rig struct { Whole; *helper; c int }; func (rig) one() {}; func (rig) two() {}\ntype helper struct{ d int }",
	})
	all := s.figures()
	if got, want := all["a.Whole: fields"].has, "it embeds Base, Deep, Face, Plain"; got != want {
		t.Errorf("a.Whole: %s, want %s", got, want)
	}
	for name, want := range map[string]string{
		// x and Open hide what has the same name in Plain and in Base.
		"a.Whole":  "[5 exported methods 11 fields 2 files 9 methods]",
		"a.Plain":  "[1 exported methods 2 fields 1 files 2 methods]",
		"a.Data":   "[2 exported methods 1 files 2 methods]",
		"a.Silent": "[]",
		"a.rig":    "[4 fields 1 files 2 methods]",
		"b.Base":   "[2 exported methods 4 fields 1 files 3 methods]",
		"b.Face":   "[1 exported methods 0 files 2 methods]",
	} {
		if got := fmt.Sprint(sizes(all, name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestFilesImportsAndKnotsAreCounted(t *testing.T) {
	var imports strings.Builder
	for i := range 9 {
		fmt.Fprintf(&imports, "import _ \"%sp%d\"\n", module, i)
	}
	s := invented(t, map[string]string{
		"a/a.go":           imports.String() + strings.Repeat("\n", 300) + "type A struct{ b *B }; type B struct{ a *A }",
		"a/rows.go":        strings.Repeat("\n", 300) + "var rows = []int{1}",
		"a/a_test.go":      "type C struct{ a *A; d *D }; type D struct{ c *C; e E }; type E struct{ d []D }",
		"caddymodule/a.go": imports.String(),
	})
	all := s.figures()
	for name, want := range map[string]int{"a/a.go: lines": 311, "a: packages": 9, "a: knot": 2, "a, its tests: knot": 3} {
		if got := all[name].size; got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	for _, name := range []string{"a/rows.go: lines", "caddymodule: packages"} {
		if _, ok := all[name]; ok {
			t.Errorf("%s has a bound", name)
		}
	}
}

func TestATableIsOneVariableWithAList(t *testing.T) {
	for text, want := range map[string]bool{
		"import \"time\"\nvar rows = []int{1, 2}":    true,
		"var rows = map[string]int{}":                true,
		"var rows = []int{1}\nvar more = []int{2}":   false,
		"var (\nrows = []int{1}\nmore = []int{2}\n)": false,
		"var rows = []int{1}\nfunc f() {}":           false,
		"var rows = made()":                          false,
		"const rows = 1":                             false,
		"":                                           false,
	} {
		if isTable(invented(t, map[string]string{"x.go": text}).files[0].ast) != want {
			t.Errorf("%q: not %v", text, want)
		}
	}
}

func TestABoundHoldsAndAnExceptionOnlyShrinks(t *testing.T) {
	all := figures{"p.T: fields": {size: 15}, "p.U: fields": {size: 20, has: "a, b"}, "p: knot": {size: 3}}
	for _, c := range []struct {
		exceptions []row
		want       string
	}{
		{[]row{{"p.U: fields", 20}}, ""},
		{nil, "p.U: fields: 20, more than 15: split it (a, b)"},
		{[]row{{"p.U: fields", 19}}, "p.U: fields: 20, more than 19: split it (a, b)"},
		{[]row{{"p.U: fields", 21}}, `p.U: fields: 20 is better than its row: write {"p.U: fields", 20}`},
		{[]row{{"p.U: fields", 20}, {"p.T: fields", 16}}, "p.T: fields: 15 is within the bound of 15: remove its row"},
		{[]row{{"p.U: fields", 20}, {"p.V: fields", 16}}, "p.V: fields: nothing has this name any more: remove its row, or give it the new name"},
		{[]row{{"p.U: fields", 20}, {"p.U: fields", 20}}, "p.U: fields: has two rows"},
	} {
		if got := strings.Join(all.judge(c.exceptions), "\n"); got != c.want {
			t.Errorf("%v: %q, want %q", c.exceptions, got, c.want)
		}
	}
	if got, want := all.near(), []string{"p.T: fields: 15 of 15"}; !reflect.DeepEqual(got, want) {
		t.Errorf("near to their bounds: %q, want %q", got, want)
	}
	const text = "{\n\t{\"p.T: fields\", 16},\n\t{\"p.U: fields\", 31}, // why\n\t{\"p: knot\", 9},\n\t{\"p.V: fields\", 16},\n}\n"
	if got, want := all.shrunk(text), "{\n\t{\"p.U: fields\", 20}, // why\n\t{\"p.V: fields\", 16},\n}\n"; got != want {
		t.Errorf("shrunk to %s", got)
	}
	if got, want := all.shrunk("\t{\"p.U: fields\", 18},\n"), "\t{\"p.U: fields\", 18},\n"; got != want {
		t.Errorf("grown to %s", got)
	}
}

func TestAnArrowIsGivenOnceAndUsed(t *testing.T) {
	s := invented(t, map[string]string{
		"a/a.go":      "import (_ \"fmt\"; _ \"" + module + "b\"; _ \"github.com/jackc/pgx/v5/pgxpool\")",
		"a/a_test.go": "import _ \"" + module + "c\"",
	})
	both := []arrow{{"a", "b", "why"}, {"a", "pgx", "why"}}
	for _, c := range []struct {
		table []arrow
		want  string
	}{
		{both, ""},
		{both[:1], "a/a.go: a imports pgx, which the table does not allow"},
		{append(slices.Clone(both), arrow{"a", "c", "why"}), "the table allows a -> c, which nobody uses"},
		{append(slices.Clone(both), both[0]), "a -> b is given twice or without a reason"},
		{[]arrow{{"a", "b", ""}, both[1]}, "a -> b is given twice or without a reason"},
	} {
		if got := strings.Join(wrongArrows(s, c.table), "\n"); got != c.want {
			t.Errorf("%v: %q, want %q", c.table, got, c.want)
		}
	}
}
