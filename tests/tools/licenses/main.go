// Command licenses lists the modules that are linked into a program, with their licences, from the
// module cache that the program was built from, and what the program has in it of other projects.
//
//	licenses [-texts | -sbom VERSION] PROGRAM [VENDOR.JSON…]
//
// It prints a page in Markdown. With -texts it prints all licence texts instead, as who hands the
// program on must add them. With -sbom it prints a bill of materials in CycloneDX's JSON, in which
// the program is Gatehouse of that version. A module without a licence file that it knows is an
// error.
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"unicode"
)

func main() {
	texts := flag.Bool("texts", false, "print the texts of the licences")
	version := flag.String("sbom", "", "print a bill of materials; the version of the program, such as v1.2.3")
	flag.Parse()
	if flag.NArg() < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Arg(0), flag.Args()[1:], *texts, *version); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, program string, vendor []string, texts bool, version string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return fmt.Errorf("finding the module cache: %w", err)
	}
	modules, err := licensed(strings.TrimSpace(string(cache)), info.Deps)
	if err != nil {
		return err
	}
	var others []module
	for _, file := range vendor {
		other, err := vendored(file)
		if err != nil {
			return err
		}
		others = append(others, other)
	}
	if version != "" {
		content, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(newBOM(version, sha256.Sum256(content), info, modules, others))
	}
	var page bytes.Buffer
	if texts {
		for _, m := range slices.Concat(modules, others) {
			fmt.Fprintf(&page, "==== %s %s: %s\n\n%s\n", m.path, m.version, m.license, m.text)
		}
	} else {
		writePage(&page, modules, others)
	}
	_, err = w.Write(page.Bytes())
	return err
}

func writePage(page *bytes.Buffer, modules, others []module) {
	var names []string
	for _, m := range slices.Concat(modules, others) {
		for name := range strings.SplitSeq(m.license, ", ") {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	page.WriteString("# Licences\n\nGatehouse is licensed under Apache-2.0. The program that `make build` makes has these modules linked in, and Go's standard library\n" +
		"(BSD-3-Clause). The browser libraries of the second table are in it too, unmodified. All their licences are\n" + strings.Join(names, ", ") + "; a module with several has parts under each.\n\n" +
		"`make licenses` makes this page. `make licenses TEXTS=1` prints the texts of all licences, which have to go with a program that you hand on;\n`make dist` writes them beside its programs.\n\n" +
		"| module | version | licence |\n|---|---|---|\n")
	rows := func(all []module) {
		for _, m := range all {
			fmt.Fprintf(page, "| %s | %s | %s |\n", m.path, m.version, m.license)
		}
	}
	rows(modules)
	page.WriteString("\n| browser library | version | licence |\n|---|---|---|\n")
	rows(others)
}

type module struct {
	path, version, license, text string
	sum                          string // as go.sum or npm has it
}

// licensed returns the modules with their licences. What was replaced by a folder is ours.
func licensed(cache string, linked []*debug.Module) (all []module, err error) {
	for _, m := range linked {
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version == "" || m.Version == "(devel)" {
			continue
		}
		text, err := licenseOf(filepath.Join(cache, filepath.FromSlash(escaped(m.Path))+"@"+escaped(m.Version)))
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", m.Path, m.Version, err)
		}
		name := classify(text)
		if name == "" {
			return nil, fmt.Errorf("%s %s: the licence is not known", m.Path, m.Version)
		}
		all = append(all, module{m.Path, m.Version, name, text, m.Sum})
	}
	slices.SortFunc(all, func(a, b module) int { return cmp.Compare(a.path, b.path) })
	return all, nil
}

// escaped returns a path or version as the module cache has it: "!" and the small letter for a
// capital one.
func escaped(text string) string {
	var out strings.Builder
	for _, r := range text {
		if unicode.IsUpper(r) {
			out.WriteByte('!')
			r = unicode.ToLower(r)
		}
		out.WriteRune(r)
	}
	return out.String()
}

var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([.-].*)?$`)

// licenseOf returns the licence files of a module, one after the other.
func licenseOf(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, e := range entries {
		if e.IsDir() || !licenseFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		texts = append(texts, string(text))
	}
	if len(texts) == 0 {
		return "", fmt.Errorf("no licence file in %s", filepath.Base(dir))
	}
	return strings.Join(texts, "\n"), nil
}

// phrases are what only the text of one licence has, the more special ones first.
var phrases = []struct{ name, phrase string }{
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MPL-2.0", "mozilla public license, version 2.0"},
	{"LGPL", "gnu lesser general public license"},
	{"AGPL", "gnu affero general public license"},
	{"GPL", "gnu general public license"},
	{"Apache-2.0", "apache license"},
	{"Unlicense", "this is free and unencumbered software"},
	{"CC0-1.0", "cc0 1.0 universal"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose with or without fee"},
	{"BSD-3-Clause", "neither the name"},
	{"BSD-3-Clause", "names of its contributors may not be used"},
	{"BSD-2-Clause", "redistributions in binary form must reproduce"},
	{"MIT", "permission is hereby granted, free of charge"},
}

// classify returns the names of the licences in a text: a module may have several.
func classify(text string) string {
	flat := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	var names []string
	for _, p := range phrases {
		if strings.Contains(flat, p.phrase) && !slices.Contains(names, p.name) && !(p.name == "BSD-2-Clause" && slices.Contains(names, "BSD-3-Clause")) &&
			!(p.name != "MIT" && strings.HasSuffix(p.name, "GPL") && slices.Contains(names, "MPL-2.0")) { // the MPL names them as secondary licences
			names = append(names, p.name)
		}
	}
	return strings.Join(names, ", ")
}
