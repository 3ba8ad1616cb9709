package house

import (
	"go/ast"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestEachPackageHasOneFrontPage(t *testing.T) {
	pages := map[string][]string{}
	for _, file := range goFiles(t) {
		dir := filepath.Dir(file.path)
		if _, ok := pages[dir]; !ok {
			pages[dir] = nil
		}
		if file.ast.Doc != nil && !strings.HasSuffix(file.ast.Name.Name, "_test") {
			pages[dir] = append(pages[dir], file.path)
			text := file.ast.Doc.Text()
			if name := file.ast.Name.Name; name != "main" && !strings.HasPrefix(text, "Package "+name+" ") {
				t.Errorf("%s: the package comment does not begin with \"Package %s\"", file.path, name)
			}
		}
	}
	for dir, files := range pages {
		if len(files) != 1 {
			t.Errorf("%s has %d package comments, want one: %v", dir, len(files), files)
		}
	}
}

var (
	codeBlock  = regexp.MustCompile("(?ms)^```.*?^```$")
	pageLink   = regexp.MustCompile(`\]\(([^)]+)\)`)
	pageHeader = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInLinks = regexp.MustCompile(`[^\pL\pN_ -]`)
)

// A link names a file of the repository, and a heading of it as GitHub does.
func TestLinksOfTheDocumentationLeadSomewhere(t *testing.T) {
	text := func(path string) string {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return codeBlock.ReplaceAllString(string(page), "")
	}
	pages, _ := filepath.Glob("../../docs/*.md")
	deeper, _ := filepath.Glob("../../docs/*/*.md")
	fronts, _ := filepath.Glob("../../*.md")
	fronts = append(fronts, "../README.md")
	links := 0
	for _, path := range slices.Concat(pages, deeper, fronts) {
		for _, match := range pageLink.FindAllStringSubmatch(text(path), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			links++
			file, heading, _ := strings.Cut(match[1], "#")
			there := path
			if file != "" {
				there = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(there); err != nil {
				t.Errorf("%s links to %s: %v", path, match[1], err)
				continue
			}
			if heading != "" && !slices.ContainsFunc(pageHeader.FindAllStringSubmatch(text(there), -1), func(h []string) bool {
				return strings.ReplaceAll(notInLinks.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-") == heading
			}) {
				t.Errorf("%s links to %s: there is no such heading", path, match[1])
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links were looked at", links)
	}
}

// configured are the folders of options.
var configured = []string{
	"caddymodule/agents", "caddymodule/cluster", "caddymodule/core", "caddymodule/identity", "caddymodule/mcp", "caddymodule/recordings",
	"caddymodule/runtimekeys", "caddymodule/sockets", "handlers",
}

// notOptions are structs of these packages that no configuration has.
var notOptions = []string{"Build", "Duration", "Operation", "Operator", "Request", "Route", "Transports", "Turn"}

// The configuration's structs are its reference manual.
func TestConfigurationFieldsAreDocumented(t *testing.T) {
	fields := 0
	for _, file := range goFiles(t) {
		if dir := filepath.Dir(file.path); !slices.Contains(configured, dir) || strings.HasSuffix(file.path, "_test.go") {
			continue
		}
		ast.Inspect(file.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			body, ok := spec.Type.(*ast.StructType)
			if !ok || slices.Contains(notOptions, spec.Name.Name) {
				return false
			}
			for _, field := range body.Fields.List {
				if len(field.Names) == 0 || !field.Names[0].IsExported() {
					continue
				}
				fields++
				tag := ""
				if field.Tag != nil {
					unquoted, _ := strconv.Unquote(field.Tag.Value)
					tag = reflect.StructTag(unquoted).Get("json")
				}
				where := spec.Name.Name + "." + field.Names[0].Name
				if name, _, _ := strings.Cut(tag, ","); name == "" {
					t.Errorf("%s: %s has no JSON name", file.path, where)
				}
				if field.Doc == nil || !strings.HasPrefix(field.Doc.Text(), field.Names[0].Name+" ") && !strings.HasPrefix(field.Doc.Text(), "Timeouts of ") {
					t.Errorf("%s: the comment of %s does not begin with its name", file.path, where)
				}
			}
			return false
		})
	}
	if fields < 30 {
		t.Errorf("only %d fields were looked at", fields)
	}
}
