// Package manual reads the examples of the documentation, so that tests can run them.
package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Block is a fenced block of a page: an example, or an answer.
type Block struct {
	Page string // its path from the root of the repository
	Line int    // of the opening fence, from 1
	Kind string // the text after the opening fence: the language, and what a test needs besides
	Text string // without the indentation of the fence
}

// String is where the block is.
func (b Block) String() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

// First is the first line of the text.
func (b Block) First() string {
	first, _, _ := strings.Cut(b.Text, "\n")
	return first
}

// Pages are the pages of the repository at root: those of its front and of docs.
func Pages(root string) ([]string, error) {
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "tests/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		pages = append(pages, found...)
	}
	slices.Sort(pages)
	return pages, nil
}

// Blocks are the blocks of all pages of the repository at root.
func Blocks(root string) ([]Block, error) {
	pages, err := Pages(root)
	if err != nil {
		return nil, err
	}
	var all []Block
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(root, page)
		if err != nil {
			return nil, err
		}
		found, err := Read(filepath.ToSlash(name), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// Find is the block of a page whose first line has the text first.
func Find(root, page, first string) (Block, error) {
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return Block{}, err
	}
	blocks, err := Read(page, string(text))
	if err != nil {
		return Block{}, err
	}
	i := slices.IndexFunc(blocks, func(b Block) bool { return strings.Contains(b.First(), first) })
	if i < 0 {
		return Block{}, fmt.Errorf("%s has no block whose first line has %q", page, first)
	}
	return blocks[i], nil
}

var opening = regexp.MustCompile("^([ \t]*)```(.*)$")

// Read returns the blocks of a page. A fence without an end is an error.
func Read(page, text string) ([]Block, error) {
	var blocks []Block
	var open *Block
	indent := ""
	for i, line := range strings.Split(text, "\n") {
		fence := opening.FindStringSubmatch(line)
		switch {
		case open == nil && fence != nil:
			indent, open = fence[1], &Block{Page: page, Line: i + 1, Kind: strings.TrimSpace(fence[2])}
		case open != nil && fence != nil && fence[2] == "":
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.Text += strings.TrimPrefix(line, indent) + "\n"
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s: the block has no end", open)
	}
	return blocks, nil
}
