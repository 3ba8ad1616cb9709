package caddykit

import (
	"sort"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// Option reads one option of a block; the dispenser is at its name.
type Option struct {
	Read func(d *caddyfile.Dispenser) error
	// Many allows the option more than once.
	Many bool
}

// Options is the grammar of a block: the name of each option and its reader.
type Options map[string]Option

// Block reads the block that begins after the current token. It refuses unknown and repeated
// options: a typo must never silently widen access.
func (o Options) Block(d *caddyfile.Dispenser) error {
	seen := make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		option, known := o[name]
		if !known {
			return d.Errf("unknown option %q; known options: %s", name, o.names())
		}
		if seen[name] && !option.Many {
			return d.Errf("option %q is given twice", name)
		}
		seen[name] = true
		words := *d
		if err := option.Read(d); err != nil {
			return notReplaced(&words, err)
		}
	}
	return nil
}

// notReplaced explains an error that quotes a placeholder: a number or a duration, for example, must be
// known when the Caddyfile is read. The dispenser is at the option.
func notReplaced(d *caddyfile.Dispenser, err error) error {
	option := d.Val()
	for _, text := range d.RemainingArgs() {
		if refused := refusePlaceholder(option, text); refused != nil && strings.Contains(err.Error(), strconv.Quote(text)) {
			return d.Errf("%v", refused)
		}
	}
	return err
}

func (o Options) names() string {
	names := make([]string, 0, len(o))
	for name := range o {
		names = append(names, name)
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

// Word reads exactly one argument into dst.
func Word(dst *string) Option {
	return Option{Read: func(d *caddyfile.Dispenser) error {
		if !d.AllArgs(dst) {
			return d.ArgErr()
		}
		return nil
	}}
}

// Words appends one or more arguments to dst; the option may be repeated.
func Words(dst *[]string) Option {
	return Option{Many: true, Read: func(d *caddyfile.Dispenser) error {
		args := d.RemainingArgs()
		if len(args) == 0 {
			return d.ArgErr()
		}
		*dst = append(*dst, args...)
		return nil
	}}
}

// Flag sets dst; it takes no argument.
func Flag(dst *bool) Option {
	return Option{Read: func(d *caddyfile.Dispenser) error {
		if d.NextArg() {
			return d.ArgErr()
		}
		*dst = true
		return nil
	}}
}

// Value reads exactly one argument with parse.
func Value[T any](dst *T, parse func(string) (T, error)) Option {
	return Option{Read: func(d *caddyfile.Dispenser) error {
		var text string
		if !d.AllArgs(&text) {
			return d.ArgErr()
		}
		v, err := parse(text)
		if err != nil {
			return d.Errf("%v", err)
		}
		*dst = v
		return nil
	}}
}
