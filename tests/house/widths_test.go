package house

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// A reader's window has this many columns. A tab has four.
const (
	commentColumns = 100
	codeColumns    = 160
	tabColumns     = 4
)

// wideLines counts the lines of a file that are wider than that.
type wideLines struct{ comments, code int }

// findWide looks at each line of a file. A line that begins as a comment is one; directives of the
// compiler cannot be broken.
func findWide(text []byte) (wide wideLines) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		columns := utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t")
		begin := strings.TrimLeft(line, "\t ")
		switch comment := strings.HasPrefix(begin, "//"); {
		case comment && columns > commentColumns && !strings.HasPrefix(begin, "//go:"):
			wide.comments++
		case !comment && columns > codeColumns:
			wide.code++
		}
	}
	return wide
}

// addWidths adds what each folder has of wide lines. In a test, a long line of code is mostly the
// row of a table: only its comments count.
func addWidths(files []goFile, all figures) {
	found := map[string]map[string]int{} // by the name of the figure and the file
	count := func(name, path string, n int) {
		if found[name] == nil {
			found[name] = map[string]int{}
		}
		if n > 0 {
			found[name][path[strings.LastIndex(path, "/")+1:]] = n
		}
	}
	for _, file := range files {
		count(file.folder()+": wide comments", file.path, file.wide.comments)
		if !file.isTest() {
			count(file.folder()+": wide code", file.path, file.wide.code)
		}
	}
	for name, wide := range found {
		f := figure{test: isTest(name)}
		var where []string
		for _, file := range slices.Sorted(maps.Keys(wide)) {
			f.size += wide[file]
			where = append(where, fmt.Sprint(file, " ", wide[file]))
		}
		f.has = strings.Join(where, ", ")
		all[name] = f
	}
}

// isWidth reports whether the figure of a name counts wide lines.
func isWidth(name string) bool {
	return strings.HasSuffix(name, ": wide comments") || strings.HasSuffix(name, ": wide code")
}

func TestWideLinesAreCountedByFolder(t *testing.T) {
	s := invented(t, map[string]string{
		"a/a.go":      "// " + strings.Repeat("é", commentColumns-3) + "\n// " + strings.Repeat("x", commentColumns-2),
		"a/b.go":      "//go:" + strings.Repeat("x", commentColumns) + "\nfunc f() {\n\t\t// " + strings.Repeat("x", commentColumns-10) + "\n}",
		"a/c.go":      "var x = 1 // " + strings.Repeat("x", codeColumns-13) + "\nvar y = 2 // " + strings.Repeat("x", codeColumns-12),
		"a/a_test.go": "// " + strings.Repeat("x", commentColumns) + "\nvar z = `" + strings.Repeat("x", codeColumns) + "`",
		"b/b.go":      "// short",
	})
	all := s.figures()
	for name, want := range map[string]figure{
		"a: wide comments": {size: 3, has: "a.go 1, a_test.go 1, b.go 1"},
		"a: wide code":     {size: 1, has: "c.go 1"},
		"b: wide comments": {},
		"b: wide code":     {},
	} {
		if got, ok := all[name]; got != want || !ok {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	got := strings.Join(all.judge([]row{{"a: wide comments", 2}, {"a: wide code", 2}}), "\n")
	want := "a: wide code: 1 is better than its row: write {\"a: wide code\", 1}\n" +
		"a: wide comments: 3, more than 2: break the lines that are new (a.go 1, a_test.go 1, b.go 1)"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
