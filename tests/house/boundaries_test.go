package house

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// feature is a row of the table of features.
type feature struct {
	name, what string
	entry      string   // the package by which it registers itself, "" if it has none yet
	folders    []string // with what is below them, unless another feature has that
	uses       []string // features that it may import
	lines      int      // of product code, at most
}

// closure is a bound of what a package reaches.
type closure struct {
	from            string
	packages, lines int // at most
	what            string
}

// plugs is the package that brings all features with it: it may import their entries.
const plugs = "caddymodule"

// lineSlack returns how far a bound of lines may be above what there is. It leaves room for small
// changes, and none for what a cut has won.
func lineSlack(most int) int { return max(500, most/50) }

// featureOf returns the name of the feature that a package belongs to, "" for the core.
func featureOf(table []feature, pkg string) (name string) {
	longest := 0
	for _, f := range table {
		for _, folder := range f.folders {
			if len(folder) > longest && strings.HasPrefix(pkg+"/", folder+"/") {
				name, longest = f.name, len(folder)
			}
		}
	}
	return name
}

// wrongImports compares the imports of the product with a table of features and with what is
// excepted.
func wrongImports(imports map[string]map[string]bool, table []feature, excepted [][2]string) (failures []string) {
	fail := func(format string, values ...any) {
		failures = append(failures, fmt.Sprintf(format, values...))
	}
	byName := map[string]feature{}
	for _, f := range table {
		byName[f.name] = f
	}
	used := map[[2]string]bool{}
	for _, from := range slices.Sorted(maps.Keys(imports)) {
		for _, to := range slices.Sorted(maps.Keys(imports[from])) {
			importer, imported := featureOf(table, from), featureOf(table, to)
			crossing := [2]string{from, to}
			switch {
			case imported == "" || imported == importer || slices.Contains(byName[importer].uses, imported):
			case from == plugs && to == byName[imported].entry:
			case slices.Contains(excepted, crossing):
				used[crossing] = true
			default:
				fail("%s (%s) imports %s of the feature %q: it must not", from, orCore(importer), to, imported)
			}
		}
	}
	for _, crossing := range excepted {
		if !used[crossing] {
			fail("%s -> %s is no crossing any more: remove its row", crossing[0], crossing[1])
		}
	}
	return failures
}

func orCore(name string) string {
	if name == "" {
		return "core"
	}
	return name
}

// wrongLines compares lines with a bound that has no more than its slack to spare.
func wrongLines(name string, lines, most int) (failures []string) {
	switch slack := lineSlack(most); {
	case lines > most:
		return []string{fmt.Sprintf("%s: %d lines, more than %d", name, lines, most)}
	case lines < most-slack:
		return []string{fmt.Sprintf("%s: %d lines are better than the bound of %d: lower it to %d", name, lines, most, (lines+slack/2)/100*100)}
	}
	return nil
}

// wrong compares what a package reaches with its bounds.
func (c closure) wrong(imports map[string]map[string]bool, lines map[string]int) (failures []string) {
	reached := map[string]bool{c.from: true}
	reach(imports, c.from, reached)
	total := 0
	for pkg := range reached {
		total += lines[pkg]
	}
	switch n := len(reached); {
	case n > c.packages:
		failures = append(failures, fmt.Sprintf("the closure of %s: %d packages, more than %d: %s",
			c.from, n, c.packages, strings.Join(slices.Sorted(maps.Keys(reached)), ", ")))
	case n < c.packages:
		failures = append(failures, fmt.Sprintf("the closure of %s: %d packages are better than %d: lower the bound to %d", c.from, n, c.packages, n))
	}
	return append(failures, wrongLines("the closure of "+c.from, total, c.lines)...)
}

// productImports are the imports between the packages of the product.
func productImports(s source) map[string]map[string]bool {
	found := s.imports()
	maps.DeleteFunc(found, func(pkg string, _ map[string]bool) bool { return !isProduct(pkg) })
	return found
}

func isProduct(pkg string) bool {
	return !strings.HasPrefix(pkg, "tests/") && !strings.HasPrefix(pkg+"/", testkit)
}

// productLines are the lines of each package of the product.
func productLines(files []goFile) map[string]int {
	lines := map[string]int{}
	for _, file := range files {
		if !file.isTest() && isProduct(file.folder()) {
			lines[file.folder()] += file.lines
		}
	}
	return lines
}

