//go:build linux

package main

import (
	"bytes"
	"fmt"
	"strings"
)

// promptKind is the kind of text in the prompts of the model calls.
type promptKind string

const (
	// codePrompt is source code, as a coding tool sends it: a line end about every 35 bytes, quotes
	// and tabs, about every kilobyte a letter outside ASCII, and some Chinese. Such text has more
	// escapes than prose, so it costs more to scan.
	codePrompt promptKind = "code"
	// prosePrompt is plain English without anything that JSON escapes.
	prosePrompt promptKind = "prose"
)

// String and Set make promptKind a flag.Value.
func (k *promptKind) String() string { return string(*k) }

func (k *promptKind) Set(value string) error {
	switch promptKind(value) {
	case codePrompt, prosePrompt:
		*k = promptKind(value)
		return nil
	}
	return fmt.Errorf("%q is neither %s nor %s", value, codePrompt, prosePrompt)
}

// describe is the line of the report.
func (k promptKind) describe() string {
	if k == prosePrompt {
		return "plain prose"
	}
	return "source code"
}

// vocabulary makes prose of ordinary word lengths; its text has no meaning.
var vocabulary = strings.Fields(`the gateway reads each request once and sends it on with a new name while
the upstream answers in its own time so that a person who waits sees words appear one after another and
nobody has to ask twice which of them was first or who paid for it in the end`)

// sourceCode is the text of codePrompt. Nothing in it matches a guardrail of the bench.
const sourceCode = `// Package shelf keeps the books of a small library.
package shelf

// Shelf keeps books by their title, up to a limit that the library sets for each room.
type Shelf struct {
	books map[string]Book // by title
	limit int             // 0: there is no limit
}

// Add puts b on the shelf and saves the list of all books, as the Café next door does with its menu.
func (s *Shelf) Add(ctx context.Context, b Book) error {
	if b.Title == "" {
		return fmt.Errorf("adding a book: no title")
	}
	if _, found := s.books[b.Title]; found {
		return fmt.Errorf("%q is on the shelf already", b.Title)
	}
	// A shelf without a limit takes every book, however many there are already.
	if s.limit > 0 && len(s.books) >= s.limit {
		return fmt.Errorf("the shelf is full: %d books", s.limit)
	}
	s.books[b.Title] = b
	return s.save(ctx, "books.json")
}

// Titles lists the titles of all books in their order. The caller may change the list that it gets.
func (s *Shelf) Titles() []string {
	names := make([]string, 0, len(s.books))
	for name := range s.books {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// 標題 are the texts of the page in one language; the page shows the name where a text is missing.
var titles = map[string]string{
	"home":  "The shelf of our library",
	"books": "All books by their title",
	"empty": "Nothing here \\ \"yet\"",
}

// Print writes a line for each book, with its number, its title and its pages, and then the total.
func Print(ctx context.Context, s *Shelf, w *json.Encoder) error {
	for i, name := range s.Titles() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("printing book %d: %w", i+1, err)
		}
		fmt.Printf("%d\t%s\t%d pages\n", i+1, name, s.books[name].Pages)
	}
	return w.Encode(map[string]int{"total": len(s.books)})
}

`

// words returns n words of prose without anything that JSON escapes.
func words(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(vocabulary[i%len(vocabulary)])
	}
	return b.String()
}

// text returns exactly n bytes of encoded JSON string content. Spaces fill the end where the next
// character does not fit.
func (k promptKind) text(n int) []byte {
	source := sourceCode
	if k == prosePrompt {
		source = words(len(vocabulary)) + " "
	}
	chars := encodedChars(source)
	out := make([]byte, 0, n)
	for i := 0; len(out)+len(chars[i%len(chars)]) <= n; i++ {
		out = append(out, chars[i%len(chars)]...)
	}
	return append(out, bytes.Repeat([]byte{' '}, n-len(out))...)
}

// encodedChars returns the characters of text as they are written inside a JSON string by the SDKs:
// UTF-8, with the short escapes.
func encodedChars(text string) []string {
	chars := make([]string, 0, len(text))
	escapes := strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`, "\t", `\t`)
	for _, r := range text {
		chars = append(chars, escapes.Replace(string(r)))
	}
	return chars
}
