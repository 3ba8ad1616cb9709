// Scale writes the tables of docs/scale.md: what was measured, and how far the law of utilisation
// is from it: calls a second are a core divided by what a call takes of it, at the busiest core.
//
//	go run ./tests/bench -caddy ./caddy -capacity tests/tools/scale/measured.json
//	cd tests/tools && go run ./scale -docs ../../docs/scale.md       # what `make scale` runs
//
// Costs are measured where nothing is saturated. The status is 1 if the law misses a point of one
// gateway by more than 15 %, or if other programs disturbed a point.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
)

func main() {
	file := flag.String("measured", "scale/measured.json", "`file` of tests/bench -capacity")
	docs := flag.String("docs", "", "write the tables into this `page`, instead of to standard output")
	flag.Parse()
	if err := compute(*file, *docs); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func compute(file, docs string) error {
	m, err := load(file)
	if err != nil {
		return err
	}
	blocks, refused := report(m)
	if docs == "" {
		for _, b := range blocks {
			fmt.Printf("## %s\n\n%s\n", b.name, b.text)
		}
		return refused
	}
	page, err := os.ReadFile(docs)
	if err != nil {
		return err
	}
	text, err := fill(string(page), blocks)
	if err != nil {
		return err
	}
	if err := os.WriteFile(docs, []byte(text), 0o644); err != nil {
		return err
	}
	return refused
}

// block is a part of the page that this program writes.
type block struct {
	name, text string
}

// fill replaces what is between <!-- scale NAME --> and <!-- end --> in a page.
func fill(page string, blocks []block) (string, error) {
	for _, b := range blocks {
		place := regexp.MustCompile(`(?s)(<!-- scale ` + regexp.QuoteMeta(b.name) + ` -->\n).*?(<!-- end -->)`)
		if !place.MatchString(page) {
			return "", fmt.Errorf("the page has no place for %q", b.name)
		}
		page = place.ReplaceAllString(page, "${1}\n"+strings.ReplaceAll(b.text, "$", "$$")+"\n${2}")
	}
	return page, nil
}