func TestTheCoreImportsNoFeature(t *testing.T) {
	goFiles(t)
	for _, failure := range wrongImports(productImports(repository), features, crossings) {
		t.Error(failure)
	}
}

func TestTheTableOfFeaturesIsWhole(t *testing.T) {
	lines := productLines(goFiles(t))
	names := map[string]bool{}
	for _, f := range features {
		if names[f.name] || f.what == "" || len(f.folders) == 0 {
			t.Errorf("the feature %q is given twice, or without a description or a folder", f.name)
		}
		names[f.name] = true
	}
	for _, f := range features {
		for _, other := range f.uses {
			if !names[other] {
				t.Errorf("%q uses %q, which is no feature", f.name, other)
			}
		}
		for _, folder := range append(slices.Clone(f.folders), f.entry) {
			if folder != "" && (lines[folder] == 0 || featureOf(features, folder) != f.name) {
				t.Errorf("%q names %s, which is no package of it", f.name, folder)
			}
		}
	}
}

func TestFeaturesAndTheCoreKeepToTheirLines(t *testing.T) {
	all, sizes := 0, map[string]int{}
	for pkg, lines := range productLines(goFiles(t)) {
		sizes[featureOf(features, pkg)] += lines
		all += lines
	}
	bounds := map[string]int{"": coreLines}
	for _, f := range features {
		bounds[f.name] = f.lines
	}
	for _, name := range slices.Sorted(maps.Keys(bounds)) {
		for _, failure := range wrongLines(orCore(name), sizes[name], bounds[name]) {
			t.Error(failure)
		}
	}
	for _, failure := range wrongLines("the product", all, allLines) {
		t.Error(failure)
	}
}

func TestPackagesReachNoMoreThanTheirClosures(t *testing.T) {
	lines := productLines(goFiles(t))
	imports := productImports(repository)
	for _, c := range closures {
		if lines[c.from] == 0 {
			t.Errorf("there is no package %s", c.from)
		}
		for _, failure := range c.wrong(imports, lines) {
			t.Error(failure)
		}
	}
}

func TestAnImportOfAFeatureIsFound(t *testing.T) {
	table := []feature{
		{name: "one", folders: []string{"a", "b/one"}, entry: "a"},
		{name: "two", folders: []string{"b"}, uses: []string{"one"}},
	}
	for _, c := range []struct {
		from, to string
		excepted [][2]string
		want     string
	}{
		{"a", "core", nil, ""},
		{"a", "a/below", nil, ""},
		{"b", "b/one", nil, ""},
		{plugs, "a", nil, ""},
		{"core", "above", nil, ""},
		{"core", "a/below", [][2]string{{"core", "a/below"}}, ""},
		{"core", "a", nil, `core (core) imports a of the feature "one": it must not`},
		{plugs, "a/below", nil, plugs + ` (core) imports a/below of the feature "one": it must not`},
		{"b/one", "b/two", nil, `b/one (one) imports b/two of the feature "two": it must not`},
		{"b", "a", [][2]string{{"b", "a"}}, "b -> a is no crossing any more: remove its row"},
	} {
		imports := map[string]map[string]bool{c.from: {c.to: true}}
		if got := strings.Join(wrongImports(imports, table, c.excepted), "\n"); got != c.want {
			t.Errorf("%s -> %s: %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

func TestAClosureIsBoundedBothWays(t *testing.T) {
	imports := map[string]map[string]bool{"a": {"b": true}, "b": {"c": true, "a": true}, "d": {"a": true}}
	lines := map[string]int{"a": 1000, "b": 600, "c": 10, "d": 9000}
	for _, c := range []struct {
		closure
		want string
	}{
		{closure{from: "a", packages: 3, lines: 1610}, ""},
		{closure{from: "a", packages: 3, lines: 2110}, ""},
		{closure{from: "a", packages: 2, lines: 1609},
			"the closure of a: 3 packages, more than 2: a, b, c\nthe closure of a: 1610 lines, more than 1609"},
		{closure{from: "a", packages: 4, lines: 2200}, "the closure of a: 3 packages are better than 4: lower the bound to 3\n" +
			"the closure of a: 1610 lines are better than the bound of 2200: lower it to 1800"},
	} {
		if got := strings.Join(c.wrong(imports, lines), "\n"); got != c.want {
			t.Errorf("%+v: %q, want %q", c.closure, got, c.want)
		}
	}
}
