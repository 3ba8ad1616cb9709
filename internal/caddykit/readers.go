package caddykit

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/dustin/go-humanize"
)

// Listed is an option that adds an element to a list; read reads it.
func Listed[T any](list *[]T, read func(*T, *caddyfile.Dispenser) error) Option {
	return Option{Many: true, Read: func(d *caddyfile.Dispenser) error {
		var element T
		err := read(&element, d)
		*list = append(*list, element)
		return err
	}}
}

// Single is an option that sets a pointer; read reads what it points to.
func Single[T any](dst **T, read func(*T, *caddyfile.Dispenser) error) Option {
	return Option{Read: func(d *caddyfile.Dispenser) error {
		*dst = new(T)
		return read(*dst, d)
	}}
}

// Nested is an option that has its own block.
func Nested(options Options) Option {
	return Option{Read: func(d *caddyfile.Dispenser) error {
		if d.NextArg() {
			return d.ArgErr()
		}
		return options.Block(d)
	}}
}

// ParseSize parses a number of bytes with a unit: 512MiB, 10GB.
func ParseSize(text string) (int64, error) {
	size, err := humanize.ParseBytes(strings.TrimSpace(text))
	if err != nil || size == 0 || size > 1<<62 {
		return 0, fmt.Errorf("size %s: want bytes with a unit, such as 512MiB", strconv.Quote(text))
	}
	return int64(size), nil
}

// Phrase is an option whose arguments form one text.
func Phrase(dst *string) Option {
	return Option{Read: func(d *caddyfile.Dispenser) error {
		args := d.RemainingArgs()
		if len(args) == 0 {
			return d.ArgErr()
		}
		*dst = strings.Join(args, " ")
		return nil
	}}
}

// Phrases is a phrase that may be repeated.
func Phrases(dst *[]string) Option {
	return Option{Many: true, Read: func(d *caddyfile.Dispenser) error {
		var text string
		if err := Phrase(&text).Read(d); err != nil {
			return err
		}
		*dst = append(*dst, text)
		return nil
	}}
}

// With adds the options of others.
func With(options Options, others ...Options) Options {
	for _, other := range others {
		maps.Copy(options, other)
	}
	return options
}

func ParsePositive[T int | int64](text string) (T, error) {
	n, err := strconv.ParseInt(text, 10, 48)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q: want a whole number, 1 or more", text)
	}
	return T(n), nil
}

func ParseSwitch(text string) (bool, error) {
	switch text {
	case "on":
		return true, nil
	case "off":
		return false, nil
	}
	return false, fmt.Errorf("%q: want on or off", text)
}
