package form

import (
	"bytes"
	"errors"
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// ErrDelimiter means that an edited text would end its part.
var ErrDelimiter = errors.New("an edited text has the boundary of the form in it")

// JSON returns the form as a JSON object: texts as strings, files as their numbers of bytes, and fields
// of the same name as an array. The scalars are texts that are written as they are where they are a
// number, true or false.
func (f *Form) JSON(scalars ...string) []byte {
	dst := []byte{'{'}
	for i := range f.parts {
		p := &f.parts[i]
		if f.before(i) > 0 {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(append(jsonscan.AppendString(dst, p.Name), ':'), '[')
		start := len(dst) - 1
		n := 0
		for j := i; j < len(f.parts); j++ {
			if other := &f.parts[j]; other.Name == p.Name {
				if n++; n > 1 {
					dst = append(dst, ',')
				}
				dst = f.appendValue(dst, other, slices.Contains(scalars, p.Name))
			}
		}
		if n > 1 {
			dst = append(dst, ']')
		} else {
			dst = slices.Delete(dst, start, start+1)
		}
	}
	return append(dst, '}')
}

func (f *Form) appendValue(dst []byte, p *Part, scalar bool) []byte {
	value := f.Value(p)
	switch {
	case p.File:
		return strconv.AppendInt(dst, int64(len(value)), 10)
	case scalar && isScalar(value):
		return append(dst, value...)
	}
	return jsonscan.AppendString(dst, string(value))
}

// isScalar reports whether a text is a boolean, or a whole number of at most 18 digits.
func isScalar(text []byte) bool {
	if string(text) == "true" || string(text) == "false" {
		return true
	}
	if len(text) == 0 || len(text) > 18 || text[0] == '0' && len(text) > 1 {
		return false
	}
	return bytes.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// before returns how many parts before this one have its name.
func (f *Form) before(i int) (n int) {
	for _, p := range f.parts[:i] {
		if p.Name == f.parts[i].Name {
			n++
		}
	}
	return n
}

// Segments returns the form with the edits of its view, an object that JSON returned and that was
// edited: texts that differ are replaced, fields that it lacks are left out, new ones follow as texts. All
// other values are the form's own bytes.
func (f *Form) Segments(edited []byte) ([][]byte, error) {
	var storage [32]jsonscan.Member
	members, err := jsonscan.Strict(edited, storage[:0])
	if err != nil {
		return nil, err
	}
	var out [][]byte
	known := make(map[string]bool, len(members))
	for i := range f.parts {
		p := &f.parts[i]
		known[p.Name] = true
		m, ok := jsonscan.Find(edited, members, p.Name)
		if !ok {
			continue
		}
		value := f.Value(p)
		if !p.File {
			if value, err = f.text(element(members[m].Value(edited), f.before(i))); err != nil {
				return nil, err
			}
		}
		out = append(out, f.appendHeader(nil, p), value, lineEnd)
	}
	for _, m := range members {
		if key := string(m.Key(edited)); !known[key] {
			value, err := f.text(m.Value(edited))
			if err != nil {
				return nil, err
			}
			out = append(out, f.appendHeader(nil, &Part{Name: key}), value, lineEnd)
		}
	}
	return append(out, []byte("--"+f.boundary+"--\r\n")), nil
}

// text returns a value as a field of a form has it: a string without its quotes.
func (f *Form) text(value []byte) ([]byte, error) {
	if s, ok := jsonscan.String(value); ok {
		value = []byte(s)
	}
	if bytes.Contains(value, []byte("--"+f.boundary)) {
		return nil, ErrDelimiter
	}
	return value, nil
}

// element returns an element of an array, or the value itself if it is none.
func element(value []byte, n int) []byte {
	if value[0] != '[' {
		return value
	}
	for e := range jsonscan.AllElements(value) {
		if n--; n < 0 {
			return e.Value(value)
		}
	}
	return nil
}
