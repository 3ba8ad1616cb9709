package caddykit_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// settings are set by the options of the tests.
type settings struct {
	word  string
	words []string
	flag  bool
	value int
	inner string
	many  []string
}

func (s *settings) options() caddykit.Options {
	return caddykit.Options{
		"word":  caddykit.Word(&s.word),
		"words": caddykit.Words(&s.words),
		"flag":  caddykit.Flag(&s.flag),
		"value": caddykit.Value(&s.value, strconv.Atoi),
		"block": {Read: func(d *caddyfile.Dispenser) error {
			return caddykit.Options{"inner": caddykit.Word(&s.inner)}.Block(d)
		}},
		"many": {Many: true, Read: func(d *caddyfile.Dispenser) error {
			s.many = append(s.many, d.RemainingArgs()...)
			return nil
		}},
	}
}

func read(text string) (settings, error) {
	var s settings
	d := caddyfile.NewTestDispenser(text)
	d.Next()
	err := s.options().Block(d)
	return s, err
}

func TestOptionsReadABlock(t *testing.T) {
	s, err := read(`name {
		word one
		words a b
		words c
		flag
		value 7
		many x
		many y
		block {
			inner deep
		}
	}`)
	if err != nil {
		t.Fatal(err)
	}
	if s.word != "one" || strings.Join(s.words, "") != "abc" || !s.flag || s.value != 7 || s.inner != "deep" || strings.Join(s.many, "") != "xy" {
		t.Errorf("read %+v", s)
	}
	if _, err := read("name"); err != nil {
		t.Errorf("without a block: %v", err)
	}
}

func TestOptionsRefuse(t *testing.T) {
	for text, want := range map[string]string{
		"wrod one":                     `unknown option "wrod"; known options: block, flag, many, value, word, words`,
		"Word one":                     `unknown option "Word"`,
		"word one\nword two":           `option "word" is given twice`,
		"flag\nflag":                   `option "flag" is given twice`,
		"word":                         "wrong argument count",
		"word one two":                 "wrong argument count",
		"words":                        "wrong argument count",
		"flag on":                      "wrong argument count",
		"value":                        "wrong argument count",
		"value 1 2":                    "wrong argument count",
		"value x":                      `parsing "x"`,
		"block {\ninner a\ninner b\n}": `option "inner" is given twice`,
		"block {\nouter a\n}":          `unknown option "outer"; known options: inner`,
	} {
		if _, err := read("name {\n" + text + "\n}"); err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestARefusalOfAReaderIsReturned(t *testing.T) {
	mine := errors.New("mine")
	d := caddyfile.NewTestDispenser("name {\nx\n}")
	d.Next()
	err := caddykit.Options{"x": {Read: func(*caddyfile.Dispenser) error { return mine }}}.Block(d)
	if !errors.Is(err, mine) {
		t.Errorf("error %v", err)
	}
}
